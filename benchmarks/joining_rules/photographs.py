"""Photographs and rendered fans: the passes over each image, kept, and the cards joined of them."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.joining_rules.remembered import Remembered
from benchmarks.joining_rules.rules import Rule, without
from datasets.render.cards.deck import Deck
from datasets.training.asset_pool import Stage
from datasets.training.views import render_loose_view
from models.data.photo_labels import LabelledPhoto, PhotoBox, load_labels
from models.evaluate.perturbations import pixel_change
from models.evaluate.photo_score import PhotoTally
from models.heldout.lists import LISTS
from settlement.record import DECK_LABELS
from vision.cards import photo
from vision.cards.photo import Pass, PhotoReader, PhotoResult, read_picture
from vision.detect.detections import ByteArray

JOINING = LISTS.parent / "joining" / "photographs.json"
FAN_PX = 640
FEWEST = 2
"""Cards that a rendered image shows at least."""

MOVED = ("motion", "7 px")


@dataclass(frozen=True)
class KeptPhoto:
    """An image's labels and its passes, by the reading rule that was off; None: none was.

    `hidden` are labels of indices too little of which is seen to be asked for.
    """

    labels: LabelledPhoto
    read: dict[str | None, list[Pass]]
    hidden: tuple[PhotoBox, ...] = ()


def split(folder: Path) -> tuple[frozenset[str], frozenset[str]]:
    """Images of a folder that rules were found on, and those set apart to judge joining."""
    held = [
        {one["file"] for one in json.loads(path.read_text(encoding="utf-8"))["pictures"]}
        for path in LISTS.glob("photographs-*.json")
    ]
    lists = json.loads(JOINING.read_text(encoding="utf-8"))["folders"].get(folder.name, {})
    own = {labelled.image for labelled in load_labels(folder)}
    # Two folders may name a file alike: the list that holds most of one is its list.
    tune = max((own & files for files in held), key=len, default=set())
    return frozenset(tune), frozenset(one["file"] for one in lists.get("judge", ()))


def chosen(images: Iterable[str], seed: int, most: int) -> list[str]:
    """Some images, in an order by hash."""
    order = sorted(images, key=lambda own: hashlib.sha256(f"{seed}/{own}".encode()).hexdigest())
    return order[:most]


def keep_photo(
    folder: Path, image: str, networks: Remembered, rules: Sequence[Rule], *, moved: bool
) -> KeptPhoto:
    """A photograph read, and read again without each of some rules; `moved` by 7 px, or not."""
    labels = next(own for own in load_labels(folder) if own.image == image)
    pixels = read_picture(folder / image)
    if moved:
        rng = np.random.default_rng(zlib.crc32(image.encode()))
        pixels, _ = pixel_change(*MOVED)(rng, pixels, ())
    return KeptPhoto(labels, _passes(pixels, networks, rules))


def keep_fan(
    decks: Sequence[Deck], seed: int, number: int, networks: Remembered, rules: Sequence[Rule]
) -> KeptPhoto:
    """Rendered cards in fans, rows and heaps; decks take turns. Not read where few are seen."""
    rng = np.random.default_rng([seed, 7, number])
    deck = decks[number % len(decks)]
    shown = render_loose_view(rng, deck, Stage.draw(rng, [deck]), FAN_PX)
    asked, hidden = (
        tuple(
            PhotoBox(label=box.card, xyxy=box.xyxy, kind="corner")
            for box in boxes
            if box.card in DECK_LABELS
        )
        for boxes in (shown.boxes, shown.partly)
    )
    labels = LabelledPhoto(image=f"{number}", width=FAN_PX, height=FAN_PX, boxes=asked)
    few = len({box.label for box in asked}) < FEWEST
    return KeptPhoto(labels, {} if few else _passes(shown.image, networks, rules), hidden)


def _passes(
    image: ByteArray, networks: Remembered, rules: Sequence[Rule]
) -> dict[str | None, list[Pass]]:
    reader = PhotoReader(networks, networks)
    passes: dict[str | None, list[Pass]] = {}
    for rule in (None, *rules):
        with without(rule):
            passes[rule.name if rule else None] = reader.look(image)
    networks.forget()
    return passes


def count_photographs(kept: Sequence[KeptPhoto], rule: Rule | None) -> dict[str, int]:
    """Cards right, wrong, unread and invented without a rule."""
    tally = PhotoTally()
    for one in kept:
        if not one.read:
            continue
        passes = one.read.get(rule.name if rule else None, one.read[None])
        with without(rule):
            result = photo.join_passes(
                passes[: len(photo.STRETCHES)], one.labels.width, one.labels.height
            )
        tally.add(one.labels, _without_hidden(result, one.hidden))
    cards = tally.cards
    return {
        "cards": cards.seen, "right": cards.right, "wrong": cards.wrong,
        "undecided": cards.unread, "invented": tally.invented,
    }  # fmt: skip


def _without_hidden(result: PhotoResult, hidden: Sequence[PhotoBox]) -> PhotoResult:
    """A result but for what is named rightly where no one is asked."""
    shown = [
        n
        for n, found in enumerate(result.detections)
        if not any(
            box.label == found.label
            and box.holds((found.xyxy[0] + found.xyxy[2]) / 2, (found.xyxy[1] + found.xyxy[3]) / 2)
            for box in hidden
        )
    ]
    place = {n: k for k, n in enumerate(shown)}
    left = [
        (card, kept)
        for card, own in zip(result.cards, result.members, strict=True)
        if (kept := tuple(place[n] for n in own if n in place))
    ]
    return replace(
        result,
        detections=tuple(result.detections[n] for n in shown),
        cards=tuple(card for card, _ in left),
        members=tuple(kept for _, kept in left),
        turns_deg=tuple(result.turns_deg[n] for n in shown),
    )
