"""Settling: a round record and a table's rules in, what every wager should do out.

Pure and total: any record that can be read is settled as far as it can be decided; what
can't be is said, with the reason. Main bets are settled by the dealer's hands as they lie
on the felt, also where the house way would have set them otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from settlement.aggregates import apply_aggregates
from settlement.envy import Trigger, envy_due, envy_triggers
from settlement.errors import FeltwatchError
from settlement.games import Terms, terms_for
from settlement.games.base import Held, SeatView, rule_by_table
from settlement.houseways import HouseWaySetting
from settlement.jackpots import pay_jackpots
from settlement.paytables.registry import PayTable
from settlement.record import RoundRecord, SeatRecord, WagerRecord
from settlement.result import (
    BankerSettlement,
    DealerSettlement,
    HandResult,
    HouseWayResult,
    SeatSettlement,
    Settlement,
)
from settlement.rules import TableRules
from settlement.ruling import LOSS, Ruling
from settlement.seven_card_hand import SevenCardHand, Unread, cards_held_twice, read_hand
from settlement.uncertainty import Doubts
from settlement.wager_state import Due, Play

__all__ = ["Settlement", "settle"]

_BASE_CENTS = 100
"""Pays "for 1" are printed for a wager of one dollar."""

_TWICE = "the wager stands twice"


def settle(record: RoundRecord, rules: TableRules) -> Settlement:
    """Settle a round.

    Never raises on a record, whatever is missing in it: such parts get the outcome None
    and the reason in `undecided`. `settlement.compare.check.check_record` returns what is
    impossible in a record. Raises FeltwatchError when the rules name an unknown game, house way or
    pay table, or an option that does not fit the game.
    """
    play, opponent, name = _play(record, rules)
    triggers = envy_triggers(play)
    dues = [_seat_dues(play, index, triggers) for index in range(len(play.views))]
    house = _house_dues(play, opponent, name)
    meters = pay_jackpots(play, dues)
    apply_aggregates(play, dues)
    return Settlement(
        round_id=record.round_id,
        table=record.table,
        game=rules.game,
        dealer=_dealer(play, house),
        seats=tuple(_seat(play, index, dues[index]) for index in range(len(play.views))),
        banker=_banker(play, dues, house),
        meters=meters,
    )


def envy_hands(record: RoundRecord, rules: TableRules) -> list[int]:
    """Return the seats whose hands win envy prizes for others, undecided ones left out.

    Raises what `settle` raises.
    """
    play, _, _ = _play(record, rules)
    return [one.seat for one in envy_triggers(play) if one.row is not None and not one.unread]


def _play(record: RoundRecord, rules: TableRules) -> tuple[Play, SevenCardHand | Unread, str]:
    """What settling starts from: the hands as they count, and the one that wagers play against."""
    terms = terms_for(rules)
    doubts = Doubts(record)
    twice = cards_held_twice(record)
    dealer = read_hand(record.dealer, doubts, twice, rules)
    hands = [read_hand(seat, doubts, twice, rules) for seat in record.seats]
    resets = [_reset_foul(hand, terms, rules) for hand in hands]
    counted = [reset or hand for hand, reset in zip(hands, resets, strict=True)]
    opponent, name = _opponent(record, terms, doubts, dealer, counted)
    views = tuple(
        _view(seat, hand, reset, dealer, opponent, name, doubts, terms, rules)
        for seat, hand, reset in zip(record.seats, hands, resets, strict=True)
    )
    return Play(record, rules, terms, doubts, dealer, views), opponent, name


def _banking_seat(record: RoundRecord, terms: Terms) -> int | None:
    return record.banker if terms.game.players_bank else None


def _opponent(
    record: RoundRecord,
    terms: Terms,
    doubts: Doubts,
    dealer: SevenCardHand | Unread,
    hands: list[SevenCardHand | Unread],
) -> tuple[SevenCardHand | Unread, str]:
    """The hand that main wagers are played against, and whose it is.

    `hands` are the seats' as they count: fouls set again where the house does so (ST-2).
    """
    doubt = doubts.banker()
    if doubt and terms.game.players_bank:
        return Unread(doubt), "the banker"
    seat = _banking_seat(record, terms)
    if seat is None:
        return dealer, "the dealer"
    found = [hand for at, hand in zip(record.seats, hands, strict=True) if at.seat == seat]
    if len(found) != 1:
        return Unread(f"seat {seat} banks, but is not once in the record"), f"seat {seat}"
    return found[0], f"seat {seat}"


def _view(
    seat: SeatRecord,
    hand: SevenCardHand | Unread,
    reset: SevenCardHand | None,
    dealer: SevenCardHand | Unread,
    opponent: SevenCardHand | Unread,
    name: str,
    doubts: Doubts,
    terms: Terms,
    rules: TableRules,
) -> SeatView:
    doubt = doubts.lammers(seat.seat)
    return SeatView(
        seat=seat.seat,
        hand=hand,
        dealer=dealer,
        opponent=opponent,
        opponent_name=name,
        rules=rules,
        option=terms.option,
        lammers=None if doubt else frozenset(kind.lower() for kind in seat.lammers),
        lammers_doubt=doubt or "",
        set_again=reset,
    )


def _reset_foul(
    hand: SevenCardHand | Unread, terms: Terms, rules: TableRules
) -> SevenCardHand | None:
    """A fouled hand as the house way sets it, where the house resets fouls (ST-2)."""
    if rules.readings.foul != "reset" or isinstance(hand, Unread) or not hand.foul_reason:
        return None
    setting = _house_way(hand, terms, rules)
    return SevenCardHand.of(setting.low, setting.high, rules.ranking, rules.readings)


def _house_way(hand: SevenCardHand, terms: Terms, rules: TableRules) -> HouseWaySetting:
    return terms.house_way.set_hands(hand.cards, rules.ranking, rules.house_way_readings)


def _hands(hand: SevenCardHand) -> tuple[HandResult | None, HandResult | None]:
    split = hand.split
    if split is None:
        return None, None
    return HandResult.of(split.low, split.low_rank), HandResult.of(split.high, split.high_rank)


def _dealer(play: Play, house: list[Due]) -> DealerSettlement:
    hand = play.dealer
    wagers = tuple(due.settlement(play.rules.hand_pay_cents) for due in house)
    if isinstance(hand, Unread):
        return DealerSettlement(undecided=hand.reason, wagers=wagers)
    low, high = _hands(hand)
    setting, unknown = _setting(play, hand)
    split = hand.split
    matches = None
    if setting is not None:
        matches = split is not None and setting.same_hands(
            split.low, split.high, play.rules.ranking
        )
    return DealerSettlement(
        low=low,
        high=high,
        pai_gow=hand.pai_gow,
        house_way=None if setting is None else HouseWayResult.of(play.terms.house_way.id, setting),
        matches=matches,
        house_way_undecided=unknown,
        wagers=wagers,
    )


def _setting(play: Play, hand: SevenCardHand) -> tuple[HouseWaySetting | None, str | None]:
    """The dealer's cards by the house way, or why that is not known."""
    if play.terms.game.dealer_cards == 7:
        return _house_way(hand, play.terms, play.rules), None
    if hand.discard is None:
        return None, "the dealer's eighth card is not known"
    eight = (*hand.cards, hand.discard)
    rules = play.rules
    return play.terms.house_way.set_eight(eight, rules.ranking, rules.house_way_readings), None


