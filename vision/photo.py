"""Still photographs of any size, read with no table file: what was found, and which cards."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS, JOKER
from vision.detections import ByteArray, Detections, Floats, Reader
from vision.joined import ReadIndex, join_indices
from vision.table import FloatArray
from vision.tiles import SizedDetector, find_in_picture
from vision.turns import ASPECTS, Reading, read_boxes

UNSURE = "index"
"""Label of an index whose card could not be told."""

BACK = "BACK"
OTHER_SCORE = 0.5
"""Backs, chips and lammers are told from this score on: nothing reads them again."""

JOKER_SCORE = 0.85
"""The detector's own joker stands from this score on, where the reader tells nothing."""

READ_LIMIT = 0.5
"""From this share on the reader has told a card."""

JOKER_BOTH = (0.7, 0.85)
"""A joker found with the first score and read with the second share is one."""

JOKER_READ = 0.97
"""What reads as a joker with this share is one, however it was found."""

JOKER_SHARE = 0.7
"""Most that counts of what was found as an index and reads as a joker: the joker's word is
the least regular index, so much is taken for it. Two such on one card are enough."""

NONE_BELOW = 0.05
"""An index that reads as a card with less at every turn is no index."""


class PhotoError(FeltwatchError):
    """A picture that cannot be read."""


@dataclass(frozen=True, slots=True)
class Found:
    """One thing seen or one card: its label, score in 0..1 and box in px of the picture."""

    label: str
    score: float
    xyxy: tuple[float, float, float, float]

    def as_dict(self) -> dict[str, Any]:
        """The form of `feltwatch detect --json`: the box in whole px."""
        box = [round(v) for v in self.xyxy]
        return {"label": self.label, "score": round(self.score, 4), "xyxy": box}


@dataclass(frozen=True, slots=True)
class PhotoResult:
    """What a photograph of `width` x `height` px shows.

    `detections`: indices, backs, chips, lammers, those of unsure indices labelled `index`.
    `cards`: one per physical card. `members`: for each card, the places of its indices (or
    of its back) in `detections`. `turns_deg`: for each detection the turn it was read at.
    """

    width: int
    height: int
    detections: tuple[Found, ...]
    cards: tuple[Found, ...]
    members: tuple[tuple[int, ...], ...] = ()
    turns_deg: tuple[float, ...] = ()

    def as_dict(self, image: str) -> dict[str, Any]:
        """The form of `feltwatch detect --json`; `image` names the picture."""
        return {
            "image": image,
            "width": self.width,
            "height": self.height,
            "cards": [card.as_dict() for card in self.cards],
            "detections": [found.as_dict() for found in self.detections],
        }


def read_picture(path: Path) -> ByteArray:
    """A picture file as uint8 (h, w, 3) BGR, turned as its camera noted.

    Raises PhotoError naming the file when it is missing or no picture.
    """
    if path.is_dir():
        raise PhotoError(f"{path}: is a folder; give picture files")
    try:
        data = np.fromfile(path, np.uint8)
    except OSError as error:
        raise PhotoError(f"{path}: cannot be read ({error.strerror or error})") from error
    try:
        image = cv2.imdecode(data, cv2.IMREAD_COLOR) if data.size else None
    except cv2.error:
        image = None
    if image is None:
        raise PhotoError(f"{path}: is no picture that can be read; JPEG and PNG are")
    return np.asarray(image, np.uint8)


@dataclass(frozen=True, slots=True)
class _Index:
    """An index in hand: its place among the detections and what it reads as."""

    item: int
    label: str
    share: float
    reading: Reading

    @property
    def shares(self) -> Floats:
        """Shares (53,) of the cards, with the detector's word where that was the surer."""
        if self.share == self.reading.share:
            return self.reading.shares
        out = self.reading.shares * (1 - self.share)
        out[DECK_LABELS.index(self.label)] = self.share
        return out


