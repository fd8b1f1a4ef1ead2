"""Images wrapped on chips and felt, linear RGB float32 (h, w, 3), rows from the bottom up."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from benchmarks.traced_stacks.truth import TracedGroup, TracedKind

Image32 = npt.NDArray[np.float32]

RIM_PX = (32, 1024)
FACE_PX = 384
PATCH_MM, PATCH_PX = 320.0, 960
"""Side of the square of felt that a group's print covers."""


def rim(kind: TracedKind, rng: np.random.Generator) -> Image32:
    """The rim: columns around the chip, rows over its thickness."""
    high, wide = RIM_PX
    u = np.arange(wide)[None] / wide
    v = (np.arange(high)[:, None] + 0.5) / high
    out = np.broadcast_to(np.float32(kind.body), (high, wide, 3)).copy()
    if kind.style == "line":
        out[np.broadcast_to(abs(v - 0.5) < 0.16, (high, wide))] = kind.spot
    elif kind.spots:
        along = u * kind.spots + (0.35 * (v - 0.5) * 2 if kind.style == "slanted print" else 0)
        phase = abs(along % 1 - 0.5)
        out[np.broadcast_to(phase < kind.spot_share / 2, (high, wide))] = kind.spot
        if kind.style == "split spots":
            out[np.broadcast_to(phase < kind.spot_share / 6, (high, wide))] = kind.second
        if kind.style == "slanted print":
            ring = np.broadcast_to(abs(v - 0.5) > 0.36, (high, wide))
            out[ring] = kind.second
    return _worn(out, rng, 0.05)


def face(kind: TracedKind, rng: np.random.Generator) -> Image32:
    """The face, seen from above, with the rim's spots reaching onto it."""
    at = (np.arange(FACE_PX) + 0.5) / FACE_PX * 2 - 1
    x, y = np.meshgrid(at, at)
    r, turn = np.hypot(x, y), np.arctan2(y, x) / (2 * math.pi) % 1
    out = np.broadcast_to(np.float32(kind.body), (FACE_PX, FACE_PX, 3)).copy()
    if kind.spots:
        phase = abs(turn * kind.spots % 1 - 0.5)
        outer = r > (0.82 if kind.face == "inlay" else 0.72)
        out[outer & (phase < kind.spot_share / 2)] = kind.spot
        if kind.style == "split spots":
            out[outer & (phase < kind.spot_share / 6)] = kind.second
    amount = kind.value_cents / 100
    text = f"${amount:g}"
    if kind.face == "inlay":
        out[r < 0.62] = kind.inlay
        out[(r > 0.57) & (r < 0.62)] = kind.spot
        ink = kind.body if sum(kind.inlay) > 0.9 else (0.75, 0.73, 0.68)
        out = _written(out, text, ink, 0.34)
    elif kind.face == "printed":
        rays = abs(turn * 24 % 1 - 0.5) < 0.2
        out[(r < 0.68) & (r > 0.45) & rays] = kind.second
        out[r < 0.45] = kind.inlay
        out[abs(r - 0.69) < 0.02] = kind.spot
        ink = (0.02, 0.02, 0.02) if sum(kind.inlay) > 0.9 else (0.75, 0.73, 0.68)
        out = _written(out, text, ink, 0.26)
    else:
        ring = (abs(r - 0.66) < 0.02) | ((abs(r - 0.58) < 0.05) & (abs(turn * 16 % 1 - 0.5) < 0.15))
        gold = (0.55, 0.38, 0.12) if sum(kind.body) < 1.2 else (0.25, 0.17, 0.06)
        out[ring] = gold
        out = _written(out, text, gold, 0.4)
    return _worn(out, rng, 0.06)


def felt_print(group: TracedGroup) -> Image32:
    """How much of the felt is covered with print, (h, w, 1), 0 to 1, the group's up on top."""
    page = Image.new("L", (PATCH_PX, PATCH_PX), 0)
    draw = ImageDraw.Draw(page)
    scale, middle = PATCH_PX / PATCH_MM, PATCH_PX / 2
    if group.ring_mm:
        half = group.ring_mm / 2 * scale
        box = (middle - half, middle - half, middle + half, middle + half)
        draw.ellipse(box, outline=255, width=round(2.5 * scale))
    size = 15 * scale
    draw.text((middle, middle + 75 * scale), group.word, 255, _font(size), anchor="mm")
    return np.asarray(page, np.float32)[::-1, :, None] / 255


def _font(size: float) -> ImageFont.ImageFont | ImageFont.FreeTypeFont:
    return ImageFont.load_default(size)


def _written(image: Image32, text: str, ink: tuple[float, float, float], size: float) -> Image32:
    page = Image.new("L", (FACE_PX, FACE_PX), 0)
    fitted = size * min(1.0, 3 / len(text)) * FACE_PX / 2 * 1.5
    ImageDraw.Draw(page).text(
        (FACE_PX / 2, FACE_PX / 2), text, 255, _font(fitted), anchor="mm"
    )  # fmt: skip
    cover = np.asarray(page, np.float32)[::-1, :, None] / 255
    out: Image32 = image * (1 - cover) + np.float32(ink) * cover
    return out


def _worn(image: Image32, rng: np.random.Generator, amount: float) -> Image32:
    """Blotches and fine grain, as use leaves them."""
    high, wide = image.shape[:2]
    coarse = rng.normal(0, 1, (max(2, high // 12), wide // 12))
    rows = np.linspace(0, len(coarse) - 1, high).round().astype(int)
    columns = np.linspace(0, coarse.shape[1] - 1, wide).round().astype(int)
    grain = coarse[rows][:, columns] + 0.5 * rng.normal(0, 1, (high, wide))
    out: Image32 = (image * (1 + amount * grain[..., None])).astype(np.float32)
    return np.clip(out, 0.003, 0.9)
