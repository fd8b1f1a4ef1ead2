"""Scoring photographs: the share of labelled cards read right, wrong and not at all."""

from __future__ import annotations

import time
import zlib
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from models.data.photo_labels import LabelledPhoto, PhotoBox, load_labels
from models.evaluate.perturbations import Change
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS, JOKER
from vision.cards.photo import BACK, Found, PhotoResult, read_picture
from vision.detect.detections import ByteArray
from vision.detect.tiling import overlaps

CORNER_GROW = 0.15
CARD_GROW = 0.03
MOST_CONFUSIONS = 12

THE_52 = "the 52 cards"
OTHERS = {BACK: BACK, "chip_stack": "chip"}
"""Labels of photographs that are no faces of cards, and what they are found as."""

_CARDS = frozenset(DECK_LABELS)


class ReadsPhotos(Protocol):
    """What reads photographs, `vision.cards.photo.PhotoReader` above all."""

    def read(self, image: ByteArray) -> PhotoResult:
        """Everything on an image, uint8 (h, w, 3) BGR."""
        ...


@dataclass
class Tally:
    """Labelled things: how many were seen, read right, read wrong, and not read."""

    seen: int = 0
    right: int = 0
    wrong: int = 0
    unread: int = 0

    def add(self, right: bool, wrong: bool) -> None:
        """Count one thing; a wrong name at its place spoils a right one."""
        self.seen += 1
        if wrong:
            self.wrong += 1
        elif right:
            self.right += 1
        else:
            self.unread += 1

    def as_dict(self) -> dict[str, int]:
        """Plain numbers."""
        return {
            "seen": self.seen, "right": self.right, "wrong": self.wrong, "unread": self.unread,
        }  # fmt: skip


@dataclass
class PhotoTally:
    """Counts over photographs.

    `cards`: whole cards (labels of kind `card`, or the corners of one name in an image);
    `lines` has them apart: the 52 cards, jokers, and besides them backs and chip stacks,
    `elsewhere` what was reported as one of those where no such label is.
    `corners`: labelled indices. `invented`: cards found where no label is. `named`: indices
    that were given a card's name, `named_right`: at a label of that name.
    """

    pictures: int = 0
    cards: Tally = field(default_factory=Tally)
    corners: Tally = field(default_factory=Tally)
    corners_found: int = 0
    invented: int = 0
    named: int = 0
    named_right: int = 0
    confusions: Counter[str] = field(default_factory=Counter)
    lines: dict[str, Tally] = field(default_factory=dict)
    elsewhere: Counter[str] = field(default_factory=Counter)

    def add(self, photo: LabelledPhoto, result: PhotoResult) -> None:
        """Count one image."""
        self.pictures += 1
        corners = [box for box in photo.boxes if box.kind == "corner" and box.label in _CARDS]
        cards = [box for box in photo.boxes if box.kind == "card" and box.label in _CARDS]
        named = [found for found in result.detections if found.label in _CARDS]
        places = [(box, CORNER_GROW) for box in corners] + [(box, CARD_GROW) for box in cards]
        self.named += len(named)
        for found in named:
            self.named_right += any(
                box.label == found.label and box.holds(*_center(found), grow)
                for box, grow in places
            )
        if corners:
            self._add_corners(corners, named)
        if cards:
            self._add_cards(cards, result)
        self._add_others(photo, result)

    def _add_card(self, label: str, right: bool, wrong: bool) -> None:
        """One whole card, in the line of all and in its own."""
        self.cards.add(right, wrong)
        line = JOKER if label == JOKER else THE_52
        self.lines.setdefault(line, Tally()).add(right, wrong)

    def _add_others(self, photo: LabelledPhoto, result: PhotoResult) -> None:
        """Backs and stacks: found at their place; a back is wrong where it is given a card."""
        for label, name in OTHERS.items():
            boxes = [box for box in photo.boxes if box.label == label]
            for box in boxes:
                at = [f for f in result.detections if box.holds(*_center(f), CARD_GROW)]
                found = any(f.label == name for f in at)
                # A card that lies on the back is a label of its own.
                named = [f for f in at if f.label in _CARDS and not _has_label(photo, f)]
                wrong = label == BACK and bool(named)
                self.lines.setdefault(label, Tally()).add(found, wrong)
                if wrong:
                    self.confusions[f"{label} read {named[0].label}"] += 1
            if boxes or label == BACK:
                # Only where stacks are labelled at all is one more of them a mistake.
                self.elsewhere[label] += sum(
                    f.label == name and not any(b.holds(*_center(f), CARD_GROW) for b in boxes)
                    for f in result.detections
                )
        self.elsewhere[JOKER] += sum(
            card.label == JOKER
            and not any(_has_label(photo, found) for found in _found_of(result, n))
            for n, card in enumerate(result.cards)
        )

    def _add_corners(self, corners: list[PhotoBox], named: list[Found]) -> None:
        spoiled: dict[str, bool] = {}
        hit: dict[str, bool] = {}
        taken: set[int] = set()
        for box in corners:
            here = [n for n, f in enumerate(named) if box.holds(*_center(f), CORNER_GROW)]
            taken.update(here)
            right = any(named[n].label == box.label for n in here)
            # A name that another label at this place claims is that label's, not a mistake.
            others = [
                named[n].label for n in here
                if not any(
                    other.label == named[n].label and other.holds(*_center(named[n]), CORNER_GROW)
                    for other in corners
                )
            ]  # fmt: skip
            self.corners.add(right, bool(others))
            self.corners_found += right
            self.confusions.update(f"{box.label} read {name}" for name in others)
            spoiled[box.label] = spoiled.get(box.label, False) or bool(others)
            hit[box.label] = hit.get(box.label, False) or right
        for label, right in hit.items():
            self._add_card(label, right, spoiled[label])
        self.invented += len({f.label for n, f in enumerate(named) if n not in taken} - set(hit))

    def _add_cards(self, cards: list[PhotoBox], result: PhotoResult) -> None:
        right: set[int] = set()
        strange: list[tuple[Found, list[int]]] = []
        for n, found in enumerate(result.cards):
            if found.label not in _CARDS:
                continue
            at = _found_of(result, n)
            homes = [
                k for k, box in enumerate(cards)
                if 2 * sum(box.holds(*_center(f), CARD_GROW) for f in at) > len(at)
            ]  # fmt: skip
            own = [k for k in homes if cards[k].label == found.label]
            if own:
                right.update(own)
            else:
                strange.append((found, homes))
        wrong: set[int] = set()
        for found, homes in strange:
            if not homes:
                self.invented += 1
                continue
            boxes = np.array([cards[k].xyxy for k in homes])
            fit = overlaps(np.array(found.xyxy), boxes)[0]
            # Where cards overlap, the one that nothing else accounts for was misread.
            best = max(
                range(len(homes)),
                key=lambda j: (homes[j] not in right and homes[j] not in wrong, fit[j]),
            )
            wrong.add(homes[best])
            self.confusions[f"{cards[homes[best]].label} read {found.label}"] += 1
        for k in range(len(cards)):
            self._add_card(cards[k].label, k in right, k in wrong)

    def as_dict(self) -> dict[str, Any]:
        """The form of `feltwatch model photos --json`; shares are None where nothing counts."""
        out: dict[str, Any] = {
            "pictures": self.pictures,
            "cards": {**self.cards.as_dict(), "invented": self.invented},
            "lines": {
                name: own.as_dict() | {"elsewhere": self.elsewhere[name]}
                for name in (THE_52, JOKER, *OTHERS)
                if (own := self.lines.get(name, Tally())).seen or self.elsewhere[name]
            },
        }
        if self.corners.seen:
            out["corners"] = self.corners.as_dict()
        out["indices"] = {
            "named": self.named,
            "right": self.named_right,
            "precision": _share(self.named_right, self.named),
            "recall": _share(self.corners_found, self.corners.seen),
        }
        out["confusions"] = dict(self.confusions.most_common(MOST_CONFUSIONS))
        return out


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _found_of(result: PhotoResult, card: int) -> list[Found]:
    """What was found of a card: its indices, or itself where none are known."""
    members = result.members[card]
    return [result.detections[n] for n in members] or [result.cards[card]]


