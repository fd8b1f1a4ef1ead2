"""Still photographs of any size, read with no table file: what was found, and which cards."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from PIL import Image

from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS, JOKER
from vision.cards.grouping import join_indices
from vision.cards.outline import ReadIndex
from vision.cards.rotation import ASPECTS, Reading, read_boxes
from vision.cards.view import JOKER_ODDS
from vision.detect.detections import ByteArray, Detections, Floats, Reader
from vision.detect.image_kind import why_unreadable
from vision.detect.tiling import (
    MOST_COPIED,
    DrawnOut,
    Picture,
    SizedDetector,
    find_in_picture,
    overlaps,
)
from vision.geometry.turned import axes

MOST_PIXELS = 48_000_000
"""A photograph of more is read at half its size, or less."""

UNSURE = "index"
"""Label of an index whose card could not be determined."""

BACK = "BACK"
OTHER_SCORE = 0.5
"""Backs, chips and lammers are reported from this score on: no second network reads them."""

ONE_ROUND_IOU = 0.5
"""A chip and a lammer whose boxes overlap so much are one thing."""

JOKER_SURE = 0.97
"""What is found as a joker is one from this probability on; the finding counts as it does in
views (`JOKER_ODDS`). At 0.85 twelve clubs of 1,556 cards of rf100 after 17:00 were jokers."""

JOKER_READ = 0.97
"""What reads as a joker with this share is one, however it was found."""

JOKER_SHARE = 0.75
"""Most that counts of what was found as an index and reads as a joker: the joker's word is
the least regular index, so much is taken for it. Two such on one card are enough."""

STRETCHES = ((1.0, 1.0), (DrawnOut.BY, 1.0), (1.0, DrawnOut.BY))
"""How far an image is drawn out, across and down, for each pass over it."""

SAME_PLACE = 0.5
"""An index found so near to another one, over the lesser height, is the same."""

NONE_BELOW = 0.05
"""An index that reads as a card with less at every turn is no index."""


Pass = tuple[Detections, list[Reading]]
"""What one pass over an image found, and what its indices read as, in their order."""


class PhotoError(FeltwatchError):
    """An image that cannot be read."""


@dataclass(frozen=True, slots=True)
class Found:
    """One thing seen or one card: its label, score in 0..1 and box in px of the image."""

    label: str
    score: float
    xyxy: tuple[float, float, float, float]

    def enlarged(self, by: int) -> Found:
        """The same in an image `by` times as large."""
        x0, y0, x1, y1 = (v * by for v in self.xyxy)
        return replace(self, xyxy=(x0, y0, x1, y1))

    def as_dict(self) -> dict[str, Any]:
        """The form of `feltwatch detect --json`: the box in whole px."""
        box = [round(v) for v in self.xyxy]
        return {"label": self.label, "score": round(self.score, 4), "xyxy": box}


@dataclass(frozen=True, slots=True)
class PhotoResult:
    """What a photograph of `width` x `height` px shows.

    `detections`: indices, backs, chips, lammers, those of unsure indices labelled `index`; a
    score is the probability of its label. `cards`: one per physical card whose face is seen.
    `members`: for each card, the places of its indices in `detections`. `turns_deg`: for each
    detection the turn it was read at.
    """

    width: int
    height: int
    detections: tuple[Found, ...]
    cards: tuple[Found, ...]
    members: tuple[tuple[int, ...], ...] = ()
    turns_deg: tuple[float, ...] = ()

    @property
    def backs(self) -> tuple[Found, ...]:
        """The cards that lie face down."""
        return tuple(found for found in self.detections if found.label == BACK)

    def enlarged(self, by: int) -> PhotoResult:
        """The same for the image `by` times as large."""
        return replace(
            self, width=self.width * by, height=self.height * by,
            detections=tuple(found.enlarged(by) for found in self.detections),
            cards=tuple(card.enlarged(by) for card in self.cards),
        )  # fmt: skip

    def as_dict(self, image: str) -> dict[str, Any]:
        """The form of `feltwatch detect --json`; `image` names the image."""
        return {
            "image": image,
            "width": self.width,
            "height": self.height,
            "cards": [card.as_dict() for card in self.cards],
            "backs": [back.as_dict() for back in self.backs],
            "detections": [found.as_dict() for found in self.detections],
        }


def read_picture(path: Path, reduced: int = 1) -> ByteArray:
    """An image file as uint8 (h, w, 3) BGR, turned as its camera noted.

    `reduced` (1, 2, 4 or 8) reads it at that part of its size. Raises PhotoError naming the
    file when it is missing, no image, or several in one, as animations are.
    """
    if path.is_dir():
        raise PhotoError(f"{path}: is a folder; give image files")
    try:
        data = np.fromfile(path, np.uint8)
    except OSError as error:
        raise PhotoError(f"{path}: cannot be read ({error.strerror or error})") from error
    frames = _header(path)[2]
    if frames > 1:
        raise PhotoError(f"{path}: holds {frames} images; give still images, each in a file")
    how = {1: cv2.IMREAD_COLOR, 2: cv2.IMREAD_REDUCED_COLOR_2, 4: cv2.IMREAD_REDUCED_COLOR_4}
    try:
        image = cv2.imdecode(data, how.get(reduced, cv2.IMREAD_REDUCED_COLOR_8))
    except cv2.error:
        image = None
    if image is None:
        raise PhotoError(f"{path}: {why_unreadable(data.tobytes())}")
    return np.asarray(image, np.uint8)


def read_photo(path: Path) -> tuple[ByteArray, int]:
    """A photograph as by `read_picture`, and how many times smaller than it is it was read.

    It is reduced where it has more than `MOST_PIXELS`, so that memory stays within bounds.
    """
    width, height, _ = _header(path)
    by = 1
    while width * height > MOST_PIXELS * by * by and by < 8:
        by *= 2
    return read_picture(path, by), by


def _header(path: Path) -> tuple[int, int, int]:
    """Width, height and number of images by a file's header; 0, 0, 1 without one."""
    try:
        with warnings.catch_warnings():
            # Size alone is asked for: a large image is no danger here.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(path) as head:
                # A telephone's JPEG may hold previews beside the photograph.
                frames = 1 if head.format in ("JPEG", "MPO") else getattr(head, "n_frames", 1)
                return (*head.size, frames)
    except Image.DecompressionBombError as error:
        raise PhotoError(f"{path}: is too large ({error})") from error
    except (OSError, SyntaxError, ValueError, EOFError):
        return 0, 0, 1


