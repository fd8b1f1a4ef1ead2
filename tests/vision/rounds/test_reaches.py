from __future__ import annotations

import pytest

from vision.detect.arms import Arm
from vision.rounds.procedure.reaches import (
    OWN_CARDS_S,
    SECOND_HAND,
    SECOND_HAND_S,
    one_players,
    reaches,
    with_arms,
    with_hides,
)
from vision.rounds.procedure.seat_steps import SeenStep
from vision.rounds.round_state import ArmHides, ArmOver, Episode


def step(seat: int, name: str, from_s: float) -> SeenStep:
    return SeenStep(seat, name, (Episode(from_s, until_s=from_s + 1.0),), in_order=True)


def arm(at_s: float, over: int, share: float = 0.6, seat: int = 2) -> ArmOver:
    return ArmOver(seat, over, share, at_s, b"" if over == seat else f"{at_s}".encode())


STEPS = {
    2: [step(2, "dealt", 8.0), step(2, "set", 12.0), step(2, "shown", 30.0)],
    3: [step(3, "dealt", 9.0), step(3, "set", 14.0), step(3, "shown", 32.0)],
}
THEIRS = arm(13.8, 3, seat=3)
"""The neighbour sets the own hand."""
OWN = arm(19.4, 2)


def test_an_arm_that_goes_from_its_own_cards_to_a_set_hand_is_a_reach() -> None:
    arms = [THEIRS, OWN, arm(19.8, 3, 0.3), arm(20.0, 3, 0.6), arm(20.2, 3, 0.4), arm(20.8, 2)]
    (reach,) = reaches(arms, STEPS)
    assert (reach.seat, reach.shown) == (2, arms[3])
    move = reach.move
    assert (move.kind, move.cards, move.to_seat) == ("reach", (), 3)
    assert (move.before_s, move.after_s) == ("19.800", "20.200")


def test_the_own_hand_need_not_be_seen_set_but_not_yet_shown() -> None:
    arms = [THEIRS, OWN, arm(20.0, 3)]
    own = [step(2, "dealt", 8.0), step(2, "set", 21.0)]
    assert len(reaches(arms, STEPS | {2: own})) == 1
    # Without a hand there is nothing to exchange.
    assert reaches(arms, STEPS | {2: [step(2, "bets", 3.0)]}) == []
    assert reaches(arms, STEPS | {2: [*STEPS[2][:2], step(2, "shown", 19.0)]}) == []


@pytest.mark.parametrize("at_s", [9.5, 33.0])
def test_a_hand_that_does_not_lie_set_may_be_reached_for(at_s: float) -> None:
    theirs = arm(9.0, 3, seat=3)
    assert reaches([theirs, arm(at_s - 0.4, 2), arm(at_s, 3)], STEPS) == []


def test_without_the_own_cards_it_is_no_exchange() -> None:
    assert reaches([THEIRS, arm(20.0, 3)], STEPS) == []
    assert reaches([THEIRS, arm(20.0, 3), arm(20.1 + OWN_CARDS_S, 2)], STEPS) == []
    assert len(reaches([THEIRS, arm(20.0, 3), arm(19.9 + OWN_CARDS_S, 2)], STEPS)) == 1
    # The neighbour's own arm is no sign of it.
    assert reaches([THEIRS, arm(19.8, 3, seat=3), arm(20.0, 3)], STEPS) == []


def test_a_hand_that_only_the_neighbours_arm_was_over_may_be_the_neighbours_second_one() -> None:
    own = [OWN, arm(20.0, 3), arm(20.4, 2)]
    assert reaches(own, STEPS) == []
    assert reaches([*own, arm(22.0, 3, seat=3)], STEPS) == []
    assert len(reaches([THEIRS, *own], STEPS)) == 1


def test_a_hand_that_was_handled_from_a_third_chair_is_not_the_reachers() -> None:
    # The player of hand 3 sits so that all arms come over the edge beyond seat 4.
    before = [arm(13.0 + k / 5, 3, seat=4) for k in range(3)]
    (reach,) = reaches([*before, OWN, arm(20.0, 3)], STEPS)
    assert (reach.seat, reach.shown.over) == (2, 3)
    assert reaches([*before[:2], OWN, arm(20.0, 3)], STEPS) == []
    # The player of hand 2 was over it too.
    assert reaches([*before, arm(13.8, 3), OWN, arm(20.0, 3)], STEPS) == []


