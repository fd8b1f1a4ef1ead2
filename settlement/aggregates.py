"""The most a house pays per hand or round, where it posts one (000, 002: "maximum aggregate").

The note stands below Appendix B of 000 and Appendix C of 002, which print Emperor's Treasure
and its Envy Bonus: one posted sum is for both together (000 B, note 5; 002 C, note 5; ST-23).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from settlement.ruling import money
from settlement.wager_state import Due, Play


def apply_aggregates(play: Play, dues: Sequence[Sequence[Due]]) -> None:
    """Scale the payouts of a round down to the posted sums, hand by hand and then together.

    Shares are rounded down to whole units of the table's rounding, so that the sum never
    exceeds what is posted. Where a payout that is not decided may use up a part of the sum,
    the others of the same sum are not decided either.
    """
    for wager, most in play.rules.aggregates.items():
        names = {wager}
        if wager == play.terms.envy.wager and most.counts_envy:
            names.add("envy")
        pools = [[due for due in mine if due.name in names] for mine in dues]
        if most.per_hand_cents is not None:
            for pool in pools:
                posted = f"the house pays at most {money(most.per_hand_cents)} a hand"
                _scale(play, pool, most.per_hand_cents, posted)
        if most.per_round_cents is not None:
            posted = f"the house pays at most {money(most.per_round_cents)} a round"
            _scale(play, [due for pool in pools for due in pool], most.per_round_cents, posted)


def _scale(play: Play, pool: Sequence[Due], most: int, posted: str) -> None:
    """Scale the payouts of one sum down to what is posted."""
    paid = [due for due in pool if due.cents]
    total = sum(due.cents or 0 for due in paid)
    waiting = [due for due in pool if due.is_open]
    if waiting and paid and not _fits(play, paid, waiting, most):
        _leave_open(paid, waiting, posted)
        return
    if total <= most:
        return
    unit = play.rules.rounding.unit_cents
    for due in paid:
        due.cents = (due.cents or 0) * most // total // unit * unit
        due.note = posted if len(paid) == 1 else f"scaled down, as {posted}"


def _fits(play: Play, paid: Sequence[Due], waiting: Sequence[Due], most: int) -> bool:
    """Whether every sum that may be paid stays within what is posted."""
    if len(paid) == 1 and paid == waiting and (paid[0].cents or 0) <= most:
        # Its least sum is known: that stands.
        return True
    total = sum(due.cents or 0 for due in paid if due not in waiting)
    for due in waiting:
        best = max(_possible_cents(play, due), default=None)
        if best is None:
            return False
        total += best
    return total <= most


def _possible_cents(play: Play, due: Due) -> Iterator[int]:
    """What a wager that is not decided may pay; nothing when its stake is not known."""
    if due.ruling.at_most is not None:
        if due.stake is not None or not due.ruling.at_most.by_stake:
            yield due.ruling.at_most.cents(due.stake or 0)
        return
    table = play.terms.tables.get(due.name)
    if table is not None and due.stake is not None:
        yield from (row.value.cents(due.stake) for row in table.rows)


def _leave_open(paid: Sequence[Due], waiting: Sequence[Due], posted: str) -> None:
    first = waiting[0]
    reason = first.undecided or first.ruling.undecided or "its stake is not known"
    for due in paid:
        due.cents = None
        due.undecided = f"{posted}, of which {first.name} may take a part: {reason}"
