"""Which shifts a benchmark has: drawn by the hash of its name, so that nobody picks them."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

from datasets.simulate.house_tables import table_for
from datasets.simulate.mistakes.catalogue import NAMED_WAYS, WAYS, FaultPlan
from datasets.simulate.mistakes.coverage import TableKind, table_of
from datasets.simulate.play.shift_play import plan_shift
from settlement.errors import FeltwatchError

FIXED = "feltwatch money benchmark 1"
"""The benchmark whose truths are listed by hash in `shifts.json`; no training has seen it."""

SHIFTS, ROUNDS = 40, 4
GAMES = (
    "emperors_challenge_exposed", "emperors_challenge_exposed_earlier", "pai_gow_poker",
    "emperors_challenge_exposed_washington", "imperial_pai_gow_draw",
)  # fmt: skip
_MONEY = (
    "OVERPAID", "UNDERPAID", "NOT_PAID", "PAID_LOSER", "PAID_PUSH", "TOOK_WINNER", "TOOK_PUSH",
    "WRONG_SPOT", "NOT_TAKEN",
)  # fmt: skip
_OTHERS = (
    "HOUSE_WAY", "ENVY_MISSED", "ENVY_WRONG", "LAMMER", "LIMIT", "FOUL", "DECK", "LATE_BET",
    "CARD_MOVED", "PROCEDURE",
)  # fmt: skip
FAULTS = (
    ",".join(f"{code}:0.15" for code in _MONEY),
    "none",
    ",".join([
        *(f"{code}:0.1" for code in _OTHERS),
        *(f"{code}:0.05" for code in _MONEY if code != "PAID_PUSH"),
    ]),
)  # fmt: skip
"""Of every third shift: mistakes about money, none, or mistakes of all kinds."""

WAYS_SHIFTS = 50
"""Ten of each game."""

_CLEAN, _SECOND = (3, 7), 4
"""Which of the ten have no mistake, and which has a second camera."""

_TRIES = 100

_NO_MISTAKES = frozenset({"HAND_PAY", "UNDECIDED", "SILENT", "CAMERA"})
TABLE_OPTIONS: Mapping[TableKind, tuple[str, ...]] = {
    "usual": (), "jackpots": ("--jackpots", "plain"), "afterwards": ("--commission", "afterwards"),
    "dice": ("--dice",),
}  # fmt: skip
"""Options of `feltwatch simulate` for a kind of table."""

BARREL = -0.06
"""Lens distortion (k1) of every fourth shift."""


@dataclass(frozen=True, slots=True)
class Shift:
    """One shift of a benchmark: its number and the options of `feltwatch simulate`.

    >>> one = Shift.of("feltwatch money benchmark 1", 5)
    >>> one.game, one.cameras, one.faults == FAULTS[2], one.distortion
    ('emperors_challenge_exposed', 2, True, 0.0)
    """

    number: int
    seed: int
    game: str
    faults: str
    cameras: int
    distortion: float
    table: TableKind = "usual"
    events: str = "none"

    @classmethod
    def of(cls, name: str, number: int) -> Shift:
        """Shift `number`, counted from 0, of the benchmark of a name."""
        digest = hashlib.sha256(f"{name} {number}".encode()).hexdigest()
        game, faults = GAMES[number % len(GAMES)], FAULTS[number % len(FAULTS)]
        if game == "imperial_pai_gow_draw":
            # No wager of this table has a lammer.
            faults = faults.replace("LAMMER:0.1,", "")
        return cls(
            number,
            int(digest[:7], 16),
            game,
            faults,
            2 if number % len(GAMES) == 0 else 1,
            BARREL if number % 4 == 3 else 0.0,
        )

    @classmethod
    def of_ways(cls, name: str, number: int) -> Shift:
        """Shift `number`, counted from 0, of ten of each game that hold every way of every mistake.

        Where the first seed's players and bets leave no room for its mistakes the next one counts.
        """
        game, own = GAMES[number % len(GAMES)], number // len(GAMES)
        faults = _dealt_ways(f"{name} {game}", game)[own]
        plan, table = FaultPlan.parse(faults), table_for(game)
        for more in range(_TRIES):
            drawn = hashlib.sha256(f"{name} {number} {more}".encode()).hexdigest()
            seed = int(drawn[:7], 16)
            try:
                plan_shift(table, seed=seed, rounds=ROUNDS, faults=plan)
            except FeltwatchError:
                continue
            cameras, distortion = 2 if own == _SECOND else 1, BARREL if number % 4 == 3 else 0.0
            return cls(number, seed, game, faults, cameras, distortion)
        raise FeltwatchError(f"shift {number} of {name!r}: none of {_TRIES} seeds holds {faults}")

    @property
    def options(self) -> list[str]:
        """Options of `feltwatch simulate`, without the folder."""
        return [
            "--seed", str(self.seed), "--rounds", str(ROUNDS), "--fps", "5", "--game", self.game,
            "--faults", self.faults, "--cameras", str(self.cameras),
            "--distortion", f"{self.distortion:g}", "--preset", "ultrafast",
            *TABLE_OPTIONS[self.table],
            *(() if self.events == "none" else ("--events", self.events)),
        ]  # fmt: skip


def ways_of(game: str) -> tuple[str, ...]:
    """Every way of every mistake that a usual table of a game leaves room for.

    Without those that come only by their names: they were added later, and a shift of a name stays
    what it was.

    >>> len(ways_of("emperors_challenge_exposed")), len(ways_of("pai_gow_poker"))
    (46, 50)
    """
    ways = (f"{code}/{way}" for code in WAYS if code not in _NO_MISTAKES for way in WAYS[code])
    return tuple(w for w in ways if w not in NAMED_WAYS and table_of(w, game) == "usual")


def _dealt_ways(name: str, game: str) -> list[str]:
    """The mistakes of each of a game's ten shifts: its ways, shuffled by a hash and dealt out."""
    ways = list(ways_of(game))
    random.Random(hashlib.sha256(name.encode()).hexdigest()).shuffle(ways)
    held = [number for number in range(WAYS_SHIFTS // len(GAMES)) if number not in _CLEAN]
    dealt = ["none"] * (len(held) + len(_CLEAN))
    for place, number in enumerate(held):
        share = ways[place :: len(held)]
        dealt[number] = ",".join(f"{way}:{1 / ROUNDS:g}" for way in share)
    return dealt


def listed_truths() -> dict[int, str]:
    """SHA-256 of `truth.jsonl` of the shifts of the fixed benchmark, by number."""
    given = json.loads((files("benchmarks.money") / "shifts.json").read_text())
    return {int(number): str(digest) for number, digest in given[FIXED].items()}


def numbers(text: str, shifts: int = SHIFTS) -> list[int]:
    """Numbers of shifts, such as "0-3,7"; FeltwatchError names what is not one.

    >>> numbers("0-2,7")
    [0, 1, 2, 7]
    """
    out: list[int] = []
    for part in text.split(","):
        span = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", part, re.ASCII)
        if span is None:
            raise FeltwatchError(f'--shifts: expected numbers such as 0-3,7, got "{text}"')
        out += range(int(span[1]), int(span[2] or span[1]) + 1)
    if not out or max(out) >= shifts:
        raise FeltwatchError(f"--shifts: expected numbers from 0 to {shifts - 1}, got {text!r}")
    return sorted(set(out))
