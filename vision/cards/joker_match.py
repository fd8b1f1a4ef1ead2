"""The table's own joker, looked for by its image: its mark is any artist's, unknown to networks.

A sample is what stands along the upper left edge of the joker, the part that a fanned hand shows.
It is compared with a seat's view by normalized cross-correlation, so that light and exposure
do not matter: the whole sample where the hands lie, at half scale and in grey, then its mark alone,
in colour and closely.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from settlement.record import DECK_LABELS, JOKER
from vision.cards.deck_assignment import HAND_CARDS, SURE
from vision.cards.rotation import upright_part
from vision.cards.view import INDEX_INSET_MM, ViewIndex, join_cards
from vision.detect.detections import ByteArray
from vision.geometry.table import CARD_MM, JOKER_PX, VIEW_MM, FloatArray, TableFile, decode_png
from vision.geometry.turned import axes

SAMPLE_MM = (1.5, 1.5, 14.5, 44.5)
"""What a sample shows of the card: left, top, right, bottom, from the card's upper left corner."""

SAMPLE_PX_PER_MM = 2.0
INK_SHARE, LEAST_INK = 0.35, 45.0
"""What differs from the paper by this share of the darkest ink, and by so many steps, is ink."""

MARK_PX, CORNER_PX, FRAME_SHARE = 40, 50, 0.15
"""A mark has so many px of ink in the uppermost rows, clear of the card's edges, where the felt may
show, and begins in the left third or ends in the sample; or else a frame or pattern holds this
share of the sample."""

MARK_MM, LEAST_MM, GAP_MM, RIM_MM = 8.0, 3.0, 5.0, 1.0
"""Least width and height of what is compared, least height of a mark's ink, the bare paper below
it, and what is kept about it."""

TURNS_DEG = (-10.0, -5.0, 0.0, 5.0, 10.0)
FINE_DEG = (-3.0, 0.0, 3.0)
FINE_SIZES = (0.95, 1.0, 1.05)
COARSE = 0.5
RIVALS = 3
"""So many of the coarse finds are looked at closely."""

APART_PX, MARK_APART_PX = 10, 4
"""How far from a coarse find the sample is looked for, and its mark from where that puts it."""

CLAIM_MM = 9.0
"""What is read as a card so near to a joker's mark is that mark."""

BY_LIKENESS, BY_WHOLE, ODDS_OFF = 51.0, 14.0, -56.0
"""Log odds of being the joker by the two likenesses. Fitted by logistic regression on best places
of 196 tune views where no card was sure, 49 of them jokers, of 14 decks (as `feltwatch bench
cards` renders them, seed 31): 47 of the jokers have 0.9 and more, none of the others over 0.5."""

MOST_TURN = 0.35
"""Sine of the most turn of a mark from which a sample is cut: the box of one turned farther
does not show how wide it is. Chosen; used so on the tune shifts of `vision.cards.joker_memory`."""

EDGE_MM, MOST_DOWN_MM = 2.0, 24.0
"""A mark begins so far from its card's left edge, or farther; and its middle is at most so far
below the upper one, as where a joker is read (`vision.cards.view`). In tune shifts (seed 7771601)
one deck's word lies across the card in boxes 45 to 49 mm wide."""

LEAST_SHARE = 0.3
"""What is less likely the joker is left as it was read."""


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """One end of a joker: uint8 (86, 26, 3) BGR, and its mark (x0, y0, x1, y1) in px of it."""

    image: ByteArray
    mark: tuple[int, int, int, int]

    @classmethod
    def of(cls, image: ByteArray) -> Sample:
        """A sample whose mark is the topmost ink that stands clear of what is below it."""
        ink = mark_ink(image)
        height, width = image.shape[:2]
        return cls(image, (0, 0, width, height) if ink is None else _mark(ink))


