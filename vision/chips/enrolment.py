"""Samples of a table's own chips, taken from one laid-out stack of each kind."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from vision.chips.boxes import Box, FoundStack
from vision.chips.faces import cut_face
from vision.chips.network_input.chip_sample import FIRST_CHIP, SAMPLE_CHIPS, cut_sample
from vision.chips.network_input.side_strip import (
    BELOW_CHIPS,
    ROWS_PER_CHIP,
    ChipSize,
    cut_strip,
    sample,
)
from vision.chips.reading import ReadStack, read_stacks
from vision.chips.side_chain import cut_rows
from vision.chips.side_palette import Palette
from vision.chips.side_runtime import StripReader
from vision.detect.detections import ByteArray, Detector
from vision.geometry.calibration import Calibration
from vision.geometry.table import VIEW_MM, FloatArray, Place, Rgb, encode_png

NEAR_MM = 30.0
"""A stack is laid at most so far from the middle of its spot."""

FEWEST_CHIPS = FIRST_CHIP + 3
"""A sample shows two chips clear of the felt's shadow and of the upper rim."""

RINGS = (0.25, 0.55, 0.85)
"""Radii of the face at which its colour is taken, in radii of the chip."""

FELT_RINGS = (1.35, 1.55)
"""Radii about a stack at which the felt's colour is taken, in radii of the chip."""


FACE_OFF_MM, FACE_STEP_MM = 3.0, 0.2
"""How far beside the place that the foot gives a face is looked for, and in which steps: a stack
leans, and its foot is found to half a chip."""

RIM_MM = 0.5
"""The rim of a face is the edge between circles so much smaller and larger."""

CLEAR_RIM = 1.5
"""Least contrast of the rim, in that of circles beside it."""


class SizedDetector(Detector, Protocol):
    """A detector of views of `size` px."""

    size: int


@dataclass(frozen=True, slots=True, eq=False)
class Enrolled:
    """What a laid-out stack shows: `side` uint8 (SAMPLE_ROWS, SAMPLE_COLUMNS, 3) and `face`
    (FACE_PX, FACE_PX, 3) BGR, their mean colours (RGB), that of the felt before it, how many
    chips were counted, and whether the face was found, and is cut, about its own middle."""

    side: ByteArray
    face: ByteArray
    side_rgb: Rgb
    face_rgb: Rgb
    felt_rgb: Rgb
    counted: int
    face_centred: bool

    def as_table_data(self) -> dict[str, Any]:
        """What a table file says of a chip so sampled, by key."""
        return {
            "rgb": list(self.side_rgb),
            "face_rgb": list(self.face_rgb),
            "side_png": encode_png(self.side),
            "face_png": encode_png(self.face),
            "face_centred": self.face_centred,
        }


def laid_stack(
    frame: ByteArray, calibration: Calibration, place: Place, at_mm: tuple[float, float],
    detector: SizedDetector, reader: StripReader, size: ChipSize, chips: int = 0,
) -> ReadStack | None:  # fmt: skip
    """The stack that stands at a felt point, in the view of `place`; None where there is none.

    `chips`: the point may be seen on a stack so high, not at its foot only. The stack is read
    against a first sample of itself: what the table file says of it may be wrong.
    """
    view = calibration.warp_view(frame, place, detector.size)
    found = detector.find([view])[0].of("chip")
    mm = VIEW_MM / detector.size
    boxes: list[Box] = []
    for xyxy in found.xyxy:
        x0, y0, x1, y1 = (float(v) * mm - VIEW_MM / 2 for v in xyxy)
        boxes.append((x0, y0, x1, y1))
    stacks = [FoundStack.of(box, calibration, place, size) for box in boxes]
    feet = _feet(calibration, at_mm, chips * size.thickness_mm)

    def away(one: FoundStack) -> float:
        return float(np.linalg.norm(feet - one.base, axis=1).min())

    own = min(stacks, key=away, default=None)
    if own is None or away(own) > NEAR_MM:
        return None
    palette = _own_palette(cut_strip(frame, calibration, own.base, size))
    read = read_stacks(frame, calibration, palette, size, place, [own.box], reader)
    return min(read, key=lambda one: math.dist(one.center_mm, own.base), default=None)


def read_back(
    frame: ByteArray, calibration: Calibration, place: Place, stack: ReadStack, palette: Palette,
    size: ChipSize, reader: StripReader,
) -> ReadStack | None:  # fmt: skip
    """How a laid-out stack reads against all of a table's chips; None where it reads as none."""
    read = read_stacks(frame, calibration, palette, size, place, [stack.box_mm], reader)
    return next(iter(read), None)


def _feet(calibration: Calibration, at_mm: tuple[float, float], height_mm: float) -> FloatArray:
    """Where a stack may stand (n, 2) of which a part up to a height is seen at a felt point."""
    foot = np.asarray(calibration.foot_mm)
    heights = np.linspace(0.0, height_mm, 4 if height_mm else 1)[:, None]
    feet: FloatArray = foot + (np.asarray(at_mm) - foot) * (1 - heights / calibration.height_mm)
    return feet


def _own_palette(strip: ByteArray) -> Palette:
    """A palette of one chip, as it looks in the strip of a stack of its kind."""
    side = cut_sample(strip)
    return Palette(
        ("chip",), (1,), np.asarray(side.transpose(2, 0, 1) / 255, np.float32)[None, None],
        np.asarray(side.mean(axis=(0, 1)) / 255, np.float32)[None, None],
        np.ones((1, 1, 1), np.float32),
    )  # fmt: skip


