"""Arms over the felt: sleeve, cuff, hand and fingers as solid things with their shadow.

An arm is drawn once as an image pointing up and laid where it is wanted by turning and
scaling; what it covers is given by its mask.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from datasets.render.cards.deck import Picture
from datasets.render.chips import over
from vision.geometry.table import FloatArray, Rgb

SKINS: tuple[Rgb, ...] = (
    (232, 190, 165), (205, 150, 115), (160, 110, 80), (110, 72, 52), (245, 210, 190), (78, 52, 40),
)  # fmt: skip
SLEEVES: tuple[Rgb, ...] = (
    (20, 20, 24), (235, 235, 235), (120, 20, 30), (30, 50, 110), (70, 90, 60), (90, 90, 95),
    (150, 140, 120), (60, 30, 70), (180, 60, 40), (35, 75, 85),
)  # fmt: skip
POSES = ("spread", "flat", "pinch", "fist", "point")

ARM_PX_PER_MM = 1.8
WIDTH_MM = 230.0
HAND_MM = 112.0
"""From the image's top to the middle of the hand."""
LENGTH_MM = 1100.0
KNOWN_ARM_STYLES = 48
SHADOW_PART = 4
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ArmStyle:
    """Style of an arm; `sleeve` None is a bare arm, `pattern` 0 plain, 1 stripes, 2 checks."""

    skin: Rgb = SKINS[0]
    sleeve: Rgb | None = SLEEVES[0]
    cuff: Rgb | None = None
    pose: str = "flat"
    pattern: int = 0
    left: bool = False
    watch: bool = False
    thick: float = 1.0
    seed: int = 0

    @classmethod
    def draw(cls, rng: np.random.Generator) -> ArmStyle:
        """An arm at random."""
        sleeve: Rgb | None = SLEEVES[int(rng.integers(len(SLEEVES)))]
        short = rng.random() < 0.25
        return cls(
            skin=SKINS[int(rng.integers(len(SKINS)))],
            sleeve=None if short else sleeve,
            cuff=(238, 238, 236) if rng.random() < 0.35 else None,
            pose=str(rng.choice(POSES)),
            pattern=int(rng.choice([0, 0, 0, 1, 2])),
            left=bool(rng.random() < 0.5),
            watch=bool(rng.random() < 0.2),
            thick=float(rng.uniform(0.85, 1.25)),
            seed=int(rng.integers(1000)),
        )


@dataclass(frozen=True)
class ArmPicture:
    """A drawn arm pointing up: premultiplied uint8 (h, w, 4), and its soft shadow, smaller."""

    bgra: Picture
    shadow: Picture


def _mm(points: list[tuple[float, float]]) -> FloatArray:
    """Hand coordinates (x right, y towards the arm, from the hand's middle, mm) to px."""
    out: FloatArray = (np.array(points) + np.array([WIDTH_MM / 2, HAND_MM])) * ARM_PX_PER_MM
    return out


def _solid(
    mask: Picture, round_px: float, rgb: Rgb, image: Floats, lit: tuple[float, float]
) -> None:
    """Paint a part with the shading of a rounded body over what is there."""
    rows, columns = np.flatnonzero(mask.max(axis=1)), np.flatnonzero(mask.max(axis=0))
    if rows.size == 0:
        return
    pad = 3
    y0, y1 = max(0, rows[0] - pad), min(mask.shape[0], rows[-1] + pad + 1)
    x0, x1 = max(0, columns[0] - pad), min(mask.shape[1], columns[-1] + pad + 1)
    part = mask[y0:y1, x0:x1]
    deep = np.minimum(
        cv2.distanceTransform((part > 100).astype(np.uint8), cv2.DIST_L2, 3), round_px
    )
    height = cv2.GaussianBlur(
        np.sqrt(np.maximum(0.0, 1 - (1 - deep / round_px) ** 2)).astype(np.float32) * round_px,
        (0, 0), max(1.0, round_px * 0.12),
    )  # fmt: skip
    gx, gy = cv2.Sobel(height, cv2.CV_32F, 1, 0) / 8, cv2.Sobel(height, cv2.CV_32F, 0, 1) / 8
    normal = 1 / np.sqrt(1 + gx * gx + gy * gy)
    shade = 0.42 + 0.58 * np.clip(normal * (0.86 - lit[0] * gx - lit[1] * gy), 0, 1.25)
    tint = np.array(rgb[::-1], np.float32) * shade[..., None]
    # Shadows of skin and cloth are warmer than their lights.
    tint[..., 2] *= 1 + 0.10 * (1 - np.clip(shade, 0, 1))
    share = (part.astype(np.float32) / 255)[..., None]
    spot = image[y0:y1, x0:x1]
    spot[..., :3] = spot[..., :3] * (1 - share) + tint * share
    spot[..., 3:] = np.maximum(spot[..., 3:], share * 255)


