"""Envy prizes laid to seats to which none is due, where no lammer shows their place."""

from __future__ import annotations

from collections.abc import Mapping

from settlement.errors import FeltwatchError
from settlement.record import RoundRecord, WagerRecord
from settlement.rules import TableRules
from settlement.settle import envy_hands
from vision.chips.states import PlaceSum


def with_stray_prizes(
    record: RoundRecord, rules: TableRules, came: Mapping[int, PlaceSum]
) -> RoundRecord:
    """The record with what came to stand at seats by no wager as prizes, where it can be one.

    `came` are these sums by seat. Only in rounds in which some hand wins a prize for others:
    players lay down chips of their own at any time, but hardly just then.
    """
    sums = {seat: own for seat, own in came.items() if own.cents is not None}
    if not sums:
        return record
    try:
        if not envy_hands(record, rules):
            return record
    except FeltwatchError:
        return record
    seats = []
    for seat in record.seats:
        own = sums.get(seat.seat)
        if own is None or seat.high is None or seat.wager("envy") is not None:
            sums.pop(seat.seat, None)
            seats.append(seat)
            continue
        prize = WagerRecord(
            wager="envy", stake_cents=None, action="paid", paid_cents=own.cents,
            paid_sums=own.sums or None, paid_chips=own.height, cameras=own.cameras or None,
        )  # fmt: skip
        seats.append(seat.model_copy(update={"wagers": (*seat.wagers, prize)}))
    left = tuple(u for u in record.undecided if u.what != "chips" or u.seat not in sums)
    return record.model_copy(update={"seats": tuple(seats), "undecided": left})