def enrol(
    frame: ByteArray, calibration: Calibration, stack: ReadStack, size: ChipSize,
    reader: StripReader, chips: int = SAMPLE_CHIPS,
) -> Enrolled:  # fmt: skip
    """Samples of a stack of `chips` equal chips; ValueError for fewer than FEWEST_CHIPS.

    The stack begins where so many chips fit best, whatever number was read.
    """
    at = stack.center_mm
    one = FoundStack.at(np.asarray(at), calibration, Place(center_mm=at, angle_deg=0.0), size)
    strip = cut_strip(frame, calibration, one.base, size)
    masked = np.dstack([strip, np.zeros(strip.shape[:2], np.uint8)])[None]
    (given,) = reader.read(masked, [one.px_per_chip], [one.off_vertical], _own_palette(strip))
    row, _ = cut_rows(given, [chips])[chips]
    base = one.moved(row / ROWS_PER_CHIP - BELOW_CHIPS).base
    return sample_at(frame, calibration, base, size, chips, len(stack.colours))


def sample_at(
    frame: ByteArray, calibration: Calibration, base: FloatArray, size: ChipSize,
    chips: int = SAMPLE_CHIPS, counted: int | None = None,
) -> Enrolled:  # fmt: skip
    """Samples of a stack of `chips` equal chips whose base stands at a felt point (2,) mm.

    `counted` is how many chips were read there. ValueError for fewer than FEWEST_CHIPS.
    """
    if chips < FEWEST_CHIPS:
        raise ValueError(f"a stack of {FEWEST_CHIPS} chips or more is needed, not of {chips}")
    side = cut_sample(cut_strip(frame, calibration, base, size))
    under = _under_face(frame, calibration, base, size, chips)
    at = base if under is None else under
    face = cut_face(frame, calibration, at, chips * size.thickness_mm, size)
    mean = _face_pixels(frame, calibration, base, size, chips)
    felt = _felt(frame, calibration, base, size)
    return Enrolled(
        side, face, _rgb(side), _rgb(mean), _rgb(felt), chips if counted is None else counted,
        under is not None,
    )  # fmt: skip


def _under_face(
    frame: ByteArray, calibration: Calibration, base: FloatArray, size: ChipSize, chips: int
) -> FloatArray | None:
    """The felt point (2,) mm right under the middle of the uppermost face.

    It is found by the half of its rim that lies before the felt beyond the stack; None where no
    such edge is clear. A face that is cut off its middle would seem to lie higher or lower, by the
    way in which its chip is turned.
    """
    up = base - np.asarray(calibration.foot_mm)
    up = up / max(float(np.hypot(*up)), 1e-9)
    turn = math.atan2(up[1], up[0]) + np.radians(np.arange(-80, 81, 4))
    arc = np.column_stack([np.cos(turn), np.sin(turn)])
    steps = np.arange(-FACE_OFF_MM, FACE_OFF_MM + FACE_STEP_MM / 2, FACE_STEP_MM)
    middles = base + np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)

    def seen(radius: float) -> FloatArray:
        points = (middles[:, None] + arc * radius).reshape(-1, 2)
        top = calibration.lift(points, chips * size.thickness_mm)
        px = calibration.felt_to_image(top).reshape(len(middles), len(arc), 2)
        return sample(frame, px).astype(np.float64)

    radius = size.diameter_mm / 2
    edge = np.abs(seen(radius + RIM_MM) - seen(radius - RIM_MM)).mean(axis=(1, 2))
    if edge.max() <= CLEAR_RIM * np.median(edge):
        return None
    weights = np.clip(edge - 0.9 * edge.max(), 0, None)
    under: FloatArray = weights @ middles / weights.sum()
    return under


def _face_pixels(
    frame: ByteArray, calibration: Calibration, base: FloatArray, size: ChipSize, chips: int
) -> ByteArray:
    """Pixels of the uppermost face, uint8 (1, n, 3)."""
    turn = np.linspace(0, 2 * math.pi, 16, endpoint=False)
    ring = np.column_stack([np.cos(turn), np.sin(turn)]) * size.diameter_mm / 2
    points = np.vstack([base + ring * share for share in RINGS])
    top = calibration.lift(points, chips * size.thickness_mm)
    return sample(frame, calibration.felt_to_image(top)[None])


def _felt(
    frame: ByteArray, calibration: Calibration, base: FloatArray, size: ChipSize
) -> ByteArray:
    """The median pixel of the felt on the camera's side of a stack, uint8 (1, 1, 3)."""
    x, y = np.asarray(calibration.foot_mm) - base
    turn = math.atan2(y, x) + np.linspace(-1.0, 1.0, 12)
    arc = np.column_stack([np.cos(turn), np.sin(turn)]) * size.diameter_mm / 2
    points = np.vstack([base + arc * share for share in FELT_RINGS])
    seen = sample(frame, calibration.felt_to_image(points)[None])
    return np.asarray(np.median(seen, axis=(0, 1), keepdims=True), np.uint8)


def _rgb(pixels: ByteArray) -> Rgb:
    blue, green, red = (round(float(v)) for v in pixels.reshape(-1, 3).mean(axis=0))
    return red, green, blue
