from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from settlement.compare.comparison import compare
from settlement.record import RoundRecord, WagerRecord
from settlement.settle import settle
from tests.vision.rounds.readings import (
    DEALER,
    HANDS,
    TABLE,
    Play,
    dealer_cards,
    hand,
    reading,
    seat_cards,
    stack,
    sums,
    wager,
)
from vision.cards.view import ViewIndex
from vision.geometry.table import Point, TableFile
from vision.rounds.compile_round import compile_round
from vision.rounds.view_reader import ViewReading

STAKES = {"main": ["red red"], "emperors_treasure": ["white white"]}
UNSURE = stack("red red", 0.5, c1500=0.45)
DIM = stack("red red", 0.5, c3000=0.45)


def whole_round(
    *,
    dealer: tuple[ViewIndex, ...] = (),
    seat_1: tuple[ViewIndex, ...] = (),
    before: Any = STAKES,
    after: Sequence[Any] = (),
    lammers: Sequence[str] = (),
    end: bool = True,
    number: int = 1,
) -> RoundRecord:
    """A round with seat 2 betting the main wager and losing it; seat 1 as given.

    `after` are the readings of seat 1's last rest, (stakes, pays) each.
    """
    play = Play()
    first = seat_1 or seat_cards(1)
    play.see(1, reading(stakes=before, lammers=lammers))
    play.see(2, reading(stakes={"main": ["green"]}))
    for seat, stakes in ((1, before), (2, {"main": ["green"]})):
        play.see(seat, reading(stakes=stakes, backs=2, lammers=lammers if seat == 1 else ()))
    play.see(None, reading(cards=dealer or dealer_cards()))
    play.see(1, reading(stakes=before, cards=first, lammers=lammers))
    play.see(2, reading(stakes={"main": ["green"]}, cards=seat_cards(2)))
    play.see(2, reading(cards=seat_cards(2)))
    last = [
        reading(stakes=stakes, pays=pays, cards=first, lammers=lammers)
        for stakes, pays in (after or [(before, {})])
    ]
    play.see(1, *(last if len(last) > 1 else last * 3))
    if not end:
        own = play.tracker.end()
        assert own is not None
        return compile_round(TABLE, number, own, play.now_s, cut_short=True)
    play.see(None, reading())
    play.see(1, reading())
    play.see(2, reading())
    (own,) = play.ended
    return compile_round(TABLE, number, own, play.now_s, cut_short=False)


def doubts(record: RoundRecord) -> dict[tuple[int | None, str], str]:
    return {(d.seat, d.what): d.why for d in record.undecided}


def test_a_clear_round_is_returned_whole_and_without_doubts() -> None:
    record = whole_round(after=[(STAKES, {"main": ["red red"]})], lammers=["envy"], number=7)
    assert record.undecided == ()
    assert record.round_id == f"{TABLE.table}-000007"
    assert record.game == "emperors_challenge_exposed"
    assert (record.dealer.low, record.dealer.high) == tuple(tuple(h.split()) for h in DEALER)
    for seat in record.seats:
        assert (seat.low, seat.high) == tuple(tuple(h.split()) for h in HANDS[seat.seat])
    assert [s.seat for s in record.seats] == [1, 2]
    assert record.seats[0].lammers == ("envy",)
    assert record.seats[1].lammers == ()
    assert wager(record, "main") == WagerRecord(
        wager="main", stake_cents=1000, action="paid", paid_cents=1000, stake_chips=2, paid_chips=2,
        paid_least_cents=500,
    )  # fmt: skip
    assert wager(record, "emperors_treasure") == WagerRecord(
        wager="emperors_treasure", stake_cents=200, action="left", paid_cents=0, stake_chips=2
    )
    assert wager(record, "main", 2) == WagerRecord(
        wager="main", stake_cents=2500, action="taken", paid_cents=0, stake_chips=1
    )
    assert record.confidence is not None
    assert record.confidence.min_card is not None
    assert 0.98 < record.confidence.min_card < 1
    assert record.confidence.cards is None
    assert record.start_s == "0.000"
    assert float(record.end_s or 0) > 10
    assert settle(record, TABLE.rules).seats


