"""Rounds that do not go as usual: each is named in the timeline, and none is invented."""

from __future__ import annotations

import pytest

from settlement.felt_timeline import EventLine, Lay, PhaseLine, StepLine, TimelineLine
from settlement.procedures import Phase
from tests.vision.rounds.readings import (
    DEALER,
    TABLE,
    Play,
    Stacks,
    dealer_cards,
    hand,
    reading,
    seat_cards,
    wager,
)
from tests.vision.rounds.test_felt_timeline import LOOKS, MAIN, face_down
from vision.rounds.compile_round import compile_round
from vision.rounds.procedure.round_reader import read_procedure
from vision.rounds.round_state import Round
from vision.rounds.timeline.felt_timeline import felt_timeline


def lines(own: Round) -> list[TimelineLine]:
    record = compile_round(TABLE, 1, own, 90.0, cut_short=False)
    went = read_procedure(TABLE, own, LOOKS)
    return list(felt_timeline(TABLE, record, own, went, (), LOOKS))


def names(own: Round) -> list[str]:
    return [line.name for line in lines(own) if isinstance(line, EventLine)]


def courses(own: Round) -> list[tuple[str, str]]:
    own_lines = (line for line in lines(own) if isinstance(line, StepLine) and line.seat == 1)
    return [(line.step, line.course) for line in own_lines]


def deal(play: Play) -> None:
    play.see(1, reading(stakes=MAIN))
    play.see(1, face_down(reading(stakes=MAIN), "low", "high"))
    play.see(None, reading(cards=dealer_cards()))


def settle(play: Play) -> None:
    play.see(1, reading(stakes=MAIN, cards=seat_cards(1)))
    play.see(1, reading(stakes=MAIN))


def clear(play: Play) -> None:
    play.see(None, reading())
    play.see(1, reading())


def test_a_usual_round_has_no_events() -> None:
    play = Play()
    deal(play)
    settle(play)
    clear(play)
    (own,) = play.ended
    assert names(own) == []
    assert [course for _, course in courses(own)] == ["in_order"] * 4


def test_two_rounds_one_upon_the_other_are_two() -> None:
    play = Play()
    deal(play)
    settle(play)
    play.see(None, reading())
    # The next packet lies there before the last stake was drawn in.
    play.see(1, reading(stakes=MAIN, backs=1))
    play.see(None, reading(cards=dealer_cards()))
    settle(play)
    clear(play)
    first, second = play.ended
    assert (names(first), names(second)) == (["next_deal_at_once"], [])


def test_another_hand_of_the_dealers_is_another_round() -> None:
    play = Play()
    deal(play)
    settle(play)
    play.see(None, reading())
    # No packet of the second deal came to rest face down.
    play.see(None, reading(cards=hand(TABLE.dealer, "KC QH", "TC TH 8D 6C 2S")))
    settle(play)
    clear(play)
    first, second = play.ended
    assert (names(first), names(second)) == (["next_deal_at_once"], [])
    assert {c.label for c in first.tracks[None].hand()} == set(" ".join(DEALER).split())
    assert "KC" in {c.label for c in second.tracks[None].hand()}


def test_after_a_misdeal_the_hands_dealt_last_count() -> None:
    play = Play()
    play.see(2, reading())
    play.see(1, reading(stakes=MAIN))
    play.see(1, face_down(reading(stakes=MAIN), "low", "high"))
    play.see(None, reading(cards=hand(TABLE.dealer, "KC QH", "TC TH 8D 6C 2S")))
    for _ in range(2):
        play.see(1, reading(stakes=MAIN))
        play.see(None, reading())
    play.see(1, face_down(reading(stakes=MAIN), "low", "high"))
    play.see(None, reading(cards=dealer_cards()))
    settle(play)
    clear(play)
    (own,) = play.ended
    record = compile_round(TABLE, 1, own, 90.0, cut_short=False)
    assert set(record.dealer.low or ()) == set(DEALER[0].split())
    assert record.undecided == ()
    assert names(own) == ["misdeal"]
    # What lay there of the deal that did not count stays in the timeline.
    cards = {line.what for line in lines(own) if isinstance(line, Lay) and line.item == "card"}
    assert {"KC", "QH"} <= cards
    assert [course for _, course in courses(own)] == ["in_order"] * 4


