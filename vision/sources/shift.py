"""Several files of one camera as one recording, as a recorder cuts a shift."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from vision.sources.base import NEAR_S, Before, Frame, Mark, Source, SourceError, SourceState
from vision.sources.file import FileSource
from vision.sources.file_times import Part, parts_of
from vision.sources.gaps import LEAST_S, Gap
from vision.sources.packets.packet_plan import Wanted
from vision.sources.sampling import Sampler, sample

NO_FILE = "no file holds it"


class ShiftSource(Source):
    """The files of one camera, sorted by start time, with the times of the first one's clock.

    What two files hold both is given once, from the earlier one. A span that no file holds is a
    gap of the next frame and named in `remarks`. Raises SourceError on opening, see `parts_of`.
    """

    def __init__(self, paths: Sequence[Path], *, is_thrifty: bool = False) -> None:
        """`is_thrifty` as for `FileSource`."""
        if not paths:
            raise SourceError("no files of a shift were given")
        super().__init__(str(paths[0].parent))
        self.parts = parts_of(paths)
        self.is_thrifty = is_thrifty
        self.remarks: list[str] = []
        self._number, self._own_index, self._broken_before = 0, 0, 0
        self._open: FileSource | None = FileSource(self.parts[0].path)
        self._size = (self._open.width, self._open.height)
        self._last_at: Fraction | None = None
        self.state = SourceState.RUNNING

    @property
    def width(self) -> int:
        """Pixels across."""
        return self._size[0]

    @property
    def height(self) -> int:
        """Pixels down."""
        return self._size[1]

    @property
    def broken_packets(self) -> int:
        """How many packets gave no intact frame so far."""
        return self._broken_before + (self._open.broken_packets if self._open is not None else 0)

    @property
    def duration_s(self) -> float | None:
        """From the first file's start to the last end, gaps included."""
        return float(max(part.end_s for part in self.parts) - self.parts[0].start_s)

    @property
    def ended_early_s(self) -> float:
        """By how much the last file's frames ended before its stated length; else 0."""
        ended = self._open is not None and self._open.path == self.parts[-1].path
        return self._open.ended_early_s if self._open is not None and ended else 0.0

    def parts_of(self, from_s: float, to_s: float) -> list[Part]:
        """The files that together hold a span of the shift, in order; at least one.

        A file is left out where those before it hold all of it.
        """
        found: list[Part] = []
        for part in self.parts:
            if part.held_s(from_s, to_s) > 0 and all(part.end_s > one.end_s for one in found):
                found.append(part)
        return found or [max(self.parts, key=lambda part: part.held_s(from_s, to_s))]

    def mark(self, frame: Frame) -> Mark:
        """The place of the frame that was given last, from which `frames` can go on."""
        assert self._open is not None
        before = Before(self._number, self._own_index, self._broken_before, tuple(self.remarks))
        return replace(self._open.mark(frame), before=before)

    def frames(self, every_s: float | None = None, after: Mark | None = None) -> Iterator[Frame]:
        """Frames of all files in order, as `FileSource.frames` gives those of one.

        Raises SourceError as it does.
        """
        self._last_at = None if after is None else after.at_s
        self.remarks = [*after.before.remarks] if after is not None and after.before else []
        try:
            sampler = Sampler(every_s, Fraction(0), self._last_at)
            found = self._all(after, sampler if every_s is not None else None)
            yield from sample(found, every_s, Fraction(0), self._last_at)
        except SourceError:
            self.state = SourceState.FAILED
            raise
        self.state = SourceState.ENDED

    def frames_from(self, at_s: float) -> Iterator[Frame]:
        """Frames of all files in order from a little before a time on, counted from there.

        Raises SourceError as `FileSource.frames_from` does, when the first one is asked for.
        """
        self._last_at = None
        near = Fraction(at_s) - NEAR_S
        last = len(self.parts) - 1
        begin = next((n for n, part in enumerate(self.parts) if part.end_s > near), last)
        index = 0
        for part in self.parts[begin:]:
            found = self._file(part).frames_from(float(Fraction(at_s) - part.shift_s))
            for frame in self._new(part, found):
                frame.source, frame.index = self.name, index
                self._last_at = frame.at_s
                index += 1
                yield frame

    def close(self) -> None:
        """Close the file that is open."""
        if self._open is not None:
            self._open.close()

    def _file(self, part: Part) -> FileSource:
        """A file, open; the one that was open before is closed."""
        if self._open is None or self._open.path != part.path:
            self.close()
            self._open = None
            self._open = FileSource(part.path)
        return self._open

    def _all(self, after: Mark | None, sampler: Sampler | None) -> Iterator[Frame]:
        index, begin, self._broken_before = 0, 0, 0
        own: Mark | None = None
        if after is not None and after.before is not None:
            begin, index = after.before.files, after.index + 1
            self._broken_before = after.before.broken_packets
            at_s = after.at_s - self.parts[begin].shift_s
            own = Mark(at_s, after.before.own_index, after.broken)
        before: Part | None = None
        for number, part in enumerate(self.parts[begin:], begin):
            self._number = number
            self.close()
            source = self._open = FileSource(part.path, is_thrifty=self.is_thrifty)
            first = own is None
            wanted = None if sampler is None else self._wanted(part, sampler, first)
            for frame in self._new(part, source.frames(after=own, wanted=wanted), first):
                frame.gap = self._gap(frame, part, before if first else None)
                frame.source, frame.index = self.name, index
                self._last_at, first = frame.at_s, False
                index += 1
                yield frame
            if not first and source.last_s is not None:
                # The last frames may not have been decoded.
                self._last_at = source.last_s + part.shift_s
            own = None
            before = before if first else part
            if number + 1 < len(self.parts):
                self._broken_before += source.broken_packets

    def _new(self, part: Part, frames: Iterator[Frame], first: bool = True) -> Iterator[Frame]:
        """A file's frames, on the first one's clock, without those that were given."""
        for frame in frames:
            self._own_index = frame.index
            frame.at_s += part.shift_s
            if self._is_new(frame.at_s, part if first else None):
                first = False
                yield frame

    def _wanted(self, part: Part, sampler: Sampler, first: bool) -> Wanted:
        """Which of a file's frames `sampler` takes, asked ahead of `_new`."""
        after_s = self._last_at

        def is_wanted(own_s: Fraction) -> bool:
            nonlocal first
            at_s = own_s + part.shift_s
            if after_s is not None and at_s <= after_s + (part.doubt_s if first else 0):
                return False
            first = False
            return sampler.takes(at_s)

        return is_wanted

    def _is_new(self, at_s: Fraction, begins: Part | None) -> bool:
        """Whether no frame of that time was given; at a join, also not as far as is known."""
        if self._last_at is None:
            return True
        return at_s > self._last_at + (begins.doubt_s if begins is not None else 0)

    def _gap(self, frame: Frame, part: Part, before: Part | None) -> Gap | None:
        own = frame.gap
        if before is not None and self._last_at is not None:
            from_s, to_s = float(self._last_at), float(frame.at_s)
            if to_s - from_s <= LEAST_S:
                return None
            self.remarks.append(
                f"nothing is recorded from {from_s:.2f} s to {to_s:.2f} s of the shift, between "
                f"{before.path.name} and {part.path.name}"
            )
            return Gap.between(from_s, to_s, NO_FILE)
        if own is None or not part.shift_s:
            return own
        shift = float(part.shift_s)
        return replace(own, from_s=own.from_s + shift, to_s=own.to_s + shift)
