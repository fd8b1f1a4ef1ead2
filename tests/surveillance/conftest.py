"""A little recording, and a table file that fits it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
import tomli_w

from tests.surveillance.handmade import RULES
from vision.geometry.standard_layout import standard_table
from vision.geometry.table import Camera, FeltPoint, TableFile

WIDTH, HEIGHT, RATE, FRAMES = 320, 180, 10, 40


@pytest.fixture(scope="session")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four seconds of H.264, 320 x 180."""
    return write_video(tmp_path_factory.mktemp("video") / "table.mp4")


def write_video(path: Path) -> Path:
    """Write four seconds of H.264, 320 x 180."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=RATE)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.time_base = Fraction(1, RATE)
        for index in range(FRAMES):
            pixels = np.full((HEIGHT, WIDTH, 3), 40 + 4 * index, np.uint8)
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def write_tagged(video: Path, to: Path, number: int) -> None:
    """A copy of an MP4 with a number in a box that players skip: the same frames, another file."""
    box = (16).to_bytes(4, "big") + b"free" + number.to_bytes(8, "big")
    to.write_bytes(video.read_bytes() + box)


@pytest.fixture(scope="session")
def table() -> TableFile:
    """The standard table, its camera over the little recording."""
    return small_table()


def small_table() -> TableFile:
    """Return the standard table, its camera over the little recording."""
    points = tuple(
        FeltPoint(felt_mm=(x * 2000.0, y * 1000.0), image_px=(x * 300.0, y * 170.0))
        for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))
    )
    camera = Camera(width_px=WIDTH, height_px=HEIGHT, points=points)
    return standard_table(RULES).model_copy(update={"camera": camera})


def table_text(table: TableFile) -> str:
    """Return the text of a table file."""
    return tomli_w.dumps(table.model_dump(mode="json", exclude_none=True))


@pytest.fixture(scope="session")
def write_table(tmp_path_factory: pytest.TempPathFactory) -> Callable[[TableFile], Path]:
    """Writes a table file and gives its path."""

    def write(table: TableFile) -> Path:
        path = tmp_path_factory.mktemp("table") / "table.toml"
        path.write_text(table_text(table))
        return path

    return write


@pytest.fixture(scope="session")
def table_path(table: TableFile, write_table: Callable[[TableFile], Path]) -> Path:
    """The table file of `table`."""
    return write_table(table)
