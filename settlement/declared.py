"""Facts of a round that the felt does not show, as somebody or something declares them.

Which player owns which seats, who banks, what the jackpot meters show and which pays were drawn
come from the table file (`[declared]`, what always holds there) or from a feed: a file of JSON
lines, each with a time and the facts that hold from then on, who deals among them. A fact that
nobody declares stays unknown, and what hangs on it is undecided.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, StringConstraints, ValidationError, field_validator

from settlement.compare.check import dynamic_problems, meter_problems
from settlement.errors import FeltwatchError
from settlement.form import Form
from settlement.games import JACKPOTS, players_bank, terms_for
from settlement.input_file import file_fault, json_data, key_twice, read_text
from settlement.record import (
    HIGHEST_SEAT,
    DynamicPay,
    Meter,
    RoundRecord,
    Seconds,
    Undecided,
)
from settlement.rules import TableRules

COINS_EARLY_S = 10.0
"""A report of coins so long before a round's first stake lies at rest is still of that round: its
clock may differ. The coins of the round before were taken in before its deal, longer ago."""

SeatNumber = Annotated[int, Field(ge=1, le=HIGHEST_SEAT)]
PlayersBySeat = Annotated[
    dict[SeatNumber, int],
    # The keys of JSON are texts.
    Field(json_schema_extra={"propertyNames": {"enum": [str(n + 1) for n in range(HIGHEST_SEAT)]}}),
]
Players = Literal["one_per_seat"] | PlayersBySeat
Banker = Literal["house"] | SeatNumber

NAME_CHARACTERS = 80
DealerName = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=NAME_CHARACTERS),
    BeforeValidator(lambda value: str(value) if type(value) is int else value),
]


def numbered(value: object) -> object:
    """A mapping by seat whose keys may be texts, as in JSON and TOML, with numbers as keys.

    >>> numbered({"3": 1, "x": 2})
    {3: 1, 'x': 2}
    """
    if not isinstance(value, dict):
        return value
    return {int(k) if isinstance(k, str) and k.isdecimal() else k: v for k, v in value.items()}


class Declared(Form):
    """What is declared at one time, or of a table for good; what is left out is not known.

    >>> Declared(players={1: 1, 2: 1}).player(2), Declared(players="one_per_seat").player(2)
    (1, 2)
    """

    players: Players | None = Field(
        None,
        description="Seat to the number of its player; a seat left out is a player's own. "
        "'one_per_seat': nobody plays two.",
    )
    banker: Banker | None = Field(None, description="The seat that banks, or 'house'.")
    meters: tuple[Meter, ...] | None = Field(None, description="What the jackpot meters show.")
    dynamic_pays: tuple[DynamicPay, ...] | None = Field(
        None, description="The pays drawn for this round; it holds until the next line."
    )
    jackpot_wagers: dict[str, tuple[SeatNumber, ...]] | None = Field(
        None,
        description="By jackpot wager the seats whose coin its sensors have registered in this "
        "round; a wager left out was not reported. It holds for the round in which it is said.",
    )

    @field_validator("players", mode="before")
    @classmethod
    def _named_by_number(cls, value: object) -> object:
        """The keys of JSON and TOML are texts."""
        return numbered(value)

    def player(self, seat: int) -> int | None:
        """The player of a seat; None where it is not declared or the seat is one's own."""
        if self.players == "one_per_seat":
            return seat
        return self.players.get(seat) if isinstance(self.players, dict) else None

    def then(self, later: Declared) -> Declared:
        """These facts with those that a later declaration names in their place."""
        named = {key: getattr(later, key) for key in Declared.model_fields}
        return self.model_copy(update={k: fact for k, fact in named.items() if fact is not None})


class FeedLine(Declared):
    """One line of a feed: facts that hold from a time on (seconds of the stream's own clock).

    >>> FeedLine.model_validate_json('{"at_s": "12.5", "banker": 3}').banker
    3
    """

    at_s: Seconds
    dealer: DealerName | None = Field(
        None, description="Name or number of who deals from then on, until another is named."
    )


