"""Every line of the house way of document 004, and every reading of it, by literal hands."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from settlement.cards import DECK, Card, labels, parse_cards
from settlement.errors import FeltwatchError
from settlement.hands import HandError, Wheel, is_foul, rank_five, rank_two
from settlement.houseways import HOUSE_WAYS, house_way_for
from settlement.houseways.base import Split
from settlement.rules import TableRules

WAY = HOUSE_WAYS["document_004"]
STRAIGHTS = "All Straights, Flushes & Straight Flushes"
FULL = "Full House Rule"
FOUR = "Four of a Kind"

CASES = [
    # No pair
    ("AS QD JH 9C 7S 4D 2C", "QD JH", "No Pair"),
    ("JOKER QD JH 9C 7S 4D 2C", "QD JH", "No Pair"),
    # One pair
    ("KS QD 9H 9C 7S 5D 2C", "KS QD", "One Pair"),
    ("AS JOKER 9H 8C 7S 3D 2C", "9H 8C", "One Pair"),
    ("9S 9D JOKER 8C 5S 3D 2H", "JOKER 8C", "One Pair"),
    # Two pair: split without an ace
    ("KS KD 4H 4C QS 8D 2C", "4H 4C", "Two Pair"),
    ("3S 3D 2H 2C KS 8D 5C", "2H 2C", "Two Pair"),
    ("AS AD 2H 2C KS 8D 5C", "2H 2C", "Two Pair"),
    # HW-1b: an ace and the joker are one of the pairs
    ("AS JOKER 2H 2C KS 8D 5C", "2H 2C", "Two Pair"),
    # Two pair kept with an ace; HW-1c: the highest other card goes with it
    ("AS 5D 5C 4H 4C KD 9S", "AS KD", "Two Pair"),
    ("JOKER KD KC 4H 4C QD 9S", "JOKER QD", "Two Pair"),
    # The NOTE, HW-1 literal
    ("AS KD KC QH QC 9D 2S", "QH QC", "Two Pair, NOTE"),
    ("AS JD JC QH QC 9D 2S", "JD JC", "Two Pair, NOTE"),
    ("AS TD TC 7H 7C 9D 2S", "7H 7C", "Two Pair, NOTE"),
    ("AS TD TC 2H 2C 9D 3S", "2H 2C", "Two Pair, NOTE"),
    ("JOKER KD KC 7H 7C 9D 3S", "7H 7C", "Two Pair, NOTE"),
    ("AS KD KC 6H 6C 9D 3S", "AS 9D", "Two Pair"),
    # HW-11: two pair with a straight or flush
    ("9S 9D 8C 8H 7S 6D 5C", "8C 8H", "Two Pair, NOTE|Two Pair"),
    ("6S 6D 5C 5H 4S 3D 2C", "5C 5H", "Two Pair"),
    ("AS 5D 5C 4H 4C 3D 2S", "AS 3D", "Two Pair"),
    # Three pair; HW-18, HW-10
    ("9S 9D 8C 8H 7S 7D 2C", "9S 9D", "Three Pair"),
    ("AS AD 8C 8H 7S 7D KC", "AS AD", "Three Pair"),
    ("AS JOKER KC KH QS QD JC", "AS JOKER", "Three Pair"),
    # Three of a kind
    ("9S 9D 9C KH QS 4D 2C", "KH QS", "Three of a Kind"),
    ("9S 9D 9C JOKER QS 4D 2C", "JOKER QS", "Three of a Kind"),
    ("AS AD AC KH QS 4D 2C", "A KH", "Three of a Kind, EXCEPTION"),
    ("AS AD JOKER KH QS 4D 2C", "A KH", "Three of a Kind, EXCEPTION"),
    # Straights and flushes without a pair, HW-15
    ("9S 8D 7C 6H 5S KD QC", "KD QC", f"{STRAIGHTS}, No Pair"),
    ("AS KD QC JH TS 9D 8C", "AS KD", f"{STRAIGHTS}, No Pair"),
    ("AH KH QH JH TH 9D 8C", "AH KH", f"{STRAIGHTS}, No Pair"),
    ("KS 9S 7S 4S 2S AD QC", "AD QC", f"{STRAIGHTS}, No Pair"),
    ("KS 9S 8S 7S 6S 5D 3S", "KS 5D", f"{STRAIGHTS}, No Pair"),
    ("JOKER 9D 8C 7H 6S 5D 2C", "JOKER 2C|JOKER 9D", f"{STRAIGHTS}, No Pair"),
    ("JOKER KD 9C 8H 7S 6D 2C", "KD 2C", f"{STRAIGHTS}, No Pair"),
    # ... with a pair: it goes low where that keeps the straight, HW-3
    ("KS KD 9C 8H 7S 6D 5C", "KS KD", f"{STRAIGHTS}, One Pair"),
    ("KH KD AS 2C 3D 4H 5S", "KH KD", f"{STRAIGHTS}, One Pair"),
    ("9S 9D 8C 7H 6S 5D 4C", "9S 9D", f"{STRAIGHTS}, One Pair"),
    # HW-2: tens or better with an ace, joker or face
    ("TS TD 9C 8H 7S 6D AC", "AC 9C", f"{STRAIGHTS}, One Pair"),
    ("TS TD 9C 8H 7S 6D QC", "QC 9C", f"{STRAIGHTS}, One Pair"),
    ("KS KH QD JC TS 9H 2D", "QD JC", f"{STRAIGHTS}, One Pair"),
    ("JS JD TC 9H 8S 7D JOKER", "JS JD", f"{STRAIGHTS}, One Pair"),
    ("JS JD JOKER QS 8S 5S 2C", "JOKER QS", f"{STRAIGHTS}, One Pair"),
    # HW-13: the straight or flush stays
    ("9S 9D 8C 7H 6S 5D 2C", "9S 2C|9D 2C", f"{STRAIGHTS}, One Pair"),
    ("9S 9D AS KS 7S 4S 2C", "9D 2C", f"{STRAIGHTS}, One Pair"),
    ("TS TD 9C 8H 7S 6D 2C", "TS 2C|TD 2C", f"{STRAIGHTS}, One Pair"),
    # HW-4: ace and joker
    ("AS JOKER KH 9C 8D 7S 6H", "AS KH", f"{STRAIGHTS}, One Pair"),
    ("AS JOKER KH QC JD 5S 3H", "KH QC", f"{STRAIGHTS}, One Pair"),
    ("AS JOKER 9H 8C 7D 6S 5H", "AS JOKER", f"{STRAIGHTS}, One Pair"),
    # ... with three of a kind: a pair low, HW-12
    ("9S 9D 9C 8H 7S 6D 5C", "99", f"{STRAIGHTS}, Three of a Kind"),
    ("AS AD AC KH QS JD TC", "AA", f"{STRAIGHTS}, Three of a Kind"),
    ("AS AD JOKER 9H 8S 7D 6C", "AS AD", f"{STRAIGHTS}, Three of a Kind"),
    # HW-5: only ace and joker make the straight
    ("AS AD JOKER KH QS JD 2C", "A KH", "Three of a Kind, EXCEPTION"),
    ("AS AD JOKER 9H 4S 3D 2C", "A 9H", f"{STRAIGHTS}, Three of a Kind"),
    # Full house rule; HW-6, HW-9
    ("9S 9D 9C 4H 4S KD QC", "4H 4S", f"{FULL}, Three of a Kind and Pair"),
    ("AS AD AC 4H 4S KD QC", "4H 4S", f"{FULL}, Three of a Kind and Pair"),
    ("9S 9D 9C 4H 4S KD KC", "KD KC", f"{FULL}, Three of a Kind and Two Pair"),
    ("AS AD JOKER KH KS 4D 3C", "KH KS", f"{FULL}, Three of a Kind and Pair"),
    ("9S 9D 9C 4H 4S 4D QC", "99", f"{FULL}, Three of a Kind & Three of a Kind"),
    ("AS AD JOKER KH KS KD QC", "AA", f"{FULL}, Three of a Kind & Three of a Kind"),
    # Four of a kind; HW-16, HW-17
    ("6S 6D 6C 6H AS KD QC", "AS KD", f"{FOUR}, 2's thru 6's"),
    ("2S 2D 2C 2H 9S 5D 3C", "9S 5D", f"{FOUR}, 2's thru 6's"),
    ("TS TD TC TH AS KD QC", "AS KD", f"{FOUR}, 7's thru 10's"),
    ("7S 7D 7C 7H JOKER 9D 4C", "JOKER 9D", f"{FOUR}, 7's thru 10's"),
    ("7S 7D 7C 7H KS QD JC", "77", f"{FOUR}, 7's thru 10's"),
    ("JS JD JC JH AS QD 9C", "JJ", f"{FOUR}, Jacks, Queens, Kings & Aces"),
    ("AS AD AC JOKER 9S 5D 3C", "AA", f"{FOUR}, Jacks, Queens, Kings & Aces"),
    ("2S 2D 2C 2H 3S 3D KC", "3S 3D", f"{FOUR} with a Pair (or Three-of-a-Kind)"),
    ("KS KD KC KH 3S 3D QC", "3S 3D", f"{FOUR} with a Pair (or Three-of-a-Kind)"),
    ("KS KD KC KH 3S 3D 3C", "33", f"{FOUR} with a Pair (or Three-of-a-Kind)"),
    ("7S 7D 7C 7H AS JOKER 2C", "AS JOKER", f"{FOUR} with a Pair (or Three-of-a-Kind)"),
    # Five aces; HW-7
    ("AS AD AC AH JOKER QD 2C", "AA", f"{FOUR}, Five Aces"),
    ("AS AD AC AH JOKER QD QC", "AA", f"{FOUR}, Five Aces"),
    ("AS AD AC AH JOKER KD KC", "KD KC", f"{FOUR}, Five Aces, EXCEPTION"),
    # HW-8: the joker stays high where that makes the better hand
    ("AS AD AC JOKER KD QC JH", "AA natural", f"{FOUR}, Jacks, Queens, Kings & Aces"),
]


def fits(low: tuple[str, ...], wanted: str) -> bool:
    """'AS KD' is those cards, '99' any pair of nines, 'A KH' any ace or joker with KH."""
    if wanted == "AA natural":
        return [label[0] for label in low] == ["A", "A"]
    if len(wanted) == 2:
        return [label[0] for label in low] in ([*wanted], [wanted[0], "J"], ["J", wanted[0]])
    if wanted.startswith("A "):
        return low[0] in ("AS", "AD", "AC", "AH", "JOKER") and low[1] == wanted[2:]
    return set(low) == set(wanted.split())


@pytest.mark.parametrize(("cards", "low", "rule"), CASES)
def test_line(cards: str, low: str, rule: str) -> None:
    setting = WAY.set_hands(parse_cards(cards), "second")
    assert setting.rule.removeprefix("004 House Way, ") in rule.split("|")
    got = labels(setting.low)
    assert any(fits(got, wanted) for wanted in low.split("|")), got
    assert set(setting.low) | set(setting.high) == set(parse_cards(cards))


def test_the_straight_stays_high_where_the_document_says_so() -> None:
    setting = WAY.set_hands(parse_cards("9S 9D 8C 7H 6S 5D 2C"), "second")
    assert rank_five(setting.high).name == "straight, nine high"
    royal = WAY.set_hands(parse_cards("AH KH QH JH TH 9D 8C"), "second")
    assert rank_five(royal.high).name == "straight, queen high"


def test_four_aces_split_with_the_joker_high_make_a_straight() -> None:
    setting = WAY.set_hands(parse_cards("AS AD AC JOKER KD QC JH"), "second")
    assert rank_five(setting.high).name == "straight, ace high"


def test_why_is_told() -> None:
    setting = WAY.set_hands(parse_cards("AS TD TC 2H 2C 9D 3S"), "second")
    assert setting.why == (
        "tens and twos, one of them sevens to tens: split in spite of the ace, "
        "the lower pair goes low"
    )


@pytest.mark.parametrize("cards", ["AS KD", "AS AS KD QH JC 9D 2C", "AS KD QH JC 9D 7S 5H 2C"])
def test_seven_different_cards_are_needed(cards: str) -> None:
    with pytest.raises(HandError, match="seven different cards"):
        WAY.set_hands(parse_cards(cards), "second")


def test_an_unknown_house_way_is_refused_with_the_known_ones() -> None:
    rules = TableRules(game="g", house_way="own")
    with pytest.raises(FeltwatchError, match=r"house_way: no house way 'own'.*document_004"):
        house_way_for(rules)
    assert house_way_for(TableRules(game="g")) is WAY


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


@pytest.mark.parametrize("way", HOUSE_WAYS)
@settings(max_examples=400, deadline=None)
@given(
    cards=SEVEN | FEW_RANKS | ONE_SUIT,
    order=st.randoms(use_true_random=False),
    wheel=st.sampled_from(["second", "lowest"]),
)
def test_always_legal_unfouled_and_the_same_for_every_order(
    way: str, cards: list[Card], order: object, wheel: Wheel
) -> None:
    setting = HOUSE_WAYS[way].set_hands(cards, wheel)
    assert sorted((*setting.low, *setting.high)) == sorted(cards)
    low, high = rank_two(setting.low), rank_five(setting.high, wheel)
    assert not is_foul(low, high)
    shuffled = list(cards)
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    assert HOUSE_WAYS[way].set_hands(shuffled, wheel) == setting
    assert setting.same_hands(setting.low, setting.high, wheel)


def test_what_counts_as_the_same_setting() -> None:
    setting = WAY.set_hands(parse_cards("JS JD JC JH AS QD 9C"), "second")
    other_jacks = parse_cards("JC JH"), parse_cards("JS JD AS QD 9C")
    assert setting.same_hands(*other_jacks, "second")
    assert not setting.same_hands(parse_cards("AS QD"), parse_cards("JS JD JC JH 9C"), "second")
    assert not setting.same_hands(parse_cards("JS"), parse_cards("JD JC JH AS QD 9C"), "second")


def test_splits_tell_a_foul() -> None:
    assert Split.of(parse_cards("AS AD"), parse_cards("KS KD QH 9C 2D"), "second").foul