def test_the_sums_that_a_stack_may_come_to_are_recorded() -> None:
    # 2 x $5, perhaps 3: so the payout, and the stake, whose second stack is sure.
    torn = stack("red red", 0.6, c1500=0.4)
    sure = replace(stack("white"), center_mm=(44.0, 0.0))
    record = whole_round(after=[({"main": [torn, sure]}, {"main": [torn]})])
    own = sums(record, "main")
    assert own.paid_cents is None
    assert [cents for cents, _ in own.paid_sums or ()][:2] == [1000, 1500]
    assert own.stake_cents == 1000
    assert "10 (" in doubts(record)[(1, "main.paid")]
    # The same stack read with confidence in other frames decides.
    clear = whole_round(after=[*[(STAKES, {"main": ["red red"]})] * 6, (STAKES, {"main": [torn]})])
    assert wager(clear, "main").paid_cents == 1000
    assert RoundRecord.model_validate_json(record.model_dump_json()) == record


def played(
    before: Sequence[ViewReading], *after: ViewReading, table: TableFile = TABLE
) -> RoundRecord:
    """A round of seat 1 alone: rests until the hand is turned up, and those after it."""
    play = Play()
    for rest in before:
        play.see(1, rest)
    play.see(1, replace(before[-1], backs=2))
    play.see(None, reading(cards=dealer_cards()))
    play.see(1, replace(before[-1], indices=seat_cards(1)))
    for rest in after:
        play.see(1, replace(rest, indices=seat_cards(1)))
    play.see(None, reading())
    play.see(1, reading())
    (own,) = play.ended
    return compile_round(table, 1, own, play.now_s, cut_short=False)


def test_a_stake_beside_chips_that_could_not_be_read_is_undecided() -> None:
    staked = reading(stakes=STAKES, unread=["main"])
    record = played([staked], staked)
    assert wager(record, "main").stake_cents is None
    assert doubts(record)[(1, "main.stake")] == "chips lie there that could not be read"
    assert wager(record, "emperors_treasure").stake_cents == 200


def test_chips_that_could_not_be_read_are_not_taken() -> None:
    # A pay laid against a tall stake: one box about both, in which no stack is read.
    record = played([reading(stakes=STAKES)], reading(unread=["main"]))
    assert wager(record, "main").action is None
    assert wager(record, "main").stake_cents == 1000
    assert wager(record, "emperors_treasure").action == "taken"


def test_a_stake_that_lies_beside_unread_chips_to_the_end_may_have_been_paid() -> None:
    record = played([reading(stakes=STAKES)], reading(stakes=STAKES, unread=["main"]))
    own = wager(record, "main")
    assert (own.action, own.stands) == (None, None)


@pytest.mark.parametrize(("at", "action"), [((60.0, 80.0), "paid"), ((60.0, 120.0), "left")])
def test_a_payout_of_which_a_part_is_hidden_lies_there_still(at: Point, action: str) -> None:
    """A stake hides its first stack at last, so that the second one is no wager's."""
    first, second = stack("red red"), replace(stack("white"), center_mm=(60.0, 80.0))
    paid = reading(stakes=STAKES, pays={"main": [first, second]})
    last = reading(stakes=STAKES, strays=[replace(second, center_mm=at)])
    own = wager(played([reading(stakes=STAKES)], paid, last), "main")
    assert (own.action, own.paid_cents) == (action, None if action == "paid" else 0)


def test_a_pay_beside_chips_that_could_not_be_read_has_no_sum() -> None:
    last = reading(stakes=STAKES, pays={"main": ["red red"]}, unread=["main"])
    own = wager(played([reading(stakes=STAKES)], last), "main")
    assert (own.action, own.paid_cents) == ("paid", None)


