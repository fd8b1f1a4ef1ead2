"""Coded packets made alike, wherever they come from, so that clips can be written of them."""

from __future__ import annotations

from av.bitstream import BitStreamFilterContext
from av.packet import Packet
from av.video.stream import VideoStream

from vision.sources.packets.packet_buffer import CodedRun

_START = b"\x00\x00\x01"
_FILTERS = {"h264": "h264_mp4toannexb", "hevc": "hevc_mp4toannexb"}


def coded_run(number: int, stream: VideoStream) -> CodedRun:
    """What clips of a stream need to know; `extradata` as it begins a byte stream, or None."""
    own = stream.codec_context
    extra = bytes(own.extradata) if own.extradata else None
    if own.name in _FILTERS and extra is not None and not _is_byte_stream(extra):
        # The filter puts the set-up bytes before every key frame.
        extra = None
    return CodedRun(number, own.name, own.width, own.height, extra, stream.average_rate)


class ByteStream:
    """Turns packets as files hold them (lengths before units) into a byte stream (start codes).

    Cameras send the latter already; theirs are copied as they are.
    """

    def __init__(self, stream: VideoStream) -> None:
        own = stream.codec_context
        extra = bytes(own.extradata) if own.extradata else b""
        self._filter: BitStreamFilterContext | None = None
        if own.name in _FILTERS and extra and not _is_byte_stream(extra):
            self._filter = BitStreamFilterContext(_FILTERS[own.name], stream)

    def convert(self, packet: Packet[VideoStream]) -> bytes:
        """The packet's bytes; the packet itself stays as it is."""
        data = bytes(packet)
        if self._filter is None:
            return data
        # The filter takes what it is given away from its owner.
        return b"".join(bytes(part) for part in self._filter.filter(copied(packet)))


def copied(packet: Packet[VideoStream]) -> Packet[VideoStream]:
    """A packet with bytes of its own; it belongs to no stream."""
    copy: Packet[VideoStream] = Packet(bytes(packet))  # type: ignore[assignment]
    copy.pts, copy.dts, copy.time_base = packet.pts, packet.dts, packet.time_base
    copy.is_keyframe = packet.is_keyframe
    return copy


def _is_byte_stream(extra: bytes) -> bool:
    return extra.startswith((_START, b"\x00" + _START))
