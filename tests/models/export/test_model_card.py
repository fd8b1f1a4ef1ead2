"""The model card, for programs and for people."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from models.data.provenance import PhotoData, Provenance, RenderedData, StackData
from models.evaluate.rows import FINDING_HEADS, calibration_rows, finding_rows, reading_rows
from models.export.model_card import (
    build_card,
    card_json,
    card_markdown,
    read_figures,
    reader_rows,
    stack_rows,
)
from models.export.quantize import Int8Cost
from settlement.errors import FeltwatchError
from vision.detect.openvino_runtime import ModelError, load_card

_HELD = {
    "as it is": {"ece": 0.12, "log_loss": 0.3}, "platt": {"ece": 0.0123, "log_loss": 0.2},
    "temperature": {"ece": 0.02, "log_loss": 0.1},
}  # fmt: skip
CALIBRATION: dict[str, Any] = {
    "form": 1, "weights": {"detector": "d", "reader": "r"},
    "data": {"name": "set", "split": "val"}, "pictures": 500,
    "reader": {
        "way": "temperature", "temperature": 1.3, "was": 1.0, "held_out": _HELD,
        "before": [[0.9, 0.8, 5]], "after": [[0.8, 0.8, 5]], "as_told": [[0.9, 0.8, 5]],
    },
    "detector": {
        "points": {"index": [[0, 0.001], [1, 0.9]]},
        "kinds": {"all": {"way": "platt", "held_out": _HELD}},
        "before": [[0.5, 0.9, 3]], "after": [[0.9, 0.9, 3]],
    },
}  # fmt: skip
_OUTCOMES = {
    "seen": 9, "right": 7, "wrong": 1, "undecided": 1, "wrong_one_in": 9.0,
    "undecided_share": 0.1111,
}  # fmt: skip
_ROW = {"labels": 4, "found": 4, "ap50": 0.9, "ap50_95": 0.7, "precision": 0.9, "recall": 0.9}
FIGURES: dict[str, Any] = {
    "weights": {"detector": "d", "reader": "r"},
    "data": {"name": "set", "split": "val", "form": "rendered", "pictures": 500, "of": 500,
             "unknown_labels": {}},
    "detector": {
        "pictures": 500, "size": 512, "threshold": 0.25, "map50": 0.91, "map50_95": 0.7,
        "classes": {
            "index": {"labels": 10, "found": 9, "ap50": 0.95, "ap50_95": 0.8, "precision": 1.0,
                      "recall": 0.9},
            "chip": {"labels": 0, "found": 0, "ap50": None, "ap50_95": None, "precision": None,
                     "recall": None},
        },
        "chip_colours": {"red": _ROW}, "together": {"index or joker": _ROW}, "confusions": [],
    },
    "end_to_end": {
        "threshold": 0.25, "sure": 0.6, "cards_labelled": 53, "map50": 0.923, "map50_95": 0.65,
        "indices": {"labels": 8, "map50": 0.93, "map50_95": 0.66}, "joker": _ROW,
        "working": {"labelled": 10, "limit": 0.6, **_OUTCOMES, "none": 0, "invented": 2,
                    "read_right_of_labelled": 0.7, "joker": _OUTCOMES},
        "by_limit": [{"limit": 0.6, **_OUTCOMES}], "cards": {"AS": _ROW},
        "confusions": {"cards": [["AC", "AS", 3]], "ranks": [], "suits": [["C", "S", 3]]},
    },
    "scenes": {}, "calibration": CALIBRATION,
    "reader": {
        "crops": 12, "indices": 10, "card": 0.9, "rank": 1.0, "suit": 0.9, "none": None,
        "confident": 0.9, "confident_wrong": 0.1, "none_confident_wrong": None,
        "calibration_error": 0.01, "temperature": 1.0, "best_temperature": 1.1, "threshold": 0.6,
        "confusions": [["9C", "9S", 6]],
    },
    "stacks": {
        "strips": 40, "threshold": 0.97, "enrolled": True, "temperature": 1.1,
        "parts": {
            "all": {"stacks": 38, "number right": 0.98, "right": 0.975, "read": 0.9,
                    "undecided": 0.09, "wrong": 0.01, "wrong, 95% interval": [0.0, 0.05]},
            "1-2 chips": {"stacks": 0},
        },
        "no stack": {"strips": 2, "invented": 1}, "reliability": [],
    },
}  # fmt: skip


def _models() -> dict[str, dict[str, Any]]:
    return {
        name: {
            "file": f"{name}.onnx",
            "sha256": hashlib.sha256(name.encode()).hexdigest(),
            "bytes": 5_000_000,
            "weights": "float16",
            "input": [1, 3, 512, 512],
            "classes": ["a"],
            "training": {"epochs": 3},
            "check": {"views": 8},
        }
        for name in ("detector", "reader", "strips")
    }


PROVENANCE = Provenance(
    rendered=(
        RenderedData(name="set", views=14000, seed=11, size_px=640, decks=("jumbo",), fonts=177),
    ),
    stacks=(StackData(name="stacks", strips=48000, seed=3),),
    photographs=(
        PhotoData(name="phone cards", version="v12", licence="CC BY 4.0", attribution="A. Person"),
        PhotoData(name="own"),
    ),
)


def test_the_runtime_reads_it_and_checks_the_files(tmp_path: Path) -> None:
    card = build_card(_models(), PROVENANCE, FIGURES, {"torch": "2"}, "2026-01-02")
    (tmp_path / "model-card.json").write_text(card_json(card), encoding="utf-8")
    with pytest.raises(ModelError, match=r"detector\.onnx: the model is missing"):
        load_card(tmp_path)
    for name in ("detector", "reader", "strips"):
        (tmp_path / f"{name}.onnx").write_bytes(name.encode())
    assert load_card(tmp_path) == json.loads(card_json(card))
    (tmp_path / "reader.onnx").write_bytes(b"other")
    with pytest.raises(ModelError, match=r"reader\.onnx: not the file of the model card"):
        load_card(tmp_path)


def test_the_page_lists_data_licences_hashes_and_figures() -> None:
    page = card_markdown(build_card(_models(), PROVENANCE, FIGURES, {"torch": "2"}, "2026-01-02"))
    for words in (
        "2026-01-02, with torch 2",
        "AGPL-3.0-or-later",
        hashlib.sha256(b"reader").hexdigest(),
        "14,000 of 640 px, seed 11",
        "177 fonts; folders of faces: jumbo",
        "phone cards, version v12, CC BY 4.0, A. Person",
        "own, licence unknown",
        "| index | 10 | 95.00% | 80.00% | 100.00% | 90.00% |",
        "| chip | 0 | – | – | – | – |",
        "| read wrong, share 0.6 or more | 10.00% |",
        "9S for 9C (6)",
        "Ray-cast strips of chip stacks: 48,000, seed 3",
        "| all (38) | 90.00% read, 1.00% wrong, 9.00% undecided |",
        "| no stack (2) | 1 invented |",
        "| chip, red on top | 4 |",
        "| mAP50 of 53 cards | 92.30% |",
        "| read wrong | 1 (1 in 9) |",
        "AS for AC (3)",
    ):
        assert words in page
    assert "## Confidence" not in page


def test_the_page_lists_int8_files_and_their_cost() -> None:
    models = _models()
    assert "int8" not in card_markdown(build_card(models, PROVENANCE, None, {}, "2026-11-21"))
    cost = Int8Cost(500, 0.94, 0.939, 0.72, 0.717).as_dict()
    models["detector"]["int8"] = {
        "file": "detector-int8.xml", "sha256": "x1", "bytes": 10,
        "weights": {"file": "detector-int8.bin", "sha256": "b2", "bytes": 2000}, "cost": cost,
    }  # fmt: skip
    page = card_markdown(build_card(models, PROVENANCE, None, {}, "2026-11-21"))
    rows = [line for line in page.splitlines() if "| detector, int8 |" in line]
    assert [line.count("|") for line in rows] == [7, 7]
    assert "`detector-int8.xml` | 10 | int8 |" in rows[0]
    assert "`detector-int8.bin` | 2,000 | int8 |" in rows[1]
    assert "`b2`" in rows[1]
    assert "In int8, which is what runs: pictures 500, map50 0.94, map50 int8 0.939" in page


def test_the_page_of_calibrated_weights_shows_how_far_they_can_be_trusted() -> None:
    card = build_card(_models(), PROVENANCE, FIGURES, {}, "2026-01-02", CALIBRATION)
    assert card["calibration"] == CALIBRATION
    page = card_markdown(card)
    for words in (
        "Fitted on 500 images of set (val)",
        "![Reliability diagrams](reliability.svg)",
        "| detector, all, platt * | 1.23% | 0.2000 |",
        "| reader, temperature * | 2.00% | 0.1000 |",
    ):
        assert words in page
    scenes = FIGURES | {"scenes": {"table": {k: FIGURES[k] for k in ("detector", "end_to_end")}}}
    assert "Of these, table scenes (500 views)" in card_markdown(
        build_card(_models(), PROVENANCE, scenes, {}, "2026-01-02")
    )


def test_the_page_says_what_is_not_known() -> None:
    page = card_markdown(build_card(_models(), Provenance(), None, {}, "2026-01-02"))
    assert "- Not recorded." in page
    assert "None yet" in page
    rendered = Provenance(rendered=PROVENANCE.rendered)
    assert "- No photographs." in card_markdown(build_card(_models(), rendered, None, {}, "x"))


def test_rows_have_the_width_of_their_heads() -> None:
    assert {len(row) for row in finding_rows(FIGURES["detector"])} == {len(FINDING_HEADS)}
    assert {len(row) for row in reading_rows(FIGURES["end_to_end"])} == {2}
    assert {len(row) for row in reader_rows(FIGURES["reader"])} == {2}
    assert {len(row) for row in calibration_rows(CALIBRATION)} == {3}
    assert calibration_rows(None) == []
    assert {len(row) for row in stack_rows(FIGURES)} == {2}
    assert stack_rows(FIGURES | {"stacks": None}) == []


def test_figures_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    path.write_text(json.dumps(FIGURES))
    assert read_figures(path) == FIGURES
    path.write_text(json.dumps(FIGURES | {"stacks": None}))
    assert read_figures(path)["stacks"] is None
    path.write_text(json.dumps({k: v for k, v in FIGURES.items() if k != "stacks"}))
    with pytest.raises(FeltwatchError, match="no figures of the stacks"):
        read_figures(path)
    path.write_text(json.dumps({"detector": {}}))
    with pytest.raises(FeltwatchError, match="no figures of the reader"):
        read_figures(path)
