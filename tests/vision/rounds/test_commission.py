from __future__ import annotations

import pytest

from settlement.compare.comparison import compare
from settlement.record import DealerRecord, RoundRecord, SeatRecord, WagerRecord
from settlement.rules import Commission, TableRules
from settlement.settle import settle
from tests.vision.rounds.readings import Play, dealer_cards, reading, seat_cards
from vision.rounds.procedure.commission import with_stirred
from vision.rounds.round_state import Round

RULES = TableRules(game="pai_gow_poker")
MAIN = {"main": ["green"]}


def paid_round(*, stirred: bool, moving_s: float = 0.0, taking_s: float = 0.4) -> Round:
    """Seat 1 is paid as much as it staked; something moves over the payout, or nothing does.

    Before its first rest the seat is in motion for `moving_s` longer than usual, and for
    `taking_s` after its last one.
    """
    play = Play()
    play.see(1, reading(stakes=MAIN))
    play.see(1, reading(stakes=MAIN, backs=3))
    play.see(None, reading(cards=dealer_cards()))
    play.see(1, reading(stakes=MAIN, cards=seat_cards(1)))
    play.now_s += moving_s
    play.see(1, reading(stakes=MAIN, pays=MAIN, cards=seat_cards(1)))
    last = play.tracker.latest[1]
    play.tracker.stands(1, last.until_s + (2.0 if stirred else 0.2))
    play.now_s = last.until_s + taking_s
    play.see(None, reading())
    play.see(1, reading())
    (own,) = play.ended
    return own


def judged(
    paid_cents: int, own: Round, rules: TableRules = RULES, least_cents: int = 100
) -> list[str]:
    """What is found where seat 1 wins $25 and is paid so much; its least chip is `least_cents`."""
    main = WagerRecord(
        wager="main",
        stake_cents=2500,
        action="paid",
        paid_cents=paid_cents,
        paid_least_cents=least_cents,
    )
    low, high = ("KS", "KH"), ("AD", "AC", "QH", "6D", "4H")
    seat = SeatRecord(seat=1, low=low, high=high, wagers=(main,))
    dealer = DealerRecord(low=("AS", "KD"), high=("9H", "9C", "7S", "5D", "2C"))
    record = RoundRecord(
        round_id="t1-000001", table="t1", game=rules.game, dealer=dealer, seats=(seat,)
    )
    record = with_stirred(record, rules, own)
    return [str(one.code) for one in compare(record, settle(record, rules), rules)]


def test_a_whole_payout_is_undecided_where_something_moved_over_it() -> None:
    assert judged(2500, paid_round(stirred=True)) == ["UNDECIDED"]


def test_a_whole_payout_over_which_nothing_moved_is_too_much() -> None:
    for least_cents in (100, 2500):
        assert judged(2500, paid_round(stirred=False), least_cents=least_cents) == ["OVERPAID"]


@pytest.mark.parametrize(("taking_s", "codes"), [(0.3, ["OVERPAID"]), (1.5, ["UNDECIDED"])])
def test_the_commission_may_have_been_given_before_the_cards_were_taken(
    taking_s: float, codes: list[str]
) -> None:
    assert judged(2500, paid_round(stirred=False, taking_s=taking_s)) == codes


@pytest.mark.parametrize(("moving_s", "codes"), [(1.0, ["OVERPAID"]), (2.5, ["UNDECIDED"])])
def test_the_commission_may_have_been_given_before_the_payout_was_seen_at_rest(
    moving_s: float, codes: list[str]
) -> None:
    assert judged(2500, paid_round(stirred=False, moving_s=moving_s)) == codes


@pytest.mark.parametrize(("paid", "codes"), [(2375, []), (3000, ["OVERPAID"])])
def test_other_sums_are_judged_whatever_moved(paid: int, codes: list[str]) -> None:
    assert judged(paid, paid_round(stirred=True)) == codes


def test_where_the_commission_is_taken_later_a_whole_payout_is_right() -> None:
    rules = RULES.model_copy(update={"commission": Commission(taken="afterwards")})
    assert judged(2500, paid_round(stirred=True), rules) == []
    exposed = TableRules(game="emperors_challenge_exposed")
    assert judged(2500, paid_round(stirred=True), exposed) == []
