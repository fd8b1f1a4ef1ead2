"""Hands that surely lack a card: six are read, and there is no place where a seventh could lie."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vision.cards.deck_assignment import HAND_CARDS, SURE
from vision.cards.view import CardRead, ViewIndex, fuse_indices, join_cards
from vision.geometry.table import CARD_MM, Point, SeatPlace
from vision.rounds.region_change import as_picture, card_share
from vision.rounds.round_state import ViewTrack

AROUND_MM = 20.0
"""Cards of a hand lie no farther outside of its boxes."""

GROW_MM = 6.0
"""About each card that is read: its shadow, and what its turn adds."""

ROW_MM = CARD_MM[1] / 2
"""Cards whose middles differ by less along the view's v are in one row."""

CARD_SHARE = 0.0135
"""Most of the hand's area, without the cards read, that could be another card's: 1,305 whole hands
of 71 tune films ("feltwatch judge 2026-11-26 ways", "... 2026-11-27 ways" and others), each card
left out in turn."""

PITCH = 1.2
"""The widest step of a row by its usual one, by the middles of its cards or by the corners that
they show, for a card on top may lie turned. Of 4,011 hands of 32 tune films ("feltwatch judge
2026-11-29 m ways" and "n ways") with one card left out 7 pass this and `CARD_SHARE`, as six of six
that lack a card do (the middles alone, with 1.3: 6 and five)."""


def lacks_a_card(track: ViewTrack, cards: Sequence[CardRead], seat: SeatPlace) -> bool:
    """Whether the hand of a seat is of the six `cards` that are read, by the first rest with it.

    False where that is not sure: without an image of the bare felt, for instance.
    """
    read = [card for card in cards if card.indices]
    if len(read) != HAND_CARDS - 1 or min(card.share for card in read) < SURE:
        return False
    rest = next((e for e in track.hand_episodes() if e.picture), None)
    felt, now = as_picture(track.bare), None if rest is None else as_picture(rest.picture)
    if rest is None or rest.backs or felt is None or now is None:
        return False
    indices = fuse_indices([r.indices for r in rest.images])
    shown = join_cards(indices)
    if {c.label for c in shown} != {c.label for c in read} or len(shown) != len(read):
        return False
    corners = np.vstack([seat.place.to_local(box.array) for box in (seat.low, seat.high)])
    area = (*(corners.min(axis=0) - AROUND_MM), *(corners.max(axis=0) + AROUND_MM))
    half = np.array(CARD_MM) / 2 + GROW_MM
    boxes = [(*(own.card - half), *(own.card + half)) for own in indices]
    step = min(widest_step(rows_of_middles(shown)), widest_step(rows_of_corners(indices)))
    return step <= PITCH and card_share(felt, now, area, boxes) <= CARD_SHARE


def rows_of_middles(cards: Sequence[CardRead]) -> list[list[float]]:
    """Where the cards of each row lie along the view's u, mm."""
    return [[u for u, _ in row] for row in _rows([card.center_mm for card in cards])]


def rows_of_corners(indices: Sequence[ViewIndex]) -> list[list[float]]:
    """Where the upper or the lower corners of each row lie, mm: those that show most cards."""
    out = []
    for row in _rows([(float(own.card[0]), float(own.card[1])) for own in indices]):
        own = [i for i in indices if (float(i.card[0]), float(i.card[1])) in row]
        ends = [
            [float(i.center[0]) for i in own if (90 < i.turn_deg % 360 < 270) is lower]
            for lower in (False, True)
        ]
        out.append(max(ends, key=len))
    return out


def _rows(middles: Sequence[Point]) -> list[list[Point]]:
    rows: list[list[Point]] = []
    for at in middles:
        own = next((row for row in rows if abs(row[0][1] - at[1]) < ROW_MM), None)
        if own is None:
            rows.append([at])
        else:
            own.append(at)
    return rows


def widest_step(rows: Sequence[Sequence[float]]) -> float:
    """The widest step between neighbours of a row by that row's usual one, 1 at least."""
    steps = [np.diff(sorted(row)) for row in rows if len(row) > 2]
    usual = [np.median(own) if len(own) > 2 else own.min() for own in steps]
    return max([1.0, *(float(s.max() / max(u, 1e-9)) for s, u in zip(steps, usual, strict=True))])
