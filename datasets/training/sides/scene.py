"""Ray-cast chip stacks: the training images of the stack reader.

A stack is a pile of discs with centres of their own, cast pixel by pixel through a pinhole
camera. Its side may be lit far weaker than its top or from one side only, its lowest chip may
lie in the contact shadow, neighbours may hide it, rims may be plain, spotted or printed. It
shares no code with the painter of simulated tables (`datasets.render.chips`), so that each can
judge what was trained on the other. The kernel is compiled by numba (extra `train`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numba
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]

RIM_STEPS, RIM_ROWS = 256, 12
FACE_PX = 64
MOST = 24

FELT = -1
"""What a pixel shows when it shows no stack."""


@dataclass(frozen=True, slots=True, eq=False)
class Chips:
    """The chips of one house: `rim` float32 (k, RIM_ROWS, RIM_STEPS, 3) and `face`
    float32 (k, FACE_PX, FACE_PX, 3), RGB 0 to 1; radius and thickness in mm."""

    rim: npt.NDArray[np.float32]
    face: npt.NDArray[np.float32]
    radius_mm: float
    thickness_mm: float


@dataclass(frozen=True, slots=True, eq=False)
class Stacks:
    """Stacks on the felt: chips `kind` (s, MOST), centres `at_mm` (s, MOST, 2), turns
    `turn` (s, MOST) in radians, brightness `level` (s, MOST) and numbers `count` (s,)."""

    kind: npt.NDArray[np.int64]
    at_mm: Floats
    turn: Floats
    level: Floats
    count: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Lamps:
    """How the scene is lit.

    `side` is the brightness of a wall that faces the lamp against a top, `ambient` the share
    of it that a wall turned away keeps, `toward` the lamp's direction in radians on the felt;
    `contact` and `contact_mm` darken walls near the felt, `groove` and `groove_wide` the seams
    between chips, `bevel` lightens upper edges, `sheen` is a vertical reflection at
    `sheen_toward`, `shadow`, `shadow_mm` and `shadow_long` a stack's shadow on the felt.
    """

    side: float
    ambient: float
    toward: float
    contact: float
    contact_mm: float
    groove: float
    groove_wide: float
    bevel: float
    sheen: float
    sheen_toward: float
    sheen_wide: float
    shadow: float
    shadow_mm: float
    shadow_long: float
    face_sheen: float

    def values(self) -> Floats:
        """All fields in their order, (15,)."""
        return np.array(
            [
                self.side, self.ambient, self.toward, self.contact, self.contact_mm, self.groove,
                self.groove_wide, self.bevel, self.sheen, self.sheen_toward, self.sheen_wide,
                self.shadow, self.shadow_mm, self.shadow_long, self.face_sheen,
            ],
            np.float64,
        )  # fmt: skip


def cast(
    to_felt: Floats, foot_mm: Floats, camera_mm: float, size_px: tuple[int, int],
    felt: npt.NDArray[np.float32], felt_px_per_mm: float, stacks: Stacks, chips: Chips,
    lamps: Lamps, fine: int = 2,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:  # fmt: skip
    """Cast an image of `size_px` (width, height): RGB float32 (h, w, 3), 0 to 1 or above, and
    which stack (h, w) the middle of every pixel shows, or FELT.

    `to_felt` (3, 3) maps the image's px to felt mm, `felt` (n, n, 3) is the felt's own look,
    centred on the origin. `fine` squared rays are cast to the pixel.
    """
    return _cast(  # type: ignore[no-any-return]
        to_felt, foot_mm[0], foot_mm[1], camera_mm, size_px[0], size_px[1], felt,
        felt_px_per_mm, stacks.kind, stacks.at_mm, stacks.turn, stacks.level, stacks.count,
        chips.rim, chips.face, chips.radius_mm, chips.thickness_mm, lamps.values(), fine,
    )  # fmt: skip


@numba.njit(cache=True, fastmath=True)
def _wall(x, y, z, cx, cy, turn, level, rim, radius, thick, k, lamps, out):  # type: ignore[no-untyped-def]
    """Colour of a chip's rim at a point of it."""
    nx, ny = (x - cx) / radius, (y - cy) / radius
    azimuth = math.atan2(ny, nx)
    v = z / thick - k
    v = min(max(v, 0.0), 0.9999)
    step = ((azimuth - turn) / (2 * math.pi)) % 1.0
    column = int(step * RIM_STEPS) % RIM_STEPS
    row = int(v * RIM_ROWS)
    facing = math.cos(azimuth - lamps[2])
    light = lamps[0] * (lamps[1] + (1 - lamps[1]) * (0.5 + 0.5 * facing))
    light *= 1 - lamps[3] * math.exp(-z / lamps[4])
    wide = lamps[6]
    seam = math.exp(-((v / wide) ** 2)) + math.exp(-(((1 - v) / wide) ** 2))
    light *= 1 - lamps[5] * min(seam, 1.0)
    edge = (v - 0.8) / 0.12
    light *= 1 + lamps[7] * math.exp(-edge * edge)
    light *= level
    turned = azimuth - lamps[9]
    turned -= 2 * math.pi * round(turned / (2 * math.pi))
    turned /= lamps[10]
    gloss = lamps[8] * math.exp(-turned * turned) * (1 - 0.6 * min(seam, 1.0))
    for c in range(3):
        out[c] = rim[row, column, c] * light + gloss