@dataclass(frozen=True, slots=True)
class Match:
    """Where a view shows the joker: `likeness` is the correlation of its mark, `whole` that of the
    sample, each at most 1.

    `mark` and `card` (2,) are the middles of the mark and of the card, px of the view.
    """

    likeness: float
    whole: float
    mark: FloatArray
    card: FloatArray
    turn_deg: float

    @property
    def probability(self) -> float:
        """That it is the joker, where no card is sure."""
        odds = BY_LIKENESS * self.likeness + BY_WHOLE * self.whole + ODDS_OFF
        return 1 / (1 + math.exp(-odds))

    def places_mm(self, mm: float) -> tuple[FloatArray, FloatArray]:
        """The middles of the mark and of the card in the view's frame; `mm` is a pixel's size."""
        mark, card = ((at + 0.5) * mm - VIEW_MM / 2 for at in (self.mark, self.card))
        return mark, card


def table_joker(table: TableFile) -> tuple[Sample, ...]:
    """The samples of a table's joker; none where it was not enrolled."""
    image = None if table.joker_png is None else decode_png(table.joker_png)
    return () if image is None else samples_of(image)


def with_joker(
    indices: Sequence[ViewIndex], view: ByteArray, samples: Sequence[Sample]
) -> tuple[ViewIndex, ...]:
    """The indices read in a view (size, size, 3), and the joker where one of the hand's cards is
    not read and the table's joker lies there.

    What is no sure card where the joker's marks are is the joker's mark. Where more cards are read
    than a hand has, what reads as a joker there is known to be the table's.
    """
    own = tuple(indices)
    if not samples or not own:
        return own
    mm = VIEW_MM / view.shape[1]
    cards = join_cards(own)
    sure = [card for card in cards if card.share >= SURE]
    if len(sure) >= HAND_CARDS or any(card.label == JOKER for card in sure):
        if len(cards) <= HAND_CARDS or not any(i.label == JOKER for i in own):
            return own
        best = find_joker(view, samples)[0]
        there = marks_of(best, own, mm) if best.probability >= SURE else []
        return tuple(
            replace(i, matched=True) if i.label == JOKER and any(i is one for one in there) else i
            for i in own
        )
    for match in find_joker(view, samples):
        mark, card = match.places_mm(mm)
        there = marks_of(match, own, mm)
        share = match.probability
        if share < LEAST_SHARE or any(i.share >= SURE and i.label != JOKER for i in there):
            continue
        shares = np.zeros(len(DECK_LABELS), np.float32)
        shares[DECK_LABELS.index(JOKER)] = share
        half = np.array([MARK_MM, MARK_MM]) / 2 / mm
        x0, y0, x1, y1 = (float(v) for v in (*(match.mark - half), *(match.mark + half)))
        upright = 0.0 if math.cos(math.radians(match.turn_deg)) > 0 else 180.0
        found = ViewIndex(
            mark, upright, MARK_MM, shares, match.likeness, (x0, y0, x1, y1), card=card,
            matched=True,
        )  # fmt: skip
        marks = {id(i) for i in there}
        return (*(i for i in own if id(i) not in marks), found)
    return own


def marks_of(match: Match, indices: Sequence[ViewIndex], mm: float) -> list[ViewIndex]:
    """The indices that lie where a joker has its marks; `mm` is the size of a pixel of the view."""
    mark, card = match.places_mm(mm)
    ends = (mark, 2 * card - mark)
    return [i for i in indices if min(math.dist(i.center, end) for end in ends) < CLAIM_MM]


