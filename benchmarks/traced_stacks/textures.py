"""Images wrapped on chips and felt, linear RGB float32 (h, w, 3), rows from the bottom up."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from benchmarks.traced_stacks.truth import Rgb, TracedGroup, TracedKind

Image32 = npt.NDArray[np.float32]

RIM_PX = (32, 1024)
FACE_PX = 384
PATCH_MM, PATCH_PX = 320.0, 960
"""Side of the square of felt that a group's print covers."""


HAND_BOXES_MM = ((82.0, -98.0, -2.0), (102.0, 6.0, 102.0))
"""Half widths, tops and bottoms of the boxes printed for a hand's two and five cards."""
HAND_WORD_MM = 114.0

WEAVE_MM, BLOTCHES_MM = 64.0, 900.0
"""Sides of the tiles that the felt repeats."""


def rim(kind: TracedKind, rng: np.random.Generator) -> Image32:
    """The rim: columns around the chip, rows over its thickness."""
    high, wide = RIM_PX
    u = np.arange(wide)[None] / wide
    v = (np.arange(high)[:, None] + 0.5) / high
    out = _filled(kind.body, high, wide)
    if kind.style == "line":
        out[np.broadcast_to(abs(v - 0.5) < 0.16, (high, wide))] = kind.spot
    elif kind.style in ("two lines", "edges"):
        out[np.broadcast_to(_banded(kind, abs(v - 0.5)), (high, wide))] = kind.spot
    elif kind.style == "letters":
        out = _lettered(out, kind)
    elif kind.style in ("zigzag", "checks", "half spots"):
        out[_patterned(kind, u, v)] = kind.spot
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


