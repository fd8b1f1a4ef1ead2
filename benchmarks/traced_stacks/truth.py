"""What a traced table shows: camera, chips, lamps and stacks, and its JSON form.

Needs NumPy alone, so that the renderer's environment can import it. Felt coordinates are those of
the table file: mm, x to the right and y towards the players; heights are over the felt.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Rgb = tuple[float, float, float]
Point = tuple[float, float]


@dataclass(frozen=True)
class TracedCamera:
    """A pinhole camera: `place_mm` (x, y, height), the felt point it looks at, its roll.

    `points` are felt marks (mm) with their places in the image (px), as a person would click
    them.
    """

    place_mm: tuple[float, float, float]
    target_mm: Point
    roll_deg: float
    focal_px: float
    width_px: int = 3840
    height_px: int = 2160
    points: tuple[tuple[Point, Point], ...] = ()

    def axes(self) -> Floats:
        """Right, down and forward (3, 3) in right-handed coordinates (x, -y, height)."""
        ahead = np.array([*self.target_mm, 0.0]) - np.array(self.place_mm)
        ahead[1] = -ahead[1]
        ahead /= np.linalg.norm(ahead)
        right = np.cross(ahead, [0.0, 0.0, 1.0])
        right /= np.linalg.norm(right)
        down = np.cross(ahead, right)
        turn = math.radians(self.roll_deg)
        turned = math.cos(turn) * right + math.sin(turn) * down
        return np.array([turned, np.cross(ahead, turned), ahead])

    def to_image(self, points_mm: Floats) -> Floats:
        """Points (n, 3), felt mm and height, to image px (n, 2)."""
        off = (np.asarray(points_mm, np.float64) - np.array(self.place_mm)) * [1, -1, 1]
        seen = off @ self.axes().T
        middle = np.array([self.width_px - 1, self.height_px - 1]) / 2
        shown: Floats = self.focal_px * seen[:, :2] / seen[:, 2:] + middle
        return shown

    def to_felt(self, points_px: Floats) -> Floats:
        """Image px (n, 2) to the felt mm (n, 2) seen there."""
        middle = np.array([self.width_px - 1, self.height_px - 1]) / 2
        off = (np.asarray(points_px, np.float64) - middle) / self.focal_px
        rays = np.column_stack([off, np.ones(len(off))]) @ self.axes() * [1, -1, 1]
        far = -self.place_mm[2] / rays[:, 2:]
        felt: Floats = np.array(self.place_mm)[:2] + rays[:, :2] * far
        return felt

    def off_vertical_deg(self, at_mm: Point) -> float:
        """The line of sight's angle off the vertical at a felt point."""
        return math.degrees(math.atan2(math.dist(at_mm, self.place_mm[:2]), self.place_mm[2]))

    def px_per_chip(self, at_mm: Point, thickness_mm: float) -> float:
        """By how many px one chip shifts the image at a felt point."""
        low, high = self.to_image(np.array([[*at_mm, 0.0], [*at_mm, thickness_mm]]))
        return float(np.hypot(*(high - low)))


@dataclass(frozen=True)
class TracedKind:
    """One kind of chip. Colours are linear RGB; `style` names the pattern of its rim."""

    name: str
    value_cents: int
    style: str
    body: Rgb
    spot: Rgb
    second: Rgb
    inlay: Rgb
    spots: int
    spot_share: float
    face: str
    roughness: float
    coat: float


@dataclass(frozen=True)
class TracedStack:
    """One stack: chips from the bottom up, by name, with their offsets (mm) from the base.

    `over_mm` is the height of what it stands on.
    """

    base_mm: Point
    chips: tuple[str, ...]
    offsets_mm: tuple[Point, ...]
    turns: tuple[float, ...]
    posture: str
    group: int
    hidden: float = 0.0
    px_per_chip: float = 0.0
    over_mm: float = 0.0


@dataclass(frozen=True)
class TracedGroup:
    """A place of the felt: its centre, the turn of its view, and the word printed there.

    `hand`: the outlines of a hand's two boxes, one above the other, in place of a ring.
    """

    center_mm: Point
    angle_deg: float
    word: str
    ring_mm: float
    hand: bool = False


@dataclass(frozen=True)
class TracedLamp:
    """An area lamp (mm), aimed at `target_mm`; `power` is relative."""

    place_mm: tuple[float, float, float]
    target_mm: Point
    size_mm: float
    kelvin: float
    power: float


@dataclass(frozen=True)
class TracedTable:
    """One image: everything that is drawn, and what must be read."""

    seed: int
    number: int
    camera: TracedCamera
    kinds: tuple[TracedKind, ...]
    diameter_mm: float
    thickness_mm: float
    bevel_mm: float
    groups: tuple[TracedGroup, ...]
    stacks: tuple[TracedStack, ...]
    samples: tuple[TracedStack, ...]
    light: str
    lamps: tuple[TracedLamp, ...]
    ambient: float
    felt: Rgb
    print_rgb: Rgb
    crf: int

    def cents(self, stack: TracedStack) -> int:
        """What a stack comes to."""
        values = {kind.name: kind.value_cents for kind in self.kinds}
        return sum(values[chip] for chip in stack.chips)

    def style(self, stack: TracedStack) -> str:
        """The style of the rims of a stack's chips; `mixed` where they differ."""
        styles = {kind.name: kind.style for kind in self.kinds}
        found = {styles[chip] for chip in stack.chips}
        return found.pop() if len(found) == 1 else "mixed"

    def write(self, path: Path) -> None:
        """Write the truth as JSON; the file is whole or not there."""
        part = path.with_suffix(".part")
        part.write_text(json.dumps(asdict(self), indent=1) + "\n")
        part.replace(path)


def read_truth(path: Path) -> TracedTable:
    """Read the truth of one table; ValueError names the file where it is another form."""
    try:
        return table_of(json.loads(path.read_text()))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: not the truth of a traced table: {error}") from error


def table_of(data: dict[str, Any]) -> TracedTable:
    """The table of its JSON form; KeyError and TypeError where it is another one."""
    return TracedTable(
        camera=TracedCamera(**tupled(data.pop("camera"))),
        kinds=tuple(TracedKind(**tupled(one)) for one in data.pop("kinds")),
        groups=tuple(TracedGroup(**tupled(one)) for one in data.pop("groups")),
        stacks=tuple(TracedStack(**tupled(one)) for one in data.pop("stacks")),
        samples=tuple(TracedStack(**tupled(one)) for one in data.pop("samples")),
        lamps=tuple(TracedLamp(**tupled(one)) for one in data.pop("lamps")),
        **tupled(data),
    )


def tupled(data: dict[str, Any]) -> dict[str, Any]:
    """A JSON object with tuples in place of its lists."""
    return {key: _tuple(value) for key, value in data.items()}


def _tuple(value: Any) -> Any:
    return tuple(_tuple(one) for one in value) if isinstance(value, list) else value
