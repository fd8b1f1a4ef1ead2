"""Finding stacks in the image of a low camera.

Seen from 60 degrees off the vertical and more, a stack is drawn out over the felt: in a view of
the felt's plane it looks like no stack that the detector knows. So stacks are searched for in a
patch of the image itself, turned so that they stand upright, and stretched along them until the
felt looks as tilted as the detector has learned it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from vision.chips.network_input.side_strip import ChipSize
from vision.detect.detections import ByteArray
from vision.geometry.calibration import Calibration, map_points
from vision.geometry.table import VIEW_MM, FloatArray, Place

LEAST_SQUASH = 0.55
"""A patch shows the felt along the line of sight at so much of its size across it at least:
as under 57 degrees off the vertical."""

LOW = 0.58
"""The middle of the place lies so far down in the patch: stacks reach up from there."""


@dataclass(frozen=True, slots=True, eq=False)
class TiltedView:
    """A patch of a camera's image about a place; `to_image` (3, 3) leads from its px."""

    calibration: Calibration
    to_image: FloatArray
    size_px: int

    @classmethod
    def of(cls, calibration: Calibration, place: Place, size_px: int) -> TiltedView:
        """The patch about the middle of a place: VIEW_MM of felt across the line of sight."""
        middle = np.asarray(place.center_mm)
        away = middle - np.asarray(calibration.foot_mm)
        far = max(float(np.hypot(*away)), 1e-9)
        away = away / far
        side = np.array([-away[1], away[0]])
        at, up, across = calibration.felt_to_image(
            np.stack([middle, middle + 10 * away, middle + 10 * side])
        )
        squash = calibration.height_mm / math.hypot(far, calibration.height_mm)
        scale = float(np.hypot(*(across - at))) / 10 * VIEW_MM / size_px
        down = (at - up) / max(float(np.hypot(*(at - up))), 1e-9)
        right = np.array([down[1], -down[0]]) * scale
        down = down * scale / max(1.0, LEAST_SQUASH / squash)
        to_image = np.eye(3)
        to_image[:2, 0], to_image[:2, 1] = right, down
        to_image[:2, 2] = at - right * (size_px - 1) / 2 - down * (LOW * size_px - 0.5)
        return cls(calibration, to_image, size_px)

    def cut(self, frame: ByteArray) -> ByteArray:
        """The patch uint8 (size, size, 3); what lies outside the frame is black."""
        how = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        side = (self.size_px, self.size_px)
        return np.asarray(cv2.warpPerspective(frame, self.to_image, side, flags=how), np.uint8)

    def bases(self, xyxy: FloatArray, size: ChipSize) -> FloatArray:
        """Where stacks in boxes (n, 4) px stand, (n, 2) felt mm: the boxes end at their feet."""
        feet = np.column_stack([(xyxy[:, 0] + xyxy[:, 2]) / 2, xyxy[:, 3]])
        near = self.calibration.image_to_felt(map_points(self.to_image, feet))
        away = near - np.asarray(self.calibration.foot_mm)
        length = np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-9)
        bases: FloatArray = near + away / length * size.diameter_mm / 2
        return bases

    def boxes(self, outlines: list[FloatArray]) -> FloatArray:
        """Boxes (n, 4) px of outlines, each (k, 2) mm on the felt's plane."""
        back = np.asarray(np.linalg.inv(self.to_image), np.float64)
        seen = [map_points(back, self.calibration.felt_to_image(own)) for own in outlines]
        return np.array([[*own.min(axis=0), *own.max(axis=0)] for own in seen]).reshape(-1, 4)
