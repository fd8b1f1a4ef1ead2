"""Jokers: what stands in their corner, in the many ways decks print it, and their image."""

from __future__ import annotations

import math
from collections.abc import Callable

import cv2
import numpy as np

from datasets.render.cards.courts import stamp
from datasets.render.cards.deck_style import DeckStyle
from datasets.render.cards.icons import emblem, icon, jester, moon, star
from datasets.render.cards.suit_marks import Picture, suit_mask

JOKER_KINDS = 26
"""0 and 3 the word letter under letter (JOKER, Joker), 1 and 2 turned up or down along the edge,
4 to 6 across the top (alone, with stars and moons, curled), 7 letters that dance, 8 a star,
9 a jester's head, 10 a star over the word, 11 a head over the word, 12 the turned word after a
star, 13 very large letters one under another, 14 an emblem in a disc or ring, 15 an emblem over
the word, 16 an emblem before the word across the top, 17 a large J over a star, 18 a large J over
an emblem, 19 the first two or three letters across the top, 20 a sign that any artist may draw, 21
one over the word in small letters, 22 the first two letters over an emblem, 23 and 24 the word in
letters of 1.6 to 3 mm, across the top or down the edge, 25 such a word under a sign."""

Ink = Callable[[str, int], Picture]
"""Gives the ink of a text at a height in px."""


def joker_mark(style: DeckStyle, px_per_mm: float, ink: Ink) -> Picture:
    """The joker's corner mark, uint8 ink cut to its bounds; `ink` sets texts in the deck's hand."""
    rng = np.random.default_rng([style.seed, 23])
    tall = style.rank_mm * px_per_mm
    kind = style.joker_kind % JOKER_KINDS
    word = style.joker_word if kind != 3 else style.joker_word.title()
    widest = round(style.size_mm[0] * px_per_mm * 0.72)
    longest = round(style.size_mm[1] * px_per_mm * 0.6)
    if kind in (0, 3, 7, 13):
        size = tall * (float(rng.uniform(0.48, 0.8)) if kind != 13 else 0.95)
        column = _column(word, max(8, round(size)), ink, rng, dance=kind == 7)
        return _limit(column, widest, longest)
    if kind in (1, 2, 12):
        text = ink(word, max(8, round(tall * float(rng.uniform(0.5, 0.85)))))
        if kind == 12:
            text = beside([star(text.shape[0], rng), text], round(text.shape[0] * 0.3))
        way = cv2.ROTATE_90_CLOCKWISE if kind != 2 else cv2.ROTATE_90_COUNTERCLOCKWISE
        return _limit(np.asarray(cv2.rotate(text, way), np.uint8), widest, longest)
    if kind in (4, 5, 6):
        text = ink(word, max(8, round(tall * float(rng.uniform(0.45, 0.9)))))
        if kind == 6:
            text = _curled(text, rng)
        if kind == 5:
            some = [moon(text.shape[0]), star(round(text.shape[0] * 0.7), rng)]
            text = beside([*some[: int(rng.integers(1, 3))], text], round(text.shape[0] * 0.15))
        return _limit(text, widest, longest)
    if kind in (17, 18):
        letter = ink(word[0], round(tall))
        size = round(tall * float(rng.uniform(0.5, 1.0)))
        below = star(size, rng) if kind == 17 else emblem(size, rng)
        return _limit(_under([letter, below], round(tall * 0.1)), widest, longest)
    if kind in (22, 23, 24, 25):
        return _limit(_small(style, word, px_per_mm, ink, rng), widest, longest)
    if kind == 19:
        text = ink(word[: int(rng.integers(2, 4))], round(tall * float(rng.uniform(0.5, 0.9))))
        return _limit(text, widest, longest)
    if kind == 16:
        text = ink(word, max(8, round(tall * float(rng.uniform(0.4, 0.7)))))
        some = [emblem(round(text.shape[0] * float(rng.uniform(1, 1.6))), rng), text]
        return _limit(beside(some, round(text.shape[0] * 0.2)), widest, longest)
    if kind in (20, 21):
        figure = icon(round(tall * float(rng.uniform(0.8, 1.7))), rng)
    elif kind in (14, 15):
        figure = emblem(round(tall * float(rng.uniform(0.7, 1.3))), rng)
    else:
        figure = star(round(tall * 1.1), rng) if kind in (8, 10) else jester(round(tall * 1.2), rng)
    if kind in (8, 9, 14, 20):
        return _limit(figure, widest, longest)
    text = ink(word, max(8, round(tall * 0.32)))
    return _limit(_under([figure, text], round(tall * 0.08)), widest, longest)


