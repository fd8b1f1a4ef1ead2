"""Frames that wait for a slow reader are thinned out evenly, and carry their gaps."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from vision.sources.gaps import JUMPED, Gap
from vision.sources.slot import BEHIND, NONE_CAME, FrameSlot


def frame(at_s: float, gap: Gap | None = None) -> Any:
    return SimpleNamespace(at_s=Fraction(round(at_s * 100), 100), gap=gap)


def test_a_quick_reader_gets_every_frame_and_no_gap() -> None:
    slot = FrameSlot(4, 6.0)
    for k in range(50):
        assert slot.put(frame(k * 0.2)) == 0
        taken = slot.take()
        assert taken is not None
        assert (float(taken.at_s), taken.gap) == (pytest.approx(k * 0.2), None)
    assert slot.take() is None


@pytest.mark.parametrize("behind", [2, 3, 4])
def test_a_reader_some_times_too_slow_gets_an_even_share(behind: int) -> None:
    slot, times, gaps = FrameSlot(12, 6.0), [], []
    for k in range(1000):
        slot.put(frame(k * 0.2))
        if k % behind == 0:
            taken = slot.take()
            assert taken is not None
            times.append(float(taken.at_s))
            gaps.append(taken.gap)
    steps = [b - a for a, b in pairwise(times[30:])]
    # A burst would leave steps of seconds; none is longer than twice the even step.
    assert max(steps) <= 2 * 0.2 * behind + 0.01
    assert len(times) == pytest.approx(1000 / behind, abs=1)
    assert not any(g for g, step in zip(gaps[31:], steps, strict=True) if step <= 1)


def test_a_suspended_reader_gets_the_gap_with_its_cause() -> None:
    slot = FrameSlot(4, 3.0)
    slot.put(frame(0.0))
    first = slot.take()
    assert first is not None
    assert first.gap is None
    dropped = sum(slot.put(frame(k * 0.2)) for k in range(1, 101))
    assert dropped + len(slot) == 100
    assert 2 <= len(slot) <= 4
    taken = slot.take()
    assert taken is not None
    assert 17 <= float(taken.at_s) <= 19
    assert taken.gap == Gap.between(0.0, float(taken.at_s), BEHIND)


def test_a_camera_that_sent_nothing_is_the_cause() -> None:
    slot = FrameSlot(4, 3.0)
    slot.put(frame(0.0))
    slot.take()
    slot.put(frame(1.4))
    taken = slot.take()
    assert taken is not None
    assert taken.gap == Gap.between(0.0, 1.4, NONE_CAME)


def test_a_jump_is_kept_when_its_frame_gives_way() -> None:
    slot = FrameSlot(2, 3.0)
    slot.put(frame(0.0))
    slot.take()
    slot.put(frame(0.5, Gap(0.5, 0.5, "the film began again", JUMPED)))
    for at_s in (0.6, 0.9, 1.2, 1.5):
        slot.put(frame(at_s))
    taken = slot.take()
    assert taken is not None
    assert taken.gap is not None
    assert (taken.gap.cause, taken.gap.hidden_s) == ("the film began again", JUMPED)
    assert taken.gap.from_s == 0.0
