"""What a live source holds after its reader was behind, measured on a process of its own."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.vision.sources.live_films import write_film
from vision.sources.file import FileSource
from vision.sources.frame import LiveFrame

SIZE = (1280, 720)
IMAGE_BYTES = SIZE[0] * SIZE[1] * 3 // 2
WAITING = 30
PROGRAM = """
import sys, time
from surveillance.heap import give_back_memory, memory_bytes
from tests.vision.sources.live_films import live
from vision.sources.limits import LiveLimits

def read(source, many):
    while many:
        many -= source.next_frame(1.0) is not None
    give_back_memory()
    return memory_bytes()

limits = LiveLimits(slot=int(sys.argv[2]), slot_s=60.0)
with live(sys.argv[1], every_s=0.0, loop=True, limits=limits) as source:
    before = read(source, 20)
    while len(source._slot) < int(sys.argv[2]):
        time.sleep(0.02)
    print(read(source, int(sys.argv[2]) + 20) - before)
"""


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("film")
    return write_film(folder / "a.mp4", 20.0, rate=25, size=SIZE, b_frames=2, frozen_from=2.0)


@pytest.mark.skipif(sys.platform != "linux", reason="the C library is another")
def test_images_that_waited_are_given_back(film: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(film), str(WAITING)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    assert int(done.stdout) < WAITING / 3 * IMAGE_BYTES


def test_an_image_that_left_its_decoder_is_the_same(film: Path) -> None:
    with FileSource(film) as recorded:
        for frame in itertools.islice(recorded.frames(), 8):
            held = LiveFrame("film", frame.index, frame.at_s, frame._video)
            # What was unpacked before lies in the decoder's buffers too.
            luma, is_key = held.luma.copy(), held.is_key
            held.leave_decoder()
            assert not np.shares_memory(held.luma, frame.luma)
            assert np.array_equal(held.luma, luma)
            assert np.array_equal(held.bgr(), frame.bgr())
            assert (held.is_key, held.width, held.height) == (is_key, *SIZE)
            assert held._video.pts == frame._video.pts
