"""The ablation of the rules that join indices to cards."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from benchmarks.joining_rules.photographs import JOINING, KeptPhoto, count_photographs, split
from benchmarks.joining_rules.remembered import Remembered
from benchmarks.joining_rules.rules import RULES, Rule, find_rules, without
from models.data.photo_labels import LabelledPhoto, PhotoBox
from models.heldout.lists import LISTS
from settlement.record import DECK_LABELS
from vision.cards.rotation import Reading
from vision.detect.detections import ByteArray, Detections, Floats

NAMES = ("index", "joker", "back")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_is_off_for_a_while_and_changes_something(rule: Rule) -> None:
    before = [getattr(module, name) for module, name, _ in rule.switches]
    with without(rule):
        off = [getattr(module, name) for module, name, _ in rule.switches]
    assert all(old is not new for old, new in zip(before, off, strict=True))
    assert before == [getattr(module, name) for module, name, _ in rule.switches]


def test_names_are_told_apart() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_a_card_that_a_rule_leaves_unread_is_read_without_it() -> None:
    shares = np.zeros(len(DECK_LABELS), np.float32)
    shares[DECK_LABELS.index("AS")] = 0.88
    found = Detections(
        np.array([[300, 300, 323, 350]], np.float32), np.array([0.9], np.float32),
        np.array([0]), NAMES,
    )  # fmt: skip
    box = PhotoBox(label="AS", xyxy=(300, 300, 323, 350), kind="corner")
    photo = LabelledPhoto(image="a.jpg", width=640, height=640, boxes=(box,))
    kept = [KeptPhoto(photo, {None: [(found, [Reading(shares, 0.0, 50.0)])]})]
    (rule,) = find_rules(["a lone index"])
    assert count_photographs(kept, None)["undecided"] == 1
    assert count_photographs(kept, rule)["right"] == 1


def test_photographs_are_split_by_the_lists(tmp_path: Path) -> None:
    folder = tmp_path / "rf100_poker_cards"
    folder.mkdir()
    listed = json.loads(JOINING.read_text())["folders"][folder.name]["judge"][0]["file"]
    held = json.loads((LISTS / "photographs-poker-cards.json").read_text())["pictures"][0]["file"]
    box = {"label": "AS", "xyxy": [0, 0, 9, 9], "kind": "card"}
    labels = [
        {"image": image, "width": 9, "height": 9, "boxes": [box]}
        for image in (listed, held, "images/other.jpg")
    ]
    (folder / "labels.json").write_text(json.dumps(labels))
    tune, judge = split(folder)
    assert (tune, listed in judge, held in judge) == ({held}, True, False)


class Networks:
    """Counts what it is asked."""

    size = 8

    def __init__(self) -> None:
        self.asked = 0

    def find(self, views: Sequence[ByteArray], *, least: float | None = None) -> list[Detections]:
        self.asked += len(views)
        return [Detections.empty(NAMES) for _ in views]

    def read(self, crops: ByteArray) -> Floats:
        self.asked += len(crops)
        return crops[:, 0, 0, :1].astype(np.float32)


def test_the_same_crop_is_read_once() -> None:
    networks = Networks()
    own = Remembered(networks, networks)
    crops = np.arange(3, dtype=np.uint8)[:, None, None, None].repeat(8, 1).repeat(8, 2).repeat(3, 3)
    assert own.read(crops[[0, 1, 0]]).ravel().tolist() == [0, 1, 0]
    assert own.read(crops[[1, 2]]).ravel().tolist() == [1, 2]
    assert networks.asked == 3
    own.find([crops[0]])
    own.find([crops[0]])
    assert networks.asked == 4
    own.forget()
    own.read(crops[:1])
    assert networks.asked == 5
