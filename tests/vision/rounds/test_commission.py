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
    record = with_stirred(record_of(paid_cents, rules, least_cents), rules, own)
    return [str(one.code) for one in compare(record, settle(record, rules), rules)]


def record_of(paid_cents: int, rules: TableRules, least_cents: int = 100) -> RoundRecord:
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
    return RoundRecord(
        round_id="t1-000001", table="t1", game=rules.game, dealer=dealer, seats=(seat,)
    )


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


LATER = RULES.model_copy(update={"commission": Commission(taken="afterwards")})


def later_round(*, moved_s: float = 0.0, changed: bool = False, ends_s: float = 0.4) -> Round:
    """Seat 1 is paid, its cards are taken, and its payout lies until it is drawn in.

    Something moves over the bare payout for `moved_s`, or it is changed.
    """
    play = Play()
    play.see(1, reading(stakes=MAIN))
    play.see(1, reading(stakes=MAIN, backs=3))
    play.see(None, reading(cards=dealer_cards()))
    play.see(1, reading(stakes=MAIN, cards=seat_cards(1)))
    for cards in (seat_cards(1), ()):
        play.see(1, reading(stakes=MAIN, pays=MAIN, cards=cards))
    own = play.tracker.latest[1]
    play.tracker.stands(1, own.until_s + 0.2)
    if moved_s:
        play.tracker.stands(1, own.until_s + moved_s)
    if changed:
        play.now_s = own.until_s
        play.see(1, reading(stakes=MAIN, pays={"main": ["red red red red"]}))
    play.now_s = play.tracker.latest[1].until_s + ends_s
    play.see(1, reading())
    play.see(None, reading())
    (ended,) = play.ended
    return ended


@pytest.mark.parametrize(
    ("own", "stirred"),
    [
        (later_round(), False),
        (later_round(moved_s=1.2), True),
        (later_round(changed=True), True),
        (later_round(ends_s=3.0), True),
        (paid_round(stirred=True), True),
    ],
    ids=["still", "moved over", "changed", "slowly drawn in", "moved over with the hand"],
)
def test_a_commission_may_be_collected_until_the_payout_is_drawn_in(
    own: Round, stirred: bool
) -> None:
    assert with_stirred(record_of(2500, LATER), LATER, own).seats[0].wagers[0].stirred is stirred
    assert judged(2500, own, LATER) == []


def test_where_the_commission_is_taken_later_a_whole_payout_is_right() -> None:
    account = RULES.model_copy(update={"commission": Commission(taken="on_account")})
    for rules in (LATER, account):
        assert judged(2500, paid_round(stirred=True), rules) == []
    unmarked = with_stirred(record_of(2500, account), account, later_round())
    assert unmarked.seats[0].wagers[0].stirred is None
    exposed = TableRules(game="emperors_challenge_exposed")
    assert judged(2500, paid_round(stirred=True), exposed) == []
