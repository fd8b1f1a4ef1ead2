"""Whether other frames are predicted from a coded frame, by the headers of its H.264 or H.265."""

from __future__ import annotations

from collections.abc import Iterator

from av.packet import Packet
from av.video.stream import VideoStream

_START = b"\x00\x00\x01"
_AVC_BESIDE = frozenset({6, 9, 12})
"""H.264: information, delimiters and filler, which no other packet needs."""
_HEVC_BESIDE = frozenset({35, 38, 39, 40})
_HEVC_SPS = 33
_HEVC_UNREFERENCED = frozenset(range(0, 16, 2))


class Unreferenced:
    """Answers for the packets of one stream; `of` gives None for other codecs than H.264, H.265."""

    def __init__(self, codec: str, extradata: bytes) -> None:
        self._is_hevc = codec == "hevc"
        self._length = 0
        """Bytes of the length before each unit; 0: units stand between start codes."""
        self._layers: int | None = None
        """H.265: the stream's temporal layers less 1; frames of lower ones may be referenced."""
        if extradata[:1] == b"\x01" and len(extradata) > 22:
            self._length = (extradata[21 if self._is_hevc else 4] & 3) + 1
            if self._is_hevc:
                self._layers = max(0, (extradata[21] >> 3 & 7) - 1)
        elif self._is_hevc:
            self._note_layers(list(_between_start_codes(extradata)))

    @classmethod
    def of(cls, stream: VideoStream) -> Unreferenced | None:
        """For a stream that was opened."""
        own = stream.codec_context
        if own.name not in ("h264", "hevc"):
            return None
        return cls(own.name, bytes(own.extradata or b""))

    def holds(self, packet: Packet[VideoStream]) -> bool:
        """Whether nothing in a packet is needed for any other frame; False where that is unsure."""
        data = bytes(packet)
        units = list(self._by_length(data) if self._length else _between_start_codes(data))
        if not self._is_hevc:
            slices = [u for u in units if u[0] & 31 not in _AVC_BESIDE]
            return bool(slices) and all(u[0] & 31 == 1 and not u[0] >> 5 & 3 for u in slices)
        self._note_layers(units)
        slices = [u for u in units if u[0] >> 1 & 63 not in _HEVC_BESIDE]
        return bool(slices) and all(self._is_loose(u) for u in slices)

    def _is_loose(self, unit: bytes) -> bool:
        """Whether an H.265 unit is a slice that is not referenced, of the highest layer."""
        kind, layer = unit[0] >> 1 & 63, (unit[1] & 7) - 1
        return kind in _HEVC_UNREFERENCED and self._layers is not None and layer >= self._layers

    def _note_layers(self, units: list[bytes]) -> None:
        for unit in units:
            if self._is_hevc and unit[0] >> 1 & 63 == _HEVC_SPS:
                self._layers = max(self._layers or 0, unit[2] >> 1 & 7)

    def _by_length(self, data: bytes) -> Iterator[bytes]:
        """The first bytes of each unit."""
        at = 0
        while at + self._length + 3 <= len(data):
            begin = at + self._length
            yield data[begin : begin + 3]
            at = begin + int.from_bytes(data[at:begin], "big")


def _between_start_codes(data: bytes) -> Iterator[bytes]:
    """The first bytes of each unit."""
    at = data.find(_START)
    while at >= 0:
        if len(unit := data[at + 3 : at + 6]) == 3:
            yield unit
        at = data.find(_START, at + 3)