def test_a_coin_is_taken_in_and_what_is_laid_on_its_sensor_is_its_pay() -> None:
    jackpot = "emperors_treasure_progressive"
    seat = TABLE.seats[0]
    spots = {**seat.spots, jackpot: seat.spots["main"]}
    seats = (seat.model_copy(update={"spots": spots}), *TABLE.seats[1:])
    table = TABLE.model_copy(update={"seats": seats})
    coin = {**STAKES, jackpot: ["white"]}
    rests = [reading(stakes=coin), *[reading(stakes=STAKES)] * 5]
    last = reading(stakes={**STAKES, jackpot: ["green"]})
    paid = wager(played(rests, last, table=table), jackpot)
    assert (paid.stake_cents, paid.action, paid.paid_cents) == (100, "paid", 2500)
    lost = wager(played(rests, reading(stakes=STAKES), table=table), jackpot)
    assert (lost.stake_cents, lost.action, lost.paid_cents) == (100, "taken", 0)
    # Its lit lamp looks like the coin, or like some chip.
    for lamp in (["white"], [stack("green", 0.4)]):
        shown = reading(stakes={**STAKES, jackpot: lamp})
        lit = wager(played(rests, shown, table=table), jackpot)
        assert (lit.stake_cents, lit.action, lit.paid_cents) == (100, "taken", 0)
    # A coin that was not taken in is no pay.
    left = wager(played([reading(stakes=coin)], reading(stakes=coin), table=table), jackpot)
    assert (left.stake_cents, left.action) == (100, "left")


def test_a_stake_in_two_stacks_is_no_pay_and_counts_whole() -> None:
    aside = replace(stack("red white"), center_mm=(44.0, 0.0))
    paid = replace(stack("green"), center_mm=(-44.0, 0.0))

    def seen(after: dict[str, Any], last: dict[str, Any]) -> RoundRecord:
        play = Play()
        for backs in (0, 2):
            play.see(1, reading(stakes=STAKES, pays={"main": [aside]}, backs=backs))
        play.see(None, reading(cards=dealer_cards()))
        play.see(1, reading(stakes=STAKES, pays=after, cards=seat_cards(1)))
        play.see(1, *[reading(stakes=STAKES, pays=last, cards=seat_cards(1))] * 3)
        play.see(None, reading())
        play.see(1, reading())
        (own,) = play.ended
        return compile_round(TABLE, 1, own, play.now_s, cut_short=False)

    left = seen({"main": [aside]}, {"main": [aside]})
    assert wager(left, "main") == WagerRecord(
        wager="main", stake_cents=1600, action="left", paid_cents=0, stake_chips=2
    )
    both = seen({"main": [aside]}, {"main": [aside, paid]})
    assert (wager(both, "main").action, wager(both, "main").paid_cents) == ("paid", 2500)
    assert wager(both, "main").stake_cents == 1600
    # What came to stand there only after the hand was turned up is a pay.
    play_paid = whole_round(after=[(STAKES, {"main": [aside]})])
    assert wager(play_paid, "main").action == "paid"


def test_a_second_stack_that_is_a_stake_in_some_views_and_beside_it_in_others_is_no_pay() -> None:
    first, aside = stack("red red"), replace(stack("red white"), center_mm=(44.0, 0.0))
    both: dict[str, Any] = {**STAKES, "main": [first, aside]}
    play = Play()
    play.see(1, *[reading(stakes=both)] * 4)
    play.see(
        1, *[reading(stakes=both, backs=2)] * 3, reading(stakes=STAKES, pays={"main": [aside]})
    )
    play.see(None, reading(cards=dealer_cards()))
    play.see(1, *[reading(stakes=both, cards=seat_cards(1))] * 2)
    play.see(1, *[reading(stakes=STAKES, pays={"main": [aside]}, cards=seat_cards(1))] * 3)
    play.see(None, reading())
    play.see(1, reading())
    (own,) = play.ended
    main = wager(compile_round(TABLE, 1, own, play.now_s, cut_short=False), "main")
    assert (main.stake_cents, main.action, main.paid_cents) == (1600, "left", 0)


