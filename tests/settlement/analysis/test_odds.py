"""All 154,143,080 hands set by every house way, the shares of each reading, and the odds."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from settlement.analysis.classes import SEVEN_CARD_HANDS, seven_card_classes
from settlement.analysis.odds import (
    DEALER_HOLDS,
    Estimate,
    Odds,
    WayTable,
    deal,
    set_classes,
    simulate,
    way_table,
)
from settlement.analysis.vector import feature_bits, features_many
from settlement.cards import ACE, DECK, parse_cards
from settlement.errors import FeltwatchError
from settlement.hands import STANDARD, HandError, Ranking, is_foul, rank_five, rank_two
from settlement.houseways import HOUSE_WAYS
from settlement.houseways.base import AS_READ, HouseWay
from settlement.rules import HouseWayReadings

TEN_MILLION = 10_000_000
Mask = Any
"""Which classes, bool (k,)."""


@pytest.mark.brute
@pytest.mark.parametrize("way", HOUSE_WAYS)
def test_every_hand_there_is_is_set_legally(way: str) -> None:
    """`way_table` refuses a setting that is not the seven cards; none may be a foul."""
    table = way_table(HOUSE_WAYS[way], STANDARD, AS_READ)
    assert len(table.low) == len(seven_card_classes().counts)
    assert int(seven_card_classes().counts.sum()) == SEVEN_CARD_HANDS
    assert table.fouls == 0


@pytest.mark.brute
@pytest.mark.parametrize("way", HOUSE_WAYS)
def test_classes_stand_for_their_hands_in_any_order(way: str) -> None:
    table = way_table(HOUSE_WAYS[way], STANDARD, AS_READ)
    rng = random.Random(4)
    hands = [rng.sample(range(53), 7) for _ in range(3000)]
    classes = seven_card_classes().class_of(np.array(hands, np.uint8))
    for hand, number in zip(hands, classes.tolist(), strict=True):
        setting = HOUSE_WAYS[way].set_hands([DECK[i] for i in hand], STANDARD, AS_READ)
        low, high = rank_two(setting.low), rank_five(setting.high)
        assert not is_foul(low, high)
        assert (low.order, high.order) == (table.low[number], table.high[number])


def test_a_way_that_loses_a_card_is_refused() -> None:
    way = HOUSE_WAYS["document_004"]

    def _with_low(section: Any) -> Any:
        return lambda seven: replace(section(seven), low=parse_cards("AS KD"))

    wrong = replace(
        way,
        id="wrong",
        sections={kind: _with_low(section) for kind, section in way.sections.items()},
    )
    with pytest.raises(HandError, match="house way 'wrong' does not set the seven cards"):
        set_classes(wrong, np.arange(5), STANDARD, AS_READ)


@cache
def rank_counts() -> NDArray[np.int64]:
    """(k, 13): how many of each rank from 2 up a class holds, the joker an ace."""
    ranks = np.minimum(seven_card_classes().representatives.astype(np.int64) // 4, ACE - 2)
    return np.stack([(ranks == rank).sum(axis=1) for rank in range(13)], axis=1)


@cache
def made() -> Mask:
    features = features_many(seven_card_classes().representatives)
    return (features & np.uint32(feature_bits("straight", "flush"))) != 0


def two_pair_with_ace() -> Mask:
    counts = rank_counts()
    return (np.sort(counts, axis=1)[:, -3:] == (1, 2, 2)).all(axis=1) & (counts[:, -1] == 1)


def high_pair_with_made() -> Mask:
    """One pair of tens or better with a straight or flush."""
    one_pair = (np.sort(rank_counts(), axis=1)[:, -2:] == (1, 2)).all(axis=1)
    return one_pair & (rank_counts()[:, 8:] == 2).any(axis=1) & made()


def three_aces() -> Mask:
    return rank_counts()[:, -1] == 3


def five_aces() -> Mask:
    return rank_counts()[:, -1] == 5


# Hands of the 154,143,080 whose setting is worth something else under the other reading.
SHARES = [
    ("two_pair_with_ace", "high_mid", two_pair_with_ace, 3_369_600),
    ("pair_over_straight", "and", high_pair_with_made, 1_355_880),
    ("pair_over_straight", "ace", high_pair_with_made, 1_170_048),
    ("pair_that_fits_low", "exception", high_pair_with_made, 322_656),
    ("ace_and_joker", "pair", high_pair_with_made, 654_480),
    ("ace_and_joker", "no_pair", high_pair_with_made, 422_508),
    ("three_aces_with_joker", "keep", three_aces, 83_916),
    ("three_aces_with_joker", "three_aces", three_aces, 0),
    ("three_aces_and_pair", "three_aces", three_aces, 657_360),
    ("five_aces_and_pair", "pair_low", five_aces, 66),
    ("three_aces_with_straight", "three_aces", three_aces, 69_740),
]


@pytest.mark.brute
@pytest.mark.parametrize(("field", "reading", "where", "hands"), SHARES)
def test_how_many_hands_a_reading_changes(
    field: str, reading: str, where: Callable[[], Mask], hands: int
) -> None:
    way = HOUSE_WAYS["document_004"]
    numbers = np.flatnonzero(where())
    usual = way_table(way, STANDARD, AS_READ)
    other = set_classes(way, numbers, STANDARD, HouseWayReadings.model_validate({field: reading}))
    changed = (other.low != usual.low[numbers]) | (other.high != usual.high[numbers])
    assert other.fouls == 0
    assert int(seven_card_classes().counts[numbers][changed].sum()) == hands


def test_three_aces_and_a_pair_by_hand() -> None:
    """HW-6 by sums: three of five aces; a pair and two others, or two pairs, of twelve ranks."""
    one = 10 * 12 * 6 * 55 * 16
    two = 10 * 66 * 36
    assert one + two == 657_360


@pytest.mark.brute
def test_the_trump_plaza_way_against_itself() -> None:
    """As published by the Wizard of Odds, in 10 million deals, within 3 standard errors."""
    odds = simulate("trump_plaza", "trump_plaza", TEN_MILLION)
    assert odds.deals == TEN_MILLION
    assert sum(map(sum, odds.outcomes)) == TEN_MILLION
    assert odds.win.error < 0.0002
    assert odds.win.off(0.2861) < 3
    assert odds.push.off(0.4148) < 3
    assert odds.lose.off(0.2991) < 3
    assert odds.dealer_holds("ace_high").off(0.0936194) < 3


@pytest.mark.brute
def test_how_often_a_dealer_holds_a_pai_gow() -> None:
    """14,430,780 ace-high and the other exact counts of the documents' pay tables."""
    odds = simulate("foxwoods", "document_004", 250_000, seed=2)
    counts = (31_080, 248_640, 963_480, 2_719_500, 6_386_940, 14_430_780)
    for what, count in zip(DEALER_HOLDS[1:], counts, strict=True):
        assert odds.dealer_holds(what).off(count / SEVEN_CARD_HANDS) < 4, what
    assert odds.dealer_holds("other").off(1 - sum(counts) / SEVEN_CARD_HANDS) < 4


