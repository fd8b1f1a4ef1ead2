"""Small datasets drawn by hand, and a review server in a process of its own."""

from __future__ import annotations

import hashlib
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from datasets.labelled.manifest import PICTURES, Box, Dataset, NewPicture
from settlement.record import DECK_LABELS

WIDTH, HEIGHT = 640, 480
LABELS = (*DECK_LABELS, "back", "chip", "lammer_envy")
ROOT = Path(__file__).resolve().parents[3]

FIRST_BOXES = (
    Box("AS", 60, 80, 120, 160, score=0.4),
    Box("KD", 200, 80, 260, 160),
    Box("QH", 60, 300, 120, 380),
)


def draw(path: Path, words: str, boxes: tuple[Box, ...]) -> str:
    """A felt with light cards where the boxes are; gives back the file's sha256."""
    picture = np.full((HEIGHT, WIDTH, 3), (60, 90, 20), np.uint8)
    for box in boxes:
        low, high = (int(box.x0), int(box.y0)), (int(box.x1), int(box.y1))
        cv2.rectangle(picture, low, high, (240, 240, 240), -1)
        cv2.putText(picture, box.label, (low[0] + 6, low[1] + 40), 0, 0.8, (20, 20, 20), 2)
    cv2.putText(picture, words, (20, HEIGHT - 20), 0, 0.8, (255, 255, 255), 2)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(cv2.imencode(".jpg", picture)[1].tobytes())
    return hashlib.sha256(path.read_bytes()).hexdigest()


def make_dataset(folder: Path, count: int = 6) -> Path:
    """A dataset of `count` images, 1.jpg and on; those of a pair are of one deal."""
    with Dataset.create(folder, LABELS) as dataset:
        for n in range(1, count + 1):
            boxes = FIRST_BOXES if n == 1 else (Box("2C", 60, 80, 120, 160),) if n == 2 else ()
            dataset.add_picture(
                NewPicture(
                    f"{n}.jpg",
                    WIDTH,
                    HEIGHT,
                    sha256=draw(folder / PICTURES / f"{n}.jpg", f"picture {n}", boxes),
                    deal=f"deal-{(n + 1) // 2}" if n < 5 else None,
                    split="val" if n % 3 == 0 else "train",
                    labelled_by="model:v1",
                    attributes=(("seat", n),),
                ),
                boxes=boxes,
            )
    return folder


@dataclass
class Server:
    """A review server in a process of its own."""

    process: subprocess.Popen[str]
    address: str

    @property
    def port(self) -> int:
        return int(self.address.rstrip("/").rsplit(":", 1)[1])

    def kill(self) -> None:
        """End it as a power cut would: no word to the process."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=60)


_SERVE = """
import sys
import typer
from surveillance.cli.datasets.review_cmd import review_command
app = typer.Typer()
app.command()(review_command)
app(sys.argv[1:])
"""


def start_server(folder: Path, port: int = 0, name: str | None = "ann") -> Server:
    """Start `feltwatch dataset review` and wait until it says where it listens."""
    arguments = [str(folder), "--port", str(port), *(("--name", name) if name else ())]
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVE, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "NO_COLOR": "1"},
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"http://\S+/", line)
    assert found, f"the server said {line!r}"
    return Server(process, found.group())


@contextmanager
def running(folder: Path, name: str | None = "ann") -> Iterator[Server]:
    """A server for as long as it is needed; a test may put another process in its place."""
    server = start_server(folder, name=name)
    try:
        yield server
    finally:
        server.kill()


def free_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
