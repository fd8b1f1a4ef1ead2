"""Labelled datasets read in pages, and their image files."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from datasets.labelled.manifest import MANIFEST, PICTURES, Box, Change, Dataset, Picture
from datasets.labelled.suggestions import Suggestions
from settlement.errors import FeltwatchError

_FIRST_STRIDE = 256


@dataclass(frozen=True, slots=True)
class Filter:
    """Which images are asked for; None and False ask for all."""

    split: str | None = None
    confirmed: bool | None = None
    label: str | None = None
    deal: str | None = None
    without_boxes: bool = False
    by_disagreement: bool = False
    """Only images with suggestions, those that differ most from their labels first."""


class LabelledPictures:
    """The images of one dataset; safe to use from several threads."""

    def __init__(self, dataset: Dataset) -> None:
        """Read and write `dataset`, which the caller closes."""
        self._dataset = dataset
        self.suggestions = Suggestions(dataset)
        self._pictures = (dataset.folder / PICTURES).resolve()
        place = str((dataset.folder / MANIFEST).resolve())
        self.key = hashlib.sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:16]

    @property
    def folder(self) -> Path:
        """The dataset's folder."""
        return self._dataset.folder

    @property
    def name(self) -> str:
        """The name of the dataset's folder."""
        return self._dataset.folder.resolve().name

    def labels(self) -> tuple[str, ...]:
        """The names of the labels, in order."""
        return self._dataset.labels

    def add_label(self, name: str) -> None:
        """Put a label at the end unless it is there."""
        self._dataset.add_labels([name])

    def splits(self) -> list[tuple[str | None, int]]:
        """Each split with its count of images; None for images in none."""
        return list(self._dataset.splits().items())

    def find(self, id: int) -> Picture | None:
        """The image of that number, None when there is none."""
        return next(
            (p for p in self._dataset.pictures(after_id=id - 1, limit=1) if p.id == id), None
        )

    def boxes(self, id: int) -> tuple[Box, ...]:
        """The boxes of an image, in order."""
        return self._dataset.boxes(id)

    def history(self, id: int) -> tuple[Change, ...]:
        """Every change of an image, the first one first."""
        return self._dataset.history(id)

    def step(self) -> AbstractContextManager[None]:
        """All reads and changes of this thread within are one step: other writers wait."""
        return self._dataset.batch()

    def set_boxes(self, id: int, boxes: Sequence[Box], *, by: str, revision: int) -> int:
        """Put `boxes` in place of those there; gives back the new revision. Raises Conflict."""
        return self._dataset.set_boxes(id, boxes, by=by, revision=revision)

    def confirm(self, id: int, confirmed: bool, *, by: str, revision: int) -> int:
        """Confirm, or take it back; gives back the new revision. Raises Conflict."""
        change = self._dataset.confirm if confirmed else self._dataset.unconfirm
        return change(id, by=by, revision=revision)

    def page_after(self, id: int, limit: int, wanted: Filter) -> list[Picture]:
        """The next images after image `id` (0: from the start), at most `limit`."""
        if wanted.by_disagreement:
            return self.suggestions.page(id or None, limit, **_arguments(wanted))
        return list(self._dataset.pictures(after_id=id, limit=limit, **_arguments(wanted)))

    def page_before(self, id: int, limit: int, wanted: Filter) -> list[Picture]:
        """The last images before a number, in order, at most `limit`.

        The manifest reads forwards only: strides of numbers are read back from `id`, each
        twice the one before, until there are enough. Numbers are given out in order, so one
        stride usually does.
        """
        if wanted.by_disagreement:
            return self.suggestions.page(id, limit, before=True, **_arguments(wanted))
        found: list[Picture] = []
        top, stride = id, max(_FIRST_STRIDE, 2 * limit)
        while top > 1 and len(found) < limit:
            bottom = max(0, top - 1 - stride)
            part = []
            for picture in self._dataset.pictures(
                after_id=bottom, limit=top - 1 - bottom, **_arguments(wanted)
            ):
                if picture.id >= top:
                    break
                part.append(picture)
            found = part + found
            top, stride = bottom + 1, stride * 2
        return found[-limit:]

    def matches(self, id: int, wanted: Filter) -> bool:
        """Whether an image matches the filter."""
        arguments = _arguments(wanted)
        found = next(iter(self._dataset.pictures(after_id=id - 1, limit=1, **arguments)), None)
        suggested = not wanted.by_disagreement or self.suggestions.has(id)
        return suggested and found is not None and found.id == id

    def count(self, wanted: Filter, after_id: int = 0) -> int:
        """Count the images that match the filter after image `after_id`."""
        if wanted.by_disagreement:
            return self.suggestions.count(after_id or None, **_arguments(wanted))
        return self._dataset.count(after_id=after_id, **_arguments(wanted))

    def path(self, picture: Picture) -> Path:
        """The image's file.

        Raises FeltwatchError when there is none, or when it lies outside the dataset's
        folder, be it by its name or by a link.
        """
        path = self._dataset.path(picture).resolve()
        if not path.is_relative_to(self._pictures):
            raise FeltwatchError(f"{picture.file}: lies outside the dataset's folder")
        if not path.is_file():
            raise FeltwatchError(f"{picture.file}: the file is missing from the dataset's folder")
        return path


def is_busy(error: BaseException) -> bool:
    """Whether an error says that the manifest could not be reached just now."""
    return isinstance(error, sqlite3.OperationalError) or isinstance(
        error.__cause__, sqlite3.OperationalError
    )


class _Arguments(TypedDict):
    split: str | None
    confirmed: bool | None
    label: str | None
    deal: str | None
    without_boxes: bool


def _arguments(wanted: Filter) -> _Arguments:
    return {
        "split": wanted.split,
        "confirmed": wanted.confirmed,
        "label": wanted.label,
        "deal": wanted.deal,
        "without_boxes": wanted.without_boxes,
    }
