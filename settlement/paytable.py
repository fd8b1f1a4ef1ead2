"""Pay tables: TOML files beside the code, one per id, checked on load.

An operator adds a table by adding a file. Rows stand in printed order; a hand is paid by
the first row whose category it holds.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Set
from fractions import Fraction
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from settlement.errors import FeltwatchError
from settlement.features import ACE_HIGH, PAI_GOW, TREASURE
from settlement.ruling import LOSS, PUSH, Pay, Rule

CATEGORIES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "pai_gow_insurance": PAI_GOW,
        "ace_high_pai_gow_insurance": ACE_HIGH,
        "emperors_treasure": TREASURE,
        "envy": TREASURE,
    }
)
"""Wagers that are paid by a table, and the categories their rows may name, with names."""

Basis = Literal["to 1", "fixed"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PayRow(_Part):
    """One row of a pay table.

    >>> PayRow(category="full_house", label="Full House", pay=5).value
    Pay(outcome='win', odds=Fraction(5, 1), fixed_cents=0)
    >>> PayRow(category="three_pair", label="3 Pair", pay="push").value.outcome
    'push'
    """

    category: str = Field(description="What seven cards must hold.")
    label: str = Field(min_length=1, description="The row as printed.")
    pay: int | str | None = Field(
        default=None,
        description="Odds such as 5 or '1/2', or 'push' or 'loss'; for the basis 'to 1'.",
    )
    pay_cents: int | None = Field(default=None, gt=0, description="A prize; for the basis 'fixed'.")

    @field_validator("pay")
    @classmethod
    def _known_pay(cls, value: int | str | None) -> int | str | None:
        if value is None or value in ("push", "loss"):
            return value
        try:
            odds = Fraction(value)
        except (ValueError, ZeroDivisionError):
            odds = Fraction(0)
        if odds <= 0:
            raise ValueError(
                f"{value!r} is no pay: write odds above 0 such as 5 or '1/2', or 'push' or 'loss'"
            )
        return value

    @property
    def value(self) -> Pay:
        """The row's pay."""
        if self.pay_cents is not None:
            return Pay.fixed(self.pay_cents)
        if self.pay == "push":
            return PUSH
        return LOSS if self.pay in ("loss", None) else Pay.to_one(Fraction(self.pay))


class PayTable(_Part):
    """One pay table under its own id.

    >>> table = pay_table("PT-FLT-EC-ET-02")
    >>> row = table.row_for({"flush", "three_of_a_kind"})
    >>> row.label, row.pay, str(table.rule(row))
    ('5-Card Flush', 4, '002, Appendix C, PT-FLT-EC-ET-02, 5-Card Flush')
    """

    id: str = Field(min_length=1, description="The id that a table file names.")
    wager: str = Field(description="The wager it pays.")
    document: str = Field(description="File name of the rule document.")
    appendix: str = Field(description="Appendix of the document.")
    column: str = Field(description="Column as printed.")
    basis: Basis = Field(description="'to 1': odds beside the stake; 'fixed': prizes.")
    notes: tuple[str, ...] = Field(default=(), description="The notes printed under the table.")
    rows: tuple[PayRow, ...] = Field(min_length=1, description="Rows in printed order.")

    @field_validator("wager")
    @classmethod
    def _known_wager(cls, value: str) -> str:
        if value not in CATEGORIES:
            raise ValueError(f"{value!r} is paid by no table; such wagers: {', '.join(CATEGORIES)}")
        return value

    @model_validator(mode="after")
    def _rows_fit(self) -> Self:
        known = CATEGORIES[self.wager]
        seen: set[str] = set()
        for row in self.rows:
            if row.category not in known:
                raise ValueError(
                    f"row {row.label!r}: {row.category!r} is no category of {self.wager}; "
                    f"those are {', '.join(known)}"
                )
            if row.category in seen:
                raise ValueError(f"row {row.label!r}: {row.category!r} stands twice")
            seen.add(row.category)
            key, other = ("pay_cents", "pay") if self.basis == "fixed" else ("pay", "pay_cents")
            if getattr(row, key) is None or getattr(row, other) is not None:
                raise ValueError(f"row {row.label!r}: basis {self.basis!r} takes {key!r} alone")
        return self

    def row_for(self, held: Set[str]) -> PayRow | None:
        """The first row, in printed order, whose category is held; None when there is none."""
        return next((row for row in self.rows if row.category in held), None)

    def name_of(self, row: PayRow) -> str:
        """The row's category in words."""
        return CATEGORIES[self.wager][row.category]

    def rule(self, row: PayRow | None) -> Rule:
        """The place of a row, or of the table when no row is held."""
        column = "" if self.column in self.appendix else f", {self.column}"
        return Rule(
            document=self.document,
            section=f"Appendix {self.appendix}{column}",
            row=row.label if row else "no row is held",
        )


def parse_pay_table(text: str, place: str) -> PayTable:
    """A pay table from TOML; `place` opens error messages.

    Raises FeltwatchError naming the key and what would be right.
    """
    try:
        return PayTable.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise FeltwatchError(f"{place}: not valid TOML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "pay table"
        raise FeltwatchError(f"{place}: {key}: {first['msg']}") from error


@cache
def pay_table_ids() -> tuple[str, ...]:
    """The ids of all pay tables that are shipped."""
    folder = files("settlement").joinpath("paytables")
    names = (entry.name for entry in folder.iterdir())
    return tuple(sorted(n.removesuffix(".toml") for n in names if n.endswith(".toml")))


@cache
def pay_table(table_id: str) -> PayTable:
    """The pay table of an id.

    Raises FeltwatchError when there is none, or when its file is not in order.
    """
    if table_id not in pay_table_ids():
        raise FeltwatchError(f"no pay table {table_id!r}; known are {', '.join(pay_table_ids())}")
    file = files("settlement").joinpath("paytables", f"{table_id}.toml")
    table = parse_pay_table(file.read_text(encoding="utf-8"), f"{table_id}.toml")
    if table.id != table_id:
        raise FeltwatchError(f"{table_id}.toml: id: the file holds {table.id!r}")
    return table
