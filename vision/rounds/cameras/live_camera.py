"""A further live camera: its frames are read soon after the moment at which the first camera read
a seat, while they are still kept, and joined when the round has ended."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from vision.detect.detections import ByteArray
from vision.geometry.table import SeatPlace
from vision.rounds.cameras.further_camera import Beside, OtherCamera
from vision.rounds.region_change import as_picture, kept_picture
from vision.rounds.view_reader import ViewReading
from vision.sources.base import Frame
from vision.sources.live_moments import FoundMoment, LiveMoments

ENDS_WITHIN_S = 1.5
"""What was asked for last is waited for so long when a round has ended."""
DOUBT_S = 20.0
"""A camera that froze or was moved is found out within this: what it showed before is not used."""
MOST_A_FRAME = 4
"""So many readings between two frames of the first camera, which must not wait for long."""
MOST_READ = 400
"""Readings that wait for their round to end; beyond it the oldest is forgotten."""

_Place = tuple[int, float]
"""Number of a seat and the first camera's stream time of a reading."""


class Sight(StrEnum):
    """What a further camera shows now."""

    WELL = "well"
    """Its table."""
    AWAY = "away"
    """Nothing: no image comes."""
    WRONG = "wrong"
    """An image that stands still, or not the table where it should lie."""


@dataclass
class LiveCamera:
    """Reads one further camera at the first one's readings; see `note`, `work` and `beside`.

    `sight` tells what it shows now: it is read while that is its table.
    """

    other: OtherCamera
    moments: LiveMoments
    sight: Callable[[], Sight]
    _pending: dict[int, tuple[SeatPlace, ViewReading]] = field(default_factory=dict)
    _read: dict[_Place, Beside] = field(default_factory=dict)
    _number: int = 0
    _last_s: float = 0.0

    @property
    def name(self) -> str:
        """The camera's name in the table file."""
        return self.other.name

    def note(self, seat: SeatPlace, reading: ViewReading) -> None:
        """The first camera has read a seat: have the frame of that moment found."""
        self._last_s = reading.at_s
        if reading.stacks and self.sight() is Sight.WELL:
            self._number += 1
            self._pending[self._number] = (seat, reading)
            self.moments.want(self._number, reading.at_s)

    def work(self) -> None:
        """Read the frames that were found meanwhile; soon done."""
        self._doubt()
        for _ in range(MOST_A_FRAME):
            if (found := self.moments.take()) is None:
                return
            self._take(found)

    def settle(self) -> None:
        """A round has ended: wait a little for the moments that are not found yet."""
        until = time.monotonic() + ENDS_WITHIN_S
        while self._pending and (left := until - time.monotonic()) > 0:
            if (found := self.moments.take(left)) is not None:
                self._take(found)
        self._doubt()

    def beside(self, seat: SeatPlace, reading: ViewReading, at_s: float) -> Beside | None:
        """What it showed of a seat at a reading of it, looked at then; None where it showed no
        rest."""
        return self._read.get((seat.seat, reading.at_s)) if at_s == reading.at_s else None

    def _take(self, found: FoundMoment) -> None:
        seat, reading = self._pending.pop(found.number)
        if found.frames is None or self.sight() is Sight.WRONG:
            return
        before, now = found.frames
        if self._fits(now) and self.other.is_at_rest(seat, before, now):
            stacks = tuple(self.other.read(now, seat, reading.stacks))
            # The frame is large: only its patch is kept.
            patch = kept_picture(self.other.patch(now, seat.place))
            boxes = self.other.boxes(seat.place, stacks)
            self._read[seat.seat, reading.at_s] = Beside(
                stacks,
                lambda: (_unpacked(patch), boxes),
                self.other.blind_boxes(seat, reading.stacks, stacks),
            )
            while len(self._read) > MOST_READ:
                del self._read[next(iter(self._read))]

    def _fits(self, frame: Frame) -> bool:
        own = self.other.calibration
        return (frame.width, frame.height) == (own.width_px, own.height_px)

    def _doubt(self) -> None:
        """Forget what a camera that shows something wrong showed lately: it may have been so."""
        if self.sight() is not Sight.WRONG:
            return
        since_s = self._last_s - DOUBT_S
        for place in [place for place in self._read if place[1] >= since_s]:
            del self._read[place]


def _unpacked(patch: bytes) -> ByteArray:
    image = as_picture(patch)
    assert image is not None
    return image
