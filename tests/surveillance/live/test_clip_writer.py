"""Clips on a full disk: tried again while the video is held."""

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
from vision.sources.packet_buffer import CodedPacket, CodedRun, Cut, PacketRing


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
