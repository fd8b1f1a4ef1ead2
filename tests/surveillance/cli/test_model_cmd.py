"""`feltwatch model` without the training libraries: rendering, errors, readable figures."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from surveillance.cli import main


@pytest.fixture
def no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("torch", "ultralytics", "ultralytics.utils.metrics"):
        monkeypatch.setitem(sys.modules, name, None)
    for name in (
        "train.run",
        "export.weights",
        "export.parity",
        "train.detector",
        "train.reader",
        "train.chip_stacks",
        "export.sides",
    ):
        monkeypatch.delitem(sys.modules, f"models.{name}", raising=False)


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "--data", "set", "--out", "run"],
        [
            "export",
            "--detector",
            "d.pt",
            "--reader",
            "r.pt",
            "--strips",
            "s.pt",
            "--out",
            "w",
        ],
    ],
)
def test_without_the_train_extra(
    arguments: list[str],
    no_torch: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["model", *arguments]) == 2
    err = capsys.readouterr().err
    assert err.startswith("feltwatch: error: ")
    assert 'pip install "feltwatch[train]", which is about 7 GB' in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train", "--data", "set", "--out", "run", "--start", "x.pt"], "say which with --part"),
        (
            ["train", "--data", "s", "--out", "r", "--start", "x.pt", "--part", "reader"],
            "x.pt: no such checkpoint",
        ),
        (["train", "--data", "set", "--out", "run", "--size", "500"], "a multiple of 32"),
        (
            [
                "export",
                "--detector",
                "d",
                "--reader",
                "r",
                "--strips",
                "s",
                "--out",
                "w",
                "--size",
                "100",
            ],
            "a multiple of 32",
        ),
        (["render", "--views", "4", "--out", "o", "--fonts", "none"], "no such folder of fonts"),
    ],
)
def test_wrong_use(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["model", *arguments]) == 2
    assert words in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "--help"]) == 0
    shown = capsys.readouterr().out
    for name in ("render", "train", "val", "robustness", "export", "photos"):
        assert name in shown


@pytest.mark.render
def test_render(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "set"
    arguments = [
        "model",
        "render",
        "--views",
        "2",
        "--size",
        "128",
        "--strips",
        "0",
        "--workers",
        "1",
        "--quiet",
    ]
    assert main([*arguments, "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"training set: {out / 'data.yaml'}\n"
    for split in ("train", "val"):
        assert len(list((out / "images" / split).glob("*.jpg"))) == 2
        assert len(list((out / "labels" / split).glob("*.txt"))) == 2
    recipe = json.loads((out / "recipe.json").read_text())
    assert (recipe["views"], recipe["size"]) == (2, 128)
    assert len(json.loads((out / "sources.json").read_text())["fonts"]) == recipe["fonts"]
    assert main([*arguments, "--seed", "2", "--out", str(out)]) == 2
    assert "holds a training set of another recipe" in capsys.readouterr().err
