from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets.chipwork import STACK_CHIPS, in_stacks, make_change, pay_stacks, value_cents
from datasets.dealing import deal, fouls, four_of_a_kind, house_way, other_ways
from datasets.layouts import Habit, card_corners, face_up_row, index_shows, overlap
from datasets.mistakes import slips
from datasets.motion import Arm, Stop, Timeline, hand_at
from datasets.scene import CardItem, StackItem
from settlement.cards import parse_cards
from settlement.errors import FeltwatchError
from settlement.hands import is_foul, rank_five, rank_two
from settlement.houseways import house_way_for
from settlement.record import DECK_LABELS
from tests.datasets.play_checks import RULES, TABLE
from vision.layout import CHIPS
from vision.table import ChipKind, Place

_seven = st.lists(st.sampled_from(DECK_LABELS), min_size=7, max_size=7, unique=True).map(tuple)


@given(dollars=st.integers(0, 6000))
def test_change_is_exact_and_greedy(dollars: int) -> None:
    chips = make_change(dollars * 100, CHIPS)
    assert value_cents(chips, CHIPS) == dollars * 100
    assert len(chips) <= 21 + dollars // 1000
    stacks = pay_stacks("main", chips, CHIPS)
    assert sum(len(stack) for stack in stacks) == len(chips)
    if len(chips) <= 2 * STACK_CHIPS:
        assert all(len(stack) <= STACK_CHIPS for stack in stacks)


def test_change_looks_past_the_greedy_choice() -> None:
    kinds = {
        "a": ChipKind(value_cents=250, rgb=(0, 0, 0)),
        "b": ChipKind(value_cents=100, rgb=(0, 0, 0)),
    }
    assert make_change(300, kinds) == ("b", "b", "b")
    with pytest.raises(FeltwatchError, match="50 cents cannot be laid"):
        make_change(50, kinds)


def test_stacks_have_the_largest_chips_at_the_bottom() -> None:
    assert in_stacks(("white", "black", "red"), CHIPS) == (("black", "red", "white"),)
    assert [len(s) for s in in_stacks(("red",) * 14, CHIPS, 2)] == [10, 4]
    assert [len(s) for s in in_stacks(("red",) * 14, CHIPS, 1)] == [14]


def test_slips_change_the_sum_the_right_way() -> None:
    paid = ("green", "red", "white")
    for over in (True, False):
        sums = [value_cents(chips, CHIPS) for chips in slips(paid, TABLE, over=over)]
        assert len(sums) >= 5
        assert all((s > 3100) == over and s != 3100 and s > 0 for s in sums)
    assert slips(("white",), TABLE, over=False) == []


@given(seven=_seven)
def test_other_ways_are_legal_and_worth_something_else(seven: tuple[str, ...]) -> None:
    way = house_way_for(RULES).set_hands(
        parse_cards(seven), RULES.ranking, RULES.house_way_readings
    )
    for setting in other_ways(seven, RULES):
        low, high = parse_cards(setting.low), parse_cards(setting.high)
        assert sorted((*setting.low, *setting.high)) == sorted(seven)
        assert not is_foul(rank_two(low), rank_five(high, RULES.ranking))
        assert not way.same_hands(low, high, RULES.ranking)


@given(seven=_seven)
def test_fouls_are_fouls(seven: tuple[str, ...]) -> None:
    for setting in fouls(seven, RULES):
        low, high = parse_cards(setting.low), parse_cards(setting.high)
        assert is_foul(rank_two(low), rank_five(high, RULES.ranking))
    ours = house_way(seven, RULES)
    assert ours not in fouls(seven, RULES)


def test_a_deal_has_every_card_once_and_keeps_what_is_rigged() -> None:
    rng = random.Random(4)
    four = four_of_a_kind(rng)
    dealt = deal([1, 3, 5], rng, rigged={3: four})
    cards = [*dealt.dealer, *(c for hand in dealt.seats.values() for c in hand)]
    assert len(set(cards)) == len(cards) == 28
    assert set(four) <= set(dealt.seats[3])


@given(seed=st.integers(0, 10**6), turn=st.floats(-180, 180))
def test_rows_show_every_index_whoever_lays_them(seed: int, turn: float) -> None:
    rng = random.Random(seed)
    habit = Habit.draw(rng)
    place = Place(center_mm=(500.0, 500.0), angle_deg=turn)
    keyed = [(f"k{n}", label) for n, label in enumerate(("AS", "KD", "9H", "9C", "2D"))]
    row = face_up_row(place, keyed, habit.five_step_mm, habit, rng)
    assert [card.label for card in row] == [label for _, label in keyed]
    assert all(index_shows(card, row[n + 1 :]) for n, card in enumerate(row))
    assert not index_shows(row[1], row[:1])


def test_a_row_without_room_is_refused() -> None:
    rng = random.Random(1)
    habit = Habit.draw(rng)
    place = Place(center_mm=(500.0, 500.0))
    there = CardItem("x", "2C", (500.0, 500.0), 0.0, True)
    with pytest.raises(FeltwatchError, match="no room"):
        face_up_row(place, [("k", "AS")], (20.0, 20.0), habit, rng, free_of=[there])


def test_card_corners_turn_with_the_card() -> None:
    flat = card_corners(CardItem("x", "2C", (0.0, 0.0), 0.0, True))
    assert flat.tolist() == [[-31.5, -44.0], [31.5, -44.0], [31.5, 44.0], [-31.5, 44.0]]
    turned = card_corners(CardItem("x", "2C", (0.0, 0.0), 90.0, True))
    assert turned[0] == pytest.approx([44.0, -31.5])
    assert overlap(flat, turned) == pytest.approx(63 * 63, rel=0.01)


def test_a_reach_changes_things_while_the_hand_is_there() -> None:
    timeline = Timeline()
    arm = Arm("dealer", (0.0, -250.0), (0.0, -80.0))
    chip = StackItem("c", (100.0, 300.0), ("red",))
    end = timeline.reach(2.0, arm, [Stop((100.0, 300.0), put=(chip,)), Stop((200.0, 300.0))], 0.2)
    (change,), (reach,) = timeline.changes, timeline.reaches
    assert end == pytest.approx(3.0)
    assert change.t_s == pytest.approx(2.3)
    assert hand_at(reach, change.t_s) == pytest.approx((100.0, 300.0))
    assert hand_at(reach, 2.1) == pytest.approx((50.0, 110.0))
    assert hand_at(reach, 2.7) == pytest.approx((200.0, 300.0))
    assert hand_at(reach, 3.0) == pytest.approx((0.0, -80.0))
    assert hand_at(reach, 3.1) is None
    assert timeline.reach(4.0, arm, [], 0.2) == 4.0
