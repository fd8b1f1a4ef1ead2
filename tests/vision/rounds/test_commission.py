from __future__ import annotations

import pytest

from settlement.record import DealerRecord, RoundRecord, SeatRecord, Undecided, WagerRecord
from settlement.rules import Commission, TableRules
from tests.vision.rounds.readings import Play, dealer_cards, reading, seat_cards
from vision.rounds.procedure.commission import commission_doubts
from vision.rounds.tracker import Round

RULES = TableRules(game="pai_gow_poker")
MAIN = {"main": ["green"]}


def paid_round(*, stirred: bool) -> Round:
    """Seat 1 is paid as much as it staked; something moves over the pay, or nothing does."""
    play = Play()
    play.see(1, reading(stakes=MAIN))
    play.see(1, reading(stakes=MAIN, backs=3))
    play.see(None, reading(cards=dealer_cards()))
    play.see(1, reading(stakes=MAIN, cards=seat_cards(1)))
    play.see(1, reading(stakes=MAIN, pays=MAIN, cards=seat_cards(1)))
    last = play.tracker.latest[1]
    play.tracker.stands(1, last.until_s + (2.0 if stirred else 0.2))
    play.now_s = last.until_s + 0.4
    play.see(None, reading())
    play.see(1, reading())
    (own,) = play.ended
    return own


def record_of(paid_cents: int, *undecided: Undecided) -> RoundRecord:
    main = WagerRecord(wager="main", stake_cents=2500, action="paid", paid_cents=paid_cents)
    return RoundRecord(
        round_id="t1-000001", table="t1", game=RULES.game, dealer=DealerRecord(),
        seats=(SeatRecord(seat=1, wagers=(main,)),), undecided=undecided,
    )  # fmt: skip


def doubted(record: RoundRecord, own: Round, rules: TableRules = RULES) -> list[str]:
    return [entry.what for entry in commission_doubts(record, rules, own)]


def test_a_whole_pay_is_undecided_where_something_moved_over_it() -> None:
    assert doubted(record_of(2500), paid_round(stirred=True)) == ["main.paid"]


def test_a_whole_pay_over_which_nothing_moved_stands() -> None:
    assert doubted(record_of(2500), paid_round(stirred=False)) == []


@pytest.mark.parametrize("paid", [2375, 3000])
def test_other_sums_stand(paid: int) -> None:
    assert doubted(record_of(paid), paid_round(stirred=True)) == []


def test_where_the_commission_is_taken_later_a_whole_pay_is_right() -> None:
    rules = RULES.model_copy(update={"commission": Commission(taken="afterwards")})
    assert doubted(record_of(2500), paid_round(stirred=True), rules) == []
    exposed = TableRules(game="emperors_challenge_exposed")
    assert doubted(record_of(2500), paid_round(stirred=True), exposed) == []


def test_what_is_undecided_already_is_not_named_twice() -> None:
    own = Undecided(seat=1, what="main.paid", why="the stack could not be counted surely")
    assert doubted(record_of(2500, own), paid_round(stirred=True)) == []
