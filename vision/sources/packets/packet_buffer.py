"""The last minutes of a stream as it was coded, bounded in time and in bytes."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class CodedRun:
    """What is needed to play the packets of one run: codec name, size in px, set-up bytes."""

    number: int
    codec: str
    width: int
    height: int
    extradata: bytes | None
    rate: Fraction | None


@dataclass(frozen=True, slots=True)
class CodedPacket:
    """One coded image: `at_s` is stream time, in the order of decoding."""

    run: CodedRun
    at_s: Fraction
    key: bool
    data: bytes


@dataclass(frozen=True, slots=True)
class Cut:
    """Packets of one run from a key frame on; `start_s` and `end_s` are stream times."""

    run: CodedRun
    packets: tuple[CodedPacket, ...]
    start_s: Fraction
    end_s: Fraction


class PacketRing:
    """Keeps the packets of the last `seconds`, never more than `most_bytes`.

    >>> run = CodedRun(1, "h264", 64, 48, None, None)
    >>> ring = PacketRing(seconds=4, most_bytes=1000)
    >>> for n in range(10):
    ...     ring.add(CodedPacket(run, Fraction(n), n % 2 == 0, bytes(10)))
    >>> cut = ring.cut(7, 8)
    >>> float(cut.start_s), float(cut.end_s), len(ring)
    (6.0, 8.0, 4)
    """

    def __init__(self, seconds: float = 120.0, most_bytes: int = 256 * 2**20) -> None:
        """Limits in s of stream time and in bytes of coded data."""
        self.seconds = seconds
        self.most_bytes = most_bytes
        self._lock = threading.Lock()
        self._packets: deque[CodedPacket] = deque()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._packets)

    @property
    def held_bytes(self) -> int:
        """Bytes of coded data that are held."""
        return self._bytes

    def add(self, packet: CodedPacket) -> None:
        """Take the next packet in; what is too old or too much goes, up to a key frame."""
        with self._lock:
            self._packets.append(packet)
            self._bytes += len(packet.data)
            if self._too_much(packet):
                self._drop()
                while self._packets and (self._too_much(packet) or not self._packets[0].key):
                    self._drop()

    def _too_much(self, newest: CodedPacket) -> bool:
        if self._bytes > self.most_bytes:
            return True
        return newest.at_s - self._packets[0].at_s > self.seconds

    def _drop(self) -> None:
        self._bytes -= len(self._packets.popleft().data)

    def newest_s(self) -> Fraction | None:
        """Stream time of the newest packet."""
        with self._lock:
            return self._packets[-1].at_s if self._packets else None

    def from_key(self, at_s: float) -> list[CodedPacket]:
        """Packets from the last key frame at or before `at_s` to the end of its run; none where
        that key frame has not come or is gone."""
        with self._lock:
            packets = list(self._packets)
        keys = [k for k, packet in enumerate(packets) if packet.key and packet.at_s <= at_s]
        if not keys:
            return []
        return [p for p in packets[keys[-1] :] if p.run.number == packets[keys[-1]].run.number]

    def after(self, last: CodedPacket) -> list[CodedPacket]:
        """Packets of the same run that came after one; none where that one is gone."""
        later: list[CodedPacket] = []
        with self._lock:
            for packet in reversed(self._packets):
                if packet is last:
                    return [p for p in reversed(later) if p.run.number == last.run.number]
                later.append(packet)
        return []

    def cut(self, from_s: float, to_s: float) -> Cut | None:
        """Packets from the key frame at or before `from_s` to `to_s`; None when there are none.

        Packets of one run only: of the run that holds most of the time asked for.
        """
        with self._lock:
            packets = list(self._packets)
        best: list[CodedPacket] = []
        for number in dict.fromkeys(p.run.number for p in packets):
            own = [p for p in packets if p.run.number == number]
            keys = [k for k, p in enumerate(own) if p.key]
            if not keys:
                continue
            first = max((k for k in keys if own[k].at_s <= from_s), default=keys[0])
            wanted = own[first:]
            # Coded order: images shown before `to_s` may be coded just after later ones.
            last = max((k for k, p in enumerate(wanted) if p.at_s <= to_s), default=-1)
            wanted = wanted[: last + 1]
            if wanted and (not best or _length(wanted) >= _length(best)):
                best = wanted
        if not best:
            return None
        times = [p.at_s for p in best]
        return Cut(best[0].run, tuple(best), min(times), max(times))


def _length(packets: list[CodedPacket]) -> Fraction:
    times = [p.at_s for p in packets]
    return max(times) - min(times)