def _capsule(mask: Picture, points: FloatArray, widths: list[float]) -> None:
    """A chain of limbs that taper from one width (mm) to the next."""
    for k in range(len(points) - 1):
        a, b = points[k], points[k + 1]
        ra, rb = (w * ARM_PX_PER_MM / 2 for w in widths[k : k + 2])
        d = b - a
        long = max(1e-6, float(np.hypot(*d)))
        n = np.array([-d[1], d[0]]) / long
        quad = np.array([a + n * ra, b + n * rb, b - n * rb, a - n * ra])
        cv2.fillConvexPoly(mask, np.round(quad * 16).astype(np.int32), 255, cv2.LINE_AA, 4)
        for p, r in ((a, ra), (b, rb)):
            cv2.circle(mask, np.round(p * 16).astype(int).tolist(), round(r * 16), 255, -1,
                       cv2.LINE_AA, 4)  # fmt: skip


def _fingers(pose: str, rng: np.random.Generator) -> list[list[tuple[float, float]]]:
    """Joints of four fingers and the thumb, from the knuckle to the tip, mm."""
    roots = [(-27.0, -8.0), (-9.0, -16.0), (9.0, -15.0), (26.0, -6.0)]
    longs = [66.0, 76.0, 70.0, 54.0]
    fan = {"spread": 13.0, "flat": 3.5, "pinch": -3.0, "fist": 1.0, "point": 2.0}[pose]
    curl = {"spread": 1.0, "flat": 0.97, "pinch": 0.66, "fist": 0.36, "point": 0.4}[pose]
    out = []
    for k, ((x, y), long) in enumerate(zip(roots, longs, strict=True)):
        share = curl if not (pose == "point" and k == 0) else 1.0
        a = math.radians((k - 1.5) * fan + rng.normal(0, 2.5))
        bend = a + math.radians(rng.normal(0, 5) - (k - 1.5) * fan * 0.25)
        own = long * share * rng.uniform(0.94, 1.06)
        mid = (x + own * 0.5 * math.sin(a), y - own * 0.5 * math.cos(a))
        tip = (mid[0] + own * 0.5 * math.sin(bend), mid[1] - own * 0.5 * math.cos(bend))
        out.append([(x, y), mid, tip])
    thumb = {"spread": (-78.0, -14.0), "flat": (-60.0, -18.0), "pinch": (-34.0, -46.0),
             "fist": (-20.0, -24.0), "point": (-30.0, -28.0)}[pose]  # fmt: skip
    x, y = thumb[0] + rng.normal(0, 4), thumb[1] + rng.normal(0, 4)
    bend_at = (-50.0 if pose in ("spread", "flat") else -46.0, 14.0 if pose != "spread" else 12.0)
    out.append([(-24.0, 38.0), bend_at, (x, y)])
    return out


def _draw_fingers(
    image: Floats, look: ArmStyle, rng: np.random.Generator, lit: tuple[float, float]
) -> None:
    """Thumb and fingers; the back of the hand comes over their roots."""
    s = ARM_PX_PER_MM
    fingers = _fingers(look.pose, rng)
    order = [4, 0, 1, 2, 3] if look.pose in ("spread", "flat") else [4, 0, 3, 1, 2]
    for k in order:
        mask = np.zeros(image.shape[:2], np.uint8)
        widths = [20.0, 17.0, 13.5] if k < 4 else [26.0, 21.0, 16.0]
        joints = _mm(fingers[k])
        _capsule(mask, joints, widths)
        # The dark gap beside a finger that lies over others.
        gap = cv2.GaussianBlur(cv2.dilate(mask, np.ones((3, 3), np.uint8)), (0, 0), 1.6)
        image[..., :3] *= 1 - 0.5 * (gap.astype(np.float32) / 255)[..., None]
        tone = float(rng.uniform(0.97, 1.03))
        r, g, b = (min(255, round(v * tone)) for v in look.skin)
        _solid(mask, 9.5 * s, (r, g, b), image, lit)
        _details(image, joints, look.skin, nail=k < 4 or look.pose in ("spread", "flat"))


