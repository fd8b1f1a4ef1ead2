"""A round on its way to being settled: what each wager is due, before it is written down."""

from __future__ import annotations

from dataclasses import dataclass

from settlement.games import Terms
from settlement.games.base import SeatView
from settlement.record import RoundRecord
from settlement.result import WagerSettlement
from settlement.rules import TableRules
from settlement.ruling import Ruling
from settlement.seven_card_hand import SevenCardHand, Unread
from settlement.uncertainty import Doubts


@dataclass(slots=True)
class Due:
    """One wager: its stake, its ruling, and the sum as far as it is known.

    `cents` is what the player gets, commission taken off; `for_one` wagers never give the
    stake back. `note` says how the row's payout was changed.

    >>> due = Due("main", 2500, Ruling.unknown("covered"))
    >>> due.settlement(hand_pay_cents=500000).undecided
    'covered'
    """

    name: str
    stake: int | None
    ruling: Ruling
    cents: int | None = None
    commission: int = 0
    meter_cents: int = 0
    for_one: bool = False
    note: str = ""
    undecided: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether it may yet be paid more than `cents`."""
        if self.ruling.outcome in ("lose", "push"):
            return False
        return self.cents is None or bool(self.undecided or self.ruling.undecided)

    @property
    def lost_cents(self) -> int | None:
        """What is lost of the stake; None when that is not decided."""
        if self.ruling.outcome is None:
            return None
        return self.stake if self.ruling.outcome == "lose" else 0

    def settlement(self, hand_pay_cents: int) -> WagerSettlement:
        """The wager as it is written down."""
        ruling = self.ruling
        jackpot = ruling.pay is not None and ruling.pay.from_meter
        return WagerSettlement(
            wager=self.name,
            stake_cents=self.stake,
            outcome=ruling.outcome,
            pay_cents=self.cents,
            commission_cents=self.commission,
            meter_cents=self.meter_cents,
            meter_level=ruling.pay.level or 1 if jackpot and ruling.pay else None,
            stake_returned=not self.for_one and ruling.outcome != "lose",
            hand_pay=jackpot or (self.cents is not None and self.cents > hand_pay_cents),
            may_be_hand_pay=self._may_be_hand_pay(hand_pay_cents),
            rule=ruling.rule,
            why=f"{ruling.why}; {self.note}" if self.note else ruling.why,
            undecided=self.undecided or ruling.undecided,
        )

    def _may_be_hand_pay(self, hand_pay_cents: int) -> bool:
        best = self.ruling.at_most
        if best is None or self.cents is not None:
            return False
        return best.from_meter or best.cents(self.stake or 0) > hand_pay_cents


@dataclass(frozen=True, slots=True)
class Play:
    """A record with its rules, and its hands as read.

    `views` and the lists of dues stand in the order of the record's seats.

    >>> from settlement.games import terms_for
    >>> from settlement.record import SeatRecord
    >>> rules = TableRules(game="pai_gow_poker")
    >>> record = RoundRecord(round_id="r", table="t", game="pai_gow_poker",
    ...                      seats=(SeatRecord(seat=1), SeatRecord(seat=4)))
    >>> unread = Unread("covered")
    >>> Play(record, rules, terms_for(rules), Doubts(record), unread, ()).settling_order
    [0, 1]
    """

    record: RoundRecord
    rules: TableRules
    terms: Terms
    doubts: Doubts
    dealer: SevenCardHand | Unread
    views: tuple[SeatView, ...]

    @property
    def settling_order(self) -> list[int]:
        """Positions of the seats in the order the dealer settles them."""
        seats = self.record.seats
        last_first = self.rules.settling_starts == "last_seat"
        return sorted(range(len(seats)), key=lambda i: seats[i].seat, reverse=last_first)