@dataclass(frozen=True)
class PhotoReader:
    """Reads photographs: finds the indices in overlapping views, reads each, joins cards."""

    detector: SizedDetector
    reader: Reader

    def read(self, image: ByteArray) -> PhotoResult:
        """Everything on a picture, uint8 (h, w, 3) BGR of any size."""
        return self.read_found(image, find_in_picture(image, self.detector))

    def read_found(self, image: ByteArray, found: Detections) -> PhotoResult:
        """As `read`, for boxes that are found already."""
        height, width = image.shape[:2]
        indices = self._indices(image, found)
        cards = join_indices([_placed(found, own) for own in indices], width, height)
        label_of = {n: card.label for card in cards for n in card.members}
        shown: list[Found] = []
        turns: list[float] = []
        place: dict[int, int] = {}
        for n, own in enumerate(indices):
            place[n] = len(shown)
            label, score = label_of.get(n, UNSURE), float(found.scores[own.item])
            if label in DECK_LABELS:
                score = float(own.shares[DECK_LABELS.index(label)])
            shown.append(Found(label, score, _box(found, own.item)))
            turns.append(own.reading.turn_deg)
        backs: list[int] = []
        for item in range(len(found)):
            name = found.name(item)
            if name in ASPECTS or float(found.scores[item]) < OTHER_SCORE:
                continue
            if name == "back":
                backs.append(len(shown))
            label = BACK if name == "back" else name
            shown.append(Found(label, float(found.scores[item]), _box(found, item)))
            turns.append(0.0)
        faces = [Found(card.label, card.score, card.xyxy) for card in cards]
        members = [tuple(place[n] for n in card.members) for card in cards]
        for at in backs:
            faces.append(shown[at])
            members.append((at,))
        return PhotoResult(width, height, tuple(shown), tuple(faces), tuple(members), tuple(turns))

    def _indices(self, image: ByteArray, found: Detections) -> list[_Index]:
        """The indices among the detections, each read; one for each place."""
        items = [n for n in range(len(found)) if found.name(n) in ASPECTS]
        aspects = [ASPECTS[found.name(n)] for n in items]
        readings = read_boxes(image, found.xyxy[items], aspects, self.reader)
        out: list[_Index] = []
        for item, reading in zip(items, readings, strict=True):
            told = told_index(reading, found.name(item) == "joker", float(found.scores[item]))
            if told is not None:
                out.append(_Index(item, *told, reading))
        return _one_per_place(found, out)


def told_index(reading: Reading, as_joker: bool, score: float) -> tuple[str, float] | None:
    """The card and its share of an index as read, found as a joker or not with `score`.

    The reader's word counts; None where nothing reads as a card. A joker needs more than a
    card does, as a club's marks beside an edge look like its word: that both say so
    (`JOKER_BOTH`), that the reader is sure of it (`JOKER_READ`), or that it was found as one
    with `JOKER_SCORE` and the reader tells no card.
    """
    label, share = reading.label, reading.share
    if as_joker and score >= JOKER_SCORE and (label == JOKER or share < READ_LIMIT):
        return JOKER, max(score, float(reading.shares[-1]))
    if label != JOKER:
        return (label, share) if as_joker or share >= NONE_BELOW else None
    if as_joker and score >= JOKER_BOTH[0] and share >= JOKER_BOTH[1]:
        return JOKER, max(score, share)
    if share >= JOKER_READ:
        return JOKER, share if as_joker else min(share, JOKER_SHARE)
    return None


def _one_per_place(found: Detections, indices: list[_Index]) -> list[_Index]:
    """Of indices found twice at one place, by two classes or scales, the surer."""
    kept: list[_Index] = []
    for own in sorted(indices, key=lambda index: -index.share):
        at = _center(found, own.item)
        near = (0.5 * min(own.reading.height_px, k.reading.height_px) for k in kept)
        apart = (float(np.hypot(*(at - _center(found, k.item)))) for k in kept)
        if all(a > n for a, n in zip(apart, near, strict=True)):
            kept.append(own)
    return kept


def _center(found: Detections, item: int) -> FloatArray:
    x0, y0, x1, y1 = (float(v) for v in found.xyxy[item])
    return np.array([(x0 + x1) / 2, (y0 + y1) / 2])


def _box(found: Detections, item: int) -> tuple[float, float, float, float]:
    x0, y0, x1, y1 = (float(v) for v in found.xyxy[item])
    return x0, y0, x1, y1


def _placed(found: Detections, own: _Index) -> ReadIndex:
    return ReadIndex(
        own.label, own.share, _center(found, own.item), own.reading.turn_deg,
        own.reading.height_px, own.shares, ASPECTS[found.name(own.item)],
    )  # fmt: skip
