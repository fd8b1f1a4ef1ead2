"""The one card of a hand of which no index was read: what its faintest finds may be.

Where a hand shows six cards, whatever the detector finds in its view with next to no score is read
too. Alone that makes no card: pips and figures read as jokers. But a card does lie there, and where
the names that the round leaves over are few it decides (`vision.cards.deck_assignment`). A joker's
mark is any artist's, so a card that reads as nothing is likelier the joker than one of the 52.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from settlement.record import DECK_LABELS, JOKER
from vision.cards.deck_assignment import HAND_CARDS, SURE
from vision.cards.view import (
    CROP_SCALES,
    INDEX_MARGIN,
    JOKER_PLACE,
    NONE_PLACE,
    CardRead,
    ViewIndex,
    crops_of,
    join_cards,
    read_index,
)
from vision.detect.detections import ByteArray, Detections, Floats, Reader
from vision.detect.tiling import SizedDetector
from vision.geometry.calibration import Calibration, view_to_felt
from vision.geometry.table import CARD_MM, VIEW_MM, Place

LEAST_SCORE = 0.004
"""Least score, before calibration, of a find that is read."""

MOST_FINDS = 60
FEWEST_SURE = 4
"""A view with fewer sure cards is not looked at again: it shows no hand that lacks one card."""

KNOWN_MM = 6.0
"""A find so near to an index that is read with `SURE` is that index."""

READ_SHARE = 0.5
"""What is read with less is no card of the six: it may be the seventh."""

REACH_MM = (CARD_MM[0] / 2 + 22.0, CARD_MM[1] / 2 - 4.0)
"""An unseen mark lies so far from the middle of a card that is read: on it, or one pitch aside."""

LEAST_THING = 0.25
"""Least score of chips or a lammer that may hide a mark, as of faint chips in `view_reader`."""

POWER, BY_CHANCE, JOKERS_MARK = 1.5, 0.0003, 0.05
"""How much a reading of a faint find counts, and what a card and a joker have without any."""

LEAST_READ = 1e-4
MARKS = 3
"""So many of the likeliest marks of a joker are kept."""


@dataclass(frozen=True, slots=True)
class FaintFinds:
    """What the faintest finds of a hand that lacks a card read as.

    `shares` (53,), each 0 to 1: what the card reads as where it is likeliest that one. `marks` are
    the likeliest marks of a joker, the likeliest first.
    """

    shares: Floats
    marks: tuple[ViewIndex, ...] = ()


def faint_finds(
    frame: ByteArray,
    calibration: Calibration,
    place: Place,
    view: ByteArray,
    indices: Sequence[ViewIndex],
    detector: SizedDetector,
    reader: Reader,
    moment: int = 0,
) -> FaintFinds | None:
    """The faintest finds of a hand with an unread card, read.

    None where the view, uint8 (size, size, 3), shows no hand, or one of which all cards are sure,
    or where chips lie on its cards: what they hide reads as nothing, which is no joker.
    `moment` counts the readings of one rest.
    """
    if not FEWEST_SURE <= sum(card.share >= SURE for card in join_cards(indices)) < HAND_CARDS:
        return None
    every = detector.find([view], least=LEAST_SCORE)[0]
    if _may_hide(every, indices, view.shape[1]):
        return None
    found = every.of("index", "joker")
    middles = (found.xyxy[:, :2] + found.xyxy[:, 2:]) / 2
    known = [own.center for own in indices if own.share >= SURE]
    mm = VIEW_MM / view.shape[1]
    new = [
        n
        for n in np.argsort(-found.scores)
        if all(math.dist(middles[n] * mm - VIEW_MM / 2, at) >= KNOWN_MM for at in known)
    ][:MOST_FINDS]
    if not new:
        return FaintFinds(np.zeros(len(DECK_LABELS), np.float32))
    crops_at = crops_of(frame, calibration, view_to_felt(place, view.shape[1]))
    margin = INDEX_MARGIN * CROP_SCALES[moment % len(CROP_SCALES)]
    crops = []
    for n in new:
        x0, y0, x1, y1 = (float(v) for v in found.xyxy[n])
        side = margin * max(x1 - x0, y1 - y0)
        crops.append(crops_at(middles[n], [(0.0, side), (180.0, side)]))
    read = reader.read(np.concatenate(crops))[:, :NONE_PLACE]
    jokers = read[:, JOKER_PLACE].reshape(-1, 2)
    marks = []
    for k in np.argsort(-jokers.max(axis=1), kind="stable")[:MARKS]:
        turned = int(jokers[k].argmax())
        shares = read[2 * k + turned].astype(np.float32)
        marks.append(read_index(found, new[k], shares, 180.0 * turned, mm))
    return FaintFinds(read.max(axis=0).astype(np.float32), tuple(marks))


def _may_hide(found: Detections, indices: Sequence[ViewIndex], view_px: int) -> bool:
    """Whether chips or a lammer lie on the cards of a hand, or where its next card may be."""
    mm, reach = VIEW_MM / view_px, np.array(REACH_MM)
    things = [
        found.xyxy[k] * mm - VIEW_MM / 2 for k in range(len(found))
        if found.scores[k] >= LEAST_THING and found.name(k).startswith(("chip", "lammer"))
    ]  # fmt: skip
    return any(
        bool(np.all((box[:2] < own.card + reach) & (box[2:] > own.card - reach)))
        for own in indices for box in things
    )  # fmt: skip


def lacks_one(cards: Sequence[CardRead]) -> bool:
    """Whether the cards of a hand are six that are read, with or without one that is not."""
    return sum(card.share >= READ_SHARE for card in cards) == HAND_CARDS - 1


def with_unread_card(cards: Sequence[CardRead], seen: Sequence[Floats | None]) -> list[CardRead]:
    """The cards of a hand, with its unread one by the readings (53,) of its faintest finds.

    That card has no index, and stands in place of any that is read with less than `READ_SHARE`.
    """
    read = [own for own in seen if own is not None]
    if not read or not lacks_one(cards):
        return list(cards)
    logs = np.mean([np.log(np.clip(own, LEAST_READ, 1.0)) for own in read], axis=0)
    shares = np.exp(POWER * logs) + BY_CHANCE
    shares[DECK_LABELS.index(JOKER)] += JOKERS_MARK - BY_CHANCE
    shares /= shares.sum()
    place = int(shares.argmax())
    # Where it lies is not known: a hand's other cards say in which box one is missing.
    card = CardRead(
        DECK_LABELS[place], float(shares[place]), (math.nan, math.nan), 0,
        shares.astype(np.float32),
    )  # fmt: skip
    return [*(own for own in cards if own.share >= READ_SHARE), card]
