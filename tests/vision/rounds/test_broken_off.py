from __future__ import annotations

from settlement.compare.comparison import compare
from settlement.procedures import Phase
from settlement.settle import settle
from tests.vision.rounds.readings import TABLE, Play, dealer_cards, reading, seat_cards
from vision.rounds.compile_round import compile_round

MAIN = {"main": ["red red"]}


def dealt(play: Play, *, dealer: bool) -> None:
    for seat in (1, 2):
        play.see(seat, reading(stakes=MAIN))
    for seat in (1, 2):
        play.see(seat, reading(stakes=MAIN, backs=2))
    play.see(None, reading(cards=dealer_cards()) if dealer else reading(backs=2))


def taken_back(play: Play) -> None:
    play.see(None, reading())
    for seat in (1, 2):
        play.see(seat, reading())


def test_a_round_whose_cards_and_bets_are_taken_back_is_broken_off() -> None:
    for dealer in (False, True):
        play = Play()
        dealt(play, dealer=dealer)
        taken_back(play)
        (own,) = play.ended
        assert own.broken_off
        assert play.tracker.phase is Phase.WAITING


def test_it_is_one_undecided_round_and_no_wager_of_it_is_judged() -> None:
    play = Play()
    dealt(play, dealer=True)
    taken_back(play)
    record = compile_round(TABLE, 4, play.ended[0], 30.0, cut_short=False)
    (finding,) = compare(record, settle(record, TABLE.rules), TABLE.rules)
    assert str(finding.code) == "UNDECIDED"
    assert "broken off" in finding.message
    assert record.round_id.endswith("-000004")


def test_the_next_round_is_read_as_usual() -> None:
    play = Play()
    dealt(play, dealer=True)
    taken_back(play)
    dealt(play, dealer=True)
    for seat in (1, 2):
        play.see(seat, reading(stakes=MAIN, cards=seat_cards(seat)))
    taken_back(play)
    first, second = play.ended
    assert (first.broken_off, second.broken_off) == (True, False)
    assert len(second.tracks[1].hand()) == 7


def test_bets_that_stay_are_no_broken_round() -> None:
    play = Play()
    dealt(play, dealer=False)
    play.see(None, reading())
    for seat in (1, 2):
        play.see(seat, reading(stakes=MAIN))
    assert play.ended == []


def test_one_reading_with_a_back_is_no_deal_that_was_broken_off() -> None:
    """Chips that are raked in may look like one: bets were taken back, no more."""
    play = Play()
    play.see(None, reading())
    play.see(2, reading())
    play.see(1, reading(stakes=MAIN), reading(stakes=MAIN, backs=1))
    assert play.tracker.phase is not Phase.WAITING
    play.see(1, reading())
    assert play.ended == []
    assert play.tracker.phase is Phase.WAITING
    # The round that follows is read whole.
    dealt(play, dealer=True)
    taken_back(play)
    (own,) = play.ended
    assert own.broken_off


def test_backs_at_one_place_are_no_deal_that_was_broken_off() -> None:
    """What is taken up in a hand may look so in every reading."""
    play = Play()
    play.see(1, reading(stakes=MAIN))
    play.see(1, reading(stakes=MAIN, backs=1))
    play.see(None, reading())
    play.see(2, reading())
    play.see(1, reading())
    assert play.ended == []
    assert play.tracker.phase is Phase.WAITING
