"""The whole recipe in one, on next to nothing: each stage takes what the one before left."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import cv2
import numpy as np
import pytest

import models.data.photo_crops
import models.recipe
from datasets.render.cards.deck import draw_deck
from datasets.training.views import render_view
from models.recipe import BuildPlan, Photographs, build
from vision.detect.openvino_runtime import load_card


def photographs(folder: Path) -> Path:
    """Eight rendered views in the form of labelled photographs, by their corners."""
    rng = np.random.default_rng(3)
    deck, told = draw_deck(), []
    (folder / "images").mkdir(parents=True)
    for n in range(8):
        view = render_view(rng, [deck], size=256)
        name = f"IMG_20260101_1{n}0000.jpg"
        cv2.imwrite(str(folder / "images" / name), view.image)
        boxes = [
            {"label": b.card, "xyxy": list(b.xyxy), "kind": "corner"} for b in view.boxes if b.card
        ]
        told.append({"image": f"images/{name}", "width": 256, "height": 256, "boxes": boxes})
    (folder / "labels.json").write_text(json.dumps(told), encoding="utf-8")
    return folder


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models.recipe, "STRIPS_PER_VIEW", 1)
    # A network that learned nothing gives no card a share.
    monkeypatch.setattr(models.data.photo_crops, "CORNER_SHARE", 0.0)
    monkeypatch.setattr(models.data.photo_crops, "CLEAR_LEAD", 0.0)


@pytest.mark.usefixtures("small")
def test_a_build_goes_on_and_tells_what_the_weights_learned_from(tmp_path: Path) -> None:
    phone = photographs(tmp_path / "phone")
    plan = BuildPlan(
        out=tmp_path / "build", views=20, size=64, epochs=1, device="cpu",
        photographs=(Photographs(phone, after="15:00"),),
    )  # fmt: skip
    told: list[str] = []
    weights = build(plan, told.append, lambda share: None)
    alone = load_card(tmp_path / "build" / "rendered-weights")
    card = load_card(weights)
    assert alone["data"]["photographs"] == []
    for one in (alone, card):
        own = one["models"]["detector"]
        assert own["training"]["form"] == "slim"
        assert ("int8" in own or "int8_left_out" in own) is (find_spec("nncf") is not None)
    assert [one["name"] for one in card["data"]["photographs"]] == ["phone"]
    cut = {p.name for p in (tmp_path / "build" / "cut" / "phone" / "images").glob("*.jpg")}
    assert not any("_15" in name or "_16" in name or "_17" in name for name in cut)
    files = {p: p.stat().st_mtime_ns for p in weights.rglob("*")}
    checkpoints = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*.pt")}
    assert build(plan, told.append, lambda share: None) == weights
    assert {p: p.stat().st_mtime_ns for p in weights.rglob("*")} == files
    assert {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*.pt")} == checkpoints
