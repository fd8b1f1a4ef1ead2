"""Decks read from a folder of images of their faces, and where the index of a face is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from datasets.render.cards.deck import (
    PX_PER_MM,
    Deck,
    DeckStyle,
    Face,
    Index,
    Picture,
    draw_back,
)
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS, JOKER

WORD_SHARE = 0.8
"""A joker's word whose letters stand alone holds this much of the ink at the card's edge."""

DEEPEST_GAP, DEEPEST_MARK = 0.45, 0.45
"""A suit mark hangs under its rank by so much of the rank's height at most, and ends above so
much of the card's."""

ONE_ROW, WIDEST_GAP, TALLEST_RANK = 0.6, 0.35, 0.13
"""Parts of a rank alone are so much of its height each; a suit beside it stands no further away. A
taller part, in heights of the card, is a rank that touches the suit beneath it."""

MOST_TALLER = 2.0
"""How much taller a part beside the first one may be."""

LETTER_GAP, LEAST_LETTERS = 0.6, 3
"""Letters of a word stand no further apart, in their heights; fewer are no word."""

OFF_MIRRORED, SAME_INDEX = 0.03, 0.8
"""How far an index in the other corner lies from where the edge's middle would mirror it, in widths
of the card, and how alike (correlation) it is: 1.00 on three folders of faces with four indices, at
most 0.50 on 38 with two."""

Bounds = tuple[float, float, float, float]


def _find_index(bgra: Picture, label: str) -> Bounds | None:
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
    if label == JOKER:
        # A word that runs into the card's border or image: take the strip at the edge too.
        strip = ink[round(h * 0.015) : round(h * 0.55), round(w * 0.015) : round(w * 0.15)]
        rows, columns = np.flatnonzero(strip.any(axis=1)), np.flatnonzero(strip.any(axis=0))
        held = sum(int(p[4]) for p in parts)
        if rows.size and held < WORD_SHARE * int(strip.sum()):
            x, y = round(w * 0.015), round(h * 0.015)
            wide, tall = int(columns[-1] - columns[0] + 1), int(rows[-1] - rows[0] + 1)
            parts.append(np.array([columns[0] + x, rows[0] + y, wide, tall, 0]))
    if not parts:
        return None
    if label != JOKER:
        beneath = _suit_beneath(stats[1:count], parts, h)
        parts += beneath or _beside(stats[1:count], parts, h, 2 if label[0] == "T" else 1)
    else:
        parts += _rest_of_word(stats[1:count], parts, h)
    return (
        float(min(p[0] for p in parts)),
        float(min(p[1] for p in parts)),
        float(max(p[0] + p[2] for p in parts)),
        float(max(p[1] + p[3] for p in parts)),
    )


def _suit_beneath(every: Picture, parts: Sequence[Picture], h: int) -> list[Picture]:
    """The suit mark under a rank so large that the mark lies deep: `parts` without it.

    `every` are statistics (n, 5) of OpenCV's components. What is taken hangs under the index in
    its own column; pips stand beside it.
    """
    x0, y0 = min(int(p[0]) for p in parts), min(int(p[1]) for p in parts)
    x1, y1 = max(int(p[0] + p[2]) for p in parts), max(int(p[1] + p[3]) for p in parts)
    wide, tall = x1 - x0, y1 - y0
    return [
        p
        for p in every
        if p[4] >= 20
        and y1 <= p[1] < y1 + DEEPEST_GAP * tall
        and p[1] + p[3] < DEEPEST_MARK * h
        and 0.4 * tall < p[3] < 1.5 * tall
        and p[2] < 1.9 * max(wide, 0.55 * tall)
        and min(x1, p[0] + p[2]) - max(x0, p[0]) > 0.75 * min(wide, int(p[2]))
    ]


def _beside(every: Picture, parts: Sequence[Picture], h: int, most: int) -> list[Picture]:
    """What belongs to a rank or a suit mark that stands alone and lies to its right.

    At most `most` parts: the suit mark of a rank, or the rank of a suit mark, which may be taller
    and reach deeper (a Q's tail), and the second figure of a ten. As in `_suit_beneath`.
    """
    y0, y1 = min(int(p[1]) for p in parts), max(int(p[1] + p[3]) for p in parts)
    tall = y1 - y0
    if tall > TALLEST_RANK * h or any(p[3] < ONE_ROW * tall for p in parts):
        return []
    found: list[Picture] = []
    while len(found) < most:
        x1 = max(int(p[0] + p[2]) for p in (*parts, *found))
        near = [
            p
            for p in every
            if p[4] >= 20
            and -0.1 * tall <= p[0] - x1 < WIDEST_GAP * tall
            and 0.25 * tall < p[3] < MOST_TALLER * tall
            and 0.2 * tall < p[2] < MOST_TALLER * tall
            and y0 - 0.4 * tall <= p[1] < y1
            and p[1] + p[3] <= y1 + tall
        ]
        level = [p for p in near if y0 - 0.2 * tall <= p[1] and p[1] + p[3] <= y1 + 0.2 * tall]
        # What is taller is the rank of a suit mark, which is one part.
        near = level or (near if len(parts) == 1 else [])
        if not near:
            break
        found.append(min(near, key=lambda p: int(p[0])))
    return found


