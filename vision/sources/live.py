"""A source in real time: RTSP, a device, or a file played as if live.

A thread keeps reading and decoding, whatever the reader does. It keeps the last few of the
sampled images only: when the reader is behind they are thinned out evenly, and counted. A
frame carries the gap before it. Lost connections are made again, with growing waits.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from fractions import Fraction

import av
from av.packet import Packet
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from vision.detect.motion import shrink
from vision.sources.base import BROKEN_IN_A_ROW, Frame, Source, SourceError, SourceState
from vision.sources.camera_backends import LivePlace, LostError, Opened, open_place, why_lost
from vision.sources.clock import StreamClock, Timeline, WallTime
from vision.sources.frame import LiveFrame, LiveStatus
from vision.sources.freeze import FreezeWatch
from vision.sources.gaps import JUMPED, Gap
from vision.sources.limits import LiveLimits
from vision.sources.pacing import Pace, SenderTimes, SlowWatch, device_time_s, sender_time_s
from vision.sources.packets.bitstream import ByteStream, coded_run, copied
from vision.sources.packets.packet_buffer import CodedPacket, CodedRun, PacketRing
from vision.sources.sampling import slack_of
from vision.sources.slot import BEHIND, FrameSlot
from vision.sources.state import StateMachine
from vision.sources.url import Kind

__all__ = ["LiveFrame", "LiveSource", "LiveStatus"]

_LIVE = frozenset({SourceState.RUNNING, SourceState.STALLED, SourceState.FROZEN})
_CLOSE_S = 2.0
_REFUSED_NOW = (
    "it refuses the login that it took before; the connection may be damaged, or the password "
    "was changed"
)
_KEYS_EVERY_S = 0.5
_UNCODED = ("rawvideo", "wrapped_avframe")


class LiveSource(Source):
    """Images as they come; begin with `start` or the first `next_frame`.

    `width` and `height` are 0 until an image has come. Times are seconds since the first
    image and grow without seams over lost connections.
    """

    is_real_time = True

    def __init__(
        self,
        place: LivePlace,
        *,
        name: str | None = None,
        every_s: float | None = None,
        limits: LiveLimits | None = None,
        ring: PacketRing | None = None,
        luck: random.Random | None = None,
    ) -> None:
        """`every_s` samples the images as in `FileSource.frames`; `ring` keeps the packets."""
        self._machine = StateMachine()
        super().__init__(name or place.address.shown)
        self.place = place
        self.limits = limits or LiveLimits()
        self.ring = ring
        self.every_s = every_s
        self.keys_only = False
        """Decode key frames alone: enough for display, and little work."""
        self._luck = luck or random.Random()
        self._size = (0, 0)
        self._slot = FrameSlot(self.limits.slot, self.limits.slot_s)
        self._fresh = threading.Condition()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._timeline = Timeline()
        self._clock = StreamClock()
        self._sender = SenderTimes()
        self._pace = Pace(self._stop)
        self._slow = SlowWatch(self.limits)
        self._freeze = FreezeWatch(self.limits.freeze_check_s, self.limits.key_wait_s)
        self._is_frozen = False
        self._due: Fraction | None = None
        self._last_at: Fraction | None = None
        self._last_frame: float | None = None
        self._index = 0
        self._runs = 0
        self._coded: CodedRun | None = None
        self._byte_stream: ByteStream
        self._reconnects = 0
        self._retry_s = 0.0
        self._lag_s: float | None = None
        self._skip_to_key = False
        self._key_came = False
        self._gap: tuple[str, float] | None = None
        """Cause and least hidden time of the gap before the next frame, if there is one."""
        self._new_run = ""
        self._let_in = False
        """Whether the camera has taken the login and given an image."""
        self._last_packet = 0.0
        self._last_good = 0.0
        self._last_decoded = 0.0

    # The base class sets a state once, on construction; here the machine alone holds it.
    @property
    def state(self) -> SourceState:
        """What the source is doing."""
        return self._machine.state

    @state.setter
    def state(self, value: SourceState) -> None:
        self._machine.to(value)

    @property
    def width(self) -> int:
        """Pixels across; 0 until an image has come."""
        return self._size[0]

    @property
    def height(self) -> int:
        """Pixels down; 0 until an image has come."""
        return self._size[1]

    def start(self) -> None:
        """Begin to connect and read, in a thread of its own; again has no effect."""
        if self._thread is None and not self._stop.is_set():
            self._thread = threading.Thread(
                target=self._run, name=f"source {self.name}", daemon=True
            )
            self._thread.start()

    def next_frame(self, timeout_s: float) -> LiveFrame | None:
        """The oldest image that waits; None when none came in time or the source has ended."""
        self.start()
        until = time.monotonic() + timeout_s
        with self._fresh:
            while not self._slot:
                self._look_at_ages()
                left = until - time.monotonic()
                if left <= 0 or self.state in (SourceState.ENDED, SourceState.FAILED):
                    return None
                self._fresh.wait(min(left, 0.2))
            return self._slot.take()

    def frames(self, every_s: float | None = None) -> Iterator[Frame]:
        """Frames as they come until the source ends; raises SourceError when it fails.

        `every_s` replaces the one the source was made with.
        """
        if every_s is not None:
            if not every_s >= 0:
                raise ValueError(f"every_s must not be negative, found {every_s:g}")
            self.every_s = every_s
        while True:
            frame = self.next_frame(1.0)
            if frame is not None:
                yield frame
            elif self.state is SourceState.FAILED:
                raise SourceError(self._machine.now[1])
            elif self.state is SourceState.ENDED or self._stop.is_set():
                return

    def status(self) -> LiveStatus:
        """What the source is doing now."""
        self._look_at_ages()
        state, message, _ = self._machine.now
        age = None if self._last_frame is None else time.monotonic() - self._last_frame
        return LiveStatus(
            state, message, state in _LIVE and self._slow.too_slow(), self._slow.fps(),
            self._slow.dropped, self._slow.skipped, self._reconnects, self._lag_s, age,
            self._retry_s if state is SourceState.RECONNECTING else None,
        )  # fmt: skip

    def shown_at(self, at_s: float) -> float | None:
        """Wall clock seconds at which the camera showed a stream time; None before any."""
        return self._clock.shown_at(at_s)

    def wall_at(self, at_s: float) -> WallTime | None:
        """The same, to find what another camera showed then with its `stream_at`."""
        return self._clock.wall(at_s)

    def stream_at(self, wall: WallTime) -> float | None:
        """Stream time at which this camera showed what another did; None before any packet."""
        return self._clock.at(wall)

    def close(self, wait_s: float = _CLOSE_S) -> None:
        """Stop the thread; one that waits for a camera's answer ends when that is given up."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(wait_s)
        with self._fresh:
            self._slot.clear()

    def _look_at_ages(self) -> None:
        """Detect a stall by the age of the last frame; the thread itself may be waiting."""
        if self._last_frame is None:
            return
        # Of key frames alone images come seldom: there the packets show that the camera sends.
        age = time.monotonic() - (self._last_good if self.keys_only else self._last_frame)
        if age > self.limits.stalled_s:
            running = frozenset({SourceState.RUNNING, SourceState.FROZEN})
            self._machine.to(SourceState.STALLED, "no picture comes", running)

    def _run(self) -> None:
        attempt = refused = 0
        while not self._stop.is_set():
            began = time.monotonic()
            try:
                over = self._guarded_session()
            except LostError as lost:
                if time.monotonic() - began > self.limits.settled_s:
                    attempt = 0
                wait = self.limits.wait_s(attempt, self._luck.random())
                words = str(lost)
                refused = refused + 1 if lost.refused else 0
                if refused == 1 and self._let_in:
                    words = f"{self.place.address.shown}: {_REFUSED_NOW}"
                elif lost.refused:
                    # A camera locks out who knocks with a wrong password again and again.
                    wait = self.limits.wait_s(30, self._luck.random())
                self._retry_s = wait
                self._machine.to(SourceState.RECONNECTING, words)
                attempt += 1
                self._reconnects += 1
                self._stop.wait(wait)
                continue
            except SourceError as error:
                self._machine.to(SourceState.FAILED, str(error))
                over = True
            if over:
                break
        if self.state is not SourceState.FAILED:
            self._machine.to(SourceState.ENDED, "closed" if self._stop.is_set() else "the end")
        with self._fresh:
            self._fresh.notify_all()

    def _guarded_session(self) -> bool:
        """A session whose unforeseen errors are losses too: a camera must come back by itself."""
        try:
            return self._session()
        except SourceError:
            raise
        except Exception as error:
            name = type(error).__name__
        raise LostError(f"{self.place.address.shown}: reading it failed ({name})")

    def _session(self) -> bool:
        """One connection from start to end; whether it was the last. Raises SourceError."""
        opened = open_place(self.place, self.limits)
        try:
            self._begin()
            self._read(opened)
        finally:
            opened.container.close()
        return self._stop.is_set() or not self.place.loop

    def _begin(self) -> None:
        is_file = self.place.address.kind is Kind.FILE
        self._new_run = "the film began again" if is_file else "the camera was connected again"
        self._timeline.new_run()
        self._clock.restart()
        self._sender = SenderTimes()
        self._freeze.restart()
        self._is_frozen = False
        self._pace.restart()
        self._slow.waited(0.0, time.monotonic())
        self._skip_to_key = False
        self._key_came = False
        self._coded = None

    def _read(self, opened: Opened) -> None:
        packets = opened.container.demux(opened.stream)
        broken = 0
        self._last_good = self._last_decoded = time.monotonic()
        while not self._stop.is_set():
            packet = self._next_packet(packets)
            if packet is None:
                return
            broken = self._take(packet, opened.stream, broken)
            self._give_up_in_time(time.monotonic())

    def _give_up_in_time(self, now: float) -> None:
        if now - self._last_good > self.limits.give_up_s:
            raise LostError(f"{self.place.address.shown}: no frame can be decoded")
        if now - self._last_decoded > self.limits.key_give_up_s:
            wait_s = self.limits.key_give_up_s
            raise LostError(f"{self.place.address.shown}: no key frame came for {wait_s:g} s")

    def _next_packet(self, packets: Iterator[Packet[VideoStream]]) -> Packet[VideoStream] | None:
        lost: LostError
        asked = time.monotonic()
        try:
            packet = next(packets, None)
            if packet is None and self.place.address.kind is not Kind.FILE:
                raise EOFError
            self._slow.waited(asked, time.monotonic())
            return packet
        except (av.error.FFmpegError, OSError, EOFError) as error:
            why, refused = why_lost(error)
            if refused:
                # It let us in when the session was opened: what it says now is damaged.
                why, refused = "what it sends is damaged", False
            if self.place.address.kind is Kind.DEVICE:
                # The kernel's own error text for that speaks of arguments.
                why = "it gives no more frames; it was unplugged, or its driver ended"
            lost = LostError(f"{self.place.address.shown}: {why}", refused)
        # Raised out here, it has no cause or context that would carry the address along.
        raise lost

    def _take(self, packet: Packet[VideoStream], stream: VideoStream, broken: int) -> int:
        """Keep and decode a packet; returns how many in a row could not be decoded."""
        is_last = packet.size == 0
        if not is_last and not self._accept(packet, stream):
            # That no image comes of it says nothing of the camera.
            self._last_good = time.monotonic()
            return broken
        arrived = time.time()
        try:
            # A packet that is the stream's last flushes the decoder.
            frames = self._decode(packet, stream)
        except av.error.FFmpegError:
            if broken + 1 < BROKEN_IN_A_ROW:
                return broken + 1
            frames = None
        if frames is None:
            raise LostError(f"{self.place.address.shown}: the frames cannot be decoded")
        for video in frames:
            self._give(video, arrived)
        return 0 if frames else broken

    def _decode(self, packet: Packet[VideoStream], stream: VideoStream) -> list[VideoFrame]:
        if self.place.address.kind is not Kind.DEVICE or packet.size == 0:
            return packet.decode()
        # A raw image would stay in the device's memory, which is gone when the device is
        # closed: whoever still looked at it then would bring this process down.
        return stream.codec_context.decode(copied(packet))

    def _accept(self, packet: Packet[VideoStream], stream: VideoStream) -> bool:
        """Note a packet's time and keep it; whether it is to be decoded."""
        if packet.pts is None or packet.time_base is None:
            return True
        if not self._key_came and not packet.is_keyframe:
            return False
        self._key_came = True
        stamp = packet.pts * Fraction(packet.time_base)
        stated = sender_time_s(packet)
        if self.place.address.kind is Kind.DEVICE:
            stated = device_time_s(stamp)
        sent = self._sender.checked(stamp, stated)
        if self.place.address.kind is Kind.FILE:
            asked = time.monotonic()
            sent = self._pace.wait(stamp)
            self._slow.waited(asked, time.monotonic())
        now = time.time()
        at = self._timeline.at(stamp, now)
        if self._coded is None or self._coded.number != self._timeline.runs:
            if self._timeline.runs > 1:
                self._gap = (self._new_run or "the stream's clock jumped", JUMPED)
            self._new_run = ""
            self._coded = coded_run(self._timeline.runs, stream)
            self._byte_stream = ByteStream(stream)
            self._clock.restart()
            self._due = None
        if now - self._last_packet > self.limits.stalled_s:
            # After a stall the delay is another.
            self._clock.restart()
        self._last_packet = now
        self._clock.note(float(at), now, sent)
        if self.ring is not None and self._coded.codec not in _UNCODED:
            data = self._byte_stream.convert(packet)
            self.ring.add(CodedPacket(self._coded, at, packet.is_keyframe, data))
        return self._in_time(packet, stream)

    def _in_time(self, packet: Packet[VideoStream], stream: VideoStream) -> bool:
        """Decode less when this machine is behind, rather than fall back for good."""
        behind_s = self._slow.behind_s(time.monotonic())
        if behind_s > self.limits.key_lag_s or self.keys_only:
            self._skip_to_key = True
        elif self._skip_to_key and packet.is_keyframe and behind_s < self.limits.skip_lag_s:
            self._skip_to_key = False
        late = behind_s > self.limits.skip_lag_s
        stream.codec_context.skip_frame = "NONREF" if late else "DEFAULT"
        if self._skip_to_key:
            if not self.keys_only:
                self._slow.skip(time.monotonic())
            self._gap = self._gap or (BEHIND, 0.0)
            # A key frame stands by itself: one every few seconds is still an image.
            return packet.is_keyframe and not (self.keys_only and self._is_soon())
        return True

    def _is_soon(self) -> bool:
        """Whether an image came just before: of some streams every image is a key frame."""
        last = self._last_frame
        return last is not None and time.monotonic() - last < _KEYS_EVERY_S

    def _give(self, video: VideoFrame, arrived_s: float) -> None:
        """Sample a decoded image and put it where the reader finds it.

        The packet that brought it out arrived at wall time `arrived_s`.
        """
        now = time.monotonic()
        self._last_frame = self._last_good = self._last_decoded = now
        self._let_in = True
        self._slow.picture(now)
        if video.pts is None or video.time_base is None:
            return
        at = self._timeline.of(video.pts * Fraction(video.time_base))
        if at is None or (self._last_at is not None and at <= self._last_at):
            return
        self._last_at = at
        self._clock.came_out(float(at), arrived_s)
        self._size = (video.width, video.height)
        index, self._index = self._index, self._index + 1
        frame = LiveFrame(self.name, index, at, video, bool(video.is_corrupt))
        self._note_alive(frame, now)
        if self._due is not None and at < self._due:
            return
        gap = Fraction(self.every_s or 0).limit_denominator(1_000_000)
        self._due = at + max(gap - slack_of(video.time_base), Fraction(0))
        frame.shown_at = self._clock.shown_at(float(at)) or time.time()
        frame.by_sender = self._clock.by_sender
        self._lag_s = frame.lag_s
        if self._gap is not None:
            frame.gap = Gap(float(at), float(at), *self._gap)
            self._gap = None
        if self._slot:
            # Others wait already, so this one will.
            frame.leave_decoder()
        with self._fresh:
            self._slow.sampled(now, self._slot.put(frame))
            self._fresh.notify()

    def _note_alive(self, frame: LiveFrame, now: float) -> None:
        """An image came: running, unless it is the same as for long."""
        if self._freeze.is_due(now, frame.is_key):
            same_s = self._freeze.look(shrink(frame.luma), now)
            self._is_frozen = same_s >= self.limits.frozen_s
        if not (self._is_frozen and self.state is SourceState.FROZEN):
            self._machine.to(SourceState.RUNNING)
        if self._is_frozen:
            self._machine.to(SourceState.FROZEN, "the camera repeats the same picture")
