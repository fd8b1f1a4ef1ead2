"""Images in the middle of cards: court figures, aces, and scrolls about their frames.

The figures are our own: a crowned or hatted head, a patterned robe and a thing held in the
hand, drawn for the upper half and turned for the lower. Scrolls and lettering about a frame
are there on purpose, so that a model learns that they are no index.
"""

from __future__ import annotations

import math

import cv2
import numpy as np

from datasets.render.cards.backs import lattice
from datasets.render.cards.deck_style import DeckStyle
from datasets.render.cards.icons import suit_sign
from datasets.render.cards.suit_marks import Picture

Bgr = tuple[int, int, int]
Rect = tuple[int, int, int, int]

_ROBES: tuple[tuple[Bgr, ...], ...] = (
    ((40, 30, 200), (50, 190, 230), (140, 60, 30), (24, 20, 20)),
    ((60, 40, 190), (90, 200, 240), (150, 90, 40), (30, 26, 24)),
    ((30, 30, 160), (70, 160, 200), (90, 50, 20), (20, 20, 30)),
    ((40, 40, 210), (235, 235, 235), (30, 30, 30), (60, 60, 60)),
)
_SKIN: Bgr = (196, 218, 240)


def _shade(color: Bgr, level: float) -> Bgr:
    return tuple(min(255, round(v * level)) for v in color)  # type: ignore[return-value]


def _poly(image: Picture, points: list[tuple[float, float]], color: Bgr) -> None:
    cv2.fillPoly(image, [np.round(np.array(points) * 16).astype(np.int32)], color, cv2.LINE_AA, 4)


def _oval(
    image: Picture, x: float, y: float, rx: float, ry: float, color: Bgr, wide: int = -1
) -> None:
    cv2.ellipse(
        image, (round(x), round(y)), (max(1, round(rx)), max(1, round(ry))), 0, 0, 360, color,
        wide, cv2.LINE_AA,
    )  # fmt: skip


def _band(
    image: Picture, rng: np.random.Generator, p: tuple[float, float], q: tuple[float, float],
    wide: float, tints: tuple[Bgr, ...],
) -> None:  # fmt: skip
    """A patterned ribbon from p to q: edged, with dots, bars, lozenges or a zigzag."""
    d = np.array(q) - p
    long = max(1.0, float(np.hypot(*d)))
    d = d / long
    n = np.array([-d[1], d[0]]) * wide / 2
    ground, ink = (tints[int(k)] for k in rng.choice(4, 2, replace=False))
    a, b = np.array(p), np.array(q)
    outline = np.round(np.array([a + n, b + n, b - n, a - n]) * 16).astype(np.int32)
    cv2.fillPoly(image, [outline], ground, cv2.LINE_AA, 4)
    kind = int(rng.integers(5))
    step = wide * float(rng.uniform(0.5, 1.0))
    for k, x in enumerate(np.arange(step / 2, long, step)):
        at = a + d * x
        if kind == 0:
            _oval(image, at[0], at[1], wide * 0.2, wide * 0.2, ink)
        elif kind == 1:
            one, two = np.round(at + n * 0.9).astype(int), np.round(at - n * 0.9).astype(int)
            cv2.line(
                image, one.tolist(), two.tolist(), ink, max(1, round(wide * 0.16)), cv2.LINE_AA
            )
        elif kind == 2:
            r = d * step * 0.42
            _poly(
                image, [tuple(at + n * 0.8), tuple(at + r), tuple(at - n * 0.8), tuple(at - r)], ink
            )
        elif kind == 3:
            side = n * (0.75 if k % 2 else -0.75)
            one, two = np.round(at + side).astype(int), np.round(at + d * step - side).astype(int)
            cv2.line(
                image, one.tolist(), two.tolist(), ink, max(1, round(wide * 0.16)), cv2.LINE_AA
            )
        else:
            one = np.round(at + n * (0.5 if k % 2 else -0.5)).astype(int)
            cv2.circle(image, one.tolist(), max(1, round(wide * 0.16)), ink, -1, cv2.LINE_AA)
    cv2.polylines(image, [outline], True, tints[3], 2, cv2.LINE_AA, 4)


