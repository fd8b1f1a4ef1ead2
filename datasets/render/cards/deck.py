"""Card faces: the built-in drawn deck in many designs (`deck_folder` reads decks from images).

A `Deck` holds every face as an image with known density and the places of its corner
indices in millimetres, so that whatever is rendered from it comes with exact boxes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from datasets.render.cards.backs import back_pattern
from datasets.render.cards.borders import draw_border
from datasets.render.cards.courts import draw_ace, draw_court, draw_scrolls, stamp
from datasets.render.cards.deck_style import Color, DeckStyle, random_style
from datasets.render.cards.glyphs import DRAWN, word_ink
from datasets.render.cards.icons import suit_sign
from datasets.render.cards.jokers import beside, draw_joker_art, joker_mark
from datasets.render.cards.suit_marks import FloatArray, Picture
from datasets.render.cards.wear import Wear
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS, JOKER, RANKS

PX_PER_MM = 6.0
"""Density at which faces are kept."""

RIM_MM = 0.7
"""How far about an index the paper is bare, where a figure is beside it."""

LEVEL_STEP = 1.35
"""Faces are kept smaller by powers of this too, so that none is drawn undersampled."""


@dataclass(frozen=True, slots=True)
class Index:
    """A corner index of a face.

    `rect_mm` is (x0, y0, x1, y1) from the card's top left; `inverted`: it reads
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
    faces: Mapping[str, Face]
    back: Face
    _levels: dict[tuple[str, int], Picture] = field(default_factory=dict, repr=False)

    def level(self, label: str | None, px_per_mm: float) -> tuple[Picture, float]:
        """A face (the back for None), premultiplied, at a density not far over `px_per_mm`.

        Returns the image, uint8 (h, w, 4), and its px per mm.
        """
        step = 0
        while step < 8 and PX_PER_MM / LEVEL_STEP ** (step + 1) >= px_per_mm:
            step += 1
        key = (label or "BACK", step)
        if key not in self._levels:
            bgra = (self.back if label is None else self.faces[label]).bgra
            if step:
                w, h = (round(v * PX_PER_MM / LEVEL_STEP**step) for v in self.size_mm)
                if h * 2 <= bgra.shape[0]:
                    # Halving first is much quicker than one step of an odd ratio.
                    half = (bgra.shape[1] // 2, bgra.shape[0] // 2)
                    bgra = np.asarray(
                        cv2.resize(bgra, half, interpolation=cv2.INTER_AREA), np.uint8
                    )
                bgra = np.asarray(cv2.resize(bgra, (w, h), interpolation=cv2.INTER_AREA), np.uint8)
            self._levels[key] = premultiply(bgra)
        found = self._levels[key]
        return found, found.shape[0] / self.size_mm[1]


def premultiply(bgra: Picture | cv2.typing.MatLike) -> Picture:
    """Colours multiplied by alpha, so that turning and scaling leave no fringe."""
    b, g, r, alpha = cv2.split(bgra)
    return np.asarray(
        cv2.merge([*(cv2.multiply(v, alpha, scale=1 / 255) for v in (b, g, r)), alpha]), np.uint8
    )


class DrawnFaces(Mapping[str, Face]):
    """The faces of a built-in deck, each drawn when it is first asked for."""

    def __init__(self, style: DeckStyle) -> None:
        self.style = style
        self._faces: dict[str, Face] = {}
        w, h = (round(v * PX_PER_MM) for v in style.size_mm)
        self._wear = Wear(h, w, style.wear, style.seed)

    def __getitem__(self, label: str) -> Face:
        """The face; KeyError for no card's label."""
        if label not in self._faces:
            if label not in DECK_LABELS:
                raise KeyError(label)
            face = _draw_face(self.style, label)
            self._wear.on(face.bgra, DECK_LABELS.index(label) * 7 + self.style.seed)
            self._faces[label] = face
        return self._faces[label]

    def __iter__(self) -> Iterator[str]:
        """All labels, in the order of DECK_LABELS."""
        return iter(DECK_LABELS)

    def __len__(self) -> int:
        """53."""
        return len(DECK_LABELS)


@lru_cache(maxsize=64)
def _font(path: str | None, size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size) if path is None else ImageFont.truetype(path, size)


@lru_cache(maxsize=2048)
def _set_text(text: str, stroke: float, font: str | None) -> Picture:
    """Ink of a word set in a font, cut to its bounds."""
    size = 128
    width = round(size * stroke)
    image = Image.new("L", (size * (len(text) + 2), size * 2), 0)
    ImageDraw.Draw(image).text(
        (size // 2, size // 4), text, fill=255, font=_font(font, size), stroke_width=width
    )
    ink = np.asarray(image)
    rows, columns = np.flatnonzero(ink.max(axis=1)), np.flatnonzero(ink.max(axis=0))
    if rows.size == 0:
        raise FeltwatchError(f"{font}: the font has no glyphs for {text!r}")
    return np.ascontiguousarray(ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1])


def _text_mask(text: str, height_px: int, style: DeckStyle) -> Picture:
    """Ink of a rank or a word in the deck's hand, `height_px` tall and cut to its bounds."""
    if style.glyphs is not None and set(text) <= set(DRAWN):
        ink = word_ink(text, style.glyphs, style.ten_gap)
    else:
        ink = _set_text(text, style.stroke, style.font)
    scale = height_px / ink.shape[0]
    narrow = 0.82 if text == "10" else 1.0
    width = max(3, round(ink.shape[1] * scale * style.stretch * narrow))
    out = cv2.resize(ink, (width, height_px), interpolation=cv2.INTER_AREA)
    return np.asarray(out, np.uint8)


def _blank(style: DeckStyle, rgb: Color) -> Picture:
    w, h = (round(v * PX_PER_MM) for v in style.size_mm)
    return _paper(w, h, round(style.corner_mm * PX_PER_MM), rgb).copy()


@lru_cache(maxsize=16)
def _paper(w: int, h: int, r: int, rgb: Color) -> Picture:
    sheet = np.full((h, w, 3), rgb[::-1], np.uint8)
    return np.dstack([sheet, _outline(w, h, r)])


def _outline(w: int, h: int, r: int) -> Picture:
    alpha = np.zeros((h, w), np.uint8)
    cv2.rectangle(alpha, (r, 0), (w - 1 - r, h - 1), 255, -1)
    cv2.rectangle(alpha, (0, r), (w - 1, h - 1 - r), 255, -1)
    for cx, cy in ((r, r), (w - 1 - r, r), (r, h - 1 - r), (w - 1 - r, h - 1 - r)):
        cv2.circle(alpha, (cx, cy), r, 255, -1, cv2.LINE_AA)
    return alpha


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


def _column(style: DeckStyle, rank: str, suit: str) -> Picture:
    """The ink of one upright index (rank over suit, or beside it), cut to its bounds."""
    text = style.ten if rank == "T" else style.letters.get(rank, rank)
    top = _text_mask(text, round(style.rank_mm * PX_PER_MM), style)
    mark = suit_sign(style, suit, round(style.suit_mm * PX_PER_MM), in_index=True)
    rows, columns = np.flatnonzero(mark.max(axis=1)), np.flatnonzero(mark.max(axis=0))
    mark = mark[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    gap = round(style.gap_mm * PX_PER_MM)
    if style.beside:
        level = style.seed % 3 / 2 if style.level is None else style.level
        return beside([mark, top] if style.suit_first else [top, mark], gap, level)
    w = max(top.shape[1], mark.shape[1])
    out = np.zeros((top.shape[0] + gap + mark.shape[0], w), np.uint8)
    x_top = (w - top.shape[1]) // 2 if style.centered else 0
    x_mark = (w - mark.shape[1]) // 2 if style.centered else 0
    out[: top.shape[0], x_top : x_top + top.shape[1]] = top
    out[-mark.shape[0] :, x_mark : x_mark + mark.shape[1]] = mark
    return out


def put_indices(
    face: Picture, mask: Picture, style: DeckStyle, rgb: Color, half_rgb: Color | None = None
) -> tuple[Index, ...]:
    """Lay an index's ink in a face's corners, where the design has them; returns where.

    With `half_rgb` one half of it, below or to the right, has that colour.
    """
    h, w = face.shape[:2]
    x, y = (round(v * PX_PER_MM) for v in style.inset_mm)
    mh, mw = mask.shape
    flipped = np.asarray(cv2.rotate(mask, cv2.ROTATE_180), np.uint8)
    places = [(x, y, False), (w - x - mw, h - y - mh, True)]
    if style.all_corners and mw < 0.4 * w and mh < 0.42 * h:
        places += [(w - x - mw, y, False), (x, h - y - mh, True)]
    half = mask.copy()
    if style.seed % 2:
        half[: mh // 2] = 0
    else:
        half[:, : mw // 2] = 0
    indices = []
    for px, py, inverted in places:
        stamp(face, flipped if inverted else mask, px, py, rgb)
        if half_rgb is not None:
            own = np.asarray(cv2.rotate(half, cv2.ROTATE_180), np.uint8) if inverted else half
            stamp(face, own, px, py, half_rgb)
        x0, y0, x1, y1 = (v / PX_PER_MM for v in (px, py, px + mw, py + mh))
        indices.append(Index((x0, y0, x1, y1), inverted))
    return tuple(indices)


def lay_bare(
    face: Picture, rect_mm: tuple[float, float, float, float], paper: tuple[int, int, int]
) -> None:
    """Paint a rectangle and a rim about it in the paper's colour (BGR)."""
    x0, y0, x1, y1 = rect_mm
    low = [max(0, round((v - RIM_MM) * PX_PER_MM)) for v in (x0, y0)]
    high = [round((v + RIM_MM) * PX_PER_MM) for v in (x1, y1)]
    face[low[1] : high[1], low[0] : high[0], :3] = paper


def _bare_corners(face: Picture, ink: Picture, style: DeckStyle) -> None:
    """Bare paper where a face's indices come to lie."""
    for index in put_indices(np.zeros_like(face), ink, style, (0, 0, 0)):
        lay_bare(face, index.rect_mm, style.paper[::-1])


def index_ink(style: DeckStyle, label: str) -> Picture:
    """The ink of a card's upright index, uint8 cut to its bounds."""
    if label == JOKER:
        return joker_mark(style, PX_PER_MM, lambda text, size: _text_mask(text, size, style))
    return _column(style, label[0], label[1])


def _draw_joker(style: DeckStyle) -> Face:
    face = _blank(style, style.paper)
    draw_border(face, style, PX_PER_MM)
    h, w = face.shape[:2]
    rng = np.random.default_rng(style.seed)
    rgb = style.joker_rgb or style.palette["H" if rng.random() < 0.5 else "S"]
    mark = index_ink(style, JOKER)
    x, y = (round(v * PX_PER_MM) for v in style.inset_mm)
    side, top = round(w * 0.22), round(h * 0.2)
    if mark.shape[1] > 0.4 * w:
        top = max(top, y + mark.shape[0] + 8)
    else:
        side = max(side, x + mark.shape[1] + 6)
    if w - 2 * side > 60 and h - 2 * top > 80:
        rect = (side, top, w - side, h - top)
        if style.robes is not None and style.seed % 2:
            draw_court(face, style, rect, "J", "S")
        else:
            draw_joker_art(face, style, rect)
    if style.border_kind:
        _bare_corners(face, mark, style)
    return Face(face, put_indices(face, mark, style, rgb, style.joker_half_rgb))


def _draw_face(style: DeckStyle, label: str) -> Face:
    if label == JOKER:
        return _draw_joker(style)
    face = _blank(style, style.paper)
    draw_border(face, style, PX_PER_MM)
    h, w = face.shape[:2]
    rank, suit = label[0], label[1]
    rgb = style.palette[suit]
    column = index_ink(style, label)
    inner = style.inset_mm[0] * PX_PER_MM + column.shape[1]
    if rank in "JQK":
        x0 = round(min(inner + 6, w * 0.3))
        rect = (x0, round(h * 0.075), w - x0, h - round(h * 0.075))
        if style.court_bleed:
            edge = round(style.seed % 7 * 0.4 * PX_PER_MM)
            rect = (edge, edge, w - edge, h - edge)
        draw_court(face, style, rect, rank, suit)
        if style.court_bleed or style.beside or style.border_kind:
            _bare_corners(face, column, style)
        elif style.scrolls and style.inset_mm[1] * PX_PER_MM + column.shape[0] < h * 0.31:
            draw_scrolls(face, style, rect, suit)
    elif rank == "A":
        draw_ace(face, style, suit)
        if style.border_kind:
            _bare_corners(face, column, style)
    else:
        # Between the widest indices no room is left.
        pip = max(1, round(min(style.pip_mm * PX_PER_MM, (w - 2 * inner) * 0.42, h * 0.17)))
        mark = suit_sign(style, suit, pip)
        left, top = max(w * 0.26, inner + pip * 0.55), h * 0.15
        if style.beside:
            # The pips stand between the indices of the two ends, which leave no room beside them.
            foot = style.inset_mm[1] * PX_PER_MM + column.shape[0]
            left, top = w * 0.3, max(top, min(foot + pip * 0.6, h * 0.27))
        if style.border_kind:
            _bare_corners(face, column, style)
        turned = np.asarray(cv2.rotate(mark, cv2.ROTATE_180), np.uint8)
        for px, py in _PIPS[rank]:
            cx = left + px * (w - 2 * left)
            cy = top + py * (h - 2 * top)
            own = turned if py > 0.51 else mark
            stamp(face, own, round(cx - pip / 2), round(cy - pip / 2), rgb)
    return Face(face, put_indices(face, column, style, rgb))


def draw_back(style: DeckStyle) -> Face:
    """The back: a margin and a pattern in the style's colour."""
    face = _blank(style, style.paper)
    h, w = face.shape[:2]
    face[..., :3] = back_pattern(style, h, w, PX_PER_MM)
    Wear(h, w, style.wear, style.seed).on(face, style.seed)
    return Face(face)


def draw_deck(style: DeckStyle | None = None, name: str = "built-in") -> Deck:
    """Draw a deck of the built-in kind.

    Raises FeltwatchError when the style's font cannot show a rank.

    >>> deck = draw_deck()
    >>> len(deck.faces), [i.inverted for i in deck.faces["AS"].indices]
    (53, [False, True])
    """
    style = style or DeckStyle()
    for rank in RANKS:
        _text_mask(style.ten if rank == "T" else rank, 20, style)
    return Deck(name=name, size_mm=style.size_mm, faces=DrawnFaces(style), back=draw_back(style))


__all__ = [
    "PX_PER_MM", "Deck", "DeckStyle", "Face", "FloatArray", "Index", "Picture", "draw_back",
    "draw_deck", "index_ink", "lay_bare",
    "premultiply", "put_indices", "random_style",
]  # fmt: skip
