"""The payout laid beside a stake, with change, commission and corrected payments.

A dealer may lay a large chip and take change back, lay the whole win and take the
commission out of it, or correct a payment. What counts is what lay there when the seat's cards
were taken away; chips of other colours with the same sum are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from settlement.record import SeatRecord, WagerRecord
from settlement.result import WagerSettlement
from settlement.rules import Commission
from settlement.ruling import money


@dataclass(frozen=True, slots=True)
class Laid:
    """The sum in cents, and how it came about.

    `in_time` is what lay there when the cards were taken, `at_last` in the end; they differ
    when a payment was fixed too late. `returned` is change or commission that went back.

    >>> wager = WagerRecord(wager="main", stake_cents=2500, paid_cents=2500, returned_cents=125)
    >>> Laid.of(wager, SeatRecord(seat=1))
    Laid(in_time=2375, at_last=2375, returned=125)
    """

    in_time: int
    at_last: int
    returned: int = 0

    @classmethod
    def of(cls, wager: WagerRecord, seat: SeatRecord | None) -> Laid | None:
        """What was laid for a wager; None when that is not known."""
        returned = wager.returned_cents or 0
        if not wager.payments:
            if wager.paid_cents is None:
                return None
            net = wager.paid_cents - returned
            return cls(net, net, returned)
        at_last = sum(payment.cents for payment in wager.payments) - returned
        taken = None if seat is None else seat.cards_taken_s
        if taken is None:
            return cls(at_last, at_last, returned)
        late = sum(p.cents for p in wager.payments if Decimal(p.at_s) > Decimal(taken))
        return cls(at_last - late, at_last, returned)

    @property
    def text(self) -> str:
        """The sum with what went back."""
        back = f" ({money(self.returned)} taken back)" if self.returned else ""
        return f"paid {money(self.in_time)}{back}"


def right_sums(ruling: WagerSettlement, commission: Commission | None) -> tuple[int, ...]:
    """The sums in cents that settle a win: the payout due, or all where commission is later."""
    if ruling.pay_cents is None or ruling.gross_cents is None:
        return ()
    if commission is not None and commission.taken != "from_the_pay":
        return ruling.gross_cents, ruling.pay_cents
    return (ruling.pay_cents,)


def is_settled(laid: Laid, ruling: WagerSettlement, commission: Commission | None) -> bool:
    """Whether what was laid settles a win: by the time the cards were taken, or the net payout at
    last where the commission is collected afterwards, as it is final only then. Beside the whole
    win the player may have laid the commission, which was drawn in later."""
    if laid.in_time in right_sums(ruling, commission):
        return True
    if ruling.commission_cents and laid.at_last == ruling.gross_cents:
        return laid.in_time == laid.at_last + ruling.commission_cents
    later = commission is not None and commission.taken == "afterwards"
    return later and bool(ruling.commission_cents) and laid.at_last == ruling.pay_cents