@pytest.mark.brute
def test_the_same_seed_the_same_deals_and_progress_is_reported() -> None:
    progress: list[int] = []
    first = simulate("foxwoods", "trump_plaza", 40_000, seed=5, progress=progress.append)
    assert first == simulate("foxwoods", "trump_plaza", 40_000, seed=5)
    assert first != simulate("foxwoods", "trump_plaza", 40_000, seed=6)
    assert progress == sorted(progress)
    assert progress[-1] == 40_000


def _dealt_alone(hands: NDArray[np.uint8]) -> Callable[..., WayTable]:
    """A `way_table` of the classes of these hands; all others are left at 0."""
    classes = seven_card_classes()
    numbers = np.unique(classes.class_of(hands)).astype(np.int64)

    def make(way: HouseWay, ranking: Ranking, readings: HouseWayReadings) -> WayTable:
        own = set_classes(way, numbers, ranking, readings)
        low, high = np.zeros((2, len(classes.counts)), np.int32)
        low[numbers], high[numbers] = own.low, own.high
        return WayTable(low, high)

    return make


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.brute)])
def test_against_settling_one_by_one(monkeypatch: pytest.MonkeyPatch, whole: bool) -> None:
    """The vectorised comparison is that of hands set and ranked one at a time.

    The tables of all hands take 20 s of two house ways; those of the hands that are dealt are
    made by the same function.
    """
    deals = 2000
    first, second = deal(np.random.default_rng(8), deals)
    if not whole:
        dealt = _dealt_alone(np.concatenate([first, second]))
        monkeypatch.setattr("settlement.analysis.odds.way_table", dealt)
    odds = simulate("trump_plaza", "document_004", deals, seed=8)
    outcomes = [0, 0, 0]
    low_copies = 0
    for own, others in zip(first.tolist(), second.tolist(), strict=True):
        player = HOUSE_WAYS["trump_plaza"].set_hands([DECK[i] for i in own], STANDARD, AS_READ)
        dealer = HOUSE_WAYS["document_004"].set_hands([DECK[i] for i in others], STANDARD, AS_READ)
        higher = (rank_two(player.low) > rank_two(dealer.low)) + (
            rank_five(player.high) > rank_five(dealer.high)
        )
        outcomes[2 - higher] += 1
        low_copies += rank_two(player.low) == rank_two(dealer.low)
    assert [sum(row[place] for row in odds.outcomes) for place in range(3)] == outcomes
    assert odds.low_copies == low_copies


