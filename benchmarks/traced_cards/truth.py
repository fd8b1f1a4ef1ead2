"""What a traced table of cards shows, and its JSON form; needs NumPy alone."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.traced_stacks.truth import Floats, Point, TracedTable, table_of, tupled

CARD_MM = (63.0, 88.0)
JOKER = "JOKER"
LABELS = (*(f"{rank}{suit}" for suit in "CDHS" for rank in "23456789TJQKA"), JOKER)

UP, DOWN, PILE = "up", "down", "pile"
"""How a hand lies: its two rows face up, its two rows face down, or seven cards as dealt."""


@dataclass(frozen=True)
class TracedCard:
    """One card: its middle (felt mm), its turn clockwise, and its place from below in its row.

    `lift_mm` is the height of its left edge, which lies on the card before it.
    """

    label: str
    center_mm: Point
    turn_deg: float
    row: str
    lift_mm: float


@dataclass(frozen=True)
class TracedHand:
    """The seven cards of a place, from below upwards.

    `bow_mm` is how far they are bent along their length, upwards at both ends where it is
    positive. `back` names the design of their backs.
    """

    center_mm: Point
    angle_deg: float
    lies: str
    bow_mm: float
    back: str
    cards: tuple[TracedCard, ...]

    @property
    def rows(self) -> dict[str, tuple[TracedCard, ...]]:
        """The cards by row."""
        names = dict.fromkeys(card.row for card in self.cards)
        return {name: tuple(c for c in self.cards if c.row == name) for name in names}


@dataclass(frozen=True)
class TracedCards:
    """One image: the deck's name, the hands, and all else as on a table of stacks.

    `roughness` and `coat` are those of the cards' surface.
    """

    deck: str
    table: TracedTable
    hands: tuple[TracedHand, ...]
    roughness: float
    coat: float

    def px_per_mm(self, hand: TracedHand) -> float:
        """Root of the image's area (px) of a square millimetre of a hand's middle."""
        x, y = hand.center_mm
        at = np.array([[x, y, 0.0], [x + 1, y, 0.0], [x, y + 1, 0.0]])
        origin, right, down = self.table.camera.to_image(at)
        return math.sqrt(abs(float(np.linalg.det(np.array([right - origin, down - origin])))))

    def write(self, path: Path) -> None:
        """Write the truth as JSON; the file is whole or not there."""
        part = path.with_suffix(".part")
        part.write_text(json.dumps(asdict(self), indent=1) + "\n")
        part.replace(path)


def read_cards(path: Path) -> TracedCards:
    """Read the truth of one table; ValueError names the file where it is another form."""
    try:
        data = json.loads(path.read_text())
        return TracedCards(
            table=table_of(data.pop("table")),
            hands=tuple(
                TracedHand(
                    cards=tuple(TracedCard(**tupled(card)) for card in one.pop("cards")),
                    **tupled(one),
                )
                for one in data.pop("hands")
            ),
            **tupled(data),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: not the truth of traced cards: {error}") from error


def on_card(card: TracedCard, local_mm: Floats) -> Floats:
    """Points (n, 2) of a card, mm to the right and down from its middle, on the felt."""
    turn = math.radians(card.turn_deg)
    cos, sin = math.cos(turn), math.sin(turn)
    out: Floats = np.asarray(local_mm) @ np.array([[cos, sin], [-sin, cos]]) + card.center_mm
    return out


def on_place(center_mm: Point, angle_deg: float, local_mm: Floats) -> Floats:
    """Points (n, 2) of a place's own frame, mm, on the felt."""
    return on_card(TracedCard("", center_mm, angle_deg, "", 0.0), local_mm)
