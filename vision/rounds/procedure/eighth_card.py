"""The card that a draw dealer sets aside: the one of eight that lies in neither box."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from settlement.games import GAMES
from vision.cards.deck_assignment import HAND_CARDS, Decided, marks
from vision.cards.view import CardRead
from vision.geometry.table import DealerPlace, Place, Polygon, TableFile

ASIDE = 0
"""Stands for the card set aside where hands are named by seat, None the dealer's."""

OUTSIDE_MM = 30.0
"""A card set aside has its middle this far outside both boxes."""

SURE_CARD = 0.9
"""Least share of a card set aside that is named: the house way hangs on it."""


@dataclass(frozen=True, slots=True)
class DealerCards:
    """The dealer's cards, those of the hands and the one set aside, or why that is not known."""

    hand: tuple[CardRead, ...]
    aside: CardRead | None = None
    doubt: str | None = None


def set_aside(cards: Sequence[CardRead], dealer: DealerPlace) -> DealerCards:
    """Part eight cards of a draw dealer into seven and the one set aside.

    With seven or fewer, all lie in the hands, and the eighth is not known.
    """
    if len(cards) <= HAND_CARDS:
        return DealerCards(tuple(cards))
    # More than eight cannot lie there: what is over is a mark, not a card.
    none = marks(cards, HAND_CARDS + 1)
    cards = [card for card in cards if card not in none]
    boxes = (dealer.low, dealer.high)
    far = [min(outside_mm(b, dealer.place, card.center_mm) for b in boxes) for card in cards]
    out = [k for k, mm in enumerate(far) if mm > OUTSIDE_MM]
    if len(out) != 1 or len(cards) != HAND_CARDS + 1:
        where = "in neither box" if out else "outside the boxes"
        doubt = f"{len(cards)} cards lie there, {len(out)} of them {where}: not one set aside"
        return DealerCards(tuple(cards), doubt=doubt)
    (place,) = out
    hand = tuple(card for k, card in enumerate(cards) if k != place)
    return DealerCards(hand, cards[place])


def part_dealer(table: TableFile, hands: dict[int | None, list[CardRead]]) -> DealerCards:
    """Take the card that a draw dealer set aside out of the dealer's hand in `hands`.

    It then stands there as a hand of its own, under `ASIDE`. In other games nothing is done.
    """
    game = GAMES.get(table.rules.game)
    if game is None or game.dealer_cards == HAND_CARDS:
        return DealerCards(tuple(hands[None]))
    parted = set_aside(hands[None], table.dealer)
    if parted.aside is not None:
        hands[None] = list(parted.hand)
        hands[ASIDE] = [parted.aside]
    return parted


def aside_name(parted: DealerCards, decided: Mapping[int, Decided]) -> str | None:
    """The name of the card set aside; None without one or where the reading is uncertain."""
    card = parted.aside
    if card is None:
        return None
    name = decided.get(id(card), Decided(card.label, card.share))
    return name.label if name.why is None and name.share >= SURE_CARD else None


def outside_mm(box: Polygon, place: Place, at_mm: tuple[float, float]) -> float:
    """How far a point of a view lies outside a box, mm of the view's frame; 0 inside it."""
    local = place.to_local(box.array)
    low, high = local.min(axis=0), local.max(axis=0)
    return float(np.hypot(*np.maximum(0.0, np.maximum(low - at_mm, at_mm - high))))
