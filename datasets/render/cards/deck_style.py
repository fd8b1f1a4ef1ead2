"""Designs of the built-in deck: sizes, colours and shapes, and designs drawn at random."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from datasets.render.cards.glyphs import GlyphDesign, random_design
from datasets.render.cards.suit_marks import SuitDesign

Color = tuple[int, int, int]

TWO_COLOUR: dict[str, Color] = {
    "C": (24, 22, 22), "S": (24, 22, 22), "D": (200, 22, 30), "H": (200, 22, 30),
}  # fmt: skip
FOUR_COLOUR: dict[str, Color] = {
    "C": (18, 120, 50), "S": (24, 22, 22), "D": (24, 70, 190), "H": (200, 22, 30),
}  # fmt: skip

ALPHABETS: tuple[dict[str, str], ...] = (
    {"K": "R", "Q": "D", "J": "V", "A": "1"},
    {"K": "R", "Q": "D", "J": "V"},
    {"Q": "D", "J": "B"},
    {"K": "R", "Q": "D", "J": "F"},
    {"Q": "D", "J": "Kn"},
)
"""Letters of French, German, Italian and Scandinavian decks; no letter of one is another's."""

BORDER_KINDS, BORDER_MM = 5, 2.6
"""Kinds of `borders.draw_border`, none among them, and how far in from the edge they reach."""

EMBLEM_KINDS = (14, 15, 16)
"""The joker marks that are emblems (`jokers.joker_mark`)."""

SMALL_INDICES, EMBLEMS, ORNATE_COURTS = 0.15, 0.4, 0.45
"""Shares of the designs of `ornate_style`."""

BESIDE, DISCS, SMALL_SUITS, SHORT_JOKERS, ICONS, TWO_INKS = 0.1, 0.25, 0.1, 0.14, 0.25, 0.3
"""Shares of the designs of `rare_style`."""

LAYOUTS = 0.45
"""Share of the designs of `layout_style` whose indices are laid out in another way."""

BESIDE_THERE, SUIT_FIRST, THIN, SLABS, LINES, BORDERS, LAID_JOKERS = (
    0.75, 0.4, 0.35, 0.2, 0.4, 0.15, 0.35,
)  # fmt: skip
"""Shares among these of suits beside the ranks, of these the suits to the left; of thin letters,
slabs and outlined pips; and of borders and small or short jokers among all designs."""

LAID_JOKER_KINDS = (14, 20, 22, 22, 23, 23, 24, 25)
"""The joker marks of `layout_style`: an emblem, a sign, two letters over an emblem, small words."""

SHORT_JOKER_KINDS = (17, 18, 19)
"""The joker marks of one to three letters."""

ICON_KINDS = (20, 20, 21)
"""The joker marks that are a sign of any shape."""

JOKER_WORDS = ("JOKER", "Joker", "JOLLY", "Jolly", "joker", "JOKER!")

DRAWN_GLYPHS_SHARE = 0.62
"""Share of designs whose ranks are drawn with our own pen; the others are set in a font."""


@dataclass(frozen=True)
class DeckStyle:
    """How a built-in deck is drawn; lengths in mm, colours RGB.

    `glyphs`, where given, draws the ranks instead of `font`. `letters` are those of ranks that
    the deck names in another language. `wear` is 0 for a new deck to 1 for a ruined one.
    `joker_half_rgb` prints one half of the joker's mark in a second ink. `court_bleed` draws
    court figures out to the card's edge, with bare paper about the indices only; `robes` are
    their colours, the last one that of the lines. `beside` puts the suit to the right of the rank
    in place of under it, or to the left with `suit_first`; `level` is 0 for tops in line, 1 for
    feet, drawn from the seed where it is None. `pip_line`, where over 0, draws pips as outlines,
    so wide as a share of their size, and with `index_line` the suits of indices too. `border_kind`
    draws lines about the face, `BORDER_KINDS` in all. `signs`, where given, are seeds of signs in
    place of the suits' own.
    """

    font: str | None = None
    size_mm: tuple[float, float] = (63.0, 88.0)
    rank_mm: float = 11.0
    suit_mm: float = 8.5
    stretch: float = 0.85
    stroke: float = 0.035
    gap_mm: float = 1.2
    inset_mm: tuple[float, float] = (2.6, 3.4)
    centered: bool = True
    beside: bool = False
    suit_first: bool = False
    level: float | None = None
    pip_line: float = 0.0
    index_line: bool = False
    border_kind: int = 0
    palette: dict[str, Color] = field(default_factory=lambda: dict(TWO_COLOUR))
    paper: Color = (250, 249, 246)
    ten: str = "10"
    letters: Mapping[str, str] = field(default_factory=dict)
    joker_word: str = "JOKER"
    ten_gap: float = 0.1
    all_corners: bool = False
    pip_mm: float = 11.0
    frame: bool = True
    frame_kind: int = 0
    corner_mm: float = 3.5
    back_rgb: Color = (150, 24, 40)
    back_kind: int = 0
    joker_kind: int = 0
    joker_rgb: Color | None = None
    joker_half_rgb: Color | None = None
    glyphs: GlyphDesign | None = None
    marks: SuitDesign = field(default_factory=SuitDesign)
    signs: Mapping[str, int] = field(default_factory=dict)
    court_ground: int = 0
    court_pip: float = 0.24
    court_bleed: bool = False
    robes: tuple[Color, Color, Color, Color] | None = None
    scrolls: bool = False
    wear: float = 0.0
    seed: int = 7


