"""Envy prizes that are paid to seats without a lammer, which would show their place."""

from __future__ import annotations

from collections.abc import Mapping

from settlement.errors import FeltwatchError
from settlement.record import RoundRecord, WagerRecord
from settlement.rules import TableRules
from settlement.settle import envy_hands


def prize_hands(record: RoundRecord, rules: TableRules) -> list[int]:
    """Return the seats whose hands win prizes for others; none where the round cannot be settled.

    Why it cannot is reported by all who need the rules.
    """
    try:
        return envy_hands(record, rules)
    except FeltwatchError:
        return []


def with_unowned_prizes(record: RoundRecord, prizes: Mapping[int, WagerRecord]) -> RoundRecord:
    """Return the record with chips of no wager entered as envy prizes.

    `prizes` are the entries by seat: chips that came to stand after a hand that wins a prize for
    others was shown. Players lay down chips of their own at any time, but hardly just then. The
    entry 'chips' among the undecided ones goes where they count.
    """
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