def _rest_of_word(every: Picture, parts: Sequence[Picture], h: int) -> list[Picture]:
    """The further letters of a joker's word that runs along the card's upper edge."""
    y0, y1 = min(int(p[1]) for p in parts), max(int(p[1] + p[3]) for p in parts)
    tall = y1 - y0
    if tall > TALLEST_RANK * h:
        return []
    word = list(parts)
    for p in sorted(every, key=lambda p: int(p[0])):
        gap = int(p[0]) - max(int(q[0] + q[2]) for q in word)
        level = abs(int(p[1]) - y0) < 0.25 * tall and 0.6 * tall < p[3] < 1.3 * tall
        if level and -0.1 * tall < gap < LETTER_GAP * tall:
            word.append(p)
    return word if len(word) >= LEAST_LETTERS else []


def load_deck(folder: Path, size_mm: tuple[float, float] = (63.0, 88.0)) -> Deck:
    """Read a folder of faces `AS.png` ... `KD.png`, `JOKER.png` and, if there, `BACK.png`.

    Raises FeltwatchError naming the file that is missing, unreadable or has no index in
    its top left corner.
    """
    if not folder.is_dir():
        raise FeltwatchError(f"{folder}: no such folder of card faces")
    faces: dict[str, Face] = {}
    for label in DECK_LABELS:
        path = folder / f"{label}.png"
        if not path.is_file():
            raise FeltwatchError(
                f"{path}: missing; a deck folder holds AS.png ... KD.png, JOKER.png"
            )
        face = load_face(path, label, size_mm)
        if face is None:
            raise FeltwatchError(f"{path}: no index found in the top left corner of the face")
        faces[label] = face
    back = load_back(folder / "BACK.png", size_mm) or draw_back(DeckStyle(size_mm=size_mm))
    return Deck(name=folder.name, size_mm=size_mm, faces=faces, back=back)


def load_face(path: Path, label: str, size_mm: tuple[float, float]) -> Face | None:
    """A face from an image of it; None where no index is found in its top left corner."""
    bgra = _read_bgra(path)
    found = _find_index(bgra, label)
    if found is None:
        return None
    w, h = (round(v * PX_PER_MM) for v in size_mm)
    sx, sy = size_mm[0] / bgra.shape[1], size_mm[1] / bgra.shape[0]
    rects = []
    for corner in filter(None, (found, _top_right(bgra, found))):
        x0, y0, x1, y1 = corner[0] * sx, corner[1] * sy, corner[2] * sx, corner[3] * sy
        turned = (size_mm[0] - x1, size_mm[1] - y1, size_mm[0] - x0, size_mm[1] - y0)
        rects += [Index((x0, y0, x1, y1), False), Index(turned, True)]
    return Face(_fit(bgra, w, h), tuple(rects))


def _top_right(bgra: Picture, left: Bounds) -> Bounds | None:
    """Bounds in px of the same index at the other end of the edge; None where there is none."""
    w = bgra.shape[1]
    x0, y0, x1, y1 = (round(v) for v in left)
    slack = round(OFF_MIRRORED * w)
    top, start = max(0, y0 - slack), max(0, w - x1 - slack)
    there = bgra[top : y1 + slack, start : w - x0 + slack, :3]
    found = cv2.matchTemplate(there, bgra[y0:y1, x0:x1, :3], cv2.TM_CCOEFF_NORMED)
    _, alike, _, (x, y) = cv2.minMaxLoc(found)
    if alike < SAME_INDEX or start + x <= x1:
        return None
    return float(start + x), float(top + y), float(start + x + x1 - x0), float(top + y + y1 - y0)


def load_back(path: Path, size_mm: tuple[float, float]) -> Face | None:
    """A back from an image of it; None where there is no such file."""
    if not path.is_file():
        return None
    w, h = (round(v * PX_PER_MM) for v in size_mm)
    return Face(_fit(_read_bgra(path), w, h))


def _read_bgra(path: Path) -> Picture:
    image = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    if image is None or image.ndim != 3:
        raise FeltwatchError(f"{path}: not a colour image")
    if image.shape[2] == 3:
        image = np.dstack([image, np.full(image.shape[:2], 255, np.uint8)])
    return np.asarray(image, np.uint8)


def _fit(bgra: Picture, w: int, h: int) -> Picture:
    return np.asarray(cv2.resize(bgra, (w, h), interpolation=cv2.INTER_AREA), np.uint8)
