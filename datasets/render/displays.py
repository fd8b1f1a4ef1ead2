"""Seven-segment displays: a panel with digits that stands on the felt."""

from __future__ import annotations

import math

import cv2
import numpy as np

from datasets.render.cards.suit_marks import Picture
from datasets.render.chips import lay
from datasets.render.scene import DisplayItem
from vision.geometry.table import FloatArray

_PX_PER_MM = 8.0
_LIT = {
    "0": "abcdef", "1": "bc", "2": "abdeg", "3": "abcdg", "4": "bcfg", "5": "acdfg",
    "6": "acdefg", "7": "abc", "8": "abcdefg", "9": "abcdfg", " ": "",
}  # fmt: skip
BORDER_MM = 6.0
"""The panel reaches so far beyond its digits."""


def row_mm(item: DisplayItem) -> tuple[float, float]:
    """Width and height of the row of digits on its panel."""
    count = len(item.text)
    return count * item.digit_mm[0] + (count - 1) * item.gap_mm, item.digit_mm[1]


def panel_points(item: DisplayItem, local_mm: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Points (n, 2) of a panel to felt mm (n, 2) and heights (n,).

    Local points are mm right of and below the row's top left corner.
    """
    wide, high = row_mm(item)
    u = np.asarray(local_mm, np.float64)[:, 0] - wide / 2
    up = high + BORDER_MM - np.asarray(local_mm, np.float64)[:, 1]
    lean = math.radians(item.lean_deg)
    x, y = item.center_mm
    return np.column_stack([x + u, y - up * math.sin(lean)]), up * math.cos(lean)


def row_corners(item: DisplayItem) -> tuple[FloatArray, FloatArray]:
    """The four corners of the digits, felt mm (4, 2) and heights (4,); a slant is in them."""
    wide, high = row_mm(item)
    s = item.slant * high / 2
    return panel_points(item, np.array([[s, 0], [wide + s, 0], [wide - s, high], [-s, high]]))


def panel_corners(item: DisplayItem) -> tuple[FloatArray, FloatArray]:
    """The four corners of the whole panel."""
    wide, high = row_mm(item)
    b = BORDER_MM
    return panel_points(
        item, np.array([[-b, -b], [wide + b, -b], [wide + b, high + b], [-b, high + b]])
    )


def draw_panel(item: DisplayItem) -> Picture:
    """A panel from in front, premultiplied uint8 (h, w, 4) BGRA."""
    wide, high = row_mm(item)
    k, b = _PX_PER_MM, BORDER_MM
    shape = (round((high + 2 * b) * k), round((wide + 2 * b) * k))
    glow = np.zeros(shape, np.float32)
    w, h = item.digit_mm
    for place, character in enumerate(item.text):
        left = b + place * (w + item.gap_mm)
        for name, points in _segments(w, h, item.thick_mm).items():
            level = 1.0 if name in _LIT[character] else item.ghost
            slanted = points + np.column_stack(
                [(h / 2 - points[:, 1]) * item.slant, np.zeros(len(points))]
            )
            px = np.round((slanted + np.array([left, b])) * k * 16).astype(np.int32)
            cv2.fillPoly(glow, [px], level, cv2.LINE_AA, 4)
        if place == len(item.text) - item.decimals - 1 and item.decimals:
            at = (left + w + item.gap_mm / 2, b + h - item.thick_mm / 2)
            center = (round(at[0] * k * 16), round(at[1] * k * 16))
            cv2.circle(glow, center, round(item.thick_mm * 0.55 * k * 16), 1.0, -1, cv2.LINE_AA, 4)
    bloom = np.asarray(cv2.GaussianBlur(glow, (0, 0), 0.8 * item.thick_mm * k))
    light = np.clip(glow + item.bloom * bloom, 0, 1.3)[..., None] * item.brightness
    colour = np.array(item.rgb[::-1], np.float32)
    # Where a display overexposes the camera its core turns white.
    core = np.clip(light - 0.9, 0, 1) * 255
    face = np.full((*shape, 3), 14, np.float32) + light * colour + core
    out = np.dstack([np.clip(face, 0, 255), np.full(shape, 255, np.float32)])
    return np.asarray(out, np.uint8)


def lay_panel(canvas: Picture, item: DisplayItem, quad_px: FloatArray) -> None:
    """Lay a panel onto an image, uint8 (h, w, 3) BGR, where its corners (4, 2) px are seen."""
    panel = draw_panel(item)
    sides = np.linalg.norm(quad_px - np.roll(quad_px, -1, axis=0), axis=1)
    scale = min(1.0, 2 * float(sides.max()) / panel.shape[1])
    small = cv2.resize(panel, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    lay(canvas, np.asarray(small, np.uint8), quad_px)


def _segments(w: float, h: float, t: float) -> dict[str, FloatArray]:
    """Outlines (n, 2) mm of a digit's segments, pointed bars with a slit between them."""
    s = t * 0.08
    middle = h / 2

    def across(y: float) -> FloatArray:
        return np.array(
            [[t / 2 + s, y], [t + s, y - t / 2], [w - t - s, y - t / 2], [w - t / 2 - s, y],
             [w - t - s, y + t / 2], [t + s, y + t / 2]]
        )  # fmt: skip

    def down(x: float, y0: float, y1: float) -> FloatArray:
        return np.array(
            [[x, y0 + s], [x + t / 2, y0 + t / 2 + s], [x + t / 2, y1 - t / 2 - s], [x, y1 - s],
             [x - t / 2, y1 - t / 2 - s], [x - t / 2, y0 + t / 2 + s]]
        )  # fmt: skip

    top, low = t / 2, h - t / 2
    left, right = t / 2, w - t / 2
    return {
        "a": across(top), "b": down(right, top, middle), "c": down(right, middle, low),
        "d": across(low), "e": down(left, middle, low), "f": down(left, top, middle),
        "g": across(middle),
    }  # fmt: skip