@dataclass(frozen=True)
class PhotoReader:
    """Reads photographs: finds the indices in overlapping views, reads each, joins cards."""

    detector: SizedDetector
    reader: Reader

    def read(self, image: ByteArray) -> PhotoResult:
        """Everything on an image, uint8 (h, w, 3) BGR of any size.

        It is looked at as it is and drawn out to either side, so that cards which are seen
        steeply, and are short one way, come to their own form in one of the three.
        """
        height, width = image.shape[:2]
        return join_passes(self.look(image), width, height)

    def look(self, image: ByteArray) -> list[Pass]:
        """What is found and read in each pass over an image, in px of the image."""
        return [self._find_stretched(image, *by) for by in STRETCHES]

    def read_found(self, image: ByteArray, found: Detections) -> PhotoResult:
        """As `read`, for boxes that are found already."""
        height, width = image.shape[:2]
        return join_passes([(found, self._readings(image, found))], width, height)

    def _find_stretched(self, image: ByteArray, by_x: float, by_y: float) -> Pass:
        """What is found in an image drawn out, in px of the image as it is."""
        drawn: Picture = image
        if (by_x, by_y) != (1.0, 1.0):
            drawn = _drawn_out(image, by_x, by_y)
        found = find_in_picture(drawn, self.detector)
        if drawn is not image:
            found = found.where(
                np.array([found.name(n) in ASPECTS for n in range(len(found))], bool)
            )
        readings = [_drawn_in(r, by_x, by_y) for r in self._readings(drawn, found)]
        boxes = np.asarray(found.xyxy / np.array([by_x, by_y] * 2, np.float32), np.float32)
        return Detections(boxes, found.scores, found.classes, found.names), readings

    def _readings(self, image: Picture, found: Detections) -> list[Reading]:
        """What each index among the detections reads as, in their order."""
        items = [n for n in range(len(found)) if found.name(n) in ASPECTS]
        aspects = [ASPECTS[found.name(n)] for n in items]
        return read_boxes(image, found.xyxy[items], aspects, self.reader)


def _drawn_out(image: ByteArray, by_x: float, by_y: float) -> Picture:
    """An image drawn out; of a large one the parts are made as they are looked at."""
    if image.size * by_x * by_y > MOST_COPIED:
        return DrawnOut(image, across=by_x > by_y)
    return np.asarray(cv2.resize(image, None, fx=by_x, fy=by_y), np.uint8)


def join_passes(passes: Sequence[Pass], width: int, height: int) -> PhotoResult:
    """The cards of an image of `width` x `height` px from the passes over it."""
    found, readings = together(passes)
    indices = indices_of(found, readings)
    cards = join_indices(indices, width, height)
    label_of = {n: card.label for card in cards for n in card.members}
    shown: list[Found] = []
    turns: list[float] = []
    for n, own in enumerate(indices):
        sure = label_of.get(n) == own.label
        # The score is of the label: of the card read, or of being some index.
        score = own.share if sure else own.score
        shown.append(Found(own.label if sure else UNSURE, score, own.xyxy))
        turns.append(own.turn_deg)
    for item in _others(found):
        name = found.name(item)
        label = BACK if name == "back" else name
        shown.append(Found(label, float(found.scores[item]), _box(found, item)))
        turns.append(0.0)
    faces = tuple(Found(card.label, card.score, card.xyxy) for card in cards)
    members = tuple(card.members for card in cards)
    return PhotoResult(width, height, tuple(shown), faces, members, tuple(turns))


