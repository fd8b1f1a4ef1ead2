"""Small datasets made by hand."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import cv2
import numpy as np

from datasets.labelled.manifest import Box, Dataset, NewPicture, Picture
from datasets.labelled.pictures import inspect, put_file

LABELS = ("AS", "KD", "7H", "JOKER", "BACK")


def picture_bytes(seed: int, width: int = 96, height: int = 64, suffix: str = ".jpg") -> bytes:
    """An image unlike those of other seeds."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(20, 230, (6, 8, 3), np.uint8)
    image = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)
    done, data = cv2.imencode(suffix, image)
    assert done
    return bytes(data.tobytes())


def add(
    dataset: Dataset,
    file: str,
    boxes: tuple[Box, ...] = (),
    seed: int | None = None,
    **facts: object,
) -> int:
    """Put a generated image into a dataset."""
    data = picture_bytes(hash_of(file) if seed is None else seed)
    found = inspect(data)
    put_file(data, dataset.folder / "pictures" / file)
    new = NewPicture(file, found.width, found.height, found.sha256, found.phash, **facts)  # type: ignore[arg-type]
    return dataset.add_picture(new, boxes, found.thumb)


def hash_of(text: str) -> int:
    """A number of a text, the same in every run."""
    return sum((n + 1) * ord(c) for n, c in enumerate(text))


def contents(dataset: Dataset) -> dict[str, tuple[Picture, tuple[Box, ...]]]:
    """Everything of the images but their number and revision, by file."""
    return {
        p.file: (dataclasses.replace(p, id=0, revision=0), dataset.boxes(p.id))
        for p in dataset.pictures()
    }


def small_dataset(folder: Path) -> Dataset:
    """Six images with all that a dataset can hold."""
    dataset = Dataset.create(folder, LABELS)
    boxes = (
        Box("AS", 3.25, 4.5, 20.125, 30, visible=0.5, score=1 / 3,
            attributes=(("kind", "corner"), ("deep", {"a": [1, None, True]}))),
        Box("7H", 30, 10, 60, 40, angle_deg=33.5, attributes=(("text", "a <b> & \"c\"\nd é"),)),
        Box("BACK", -4, 0, 99, 20),
    )  # fmt: skip
    add(
        dataset,
        "a.jpg",
        boxes,
        source="s",
        time_s="1.500",
        deck="d1",
        camera="c1",
        shift="n1",
        deal="r1",
        split="train",
        labelled_by="model:5f3a",
        attributes=(("seat", 3), ("x", [1])),
    )
    add(dataset, "sub/a.jpg", boxes[:1], split="val", labelled_by="person:bob")
    add(dataset, "sub/b c.jpg", (), split="test")
    add(dataset, "same.one.jpg", boxes[1:], split="train")
    add(dataset, "only.jpg", boxes[2:], split="spare")
    add(dataset, "loose.jpg", boxes)
    dataset.confirm(2, by="person:ann", revision=1)
    dataset.set_note("told", {"licence": "CC BY 4.0"})
    return dataset
