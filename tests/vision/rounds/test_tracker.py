from __future__ import annotations

import math

import pytest

from settlement.procedures import Phase
from tests.vision.rounds.readings import (
    PICTURE,
    Play,
    dealer_cards,
    hand,
    reading,
    seat_cards,
    stack,
)
from tests.vision.rounds.readings import TABLE as TABLE_FILE
from vision.cards.deck_assignment import decide_deck
from vision.cards.view import CardRead
from vision.rounds.round_state import Episode, ViewTrack
from vision.rounds.tracker import RoundTracker

MAIN = {"main": ["red red"]}
PAY = {"main": ["red red"]}


def dealt(play: Play) -> None:
    """Two seats bet and get their cards; the dealer's are turned up and set."""
    play.see(1, reading(stakes=MAIN))
    play.see(2, reading(stakes=MAIN))
    for seat in (1, 2):
        play.see(seat, reading(stakes=MAIN, backs=1))
    play.see(None, reading(backs=7))
    play.see(None, reading(cards=dealer_cards()))


def settled(play: Play) -> None:
    play.see(1, reading(stakes=MAIN, cards=seat_cards(1)))
    play.see(1, reading(stakes=MAIN, pays=PAY, cards=seat_cards(1)))
    play.see(2, reading(stakes=MAIN, cards=seat_cards(2)))
    play.see(2, reading(cards=seat_cards(2)))


def test_phases_follow_the_deal() -> None:
    play = Play()
    phases = [play.tracker.phase]

    def see(seat: int | None, own: object) -> None:
        play.see(seat, own)  # type: ignore[arg-type]
        phases.append(play.tracker.phase)

    see(None, reading())
    see(1, reading(stakes=MAIN))
    see(1, reading(stakes=MAIN, backs=3))
    see(None, reading(backs=7))
    see(None, reading(cards=dealer_cards()))
    see(1, reading(stakes=MAIN, cards=seat_cards(1)))
    see(1, reading(stakes=MAIN, pays=PAY, cards=seat_cards(1)))
    see(1, reading(stakes=MAIN, pays=PAY))
    see(None, reading())
    see(1, reading())
    assert phases == [
        Phase.WAITING, Phase.WAITING, Phase.BETS, Phase.DEALT, Phase.DEALT, Phase.DEALER_SET,
        Phase.SETTLING, Phase.SETTLING, Phase.SETTLING, Phase.CLEARED, Phase.WAITING,
    ]  # fmt: skip
    assert len(play.ended) == 1


def test_a_round_holds_what_every_view_showed() -> None:
    play = Play()
    dealt(play)
    settled(play)
    play.see(None, reading())
    cleared = play.now_s - 1.6
    play.see(1, reading())
    play.see(2, reading())
    (own,) = play.ended
    assert own.start_s == 0.0
    assert own.cut_s == pytest.approx(cleared)
    assert [len(own.tracks[s].episodes) for s in (None, 1, 2)] == [3, 5, 5]
    assert [c.label for c in own.tracks[None].hand()] != []
    assert len(own.tracks[1].hand()) == len(own.tracks[2].hand()) == 7
    assert play.tracker.phase is Phase.WAITING


def test_the_next_round_starts_clean() -> None:
    play = Play()
    for _ in range(2):
        start = play.now_s
        dealt(play)
        settled(play)
        for seat in (None, 1, 2):
            play.see(seat, reading())
    first, second = play.ended
    assert second.start_s == start > first.start_s
    assert [len(t.episodes) for t in second.tracks.values()] == [
        len(t.episodes) for t in first.tracks.values()
    ]


def test_a_new_deal_ends_a_round_whose_spot_never_seems_empty() -> None:
    play = Play()
    dealt(play)
    settled(play)
    play.see(None, reading())
    # Seat 1 keeps a chip that the finder sees in its print; seat 2 bets again.
    play.see(1, reading(stakes={"main": ["white"]}))
    play.see(2, reading())
    play.see(2, reading(stakes=MAIN))
    assert play.ended == []
    play.see(2, reading(stakes=MAIN, backs=1))
    (own,) = play.ended
    assert own.phase is Phase.CLEARED
    assert own.cut_s is not None
    assert play.tracker.round is not None
    assert play.tracker.round.phase is Phase.DEALT
    assert play.tracker.round.start_s >= own.cut_s
    assert len(play.tracker.round.tracks[2].episodes) == 1
    assert len(play.tracker.round.tracks[None].episodes) == 0


def test_bets_taken_back_are_no_round() -> None:
    play = Play()
    play.see(1, reading(stakes=MAIN))
    assert play.tracker.phase is Phase.BETS
    play.see(1, reading())
    assert play.tracker.phase is Phase.WAITING
    assert play.ended == []
    assert play.tracker.end() is None


