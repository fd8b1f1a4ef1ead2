"""What the networks say of the images of a set, read as the product reads such images."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from models.evaluate.samples import PHOTO, TABLE, ValPicture
from settlement.record import DECK_LABELS
from vision.cards.photo import card_of_reading, read_picture
from vision.cards.rotation import ASPECTS, read_boxes
from vision.cards.view import see_indices
from vision.detect.calibrated_scores import Points, calibrated
from vision.detect.detections import ByteArray, Detections, Floats, Reader
from vision.detect.tiling import SizedDetector, find_in_picture
from vision.geometry.calibration import Calibration, view_to_felt
from vision.geometry.letterbox import fit_square
from vision.geometry.pose import Pose
from vision.geometry.table import Place

FLOOR = 0.001
"""Detections are kept down to this score, so that the whole precision-recall curve counts."""

READ_FLOOR = 0.05
"""Indices found with less are not read."""

PICTURES_AT_ONCE = 16


@dataclass(frozen=True, slots=True, eq=False)
class IndexReading:
    """One found index as read: shares float32 (53,) over DECK_LABELS.

    `probability` is that of the likeliest card, as the product uses it. `plain` float32 (54,)
    are the reader's own probabilities with `none`, where nothing but the reader spoke; else None.
    """

    shares: Floats
    probability: float
    plain: Floats | None

    @property
    def card(self) -> str:
        """The likeliest card."""
        return DECK_LABELS[int(self.shares.argmax())]


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """An image, what was found on it (px of the image) and how the indices were read.

    `readings` holds, by place in `found`, those read as a card; `unread` are the places of
    indices that the reader took for none.
    """

    picture: ValPicture
    found: Detections
    readings: dict[int, IndexReading]
    unread: frozenset[int]


def predict(
    pictures: Sequence[ValPicture],
    detector: SizedDetector,
    reader: Reader,
    progress: Callable[[float], None] | None = None,
    points: Points | None = None,
) -> Iterator[Prediction]:
    """Find and read everything on each image, in order.

    Rendered images are one view each, photographs are looked at in several. Scores are
    the network's own; where `points` calibrate them, the reading goes by the calibrated
    ones, as in the product. Raises FeltwatchError for an image that cannot be read.
    """
    for start in range(0, len(pictures), PICTURES_AT_ONCE):
        part = pictures[start : start + PICTURES_AT_ONCE]
        images = [read_picture(picture.path) for picture in part]
        scenes = [picture.scene for picture in part]
        yield from look(images, scenes, part, detector, reader, points)
        if progress:
            progress((start + len(part)) / len(pictures))


def look(
    images: Sequence[ByteArray],
    scenes: Sequence[str],
    pictures: Sequence[ValPicture],
    detector: SizedDetector,
    reader: Reader,
    points: Points | None = None,
) -> Iterator[Prediction]:
    """As `predict`, for images in hand, uint8 (h, w, 3) BGR; `scenes` say how each is read."""
    views = [n for n, scene in enumerate(scenes) if scene != PHOTO]
    fitted = [fit_square(images[n], detector.size) for n in views]
    seen = detector.find([square for square, _, _ in fitted])
    found: dict[int, Detections] = {}
    for n, (_, scale, (x, y)), one in zip(views, fitted, seen, strict=True):
        xyxy = (one.xyxy - np.array([x, y, x, y], np.float32)) / np.float32(scale)
        found[n] = Detections(xyxy.astype(np.float32), one.scores, one.classes, one.names)
    for n, (image, scene, picture) in enumerate(zip(images, scenes, pictures, strict=True)):
        own = found[n] if n in found else find_in_picture(image, detector)
        scored = calibrated(own, points or {})
        items = [
            n for n in range(len(own))
            if own.name(n) in ASPECTS and float(own.scores[n]) >= READ_FLOOR
        ]  # fmt: skip
        readings = _read(image, scored, items, reader, scene)
        unread = frozenset(items) - frozenset(readings)
        yield Prediction(picture, own, readings, unread)


def _read(
    image: ByteArray, found: Detections, items: Sequence[int], reader: Reader, scene: str
) -> dict[int, IndexReading]:
    if not items:
        return {}
    read = _read_view if scene == TABLE else _read_any_turn
    return read(image, found, items, reader)


def _read_view(
    image: ByteArray, found: Detections, items: Sequence[int], reader: Reader
) -> dict[int, IndexReading]:
    """As in a calibrated view: upright or turned by 180 degrees, by `vision.cards.view`."""
    keep: npt.NDArray[np.bool_] = np.zeros(len(found), np.bool_)
    keep[list(items)] = True
    place, calibration = flat_view(image)
    seen = see_indices(image, calibration, place, found.where(keep), image.shape[1], reader)
    places: dict[tuple[float, ...], list[int]] = {}
    for n in items:
        places.setdefault(tuple(float(v) for v in found.xyxy[n]), []).append(n)
    out = {}
    for one in seen.indices:
        n = places[one.xyxy].pop(0)
        plain = None if found.name(n) == "joker" else with_none(one.shares)
        out[n] = IndexReading(one.shares, float(one.shares.max()), plain)
    return out


def _read_any_turn(
    image: ByteArray, found: Detections, items: Sequence[int], reader: Reader
) -> dict[int, IndexReading]:
    """As on a photograph: at whatever turn, by `vision.cards.rotation`, the joker as
    `vision.cards.photo`."""
    aspects = [ASPECTS[found.name(n)] for n in items]
    out = {}
    for n, own in zip(
        items, read_boxes(image, found.xyxy[list(items)], aspects, reader), strict=True
    ):
        as_joker = found.name(n) == "joker"
        said = card_of_reading(own, as_joker)
        if said is None:
            continue
        card, probability = said
        shares = own.shares
        if card != own.label:
            shares = shares * np.float32(1 - probability)
            shares[DECK_LABELS.index(card)] = probability
        out[n] = IndexReading(shares, probability, None if as_joker else with_none(shares))
    return out


def with_none(shares: Floats) -> Floats:
    """Shares (53,) with that of `none` at the end, (54,): what is left of 1."""
    rest = max(0.0, 1.0 - float(shares.sum()))
    return np.append(shares, np.float32(rest)).astype(np.float32)


def flat_view(image: ByteArray) -> tuple[Place, Calibration]:
    """The place and calibration by which an image is its own view: its px are the view's."""
    height, width = image.shape[:2]
    place = Place(center_mm=(0.0, 0.0))
    to_felt = view_to_felt(place, width)
    pose = Pose(
        foot_mm=(0.0, 0.0), height_mm=1.0, height_sd_mm=0.0, focal_px=1.0, focal_known=False,
        rms_px=0.0,
    )  # fmt: skip
    return place, Calibration(
        homography=np.asarray(np.linalg.inv(to_felt), np.float64), inverse=to_felt,
        width_px=width, height_px=height, rms_px=0.0, max_px=0.0, pose=pose,
    )  # fmt: skip
