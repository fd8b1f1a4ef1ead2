"""A table file's data as it stands in a page, and an image of its table to point at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from pydantic import JsonValue, ValidationError

from surveillance.web.services.errors import RefusedError
from surveillance.web.services.plain_faults import faults_of
from vision.detect.detections import ByteArray
from vision.geometry.calibration import Calibration
from vision.geometry.table import TableFile

SAME_SHAPE = 0.01
"""Two images of sides whose proportion differs by less are of one shape."""


@dataclass(frozen=True, slots=True)
class LaidPicture:
    """An image in the camera's size, `scale` px of which are one of the picture as it was sent."""

    frame: ByteArray
    calibration: Calibration
    scale: float

    @classmethod
    def of(cls, table: TableFile, picture: Path) -> LaidPicture:
        """The picture of a table; raises RefusedError where it is none of its camera's."""
        if table.camera is None:
            raise RefusedError("the camera is not calibrated yet: calibrate it, then take samples")
        frame, scale = _in_camera_px(picture, table.camera.width_px, table.camera.height_px)
        return cls(frame, Calibration.fit(table.camera), scale)

    def felt_mm(self, at_px: tuple[float, float]) -> tuple[float, float]:
        """The felt point (mm) below a point of the picture as it was sent."""
        x, y = self.calibration.image_to_felt(np.array([at_px]) * self.scale)[0].tolist()
        return x, y


def sound_table(data: Mapping[str, JsonValue]) -> TableFile:
    """The table file of a page's data; raises RefusedError."""
    try:
        return TableFile.model_validate(data)
    except ValidationError as error:
        first = faults_of(error)[0]
        raise RefusedError(f"the table file: {first.place}: {first.message}") from error


def _in_camera_px(picture: Path, width: int, height: int) -> tuple[ByteArray, float]:
    """The image in the camera's size, and the camera's px to one of its own.

    Raises RefusedError.
    """
    image = cv2.imread(str(picture))
    if image is None:
        raise RefusedError("this image is not kept any more; take it again")
    h, w = image.shape[:2]
    if abs(w / h - width / height) > SAME_SHAPE:
        raise RefusedError(
            f"the image has {w} x {h} px, the calibrated camera {width} x {height}: take an "
            "image of that camera, uncropped"
        )
    if (w, h) != (width, height):
        image = cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)
    return np.asarray(image, np.uint8), width / w
