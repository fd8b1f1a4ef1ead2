"""Shifts that hold the whole catalogue: every event and every way of every mistake, those that come
by their names only too, at tables with jackpots, dice and commissions that are collected later."""

from __future__ import annotations

import hashlib
import random

from benchmarks.money.plan import BARREL, GAMES, ROUNDS, Shift
from datasets.simulate.dice import with_dice
from datasets.simulate.house_tables import table_for
from datasets.simulate.lamps import with_house_lamps
from datasets.simulate.mistakes.catalogue import MOST_PER_ROUND, WAYS, FaultPlan
from datasets.simulate.mistakes.coverage import TableKind, table_of
from datasets.simulate.play.shift_events import EventPlan
from datasets.simulate.play.shift_play import plan_shift
from datasets.simulate.shift import commission_later
from settlement.errors import FeltwatchError
from vision.geometry.table import TableFile

CATALOGUE_SHIFTS = 50
"""Ten of each game, of four rounds each."""

COURSES = (
    "fill@2,dealer_change@4", "misdeal@2", "quick_deal@3", "dealer_change@2,misdeal@3",
    "quick_deal@2,fill@3", "dealer_change@3,fill@4", "fill@2,misdeal@4",
    "abandoned@2,dealer_change@3,quick_deal@4", "quick_deal@2,quick_deal@4", "empty_table@3",
)  # fmt: skip
"""The events of each of a game's ten shifts."""

_CLEAN, _SECOND = 7, 4
"""Which of the ten has no mistake, and which has a second camera."""

_JACKPOTS, _AFTERWARDS, _DICE = (1, 5), (2, 6), (0, 8)
"""Which are at a table with jackpots, with a commission that is collected later, with dice."""

_NO_MISTAKES = frozenset({"HAND_PAY", "UNDECIDED", "SILENT", "CAMERA"})
_TRIES = 200


def shift_of_catalogue(name: str, number: int) -> Shift:
    """Shift `number`, counted from 0, of the ten of each game that hold the whole catalogue.

    Where the first seed's players and bets leave no room for its mistakes and events, or two
    mistakes of a round do not go together, the next seed and order of the same hash count.
    """
    game, own = GAMES[number % len(GAMES)], number // len(GAMES)
    ways = _dealt(f"{name} {game}", game)[own]
    kind = _kind(game, own)
    for more in range(_TRIES):
        drawn = hashlib.sha256(f"{name} {number} {more}".encode()).hexdigest()
        seed, rng = int(drawn[:7], 16), random.Random(drawn)
        faults = _in_rounds(ways, rng)
        try:
            plan_shift(
                table_of_kind(game, kind, seed), seed=seed, rounds=ROUNDS,
                faults=FaultPlan.parse(faults), events=EventPlan.parse(COURSES[own]),
            )  # fmt: skip
        except FeltwatchError:
            continue
        cameras, distortion = 2 if own == _SECOND else 1, BARREL if number % 4 == 3 else 0.0
        return Shift(number, seed, game, faults, cameras, distortion, kind, COURSES[own])
    raise FeltwatchError(f"shift {number} of {name!r}: none of {_TRIES} seeds holds {ways}")


def catalogue_of(game: str) -> tuple[str, ...]:
    """Every way of every mistake that some table of a game leaves room for.

    >>> len(catalogue_of("emperors_challenge_exposed")), len(catalogue_of("pai_gow_poker"))
    (50, 64)
    """
    ways = (f"{code}/{way}" for code in WAYS if code not in _NO_MISTAKES for way in WAYS[code])
    return tuple(way for way in ways if table_of(way, game) is not None)


def table_of_kind(game: str, kind: TableKind, seed: int) -> TableFile:
    """The table that `feltwatch simulate` plays at with the options of that kind."""
    table = table_for(game, jackpots="plain" if kind == "jackpots" else "none")
    if kind == "afterwards":
        table = commission_later(table)
    if kind == "dice":
        table = with_dice(table)
    return with_house_lamps(table, seed)


def _kind(game: str, own: int) -> TableKind:
    if own in _JACKPOTS and table_of("LIMIT/coins", game) is not None:
        return "jackpots"
    if own in _AFTERWARDS and table_of("OVERPAID/uncollected", game) is not None:
        return "afterwards"
    if own in _DICE and table_of("PROCEDURE/wrong_first_seat", game) is not None:
        return "dice"
    return "usual"


def _dealt(name: str, game: str) -> list[list[str]]:
    """The mistakes of each of a game's ten shifts: its ways, shuffled by a hash and dealt out to
    the shifts with fewest, those first that a few tables alone leave room for."""
    ways = list(catalogue_of(game))
    random.Random(hashlib.sha256(name.encode()).hexdigest()).shuffle(ways)
    ways.sort(key=lambda way: table_of(way, game) == "usual")
    dealt: list[list[str]] = [[] for _ in COURSES]
    for way in ways:
        kind = table_of(way, game)
        fits = [
            own for own in range(len(dealt))
            if own != _CLEAN and (kind == "usual" or _kind(game, own) == kind)
            # Of a commission that is collected later none is taken from the pay.
            and not (way == "OVERPAID/commission" and _kind(game, own) == "afterwards")
        ]  # fmt: skip
        dealt[min(fits, key=lambda own: (len(dealt[own]), own))].append(way)
    return dealt


def _in_rounds(ways: list[str], rng: random.Random) -> str:
    """The mistakes in rounds: each round gets one before some get two."""
    assert len(ways) <= ROUNDS * MOST_PER_ROUND, "more mistakes than a shift holds"
    order = [n for _ in range(MOST_PER_ROUND) for n in rng.sample(range(1, ROUNDS + 1), ROUNDS)]
    mixed = rng.sample(ways, len(ways))
    return ",".join(f"{way}@{n}" for way, n in zip(mixed, order, strict=False)) or "none"