def _robe(image: Picture, rng: np.random.Generator, tints: tuple[Bgr, ...]) -> None:
    """Shoulders and a coat of patterned ribbons over the lower part of the half figure."""
    h, w = image.shape[:2]
    top = h * rng.uniform(0.5, 0.58)
    slope = rng.uniform(0.05, 0.18) * h
    body = [(w * 0.02, float(h)), (w * 0.06, top + slope), (w * 0.34, top), (w * 0.66, top),
            (w * 0.94, top + slope), (w * 0.98, float(h))]  # fmt: skip
    coat = np.zeros((h, w), np.uint8)
    cv2.fillPoly(coat, [np.round(np.array(body)).astype(np.int32)], 255)
    cloth = image.copy()
    cloth[:] = tints[int(rng.integers(3))]
    lean = rng.uniform(0.1, 0.5) * w
    count = int(rng.integers(3, 6))
    for side in (-1, 1):
        for k in range(count):
            x = w * 0.5 + side * w * (0.06 + 0.46 * k / count)
            foot = (x + side * lean * 0.4 - side * w * 0.05, float(h))
            _band(cloth, rng, (x - side * w * 0.02, top - 4), foot, w * 0.40 / count, tints)
    if rng.random() < 0.6:
        y = h * rng.uniform(0.84, 0.97)
        _band(cloth, rng, (0.0, y + rng.uniform(-0.1, 0.1) * h), (float(w), y), h * 0.07, tints)
    for k, tint in enumerate((tints[1], tints[3], tints[1])):
        reach = 0.16 - 0.04 * k
        _poly(cloth, [(w * (0.5 - reach), top - 2), (w * (0.5 + reach), top - 2),
                      (w * 0.52, h * (0.9 - 0.1 * k)), (w * 0.48, h * (0.9 - 0.1 * k))],
              _shade(tint, 0.95))  # fmt: skip
    cv2.copyTo(cloth, coat, image)
    cv2.polylines(
        image, [np.round(np.array(body)).astype(np.int32)], False, tints[3], 2, cv2.LINE_AA
    )


def _head(image: Picture, rng: np.random.Generator, rank: str, tints: tuple[Bgr, ...]) -> None:
    h, w = image.shape[:2]
    x, y = w * rng.uniform(0.46, 0.54), h * rng.uniform(0.36, 0.4)
    rx, ry = w * 0.13, h * 0.15
    ink = tints[3]
    hair = tints[int(rng.integers(1, 4))]
    for side in (-1, 1):
        _oval(image, x + side * rx * 0.95, y + ry * 0.35, rx * 0.5, ry * 0.85, hair)
        for k in range(3):
            lock = (round(rx * (0.2 + 0.13 * k)), round(ry * (0.5 + 0.15 * k)))
            at = (round(x + side * rx * 0.95), round(y + ry * 0.35))
            cv2.ellipse(image, at, lock, 0, 0, 360, ink, 1, cv2.LINE_AA)
    _oval(image, x, y, rx, ry, _SKIN)
    _oval(image, x, y, rx, ry, ink, 2)
    for side in (-1, 1):
        brow = (round(x + side * rx * 0.62), round(y - ry * 0.3))
        cv2.line(
            image, brow, (round(x + side * rx * 0.2), round(y - ry * 0.34)), ink, 1, cv2.LINE_AA
        )
        _oval(image, x + side * rx * 0.4, y - ry * 0.1, 2.2, 1.6, ink)
    cv2.line(image, (round(x), round(y)), (round(x - 3), round(y + ry * 0.35)), ink, 1, cv2.LINE_AA)
    cv2.line(
        image, (round(x - rx * 0.35), round(y + ry * 0.6)),
        (round(x + rx * 0.35), round(y + ry * 0.6)), (60, 60, 190), 2, cv2.LINE_AA,
    )  # fmt: skip
    top = y - ry * 0.75
    if rank == "K":
        low = y + ry * 0.45
        _poly(image, [(x - rx, low), (x + rx, low), (x + rx * 0.5, y + ry * 1.5),
                      (x - rx * 0.5, y + ry * 1.5)], hair)  # fmt: skip
        spikes = [(x - rx * 1.3, top + 4)]
        for k in range(5):
            px = x + rx * (-1.3 + 2.6 * (k + 0.5) / 5)
            spikes += [(px, top - ry * 0.9), (px + rx * 0.26, top - ry * 0.3)]
        _poly(image, [*spikes, (x + rx * 1.3, top + 4)], tints[1])
        cv2.line(image, (round(x - rx * 1.3), round(top)), (round(x + rx * 1.3), round(top)),
                 tints[0], 4, cv2.LINE_AA)  # fmt: skip
    elif rank == "Q":
        _poly(image, [(x - rx * 1.2, top + 5), (x - rx * 1.4, top - ry * 0.4),
                      (x - rx * 0.5, top - ry * 0.2), (x, top - ry * 0.8),
                      (x + rx * 0.5, top - ry * 0.2), (x + rx * 1.4, top - ry * 0.4),
                      (x + rx * 1.2, top + 5)], tints[1])  # fmt: skip
        for k in (-1, 0, 1):
            _oval(image, x + k * rx * 0.9, top, 3, 3, tints[0])
    else:
        _poly(image, [(x - rx * 1.3, top + 6), (x - rx * 0.9, top - ry * 0.5),
                      (x + rx * 1.5, top - ry * 0.7), (x + rx * 1.2, top + 6)],
              tints[2])  # fmt: skip
        feather = (round(x + rx * 2.2), round(top - ry * 0.8))
        cv2.line(image, (round(x + rx), round(top - 4)), feather, tints[1], 4, cv2.LINE_AA)


