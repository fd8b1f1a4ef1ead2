"""The form of a pay table: rows with their pays, where it is printed, and what must hold.

Rows stand as printed. A hand is paid by the highest row whose category it holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from functools import cached_property
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from settlement.errors import FeltwatchError
from settlement.form import Form
from settlement.paytables.citation import Printing, document_digits
from settlement.paytables.row import CATEGORIES, PayRow, row_above
from settlement.ruling import Rule

Basis = Literal["to 1", "for 1", "fixed"]
PrintedOrder = Literal["highest_first", "lowest_first"]
Unlisted = Literal["next_row", "not_paid"]

DYNAMIC_ROWS = 3
"""The most rows that get a dynamic pay in one round (002, Appendix G, note 4)."""
_BELOW_FLUSH = frozenset({"flush", "straight"})


class PayTable(Form):
    """One pay table under its own id.

    >>> from settlement.paytables.registry import pay_table
    >>> table = pay_table("PT-FLT-EC-ET-02")
    >>> row = table.row_for({"flush", "three_of_a_kind"})
    >>> row.label, row.pay, str(table.rule(row))
    ('5-Card Flush', 4, '002, Appendix C, PT-FLT-EC-ET-02, 5-Card Flush')
    >>> str(table.rule(row, "000"))
    '000, Appendix B, PT-FLT-EC-ET-02, 5-Card Flush'
    """

    id: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", description="The id that a table file names."
    )
    wager: str = Field(description="The wager it pays.")
    document: str = Field(min_length=1, description="File name of the rule document.")
    appendix: str = Field(default="", description="Appendix of the document, where it has one.")
    column: str = Field(default="", description="Column or heading as printed.")
    basis: Basis = Field(
        description="'to 1': odds beside the stake, which is returned; 'for 1': sums and percent "
        "for a base wager of $1, which is not returned; 'fixed': prizes."
    )
    printed_order: PrintedOrder = Field(
        default="highest_first", description="Whether the first row is the highest or the lowest."
    )
    notes: tuple[str, ...] = Field(default=(), description="Notes under the table, in our words.")
    rows: tuple[PayRow, ...] = Field(min_length=1, description="Rows in printed order.")
    also: tuple[Printing, ...] = Field(
        default=(), description="Further documents that print the same table."
    )

    @field_validator("wager")
    @classmethod
    def _known_wager(cls, value: str) -> str:
        if value not in CATEGORIES:
            raise ValueError(f"{value!r} is paid by no table; such wagers: {', '.join(CATEGORIES)}")
        return value

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if (self.wager == "envy") != (self.basis == "fixed"):
            raise ValueError("basis: 'fixed' is for the wager 'envy', and 'envy' takes no other")
        seen: set[str] = set()
        for number, row in enumerate(self.rows, start=1):
            fault = self._row_fault(row, seen)
            if fault:
                raise ValueError(f"row {number} ({row.label!r}): {fault}")
            seen.add(row.category)
        self._check_reached()
        self._check_levels()
        documents = {document_digits(self.document)}
        for number, printing in enumerate(self.also, start=1):
            if printing.digits in documents:
                raise ValueError(f"also {number}: document: {printing.document!r} stands twice")
            documents.add(printing.digits)
            for category in printing.labels:
                if category not in seen:
                    raise ValueError(f"also {number}: labels: the table has no row {category!r}")
        return self

    def _check_reached(self) -> None:
        """Refuse a row that no hand ever gets, as rows above it take them all."""
        above: dict[str, PayRow] = {}
        for row in self.ranked():
            taker = row_above(row.category, tuple(above))
            if taker is not None:
                number = self.rows.index(row) + 1
                raise ValueError(
                    f"row {number} ({row.label!r}): is never reached, as {above[taker].label!r} "
                    "above it takes every such hand; change their order or leave one out"
                )
            above[row.category] = row

    def _check_levels(self) -> None:
        """Refuse levels with a gap: a meter between them would be filled and pay nothing."""
        paying = [(n, row) for n, row in enumerate(self.rows, start=1) if row.percent is not None]
        levels = {row.level for _, row in paying if row.level is not None}
        for number, row in paying:
            place = f"row {number} ({row.label!r})"
            if row.level is None and levels:
                raise ValueError(f"{place}: level: is missing, and other rows have one")
            below = set(range(1, row.level or 1)) - levels
            if below:
                raise ValueError(
                    f"{place}: level: {row.level}, and no row has level {min(below)}; number the "
                    "meters 1, 2, 3 without a gap"
                )

    def _row_fault(self, row: PayRow, seen: Set[str]) -> str | None:
        known = CATEGORIES[self.wager]
        if row.category not in known:
            return (
                f"category: {row.category!r} is no category of {self.wager}; "
                f"those are {', '.join(known)}"
            )
        if row.category in seen:
            return f"category: {row.category!r} stands twice"
        if self.basis == "to 1" and row.pay in (None, "n/a"):
            return "basis 'to 1' takes pay: odds, 'push' or 'loss'"
        if self.basis == "for 1" and row.pay not in (None, "n/a"):
            return "basis 'for 1' takes pay_cents, percent, or pay = 'n/a'"
        if self.basis == "fixed" and row.pay_cents is None:
            return "basis 'fixed' takes pay_cents alone"
        if row.percent is not None and not self.wager.endswith("_progressive"):
            return f"percent: {self.wager} has no meter"
        if row.dynamic_cents and self.basis != "for 1":
            return "dynamic_cents: only tables 'for 1' have dynamic pays"
        if row.envy_cents is not None and self.basis != "to 1":
            return "envy_cents: only tables 'to 1' have envy prizes in their rows"
        return None

    @cached_property
    def _down(self) -> Mapping[Unlisted, tuple[PayRow, ...]]:
        down = self.rows if self.printed_order == "highest_first" else self.rows[::-1]
        return {
            "not_paid": down,
            "next_row": tuple(row for row in down if row.pay != "n/a"),
        }

    def ranked(self, unlisted: Unlisted = "next_row") -> tuple[PayRow, ...]:
        """The rows from the highest down; without those 'n/a' unless they are 'not_paid'."""
        return self._down[unlisted]

    def row_for(self, held: Set[str], unlisted: Unlisted = "next_row") -> PayRow | None:
        """The highest row whose category is held; None when there is none.

        A row 'n/a' is passed over, so that the hand gets the next row it holds, or is the
        hand's row and loses when `unlisted` is 'not_paid' (reading ST-12).
        """
        for row in self._down[unlisted]:
            if row.category in held:
                return row
        return None

    def name_of(self, row: PayRow) -> str:
        """The row's category in words."""
        return CATEGORIES[self.wager][row.category]

    @cached_property
    def printings(self) -> tuple[Printing, ...]:
        """Where the table is printed, its own document first; each with all its labels."""
        labels = {row.category: row.label for row in self.rows}
        first = Printing(
            document=self.document,
            appendix=self.appendix,
            column=self.column,
            notes=self.notes,
            labels=labels,
        )
        others = (p.model_copy(update={"labels": {**labels, **p.labels}}) for p in self.also)
        return (first, *others)

    def printed_in(self, document: str) -> Printing | None:
        """The printing in a document, named by its digits or file name; None when not there."""
        digits = document_digits(document)
        return next((p for p in self.printings if p.digits == digits), None)

    @cached_property
    def _rules(self) -> dict[tuple[str | None, str | None], Rule]:
        # Filled as rules are asked for: settling a round asks for the same few again.
        return {}

    def rule(self, row: PayRow | None, document: str | None = None) -> Rule:
        """The place of a row, or of the table when no row is held.

        `document` (digits or file name) chooses among the printings; where the table is not
        printed there, its own document is named.
        """
        category = None if row is None else row.category
        key = (category, document)
        if key not in self._rules:
            printing = (document and self.printed_in(document)) or self.printings[0]
            self._rules[key] = Rule(
                document=printing.document,
                section=self._cited(printing.section),
                row="no row is held" if category is None else printing.label(category),
            )
        return self._rules[key]

    def _cited(self, section: str) -> str:
        """A place; of a house's own table with its id, where that is not in it."""
        numbered = document_digits(self.document).isdigit()
        if numbered or self.id in section:
            return section
        return ", ".join(filter(None, (section, self.id)))

    @cached_property
    def envy(self) -> PayTable | None:
        """The envy prizes of a table printed with both: a table of the same id; else None."""
        rows = tuple(
            PayRow(category=row.category, label=row.label, pay_cents=row.envy_cents)
            for row in self.rows
            if row.envy_cents is not None
        )
        if not rows:
            return None
        held = {row.category for row in rows}
        also = tuple(
            p.model_copy(update={"labels": {c: w for c, w in p.labels.items() if c in held}})
            for p in self.also
        )
        return self._with(wager="envy", basis="fixed", rows=rows, also=also)

    def with_dynamic(self, pays: Mapping[str, int]) -> PayTable:
        """The table for one round, with dynamic pays (category to cents) for default ones.

        Raises FeltwatchError when a row has no dynamic pays, a sum is none of its ten, or
        there are more than three (002, Appendix G, note 4).
        """
        if not pays:
            return self
        drawn = frozenset(pays.items())
        table = self._last_drawn.get(drawn)
        if table is None:
            table = self._draw(pays)
            self._last_drawn.clear()
            self._last_drawn[drawn] = table
        return table

    @cached_property
    def _last_drawn(self) -> dict[frozenset[tuple[str, int]], PayTable]:
        # One round's table is asked for once a seat.
        return {}

    def _draw(self, pays: Mapping[str, int]) -> PayTable:
        if len(pays) > DYNAMIC_ROWS:
            raise FeltwatchError(
                f"{self.id}: {len(pays)} dynamic pays; a round has at most {DYNAMIC_ROWS}"
            )
        offered = {row.category: row.dynamic_cents for row in self.rows if row.dynamic_cents}
        for category, cents in pays.items():
            if category not in offered:
                having = ", ".join(offered) or "no row"
                raise FeltwatchError(
                    f"{self.id}: {category!r} has no dynamic pays; {having} has them"
                )
            if cents not in offered[category]:
                sums = ", ".join(str(c) for c in offered[category])
                raise FeltwatchError(
                    f"{self.id}: {cents} cents is no dynamic pay of {category}; those are {sums}"
                )
        rows = tuple(
            PayRow.model_validate({**row.model_dump(), "pay_cents": pays[row.category]})
            if row.category in pays
            else row
            for row in self.rows
        )
        return self._with(rows=rows)

    @cached_property
    def in_poker_order(self) -> PayTable:
        """The table with three of a kind below flush and straight (reading ST-17, 'poker')."""
        down = list(self.ranked("not_paid"))
        places = [place for place, row in enumerate(down) if row.category in _BELOW_FLUSH]
        trips = [row for row in down if row.category == "three_of_a_kind"]
        if trips and places and down.index(trips[0]) < places[-1]:
            down.insert(places[-1] + 1, trips[0])
            down.remove(trips[0])
        return self._with(rows=tuple(down), printed_order="highest_first")

    def _with(self, **changes: object) -> PayTable:
        # Not `model_copy`: that would carry over what was worked out for the other rows.
        fields = {name: getattr(self, name) for name in PayTable.model_fields}
        return PayTable.model_validate(fields | changes)