def _palm(shape: tuple[int, ...]) -> Picture:
    """The outline of the back of the hand, soft where the fingers begin."""
    s = ARM_PX_PER_MM
    palm = np.zeros(shape[:2], np.uint8)
    outline = _mm([(-37, -2), (-30, -14), (-9, -24), (10, -22), (30, -10), (38, 6), (35, 36),
                   (27, 70), (-27, 72), (-37, 40)])  # fmt: skip
    cv2.fillPoly(palm, [np.round(outline).astype(np.int32)], 255, cv2.LINE_AA)
    hand = palm[: round((HAND_MM + 110) * s)]
    hand[:] = np.where(cv2.GaussianBlur(hand, (0, 0), 5 * s) > 110, 255, 0).astype(np.uint8)
    hand[:] = cv2.GaussianBlur(hand, (0, 0), 2.2)
    return palm


def _knuckles(image: Floats, look: ArmStyle) -> None:
    """Bright bumps where the fingers begin."""
    s = ARM_PX_PER_MM
    bump = np.array([min(255.0, v * 1.07) for v in look.skin[::-1]], np.float32)
    for k in range(4):
        x, y = _mm([(-27 + 18 * k, -6 - (7 if k in (1, 2) else 0))])[0]
        y0, y1 = max(0, round(y - 20 * s)), round(y + 20 * s)
        dot = np.zeros((y1 - y0, image.shape[1]), np.float32)
        cv2.circle(dot, (round(x), round(y - y0)), round(5.5 * s), 0.4, -1)
        soft = cv2.GaussianBlur(dot, (0, 0), 2.5 * s)[..., None]
        image[y0:y1, :, :3] = image[y0:y1, :, :3] * (1 - soft) + bump * soft


@lru_cache(maxsize=1)
def known_arm_styles() -> tuple[ArmStyle, ...]:
    """KNOWN_LOOKS arms, always the same: a drawn arm is expensive, and serves again."""
    return tuple(ArmStyle.draw(np.random.default_rng([k, 41])) for k in range(KNOWN_ARM_STYLES))


