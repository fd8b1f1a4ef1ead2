"""Statistics of a dataset: pictures and boxes by split, class and size, and samples."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from datasets.labelled.crops import cut, data_uri, open_picture
from datasets.labelled.manifest import Dataset

SIZE_STEPS_PX = (8, 11, 16, 23, 32, 45, 64, 91, 128, 181, 256, 362, 512)
"""Bounds of the histogram: sides of a square of the box's area, by the root of two."""

NO_SPLIT = "none"
SAMPLE_PX = 96


@dataclass(frozen=True, slots=True)
class ClassCount:
    """How often a class is there; `by_split` has every split."""

    label: str
    boxes: int
    by_split: dict[str, int]
    is_known: bool = True


@dataclass(frozen=True)
class DatasetStats:
    """What `feltwatch dataset stats` tells.

    `sizes[n]` counts boxes with sides below `SIZE_STEPS_PX[n]` and not below the step
    before; the last count is of those beyond all steps.
    """

    pictures: int
    boxes: int
    confirmed: int
    without_boxes: int
    splits: dict[str, int]
    sources: dict[str, int]
    labelled_by: dict[str, int]
    shifts: int
    decks: int
    cameras: int
    deals: int
    classes: tuple[ClassCount, ...]
    sizes: tuple[int, ...]

    def as_dict(self) -> dict[str, Any]:
        """The form of `feltwatch dataset stats --json`."""
        told = {k: v for k, v in self.__dict__.items() if k not in ("classes", "sizes")}
        told["classes"] = [
            {"label": c.label, "boxes": c.boxes, "by_split": c.by_split} for c in self.classes
        ]
        told["sizes_px"] = {"below": list(SIZE_STEPS_PX), "counts": list(self.sizes)}
        return told


def dataset_stats(dataset: Dataset) -> DatasetStats:
    """Count everything; the dataset's database does most of it."""
    splits = {name or NO_SPLIT: count for name, count in dataset.splits().items()}
    counts = dataset.class_counts()
    labels = dataset.labels
    classes = []
    for label in (*labels, *sorted(set(counts) - set(labels))):
        own = {name or NO_SPLIT: n for name, n in counts.get(label, {}).items()}
        by_split = {name: own.get(name, 0) for name in splits}
        classes.append(ClassCount(label, sum(own.values()), by_split, label in labels))
    sizes = [0] * (len(SIZE_STEPS_PX) + 1)
    for width, height in dataset.box_sizes():
        sizes[_step(width, height)] += 1
    return DatasetStats(
        pictures=len(dataset),
        boxes=dataset.box_count(),
        confirmed=dataset.count(confirmed=True),
        without_boxes=dataset.count(without_boxes=True),
        splits=splits,
        sources=_named(dataset.counted("source")),
        labelled_by=_named(dataset.counted("labelled_by")),
        shifts=sum(1 for _ in dataset.values("shift")),
        decks=sum(1 for _ in dataset.values("deck")),
        cameras=sum(1 for _ in dataset.values("camera")),
        deals=sum(1 for _ in dataset.values("deal")),
        classes=tuple(classes),
        sizes=tuple(sizes),
    )


def _step(width: float, height: float) -> int:
    side = math.sqrt(max(0.0, width) * max(0.0, height))
    return next((n for n, step in enumerate(SIZE_STEPS_PX) if side < step), len(SIZE_STEPS_PX))


def _named(counts: dict[str | None, int]) -> dict[str, int]:
    return {name or "not told": count for name, count in counts.items()}


@dataclass(frozen=True, slots=True)
class Sample:
    """One box of a class as a page shows it."""

    file: str
    uri: str


def sample_sheet(dataset: Dataset, label: str, count: int) -> Iterator[Sample]:
    """Crops of some boxes of a class, the same every time; broken pictures are left out."""
    for id, place in dataset.sample(label, count):
        picture, boxes = dataset.picture(id), dataset.boxes(id)
        image = open_picture(dataset.path(picture))
        if image is not None and place < len(boxes):
            crop = cut(image, boxes[place], SAMPLE_PX, 0.2)
            yield Sample(picture.file, data_uri(crop))
