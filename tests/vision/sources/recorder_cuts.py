"""Recordings cut into files as recorders do: coded frames copied from a key frame on."""

from __future__ import annotations

from pathlib import Path

import av
from av.packet import Packet


def cut(
    video: Path,
    out: Path,
    from_s: float,
    to_s: float,
    *,
    anew: bool = True,
    creation_time: str | None = None,
) -> Path:
    """Copy frames from `from_s` (a key frame's time) up to `to_s`; times begin at 0 if `anew`."""
    with av.open(str(video)) as source, av.open(str(out), "w") as target:
        if creation_time is not None:
            target.metadata["creation_time"] = creation_time
        stream = source.streams.video[0]
        base = stream.time_base
        assert base is not None
        own = target.add_stream_from_template(stream)
        own.time_base = base
        first = round(from_s / base)
        source.seek(first, stream=stream)
        for packet in source.demux(stream):
            if packet.pts is None or packet.dts is None or packet.pts < first:
                continue
            if packet.pts * base >= to_s:
                break
            copied = Packet(bytes(packet))
            copied.time_base = base
            copied.pts, copied.dts = packet.pts, packet.dts
            if anew:
                copied.pts, copied.dts = packet.pts - first, packet.dts - first
            copied.duration = packet.duration
            copied.is_keyframe = packet.is_keyframe
            copied.stream = own
            target.mux(copied)
    return out