def _banded(kind: TracedKind, off: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Rows of two lines or of both edges; `off` is the distance from the middle, 0 to 0.5."""
    if kind.style == "edges":
        return off > 0.5 - 0.5 * kind.spot_share
    return abs(off - 0.24) < 0.2 * kind.spot_share


def _patterned(
    kind: TracedKind, u: npt.NDArray[np.float64], v: npt.NDArray[np.float64]
) -> npt.NDArray[np.bool_]:
    """Where a zigzag, checks, or spots over half of the thickness are."""
    along = u * kind.spots % 1
    if kind.style == "zigzag":
        return abs(v - 0.2 - 0.6 * abs(2 * along - 1)) < 0.25 * kind.spot_share + 0.06
    if kind.style == "checks":
        return (along < 0.5) ^ (v < 0.5)
    lower = np.floor(u * kind.spots) % 2 < 1
    return (abs(along - 0.5) < kind.spot_share / 2) & (lower ^ (v > 0.5))


def _lettered(image: Image32, kind: TracedKind) -> Image32:
    """Words around the rim."""
    high, wide = image.shape[:2]
    page = Image.new("L", (wide, high), 0)
    draw = ImageDraw.Draw(page)
    text = "CASINO ROYALE" if kind.spots % 2 else f"{kind.value_cents // 100} PAI GOW"
    for k in range(kind.spots):
        place = ((k + 0.5) * wide / kind.spots, high / 2)
        draw.text(place, text[: max(3, 40 // kind.spots)], 255, _font(high * 0.8), anchor="mm")
    cover = np.asarray(page, np.float32)[::-1, :, None] / 255
    return np.asarray(image * (1 - cover) + np.array(kind.spot) * cover, np.float32)


def face(kind: TracedKind, rng: np.random.Generator) -> Image32:
    """The face, seen from above, with the rim's spots reaching onto it."""
    at = (np.arange(FACE_PX) + 0.5) / FACE_PX * 2 - 1
    x, y = np.meshgrid(at, at)
    r, turn = np.hypot(x, y), np.arctan2(y, x) / (2 * math.pi) % 1
    out = _filled(kind.body, FACE_PX, FACE_PX)
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
    if group.hand:
        for half_x, y0, y1 in HAND_BOXES_MM:
            box = (
                middle - half_x * scale, middle + y0 * scale, middle + half_x * scale,
                middle + y1 * scale,
            )  # fmt: skip
            draw.rounded_rectangle(box, 6 * scale, outline=255, width=round(1.8 * scale))
    if group.ring_mm:
        half = group.ring_mm / 2 * scale
        box = (middle - half, middle - half, middle + half, middle + half)
        draw.ellipse(box, outline=255, width=round(2.5 * scale))
    size = 13 * scale
    below = HAND_WORD_MM if group.hand else 58
    draw.text((middle, middle + below * scale), group.word, 255, _font(size), anchor="mm")
    return np.asarray(np.asarray(page)[::-1, :, None] / 255, np.float32)


def felt_weave(color: Rgb, rng: np.random.Generator) -> Image32:
    """A tile of cloth of WEAVE_MM: threads both ways, each a little lighter or darker."""
    n, thread = 768, 6
    noise = rng.normal(0, 1, (n // thread, n // thread)).repeat(thread, 0).repeat(thread, 1)
    fibre = rng.normal(0, 1, (n, n))
    fibre = (fibre + np.roll(fibre, 1, 1) + np.roll(fibre, 2, 0) + np.roll(fibre, 3, 1)) / 2
    at = np.arange(n) % thread / thread - 0.5
    over = (np.add.outer(np.arange(n) // thread, np.arange(n) // thread) % 2).astype(bool)
    ridge = np.where(over, np.cos(at * math.pi)[:, None], np.cos(at * math.pi)[None])
    share = np.clip(0.72 + 0.34 * ridge + 0.10 * noise + 0.12 * fibre, 0.2, 1.8)
    return np.asarray(share[..., None] * np.array(color), np.float32)


def blotches(rng: np.random.Generator) -> Image32:
    """A tile of BLOTCHES_MM of what use does to a felt, about 1."""
    spectrum = np.fft.fft2(rng.normal(0, 1, (256, 256)))
    far = np.hypot(*np.meshgrid(np.fft.fftfreq(256), np.fft.fftfreq(256)))
    slow = np.fft.ifft2(spectrum / np.maximum(far, 0.01) ** 1.6).real
    shade = np.clip(1 + 0.05 * slow / slow.std(), 0.8, 1.2)
    return np.asarray(np.repeat(shade[..., None], 3, axis=2), np.float32)


def _font(size: float) -> ImageFont.ImageFont | ImageFont.FreeTypeFont:
    return ImageFont.load_default(size)


def _written(image: Image32, text: str, ink: tuple[float, float, float], size: float) -> Image32:
    page = Image.new("L", (FACE_PX, FACE_PX), 0)
    fitted = size * min(1.0, 3 / len(text)) * FACE_PX / 2 * 1.5
    ImageDraw.Draw(page).text(
        (FACE_PX / 2, FACE_PX / 2), text, 255, _font(fitted), anchor="mm"
    )  # fmt: skip
    cover = np.asarray(page, np.float32)[::-1, :, None] / 255
    return np.asarray(image * (1 - cover) + np.array(ink) * cover, np.float32)


def _filled(color: Rgb, high: int, wide: int) -> Image32:
    return np.tile(np.asarray(color, np.float32), (high, wide, 1))


def _worn(image: Image32, rng: np.random.Generator, amount: float) -> Image32:
    """Blotches and fine grain, as use leaves them."""
    high, wide = image.shape[:2]
    coarse = rng.normal(0, 1, (max(2, high // 12), wide // 12))
    rows = np.linspace(0, len(coarse) - 1, high).round().astype(int)
    columns = np.linspace(0, coarse.shape[1] - 1, wide).round().astype(int)
    grain = coarse[rows][:, columns] + 0.5 * rng.normal(0, 1, (high, wide))
    return np.asarray(np.clip(image * (1 + amount * grain[..., None]), 0.003, 0.9), np.float32)