def _small(
    style: DeckStyle, word: str, px_per_mm: float, ink: Ink, rng: np.random.Generator
) -> Picture:
    """The marks 22 to 25: two letters over an emblem, and words in small letters."""
    tall, kind = style.rank_mm * px_per_mm, style.joker_kind % JOKER_KINDS
    if kind == 22:
        letters = ink(word[:2].title(), max(8, round(tall * float(rng.uniform(0.6, 1.0)))))
        below = emblem(round(letters.shape[0] * float(rng.uniform(0.5, 1.0))), rng)
        return _under([letters, below], round(letters.shape[0] * float(rng.uniform(0.08, 0.3))))
    text = ink(word, max(8, round(float(rng.uniform(1.6, 3.0)) * px_per_mm)))
    if kind == 24:
        return np.asarray(cv2.rotate(text, cv2.ROTATE_90_CLOCKWISE), np.uint8)
    if kind == 25:
        figure = icon(max(24, round(tall * float(rng.uniform(0.5, 1.0)))), rng)
        return _under([figure, text], max(1, round(text.shape[0] * float(rng.uniform(0.2, 0.6)))))
    return text


def _limit(mask: Picture, widest: int, longest: int) -> Picture:
    k = min(1.0, widest / mask.shape[1], longest / mask.shape[0])
    if k < 1.0:
        mask = np.asarray(
            cv2.resize(mask, None, fx=k, fy=k, interpolation=cv2.INTER_AREA), np.uint8
        )
    rows, columns = np.flatnonzero(mask.max(axis=1) > 90), np.flatnonzero(mask.max(axis=0) > 90)
    return np.ascontiguousarray(mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1])


