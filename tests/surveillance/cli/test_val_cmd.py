"""`feltwatch model val` and `model robustness`: tables, JSON, pages and files."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from defusedxml.ElementTree import fromstring

import models.evaluate.robustness
import models.evaluate.validate
from models.evaluate.calibration import read_calibration
from surveillance.cli import main
from tests.models.evaluate.val_stand_ins import (
    PaintedDetector,
    PaintedReader,
    write_painted,
    write_weights,
)
from tests.models.export.test_model_card import FIGURES
from tests.surveillance.web.review_browser import launched
from vision.detect import openvino_runtime


@pytest.fixture
def no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("torch", "ultralytics"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.fixture
def arguments(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, no_torch: None) -> list[str]:
    """Weights of stand-ins and a painted set with two wrong labels, as the commands take them."""
    monkeypatch.setattr(openvino_runtime, "OpenVinoDetector", PaintedDetector)
    monkeypatch.setattr(openvino_runtime, "OpenVinoReader", PaintedReader)
    data = write_painted(tmp_path / "painted", [["AS", "KD"], ["7C", "TH"], ["2H"]])
    path = data / "boxes" / "val" / "0000.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[0]["boxes"][0]["card"] = "AC"
    lines[2]["scene"] = "loose"
    del lines[1]["boxes"][0]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    weights = write_weights(tmp_path / "weights")
    return ["--data", str(data), "--weights", str(weights), "--quiet"]


@pytest.mark.parametrize("extra", [[], ["--json"]])
def test_val_prints_what_was_found(
    extra: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    no_torch: None,
) -> None:
    check = models.evaluate.validate.Check(FIGURES, {}, {})
    monkeypatch.setattr("models.evaluate.validate.validate", lambda *_, **__: check)
    assert main(["model", "val", "--weights", "w", "--data", "d", "--quiet", *extra]) == 0
    out = capsys.readouterr().out
    if extra:
        assert json.loads(out) == FIGURES
        return
    for words in (
        "Finding: 500 views of set", "95.00%", "chip, red on top", "Finding and reading: set",
        "1 (1 in 9)", "Confusions", "AC", "Reader: 12 crops",
        "Chip stacks, on strips", "90.00% read", "detector, all, platt *", "1.23%",
    ):  # fmt: skip
        assert words in out, words
    assert "cards" in out
    assert "ranks" not in out


def test_val_needs_no_training_library_and_writes_its_files(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, fit = tmp_path / "out", tmp_path / "fits" / "calibration.json"
    assert main(["model", "val", *arguments, "--out", str(out), "--fit", str(fit)]) == 0
    shown = capsys.readouterr().out
    assert "Finding: 3 views of painted" in shown
    assert "loose scenes" in shown
    assert f"page: {out / 'val.html'}" in shown
    assert read_calibration(fit)["pictures"] == 3
    assert fromstring((out / "reliability.svg").read_text()).tag.endswith("svg")
    page = (out / "val.html").read_text()
    # The wrong name is shown with both boxes; the find whose label was taken out as well.
    assert re.search(r"AC</span> → <span class=\"b\">index 0.90, read AS 0\.\d\d", page)
    assert "nothing → " in page
    assert page.count("data:image/jpeg;base64,") == 2
    assert str(tmp_path / "painted") not in page


def test_val_json_is_one_object(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "val", *arguments, "--json", "--pictures", "2", "--sure", "0.99"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["data"]["pictures"] == 2
    # The stand-in's share is 0.98.
    assert (
        printed["end_to_end"]["working"]["undecided"]
        == printed["end_to_end"]["working"]["seen"]
        > 0
    )


def test_what_cannot_be_read_is_refused_in_one_line(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    for extra, words in (
        (["--split", "none"], "holds no labels"),
        (["--fit", str(tmp_path / "file" / "c.json")], "cannot be written"),
        (["--weights", str(tmp_path / "no")], "the model card is missing"),
    ):
        assert main(["model", "val", *arguments, *extra]) == 2
        err = capsys.readouterr().err
        assert words in err
        assert err.count("\n") == 1


def test_robustness(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forms = ["--form", "dark", "--form", "jpeg"]
    out = tmp_path / "broken"
    assert main(["model", "robustness", *arguments, *forms, "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "breaks in recall at" in shown
    assert sorted(p.name for p in out.iterdir()) == ["dark.svg", "jpeg.svg", "robustness.html"]
    assert fromstring((out / "dark.svg").read_text()).tag.endswith("svg")
    page = (out / "robustness.html").read_text()
    assert "dark: breaks at" in page
    assert main(["model", "robustness", *arguments, "--form", "jpeg", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [form["form"] for form in printed["forms"]] == ["jpeg"]
    assert main(["model", "robustness", *arguments, "--form", "fog"]) == 2
    assert "'fog' is no form" in capsys.readouterr().err


def test_the_page_in_a_browser(arguments: list[str], tmp_path: Path) -> None:
    assert main(["model", "val", *arguments, "--out", str(tmp_path / "out")]) == 0
    with launched() as browser:
        page = browser.new_page(viewport={"width": 1320, "height": 900})
        page.goto((tmp_path / "out" / "val.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 1320
        assert page.evaluate("[...document.images].every(i => i.naturalWidth > 100)")
        ground = page.locator(".chart svg > rect").first
        assert ground.evaluate("e => getComputedStyle(e).fill") == "rgb(255, 255, 255)"