CASINO_DESIGNS: dict[str, DeckStyle] = {
    "standard": DeckStyle(
        glyphs=GlyphDesign(stem=0.15, thin=0.09, serif=0.1, slab=0.06, three=2, jack=1, queen=2),
        rank_mm=8.0, suit_mm=7.0, stretch=0.95, ten_gap=0.07, frame_kind=1,
    ),
    "jumbo": DeckStyle(
        glyphs=GlyphDesign(width=0.58, stem=0.2, thin=0.15, square=2.6, three=0, four=0),
        rank_mm=15.0, suit_mm=11.5, stretch=0.8, inset_mm=(2.0, 3.0), back_kind=5, joker_kind=1,
        back_rgb=(24, 40, 130),
    ),
    "four_colour": DeckStyle(
        glyphs=GlyphDesign(width=0.6, stem=0.16, thin=0.12, three=1, four=1, six=1, queen=0),
        palette=dict(FOUR_COLOUR), rank_mm=13.0, suit_mm=10.0, back_kind=7, joker_kind=3,
    ),
    "bridge": DeckStyle(
        size_mm=(57.0, 88.0), glyphs=GlyphDesign(stem=0.14, thin=0.07, serif=0.12, king=1, five=1),
        rank_mm=8.5, suit_mm=7.5, back_kind=10, joker_kind=4,
    ),
    "worn": DeckStyle(
        glyphs=GlyphDesign(stem=0.17, thin=0.11, three=0, seven=1, one=2), rank_mm=10.0,
        suit_mm=8.0, wear=0.7, paper=(243, 238, 226), back_kind=8, joker_kind=10, corner_mm=4.2,
    ),
}  # fmt: skip
"""Named designs that a simulated shift may use beside the default one."""


def _palette(rng: np.random.Generator) -> tuple[dict[str, Color], Color]:
    """Colours of the suits and the paper."""
    red = (int(rng.integers(165, 245)), int(rng.integers(0, 60)), int(rng.integers(10, 75)))
    low, high = rng.integers(8, 50, 2).tolist()
    black = (int(low), int(rng.integers(8, 50)), int(high))
    palette: dict[str, Color] = {"H": red, "S": black, "C": black, "D": red}
    if rng.random() < 0.25:
        palette["C"] = (
            int(rng.integers(0, 40)), int(rng.integers(95, 150)), int(rng.integers(20, 70)),
        )  # fmt: skip
        palette["D"] = (
            int(rng.integers(0, 60)), int(rng.integers(40, 130)), int(rng.integers(150, 235)),
        )  # fmt: skip
    shade = rng.normal(247, 5)
    warm = rng.uniform(0, 12)
    r, g, b = (int(v) for v in np.clip((shade + 2, shade, shade - warm), 222, 255))
    paper: Color = (r, g, b)
    if rng.random() < 0.015:
        k, m, n = (int(v) for v in rng.integers(10, 40, 3))
        paper = (k, m, n)
        gold = (
            int(rng.integers(190, 235)), int(rng.integers(150, 190)), int(rng.integers(60, 120)),
        )  # fmt: skip
        palette["C"] = palette["S"] = gold
        if rng.random() < 0.5:
            palette["D"] = palette["H"] = gold
    return palette, paper


