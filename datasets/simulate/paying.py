"""How a dealer pays: in few chips or changed ones, with change, less commission, or corrected."""

from __future__ import annotations

import random

from datasets.simulate.chipwork import (
    PAY_STACK_CHIPS,
    Colours,
    by_value,
    make_change,
    ordered,
    small_change,
    value_cents,
)
from datasets.simulate.script import PayStep
from settlement.errors import FeltwatchError
from settlement.games import terms_for
from settlement.result import WagerSettlement
from vision.geometry.table import TableFile

_EVEN_IN_KIND = 0.5
_OTHER_CHIPS = 0.2
_CORRECTED = 0.06
_WITH_CHANGE = 0.1
_TAKEN_LATER = 0.4
"""How often a commission that is collected later is taken out of the payout, not given by hand."""


def pay_chips(cents: int, stake: Colours, table: TableFile, rng: random.Random) -> Colours:
    """An even payout at times in the stake's own chips, others in few or changed ones.

    Raises FeltwatchError when the table's chips cannot make the sum.
    """
    if cents == value_cents(stake, table.chips) and rng.random() < _EVEN_IN_KIND:
        return stake
    chips = make_change(cents, table.chips)
    if rng.random() < _OTHER_CHIPS:
        return changed(chips, table, rng)
    return chips


def changed(chips: Colours, table: TableFile, rng: random.Random) -> Colours:
    """One chip given in the next smaller value, where the stack stays low."""
    colour = rng.choice(chips)
    value = table.chips[colour].value_cents
    for other, lower in by_value(table.chips):
        if lower < value and value % lower == 0:
            more = list(chips)
            more.remove(colour)
            more += [other] * (value // lower)
            fits = len(more) <= PAY_STACK_CHIPS
            return ordered(more, table.chips) if fits else chips
    return chips


def pay_steps(
    due: WagerSettlement, stake: Colours, table: TableFile, rng: random.Random
) -> tuple[PayStep, ...]:
    """The acts by which a dealer gives what is due; in the end it is right.

    Raises FeltwatchError when the table's chips cannot make the sum.
    """
    cents = due.pay_cents or 0
    commission = terms_for(table.rules).commission
    if due.commission_cents and commission is not None:
        return _less_commission(due, stake, table, rng, afterwards=commission.taken == "afterwards")
    chips = pay_chips(cents, stake, table, rng)
    draw = rng.random()
    if draw < _CORRECTED:
        return corrected(chips, table, rng)
    if draw < _CORRECTED + _WITH_CHANGE:
        return _with_change(cents, table) or (PayStep(chips),)
    return (PayStep(chips),)


def _less_commission(
    due: WagerSettlement, stake: Colours, table: TableFile, rng: random.Random, *, afterwards: bool
) -> tuple[PayStep, ...]:
    """Net at once, or in full and the commission taken out of it, or given by the player.

    `afterwards` it is paid in full, and the commission is given or taken once all are settled.
    """
    gross = due.gross_cents or 0
    whole = pay_chips(gross, stake, table, rng)
    back = make_change(due.commission_cents, table.chips)
    draw = rng.random()
    if afterwards:
        split = small_change(whole, due.commission_cents, table.chips)
        if draw < _TAKEN_LATER and split is not None:
            return (PayStep(split), PayStep(taken=back, back=True, at_end=True))
        return (PayStep(whole), PayStep(given=back, at_end=True))
    if draw < 0.25:
        return (PayStep(whole), PayStep(given=back))
    split = small_change(whole, due.commission_cents, table.chips)
    if draw < 0.5 and split is not None:
        return (PayStep(split), PayStep(taken=back, back=True))
    return (PayStep(make_change(due.pay_cents or 0, table.chips)),)


def _with_change(cents: int, table: TableFile) -> tuple[PayStep, ...] | None:
    """A larger chip laid, and the player gives back the rest; None where that is not done."""
    for _, value in reversed(by_value(table.chips)):
        if cents < value <= 2 * cents:
            try:
                rest = make_change(value - cents, table.chips)
                large = make_change(value, table.chips)
            except FeltwatchError:
                return None
            return (PayStep(large), PayStep(given=rest)) if len(rest) <= 5 else None
    return None


def corrected(
    right: Colours, table: TableFile, rng: random.Random, *, late: bool = False,
    over: bool | None = None,
) -> tuple[PayStep, ...]:  # fmt: skip
    """A payout that is a chip too much or too little at first, and then corrected."""
    too_much = rng.random() < 0.5 if over is None else over
    colour = rng.choice(right)
    if too_much or len(right) == 1:
        if over is False:
            return ()
        return (
            PayStep(ordered((*right, colour), table.chips)),
            PayStep(taken=(colour,), late=late),
        )
    less = list(right)
    less.remove(colour)
    return (PayStep(tuple(less)), PayStep((colour,), late=late))
