"""Clips on a full disk, tried again while the video is held, and those of further cameras."""

from __future__ import annotations

import errno
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from surveillance.alerts.model import Alert
from surveillance.config.site_file import EvidencePart
from surveillance.evidence.clips import Clip, ClipError
from surveillance.live.camera import clip_writer
from surveillance.live.camera.clip_writer import ClipWriter
from surveillance.live.messages import ClipMessage
from tests.surveillance.live.live_room import wait_for
from vision.sources.packets.packet_buffer import CodedPacket, CodedRun, Cut, PacketRing


class Sent:
    """Keeps the messages that a sender would send."""

    def __init__(self) -> None:
        self.messages: list[Any] = []

    def send(self, message: Any) -> None:
        self.messages.append(message)


@pytest.mark.parametrize("repaired", [True, False])
def test_a_clip_that_a_full_disk_did_not_take_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repaired: bool
) -> None:
    asked: list[Path] = []
    disk = {"is_full": True}

    def write(cut: Cut, path: Path) -> Clip:
        asked.append(path)
        if disk["is_full"]:
            full = OSError(errno.ENOSPC, "No space left on device")
            raise ClipError(f"{path}: the clip cannot be written: {full.strerror}") from full
        return Clip(path, float(cut.start_s), float(cut.end_s), "h264", 64)

    monkeypatch.setattr(clip_writer, "write_clip", write)
    monkeypatch.setattr(clip_writer, "RETRY_S", 0.02)
    ring = PacketRing(60)
    run = CodedRun(1, "h264", 64, 48, None, None)
    for number in range(30):
        ring.add(CodedPacket(run, Fraction(number), True, b"x"))
    sink = Sent()
    setup: Any = SimpleNamespace(evidence=EvidencePart(before_s=1, after_s=1), spool=tmp_path)
    router = ClipWriter(setup, ring, sink)  # type: ignore[arg-type]
    alert = Alert(alert_id="a", code="X", severity="high", message="m", start_s="10", end_s="12")
    router.ask([alert])
    router.work()
    wait_for(lambda: len(asked) >= 3)
    assert sink.messages == []
    if repaired:
        disk["is_full"] = False
    router.finish(10)  # without space, the end of the camera ends the attempts
    wait_for(lambda: bool(sink.messages))
    (message,) = sink.messages
    assert isinstance(message, ClipMessage)
    assert (message.path is not None) == repaired
    assert repaired or "No space left on device" in message.why


class Beside:
    """A further camera whose clock is `late_s` ahead of the first one's."""

    def __init__(self, name: str, late_s: float | None, times: range) -> None:
        self.name, self.late_s, self.ring = name, late_s, ring_of(times, run=2)

    def own_s(self, at_s: float) -> float | None:
        return None if self.late_s is None else at_s + self.late_s


def ring_of(times: range, run: int = 1) -> PacketRing:
    ring = PacketRing(60)
    for number in times:
        add(ring, number, run)
    return ring


def add(ring: PacketRing, number: int, run: int = 1) -> None:
    coded = CodedRun(run, "h264", 64, 48, None, None)
    ring.add(CodedPacket(coded, Fraction(number), True, b"x"))


def test_each_further_camera_has_a_clip_of_the_span_or_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(cut: Cut, path: Path) -> Clip:
        return Clip(path, float(cut.start_s), float(cut.end_s), "h264", 64)

    monkeypatch.setattr(clip_writer, "write_clip", write)
    beside = [
        Beside("low", 100.0, range(100, 113)),  # one second is still to come
        Beside("away", 0.0, range(0, 8)),  # ended before the span
        Beside("never", None, range(0)),
    ]
    sink = Sent()
    setup: Any = SimpleNamespace(evidence=EvidencePart(before_s=1, after_s=1), spool=tmp_path)
    writer = ClipWriter(setup, ring_of(range(14)), sink, beside)  # type: ignore[arg-type]
    alert = Alert(alert_id="a", code="X", severity="high", message="m", start_s="10", end_s="12")
    writer.ask([alert])
    writer.work()
    assert sink.messages == []  # those that do not come are waited for
    add(beside[0].ring, 113, 2)
    writer.work()
    assert sink.messages == []
    monkeypatch.setattr("time.monotonic", lambda: 10.0**9)
    writer.work()
    wait_for(lambda: bool(sink.messages))
    (message,) = sink.messages
    assert (message.start_s, message.end_s) == (9.0, 13.0)
    low, away, never = message.further
    assert (low.camera, low.clip.start_s, low.clip.end_s) == ("low", 9.0, 13.0)
    assert low.clip.path != message.path
    for one, name in ((away, "away"), (never, "never")):
        assert (one.camera, one.clip, one.why) == (name, None, clip_writer.NOT_SHOWN)
