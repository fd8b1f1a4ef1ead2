"""What happens in a shift beside its usual rounds: how often, before or in which rounds."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from settlement.errors import FeltwatchError

EVENTS: dict[str, str] = {
    "dealer_change": "a dealer taps out, another pushes in; the table is quiet",
    "fill": "chips for the tray are proved on the felt and put away",
    "empty_table": "everybody goes, the table is empty for minutes",
    "abandoned": "the round is broken off before hands are compared; cards and stakes go back",
    "misdeal": "all cards of a wrong deal are taken back and dealt again, over the stakes",
    "quick_deal": "bets and deal follow at once upon the round before; some stakes stay for it",
}
"""Kinds of events with what is seen."""

ROUND_EVENTS = ("abandoned", "misdeal", "quick_deal")
"""Those that are the way in which a round goes; they come by their names only."""

_USUAL = {"dealer_change": 1 / 30, "fill": 1 / 40, "empty_table": 1 / 120}
_WORD = re.compile(r"(?P<kind>[a-z_]+)(?:@(?P<round>[0-9]+))?")


@dataclass(frozen=True, slots=True)
class EventPlan:
    """Events at their usual rates, and events before given rounds.

    >>> EventPlan.parse("fill@3,dealer_change@2")
    EventPlan(usual=False, at=(('fill', 3), ('dealer_change', 2)))
    >>> EventPlan.parse("usual").usual
    True
    """

    usual: bool = False
    at: tuple[tuple[str, int], ...] = ()

    @classmethod
    def parse(cls, words: str) -> EventPlan:
        """Read 'none', 'usual', or kinds at rounds such as 'fill@3', parted by commas.

        Raises FeltwatchError for a word that is none of these.
        """
        usual = False
        at: list[tuple[str, int]] = []
        for word in (part.strip().lower() for part in words.split(",")):
            if word == "usual":
                usual = True
                continue
            if word in ("", "none"):
                continue
            match = _WORD.fullmatch(word)
            if match is None or match["kind"] not in EVENTS or match["round"] is None:
                raise FeltwatchError(
                    f"--events: {word!r} is no event; write none, usual, or kinds before rounds "
                    f"such as fill@3 from {', '.join(EVENTS)}"
                )
            at.append((match["kind"], int(match["round"])))
        return cls(usual, tuple(at))

    def schedule(self, rounds: int, rng: random.Random) -> dict[int, tuple[str, ...]]:
        """The events before each round that has some.

        Raises FeltwatchError when a round lies beyond the shift.
        """
        plan: dict[int, list[str]] = {}
        for kind, number in self.at:
            if not 1 <= number <= rounds:
                raise FeltwatchError(
                    f"--events {kind}@{number}: the shift has rounds 1 to {rounds}"
                )
            plan.setdefault(number, []).append(kind)
        for number, kinds in plan.items():
            _check_together(number, kinds)
        for number in range(2, rounds + 1):
            for kind, rate in _USUAL.items():
                if rng.random() < rate and self.usual and "quick_deal" not in plan.get(number, ()):
                    plan.setdefault(number, []).append(kind)
        return {number: tuple(kinds) for number, kinds in sorted(plan.items())}


def _check_together(number: int, kinds: list[str]) -> None:
    """Raise FeltwatchError for events that one round cannot have."""
    if "quick_deal" in kinds and number == 1:
        raise FeltwatchError("--events quick_deal@1: no round comes before")
    for one, others in (
        ("quick_deal", set(EVENTS) - set(ROUND_EVENTS)),
        ("abandoned", {"misdeal"}),
    ):
        both = sorted(others & set(kinds))
        if one in kinds and both:
            raise FeltwatchError(f"--events: round {number} cannot have both {one} and {both[0]}")
