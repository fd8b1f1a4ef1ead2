"""Reading the cards of one view: indices to physical cards in the low and the high box."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import combinations

import numpy as np

from settlement.record import DECK_LABELS, JOKER
from vision.cards.corners import as_they_lie, hide_each_other, way_between
from vision.cards.grouping import parted_by_label
from vision.cards.outline import CardSize, ReadIndex, covers, outline, turn_between
from vision.cards.rotation import (
    ASPECTS,
    CropsAt,
    Reading,
    index_height,
    read_at_any_turn,
)
from vision.cards.table_deck import DeckReader
from vision.detect.detections import ByteArray, Detections, Floats, Reader
from vision.geometry.calibration import Calibration, view_to_felt
from vision.geometry.table import CARD_MM, VIEW_MM, FloatArray, Place, Polygon
from vision.geometry.turned import axes

INDEX_PX = 64
INDEX_MARGIN = 1.3
"""As the reader was trained: the crop's side over the index's longer side."""

SAME_INDEX_MM = 7.0
LEAST_SEEN = 1 / 3
"""In this share of the images of a rest, or more, an index is seen."""

SAME_CARD_MM = 8.4
"""How near the card centres found from two indices of other names lie that are one card's, or how
near the one lies to where the two ends of another card in view say."""

KEPT = 512
"""How many sets of indices stay joined and fused: a round asks for the cards of its rests often.
What is given back is the same each time: nobody may write into its arrays."""

COVERED = 0.3
"""How deep inside another card, over the height of an index, an index is hidden by it."""

MOST_OF_DISAGREED = 0.92
"""Most probability of a card whose two corners read as different cards."""

CARD_SIZE = CardSize(*CARD_MM, absolute=True)

INDEX_MM = 17.0
"""Height of a usual index."""

SURE_UPRIGHT = 0.9
"""What reads as a card with less, at the view's own turn, is read at other turns too."""

SURE_TURNED = 0.9
LEAST_TURN_DEG = 20.0
"""Least probability of a card read at another turn, and its least turn from upright.

Tune set: 663 finds in views of five unknown decks (`models/faces/split.json`). Of 103 indices of
cards that were unsure upright, 48 lie so and are read with that share; all are right, none of
38 finds of other things is.
"""

CROP_SCALES = (1.0, 0.87, 1.15)
"""Size of the crops at successive moments: what is read so at one alone is no sure reading."""

INDEX_INSET_MM = (6.0, 12.0)
"""Where an index's middle usually lies from its card's corner; decks differ by some mm."""

JOKER_PLACE, NONE_PLACE = DECK_LABELS.index(JOKER), len(DECK_LABELS)
JOKER_ODDS = 5.0
"""How many times likelier a joker is where the detector found one."""

UNSURE_WORD = 0.5
"""A joker's word that reads as a card with less says nothing of which way up it is."""

NONE_LIMIT = 0.6
LEAST_SHARE = 0.2
"""What reads as none with more, or as the likeliest card with less, is no index."""


@dataclass(frozen=True, eq=False)
class ViewIndex(ReadIndex):
    """An index in a view, where the size of a card is known.

    `card` (2,) mm is the middle of its card. `moments`: what it read as in each image, with the
    probability, where it was fused from several. `matched`: it matches the table's own joker.
    """

    card: FloatArray = field(kw_only=True)
    moments: tuple[tuple[str, float], ...] = ()
    matched: bool = False


NEAR_MM = 3.0
"""A mark this near to a card may be that card's."""


@dataclass(frozen=True, slots=True)
class CardRead:
    """One physical card: its label, how sure (share), and its middle in the view's frame.

    `shares` (53,) are of all cards, `moments` what its indices read as, image by image.
    `matched`: a mark of it matches that of the table's own joker. `apart`: none of its indices
    lies on another card that was read.
    """

    label: str
    share: float
    center_mm: tuple[float, float]
    indices: int
    shares: Floats | None = None
    moments: tuple[tuple[str, float], ...] = ()
    matched: bool = False
    apart: bool = False


@dataclass(frozen=True, slots=True)
class SeenIndices:
    """The indices of a view, and what they read as by the reader alone.

    `plain` is None where the reader knows no samples of the deck, for both are the same then.
    """

    indices: tuple[ViewIndex, ...] = ()
    plain: tuple[ViewIndex, ...] | None = None


