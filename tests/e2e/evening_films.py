"""What two cameras show on the evening: the sample's rounds with mistakes, one table ahead."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av

from settlement.record import RoundRecord, read_rounds

SAMPLE = Path(__file__).parents[2] / "sample"
LEAST, MOST = Fraction(3, 2), Fraction(3)
"""How much slower than real the films are played. Key frames, all that a machine which is
behind decodes, must not come further apart than a camera is waited for."""


@dataclass(frozen=True, slots=True)
class Films:
    """Two films of the same rounds; the second one begins with the last round."""

    first: Path
    second: Path
    codes: tuple[str, ...]
    """Of the mistakes in both, by time."""


def make_films(folder: Path) -> Films:
    """Films from the first mistaken round of the sample to its end, as they are coded."""
    rounds = read_rounds(SAMPLE / "truth.jsonl")
    at = next(n for n, own in enumerate(rounds) if own.faults)
    keys = _keys()
    # Between rounds the felt is empty, as at the film's end.
    begin, joint, end = (_key_before(keys, rounds[at]), _key_before(keys, rounds[-1]), None)
    slower = _slowness()
    return Films(
        _laid(folder / "first.mp4", [(begin, end)], slower),
        _laid(folder / "second.mp4", [(joint, end), (begin, joint)], slower),
        tuple(fault.code for own in rounds[at:] for fault in own.faults or ()),
    )


def _keys() -> list[Fraction]:
    with av.open(str(SAMPLE / "video.mp4")) as film:
        return [
            packet.pts * Fraction(packet.time_base)
            for packet in film.demux(video=0)
            if packet.is_keyframe and packet.pts is not None
        ]


def _key_before(keys: list[Fraction], record: RoundRecord) -> Fraction:
    assert record.start_s is not None
    return max(key for key in keys if key <= Fraction(record.start_s))


def _laid(path: Path, pieces: list[tuple[Fraction, Fraction | None]], slower: Fraction) -> Path:
    """Pieces of the sample from key frame to key frame, one after the other, stretched."""
    with av.open(str(SAMPLE / "video.mp4")) as film, av.open(str(path), "w") as out:
        inner = film.streams.video[0]
        outer = out.add_stream_from_template(inner)
        base, frame_s = Fraction(inner.time_base or 1), 1 / Fraction(inner.average_rate or 15)
        place = Fraction(0)
        for since, until in pieces:
            film.seek(0)
            last, begun = since, False
            for packet in film.demux(inner):
                if packet.pts is None or packet.dts is None:
                    continue
                time_s = packet.pts * base
                begun = begun or (packet.is_keyframe and time_s >= since)
                if not begun:
                    continue
                if until is not None and packet.is_keyframe and time_s >= until:
                    break
                last = max(last, time_s)
                shift = place - since
                packet.pts = round((time_s + shift) * slower / base)
                packet.dts = round((packet.dts * base + shift) * slower / base)
                packet.stream = outer
                out.mux(packet)
            place += last + frame_s - since
    return path


def _slowness() -> Fraction:
    """How much slower than real the films are to be played: this machine may be busy."""
    began = time.monotonic()
    with av.open(str(SAMPLE / "video.mp4")) as film:
        frames = film.decode(video=0)
        for _ in range(20):
            next(frames)
    return min(MOST, max(LEAST, round((time.monotonic() - began) * 8) * Fraction(1, 2)))
