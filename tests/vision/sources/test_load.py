"""Fewer frames a second, evenly, when they take more time than passes."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from vision.sources.load import CALM_S, WINDOW_S, LoadPlan

EVERY_S = 0.2


@dataclass
class Machine:
    """A machine on which a frame takes some time; frames come at the interval of the plan."""

    now: float = 0.0
    lost: int = 0
    plan: LoadPlan = field(init=False)
    steps: list[tuple[float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.plan = LoadPlan(EVERY_S, clock=lambda: self.now)

    def run(self, seconds: float, frame_s: float) -> None:
        end = self.now + seconds
        while self.now < end:
            every_s = self.plan.every_s
            self.now += max(every_s, frame_s)
            self.lost += frame_s > every_s
            self.plan.note(frame_s, self.lost)
            if not self.steps or self.steps[-1][1] != self.plan.every_s:
                self.steps.append((self.now, self.plan.every_s))


def test_a_machine_that_keeps_up_takes_every_frame() -> None:
    machine = Machine()
    machine.run(600, 0.1)
    assert machine.steps == [(pytest.approx(0.2), EVERY_S)]
    assert machine.plan.load == pytest.approx(0.5, abs=0.05)
    assert not machine.plan.is_thinned


@pytest.mark.parametrize(("frame_s", "every_s"), [(0.25, 0.4), (0.38, 0.8), (0.6, 0.8)])
def test_frames_are_taken_as_often_as_they_can_be(frame_s: float, every_s: float) -> None:
    machine = Machine()
    machine.run(40, frame_s)
    assert machine.plan.every_s == every_s
    assert machine.plan.is_thinned
    lost = machine.lost
    machine.run(100, frame_s)
    assert machine.lost == lost
    assert not machine.plan.is_over
    assert machine.plan.every_s == every_s


def test_what_is_too_much_at_the_slowest_is_over() -> None:
    machine = Machine()
    machine.run(60, 1.1)
    assert machine.plan.is_over
    assert machine.plan.every_s == 0.8
    machine.run(2 * WINDOW_S, 0.1)
    assert not machine.plan.is_over


def test_more_frames_are_taken_again_after_a_while() -> None:
    machine = Machine()
    machine.run(60, 0.6)
    relieved = machine.now
    machine.run(CALM_S - 2, 0.05)
    assert machine.plan.every_s == 0.8
    machine.run(3 * CALM_S, 0.05)
    assert [every for at, every in machine.steps if at > relieved] == [0.4, EVERY_S]


def test_a_load_between_two_steps_does_not_swing() -> None:
    machine = Machine()
    for _ in range(60):
        machine.run(12, 0.25)
        machine.run(33, 0.05)
    changes = len(machine.steps)
    assert changes < 30
    last = machine.now
    for _ in range(30):
        machine.run(12, 0.25)
        machine.run(33, 0.05)
    assert sum(at > last for at, _ in machine.steps) <= 6
