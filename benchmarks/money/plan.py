"""Which shifts a money benchmark has: drawn by the hash of its name, so that nobody picks them."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from importlib.resources import files

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

    @property
    def options(self) -> list[str]:
        """Options of `feltwatch simulate`, without the folder."""
        return [
            "--seed", str(self.seed), "--rounds", str(ROUNDS), "--fps", "5", "--game", self.game,
            "--faults", self.faults, "--cameras", str(self.cameras),
            "--distortion", f"{self.distortion:g}", "--preset", "ultrafast",
        ]  # fmt: skip


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