def test_a_coin_that_was_taken_in_before_a_misdeal_stays_registered() -> None:
    jackpot = "emperors_treasure_progressive"
    seat = TABLE.seats[0]
    spots = {**seat.spots, jackpot: seat.spots["main"]}
    seats = (seat.model_copy(update={"spots": spots}), *TABLE.seats[1:])
    table = TABLE.model_copy(update={"seats": seats})
    play = Play()
    play.see(2, reading())
    play.see(1, *[reading(stakes={**MAIN, jackpot: ["white white"]})] * 3)
    play.see(1, reading(stakes=MAIN))
    play.see(1, face_down(reading(stakes=MAIN), "low", "high"))
    play.see(None, reading(cards=hand(TABLE.dealer, "KC QH", "TC TH 8D 6C 2S")))
    for _ in range(2):
        play.see(1, reading(stakes=MAIN))
        play.see(None, reading())
    play.see(1, face_down(reading(stakes=MAIN), "low", "high"))
    play.see(None, reading(cards=dealer_cards()))
    settle(play)
    clear(play)
    (own,) = play.ended
    assert own.misdealt_s is not None
    record = compile_round(table, 1, own, 90.0, cut_short=False)
    coin = wager(record, jackpot)
    assert (coin.stake_cents, coin.action) == (200, "taken")
    assert {w.wager for w in record.seats[0].wagers} == {"main", jackpot}


def taken_back(play: Play, *, stakes: bool) -> None:
    """All cards go, and the stakes of both seats where `stakes` do not stay."""
    for seat in (1, 2):
        play.see(seat, reading(stakes=MAIN))
    play.see(None, reading())
    if not stakes:
        # One player lays the next stake before another has drawn in.
        play.see(1, reading())
        play.see(1, reading(stakes={"main": ["green"]}))
        play.see(2, reading())
        play.see(2, reading(stakes={"main": ["green"]}))


def deal_both(play: Play) -> None:
    """Both packets, and the dealer's hand."""
    for seat in (1, 2):
        play.see(seat, reading(stakes=MAIN))
    for seat in (1, 2):
        play.see(seat, reading(stakes=MAIN, backs=1))
    play.see(None, reading(cards=dealer_cards()))


def test_an_abandoned_round_and_the_next_that_is_dealt_at_once_are_two() -> None:
    play = Play()
    deal_both(play)
    taken_back(play, stakes=False)
    green = {"main": ["green"]}
    for seat in (1, 2):
        play.see(seat, reading(stakes=green, backs=1))
    play.see(None, reading(cards=dealer_cards()))
    for seat in (1, 2):
        play.see(seat, reading(stakes=green, cards=seat_cards(seat)))
    for place in (1, 2, None):
        play.see(place, reading())
    first, second = play.ended
    assert (names(first), names(second)) == (["abandoned"], [])
    assert first.broken_off
    record = compile_round(TABLE, 2, second, 90.0, cut_short=False)
    assert [wager(record, "main", seat).stake_cents for seat in (1, 2)] == [2500, 2500]
    assert float(record.start_s or 0) > max(e.start_s for e in first.tracks[1].episodes[:2])


def test_other_stakes_after_the_cards_went_are_those_of_another_round() -> None:
    """Bets follow at once: no place is seen without chips."""
    play = Play()
    deal_both(play)
    taken_back(play, stakes=True)
    bets: dict[int, Stacks] = {1: {"main": ["green"]}, 2: {**MAIN, "emperors_treasure": ["red"]}}
    for seat in (1, 2):
        play.see(seat, reading(stakes=bets[seat]))
    for seat in (1, 2):
        play.see(seat, reading(stakes=bets[seat], backs=1))
    play.see(None, reading(cards=dealer_cards()))
    for seat in (1, 2):
        play.see(seat, reading(stakes=bets[seat], cards=seat_cards(seat)))
    for place in (1, 2, None):
        play.see(place, reading())
    first, second = play.ended
    assert (names(first), names(second)) == (["abandoned"], [])
    record = compile_round(TABLE, 2, second, 90.0, cut_short=False)
    assert [wager(record, "main", seat).stake_cents for seat in (1, 2)] == [2500, 1000]


def test_one_player_may_bet_another_stake_after_a_misdeal() -> None:
    play = Play()
    play.see(None, reading())
    deal_both(play)
    for seat in (1, 2):
        play.see(seat, reading(stakes=MAIN))
    play.see(None, reading())
    play.see(1, reading(stakes={"main": ["green"]}))
    play.see(1, reading(stakes={"main": ["green"]}, backs=1))
    play.see(2, reading(stakes=MAIN, backs=1))
    play.see(None, reading(cards=dealer_cards()))
    play.see(1, reading(stakes={"main": ["green"]}, cards=seat_cards(1)))
    play.see(2, reading(stakes=MAIN, cards=seat_cards(2)))
    for place in (1, 2, None):
        play.see(place, reading())
    (own,) = play.ended
    assert names(own) == ["misdeal"]
    record = compile_round(TABLE, 1, own, 90.0, cut_short=False)
    assert [wager(record, "main", seat).stake_cents for seat in (1, 2)] == [2500, 1000]


def test_stakes_that_stay_are_those_of_the_round_that_is_dealt_again() -> None:
    play = Play()
    deal_both(play)
    taken_back(play, stakes=True)
    deal_both(play)
    settle(play)
    play.see(2, reading(stakes=MAIN, cards=seat_cards(2)))
    for place in (1, 2, None):
        play.see(place, reading())
    (own,) = play.ended
    assert names(own) == ["misdeal"]
    record = compile_round(TABLE, 1, own, 90.0, cut_short=False)
    assert [wager(record, "main", seat).stake_cents for seat in (1, 2)] == [1000, 1000]


