"""What cards lie on in loose images: wood, stone, cloth, paper, tables of all kinds."""

from __future__ import annotations

import math

import cv2
import numpy as np
import numpy.typing as npt

from datasets.render.appearance import felt_rgb, felt_texture
from datasets.render.cards.suit_marks import Picture
from datasets.render.felt_print import word_mask
from datasets.render.sensor import add_noise

Floats = npt.NDArray[np.float32]
WORDS = ("POKER", "10", "9", "A", "Q", "CASINO", "JACKPOT", "5", "JOKE", "WINNER", "K", "2024")


def _field(rng: np.random.Generator, n: int, rows: int, columns: int) -> Floats:
    """Smooth noise of unit spread, float32 (n, n), with so many bumps down and across."""
    rough = rng.normal(0, 1, (max(2, rows), max(2, columns))).astype(np.float32)
    return np.asarray(cv2.resize(rough, (n, n), interpolation=cv2.INTER_CUBIC), np.float32)


def _tinted(
    level: Floats, dark: npt.NDArray[np.float64], light: npt.NDArray[np.float64]
) -> Picture:
    """From one colour to another by a level between 0 and 1; uint8 (n, n, 3)."""
    table = np.linspace(dark, light, 256).clip(0, 255).astype(np.uint8)[:, None]
    return np.asarray(
        cv2.LUT(cv2.cvtColor(cv2.convertScaleAbs(level, alpha=255), cv2.COLOR_GRAY2BGR), table),
        np.uint8,
    )


def wood(rng: np.random.Generator, n: int) -> Picture:
    """Planks with grain."""
    grain = 0.5 + 0.16 * _field(rng, n, int(rng.integers(40, 240)), 5)
    grain += 0.12 * _field(rng, n, int(rng.integers(120, 500)), 9)
    rings = np.sin(_field(rng, n, int(rng.integers(4, 12)), 3) * rng.uniform(3, 9))
    level = np.clip(grain + 0.14 * rings, 0, 1).astype(np.float32)
    shade = rng.uniform(0.35, 1.0)
    base = np.array([rng.uniform(70, 150), rng.uniform(120, 190), rng.uniform(160, 235)]) * shade
    out = _tinted(level, base * rng.uniform(0.3, 0.75), base * 1.1)
    step = n // int(rng.integers(2, 7))
    if rng.random() < 0.6:
        for y in range(int(rng.integers(0, step)), n, step):
            cv2.line(out, (0, y), (n, y), tuple((base * 0.35).tolist()), int(rng.integers(1, 4)))
    return out