def _seat(play: Play, index: int, dues: list[Due]) -> SeatSettlement:
    seat, view = play.record.seats[index], play.views[index]
    wagers = tuple(due.settlement(play.rules.hand_pay_cents) for due in dues)
    if isinstance(view.hand, Unread):
        return SeatSettlement(seat=seat.seat, undecided=view.hand.reason, wagers=wagers)
    low, high = _hands(view.hand)
    again = (None, None) if view.set_again is None else _hands(view.set_again)
    return SeatSettlement(
        seat=seat.seat,
        foul=view.hand.foul_reason is not None,
        foul_reason=view.hand.foul_reason,
        low=low,
        high=high,
        low_again=again[0],
        high_again=again[1],
        wagers=wagers,
    )


def _seat_dues(play: Play, index: int, triggers: Sequence[Trigger]) -> list[Due]:
    seat, view = play.record.seats[index], play.views[index]
    counts = Counter(wager.wager for wager in seat.wagers)
    dues = [
        _wager_due(play, view, wager, counts[wager.wager])
        for wager in seat.wagers
        if wager.wager != "envy"
    ]
    envy = envy_due(play, index, triggers)
    return dues if envy is None else [*dues, envy]


def _wager_due(play: Play, view: SeatView, wager: WagerRecord, times: int) -> Due:
    name = wager.wager
    doubt = play.doubts.wager(view.seat or 0, name, "stake")
    stake = None if doubt else wager.stake_cents
    table = play.terms.tables.get(name)
    ruling = _rule(play, view, name, table) if times == 1 else Ruling.unknown(_TWICE)
    for_one = table is not None and table.basis == "for 1"
    if for_one and stake == 0 and ruling.rule is not None:
        # Pays "for 1" don't hang on the stake: without a coin there is no wager.
        ruling = Ruling.of(LOSS, ruling.rule, "no coin was staked")
    due = Due(name, stake, ruling, for_one=for_one)
    pay = ruling.pay
    if ruling.outcome is None or pay is None or pay.from_meter:
        return due
    if pay.by_stake and stake is None:
        due.undecided = doubt or "the stake is not known"
        return due
    if ruling.outcome != "win":
        due.cents = 0
    elif due.for_one:
        base = play.terms.progressives[name].base_cents
        due.cents = play.rules.rounding.cents(Fraction(pay.fixed_cents * base, _BASE_CENTS))
    else:
        due.cents = pay.cents(stake or 0, play.rules.rounding)
    if name == "main" and play.terms.commission is not None:
        _take_commission(play, due)
    return due