def _has_label(photo: LabelledPhoto, found: Found) -> bool:
    """Whether a label of that name, whole card or index, is where something was found."""
    return any(
        box.label == found.label and box.holds(*_center(found), CORNER_GROW) for box in photo.boxes
    )


def _center(found: Found) -> tuple[float, float]:
    x0, y0, x1, y1 = found.xyxy
    return (x0 + x1) / 2, (y0 + y1) / 2


def score_photos(
    folder: Path,
    images: Collection[str] | None,
    photo_reader: ReadsPhotos,
    on_photo: Callable[[LabelledPhoto, ByteArray, PhotoResult], None] | None = None,
    change: Change | None = None,
) -> dict[str, Any]:
    """Read the labelled photographs of a folder and count what was right.

    `images`: names as in `labels.json`, all when None. `on_photo` is called with each
    image (BGR) and its result. With `change` each image is read in changed form, the same at
    every run. Raises FeltwatchError for labels or images that cannot be read, or when none is
    chosen.
    """
    photos = [p for p in load_labels(folder) if images is None or p.image in images]
    if not photos:
        raise FeltwatchError(f"{folder}: no image is chosen; widen the choice")
    tally = PhotoTally()
    spent = 0.0
    for photo in photos:
        image = read_picture(folder / photo.image)
        if image.shape[:2] != (photo.height, photo.width):
            raise FeltwatchError(
                f"{folder / photo.image}: is {image.shape[1]} x {image.shape[0]} px, "
                f"its labels say {photo.width} x {photo.height}"
            )
        if change is not None:
            rng = np.random.default_rng(zlib.crc32(photo.image.encode()))
            image, _ = change(rng, image, ())
        start = time.perf_counter()
        result = photo_reader.read(image)
        spent += time.perf_counter() - start
        tally.add(photo, result)
        if on_photo:
            on_photo(photo, image, result)
    return {
        "folder": folder.name, **tally.as_dict(),
        "seconds_per_picture": round(spent / len(photos), 4),
    }  # fmt: skip
