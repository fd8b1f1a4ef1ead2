"""Which dealer mistakes a shift is to contain, and in which rounds."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from settlement.errors import FeltwatchError

DRAWN_CODES: tuple[str, ...] = (
    "HOUSE_WAY",
    "OVERPAID",
    "UNDERPAID",
    "NOT_PAID",
    "PAID_LOSER",
    "PAID_PUSH",
    "TOOK_WINNER",
    "TOOK_PUSH",
    "NOT_TAKEN",
    "ENVY_MISSED",
    "ENVY_WRONG",
    "LAMMER",
    "LIMIT",
    "FOUL",
)
"""The mistakes that a rate draws from."""

CODES: tuple[str, ...] = (*DRAWN_CODES, "DECK")
"""All mistakes that can be asked for; DECK, a card twice, only by its name."""

MOST_PER_ROUND = 2
_WORD = re.compile(r"(?P<code>[A-Z_]+)(?:@(?P<round>[0-9]+))?")


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """Mistakes by rate, by kind at drawn rounds, and by kind at given rounds.

    >>> FaultPlan.parse("OVERPAID@3,HOUSE_WAY").at
    (('OVERPAID', 3),)
    >>> FaultPlan.parse("0.25").rate
    0.25
    """

    rate: float = 0.0
    kinds: tuple[str, ...] = ()
    at: tuple[tuple[str, int], ...] = ()

    @classmethod
    def parse(cls, words: str) -> FaultPlan:
        """Read 'none', a rate such as '0.3', or kinds such as 'OVERPAID,TOOK_PUSH@4'.

        Raises FeltwatchError for a word that is none of these.
        """
        text = words.strip()
        if text.lower() in ("", "none"):
            return cls()
        try:
            rate = float(text)
        except ValueError:
            return cls._parse_kinds(text)
        if not 0.0 <= rate <= 1.0:
            raise FeltwatchError(f"--faults {text}: a rate lies between 0 and 1, such as 0.3")
        return cls(rate=rate)

    @classmethod
    def _parse_kinds(cls, text: str) -> FaultPlan:
        kinds: list[str] = []
        at: list[tuple[str, int]] = []
        for word in (part.strip() for part in text.split(",")):
            match = _WORD.fullmatch(word.upper())
            if match is None or match["code"] not in CODES:
                raise FeltwatchError(
                    f"--faults: {word!r} is no kind of mistake; write none, a rate such as 0.3, "
                    f"or kinds such as OVERPAID or OVERPAID@3 from {', '.join(CODES)}"
                )
            if match["round"] is None:
                kinds.append(match["code"])
            else:
                at.append((match["code"], int(match["round"])))
        return cls(kinds=tuple(kinds), at=tuple(at))

    def schedule(
        self, rounds: int, rng: random.Random, possible: Sequence[str] = DRAWN_CODES
    ) -> dict[int, tuple[str, ...]]:
        """The kinds of each round, numbered from 1; at most two to a round.

        `possible` are the kinds that the table's rules allow; a rate draws from these
        alone, in turn, so that a shift shows as many different ones as it can.
        Raises FeltwatchError when a round lies outside the shift, too many are asked for,
        or the table cannot show one that is asked for by name.
        """
        for code in (*self.kinds, *(code for code, _ in self.at)):
            if code not in possible and code != "DECK":
                raise FeltwatchError(
                    f"--faults {code}: the table's rules leave no room for it; "
                    "give [rules] the wager, pay table or limits it needs, or leave it out"
                )
        plan: dict[int, list[str]] = {number: [] for number in range(1, rounds + 1)}
        for code, number in self.at:
            if number not in plan:
                raise FeltwatchError(
                    f"--faults {code}@{number}: the shift has rounds 1 to {rounds}"
                )
            plan[number].append(code)
            if len(plan[number]) > MOST_PER_ROUND:
                raise FeltwatchError(
                    f"--faults: more than {MOST_PER_ROUND} mistakes in round {number}; "
                    "spread them over other rounds"
                )
        for code in self.kinds:
            self._place(plan, code, rng)
        share = [n for n in plan if not plan[n]]
        rng.shuffle(share)
        drawn = 0 if not self.rate else max(1, round(self.rate * rounds))
        bag: list[str] = []
        for number in share[:drawn]:
            if not bag:
                bag = [code for code in possible if code in DRAWN_CODES]
                rng.shuffle(bag)
            plan[number].append(bag.pop())
        return {number: tuple(codes) for number, codes in plan.items() if codes}

    @staticmethod
    def _place(plan: dict[int, list[str]], code: str, rng: random.Random) -> None:
        fewest = min((len(codes) for codes in plan.values()), default=MOST_PER_ROUND)
        if fewest >= MOST_PER_ROUND:
            raise FeltwatchError(
                f"--faults: more mistakes than {len(plan)} rounds can hold "
                f"({MOST_PER_ROUND} to a round); ask for more rounds"
            )
        plan[rng.choice([n for n, codes in plan.items() if len(codes) == fewest])].append(code)