def _held(image: Picture, rng: np.random.Generator, rank: str, tints: tuple[Bgr, ...]) -> None:
    """What the figure holds: a sword, a flower or a staff."""
    h, w = image.shape[:2]
    side = 1 if rng.random() < 0.5 else -1
    x = w / 2 + side * w * rng.uniform(0.3, 0.4)
    if rank == "Q":
        cv2.line(image, (round(x), round(h * 0.45)), (round(x), round(h * 0.75)), (60, 120, 40), 3,
                 cv2.LINE_AA)  # fmt: skip
        for a in np.linspace(0, 2 * math.pi, 5, endpoint=False):
            _oval(image, x + 6 * math.cos(a), h * 0.43 + 6 * math.sin(a), 5, 5, tints[0])
        _oval(image, x, h * 0.43, 4, 4, tints[1])
    else:
        tilt = rng.uniform(-0.06, 0.06) * w
        cv2.line(image, (round(x), round(h * 0.98)), (round(x + tilt), round(h * 0.08)), tints[1],
                 5, cv2.LINE_AA)  # fmt: skip
        cv2.line(image, (round(x - 12), round(h * 0.7)), (round(x + 12), round(h * 0.7)), tints[2],
                 4, cv2.LINE_AA)  # fmt: skip
    _oval(image, x, h * 0.74, w * 0.045, h * 0.04, _SKIN)
    _oval(image, x, h * 0.74, w * 0.045, h * 0.04, tints[3], 1)


def draw_court(face: Picture, style: DeckStyle, rect: Rect, rank: str, suit: str) -> None:
    """A court figure inside `rect` (x0, y0, x1, y1) px of a face, point-symmetric."""
    rng = np.random.default_rng([style.seed, "JQK".index(rank), "CDHS".index(suit)])
    x0, y0, x1, y1 = rect
    w, h = x1 - x0, y1 - y0
    half = h // 2
    paper: Bgr = style.paper[::-1]
    field = np.full((half, w, 3), paper, np.uint8)
    tints = _ROBES[style.seed % len(_ROBES)]
    if style.robes is not None:
        tints = tuple(rgb[::-1] for rgb in style.robes)
    if style.court_ground == 3:
        field[:] = lattice(rng, half, w, h / 88, tints[0], _shade(tints[1], 1.2))
    elif style.court_ground:
        field[:] = _shade(tints[1], 1.0) if style.court_ground == 1 else (225, 232, 235)
    _robe(field, rng, tints)
    _held(field, rng, rank, tints)
    _head(field, rng, rank, tints)
    pip = round(w * style.court_pip)
    if pip > 8:
        mark = suit_sign(style, suit, pip)
        stamp(field, mark, round(w * 0.03), round(h * 0.02), style.palette[suit])
    whole = np.full((h, w, 3), paper, np.uint8)
    whole[:half] = field
    whole[h - half :] = field[::-1, ::-1]
    face[y0:y1, x0:x1, :3] = whole
    if style.frame:
        ink = ((40, 30, 30), (150, 70, 30), (40, 40, 160), (60, 140, 190))[style.frame_kind % 4]
        cv2.rectangle(face, (x0, y0), (x1, y1), (*ink, 255), 2, cv2.LINE_AA)
        if style.frame_kind >= 4:
            cv2.rectangle(face, (x0 - 5, y0 - 5), (x1 + 5, y1 + 5), (*ink, 255), 1, cv2.LINE_AA)


