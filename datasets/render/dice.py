"""Dice on the tray of a dice cup: rounded cubes with pips, in the camera's perspective."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import cv2
import numpy as np

from datasets.render.cards.deck import Picture
from datasets.render.scene import DiceItem, Die
from vision.geometry.table import FloatArray, Point, Rgb

SUPER = 4
"""Dice are drawn this many times larger and averaged."""

PIPS: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (1, 1), (-1, 1), (1, -1)),
    5: ((-1, -1), (1, 1), (-1, 1), (1, -1), (0, 0)),
    6: ((-1, -1), (1, 1), (-1, 1), (1, -1), (-1, 0), (1, 0)),
}
"""Where the pips of a face lie, in steps between pips from its middle."""

OFF_LIGHT = 0.62
"""How bright a face across the light is."""

See = Callable[[FloatArray, FloatArray], FloatArray]
"""Felt points (n, 2) mm at heights (n,) mm to px (n, 2)."""


@dataclass(frozen=True, slots=True)
class DiceLook:
    """How one set of dice and its tray look; shares are of a die's side.

    `clear` is how much of the pips on the far faces shines through; the tray has a diameter of
    `tray_mm`, and its upper side is `tray_high_mm` over the felt.
    """

    die_mm: float
    body_rgb: Rgb
    pip_rgb: Rgb
    pip_share: float
    step_share: float
    round_share: float
    clear: float
    tray_rgb: Rgb
    tray_mm: float
    tray_high_mm: float

    @classmethod
    def draw(
        cls, rng: np.random.Generator, die_mm: float, tray_mm: float, tray_high_mm: float
    ) -> DiceLook:
        """A set at random: white or ivory with dark pips, or clear red with white ones.

        >>> DiceLook.draw(np.random.default_rng(3), 16.0, 110.0, 0.0).die_mm
        16.0
        """
        kind = int(rng.integers(3))
        level = int(rng.integers(-8, 9))
        if kind == 2:
            body, pip, clear = (178 + level, 22, 34), (242, 240, 236), float(rng.uniform(0.1, 0.3))
        elif kind == 1:
            body, pip, clear = (232, 220 + level // 2, 186 + level), (26, 24, 24), 0.0
        else:
            body, pip, clear = (236 + level, 236 + level, 234 + level), (22, 22, 24), 0.0
        tray = ((30, 28, 30), (96, 62, 34), (24, 60, 46), (110, 24, 30), (196, 190, 178))
        return cls(
            die_mm, body, pip, pip_share=float(rng.uniform(0.18, 0.22)),
            step_share=float(rng.uniform(0.24, 0.29)), round_share=float(rng.uniform(0.06, 0.16)),
            clear=clear, tray_rgb=tray[int(rng.integers(len(tray)))], tray_mm=tray_mm,
            tray_high_mm=tray_high_mm,
        )  # fmt: skip

    def item(self, key: str, center_mm: Point, dice: tuple[Die, ...]) -> DiceItem:
        """These dice, lying on the tray."""
        return DiceItem(key, center_mm, self.tray_mm, self.tray_high_mm, self.die_mm, dice)


def thrown(
    rng: np.random.Generator, values: tuple[int, ...], look: DiceLook, center_mm: Point
) -> tuple[Die, ...]:
    """Dice with these upper faces, flat on the tray at any turn and apart from each other."""
    die_mm, reach = look.die_mm, look.tray_mm / 2 - 0.8 * look.die_mm
    while True:
        turn, far = rng.uniform(0, 2 * math.pi, len(values)), np.sqrt(rng.random(len(values)))
        at = np.column_stack([np.cos(turn), np.sin(turn)]) * (far * reach)[:, None]
        gaps = np.hypot(*np.moveaxis(at[:, None] - at[None], -1, 0)) + np.eye(len(at)) * 1e3
        # Dice that touch corner to edge: no nearer than their sides allow at any turn.
        if gaps.min() >= 1.25 * die_mm:
            break
    dice = []
    for value, (x, y) in zip(values, at.tolist(), strict=True):
        sides = [v for v in range(1, 7) if v not in (value, 7 - value)]
        where = (round(center_mm[0] + x, 2), round(center_mm[1] + y, 2))
        front = int(rng.choice(sides))
        dice.append(Die(where, value, front, round(float(rng.uniform(0, 360)), 1)))
    return tuple(dice)


@dataclass(frozen=True, slots=True)
class DicePicture:
    """Premultiplied uint8 (h, w, 4) whose top left corner lies at (x, y) of the canvas."""

    bgra: Picture
    x: int
    y: int


@dataclass(frozen=True, slots=True, eq=False)
class _Face:
    """One face of a die: its middle, two axes of half a side and its outer normal, (3,) mm."""

    value: int
    middle: FloatArray
    axes: tuple[FloatArray, FloatArray]
    normal: FloatArray


def draw_dice(
    item: DiceItem, look: DiceLook, see: See, camera_mm: tuple[float, float, float],
    shift: Point, shadow: tuple[float, float],
) -> DicePicture:  # fmt: skip
    """The tray and its dice.

    `camera_mm` is where the camera hangs over the felt; shadows fall by `shift` mm per mm of
    height, `shadow` is their depth and softness in px.
    """
    tray = _ring(item.center_mm, item.tray_mm / 2)
    low, high = see(tray, np.zeros(len(tray))), see(tray, np.full(len(tray), item.tray_high_mm))
    tops = [_corners(die, item) for die in item.dice]
    solid = [see(points[:, :2], points[:, 2]) for points in tops]
    every = np.vstack([low, high, *solid])
    x0, y0 = (np.floor(every.min(axis=0)).astype(int) - 3).tolist()
    x1, y1 = (np.ceil(every.max(axis=0)).astype(int) + 4).tolist()
    buffer = np.zeros(((y1 - y0) * SUPER, (x1 - x0) * SUPER, 4), np.uint8)

    def fill(points: FloatArray, rgb: FloatArray) -> None:
        where = ((points - (x0, y0) + 0.5) * SUPER - 0.5) * 16
        bgr = tuple(int(v) for v in np.clip(rgb[::-1], 0, 255))
        cv2.fillPoly(buffer, [np.round(where).astype(np.int32)], (*bgr, 255), cv2.LINE_8, 4)

    tray_rgb = np.array(look.tray_rgb, np.float64)
    fill(_hull(np.vstack([low, high])), tray_rgb * 0.6)
    fill(high, tray_rgb * 1.15)
    inner = _ring(item.center_mm, item.tray_mm / 2 - 3.0)
    fill(see(inner, np.full(len(inner), item.tray_high_mm)), tray_rgb)
    mask = np.zeros(buffer.shape[:2], np.uint8)
    for die, points in zip(item.dice, tops, strict=True):
        fall = points[:, :2] + np.asarray(shift) * (points[:, 2:] - item.tray_high_mm - die.base_mm)
        hull = _hull(see(fall, np.full(len(fall), item.tray_high_mm + die.base_mm)))
        where = ((hull - (x0, y0) + 0.5) * SUPER - 0.5) * 16
        cv2.fillPoly(mask, [np.round(where).astype(np.int32)], round(255 * shadow[0]), 8, 4)
    soft = cv2.GaussianBlur(mask, (0, 0), max(0.6, shadow[1] * SUPER))
    gain = cv2.cvtColor(255 - soft, cv2.COLOR_GRAY2BGR)
    buffer[..., :3] = cv2.multiply(buffer[..., :3], gain, scale=1 / 255)
    light = -np.asarray(shift) / max(1e-6, float(np.hypot(*shift)))
    # Those that stand on others come over them, else the near ones over the far ones.
    order = sorted(item.dice, key=lambda d: (d.base_mm, -math.dist(d.center_mm, camera_mm[:2])))
    for die in order:
        _paint_die(die, item, look, see, np.asarray(camera_mm), light, fill)
    small = cv2.resize(buffer, (x1 - x0, y1 - y0), interpolation=cv2.INTER_AREA)
    return DicePicture(np.asarray(small, np.uint8), x0, y0)


def _paint_die(
    die: Die, item: DiceItem, look: DiceLook, see: See, camera: FloatArray, light: FloatArray,
    fill: Callable[[FloatArray, FloatArray], None],
) -> None:  # fmt: skip
    body = np.array(look.body_rgb, np.float64)
    pip = np.array(look.pip_rgb, np.float64)
    points = _corners(die, item)
    middle = points.mean(axis=0)
    rim = look.round_share * look.die_mm
    # Balls in the corners give the silhouette of a rounded cube.
    inside = middle + (points - middle) * (1 - 2 * rim / look.die_mm)
    ball = np.array([*np.eye(3), *-np.eye(3), *_BALL]) * rim
    whole = (inside[:, None] + ball[None]).reshape(-1, 3)
    fill(_hull(see(whole[:, :2], whole[:, 2])), body * 0.72)
    faces = list(_faces(die, item))
    seen = [face for face in faces if float(face.normal @ (camera - face.middle)) > 0]
    lit = []
    for face in seen:
        up = max(0.0, float(face.normal[2]))
        level = OFF_LIGHT + (1 - OFF_LIGHT) * up + 0.16 * float(face.normal[:2] @ light)
        lit.append(level)
        u, v = (axis * (1 - 0.7 * rim / (look.die_mm / 2)) for axis in face.axes)
        quad = np.array([face.middle + a * u + b * v for a, b in _SQUARE])
        fill(see(quad[:, :2], quad[:, 2]), body * level)
    if look.clear:
        ghost = body * (1 - look.clear) + pip * look.clear
        for face in faces:
            if face not in seen:
                _pips(face, look, see, ghost, fill)
    for face, level in zip(seen, lit, strict=True):
        _pips(face, look, see, pip * min(1.0, level + 0.08), fill)


def _pips(
    face: _Face, look: DiceLook, see: See, rgb: FloatArray,
    fill: Callable[[FloatArray, FloatArray], None],
) -> None:  # fmt: skip
    side = look.die_mm
    turn = np.linspace(0, 2 * math.pi, 20, endpoint=False)
    u, v = (axis / (side / 2) for axis in face.axes)
    for a, b in PIPS[face.value]:
        at = face.middle + (a * u + b * v) * look.step_share * side
        ring = np.cos(turn)[:, None] * u + np.sin(turn)[:, None] * v
        points = at + ring * look.pip_share * side / 2
        fill(see(points[:, :2], points[:, 2]), rgb)


_SQUARE = ((-1, -1), (1, -1), (1, 1), (-1, 1))
_BALL = [
    (math.cos(a) * math.cos(b), math.sin(a) * math.cos(b), math.sin(b))
    for a in np.linspace(0, 2 * math.pi, 8, endpoint=False) for b in (-0.7, 0.0, 0.7)
]  # fmt: skip


def _turned(die: Die) -> FloatArray:
    """The (3, 3) rotation of a die: its turn about the vertical, then its tilt."""
    a, t, k = (math.radians(v) for v in (die.angle_deg, die.tilt_deg, die.tilt_axis_deg))
    spin = np.array([[math.cos(a), -math.sin(a), 0], [math.sin(a), math.cos(a), 0], [0, 0, 1.0]])
    axis = np.array([math.cos(k), math.sin(k), 0.0])
    cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    tilt = np.eye(3) + math.sin(t) * cross + (1 - math.cos(t)) * cross @ cross
    out: FloatArray = tilt @ spin
    return out


def _corners(die: Die, item: DiceItem) -> FloatArray:
    """Its corners (8, 3), mm; the lowest stands on what it lies on."""
    half = item.die_mm / 2
    cube = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    points = cube @ _turned(die).T
    lift = item.tray_high_mm + die.base_mm - points[:, 2].min()
    out: FloatArray = points + np.array([*die.center_mm, lift])
    return out


def _faces(die: Die, item: DiceItem) -> Iterator[_Face]:
    turn, middle = _turned(die), _corners(die, item).mean(axis=0)
    half = item.die_mm / 2
    sides = [v for v in (1, 2, 3) if v not in (die.top, 7 - die.top, die.front, 7 - die.front)]
    values = (
        ((0, 0, 1), die.top), ((0, 0, -1), 7 - die.top), ((0, 1, 0), die.front),
        ((0, -1, 0), 7 - die.front), ((1, 0, 0), sides[0]), ((-1, 0, 0), 7 - sides[0]),
    )  # fmt: skip
    for normal, value in values:
        out = np.array(normal, np.float64)
        u = np.roll(out, 1)
        v = np.cross(out, u)
        yield _Face(
            value, middle + turn @ out * half, (turn @ u * half, turn @ v * half), turn @ out
        )


def _ring(center_mm: Point, radius_mm: float) -> FloatArray:
    turn = np.linspace(0, 2 * math.pi, 64, endpoint=False)
    out: FloatArray = np.column_stack([np.cos(turn), np.sin(turn)]) * radius_mm + center_mm
    return out


def _hull(points: FloatArray) -> FloatArray:
    hull: FloatArray = cv2.convexHull(points.astype(np.float32)).reshape(-1, 2).astype(np.float64)
    return hull