def see_indices(
    frame: ByteArray,
    calibration: Calibration,
    place: Place,
    found: Detections,
    view_px: int,
    reader: Reader,
    moment: int = 0,
) -> SeenIndices:
    """Read every found index from the full-resolution frame, both ways up.

    One that is no sure card either way up is read at every turn, with the samples of the deck where
    there are any. `moment` counts the readings of one rest: each is made at another size of
    `CROP_SCALES`.
    """
    own = found.of("index", "joker")
    if not len(own):
        return SeenIndices(plain=() if isinstance(reader, DeckReader) else None)
    crops_at = crops_of(frame, calibration, view_to_felt(place, view_px))
    margin = INDEX_MARGIN * CROP_SCALES[moment % len(CROP_SCALES)]
    crops = []
    for xyxy in own.xyxy:
        side = margin * float(max(xyxy[2] - xyxy[0], xyxy[3] - xyxy[1]))
        crops.append(crops_at((xyxy[:2] + xyxy[2:]) / 2, [(0.0, side), (180.0, side)]))
    mm = VIEW_MM / view_px
    if isinstance(reader, DeckReader):
        given, by_reader = reader.read_both(np.concatenate(crops))
        plain = tuple(_indices(own, _one_way_up(own, by_reader), mm))
    else:
        given, plain = reader.read(np.concatenate(crops)), None
    read = _one_way_up(own, given)
    for item, reading in _turned_indices(own, [upright for upright, _ in read], crops_at, reader):
        read[item] = (reading.shares, reading.turn_deg)
    return SeenIndices(tuple(_indices(own, read, mm)), plain)


def _one_way_up(own: Detections, shares: Floats) -> list[tuple[Floats | None, float]]:
    """Which card each find is, (53,) or None, and its turn: 0 or 180 degrees, as it reads better.

    `shares` (2 n, 54) are of both ways up, in turn.
    """
    read: list[tuple[Floats | None, float]] = []
    for item, both in enumerate(shares.reshape(len(own), 2, -1)):
        best = both[:, :NONE_PLACE].max(axis=1)
        turned = bool(best[1] > best[0])
        upright = card_shares(both[int(turned)], own.name(item) == "joker")
        if own.name(item) == "joker" and best.max() < UNSURE_WORD:
            # A word down the edge reads the same both ways: its card lies towards the middle.
            turned = False
        read.append((upright, 180.0 if turned else 0.0))
    return read


def _indices(
    own: Detections, read: Sequence[tuple[Floats | None, float]], mm: float
) -> Iterator[ViewIndex]:
    """Those of the finds that are indices."""
    for item, (shares, turn) in enumerate(read):
        if shares is not None:
            yield read_index(own, item, shares, turn, mm)


def crops_of(frame: ByteArray, calibration: Calibration, felt: FloatArray) -> CropsAt:
    """Crops about points of a view, cut from the frame; `felt` (3, 3): from view to felt."""

    def crops_at(center: FloatArray, squares: Sequence[tuple[float, float]]) -> ByteArray:
        patches = []
        for turn, side in squares:
            right, down = (axis * side / INDEX_PX for axis in axes(turn))
            patch = np.eye(3)
            patch[:2] = np.column_stack([right, down, center - (right + down) * (INDEX_PX - 1) / 2])
            patches.append(calibration.warp_patch(frame, felt @ patch, (INDEX_PX, INDEX_PX)))
        return np.stack(patches)

    return crops_at


def _turned_indices(
    own: Detections, upright: Sequence[Floats | None], crops_at: CropsAt, reader: Reader
) -> list[tuple[int, Reading]]:
    """Which finds, no sure cards upright, are sure cards at another turn, and how they read."""
    unsure = [n for n, one in enumerate(upright) if one is None or float(one.max()) < SURE_UPRIGHT]
    aspects = [ASPECTS[own.name(n)] for n in unsure]
    readings = read_at_any_turn(crops_at, own.xyxy[unsure], aspects, reader)
    return [
        (n, reading)
        for n, reading in zip(unsure, readings, strict=True)
        if reading.share >= SURE_TURNED
        and LEAST_TURN_DEG <= turn_between(reading.turn_deg, 0.0) <= 180.0 - LEAST_TURN_DEG
    ]


