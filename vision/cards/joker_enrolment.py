"""Samples of a table's own joker, taken where it lies face up and alone on the felt."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from settlement.errors import FeltwatchError
from settlement.record import JOKER
from vision.cards.deck_assignment import SURE
from vision.cards.joker_match import cut_samples, mark_ink
from vision.cards.rotation import upright_part
from vision.cards.view import join_cards, see_indices
from vision.detect.detections import ByteArray, Floats, Reader
from vision.detect.tiling import SizedDetector
from vision.geometry.calibration import Calibration
from vision.geometry.table import CARD_MM, JOKER_PX, FloatArray, Place, encode_png

PART_MM = 220.0
"""Side of the square of felt about the named place in which the card is looked for."""

OFF_MM = 30.0
"""How far the card's middle may lie from the named place."""

RIM_MM = 3.0
"""Width of the strips inside and outside of the card's edge that are compared."""

STEPS = ((4.0, 1.0), (1.0, 2.0), (0.5, 4.0))
"""Turns in degrees from try to try, and px per mm, from coarse to fine."""

SIZES_MM = (CARD_MM, (57.15, 88.9))
"""Poker cards and bridge cards."""

EDGE_OFF_MM = 8.0
"""Each edge is looked for so far from where a card of a usual size has it."""

SIDE_OFF = 0.1
"""A card's sides are so near to a usual one's, as a share."""

CLEAR_MM = 6.0
"""The round corners, of which an edge is kept clear."""

SAME_MM = 20.0
"""What is read so near to the card's middle is this card: less than half its width."""

MOST_FAR = 60.0
"""Greater distances from the felt's colour (CIE Lab) count as this."""

LEAST_CONTRAST = 10.0
"""Each side of a card is so much farther from the felt's colour than what lies beside it."""


UPRIGHT_PX_PER_MM = 4.0
"""How large `upright_card` shows a card."""

NO_CARD = (
    "no card lies there alone: its middle must be within 3 cm of the place, and it must lie clear "
    "of other cards, chips and hands"
)
OTHER_CARD = "both ends of the card read as {}: lay the joker there"
NO_MARK = (
    "the card shows nothing in its corners to know it by: it is a plain back, or a joker without a "
    "mark, which cannot be read in a fanned hand"
)


class NotEnrolledError(FeltwatchError):
    """What lies at a place cannot be enrolled as the table's joker; the message says why."""


@dataclass(frozen=True, slots=True)
class LaidCard:
    """A card in an image: `corners` (4, 2) px, clockwise from an upper left one, and its size."""

    corners: FloatArray
    size_mm: tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False)
class EnrolledJoker:
    """A joker that was found: where it lies, and what a table file keeps of it.

    `image` is uint8 (86, 26 or 52, 3) BGR: those of its ends, one or both, that show a mark.
    """

    card: LaidCard
    image: ByteArray

    @property
    def ends(self) -> int:
        """How many of its two ends show a mark."""
        return int(self.image.shape[1]) // JOKER_PX[0]

    def as_table_data(self) -> dict[str, str]:
        """What goes into the table file."""
        return {"joker_png": encode_png(self.image)}


def joker_at(
    frame: ByteArray, calibration: Calibration, at_mm: tuple[float, float],
    detector: SizedDetector, reader: Reader,
) -> EnrolledJoker:  # fmt: skip
    """The joker at a felt point; raises NotEnrolledError, also where another card lies there."""
    card = laid_card(frame, calibration, at_mm)
    if card is None:
        raise NotEnrolledError(NO_CARD)
    other = read_alike(frame, calibration, card, detector, reader)
    if other is not None:
        raise NotEnrolledError(OTHER_CARD.format(other))
    image = enrol_joker(frame, card)
    if image is None:
        raise NotEnrolledError(NO_MARK)
    return EnrolledJoker(card, image)


