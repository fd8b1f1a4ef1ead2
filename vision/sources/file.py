"""A video file as a source."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain
from pathlib import Path

import av
from av.container import InputContainer
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from vision.sources.base import (
    BROKEN_IN_A_ROW,
    NEAR_S,
    Frame,
    Mark,
    Source,
    SourceError,
    SourceState,
)
from vision.sources.gaps import LEAST_S, Gap
from vision.sources.packets.packet_plan import PacketPlan, Wanted
from vision.sources.packets.unreferenced import Unreferenced
from vision.sources.sampling import Sampler, sample, slack_of

EARLY_S = 1.0
"""A stream that ends by less than this before its stated end has ended in time."""
SEEK_BACK_S = 6
"""Reading on at a mark begins at least so long before it, at a key frame."""
HOLE = "the recording holds none"
MEASURED = 25
"""Steps from frame to frame that decide whether a recording's times can be true ..."""
LEAST_STEP_S, MOST_STEP_S = 0.002, 5.0
"""... when the middle one lies between these."""
JUMP_BACK_S = 1.0
"""Frames up to this far back in time are left out; a longer jump breaks the stream."""

_NO_VIDEO_FORMATS = ("tty", "image2", "lrc", "srt", "txt")


class FileSource(Source):
    """A video file.

    `broken_packets` counts packets that gave no intact frame; single ones are skipped.
    Raises SourceError on opening when there is no such file or no video in it.
    """

    def __init__(self, path: Path, *, is_thrifty: bool = False) -> None:
        """Open the file and read its header.

        `is_thrifty`: `frames` does not decode a frame that it will not give and that no other is
        predicted from; those that it gives are the same.
        """
        super().__init__(str(path))
        self.path = path
        self.is_thrifty = is_thrifty
        self._broken_at: set[tuple[str, int]] = set()
        self._started = False
        self._last_at: Fraction | None = None
        self._container, self._stream = self._open()
        self.state = SourceState.RUNNING

    @property
    def width(self) -> int:
        """Pixels across."""
        return self._stream.codec_context.width

    @property
    def height(self) -> int:
        """Pixels down."""
        return self._stream.codec_context.height

    @property
    def broken_packets(self) -> int:
        """How many packets gave no intact frame so far."""
        return len(self._broken_at)

    @property
    def frame_rate(self) -> Fraction | None:
        """Average frames a second by the file's metadata; None when it has none."""
        return self._stream.average_rate or self._stream.guessed_rate or None

    @property
    def duration_s(self) -> float | None:
        """Length by the file's metadata; None when it has none."""
        if self._stream.duration is not None and self._stream.time_base is not None:
            return float(self._stream.duration * self._stream.time_base)
        if self._container.duration is not None:
            return self._container.duration / av.time_base
        return None

    @property
    def last_s(self) -> Fraction | None:
        """Time of the last frame that was passed, decoded or not; None before the first."""
        return self._last_at

    @property
    def ended_early_s(self) -> float:
        """By how much the frames ended before the stated length, once they have; else 0."""
        stated = self.duration_s
        if self.state is not SourceState.ENDED or stated is None or self._last_at is None:
            return 0.0
        base = self._stream.time_base
        start = self._stream.start_time
        first = float(start * base) if start is not None and base is not None else 0.0
        step = float(1 / self.frame_rate) if self.frame_rate else 0.0
        missing = first + stated - float(self._last_at) - step
        return missing if missing >= EARLY_S else 0.0

    def close(self) -> None:
        """Close the file."""
        self._container.close()

    def frames(
        self,
        every_s: float | None = None,
        after: Mark | None = None,
        wanted: Wanted | None = None,
    ) -> Iterator[Frame]:
        """Frames in order from the file's start, or those `after` a mark; one run at a time.

        With `every_s` a frame is given when its time is at least that after the last given
        one (to the tick of a clock of milliseconds), so a file always gives the same frames,
        also when a second run goes on at the mark of the first one's last frame. All frames
        from the key frames before the mark on are decoded either way, but for those that are
        not given and that no other is predicted from where `is_thrifty`.

        `wanted`, of a source that is, answers for each time in place of `every_s` whether its frame
        must be given; others may be too. Raises SourceError when there are no frames, or the
        stream breaks off in the middle.
        """
        self._restart()
        slack, last_s = slack_of(self._stream.time_base), None if after is None else after.at_s
        if wanted is None and every_s is not None:
            wanted = Sampler(every_s, slack, last_s).takes
        found = self._decoded(wanted) if after is None else self._decoded_after(after, wanted)
        try:
            yield from sample(found, every_s, slack, last_s)
        except SourceError:
            self.state = SourceState.FAILED
            raise
        self.state = SourceState.ENDED

    def frames_from(self, at_s: float) -> Iterator[Frame]:
        """Frames in order from a key frame a little before a time on, counted from there.

        Raises SourceError when there are none, or the stream breaks off.
        """
        start, base = self._stream.start_time, self._stream.time_base
        if start is None or base is None:
            raise self._broken("its frames have no times")
        self._started, self._last_at = True, None
        try:
            place = max(start, int((Fraction(at_s) - NEAR_S) / base))
            self._container.seek(place, stream=self._stream)
        except (av.error.FFmpegError, OSError) as error:
            raise self._broken(error.strerror) from error
        return self._decoded()

    def _restart(self) -> None:
        if self._started:
            self._container.close()
            self._container, self._stream = self._open()
        self._started = True
        self._last_at = None
        self._broken_at.clear()
        self.state = SourceState.RUNNING

    def mark(self, frame: Frame) -> Mark:
        """The place of a frame that was given last, from which `frames` can go on."""
        return Mark(frame.at_s, frame.index, tuple(sorted(self._broken_at)))

    def _decoded_after(self, mark: Mark, wanted: Wanted | None) -> Iterator[Frame]:
        """The frames after a mark, numbered as in a run from the start."""
        own = wanted and (lambda at_s: at_s == mark.at_s or (at_s > mark.at_s and wanted(at_s)))
        self._seek(mark.at_s)
        frames = self._decoded(own)
        first = next(frames)
        if first.at_s > mark.at_s:
            # The file's index led too far: read it from its start.
            self._restart()
            frames = self._decoded(own)
            first = next(frames)
        for frame in chain((first,), frames):
            if frame.at_s == mark.at_s:
                # The mark holds what was broken before it, also what was decoded again here.
                break
        offset = mark.index - frame.index
        self._broken_at.update(mark.broken)
        for frame in frames:
            frame.index += offset
            yield frame

    def _seek(self, at_s: Fraction) -> None:
        """Seek a key frame well before a time, so that no frame depends on one not read."""
        start, base = self._stream.start_time, self._stream.time_base
        # A bare stream has no clock of its own to go by.
        if start is None or base is None or at_s - SEEK_BACK_S <= start * base:
            return
        try:
            self._container.seek(int((at_s - SEEK_BACK_S) / base), stream=self._stream)
        except (av.error.FFmpegError, OSError):
            self._restart()

    def _open(self) -> tuple[InputContainer, VideoStream]:
        path = self.path
        if not path.exists():
            raise SourceError(f"{path}: no such file")
        if not path.is_file():
            raise SourceError(f"{path}: not a file; give a video file")
        try:
            if path.stat().st_size == 0:
                raise SourceError(f"{path}: the file is empty (0 bytes)")
            # An absolute path is never taken for a network address, nor is one in a playlist.
            container = av.open(str(path.absolute()), options={"protocol_whitelist": "file"})
        except av.error.EOFError as error:
            raise SourceError(f"{path}: there are no frames in the video") from error
        except (av.error.FFmpegError, OSError) as error:
            why = error.strerror or type(error).__name__
            raise SourceError(f"{path}: cannot be read as a video: {why}") from error
        kinds = container.format.name
        if kinds in _NO_VIDEO_FORMATS or kinds.endswith("_pipe"):
            container.close()
            raise SourceError(f"{path}: not a video but a file of kind {kinds}")
        covers = av.stream.Disposition.attached_pic
        streams = [s for s in container.streams.video if not s.disposition & covers]
        if not streams:
            container.close()
            raise SourceError(f"{path}: there is no video stream in it")
        stream = streams[0]
        if stream.codec_context is None or not stream.codec_context.width:
            container.close()
            raise SourceError(f"{path}: its video stream has no frames that can be decoded")
        stream.thread_type = "AUTO"
        return container, stream

    def _decoded(self, wanted: Wanted | None = None) -> Iterator[Frame]:
        """Every decoded frame in order of time; at least those that are `wanted`, if thrifty."""
        index = 0
        broken_in_a_row = 0
        steps: list[Fraction] = []
        plan = PacketPlan(Unreferenced.of(self._stream) if self.is_thrifty else None, wanted)
        for packet in plan.choose(self._packets()):
            try:
                frames = packet.decode()
            except av.error.FFmpegError as error:
                plan.doubt()
                self._note_broken("packet", packet.dts)
                broken_in_a_row += 1
                if broken_in_a_row >= BROKEN_IN_A_ROW:
                    raise self._broken(error.strerror) from error
                continue
            for video in frames:
                broken_in_a_row = 0
                at = self._time(video)
                if (video.width, video.height) != (self.width, self.height):
                    raise self._broken(f"the frame size becomes {video.width}x{video.height}")
                if video.rotation % 360:
                    raise self._broken(
                        f"its frames are marked to be turned by {video.rotation % 360} degrees; "
                        "give a recording that is stored upright"
                    )
                if video.is_corrupt:
                    plan.doubt()
                    self._note_broken("frame", video.pts)
                for left_out_s in plan.left_out_before(at):
                    self._pass(left_out_s, steps)
                    index += 1
                if self._last_at is not None and at <= self._last_at:
                    if self._last_at - at > JUMP_BACK_S:
                        raise self._broken(f"the time jumps back to {float(at):.2f} s")
                    continue
                frame = Frame(self.name, index, at, video, bool(video.is_corrupt))
                if self._last_at is not None and at - self._last_at > LEAST_S:
                    frame.gap = Gap.between(float(self._last_at), float(at), HOLE)
                self._pass(at, steps)
                yield frame
                index += 1
        for left_out_s in plan.left_out_before(None):
            self._pass(left_out_s, steps)
        if index == 0:
            raise SourceError(f"{self.path}: there are no frames in the video")

    def _pass(self, at_s: Fraction, steps: list[Fraction]) -> None:
        """The stream has a frame of that time, decoded or not.

        Refuses times that no camera's can be, such as those of a wrong time base.
        """
        if self._last_at is not None and len(steps) < MEASURED:
            steps.append(at_s - self._last_at)
            self._check_steps(steps)
        self._last_at = at_s

    def _check_steps(self, steps: list[Fraction]) -> None:
        if len(steps) < MEASURED:
            return
        middle_s = float(sorted(steps)[len(steps) // 2])
        if not LEAST_STEP_S <= middle_s <= MOST_STEP_S:
            raise self._broken(
                f"its times are wrong: frames are {middle_s:.6g} s apart, accepted are "
                f"{LEAST_STEP_S:g} to {MOST_STEP_S:g} s; write it again with its true time base"
            )

    def _packets(self) -> Iterator[av.Packet[VideoStream]]:
        """The stream's packets and the last, empty one that flushes the decoder."""
        packets = self._container.demux(self._stream)
        while True:
            try:
                packet = next(packets)
            except StopIteration:
                return
            except (av.error.FFmpegError, OSError) as error:
                raise self._broken(error.strerror) from error
            if packet.is_corrupt:
                self._note_broken("flag", packet.dts)
            yield packet

    def _note_broken(self, what: str, stamp: int | None) -> None:
        # By their stamps, so that what is read twice counts once.
        self._broken_at.add((what, len(self._broken_at) if stamp is None else stamp))

    def _time(self, video: VideoFrame) -> Fraction:
        if video.pts is not None and video.time_base is not None:
            return video.pts * Fraction(video.time_base)
        # A bare stream has no clock: count by its frame rate, which it must state.
        if not self.frame_rate:
            raise self._broken("its frames have no times")
        return Fraction(0) if self._last_at is None else self._last_at + 1 / self.frame_rate

    def _broken(self, why: str | None) -> SourceError:
        reached = "at its start" if self._last_at is None else f"after {float(self._last_at):.2f} s"
        return SourceError(
            f"{self.path}: the video breaks off {reached}: {why or 'cannot be decoded'}"
        )
