"""Cutting a clip out of a recording: its packets as they are, from a key frame on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
from av.container import InputContainer
from av.packet import Packet
from av.video.stream import VideoStream

from surveillance.evidence.clips import Clip, ClipError

FORMATS = ((".mp4", "mp4"), (".mkv", "matroska"))
"""What a clip is written as: the first that takes the recording's codec."""

LATE_S = 2.0
"""How far past the clip's end is read: no picture is coded so long after one shown later."""

_PARTIAL = ".partial"


@dataclass(frozen=True, slots=True)
class _Shown:
    """A packet and the time at which its picture is shown, s."""

    at_s: Fraction
    packet: Packet[VideoStream]


def cut_clip(video: Path, from_s: float, to_s: float, stem: Path) -> Clip:
    """Copy what a recording shows between two times of its clock into a file of its own.

    It begins at the key frame at or before `from_s` and is coded as the recording is. `stem`
    is the file's path without its ending, .mp4 or .mkv; the file stands there only when it
    is whole. Raises ClipError.
    """
    return cut_joined([(video, Fraction(0))], from_s, to_s, stem)


def cut_joined(
    files: Sequence[tuple[Path, Fraction]], from_s: float, to_s: float, stem: Path
) -> Clip:
    """Cut one clip, as `cut_clip` does, out of consecutive files of one camera.

    With each file stands what is added to its times, s. Of what two files hold both the later
    one's frames are taken from its last key frame on that the earlier one reaches. Raises
    ClipError, also for files that are coded differently.
    """
    path = files[0][0]
    try:
        with ExitStack() as stack:
            first: VideoStream | None = None
            kept: list[_Shown] = []
            for path, shift_s in files:
                reached = max((s.at_s for s in kept), default=Fraction(from_s)) - shift_s
                stream, shown = _read(stack, path, float(reached), float(to_s - shift_s))
                if first is not None and _coding(stream) != _coding(first):
                    raise ValueError(f"it is coded differently from {files[0][0].name}")
                first = first or stream
                kept = _joined(kept, [replace(s, at_s=s.at_s + shift_s) for s in shown])
            assert first is not None, "there is a file at least"
            return _write(first, kept, stem)
    except (av.error.FFmpegError, OSError, ValueError, IndexError) as error:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ClipError(f"{path}: no clip can be cut of it: {why}") from error


def _read(
    stack: ExitStack, video: Path, from_s: float, to_s: float
) -> tuple[VideoStream, list[_Shown]]:
    source = stack.enter_context(_opened(video))
    stream = _video(source)
    shown = _wanted(source, stream, from_s, to_s)
    if shown is None:
        # The file's index led too far: it is read from its start.
        again = stack.enter_context(_opened(video))
        stream = _video(again)
        shown = _from_key(again, stream, from_s, to_s)
    return stream, shown


def _coding(stream: VideoStream) -> tuple[object, ...]:
    own = stream.codec_context
    return own.name, own.width, own.height, own.extradata, stream.time_base


def _joined(kept: list[_Shown], later: list[_Shown]) -> list[_Shown]:
    """The packets of two files, in the order of coding, with a change at a key frame."""
    if not (kept and later):
        return kept or later
    key_s = later[0].at_s
    before = next((n for n, s in enumerate(kept) if s.at_s >= key_s), len(kept))
    own = kept[:before]
    last_s = max((s.at_s for s in own), default=key_s - 1)
    return own + [s for s in later if s.at_s > last_s]


def _opened(video: Path) -> InputContainer:
    # An absolute path is never taken for a network address.
    return av.open(str(video.absolute()), options={"protocol_whitelist": "file"})


def _video(container: InputContainer) -> VideoStream:
    covers = av.stream.Disposition.attached_pic
    return next(s for s in container.streams.video if not s.disposition & covers)


def _wanted(
    source: InputContainer, stream: VideoStream, from_s: float, to_s: float
) -> list[_Shown] | None:
    """The packets by the file's index; None when it leads to none at or before `from_s`."""
    start, base = stream.start_time, stream.time_base
    if start is None or base is None or from_s <= start * base:
        return _from_key(source, stream, from_s, to_s)
    try:
        source.seek(int(Fraction(from_s) / base), stream=stream)
        found = _from_key(source, stream, from_s, to_s)
    except av.error.FFmpegError:
        return None
    return found if found and found[0].at_s <= from_s else None


def _from_key(
    source: InputContainer, stream: VideoStream, from_s: float, to_s: float
) -> list[_Shown]:
    """Packets from the last key frame at or before `from_s`, or else the first, to `to_s`."""
    kept: list[_Shown] = []
    for shown in _shown(source, stream):
        packet = shown.packet
        if packet.is_keyframe and (not kept or shown.at_s <= from_s):
            kept = [shown]
        elif kept:
            kept.append(shown)
        if kept and shown.at_s > to_s + LATE_S:
            break
    # Pictures shown before the key frame lean on what is not copied.
    whole = [s for s in kept if s.at_s >= kept[0].at_s]
    end, many = Fraction(to_s), -1
    while True:
        # Pictures shown before the end may be coded just after ones shown later: then those
        # between are taken too, so that none is missing.
        last = max((n for n, s in enumerate(whole) if s.at_s <= end), default=-1)
        if last == many:
            return whole[: last + 1]
        many, end = last, max((s.at_s for s in whole[: last + 1]), default=end)


def _shown(source: InputContainer, stream: VideoStream) -> Iterator[_Shown]:
    rate = stream.average_rate or stream.guessed_rate or Fraction(25)
    for number, packet in enumerate(source.demux(stream)):
        if packet.size == 0:
            continue
        if packet.pts is not None and packet.time_base is not None:
            yield _Shown(packet.pts * Fraction(packet.time_base), packet)
        else:
            # A bare stream has no clock: count by its rate, as its pictures are.
            yield _Shown(number / Fraction(rate), packet)


def _write(stream: VideoStream, shown: list[_Shown], stem: Path) -> Clip:
    if not shown:
        raise ValueError("it shows nothing of that time")
    stem.parent.mkdir(parents=True, exist_ok=True)
    failed: Exception | None = None
    for suffix, form in FORMATS:
        path = stem.with_name(stem.name + suffix)
        partial = path.with_name(path.name + _PARTIAL)
        try:
            _mux(stream, shown, partial, form)
            partial.replace(path)
        except (av.error.FFmpegError, ValueError) as error:
            failed = error
            continue
        finally:
            partial.unlink(missing_ok=True)
        times = [s.at_s for s in shown]
        own = stream.codec_context
        return Clip(path, float(min(times)), float(max(times)), own.name, own.width)
    assert failed is not None, "there is a form at least"
    raise failed


def _mux(stream: VideoStream, shown: list[_Shown], path: Path, form: str) -> None:
    base = Fraction(stream.time_base or Fraction(1, 90_000))
    first = shown[0].at_s
    at = [round((s.at_s - first) / base) for s in shown]
    order = sorted(at)
    # Decoding times are made so that none is after its picture's.
    early = max(due - own for due, own in zip(order, at, strict=True))
    options = {"movflags": "+faststart"} if form == "mp4" else {}
    with av.open(str(path), "w", format=form, options=options) as out:
        outer: Any = out.add_stream_from_template(stream)
        outer.time_base = base
        for n, one in enumerate(shown):
            packet: Any = Packet(bytes(one.packet))
            packet.time_base = base
            packet.pts, packet.dts = at[n], order[n] - early
            packet.duration = one.packet.duration or 0
            packet.is_keyframe = one.packet.is_keyframe
            packet.stream = outer
            out.mux(packet)