def test_an_envy_prize_is_a_wager_of_its_own() -> None:
    prize = [replace(stack(own), center_mm=(90.0, 0.0)) for own in ("black", "green green")]
    pays = {"main": ["red red"], "envy": prize}
    record = whole_round(after=[(STAKES, pays)], lammers=["envy"])
    assert wager(record, "envy") == WagerRecord(
        wager="envy", action="paid", paid_cents=15000, paid_chips=2
    )
    assert record.undecided == ()


BESIDE = replace(stack("red"), center_mm=(-44.0, 0.0))


@pytest.mark.parametrize(
    ("seen", "action", "paid"),
    [
        pytest.param([({}, {})], "taken", 0, id="gone"),
        pytest.param([(STAKES, {})], "left", 0, id="left"),
        pytest.param([(STAKES, {"main": ["red"]})], "paid", 500, id="paid"),
        pytest.param([({}, {"main": [BESIDE]})], "paid", 500, id="stake drawn in, pay lies"),
        pytest.param([(STAKES, {}), ({}, {}), (STAKES, {})], "left", 0, id="most say left"),
        pytest.param([(STAKES, {}), ({}, {})], None, None, id="half of the views"),
        pytest.param([(STAKES, {}), ({}, {}), ({}, {})], None, None, id="a third of the views"),
    ],
)
def test_what_was_done_with_a_wager(seen: list[Any], action: str | None, paid: int | None) -> None:
    own = wager(record := whole_round(after=seen), "main")
    assert (own.action, own.paid_cents) == (action, paid)
    assert ((1, "main.action") in doubts(record)) == (action is None)


@pytest.mark.parametrize(
    ("after", "doubt"),
    [
        pytest.param([{"main": ["red red"]}, {"main": ["red white"]}], True, id="one against one"),
        pytest.param([{"main": ["red"]}, {"main": ["red red"]}, {"main": ["red white"]}], True,
                     id="three differ"),
        pytest.param([{"main": ["red"]}] * 8 + [{"main": ["red red"]}], False, id="eight of nine"),
        pytest.param([{"main": [stack("red red", 0.6, c1500=0.4)]}], True, id="torn"),
        pytest.param([{"main": [UNSURE]}], True, id="never counted with confidence"),
        pytest.param([{"main": [DIM]}], True, id="colours never sure"),
    ],
)  # fmt: skip
def test_counts_that_disagree_are_undecided(after: list[Any], doubt: bool) -> None:
    record = whole_round(after=[(STAKES, pays) for pays in after])
    own = wager(record, "main")
    assert own.action == "paid"
    assert ((1, "main.paid") in doubts(record)) == doubt
    assert own.paid_cents == (None if doubt else 500)
    assert own.stake_cents == 1000, "the stake is not in doubt"
    if doubt:
        assert "the chips may come to" in doubts(record)[(1, "main.paid")]


def test_an_unsure_stake_is_undecided_but_its_action_is_returned() -> None:
    record = whole_round(before={"main": [UNSURE]})
    own = wager(record, "main")
    assert (own.stake_cents, own.stake_chips, own.action) == (None, 2, "left")
    assert set(doubts(record)) == {(1, "main.stake")}


def test_chips_in_some_views_only_are_no_wager_but_reported() -> None:
    """A finder that takes the print for a chip now and then."""
    play = Play()
    steps = [reading(stakes={"main": ["red red"]})] * 10
    steps[3] = steps[6] = reading(stakes={"main": ["red red"], "pai_gow_insurance": ["white"]})
    play.see(1, *steps)
    play.see(None, reading(cards=dealer_cards()))
    play.see(1, reading(stakes={"main": ["red red"]}, cards=seat_cards(1)))
    own = play.tracker.end()
    assert own is not None
    record = compile_round(TABLE, 1, own, 9.0, cut_short=False)
    assert [w.wager for w in record.seats[0].wagers] == ["main"]
    assert (1, "pai_gow_insurance.stake") in doubts(record)