@dataclass(frozen=True, slots=True)
class Feed:
    """Declared facts in the order of their times, on top of those of the table file.

    >>> feed = Feed.of([FeedLine(at_s="10", banker=2), FeedLine(at_s="50", banker="house")])
    >>> feed.at(9.0).banker, feed.at(10.0).banker, feed.at(60.0).banker
    (None, 2, 'house')
    """

    times_s: tuple[float, ...]
    facts: tuple[Declared, ...]
    always: Declared
    coins_s: tuple[float, ...] = ()
    """By line, when jackpot wagers were reported last."""
    dealers: tuple[str | None, ...] = ()
    """By line, who deals since."""

    @classmethod
    def of(cls, lines: Sequence[FeedLine], always: Declared | None = None) -> Self:
        """A feed of lines in any order; each adds to what held before it."""
        now = always or Declared()
        times: list[float] = []
        coins: list[float] = []
        dealers: list[str | None] = []
        facts: list[Declared] = []
        for line in sorted(lines, key=lambda one: float(one.at_s)):
            # Pays are drawn for one round (002, Appendix G, note 4).
            now = now.then(line).model_copy(update={"dynamic_pays": line.dynamic_pays})
            times.append(float(line.at_s))
            coins.append(coins[-1] if line.jackpot_wagers is None and coins else times[-1])
            facts.append(now)
            dealers.append(line.dealer or (dealers[-1] if dealers else None))
        return cls(
            tuple(times), tuple(facts), always or Declared(), tuple(coins), tuple(dealers)
        )  # fmt: skip

    def at(self, at_s: float, begun_s: float = float("-inf")) -> Declared:
        """What is declared at a time of a round that began at `begun_s`."""
        place = bisect_right(self.times_s, at_s)
        if not place:
            return self.always
        own = self.facts[place - 1]
        if self.coins_s[place - 1] < begun_s - COINS_EARLY_S:
            own = own.model_copy(update={"jackpot_wagers": None})
        return own

    def dealer_at(self, at_s: float) -> str | None:
        """Who deals at a time; None where nobody was named.

        >>> feed = Feed.of([FeedLine(at_s="10", dealer="Ana"), FeedLine(at_s="50", dealer="17")])
        >>> feed.dealer_at(9.0), feed.dealer_at(10.0), feed.dealer_at(60.0)
        (None, 'Ana', '17')
        """
        place = bisect_right(self.times_s, at_s)
        return self.dealers[place - 1] if place else None


Check = Callable[[Declared], Iterator[tuple[str, str]]]
"""What cannot be true of the table that facts are declared of, each with its key."""


def read_feed(path: Path, always: Declared | None = None, check: Check | None = None) -> Feed:
    """Read a feed of JSON lines, blank ones passed over.

    Raises FeltwatchError naming file, line and key of the first fault, also of those that
    `check` finds.
    """
    lines: list[FeedLine] = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        try:
            twice = key_twice(json_data(line))
            if twice is not None:
                key = ascii(".".join(map(str, twice)))[1:-1]
                raise FeltwatchError(f"{place}: {key}: the key stands twice; leave one out")
            lines.append(FeedLine.model_validate_json(line))
        except ValidationError as error:
            raise file_fault(place, error) from error
        for key, message in () if check is None else check(lines[-1]):
            raise FeltwatchError(f"{place}: {key}: {message}")
    return Feed.of(lines, always)


def with_declared(record: RoundRecord, declared: Declared, *, players_bank: bool) -> RoundRecord:
    """A record read from a camera, with what is declared of its round.

    What stands in the record already is seen, and stays: a declared banker that the felt
    contradicts leaves who banks undecided, two hands that one arm sets are one player's, but where
    the players are declared seat by seat. A declared meter goes before its display; what the
    display was read as stays in the record where it differs (`Meter.display_cents`). Where
    players are not declared the record says so.
    """
    by_seat = isinstance(declared.players, dict)
    seats = tuple(
        seat.model_copy(
            update={
                "player": (None if by_seat else seat.player) or declared.player(seat.seat),
            }
        )
        for seat in record.seats
    )
    changed: dict[str, object] = {"seats": seats}
    if len(seats) > 1:
        changed["players_known"] = False if declared.players is None else None
    if declared.meters is not None:
        changed |= _with_meters(record, declared.meters)
    if record.dynamic_pays is None and declared.dynamic_pays is not None:
        changed["dynamic_pays"] = declared.dynamic_pays
    record = record.model_copy(update=changed)
    if declared.banker is None or not players_bank:
        return record
    return _with_banker(record, declared.banker)


def _with_meters(record: RoundRecord, declared: Sequence[Meter]) -> dict[str, object]:
    """The meters of a record with the declared ones in place of their displays' readings."""
    seen = {(one.wager, one.level): one for one in record.meters or ()}
    for one in declared:
        key = one.wager, one.level
        was = seen.get(key)
        # A declaration over another one: the display's own reading is what differs.
        shown = None if was is None else was.display_cents
        if was is not None and was.probability is not None:
            shown = was.cents
        seen[key] = one.model_copy(update={"display_cents": None if shown == one.cents else shown})
    known = {meter_place(*key) for key in seen}
    return {
        "meters": tuple(seen.values()),
        "undecided": tuple(entry for entry in record.undecided if entry.what not in known),
    }


