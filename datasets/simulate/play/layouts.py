"""Where cards, chips and lammers come to lie, with the hand's unsteadiness.

All points are felt mm. Rows of cards run in a seat's own frame; each later card lies over
the earlier one to its right, so that the strip with the earlier card's index shows.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from datasets.render.scene import CardItem, LammerItem, StackItem
from datasets.simulate.play.motion import spread_about
from settlement.errors import FeltwatchError
from vision.geometry.table import CARD_MM, FloatArray, Place, Point

INDEX_MM = (2.0, 3.0, 13.0, 27.0)
"""The part of a card that holds its index, from its top left corner (u0, v0, u1, v1)."""

_TRIES = 60
_CROOKED_DEG = 8.0


@dataclass(frozen=True, slots=True)
class Habit:
    """A dealer's hand for a shift: neatness and which way the players' cards are spread."""

    card_jitter_mm: float
    card_jitter_deg: float
    row_tilt_deg: float
    chip_jitter_mm: float
    five_step_mm: tuple[float, float]
    two_step_mm: tuple[float, float]
    turned: bool

    @classmethod
    def draw(cls, rng: random.Random) -> Habit:
        """A dealer, from very neat to rather careless."""
        neat = rng.random()
        low = rng.uniform(17.0, 22.0)
        overlapped = rng.random() < 0.4
        two = rng.uniform(22.0, 40.0) if overlapped else rng.uniform(64.5, 67.0)
        return cls(
            card_jitter_mm=0.4 + 1.2 * neat,
            card_jitter_deg=0.6 + 2.2 * neat,
            row_tilt_deg=0.8 + 2.4 * neat,
            chip_jitter_mm=0.8 + 2.2 * neat,
            five_step_mm=(low, min(25.0, low + rng.uniform(1.0, 4.0))),
            two_step_mm=(two, two + rng.uniform(0.5, 3.0)),
            turned=rng.random() < 0.35,
        )


def card_corners(
    card: CardItem, rect_mm: tuple[float, float, float, float] | None = None
) -> FloatArray:
    """Corners (4, 2) of a card on the felt, or of a part of it given from its top left, mm."""
    u0, v0, u1, v1 = rect_mm or (0.0, 0.0, CARD_MM[0], CARD_MM[1])
    local = np.array([[u0, v0], [u1, v0], [u1, v1], [u0, v1]]) - np.array(CARD_MM) / 2
    return Place(center_mm=card.center_mm, angle_deg=card.angle_deg).to_felt(local)


def overlap(first: FloatArray, second: FloatArray) -> float:
    """Area that two convex polygons (n, 2) share, mm²."""
    area, _ = cv2.intersectConvexConvex(
        first.astype(np.float32), second.astype(np.float32), handleNested=True
    )
    return float(area)


def index_shows(card: CardItem, later: Sequence[CardItem]) -> bool:
    """Whether the later cards leave the index at the card's top left free."""
    index = card_corners(card, INDEX_MM)
    return all(overlap(index, card_corners(other)) <= 0.0 for other in later)


def _row(
    place: Place,
    keyed: Sequence[tuple[str, str]],
    steps: tuple[float, float],
    habit: Habit,
    rng: random.Random,
    calm: float,
) -> list[CardItem]:
    offsets = [0.0]
    for _ in keyed[1:]:
        offsets.append(offsets[-1] + rng.uniform(*steps))
    middle = offsets[-1] / 2
    tilt = calm * rng.uniform(-habit.row_tilt_deg, habit.row_tilt_deg)
    row = Place(center_mm=place.center_mm, angle_deg=place.angle_deg + tilt)
    cards = []
    for (key, label), along in zip(keyed, offsets, strict=True):
        crooked = tilt + calm * rng.gauss(0.0, habit.card_jitter_deg)
        crooked = max(-_CROOKED_DEG, min(_CROOKED_DEG, crooked))
        across = rng.gauss(0.0, habit.card_jitter_mm)
        x, y = row.to_felt(np.array([[along - middle, across]]))[0].tolist()
        angle = (place.angle_deg + crooked) % 360.0
        cards.append(CardItem(key, label, (round(x, 2), round(y, 2)), round(angle, 2), True))
    return cards


def face_up_row(
    place: Place,
    keyed: Sequence[tuple[str, str]],
    steps: tuple[float, float],
    habit: Habit,
    rng: random.Random,
    free_of: Sequence[CardItem] = (),
) -> tuple[CardItem, ...]:
    """Cards (key, label) spread face up about `place`, every index showing.

    They touch none of the cards in `free_of`. Raises FeltwatchError when the place leaves
    no room for that.
    """
    others = [card_corners(card) for card in free_of]
    for attempt in range(_TRIES):
        cards = _row(place, keyed, steps, habit, rng, calm=1.0 - attempt / _TRIES)
        shows = all(index_shows(card, cards[n + 1 :]) for n, card in enumerate(cards))
        clear = all(overlap(card_corners(c), other) <= 0.0 for c in cards for other in others)
        if shows and clear:
            return tuple(cards)
    raise FeltwatchError(
        f"table: no room for {len(keyed)} cards spread about {place.center_mm}; "
        "place the low and high boxes further apart"
    )


def face_down_pile(
    place: Place, keyed: Sequence[tuple[str, str]], step_mm: float, rng: random.Random
) -> tuple[CardItem, ...]:
    """Cards (key, label) face down, each `step_mm` further right and a little crooked."""
    tilt = rng.uniform(-4.0, 4.0)
    row = Place(center_mm=place.center_mm, angle_deg=place.angle_deg + tilt)
    middle = step_mm * (len(keyed) - 1) / 2
    cards = []
    for number, (key, label) in enumerate(keyed):
        local = [[number * step_mm - middle + rng.gauss(0, 0.5), rng.gauss(0, 0.7)]]
        x, y = row.to_felt(np.array(local))[0].tolist()
        angle = (row.angle_deg + rng.uniform(-1.5, 1.5)) % 360.0
        cards.append(CardItem(key, label, (round(x, 2), round(y, 2)), round(angle, 2), False))
    return tuple(cards)


def turned(place: Place, half: bool) -> Place:
    """The place, turned to face the other way when `half` is set."""
    return Place(center_mm=place.center_mm, angle_deg=place.angle_deg + (180.0 if half else 0.0))


def offset(center_mm: Point, by_mm: Point, place: Place) -> Point:
    """A point `by_mm` (u right, v away from the dealer) from a centre, in a place's frame."""
    a = math.radians(place.angle_deg)
    u, v = by_mm
    return (
        center_mm[0] + u * math.cos(a) - v * math.sin(a),
        center_mm[1] + u * math.sin(a) + v * math.cos(a),
    )


def stack(
    key: str, center_mm: Point, colours: tuple[str, ...], jitter_mm: float, rng: random.Random
) -> StackItem:
    """A stack of chips about a centre."""
    x, y = spread_about(center_mm, jitter_mm, rng)
    return StackItem(key, (round(x, 2), round(y, 2)), colours)


def lammer(key: str, kind: str, center_mm: Point, place: Place, rng: random.Random) -> LammerItem:
    """A lammer about a centre, its word read from the dealer's or the player's side."""
    x, y = spread_about(center_mm, 1.5, rng)
    angle = place.angle_deg + rng.choice((0.0, 180.0)) + rng.gauss(0.0, 20.0)
    return LammerItem(key, kind, (round(x, 2), round(y, 2)), round(angle % 360.0, 2))