def _take_commission(play: Play, due: Due) -> None:
    if due.cents and play.terms.commission is not None:
        due.commission = play.terms.commission.of(due.cents)
        due.cents -= due.commission


def _rule(play: Play, view: SeatView, name: str, table: PayTable | None) -> Ruling:
    if name == "main":
        if view.seat is not None and view.seat == _banking_seat(play.record, play.terms):
            return Ruling.unknown("the banker has no main wager")
        return play.terms.game.main(view)
    if table is None:
        return Ruling.unknown(f"the table offers no wager {name!r}")
    held = play.terms.game.side[name](view)
    if name in play.terms.dynamic:
        return _dynamic(play, name, table, held)
    unlisted = play.rules.readings.unlisted_hand
    return rule_by_table(table, held, play.terms.game.printed_in, unlisted)


def _dynamic(play: Play, name: str, table: PayTable, held: Held) -> Ruling:
    """A table some of whose pays were drawn for this round (002, Appendix G; ST-14)."""
    drawn = play.record.dynamic_pays_of(name)
    document = play.terms.game.printed_in
    if drawn:
        try:
            table = table.with_dynamic(drawn)
        except FeltwatchError as error:
            return Ruling.unknown(str(error))
        return rule_by_table(table, held, document)
    ruling = rule_by_table(table, held, document)
    if ruling.pay is None or not ruling.pay.fixed_cents:
        return ruling
    reason = "the dynamic pays of this round are not in the record"
    return Ruling(ruling.outcome, None, ruling.rule, ruling.why, reason)


def _house_dues(play: Play, opponent: SevenCardHand | Unread, name: str) -> list[Due]:
    """The dealer's own wager against a player who banks; it pays no commission."""
    banker = _banking_seat(play.record, play.terms)
    dues = []
    for wager in play.record.dealer.wagers:
        stake = wager.stake_cents
        if wager.wager != "house" or (banker is None and not play.doubts.banker()):
            due = Due(wager.wager, stake, Ruling.unknown("the dealer plays no such wager"))
        else:
            view = SeatView(
                None, play.dealer, play.dealer, opponent, name, play.rules, None, frozenset(),
                set_again=_reset_foul(play.dealer, play.terms, play.rules),
            )  # fmt: skip
            due = Due("house", stake, play.terms.game.main(view))
            if due.ruling.pay is not None and stake is not None:
                due.cents = due.ruling.pay.cents(stake)
        dues.append(due)
    return dues


def _banker(play: Play, dues: list[list[Due]], house: list[Due]) -> BankerSettlement | None:
    """What the bank wins: lost stakes less wins; 5% of a net win is the house's (ST-5)."""
    seat = _banking_seat(play.record, play.terms)
    if seat is None:
        return None
    net = 0
    for at, mine in zip(play.record.seats, dues, strict=True):
        for due in mine:
            if due.name != "main" or at.seat == seat:
                continue
            if due.lost_cents is None or due.cents is None:
                reason = due.undecided or due.ruling.undecided or "its stake is not known"
                return BankerSettlement(seat=seat, undecided=f"seat {at.seat}, main: {reason}")
            net += due.lost_cents - due.cents - due.commission
    for due in house:
        if due.lost_cents is None or due.cents is None:
            reason = due.undecided or due.ruling.undecided or "its stake is not known"
            return BankerSettlement(seat=seat, undecided=f"the house wager: {reason}")
        net += due.lost_cents - due.cents
    commission = 0
    if net > 0 and play.terms.commission is not None:
        commission = play.terms.commission.of(net)
    return BankerSettlement(seat=seat, net_cents=net, commission_cents=commission)
