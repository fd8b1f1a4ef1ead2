"""What a table file may say of each part and that cannot be true of the whole."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from settlement.declared import declared_faults
from settlement.errors import FeltwatchError
from settlement.games import GAMES, JACKPOTS, terms_for

if TYPE_CHECKING:
    from vision.geometry.table import TableFile

SAME_MM = 1.0
"""Middles of places nearer than this are one place."""

WAGERS = tuple(
    dict.fromkeys(name for game in GAMES.values() for name in game.wagers if name != "envy")
)
"""Every wager that some game has a spot for, 'main' first."""


def spot_faults(table: TableFile) -> Iterator[tuple[str, str]]:
    """Spots of wagers that no game has, and places of a seat that are one and the same."""
    for number, seat in enumerate(table.seats):
        places = {"low": seat.low, "high": seat.high}
        places |= {f"spots.{name}": spot for name, spot in seat.spots.items()}
        for name in seat.spots:
            if name not in WAGERS:
                known = ", ".join(WAGERS)
                yield f"seats.{number}.spots.{name}", f"no game has such a wager; there are {known}"
        for (one, shape), (other, its) in itertools.combinations(places.items(), 2):
            if math.dist(shape.center_mm, its.center_mm) < SAME_MM:
                yield f"seats.{number}.{one}", f"lies where {other} lies; move one of them"
    mains = [(f"seats.{n}.spots.main", s.spots["main"]) for n, s in enumerate(table.seats)]
    for (one, shape), (other, its) in itertools.combinations(mains, 2):
        if math.dist(shape.center_mm, its.center_mm) < SAME_MM:
            yield other, f"lies where {one} lies; move one of the seats"


def off_the_felt(table: TableFile) -> Iterator[tuple[str, str]]:
    """Spots and boxes whose middle lies off the felt."""
    shapes = {
        f"dealer.{name}": getattr(table.dealer, name)
        for name in ("low", "high", "tray", "rack", "house")
    }
    for place, seat in enumerate(table.seats):
        shapes |= {f"seats.{place}.low": seat.low, f"seats.{place}.high": seat.high}
        shapes |= {f"seats.{place}.spots.{name}": spot for name, spot in seat.spots.items()}
    width, height = table.felt.width_mm, table.felt.height_mm
    for key, shape in shapes.items():
        if shape is None:
            continue
        x, y = shape.center_mm
        if not (0 <= x <= width and 0 <= y <= height):
            yield key, f"lies off the felt of {width:g} x {height:g} mm"


def rules_faults(table: TableFile) -> Iterator[tuple[str, str]]:
    """What the table's rules make impossible, each with its key."""
    facts = table.declared
    if facts is not None and facts.jackpot_wagers is not None:
        yield (
            "declared.jackpot_wagers",
            "holds for one round; report it with '--feed' or by the API, and leave it out here",
        )
    try:
        tables = terms_for(table.rules).tables
    except FeltwatchError:
        # Said by all who need the rules.
        return
    printed = {name for seat in table.seats for name in seat.spots}
    for wager in tables:
        # A jackpot's sensor may be where no camera sees it; its system can report its coins.
        if wager not in (*JACKPOTS, "envy", *printed):
            yield (
                f"rules.paytables.{wager}",
                "no seat has a spot for it: its bets would not be seen",
            )
    for number, display in enumerate(table.displays, start=1):
        rows = tables[display.wager].rows if display.wager in tables else ()
        levels = max((row.level or 1 for row in rows), default=display.level)
        if display.level > levels:
            yield f"displays[{number}].level", f"{display.level}; its pay table has {levels}"
    for key, message in (
        ()
        if facts is None
        else declared_faults(facts, [seat.seat for seat in table.seats], table.rules)
    ):
        yield f"declared.{key}", message
