"""Samples of a table's own deck, taken where its cards lie spread in order on the felt.

Four rows of thirteen, one suit each, from ace to king or from king to ace, as a new deck comes out
of its box: where an index lies says which card it is, whatever its letters are. What the reader
makes of them only has to say which row is which suit and where the ace is; of a deck that it does
not know at all a person says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import cv2
import numpy as np

from settlement.record import DECK_LABELS, JOKER
from vision.cards.laid_rows import LAY, DeckNotEnrolledError, Spread, declared_rows, straight
from vision.cards.table_deck import LEAST_SHARE, DeckSamples
from vision.cards.view import INDEX_MARGIN, NONE_PLACE, crops_of
from vision.detect.detections import ByteArray, Detections, Floats, Reader
from vision.detect.tiling import SizedDetector
from vision.geometry.calibration import Calibration, view_to_felt
from vision.geometry.table import SAMPLE_PX, VIEW_MM, FloatArray, Place, Point, TableFile

VIEWS_LAP_MM = 110.0
"""Views of the felt overlap by more than a card's length: each index lies whole in one."""

LOOKS: tuple[tuple[Point, float], ...] = (
    ((0.0, 0.0), 0.0), ((9.0, 5.0), 3.0), ((-7.0, -9.0), -3.0), ((4.0, -12.0), 6.0),
    ((-12.0, 4.0), -6.0),
)  # fmt: skip
"""Views of each part: by how far they lie beside it, mm, and are turned against it, degrees.

Of 44 spreads of eleven tune decks (six that somebody drew, five of `models/faces/judge-14.json`)
one view enrols 34, three views 41 and these 43, and fewer cards lack a sample."""

SAME_INDEX_MM = 7.0
"""Two finds so near are one index, as in a seat's view."""

OTHERWISE = 0.97
"""What reads as another card with this share is reported, to be looked at."""


@dataclass(frozen=True, slots=True, eq=False)
class LaidIndex:
    """A find that may be an index: where it lies (mm) and how high it is, its crops upright and
    turned by half (2, 64, 64, 3), and what they read as (2, 54)."""

    at_mm: FloatArray
    height_mm: float
    score: float
    crops: ByteArray
    shares: Floats


@dataclass(frozen=True, slots=True, eq=False)
class EnrolledDeck:
    """A deck that was found: its samples, where each card's index lies on the felt, mm, and what a
    person should look at before it is used. `is_named`: a person named its rows."""

    samples: DeckSamples
    at_mm: dict[str, FloatArray]
    height_mm: float
    warnings: tuple[str, ...]
    is_named: bool = False

    def outlines_px(self, calibration: Calibration) -> dict[str, FloatArray]:
        """A square (4, 2) about each card's index, in px of the image."""
        half = self.height_mm / 2
        square = np.array([[-half, -half], [half, -half], [half, half], [-half, half]])
        return {label: calibration.felt_to_image(square + at) for label, at in self.at_mm.items()}


def deck_on_felt(
    frame: ByteArray, calibration: Calibration, table: TableFile, detector: SizedDetector,
    reader: Reader, rows: str | None = None,
) -> EnrolledDeck:  # fmt: skip
    """The deck that lies spread on a table, its `rows` as `declared_rows` or as they read.

    Raises DeckNotEnrolledError.
    """
    declared = declared_rows(rows) if rows else None
    indices: list[LaidIndex] = []
    for place in views_of_felt(table):
        indices += laid_indices(frame, calibration, place, detector, reader)
    return deck_of(once_each(indices), table.dealer.place.angle_deg, declared)


def views_of_felt(table: TableFile) -> Iterator[Place]:
    """Places, turned as the dealer's, whose views cover the felt with `VIEWS_LAP_MM` to spare."""
    step = VIEW_MM - VIEWS_LAP_MM
    wide, high = table.felt.width_mm, table.felt.height_mm
    columns, rows = (max(1, int(np.ceil((size - VIEWS_LAP_MM) / step))) for size in (wide, high))
    for row, column in product(range(rows), range(columns)):
        middle = (wide / 2 + (column - (columns - 1) / 2) * step,
                  high / 2 + (row - (rows - 1) / 2) * step)  # fmt: skip
        yield Place(center_mm=middle, angle_deg=table.dealer.place.angle_deg)


def laid_indices(
    frame: ByteArray, calibration: Calibration, place: Place, detector: SizedDetector,
    reader: Reader,
) -> list[LaidIndex]:  # fmt: skip
    """What is found in views of a place as an index or a joker, read both ways up; places are of
    the felt."""
    return [
        one
        for off, turn in LOOKS
        for one in _looked(frame, calibration, _moved(place, off, turn), detector, reader)
    ]


def _moved(place: Place, off_mm: Point, turn_deg: float) -> Place:
    """A place beside another, turned a little against it."""
    x, y = place.center_mm
    return Place(center_mm=(x + off_mm[0], y + off_mm[1]), angle_deg=place.angle_deg + turn_deg)


