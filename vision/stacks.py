"""Reading chip stacks: how many chips of which colour stand where.

From a calibrated camera a stack's side is seen as a shift: the disc at height h appears at
`lift(base, h)`, away from the camera's foot. A classifier counts the chips on a crop scaled
by that shift (`vision.stack_crop`); the base's near rim and the top's far rim are then found
as edges for that count, and the side between them shows the colours, level by level.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.calibration import Calibration
from vision.detections import ByteArray, Floats, Reader
from vision.stack_boxes import Box, lone_boxes
from vision.stack_crop import (
    CROP_PX,
    MOST_COUNTED,
    StackAxes,
    base_and_height,
    crop_to_felt,
    stack_axes,
)
from vision.table import (
    CHIP_DIAMETER_MM,
    CHIP_THICKNESS_MM,
    ChipKind,
    FloatArray,
    Place,
    Point,
)

PATCH_PX_PER_MM = 2.5
RADIUS_MM = CHIP_DIAMETER_MM / 2
SLACK_MM = 3.2
"""How far a base may lie from where the detector's box puts it."""

HEIGHT_SD = (2.0, 0.5)
COUNT_TEMPERATURE = 1.2
"""The box tells the height to two chips and half a mm, so only which of the counter's guesses
cannot be; the counter is a little surer than right. Fitted on 949 stacks of seven shifts."""

COVERED_SHARE = 0.12
TOP_TRUST = 0.5
"""The box's far end is as good a witness of the base as its near end."""

COUNT_OFFS_MM = (-0.9, 0.0, 0.9)
"""Crops about the box's base, counted together: the box is a millimetre off now and then."""

BOX_SD_MM = 1.6
BOX_WEIGHT = 4.0
SHADES = (1.12, 1.0, 0.9, 0.8, 0.7)
"""A chip's side is darker than its top, and lights differ."""

COST_CAP = 34.0
BLEED = 0.15
LUMA_BLEED = 0.1
"""Share of each neighbour's colour that a level takes on through the codec."""

CHANGE_COST = 0.3
CUSTOM_COST = 9.0
LEVEL_SHARES = (0.5, 0.65, 0.8)
NEAR_WEIGHT = 0.35
"""The top's far rim is the clearer edge: the near side shows a rim for every chip."""

BASE_SLIPS_MM = (-0.45, 0.0, 0.45)
SLIP_COST = 2.5
"""The levels' colours may move a base that the rims put a little off."""

EDGE_BIAS_MM = 0.3
"""The strongest edge lies a little above the base's rim, where its own shadow ends."""

ALONG_STEP_MM = 0.4
ACROSS_STEP_MM = 0.75
ARC_DEG = 62.0
FloatImage = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class StackSight:
    """One stack in one picture: base on the felt (mm), colours from the bottom up.

    `count_share` is the counter's share for this height, `colour_gap` how much worse (Lab
    distance) any other colour would fit the least certain level. No colours: too high to
    count.
    """

    center_mm: Point
    colours: tuple[str, ...]
    value_cents: int
    count_share: float
    colour_gap: float
    box_mm: tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class _Patch:
    """A piece of felt about a stack: uint8 (h, w, 3) and where it lies."""

    image: ByteArray
    origin: FloatArray
    hidden: ByteArray

    def seen(self, points: FloatArray) -> npt.NDArray[np.bool_]:
        """Which felt points (..., 2) mm no nearer stack covers, bool (...)."""
        px = np.clip(np.round(self.px(points)).astype(int), 0, self.hidden.shape[0] - 1)
        return np.asarray(self.hidden[px[..., 1], px[..., 0]] == 0)

    def px(self, points: FloatArray) -> FloatArray:
        """Felt mm (..., 2) to patch px (..., 2)."""
        out: FloatArray = (points - self.origin) * PATCH_PX_PER_MM
        return out