@pytest.mark.parametrize(
    ("seen", "kept", "doubt"), [(3, ("envy",), False), (6, ("envy",), False), (0, (), False)]
)
def test_lammers_are_those_of_most_views(seen: int, kept: tuple[str, ...], doubt: bool) -> None:
    record = whole_round(lammers=["envy"] if seen else [])
    assert record.seats[0].lammers == kept
    assert ((1, "lammers") in doubts(record)) == doubt


def test_a_lammer_in_some_views_only_is_undecided() -> None:
    play = Play()
    play.see(1, *[reading(stakes=STAKES, lammers=["envy"] if k < 2 else []) for k in range(3)])
    play.see(None, reading(cards=dealer_cards()))
    play.see(1, reading(stakes=STAKES, cards=seat_cards(1)))
    own = play.tracker.end()
    assert own is not None
    record = compile_round(TABLE, 1, own, 9.0, cut_short=False)
    assert record.seats[0].lammers == ()
    assert doubts(record)[(1, "lammers")] == "envy was seen in some views only"


# --- cards ---


@pytest.mark.parametrize("hidden", [0, 1, 3, 6])
def test_a_card_without_an_index_is_undecided(hidden: int) -> None:
    cards = tuple(c for k, c in enumerate(seat_cards(1)) if k != hidden)
    record = whole_round(seat_1=cards)
    seat = record.seats[0]
    assert seat.low is not None
    assert seat.high is not None
    box, count = ("low", 1) if hidden < 2 else ("high", 4)
    assert len(getattr(seat, box)) == count
    assert doubts(record) == {(1, f"{box}[{count}]"): "no index of the card was found"}
    every = (HANDS[1][0] + " " + HANDS[1][1]).split()
    assert set(seat.low + seat.high) == set(every) - {every[hidden]}


def test_a_dealers_card_without_an_index_is_undecided() -> None:
    record = whole_round(dealer=dealer_cards()[:6])
    assert doubts(record) == {(None, "high[4]"): "no index of the card was found"}
    assert record.dealer.low == ("KS", "KD")


def test_a_card_read_unsurely_is_undecided_and_left_out() -> None:
    record = whole_round(seat_1=seat_cards(1, shares={"TS": 0.4}))
    seat = record.seats[0]
    assert seat.high is not None
    assert "TS" not in seat.high
    ((place, why),) = doubts(record).items()
    assert place[0] == 1
    assert place[1].startswith("high[")
    assert why.startswith("read as TS with a probability of 0.")


def test_a_card_that_an_alert_may_not_hang_on_is_listed_with_what_else_it_may_be() -> None:
    record = whole_round(
        seat_1=seat_cards(1, shares={"TS": 0.95}), dealer=dealer_cards(shares={"KD": 0.95})
    )
    assert record.undecided == ()
    assert record.confidence is not None
    unsure = record.confidence.cards or ()
    assert [(card.seat, card.may_be[0][0]) for card in unsure] == [(None, "KD"), (1, "TS")]
    for card, boxes in zip(
        unsure,
        ((record.dealer.low, record.dealer.high), (record.seats[0].low, record.seats[0].high)),
        strict=True,
    ):
        names = boxes[card.what.startswith("high")] or ()
        assert names[int(card.what[-2])] == card.may_be[0][0]
        assert 0.9 <= card.may_be[0][1] < 0.99
        assert sum(share for _, share in card.may_be) == pytest.approx(1, abs=1e-4)


def _with_twin(share_1: float, share_dealer: float) -> RoundRecord:
    """Seat 1 shows the dealer's four of hearts in place of its ace of hearts."""
    twin = hand(TABLE.seat(1), "QS QD", "AC 4H TS 7D 3C", shares={"4H": share_1})
    return whole_round(seat_1=twin, dealer=dealer_cards(shares={"4H": share_dealer}))


