"""`feltwatch serve` as people run it: a process of its own."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.surveillance.live.live_room import PATIENCE_S, wait_for

ROOT = Path(__file__).resolve().parents[3]
START_S = 300.0
"""For a process to load its libraries and say where it is."""


@contextmanager
def serving(
    site_file: Path, later: list[str] | None = None, **environment: str
) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """The process and its first two lines: where it is, and the first admin's link.

    What it says after them is added to `later`.
    """
    command = [sys.executable, "-m", "surveillance", "serve", "--config", str(site_file)]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
    )  # fmt: skip
    assert process.stdout is not None
    said: queue.Queue[str] = queue.Queue()
    out = process.stdout
    listening = threading.Thread(target=lambda: [said.put(line) for line in out], daemon=True)
    listening.start()

    def begun() -> bool:
        assert process.poll() is None, f"it ended, saying: {list(said.queue)}"
        return said.qsize() >= 2

    try:
        wait_for(begun, START_S)
        yield process, [said.get(), said.get()]
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(PATIENCE_S)
        listening.join(PATIENCE_S)
        while later is not None and not said.empty():
            later.append(said.get())