@pytest.mark.parametrize(
    "own", [reading(), reading(lammers=["envy"]), reading(cards=hand(TABLE_FILE.seat(1), "AS", ""))]
)
def test_an_empty_felt_a_lammer_or_a_card_start_no_round(own) -> None:
    play = Play()
    play.see(1, own)
    play.see(None, reading(cards=dealer_cards()))
    assert play.tracker.phase is Phase.WAITING


def test_seats_at_rest_before_the_first_bet_belong_to_the_round() -> None:
    tracker = RoundTracker([1, 2])
    play = Play(tracker)
    tracker.take(None, reading(backs=2), PICTURE, fresh=True, since_s=0.0)
    play.see(2, reading(stakes=MAIN))
    assert tracker.round is not None
    assert [len(tracker.round.tracks[s].episodes) for s in (None, 1, 2)] == [1, 0, 1]


def test_dealers_cards_hidden_before_a_hand_was_compared_do_not_clear() -> None:
    play = Play()
    dealt(play)
    play.see(None, reading())
    assert play.tracker.phase is Phase.DEALER_SET
    play.see(None, reading(cards=dealer_cards()))
    settled(play)
    assert play.tracker.phase is Phase.SETTLING


def test_dealers_cards_hidden_for_a_moment_while_settling_come_back() -> None:
    play = Play()
    dealt(play)
    play.see(1, reading(stakes=MAIN, cards=seat_cards(1)))
    play.see(None, reading())
    assert play.tracker.phase is Phase.CLEARED
    play.see(None, reading(cards=dealer_cards()))
    assert play.tracker.phase is Phase.SETTLING
    assert play.tracker.round is not None
    assert play.tracker.round.cut_s is None


def test_the_end_of_the_stream_gives_back_the_round_that_was_dealt() -> None:
    play = Play()
    play.see(1, reading(stakes=MAIN))
    assert play.tracker.end() is None, "no card was dealt yet"
    play = Play()
    dealt(play)
    own = play.tracker.end()
    assert own is not None
    assert own.phase is Phase.DEALER_SET
    play = Play()
    dealt(play)
    settled(play)
    own = play.tracker.end()
    assert own is not None
    assert own.phase is Phase.SETTLING
    assert play.tracker.end() is None


def test_a_mark_that_reads_as_a_card_does_not_join_two_rounds() -> None:
    play = Play()
    dealt(play)
    settled(play)
    mark = dealer_cards()[:1]
    play.see(None, reading(cards=mark))
    assert play.tracker.phase is Phase.CLEARED
    for seat in (1, 2):
        play.see(seat, reading(cards=seat_cards(seat)[:1]))
    assert len(play.ended) == 1
    assert play.tracker.phase is Phase.WAITING


def test_a_round_whose_hands_were_never_seen_ends_on_the_bare_felt() -> None:
    play = Play()
    dealt(play)
    assert play.tracker.phase is Phase.DEALER_SET
    play.see(None, reading(cards=dealer_cards()[:1]))
    for seat in TABLE_FILE.seats:
        play.see(seat.seat, reading())
    assert len(play.ended) == 1
    assert play.ended[0].broken_off


def test_shots_are_the_frames_that_decide() -> None:
    play = Play()
    dealt(play)
    settled(play)
    envy = {"envy": ["green"]}
    play.see(2, reading(pays=envy, cards=seat_cards(2)[:5]))
    play.see(None, reading())
    after = play.now_s
    play.see(1, reading(stakes=MAIN))
    assert play.tracker.round is not None
    shots = play.tracker.round.tracks[1].shots
    assert set(shots) == {"bets", "cards", "settled"}
    assert shots["bets"].reading.backs == 1
    assert shots["cards"].reading.pays
    assert shots["settled"].reading.at_s < after
    other = play.tracker.round.tracks[2].shots
    assert len(other["cards"].reading.indices) == 7, "the picture with most cards"
    assert other["envy"].reading.pays["envy"][0].value_cents == 2500
    assert set(play.tracker.round.tracks[None].shots) >= {"cards"}


def test_the_image_of_a_hand_shows_it_as_it_lay_last() -> None:
    play = Play()
    dealer = TABLE_FILE.dealer
    spread = hand(dealer, "", "AS KD 9H 9C 7S 5D 2C 3C")
    play.see(1, reading(stakes=MAIN, backs=2))
    play.see(None, reading(cards=spread))
    play.see(None, reading(cards=hand(dealer, "AS KD", "9H 9C 7S 5D 2C")))
    assert play.tracker.round is not None
    shot = play.tracker.round.tracks[None].shots["cards"]
    assert len(shot.reading.indices) == 7, "not the eight of the row"


