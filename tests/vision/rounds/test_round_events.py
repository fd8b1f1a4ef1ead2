"""Rounds that do not go as usual: each is named in the timeline, and none is invented."""

from __future__ import annotations

import pytest

from settlement.felt_timeline import EventLine, Lay, PhaseLine, StepLine, TimelineLine
from settlement.procedures import Phase
from tests.vision.rounds.readings import (
    DEALER,
    TABLE,
    Play,
    dealer_cards,
    hand,
    reading,
    seat_cards,
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
    for seat in (1, 2, None):
        play.see(seat, reading())
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
