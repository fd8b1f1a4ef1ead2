"""Render, train, export and check a tiny model, all by the command line.

Run by `make test-train`: it needs the `train` extra. The model learns nothing in two epochs;
what is tested is that each step takes what the one before gave.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

import models.export.parity
from datasets.training.sides.render import render_strips
from models.train.run import TrainingRun, train_part
from settlement.errors import FeltwatchError
from surveillance.cli import main
from vision.chips.network_input.side_strip import COLUMNS, ROWS
from vision.chips.side_palette import Palette
from vision.detect.openvino_runtime import load_card
from vision.geometry.table import ChipKind
from vision.networks import load_networks

SIZE = 128


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A rendered set of 16 views to train on and 16 to check with."""
    out = tmp_path_factory.mktemp("data") / "set"
    code = main(
        ["model", "render", "--views", "16", "--size", "256", "--workers", "1", "--quiet",
         "--strips", "0", "--out", str(out)]
    )  # fmt: skip
    assert code == 0
    render_strips(out / "stacks", 48, seed=5)
    return out


@pytest.fixture(scope="module")
def run(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The networks trained for two epochs, the reader on more crops too."""
    out = tmp_path_factory.mktemp("run")
    photos = out / "photos"
    (photos / "crops").mkdir(parents=True)
    for path in (data / "crops" / "val").glob("*.npy"):
        (photos / "crops" / path.name).write_bytes(path.read_bytes())
    source = {"name": "phone", "version": "v1", "licence": "CC0", "attribution": "A. Person"}
    (photos / "source.json").write_text(json.dumps(source))
    code = main(
        ["model", "train", "--data", str(data), "--out", str(out), "--epochs", "2",
         "--size", str(SIZE), "--batch", "8", "--device", "cpu", "--steps", "2",
         "--crops", str(photos), "--crops-weight", "2"]
    )  # fmt: skip
    assert code == 0
    return out


def _export(run: Path, out: Path, *extra: str) -> int:
    return main(
        ["model", "export", "--detector", str(run / "detector/weights/best.pt"),
         "--reader", str(run / "reader/weights/best.pt"),
         "--strips", str(run / "strips/weights/last.pt"), "--size", str(SIZE),
         "--out", str(out), *extra]
    )  # fmt: skip


@pytest.fixture(scope="module")
def weights(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("weights")
    assert _export(run, out, "--threshold", "0.3", "--temperature", "1.2") == 0
    return out


def test_the_card_records_what_was_done(weights: Path) -> None:
    assert sorted(p.name for p in weights.iterdir()) == [
        "MODEL_CARD.md", "detector.onnx", "model-card.json", "reader.onnx", "strips.onnx",
    ]  # fmt: skip
    card = load_card(weights)
    detector, reader = card["models"]["detector"], card["models"]["reader"]
    assert detector["threshold"] == 0.3
    assert reader["temperature"] == 1.2
    assert detector["input"] == [1, 3, SIZE, SIZE]
    assert detector["training"]["epochs"] == 2
    assert detector["training"]["epochs done"] == 2
    assert len(reader["classes"]) == 54
    assert card["models"]["strips"]["training"]["steps done"] == 2
    assert card["data"]["stacks"] == [{"name": "stacks", "strips": 24, "seed": 5}]
    assert card["data"]["rendered"][0]["views"] == 16
    assert [one["licence"] for one in card["data"]["photographs"]] == ["CC0"]
    assert "phone, version v1, CC0, A. Person" in (weights / "MODEL_CARD.md").read_text()


def test_files_are_half_the_size_and_name_no_place(
    weights: Path, run: Path, tmp_path: Path
) -> None:
    assert _export(run, tmp_path / "full", "--full") == 0
    for name in ("detector.onnx", "reader.onnx"):
        half, full = weights / name, tmp_path / "full" / name
        assert half.stat().st_size < 0.55 * full.stat().st_size
        assert str(run).encode() not in half.read_bytes()
    card = (weights / "model-card.json").read_text() + (weights / "MODEL_CARD.md").read_text()
    assert str(run) not in card
    assert str(run.parent) not in card


def test_the_runtime_takes_them(weights: Path) -> None:
    networks = load_networks(weights)
    assert len(networks.detector.find([np.zeros((SIZE, SIZE, 3), np.uint8)] * 2)) == 2
    shares = networks.reader.read(np.zeros((33, 64, 64, 3), np.uint8))
    assert shares.shape == (33, 54)
    assert np.allclose(shares.sum(axis=1), 1, atol=1e-3)
    palette = Palette.of({"red": ChipKind(value_cents=500, rgb=(180, 30, 40))})
    given = networks.strips.read(
        np.zeros((2, ROWS, COLUMNS, 4), np.uint8), [3.0, 4.0], [0.5, 0.5], palette
    )
    assert [one.looks.shape for one in given] == [(ROWS, 1), (ROWS, 1)]


def test_val_and_a_second_export_with_its_figures(
    weights: Path, run: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["model", "val", "--weights", str(weights), "--data", str(data), "--quiet"]
    assert main([*arguments, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["detector"]["pictures"] == 16
    assert figures["detector"]["classes"]["index"]["labels"] > 20
    assert figures["reader"]["crops"] == sum(
        len(np.load(path)) for path in (data / "crops" / "val").glob("*-labels.npy")
    )
    assert figures["stacks"]["strips"] == 24
    assert figures["end_to_end"]["working"]["labelled"] > 20
    path, fit = tmp_path / "figures.json", tmp_path / "calibration.json"
    path.write_text(json.dumps(figures))
    assert main([*arguments, "--fit", str(fit)]) == 0
    capsys.readouterr()
    again = ["--figures", str(path), "--calibration", str(fit)]
    assert _export(run, tmp_path / "again", *again) == 0
    card = load_card(tmp_path / "again")
    assert card["figures"] == figures
    fitted = json.loads(fit.read_text())
    assert card["calibration"] == fitted
    if fitted["reader"] is not None:
        assert card["models"]["reader"]["temperature"] == fitted["reader"]["temperature"]
    if fitted["detector"] is not None:
        assert card["models"]["detector"]["points"] == fitted["detector"]["points"]
    assert (tmp_path / "again" / "reliability.svg").read_text().startswith("<svg")
    # The same checkpoints give the same files; others are not taken for them.
    assert card["models"]["reader"]["sha256"] == load_card(weights)["models"]["reader"]["sha256"]
    assert _export(run, tmp_path / "other", "--figures", str(path), "--full") == 2
    assert "the figures are of another detector" in capsys.readouterr().err
    assert _export(run, tmp_path / "other", "--calibration", str(fit), "--full") == 2
    assert "the calibration's figures are of another detector" in capsys.readouterr().err
    assert not list((tmp_path / "other").iterdir())


def test_outputs_that_differ_are_not_exported(
    weights: Path,
    run: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in weights.iterdir()}
    honest = models.export.parity._run_float32
    monkeypatch.setattr(models.export.parity, "_run_float32", lambda *a: honest(*a) + 0.02)
    assert _export(run, weights) == 2
    err = capsys.readouterr().err
    assert "detector.onnx: OpenVINO's scores differ from the checkpoint's by 0.02" in err
    after = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in weights.iterdir()}
    assert after == before


def test_checkpoints_that_are_none(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    best = {
        part: str(run / part / "weights" / ("last.pt" if part == "strips" else "best.pt"))
        for part in ("detector", "reader", "strips")
    }
    broken = tmp_path / "broken.pt"
    broken.write_bytes(b"no checkpoint")
    for detector, words in (
        (str(tmp_path / "none.pt"), "none.pt: no checkpoint"),
        (str(broken), "broken.pt: not a checkpoint that can be loaded"),
        (best["reader"], "not a detector: it is a classify model of 54 classes"),
    ):
        out = tmp_path / "out"
        arguments = ["--detector", detector, "--reader", best["reader"]]
        arguments += ["--strips", best["strips"], "--out", str(out)]
        assert main(["model", "export", *arguments]) == 2
        assert words in capsys.readouterr().err
        assert not list(out.iterdir())


def test_resume_leaves_what_is_finished(run: Path, data: Path) -> None:
    best = run / "detector" / "weights" / "best.pt"
    before = best.stat().st_mtime_ns
    assert train_part("detector", TrainingRun(data, run, resume=True)) == best
    assert best.stat().st_mtime_ns == before


def test_what_training_refuses(data: Path, tmp_path: Path) -> None:
    with pytest.raises(FeltwatchError, match="--device 7: not here"):
        train_part("detector", TrainingRun(data, tmp_path, device="7"))
    with pytest.raises(FeltwatchError, match=r"recipe\.json: No such file"):
        train_part("reader", TrainingRun(tmp_path / "none", tmp_path))
    with pytest.raises(FeltwatchError, match="no crops"):
        train_part("reader", TrainingRun(data, tmp_path, crops=(tmp_path,)))
    with pytest.raises(FeltwatchError, match="no pictures"):
        train_part("detector", TrainingRun(data, tmp_path, pictures=(tmp_path,)))
