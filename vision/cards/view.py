"""Reading the cards of one view: indices to physical cards in the low and the high box."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from settlement.record import DECK_LABELS, JOKER
from vision.detect.detections import ByteArray, Detections, Floats, Reader
from vision.geometry.calibration import Calibration, view_to_felt
from vision.geometry.table import CARD_MM, VIEW_MM, FloatArray, Place, Polygon

INDEX_PX = 64
INDEX_MARGIN = 1.3
"""As the reader was trained: the crop's side over the index's longer side."""

SAME_INDEX_MM = 7.0
SAME_CARD_MM = 14.0
"""How near the card centres told by two indices must lie to be one card's."""

INDEX_INSET_MM = (6.0, 12.0)
"""Where an index's middle usually lies from its card's corner; decks differ by some mm."""

JOKER_PLACE = DECK_LABELS.index(JOKER)
NONE_LIMIT = 0.6
LEAST_SHARE = 0.2
"""What reads as none with more, or as the likeliest card with less, is no index."""


@dataclass(frozen=True, slots=True)
class ReadIndex:
    """One index in one picture.

    `center_mm` and `card_mm` (u, v) are the index's and its card's middle in the view's own
    frame, `shares` float32 (53,) over DECK_LABELS, `score` the detector's.
    """

    center_mm: FloatArray
    card_mm: FloatArray
    turned: bool
    shares: Floats
    score: float
    xyxy: tuple[float, float, float, float]

    @property
    def label(self) -> str:
        """The likeliest card."""
        return DECK_LABELS[int(self.shares.argmax())]


@dataclass(frozen=True, slots=True)
class CardRead:
    """One physical card: its label, how sure (share), and its middle in the view's frame."""

    label: str
    share: float
    center_mm: tuple[float, float]
    indices: int


def see_indices(
    frame: ByteArray,
    calibration: Calibration,
    place: Place,
    found: Detections,
    view_px: int,
    reader: Reader,
) -> list[ReadIndex]:
    """Read every found index from the full-resolution frame, both ways up."""
    own = found.of("index", "joker")
    if not len(own):
        return []
    felt = view_to_felt(place, view_px)
    mm = VIEW_MM / view_px
    crops = []
    for xyxy in own.xyxy:
        center = (xyxy[:2] + xyxy[2:]) / 2
        side = INDEX_MARGIN * float(max(xyxy[2] - xyxy[0], xyxy[3] - xyxy[1]))
        k = side / INDEX_PX
        for sign in (1.0, -1.0):
            half = (INDEX_PX - 1) / 2 * k * sign
            patch = np.array(
                [[k * sign, 0, center[0] - half], [0, k * sign, center[1] - half], [0, 0, 1.0]]
            )
            crops.append(calibration.warp_patch(frame, felt @ patch, (INDEX_PX, INDEX_PX)))
    shares = reader.read(np.stack(crops)).reshape(len(own), 2, -1)
    out = []
    for item in range(len(own)):
        x0, y0, x1, y1 = (float(v) for v in own.xyxy[item])
        center = np.array([(x0 + x1) / 2, (y0 + y1) / 2]) * mm - VIEW_MM / 2
        best = shares[item, :, :53].max(axis=1)
        turned = bool(best[1] > best[0])
        as_joker = own.name(item) == "joker"
        share = told_shares(shares[item, int(turned)], as_joker, float(own.scores[item]))
        if share is None:
            continue
        joker = as_joker
        half = CARD_MM[1] / 2 - (
            INDEX_INSET_MM[1] if not joker else min(24.0, (y1 - y0) * mm / 2 + 3)
        )
        off = np.array([CARD_MM[0] / 2 - INDEX_INSET_MM[0], half])
        if joker and best.max() < 0.5:
            # A word down the edge reads the same both ways: its card lies towards the middle.
            turned = False
        card = center + (-off if turned else off)
        out.append(
            ReadIndex(center, card, turned, share, float(own.scores[item]), (x0, y0, x1, y1))
        )
    return out


def told_shares(read: Floats, as_joker: bool, score: float) -> Floats | None:
    """Shares (53,) of the cards from what an index reads as, (54,), and what it was found as.

    A joker's word differs from deck to deck: the finder, with `score`, tells it, and the
    reader may only confirm it. None where there is no index: a letter of the felt's print
    reads as no card more than another.
    """
    if not as_joker:
        nothing = read[53] > NONE_LIMIT or float(read[:53].max()) < LEAST_SHARE
        return None if nothing else read[:53].copy()
    share = read[:53] * 0.3
    share[JOKER_PLACE] = max(float(share[JOKER_PLACE]), 0.55 + 0.45 * score)
    return share


def fuse_indices(readings: Sequence[Sequence[ReadIndex]]) -> list[ReadIndex]:
    """Indices seen in several pictures of the same resting cards, as one list.

    Shares are joined by their mean logarithm; an index must be seen in at least a third of
    the pictures.
    """
    groups: list[list[ReadIndex]] = []
    for reading in readings:
        for observation in reading:
            near = [
                g
                for g in groups
                if math.dist(g[0].center_mm, observation.center_mm) < SAME_INDEX_MM
            ]
            if near:
                near[0].append(observation)
            else:
                groups.append([observation])
    least = len(readings) / 3
    out = []
    for group in groups:
        if len(group) < least:
            continue
        logs = np.mean([np.log(np.clip(s.shares, 1e-4, 1)) for s in group], axis=0)
        shares = np.exp(logs)
        total = max(1.0, float(shares.sum()))
        base = max(group, key=lambda s: float(s.shares.max()))
        mean = np.mean([s.center_mm for s in group], axis=0)
        out.append(
            ReadIndex(
                mean, base.card_mm, base.turned, (shares / total).astype(np.float32),
                float(np.mean([s.score for s in group])), base.xyxy,
            )
        )  # fmt: skip
    return out


def join_cards(observations: Sequence[ReadIndex]) -> list[CardRead]:
    """Indices to cards: the two corners of one card are one card."""
    order = sorted(observations, key=lambda s: -float(s.shares.max()))
    groups: list[list[ReadIndex]] = []
    for observation in order:
        home = None
        for group in groups:
            first = group[0]
            apart = math.dist(first.card_mm, observation.card_mm)
            if first.label == observation.label and (
                apart < 2.5 * SAME_CARD_MM or (first.turned != observation.turned and apart < 45)
            ):
                home = group
                break
            if first.turned != observation.turned and apart < SAME_CARD_MM * 0.6:
                home = group
                break
        if home is None:
            groups.append([observation])
        else:
            home.append(observation)
    cards = []
    for group in groups:
        best = group[0]
        logs = np.sum([np.log(np.clip(s.shares, 1e-4, 1)) for s in group], axis=0)
        shares = np.exp(logs - logs.max())
        shares /= shares.sum()
        agreed = all(s.label == best.label for s in group)
        place = int(shares.argmax())
        # Corners that disagree are weighed together, and never make a card quite sure.
        share = float(best.shares[place]) if agreed else min(float(shares[place]), 0.92)
        middle = np.mean([s.card_mm for s in group], axis=0)
        cards.append(
            CardRead(DECK_LABELS[place], share, (float(middle[0]), float(middle[1])), len(group))
        )
    return cards


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