def laid_card(
    frame: ByteArray, calibration: Calibration, at_mm: tuple[float, float]
) -> LaidCard | None:
    """The card at a felt point.

    None where no card of the usual size lies there clear of other cards and chips. Its outline
    is where the felt's colour ends along all four edges; what is printed beside it does not matter.
    """
    middle, turn, size = np.zeros(2), 0.0, np.array(CARD_MM)
    reach_mm, reach_deg = OFF_MM, 90.0
    for step, scale in STEPS:
        far = _far_from_felt(frame, calibration, at_mm, scale)
        sizes = [np.array(own) for own in SIZES_MM] if reach_deg == 90.0 else [size]
        _, middle, turn, size = max(
            (
                (*_along_edges(far, float(deg), own, middle, reach_mm, scale), float(deg), own)
                for deg in np.arange(turn - reach_deg, turn + reach_deg, step)
                for own in sizes
            ),
            key=lambda one: one[0],
        )
        reach_mm, reach_deg = 2.0 / scale + 1.0, 1.5 * step
    upright, matrix = _turned(far, turn)
    found = _edges(upright, matrix, middle, size, scale)
    if found is None:
        return None
    low, high = found
    corners = np.array([low, [high[0], low[1]], high, [low[0], high[1]]])
    wide, tall = (float(v) / scale for v in high - low)
    if all(max(abs(wide / w - 1), abs(tall / h - 1)) > SIDE_OFF for w, h in SIZES_MM):
        return None
    mm = ((corners @ matrix[:, :2].T + matrix[:, 2]) - (far.shape[0] - 1) / 2) / scale
    return LaidCard(calibration.felt_to_image(np.asarray(at_mm) + mm), (wide, tall))


def read_alike(
    frame: ByteArray,
    calibration: Calibration,
    card: LaidCard,
    detector: SizedDetector,
    reader: Reader,
) -> str | None:
    """The label, not JOKER, that both ends of a laid card read as with `SURE` and more, or None."""
    corners = calibration.image_to_felt(card.corners)
    x_mm, y_mm = (float(v) for v in corners.mean(axis=0))
    right = corners[1] - corners[0]
    place = Place(
        center_mm=(x_mm, y_mm), angle_deg=float(np.degrees(np.arctan2(right[1], right[0])))
    )
    found = detector.find([calibration.warp_view(frame, place, detector.size)])[0]
    indices = see_indices(frame, calibration, place, found, detector.size, reader).indices
    read = (
        one.label
        for one in join_cards(indices)
        if one.indices >= 2
        and one.share >= SURE
        and one.label != JOKER
        and float(np.hypot(*one.center_mm)) <= SAME_MM
    )
    return next(read, None)


def enrol_joker(frame: ByteArray, joker: LaidCard) -> ByteArray | None:
    """The image that a table file keeps: those ends of the joker, one or both, that show a mark.

    uint8 (86, 26 or 52, 3); None where neither does.
    """
    both = np.split(cut_samples(frame, joker.corners, joker.size_mm), 2, axis=1)
    ends = [end for end in both if mark_ink(np.ascontiguousarray(end)) is not None]
    return np.asarray(np.hstack(ends), np.uint8) if ends else None


def upright_card(frame: ByteArray, card: LaidCard) -> ByteArray:
    """A card seen from straight above, upright, uint8 (h, w, 3)."""
    wide, high = (round(mm * UPRIGHT_PX_PER_MM) for mm in card.size_mm)
    px = np.array([[0, 0], [wide, 0], [wide, high], [0, high]], np.float32) - 0.5
    matrix = cv2.getPerspectiveTransform(card.corners.astype(np.float32), px)
    return np.asarray(cv2.warpPerspective(frame, matrix, (wide, high)), np.uint8)


