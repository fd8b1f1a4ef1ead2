"""Devices without a device: what FFmpeg is asked for, what refusals say, whose memory is used."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from tests.vision.sources.live_films import QUICK, until
from vision.sources import camera_backends, live
from vision.sources.camera_backends import LivePlace, LostError, Opened, open_place
from vision.sources.frame import LiveFrame
from vision.sources.limits import LiveLimits
from vision.sources.live import LiveSource
from vision.sources.packets.packet_buffer import PacketRing
from vision.sources.url import Address

PICTURES = 10


def raw_film(path: Path, from_s: float, clock_s: float = 0.0) -> Path:
    """Raw pictures as a camera gives them, time stamps in us of the monotonic clock."""
    with av.open(str(path), "w", format="nut") as container:
        stream: Any = container.add_stream("rawvideo", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuyv422"
        stream.time_base = stream.codec_context.time_base = Fraction(1, 1_000_000)
        for index in range(PICTURES):
            picture = np.full((48, 64, 3), 20 * index, np.uint8)
            frame = av.VideoFrame.from_ndarray(picture, format="bgr24").reformat(format="yuyv422")
            frame.pts = round((from_s + clock_s + index * 0.1) * 1e6)
            frame.time_base = Fraction(1, 1_000_000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


class Noted:
    """A container that notes where the bytes of its packets lie.

    The packets are kept: what is freed may be given to a picture, rightly.
    """

    def __init__(self, path: Path) -> None:
        self.container = av.open(str(path))
        self.kept: list[Any] = []
        self.lent: list[range] = []

    def demux(self, stream: Any) -> Iterator[Any]:
        for packet in self.container.demux(stream):
            if packet.size:
                self.kept.append(packet)
                self.lent.append(range(packet.buffer_ptr, packet.buffer_ptr + packet.buffer_size))
            yield packet

    def close(self) -> None:
        self.container.close()


def watched(path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[list[LiveFrame], Noted]:
    noted = Noted(path)
    opened = Opened(noted, noted.container.streams.video[0])  # type: ignore[arg-type]
    monkeypatch.setattr(live, "open_place", lambda *_: opened)
    place = LivePlace(Address.parse("v4l2:/dev/video0"))
    frames: list[LiveFrame] = []
    with LiveSource(place, every_s=0.0, limits=LiveLimits(slot=100), ring=PacketRing(9)) as source:
        until(source, lambda s: s.reconnects > 0 and len(frames) >= PICTURES, frames=frames)
        told = source.status().message
    assert told.startswith("/dev/video0: it gives no more frames; it was unplugged, or its driver")
    return frames, noted


def test_pictures_of_a_device_lie_in_memory_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames, noted = watched(raw_film(tmp_path / "a.nut", time.monotonic() - 2), monkeypatch)
    assert len(frames) == len(noted.lent) == PICTURES
    for frame in frames:
        assert not any(frame._video.planes[0].buffer_ptr in lent for lent in noted.lent)
    levels = [float(frame.bgr().mean()) for frame in frames]
    assert levels == pytest.approx([20.0 * n for n in range(10)], abs=3)


@pytest.mark.parametrize("clock_s", [0.0, 3600.0, -90.0])
def test_the_kernels_time_stamps_are_the_clock_where_they_can_be_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock_s: float
) -> None:
    began, wall = time.monotonic() - 2, time.time() - 2
    frames, _ = watched(raw_film(tmp_path / "a.nut", began, clock_s), monkeypatch)
    # The first time told is taken when the second agrees with it.
    assert [frame.by_sender for frame in frames[1:]] == [clock_s == 0.0] * 9
    if clock_s == 0.0:
        shown = [frame.shown_at - wall for frame in frames[1:]]
        assert shown == pytest.approx([0.1 * n for n in range(1, 10)], abs=0.05)


@pytest.fixture
def film(tmp_path: Path) -> Iterator[Any]:
    with av.open(str(raw_film(tmp_path / "a.nut", 5.0))) as container:
        yield container


def asked_of(
    monkeypatch: pytest.MonkeyPatch, answers: dict[str | None, Any]
) -> list[dict[str, str]]:
    """What is asked for; `answers` by input format are error numbers, or what is opened."""
    asked: list[dict[str, str]] = []

    def opens(where: str, **more: Any) -> Any:
        asked.append(more["options"])
        answer = answers[more["options"].get("input_format")]
        if isinstance(answer, int):
            raise OSError(answer, os.strerror(answer), where)
        return answer

    monkeypatch.setattr(camera_backends.av, "open", opens)  # type: ignore[attr-defined]
    return asked


def test_coded_pictures_are_asked_for_first(monkeypatch: pytest.MonkeyPatch, film: Any) -> None:
    place = LivePlace(Address.parse("v4l2:/dev/null"), size_px=(1280, 720))
    asked = asked_of(monkeypatch, {"mjpeg": film})
    assert open_place(place, QUICK).container is film
    assert asked == [{"video_size": "1280x720", "input_format": "mjpeg"}]
    asked = asked_of(monkeypatch, {"mjpeg": errno.EINVAL, None: film})
    assert open_place(place, QUICK).container is film
    assert asked[1:] == [{"video_size": "1280x720"}]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EBUSY, "another program uses it; a device can be watched by one at a time"),
        (errno.EACCES, "this user may not open it; add the user to the group 'video'"),
        (errno.ENOTTY, "it is no camera; 'v4l2-ctl --list-devices' lists the cameras"),
        (errno.ENODEV, "it is no camera; 'v4l2-ctl --list-devices' lists the cameras"),
        (errno.EIO, "input/output error"),
    ],
)
def test_what_a_device_refuses_is_told_with_the_mend(
    monkeypatch: pytest.MonkeyPatch, number: int, words: str
) -> None:
    asked_of(monkeypatch, {"mjpeg": number, None: number})
    with pytest.raises(LostError) as told:
        open_place(LivePlace(Address.parse("v4l2:/dev/null")), QUICK)
    assert str(told.value) == f"/dev/null: {words}"


def test_a_file_that_is_no_device_is_told() -> None:
    """By FFmpeg and the kernel themselves."""
    with pytest.raises(LostError, match=r"^/dev/null: it is no camera; "):
        open_place(LivePlace(Address.parse("v4l2:/dev/null")), QUICK)


def test_a_device_that_is_away_is_told() -> None:
    with pytest.raises(LostError, match="there is no such device; one that is plugged in again"):
        open_place(LivePlace(Address.parse("v4l2:/dev/video97")), QUICK)
