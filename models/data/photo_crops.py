"""Training data out of labelled photographs: upright crops for the reader, boxes for the detector.

The labels say which card is where, not how an index is turned. The present reader finds the
turn: the one at which it gives the true card the largest share. So a weak reader's crops
make a better one, without its mistakes becoming labels.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from datasets.training.index_patches import CONTEXT, PATCH_PX, PatchSet, save_patches
from datasets.training.training_set import NONE_CLASS
from datasets.training.views import CLASSES
from models.data.photo_labels import LabelledPhoto, PhotoBox, load_labels
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS, JOKER
from vision.cards.photo import read_picture
from vision.cards.rotation import (
    ASPECTS,
    CROP_MARGIN,
    TURNS,
    index_height,
    middle_turn,
    shares_by_turn,
    turned_crops,
)
from vision.detect.detections import ByteArray, Detections, Floats, Reader
from vision.detect.tiling import SizedDetector, find_in_picture, overlaps
from vision.geometry.table import FloatArray

CORNER_SHARE = 0.15
"""A labelled corner is taken when the true card has this share at the best turn."""

CARD_SHARE = 0.3
"""As much for an index that was found within a labelled card."""

CLEAR_LEAD = 2.0
"""A turn is clear when the share there is so many times that at turns far from it."""

CORNER_SHRINK = 0.8
"""Hand-drawn corner boxes are this much too large, on average."""

STRANGE_SHARE = 0.3
"""A crop that reads as some card with more than this is not used as `none`."""

SURE_BOX = 0.4
"""A found box of this score that no label accounts for keeps its image from the detector."""

SOURCE_FILE = "source.json"
"""Name, version, licence and attribution of a folder of photographs, for the model card."""

NONE_TRIES = 3
SHARD = 2000


@dataclass(frozen=True, slots=True, eq=False)
class _Square:
    """An upright crop (64, 64, 3), the patch about it (112, 112, 3), its class, and the width of
    its index over the height."""

    crop: ByteArray
    patch: ByteArray
    label: int
    aspect: float


@dataclass(frozen=True, slots=True)
class _Taken:
    """What one image gave: squares, and boxes (class, xyxy) for the detector."""

    squares: list[_Square]
    boxes: list[tuple[int, tuple[float, float, float, float]]]
    complete: bool
    corners_of_lone_cards: list[int]


def best_turn(shares: Floats, card: int) -> tuple[float, float, bool]:
    """Turn in degrees at which a card's share is largest, that share, and whether it is clear.

    `shares` (TURNS, 54) as `vision.cards.rotation.shares_by_turn` gives for one box. Clear: the
    card is the best of all 53 there, or the share is well above that at turns far away.
    """
    own = shares[:, card]
    support = own + 0.5 * (np.roll(own, 1) + np.roll(own, -1))
    k = int(support.argmax())
    here = float(own[k])
    turn = middle_turn(own, k)
    far = np.array([own[(k + d) % TURNS] for d in range(2, TURNS - 1)])
    leads = bool(here >= shares[k, :NONE_CLASS].max())
    return turn % 360, here, leads or here >= CLEAR_LEAD * float(far.max())


class _Harvest:
    """Takes crops and boxes from images, one at a time."""

    def __init__(self, detector: SizedDetector, reader: Reader, seed: int) -> None:
        self.detector = detector
        self.reader = reader
        self.rng = np.random.default_rng(seed)

    def take(self, photo: LabelledPhoto, image: ByteArray) -> _Taken:
        """Everything that an image's labels allow."""
        found = find_in_picture(image, self.detector).of("index", "joker")
        corners = [box for box in photo.boxes if box.kind == "corner" and box.label in DECK_LABELS]
        cards = [box for box in photo.boxes if box.kind == "card" and box.label in DECK_LABELS]
        if corners:
            taken = self._from_corners(image, corners, found)
        elif cards:
            taken = self._from_cards(image, cards, found)
        else:
            return _Taken([], [], False, [])
        self._add_none(image, photo, found, taken)
        return taken

    def _from_corners(
        self, image: ByteArray, corners: Sequence[PhotoBox], found: Detections
    ) -> _Taken:
        boxes = np.array([_tighter(box, found) for box in corners], np.float32)
        names = [_class_name(box.label) for box in corners]
        taken = _Taken([], [], True, [])
        wanted = [DECK_LABELS.index(box.label) for box in corners]
        self._add_crops(image, boxes, names, wanted, CORNER_SHARE, taken)
        for name, box in zip(names, boxes, strict=True):
            taken.boxes.append((CLASSES.index(name), _plain(box)))
        return taken

    def _from_cards(self, image: ByteArray, cards: Sequence[PhotoBox], found: Detections) -> _Taken:
        names = [found.name(n) for n in range(len(found))]
        shares = shares_by_turn(image, found.xyxy, [ASPECTS[n] for n in names], self.reader)
        owners: list[int | None] = []
        for box, own in zip(found.xyxy, shares, strict=True):
            owners.append(_owner(box, own, cards))
        held = [n for n, owner in enumerate(owners) if owner is not None]
        wanted = [DECK_LABELS.index(cards[owner].label) for owner in owners if owner is not None]
        taken = _Taken([], [], True, [])
        self._add_crops(
            image, found.xyxy[held], [names[n] for n in held], wanted, CARD_SHARE, taken
        )
        for n in held:
            owner = owners[n]
            name = "index" if owner is None else _class_name(cards[owner].label)
            taken.boxes.append((CLASSES.index(name), _plain(found.xyxy[n])))
        count = Counter(owner for owner in owners if owner is not None)
        for k, card in enumerate(cards):
            others = np.array([c.xyxy for j, c in enumerate(cards) if j != k]).reshape(-1, 4)
            if not np.any(overlaps(np.array(card.xyxy), others)[1] > 0):
                taken.corners_of_lone_cards.append(count[k])
        strays = any(
            owner is None
            and found.scores[n] >= SURE_BOX
            and shares[n, :, :NONE_CLASS].max() >= STRANGE_SHARE
            for n, owner in enumerate(owners)
        )
        complete = not strays and all(count[k] for k in range(len(cards)))
        return _Taken(taken.squares, taken.boxes, complete, taken.corners_of_lone_cards)

    def _add_crops(
        self, image: ByteArray, boxes: Floats, names: Sequence[str], wanted: Sequence[int],
        least: float, taken: _Taken,
    ) -> None:  # fmt: skip
        aspects = [ASPECTS[name] for name in names]
        shares = shares_by_turn(image, boxes, aspects, self.reader)
        for box, aspect, own, card in zip(boxes, aspects, shares, wanted, strict=True):
            turn, share, clear = best_turn(own, card)
            if share < least or not clear:
                continue
            side = CROP_MARGIN * index_height(box, turn, aspect)
            center = np.array([(box[0] + box[2]) / 2, (box[1] + box[3]) / 2], np.float64)
            taken.squares.append(_square(image, center, turn, side, card, aspect))

    def _add_none(
        self, image: ByteArray, photo: LabelledPhoto, found: Detections, taken: _Taken
    ) -> None:
        """Squares that hold no index: anywhere, and pips and images within the cards."""
        size = float(np.median([_side(box) for _, box in taken.boxes])) if taken.boxes else 40.0
        cards = [box.xyxy for box in photo.boxes if box.kind == "card"]
        areas = [*cards, (0.0, 0.0, float(photo.width), float(photo.height))]
        full = np.array([box for _, box in taken.boxes] or [(0, 0, 0, 0)], np.float32)
        full = np.vstack([full, found.xyxy])
        for _ in range(NONE_TRIES):
            x0, y0, x1, y1 = areas[int(self.rng.integers(len(areas)))]
            center = np.array([self.rng.uniform(x0, x1), self.rng.uniform(y0, y1)])
            side = size * float(self.rng.uniform(0.7, 1.5)) * CROP_MARGIN
            square = np.concatenate([center - side / 2, center + side / 2])
            if np.any(overlaps(square, full)[1] > 0.1):
                continue
            turn = float(self.rng.uniform(0, 360))
            crops = turned_crops(image, center, [(turn + 90 * k, side) for k in range(4)])
            if self.reader.read(crops)[:, :NONE_CLASS].max() < STRANGE_SHARE:
                taken.squares.append(_square(image, center, turn, side, NONE_CLASS, 0.5))


