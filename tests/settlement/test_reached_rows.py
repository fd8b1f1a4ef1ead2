"""Rows of a pay table that no hand ever gets are refused; what takes them is exact."""

from __future__ import annotations

from itertools import permutations

import pytest

from settlement.analysis.census import census
from settlement.errors import FeltwatchError
from settlement.features import PAI_GOW, SEVEN_CARD_CATEGORIES
from settlement.paytables.registry import parse_pay_table, pay_table, pay_table_ids
from settlement.paytables.row import CATEGORIES, row_above
from settlement.rules import Readings

TREASURE = tuple(CATEGORIES["emperors_treasure"])


@pytest.mark.parametrize("readings", [Readings(), Readings(three_pair="with_full_house")])
def test_a_pair_of_rows_is_decided_as_the_count_of_all_hands_does(readings: Readings) -> None:
    held = census(readings)
    for group in (TREASURE, ("nine_high_one_colour", *PAI_GOW)):
        for above, category in permutations(group, 2):
            left = any(category in s and above not in s for s in held)
            assert (row_above(category, [above]) is None) == left, (above, category)


def test_two_rows_may_take_a_third_together() -> None:
    held = census()
    found = [
        (first, second, category)
        for first, second in permutations(TREASURE, 2)
        for category in TREASURE
        if category not in (first, second)
        and first < second
        and row_above(category, [first]) is None
        and row_above(category, [second]) is None
        and not any(category in s and not s & {first, second} for s in held)
    ]
    assert {category for *_, category in found} == {"seven_card_straight_flush"}
    for first, second, category in found:
        assert row_above(category, [first, second]) == second


def test_every_row_that_comes_along_is_reached() -> None:
    for table_id in pay_table_ids():
        assert pay_table(table_id).rows


def own_table(*categories: str, wager: str = "emperors_treasure", order: str = "") -> str:
    rows = ", ".join(
        f'{{ category = "{c}", label = "{SEVEN_CARD_CATEGORIES.get(c, c)}", pay = {n} }}'
        for n, c in enumerate(categories, start=1)
    )
    head = f'id = "X"\nwager = "{wager}"\ndocument = "House rules"\nbasis = "to 1"\n'
    return f"{head}{order}rows = [{rows}]\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            own_table("flush", "royal_flush", "three_pair"),
            r"row 2 \('royal flush'\): is never reached, as 'flush' above it takes every such",
        ),
        (
            own_table("four_of_a_kind", "three_pair", "five_aces"),
            r"row 3 \('five aces'\): is never reached, as 'four of a kind'",
        ),
        (
            own_table("five_aces", "four_of_a_kind", order='printed_order = "lowest_first"\n'),
            r"row 1 \('five aces'\): is never reached, as 'four of a kind'",
        ),
        (
            own_table("nine_high", "nine_high_one_colour", wager="pai_gow_insurance"),
            r"row 2 \('nine-high pai gow of one colour'\): is never reached",
        ),
        (
            own_table(
                "dealer_ace_high_with_joker",
                "dealer_ace_high_without_joker",
                "player_and_dealer_ace_high",
                wager="ace_high_pai_gow_insurance",
            ),
            r"row 3 \('player_and_dealer_ace_high'\): is never reached",
        ),
    ],
)
def test_a_row_that_no_hand_gets_is_refused(text: str, message: str) -> None:
    with pytest.raises(FeltwatchError, match=f"X.toml: {message}"):
        parse_pay_table(text, "X.toml")


def test_rows_that_overlap_in_part_stand() -> None:
    # 002, Appendix C: flush above three of a kind above straight; 003 E: 3 Pair above Full House.
    for categories in (
        ("flush", "three_of_a_kind", "straight"),
        ("three_pair", "full_house"),
        ("full_house", "flush"),
        ("three_of_a_kind", "flush", "straight"),
    ):
        assert len(parse_pay_table(own_table(*categories), "X.toml").rows) == len(categories)