def read_index(own: Detections, item: int, shares: Floats, turn_deg: float, mm: float) -> ViewIndex:
    """The index of a find, with the middle of its card; `mm` is the size of a pixel."""
    x0, y0, x1, y1 = (float(v) for v in own.xyxy[item])
    center = np.array([(x0 + x1) / 2, (y0 + y1) / 2]) * mm - VIEW_MM / 2
    joker = own.name(item) == "joker"
    aspect = ASPECTS[own.name(item)]
    height = index_height(own.xyxy[item], turn_deg, aspect) if turn_deg % 180.0 else y1 - y0
    inset = min(24.0, height * mm / 2 + 3) if joker else INDEX_INSET_MM[1]
    right, down = axes(turn_deg)
    card = center + right * (CARD_MM[0] / 2 - INDEX_INSET_MM[0]) + down * (CARD_MM[1] / 2 - inset)
    return ViewIndex(
        center, turn_deg, height * mm, shares, float(own.scores[item]), (x0, y0, x1, y1), card=card
    )


def card_shares(read: Floats, as_joker: bool) -> Floats | None:
    """Probabilities (53,) of the cards from what an index reads as, (54,), and its class.

    What is found as a joker is likelier one, but the reader may say that it is another card or
    none. None where there is no index: a letter of the felt's print reads as no card more than
    another.
    """
    shares = read.astype(np.float32)
    if as_joker:
        shares[JOKER_PLACE] *= JOKER_ODDS
        shares /= max(float(shares.sum()), 1e-6)
    nothing = shares[NONE_PLACE] > NONE_LIMIT or float(shares[:NONE_PLACE].max()) < LEAST_SHARE
    return None if nothing else shares[:NONE_PLACE].copy()


def fuse_indices(readings: Sequence[Sequence[ViewIndex]]) -> list[ViewIndex]:
    """Indices seen in several images of the same resting cards, as one list.

    Shares are joined by their mean logarithm; what is seen in less than `LEAST_SEEN` of the
    images is left out.
    """
    return list(_fused(tuple(tuple(reading) for reading in readings)))


@lru_cache(maxsize=KEPT)
def _fused(readings: tuple[tuple[ViewIndex, ...], ...]) -> tuple[ViewIndex, ...]:
    groups: list[list[ViewIndex]] = []
    for reading in readings:
        for observation in reading:
            near = [g for g in groups if math.dist(g[0].center, observation.center) < SAME_INDEX_MM]
            if near:
                near[0].append(observation)
            else:
                groups.append([observation])
    least = len(readings) * LEAST_SEEN
    out = []
    for group in groups:
        if len(group) < least:
            continue
        logs = np.mean([np.log(np.clip(s.shares, 1e-4, 1)) for s in group], axis=0)
        shares = np.exp(logs)
        total = max(1.0, float(shares.sum()))
        base = max(group, key=lambda s: s.share)
        mean = np.mean([s.center for s in group], axis=0)
        out.append(
            ViewIndex(
                mean, base.turn_deg, base.height, (shares / total).astype(np.float32),
                float(np.mean([s.score for s in group])), base.xyxy, card=base.card,
                moments=tuple((s.label, s.share) for s in group),
                matched=any(s.matched for s in group),
            )
        )  # fmt: skip
    return tuple(out)


def join_cards(observations: Sequence[ViewIndex]) -> list[CardRead]:
    """Indices to cards: the corners of one card are one card.

    As on photographs (`vision.cards.grouping`), but that a card's size is known and what is not
    sure stays, with its probability. Two cards would not show corners that they hide of each other
    (`vision.cards.corners`).
    """
    return list(_joined(tuple(observations)))