def draw_scrolls(face: Picture, style: DeckStyle, rect: Rect, suit: str) -> None:
    """Curls beside a frame, as flourishes are: what must not be taken for an index."""
    rng = np.random.default_rng([style.seed, 5])
    x0, y0, _, y1 = rect
    ink = (*style.palette[suit][::-1], 255)
    half: list[np.ndarray] = []
    turns = float(rng.uniform(1.5, 3.0))
    size = (y1 - y0) * float(rng.uniform(0.04, 0.075))
    t = np.linspace(0, 1, 40)
    for k in range(int(rng.integers(1, 4))):
        a = t * turns * 2 * math.pi
        r = size * (1 - 0.85 * t) * 0.5
        y = y0 + (y1 - y0) * (0.36 + 0.11 * k)
        curl = np.column_stack([x0 - size * 0.28 + r * np.cos(a) * 0.55, y + r * np.sin(a)])
        half.append(curl)
    h, w = face.shape[:2]
    for curl in half:
        for points in (curl, np.array([w - 1, h - 1]) - curl):
            cv2.polylines(face, [np.round(points * 16).astype(np.int32)], False, ink,
                          max(1, round(size * 0.09)), cv2.LINE_AA, 4)  # fmt: skip


def draw_ace(face: Picture, style: DeckStyle, suit: str) -> None:
    """The ace's large mark; the ace of spades, and in some decks all, with ornament."""
    h, w = face.shape[:2]
    rng = np.random.default_rng([style.seed, 11])
    size = round(w * rng.uniform(0.26, 0.5))
    fancy = suit == "S" and rng.random() < 0.6
    if fancy:
        size = round(w * rng.uniform(0.46, 0.62))
    mark = suit_sign(style, suit, size)
    stamp(face, mark, (w - size) // 2, (h - size) // 2, style.palette[suit])
    if not fancy:
        return
    paper: Bgr = style.paper[::-1]
    middle = (w // 2, round(h * 0.5))
    for k in range(int(rng.integers(2, 5))):
        r = round(size * (0.08 + 0.05 * k))
        cv2.ellipse(face, middle, (r, round(r * 1.2)), 0, 0, 360, (*paper, 255),
                    int(rng.integers(1, 4)), cv2.LINE_AA)  # fmt: skip
    for a in np.linspace(0, 2 * math.pi, int(rng.integers(6, 14)), endpoint=False):
        tip = (round(middle[0] + size * 0.24 * math.cos(a)),
               round(middle[1] + size * 0.24 * math.sin(a)))  # fmt: skip
        cv2.line(face, middle, tip, (*paper, 255), 1, cv2.LINE_AA)


def stamp(face: Picture, mask: Picture, x: int, y: int, rgb: tuple[int, int, int]) -> None:
    """Lay ink of one colour on an image, uint8 (h, w, 3 or 4) BGR, moved inside where needed."""
    h, w = mask.shape
    x, y = max(0, min(x, face.shape[1] - w)), max(0, min(y, face.shape[0] - h))
    spot = face[y : y + h, x : x + w, :3]
    gap = cv2.cvtColor(255 - mask, cv2.COLOR_GRAY2BGR)
    ink = cv2.merge([cv2.convertScaleAbs(mask, alpha=v / 255) for v in rgb[::-1]])
    face[y : y + h, x : x + w, :3] = cv2.add(
        cv2.multiply(np.ascontiguousarray(spot), gap, scale=1 / 255), ink
    )
