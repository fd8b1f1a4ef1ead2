"""Cards that changed hand, seat or face after hands were set.

Hands are spread in a row, taken up and laid again until they are set. What counts is only what
lies between two rests that both show a whole hand with confidence; everything else is skipped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType

import numpy as np

from settlement.record import CardMove
from vision.cards.back_look import colours_of_backs, looks_like_back
from vision.cards.view import CardRead, fuse_indices, join_cards, split_hands
from vision.geometry.table import VIEW_MM, DealerPlace, SeatPlace
from vision.rounds.procedure.eighth_card import set_aside
from vision.rounds.region_change import as_picture
from vision.rounds.round_state import FACE_UP_CARDS, Episode
from vision.rounds.view_reader import ViewReading

SURE_CARD = 0.9
"""Least probability of every card of a hand that is reported as changed."""

SURE_READINGS = 2
"""Least readings of a rest that must show the hand so."""

LAY_MM = 15.0
"""A card that was not moved lies this near to where it lay."""

BACK_MM = 35.0
"""The middle of a back this near to a card's is that card's; neighbours hide part of it."""

IN_BOX_MM = 75.0
"""A card of a seat lies this near to one of its boxes' middles."""

FACE_UP_S = 0.5
"""How long a card must lie face up before the hand is turned up."""


@dataclass(frozen=True, slots=True)
class SeenCardMove:
    """A move of a seat's cards, None the dealer's, with the rests before and after it.

    `other` is the rest after it at the other place, where cards changed seats.
    """

    seat: int | None
    move: CardMove
    before: Episode
    after: Episode
    other: Episode | None = None


@dataclass(frozen=True, slots=True)
class SetHand:
    """A rest that shows two cards in the low box and five in the high one, all confident."""

    episode: Episode
    low: frozenset[str]
    cards: tuple[CardRead, ...]

    @property
    def labels(self) -> frozenset[str]:
        """All seven."""
        return frozenset(card.label for card in self.cards)


def set_hand(
    episode: Episode, part: SeatPlace | DealerPlace, least: int = SURE_READINGS
) -> SetHand | None:
    """The set hand that a state of rest shows in at least so many readings, or None."""
    cards = _hand(_cards(episode), part)
    low = _low_of(cards, part)
    if low is None or min(card.share for card in cards) < SURE_CARD:
        return None
    each = [_hand(join_cards(r.indices), part) for r in episode.readings]
    alike = sum(_low_of(own, part) == low for own in each)
    return SetHand(episode, low, tuple(cards)) if alike >= least else None


def _hand(cards: Sequence[CardRead], part: SeatPlace | DealerPlace) -> Sequence[CardRead]:
    """The cards of a hand, without the one that a draw dealer set aside."""
    return set_aside(cards, part).hand if isinstance(part, DealerPlace) else cards


def _low_of(cards: Sequence[CardRead], part: SeatPlace | DealerPlace) -> frozenset[str] | None:
    """The labels in the low box, of seven different cards that lie two and five."""
    if len({card.label for card in cards}) != len(cards):
        return None
    low, high = split_hands(cards, part.low, part.high, part.place)
    return frozenset(c.label for c in low) if (len(low), len(high)) == (2, 5) else None


def card_moves(
    rests: Mapping[int | None, Sequence[Episode]],
    parts: Mapping[int | None, SeatPlace | DealerPlace],
    glimpses: Mapping[int | None, Sequence[Episode]] = MappingProxyType({}),
) -> list[SeenCardMove]:
    """Every move of a round; `rests` are the states of rest by seat, None the dealer's.

    `glimpses` are what lay at each place for less than a rest.
    """
    shown = {
        seat: [set_hand(e, parts[seat]) if e.cards_up >= FACE_UP_CARDS else None for e in own]
        for seat, own in rests.items()
    }
    dealt = [e for own in rests.values() for e in own if e.backs]
    moves: list[SeenCardMove] = []
    for seat, own in rests.items():
        hands = [hand for hand in shown[seat] if hand is not None]
        moves += _between_hands(seat, hands) or _at_once(seat, own, hands, parts[seat])
        if seat is not None:
            brief = glimpses.get(seat, ())
            moves += _turned_down(seat, own, shown[seat], dealt) or _glimpsed_down(
                seat, hands, dealt, brief
            )
            moves += _turned_up(seat, own, brief, parts[seat])
    moves += _between_seats({seat: [h for h in all_ if h] for seat, all_ in shown.items()})
    return moves