def indices_of(found: Detections, readings: Sequence[Reading]) -> list[ReadIndex]:
    """The indices that were found in an image and read, each place once, the surest first."""
    return _one_per_place(_read_indices(found, readings))


def _others(found: Detections) -> list[int]:
    """Places of the backs, chips and lammers that are sure enough; of a chip and a lammer at
    one place the surer."""
    places = [
        n for n in range(len(found))
        if found.name(n) not in ASPECTS and float(found.scores[n]) >= OTHER_SCORE
    ]  # fmt: skip
    rounds = [n for n in places if found.name(n) != "back"]
    kept: list[int] = []
    for n in sorted(rounds, key=lambda n: -float(found.scores[n])):
        rivals = [k for k in kept if found.name(k) != found.name(n)]
        if not rivals or overlaps(found.xyxy[n], found.xyxy[rivals])[0].max() < ONE_ROUND_IOU:
            kept.append(n)
    return [n for n in places if n in kept or found.name(n) == "back"]


def together(passes: Sequence[Pass]) -> Pass:
    """The detections of several passes over one image in one, with the readings of indices."""
    found = [own for own, _ in passes]
    names = next((own.names for own in found if len(own)), found[0].names)
    merged = Detections(
        np.concatenate([own.xyxy for own in found]),
        np.concatenate([own.scores for own in found]),
        np.concatenate([own.classes for own in found]),
        names,
    )
    return merged, [reading for _, readings in passes for reading in readings]


def _drawn_in(reading: Reading, by_x: float, by_y: float) -> Reading:
    """A reading made in an image that was drawn out, with turn and height in the plain one."""
    down = axes(reading.turn_deg)[1] / (by_x, by_y)
    turn = math.degrees(math.atan2(-down[0], down[1])) % 360
    return Reading(reading.shares, turn, reading.height_px * float(np.hypot(*down)))


def _read_indices(found: Detections, readings: Sequence[Reading]) -> list[ReadIndex]:
    """The indices among the detections that read as a card, in their order."""
    items = [n for n in range(len(found)) if found.name(n) in ASPECTS]
    out = []
    for item, reading in zip(items, readings, strict=True):
        card = card_of_reading(reading, found.name(item) == "joker")
        if card is None:
            continue
        x0, y0, x1, y1 = box = _box(found, item)
        center = np.array([(x0 + x1) / 2, (y0 + y1) / 2])
        out.append(
            ReadIndex(
                center, reading.turn_deg, reading.height_px, _shares(reading, *card),
                float(found.scores[item]), box, ASPECTS[found.name(item)],
            )
        )  # fmt: skip
    return out


def _shares(reading: Reading, label: str, share: float) -> Floats:
    """Shares (53,) of the cards, with the detector's word where that was the surer."""
    if share == reading.share:
        return reading.shares
    out = reading.shares * (1 - share)
    out[DECK_LABELS.index(label)] = share
    return out


def card_of_reading(reading: Reading, as_joker: bool) -> tuple[str, float] | None:
    """The card and its share of an index as read, found as a joker or not.

    The reader's word counts; None where nothing reads as a card. A joker needs more than a
    card does, as a club's marks beside an edge look like its word: that the detector found one
    and the reader agrees (`JOKER_SURE`), or that the reader is sure of it (`JOKER_READ`).
    """
    label, share = reading.label, reading.share
    if label != JOKER:
        return (label, share) if as_joker or share >= NONE_BELOW else None
    if as_joker:
        share = share * JOKER_ODDS / (1 + share * (JOKER_ODDS - 1))
        return (JOKER, share) if share >= JOKER_SURE else None
    return (JOKER, min(share, JOKER_SHARE)) if share >= JOKER_READ else None


def _one_per_place(indices: Sequence[ReadIndex]) -> list[ReadIndex]:
    """Of indices found twice at one place, by two classes, scales or passes, the surest."""
    kept: list[ReadIndex] = []
    for own in sorted(indices, key=lambda index: -index.share):
        if not any(_at_one_place(surer, own) for surer in kept):
            kept.append(own)
    return kept


def _at_one_place(one: ReadIndex, other: ReadIndex) -> bool:
    """Whether two readings are of one index."""
    apart = float(np.hypot(*(other.center - one.center)))
    return apart < SAME_PLACE * min(one.height, other.height)


def _box(found: Detections, item: int) -> tuple[float, float, float, float]:
    x0, y0, x1, y1 = (float(v) for v in found.xyxy[item])
    return x0, y0, x1, y1
