"""A pay that lies whole where a commission is due: it may have been given in other chips.

The dealer keeps the commission back, takes it out of the pay, or is given it by the player out
of chips that lie nowhere afterwards. The last leaves the felt as it was: whether it was done is
known only where nothing moved over the pay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from settlement.errors import FeltwatchError
from settlement.games import terms_for
from settlement.record import RoundRecord, SeatRecord, Undecided
from settlement.rules import TableRules
from vision.rounds.tracker import Episode, Round

_WHY = "the pay lies whole, and the commission may have been given in other chips"


def commission_doubts(record: RoundRecord, rules: TableRules, own: Round) -> Iterator[Undecided]:
    """An entry for each win that was paid whole, where the commission was due at once."""
    try:
        commission = terms_for(rules).commission
    except FeltwatchError:
        return
    if commission is None or not commission.percent or commission.taken == "afterwards":
        return
    doubted = {entry.seat for entry in record.undecided if entry.what == "main.paid"}
    for seat in record.seats:
        if seat.seat in doubted or not _paid_whole(seat):
            continue
        if _stirred(own.tracks[seat.seat].episodes):
            yield Undecided(seat=seat.seat, what="main.paid", why=_WHY)


def _paid_whole(seat: SeatRecord) -> bool:
    main = seat.wager("main")
    if main is None or main.action != "paid" or not main.stake_cents:
        return False
    return main.paid_cents == main.stake_cents and main.returned_cents is None


def _stirred(episodes: Sequence[Episode]) -> bool:
    """Whether something moved over the seat while the pay and the hand lay there."""
    paid = [e for e in episodes if e.cards_up and any("main" in r.pays for r in e.readings)]
    return len(paid) != 1 or bool(paid[0].stirred)