def stone(rng: np.random.Generator, n: int) -> Picture:
    """Granite, terrazzo or a stained slab."""
    level = 0.5 + 0.1 * _field(rng, n, 9, 9) + 0.16 * _field(rng, n, n // 3, n // 3)
    level += 0.14 * _field(rng, n, n // 8, n // 8)
    tone = rng.uniform(20, 220)
    base = np.clip(np.array([tone, tone, tone]) + rng.normal(0, 14, 3), 5, 245)
    spread = rng.uniform(0.1, 0.7)
    return _tinted(np.clip(level, 0, 1), base * (1 - spread), base * (1 + spread * 0.8))


def cloth(rng: np.random.Generator, n: int) -> Picture:
    """Woven or knitted cloth, plain or striped."""
    ys, xs = (v.astype(np.float32) for v in np.mgrid[0:n, 0:n])
    step = rng.uniform(2.2, 7)
    weave = np.sin(xs / step * 3.14) * np.sin(ys / step * 3.14)
    level = 0.5 + 0.12 * weave + 0.1 * _field(rng, n, n // 4, n // 4) + 0.1 * _field(rng, n, 7, 7)
    if rng.random() < 0.5:
        a = rng.uniform(0, math.pi)
        period = rng.uniform(6, 60)
        level = level + 0.2 * np.sign(np.sin((xs * math.cos(a) + ys * math.sin(a)) / period))
    one, two = rng.uniform(10, 235, 3), rng.uniform(10, 235, 3)
    if rng.random() < 0.6:
        two = one * rng.uniform(1.2, 1.9)
    return _tinted(np.clip(level, 0, 1).astype(np.float32), one, two)


def printed_cloth(rng: np.random.Generator, n: int) -> Picture:
    """Cloth with leaves, flowers or blots."""
    out = cloth(rng, n)
    tints = [rng.uniform(0, 255, 3).tolist() for _ in range(int(rng.integers(1, 4)))]
    for _ in range(int(rng.integers(5, 40))):
        middle = rng.uniform(0, n, 2)
        size = rng.uniform(0.03, 0.22) * n
        lobes = int(rng.integers(3, 9))
        a = np.linspace(0, 2 * math.pi, 90)
        sharp = rng.uniform(0.3, 1.2)
        r = size * (0.25 + 0.75 * np.abs(np.cos(a * lobes / 2)) ** sharp)
        turn = rng.uniform(0, 6.3)
        points = np.column_stack([np.cos(a + turn), np.sin(a + turn)]) * r[:, None] + middle
        tint = tints[int(rng.integers(len(tints)))]
        cv2.fillPoly(out, [points.astype(np.int32)], tint, cv2.LINE_AA)
    return add_noise(rng, out, float(rng.uniform(2, 10)), grey=True)


def geometric(rng: np.random.Generator, n: int) -> Picture:
    """Lines that repeat: tiles, stars, lattices."""
    out = felt_texture(rng, n, n, felt_rgb(rng), float(rng.uniform(1, 6)))
    ink = rng.uniform(60, 255, 3).tolist()
    step, wide = int(rng.integers(50, 220)), int(rng.integers(1, 6))
    spokes = int(rng.choice([2, 3, 4, 6]))
    for k, y in enumerate(range(0, n + step, step)):
        for x in range(-step, n + step, step):
            at = np.array([x + (k % 2) * step / 2, y])
            for a in np.linspace(0, math.pi, spokes, endpoint=False):
                d = np.array([math.cos(a), math.sin(a)]) * step * 0.5
                p, q = np.round(at - d).astype(int), np.round(at + d).astype(int)
                cv2.line(out, tuple(p.tolist()), tuple(q.tolist()), ink, wide, cv2.LINE_AA)
    return out


def plain(rng: np.random.Generator, n: int) -> Picture:
    """Paper, plastic or a painted top."""
    if rng.random() < 0.55:
        level = rng.uniform(120, 245)
        r, g, b = (int(v) for v in np.clip(rng.normal(level, 10, 3), 0, 255))
    else:
        r, g, b = (int(v) for v in rng.integers(5, 235, 3))
    return felt_texture(rng, n, n, (r, g, b), float(rng.uniform(0.5, 10)))


def lettered(rng: np.random.Generator, n: int) -> Picture:
    """A plain ground with words and figures, which are no indices."""
    out = plain(rng, n)
    for _ in range(int(rng.integers(4, 30))):
        mask = word_mask(str(rng.choice(WORDS)), None)
        tall = int(rng.integers(8, 90))
        wide = max(4, round(mask.shape[1] * tall / mask.shape[0]))
        small = cv2.resize(mask, (wide, tall), interpolation=cv2.INTER_AREA)
        x, y = (int(v) for v in rng.integers(0, n, 2))
        spot = out[y : y + tall, x : x + wide]
        part = small[: spot.shape[0], : spot.shape[1]]
        spot[part > 128] = rng.uniform(0, 255, 3)
    return out


def patches(rng: np.random.Generator, n: int) -> Picture:
    """Things out of focus behind the cards: big shapes of any colour."""
    out = plain(rng, n)
    for _ in range(int(rng.integers(3, 30))):
        points = rng.uniform(0, n, 2) + rng.normal(
            0, rng.uniform(5, n / 5), (int(rng.integers(3, 7)), 2)
        )
        cv2.fillPoly(out, [points.astype(np.int32)], rng.integers(0, 255, 3).tolist(), cv2.LINE_AA)
    if rng.random() < 0.6:
        out = np.asarray(cv2.GaussianBlur(out, (0, 0), float(rng.uniform(1, 12))), np.uint8)
    return out


GROUNDS = (
    wood,
    wood,
    stone,
    cloth,
    cloth,
    printed_cloth,
    geometric,
    plain,
    plain,
    lettered,
    patches,
)


def random_ground(rng: np.random.Generator, n: int) -> Picture:
    """One ground at random, uint8 (n, n, 3) BGR."""
    return GROUNDS[int(rng.integers(len(GROUNDS)))](rng, n)
