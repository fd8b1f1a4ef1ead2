"""Images of linear light for chips and felts: rims, faces, weave and printed words."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from benchmarks.traced_stacks.truth import Floats, Rgb, TracedKind, TracedTable

Image32 = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

RIM_PX = (24, 1024)
FACE_PX = 256
INLAY_SHARE = 0.64
"""Radius of the inlay in radii of the chip."""


def rim_image(kind: TracedKind, age: float, rng: np.random.Generator) -> Image32:
    """A chip's rim unrolled, from its lower edge up: RIM_PX with `age` 0 (new) to 1 (worn)."""
    high, wide = RIM_PX
    up, about = np.meshgrid((np.arange(high) + 0.5) / high, (np.arange(wide) + 0.5) / wide)
    image = _rim_colours(kind, about.T, up.T)
    # Handling takes colour off the edges and leaves grime on the wall.
    edge = np.clip(np.abs(up.T - 0.5) * 2 - 0.72, 0, 1)[..., None] / 0.28
    image = image * (1 - 0.3 * age * edge * rng.uniform(0.3, 1.0))
    grime = _clouds(rng, (high, wide), (6, 40))[..., None]
    return _worn(image, grime, age, rng)


def face_image(kind: TracedKind, age: float, rng: np.random.Generator) -> Image32:
    """A chip's face from above (FACE_PX square), its marks in line with those of the rim."""
    place = (np.arange(FACE_PX) + 0.5) / FACE_PX * 2 - 1
    x, y = np.meshgrid(place, place)
    far = np.hypot(x, y)
    about = np.arctan2(-y, x) / (2 * math.pi) % 1.0
    image = _rim_colours(kind, about, np.full_like(far, 0.97))
    inlay, body = np.array(kind.inlay), np.array(kind.body)
    ink = np.array([0.02, 0.02, 0.025]) if inlay.mean() > 0.18 else np.array([0.75, 0.7, 0.55])
    most = 0.7 if kind.face == "hub" else 0.95
    word = f"{kind.value_cents // 100}"
    value = _word(word, FACE_PX, min(0.36, most / len(word)))[..., None]
    if kind.face == "inlay":
        image[far < INLAY_SHARE] = inlay
        image[np.abs(far - INLAY_SHARE * 0.88) < 0.02] = kind.spot
        image = image * (1 - value) + ink * value
    elif kind.face == "hub":
        image[far < INLAY_SHARE] = inlay
        image[far < INLAY_SHARE * 0.66] = kind.second
        bright = 0.85 if np.mean(kind.second) < 0.25 else 0.02
        image = image * (1 - value) + bright * value
    elif kind.face == "stamp":
        image[far < 0.74] = body
        image[np.abs(far - 0.52) < 0.025] = body * 0.5 + np.array([0.32, 0.25, 0.1]) * 0.5
        gold = np.array([0.55, 0.42, 0.16]) if body.mean() < 0.35 else np.array([0.05, 0.05, 0.06])
        image = image * (1 - value) + gold * value
    else:
        rays = np.cos(about * 2 * math.pi * kind.spots * 2 + 7 * far)
        image[(far < 0.86) & (rays > 0.1)] = kind.spot
        image[far < 0.6] = inlay
        image[np.abs(far - 0.6) < 0.03] = kind.second
        image = image * (1 - value) + ink * value
    if kind.face in ("inlay", "stamp"):
        # The mould's small figures around the inlay.
        figures = (np.cos(about * 2 * math.pi * 44) > 0.2) & (np.abs(far - 0.8) < 0.05)
        image[figures] *= 0.8
    grime = _clouds(rng, (FACE_PX, FACE_PX), (9, 9))[..., None]
    return _worn(image, grime, age, rng)


def _rim_colours(kind: TracedKind, about: Floats, up: Floats) -> Floats:
    """Linear colours at turns `about` (0 to 1) and heights `up` (0 to 1) of a rim."""
    n, share = kind.spots, kind.spot_share
    phase = about * n % 1.0
    within = (phase - 0.5) / share
    marked = np.abs(within) < 0.5
    spot: list[tuple[Mask, Rgb]] = [(marked, kind.spot)]
    if kind.style == "split":
        spot.append((marked & (within > 0), kind.second))
    elif kind.style == "triple":
        spot.append((np.abs(within) < 1 / 6, kind.second))
    elif kind.style == "fork":
        spot.append((np.abs(within) < 0.2, kind.body))
    elif kind.style == "band":
        spot.insert(0, (np.abs(up - 0.5) < 0.17, kind.second))
    elif kind.style == "dashes":
        fine = about * n * 3 % 1.0 - 0.5
        dash = (np.abs(fine) < 0.3) & (np.abs(up - 0.5) < 0.24)
        spot = [(np.asarray(dash), kind.spot)]
    elif kind.style == "ceramic":
        diamond = np.abs(within) + np.abs(up - 0.5) * 1.3
        wave = np.abs(up - 0.5 - 0.3 * np.sin(about * 2 * math.pi * n * 2)) < 0.09
        spot = [(np.asarray(wave), kind.second), (diamond < 0.62, kind.spot)]
        spot.append((diamond < 0.24, kind.inlay))
    elif kind.style == "plain":
        spot = []
    out = np.empty((*about.shape, 3))
    out[:] = kind.body
    for where, colour in spot:
        out[where] = colour
    return out


