"""What a further live camera read, and what of it is used when the camera fails."""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from typing import Any, cast

import av
import numpy as np
import pytest

from tests.vision.rounds.readings import TABLE, reading, stack
from vision.chips.boxes import Box
from vision.rounds.cameras.further_camera import OtherCamera
from vision.rounds.cameras.live_camera import DOUBT_S, LiveCamera, Sight
from vision.rounds.view_reader import ViewReading
from vision.sources.base import Frame
from vision.sources.live_moments import FoundMoment, LiveMoments

SEAT = TABLE.seats[0]
SIZE = (64, 48)


class Found:
    """Moments that are found, each at once, but for those `gone`."""

    def __init__(self, *gone: float, size: tuple[int, int] = SIZE) -> None:
        self.gone, self.size = gone, size
        self.asked: list[float] = []
        self.waiting: deque[FoundMoment] = deque()

    def want(self, number: int, at_s: float) -> None:
        self.asked.append(at_s)
        video = av.VideoFrame.from_ndarray(np.zeros((*self.size[::-1], 3), np.uint8), "bgr24")
        frame = Frame("low", 0, Fraction(at_s), video)
        frames = None if at_s in self.gone else (frame, frame)
        self.waiting.append(FoundMoment(number, frames))

    def take(self, timeout_s: float = 0.0) -> FoundMoment | None:
        return self.waiting.popleft() if self.waiting else None


class Reads:
    """Reads one chip wherever it is asked to."""

    name = "low"
    calibration = type("Size", (), {"width_px": SIZE[0], "height_px": SIZE[1]})

    def is_at_rest(self, *_: object) -> bool:
        return True

    def read(self, *_: object) -> list[Any]:
        return [stack("red")]

    def blind_boxes(self, *_: object) -> dict[tuple[float, float], tuple[Box, ...]]:
        return {(1.0, 2.0): ((0.0, 0.0, 5.0, 5.0),)}

    def patch(self, *_: object) -> np.ndarray:
        return np.full((8, 8, 3), 90, np.uint8)

    def boxes(self, *_: object) -> np.ndarray:
        return np.zeros((1, 4))


class Eye:
    """Sets what the camera shows."""

    now = Sight.WELL

    def __call__(self) -> Sight:
        return self.now


def camera(moments: Found, sight: Eye) -> LiveCamera:
    return LiveCamera(cast(OtherCamera, Reads()), cast(LiveMoments, moments), sight)


def staked(at_s: float) -> ViewReading:
    return reading(at_s, stakes={"main": (stack("red red"),)})


def test_what_was_read_soon_after_is_there_when_the_round_ends() -> None:
    moments = Found(3.0)
    own = camera(moments, Eye())
    one, missed, bare = staked(1.0), staked(3.0), reading(2.0)
    for what in (one, bare, missed):
        own.note(SEAT, what)
    own.settle()
    assert moments.asked == [1.0, 3.0]
    beside = own.beside(SEAT, one, one.at_s)
    assert beside is not None
    assert [read.label for read in beside.stacks] == [stack("red").label]
    assert beside.blind == {(1.0, 2.0): ((0.0, 0.0, 5.0, 5.0),)}
    image, boxes = beside.shown()
    assert (image.shape, boxes.shape) == ((8, 8, 3), (1, 4))
    assert own.beside(SEAT, missed, missed.at_s) is own.beside(SEAT, bare, bare.at_s) is None
    assert own.beside(TABLE.seats[1], one, one.at_s) is None


@pytest.mark.parametrize(
    ("sight", "kept"), [(Sight.WELL, [1, 9, 25]), (Sight.AWAY, [1, 9, 25]), (Sight.WRONG, [1])]
)
def test_a_camera_that_shows_something_wrong_is_not_believed_lately(
    sight: Sight, kept: list[int]
) -> None:
    eye = Eye()
    own = camera(Found(), eye)
    rests = {at_s: staked(at_s) for at_s in (1, 9, 25)}
    for one in rests.values():
        own.note(SEAT, one)
        own.work()
    assert 25 - DOUBT_S < 9
    eye.now = sight
    own.work()
    assert [
        at_s for at_s, one in rests.items() if own.beside(SEAT, one, one.at_s) is not None
    ] == kept
    own.note(SEAT, late := staked(26.0))
    own.settle()
    assert (own.beside(SEAT, late, late.at_s) is not None) is (sight is Sight.WELL)


def test_a_frame_of_another_size_is_not_read() -> None:
    own = camera(Found(size=(32, 24)), Eye())
    own.note(SEAT, one := staked(1.0))
    own.settle()
    assert own.beside(SEAT, one, one.at_s) is None
