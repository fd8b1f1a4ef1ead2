"""A further camera in the process of a table's first one: its stream, its view and its state."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from settlement.errors import FeltwatchError
from surveillance.live.camera.overlay import WIDE_PX, jpeg
from surveillance.live.messages import FurtherSetup, PictureMessage
from surveillance.live.states import CameraState, FurtherNow
from vision.geometry.calibration import Calibration
from vision.geometry.table import FurtherCamera, TableFile
from vision.health.camera_watch import CameraWatch, ViewProblem
from vision.rounds.cameras.live_camera import Sight
from vision.sources.base import SourceState
from vision.sources.frame import LiveFrame, LiveStatus
from vision.sources.limits import LiveLimits
from vision.sources.live import LiveSource
from vision.sources.live_moments import LiveMoments
from vision.sources.packets.packet_buffer import PacketRing

UNCODED = "it sends raw images: a further camera must send coded ones, such as H.264"


@runtime_checkable
class JoinsLive(Protocol):
    """A watcher that reads further live cameras."""

    def join_live(
        self, camera: FurtherCamera, moments: LiveMoments, sight: Callable[[], Sight]
    ) -> None:
        """Read a further camera too; `sight` tells what it shows now."""


class FurtherFeed:
    """One further camera. Its packets are kept; decoded are key frames, to look after it, and the
    moments that the watcher wants."""

    def __init__(
        self,
        setup: FurtherSetup,
        table: TableFile,
        first: LiveSource,
        limits: LiveLimits,
        ring: PacketRing,
    ) -> None:
        """For a camera of `table` beside the `first` one, its packets kept in `ring`; raises
        FeltwatchError when the table has no such camera."""
        part = next((one for one in table.cameras if one.name == setup.name), None)
        if part is None:
            raise FeltwatchError(f"the table file has no camera {setup.name!r} under [[cameras]]")
        self.part, self._place = part, setup.place
        self.ring, self._first = ring, first
        self.source = LiveSource(setup.place, name=setup.name, limits=limits, ring=ring)
        self.source.keys_only = True
        self.moments = LiveMoments(first, self.source, setup.offset_s)
        self._view = CameraWatch(table, Calibration.fit(part))
        self._frame: LiveFrame | None = None
        self._sent: LiveFrame | None = None
        """The frame whose image was sent last."""
        self.status: LiveStatus = self.source.status()

    @property
    def name(self) -> str:
        """The camera's name in the table file."""
        return self.part.name

    @property
    def problem(self) -> ViewProblem | None:
        """What keeps it from showing the table."""
        return self._view.problem

    def look(self) -> None:
        """Look at the key frame that came, if one has."""
        frame = self.source.next_frame(0.0)
        if frame is not None:
            self._frame = frame
            self._view.look(frame.luma, time.monotonic())
        self.status = self.source.status()

    def sight(self) -> Sight:
        """What it shows now."""
        if self.status.state is SourceState.FROZEN or self._view.problem is not None:
            return Sight.WRONG
        runs = self.status.state is SourceState.RUNNING and self._view.match is not None
        return Sight.WELL if runs else Sight.AWAY

    def fault(self) -> str:
        """Why it cannot be read though its stream runs and shows the table; empty: it can."""
        runs = self.status.state is SourceState.RUNNING
        return UNCODED if runs and self.ring.newest_s() is None else ""

    def picture(self) -> bytes | None:
        """Its last image as JPEG; None before the first."""
        return None if self._frame is None else jpeg(self._frame.small(WIDE_PX))

    def new_picture(self) -> PictureMessage | None:
        """Its last image for the live pages, with its age; None where that was taken already."""
        frame = self._frame
        if frame is None or frame is self._sent:
            return None
        self._sent = frame
        data = jpeg(frame.small(WIDE_PX))
        return PictureMessage(data, data, frame.lag_s, self.name)

    def now(self) -> FurtherNow:
        """How it stands."""
        message = self.status.words or self.fault()
        if self._view.problem is not None and not message:
            message = self._view.problem.words
        return FurtherNow(
            name=self.name,
            state=CameraState(self.status.state.value),
            message=self._place.address.blank(message),
            asked=self.moments.asked,
            missed=self.moments.missed,
        )

    def own_s(self, at_s: float) -> float | None:
        """Its stream time of what the first camera shows at `at_s`; None before both have sent."""
        wall = self._first.wall_at(at_s)
        own_s = None if wall is None else self.source.stream_at(wall)
        return None if own_s is None else own_s + self.moments.offset_s

    def close(self) -> None:
        """Stop; its threads end by themselves."""
        self.moments.close()
        self.source.close(0.0)
