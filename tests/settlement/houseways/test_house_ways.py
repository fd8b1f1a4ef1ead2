"""What holds for every house way: legal, unfouled, the same for every order of the cards."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from settlement.cards import DECK, Card, by_rank, parse_cards
from settlement.hands import HandError, Ranking, is_foul, is_made, rank_five, rank_two
from settlement.houseways import HOUSE_WAYS, HouseWaySetting
from settlement.houseways.base import AS_READ, Split
from settlement.houseways.grouped_hand import GroupedHand
from settlement.rules import HouseWayReadings
from tests.profiles import examples

SEVEN = st.lists(st.sampled_from(DECK), min_size=7, max_size=7, unique=True)
FEW_RANKS = st.lists(
    st.sampled_from([card for card in DECK if card.joker or card.rank > 9]),
    min_size=7,
    max_size=7,
    unique=True,
)
ONE_SUIT = st.lists(
    st.sampled_from([card for card in DECK if card.joker or card.suit == "S" or card.rank == 14]),
    min_size=7,
    max_size=7,
    unique=True,
)
HANDS = SEVEN | FEW_RANKS | ONE_SUIT
RANKINGS = st.builds(
    Ranking, st.sampled_from(["second", "lowest"]), st.sampled_from(["highest_missing", "ace"])
)
READINGS = st.fixed_dictionaries(
    {
        name: st.sampled_from(field["enum"])
        for name, field in HouseWayReadings.model_json_schema()["properties"].items()
    }
).map(HouseWayReadings.model_validate)


def worth(setting: HouseWaySetting, ranking: Ranking) -> tuple[object, object]:
    return rank_two(setting.low), rank_five(setting.high, ranking)


def assert_sound(setting: HouseWaySetting, cards: Sequence[Card], ranking: Ranking) -> None:
    for low, high in ((setting.low, setting.high), *setting.alternatives):
        assert sorted((*low, *high)) == sorted(cards)
        assert not is_foul(rank_two(low), rank_five(high, ranking))
        assert (low, high) == (by_rank(low), by_rank(high))
        assert setting.same_hands(low, high, ranking)
    assert setting.rule
    assert setting.why


@pytest.mark.parametrize("way", HOUSE_WAYS)
@settings(max_examples=examples(300), deadline=None)
@given(
    cards=HANDS,
    order=st.randoms(use_true_random=False),
    ranking=RANKINGS,
    readings=READINGS,
)
def test_always_legal_unfouled_and_the_same_for_every_order(
    way: str,
    cards: list[Card],
    order: random.Random,
    ranking: Ranking,
    readings: HouseWayReadings,
) -> None:
    setting = HOUSE_WAYS[way].set_hands(cards, ranking, readings)
    assert_sound(setting, cards, ranking)
    shuffled = list(cards)
    order.shuffle(shuffled)
    assert HOUSE_WAYS[way].set_hands(shuffled, ranking, readings) == setting


@pytest.mark.parametrize("way", HOUSE_WAYS)
@settings(max_examples=examples(300), deadline=None)
@given(cards=HANDS, suits=st.permutations("CDHS"), readings=READINGS, ranking=RANKINGS)
def test_swapped_suits_are_worth_the_same(
    way: str,
    cards: list[Card],
    suits: list[str],
    readings: HouseWayReadings,
    ranking: Ranking,
) -> None:
    swap = dict(zip("CDHS", suits, strict=True))
    swapped = [card if card.joker else Card(card.rank, swap[card.suit]) for card in cards]
    before = HOUSE_WAYS[way].set_hands(cards, ranking, readings)
    after = HOUSE_WAYS[way].set_hands(swapped, ranking, readings)
    assert worth(after, ranking) == worth(before, ranking)
    assert (after.rule, after.why) == (before.rule, before.why)


@pytest.mark.parametrize("way", HOUSE_WAYS)
@settings(max_examples=examples(200), deadline=None)
@given(cards=SEVEN | FEW_RANKS, data=st.data())
def test_one_suit_for_another_changes_nothing_but_flushes(
    way: str, cards: list[Card], data: st.DataObject
) -> None:
    """Where no five cards are of one suit before and after, any suits are worth the same."""
    ranks: list[list[Card]] = []
    for rank in sorted({card.rank for card in cards if not card.joker}):
        of_rank = [card for card in DECK if card.rank == rank and not card.joker]
        held = sum(card.rank == rank and not card.joker for card in cards)
        ranks.append(data.draw(st.permutations(of_rank))[:held])
    other = [card for drawn in ranks for card in drawn] + [c for c in cards if c.joker]
    if may_flush(cards) or may_flush(other):
        return
    before = HOUSE_WAYS[way].set_hands(cards, Ranking(), AS_READ)
    after = HOUSE_WAYS[way].set_hands(other, Ranking(), AS_READ)
    assert worth(after, Ranking()) == worth(before, Ranking())


def may_flush(cards: Sequence[Card]) -> bool:
    suits = [card.suit for card in cards]
    return max(map(suits.count, "CDHS")) + suits.count("") >= 5


@pytest.mark.parametrize("way", HOUSE_WAYS)
@settings(max_examples=examples(60), deadline=None)
@given(
    cards=st.lists(st.sampled_from(DECK), min_size=8, max_size=8, unique=True),
    order=st.randoms(use_true_random=False),
    readings=READINGS,
)
def test_eight_cards_too(
    way: str, cards: list[Card], order: random.Random, readings: HouseWayReadings
) -> None:
    setting = HOUSE_WAYS[way].set_eight(cards, Ranking(), readings)
    assert setting.discard in cards
    kept = [card for card in cards if card != setting.discard]
    assert_sound(setting, kept, Ranking())
    assert setting.rule.startswith("001 Dealing procedure, 8; ")
    shuffled = list(cards)
    order.shuffle(shuffled)
    assert HOUSE_WAYS[way].set_eight(shuffled, Ranking(), readings) == setting


@pytest.mark.parametrize("way", HOUSE_WAYS)
def test_only_the_readings_named_make_a_difference(way: str) -> None:
    rng = random.Random(3)
    narrow = [card for card in DECK if card.joker or card.rank > 8]
    hands = [rng.sample(narrow if place % 2 else DECK, 7) for place in range(1500)]
    options = HouseWayReadings.model_json_schema()["properties"]
    for name in options.keys() - HOUSE_WAYS[way].readings:
        for option in options[name]["enum"]:
            readings = HouseWayReadings.model_validate({name: option})
            for hand in hands:
                assert HOUSE_WAYS[way].set_hands(hand, Ranking(), readings) == HOUSE_WAYS[
                    way
                ].set_hands(hand, Ranking(), AS_READ)


@pytest.mark.parametrize("way", HOUSE_WAYS)
@pytest.mark.parametrize("cards", ["", "AS KD", "AS AS KD QH JC 9D 2C", "AS KD QH JC 9D 7S 5H 2C"])
def test_seven_different_cards_are_needed(way: str, cards: str) -> None:
    with pytest.raises(HandError, match="seven different cards, got"):
        HOUSE_WAYS[way].set_hands(parse_cards(cards), Ranking(), AS_READ)


def test_ids_titles_and_sources() -> None:
    for way_id, way in HOUSE_WAYS.items():
        assert way.id == way_id
        assert way.title
        assert way.document
        assert way.readings <= HouseWayReadings.model_fields.keys()


@settings(max_examples=examples(300), deadline=None)
@given(cards=HANDS)
def test_straights_and_flushes_are_all_found(cards: list[Card]) -> None:
    seven = GroupedHand(cards, Ranking(), AS_READ)
    lows = {split.low for split in seven.made}
    for place, first in enumerate(seven.cards):
        for second in seven.cards[place + 1 :]:
            split = seven.split((second, first))
            assert split.low == (first, second)
            assert (split.low in lows) == is_made(split.high_rank)


def test_splits_show_a_foul() -> None:
    high = parse_cards("KS KD QH 9C 2D")
    assert Split.of(parse_cards("AS AD"), high, Ranking()).foul
    assert not Split.of(parse_cards("QS JD"), high, Ranking()).foul
    with pytest.raises(HandError, match="low hand"):
        Split.of(parse_cards("AS"), high, Ranking())
