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

LONGEST_PAY_S = 3.0
"""A seat in motion for longer until its payout is seen at rest: more than that was done.

Of 35 main payouts of seven tune shifts ("feltwatch judge 2026-11-28 g ways" to "i ways") it was in
motion for 2.6 s at most. A commission that was given within that time made an OVERPAID false."""


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
    """Whether something moved over the seat while the payout and the hand lay there, or may have
    before both were seen at rest."""
    read = [e for e in episodes if e.readings]
    paid = [
        k for k, e in enumerate(read) if e.cards_up and any("main" in r.pays for r in e.readings)
    ]
    if len(paid) != 1 or read[paid[0]].stirred:
        return True
    before = read[paid[0] - 1] if paid[0] else None
    return before is None or read[paid[0]].start_s - before.until_s > LONGEST_PAY_S