def _far_from_felt(
    frame: ByteArray, calibration: Calibration, at_mm: tuple[float, float], scale: float
) -> Floats:
    """How far each px of the felt about a point is from the felt's own colour, (n, n)."""
    size = round(PART_MM * scale)
    to_felt = np.diag([1 / scale, 1 / scale, 1.0])
    to_felt[:2, 2] = np.asarray(at_mm) - PART_MM / 2 + 0.5 / scale
    part = calibration.warp_patch(frame, to_felt, (size, size), cv2.INTER_AREA)
    lab = np.asarray(cv2.cvtColor(part, cv2.COLOR_BGR2LAB), np.float32)
    rim = max(2, size // 20)
    border = np.ones((size, size), bool)
    border[rim:-rim, rim:-rim] = False
    far = np.linalg.norm(lab - np.median(lab[border], axis=0), axis=2)
    out: Floats = np.minimum(far, MOST_FAR).astype(np.float32)
    return out


def _edge_pattern(card: FloatArray, scale: float) -> Floats:
    """What compares the strips inside of an upright card's four sides with those outside, (h, w).

    `card` (2,) mm is its size. The round corners are left out.
    """
    rim, clear = max(1, round(RIM_MM * scale)), round(CLEAR_MM * scale)
    w, h = (round(float(v) * scale) for v in card)
    pattern = np.zeros((h + 2 * rim, w + 2 * rim), np.float32)
    rows, columns = slice(rim + clear, h + rim - clear), slice(rim + clear, w + rim - clear)
    for start, weight in ((0, -1.0), (rim, 1.0)):
        near, far = slice(start, start + rim), slice(-start - rim, -start or None)
        pattern[near, columns] = pattern[far, columns] = weight
        pattern[rows, near] = pattern[rows, far] = weight
    out: Floats = pattern / float((pattern > 0).sum())
    return out


def _turned(far: Floats, turn_deg: float) -> tuple[Floats, FloatArray]:
    """The map turned so that a card turned by `turn_deg` is upright; and (2, 3) back."""
    size = far.shape[0]
    return upright_part(far, turn_deg, np.full(2, (size - 1) / 2), (size, size))


def _along_edges(
    far: Floats, turn_deg: float, card: FloatArray, near_mm: FloatArray, reach_mm: float,
    scale: float,
) -> tuple[float, FloatArray]:  # fmt: skip
    """The greatest contrast along a card's edges at one turn, and its middle in mm of the part."""
    upright, matrix = _turned(far, turn_deg)
    pattern = _edge_pattern(card, scale)
    found = cv2.matchTemplate(upright, pattern, cv2.TM_CCORR)
    rows, columns = np.mgrid[: found.shape[0], : found.shape[1]]
    half = (np.array(pattern.shape[::-1]) - 1) / 2
    px = np.stack([columns, rows], axis=-1) + half
    mm = ((px @ matrix[:, :2].T + matrix[:, 2]) - (far.shape[0] - 1) / 2) / scale
    allowed = np.abs(mm - near_mm).max(axis=-1) <= reach_mm
    if not allowed.any():
        return -1.0, near_mm
    best = int(np.where(allowed, found, -np.inf).argmax())
    return float(found.flat[best]), mm.reshape(-1, 2)[best]


def _edges(
    upright: Floats, matrix: FloatArray, middle_mm: FloatArray, card: FloatArray, scale: float
) -> tuple[FloatArray, FloatArray] | None:
    """Upper left and lower right corner, px, of a card that stands upright; None where an edge
    has too little contrast."""
    at = np.linalg.solve(
        matrix[:, :2], middle_mm * scale + (upright.shape[0] - 1) / 2 - matrix[:, 2]
    )
    low, high = at - card * scale / 2, at + card * scale / 2
    rim = max(1, round(RIM_MM * scale))
    for axis in (1, 0, 1, 0):
        across = 1 - axis
        clear = CLEAR_MM * scale
        span = slice(round(low[across] + clear), round(high[across] - clear))
        part = upright[span] if across == 1 else upright[:, span]
        sums = np.concatenate([[0.0], np.cumsum(part.mean(axis=axis))])
        # How much farther from the felt's colour what follows a px is than what precedes it.
        steps = (sums[2 * rim :] - 2 * sums[rim:-rim] + sums[: -2 * rim]) / rim
        for bound, way in ((low, 1.0), (high, -1.0)):
            near = round(float(bound[axis])) - rim
            reach = round(EDGE_OFF_MM * scale)
            first = max(0, near - reach)
            own = way * steps[first : near + reach + 1]
            if not len(own) or float(own.max()) < LEAST_CONTRAST:
                return None
            bound[axis] = first + int(own.argmax()) + rim - 0.5
    return low, high