def test_an_arm_that_comes_from_the_chair_before_its_hand_is_that_hands() -> None:
    # The player of hand 3 sits so that the arm comes over the edge beyond seat 2.
    steps = {2: STEPS[2], 3: STEPS[3], 4: [step(4, "set", 15.0)]}
    sets = [arm(at_s, 3) for at_s in (13.0, 13.2, 13.4)]
    theirs = arm(14.8, 4, seat=4)
    exchange = [arm(20.0, 3), arm(20.2, 4)]
    (reach,) = reaches([arm(11.8, 2), *sets, theirs, *exchange], steps)
    assert (reach.seat, reach.shown, reach.move.to_seat) == (3, exchange[1], 4)
    # A hand over which it was too seldom, or another's arm too, is none that it handles.
    assert reaches([*sets[1:], theirs, *exchange], steps) == []
    assert reaches([*sets, arm(13.8, 3, seat=3), theirs, *exchange], steps) == []
    # Nor is it one over which it came in this reach for the first time.
    late = [arm(at_s, 3) for at_s in (19.4, 19.6, 19.8)]
    assert reaches([theirs, *late, *exchange], steps) == []


def test_each_pair_of_seats_is_reported_once_with_its_first_reach() -> None:
    arms = [THEIRS, OWN, arm(20.0, 3), arm(24.0, 2), arm(24.4, 3, 0.9)]
    (reach,) = reaches(arms, STEPS)
    assert (reach.from_s, reach.until_s) == (20.0, 20.0)
    other = {1: [step(1, "set", 11.0)]}
    all_set = [arm(10.8, 1, seat=1), THEIRS, OWN]
    both = reaches([*all_set, arm(20.0, 3), arm(20.2, 1)], STEPS | other)
    assert [reach.shown.over for reach in both] == [3, 1]


def test_of_one_reach_the_best_image_is_kept() -> None:
    arms: list[ArmOver] = []
    for seen in (OWN, arm(20.0, 3, 0.3), arm(20.2, 3, 0.6), arm(20.4, 3, 0.5), arm(24.0, 3, 0.4)):
        arms = with_arms(arms, [seen])
    assert [one.share for one in arms] == [0.6, 0.3, 0.6, 0.5, 0.4]
    assert [bool(one.picture) for one in arms] == [False, False, True, False, True]


def test_seats_without_steps_are_in_no_reach() -> None:
    assert reaches([arm(10.0, 5, seat=5), OWN, arm(20.0, 5)], STEPS) == []


def test_two_hands_over_which_one_players_arm_was_are_that_players() -> None:
    own = [arm(10.0, 2), arm(18.0, 2)]
    second = [arm(12.0 + k * SECOND_HAND_S / (SECOND_HAND - 1), 3) for k in range(SECOND_HAND)]
    assert one_players([*own, *second]) == {2: 2, 3: 2}
    # Too few, in one reach, without the first hand, or with another's arm it is not known.
    assert one_players([*own, *second[:2], *second[3:]]) == {}
    assert one_players([*own, *second[:-1], arm(second[-1].at_s - 0.2, 3)]) == {}
    assert one_players(second) == {}
    assert one_players([*own, *second, arm(18.0, 3, seat=3)]) == {}
    assert one_players([*own, *second, arm(18.0, 3, seat=4)]) == {}


def test_what_an_arm_hides_is_kept_from_when_to_when() -> None:
    seat = Arm(2, {2: 0.4}, ((2, "main"),))
    dealer = Arm(None, {}, ((2, "main"), (3, "main")))
    hides: list[ArmHides] = []
    for at_s, arms in (
        (1.0, [seat]),
        (1.2, [seat, dealer]),
        (1.4, []),
        (1.6, [seat]),
        (9.0, [seat]),
    ):
        hides = with_hides(hides, arms, at_s)
    found = {(one.by, one.seat, one.what, one.from_s, one.until_s) for one in hides}
    assert found == {
        (2, 2, "cards", 1.0, 1.6), (2, 2, "main", 1.0, 1.6),
        (2, 2, "cards", 9.0, 9.0), (2, 2, "main", 9.0, 9.0),
        (None, 2, "main", 1.2, 1.2), (None, 3, "main", 1.2, 1.2),
    }  # fmt: skip
