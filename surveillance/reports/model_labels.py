"""A model's boxes for the images of a labelled dataset, in the dataset's own terms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path

from datasets.labelled.checks.deck_check import WHOLE_CARD
from datasets.labelled.checks.enclosure import NOTE, Encloses
from datasets.labelled.manifest import Dataset
from datasets.labelled.records import Box, Picture
from settlement.record import DECK_LABELS
from vision.cards.photo import Found, PhotoError, PhotoReader, read_picture
from vision.detect.tiling import find_in_picture
from vision.networks import load_networks

FIRST_PICTURES = 200

BARE_CLASSES = {"index", "joker", "back", "chip"}
"""Labels of rendered training views: the detector's classes, no cards."""


class Terms(StrEnum):
    """Kind of label that a dataset's boxes carry."""

    CARDS = "cards"
    INDICES = "indices"
    CLASSES = "classes"


def terms_of(dataset: Dataset) -> Terms:
    """Return the kind of a dataset's labels, by its first images.

    Whole cards where the dataset or most boxes of cards say so (`kind`), else their indices;
    the bare classes of the detector where no label is a card and some are such classes.
    """
    labels = set(dataset.class_counts())
    if not labels & (set(DECK_LABELS) | {"BACK"}) and labels & BARE_CLASSES:
        return Terms.CLASSES
    kept = dataset.note(NOTE)
    if kept in set(Encloses):
        return Terms.CARDS if kept == Encloses.CARD else Terms.INDICES
    whole = other = 0
    for picture in dataset.pictures(limit=FIRST_PICTURES):
        for box in dataset.boxes(picture.id):
            if box.label in DECK_LABELS:
                whole += box.attribute("kind") == WHOLE_CARD
                other += box.attribute("kind") != WHOLE_CARD
    return Terms.CARDS if whole > other else Terms.INDICES


def model_boxes(
    dataset: Dataset, weights: Path, terms: Terms | None = None
) -> tuple[Callable[[Picture], Sequence[Box] | None], Terms]:
    """Return the function that gives a model's boxes for an image, and the terms it uses.

    Only labels that the dataset has are returned, so that chips are not extra where nobody
    labelled chips. Raises FeltwatchError when the model cannot be loaded.
    """
    networks = load_networks(weights)
    detector, photos = networks.detector, PhotoReader(networks.detector, networks.reader)
    terms = terms or terms_of(dataset)
    labels = frozenset(dataset.class_counts()) | (
        frozenset(DECK_LABELS) if terms is not Terms.CLASSES else frozenset()
    )

    def boxes(picture: Picture) -> Sequence[Box] | None:
        try:
            image = read_picture(dataset.path(picture))
        except PhotoError:
            return None
        if terms is Terms.CLASSES:
            found = find_in_picture(image, detector)
            corners = found.xyxy.astype(float).tolist()
            seen = [
                Found(found.name(n), float(found.scores[n]), (x0, y0, x1, y1))
                for n, (x0, y0, x1, y1) in enumerate(corners)
            ]
        else:
            result = photos.read(image)
            if terms is Terms.CARDS:
                rest = [f for f in result.detections if f.label not in DECK_LABELS]
                seen = [*result.cards, *rest]
            else:
                seen = list(result.detections)
        own = [_box(f, labels) for f in seen]
        return [box for box in own if box.label in labels]

    return boxes, terms


def _box(found: Found, labels: frozenset[str]) -> Box:
    label = found.label
    if label == "chip" and "chip" not in labels:
        label = "chip_stack"
    x0, y0, x1, y1 = found.xyxy
    return Box(label, x0, y0, x1, y1, score=min(1.0, max(0.0, found.score)))