def _square(
    image: ByteArray, center: FloatArray, turn: float, side: float, label: int, aspect: float
) -> _Square:
    """A square about `center` (2,) px, of `side` px, made upright."""
    patch = turned_crops(image, center, [(turn, side * CONTEXT)], PATCH_PX)[0]
    return _Square(turned_crops(image, center, [(turn, side)])[0], patch, label, aspect)


def _class_name(label: str) -> str:
    return "joker" if label == JOKER else "index"


def _plain(box: Floats) -> tuple[float, float, float, float]:
    x0, y0, x1, y1 = (float(v) for v in box)
    return x0, y0, x1, y1


def _side(box: tuple[float, float, float, float]) -> float:
    return max(box[2] - box[0], box[3] - box[1])


def _tighter(label: PhotoBox, found: Detections) -> tuple[float, float, float, float]:
    """The found box that a hand-drawn corner box is about, else that box made smaller."""
    box = np.array(label.xyxy, np.float32)
    if len(found):
        iou = overlaps(box, found.xyxy)[0]
        best = int(iou.argmax())
        x0, y0, x1, y1 = _plain(found.xyxy[best])
        if iou[best] >= 0.35 and label.holds((x0 + x1) / 2, (y0 + y1) / 2):
            return x0, y0, x1, y1
    center, half = (box[:2] + box[2:]) / 2, (box[2:] - box[:2]) / 2 * CORNER_SHRINK
    return _plain(np.concatenate([center - half, center + half]))


