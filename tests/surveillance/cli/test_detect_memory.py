"""What `feltwatch detect` takes of memory for photographs of many million pixels."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest

pytestmark = pytest.mark.slow

MOST_MB = 600
_PEAK = """
import sys
from pathlib import Path
from surveillance.cli import main
code = main(["detect", *sys.argv[1:]])
# Of this process alone: what getrusage gives begins with the peak of the one that started it.
lines = Path("/proc/self/status").read_text().splitlines()
(peak,) = (line.split()[1] for line in lines if line.startswith("VmHWM:"))
print("peak", int(peak) // 1024, "code", code)
"""


@pytest.mark.parametrize("size", [(8000, 5990), (11600, 8700)])
def test_a_large_photograph_takes_less_than_600_mb(tmp_path: Path, size: tuple[int, int]) -> None:
    """One is read at its own size, the other at half of it."""
    rng = np.random.default_rng(6)
    noise = cv2.resize(rng.integers(0, 255, (60, 80, 3), np.uint8), size)
    path = tmp_path / "large.jpg"
    assert cv2.imwrite(str(path), noise)
    done = subprocess.run(
        [sys.executable, "-c", _PEAK, str(path), "--draw", str(tmp_path / "seen")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    _, peak, _, code = done.stdout.split()[-4:]
    assert code == "0"
    assert int(peak) < MOST_MB
