"""Stakes in two stacks, the second of which stands at the edge of the spot or beside it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.vision.rounds.readings import TABLE, reading, stack
from vision.chips.reading import ReadStack
from vision.rounds.round_state import Episode
from vision.rounds.split_stakes import with_second_stacks, with_sensor_pays
from vision.rounds.view_reader import ViewReading

X, Y = TABLE.seats[0].spots["main"].center_mm


def chips(colours: str, off_mm: float) -> ReadStack:
    """A stack so far to the right of the main spot's middle."""
    return replace(stack(colours), center_mm=(X + off_mm, Y))


def settled(readings: list[ViewReading], *before: ViewReading) -> ViewReading:
    """The last reading of a seat as it counts, after `before` and the hand turned up."""
    episodes = [Episode(0.0, list(before)), Episode(9.0, readings)]
    return with_second_stacks(episodes, 1)[-1].readings[-1]


WHITE, RED, PAID = "white " * 8, "red " * 7, "red red red"


@pytest.mark.parametrize("beside", [True, False])
def test_a_stack_at_the_edge_of_the_spot_stays_a_stake(beside: bool) -> None:
    # It is read 23.9 mm off the middle before the hand is turned up, and 24.1 mm off afterwards.
    first, second = chips(WHITE.strip(), -23.9), chips(RED.strip(), 27.0)
    before = reading(
        stakes={"main": [first] if beside else [first, second]},
        pays={"main": [second]} if beside else {},
    )
    later = replace(first, center_mm=(X - 24.1, Y))
    paid = chips(PAID, -86.0)
    read = settled([reading(pays={"main": [later, second, paid]})], before, before)
    assert read.stakes["main"] == (later, second)
    assert read.pays["main"] == (paid,)


def test_a_pay_that_comes_beside_the_stake_is_no_stake() -> None:
    staked = reading(stakes={"main": [chips(WHITE.strip(), 0.0)]})
    paid = chips(PAID, 45.0)
    last = reading(stakes=staked.stakes, pays={"main": [paid]})
    read = settled([last], staked, staked)
    assert (read.stakes, read.pays) == (staked.stakes, {"main": (paid,)})


SENSOR = "pai_gow_insurance_progressive"
# Read as "green" with 0.13 at shift 5 of "feltwatch catalogue judge 2026-11-30 x".
LAMP = reading(stakes={SENSOR: [stack("green", 0.13)]})
COIN = reading(stakes={SENSOR: [stack("white")]})
PRIZE = reading(stakes={SENSOR: [stack("red red", 0.7)]})


def on_sensor(*rests: list[ViewReading], shown: int = 1) -> list[ViewReading]:
    """The last reading of each rest as it counts, the hand turned up in the second."""
    episodes = [Episode(9.0 * k, own) for k, own in enumerate(rests)]
    return [e.readings[-1] for e in with_sensor_pays(episodes, shown)]


def test_a_prize_on_a_lit_sensor_is_its_pay() -> None:
    first, lit, last = on_sensor([COIN, COIN, LAMP], [LAMP, LAMP], [PRIZE, PRIZE])
    assert (first.stakes, lit.stakes, last.stakes) == ({}, {}, {})
    assert last.pays == {SENSOR: PRIZE.stakes[SENSOR]}


def test_a_prize_that_lies_as_soon_as_the_hand_is_shown_is_a_pay() -> None:
    bare = reading()
    rests = ([COIN, COIN], [bare, bare], [PRIZE, PRIZE], [PRIZE, PRIZE])
    first, _, shown, last = on_sensor(*rests, shown=2)
    assert first.stakes == COIN.stakes
    for own in (shown, last):
        assert (own.stakes, own.pays) == ({}, {SENSOR: PRIZE.stakes[SENSOR]})
    # The coin may come back, or never have been read.
    for one in (COIN, bare):
        first, _, shown, _ = on_sensor([one, one], [bare, bare], [COIN, COIN], [bare], shown=2)
        assert (shown.stakes, shown.pays) == (COIN.stakes, {})


def test_a_coin_that_was_not_taken_in_stays_a_stake() -> None:
    *_, last = on_sensor([COIN, COIN], [COIN, COIN], [PRIZE, PRIZE])
    assert (last.stakes, last.pays) == (PRIZE.stakes, {})


def test_what_is_hardly_read_stays_where_no_coin_was_read() -> None:
    first, _, last = on_sensor([LAMP, LAMP], [LAMP, LAMP], [LAMP, LAMP])
    assert (first.stakes, last.stakes, last.pays) == (LAMP.stakes, LAMP.stakes, {})