def _owner(box: Floats, shares: Floats, cards: Sequence[PhotoBox]) -> int | None:
    """Which labelled card a found index is of: the one it reads as among those around it."""
    x, y = float(box[0] + box[2]) / 2, float(box[1] + box[3]) / 2
    around = [k for k, card in enumerate(cards) if card.holds(x, y, 0.03)]
    if not around:
        return None
    known = [best_turn(shares, DECK_LABELS.index(cards[k].label)) for k in around]
    best = max(range(len(around)), key=lambda j: known[j][1])
    _, share, clear = known[best]
    return around[best] if share >= CARD_SHARE and clear else None


def _yolo_line(number: int, box: Sequence[float], width: int, height: int) -> str:
    x0, x1 = (min(max(v, 0.0), width) / width for v in (box[0], box[2]))
    y0, y1 = (min(max(v, 0.0), height) / height for v in (box[1], box[3]))
    return f"{number} {(x0 + x1) / 2:.6f} {(y0 + y1) / 2:.6f} {x1 - x0:.6f} {y1 - y0:.6f}"


def _copy_jpeg(source: Path, target: Path) -> None:
    if source.suffix.lower() in (".jpg", ".jpeg"):
        shutil.copyfile(source, target)
    else:
        data = cv2.imencode(".jpg", read_picture(source), [cv2.IMWRITE_JPEG_QUALITY, 95])[1]
        target.write_bytes(data.tobytes())


def _note_source(folder: Path, out: Path) -> None:
    """Copy the folder's note of origin and licence; its name where there is none."""
    note = folder / SOURCE_FILE
    if note.is_file():
        shutil.copyfile(note, out / SOURCE_FILE)
    else:
        text = json.dumps({"name": folder.resolve().name}) + "\n"
        (out / SOURCE_FILE).write_text(text, encoding="utf-8")