def random_style(rng: np.random.Generator, fonts: list[str]) -> DeckStyle:
    """A deck design drawn from what is found on casino tables and in shops."""
    jumbo = rng.random() < 0.5
    rank = float(rng.uniform(10, 16.5) if jumbo else rng.uniform(5.8, 10.5))
    palette, paper = _palette(rng)
    drawn = rng.random() < DRAWN_GLYPHS_SHARE
    r, g, b = (int(v) for v in rng.integers(10, 200, 3))
    joker_rgb: Color | None = None
    chance = rng.random()
    if chance < 0.25:
        p, q, s = (int(v) for v in rng.integers(0, 190, 3))
        joker_rgb = (p, q, s)
    return DeckStyle(
        font=str(rng.choice(fonts)) if fonts and rng.random() < 0.93 else None,
        size_mm=(63.0, 88.0) if rng.random() < 0.7 else (57.0, 88.0),
        rank_mm=rank,
        suit_mm=rank * float(rng.uniform(0.5, 1.05)),
        stretch=float(rng.uniform(0.72, 1.12) if drawn else rng.uniform(0.55, 1.0)),
        stroke=float(max(0.0, rng.uniform(-0.03, 0.06))),
        gap_mm=float(rng.uniform(0.3, 2.2)),
        inset_mm=(float(rng.uniform(1.2, 4.5)), float(rng.uniform(1.8, 5.5))),
        centered=bool(rng.random() < 0.85),
        palette=palette,
        paper=paper,
        ten="10" if rng.random() < 0.97 else "T",
        ten_gap=float(rng.uniform(0.03, 0.2)),
        all_corners=bool(rng.random() < 0.22),
        pip_mm=float(rng.uniform(7.5, 15)),
        frame=bool(rng.random() < 0.75),
        frame_kind=int(rng.integers(0, 8)),
        corner_mm=float(rng.uniform(2.3, 5.2)),
        back_rgb=(r, g, b),
        back_kind=int(rng.integers(0, 12)),
        joker_kind=int(rng.integers(0, 14)),
        joker_rgb=joker_rgb,
        glyphs=random_design(rng) if drawn else None,
        marks=SuitDesign.draw(rng),
        court_ground=int(rng.choice([0, 0, 0, 1, 2])),
        court_pip=float(rng.choice([0.0, rng.uniform(0.16, 0.34)], p=[0.15, 0.85])),
        scrolls=bool(rng.random() < 0.16),
        wear=float(rng.choice([0.0, rng.uniform(0.05, 0.35), rng.uniform(0.35, 1.0)],
                              p=[0.45, 0.35, 0.2])),
        seed=int(rng.integers(1, 2**31)),
    )  # fmt: skip


def varied_style(rng: np.random.Generator, fonts: list[str]) -> DeckStyle:
    """As `random_style`, with letters and jokers' words of other languages among them."""
    style = random_style(rng, fonts)
    letters = ALPHABETS[int(rng.integers(len(ALPHABETS)))] if rng.random() < 0.22 else {}
    word = "JOKER" if rng.random() < 0.6 else str(rng.choice(JOKER_WORDS))
    tight = float(rng.uniform(0.45, 0.75)) if rng.random() < 0.2 else style.stretch
    return replace(style, letters=letters, joker_word=word, stretch=tight)


def ornate_style(rng: np.random.Generator, fonts: list[str]) -> DeckStyle:
    """As `varied_style`, with what single decks have: tiny indices, emblems, crowded courts."""
    style = varied_style(rng, fonts)
    if rng.random() < SMALL_INDICES:
        rank = float(rng.uniform(2.8, 5.6))
        style = replace(
            style, rank_mm=rank, suit_mm=rank * float(rng.uniform(0.6, 1.15)),
            gap_mm=float(rng.uniform(0.3, 1.1)),
            inset_mm=(float(rng.uniform(1.0, 2.6)), float(rng.uniform(1.2, 3.2))),
        )  # fmt: skip
    if rng.random() < EMBLEMS:
        style = replace(style, joker_kind=int(rng.choice(EMBLEM_KINDS)))
    if rng.random() < ORNATE_COURTS:
        robes = [_robe_colour(rng) for _ in range(3)]
        lines = int(rng.integers(10, 60))
        style = replace(
            style, robes=(robes[0], robes[1], robes[2], (lines, lines, lines)),
            court_bleed=bool(rng.random() < 0.6), court_ground=int(rng.choice([0, 1, 3, 3])),
        )  # fmt: skip
    return style


