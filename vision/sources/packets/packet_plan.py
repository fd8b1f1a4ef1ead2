"""Which packets of a recording are decoded: those needed for others, or whose frame is wanted."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from av.packet import Packet
from av.video.stream import VideoStream

from vision.sources.packets.unreferenced import Unreferenced

MOST_HELD = 64
"""Packets that wait for their turn in time; more than any encoder puts out of order."""

Wanted = Callable[[Fraction], bool]
"""Whether the frame of a time is wanted; asked once of each, in order of time."""


@dataclass(slots=True)
class _Held:
    packet: Packet[VideoStream]
    is_loose: bool
    """Whether no other frame needs it."""
    is_decided: bool = False
    is_left_out: bool = False


class PacketPlan:
    """Passes packets on in their order, less those that nothing needs.

    `wanted` decides in order of time, which the stamps of packets give before anything is decoded.
    Where they do not (none, or out of order) all packets are passed on.
    """

    def __init__(self, loose: Unreferenced | None, wanted: Wanted | None) -> None:
        """Without `loose` or `wanted` everything is passed on."""
        self._loose = loose if wanted is not None else None
        self._wanted = wanted or (lambda _: True)
        self._held: deque[_Held] = deque()
        self._order: list[tuple[int, int, _Held]] = []
        self._count = 0
        self._passed: deque[Fraction] = deque()
        self._is_sure = True
        """Whether the stamps are as they should be, up to now."""
        self._is_whole = True
        """Whether everything is decoded up to the next key frame."""
        self._first: int | None = None
        self._settled: int | None = None
        """Time stamp of the last frame that was decided on."""

    def choose(self, packets: Iterator[Packet[VideoStream]]) -> Iterator[Packet[VideoStream]]:
        """The packets to decode, the empty one at the end among them."""
        if self._loose is None:
            yield from packets
            return
        for packet in packets:
            self._take(packet)
            while self._held and (self._held[0].is_decided or not self._is_sure):
                own = self._held.popleft()
                if not own.is_left_out:
                    yield own.packet

    def doubt(self) -> None:
        """Something is damaged: decode everything up to the next key frame."""
        self._is_whole = True

    def left_out_before(self, at_s: Fraction | None) -> Iterator[Fraction]:
        """Times of frames that were left out, each once, in order, up to that of a given frame."""
        while self._passed and (at_s is None or self._passed[0] < at_s):
            yield self._passed.popleft()

    def _take(self, packet: Packet[VideoStream]) -> None:
        own = _Held(packet, is_loose=False)
        self._held.append(own)
        if packet.size == 0 or not self._is_sure:
            # All that come are here: what waits is decided.
            self._settle(None)
            own.is_decided = True
            return
        pts, dts = packet.pts, packet.dts
        if packet.is_discard:
            # It gives no frame.
            own.is_decided = True
            return
        is_late = pts is None or (self._settled is not None and pts <= self._settled)
        if pts is None or is_late or (dts is not None and pts < dts) or len(self._held) > MOST_HELD:
            self._is_sure = False
            return
        if packet.is_corrupt:
            self._is_whole = True
        if packet.is_keyframe:
            self._is_whole = packet.is_corrupt
            self._first = pts if self._first is None else self._first
        if self._first is None or pts < self._first:
            # Frames before the first key frame's may not be decodable.
            own.is_decided = True
            return
        own.is_loose = (
            self._loose is not None
            and not (self._is_whole or packet.is_keyframe)
            and self._loose.holds(packet)
        )
        own.is_decided = not own.is_loose
        self._count += 1
        heapq.heappush(self._order, (pts, self._count, own))
        if dts is not None:
            self._settle(dts)

    def _settle(self, until: int | None) -> None:
        """Decide on frames up to a stamp, which all later packets lie beyond."""
        while self._order and (until is None or self._order[0][0] <= until):
            pts, _, own = heapq.heappop(self._order)
            self._settled = pts
            at_s = pts * Fraction(own.packet.time_base)
            is_wanted = self._wanted(at_s)
            own.is_decided = True
            if own.is_loose and not is_wanted and self._is_sure:
                own.is_left_out = True
                self._passed.append(at_s)