def _move(
    seat: int | None, kind: str, cards: Sequence[str], before: Episode, after: Episode,
    to_seat: int | None = None,
) -> SeenCardMove:  # fmt: skip
    move = CardMove(
        kind=kind, cards=tuple(cards), to_seat=to_seat,
        before_s=f"{before.until_s:.3f}", after_s=f"{after.readings[0].at_s:.3f}",
    )  # fmt: skip
    return SeenCardMove(seat, move, before, after)


def _between_hands(seat: int | None, hands: Sequence[SetHand]) -> list[SeenCardMove]:
    """The same seven cards, with others in the low box than before."""
    return [
        _move(
            seat, "hand", (*sorted(one.low - other.low), *sorted(other.low - one.low)),
            one.episode, other.episode,
        )
        for one, other in pairwise(hands)
        if one.labels == other.labels and one.low != other.low
    ]  # fmt: skip


def _at_once(
    seat: int | None, rests: Sequence[Episode], hands: Sequence[SetHand],
    part: SeatPlace | DealerPlace,
) -> list[SeenCardMove]:  # fmt: skip
    """Cards that changed hands as soon as these were shown: set otherwise in one reading, and so
    ever since."""
    if not hands:
        return []
    before = (e for e in rests if e.start_s < hands[0].episode.start_s)
    first = next((hand for e in before if (hand := set_hand(e, part, 1)) is not None), None)
    alike = all(hand.low == hands[0].low for hand in hands)
    return _between_hands(seat, [first, hands[0]]) if first is not None and alike else []


def _between_seats(hands: Mapping[int | None, Sequence[SetHand]]) -> list[SeenCardMove]:
    """A card of each of two places lies at the other one."""
    swapped = [
        (seat, one, other)
        for seat, own in hands.items()
        for one, other in pairwise(own)
        if len(one.labels - other.labels) == 1
    ]
    observations = []
    for k, (seat, one, other) in enumerate(swapped):
        given, got = one.labels - other.labels, other.labels - one.labels
        for to, had, has in swapped[k + 1 :]:
            if to != seat and (has.labels - had.labels, had.labels - has.labels) == (given, got):
                cards = (*given, *got)
                observation = _move(seat, "seat", cards, one.episode, other.episode, to)
                observations.append(replace(observation, other=has.episode))
    return observations


def _turned_down(
    seat: int, rests: Sequence[Episode], shown: Sequence[SetHand | None], dealt: Sequence[Episode]
) -> list[SeenCardMove]:
    """A back lies where one card of a set hand lay, and the other six lie as they did.

    `dealt` are the rests of any seat that show backs. Two rests that were read once each count as
    one that was read twice.
    """
    last: SetHand | None = None
    before: CardRead | None = None
    for rest, hand in zip(rests, shown, strict=True):
        gone = None if last is None or not rest.readings else _one_gone(last, rest)
        again = before is not None and gone is not None and before.label == gone.label
        before = gone
        if last is not None and gone is not None and not _backs_at(last.episode, gone):
            # A strip of a back may also be read as a card.
            found = hand is None and _backs_at(rest, gone) >= SURE_READINGS
            sure = again or len(rest.readings) >= SURE_READINGS
            if found or (sure and _is_under_back(dealt, last, gone, rest)):
                return [_move(seat, "face_down", (gone.label,), last.episode, rest)]
        last = hand or last
    return []


def _one_gone(hand: SetHand, rest: Episode) -> CardRead | None:
    """The one card of a set hand that a later rest does not show where it lay."""
    seen = _cards(rest)
    gone = [
        card
        for card in hand.cards
        if not any(
            math.dist(card.center_mm, now.center_mm) < LAY_MM and card.label == now.label
            for now in seen
        )
    ]
    if len(gone) != 1 or any(now.label == gone[0].label for now in seen):
        return None
    return gone[0]