def _looked(
    frame: ByteArray, calibration: Calibration, place: Place, detector: SizedDetector,
    reader: Reader,
) -> list[LaidIndex]:  # fmt: skip
    view = calibration.warp_view(frame, place, detector.size)
    own = detector.find([view])[0].of("index", "joker")
    inside = [n for n in range(len(own)) if _is_whole(own, n, detector.size)]
    if not inside:
        return []
    crops_at = crops_of(frame, calibration, view_to_felt(place, detector.size))
    mm = VIEW_MM / detector.size
    crops, at, sides = [], [], []
    for n in inside:
        xyxy = own.xyxy[n].astype(float)
        side = float(max(xyxy[2] - xyxy[0], xyxy[3] - xyxy[1]))
        middle = (xyxy[:2] + xyxy[2:]) / 2
        crops.append(crops_at(middle, [(0.0, INDEX_MARGIN * side), (180.0, INDEX_MARGIN * side)]))
        at.append((middle + 0.5) * mm - VIEW_MM / 2)
        sides.append(side * mm)
    felt = place.to_felt(np.array(at))
    shares = reader.read(np.concatenate(crops)).reshape(len(inside), 2, -1)
    return [
        LaidIndex(felt[k], sides[k], float(own.scores[n]), crops[k], shares[k])
        for k, n in enumerate(inside)
    ]


def _is_whole(found: Detections, n: int, size: int) -> bool:
    """Whether a find does not touch the edge of its view."""
    box = found.xyxy[n]
    return bool(box.min() > 1 and box.max() < size - 2)


def once_each(indices: Sequence[LaidIndex]) -> list[LaidIndex]:
    """Of finds at one place, in several views or of two classes, the one of most score."""
    kept: list[LaidIndex] = []
    for one in sorted(indices, key=lambda own: -own.score):
        if all(np.hypot(*(one.at_mm - other.at_mm)) >= SAME_INDEX_MM for other in kept):
            kept.append(one)
    return kept


def deck_of(
    indices: Sequence[LaidIndex], view_deg: float = 0.0,
    declared: Sequence[Sequence[str]] | None = None,
) -> EnrolledDeck:  # fmt: skip
    """The deck of which these are the indices, in views that are turned by `view_deg`.

    `declared` are the cards of its rows, from the top; without them the readings decide. Raises
    DeckNotEnrolledError, also where the cards read clearly as other rows.
    """
    if not indices:
        raise DeckNotEnrolledError(f"no card is found on the felt: {LAY}")
    at = np.stack([one.at_mm for one in indices])
    shares = np.maximum(np.stack([one.shares for one in indices]), LEAST_SHARE)

    def likeliest_spread(rows: Sequence[Sequence[str]] | None) -> tuple[Spread, int]:
        ways = (
            (Spread.of(straight(at, view_deg + 180.0 * upside), shares, upside, rows), upside)
            for upside in (0, 1)
        )
        return max(ways, key=lambda own: own[0].total)

    spread, upside = likeliest_spread(None)
    if declared is None:
        spread.check()
    else:
        otherwise = spread
        spread, upside = likeliest_spread(declared)
        spread.check_found()
        spread.check_against(otherwise)
    named = {label: spread.named[label] for label in DECK_LABELS if label in spread.named}
    read = spread.logs
    likeliest = {
        label: DECK_LABELS[int(read[n, :NONE_PLACE].argmax())] for label, n in named.items()
    }
    warnings = [
        f"the card at the place of {label} reads as {likeliest[label]}"
        for label, n in named.items()
        if likeliest[label] != label and float(read[n].max()) > np.log(OTHERWISE)
    ]
    joker = spread.joker()
    if joker is not None:
        named[JOKER] = joker
    missing = [label for label in DECK_LABELS if label not in named]
    if missing:
        warnings.append(f"no index is found of {', '.join(missing)}: without a sample")
    crops = np.zeros((len(DECK_LABELS), SAMPLE_PX, SAMPLE_PX, 3), np.uint8)
    for label, n in named.items():
        crops[DECK_LABELS.index(label)] = indices[n].crops[upside]
    return EnrolledDeck(
        DeckSamples(crops), {label: at[n] for label, n in named.items()},
        float(np.median([indices[n].height_mm for n in spread.named.values()])), tuple(warnings),
        declared is not None,
    )  # fmt: skip


def deck_image(frame: ByteArray, calibration: Calibration, deck: EnrolledDeck) -> ByteArray:
    """The part of a frame that shows the deck, each index framed and named, to be checked."""
    out = frame.copy()
    outlines = deck.outlines_px(calibration)
    for label, px in outlines.items():
        cv2.polylines(out, [px.astype(np.int32)], True, (0, 220, 255), 2, cv2.LINE_AA)
        corner = px.mean(axis=0) + np.array([-px[:, 0].std(), np.ptp(px[:, 1]) * 0.95])
        for colour, thick in (((0, 0, 0), 5), ((0, 220, 255), 2)):
            cv2.putText(
                out, label, (int(corner[0]), int(corner[1])), cv2.FONT_HERSHEY_SIMPLEX, 0.6,
                colour, thick, cv2.LINE_AA,
            )  # fmt: skip
    every = np.concatenate(list(outlines.values()))
    x0, y0 = np.maximum(every.min(axis=0).astype(int) - 60, 0)
    x1, y1 = every.max(axis=0).astype(int) + 90
    return np.ascontiguousarray(out[y0:y1, x0:x1])
