"""Memory of a process after images were freed, measured on the process itself."""

from __future__ import annotations

import subprocess
import sys

import pytest

IMAGE_BYTES = 3840 * 2160
IMAGES = 24
PROGRAM = f"""
import numpy as np
from surveillance.heap import give_back_memory, memory_bytes

np.ones({IMAGE_BYTES}, np.uint8)
before = memory_bytes()
images, small = [], []
for _ in range({IMAGES}):
    images.append(np.ones({IMAGE_BYTES}, np.uint8))
    small.append(np.ones(50_000, np.uint8))
images.clear()
if {{given_back}}:
    give_back_memory()
print(memory_bytes() - before)
"""


def held_bytes(*, given_back: bool) -> int:
    """What a process holds of freed images that lay between small blocks."""
    command = [sys.executable, "-c", PROGRAM.format(given_back=given_back)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="the C library is another")
def test_freed_images_are_given_back() -> None:
    assert held_bytes(given_back=True) < 2 * IMAGE_BYTES
    # Otherwise the test would say nothing.
    assert held_bytes(given_back=False) > IMAGES * IMAGE_BYTES / 2
