"""`feltwatch model provenance` and `card`: what weights record of themselves, as text and page."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from models.weights.folder import default_weights
from surveillance.cli import main
from vision.detect.openvino_runtime import load_card


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    folder = tmp_path / "weights"
    shutil.copytree(default_weights(), folder)
    return folder


def test_the_shipped_weights_list_what_they_were_made_from(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["model", "provenance"]) == 0
    printed = capsys.readouterr().out
    card = load_card(default_weights())
    for name, own in card["models"].items():
        assert f"{name}: {own['file']} sha256 {own['sha256'][:12]}" in printed
    assert "cannot be repeated to the byte" in printed
    assert "photographs: rf100_poker_cards (version 2, licence CC BY 4.0" in printed
    assert main(["model", "provenance", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["data"] == card["data"]


def test_every_photograph_has_its_licence() -> None:
    photographs = load_card(default_weights())["data"]["photographs"]
    assert {one["licence"] for one in photographs} == {"CC BY 4.0"}


def test_a_chain_of_trainings_is_printed_link_by_link(
    weights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = weights / "model-card.json"
    card = json.loads(path.read_text())
    link = {"part": "reader", "weights_sha256": "ab" * 32, "steps": 30, "minutes": 2.5,
            "data_sha256": {"set": "cd" * 32}, "commit": "ef" * 20}  # fmt: skip
    card["models"]["reader"]["chain"] = [link, link | {"steps": 7}]
    path.write_text(json.dumps(card))
    assert main(["model", "provenance", "--weights", str(weights)]) == 0
    lines = capsys.readouterr().out.splitlines()
    first = "weights abababababab, steps 30, 2.5 minutes, set cdcdcdcdcdcd, commit efefefefefef"
    assert f"  1. {first}" in lines
    assert any(line.startswith("  2. ") and "steps 7" in line for line in lines)
    assert main(["model", "card", "--weights", str(weights)]) == 0
    assert "- **reader**: 2 trainings, 5 minutes in all." in (weights / "MODEL_CARD.md").read_text()


def test_the_page_is_that_of_the_card_and_takes_results(weights: Path, tmp_path: Path) -> None:
    page = weights / "MODEL_CARD.md"
    shipped = page.read_text(encoding="utf-8")
    assert main(["model", "card", "--weights", str(weights)]) == 0
    assert page.read_text(encoding="utf-8") == shipped
    assert shipped.startswith('---\nlicense: "agpl-3.0"\n')
    for head in ("Intended use", "Out-of-scope use", "Factors and limitations", "People in images",
                 "Photographs and robustness"):  # fmt: skip
        assert f"## {head}\n" in shipped
    results = tmp_path / "results.json"
    one = dict.fromkeys(("kind", "data", "figure", "samples", "command"), "mine") | {"value": 0.5}
    results.write_text(json.dumps([one]))
    assert main(["model", "card", "--weights", str(weights), "--evaluations", str(results)]) == 0
    assert "| mine | mine | mine | 0.5 | mine | `mine` |" in page.read_text(encoding="utf-8")
    card = load_card(weights)
    shas = {part: card["models"][part]["sha256"] for part in ("detector", "reader")}
    assert card["evaluations"] == [one | {"weights": shas}]


def test_results_of_another_form_and_altered_files_are_refused(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results.json"
    results.write_text('[{"kind": "photographs"}]')
    assert main(["model", "card", "--weights", str(weights), "--evaluations", str(results)]) == 2
    assert "a list of objects with kind, data" in capsys.readouterr().err
    (weights / "reader.onnx").write_bytes(b"other")
    assert main(["model", "provenance", "--weights", str(weights)]) == 2
    assert "not the file of the model card" in capsys.readouterr().err