def _worn(image: Floats, grime: Image32, age: float, rng: np.random.Generator) -> Image32:
    """A chip's own lightness and hue, with grime and fading."""
    own = rng.normal(0, 0.05) + rng.normal(0, 0.015, 3)
    image = image * np.exp(own) * (1 + 0.05 * grime)
    dirt = np.array([0.11, 0.085, 0.06])
    much = age * np.clip(0.12 + 0.14 * grime, 0, 0.5) * rng.uniform(0.2, 1.0)
    image = image + much * (dirt - image)
    faded = age * rng.uniform(0, 0.12)
    grey = image.mean(axis=2, keepdims=True)
    image = image + faded * (grey * 0.9 + 0.03 - image)
    return np.clip(image, 0.004, 0.9).astype(np.float32)


def _clouds(rng: np.random.Generator, size: tuple[int, int], cells: tuple[int, int]) -> Image32:
    """Smooth noise of mean 0 and spread about 1."""
    rough = Image.fromarray(rng.standard_normal(cells).astype(np.float32))
    own = np.asarray(rough.resize(size[::-1], Image.Resampling.BICUBIC), np.float32)
    return own / np.float32(0.7)


def _word(word: str, size: int, high: float) -> Image32:
    """A word in the middle of a square, 0 to 1; `high` is its height in sides."""
    image = Image.new("L", (size, size))
    font = ImageFont.load_default(size * high)
    ImageDraw.Draw(image).text((size / 2, size / 2), word, 255, font, "mm", stroke_width=size // 90)
    return np.asarray(np.asarray(image) / 255, np.float32)


def felt_image(
    table: TracedTable, low: tuple[float, float], size_mm: tuple[float, float], px_per_mm: float,
    weave: bool,
) -> Image32:  # fmt: skip
    """The felt and its print, linear, rows along y; `low` is the corner of least x and y."""
    high, wide = (max(8, round(one * px_per_mm)) for one in reversed(size_mm))
    x = low[0] + (np.arange(wide, dtype=np.float32) + 0.5) * (size_mm[0] / wide)
    y = low[1] + (np.arange(high, dtype=np.float32) + 0.5) * (size_mm[1] / high)
    rng = np.random.default_rng([table.seed, table.number, 101])
    nap = np.ones((high, wide), np.float32)
    # Nap brushed this way and that: the same on every image of the table.
    for _ in range(7):
        turn, wave = rng.uniform(0, 2 * math.pi), rng.uniform(120, 900)
        along = (x * math.cos(turn) + y[:, None] * math.sin(turn)) * (2 * math.pi / wave)
        nap += float(rng.uniform(0.004, 0.02)) * np.sin(along + rng.uniform(0, 6))
    strength = rng.uniform(0.05, 0.14)
    if weave:
        own = np.random.default_rng([table.seed, table.number, round(abs(low[0])), high])
        grain = own.standard_normal((high, wide), np.float32)
        nap *= 1 + strength * (grain + np.roll(grain, 1, 0) + np.roll(grain, (1, 1), (0, 1))) / 1.7
    image = nap[..., None] * np.array(table.felt, np.float32)
    ink = _printed(table, low, px_per_mm, (high, wide))[..., None] * np.float32(0.92)
    image += ink * (nap[..., None] * np.array(table.print_rgb, np.float32) - image)
    return np.asarray(np.clip(image, 0.003, 0.95), np.float32)


def _printed(
    table: TracedTable, low: tuple[float, float], px_per_mm: float, size: tuple[int, int]
) -> Image32:
    """Rings and words, 0 to 1."""
    image = Image.new("L", size[::-1])
    draw = ImageDraw.Draw(image)
    line = max(1, round(3.0 * px_per_mm))
    for group in table.groups:
        x, y = ((at - least) * px_per_mm for at, least in zip(group.center_mm, low, strict=True))
        ring = group.ring_mm * px_per_mm
        draw.ellipse((x - ring, y - ring, x + ring, y + ring), outline=255, width=line)
        tall = 24 * px_per_mm
        side = max(8, round(tall * 8))
        word = Image.new("L", (side, side))
        ImageDraw.Draw(word).text(
            (side / 2, side / 2), group.word, 255, ImageFont.load_default(tall), "mm"
        )
        word = word.rotate(-group.angle_deg, Image.Resampling.BICUBIC)
        turn = math.radians(group.angle_deg)
        down = ring + 20 * px_per_mm
        at = (x - math.sin(turn) * down - side / 2, y + math.cos(turn) * down - side / 2)
        image.paste(255, (round(at[0]), round(at[1])), word)
    return np.asarray(np.asarray(image) / 255, np.float32)