def rare_style(rng: np.random.Generator, fonts: list[str]) -> DeckStyle:
    """As `ornate_style`, some with suits beside the ranks, marks of discs, small suits under large
    ranks, jokers of few letters or with a sign of any shape, in one ink or two."""
    style = ornate_style(rng, fonts)
    if rng.random() < DISCS:
        marks = replace(style.marks, discs=float(rng.uniform(0.05, 1.0)))
        style = replace(style, marks=marks)
    if rng.random() < BESIDE:
        style = replace(
            style, beside=True, rank_mm=min(style.rank_mm, 11.0),
            suit_mm=min(style.rank_mm, 11.0) * float(rng.uniform(0.45, 1.0)),
        )  # fmt: skip
    elif rng.random() < SMALL_SUITS:
        style = replace(style, suit_mm=style.rank_mm * float(rng.uniform(0.3, 0.5)))
    if rng.random() < SHORT_JOKERS:
        style = replace(style, joker_kind=int(rng.choice(SHORT_JOKER_KINDS)))
    elif rng.random() < ICONS:
        style = replace(style, joker_kind=int(rng.choice(ICON_KINDS)))
    if rng.random() < TWO_INKS:
        r, g, b = (int(v) for v in rng.integers(0, 220, 3))
        style = replace(style, joker_half_rgb=(r, g, b))
    return style


def layout_style(rng: np.random.Generator, fonts: list[str]) -> DeckStyle:
    """As `rare_style`, nearly half of them with suits beside the ranks, thin letters, slabs or
    outlined pips; some with a border, jokers of small words or of two letters over a mark."""
    style = rare_style(rng, fonts)
    if rng.random() < LAYOUTS:
        if rng.random() < BESIDE_THERE:
            style = _with_suits_beside(rng, style)
        kind = rng.random()
        if kind < THIN + SLABS:
            style = replace(style, glyphs=_thin_or_slab(rng, thin=kind < THIN))
        if rng.random() < LINES:
            style = replace(
                style, pip_line=float(rng.uniform(0.04, 0.11)), index_line=bool(rng.random() < 0.3)
            )  # fmt: skip
    if rng.random() < LAID_JOKERS:
        style = replace(style, joker_kind=int(rng.choice(LAID_JOKER_KINDS)))
    if rng.random() < BORDERS:
        x, y = style.inset_mm
        style = replace(
            style, border_kind=int(rng.integers(1, BORDER_KINDS)),
            inset_mm=(max(x, BORDER_MM + 1.0), max(y, BORDER_MM + 1.0)),
        )  # fmt: skip
    return style


def _with_suits_beside(rng: np.random.Generator, style: DeckStyle) -> DeckStyle:
    """The style with the suits beside the ranks, of many sizes and distances."""
    rank = float(rng.uniform(4.0, 11.0))
    return replace(
        style, beside=True, suit_first=bool(rng.random() < SUIT_FIRST), rank_mm=rank,
        suit_mm=rank * float(rng.uniform(0.4, 1.1)), gap_mm=float(rng.uniform(0.3, 2.6)),
        level=float(rng.choice([0.0, 0.5, 1.0, rng.uniform(0, 1)])),
        inset_mm=(float(rng.uniform(1.5, 4.5)), float(rng.uniform(1.8, 5.5))),
        all_corners=bool(rng.random() < 0.25), pip_mm=float(rng.uniform(5.5, 12)),
    )  # fmt: skip


def _thin_or_slab(rng: np.random.Generator, *, thin: bool) -> GlyphDesign:
    """A hand of hairlines without serifs, or of heavy slabs."""
    hand = random_design(rng)
    if thin:
        stem = float(rng.uniform(0.035, 0.085))
        return replace(
            hand, stem=stem, thin=stem * float(rng.uniform(0.75, 1.0)), serif=0.0,
            width=float(rng.uniform(0.5, 0.78)),
        )  # fmt: skip
    stem = float(rng.uniform(0.13, 0.24))
    return replace(
        hand, stem=stem, thin=stem * float(rng.uniform(0.6, 1.0)), rounded=False,
        serif=float(rng.uniform(0.12, 0.22)), slab=float(rng.uniform(0.08, 0.15)),
    )  # fmt: skip


def _robe_colour(rng: np.random.Generator) -> Color:
    dark, bright = np.sort(rng.uniform(0, 255, 2))
    r, g, b = (int(v) for v in rng.permutation([dark, rng.uniform(dark, bright), bright]))
    return r, g, b