def test_an_episode_says_what_most_of_its_readings_show() -> None:
    episode = Episode(1.0)
    assert episode.empty
    episode.readings += [reading(), reading(stakes=MAIN)]
    assert episode.empty, "chips in one of two pictures only"
    episode.readings.append(reading(stakes=MAIN))
    assert episode.chips
    episode.readings.append(reading(backs=4, cards=seat_cards(1)[:3]))
    assert (episode.backs, episode.cards_up) == (4, 3)


def test_a_hand_is_read_as_it_lay_last() -> None:
    """The dealer spreads the seven in a row before setting them."""
    track = ViewTrack()
    assert track.hand() == []
    row = hand(TABLE_FILE.dealer, "", "2C KD 9D 4H 9C KS 4S", shift=9.0)
    for start, cards in ((1.0, row), (3.0, dealer_cards())):
        track.episodes.append(Episode(start, [reading(cards=cards)] * 3))
    assert len(track.hand()) == 7
    middles = {c.label: c.center_mm for c in track.hand()}
    wanted = {s.label: s.card for s in dealer_cards()}
    for label, middle in middles.items():
        assert middle == pytest.approx(tuple(wanted[label]))


DEALERS = "KS KD 9C 9D 4H 4S 2C"


@pytest.mark.parametrize(
    ("low", "high", "doubt", "read"),
    [
        # A corner of the set hand is not found, or reads as another card with a doubt.
        ("KS KD", "9C 9D 4H 4S", {}, DEALERS),
        ("KS KD", "9C 9D 4H 4S JOKER", {"JOKER": 0.56}, DEALERS),
        ("KS KD", "9C 9D 4H 4S 2C", {"2C": 0.6}, DEALERS),
        # With two in doubt the row says nothing.
        ("KS KD", "9C 9D 4H", {}, "KS KD 9C 9D 4H"),
    ],
)
def test_the_row_of_a_hand_says_which_of_its_cards_is_not_read(
    low: str, high: str, doubt: dict[str, float], read: str
) -> None:
    """The hand was spread in a row first, where all seven were sure."""
    dealer = TABLE_FILE.dealer
    row = hand(dealer, "", "2C KD 9D 4H 9C KS 4S", shift=9.0)
    track = ViewTrack()
    for start, cards in ((1.0, row), (3.0, hand(dealer, low, high, shares=doubt))):
        track.episodes.append(Episode(start, [reading(cards=cards)] * 3))
    seen = track.hand()
    assert sorted(card.label for card in seen) == sorted(read.split())
    if read == DEALERS:
        assert min(card.share for card in seen) > 0.9
    # Where they lie is that of the set hand, nowhere for one that was not found there.
    set_at = [tuple(one.card) for one in hand(dealer, low, high)]
    assert all(any(math.dist(c.center_mm, at) < 1 for at in set_at) for c in seen if c.indices)


@pytest.mark.parametrize(
    ("in_row", "as_set", "elsewhere", "decided"),
    [(0.98, 0.97, "3C", "2C"), (0.93, 0.97, "2C", "3C"), (0.98, 0.97, "", None)],
)
def test_a_card_that_surely_reads_otherwise_than_in_its_row_is_open(
    in_row: float, as_set: float, elsewhere: str, decided: str | None
) -> None:
    """One of the two readings is wrong; which, the other hands say."""
    dealer = TABLE_FILE.dealer
    row = hand(dealer, "", "2C KD 9D 4H 9C KS 4S", shift=9.0, shares={"2C": in_row})
    cards = hand(dealer, "KS KD", "9C 9D 4H 4S 3C", shares={"3C": as_set})
    track = ViewTrack(
        [Episode(1.0, [reading(cards=row)] * 3), Episode(3.0, [reading(cards=cards)])]
    )
    own = track.hand()
    (card,) = (card for card in own if card.label in ("2C", "3C"))
    assert 0.5 < card.share < 0.8
    other = hand(dealer, "AS AD", f"7H 6S 5D TC {elsewhere}")
    seat = ViewTrack([Episode(1.0, [reading(cards=other)] * 3)])
    hands: dict[int | None, list[CardRead]] = {None: own}
    if elsewhere:
        hands[1] = seat.hand()
    found = decide_deck(hands)[id(card)]
    assert (found.label if found.why is None else None) == decided


def test_a_hand_gathers_what_single_frames_missed() -> None:
    track = ViewTrack()
    cards = seat_cards(1)
    seen = [cards[1:], cards[:6], cards]
    track.episodes.append(Episode(1.0, [reading(cards=own) for own in seen]))
    assert len(track.hand()) == 7
    assert stack("red red").value_cents == 1000