def _is_under_back(dealt: Sequence[Episode], hand: SetHand, card: CardRead, rest: Episode) -> bool:
    """Whether a back's colours show where the index of a card was: a strip of one may not be found
    as a back."""
    then, now = as_picture(hand.episode.picture), as_picture(rest.picture)
    if then is None or now is None:
        return False
    boxes = [own.xyxy for own in hand.episode.images[0].indices if own.label == card.label]
    backs = colours_of_backs(
        (image, one.readings[0].found.of("back").xyxy.tolist())
        for one in dealt
        if one.start_s < hand.episode.start_s
        and (image := as_picture(one.picture)) is not None
    )  # fmt: skip
    if backs is None or looks_like_back(then, boxes, backs):
        return False
    return looks_like_back(now, boxes, backs)


def _backs_at(rest: Episode, card: CardRead) -> int:
    """How many readings of a rest show a back where the card lay."""
    image = as_picture(rest.picture)
    if image is None:
        return 0
    size = image.shape[1]
    return sum(
        any(math.dist(at, card.center_mm) < BACK_MM for at in _backs(reading, size))
        for reading in rest.readings
    )


def _backs(reading: ViewReading, view_px: int) -> list[tuple[float, float]]:
    """Middles of the backs, mm of the view's frame."""
    boxes = reading.found.of("back").xyxy
    middles = (boxes[:, :2] + boxes[:, 2:]) / 2 * VIEW_MM / view_px - VIEW_MM / 2
    return [(float(u), float(v)) for u, v in middles]


def _turned_up(
    seat: int, rests: Sequence[Episode], glimpses: Sequence[Episode], part: SeatPlace | DealerPlace
) -> list[SeenCardMove]:
    """One card of a hand lies face up upon backs before the dealer turns the hand up.

    It lies on top, so both its corners are seen, and it is among those that are shown. A lone
    corner of another name is none of the hand's: a mark on a back.
    """
    shown = next((k for k, e in enumerate(rests) if e.cards_up >= FACE_UP_CARDS), None)
    if shown is None:
        return []
    names = {card.label for card in _cards(rests[shown]) if card.share >= SURE_CARD}
    boxes = [part.place.to_local(np.array([box.center_mm]))[0] for box in (part.low, part.high)]
    brief = [(e, True) for e in glimpses if e.start_s < rests[shown].start_s]
    down: Episode | None = None
    before = sorted([*((e, False) for e in rests[:shown]), *brief], key=lambda one: one[0].start_s)
    for rest, is_brief in before:
        with_backs = sum(r.backs > 0 for r in rest.readings)
        if with_backs * 2 <= len(rest.readings):
            continue
        cards = [card for card in _cards(rest) if card.indices > 1 or card.label in names]
        if not cards:
            down = rest
        elif down is not None and len(cards) == 1:
            card = cards[0]
            alike = sum(_shows(r, card.label, names) for r in rest.readings)
            if (
                card.indices > 1
                and card.share >= SURE_CARD
                and card.label in names
                and min(math.dist(card.center_mm, at) for at in boxes) < IN_BOX_MM
                and (
                    is_brief
                    or (alike >= SURE_READINGS and rest.until_s - rest.start_s >= FACE_UP_S)
                )
            ):
                return [_move(seat, "face_up", (card.label,), down, rest)]
    return []


def _cards(rest: Episode) -> list[CardRead]:
    """The cards that a rest shows face up."""
    return join_cards(fuse_indices([r.indices for r in rest.readings]))


def _glimpsed_down(
    seat: int, hands: Sequence[SetHand], dealt: Sequence[Episode], glimpses: Sequence[Episode]
) -> list[SeenCardMove]:
    """A back lay where one card of a set hand lies, for less than a rest; the others as before."""
    for glimpse in glimpses:
        last = next((h for h in reversed(hands) if h.episode.until_s < glimpse.start_s), None)
        gone = None if last is None else _one_gone(last, glimpse)
        if last is None or gone is None or _backs_at(last.episode, gone):
            continue
        if _backs_at(glimpse, gone) or _is_under_back(dealt, last, gone, glimpse):
            return [_move(seat, "face_down", (gone.label,), last.episode, glimpse)]
    return []


def _shows(reading: ViewReading, label: str, names: Set[str]) -> bool:
    """Whether a card is read so, and no other with both corners or of these names."""
    cards = [c for c in join_cards(reading.indices) if c.indices > 1 or c.label in names]
    return [card.label for card in cards] == [label]
