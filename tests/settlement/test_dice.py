"""The place that dice name, and a first hand that went elsewhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from settlement.compare.comparison import compare
from settlement.dice import counted_on, first_that_plays
from settlement.record import Dice, DiePlace, RoundRecord, Undecided
from settlement.rules import TableRules
from settlement.settle import settle

SPOTS: tuple[DiePlace, ...] = ("dealer", 1, 2, 3, 4, 5)


@pytest.mark.parametrize("total", [1, 7, 13])
def test_the_dealer_is_spots_1_7_and_13_of_six(total: int) -> None:
    assert counted_on(total, SPOTS)[0] == "dealer"


def test_the_counting_may_begin_at_the_bank_and_run_the_other_way() -> None:
    falling: tuple[DiePlace, ...] = ("dealer", 3, 2, 1)
    assert counted_on(3, falling) == (2, 1, "dealer", 3)
    assert counted_on(3, falling, start=2) == ("dealer", 3, 2, 1)
    with pytest.raises(ValueError, match="0 names no position"):
        counted_on(0, falling)


@st.composite
def tables(draw: st.DrawFn) -> tuple[tuple[DiePlace, ...], DiePlace]:
    seats = draw(st.integers(1, 7))
    positions = draw(st.permutations(["dealer", *range(1, seats + 1)]))
    return tuple(positions), draw(st.sampled_from(positions))


@given(tables(), st.integers(3, 18))
def test_each_place_is_counted_once_and_the_next_total_names_the_next_place(
    table: tuple[tuple[DiePlace, ...], DiePlace], total: int
) -> None:
    positions, start = table
    order = counted_on(total, positions, start)
    assert set(order) == set(positions)
    assert len(order) == len(positions)
    assert counted_on(total + 1, positions, start) == (*order[1:], order[0])
    assert counted_on(total + len(positions), positions, start) == order
    # Counted out one by one, the start as one.
    at = positions.index(start)
    for _ in range(total - 1):
        at = (at + 1) % len(positions)
    assert order[0] == positions[at]


@given(tables(), st.integers(3, 18), st.data())
def test_an_empty_place_gives_the_first_hand_to_the_next_that_plays(
    table: tuple[tuple[DiePlace, ...], DiePlace], total: int, data: st.DataObject
) -> None:
    positions, start = table
    playing = data.draw(st.sets(st.sampled_from(positions), min_size=1))
    order = counted_on(total, positions, start)
    first = first_that_plays(order, playing)
    assert first in playing
    assert not set(order[: order.index(first)]) & playing
    assert first_that_plays(order, ()) is None


def record(dice: Dice | None, game: str = "pai_gow_poker", *doubts: Undecided) -> RoundRecord:
    return RoundRecord(round_id="t1-000001", table="t1", game=game, dice=dice, undecided=doubts)


def found(own: RoundRecord) -> list[tuple[int | None, str, str, str]]:
    rules = TableRules(game=own.game)
    return [
        (f.seat, f.message, f.due, f.rule) for f in compare(own, settle(own, rules), rules)
        if f.code == "PROCEDURE"
    ]  # fmt: skip


def test_a_first_hand_at_another_seat_is_said_in_plain_words() -> None:
    dice = Dice(values=(3, 5, 2), total=10, due=3, first=5, before_due=5)
    ((seat, message, due, rule),) = found(record(dice))
    assert seat == 5
    assert message == (
        "The dice show 3, 5 and 2, in total 10: the first hand goes to seat 3. It went to seat 5."
    )
    assert due == "the first hand to seat 3: the dice show 10"
    assert rule.startswith("004")


def test_a_hand_before_the_one_due_is_enough_and_may_be_the_dealers() -> None:
    dice = Dice(values=(6, 6, 6), total=18, due=4, before_due="dealer")
    ((seat, message, _, rule),) = found(record(dice, "imperial_pai_gow_draw"))
    assert seat is None
    assert message.endswith("the first hand goes to seat 4. Before that the dealer got one.")
    assert "the dealer is spots 1, 7 and 13" in rule


@pytest.mark.parametrize(
    "dice",
    [
        None,
        Dice(values=(3, 5, 2), total=10),
        Dice(values=(3, 5, 2), total=10, due=3, first=3),
        Dice(values=(3, 5, 2), total=10, due=3),
    ],
)
def test_without_a_sure_breach_nothing_is_said(dice: Dice | None) -> None:
    assert found(record(dice)) == []


def test_dice_that_are_not_read_leave_all_else_judged() -> None:
    doubt = Undecided(seat=None, what="dice", why="hidden")
    own = record(None, "pai_gow_poker", doubt)
    rules = TableRules(game=own.game)
    (finding,) = compare(own, settle(own, rules), rules)
    assert (finding.code, "dice: hidden" in finding.message) == ("UNDECIDED", True)