def test_deals_are_fair() -> None:
    """Each card is as often in each place as any other: chi-square of 14 x 53 cells."""
    deals = 53_000
    first, second = deal(np.random.default_rng(3), deals)
    cards = np.concatenate([first, second], axis=1)
    assert (np.diff(np.sort(cards, axis=1), axis=1) > 0).all()
    expected = deals / 53
    for place in range(14):
        seen = np.bincount(cards[:, place], minlength=53)
        # 52 degrees of freedom: above 110 once in 200,000.
        assert ((seen - expected) ** 2 / expected).sum() < 110


def test_edges() -> None:
    outcomes = ((10, 20, 30), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (4, 3, 1), (12, 18, 2))
    odds = Odds("a", "b", 1, 100, outcomes, 3, 0)
    edges = odds.house_edges()
    assert edges["commission"].value == pytest.approx((33 - 0.95 * 26) / 100)
    assert edges["ace_high_push"].value == pytest.approx((31 - 14) / 100)
    assert edges["king_high_or_less_push"].value == pytest.approx((32 - 22) / 100)
    assert edges["any_pai_gow_pays_half"].value == pytest.approx((33 - 10 - 8) / 100)
    mean = (31 - 14) / 100
    assert edges["ace_high_push"].error == pytest.approx(((45 / 100 - mean**2) / 100) ** 0.5)
    form = odds.to_dict()
    assert form["win"] == Estimate.share(26, 100).to_dict()
    assert form["low_copies"] == Estimate.share(3, 100).to_dict()
    assert set(form["house_edges"]) == set(edges)  # type: ignore[call-overload]
    assert set(form["dealer_holds"]) == set(DEALER_HOLDS)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("player", "dealer", "deals", "message"),
    [
        ("own", "foxwoods", 10, "no house way 'own'; known are: document_004, trump_plaza"),
        ("foxwoods", "own", 10, "no house way 'own'"),
        ("foxwoods", "foxwoods", 0, "at least one deal is needed, not 0"),
    ],
)
def test_what_is_refused(player: str, dealer: str, deals: int, message: str) -> None:
    with pytest.raises(FeltwatchError, match=message):
        simulate(player, dealer, deals)