@lru_cache(maxsize=64)
def draw_arm(look: ArmStyle) -> ArmPicture:
    """Draw an arm pointing up."""
    rng = np.random.default_rng([look.seed, POSES.index(look.pose)])
    w, h = round(WIDTH_MM * ARM_PX_PER_MM), round((HAND_MM + LENGTH_MM) * ARM_PX_PER_MM)
    image = np.zeros((h, w, 4), np.float32)
    lit = (-0.45, -0.3)
    s = ARM_PX_PER_MM

    # The bare forearm, then the hand over it, then what covers the arm.
    t = look.thick
    forearm = np.zeros((h, w), np.uint8)
    _capsule(forearm, _mm([(0, 52), (0, 130), (4, 330), (10, LENGTH_MM + 80)]),
             [52 * t, 58 * t, 88 * t, 112 * t])  # fmt: skip
    _draw_fingers(image[: round((HAND_MM + 90) * s)], look, rng, lit)
    whole = np.maximum(forearm, _palm(forearm.shape))
    _solid(whole, 26 * s, look.skin, image, lit)
    _knuckles(image, look)
    if look.watch:
        band = np.zeros_like(forearm)
        cv2.rectangle(band, (round(w / 2 - 31 * t * s), round((HAND_MM + 84) * s)),
                      (round(w / 2 + 31 * t * s), round((HAND_MM + 104) * s)), 255, -1)  # fmt: skip
        _solid(np.minimum(band, forearm), 12 * s, (60, 55, 50), image, lit)
    if look.sleeve is not None:
        _draw_sleeve(image, look, rng, lit, forearm)
    if look.left:
        image = np.ascontiguousarray(image[:, ::-1])
    bgra = np.clip(image, 0, 255).astype(np.uint8)
    alpha = bgra[..., 3:]
    # Where the parts' shares add up to less than all, colours are held back alike.
    bgra[..., :3] = np.minimum(bgra[..., :3], alpha)
    small = cv2.resize(bgra[..., 3], (w // SHADOW_PART, h // SHADOW_PART),
                       interpolation=cv2.INTER_AREA)  # fmt: skip
    pad = round(40 * s / SHADOW_PART)
    small = cv2.copyMakeBorder(small, pad, pad, pad, pad, cv2.BORDER_CONSTANT)
    soft = cv2.GaussianBlur(small, (0, 0), 13 * s / SHADOW_PART)
    return ArmPicture(bgra, np.asarray(soft, np.uint8))


def _details(image: Floats, joints: FloatArray, skin: Rgb, *, nail: bool) -> None:
    """A nail and the creases at the joints."""
    s = ARM_PX_PER_MM
    d = joints[2] - joints[1]
    d = d / max(1e-6, float(np.hypot(*d)))
    tip = joints[2] + d * 1.0 * s
    angle = math.degrees(math.atan2(d[1], d[0]))
    rosy = (*(min(255.0, v * f) for v, f in zip(skin[::-1], (1.02, 0.98, 1.0), strict=True)), 255.0)
    if nail:
        cv2.ellipse(image, (round(tip[0]), round(tip[1])), (round(5.0 * s), round(3.9 * s)), angle,
                    0, 360, rosy, -1, cv2.LINE_AA)  # fmt: skip
    dark = (*(v * 0.72 for v in skin[::-1]), 255.0)
    side = np.array([-d[1], d[0]])
    for k in range(3):
        at = joints[1] + d * (k - 1) * 2.0 * s
        reach = (4.5 - abs(k - 1)) * s
        a, b = (tuple(np.round(at + side * reach * sign).astype(int).tolist()) for sign in (-1, 1))
        cv2.line(image, a, b, dark, 1, cv2.LINE_AA)


def _draw_sleeve(
    image: Floats, look: ArmStyle, rng: np.random.Generator, lit: tuple[float, float],
    forearm: Picture,
) -> None:  # fmt: skip
    s, t = ARM_PX_PER_MM, look.thick
    h, w = forearm.shape
    start = float(rng.uniform(92, 130))
    if look.cuff is not None:
        mask = np.zeros_like(forearm)
        _capsule(mask, _mm([(0, start - 50), (0, start + 60)]), [70 * t, 74 * t])
        mask[: round((HAND_MM + start - 12) * s)] = 0
        _solid(mask, 22 * s, look.cuff, image, lit)
    mask = np.zeros_like(forearm)
    _capsule(mask, _mm([(0, start - 60), (2, start + 150), (8, 480), (14, LENGTH_MM + 80)]),
             [80 * t, 98 * t, 132 * t, 160 * t])  # fmt: skip
    edge = round((HAND_MM + start) * s)
    mask[:edge] = 0
    gap = np.zeros_like(mask)
    cv2.line(gap, (round(w / 2 - 42 * t * s), edge), (round(w / 2 + 42 * t * s), edge), 255, 5)
    dim = cv2.GaussianBlur(gap, (0, 0), 3.0).astype(np.float32)[..., None] / 255
    image[..., :3] *= 1 - 0.6 * dim
    assert look.sleeve is not None
    _solid(mask, 44 * s, look.sleeve, image, lit)
    # Folds: soft ridges across the sleeve, slanting.
    field = rng.normal(0, 1, (h // 40, 5)).astype(np.float32)
    folds = cv2.resize(field, (w, h), interpolation=cv2.INTER_CUBIC)
    fine = rng.normal(0, 1, (h // 14, 4)).astype(np.float32)
    folds = 1 + 0.06 * folds + 0.03 * cv2.resize(fine, (w, h), interpolation=cv2.INTER_CUBIC)
    if look.pattern:
        ys, xs = np.mgrid[0:h, 0:w].astype(np.float32)
        period = float(rng.uniform(7, 18)) * s
        print_ = np.sin(xs / period * 6.28) > 0.5
        if look.pattern == 2:
            print_ = print_.astype(np.float32) + (np.sin(ys / period * 6.28) > 0.5)
        folds = folds * (1 - 0.22 * print_.astype(np.float32))
    inside = mask > 0
    image[..., :3][inside] *= folds[inside][:, None]


def lay_arm(
    canvas: Picture, arm: ArmPicture, shoulder: FloatArray, hand: FloatArray, scale: float,
    *, shadow: tuple[float, float] = (14.0, 18.0), depth: float = 0.4, mask: Picture | None = None,
) -> tuple[int, int, int, int]:  # fmt: skip
    """Lay an arm on a canvas, its hand at `hand` and coming from `shoulder`, canvas px.

    `scale` is px per mm at the arm, `shadow` how far its shadow falls, mm. What it covers is
    noted in `mask`, uint8 like the canvas. Returns the part touched, (x0, y0, x1, y1).
    """
    d = np.asarray(hand, np.float64) - shoulder
    d = d / max(1e-6, float(np.hypot(*d)))
    k = scale / ARM_PX_PER_MM
    linear = np.array([[-d[1], -d[0]], [d[0], -d[1]]]) * k
    anchor = np.array([WIDTH_MM / 2, HAND_MM]) * ARM_PX_PER_MM
    matrix = np.column_stack([linear, hand - linear @ anchor])
    pad = 40 * ARM_PX_PER_MM
    part = np.array([[SHADOW_PART, 0, -pad], [0, SHADOW_PART, -pad], [0, 0, 1.0]])
    fall = np.column_stack([linear, matrix[:, 2] + np.asarray(shadow) * scale]) @ part
    box = _place(canvas, arm.shadow.shape, fall)
    total = box
    if box is not None and depth > 0:
        x0, y0, x1, y1 = box
        # A soft thing: half the raster is plenty.
        half = np.array([[0.5, 0, -x0 / 2], [0, 0.5, -y0 / 2]])
        small = half[:, :2] @ fall
        small[:, 2] += half[:, 2]
        cast = cv2.warpAffine(arm.shadow, small, ((x1 - x0 + 1) // 2, (y1 - y0 + 1) // 2))
        gain = 255 - cv2.convertScaleAbs(cv2.resize(cast, (x1 - x0, y1 - y0)), alpha=depth)
        spot = canvas[y0:y1, x0:x1]
        np.copyto(spot, cv2.multiply(spot, cv2.cvtColor(gain, cv2.COLOR_GRAY2BGR), scale=1 / 255))
    box = _place(canvas, arm.bgra.shape, matrix)
    if box is None:
        return total or (0, 0, 0, 0)
    x0, y0, x1, y1 = box
    own = matrix.copy()
    own[:, 2] -= (x0, y0)
    laid = np.asarray(cv2.warpAffine(arm.bgra, own, (x1 - x0, y1 - y0)), np.uint8)
    over(canvas[y0:y1, x0:x1], laid)
    if mask is not None:
        np.maximum(mask[y0:y1, x0:x1], laid[..., 3], out=mask[y0:y1, x0:x1])
    if total is None:
        return box
    return (min(x0, total[0]), min(y0, total[1]), max(x1, total[2]), max(y1, total[3]))


def _place(
    canvas: Picture, shape: tuple[int, ...], matrix: FloatArray
) -> tuple[int, int, int, int] | None:
    """The canvas's part that a turned image falls on, or none."""
    h, w = shape[:2]
    corners = np.array([[0, 0, 1], [w, 0, 1], [w, h, 1], [0, h, 1.0]]) @ matrix.T
    x0, y0 = np.maximum(np.floor(corners.min(axis=0)).astype(int) - 1, 0).tolist()
    x1, y1 = (np.ceil(corners.max(axis=0)).astype(int) + 1).tolist()
    x1, y1 = min(x1, canvas.shape[1]), min(y1, canvas.shape[0])
    return (x0, y0, x1, y1) if x1 - x0 > 1 and y1 - y0 > 1 else None


def random_arms(
    rng: np.random.Generator, canvas: Picture, scale: float, looks: Sequence[ArmStyle] | None = None
) -> Picture:
    """Arms at random over a canvas; returns the mask of what they cover, uint8 (h, w)."""
    h, w = canvas.shape[:2]
    mask = np.zeros((h, w), np.uint8)
    for _ in range(1 + int(rng.random() < 0.3)):
        look = (looks or known_arm_styles())[int(rng.integers(len(looks or known_arm_styles())))]
        hand = rng.uniform(0.1, 0.9, 2) * (w, h)
        a = rng.uniform(0, 2 * math.pi)
        shoulder = hand - np.array([math.cos(a), math.sin(a)]) * 1.6 * max(w, h)
        fall = rng.uniform(-26, 26, 2)
        lay_arm(
            canvas, draw_arm(look), shoulder, hand, scale * float(rng.uniform(1.0, 1.12)),
            shadow=(float(fall[0]), float(fall[1])), depth=float(rng.uniform(0.2, 0.5)), mask=mask,
        )  # fmt: skip
    return mask
