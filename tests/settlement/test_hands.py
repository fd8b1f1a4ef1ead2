from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from settlement.cards import DECK, Card, parse_cards
from settlement.hands import (
    Category,
    HandError,
    HandRank,
    Ranking,
    Wheel,
    is_foul,
    is_made,
    rank_five,
    rank_two,
)

# Lowest first; neighbours differ by one thing at a time.
LADDER = [
    ("7C 5D 4H 3S 2C", "seven high, five-four-three-two"),
    ("AS QD 4H 3S 2C", "ace high, queen-four-three-two"),
    ("JOKER KD 4H 3S 9C", "ace high, king-nine-four-three"),
    ("2S 2D 5H 4S 3C", "pair of twos, five kicker"),
    ("9H 9C 7S 5D 2C", "pair of nines, seven kicker"),
    ("AS JOKER QD 4H 3C", "pair of aces, queen kicker"),
    ("6S 6D 3H 3S 2C", "two pair, sixes and threes, two kicker"),
    ("KS KD QH QS JOKER", "two pair, kings and queens, ace kicker"),
    ("2S 2D 2H 4S 3C", "three twos, four kicker"),
    ("AS AD JOKER 4S 3C", "three aces, four kicker"),
    ("6S 5D 4H 3S 2C", "straight, six high"),
    ("KS QD JH TS 9C", "straight, king high"),
    ("AS 2D 3H 4S 5C", "straight, ace to five"),
    ("KS QD JH TS JOKER", "straight, ace high"),
    ("7S 5S 4S 3S 2S", "flush, seven high"),
    ("KS JS 9S 4S JOKER", "flush, ace high"),
    ("2S 2D 2H 3S 3C", "full house, twos over threes"),
    ("AS JOKER KH KS KC", "full house, kings over aces"),
    ("AS AD JOKER KH KS", "full house, aces over kings"),
    ("2S 2D 2H 2C 3C", "four twos, three kicker"),
    ("AS AD AC JOKER 3C", "four aces, three kicker"),
    ("2S 3S 4S 5S 6S", "straight flush, six high"),
    ("9S TS JS QS KS", "straight flush, king high"),
    ("AS 2S 3S JOKER 5S", "straight flush, ace to five"),
    ("JOKER KH QH JH TH", "royal flush"),
    ("AS AD AC AH JOKER", "five aces"),
]


@pytest.mark.parametrize(("cards", "name"), LADDER)
def test_names(cards: str, name: str) -> None:
    assert rank_five(parse_cards(cards)).name == name


@pytest.mark.parametrize(("lower", "higher"), list(pairwise(cards for cards, _ in LADDER)))
def test_each_rung_beats_the_one_below(lower: str, higher: str) -> None:
    assert rank_five(parse_cards(lower)) < rank_five(parse_cards(higher))


@pytest.mark.parametrize(
    ("wheel", "below", "above"),
    [("second", "KS QD JH TS 9C", "AS KD QH JS TC"), ("lowest", None, "2S 3D 4H 5S 6C")],
)
def test_the_wheel_is_second_or_lowest(wheel: Wheel, below: str | None, above: str) -> None:
    run = rank_five(parse_cards("AS 2D 3H 4S 5C"), Ranking(wheel))
    assert run < rank_five(parse_cards(above), Ranking(wheel))
    assert below is None or rank_five(parse_cards(below), Ranking(wheel)) < run


def test_the_joker_before_2_to_5_is_the_ace_or_the_six() -> None:
    cards = parse_cards("JOKER 2D 3H 4S 5C")
    assert rank_five(cards, Ranking("second")).name == "straight, ace to five"
    assert rank_five(cards, Ranking("lowest")).name == "straight, six high"


def test_the_joker_in_a_flush_with_the_ace_is_the_highest_card_not_held() -> None:
    flush = rank_five(parse_cards("AS KS 9S 4S JOKER"))
    assert flush == HandRank(Category.FLUSH, (14, 13, 12, 9, 4))


