"""Outlines of labelled things: polygons, masks and keypoints, in one form for all formats.

A box keeps them as attributes: `polygons`, rings of [x, y] px; `mask`, run lengths column by
column as in COCO, `{"size": [height, width], "counts": [...]}`, the first of zeros;
`keypoints`, [x, y, v] px with COCO's v (0 not labelled, 1 hidden, 2 visible). `shape_box` is
the box that they belong to: once the box was moved they no longer hold and are not written.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from datasets.labelled.records import Attributes, Box

SHAPE_NAMES = ("polygons", "mask", "keypoints", "shape_box")
CROWD = "is_crowd"
SAME_PX = 0.011
RIGHT_ANGLE = 0.02
"""Most that the sides of a turned box deviate from its rectangle, as a share of the longer."""

Ring = list[list[float]]
Corners = tuple[float, float, float, float]


@dataclass(frozen=True)
class Shape:
    """The outlines of one box."""

    polygons: list[Ring] = field(default_factory=list)
    mask: dict[str, Any] | None = None
    keypoints: list[list[float]] = field(default_factory=list)

    def attributes(self, xyxy: Sequence[float]) -> Attributes:
        """The outlines as attributes of a box with those corners."""
        outlines: dict[str, Any] = {"polygons": self.polygons, "mask": self.mask}
        outlines = {k: v for k, v in (outlines | {"keypoints": self.keypoints}).items() if v}
        return (*outlines.items(), ("shape_box", [float(v) for v in xyxy])) if outlines else ()


def shape_of(box: Box) -> Shape | None:
    """The outlines of a box, None where it has none or was moved since."""
    outlines = {k: v for k, v in box.attributes if k in SHAPE_NAMES}
    if not outlines:
        return None
    own = outlines.get("shape_box")
    if not isinstance(own, list) or len(own) != 4:
        return None
    if any(abs(a - b) > SAME_PX for a, b in zip(own, box.xyxy, strict=True)):
        return None
    return Shape(
        outlines.get("polygons") or [], outlines.get("mask"), outlines.get("keypoints") or []
    )


def bounds(points: Sequence[Sequence[float]]) -> Corners:
    """Left, top, right, bottom of points.

    >>> bounds([[1, 2], [9, 2], [9, 8]])
    (1.0, 2.0, 9.0, 8.0)
    """
    xs, ys = [float(p[0]) for p in points], [float(p[1]) for p in points]
    return min(xs), min(ys), max(xs), max(ys)


def area_of(ring: Sequence[Sequence[float]]) -> float:
    """The area of a ring, square px."""
    total = 0.0
    for (x0, y0), (x1, y1) in zip(ring, [*ring[1:], ring[0]], strict=True):
        total += x0 * y1 - x1 * y0
    return abs(total) / 2


def corners_of(box: Box) -> Ring:
    """The four corners of a box, turned, beginning at its own top left one.

    >>> corners_of(Box("AS", 0, 0, 40, 20, angle_deg=90))
    [[30.0, -10.0], [30.0, 30.0], [10.0, 30.0], [10.0, -10.0]]
    """
    x, y = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
    turn = math.radians(box.angle_deg or 0.0)
    c, s = math.cos(turn), math.sin(turn)
    out = []
    for px, py in ((box.x0, box.y0), (box.x1, box.y0), (box.x1, box.y1), (box.x0, box.y1)):
        dx, dy = px - x, py - y
        out.append([round(x + c * dx - s * dy, 9), round(y + s * dx + c * dy, 9)])
    return out


def turned_box(ring: Sequence[Sequence[float]]) -> tuple[Corners, float] | None:
    """Corners and turn (degrees clockwise) of four points, None where they are no rectangle.

    The first side is the top one, so that a turn is kept whole.

    >>> turned_box([[30, -10], [30, 30], [10, 30], [10, -10]])
    ((0.0, 0.0, 40.0, 20.0), 90.0)
    >>> turned_box([[0, 0], [9, 0], [9, 9], [0, 20]]) is None
    True
    """
    if len(ring) != 4:
        return None
    a, b, c, d = (np.asarray(p, np.float64) for p in ring)
    top, side = b - a, c - b
    width, height = float(np.hypot(*top)), float(np.hypot(*side))
    most = max(width, height)
    if min(width, height) <= 0 or float(np.hypot(*(a + c - b - d))) > RIGHT_ANGLE * most:
        return None
    if abs(float(top @ side)) > RIGHT_ANGLE * width * height:
        return None
    x, y = (float(v) for v in (a + b + c + d) / 4)
    angle = math.degrees(math.atan2(top[1], top[0])) % 360
    corners = x - width / 2, y - height / 2, x + width / 2, y + height / 2
    return tuple(round(v, 9) for v in corners), round(angle, 9) % 360  # type: ignore[return-value]


def mask_of(inside: npt.NDArray[np.bool_]) -> dict[str, Any]:
    """Run lengths of a mask (height, width)."""
    flat = np.asarray(inside, np.bool_).ravel(order="F")
    edges = np.flatnonzero(np.diff(flat)) + 1
    steps = np.diff(np.concatenate([[0], edges, [flat.size]]))
    counts = [int(n) for n in steps]
    if flat.size and flat[0]:
        counts.insert(0, 0)
    return {"size": [int(inside.shape[0]), int(inside.shape[1])], "counts": counts}


def inside_mask(mask: dict[str, Any]) -> npt.NDArray[np.bool_]:
    """A mask (height, width) of its run lengths; raises ValueError where they do not fit."""
    height, width = (int(v) for v in mask["size"])
    counts = plain_counts(mask["counts"])
    if height < 1 or width < 1 or height * width > 2**28 or sum(counts) != height * width:
        raise ValueError(f"the counts of a mask do not fit its size {height} x {width}")
    values = np.zeros(len(counts), np.bool_)
    values[1::2] = True
    return np.repeat(values, counts).reshape((height, width), order="F")


def plain_counts(counts: Any) -> list[int]:
    """Run lengths as numbers; COCO's text form packs them, 5 bits a character.

    >>> plain_counts("05")
    [0, 5]
    """
    if not isinstance(counts, str | bytes):
        return [int(n) for n in counts]
    data = counts.encode("ascii") if isinstance(counts, str) else counts
    out: list[int] = []
    at = 0
    while at < len(data):
        value, shift, more = 0, 0, True
        while more:
            code = data[at] - 48
            value |= (code & 0x1F) << shift
            more = bool(code & 0x20)
            at += 1
            shift += 5
            if not more and code & 0x10:
                value |= -1 << shift
        # From the fourth on each is stored as its difference from the last but one.
        out.append(value + out[-2] if len(out) > 2 else value)
    return out


def mask_bounds(mask: dict[str, Any]) -> Corners | None:
    """The box about a mask, px, None where it is empty."""
    ys, xs = np.nonzero(inside_mask(mask))
    if not len(xs):
        return None
    return float(xs.min()), float(ys.min()), float(xs.max()) + 1, float(ys.max()) + 1