def _cut(
    frame: ByteArray, calibration: Calibration, center: FloatArray, half_mm: float,
    covers: Sequence[FloatArray],
) -> _Patch:  # fmt: skip
    """A square of felt, its axes the felt's, `half_mm` to each side of `center`."""
    n = math.ceil(2 * half_mm * PATCH_PX_PER_MM)
    origin = center - half_mm
    k = 1 / PATCH_PX_PER_MM
    matrix = np.array([[k, 0, origin[0]], [0, k, origin[1]], [0, 0, 1.0]])
    hidden = np.zeros((n, n), np.uint8)
    for cover in covers:
        px = (cover - origin) * PATCH_PX_PER_MM
        cv2.fillPoly(hidden, [np.round(px).astype(np.int32)], 255)
    return _Patch(calibration.warp_patch(frame, matrix, (n, n)), origin, hidden)


def _sample(image: FloatImage, points_px: FloatArray) -> FloatImage:
    """Bilinear samples of an image (h, w, c) at points (..., 2) px; shape (..., c)."""
    shape = points_px.shape[:-1]
    # remap takes no side above 32767: keep the points in rows.
    rows = points_px.reshape(-1, shape[-1], 2).astype(np.float32)
    out = cv2.remap(
        image, rows[..., 0], rows[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(out, np.float32).reshape(*shape, -1)


def _lab(image: ByteArray) -> FloatImage:
    """CIE L*a*b* as float32 (h, w, 3)."""
    return np.asarray(cv2.cvtColor(image.astype(np.float32) / 255, cv2.COLOR_BGR2LAB), np.float32)


def _gradients(image: ByteArray) -> tuple[FloatImage, FloatImage]:
    smooth = cv2.GaussianBlur(_lab(image), (0, 0), 0.8)
    gx = cv2.Sobel(smooth, cv2.CV_32F, 1, 0, ksize=3)
    gy = cv2.Sobel(smooth, cv2.CV_32F, 0, 1, ksize=3)
    return np.asarray(gx, np.float32), np.asarray(gy, np.float32)


def _arc_strength(
    grads: tuple[FloatImage, FloatImage], patch: _Patch, centers: FloatArray, facing: FloatArray
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:  # fmt: skip
    """Edge strength along an arc about each centre (..., 2) mm, and the share of it seen."""
    turn = math.atan2(facing[1], facing[0])
    angles = turn + np.radians(np.linspace(-ARC_DEG, ARC_DEG, 33))
    rim = np.column_stack([np.cos(angles), np.sin(angles)])
    points = centers[..., None, :] + RADIUS_MM * rim
    px = patch.px(points)
    gx, gy = _sample(grads[0], px), _sample(grads[1], px)
    across = np.abs(gx * rim[:, :1] + gy * rim[:, 1:])
    strength = np.minimum(across.max(axis=-1), 60.0).astype(np.float64)
    seen = patch.seen(points)
    count = seen.sum(axis=-1)
    mean = np.where(count > 0, (strength * seen).sum(axis=-1) / np.maximum(count, 1), 0.0)
    return mean, count / seen.shape[-1]


def silhouette(
    calibration: Calibration, base_mm: Point, chips: int, grow_mm: float = 0.0
) -> FloatArray:
    """Outline on the felt's plane that a stack covers, a convex polygon (n, 2) mm."""
    turn = np.linspace(0, 2 * math.pi, 24, endpoint=False)
    ring = np.column_stack([np.cos(turn), np.sin(turn)]) * (RADIUS_MM + grow_mm)
    base = np.asarray([base_mm])
    top = calibration.lift(base, chips * CHIP_THICKNESS_MM)
    both = np.vstack([ring + base, ring + top]).astype(np.float32)
    return np.asarray(cv2.convexHull(both).reshape(-1, 2), np.float64)


def _palette(chips: Mapping[str, ChipKind]) -> tuple[tuple[str, ...], FloatImage, Sequence[int]]:
    """Names, Lab colours (shades, colours, 3) lit and in their own shade, and values."""
    names = tuple(chips)
    rgb = np.array([chips[n].rgb[::-1] for n in names], np.float64)
    shaded = np.clip(np.stack([rgb * k for k in SHADES]).round(), 0, 255).astype(np.uint8)
    return names, _lab(shaded), [chips[n].value_cents for n in names]


def _fit_base(patch: _Patch, base0: FloatArray, axes: StackAxes, n: int) -> FloatArray:
    """The base (2,) mm whose near rim and top's far rim lie best on edges for `n` chips."""
    grads = _gradients(patch.image)
    offs = np.arange(-SLACK_MM, SLACK_MM + 1e-6, ALONG_STEP_MM)
    across = np.arange(-2.0, 2.01, ACROSS_STEP_MM)
    grid = base0 + offs[:, None, None] * axes.up + across[None, :, None] * axes.side
    near, near_seen = _arc_strength(grads, patch, grid, -axes.up)
    far, far_seen = _arc_strength(grads, patch, grid + axes.up * n * axes.per_chip_mm, axes.up)
    fit = NEAR_WEIGHT * near * np.minimum(1, near_seen * 1.5) + far * np.minimum(1, far_seen * 1.5)
    fit -= BOX_WEIGHT * ((offs / BOX_SD_MM) ** 2)[:, None]
    i, j = divmod(int(fit.argmax()), fit.shape[1])
    best: FloatArray = grid[i, j] - axes.up * EDGE_BIAS_MM
    return best


def read_stacks(
    frame: ByteArray,
    calibration: Calibration,
    chips: Mapping[str, ChipKind],
    place: Place,
    boxes_mm: Sequence[Box],
    counter: Reader,
) -> list[StackSight]:
    """Read all stacks of one view, those nearest to the camera first.

    `boxes_mm` are the found boxes (u0, v0, u1, v1) in mm of the view's own frame; `counter`
    tells shares of `COUNT_NAMES` for crops. A stack of more than MOST_COUNTED chips comes
    back with no colours.
    """
    if not boxes_mm:
        return []
    foot = place.to_local(np.array([calibration.foot_mm]))[0]

    def away(box: tuple[float, float, float, float]) -> float:
        return math.hypot((box[0] + box[2]) / 2 - foot[0], (box[1] + box[3]) / 2 - foot[1])

    ordered = sorted(lone_boxes(frame, calibration, place, boxes_mm, counter), key=away)
    found = []
    for box in ordered:
        middle = np.array([[(box[0] + box[2]) / 2, (box[1] + box[3]) / 2]])
        axes = stack_axes(calibration, place.to_felt(middle)[0])
        base, height = base_and_height(box, place, axes)
        found.append((axes, base, height))
    crops = np.stack(
        [
            calibration.warp_patch(
                frame, crop_to_felt(base + axes.up * off, axes), (CROP_PX, CROP_PX)
            )
            for axes, base, _ in found
            for off in COUNT_OFFS_MM
        ]
    )
    told = counter.read(crops).reshape(len(found), len(COUNT_OFFS_MM), -1)
    shares = np.exp(np.log(np.clip(told, 1e-6, 1)).mean(axis=1))
    names, palette, values = _palette(chips)
    covers: list[FloatArray] = []
    out: list[StackSight] = []
    for box, (axes, base0, height), share in zip(ordered, found, shares, strict=True):
        # Where a nearer stack hides the base the box begins late: only its far end counts.
        covered = _covered(base0, axes, covers)
        fit = _with_height(share, None if covered else height, axes.per_chip_mm)
        n = int(fit.argmax()) + 1
        sure = float(fit[n - 1])
        if n > MOST_COUNTED:
            out.append(StackSight((float(base0[0]), float(base0[1])), (), 0, sure, 0.0, box))
            continue
        reach = RADIUS_MM + n * axes.per_chip_mm / 2 + SLACK_MM + 6
        middle_mm = base0 + axes.up * n * axes.per_chip_mm / 2
        patch = _cut(frame, calibration, middle_mm, reach, covers)
        base0 = base0 + axes.up * (height - n * axes.per_chip_mm) * (1.0 if covered else TOP_TRUST)
        base = _fit_base(patch, base0, axes, n)
        path, gap = read_colours(patch, calibration, base, n, axes.up, palette, values)
        colours = tuple(names[p] for p in path)
        own = (float(base[0]), float(base[1]))
        value = sum(chips[c].value_cents for c in colours)
        out.append(StackSight(own, colours, value, sure, gap, box))
        covers.append(silhouette(calibration, own, n, 0.8))
    return out


def _covered(base_mm: FloatArray, axes: StackAxes, covers: Sequence[FloatArray]) -> bool:
    """Whether nearer stacks hide part of the near rim, so that the box begins too late."""
    angles = np.radians(np.linspace(-60, 60, 13)) + math.atan2(-axes.up[1], -axes.up[0])
    rim = np.column_stack([np.cos(angles), np.sin(angles)]) * RADIUS_MM
    hidden = np.zeros(len(rim), bool)
    for slip in (0.0, axes.per_chip_mm, 2 * axes.per_chip_mm):
        points = base_mm - axes.up * slip + rim
        for cover in covers:
            outline = cover.astype(np.float32).reshape(-1, 1, 2)
            hidden |= np.array(
                [cv2.pointPolygonTest(outline, (float(x), float(y)), False) >= 0 for x, y in points]
            )
    return bool(hidden.mean() > COVERED_SHARE)


def _with_height(
    shares: Floats, height_mm: float | None, per_chip_mm: float
) -> npt.NDArray[np.float64]:
    """The counter's shares (k,), weighed with the seen height of the found box."""
    logs = np.log(np.clip(shares, 1e-6, 1)) / COUNT_TEMPERATURE
    if height_mm is not None:
        off = np.arange(1, len(shares) + 1) - height_mm / per_chip_mm
        # The last class holds all higher stacks.
        off[-1] = max(0.0, off[-1])
        logs = logs - (off / math.hypot(HEIGHT_SD[0], HEIGHT_SD[1] / per_chip_mm)) ** 2 / 2
    fit = np.exp(logs - logs.max())
    return np.asarray(fit / fit.sum(), np.float64)


def read_colours(
    patch: _Patch, calibration: Calibration, base: FloatArray, n: int, u: FloatArray,
    palette: FloatImage, values: Sequence[int],
) -> tuple[list[int], float]:  # fmt: skip
    """Colours (places in the palette) from the bottom up, and the least certain level's gap.

    Codecs keep colour at half the density, so a level is seen mixed with its neighbours:
    each level is compared with mixtures for every colour below and above it, and the
    cheapest row of colours wins. Edge spots are outvoted by capping what one sample can
    cost. A smaller value under a larger one, against custom, costs extra.
    """
    image = _lab(patch.image)
    turn = math.atan2(-u[1], -u[0])
    angles = turn + np.radians(np.linspace(-48, 48, 25))
    rim = np.column_stack([np.cos(angles), np.sin(angles)]) * RADIUS_MM
    below = calibration.lift(base[None], -0.9 * CHIP_THICKNESS_MM)[0] + rim
    ground = np.median(_sample(image, patch.px(below)[None])[0], axis=0)
    ring_angles = np.linspace(0, 2 * math.pi, 72, endpoint=False)
    ring = np.column_stack([np.cos(ring_angles), np.sin(ring_angles)])
    top = calibration.lift(base[None], n * CHIP_THICKNESS_MM)[0]
    ring_points = np.vstack([top + RADIUS_MM * k * ring for k in (0.77, 0.84)])
    ring_lab = _sample(image, patch.px(ring_points)[None])[0]
    best: tuple[float, list[int], float] | None = None
    for slip in BASE_SLIPS_MM:
        moved = base + u * slip
        samples = []
        for level in range(n):
            rows = [
                calibration.lift(moved[None], (level + share) * CHIP_THICKNESS_MM)[0] + rim
                for share in LEVEL_SHARES
            ]
            points = np.vstack(rows)
            seen = patch.seen(points)
            samples.append(_sample(image, patch.px(points[seen])[None])[0] if seen.any() else None)
        doubt = n * SLIP_COST * (slip / BASE_SLIPS_MM[-1]) ** 2
        for shade in range(1, len(SHADES)):
            lit, side = palette[max(0, shade - 2)], palette[shade]
            cost, path, gap = _cheapest(samples, ground, ring_lab, lit, side, values)
            if best is None or cost + doubt < best[0]:
                best = (cost + doubt, path, gap)
    assert best is not None
    return best[1], best[2]


def _capped(samples: FloatImage, colours: FloatImage) -> npt.NDArray[np.float64]:
    """Mean capped distance of samples (m, 3) to colours (..., 3), shape (...)."""
    weight = np.array([0.7, 1.0, 1.0], np.float32)
    diff = (colours[..., None, :] - samples) * weight
    return np.asarray(np.minimum(np.sqrt((diff**2).sum(-1)), COST_CAP).mean(-1), np.float64)


def _cheapest(
    samples: Sequence[FloatImage | None], ground: FloatImage, ring: FloatImage, lit: FloatImage,
    side: FloatImage, values: Sequence[int],
) -> tuple[float, list[int], float]:  # fmt: skip
    """Cost, colours and gap of the cheapest row of colours under one light."""
    n, k = len(samples), len(side)
    bleed = np.array([LUMA_BLEED, BLEED, BLEED], np.float32)
    top_cost = _capped(ring, lit) * 1.5
    # State (colour of this level, colour of the next); the last level's next is its own top.
    unary = np.zeros((n, k, k, k))
    for level, own in enumerate(samples):
        if own is None:
            continue
        under = side[:, None, None, :] if level else np.broadcast_to(ground, (k, 1, 1, 3))
        over = side[None, None, :, :]
        if level == n - 1:
            over = lit[None, None, :, :]
        mixed = side[None, :, None, :] * (1 - 2 * bleed) + (under + over) * bleed
        unary[level] = _capped(own, np.broadcast_to(mixed, (k, k, k, 3)))
    order = np.array(values)
    against = np.where(order[None, :] > order[:, None], CUSTOM_COST, 0.0)
    against += np.where(order[None, :] != order[:, None], CHANGE_COST, 0.0)
    if n == 1:
        own_cost = unary[0][0, np.arange(k), np.arange(k)] + top_cost
        ranked = np.sort(own_cost)
        return float(ranked[0]), [int(own_cost.argmin())], float(ranked[1] - ranked[0])
    # steps[level][before, colour, next]: what a level adds; the last level's next is its own.
    own_top = np.full((k, k), np.inf)
    own_top[np.arange(k), np.arange(k)] = top_cost
    steps = [unary[level] + (against if level < n - 1 else own_top)[None] for level in range(n)]
    forward = [steps[0][0]]
    back = []
    for level in range(1, n):
        ways = forward[-1][:, :, None] + steps[level]
        back.append(ways.argmin(axis=0))
        forward.append(ways.min(axis=0))
    onward = [np.zeros((k, k))]
    for level in range(n - 1, 0, -1):
        onward.insert(0, (steps[level] + onward[0][None]).min(axis=2))
    a, b = divmod(int(forward[-1].argmin()), k)
    path = [a]
    for level in range(n - 1, 0, -1):
        a, b = int(back[level - 1][a, b]), a
        path.append(a)
    path.reverse()
    # What the best row with another colour at any one level would cost more.
    gap = np.inf
    for level in range(n):
        through = (forward[level] + onward[level]).min(axis=1)
        gap = min(gap, float(np.delete(through, path[level]).min() - through[path[level]]))
    return float(forward[-1].min()), path, gap