def _column(word: str, size: int, ink: Ink, rng: np.random.Generator, *, dance: bool) -> Picture:
    letters = [ink(c, round(size * (rng.uniform(0.8, 1.15) if dance else 1.0))) for c in word]
    if dance:
        letters = [_turned(m, float(rng.uniform(-22, 22))) for m in letters]
    gap = max(1, round(size * 0.1)) if not dance else -max(1, round(size * 0.05))
    wide = max(m.shape[1] for m in letters)
    shifts = [round(rng.uniform(-0.18, 0.18) * wide) if dance else 0 for _ in letters]
    out = np.zeros((sum(m.shape[0] + abs(gap) for m in letters), round(wide * 1.5)), np.uint8)
    y = 0
    for mask, shift in zip(letters, shifts, strict=True):
        x = max(0, (out.shape[1] - mask.shape[1]) // 2 + shift)
        spot = out[y : y + mask.shape[0], x : x + mask.shape[1]]
        np.maximum(spot, mask[: spot.shape[0], : spot.shape[1]], out=spot)
        y += mask.shape[0] + gap
    return out


def _turned(mask: Picture, angle: float) -> Picture:
    h, w = mask.shape
    side = int(math.hypot(h, w)) + 2
    matrix = cv2.getRotationMatrix2D((w / 2, h / 2), angle, 1.0)
    matrix[:, 2] += (side - w) / 2, (side - h) / 2
    out = np.asarray(cv2.warpAffine(mask, matrix, (side, side)), np.uint8)
    rows, columns = np.flatnonzero(out.max(axis=1) > 60), np.flatnonzero(out.max(axis=0) > 60)
    return np.ascontiguousarray(out[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1])


def _curled(text: Picture, rng: np.random.Generator) -> Picture:
    """A word whose letters rise and fall, under or over a flourish."""
    h, w = text.shape
    out = np.zeros((round(h * 1.9), w), np.uint8)
    phase, deep = rng.uniform(0, 6.3), h * rng.uniform(0.12, 0.35)
    xs, ys = np.meshgrid(np.arange(w, dtype=np.float32), np.arange(len(out), dtype=np.float32))
    lift = deep * (1 + np.sin(xs / w * 6.3 * rng.uniform(0.5, 1.1) + phase))
    bent = cv2.remap(text, xs, (ys - lift).astype(np.float32), cv2.INTER_LINEAR)
    out = np.asarray(bent, np.uint8)
    if rng.random() < 0.5:
        t = np.linspace(0, 1, 50)
        line = np.column_stack([t * w, h * 1.45 + h * 0.2 * np.sin(t * 9 + phase)])
        cv2.polylines(out, [line.astype(np.int32)], False, 255, max(2, h // 14), cv2.LINE_AA)
    return out


def beside(masks: list[Picture], gap: int, level: float = 0.5) -> Picture:
    """Inks beside each other, `gap` px apart; `level` is 0 for tops in line, 1 for feet."""
    tall = max(m.shape[0] for m in masks)
    parts = []
    for mask in masks:
        whole = np.zeros((tall, mask.shape[1] + gap), np.uint8)
        whole[int((tall - mask.shape[0]) * level) :][: mask.shape[0], : mask.shape[1]] = mask
        parts.append(whole)
    return np.hstack(parts)[:, : -gap or None]


def _under(masks: list[Picture], gap: int) -> Picture:
    wide = max(m.shape[1] for m in masks)
    parts = []
    for mask in masks:
        whole = np.zeros((mask.shape[0] + gap, wide), np.uint8)
        x = (wide - mask.shape[1]) // 2
        whole[: mask.shape[0], x : x + mask.shape[1]] = mask
        parts.append(whole)
    return np.vstack(parts)[: -gap or None]


def draw_joker_art(face: Picture, style: DeckStyle, rect: tuple[int, int, int, int]) -> None:
    """The image in the joker's middle: a jester, a star, a juggler or the four suits."""
    rng = np.random.default_rng([style.seed, 29])
    x0, y0, x1, y1 = rect
    w, h = x1 - x0, y1 - y0
    tints = [style.palette["H"], style.palette["S"], (210, 160, 40), (40, 80, 160), (60, 130, 60)]
    kind = int(rng.integers(4))
    if kind == 0:
        size = round(min(w, h) * 0.95)
        stamp(face, jester(size, rng), (x0 + x1 - size) // 2, (y0 + y1 - size) // 2,
              tints[int(rng.integers(5))])  # fmt: skip
    elif kind == 1:
        size = round(min(w, h) * 0.9)
        for k, share in enumerate((1.0, 0.62, 0.3)):
            own = round(size * share)
            stamp(face, star(own, rng), (x0 + x1 - own) // 2, (y0 + y1 - own) // 2,
                  tints[(style.seed + k) % 5])  # fmt: skip
    elif kind == 2:
        own = round(w * 0.42)
        for k, suit in enumerate("HSCD"):
            mark = _turned(suit_mask(suit, own, style.marks), float(rng.uniform(-40, 40)))
            x = x0 + round((k % 2) * w * 0.5)
            y = y0 + round(h * 0.2 + (k // 2) * w * 0.5)
            stamp(face, mark, x, y, style.palette[suit])
    else:
        _juggler(face, rng, rect, tints)


def _juggler(
    face: Picture, rng: np.random.Generator, rect: tuple[int, int, int, int],
    tints: list[tuple[int, int, int]],
) -> None:  # fmt: skip
    """A figure in a motley coat that throws balls."""
    x0, y0, x1, y1 = rect
    w, h = x1 - x0, y1 - y0
    mid = (x0 + x1) / 2

    def at(u: float, v: float) -> tuple[float, float]:
        return mid + u * w, y0 + v * h

    def part(points: list[tuple[float, float]], tint: int) -> None:
        bgr = (*tints[tint % 5][::-1], 255)
        cv2.fillPoly(face, [np.round(np.array(points) * 16).astype(np.int32)], bgr, cv2.LINE_AA, 4)

    first = int(rng.integers(5))
    part([at(-0.18, 0.4), at(0.0, 0.4), at(0.0, 0.75), at(-0.2, 0.72)], first)
    part([at(0.0, 0.4), at(0.18, 0.4), at(0.2, 0.72), at(0.0, 0.75)], first + 1)
    part([at(-0.16, 0.72), at(-0.02, 0.74), at(-0.1, 1.0), at(-0.26, 1.0)], first + 1)
    part([at(0.02, 0.74), at(0.16, 0.72), at(0.26, 1.0), at(0.1, 1.0)], first)
    part([at(-0.18, 0.4), at(-0.44, 0.24), at(-0.4, 0.2), at(-0.1, 0.42)], first)
    part([at(0.18, 0.4), at(0.44, 0.24), at(0.4, 0.2), at(0.1, 0.42)], first + 1)
    head = np.round(at(0, 0.31)).astype(int).tolist()
    cv2.circle(face, head, max(2, round(w * 0.11)), (196, 218, 240, 255), -1, cv2.LINE_AA)
    part([at(-0.14, 0.27), at(-0.2, 0.12), at(0.0, 0.2), at(0.2, 0.12), at(0.14, 0.27)], first + 2)
    for k in range(int(rng.integers(3, 6))):
        ball = np.round(at(-0.4 + 0.2 * k, 0.1 - 0.06 * math.sin(k))).astype(int).tolist()
        bgr = (*tints[(first + k) % 5][::-1], 255)
        cv2.circle(face, ball, max(2, round(w * 0.045)), bgr, -1, cv2.LINE_AA)
