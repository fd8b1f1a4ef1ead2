"""How one wager is decided: the outcome, the payout, and the rule behind it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from pydantic import Field

from settlement.form import Form
from settlement.rules import Rounding

Outcome = Literal["win", "lose", "push"]


class Rule(Form):
    """The place in a rule document that decides something.

    >>> print(Rule(document="002_a612a20b2ff3374e.txt", section="Appendix C", row="Full House"))
    002, Appendix C, Full House
    """

    document: str = Field(description="File name of the rule document.")
    section: str = Field(description="Heading, appendix and column.")
    row: str = Field(description="Numbered line or table row.")

    def __str__(self) -> str:
        """The rule in one line; documents by their first three digits."""
        return f"{self.document.split('_')[0]}, {self.section}, {self.row}"


@dataclass(frozen=True, slots=True)
class Pay:
    """What a decided wager gets: odds on its stake, a fixed sum, or percent of a meter.

    >>> Pay.to_one(Fraction(3)).cents(500), Pay.to_one(Fraction(1, 2)).exact_cents(501)
    (1500, Fraction(501, 2))
    >>> Pay.fixed(2000).cents(0), str(Pay.fixed(2000)), str(Pay.to_one(Fraction(1, 2)))
    (2000, '$20.00', '1 to 2')
    >>> str(Pay.of_meter(100, 2)), Pay.of_meter(10).from_meter
    ('100% of level 2', True)
    """

    outcome: Outcome
    odds: Fraction = Fraction(0)
    fixed_cents: int = 0
    percent: int = 0
    level: int | None = None

    @classmethod
    def to_one(cls, odds: Fraction) -> Pay:
        """Odds "to 1": the payout beside the stake, which stays the player's."""
        return cls("win", odds=odds)

    @classmethod
    def fixed(cls, cents: int) -> Pay:
        """A fixed sum in cents; in tables "for 1" as printed, for a base wager of $1."""
        return cls("win", fixed_cents=cents)

    @classmethod
    def of_meter(cls, percent: int, level: int | None = None) -> Pay:
        """Percent of what a jackpot meter shows, or of one level of it."""
        return cls("win", percent=percent, level=level)

    @property
    def by_stake(self) -> bool:
        """Whether the sum depends on the stake."""
        return self.odds != 0

    @property
    def from_meter(self) -> bool:
        """Whether the sum depends on a meter."""
        return self.percent != 0

    def exact_cents(self, stake_cents: int) -> Fraction:
        """The sum by odds and fixed payout in cents, not rounded."""
        return self.odds * stake_cents + self.fixed_cents

    def cents(self, stake_cents: int, rounding: Rounding | None = None) -> int:
        """The sum by odds and fixed payout in whole cents; half a cent is dropped by default."""
        if self.odds.denominator == 1 and (rounding is None or rounding.unit_cents == 1):
            return self.odds.numerator * stake_cents + self.fixed_cents
        exact = self.exact_cents(stake_cents)
        return int(exact) if rounding is None else rounding.cents(exact)

    def __str__(self) -> str:
        """'3 to 1', '$20.00', '100% of the meter', 'push' or 'loss'."""
        if self.odds:
            return f"{self.odds.numerator} to {self.odds.denominator}"
        if self.fixed_cents:
            return money(self.fixed_cents)
        if self.percent:
            return (
                f"{self.percent}% of {'the meter' if self.level is None else f'level {self.level}'}"
            )
        return "push" if self.outcome == "push" else "loss"


PUSH = Pay("push")
LOSS = Pay("lose")


@dataclass(frozen=True, slots=True)
class Ruling:
    """A wager's outcome and payout with the rule, or why there is none.

    `pay` is None when the sum could not be decided, `outcome` too when nothing could;
    `undecided` then says why. `at_most` is the largest payout that an undecided sum may be.

    >>> Ruling.unknown("the dealer's hand was not read").outcome is None
    True
    """

    outcome: Outcome | None
    pay: Pay | None
    rule: Rule | None
    why: str
    undecided: str | None = None
    at_most: Pay | None = None

    @classmethod
    def of(cls, pay: Pay, rule: Rule, why: str) -> Ruling:
        """A ruling with its payout."""
        return cls(pay.outcome, pay, rule, why)

    @classmethod
    def unknown(cls, reason: str) -> Ruling:
        """No ruling, with the reason."""
        return cls(None, None, None, "", reason)


def money(cents: int, *, signed: bool = False, short: bool = False) -> str:
    """Cents as dollars; with `signed` a plus before what is won, with `short` no '.00'.

    >>> money(1050), money(123456700), money(-50)
    ('$10.50', '$1,234,567.00', '-$0.50')
    >>> money(2500, signed=True), money(0, signed=True), money(1234500, short=True)
    ('+$25.00', '+$0.00', '$12,345')
    """
    sign = "-" if cents < 0 else "+" if signed else ""
    dollars, rest = divmod(abs(cents), 100)
    return f"{sign}${dollars:,}" + ("" if short and not rest else f".{rest:02d}")
