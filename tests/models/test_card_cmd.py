"""`feltwatch model card`: figures measured for the card by one command."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import cv2
import pytest
import yaml

from models.evaluate import card_results
from models.evaluate.card_results import STEPS, photograph_result, robustness_results
from models.evaluate.perturbations import FORMS
from models.evaluate.validate import CheckOptions, validate
from models.heldout.lists import LISTS, read_list
from models.weights.folder import default_weights
from surveillance.cli import main
from tests.models.evaluate.val_stand_ins import (
    PaintedDetector,
    PaintedReader,
    write_painted,
    write_weights,
)
from tests.vision.painted import ColourDetector, ColourReader, ground, paint_card
from vision.cards.photo import PhotoReader
from vision.detect import openvino_runtime
from vision.detect.openvino_runtime import load_card


@pytest.fixture
def painted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openvino_runtime, "OpenVinoDetector", PaintedDetector)
    monkeypatch.setattr(openvino_runtime, "OpenVinoReader", PaintedReader)


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    folder = tmp_path / "weights"
    shutil.copytree(default_weights(), folder)
    return folder


@pytest.fixture
def phone(tmp_path: Path) -> Path:
    """Two photographs, one of them taken after 17:00."""
    folder, labels = tmp_path / "phone", []
    (folder / "images").mkdir(parents=True)
    for n, (hour, label) in enumerate((("16", "AS"), ("17", "KD"))):
        image = ground(400, 400)
        paint_card(image, label, (200.0, 200.0), 0.0, 36.0)
        name = f"images/IMG_20220316_{hour}000{n}.png"
        cv2.imwrite(str(folder / name), image)
        box = {"label": label, "xyxy": [130, 110, 270, 290], "kind": "card"}
        labels.append({"image": name, "width": 400, "height": 400, "boxes": [box]})
    (folder / "labels.json").write_text(json.dumps(labels))
    return folder


def test_photographs_are_one_line_with_the_command_that_prints_it(phone: Path) -> None:
    line = photograph_result(phone, "17:00", None, PhotoReader(ColourDetector(), ColourReader()))
    assert line == {
        "kind": "photographs", "data": "phone, the 1 taken after 17:00",
        "figure": "cards read right", "value": 1.0,
        "samples": "1 cards; 0.00% wrong, 0.00% unread",
        "command": "feltwatch model photos phone --after 17:00",
    }  # fmt: skip


def test_the_steps_of_the_card_are_those_of_robustness() -> None:
    known = {(form.name, step.name) for form in FORMS for step in form.steps}
    assert set(STEPS) <= known


def test_robustness_is_a_line_for_each_step(painted: None, tmp_path: Path) -> None:
    data = write_painted(tmp_path / "held", [["AS", "KD"], ["7C", "TH"]])
    lines = robustness_results(write_weights(tmp_path / "w"), data, "val")
    assert [line["figure"] for line in lines] == list(STEPS.values())
    upside = next(line for line in lines if line["figure"] == "upside down")
    assert upside["value"] >= 0.9
    assert upside["data"] == "held, 2 views with indices, found and read right"
    assert upside["command"] == "feltwatch model robustness --data held --form turn --pictures 2"
    dark = next(line for line in lines if line["figure"] == "a quarter of the light")
    assert dark["value"] < 0.9  # the stand-in finds by saturation


def test_measured_figures_take_the_place_of_those_of_their_kind(
    painted: None, weights: Path, phone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = write_painted(tmp_path / "held", [["AS", "KD"], ["7C", "TH"]])
    before = load_card(weights)
    line = dict.fromkeys(("data", "figure", "samples", "command"), "own") | {
        "kind": "photographs", "value": 0.75,
    }  # fmt: skip

    def photographs(folder: Path, *part: Any) -> dict[str, Any]:
        assert (folder, part[:2]) == (phone, ("17:00", None))
        return line

    monkeypatch.setattr(card_results, "photograph_result", photographs)
    given = ["--photos", f"{phone}:after=17:00", "--quiet"]
    assert main(["model", "card", "--weights", str(weights), *given]) == 0
    card = load_card(weights)
    robust = [one for one in before["evaluations"] if one["kind"] == "robustness"]
    shas = {name: before["models"][name]["sha256"] for name in ("detector", "reader")}
    line["weights"] = shas
    assert card["evaluations"] == [line, *robust]
    assert card["figures"] == before["figures"]

    assert main(["model", "card", "--weights", str(weights), "--data", str(data), "--quiet"]) == 0
    card = load_card(weights)
    figures = validate(weights, data, CheckOptions()).figures
    assert card["figures"] == json.loads(json.dumps(figures))
    assert card["figures"]["weights"] == {k: v["sha256"] for k, v in card["models"].items()}
    assert [one["kind"] for one in card["evaluations"]] == ["photographs"] + 7 * ["robustness"]
    assert all(one["weights"] == shas for one in card["evaluations"])
    assert card["models"] == before["models"]
    page = (weights / "MODEL_CARD.md").read_text(encoding="utf-8")
    assert "## How far scores hold" in page
    assert "on 2 views of held: 0.9 should mean" in page
    assert "| detector, index |" in page or "| detector, all |" in page
    assert "The reader was replaced" not in page
    assert "| own | own | 0.75 | own | `own` |" in page
    head = yaml.safe_load(page.split("---")[1])
    (index,) = head["model-index"]
    values = [one["metrics"][0]["value"] for one in index["results"]]
    assert values == [one["value"] for one in card["evaluations"]]


def test_results_of_other_weights_are_not_on_the_page(weights: Path, tmp_path: Path) -> None:
    shas = {part: load_card(weights)["models"][part]["sha256"] for part in ("detector", "reader")}
    rows = [
        dict.fromkeys(("kind", "data", "samples", "command"), "own")
        | {"figure": figure, "value": 0.5, "weights": named}
        for figure, named in (("of these", shas), ("of others", shas | {"reader": "0" * 64}))
    ]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    given = ["--weights", str(weights), "--evaluations", str(tmp_path / "rows.json")]
    assert main(["model", "card", *given]) == 0
    page = (weights / "MODEL_CARD.md").read_text(encoding="utf-8")
    assert "of these" in page
    assert "of others" not in page
    (index,) = yaml.safe_load(page.split("---")[1])["model-index"]
    assert [one["metrics"][0]["name"] for one in index["results"]] == ["of these"]


def test_a_set_that_was_rendered_again_is_said_to_be(
    painted: None, weights: Path, tmp_path: Path
) -> None:
    data = write_painted(tmp_path / "held", [["AS", "KD"], ["7C", "TH"]])
    listed = read_list(LISTS / "decks-and-cameras.json").pictures[0].file
    (data / listed).parent.mkdir(parents=True, exist_ok=True)
    (data / listed).write_bytes(next((data / "images" / "val").iterdir()).read_bytes())
    assert main(["model", "card", "--weights", str(weights), "--data", str(data), "--quiet"]) == 0
    assert load_card(weights)["figures"]["data"]["held_out"] == {
        "name": "decks-and-cameras", "unchanged": 0, "of": 303,
    }  # fmt: skip
    page = (weights / "MODEL_CARD.md").read_text(encoding="utf-8")
    assert "0 of 303 files of the list decks-and-cameras" in page


def test_the_shipped_card_has_figures_of_the_shipped_weights_alone() -> None:
    card = load_card(default_weights())
    shas = {name: model["sha256"] for name, model in card["models"].items()}
    assert card["figures"]["weights"].items() <= shas.items()
    assert card["evaluations"]
    for one in card["evaluations"]:
        assert one["weights"].items() <= shas.items()


def test_what_is_wrong_leaves_the_card_as_it_was(
    weights: Path, phone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (weights / "model-card.json").read_bytes()
    for given, message in (
        (["--photos", str(phone)], "say what is held out"),
        (["--data", str(phone / "none")], "none"),
    ):
        assert main(["model", "card", "--weights", str(weights), *given, "--quiet"]) == 2
        assert message in capsys.readouterr().err
    assert (weights / "model-card.json").read_bytes() == before
