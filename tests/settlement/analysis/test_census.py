"""The exact counts over all 154,143,080 hands, and over all pairs of hands."""

from __future__ import annotations

from itertools import product
from math import comb, sqrt

import numpy as np
import pytest

from settlement.analysis.census import (
    PAIRS_OF_HANDS,
    _suits,
    ace_high_pairs,
    census,
    row_counts,
)
from settlement.analysis.classes import SEVEN_CARD_HANDS, seven_card_classes
from settlement.analysis.patterns import JOKER_INDEX
from settlement.analysis.vector import feature_bits, features_many
from settlement.features import PAI_GOW, TREASURE
from settlement.rules import Readings
from tests.settlement.counts import PAI_GOW_COUNTS, TREASURE_COUNTS

WASHINGTON = [
    "seven_card_straight_flush_natural",
    "royal_flush_with_suited_ace_king",
    "seven_card_straight_flush_joker",
    "five_aces",
    "royal_flush_natural",
    "royal_flush",
    "straight_flush",
    "four_of_a_kind",
    "three_pair",
    "full_house",
]
"""The rows of 003, Appendix E, PT-BJS-EC-ET-05."""


def test_treasure_in_the_order_of_its_pay_tables() -> None:
    assert row_counts(TREASURE) == TREASURE_COUNTS


def test_pai_gow() -> None:
    assert row_counts(PAI_GOW) == PAI_GOW_COUNTS


def test_the_census_holds_every_hand_once() -> None:
    assert sum(census().values()) == SEVEN_CARD_HANDS
    assert census()[frozenset()] == SEVEN_CARD_HANDS - sum(TREASURE_COUNTS.values()) - sum(
        PAI_GOW_COUNTS.values()
    )


def test_rows_of_one_colour_and_others() -> None:
    rows = row_counts(["nine_high_one_colour", *PAI_GOW])
    assert (rows["nine_high_one_colour"], rows["nine_high"]) == (280, 30_800)
    assert row_counts(["seven_card_straight_flush"]) == {"seven_card_straight_flush": 228}


def test_the_poker_order_gives_straights_and_flushes_before_trips() -> None:
    """ST-17: the same hands, parted otherwise between the three rows."""
    above = ["five_aces", "royal_flush", "straight_flush", "four_of_a_kind", "full_house"]
    lists = (
        [*above, *rest]
        for rest in (
            ("three_of_a_kind", "flush", "straight"),
            ("flush", "straight", "three_of_a_kind"),
        )
    )
    listed, poker = (row_counts(rows) for rows in lists)
    assert sum(listed.values()) == sum(poker.values())
    assert listed["three_of_a_kind"] > poker["three_of_a_kind"]


@pytest.mark.brute
@pytest.mark.parametrize(
    ("reading", "in_treasure", "in_washington", "anywhere"),
    [
        ("exact", 2_862_000, 2_897_856, 2_898_720),
        ("best_hand_only", 2_862_000, 2_862_000, 2_862_000),
        ("with_full_house", 2_862_000, 3_048_336, 3_049_200),
    ],
)
def test_three_pair_by_reading_and_table(
    reading: str, in_treasure: int, in_washington: int, anywhere: int
) -> None:
    """ST-11. Last in a treasure table, '3 Pair' pays 2,862,000 hands by any reading.

    In Washington's tables it stands above Full House: read exactly it pays 2,897,856, with
    the joker straights and flushes; the 864 more hands of three pairs are royal or straight
    flushes, which stand higher.
    """
    readings = Readings.model_validate({"three_pair": reading})
    assert row_counts(TREASURE, readings)["three_pair"] == in_treasure
    assert row_counts(WASHINGTON, readings)["three_pair"] == in_washington
    assert row_counts(["three_pair"], readings)["three_pair"] == anywhere


def test_royal_flushes_without_joker() -> None:
    """HR-8: 180 hands have the joker beside a natural royal and no higher row."""
    strict = Readings(natural_royal="hand_without_joker")
    natural = row_counts(WASHINGTON)["royal_flush_natural"]
    assert natural - row_counts(WASHINGTON, strict)["royal_flush_natural"] == 180
    # Beside each of four royals any two of 47 natural cards, or of those and the joker.
    assert row_counts(["royal_flush_natural"], strict)["royal_flush_natural"] == 4 * comb(47, 2)
    assert row_counts(["royal_flush_natural"])["royal_flush_natural"] == 4 * comb(48, 2)


@pytest.mark.brute
@pytest.mark.parametrize(
    ("readings", "ace_high"),
    [
        (Readings(), 14_430_780),
        (Readings(joker_in_pai_gow="ace"), 16_293_480),
        (Readings(wheel_in_pai_gow="pai_gow"), 14_430_780 + 326_340),
    ],
    ids=["semi-wild", "ace", "wheel"],
)
def test_ace_high_by_reading(readings: Readings, ace_high: int) -> None:
    rows = row_counts(PAI_GOW, readings)
    assert rows == {**PAI_GOW_COUNTS, "ace_high": ace_high}
    assert sum(ace_high_pairs(readings).values()) == ace_high * comb(46, 7)


def test_ace_high_with_the_joker() -> None:
    """Of 14,430,780 ace-high pai gows 1,485,960 have the joker."""
    classes = seven_card_classes()
    joker = (classes.representatives == JOKER_INDEX).any(axis=1)
    bits = features_many(classes.representatives)
    held = (bits & feature_bits("ace_high") != 0) & joker
    assert int(classes.counts[held].sum()) == 1_485_960


@pytest.mark.brute
def test_ace_high_pairs_are_what_dealing_gives() -> None:
    """Two million deals: every row within four standard errors."""
    deals, batch = 2_000_000, 200_000
    rng = np.random.default_rng(20)
    found = dict.fromkeys(ace_high_pairs(), 0)
    ace = feature_bits("ace_high")
    for _ in range(deals // batch):
        order = rng.random((batch, 53), np.float32).argpartition(14, axis=1)[:, :14]
        order = rng.permuted(order, axis=1)
        dealer, player = order[:, :7], order[:, 7:]
        ace_high = features_many(dealer) & ace != 0
        both = ace_high & (features_many(player) & ace != 0)
        joker = (dealer == JOKER_INDEX).any(axis=1)
        found["player_and_dealer_ace_high"] += int(both.sum())
        found["dealer_ace_high_with_joker"] += int((ace_high & ~both & joker).sum())
        found["dealer_ace_high_without_joker"] += int((ace_high & ~both & ~joker).sum())
    for row, count in ace_high_pairs().items():
        share = count / PAIRS_OF_HANDS
        error = sqrt(share * (1 - share) / deals)
        assert abs(found[row] / deals - share) < 4 * error, row


@pytest.mark.parametrize(("common", "most"), [(0, 3), (3, 3), (5, 4), (5, 3)])
def test_suits_of_two_hands_as_by_trying_all(common: int, most: int) -> None:
    hands = np.array(list(product(range(4), repeat=5)))
    counts = np.stack([(hands == suit).sum(axis=1) for suit in range(4)]).max(axis=0)
    dealer, player = hands[counts <= most], hands[counts <= 4]
    clash = (dealer[:, None, :common] == player[None, :, :common]).any(axis=2)
    assert _suits(5, 5, common, most) == int((~clash).sum())
