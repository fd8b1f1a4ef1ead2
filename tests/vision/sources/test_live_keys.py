"""Cameras with long between their key frames: what is left out on purpose is no loss."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import av
import pytest

from tests.vision.sources.live_films import QUICK, live, until, write_film
from vision.sources import live as live_source
from vision.sources.base import SourceState
from vision.sources.camera_backends import LivePlace, Opened
from vision.sources.limits import LiveLimits
from vision.sources.live import LiveSource

KEY_EVERY_S = 3.0
IMPATIENT = replace(QUICK, give_up_s=1.0)
"""Gives up long before the next key frame comes."""

SKIPPING = replace(IMPATIENT, key_lag_s=-1.0)
"""Always behind by more than this: only key frames are decoded."""


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("film") / "a.mp4"
    return write_film(path, 10.0, key_every_s=KEY_EVERY_S)


def reconnects(source: LiveSource) -> tuple[int, str]:
    status = source.status()
    return status.reconnects, status.message


def test_a_reader_that_waits_for_key_frames_stays_connected(film: Path) -> None:
    with live(str(film), every_s=0.0, limits=SKIPPING) as source:
        times = [float(frame.at_s) for frame in source.frames()]
        status = source.status()
        assert reconnects(source) == (0, "the end")
    assert times == [0.0, 3.0, 6.0, 9.0]
    assert status.skipped >= 90


def test_of_key_frames_alone_one_now_and_then_is_no_stall(film: Path) -> None:
    assert QUICK.stalled_s < KEY_EVERY_S
    with live(str(film), every_s=0.0) as source:
        source.keys_only = True
        times, states = [], set()
        while source.state is not SourceState.ENDED:
            frame = source.next_frame(0.1)
            states.add(source.status().state)
            if frame is not None:
                times.append(float(frame.at_s))
        assert times == [0.0, 3.0, 6.0, 9.0]
        assert SourceState.STALLED not in states


@pytest.fixture
def joined_late(film: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The film as a server plays it that is joined right after a key frame."""

    def opened(place: LivePlace, limits: LiveLimits) -> Opened:
        container = av.open(str(film))

        def packets(stream: Any) -> Iterator[Any]:
            began = time.monotonic()
            for packet in container.demux(stream):
                if packet.pts:
                    at_s = float(packet.pts * packet.time_base)
                    time.sleep(max(0.0, began + at_s - time.monotonic()))
                    yield packet

        shown = SimpleNamespace(demux=packets, close=container.close)
        return Opened(shown, container.streams.video[0])  # type: ignore[arg-type]

    monkeypatch.setattr(live_source, "open_place", opened)


@pytest.mark.usefixtures("joined_late")
def test_the_first_key_frame_is_waited_for(film: Path) -> None:
    with live(str(film), every_s=0.0, limits=IMPATIENT) as source:
        until(source, lambda s: s.state is SourceState.RUNNING)
        assert reconnects(source) == (0, "")


@pytest.mark.usefixtures("joined_late")
def test_a_camera_that_sends_no_key_frame_is_given_up(film: Path) -> None:
    limits = replace(IMPATIENT, key_give_up_s=1.5)
    with live(str(film), every_s=0.0, limits=limits) as source:
        status = until(source, lambda s: s.state is SourceState.RECONNECTING)
        assert "no key frame came for 1.5 s" in status.message


def test_a_camera_whose_pictures_all_break_is_given_up(
    film: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LiveSource, "_give", lambda *_: None)
    with live(str(film), every_s=0.0, limits=IMPATIENT) as source:
        status = until(source, lambda s: s.state is SourceState.RECONNECTING)
        assert "no frame can be decoded" in status.message