def _save_squares(squares: Sequence[_Square], out: Path) -> None:
    first = len(list((out / "crops").glob("*-labels.npy")))
    for k, start in enumerate(range(0, len(squares), SHARD)):
        path, own = out / "crops" / f"{first + k:04d}.npy", squares[start : start + SHARD]
        np.save(path, np.stack([one.crop for one in own]))
        labels = np.array([one.label for one in own], np.int16)
        np.save(path.with_name(f"{path.stem}-labels.npy"), labels)
    if squares:
        made = PatchSet(
            np.stack([one.patch for one in squares]),
            np.array([one.label for one in squares], np.int16),
            np.array([one.aspect for one in squares], np.float32),
        )
        save_patches(out / "patches.npz", made)


def harvest_photos(
    folder: Path,
    images: Collection[str] | None,
    detector: SizedDetector,
    reader: Reader,
    out: Path,
    *,
    prefix: str = "photo",
    skip_suits: str = "",
    seed: int = 1,
    on_photo: Callable[[int, int], None] | None = None,
) -> dict[str, int]:
    """Write crops and detector labels from a folder of labelled photographs.

    `images`: the images of the training part, by name; never those held out. Into `out`:
    `crops/NNNN.npy` uint8 (n, 64, 64, 3) BGR with `crops/NNNN-labels.npy` int16 (n,),
    `patches.npz` with what is about them (`datasets.training.index_patches`), and
    `images/PREFIX-*.jpg` with `labels/PREFIX-*.txt` in YOLO's form for images in which
    every index could be accounted for. Returns what was taken.

    `skip_suits`, such as `S`, leaves crops of these suits out: where a folder shows a deck's
    spades and none of its clubs, its crops would teach that every black mark is a spade.

    Raises FeltwatchError when there is nothing to take or the labels cannot be read.
    """
    photos = [p for p in load_labels(folder) if images is None or p.image in images]
    if not photos:
        raise FeltwatchError(f"{folder}: no image is chosen for training")
    for part in ("crops", "images", "labels"):
        (out / part).mkdir(parents=True, exist_ok=True)
    harvest = _Harvest(detector, reader, seed)
    squares: list[_Square] = []
    whole: list[tuple[LabelledPhoto, _Taken]] = []
    for n, photo in enumerate(photos):
        taken = harvest.take(photo, read_picture(folder / photo.image))
        squares += [
            one
            for one in taken.squares
            if one.label >= len(DECK_LABELS) - 1 or DECK_LABELS[one.label][1] not in skip_suits
        ]
        if taken.complete:
            whole.append((photo, _Taken([], taken.boxes, True, taken.corners_of_lone_cards)))
        if on_photo:
            on_photo(n + 1, len(photos))
    # A deck has its index in two or in four corners; a card that lies alone shows all.
    lone = Counter(count for _, taken in whole for count in taken.corners_of_lone_cards)
    due = 4 if lone[4] + lone[3] > lone[2] else 2
    complete = 0
    for photo, taken in whole:
        if any(count < due for count in taken.corners_of_lone_cards):
            continue
        name = f"{prefix}-{Path(photo.image).stem}"
        _copy_jpeg(folder / photo.image, out / "images" / f"{name}.jpg")
        lines = [_yolo_line(c, box, photo.width, photo.height) for c, box in taken.boxes]
        text = "\n".join(lines) + "\n"
        (out / "labels" / f"{name}.txt").write_text(text, encoding="ascii")
        complete += 1
    _note_source(folder, out)
    _save_squares(squares, out)
    classes = [one.label for one in squares]
    return {
        "pictures": len(photos),
        "crops": sum(c != NONE_CLASS for c in classes),
        "none_crops": sum(c == NONE_CLASS for c in classes),
        "detector_pictures": complete,
    }
