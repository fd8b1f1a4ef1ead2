"""When the files of one shift began, and how consecutive ones lie to one another."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import av
from av.container import InputContainer
from av.video.stream import VideoStream

from vision.sources.base import SourceError
from vision.sources.file import FileSource

TO_THE_SECOND_S = Fraction(1)
"""How far a start taken from a file's name or its metadata may be wrong."""
LEAST_COMMON = 3
"""Coded frames in common, all by one offset, that fix how two files lie in time."""
LEAST_BYTES = 64
"""Shorter ones are alike by chance: nothing moved."""
AROUND_S = 2.0
"""The ends of two files are compared so far beyond what should overlap."""
_IN_NAME = re.compile(
    r"(?<!\d)(20\d\d)[-_.]?(\d\d)[-_.]?(\d\d)[-_.T ]?(\d\d)[-_.:h]?(\d\d)[-_.:m]?(\d\d)(?!\d)"
)
_CLOCKS = "times that go on from file to file, YYYYMMDD_HHMMSS in every name, or creation_time"


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a shift: what is added to its own times, and when it begins and ends, s.

    `doubt_s` is how far `shift_s` may be wrong.
    """

    path: Path
    shift_s: Fraction
    start_s: Fraction
    end_s: Fraction
    doubt_s: Fraction = Fraction(0)

    def held_s(self, from_s: float, to_s: float) -> float:
        """How much of a span it holds, s; below 0: how far it is from it."""
        return min(to_s, float(self.end_s)) - max(from_s, float(self.start_s))


@dataclass(frozen=True, slots=True)
class _Head:
    path: Path
    first_s: Fraction
    length_s: Fraction
    size: tuple[int, int]
    created_at: datetime | None
    """By its metadata."""


def parts_of(paths: Sequence[Path]) -> tuple[Part, ...]:
    """The files of one camera by start time; times begin with the first file's own.

    Starts are taken from time stamps that go on from file to file, else from the files' names,
    else from `creation_time` in their metadata. Where two files have coded frames in common,
    these give their offset to the tick; files without any that begin and end within a second of
    one another follow without a gap. Raises SourceError for files of several sizes, without
    a start, or that begin together.
    """
    heads = [_head(path) for path in paths]
    first = heads[0]
    for head in heads:
        if head.size != first.size:
            raise SourceError(
                f"{head.path}: its frames are {head.size[0]} x {head.size[1]}, those of "
                f"{first.path} {first.size[0]} x {first.size[1]}; give files of one camera"
            )
    if len(heads) == 1:
        return (Part(first.path, Fraction(0), first.first_s, first.first_s + first.length_s),)
    going_on = _going_on(heads)
    if going_on is not None:
        return tuple(Part(h.path, Fraction(0), h.first_s, h.first_s + h.length_s) for h in going_on)
    return _joined(_by_clock(heads))


def _head(path: Path) -> _Head:
    with FileSource(path) as source:
        length_s, size = source.duration_s, (source.width, source.height)
        first = next(source.frames()).at_s
    if not length_s:
        raise SourceError(f"{path}: does not state its length; write it again as MP4 or Matroska")
    created: datetime | None = None
    with _opened(path) as container:
        text = container.metadata.get("creation_time")
    if text:
        try:
            created = datetime.fromisoformat(text)
        except ValueError:
            created = None
    if created is not None and created.tzinfo is None:
        created = created.replace(tzinfo=UTC)
    return _Head(path, first, Fraction(length_s).limit_denominator(1_000_000), size, created)


def _going_on(heads: list[_Head]) -> list[_Head] | None:
    """The files in order where their own times go on; None where each starts at zero."""
    ordered = sorted(heads, key=lambda head: head.first_s)
    for one, other in pairwise(ordered):
        if other.first_s - one.first_s < one.length_s / 2:
            return None
    return ordered


def _by_clock(heads: list[_Head]) -> list[tuple[_Head, Fraction]]:
    """The files with the wall time of their starts, s, in order."""
    for clock in (_named_at, _created_at):
        found = [(head, at) for head in heads if (at := clock(head)) is not None]
        if len(found) < len(heads):
            continue
        found.sort(key=lambda one: one[1])
        twins = [(a.path, b.path) for (a, at), (b, then) in pairwise(found) if at == then]
        if not twins:
            return found
        if clock is _created_at:
            raise SourceError(f"{twins[0][1]}: begins when {twins[0][0]} does; give each file once")
    lacking = next((h.path for h in heads if _named_at(h) is None), heads[0].path)
    raise SourceError(f"{lacking}: has no start time of its own; accepted are {_CLOCKS}")


def _named_at(head: _Head) -> Fraction | None:
    """The time in a file's name, as s since 1970.

    >>> head = _Head(Path("t3_20261122-180000.mp4"), Fraction(0), Fraction(9), (1, 1), None)
    >>> float(_named_at(head)) % 86400 / 3600
    18.0
    """
    found = _IN_NAME.search(head.path.name)
    if found is None:
        return None
    try:
        at = datetime(*(int(part) for part in found.groups()), tzinfo=UTC)  # type: ignore[misc, arg-type]
    except ValueError:
        return None
    return Fraction(at.timestamp())


def _created_at(head: _Head) -> Fraction | None:
    return None if head.created_at is None else Fraction(head.created_at.timestamp())


def _joined(files: list[tuple[_Head, Fraction]]) -> tuple[Part, ...]:
    """The parts, each laid to the one before by common frames where there are some."""
    head, began = files[0]
    parts = [Part(head.path, Fraction(0), head.first_s, head.first_s + head.length_s)]
    for head, at in files[1:]:
        before = max(parts, key=lambda part: part.end_s)
        part = _part(head, parts[0].start_s + (at - began) - head.first_s, TO_THE_SECOND_S)
        shift = _by_common_frames(before, part)
        if shift is None and abs(part.start_s - before.end_s) <= TO_THE_SECOND_S:
            # Nothing in common: one was begun when the other was full.
            shift = before.end_s - head.first_s
        parts.append(part if shift is None else _part(head, shift, Fraction(0)))
    return tuple(parts)


def _part(head: _Head, shift_s: Fraction, doubt_s: Fraction) -> Part:
    start = head.first_s + shift_s
    return Part(head.path, shift_s, start, start + head.length_s, doubt_s)


def _by_common_frames(one: Part, other: Part) -> Fraction | None:
    """What to add to the other's times by coded frames that both hold; None without such."""
    from_s = float(other.start_s) - AROUND_S
    if from_s > one.end_s:
        return None
    ends: dict[bytes, list[Fraction]] = {}
    for at, digest in _packets(one.path, from_s - float(one.shift_s), None):
        ends.setdefault(digest, []).append(at + one.shift_s)
    until_s = float(one.end_s - other.shift_s) + AROUND_S
    offsets: Counter[Fraction] = Counter()
    for at, digest in _packets(other.path, None, until_s):
        offsets.update(shown - at for shown in ends.get(digest, ()))
    if not offsets:
        return None
    (shift, votes), *rest = offsets.most_common(2)
    clear = votes >= LEAST_COMMON and (not rest or rest[0][1] * 2 < votes)
    return shift if clear and abs(shift - other.shift_s) <= AROUND_S else None


def _packets(
    path: Path, from_s: float | None, until_s: float | None
) -> Iterator[tuple[Fraction, bytes]]:
    """Times and hashes of a file's coded frames in a span of its own clock."""
    with _opened(path) as container:
        stream: VideoStream = container.streams.video[0]
        if from_s is not None and stream.time_base is not None:
            container.seek(max(0, int(from_s / stream.time_base)), stream=stream)
        for packet in container.demux(stream):
            if packet.pts is None or packet.time_base is None:
                continue
            at = packet.pts * Fraction(packet.time_base)
            if until_s is not None and at > until_s + AROUND_S:
                return
            if packet.size >= LEAST_BYTES:
                yield at, hashlib.blake2b(bytes(packet), digest_size=16).digest()


def _opened(path: Path) -> InputContainer:
    return av.open(str(path.absolute()), options={"protocol_whitelist": "file"})
