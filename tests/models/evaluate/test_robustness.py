"""Changes of images move the truth with them, and where a form breaks is found."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.evaluate.perturbations import (
    FORMS,
    blurred,
    covered,
    covered_index,
    darker,
    glared,
    motion_blurred,
    packed,
    pixel_change,
    quad_of,
    smaller,
    turned,
)
from models.evaluate.robustness import TrialOptions, chosen_forms, robustness
from models.evaluate.samples import Truth
from settlement.errors import FeltwatchError
from tests.models.evaluate.val_stand_ins import (
    PaintedDetector,
    PaintedReader,
    write_painted,
    write_weights,
)
from vision.detect import openvino_runtime


def an_index(x: float, y: float, tall: float = 24.0, **values: Any) -> Truth:
    w = 0.46 * tall
    quad = np.array([[x, y], [x + w, y], [x + w, y + tall], [x, y + tall]])
    return Truth("index", (x, y, x + w, y + tall), "AS", quad=quad, **values)


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def test_the_truth_turns_with_the_image() -> None:
    image = np.zeros((200, 200, 3), np.uint8)
    truth = an_index(40, 60)
    x0, y0, x1, y1 = (round(v) for v in truth.xyxy)
    image[y0:y1, x0:x1] = 255
    for degrees in (45.0, 90.0, 180.0, 200.0):
        out, (moved,) = turned(degrees)(rng(), image, (truth,))
        ys, xs = np.nonzero(out[..., 0] > 128)
        seen = np.array([xs.min(), ys.min(), xs.max() + 1, ys.max() + 1])
        assert np.abs(seen - moved.xyxy).max() <= 2, degrees
        assert moved.labelled
    assert moved.quad is not None
    same, truths = turned(0)(rng(), image, (truth,))
    assert same is image
    assert truths == (truth,)


def test_what_leaves_the_image_is_not_asked_for() -> None:
    image = np.zeros((200, 200, 3), np.uint8)
    corner, edge, middle = an_index(0, 0), an_index(20, 18), an_index(95, 90)
    _, truths = turned(45)(rng(), image, (corner, edge, middle))
    # The corner's is out of sight, the edge's cut in half.
    assert [t.labelled for t in truths] == [False, True]
    assert all(min(t.xyxy) >= 0 and max(t.xyxy) <= 200 for t in truths)


@pytest.mark.parametrize(
    "change",
    [smaller(2), blurred(2), darker(0.4), glared(0.5), packed(20)],
    ids=["smaller", "blurred", "darker", "glared", "packed"],
)
def test_changes_of_pixels_keep_the_size_and_the_truth(change: Any) -> None:
    image = rng().integers(0, 255, (120, 160, 3), np.uint8)
    truths = (an_index(40, 60),)
    out, same = change(rng(), image, truths)
    assert out.shape == image.shape
    assert out.dtype == np.uint8
    assert same == truths
    assert np.abs(out.astype(int) - image).mean() > 2


def test_glare_lies_at_the_index() -> None:
    image = np.full((200, 200, 3), 60, np.uint8)
    out, _ = glared(0.9)(rng(), image, (an_index(40, 60),))
    assert out[72, 45].min() > 200
    assert out[180, 180].max() == 60


def test_a_cover_hides_the_far_half_and_leaves_the_index() -> None:
    image = np.full((300, 300, 3), 250, np.uint8)
    tall = 24.0
    near = an_index(50, 50, tall)
    # The other index of the same card, upside down at its far corner.
    far = an_index(50 + 2.16 * tall, 50 + 2.7 * tall, tall)
    out, truths = covered(0.5)(np.random.default_rng(2), image, (near, far))
    assert [t.labelled for t in truths].count(True) == 1
    kept, hidden = sorted(truths, key=lambda t: not t.labelled)
    x0, y0, x1, y1 = (round(v) for v in kept.xyxy)
    assert (out[y0:y1, x0:x1] == 250).all()
    x0, y0, x1, y1 = (round(v) for v in hidden.xyxy)
    if kept is truths[0]:
        assert (out[y0:y1, x0:x1] != 250).any()


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_a_cover_over_the_index_hides_so_much_of_it(share: float) -> None:
    image = np.full((300, 300, 3), 250, np.uint8)
    image[:, :, 0] = 10  # a colour that no back of a card has
    truth = an_index(50, 50, 40.0)
    out, (kept,) = covered_index(share)(rng(), image, (truth,))
    assert kept.labelled
    x0, y0, x1, y1 = (round(v) for v in truth.xyxy)
    part = (out[y0:y1, x0:x1] != (10, 250, 250)).any(axis=2).mean()
    assert part == pytest.approx(share, abs=0.08)


def test_quads_come_from_boxes_where_none_are_given() -> None:
    bare = Truth("index", (1, 2, 3, 6), "AS")
    assert quad_of(bare).tolist() == [[1, 2], [3, 2], [3, 6], [1, 6]]


def test_motion_spreads_a_point_along_a_line_so_long() -> None:
    image = np.zeros((41, 41, 3), np.uint8)
    image[20, 20] = 255
    out, _ = motion_blurred(9.0)(rng(), image, ())
    assert int(out[..., 0].sum()) == pytest.approx(255, rel=0.06)
    y, x = np.nonzero(out[..., 0] > 4)
    assert math.hypot(np.ptp(x), np.ptp(y)) == pytest.approx(9.0, abs=1.6)


def test_changes_of_pixels_by_name() -> None:
    image = np.full((8, 8, 3), 200, np.uint8)
    out, truths = pixel_change("dark", "25%")(rng(), image, ())
    assert (out.mean(), truths) == (pytest.approx(50, abs=1), ())
    with pytest.raises(FeltwatchError, match="form turn: expected one of resolution, blur"):
        pixel_change("turn", "15°")
    with pytest.raises(FeltwatchError, match="step 8 px of form motion: expected one of 3 px, 5"):
        pixel_change("motion", "8 px")


def test_forms_by_name() -> None:
    assert chosen_forms(()) == FORMS
    assert [f.name for f in chosen_forms(("glare", "turn"))] == ["glare", "turn"]
    with pytest.raises(FeltwatchError, match="'fog' is no form; there are turn, cover"):
        chosen_forms(("fog",))
    assert all(len({s.name for s in f.steps}) == len(f.steps) for f in FORMS)


@pytest.fixture
def painted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openvino_runtime, "OpenVinoDetector", PaintedDetector)
    monkeypatch.setattr(openvino_runtime, "OpenVinoReader", PaintedReader)


def test_turned_cards_are_read_and_dark_ones_are_lost(painted: None, tmp_path: Path) -> None:
    data = write_painted(tmp_path / "set", [["AS", "KD"], ["7C", "TH"]])
    weights = write_weights(tmp_path / "weights")
    progress: list[float] = []
    options = TrialOptions(forms=("turn", "dark"))
    result = robustness(weights, data, options, progress.append)
    assert progress[-1] == 1.0
    assert result["plain"]["recall"] == result["plain"]["read_right"] == 1.0
    turn, dark = result["forms"]
    by_step = {s["step"]: s for s in turn["steps"]}
    assert turn["steps"][0]["step"] == "0°"
    for name in ("90°", "180°", "270°"):
        assert by_step[name]["read_right"] >= 0.9, name
        assert by_step[name]["wrong"] == 0
    # The stand-in finds by saturation: in the dark there is too little of it.
    assert dark["break"] is not None
    assert dark["breaks"]["recall"] in [s["step"] for s in dark["steps"]]
    assert dark["steps"][-1]["recall"] < 0.5


def test_covered_cards_are_compared_with_the_same_ones_uncovered(
    painted: None, tmp_path: Path
) -> None:
    data = write_painted(tmp_path / "set", [["AS", "KD"], ["7C", "TH"]])
    result = robustness(write_weights(tmp_path / "w"), data, TrialOptions(forms=("cover",)))
    (cover,) = result["forms"]
    by_step = {s["step"]: s for s in cover["steps"]}
    half = by_step["50%"]
    # One index of each card is left, and found and read as before.
    assert half["labelled"] == half["plain"]["labelled"] == 4
    assert half["plain"]["read_right"] == half["read_right"] == 1.0
    assert by_step["+50%"]["read_right"] < 0.5
    assert str(cover["breaks"]["read_right"]).startswith("+")


def test_images_without_cards_are_refused(painted: None, tmp_path: Path) -> None:
    data = write_painted(tmp_path / "set", [["AS"]])
    path = data / "boxes" / "val" / "0000.jsonl"
    path.write_text(path.read_text().replace('"card": "AS"', '"card": null'))
    with pytest.raises(FeltwatchError, match="no index on its images has a labelled card"):
        robustness(write_weights(tmp_path / "weights"), data)