@pytest.mark.parametrize(
    ("cards", "name"),
    [
        ("AS KD", "ace-king"),
        ("3D JOKER", "ace-three"),
        ("AS JOKER", "pair of aces"),
        ("6S 6D", "pair of sixes"),
    ],
)
def test_low_hands(cards: str, name: str) -> None:
    assert rank_two(parse_cards(cards)).name == name


def test_a_pair_beats_any_high_cards_in_the_low_hand() -> None:
    assert rank_two(parse_cards("2S 2D")) > rank_two(parse_cards("AS KD"))


@pytest.mark.parametrize(
    ("low", "high", "foul"),
    [
        ("JS JD", "JH JC 9S 4D 2C", False),
        ("AS KD", "AH KC 9S 4D 2C", False),
        ("AS KD", "AH QC 9S 4D 2C", True),
        ("2S 2D", "AH KC 9S 4D 3C", True),
        ("JS JD", "TH TC 9S 4D 2C", True),
        ("AS JOKER", "KH KC 9S 9D 2C", False),
        ("AS JOKER", "KH KC 9S 8D 2C", True),
        ("AS AD", "7H 6C 5S 4D 3C", False),
    ],
)
def test_foul(low: str, high: str, foul: bool) -> None:
    assert is_foul(rank_two(parse_cards(low)), rank_five(parse_cards(high))) is foul


@pytest.mark.parametrize(
    ("cards", "made"),
    [
        ("6S 5D 4H 3S 2C", True),
        ("7S 5S 4S 3S 2S", True),
        ("JOKER KH QH JH TH", True),
        ("AS AD AC AH JOKER", False),
        ("2S 2D 2H 3S 3C", False),
    ],
)
def test_made_hands_are_straights_and_flushes(cards: str, made: bool) -> None:
    assert is_made(rank_five(parse_cards(cards))) is made


@pytest.mark.parametrize("cards", ["AS KD QH JC", "AS AS KD QH JC", ""])
def test_high_hands_need_five_different_cards(cards: str) -> None:
    with pytest.raises(HandError, match="a high hand has 5 different cards"):
        rank_five(parse_cards(cards))


def test_six_cards_one_of_them_twice_are_no_hand() -> None:
    with pytest.raises(HandError, match="not 5: AS AS KD QH JC 9S"):
        rank_five(parse_cards("AS AS KD QH JC 9S"))


def test_low_hands_need_two_different_cards() -> None:
    with pytest.raises(HandError, match="not 1: AS AS"):
        rank_two(parse_cards("AS AS"))


@pytest.mark.parametrize(
    ("cards", "ranks"),
    [
        ("AS KS 9S 4S JOKER", (14, 14, 13, 9, 4)),
        ("QS KS 9S 4S JOKER", (14, 13, 12, 9, 4)),
    ],
)
def test_the_joker_in_a_flush_as_another_ace(cards: str, ranks: tuple[int, ...]) -> None:
    ranking = Ranking(joker_in_flush="ace")
    flush = rank_five(parse_cards(cards), ranking)
    assert flush == HandRank(Category.FLUSH, ranks)
    assert flush.name == "flush, ace high"


def test_a_flush_with_two_aces_beats_every_flush_with_one() -> None:
    ranking = Ranking(joker_in_flush="ace")
    two_aces = rank_five(parse_cards("AS 6S 3S 2S JOKER"), ranking)
    one_ace = rank_five(parse_cards("AH KH QH JH 9H"), ranking)
    assert one_ace < two_aces < rank_five(parse_cards("2S 2D 2H 3S 3C"), ranking)


def test_the_joker_completes_a_straight_flush_whatever_it_is_in_a_flush() -> None:
    for joker in ("highest_missing", "ace"):
        rank = rank_five(parse_cards("AS KS QS TS JOKER"), Ranking(joker_in_flush=joker))
        assert rank.category is Category.ROYAL_FLUSH


FIVE = st.lists(st.sampled_from(DECK), min_size=5, max_size=5, unique=True)
TWO = st.lists(st.sampled_from(DECK), min_size=2, max_size=2, unique=True)
RANKS = st.one_of(FIVE.map(rank_five), TWO.map(rank_two))


