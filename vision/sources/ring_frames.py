"""Frames of a live stream that is not decoded all the time: decoded when they are asked for, from
the packets that are kept of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import av
from av.packet import Packet
from av.video.codeccontext import VideoCodecContext

from vision.sources.base import NEAR_S, Frame, SourceError
from vision.sources.packets.packet_buffer import CodedPacket, CodedRun, PacketRing

NEXT_WITHIN_S = 1.0
"""The packet after one that has come comes within this, or the stream has ended there."""
POLL_S = 0.03
_TIME_BASE = Fraction(1, 1_000_000)
_ANNEX_B = frozenset({"h264", "hevc"})


class RingFrames:
    """Decodes from a ring of packets; see `frames_from`."""

    def __init__(self, name: str, ring: PacketRing, stop: threading.Event) -> None:
        """`name` names the camera in errors; `stop` ends every wait."""
        self._name, self._ring, self._stop = name, ring, stop

    def frames_from(self, at_s: float) -> Iterator[Frame]:
        """Frames from the last key frame before a stream time on, as they come.

        Ends where no more packets come. Raises SourceError when no key frame before that time is
        kept, or the packets cannot be decoded.
        """
        packets = self._ring.from_key(at_s - float(NEAR_S))
        if not packets:
            raise SourceError(f"camera {self._name}: no key frame is kept from before that time")
        return self._decoded(packets)

    def _decoded(self, packets: list[CodedPacket]) -> Iterator[Frame]:
        decoder = _decoder(packets[0].run)
        index = 0
        try:
            while packets:
                for coded in packets:
                    for video in decoder.decode(_packet(coded)):
                        if video.pts is not None:
                            at = video.pts * _TIME_BASE
                            yield Frame(self._name, index, at, video, bool(video.is_corrupt))
                            index += 1
                packets = self._next(packets[-1])
        except av.error.FFmpegError as error:
            why = error.strerror or type(error).__name__
            raise SourceError(f"camera {self._name}: its frames cannot be decoded: {why}") from (
                error
            )

    def _next(self, last: CodedPacket) -> list[CodedPacket]:
        until = time.monotonic() + NEXT_WITHIN_S
        while time.monotonic() < until and not self._stop.is_set():
            if found := self._ring.after(last):
                return found
            self._stop.wait(POLL_S)
        return []


def _decoder(run: CodedRun) -> VideoCodecContext:
    decoder = av.CodecContext.create(run.codec, "r")
    assert isinstance(decoder, VideoCodecContext)
    if run.extradata and run.codec in _ANNEX_B:
        # Cameras may send these once, on request, and never again in the stream.
        decoder.extradata = run.extradata
    # Threads by frame would hold every image back by some.
    decoder.thread_type, decoder.thread_count = "NONE", 1
    return decoder


def _packet(coded: CodedPacket) -> Packet[Any]:
    packet: Packet[Any] = Packet(coded.data)
    packet.pts = packet.dts = round(coded.at_s / _TIME_BASE)
    packet.time_base = _TIME_BASE
    packet.is_keyframe = coded.key
    return packet