@numba.njit(cache=True, fastmath=True)
def _cast(  # type: ignore[no-untyped-def]
    to_felt, foot_x, foot_y, camera, width, height, felt, felt_scale, kind, at, turn, level,
    count, rims, faces, radius, thick, lamps, fine,
):  # fmt: skip
    image = np.zeros((height, width, 3), np.float32)
    shown = np.full((height, width), FELT, np.int64)
    many = count.shape[0]
    # A cylinder about each whole stack, and its height.
    bound = np.zeros((many, 4))
    for s in range(many):
        n = count[s]
        mx = my = 0.0
        for k in range(n):
            mx += at[s, k, 0] / n
            my += at[s, k, 1] / n
        far = 0.0
        for k in range(n):
            far = max(far, math.hypot(at[s, k, 0] - mx, at[s, k, 1] - my))
        bound[s, 0], bound[s, 1], bound[s, 2], bound[s, 3] = mx, my, far + radius, n * thick
    felt_n = felt.shape[0]
    best_colour = np.zeros(3)
    lamp_x, lamp_y = math.cos(lamps[2]), math.sin(lamps[2])
    for py in range(height):
        for px in range(width):
            for sy in range(fine):
                for sx in range(fine):
                    u = px + (sx + 0.5) / fine - 0.5
                    w = py + (sy + 0.5) / fine - 0.5
                    d = to_felt[2, 0] * u + to_felt[2, 1] * w + to_felt[2, 2]
                    gx = (to_felt[0, 0] * u + to_felt[0, 1] * w + to_felt[0, 2]) / d
                    gy = (to_felt[1, 0] * u + to_felt[1, 1] * w + to_felt[1, 2]) / d
                    # The ray from the felt point (h = 0) up to the camera (h = camera).
                    dx, dy = (foot_x - gx) / camera, (foot_y - gy) / camera
                    best = -1.0
                    who = FELT
                    for s in range(many):
                        mx, my, reach, top = bound[s, 0], bound[s, 1], bound[s, 2], bound[s, 3]
                        ox, oy = gx - mx, gy - my
                        a = dx * dx + dy * dy
                        b = ox * dx + oy * dy
                        c = ox * ox + oy * oy - reach * reach
                        if a < 1e-12:
                            if c > 0:
                                continue
                            low, high = 0.0, top
                        else:
                            disc = b * b - a * c
                            if disc <= 0:
                                continue
                            root = math.sqrt(disc)
                            low, high = (-b - root) / a, (-b + root) / a
                        if high <= 0 or low >= top:
                            continue
                        high = min(high, top)
                        if high <= best:
                            continue
                        # Chips from where the ray enters, downwards.
                        k = min(count[s] - 1, int(high / thick))
                        while k >= 0:
                            if (k + 1) * thick < max(low, 0.0):
                                break
                            qx, qy = gx - at[s, k, 0], gy - at[s, k, 1]
                            hit = -1.0
                            on_top = False
                            ztop = (k + 1) * thick
                            tx, ty = qx + dx * ztop, qy + dy * ztop
                            if tx * tx + ty * ty <= radius * radius:
                                hit, on_top = ztop, True
                            elif a > 1e-12:
                                bb = qx * dx + qy * dy
                                cc = qx * qx + qy * qy - radius * radius
                                dd = bb * bb - a * cc
                                if dd > 0:
                                    z = (-bb + math.sqrt(dd)) / a
                                    if k * thick <= z < ztop and z >= 0:
                                        hit = z
                            if hit > best:
                                best, who = hit, s
                                if on_top:
                                    cs, sn = math.cos(turn[s, k]), math.sin(turn[s, k])
                                    fx = (tx * cs + ty * sn) / radius
                                    fy = (-tx * sn + ty * cs) / radius
                                    i = min(FACE_PX - 1, int((fx * 0.5 + 0.5) * FACE_PX))
                                    j = min(FACE_PX - 1, int((fy * 0.5 + 0.5) * FACE_PX))
                                    light = level[s, k] * (
                                        1 + lamps[14] * (tx * lamp_x + ty * lamp_y) / radius
                                    )
                                    for ch in range(3):
                                        best_colour[ch] = faces[kind[s, k], j, i, ch] * light
                                else:
                                    _wall(
                                        gx + dx * hit, gy + dy * hit, hit, at[s, k, 0],
                                        at[s, k, 1], turn[s, k], level[s, k],
                                        rims[kind[s, k]], radius, thick, k, lamps, best_colour,
                                    )  # fmt: skip
                                break
                            if hit >= 0:
                                break
                            k -= 1
                    if who == FELT:
                        i = min(felt_n - 1, max(0, int(gx * felt_scale + felt_n / 2)))
                        j = min(felt_n - 1, max(0, int(gy * felt_scale + felt_n / 2)))
                        light = 1.0
                        for s in range(many):
                            long = bound[s, 3] * lamps[13]
                            ox, oy = gx - at[s, 0, 0], gy - at[s, 0, 1]
                            along = -(ox * lamp_x + oy * lamp_y)
                            along = min(max(along, 0.0), long)
                            far = math.hypot(ox + lamp_x * along, oy + lamp_y * along) - radius
                            light *= 1 - lamps[11] * math.exp(-max(far, 0.0) / lamps[12])
                        for ch in range(3):
                            best_colour[ch] = felt[j, i, ch] * light
                    for ch in range(3):
                        image[py, px, ch] += best_colour[ch] / (fine * fine)
                    if sx == fine // 2 and sy == fine // 2:
                        shown[py, px] = who
    return image, shown
