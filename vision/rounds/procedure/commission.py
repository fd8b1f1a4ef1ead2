"""Payouts over which something moved: a commission may have been given in other chips.

The dealer keeps the commission back, takes it out of the payout, or is given it by the player
out of chips that lie nowhere afterwards. The last leaves the felt as it was: whether it was done
is known only where nothing moved over the payout.
"""

from __future__ import annotations

from collections.abc import Sequence

from settlement.errors import FeltwatchError
from settlement.games import terms_for
from settlement.record import RoundRecord, SeatRecord
from settlement.rules import TableRules
from vision.rounds.round_state import Episode, Round


def with_stirred(record: RoundRecord, rules: TableRules, own: Round) -> RoundRecord:
    """The record with the main payouts over which something moved, where a commission is due."""
    try:
        commission = terms_for(rules).commission
    except FeltwatchError:
        return record
    if commission is None or not commission.percent or commission.taken == "afterwards":
        return record
    seats = tuple(_marked(seat, own.tracks[seat.seat].episodes) for seat in record.seats)
    return record.model_copy(update={"seats": seats})


def _marked(seat: SeatRecord, episodes: Sequence[Episode]) -> SeatRecord:
    if not _stirred(episodes):
        return seat
    wagers = tuple(
        wager.model_copy(update={"stirred": True})
        if wager.wager == "main" and wager.action == "paid"
        else wager
        for wager in seat.wagers
    )
    return seat.model_copy(update={"wagers": wagers})


def _stirred(episodes: Sequence[Episode]) -> bool:
    """Whether something moved over the seat while the payout and the hand lay there."""
    paid = [e for e in episodes if e.cards_up and any("main" in r.pays for r in e.readings)]
    return len(paid) != 1 or bool(paid[0].stirred)
