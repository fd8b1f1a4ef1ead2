"""Stakes as people build them, and the limits they keep or break."""

from __future__ import annotations

import random
from typing import Literal

from datasets.simulate.chipwork import STACK_CHIPS, Colours, by_value, make_change, ordered
from settlement.errors import FeltwatchError
from settlement.games import terms_for
from settlement.rules import TableRules
from vision.geometry.table import TableFile

Stacking = Literal["few", "small", "tall"]
STACKINGS: tuple[Stacking, ...] = ("few", "small", "tall")
"""Few large chips, one of them changed, or a tall stack of small ones."""


def within(cents: int, wager: str, rules: TableRules) -> bool:
    """Whether a stake keeps the table's limits."""
    limit = terms_for(rules).limits.get(wager)
    if limit is None:
        return True
    low_enough = limit.max_cents is None or cents <= limit.max_cents
    return low_enough and cents >= (limit.min_cents or 0)


def stake_chips(
    cents: int, table: TableFile, stacking: Stacking | bool, rng: random.Random
) -> Colours:
    """A stake's chips: few, with one changed to a lower value, or a tall stack of small ones."""
    chips = list(make_change(cents, table.chips))
    how = ("small" if stacking else "few") if isinstance(stacking, bool) else stacking
    times = {"few": 0, "small": 1, "tall": 6}[how]
    for _ in range(times):
        breakable = [colour for colour in chips if len(_broken(colour, table)) > 1]
        if not breakable:
            break
        colour = rng.choice(breakable)
        more = list(chips)
        more.remove(colour)
        more += _broken(colour, table)
        if len(more) <= STACK_CHIPS:
            chips = more
    if len(chips) > STACK_CHIPS:
        raise FeltwatchError(
            f"chips: {cents} cents take {len(chips)} chips, a stack holds {STACK_CHIPS}; "
            "give the table larger chips or other limits"
        )
    return ordered(chips, table.chips)


def _broken(colour: str, table: TableFile) -> list[str]:
    """A chip changed into equal chips of the next lower value of a dollar or more."""
    value = table.chips[colour].value_cents
    for other, lower in by_value(table.chips):
        if 100 <= lower < value and value % lower == 0:
            return [other] * (value // lower)
    return [colour]


def limit_breaks(wager: str, table: TableFile) -> list[int]:
    """Stakes in cents that break the wager's limits and still stand as one stack."""
    limit = terms_for(table.rules).limits.get(wager)
    if limit is None:
        return []
    found: list[int] = []
    values = [value for _, value in by_value(table.chips) if value >= 100]
    if limit.min_cents:
        found += [limit.min_cents - value for value in values]
    if limit.max_cents is not None:
        found += [limit.max_cents + value for value in values if value <= limit.max_cents]
    return [cents for cents in found if cents > 0 and _stands(cents, table)]


def _stands(cents: int, table: TableFile) -> bool:
    try:
        return len(make_change(cents, table.chips)) <= STACK_CHIPS
    except FeltwatchError:
        return False
