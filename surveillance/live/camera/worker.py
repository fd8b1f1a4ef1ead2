"""The process of one camera: pictures in, rounds and alerts out, news over a pipe."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import time
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Protocol

import av

from settlement.declared import Feed
from settlement.errors import FeltwatchError
from surveillance.alerts.declared_facts import HOLDS, with_facts
from surveillance.alerts.judge import judge
from surveillance.heap import give_back_memory, memory_bytes
from surveillance.live.camera.clip_writer import ClipWriter
from surveillance.live.camera.further import FurtherFeed, JoinsLive
from surveillance.live.camera.incident_reporter import LEFT_OUT, THINNED, IncidentReporter
from surveillance.live.camera.outbox import Sender
from surveillance.live.camera.overlay import WIDE_PX, draw_now, jpeg
from surveillance.live.camera.overload import CameraLoad
from surveillance.live.messages import (
    LEAVE_OUT,
    STOP,
    WATCH,
    DeclaredMessage,
    FatalMessage,
    FurtherSetup,
    PictureMessage,
    RoundMessage,
    StateMessage,
    WorkerSetup,
)
from surveillance.live.states import CameraState, CoverageNow, FurtherNow, SeatNow
from vision.geometry.calibration import Calibration
from vision.geometry.table import TableFile, load_table
from vision.health.camera_watch import CameraWatch
from vision.rounds.coverage import Coverage
from vision.rounds.followed import check_followed
from vision.rounds.live_view import TableNow
from vision.rounds.observed import ObservedRound
from vision.sources.base import Frame, SourceState
from vision.sources.gaps import JUMPED, Gap
from vision.sources.live import LiveFrame, LiveSource, LiveStatus
from vision.sources.load import LoadPlan
from vision.sources.packets.packet_buffer import PacketRing

EXIT_FATAL = 3
TURN_S = 0.25
STATE_EVERY_S = 0.5
PICTURE_EVERY_S = 1.0
GIVE_BACK_EVERY_S = 10.0
"""Between times at which freed memory is given back."""
HURRY_S = 3.0
"""When it is told to stop, clips that are due are cut as far as the stream came, in this time."""
LINGER_S = 10.0
"""After the end of a file, clips that are still due are waited for up to this."""


class LiveWatcher(Protocol):
    """What the process needs of the reading; `vision.rounds.watcher.TableWatcher` is one."""

    sample_every_s: float

    def feed(self, frame: Frame) -> list[ObservedRound]:
        """Take one frame; gives back the rounds that were decided by it."""

    def finish(self) -> list[ObservedRound]:
        """The stream has ended; gives back what is still open."""

    def now(self) -> TableNow:
        """What lies on the table."""


def table_watcher(table: TableFile, weights: Path, name: str, rounds_before: int) -> LiveWatcher:
    """The real watcher; raises FeltwatchError when its model is missing."""
    from vision.networks import load_networks
    from vision.rounds.watcher import TableWatcher

    networks = load_networks(weights)
    return TableWatcher(table, networks, name, rounds_before=rounds_before, check_felt=False)


def run_worker(setup: WorkerSetup, connection: Connection) -> None:
    """What the process does from its start to its end."""
    # Ctrl-C reaches every process of the terminal: the room ends this one in its own time.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # FFmpeg's own log quotes addresses with their passwords.
    av.logging.set_level(None)
    sender = Sender(connection)
    code = 0
    try:
        CameraWorker(setup, sender, connection).run()
    except FeltwatchError as error:
        sender.send(FatalMessage(_blank(setup, str(error))))
        code = EXIT_FATAL
    except Exception as error:
        told = _blank(setup, traceback.format_exc())
        print(f"feltwatch: camera {setup.camera}: {told}", file=sys.stderr)
        words = _blank(setup, f"{type(error).__name__}: {error}")
        sender.send(FatalMessage(f"the reading broke ({words})"))
        code = EXIT_FATAL
    sender.close()
    # Threads that still wait for a camera must not hold the process.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _blank(setup: WorkerSetup, text: str) -> str:
    """A text without the passwords of the cameras."""
    for place in (setup.place, *(further.place for further in setup.further)):
        text = place.address.blank(text)
    return text


class CameraWorker:
    """Watches one table until it is told to stop, the room is gone, or the stream ends."""

    def __init__(self, setup: WorkerSetup, sender: Sender, connection: Connection) -> None:
        """Load the table and the networks; raises FeltwatchError."""
        self.setup = setup
        self.sender = sender
        self.connection = connection
        self.table = load_table(setup.table_file)
        check_followed(self.table, setup.table_file)
        if self.table.camera is None:
            raise FeltwatchError(f"{setup.table_file}: camera: missing; calibrate it first")
        self.watcher = self._make_watcher()
        self._declared = setup.declared
        ring = self._make_ring()
        self.source = LiveSource(
            setup.place, name=setup.camera, every_s=self.watcher.sample_every_s,
            limits=setup.limits, ring=ring,
        )  # fmt: skip
        self.view = CameraWatch(self.table, Calibration.fit(self.table.camera))
        self.further: list[FurtherFeed] = []
        self._left_off: list[FurtherNow] = []
        """Further cameras that the table file, as it is now, does not have."""
        for further in setup.further:
            self._join(further)
        self.clips = ClipWriter(setup, ring, sender, self.further)
        self.incidents = IncidentReporter(setup, self.table.table, sender, self.clips)
        self._beat = 0
        self._state_due = self._picture_due = self._give_back_due = 0.0
        self._now: TableNow | None = None
        self._frame: LiveFrame | None = None
        self._lag_s: float | None = None
        self._picture: bytes | None = None
        self.load = LoadPlan(self.watcher.sample_every_s)
        self._left_out = False
        self._unwatched = ""
        """Why the frames since the last one watched were not; empty while they are."""

    def _make_watcher(self) -> LiveWatcher:
        module, function = self.setup.watcher.split(":")
        make = getattr(importlib.import_module(module), function)
        watcher: LiveWatcher = make(
            self.table, self.setup.weights, self.setup.camera, self.setup.rounds_before
        )
        return watcher

    def _make_ring(self) -> PacketRing:
        own = self.setup.evidence
        return PacketRing(own.ring_s, own.ring_mb * 2**20)

    def _join(self, further: FurtherSetup) -> None:
        try:
            ring = self._make_ring()
            feed = FurtherFeed(further, self.table, self.source, self.setup.limits, ring)
        except FeltwatchError as error:
            # The first camera goes on without it.
            failed = FurtherNow(name=further.name, state=CameraState.FAILED, message=str(error))
            self._left_off.append(failed)
            return
        self.further.append(feed)
        if isinstance(self.watcher, JoinsLive):
            self.watcher.join_live(feed.part, feed.moments, feed.sight)

    def run(self) -> None:
        """Until the end; raises FeltwatchError when the source can never be had."""
        for own in (self.source, *(feed.source for feed in self.further)):
            own.start()
        try:
            while not self._told_to_stop():
                frame = self.source.next_frame(TURN_S)
                status = self.source.status()
                began = time.monotonic()
                for feed in self.further:
                    feed.look()
                if frame is not None:
                    self._look(frame)
                self._tell(status)
                self._keep_pace(time.monotonic() - began, status)
                if frame is None and status.state is SourceState.FAILED:
                    raise FeltwatchError(status.message)
                if frame is None and status.state is SourceState.ENDED:
                    self._finish()
                    return
            if not self.sender.broken.is_set():
                self.clips.finish(HURRY_S)
        finally:
            for feed in self.further:
                feed.close()
            self.source.close()

    def _told_to_stop(self) -> bool:
        if self.sender.broken.is_set():
            return True
        try:
            while self.connection.poll():
                word = self.connection.recv()
                if word == STOP:
                    return True
                if isinstance(word, DeclaredMessage):
                    self._declared = word.lines
                if word in (LEAVE_OUT, WATCH):
                    self._leave_out(word == LEAVE_OUT)
            return False
        except (EOFError, OSError):
            # The room is gone; nobody is there to be told anything.
            return True

    def _leave_out(self, on: bool) -> None:
        """Watch the table no more, for the sake of others, or again."""
        self._left_out = self.source.keys_only = on
        self.load.restart()

    def _keep_pace(self, busy_s: float, status: LiveStatus) -> None:
        """Take fewer frames where this machine does not keep up."""
        if not self._left_out:
            self.load.note(busy_s, status.dropped + status.skipped)
            self.source.every_s = self.load.every_s

    def _overload(self, status: LiveStatus) -> tuple[str, str] | None:
        """Kind and words of what this machine does not keep up with."""
        if self._left_out:
            return LEFT_OUT, "the table is not watched: this machine does not keep up with all"
        if not (self.load.is_thinned or status.too_slow):
            return None
        return THINNED, _too_slow(self.load.every_s, self.watcher.sample_every_s)

    def _watched(self, frame: LiveFrame, cause: str) -> bool:
        """Whether a frame is watched: there is no `cause` against it. Keeps the cause for later."""
        if cause:
            self._unwatched = self._unwatched or cause
            return False
        if self._unwatched:
            at_s = float(frame.at_s)
            if frame.gap is None or frame.gap.hidden_s != JUMPED:
                frame.gap = Gap(at_s, at_s, self._unwatched, 0.0)
            self._unwatched = ""
        return True

    def _look(self, frame: LiveFrame) -> None:
        self._frame = frame
        problem = self.view.look(frame.luma, time.monotonic())
        decided: list[ObservedRound] = []
        cause = "left out: this machine did not keep up" if self._left_out else ""
        if self._watched(frame, cause or (problem.words if problem is not None else "")):
            decided = self.watcher.feed(frame)
            for observed in decided:
                self._take(observed, frame)
        self._lag_s = frame.lag_s
        moving = problem is None and not self._left_out and self._is_moving()
        self.incidents.table(moving=moving, decided=bool(decided))

    def _is_moving(self) -> bool:
        if self._now is None or time.monotonic() >= self._picture_due:
            self._now = self.watcher.now()
        return bool(self._now.moving)

    def _take(self, observed: ObservedRound, frame: LiveFrame) -> None:
        """Judge a round and send it with its pictures; have its clips cut."""
        judged = judge(self._with_facts(observed), self.table)
        started = self.source.shown_at(float(judged.record.start_s or frame.at_s))
        self.sender.send(
            RoundMessage(
                judged=judged,
                started_at=started if started is not None else frame.shown_at,
                shown_at=frame.shown_at,
                by_sender=frame.by_sender,
                sent_at=time.time(),
            )
        )
        self.clips.ask(judged.alerts)
        self._now = None

    def _with_facts(self, observed: ObservedRound) -> ObservedRound:
        """The round with what people declared of its table."""
        since = time.time() - HOLDS.total_seconds()
        lines = [line for line in self._declared if float(line.at_s) > since]
        if not lines:
            return observed
        feed = Feed.of(lines, self.table.declared)
        return with_facts(observed, self.table, feed, self.source.shown_at)

    def _tell(self, status: LiveStatus) -> None:
        """What is due: state, picture, incidents, clips."""
        self._beat += 1
        now = time.monotonic()
        if now >= self._picture_due and self._frame is not None:
            self._picture_due = now + PICTURE_EVERY_S
            self._send_picture(self._frame)
            for feed in self.further:
                if (new := feed.new_picture()) is not None:
                    self.sender.send(new)
        stream_s = float(self._frame.at_s) if self._frame is not None else None
        overload = self._overload(status)
        self.incidents.camera(
            status, self.view.problem, stream_s, self._picture, overload, self.further
        )
        self.clips.work()
        if now >= self._state_due:
            self._state_due = now + STATE_EVERY_S
            self.sender.send(self._state(status, stream_s))
        if now >= self._give_back_due:
            self._give_back_due = now + GIVE_BACK_EVERY_S
            give_back_memory()

    def _send_picture(self, frame: LiveFrame) -> None:
        self._now = self.watcher.now()
        small = frame.small(WIDE_PX)
        overlay = small
        if self.view.problem is None:
            overlay = draw_now(small, self._now, frame.width)
        plain = jpeg(small)
        self._picture = plain
        drawn = plain if overlay is small else jpeg(overlay)
        self.sender.send(PictureMessage(plain, drawn, frame.lag_s))

    def _state(self, status: LiveStatus, stream_s: float | None) -> StateMessage:
        state, message = CameraState(status.state.value), status.words
        overload = self._overload(status)
        if overload is not None and status.state is SourceState.RUNNING:
            state = CameraState.OVERLOAD if self._left_out else CameraState.TOO_SLOW
            message = overload[1]
        elif self.view.problem is not None and not message:
            message = self.view.problem.words
        if self.sender.lost:
            message += f" ({self.sender.lost} reports were lost)"
        now, frame = self._now, self._frame
        return StateMessage(
            beat=self._beat,
            state=state,
            message=message.strip(),
            phase=now.phase if now else "waiting",
            round_id=now.round_id if now else None,
            stream_s=stream_s,
            lag_s=None if self._lag_s is None else round(self._lag_s, 3),
            fps=round(status.fps, 2),
            dropped=status.dropped + status.skipped,
            seats=_seats(now) if now else (),
            frame_shown_at=frame.shown_at if frame else None,
            memory_bytes=memory_bytes(),
            load=CameraLoad(
                round(self.load.load, 3),
                is_thinned=self.load.is_thinned and not self._left_out,
                is_over=self.load.is_over and not self._left_out,
            ),
            further=(*(feed.now() for feed in self.further), *self._left_off),
            coverage=self._coverage(),
        )

    def _coverage(self) -> CoverageNow | None:
        own = getattr(self.watcher, "coverage", None)
        return CoverageNow.model_validate(own.rounded()) if isinstance(own, Coverage) else None

    def _finish(self) -> None:
        """The stream has ended: what is open comes out as far as it was seen."""
        frame = self._frame
        if frame is not None:
            for observed in self.watcher.finish():
                self._take(observed, frame)
        self.clips.finish(LINGER_S)
        self._state_due = 0.0
        self._tell(self.source.status())


def _too_slow(every_s: float, usual_s: float) -> str:
    """What this machine does not keep up with, where an image is looked at each `every_s`.

    >>> _too_slow(0.4, 0.2)
    'this machine does not keep up: the felt is looked at 2.5 times a second in place of 5'
    >>> _too_slow(0.2, 0.2)
    'this machine does not keep up: some of the 5 looks a second at the felt are left out'
    """
    usual = f"{1 / usual_s:.3g}"
    if every_s <= usual_s:
        words = f"some of the {usual} looks a second at the felt are left out"
    else:
        words = f"the felt is looked at {1 / every_s:.3g} times a second in place of {usual}"
    return f"this machine does not keep up: {words}"


def _seats(now: TableNow) -> tuple[SeatNow, ...]:
    return tuple(
        SeatNow(
            seat=v.seat, low=v.low, high=v.high, backs=v.backs, stakes=dict(v.stakes),
            pays=dict(v.pays), lammers=v.lammers,
        )
        for v in now.views
    )  # fmt: skip
