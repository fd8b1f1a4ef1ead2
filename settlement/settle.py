"""Settling: a round record and a table's rules in, what every wager should do out.

Pure and total: any record that can be read is settled as far as it can be decided; what
can't be is said, with the reason. Main bets are settled by the dealer's hands as they lie
on the felt, also where the house way would have set them otherwise.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from settlement.doubt import Doubts
from settlement.games import Terms, terms_for
from settlement.games.base import SeatView, rule_by_table
from settlement.paytable import PayRow, PayTable
from settlement.record import RoundRecord, SeatRecord, WagerRecord
from settlement.result import (
    DealerSettlement,
    HandResult,
    HouseWayResult,
    SeatSettlement,
    Settlement,
    WagerSettlement,
)
from settlement.rules import TableRules
from settlement.ruling import Ruling, money
from settlement.seven import SevenCards, Unread, cards_held_twice, is_empty, read_hand

__all__ = ["Settlement", "settle"]


@dataclass(frozen=True)
class _Round:
    record: RoundRecord
    rules: TableRules
    terms: Terms
    doubts: Doubts
    dealer: SevenCards | Unread
    views: tuple[SeatView, ...]


def settle(record: RoundRecord, rules: TableRules) -> Settlement:
    """Settle a round.

    Never raises on a record, whatever is missing in it: such parts get the outcome None
    and the reason in `undecided`. `settlement.check.check_record` tells what is impossible
    in a record. Raises FeltwatchError when the rules name an unknown game, house way or
    pay table.
    """
    terms = terms_for(rules)
    doubts = Doubts(record)
    twice = cards_held_twice(record)
    dealer = read_hand(record.dealer, doubts, twice, rules.wheel)
    views = tuple(_view(seat, dealer, doubts, twice, rules) for seat in record.seats)
    play = _Round(record, rules, terms, doubts, dealer, views)
    return Settlement(
        round_id=record.round_id,
        table=record.table,
        game=rules.game,
        dealer=_settle_dealer(play),
        seats=tuple(_settle_seat(play, index) for index in range(len(record.seats))),
    )


def _view(
    seat: SeatRecord,
    dealer: SevenCards | Unread,
    doubts: Doubts,
    twice: dict[str, list[int | None]],
    rules: TableRules,
) -> SeatView:
    doubt = doubts.lammers(seat.seat)
    lammers = None if doubt else frozenset(kind.lower() for kind in seat.lammers)
    hand = read_hand(seat, doubts, twice, rules.wheel)
    return SeatView(seat.seat, hand, dealer, rules, lammers, doubt or "")


def _hands(hand: SevenCards) -> tuple[HandResult | None, HandResult | None]:
    split = hand.split
    if split is None:
        return None, None
    return HandResult.of(split.low, split.low_rank), HandResult.of(split.high, split.high_rank)


def _settle_dealer(play: _Round) -> DealerSettlement:
    hand = play.dealer
    if isinstance(hand, Unread):
        return DealerSettlement(undecided=hand.reason)
    way = play.terms.house_way
    setting = way.set_hands(hand.cards, play.rules.wheel)
    split = hand.split
    low, high = _hands(hand)
    matches = split is not None and setting.same_hands(split.low, split.high, play.rules.wheel)
    return DealerSettlement(
        low=low,
        high=high,
        pai_gow=hand.pai_gow,
        house_way=HouseWayResult.of(way.id, setting),
        matches=matches,
    )


def _settle_seat(play: _Round, index: int) -> SeatSettlement:
    seat, view = play.record.seats[index], play.views[index]
    counts = Counter(wager.wager for wager in seat.wagers)
    wagers = [
        _settle_wager(play, view, wager, counts[wager.wager])
        for wager in seat.wagers
        if wager.wager != "envy"
    ]
    envy = _settle_envy(play, index)
    if envy:
        wagers.append(envy)
    if isinstance(view.hand, Unread):
        return SeatSettlement(seat=seat.seat, undecided=view.hand.reason, wagers=tuple(wagers))
    low, high = _hands(view.hand)
    return SeatSettlement(
        seat=seat.seat,
        foul=view.hand.foul_reason is not None,
        foul_reason=view.hand.foul_reason,
        low=low,
        high=high,
        wagers=tuple(wagers),
    )


def _settle_wager(play: _Round, view: SeatView, wager: WagerRecord, times: int) -> WagerSettlement:
    name = wager.wager
    doubt = play.doubts.wager(view.seat, name, "stake")
    stake = None if doubt else wager.stake_cents
    ruling = _rule(play, view, name) if times == 1 else Ruling.unknown("the wager stands twice")
    pay = ruling.pay
    if ruling.outcome is None or pay is None:
        return _result(play, name, stake, ruling, None)
    if pay.by_stake and stake is None:
        reason = doubt or "the stake is not known"
        unpaid = Ruling(ruling.outcome, None, ruling.rule, ruling.why, reason)
        return _result(play, name, stake, unpaid, None)
    return _result(play, name, stake, ruling, pay.cents(stake or 0))


def _rule(play: _Round, view: SeatView, name: str) -> Ruling:
    if name == "main":
        return play.terms.game.main(view)
    table = play.terms.tables.get(name)
    if table is None:
        return Ruling.unknown(f"the table offers no wager {name!r}")
    return rule_by_table(table, play.terms.game.side[name](view))


def _result(
    play: _Round, name: str, stake: int | None, ruling: Ruling, cents: int | None
) -> WagerSettlement:
    return WagerSettlement(
        wager=name,
        stake_cents=stake,
        outcome=ruling.outcome,
        pay_cents=cents,
        hand_pay=cents is not None and cents > play.rules.hand_pay_cents,
        rule=ruling.rule,
        why=ruling.why,
        undecided=ruling.undecided,
    )


def _settle_envy(play: _Round, index: int) -> WagerSettlement | None:
    """The envy prize of a seat: fixed prizes for every other seat's triggering hand.

    The stake decides whether the seat qualifies, not the lammer (reading ST-10b); the hand
    that triggers need not carry the side wager (ST-9); the dealer's hand never triggers.
    While some other hand is not known, the prizes of the known ones are the least sum: the
    pay is then given together with a reason in `undecided`. None when the seat has nothing
    to do with envy.
    """
    seat = play.record.seats[index]
    table = play.terms.tables.get("envy")
    recorded = seat.wager("envy") is not None
    if table is None:
        unknown = Ruling.unknown("the table offers no wager 'envy'")
        return _result(play, "envy", None, unknown, None) if recorded else None
    prizes, unread = _prizes(play, table, index)
    rule = table.rule(max(prizes, key=lambda p: p.cents).row if prizes else None)
    qualifies, reason = _qualifies(play, seat)
    if qualifies is False:
        nothing = Ruling("lose", None, rule, reason)
        return _result(play, "envy", None, nothing, 0) if recorded else None
    if not (prizes or unread or recorded):
        return None
    if qualifies is None:
        return _result(play, "envy", None, Ruling.unknown(reason), None)
    why = "; ".join(
        f"seat {prize.seat}'s {table.name_of(prize.row)} pays {money(prize.cents)}"
        for prize in prizes
    )
    ruling = Ruling(
        "win" if prizes else (None if unread else "lose"),
        None,
        rule,
        why or "no other seat has a hand with an envy prize",
        "; ".join(unread) or None,
    )
    return _result(play, "envy", None, ruling, sum(prize.cents for prize in prizes))


@dataclass(frozen=True, slots=True)
class _Prize:
    seat: int
    row: PayRow

    @property
    def cents(self) -> int:
        return self.row.value.fixed_cents


def _prizes(play: _Round, table: PayTable, index: int) -> tuple[list[_Prize], list[str]]:
    """Prizes for the other seats' hands, and why some of those hands are not known."""
    side = play.terms.game.side[play.terms.game.envy_on or ""]
    prizes: list[_Prize] = []
    unread: list[str] = []
    for other, view in enumerate(play.views):
        if other == index or is_empty(play.record.seats[other], play.doubts):
            continue
        held = side(view)
        row = table.row_for(held.sure)
        if row:
            prizes.append(_Prize(view.seat, row))
        if held.possible:
            unread.append(held.reason)
    return prizes, unread


def _qualifies(play: _Round, seat: SeatRecord) -> tuple[bool | None, str]:
    """Whether a seat's stake qualifies for envy; None when that is not known, and why."""
    name = play.terms.game.envy_on or ""
    least = play.rules.envy_min_cents
    doubt = play.doubts.wager(seat.seat, name, "stake")
    wager = seat.wager(name)
    if doubt:
        return None, doubt
    if wager is None:
        return False, f"no {name} stake"
    if wager.stake_cents is None:
        return None, f"the {name} stake is not known"
    if wager.stake_cents < max(least, 1):
        return False, f"the {name} stake of {money(wager.stake_cents)} is under {money(least)}"
    return True, ""
