"""Harvests of audits: what is taken, in which order, and that nothing is taken twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from datasets.labelled.checks.check import Code, check
from datasets.labelled.harvest import harvest
from datasets.labelled.manifest import Dataset
from settlement.errors import FeltwatchError
from tests.datasets.labelled.made import picture_bytes


def line(n: int, sureness: float, **values: object) -> dict[str, object]:
    return {
        "file": f"t1-{n:06d}-seat{n}-cards.jpg", "width": 96, "height": 64, "video": "shift.mp4",
        "table": "t1", "round_id": f"t1-{n:06d}", "seat": n, "what": "cards", "at_s": f"{n}.500",
        "model": "1d8c5d", "sureness": sureness, "undecided": [], "alerts": [],
        "boxes": [
            {"label": "AS", "score": sureness, "xyxy": [-3, 5, 20, 30]},
            {"label": "chip_redx3+whitex1", "score": 0.9, "xyxy": [40, 5, 60, 30]},
            {"label": "lammer_envy", "score": 0.9, "xyxy": [70, 5, 90, 30]},
        ],
    } | values  # fmt: skip


def audit(folder: Path, lines: list[dict[str, object]]) -> Path:
    (folder / "candidates").mkdir(parents=True)
    for n, entry in enumerate(lines):
        (folder / "candidates" / str(entry["file"])).write_bytes(picture_bytes(n))
    text = "".join(json.dumps(entry) + "\n" for entry in lines)
    (folder / "candidates.jsonl").write_text(text)
    return folder


def test_views_become_images_with_first_labels(tmp_path: Path) -> None:
    own = audit(tmp_path / "night", [line(1, 0.4, undecided=["main.paid"]), line(2, 0.8)])
    summary = harvest([own], tmp_path / "d")
    assert (summary.added, summary.boxes) == (2, 6)
    with Dataset.open(tmp_path / "d") as dataset:
        picture = dataset.find("night/t1-000001-seat1-cards.jpg")
        assert picture is not None
        assert (picture.labelled_by, picture.time_s, picture.camera) == (
            "model:1d8c5d", "1.500", "t1",
        )  # fmt: skip
        assert picture.shift == "night shift.mp4"
        assert picture.deal == "night shift.mp4 t1-000001"
        assert dict(picture.attributes)["seat"] == 1
        card, chips, lammer = dataset.boxes(picture.id)
        assert (card.label, card.score, card.xyxy) == ("AS", 0.4, (0, 5, 20, 30))
        assert (chips.label, chips.attribute("chips")) == ("chip_stack", "redx3+whitex1")
        assert lammer.label == "lammer_envy"
        errors = {f.code for f in check(dataset, min_examples=0)}
        assert errors == {Code.NO_SPLIT, Code.NOT_CONFIRMED}


def test_the_least_sure_are_taken_and_none_twice(tmp_path: Path) -> None:
    own = audit(tmp_path / "a", [line(n, n / 10) for n in (5, 2, 9, 3)])
    assert harvest([own], tmp_path / "d", limit=2).left == 2
    with Dataset.open(tmp_path / "d") as dataset:
        assert [p.time_s for p in dataset.pictures()] == ["2.500", "3.500"]
        dataset.set_boxes(1, [], by="person:ann", revision=1)
    summary = harvest([own], tmp_path / "d", surer_than=0.5)
    assert (summary.added, summary.present) == (1, 2)
    with Dataset.open(tmp_path / "d") as dataset:
        assert dataset.boxes(1) == ()


def test_overruled_views_come_first(tmp_path: Path) -> None:
    own = audit(
        tmp_path / "a",
        [
            line(1, 0.1),
            line(2, 0.9, alerts=["t1-000002-01"]),
            line(3, 0.8, alerts=["t1-000003-01"]),
        ],
    )
    verdicts = [
        {"alert_id": "t1-000002-01", "verdict": "wrong", "by": "ann"},
        {"alert_id": "t1-000003-01", "verdict": "wrong", "by": "ann"},
        {"alert_id": "t1-000003-01", "verdict": "right", "by": "bob"},
    ]
    (own / "verdicts.jsonl").write_text("".join(json.dumps(v) + "\n" for v in verdicts))
    summary = harvest([own], tmp_path / "d", limit=1)
    assert (summary.added, summary.overruled) == (1, 1)
    with Dataset.open(tmp_path / "d") as dataset:
        assert [p.time_s for p in dataset.pictures()] == ["2.500"]
    assert harvest([own], tmp_path / "e", overruled_only=True).added == 1


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"sureness": 2}, r"candidates\.jsonl: line 2: sureness"),
        ({"file": "../x.jpg"}, r"line 2: .* must stay inside"),
        ({"more": 1}, r"line 2: more"),
    ],
)
def test_wrong_lines_are_named(tmp_path: Path, values: dict[str, object], message: str) -> None:
    own = audit(tmp_path / "a", [line(1, 0.4)])
    text = (own / "candidates.jsonl").read_text()
    (own / "candidates.jsonl").write_text(text + json.dumps(line(2, 0.4) | values) + "\n")
    with pytest.raises(FeltwatchError, match=message):
        harvest([own], tmp_path / "d")


def test_an_audit_without_candidates_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(FeltwatchError, match="--candidates"):
        harvest([tmp_path], tmp_path / "d")
    assert not (tmp_path / "d").exists()


def test_two_audits_of_one_name_stay_apart(tmp_path: Path) -> None:
    harvest([audit(tmp_path / "x" / "audit", [line(1, 0.4)])], tmp_path / "d")
    other = audit(tmp_path / "y" / "audit", [line(1, 0.4)])
    (other / "candidates" / "t1-000001-seat1-cards.jpg").write_bytes(picture_bytes(50))
    with pytest.raises(FeltwatchError, match="rename the audit's folder"):
        harvest([other], tmp_path / "d")
