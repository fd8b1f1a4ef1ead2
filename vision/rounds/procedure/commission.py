"""Payouts over which something moved: a commission may have been given in other chips.

The dealer keeps the commission back, takes it out of the payout, or is given it by the player
out of chips that lie nowhere afterwards. The last leaves the felt as it was: whether it was done
is known only where nothing moved over the payout.

Where it is collected afterwards, it may be given or taken until the payout is drawn in.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from settlement.errors import FeltwatchError
from settlement.games import terms_for
from settlement.record import RoundRecord, SeatRecord
from settlement.rules import TableRules
from vision.rounds.round_state import Episode, Round

LONGEST_PAY_S = 3.0
"""A seat in motion for longer until its payout is seen at rest: more than that was done.

Of 35 main payouts of seven tune shifts ("feltwatch judge 2026-11-28 g ways" to "i ways") it was in
motion for 2.6 s at most. A commission that was given within that time made an OVERPAID false."""

LONGEST_TAKE_S = 2.3
"""A seat in motion for longer after its payout was last seen at rest by the hand: more was done
than to take the cards. Of 20 main payouts of five shifts with a commission ("feltwatch judge
2026-11-29 m ways" 2, 22, 27, 37 and 42, tune) 19 were in motion for 1.8 s at most; over the other,
for 2.8 s, a commission was given and the cards were taken."""


def with_stirred(record: RoundRecord, rules: TableRules, own: Round) -> RoundRecord:
    """The record with the main payouts over which something moved, where a commission is due."""
    try:
        commission = terms_for(rules).commission
    except FeltwatchError:
        return record
    if commission is None or not commission.percent or commission.taken == "on_account":
        return record
    later = commission.taken == "afterwards"
    seats = tuple(_marked(seat, own.tracks[seat.seat].episodes, later) for seat in record.seats)
    return record.model_copy(update={"seats": seats})


def _marked(seat: SeatRecord, episodes: Sequence[Episode], later: bool) -> SeatRecord:
    stirred = _stirred_to_the_end(episodes) if later else _stirred(episodes)
    if not stirred and not later:
        return seat
    wagers = tuple(
        wager.model_copy(update={"stirred": stirred})
        if wager.wager == "main" and wager.action == "paid"
        else wager
        for wager in seat.wagers
    )
    return seat.model_copy(update={"wagers": wagers})


def _stirred(episodes: Sequence[Episode]) -> bool:
    """Whether something moved over the seat while the payout and the hand lay there, or may have
    before both were seen at rest or after."""
    read = [e for e in episodes if e.readings]
    paid = [
        k for k, e in enumerate(read) if e.cards_up and any("main" in r.pays for r in e.readings)
    ]
    if len(paid) != 1 or read[paid[0]].stirred:
        return True
    own = read[paid[0]]
    before = read[paid[0] - 1] if paid[0] else None
    after = read[paid[0] + 1] if paid[0] + 1 < len(read) else None
    if after is not None and after.start_s - own.until_s > LONGEST_TAKE_S:
        return True
    return before is None or own.start_s - before.until_s > LONGEST_PAY_S


def _stirred_to_the_end(episodes: Sequence[Episode]) -> bool:
    """Whether something moved over the payout until it was drawn in, but for the hand's cards that
    were taken, or may have: it was changed, or motion at either end took longer than that takes."""
    read = [e for e in episodes if e.readings]
    paid = [
        k
        for k, e in enumerate(read)
        if sum("main" in r.pays for r in e.readings) * 2 > len(e.readings)
    ]
    if not paid or not paid[0] or paid[-1] + 1 == len(read) or len(paid) > 2:
        return True
    own = read[paid[0] : paid[-1] + 1]
    if len(own) != len(paid) or not own[0].cards_up or any(e.stirred or e.gap for e in own):
        return True
    if len(own) == 2 and own[1].cards_up:
        return True
    before, after = read[paid[0] - 1], read[paid[-1] + 1]
    if own[0].start_s - before.until_s > LONGEST_PAY_S or after.gap is not None:
        return True
    taken = [b.start_s - a.until_s for a, b in pairwise((*own, after))]
    return max(taken) > LONGEST_TAKE_S
