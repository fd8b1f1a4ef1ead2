"""Which clips are due in a camera's process, and writing them without holding up the watching."""

from __future__ import annotations

import errno
import queue
import threading
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from surveillance.alerts.model import Alert
from surveillance.evidence.clips import CameraClip, Clip, ClipError, write_clip
from surveillance.live.camera.outbox import Sender
from surveillance.live.messages import ClipMessage, WorkerSetup
from vision.sources.packets.packet_buffer import Cut, PacketRing

MOST_DUE = 64
RETRY_S = 2.0
TRIED_FOR_S = 170.0
"""A clip that the disk did not take is tried again for so long: the room waits a bit longer."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
NOT_SHOWN = "the camera sent no video of that time"
LATE_S = 5.0
"""When the stream does not come so far this long after it should have, the clip ends before."""


class FurtherVideo(Protocol):
    """What is cut of a further camera; `surveillance.live.camera.further.FurtherFeed` is one."""

    @property
    def name(self) -> str:
        """The camera's name in the table file."""

    @property
    def ring(self) -> PacketRing:
        """Its last packets."""

    def own_s(self, at_s: float) -> float | None:
        """Stream time of what the first camera shows at `at_s` of its own; None: not known."""


@dataclass(slots=True)
class _Due:
    from_s: float
    to_s: float
    by: float
    alert_ids: list[str] = field(default_factory=list)
    first: Cut | None = None
    is_cut: bool = False
    """Whether `first` was looked for."""
    further: dict[str, _FurtherCut] = field(default_factory=dict)
    """What was cut of further cameras."""


@dataclass(frozen=True, slots=True)
class _FurtherCut:
    """A cut of a further camera, whose clock is `late_s` ahead of the first one's."""

    cut: Cut | None
    late_s: float = 0.0


class ClipWriter:
    """Cuts each alert's clip once the stream has come past its end."""

    def __init__(
        self,
        setup: WorkerSetup,
        ring: PacketRing,
        sender: Sender,
        further: Sequence[FurtherVideo] = (),
    ) -> None:
        """Clips go into the spool folder of `setup`; `sender` tells of them."""
        self._setup = setup
        self._ring = ring
        self._sender = sender
        self._further = tuple(further)
        self._due: list[_Due] = []
        self._cuts: queue.Queue[_Due | None] = queue.Queue(8)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._write, name="clips", daemon=True)
        self._thread.start()

    def ask(self, alerts: Sequence[Alert]) -> None:
        """Want the clip of each of these alerts; those of one span share one."""
        own = self._setup.evidence
        newest = self._ring.newest_s()
        for alert in alerts:
            end = alert.end_s if alert.end_s is not None else alert.start_s
            if end is None or newest is None or len(self._due) >= MOST_DUE:
                why = "no video is kept" if newest is None else "no time is told"
                if len(self._due) >= MOST_DUE:
                    why = "too many clips are due"
                missing = tuple(CameraClip(one.name, None, why) for one in self._further)
                self._sender.send(ClipMessage((alert.alert_id,), None, why=why, further=missing))
                continue
            start = alert.start_s if alert.start_s is not None else end
            to_s = float(end) + own.after_s
            from_s = max(float(start) - own.before_s, to_s - own.longest_s)
            same = next((d for d in self._due if (d.from_s, d.to_s) == (from_s, to_s)), None)
            if same is None:
                wait = max(0.0, to_s - float(newest)) + LATE_S
                same = _Due(from_s, to_s, time.monotonic() + wait)
                self._due.append(same)
            same.alert_ids.append(alert.alert_id)

    def work(self, hurry: bool = False) -> None:
        """Cut what is due now, everything with `hurry`; writing is done elsewhere."""
        newest = self._ring.newest_s()
        now = time.monotonic()
        for due in list(self._due):
            last = hurry or now >= due.by
            if not due.is_cut:
                if not (last or (newest is not None and newest >= due.to_s)):
                    continue
                due.first, due.is_cut = self._ring.cut(due.from_s, due.to_s), True
            if not self._cut_further(due, last):
                continue
            try:
                self._cuts.put(due, timeout=LATE_S if hurry else 0)
            except queue.Full:
                return
            self._due.remove(due)

    def _cut_further(self, due: _Due, last: bool) -> bool:
        """Cut what has come of the further cameras, or all there is; returns whether all is cut."""
        for one in self._further:
            if one.name in due.further:
                continue
            to_s, newest = one.own_s(due.to_s), one.ring.newest_s()
            if to_s is not None and newest is not None and (last or newest >= to_s):
                late_s = to_s - due.to_s
                cut = one.ring.cut(due.from_s + late_s, to_s)
                # Of a camera that was away it would be what it showed before.
                if cut is not None and cut.end_s < due.from_s + late_s:
                    cut = None
                due.further[one.name] = _FurtherCut(cut, late_s)
            elif last:
                due.further[one.name] = _FurtherCut(None)
        return len(due.further) == len(self._further)

    def finish(self, timeout_s: float) -> None:
        """Cut all that is due, and wait until it is written."""
        self._stopping.set()
        self.work(hurry=True)
        try:
            self._cuts.put(None, timeout=timeout_s)
        except queue.Full:
            return
        self._thread.join(timeout_s)

    def _write(self) -> None:
        while (due := self._cuts.get()) is not None:
            ids = tuple(due.alert_ids)
            clip, why = self._written(due.first, "the video of it is gone")
            further = tuple(self._written_further(name, own) for name, own in due.further.items())
            if clip is None:
                self._sender.send(ClipMessage(ids, None, why=why, further=further))
                continue
            self._sender.send(
                ClipMessage(
                    ids, clip.path, clip.start_s, clip.end_s, clip.codec, clip.width,
                    further=further,
                )
            )  # fmt: skip

    def _written(self, cut: Cut | None, gone: str) -> tuple[Clip | None, str]:
        if cut is None:
            return None, gone
        try:
            return self._write_one(cut), ""
        except ClipError as error:
            return None, str(error)

    def _written_further(self, name: str, own: _FurtherCut) -> CameraClip:
        clip, why = self._written(own.cut, NOT_SHOWN)
        if clip is not None:
            start_s, end_s = clip.start_s - own.late_s, clip.end_s - own.late_s
            clip = replace(clip, start_s=start_s, end_s=end_s)
        return CameraClip(name, clip, why)

    def _write_one(self, cut: Cut) -> Clip:
        """Write a clip, again and again where the disk is full. Raises ClipError."""
        path = self._setup.spool / f"{uuid.uuid4().hex}.mp4"
        until = time.monotonic() + TRIED_FOR_S
        while True:
            try:
                return write_clip(cut, path)
            except ClipError as error:
                is_full = getattr(error.__cause__, "errno", None) in _FULL
                if not is_full or time.monotonic() >= until or self._stopping.is_set():
                    raise
            self._stopping.wait(RETRY_S)