def test_cards_that_are_dealt_again_and_taken_back_once_more_are_one_abandoned_round() -> None:
    play = Play()
    deal_both(play)
    taken_back(play, stakes=True)
    # A single reading shows a back, as chips that are raked in may.
    play.see(1, reading(stakes=MAIN, backs=1), *[reading(stakes=MAIN)] * 4)
    for place in (1, 2, None):
        play.see(place, reading())
    (own,) = play.ended
    assert own.broken_off


def test_players_who_hold_their_cards_do_not_undo_the_deal() -> None:
    play = Play()
    deal_both(play)
    for seat in (1, 2):
        play.see(seat, reading(stakes=MAIN))
    # An arm hides the dealer's cards in one reading.
    play.see(None, reading(), *[reading(cards=dealer_cards())] * 3)
    play.see(1, reading(stakes=MAIN, backs=2))
    settle(play)
    play.see(2, reading(stakes=MAIN, cards=seat_cards(2)))
    for place in (1, 2, None):
        play.see(place, reading())
    (own,) = play.ended
    assert names(own) == []


@pytest.mark.parametrize("seat_1", ["set", "shown"])
def test_a_start_in_mid_round_loses_no_round_when_the_dealers_hand_is_read_first(
    seat_1: str,
) -> None:
    play = Play()
    play.lose(1.0, jumped=True)
    play.see(None, reading(cards=dealer_cards()))
    if seat_1 == "set":
        play.see(1, face_down(reading(stakes=MAIN), "low", "high"))
    play.see(2, reading())
    settle(play)
    clear(play)
    (own,) = play.ended
    assert not own.broken_off
    assert names(own) == ["begun_unseen"]


def test_a_start_in_mid_round_is_named() -> None:
    play = Play()
    play.lose(1.0, jumped=True)
    play.see(1, face_down(reading(stakes=MAIN), "low", "high"))
    play.see(None, reading(cards=dealer_cards()))
    settle(play)
    clear(play)
    (own,) = play.ended
    assert names(own) == ["begun_unseen"]


def test_an_end_that_was_not_seen_is_named() -> None:
    play = Play()
    deal(play)
    settle(play)
    play.lose(400.0)
    play.see(1, reading())
    play.see(None, reading())
    (own,) = play.ended
    assert names(own) == ["ended_unseen"]


def test_an_abandoned_round_is_named() -> None:
    play = Play()
    deal(play)
    for place in (1, 2, None):
        play.see(place, reading())
    (own,) = play.ended
    assert own.broken_off
    assert names(own) == ["abandoned"]


def test_dealers_cards_that_seemed_to_be_gone_are_named() -> None:
    play = Play()
    deal(play)
    play.see(2, reading(stakes=MAIN, backs=1))
    settle(play)
    play.see(None, reading())
    play.see(None, reading(cards=dealer_cards()))
    play.see(2, reading(stakes=MAIN, cards=seat_cards(2)))
    clear(play)
    play.see(2, reading())
    (own,) = play.ended
    assert names(own) == ["dealer_cards_again"]


def test_steps_that_are_undone_repeated_or_out_of_order_say_so() -> None:
    play = Play()
    deal(play)
    play.see(1, reading(stakes=MAIN))
    play.see(1, face_down(reading(stakes=MAIN), "low", "high"))
    settle(play)
    play.see(1, reading(stakes=MAIN, backs=1))
    clear(play)
    (own,) = play.ended
    assert courses(own) == [
        ("bets", "in_order"),
        ("set", "in_order"),
        ("in_hand", "undone"),
        ("set", "repeated"),
        ("shown", "in_order"),
        ("taken", "in_order"),
        ("dealt", "out_of_order"),
    ]


def test_what_lay_between_two_rounds_belongs_to_the_later_one() -> None:
    play = Play()
    deal(play)
    settle(play)
    clear(play)
    emptied = play.now_s - 1.6
    # Bets are laid and taken back: no round. A card is left lying at the dealer's.
    play.see(1, reading(stakes=MAIN))
    play.see(1, reading())
    assert play.tracker.phase is Phase.WAITING
    play.see(None, reading(backs=2))
    play.see(None, reading())
    later = play.now_s
    deal(play)
    settle(play)
    clear(play)
    _, second = play.ended
    events = lines(second)
    (waiting,) = (one for one in events if isinstance(one, PhaseLine) and one.phase == "waiting")
    assert (float(waiting.from_s), float(waiting.until_s)) == (round(emptied, 3), later)
    between = [one for one in events if isinstance(one, Lay) and float(one.from_s) < later]
    assert [(one.seat, one.item) for one in between] == [(1, "stack"), (None, "backs")]
    assert len({one.id for one in events if isinstance(one, Lay)}) == sum(
        isinstance(one, Lay) for one in events
    )
