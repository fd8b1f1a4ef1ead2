"""What the commands share that take samples of what is laid out on a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import cv2
import typer

from settlement.errors import FeltwatchError
from vision.detect.detections import ByteArray
from vision.geometry.table import TableFile, load_table

if TYPE_CHECKING:
    from vision.geometry.calibration import Calibration

LaidTable = Annotated[Path, typer.Option("--table", help="The table file (TOML), calibrated.")]
AtS = Annotated[
    float, typer.Option("--at", min=0, help="Take the image so many seconds into a video.")
]
SampledImage = Annotated[
    Path | None, typer.Option("--image", help="Write what was sampled as an image, to check.")
]


def calibrated(table: Path) -> tuple[TableFile, Calibration]:
    """A table file and its camera's calibration; raises FeltwatchError where it has none."""
    from vision.geometry.calibration import Calibration

    own = load_table(table)
    if own.camera is None:
        raise FeltwatchError(
            f"{table}: the camera is not calibrated; run feltwatch calibrate first"
        )
    return own, Calibration.fit(own.camera)


def frame_of(source: str, at_s: float) -> ByteArray:
    """The image that shows what is laid out. Raises FeltwatchError."""
    from surveillance.config.calibration_image import picture_of, picture_of_video

    return picture_of_video(Path(source), at_s) if at_s else picture_of(source)


def felt_point(text: str) -> tuple[float, float] | None:
    """The point of X,Y in mm; None for another form. Raises ValueError for no numbers.

    >>> felt_point("812,433"), felt_point("3.high")
    ((812.0, 433.0), None)
    """
    if "," not in text:
        return None
    x, _, y = text.partition(",")
    return float(x), float(y)


def write_sampled(path: Path | None, image: ByteArray) -> None:
    """Write what was sampled where it is asked for. Raises FeltwatchError."""
    if path is not None and not cv2.imwrite(str(path), image):
        raise FeltwatchError(f"--image {path}: cannot be written; give a .png in a folder there is")