@lru_cache(maxsize=KEPT)
def _joined(observations: tuple[ViewIndex, ...]) -> tuple[CardRead, ...]:
    groups = [list(g) for g in parted_by_label(observations, CARD_SIZE)]
    groups.sort(key=lambda g: -observations[g[0]].share)
    turned = as_they_lie(observations, groups)
    ways = [
        way_between(observations[a], observations[b])
        for group in groups for a, b in combinations(group, 2)
        if observations[a].label != JOKER
        and min(observations[a].share, observations[b].share) >= SURE_UPRIGHT
    ]  # fmt: skip

    def is_home(own: Sequence[int], group: Sequence[int]) -> bool:
        if _one_card(observations, own, group, ways):
            return True
        one, other = ([turned[n] for n in places] for places in (own, group))
        return hide_each_other(one, other, CARD_SIZE, SAME_CARD_MM)

    cards: list[list[int]] = []
    for group in groups:
        home = next((own for own in cards if is_home(own, group)), None)
        if home is None:
            cards.append(group)
        else:
            home += group
    joined = [[observations[n] for n in own] for own in cards]
    outlines = [outline(own, CARD_SIZE) for own in joined]
    return tuple(
        replace(
            _card(own),
            apart=not any(
                covers(outlines[k], index.center, -NEAR_MM)
                for k, other in enumerate(joined) if other is not own
                for index in own
            ),
        )
        for own in joined
    )  # fmt: skip


def _one_card(
    observations: Sequence[ViewIndex], one: Sequence[int], other: Sequence[int],
    ways: Sequence[FloatArray],
) -> bool:  # fmt: skip
    """Whether lone indices of two names lie as the two ends of one card do.

    `ways` (2,) lead from one index to another of the cards that are read alike at two corners: the
    cards may be narrower than usual, or lie askew.

    They are those of two cards where a card that lies over the one would hide either of them: a
    joker's word in the lower left corner lies as if it were in the lower right one of another card.
    """
    if len(one) > 1 or len(other) > 1:
        return False
    a, b = observations[one[0]], observations[other[0]]
    opposite = turn_between(a.turn_deg, b.turn_deg) > 90.0
    off = [math.dist(a.card, b.card), *(math.dist(way, way_between(a, b)) for way in ways)]
    if not opposite or min(off) >= SAME_CARD_MM:
        return False
    corners = outline([a, b], CARD_SIZE)
    above = [
        outline([index], CARD_SIZE)
        for index in observations
        if index is not a and index is not b and index.label != JOKER
        and index.share >= SURE_UPRIGHT and covers(corners, index.center, COVERED * index.height)
    ]  # fmt: skip
    return not any(
        covers(card, end.center, COVERED * end.height) for card in above for end in (a, b)
    )


def _card(group: Sequence[ViewIndex]) -> CardRead:
    """The card of indices, surest first; where they disagree they are weighed together."""
    best = group[0]
    shares = np.exp(np.mean([np.log(np.clip(s.shares, 1e-5, 1)) for s in group], axis=0))
    agreed = all(s.label == best.label for s in group)
    if not agreed:
        logs = np.sum([np.log(np.clip(s.shares, 1e-4, 1)) for s in group], axis=0)
        shares = np.exp(logs - logs.max())
    shares = shares / max(1.0 if agreed else 0.0, float(shares.sum()))
    place = int(shares.argmax())
    # Corners that disagree are weighed together, and never make a card quite sure.
    share = float(best.shares[place]) if agreed else min(float(shares[place]), MOST_OF_DISAGREED)
    middle = np.mean([s.card for s in group], axis=0)
    if any(turn_between(s.turn_deg, other.turn_deg) < 90.0 for s, other in combinations(group, 2)):
        # With indices in all corners, each alone gives the middle as if it were the upper left.
        middle = outline(group, CARD_SIZE).mean(axis=0)
    moments = tuple(moment for s in group for moment in s.moments)
    return CardRead(
        DECK_LABELS[place], share, (float(middle[0]), float(middle[1])), len(group),
        shares.astype(np.float32), moments, any(s.matched for s in group),
    )  # fmt: skip


def _depth(box: Polygon, place: Place) -> tuple[float, float]:
    local = place.to_local(box.array)
    return float(local[:, 1].min()), float(local[:, 1].max())


def split_hands(
    cards: Sequence[CardRead], low: Polygon, high: Polygon, place: Place
) -> tuple[list[CardRead], list[CardRead]]:
    """Cards of the low and of the high box; each goes to the box whose middle is nearer."""
    a, b = _depth(low, place), _depth(high, place)
    middle_low, middle_high = sum(a) / 2, sum(b) / 2
    in_low = [
        c for c in cards if abs(c.center_mm[1] - middle_low) <= abs(c.center_mm[1] - middle_high)
    ]
    in_high = [c for c in cards if c not in in_low]
    return in_low, in_high


def backs_seen(found: Detections) -> int:
    """How many card backs were found."""
    return len(found.of("back"))