def samples_of(image: ByteArray) -> tuple[Sample, ...]:
    """The samples (86, 26, 3) of an image that shows them side by side, as the table file does."""
    parts = np.split(image, image.shape[1] // JOKER_PX[0], axis=1)
    return tuple(Sample.of(np.ascontiguousarray(part)) for part in parts)


def cut_samples(image: ByteArray, corners: FloatArray, size_mm: tuple[float, float]) -> ByteArray:
    """Both ends of a joker side by side, (86, 52, 3); `corners` (4, 2) px of the card, clockwise
    from its upper left."""
    x0, y0 = SAMPLE_MM[:2]
    wide, high = size_mm
    card = np.array([[0, 0], [wide, 0], [wide, high], [0, high]], np.float64)
    px = ((card - (x0, y0)) * SAMPLE_PX_PER_MM - 0.5).astype(np.float32)
    ends = []
    for first in (0, 2):
        turned = np.roll(corners, -first, axis=0).astype(np.float32)
        matrix = cv2.getPerspectiveTransform(turned, px)
        ends.append(cv2.warpPerspective(image, matrix, JOKER_PX, flags=cv2.INTER_AREA))
    return np.asarray(np.hstack(ends), np.uint8)


def cut_read(view: ByteArray, index: ViewIndex) -> Sample | None:
    """A sample cut from a view (size, size, 3) where a mark of the joker was found.

    None where the mark lies sideways: its box does not show how its card lies then.
    """
    right, down = axes(index.turn_deg)
    if abs(float(right[1])) > MOST_TURN:
        return None
    scale = view.shape[1] / VIEW_MM
    x0, y0, x1, y1 = index.xyxy
    half = np.array([x1 - x0, y1 - y0]) / 2 / scale
    # What is printed across the card begins near its left edge as a usual mark does.
    inset = np.array([max(INDEX_INSET_MM[0], half[0] + EDGE_MM), min(MOST_DOWN_MM, half[1] + 3.0)])
    centre = np.array([x0 + x1 - 1, y0 + y1 - 1]) / 2
    first = np.array(SAMPLE_MM[:2]) - inset
    linear = np.column_stack([right, down]) * scale
    step = linear / SAMPLE_PX_PER_MM
    matrix = np.column_stack([step, centre + linear @ first + step @ (0.5, 0.5)])
    image = cv2.warpAffine(
        view, matrix, JOKER_PX, flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )  # fmt: skip
    low, high = ((-first + way * (half + RIM_MM)) * SAMPLE_PX_PER_MM for way in (-1, 1))
    least = round(MARK_MM * SAMPLE_PX_PER_MM)
    (left, end), (top, bottom) = (
        _widened(max(0, round(float(low[k]))), round(float(high[k])), least, JOKER_PX[k])
        for k in (0, 1)
    )
    return Sample(np.asarray(image, np.uint8), (left, top, end, bottom))


def find_joker(view: ByteArray, samples: Sequence[Sample]) -> list[Match]:
    """The likeliest places of the joker in a view (size, size, 3), the likeliest first."""
    scale = view.shape[1] / VIEW_MM
    grey = np.asarray(cv2.cvtColor(view, cv2.COLOR_BGR2GRAY), np.uint8)
    small = np.asarray(
        cv2.resize(grey, None, fx=COARSE, fy=COARSE, interpolation=cv2.INTER_AREA), np.uint8
    )
    middle, size = np.full(2, (small.shape[1] - 1) / 2), (small.shape[1], small.shape[1])
    patterns = [
        _sized(np.asarray(cv2.cvtColor(one.image, cv2.COLOR_BGR2GRAY), np.uint8), scale * COARSE)
        for one in samples
    ]
    coarse: list[tuple[float, int, float, FloatArray]] = []
    for turn in (way + off for way in (0.0, 180.0) for off in TURNS_DEG):
        part, matrix = upright_part(small, turn, middle, size)
        for n, pattern in enumerate(patterns):
            likeness, at = _best(part, pattern)
            coarse.append((likeness, n, turn, (matrix[:, :2] @ at + matrix[:, 2]) / COARSE))
    coarse.sort(key=lambda one: -one[0])
    out = [_close(view, samples[n], turn, at, scale) for _, n, turn, at in coarse[:RIVALS]]
    return sorted(out, key=lambda one: -one.probability)


def _close(view: ByteArray, own: Sample, turn_deg: float, near: FloatArray, scale: float) -> Match:
    """The joker near a place, by the sample and then by its mark."""
    tries = []
    for size in FINE_SIZES:
        pattern = _sized(own.image, scale * size)
        height, width = pattern.shape[:2]
        window = (width + 2 * APART_PX, height + 2 * APART_PX)
        for turn in (turn_deg + off for off in FINE_DEG):
            part, matrix = upright_part(view, turn, near, window)
            likeness, at = _best(part, pattern)
            tries.append((likeness, turn, size, matrix[:, :2] @ at + matrix[:, 2]))
    whole, turn, size, middle = max(tries, key=lambda one: one[0])
    scale *= size
    x0, y0, x1, y1 = own.mark
    mark = _sized(own.image[y0:y1, x0:x1], scale)
    right, down = axes(turn)
    left_mm, top_mm, right_mm, bottom_mm = SAMPLE_MM
    off = (np.array([x0 + x1, y0 + y1]) / 2 - np.array(JOKER_PX) / 2) * scale / SAMPLE_PX_PER_MM
    there = middle + right * off[0] + down * off[1]
    window = (mark.shape[1] + 2 * MARK_APART_PX, mark.shape[0] + 2 * MARK_APART_PX)
    part, matrix = upright_part(view, turn, there, window)
    likeness, at = _best(part, mark)
    across = (CARD_MM[0] - left_mm - right_mm) / 2 * scale
    along = (CARD_MM[1] - top_mm - bottom_mm) / 2 * scale
    return Match(
        likeness, whole, matrix[:, :2] @ at + matrix[:, 2], middle + right * across + down * along,
        turn % 360.0,
    )  # fmt: skip


def mark_ink(image: ByteArray) -> npt.NDArray[np.bool_] | None:
    """Which px (h, w) of a sample are ink of a mark; None where it shows bare paper."""
    pixels = image.reshape(-1, 3).astype(np.float32)
    light = pixels.sum(axis=1)
    paper = np.median(pixels[light >= np.percentile(light, 60)], axis=0)
    far = np.abs(image.astype(np.float32) - paper).max(axis=2)
    ink: npt.NDArray[np.bool_] = far > max(LEAST_INK, INK_SHARE * float(np.percentile(far, 98)))
    _, parts = cv2.connectedComponents(ink.astype(np.uint8))
    clear: npt.NDArray[np.bool_] = ink & ~np.isin(parts, np.union1d(parts[0], parts[:, 0]))
    columns = np.flatnonzero(clear[:CORNER_PX].any(axis=0))
    cut_off = len(columns) and columns[0] > JOKER_PX[0] / 3 and columns[-1] == JOKER_PX[0] - 1
    if int(clear[:CORNER_PX].sum()) >= MARK_PX:
        return None if cut_off else clear
    return ink if float(ink.mean()) >= FRAME_SHARE else None


def _mark(ink: npt.NDArray[np.bool_]) -> tuple[int, int, int, int]:
    """The part that holds the topmost ink, down to bare paper below it."""
    height, width = ink.shape
    rows = np.flatnonzero(ink.any(axis=1))
    ends = np.flatnonzero(np.diff(np.append(rows, 2 * height)) > GAP_MM * SAMPLE_PX_PER_MM)
    tall = rows[ends] - rows[0] >= LEAST_MM * SAMPLE_PX_PER_MM
    last = int(rows[ends[int(tall.argmax())] if tall.any() else -1])
    columns = np.flatnonzero(ink[rows[0] : last + 1].any(axis=0))
    rim, least = round(RIM_MM * SAMPLE_PX_PER_MM), round(MARK_MM * SAMPLE_PX_PER_MM)
    x0, x1 = _widened(int(columns[0]) - rim, int(columns[-1]) + 1 + rim, least, width)
    y0, y1 = _widened(int(rows[0]) - rim, last + 1 + rim, least, height)
    return x0, y0, x1, y1


def _widened(low: int, high: int, least: int, limit: int) -> tuple[int, int]:
    """A span within 0 to `limit`, of `least` at least."""
    short = max(0, least - (high - low))
    low = max(0, min(low - short // 2, limit - least))
    return low, min(limit, max(high, low + least))


def _sized(image: ByteArray, px_per_mm: float) -> ByteArray:
    """A part of a sample at the scale of a view."""
    k = px_per_mm / SAMPLE_PX_PER_MM
    size = (max(4, round(image.shape[1] * k)), max(4, round(image.shape[0] * k)))
    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8)


def _best(part: ByteArray, pattern: ByteArray) -> tuple[float, FloatArray]:
    """The greatest correlation, and the middle of the pattern there, px of `part`."""
    found = cv2.matchTemplate(part, pattern, cv2.TM_CCOEFF_NORMED)
    # A part without any contrast gives no number.
    found = np.where(np.isfinite(found) & (np.abs(found) <= 1.001), found, -1.0)
    y, x = np.unravel_index(int(found.argmax()), found.shape)
    height, width = pattern.shape[:2]
    return float(found[y, x]), np.array([x + (width - 1) / 2, y + (height - 1) / 2])
