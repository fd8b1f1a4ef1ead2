"""The fit of the network that says which indices of a photograph are one card's."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from benchmarks import card_pairs
from benchmarks.card_pairs import (
    Labelled,
    Pairs,
    by_chance,
    fit,
    in_even_minute,
    moved_cards,
    plain_cards,
)
from benchmarks.joining_rules.photographs import KeptPhoto
from models.data.photo_labels import LabelledPhoto, PhotoBox
from models.heldout.lists import LISTS
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS
from vision.cards import pair_weights
from vision.cards.one_card import are_one, lie_as_one
from vision.cards.outline import ReadIndex
from vision.cards.rotation import Reading
from vision.detect.detections import Detections

NAMES = ("index", "joker", "back")


def seen(label: str, x: float, y: float, turn: float, share: float = 0.98) -> ReadIndex:
    shares = np.full(53, (1 - share) / 52, np.float32)
    shares[DECK_LABELS.index(label)] = share
    return ReadIndex(np.array([x, y]), turn, 20.0, shares, 0.9, (x - 5, y - 10, x + 5, y + 10))


def kept(*indices: ReadIndex, boxes: tuple[PhotoBox, ...] = ()) -> KeptPhoto:
    found = Detections(
        np.array([own.xyxy for own in indices], np.float32),
        np.array([own.score for own in indices], np.float32),
        np.zeros(len(indices), np.int64), NAMES,
    )  # fmt: skip
    readings = [Reading(own.shares, own.turn_deg, own.height) for own in indices]
    labels = LabelledPhoto(image="a.jpg", width=400, height=400, boxes=boxes)
    return KeptPhoto(labels, {None: [(found, readings)]})


BOXES = (
    PhotoBox(label="AS", xyxy=(0, 0, 100, 120), kind="card"),
    PhotoBox(label="KD", xyxy=(90, 0, 200, 120), kind="card"),
)


def test_minutes_are_halved_and_a_name_without_a_time_is_refused() -> None:
    images = [f"images/IMG_20220316_{minute:04d}59.jpg" for minute in range(400)]
    even = [in_even_minute(image) for image in images]
    assert 150 < sum(even) < 250
    # All of a minute are on one side.
    assert even == [in_even_minute(image.replace("59.jpg", "03.jpg")) for image in images]
    with pytest.raises(FeltwatchError, match=r"a\.jpg: expected a name with YYYYMMDD_HHMM"):
        in_even_minute("a.jpg")


def test_an_index_is_its_labels_where_it_reads_so() -> None:
    own = kept(
        seen("AS", 20, 20, 0), seen("KD", 120, 20, 0), seen("QH", 60, 60, 0),
        seen("AS", 70, 100, 180, 0.6), seen("AS", 300, 300, 0), boxes=BOXES,
    )  # fmt: skip
    indices, cards = plain_cards(own)
    assert {(own.label, card) for own, card in zip(indices, cards, strict=True)} == {
        ("AS", "AS"), ("KD", "KD"), ("QH", None), ("AS", None),
    }  # fmt: skip
    assert sum(card == "AS" for card in cards) == 1


def test_a_moved_index_is_the_plain_ones_card_whatever_it_reads() -> None:
    plain = plain_cards(kept(seen("AS", 20, 20, 0), seen("KD", 120, 20, 0), boxes=BOXES))
    indices, cards = moved_cards(kept(seen("AC", 24, 23, 0), seen("KD", 160, 20, 0)), plain)
    assert [(own.label, card) for own, card in zip(indices, cards, strict=True)] == [
        ("AC", "AS"), ("KD", None),
    ]  # fmt: skip


def test_pairs_are_those_whose_cards_are_known_and_no_joker() -> None:
    indices = [seen("AS", 20, 20, 0), seen("AS", 63, 82, 180), seen("KD", 120, 20, 0)]
    indices += [seen("JOKER", 200, 20, 0), seen("2C", 300, 20, 0)]
    pairs = Pairs.of([(indices, ["AS", "AS", "KD", "JOKER", None]), ([], [])])
    assert pairs.same.tolist() == [True, False, False]
    assert pairs.measures.shape == (3, 6)
    assert pairs.log_loss(np.where(pairs.same, 50.0, -50.0)) == pytest.approx(0)
    assert pairs.log_loss(np.zeros(3)) == pytest.approx(np.log(2))


def test_the_fit_finds_how_cards_lie_and_its_text_gives_it_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(card_pairs, "CHANCE", 500)
    monkeypatch.setattr(card_pairs, "UNITS", 4)
    rng = np.random.default_rng(3)
    images: list[Labelled] = []
    for _ in range(60):
        x, y, turn = rng.uniform(0, 400), rng.uniform(0, 400), rng.uniform(0, 20)
        ends = [seen("AS", x, y, turn), seen("AS", x + 43, y + 62, turn + 180)]
        others = [
            seen("KD", float(x), float(y), float(turn))
            for x, y, turn in rng.uniform(0, (400, 400, 360), (3, 3))
        ]
        images.append(([*ends, *others], ["AS", "AS", "KD", "2C", "3C"]))
    pairs = Pairs.of(images)
    weights = fit([pairs], 1)
    made: dict[str, object] = {}
    exec(card_pairs.module(weights), made)
    for name in ("HIDDEN", "OFFSETS", "OUT", "OUT_OFFSET"):
        monkeypatch.setattr(f"vision.cards.one_card.{name}", made[name])
    base = float(pairs.same.mean())
    guessed = -(base * np.log(base) + (1 - base) * np.log(1 - base))
    assert pairs.log_loss(np.maximum(lie_as_one(pairs.measures), -30)) < 0.3 * guessed
    assert [own.shape for own in weights] == [(6, 4), (4,), (4,), (1,)]


def test_what_no_card_does_is_unlikely_by_the_shipped_weights() -> None:
    chance = by_chance(np.random.default_rng(7))
    odds = lie_as_one(chance.measures)
    assert np.quantile(odds, 0.9) < -3
    far = are_one([seen("AS", 0, 0, 0), seen("AS", 0, 200, 180)])
    assert np.all(far == -np.inf)


def test_nothing_is_fitted_to_no_pairs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    written = tmp_path / "pair_weights.py"
    monkeypatch.setattr(pair_weights, "__file__", str(written))
    with pytest.raises(SystemExit):
        card_pairs.main(["--fans", "0", "--write"])
    assert "--write: no pair of indices was read" in capsys.readouterr().err
    assert not written.exists()


def test_the_command_reads_a_folder_keeps_it_and_writes_weights(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "rf100_poker_cards"
    held = json.loads((LISTS / "photographs-poker-cards.json").read_text())["pictures"]
    image = next(one["file"] for one in held if in_even_minute(one["file"]))
    (folder / image).parent.mkdir(parents=True)
    cv2.imwrite(str(folder / image), np.full((90, 120, 3), 120, np.uint8))
    box = {"label": "AS", "xyxy": [0, 0, 9, 9], "kind": "card"}
    labels = [{"image": image, "width": 120, "height": 90, "boxes": [box]}]
    (folder / "labels.json").write_text(json.dumps(labels))
    written = tmp_path / "pair_weights.py"
    monkeypatch.setattr(pair_weights, "__file__", str(written))
    monkeypatch.setattr(card_pairs, "CHANCE", 200)
    given = ["--photos", str(folder), "--fans", "2", "--keep", str(tmp_path / "kept")]
    assert card_pairs.main(given) == 0
    first = json.loads(capsys.readouterr().out)
    assert not written.exists()
    assert {path.name for path in (tmp_path / "kept").iterdir()} >= {"fans.pickle"}
    assert card_pairs.main([*given, "--write"]) == 0
    second = json.loads(capsys.readouterr().out)
    assert second.pop("written") == str(written)
    assert first == second
    assert "HIDDEN" in written.read_text()
