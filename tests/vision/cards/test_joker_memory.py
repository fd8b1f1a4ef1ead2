"""The table's own joker, learned from round to round."""

from __future__ import annotations

import numpy as np

from settlement.record import JOKER
from tests.vision.cards.joker_hands import FIGURE, PLACES, WHEEL, Played, card, index
from vision.cards.joker_match import cut_read, find_joker, with_joker
from vision.cards.joker_memory import MOST_LOOKS, JokerMemory, ShownHand


def finds(memory: JokerMemory, played: Played, seat: int | None) -> bool:
    """Whether the memory's samples find the joker in a hand of which its mark is not read."""
    own = played.shown[seat]
    return any(i.label == JOKER for i in with_joker(own.indices, own.view, memory.samples))


def test_a_sample_is_cut_where_the_mark_was_read() -> None:
    played = Played(1)
    hand = played.shown[1]
    sample = cut_read(hand.view, hand.indices[-1])
    assert sample is not None
    assert sample.image.shape == (86, 26, 3)
    best = find_joker(Played(2, light=0.8).shown[2].view, [sample])[0]
    assert best.probability > 0.9
    assert find_joker(Played(2, WHEEL).shown[2].view, [sample])[0].probability < 0.5


def test_a_joker_read_in_two_rounds_is_looked_for_in_the_third() -> None:
    memory = JokerMemory()
    Played(1).teach(memory)
    assert memory.samples == ()
    Played(None, light=0.85).teach(memory)
    assert len(memory.samples) == 1
    assert finds(memory, Played(2, ends=0, light=0.9), 2)
    assert not finds(memory, Played(2, WHEEL, ends=0), 2)


def test_one_that_was_read_at_both_ends_is_looked_for_at_once() -> None:
    memory = JokerMemory()
    Played(1, ends=2).teach(memory)
    assert finds(memory, Played(2, ends=0), 2)


def test_a_mark_that_is_not_read_needs_three_rounds() -> None:
    memory = JokerMemory()
    for known, seat in enumerate((1, 2, None)):
        assert memory.samples == ()
        played = Played(seat, ends=0, share=0.95)
        played.teach(memory)
        assert max(look.rounds for look in memory.looks) == known + 1
    assert finds(memory, Played(2, ends=0), 2)


def test_two_jokers_in_a_round_teach_nothing() -> None:
    memory = JokerMemory()
    played, other = Played(1, ends=2), Played(2, ends=2)
    played.hands[2], played.shown[2] = other.hands[2], other.shown[2]
    played.teach(memory)
    assert memory.looks == []


def test_an_unsure_card_beside_it_teaches_nothing() -> None:
    memory = JokerMemory()
    played = Played(1, ends=2)
    played.hands[1][0] = card(index(played.hands[2][0].label, PLACES[0], 0.7))
    played.teach(memory)
    assert memory.looks == []


def test_what_other_hands_show_too_is_not_the_joker() -> None:
    # A figure of a card was read as the joker; it lies in another hand the next time.
    memory = JokerMemory()
    Played(1, FIGURE).teach(memory)
    Played(2, FIGURE, figure=1).teach(memory)
    assert memory.samples == ()
    # Read at both ends, it is dropped at once where two hands show it.
    memory = JokerMemory()
    Played(1, FIGURE, ends=2, figure=None).teach(memory)
    assert memory.looks == []


def test_another_deck_starts_it_again() -> None:
    memory = JokerMemory()
    for seat in (1, 2):
        Played(seat).teach(memory)
    assert finds(memory, Played(None, ends=0), None)
    for seat in (1, 2):
        Played(seat, WHEEL).teach(memory)
    assert not finds(memory, Played(None, ends=0), None)
    assert finds(memory, Played(None, WHEEL, ends=0), None)


def test_a_sure_joker_of_another_look_contradicts_what_was_found() -> None:
    memory = JokerMemory()
    Played(1, ends=2).teach(memory)
    played, other = Played(1, WHEEL), Played(2, ends=0)
    hand = other.shown[2]
    found = with_joker(hand.indices, hand.view, memory.samples)
    assert found[-1].matched
    played.shown[2] = ShownHand(hand.view, found)
    played.hands[2] = [*(c for c in other.hands[2] if c.label != JOKER), card(found[-1])]
    played.teach(memory)
    assert memory.samples == ()


def test_what_its_look_found_proves_nothing_more() -> None:
    memory = JokerMemory()
    Played(1).teach(memory)
    Played(2).teach(memory)
    (look,) = memory.looks
    played = Played(None, ends=0)
    hand = played.shown[None]
    found = with_joker(hand.indices, hand.view, memory.samples)
    played.hands[None] = [card(i) for i in found]
    played.shown[None] = ShownHand(hand.view, found)
    played.teach(memory)
    assert (look.rounds, memory.looks) == (2, [look])


def test_few_looks_are_kept_and_those_that_are_known_stay() -> None:
    memory = JokerMemory()
    Played(1, ends=2).teach(memory)
    known = memory.looks[0]
    for k in range(2 * MOST_LOOKS):
        played = Played(2, ends=0)
        spots = [PLACES[j] for j in (0, 1, 2)]
        hand = played.shown[2]
        noise = np.random.default_rng(k).integers(0, 255, hand.view.shape).astype(np.uint8)
        marks = tuple(index(JOKER, at, 0.6) for at in spots)
        played.shown[2] = ShownHand(noise, hand.indices, marks)
        played.teach(memory)
    assert len(memory.looks) <= MOST_LOOKS
    assert known in memory.looks


def test_a_lone_joker_beside_seven_cards_is_the_tables_where_it_looks_so() -> None:
    memory = JokerMemory()
    Played(1, ends=2).teach(memory)
    hand = Played(2).shown[2]
    extra = index("7H", (90.0, 20.0), 0.95)
    found = with_joker([*hand.indices, extra], hand.view, memory.samples)
    assert [i.matched for i in found if i.label == JOKER] == [True]
    other = Played(2, WHEEL).shown[2]
    found = with_joker([*other.indices, extra], other.view, memory.samples)
    assert not any(i.matched for i in found)