@given(RANKS, RANKS)
def test_the_order_is_that_of_category_and_ranks(one: HandRank, other: HandRank) -> None:
    plain = ((r.category, r.ranks) for r in (one, other))
    first, second = plain
    assert (one.order < other.order) == (one < other) == (first < second)
    assert (one.order == other.order) == (one == other) == (first == second)
    assert one != other or hash(one) == hash(other)


@given(FIVE, st.permutations(range(5)))
def test_the_order_of_the_cards_is_nothing(cards: list[Card], order: list[int]) -> None:
    assert rank_five([cards[i] for i in order]) is rank_five(cards)


def plain_rank(ranks: list[int], suits: list[str], wheel: Wheel) -> HandRank:
    """Five natural cards ranked the long way, for checking."""
    count = sorted(((ranks.count(r), r) for r in set(ranks)), reverse=True)
    order = tuple(r for _, r in count)
    highs = [5, *range(6, 15)] if wheel == "lowest" else [*range(6, 14), 5, 14]
    runs = {
        frozenset(range(h - 4, h + 1)) if h > 5 else frozenset({14, 2, 3, 4, 5}): (i, h)
        for i, h in enumerate(highs)
    }
    run = runs.get(frozenset(ranks)) if len(count) == 5 else None
    flush = len(set(suits)) == 1
    if run and flush:
        return HandRank(Category.ROYAL_FLUSH if run[1] == 14 else Category.STRAIGHT_FLUSH, run)
    if flush:
        return HandRank(Category.FLUSH, order)
    if run:
        return HandRank(Category.STRAIGHT, run)
    kinds = {
        (5,): Category.FIVE_ACES,
        (4, 1): Category.FOUR_OF_A_KIND,
        (3, 2): Category.FULL_HOUSE,
        (3, 1, 1): Category.THREE_OF_A_KIND,
        (2, 2, 1): Category.TWO_PAIR,
        (2, 1, 1, 1): Category.PAIR,
        (1, 1, 1, 1, 1): Category.HIGH_CARD,
    }
    return HandRank(kinds[tuple(n for n, _ in count)], order)


MADE = {Category.STRAIGHT, Category.FLUSH, Category.STRAIGHT_FLUSH, Category.ROYAL_FLUSH}


def every_joker(cards: list[Card], wheel: Wheel) -> HandRank:
    """The best rank over all that the joker may stand for."""
    natural = [card for card in cards if not card.joker]
    ranks, suits = [c.rank for c in natural], [c.suit for c in natural]
    if len(natural) == 5:
        return plain_rank(ranks, suits, wheel)
    found = [plain_rank([*ranks, 14], [*suits, "?"], wheel)]
    for card in DECK[:-1]:
        if card not in natural:
            rank = plain_rank([*ranks, card.rank], [*suits, card.suit], wheel)
            if rank.category in MADE:
                found.append(rank)
    return max(found)


@given(
    st.lists(st.sampled_from(DECK), min_size=4, max_size=4, unique=True),
    st.sampled_from(DECK),
    st.sampled_from(["second", "lowest"]),
)
def test_every_hand_ranks_as_by_trying_all_cards_for_the_joker(
    four: list[Card], fifth: Card, wheel: Wheel
) -> None:
    for last in {fifth, DECK[-1]} - set(four):
        cards = [*four, last]
        assert rank_five(cards, Ranking(wheel)) == every_joker(cards, wheel)


SUITED = st.builds(
    lambda suit, ranks, rest: [Card(r, suit) for r in ranks] + rest,
    st.sampled_from("CDHS"),
    st.lists(st.integers(2, 14), min_size=4, max_size=4, unique=True),
    st.just([DECK[-1]]),
)


@given(SUITED, st.sampled_from(["second", "lowest"]))
def test_joker_flushes_rank_as_by_trying_all_cards(cards: list[Card], wheel: Wheel) -> None:
    assert rank_five(cards, Ranking(wheel)) == every_joker(cards, wheel)
