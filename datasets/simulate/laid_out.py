"""A table's chips laid out for `feltwatch chips enrol`: one stack of each kind on a spot."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from datasets.render.cards.deck import Deck
from datasets.render.scene import CardItem, StackItem
from datasets.simulate.filming.still import coded_still
from datasets.simulate.shift import Scenery, Wishes
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS, JOKER
from vision.geometry.table import Point, TableFile

LAID_CHIPS = 6
"""Chips in each of the stacks."""

CLEAR_MM = 90.0
"""Stacks are laid at least so far from each other: none hides another's side."""


RANKS, SUITS = "A23456789TJQK", "SHDC"
DECK_PITCH_MM = (22.0, 38.0)
"""From card to card of a deck spread in rows, and from row to row."""

INDEX_FREE_MM = 3.0
"""The next card leaves so much free beside an index."""


@dataclass(frozen=True, slots=True)
class LaidStack:
    """A stack of one kind of chip on a seat's spot."""

    chip: str
    seat: int
    spot: str
    item: StackItem

    @property
    def option(self) -> str:
        """The stack as `feltwatch chips enrol --stack` takes it."""
        return f"{self.chip}@{self.seat}.{self.spot}"


def laid_out(table: TableFile) -> list[LaidStack]:
    """One stack of each kind of the table's chips; FeltwatchError where there is no room."""
    spots = [
        (seat.seat, name, spot.center_mm)
        for name in dict.fromkeys(name for seat in table.seats for name in seat.spots)
        for seat in table.seats
        if (spot := seat.spots.get(name)) is not None
    ]
    laid: list[LaidStack] = []
    for chip in table.chips:
        free = next(
            (
                (seat, name, at)
                for seat, name, at in spots
                if all(math.dist(at, one.item.center_mm) >= CLEAR_MM for one in laid)
            ),
            None,
        )
        if free is None:
            raise FeltwatchError(f"seats: no room to lay out {len(table.chips)} kinds of chips")
        seat, name, (x, y) = free
        item = StackItem(f"laid-{chip}", (float(x), float(y)), (chip,) * LAID_CHIPS)
        laid.append(LaidStack(chip, seat, name, item))
    return laid


def deck_pitch_mm(deck: Deck) -> float:
    """From card to card of a spread in which each upper left index is in view: that of
    DECK_PITCH_MM, or more where an index is wider, as with the suit beside the rank."""
    middle = deck.size_mm[0] / 2
    ends = [
        index.rect_mm[2]
        for label in DECK_LABELS if label != JOKER
        for index in deck.faces[label].indices if index.rect_mm[2] < middle
    ]  # fmt: skip
    return max(DECK_PITCH_MM[0], max(ends, default=0.0) + INDEX_FREE_MM)


def deck_rows(
    rng: np.random.Generator, center_mm: Point, angle_deg: float = 0.0,
    pitch_mm: float = DECK_PITCH_MM[0],
) -> list[CardItem]:  # fmt: skip
    """A deck spread as `feltwatch cards deck` takes it: a suit a row, ace to king, then the joker.

    `angle_deg` as of cards; they lie a little out of line, as by hand. `pitch_mm` is from card to
    card of a row.
    """
    rows = [[rank + suit for rank in RANKS] for suit in SUITS]
    rows[-1].append(JOKER)
    a = math.radians(angle_deg)
    out = []
    for number, row in enumerate(rows):
        for place, label in enumerate(row):
            middle = (len(RANKS) - 1) / 2, (len(rows) - 1) / 2
            steps = np.array([place, number]) - middle
            along, across = rng.normal(0, 1.0, 2) + steps * (pitch_mm, DECK_PITCH_MM[1])
            at = (
                float(center_mm[0] + along * math.cos(a) - across * math.sin(a)),
                float(center_mm[1] + along * math.sin(a) + across * math.cos(a)),
            )
            turn = angle_deg + float(rng.normal(0, 2.0))
            out.append(CardItem(f"deck-{label}", label, at, turn, face_up=True))
    return out


def film_laid_out(out: Path, wishes: Wishes) -> list[str]:
    """Write `laid.png` and `spread.png`, before a shift's first camera: the chips laid out, and the
    deck spread in the middle of the felt.

    Returns the stacks as `feltwatch chips enrol` takes them. Raises FeltwatchError when an image
    cannot be written or the table has no room.
    """
    scenery = Scenery(wishes)
    laid = laid_out(scenery.table)
    stacks = [one.item for one in laid]
    felt, dealer = scenery.table.felt, scenery.table.dealer.place
    deck = deck_rows(
        np.random.default_rng(wishes.seed), (felt.width_mm / 2, felt.height_mm / 2),
        dealer.angle_deg, deck_pitch_mm(scenery.cards),
    )  # fmt: skip
    out.mkdir(parents=True, exist_ok=True)
    for name, items, gone in (("laid.png", stacks, ()), ("spread.png", deck, stacks)):
        picture = coded_still(
            scenery.film, items, gone, fps=wishes.fps, codec=wishes.codec, crf=wishes.crf,
            preset=wishes.preset,
        )  # fmt: skip
        if not cv2.imwrite(str(out / name), picture):
            raise FeltwatchError(f"{out / name}: cannot be written")
    return [one.option for one in laid]