def meter_place(wager: str, level: int) -> str:
    """What a record calls a meter that is undecided.

    >>> meter_place("emperors_treasure_progressive", 2)
    'meters.emperors_treasure_progressive.2'
    """
    return f"meters.{wager}.{level}"


def meter_warnings(record: RoundRecord) -> Iterator[str]:
    """Meters of which something else is declared than their display shows, in words."""
    for one in record.meters or ():
        if one.display_cents is not None:
            yield (
                f"{record.round_id}: the meter of {one.wager}, level {one.level}, is declared as "
                f"{one.cents} cents, and its display was read as {one.display_cents} cents"
            )


def _with_banker(record: RoundRecord, banker: Banker) -> RoundRecord:
    others = tuple(entry for entry in record.undecided if entry.what != "banker")
    seat = None if banker == "house" else banker
    unread = len(others) < len(record.undecided)
    fault = _against(record, seat, seen=None if unread else record.banker, unread=unread)
    if fault is None:
        return record.model_copy(update={"banker": seat, "undecided": others})
    doubt = Undecided(seat=None, what="banker", why=fault)
    return record.model_copy(update={"banker": None, "undecided": (*others, doubt)})


def _against(
    record: RoundRecord, seat: int | None, *, seen: int | None, unread: bool
) -> str | None:
    """Why the felt contradicts that a seat (None: the house) banks, or None."""
    named = "the house" if seat is None else f"seat {seat}"
    marked = record.banker_marker
    if marked is not None and marked != (seat or "house"):
        return f"{named} is declared to bank, and the banker's marker lies at {place_named(marked)}"
    if not unread and seen is not None and seen != seat:
        return f"{named} is declared to bank, and the felt shows that seat {seen} does"
    if seat is None:
        return None
    own: Mapping[int, object] = {one.seat: one.wager("main") for one in record.seats}
    if seat not in own:
        return f"{named} is declared to bank, and has no cards"
    return f"{named} is declared to bank, and has a main wager" if own[seat] is not None else None


def place_named(marked: int | str) -> str:
    """A place of the banker's marker in words.

    >>> place_named(3), place_named("house")
    ('seat 3', 'the house')
    """
    return "the house" if marked == "house" else f"seat {marked}"


def declared_faults(
    facts: Declared, seats: Collection[int], rules: TableRules
) -> Iterator[tuple[str, str]]:
    """What cannot be true of a table with these seats and rules, each with its key.

    >>> rules = TableRules(game="emperors_challenge_exposed")
    >>> list(declared_faults(Declared(banker=2), [1, 2], rules))
    [('banker', 'no player banks in emperors_challenge_exposed')]
    """
    there = ", ".join(str(seat) for seat in sorted(seats)) or "none"
    if isinstance(facts.banker, int) and not players_bank(rules.game):
        yield "banker", f"no player banks in {rules.game}"
    elif isinstance(facts.banker, int) and facts.banker not in seats:
        yield "banker", f"no seat {facts.banker} at this table; there are {there}"
    if isinstance(facts.players, dict):
        for seat in sorted(set(facts.players) - set(seats)):
            yield "players", f"no seat {seat} at this table; there are {there}"
    offered = [name for name in terms_for(rules).tables if name in JACKPOTS]
    jackpots = ", ".join(offered) or "none"
    named = [("meters", one.wager) for one in facts.meters or ()]
    named += [("dynamic_pays", one.wager) for one in facts.dynamic_pays or () if one.wager]
    named += [("jackpot_wagers", wager) for wager in facts.jackpot_wagers or ()]
    for key, wager in named:
        if wager not in offered:
            yield key, f"no jackpot {wager!r} on this table; there are: {jackpots}"
    for wager, coins in (facts.jackpot_wagers or {}).items():
        for seat in sorted(set(coins) - set(seats)):
            yield f"jackpot_wagers.{wager}", f"no seat {seat} at this table; there are {there}"
    known = {name for _, name in named} <= set(offered)
    shown = RoundRecord(
        round_id="-", table="-", game=rules.game, meters=facts.meters,
        dynamic_pays=facts.dynamic_pays,
    )  # fmt: skip
    for key, find in (("meters", meter_problems), ("dynamic_pays", dynamic_problems)):
        for problem in find(shown, terms_for(rules)) if known else ():
            yield key, f"{problem.wager}: {problem.reason}" if problem.wager else problem.reason