def test_of_a_card_read_twice_the_less_sure_gives_way() -> None:
    record = _with_twin(0.5, 0.995)
    assert record.dealer.high is not None
    assert "4H" in record.dealer.high
    assert record.seats[0].high == ("AC", "TS", "7D", "3C")
    ((place, why),) = doubts(record).items()
    assert place[0] == 1
    assert why == "read as 4H, which the dealer's hand shows more certainly"
    record = _with_twin(0.995, 0.5)
    assert record.seats[0].high == ("AC", "4H", "TS", "7D", "3C")
    assert record.dealer.high == tuple(c for c in DEALER[1].split() if c != "4H")
    ((place, why),) = doubts(record).items()
    assert place[0] is None
    assert why == "read as 4H, which seat 1 shows more certainly"


def test_a_card_read_twice_with_confidence_is_returned_as_it_lies() -> None:
    record = _with_twin(0.98, 0.99)
    assert record.undecided == ()
    assert record.seats[0].high == ("AC", "4H", "TS", "7D", "3C")
    assert record.dealer.high == tuple(DEALER[1].split())


def test_a_hand_never_turned_up_is_undecided() -> None:
    play = Play()
    for seat in (1, 2):
        play.see(seat, reading(stakes={"main": ["green"]}, backs=2))
    play.see(None, reading(cards=dealer_cards()))
    play.see(2, reading(stakes={"main": ["green"]}, cards=seat_cards(2)))
    own = play.tracker.end()
    assert own is not None
    record = compile_round(TABLE, 1, own, 9.0, cut_short=False)
    assert record.seats[0].low is None
    assert record.seats[0].high is None
    assert doubts(record) == {(1, "hand"): "the hand was never seen turned up at rest"}
    assert wager(record, "main").stake_cents == 2500


def test_a_round_without_the_dealers_cards_says_so() -> None:
    play = Play()
    play.see(1, reading(stakes={"main": ["green"]}, cards=seat_cards(1)))
    assert play.tracker.round is not None
    record = compile_round(TABLE, 1, play.tracker.round, 9.0, cut_short=False)
    assert (record.dealer.low, record.dealer.high) == (None, None)
    assert doubts(record)[(None, "hand")] == "the dealer's cards were never seen at rest"


def test_a_seat_that_showed_nothing_is_left_out() -> None:
    play = Play()
    play.see(2, reading())
    play.see(1, reading(stakes={"main": ["green"]}))
    play.see(None, reading(cards=dealer_cards()))
    play.see(1, reading(stakes={"main": ["green"]}, cards=seat_cards(1)))
    own = play.tracker.end()
    assert own is not None
    assert [s.seat for s in compile_round(TABLE, 1, own, 9.0, cut_short=False).seats] == [1]


def test_what_is_drawn_in_after_the_round_was_cleared_changes_nothing() -> None:
    """Winners draw their chips in once the dealer's cards are gone."""
    left = whole_round(after=[(STAKES, {"main": ["red red"]})])
    play = Play()
    play.see(1, reading(stakes=STAKES))
    play.see(None, reading(cards=dealer_cards()))
    play.see(1, reading(stakes=STAKES, cards=seat_cards(1)))
    play.see(1, reading(stakes=STAKES, pays={"main": ["red red"]}, cards=seat_cards(1)))
    play.see(None, reading())
    play.see(1, reading(stakes={"main": ["red"]}))
    play.see(1, reading())
    (own,) = play.ended
    record = compile_round(TABLE, 1, own, play.now_s, cut_short=False)
    assert wager(record, "main") == wager(left, "main")
    assert record.undecided == ()


def test_a_stream_that_ends_within_a_round_says_so() -> None:
    record = whole_round(after=[(STAKES, {"main": ["red red"]})], end=False)
    assert doubts(record) == {(None, "end"): "the recording ended before the round did"}
    assert wager(record, "main").paid_cents == 1000
    assert record.to_json() == RoundRecord.model_validate_json(record.to_json()).to_json()


