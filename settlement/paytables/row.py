"""One row of a pay table: the hands it pays, by their category, and its kind of pay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Annotated, Self

from pydantic import (
    Field,
    StrictInt,
    field_validator,
    model_validator,
)

from settlement.features import ACE_HIGH, PAI_GOW, SEVEN_CARD_CATEGORIES
from settlement.form import Form
from settlement.ruling import LOSS, PUSH, Pay

_PAI_GOW: Mapping[str, str] = {
    category: SEVEN_CARD_CATEGORIES[category] for category in ("nine_high_one_colour", *PAI_GOW)
}
_TREASURE: Mapping[str, str] = {
    c: name for c, name in SEVEN_CARD_CATEGORIES.items() if c not in _PAI_GOW
}

CATEGORIES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "pai_gow_insurance": _PAI_GOW,
        "ace_high_pai_gow_insurance": ACE_HIGH,
        "emperors_treasure": _TREASURE,
        "envy": _TREASURE,
        "pai_gow_insurance_progressive": _PAI_GOW,
        "emperors_treasure_progressive": _TREASURE,
        "imperial_side_bet": _TREASURE,
    }
)
"""Wagers that are paid by a table, and the categories their rows may name, with names."""

_WITHIN: Mapping[str, frozenset[str]] = {
    "seven_card_straight_flush_natural": frozenset({"seven_card_straight_flush"}),
    "seven_card_straight_flush_joker": frozenset({"seven_card_straight_flush"}),
    "seven_card_straight_flush": frozenset({"straight_flush"}),
    "royal_flush_with_suited_ace_king": frozenset({"royal_flush"}),
    "royal_flush_natural": frozenset({"royal_flush"}),
    "royal_flush": frozenset({"straight_flush"}),
    "straight_flush": frozenset({"flush", "straight"}),
    "five_aces": frozenset({"four_of_a_kind"}),
    "four_of_a_kind": frozenset({"three_of_a_kind"}),
    "full_house": frozenset({"three_of_a_kind"}),
    "nine_high_one_colour": frozenset({"nine_high"}),
}
"""The categories that every hand of a category holds too, by the next larger ones."""

_TOGETHER: Mapping[str, frozenset[str]] = {
    "seven_card_straight_flush": frozenset(
        {"seven_card_straight_flush_natural", "seven_card_straight_flush_joker"}
    ),
    "player_and_dealer_ace_high": frozenset(
        {"dealer_ace_high_with_joker", "dealer_ace_high_without_joker"}
    ),
}
"""Categories of which every hand holds one of some others."""


def row_above(category: str, above: Sequence[str]) -> str | None:
    """The row that takes the last hands of a category before it is reached; None: reachable.

    >>> row_above("royal_flush", ["five_aces", "flush"]), row_above("flush", ["royal_flush"])
    ('flush', None)
    """
    for place, other in enumerate(above):
        together = _TOGETHER.get(category)
        if other in _wider(category) or (together and together.issubset(above[: place + 1])):
            return other
    return None


def _wider(category: str) -> frozenset[str]:
    """Every category that all hands of a category hold."""
    found = _WITHIN.get(category, frozenset())
    return found.union(*(_wider(wider) for wider in found))


Cents = Annotated[StrictInt, Field(gt=0)]

DYNAMIC_PAYS = 10
"""Dynamic pays of a row, one of which may be drawn for a round (002, Appendix G, note 4)."""
_NO_ODDS = ("push", "loss", "n/a")


class PayRow(Form):
    """One row of a pay table, with one kind of pay: `pay`, `pay_cents` or `percent`.

    >>> PayRow(category="full_house", label="Full House", pay=5).value.odds
    Fraction(5, 1)
    >>> PayRow(category="three_pair", label="3 Pair", pay="push").value.outcome
    'push'
    >>> str(PayRow(category="five_aces", label="5 Aces", percent=100, level=2).value)
    '100% of level 2'
    """

    category: str = Field(description="What seven cards must hold.")
    label: str = Field(min_length=1, description="The row as printed.")
    pay: int | str | None = Field(
        default=None,
        description="Odds such as 5 or '1/2', 'push' or 'loss' in tables 'to 1'; 'n/a' in tables "
        "'for 1'.",
    )
    pay_cents: Cents | None = Field(
        default=None,
        description="A sum in cents: for a base wager of $1 in tables 'for 1', a prize in tables "
        "'fixed'.",
    )
    percent: StrictInt | None = Field(
        default=None, ge=1, le=100, description="Percent of the meter, in tables 'for 1'."
    )
    level: StrictInt | None = Field(
        default=None, ge=1, description="The meter's level; none where there is one meter."
    )
    envy_cents: Cents | None = Field(
        default=None, description="Envy prize of the row, in tables printed with a pay and an envy."
    )
    dynamic_cents: tuple[Cents, ...] = Field(
        default=(), description="The ten sums that can take the place of `pay_cents` in a round."
    )

    @field_validator("pay", mode="before")
    @classmethod
    def _known_pay(cls, value: object) -> object:
        if value is None or value in _NO_ODDS:
            return value
        odds = Fraction(0)
        if isinstance(value, int | str) and not isinstance(value, bool):
            with suppress(ValueError, ZeroDivisionError):
                odds = Fraction(value)
        if odds <= 0:
            raise ValueError(
                f"{value!r} is no pay: write odds above 0 such as 5 or '1/2', or 'push', 'loss' "
                "or 'n/a'"
            )
        return value

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = [k for k in ("pay", "pay_cents", "percent") if getattr(self, k) is not None]
        if len(kinds) != 1:
            found = " and ".join(kinds) or "none"
            raise ValueError(f"needs one of pay, pay_cents and percent; it has {found}")
        if self.level is not None and self.percent is None:
            raise ValueError("level: only a row with percent has a level")
        if self.dynamic_cents:
            if self.pay_cents is None:
                raise ValueError("dynamic_cents: only a row with pay_cents has dynamic pays")
            if len(self.dynamic_cents) != DYNAMIC_PAYS:
                raise ValueError(
                    f"dynamic_cents: {DYNAMIC_PAYS} sums are needed, not {len(self.dynamic_cents)}"
                )
            if list(self.dynamic_cents) != sorted(set(self.dynamic_cents)):
                raise ValueError("dynamic_cents: the sums do not rise from the first to the last")
        return self

    @cached_property
    def value(self) -> Pay:
        """The row's pay; a row 'n/a' loses."""
        if self.pay_cents is not None:
            return Pay.fixed(self.pay_cents)
        if self.percent is not None:
            return Pay.of_meter(self.percent, self.level)
        if self.pay is None or self.pay in _NO_ODDS:
            return PUSH if self.pay == "push" else LOSS
        return Pay.to_one(Fraction(self.pay))
