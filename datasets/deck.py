"""Card faces: the built-in drawn deck in many designs, and decks from a folder of pictures.

A `Deck` holds every face as a picture with known density and the places of its corner
indices in millimetres, so that whatever is rendered from it comes with exact boxes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from datasets.deck_style import Color, DeckStyle, random_style
from datasets.suit_marks import FloatArray, Picture, suit_mask
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS, JOKER, RANKS, SUITS

PX_PER_MM = 6.0
"""Density at which faces are kept."""


@dataclass(frozen=True, slots=True)
class Index:
    """A corner index of a face.

    `rect_mm` is (x0, y0, x1, y1) from the card's top left; `inverted` tells that it reads
    upside down when the card's top is up.
    """

    rect_mm: tuple[float, float, float, float]
    inverted: bool


@dataclass(frozen=True, slots=True)
class Face:
    """One face: `bgra` is uint8 (h, w, 4), the surround transparent."""

    bgra: Picture
    indices: tuple[Index, ...] = ()


@dataclass(frozen=True)
class Deck:
    """53 faces and a back, all of one size."""

    name: str
    size_mm: tuple[float, float]
    faces: dict[str, Face]
    back: Face


def _font(path: str | None, size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size) if path is None else ImageFont.truetype(path, size)


def _text_mask(
    text: str, height_px: int, stretch: float, stroke: float, font: str | None
) -> Picture:
    """Ink of a word, cut to its bounds, `height_px` tall."""
    size = 160
    face = _font(font, size)
    width = round(size * stroke)
    image = Image.new("L", (size * (len(text) + 2), size * 2), 0)
    ImageDraw.Draw(image).text(
        (size // 2, size // 4), text, fill=255, font=face, stroke_width=width
    )
    ink = np.asarray(image)
    rows, columns = np.flatnonzero(ink.max(axis=1)), np.flatnonzero(ink.max(axis=0))
    if rows.size == 0:
        raise FeltwatchError(f"{font}: the font has no glyphs for {text!r}")
    ink = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    scale = height_px / ink.shape[0]
    out = cv2.resize(
        ink,
        (max(3, round(ink.shape[1] * scale * stretch)), height_px),
        interpolation=cv2.INTER_AREA,
    )
    return np.asarray(out, np.uint8)


def _stamp(face: Picture, mask: Picture, x: int, y: int, rgb: Color) -> None:
    h, w = mask.shape
    x, y = max(0, min(x, face.shape[1] - w)), max(0, min(y, face.shape[0] - h))
    spot = face[y : y + h, x : x + w, :3].astype(np.float32)
    a = (mask.astype(np.float32) / 255)[..., None]
    ink = np.array(rgb[::-1], np.float32)
    face[y : y + h, x : x + w, :3] = np.round(spot * (1 - a) + ink * a).astype(np.uint8)


def _blank(style: DeckStyle, rgb: Color) -> Picture:
    w, h = (round(v * PX_PER_MM) for v in style.size_mm)
    r = round(style.corner_mm * PX_PER_MM)
    face = np.zeros((h, w, 4), np.uint8)
    face[..., :3] = rgb[::-1]
    alpha = np.zeros((h, w), np.uint8)
    cv2.rectangle(alpha, (r, 0), (w - 1 - r, h - 1), 255, -1)
    cv2.rectangle(alpha, (0, r), (w - 1, h - 1 - r), 255, -1)
    for cx, cy in ((r, r), (w - 1 - r, r), (r, h - 1 - r), (w - 1 - r, h - 1 - r)):
        cv2.circle(alpha, (cx, cy), r, 255, -1, cv2.LINE_AA)
    face[..., 3] = alpha
    return face


_PIPS: dict[str, list[tuple[float, float]]] = {
    "A": [(0.5, 0.5)],
    "2": [(0.5, 0.0), (0.5, 1.0)],
    "3": [(0.5, 0.0), (0.5, 0.5), (0.5, 1.0)],
    "4": [(0, 0), (1, 0), (0, 1), (1, 1)],
    "5": [(0, 0), (1, 0), (0, 1), (1, 1), (0.5, 0.5)],
    "6": [(0, 0), (1, 0), (0, 0.5), (1, 0.5), (0, 1), (1, 1)],
    "7": [(0, 0), (1, 0), (0, 0.5), (1, 0.5), (0, 1), (1, 1), (0.5, 0.25)],
    "8": [(0, 0), (1, 0), (0, 0.5), (1, 0.5), (0, 1), (1, 1), (0.5, 0.25), (0.5, 0.75)],
    "9": [
        (0, 0), (1, 0), (0, 1 / 3), (1, 1 / 3), (0, 2 / 3), (1, 2 / 3), (0, 1), (1, 1),
        (0.5, 0.5),
    ],
    "T": [
        (0, 0), (1, 0), (0, 1 / 3), (1, 1 / 3), (0, 2 / 3), (1, 2 / 3), (0, 1), (1, 1),
        (0.5, 1 / 6), (0.5, 5 / 6),
    ],
}  # fmt: skip


def _draw_court(
    face: Picture, style: DeckStyle, rect: tuple[int, int, int, int], seed: int
) -> None:
    """A point-symmetric ornament in the court card's field: bands, lozenges and a figure."""
    rng = np.random.default_rng(seed)
    x0, y0, x1, y1 = rect
    w, h = x1 - x0, y1 - y0
    field_ = np.full((h, w, 3), style.paper[::-1], np.uint8)
    tints = [(200, 30, 40), (230, 190, 50), (30, 60, 140), (20, 20, 24), (240, 235, 225)]
    for _ in range(int(rng.integers(14, 26))):
        tint = tints[int(rng.integers(len(tints)))][::-1]
        cx, cy = rng.uniform(0, w), rng.uniform(0, h * 0.5)
        size = rng.uniform(0.05, 0.28) * w
        kind = rng.integers(4)
        if kind == 0:
            cv2.circle(field_, (int(cx), int(cy)), int(size * 0.5), tint, -1, cv2.LINE_AA)
        elif kind == 1:
            turn = rng.uniform(0, math.pi)
            d = np.array([math.cos(turn), math.sin(turn)]) * size * 1.6
            cv2.line(
                field_, (int(cx - d[0]), int(cy - d[1])), (int(cx + d[0]), int(cy + d[1])),
                tint, max(2, int(size * 0.2)), cv2.LINE_AA,
            )  # fmt: skip
        else:
            points = np.array([cx, cy]) + rng.normal(0, size, (int(rng.integers(3, 6)), 2))
            cv2.fillPoly(field_, [points.astype(np.int32)], tint, cv2.LINE_AA)
    cv2.ellipse(
        field_, (w // 2, int(h * 0.22)), (int(w * 0.13), int(h * 0.1)), 0, 0, 360,
        (190, 215, 240), -1, cv2.LINE_AA,
    )  # fmt: skip
    field_[h - h // 2 :] = cv2.rotate(field_[: h // 2], cv2.ROTATE_180)
    face[y0:y1, x0:x1, :3] = field_
    if style.frame:
        cv2.rectangle(face, (x0, y0), (x1, y1), (40, 30, 30, 255), 2, cv2.LINE_AA)


def _column(style: DeckStyle, rank: str, suit: str) -> Picture:
    """The ink of one upright index (rank over suit), cut to its bounds."""
    text = style.ten if rank == "T" else rank
    narrow = 0.82 if text == "10" else 1.0
    top = _text_mask(
        text, round(style.rank_mm * PX_PER_MM), style.stretch * narrow, style.stroke, style.font
    )
    mark = suit_mask(suit, round(style.suit_mm * PX_PER_MM), style.suit_shape)
    gap = round(style.gap_mm * PX_PER_MM)
    w = max(top.shape[1], mark.shape[1])
    out = np.zeros((top.shape[0] + gap + mark.shape[0], w), np.uint8)
    x_top = (w - top.shape[1]) // 2 if style.centered else 0
    x_mark = (w - mark.shape[1]) // 2 if style.centered else 0
    out[: top.shape[0], x_top : x_top + top.shape[1]] = top
    out[-mark.shape[0] :, x_mark : x_mark + mark.shape[1]] = mark
    return out


def _joker_column(style: DeckStyle) -> Picture:
    """The joker's index: the word down the edge, in one of the usual ways."""
    height = style.rank_mm * PX_PER_MM
    word = "JOKER" if style.joker_kind != 3 else "Joker"
    if style.joker_kind in (0, 3):
        letters = [
            _text_mask(c, max(8, round(height * 0.62)), style.stretch, style.stroke, style.font)
            for c in word
        ]
        gap = max(1, round(height * 0.08))
        w = max(m.shape[1] for m in letters)
        out = np.zeros((sum(m.shape[0] + gap for m in letters), w), np.uint8)
        y = 0
        for m in letters:
            x = (w - m.shape[1]) // 2
            out[y : y + m.shape[0], x : x + m.shape[1]] = m
            y += m.shape[0] + gap
        return out[: y - gap]
    text = _text_mask(
        word, max(8, round(height * 0.7)), style.stretch * 1.1, style.stroke, style.font
    )
    turned = cv2.rotate(
        text, cv2.ROTATE_90_CLOCKWISE if style.joker_kind == 1 else cv2.ROTATE_90_COUNTERCLOCKWISE
    )
    return np.asarray(turned, np.uint8)


def _put_indices(face: Picture, mask: Picture, style: DeckStyle, rgb: Color) -> tuple[Index, ...]:
    h, w = face.shape[:2]
    x, y = (round(v * PX_PER_MM) for v in style.inset_mm)
    mh, mw = mask.shape
    flipped = np.asarray(cv2.rotate(mask, cv2.ROTATE_180), np.uint8)
    places = [(x, y, False), (w - x - mw, h - y - mh, True)]
    if style.all_corners:
        places += [(w - x - mw, y, False), (x, h - y - mh, True)]
    indices = []
    for px, py, inverted in places:
        _stamp(face, flipped if inverted else mask, px, py, rgb)
        x0, y0, x1, y1 = (v / PX_PER_MM for v in (px, py, px + mw, py + mh))
        indices.append(Index((x0, y0, x1, y1), inverted))
    return tuple(indices)


def _draw_face(style: DeckStyle, label: str) -> Face:
    face = _blank(style, style.paper)
    h, w = face.shape[:2]
    if label == JOKER:
        rng = np.random.default_rng(style.seed)
        rgb = style.palette["H"] if rng.random() < 0.5 else style.palette["S"]
        _draw_court(face, style, (w // 4, h // 5, w - w // 4, h - h // 5), style.seed + 99)
        return Face(face, _put_indices(face, _joker_column(style), style, rgb))
    rank, suit = label[0], label[1]
    rgb = style.palette[suit]
    column = _column(style, rank, suit)
    inner = style.inset_mm[0] * PX_PER_MM + column.shape[1]
    if rank in "JQK":
        x0 = round(min(inner + 6, w * 0.3))
        rect = (x0, round(h * 0.075), w - x0, h - round(h * 0.075))
        _draw_court(face, style, rect, style.seed + RANKS.index(rank) * 7 + SUITS.index(suit))
    else:
        pip = round(style.pip_mm * PX_PER_MM * (2.4 if rank == "A" else 1.0))
        mark = suit_mask(suit, pip, style.suit_shape)
        left = max(w * 0.26, inner + pip * 0.55)
        for px, py in _PIPS[rank]:
            cx = left + px * (w - 2 * left)
            cy = h * 0.15 + py * h * 0.7
            stamp = np.asarray(cv2.rotate(mark, cv2.ROTATE_180), np.uint8) if py > 0.51 else mark
            _stamp(face, stamp, round(cx - pip / 2), round(cy - pip / 2), rgb)
    return Face(face, _put_indices(face, column, style, rgb))


def draw_back(style: DeckStyle) -> Face:
    """The back: a margin and a repeating pattern in the style's colour."""
    face = _blank(style, style.paper if style.back_kind != 4 else style.back_rgb)
    h, w = face.shape[:2]
    margin = round((2.0 + style.back_kind) * PX_PER_MM * 0.8)
    rgb = np.array(style.back_rgb[::-1], np.float32)
    light = np.clip(rgb * 0.4 + 150, 0, 255)
    ys, xs = np.mgrid[0:h, 0:w].astype(np.float32)
    step = PX_PER_MM * (2.2 + (style.seed % 5) * 0.5)
    if style.back_kind in (0, 4):
        wave = np.sin((xs + ys) / step * math.pi) * np.sin((xs - ys) / step * math.pi)
    elif style.back_kind == 1:
        wave = np.sin(np.hypot(xs - w / 2, ys - h / 2) / step * 2)
    elif style.back_kind == 2:
        wave = np.sin(xs / step * 2) + np.sin(ys / step * 2)
    else:
        wave = np.sin((xs + 4 * np.sin(ys / step)) / step * 2)
    mix = (np.clip(wave * 2 + 0.5, 0, 1))[..., None]
    pattern = (rgb * (1 - mix) + light * mix).astype(np.uint8)
    inside = np.zeros((h, w), bool)
    inside[margin : h - margin, margin : w - margin] = True
    face[..., :3][inside] = pattern[inside]
    return Face(face)


def draw_deck(style: DeckStyle | None = None, name: str = "built-in") -> Deck:
    """Draw a deck of the built-in kind.

    >>> deck = draw_deck()
    >>> len(deck.faces), [i.inverted for i in deck.faces["AS"].indices]
    (53, [False, True])
    """
    style = style or DeckStyle()
    faces = {label: _draw_face(style, label) for label in DECK_LABELS}
    return Deck(name=name, size_mm=style.size_mm, faces=faces, back=draw_back(style))


def _find_index(bgra: Picture, label: str) -> tuple[float, float, float, float] | None:
    """Bounds in px of the top-left index: the ink in the corner that is no pip or frame."""
    h, w = bgra.shape[:2]
    edge = bgra[round(h * 0.02) : round(h * 0.98), round(w * 0.012) : round(w * 0.035)]
    paper = np.median(edge[edge[..., 3] > 250][:, :3], axis=0)
    solid = cv2.erode((bgra[..., 3] > 250).astype(np.uint8), np.ones((5, 5), np.uint8))
    ink = (np.abs(bgra[..., :3].astype(np.float32) - paper).max(axis=2) > 70) & (solid > 0)
    count, _, stats, centers = cv2.connectedComponentsWithStats(ink.astype(np.uint8))
    deepest = 0.56 if label == JOKER else 0.30
    parts = [
        stats[i]
        for i in range(1, count)
        if stats[i][4] >= 20
        and centers[i][0] < w * 0.19
        and centers[i][1] < h * deepest
        and stats[i][2] < w * 0.26
        and stats[i][3] < h * (0.56 if label == JOKER else 0.3)
        and (stats[i][0] + stats[i][2]) < w * 0.36
    ]
    if label != JOKER:
        # Pips of the left column may begin beside the index: keep what hangs on the corner.
        parts = [p for p in parts if p[0] < w * 0.155 and p[1] + p[3] < h * 0.32]
    if not parts and label == JOKER:
        # A word that runs into the card's border or picture: take the strip at the edge.
        strip = ink[round(h * 0.015) : round(h * 0.55), round(w * 0.015) : round(w * 0.15)]
        rows, columns = np.flatnonzero(strip.any(axis=1)), np.flatnonzero(strip.any(axis=0))
        if rows.size:
            x, y = round(w * 0.015), round(h * 0.015)
            return (
                float(columns[0] + x),
                float(rows[0] + y),
                float(columns[-1] + x + 1),
                float(rows[-1] + y + 1),
            )
    if not parts:
        return None
    return (
        float(min(p[0] for p in parts)),
        float(min(p[1] for p in parts)),
        float(max(p[0] + p[2] for p in parts)),
        float(max(p[1] + p[3] for p in parts)),
    )


def load_deck(folder: Path, size_mm: tuple[float, float] = (63.0, 88.0)) -> Deck:
    """Read a folder of faces `AS.png` ... `KD.png`, `JOKER.png` and, if there, `BACK.png`.

    Raises FeltwatchError naming the file that is missing, unreadable or has no index in
    its top left corner.
    """
    if not folder.is_dir():
        raise FeltwatchError(f"{folder}: no such folder of card faces")
    w, h = (round(v * PX_PER_MM) for v in size_mm)
    faces: dict[str, Face] = {}
    for label in DECK_LABELS:
        path = folder / f"{label}.png"
        if not path.is_file():
            raise FeltwatchError(
                f"{path}: missing; a deck folder holds AS.png ... KD.png, JOKER.png"
            )
        bgra = _read_bgra(path)
        found = _find_index(bgra, label)
        if found is None:
            raise FeltwatchError(f"{path}: no index found in the top left corner of the face")
        sx, sy = size_mm[0] / bgra.shape[1], size_mm[1] / bgra.shape[0]
        x0, y0, x1, y1 = found[0] * sx, found[1] * sy, found[2] * sx, found[3] * sy
        rects = (
            Index((x0, y0, x1, y1), False),
            Index((size_mm[0] - x1, size_mm[1] - y1, size_mm[0] - x0, size_mm[1] - y0), True),
        )
        faces[label] = Face(_fit(bgra, w, h), rects)
    back_path = folder / "BACK.png"
    back = (
        Face(_fit(_read_bgra(back_path), w, h))
        if back_path.is_file()
        else draw_back(DeckStyle(size_mm=size_mm))
    )
    return Deck(name=folder.name, size_mm=size_mm, faces=faces, back=back)


def _read_bgra(path: Path) -> Picture:
    image = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    if image is None or image.ndim != 3:
        raise FeltwatchError(f"{path}: not a colour picture")
    if image.shape[2] == 3:
        image = np.dstack([image, np.full(image.shape[:2], 255, np.uint8)])
    return np.asarray(image, np.uint8)


def _fit(bgra: Picture, w: int, h: int) -> Picture:
    return np.asarray(cv2.resize(bgra, (w, h), interpolation=cv2.INTER_AREA), np.uint8)


__all__ = [
    "PX_PER_MM", "Deck", "DeckStyle", "Face", "FloatArray", "Index", "Picture", "draw_back",
    "draw_deck", "load_deck", "random_style",
]  # fmt: skip