def _gone_at_once(shown: Sequence[int], last: ViewReading, seldom_s: float) -> RoundRecord:
    """A round whose seat 1 lay as it was, `shown` or not, until all was gone; seat 2 was
    seen as `last` before."""
    play = Play()
    for seat in (1, 2):
        play.see(seat, reading(stakes=STAKES, backs=2))
    play.see(None, reading(cards=dealer_cards()))
    for seat in shown:
        play.see(seat, reading(stakes=STAKES, cards=seat_cards(seat)))
    play.see(2, last)
    assert play.tracker.round is not None
    play.tracker.round.seldom_s = seldom_s
    for place in (None, 1, 2):
        play.see(place, reading())
    (own,) = play.ended
    return compile_round(TABLE, 1, own, play.now_s, cut_short=False)


def test_what_was_done_for_a_hand_that_was_turned_up_between_two_frames_is_undecided() -> None:
    taken = reading(cards=seat_cards(2))
    assert wager(_gone_at_once([2], taken, 0.0), "emperors_treasure").action == "left"
    record = _gone_at_once([2], taken, 6.0)
    assert wager(record, "emperors_treasure").action is None
    assert "looked at too seldom" in doubts(record)[(1, "emperors_treasure.action")]
    assert wager(record, "emperors_treasure", 2).action == "taken"


def test_a_stake_that_went_with_its_open_hand_between_two_frames_is_undecided() -> None:
    left = reading(stakes=STAKES)
    assert wager(_gone_at_once([1, 2], left, 0.0), "emperors_treasure").action == "left"
    record = _gone_at_once([1, 2], left, 6.0)
    assert wager(record, "emperors_treasure").action is None
    assert "looked at too seldom" in doubts(record)[(1, "emperors_treasure.action")]
    # Where the hand was seen gone and the stakes not, they were left.
    assert wager(record, "emperors_treasure", 2).action == "left"


def test_cards_without_a_main_wager_leave_it_undecided_and_do_not_pass_in_silence() -> None:
    bets = {"emperors_treasure": ["white white"]}
    record = whole_round(before=bets)
    assert doubts(record) == {
        (1, "main.stake"): "cards were dealt here, and no main wager was seen"
    }
    (found,) = compare(record, settle(record, TABLE.rules), TABLE.rules)
    assert (found.code, found.seat) == ("UNDECIDED", 1)
    assert "no main wager was seen" in found.message


def test_where_players_bank_the_seat_without_a_main_wager_is_no_doubt_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rules = TABLE.rules.model_copy(update={"game": "pai_gow_poker"})
    monkeypatch.setitem(globals(), "TABLE", TABLE.model_copy(update={"rules": rules}))
    assert whole_round(before={"emperors_treasure": ["white white"]}).undecided == ()


def test_a_joker_beside_seven_cards_may_be_the_second_of_the_low_hand() -> None:
    """Of eight cards the joker is left out as a mark: one and six are no foul."""
    own = TABLE.seat(1)
    one, other = HANDS[1][0].split()
    row = hand(own, f"JOKER {one}", f"{other} {HANDS[1][1]}", shares={"JOKER": 0.93})
    record = whole_round(seat_1=row)
    (seat,) = (s for s in record.seats if s.seat == 1)
    assert (seat.low, len(seat.high or ())) == ((one,), 6)
    assert (1, "hand") in [(d.seat, d.what) for d in record.undecided]
    found = compare(record, settle(record, TABLE.rules), TABLE.rules)
    assert "FOUL" not in [str(f.code) for f in found if f.seat == 1]
    # Where the mark lies by the larger row too few are in the low hand all the same.
    row = hand(own, one, f"{other} {HANDS[1][1]} JOKER", shares={"JOKER": 0.93})
    record = whole_round(seat_1=row)
    found = compare(record, settle(record, TABLE.rules), TABLE.rules)
    assert "FOUL" in [str(f.code) for f in found if f.seat == 1]
