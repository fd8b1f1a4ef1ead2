"""Envy prizes that are paid to seats without a lammer, which would show their place."""

from __future__ import annotations

from collections.abc import Mapping

from settlement.errors import FeltwatchError
from settlement.record import RoundRecord, WagerRecord
from settlement.rules import TableRules
from settlement.settle import envy_hands


def with_unowned_prizes(
    record: RoundRecord, rules: TableRules, prizes: Mapping[int, WagerRecord]
) -> RoundRecord:
    """Return the record with chips of no wager entered as envy prizes, where they can be that.

    `prizes` are the entries by seat. They count only in rounds in which a hand wins a prize for
    others: players lay down chips of their own at any time, but hardly just then. The entry
    'chips' among the undecided ones goes where they count.
    """
    try:
        if not prizes or not envy_hands(record, rules):
            return record
    except FeltwatchError:
        # Reported by all who need the rules.
        return record
    paid = {
        seat.seat
        for seat in record.seats
        if seat.seat in prizes and seat.high is not None and seat.wager("envy") is None
    }
    seats = tuple(
        seat.model_copy(update={"wagers": (*seat.wagers, prizes[seat.seat])})
        if seat.seat in paid
        else seat
        for seat in record.seats
    )
    left = tuple(u for u in record.undecided if u.what != "chips" or u.seat not in paid)
    return record.model_copy(update={"seats": seats, "undecided": left})
