"""A real file source read in bursts while busy processes take the cores: frames come evenly."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.vision.sources.live_films import live, write_film
from vision.sources.gaps import LEAST_S
from vision.sources.limits import LiveLimits

EVERY_S = 0.2
BURST_S = 1.6
"""So long the reader is busy with one frame, as when all views come to rest together ..."""
QUICK_FRAMES = 14
"""... and the next ones, in which nothing comes to rest, cost it nothing."""


@pytest.fixture
def busy_cores() -> Iterator[None]:
    code = "while True: sum(range(10_000))"
    count = os.cpu_count() or 1
    own = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(count)]
    yield
    for process in own:
        process.kill()
        process.wait()


def work(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(10_000))


@pytest.mark.slow
@pytest.mark.usefixtures("busy_cores")
def test_a_reader_that_is_busy_in_bursts_gets_frames_evenly(tmp_path: Path) -> None:
    film = write_film(tmp_path / "a.mp4", 40.0, rate=10)
    times, gaps = [], []
    with live(str(film), every_s=EVERY_S, limits=LiveLimits()) as source:
        for number, frame in enumerate(source.frames()):
            times.append(float(frame.at_s))
            gaps.append(frame.gap)
            if number % QUICK_FRAMES == 0:
                work(BURST_S)
        status = source.status()
    steps = [b - a for a, b in pairwise(times)]
    # Nothing is lost unsaid: a step that may hide something carries its span.
    for step, end_s, gap in zip(steps, times[1:], gaps[1:], strict=True):
        assert (gap is not None) == (step > LEAST_S)
        if gap is not None:
            assert (gap.from_s, gap.to_s) == (pytest.approx(end_s - step), end_s)
    # In bursts of the newest two, nearly every tenth step was longer than a second.
    assert sum(step > LEAST_S for step in steps) <= 1
    assert len(times) + status.dropped + status.skipped >= 200
