"""Hands of painted cards, one of them with a mark that may be the joker's."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from settlement.record import DECK_LABELS, JOKER
from vision.cards.deck_assignment import decide_deck
from vision.cards.joker_memory import JokerMemory, ShownHand
from vision.cards.view import CardRead, ViewIndex
from vision.detect.detections import ByteArray
from vision.geometry.table import CARD_MM, VIEW_MM

SIZE = 640
SCALE = SIZE / VIEW_MM
STAR, WHEEL, FIGURE = 1, 2, 3
SEATS = (1, 2, None)


def at_px(mm: Sequence[float]) -> tuple[int, int]:
    x, y = (round((v + VIEW_MM / 2) * SCALE) for v in mm)
    return x, y


def painted(cards: Sequence[tuple[tuple[float, float], int]], light: float = 1.0) -> ByteArray:
    """Paper cards by their upper left corner, mm, each with one of the marks, or none."""
    view = np.full((SIZE, SIZE, 3), (60, 110, 40), np.uint8)
    for (x, y), mark in cards:
        low, high = at_px((x, y)), at_px((x + CARD_MM[0], y + CARD_MM[1]))
        cv2.rectangle(view, low, high, (240, 240, 240), -1)
        cv2.rectangle(view, low, high, (90, 90, 90), 1)
        left, top = at_px((x + 3, y + 4))
        if mark == STAR:
            cv2.circle(view, (left + 5, top + 8), 5, (30, 30, 200), 2)
            cv2.rectangle(view, (left, top + 18), (left + 11, top + 24), (160, 60, 20), -1)
        elif mark == WHEEL:
            cv2.rectangle(view, (left, top), (left + 11, top + 8), (20, 120, 20), 2)
            cv2.line(view, (left, top + 26), (left + 11, top + 12), (20, 20, 20), 3)
        elif mark == FIGURE:
            cv2.ellipse(view, (left + 6, top + 12), (5, 12), 20, 0, 360, (150, 0, 150), 2)
    return np.asarray(np.clip(view * light, 0, 255), np.uint8)


def index(label: str, mm: tuple[float, float], share: float = 0.99) -> ViewIndex:
    """The index of a card whose upper left corner is there."""
    shares = np.full(len(DECK_LABELS), (1 - share) / 60, np.float32)
    shares[DECK_LABELS.index(label)] = share
    center = np.array([mm[0] + 6.0, mm[1] + 12.0])
    x0, y0 = (center - (3.5, 8.0) + VIEW_MM / 2) * SCALE
    x1, y1 = (center + (3.5, 8.0) + VIEW_MM / 2) * SCALE
    box = (float(x0), float(y0), float(x1), float(y1))
    card = np.array(mm) + np.array(CARD_MM) / 2
    return ViewIndex(center, 0.0, 17.0, shares, 0.9, box, card=card)


PLACES = [(-130.0 + 24 * k, 20.0) for k in range(7)]
JOKERS_PLACE = 3


def card(own: ViewIndex, indices: int = 1) -> CardRead:
    return CardRead(
        own.label, own.share, (float(own.card[0]), float(own.card[1])), indices, own.shares,
        ((own.label, own.share),) * 3, own.matched,
    )  # fmt: skip


class Played:
    """A round of three hands; `joker` is the seat that has the joker, with a `mark`.

    `ends`: how many of its indices are read as the joker, with `share`; with 0 the mark is a faint
    find. `figure` is the seat with a card that shows FIGURE, `known` whether it is read.
    """

    def __init__(
        self, joker: int | str | None, mark: int = STAR, *, ends: int = 1, share: float = 0.99,
        light: float = 1.0, figure: int | str | None = "nobody",
    ) -> None:  # fmt: skip
        names = [label for label in DECK_LABELS if label != JOKER]
        self.hands: dict[int | None, list[CardRead]] = {}
        self.shown: dict[int | None, ShownHand] = {}
        for seat in SEATS:
            marks = [0] * 7
            indices = [index(names.pop(), at) for at in PLACES]
            faint: tuple[ViewIndex, ...] = ()
            if seat == figure:
                marks[5] = FIGURE
            if seat == joker:
                marks[JOKERS_PLACE] = mark
                own = index(JOKER, PLACES[JOKERS_PLACE], share)
                indices.pop(JOKERS_PLACE)
                if ends:
                    indices += [own] * ends
                else:
                    faint = (own,)
            cards = [card(i) for i in indices if i.label != JOKER]
            if seat == joker:
                cards.append(card(own, ends))
            view = painted(list(zip(PLACES, marks, strict=True)), light)
            self.hands[seat] = cards
            self.shown[seat] = ShownHand(view, indices, faint)

    def teach(self, memory: JokerMemory) -> None:
        memory.learn(self.hands, decide_deck(self.hands), self.shown)
