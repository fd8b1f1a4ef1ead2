"""Which clips are due in a camera's process, and writing them without holding up the watching."""

from __future__ import annotations

import errno
import queue
import threading
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field

from surveillance.alerts.model import Alert
from surveillance.evidence.clips import Clip, ClipError, write_clip
from surveillance.live.camera.outbox import Sender
from surveillance.live.messages import ClipMessage, WorkerSetup
from vision.sources.packet_buffer import Cut, PacketRing

MOST_DUE = 64
RETRY_S = 2.0
TRIED_FOR_S = 170.0
"""A clip that the disk did not take is tried again for so long: the room waits a bit longer."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
LATE_S = 5.0
"""When the stream does not come so far this long after it should have, the clip ends before."""


@dataclass(slots=True)
class _Due:
    from_s: float
    to_s: float
    by: float
    alert_ids: list[str] = field(default_factory=list)


class ClipWriter:
    """Cuts each alert's clip once the stream has come past its end."""

    def __init__(self, setup: WorkerSetup, ring: PacketRing, sender: Sender) -> None:
        """Clips go into the spool folder of `setup`; `sender` tells of them."""
        self._setup = setup
        self._ring = ring
        self._sender = sender
        self._due: list[_Due] = []
        self._cuts: queue.Queue[tuple[Cut, list[str]] | None] = queue.Queue(8)
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
                self._sender.send(ClipMessage((alert.alert_id,), None, why=why))
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
            if not (hurry or now >= due.by or (newest is not None and newest >= due.to_s)):
                continue
            cut = self._ring.cut(due.from_s, due.to_s)
            if cut is None:
                self._due.remove(due)
                ids = tuple(due.alert_ids)
                self._sender.send(ClipMessage(ids, None, why="the video of it is gone"))
                continue
            try:
                self._cuts.put((cut, due.alert_ids), timeout=LATE_S if hurry else 0)
            except queue.Full:
                return
            self._due.remove(due)

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
        while (job := self._cuts.get()) is not None:
            cut, alert_ids = job
            try:
                clip = self._write_one(cut)
            except ClipError as error:
                self._sender.send(ClipMessage(tuple(alert_ids), None, why=str(error)))
                continue
            self._sender.send(
                ClipMessage(
                    tuple(alert_ids), clip.path, clip.start_s, clip.end_s, clip.codec, clip.width
                )
            )

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
