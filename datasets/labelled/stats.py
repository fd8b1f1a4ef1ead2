"""Statistics of a dataset: images and boxes by split, class, place, size and form; samples."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from datasets.labelled.checks.near import near_links
from datasets.labelled.crops import cut, data_uri, open_picture
from datasets.labelled.manifest import Dataset

SIZE_STEPS_PX = (8, 11, 16, 23, 32, 45, 64, 91, 128, 181, 256, 362, 512)
"""Bounds of the histogram: sides of a square of the box's area, by the root of two."""

ASPECT_STEPS = (0.2, 0.33, 0.5, 0.67, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0)
"""Bounds of the histogram of aspect ratios, width over height."""

HEAT_CELLS = 24
"""Cells of the map of places, each way."""

NO_SPLIT = "none"
SAMPLE_PX = 96


@dataclass(frozen=True, slots=True)
class ClassCount:
    """How often a class is there; `by_split` has every split."""

    label: str
    boxes: int
    by_split: dict[str, int]
    is_known: bool = True


_FIGURES = ("classes", "sizes", "aspects", "heat", "near_examples")
NEAR_EXAMPLES = 8


@dataclass(frozen=True)
class DatasetStats:
    """The figures of `feltwatch dataset stats`.

    `sizes[n]` counts boxes with sides below `SIZE_STEPS_PX[n]` and not below the step
    before; the last count is of those beyond all steps. `aspects` counts them likewise by
    `ASPECT_STEPS`. `heat[row][column]` counts the middles of boxes by their place in the image,
    HEAT_CELLS each way, from the top left. `near` images are almost the same as another, in
    `near_groups` groups.
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
    aspects: tuple[int, ...] = ()
    heat: tuple[tuple[int, ...], ...] = ()
    image_sizes: dict[str, int] = field(default_factory=dict)
    near: int = 0
    near_groups: int = 0
    near_examples: tuple[tuple[str, str], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The form of `feltwatch dataset stats --json`."""
        values = {k: v for k, v in self.__dict__.items() if k not in _FIGURES}
        values["classes"] = [
            {"label": c.label, "boxes": c.boxes, "by_split": c.by_split} for c in self.classes
        ]
        values["aspects"] = {"below": list(ASPECT_STEPS), "counts": list(self.aspects)}
        values["heat"] = [list(row) for row in self.heat]
        values["near_examples"] = [list(pair) for pair in self.near_examples]
        values["sizes_px"] = {"below": list(SIZE_STEPS_PX), "counts": list(self.sizes)}
        return values


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
    aspects = [0] * (len(ASPECT_STEPS) + 1)
    heat = [[0] * HEAT_CELLS for _ in range(HEAT_CELLS)]
    for x, y, width, height in dataset.box_places():
        sizes[_step(width, height)] += 1
        if width > 0 and height > 0:
            aspects[bisect_right(ASPECT_STEPS, width / height)] += 1
        if 0 <= x <= 1 and 0 <= y <= 1:
            row, column = (min(HEAT_CELLS - 1, int(v * HEAT_CELLS)) for v in (y, x))
            heat[row][column] += 1
    links = near_pictures(dataset)
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
        aspects=tuple(aspects),
        heat=tuple(map(tuple, heat)),
        image_sizes=dataset.image_sizes(),
        near=len({id for pair in links for id in pair}),
        near_groups=len({id for pair in links for id in pair}) - len(links),
        near_examples=tuple(
            (dataset.picture(a).file, dataset.picture(b).file) for a, b in links[:NEAR_EXAMPLES]
        ),
    )


def near_pictures(dataset: Dataset) -> list[tuple[int, int]]:
    """Pairs of images that join all near-duplicates into groups, by their numbers."""
    rows = np.fromiter(dataset.all_hashes(), np.dtype([("id", np.int64), ("hash", np.uint64)]))
    return list(near_links(rows["id"], rows["hash"], dataset.thumb))


def _step(width: float, height: float) -> int:
    side = math.sqrt(max(0.0, width) * max(0.0, height))
    return next((n for n, step in enumerate(SIZE_STEPS_PX) if side < step), len(SIZE_STEPS_PX))


def _named(counts: dict[str | None, int]) -> dict[str, int]:
    return {name or "unknown": count for name, count in counts.items()}


@dataclass(frozen=True, slots=True)
class Sample:
    """One box of a class as a page shows it."""

    file: str
    uri: str


def sample_sheet(dataset: Dataset, label: str, count: int) -> Iterator[Sample]:
    """Crops of some boxes of a class, the same every time; broken images are left out."""
    for id, place in dataset.sample(label, count):
        picture, boxes = dataset.picture(id), dataset.boxes(id)
        image = open_picture(dataset.path(picture))
        if image is not None and place < len(boxes):
            crop = cut(image, boxes[place], SAMPLE_PX, 0.2)
            yield Sample(picture.file, data_uri(crop))
