"""The images that a model is checked on, in one form whatever dataset they come from.

Three forms are read: the folder of a rendered set (`boxes/SPLIT/*.jsonl` beside its images
holds what YOLO's labels cannot), a labelled dataset (`dataset.sqlite`), and any folder of
labels that the importer reads, YOLO's data.yaml above all.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from datasets.labelled.checks.enclosure import NOTE, Encloses, box_encloses, detect_enclosure
from datasets.labelled.formats.base import Bad, Entry, find_format, module_of
from datasets.labelled.manifest import MANIFEST, Dataset
from datasets.labelled.pictures import SUFFIXES, picture_size
from datasets.labelled.records import Box
from models.evaluate.label_names import Meaning, meaning
from settlement.errors import FeltwatchError
from vision.geometry.table import FloatArray

ENCLOSURE_PICTURES = 200
"""Images looked at for what the boxes of a set enclose, where it does not say so."""

TABLE, LOOSE, PHOTO = "table", "loose", "photo"
"""Scenes: a calibrated view, a rendered image at any turn, an image of any size."""


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """One thing on an image: class of the detector, box in px of the image.

    Where `labelled` is false too little of it is seen: finding it is neither right nor wrong.
    `quad` (4, 2) is an index as it reads, `colour` that of a stack's top chip. `whole`: the
    box encloses the whole card, so that its index is to be found inside.
    """

    kind: str
    xyxy: tuple[float, float, float, float]
    card: str | None = None
    labelled: bool = True
    colour: str | None = None
    quad: FloatArray | None = None
    visible: float = 1.0
    whole: bool = False


@dataclass(frozen=True, slots=True)
class ValPicture:
    """An image to check with, and what is on it."""

    name: str
    path: Path
    scene: str
    truths: tuple[Truth, ...]


@dataclass(frozen=True, slots=True)
class ValSet:
    """Images of one dataset; `form` is rendered, dataset or the format of a label folder.

    `unknown` counts boxes by labels that the model knows nothing of; they are left out.
    """

    folder: Path
    form: str
    split: str
    pictures: tuple[ValPicture, ...]
    unknown: dict[str, int]

    def some(self, most: int | None) -> ValSet:
        """The same set with at most so many images, evenly spread over it."""
        if most is None or most >= len(self.pictures):
            return self
        chosen = np.linspace(0, len(self.pictures) - 1, most).round().astype(int)
        return replace(self, pictures=tuple(self.pictures[i] for i in chosen))


def read_val_set(folder: Path, split: str = "val") -> ValSet:
    """The images of a dataset's split; raises FeltwatchError naming what is wrong.

    A dataset that names no splits at all is taken whole.
    """
    unknown: Counter[str] = Counter()
    if (folder / MANIFEST).is_file():
        form, pictures = "dataset", _from_dataset(folder, split, unknown)
    elif (folder / "boxes" / split).is_dir() and (folder / "images" / split).is_dir():
        form, pictures = "rendered", _from_rendered(folder, split)
    else:
        form, pictures = _from_labels(folder, split, unknown)
    if not any(picture.truths for picture in pictures):
        known = f"; unknown: {', '.join(list(unknown)[:5])}" if unknown else ""
        raise FeltwatchError(
            f"{folder}: the images of {split} carry no labels that the model knows{known}"
        )
    return ValSet(folder, form, split, tuple(pictures), dict(unknown.most_common()))


def _from_rendered(folder: Path, split: str) -> list[ValPicture]:
    images = folder / "images" / split
    there = {path.name: path for path in images.iterdir() if path.suffix.lower() in SUFFIXES}
    pictures = []
    for file in sorted((folder / "boxes" / split).glob("*.jsonl")):
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    entry = json.loads(line)
                    truths = tuple(_rendered_truth(box) for box in entry["boxes"])
                    name, scene = str(entry["image"]), str(entry.get("scene", LOOSE))
                except (ValueError, KeyError, TypeError) as error:
                    raise FeltwatchError(
                        f"{file}: line {number}: is no list of rendered boxes; render the set again"
                    ) from error
                if name in there:
                    pictures.append(ValPicture(name, there[name], scene, truths))
    if not pictures:
        raise FeltwatchError(f"{images}: no images; 'feltwatch model render' writes a set")
    return pictures


def _rendered_truth(box: dict[str, Any]) -> Truth:
    x0, y0, x1, y1 = (float(v) for v in box["xyxy"])
    quad, colours = box.get("quad"), box.get("colours")
    return Truth(
        str(box["kind"]), (x0, y0, x1, y1), box.get("card"), bool(box.get("labelled", True)),
        # Colours are listed from the felt up.
        str(colours[-1]) if colours else None,
        None if quad is None else np.asarray(quad, np.float64), float(box.get("visible", 1.0)),
    )  # fmt: skip


def _from_dataset(folder: Path, split: str, unknown: Counter[str]) -> list[ValPicture]:
    with Dataset.open(folder, to_read=True) as dataset:
        splits = dataset.splits()
        named = sorted(name for name in splits if name)
        if named and split not in named:
            raise FeltwatchError(
                f"{folder}: no image is in the split {split}; there are {', '.join(named)}"
            )
        chosen = list(dataset.pictures(split=split if named else None))
        kept = dataset.note(NOTE)
        encloses = Encloses(kept) if kept in set(Encloses) else detect_enclosure(
            dataset.boxes(picture.id) for picture in chosen[:ENCLOSURE_PICTURES]
        )  # fmt: skip
        return [
            ValPicture(
                picture.file, dataset.path(picture), _scene_of(picture.source),
                _truths(dataset.boxes(picture.id), unknown, encloses),
            )
            for picture in chosen
        ]  # fmt: skip


def _scene_of(source: str | None) -> str:
    # A rendered set that was imported does not name its scenes: any turn is tried.
    return LOOSE if (source or "").startswith("render ") else PHOTO


def _from_labels(folder: Path, split: str, unknown: Counter[str]) -> tuple[str, list[ValPicture]]:
    if not folder.is_dir():
        raise FeltwatchError(f"{folder}: is not there; give the folder of a dataset")
    form, file = find_format(folder)
    entries = []
    for entry in module_of(form).read(folder, file).entries():
        if isinstance(entry, Bad):
            raise entry.error
        entries.append(entry)
    named = sorted({e.details["split"] for e in entries if "split" in e.details})
    if named:
        entries = [e for e in entries if e.details.get("split") == split]
        if not entries:
            raise FeltwatchError(
                f"{folder}: no image is in the split {split}; there are {', '.join(named)}"
            )
    read: list[tuple[Entry, Path, tuple[Box, ...]]] = []
    for entry in entries:
        if entry.path is None:
            continue
        size = picture_size(entry.path)
        if size is None:
            raise FeltwatchError(f"{entry.path}: cannot be read as an image")
        boxes = entry.boxes(entry.width or size[0], entry.height or size[1])
        read.append((entry, entry.path, boxes))
    encloses = detect_enclosure(boxes for _, _, boxes in read[:ENCLOSURE_PICTURES])
    pictures = [
        ValPicture(
            entry.file, path, _scene_of(entry.details.get("source")),
            _truths(boxes, unknown, encloses),
        )
        for entry, path, boxes in read
    ]  # fmt: skip
    return str(form), pictures


def _truths(
    boxes: Iterable[Box], unknown: Counter[str], encloses: Encloses | None
) -> tuple[Truth, ...]:
    out = []
    for box in boxes:
        card = box.attribute("card")
        own = meaning(box.label, card if isinstance(card, str) else None)
        if own is None:
            unknown[box.label] += 1
            continue
        out.append(
            Truth(
                own.kind, box.enclosing(), own.card, box.attribute("labelled") is not False,
                _top_colour(own, box.attribute("colours")),
                visible=1.0 if box.visible is None else box.visible,
                whole=own.card is not None and box_encloses(box, encloses) is Encloses.CARD,
            )
        )  # fmt: skip
    return tuple(out)


def _top_colour(own: Meaning, colours: object) -> str | None:
    if isinstance(colours, Sequence) and not isinstance(colours, str) and colours:
        return str(colours[-1])
    return own.colour
