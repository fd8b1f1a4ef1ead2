"""Views cut out of a simulated recording, and the moments at which they are cut."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from datasets.render.boxes import Box
from datasets.simulate.filming.truth_frames import read_frames
from datasets.simulate.shift import write_table
from datasets.training.shift_labels import boxes_in_view, index_crop, tray_in_view
from datasets.training.shift_moments import REST_S, choose_moments
from datasets.training.shift_views import CutWishes, cut_views
from datasets.training.training_set import NONE_CLASS
from datasets.training.views import CLASSES
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS
from surveillance.cli import main
from tests.datasets.simulate.small_film import small_film
from vision.geometry.calibration import Calibration
from vision.geometry.table import VIEW_MM, load_table
from vision.sources.file import FileSource


@pytest.fixture(scope="module")
def shift(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_film(tmp_path_factory.mktemp("film") / "night-1")


def cut(film: Path, out: Path, **wishes: Any) -> int:
    return cut_views(
        film / "video.mp4", film / "table.toml", film / "frames.jsonl.gz", out,
        CutWishes(**wishes),
    )  # fmt: skip


@pytest.fixture(scope="module")
def views(shift: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("views")
    # Three states of rest, and one picture with the arm.
    assert cut(shift, out, size=320) == 4
    return out


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_one_view_of_each_state_of_rest(shift: Path, views: Path) -> None:
    meta = lines(views / "meta.jsonl")
    own = [one for one in meta if one["seat"] == 1 and one["moment"] == "rest"]
    assert len(own) == 2
    assert 1.4 + REST_S <= own[0]["t_s"] < 2.8
    assert own[1]["t_s"] >= 2.8 + REST_S
    # Neither while the arm is there nor right after it.
    assert not 4.0 < own[1]["t_s"] < 4.8 + REST_S
    (other,) = [one for one in meta if one["seat"] == 2 and one["moment"] == "rest"]
    assert other["t_s"] >= 2.8 + REST_S
    assert not [one for one in meta if one["seat"] is None and one["moment"] != "empty"]
    sources = {(one["deck"], one["camera_seed"], one["shift"]) for one in meta}
    assert sources == {("jumbo", 4, "night_1")}
    assert all(one["resting"] == (one["moment"] != "motion") for one in meta)


def test_an_arm_over_a_view_is_listed(shift: Path) -> None:
    table = load_table(shift / "table.toml")
    assert table.camera is not None
    places = {seat.seat: seat.place for seat in table.seats}
    moments = choose_moments(
        read_frames(shift / "frames.jsonl.gz"), Calibration.fit(table.camera), places
    )
    moving = [m for m in moments if m.kind == "motion"]
    assert moving
    assert all(4.0 <= m.t_s <= 4.8 for m in moving)


def test_the_truth_looked_at_less_often_and_fewer_chosen(shift: Path, tmp_path: Path) -> None:
    assert cut(shift, tmp_path / "few", most=2, size=160) == 2
    assert len(list((tmp_path / "few" / "images" / "val").iterdir())) == 2
    with pytest.raises(FeltwatchError, match="nothing comes to rest"):
        cut(shift, tmp_path / "none", every_s=100.0)


def test_views_are_those_of_the_product(shift: Path, views: Path) -> None:
    """The same px as the audit cuts from the frame of that time, up to the JPEG."""
    table = load_table(shift / "table.toml")
    assert table.camera is not None
    calibration = Calibration.fit(table.camera)
    meta = [m for m in lines(views / "meta.jsonl") if m["seat"] == 1]
    with FileSource(shift / "video.mp4") as source:
        frames = {round(float(frame.at_s), 2): frame.bgr() for frame in source.frames()}
    for one in meta:
        wanted = calibration.warp_view(frames[round(one["t_s"], 2)], table.seat(1).place, 320)
        found = cv2.imread(str(views / "images" / "val" / one["image"]))
        assert found is not None
        assert float(np.abs(wanted.astype(int) - found).mean()) < 2.0


def test_boxes_lie_on_what_they_name(views: Path) -> None:
    boxes_of = {
        one["image"]: one["boxes"] for one in lines(views / "boxes" / "val" / "night_1.jsonl")
    }
    rests = [m["image"] for m in lines(views / "meta.jsonl") if m["seat"] == 1 and m["resting"]]
    image = next(name for name in reversed(rests) if any(b["card"] for b in boxes_of[name]))
    view = cv2.imread(str(views / "images" / "val" / image))
    assert view is not None
    kinds = [b["kind"] for b in boxes_of[image]]
    assert {"index", "chip", "lammer_envy"} <= set(kinds)
    (stack,) = [b for b in boxes_of[image] if b["kind"] == "chip"]
    assert stack["colours"] == ["red", "red", "green"]
    shown = {b["card"] for b in boxes_of[image] if b["labelled"] and b["card"]}
    assert shown == {"9C", "KD"}
    for box in boxes_of[image]:
        if box["card"] and box["labelled"]:
            x0, y0, x1, y1 = (round(v) for v in box["xyxy"])
            part = view[y0:y1, x0:x1].astype(int)
            # Paper with ink: red for the diamond, dark for the club.
            assert part.max() > 170
            redness = (part[..., 2] - part[..., 1]).max()
            assert (redness > 60) == (box["card"] == "KD")
            assert np.allclose(np.min(box["quad"], axis=0), box["xyxy"][:2], atol=0.02)
    # The corners go round as an index reads: the one at the card's foot stands on its head.
    upper, lower = sorted(
        (b for b in boxes_of[image] if b["card"] == "KD"), key=lambda b: b["xyxy"][1]
    )
    for box, way in ((upper, 1), (lower, -1)):
        right = way * np.subtract(box["quad"][1], box["quad"][0])
        assert right[0] > 4 * abs(right[1])
    # The covered card's lower index: listed, not labelled, or not listed at all.
    assert sum(b["card"] == "9C" and b["labelled"] for b in boxes_of[image]) == 1


def test_labels_are_the_labelled_boxes_in_yolo_form(views: Path) -> None:
    for one in lines(views / "boxes" / "val" / "night_1.jsonl"):
        labelled = [b for b in one["boxes"] if b["labelled"]]
        text = (views / "labels" / "val" / one["image"]).with_suffix(".txt").read_text()
        rows = [line.split() for line in text.splitlines()]
        assert [CLASSES[int(row[0])] for row in rows] == [b["kind"] for b in labelled]
        for row, box in zip(rows, labelled, strict=True):
            x, y, w, h = (float(v) * 320 for v in row[1:])
            assert [x - w / 2, y - h / 2, x + w / 2, y + h / 2] == pytest.approx(
                box["xyxy"], abs=0.02
            )


def test_what_the_views_edge_cuts_is_less_seen(shift: Path) -> None:
    table = load_table(shift / "table.toml")
    assert table.camera is not None
    calibration = Calibration.fit(table.camera)
    place = table.seat(1).place
    for cut_share, labelled in ((0.25, True), (0.6, False)):
        left = -VIEW_MM / 2 - 40 * cut_share
        square = np.array([[left, 0], [left + 40, 0], [left + 40, 40], [left, 40]])
        polygon = calibration.felt_to_image(place.to_felt(square))
        one = {"class": "chip", "visible": 0.8, "colours": ["red"], "polygon_px": polygon.tolist()}
        (seen,) = boxes_in_view([one], calibration, place, 640)
        assert seen.box.visible == pytest.approx(0.8 * (1 - cut_share), abs=0.02)
        assert seen.box.labelled is labelled
        assert seen.box.xyxy[0] == 0.0
    gone = one | {"polygon_px": calibration.felt_to_image(place.to_felt(square - 60)).tolist()}
    assert boxes_in_view([gone], calibration, place, 640) == ()
    assert boxes_in_view([one | {"visible": 0.1}], calibration, place, 640) == ()


def test_chips_in_the_tray_need_not_be_found(shift: Path) -> None:
    table = load_table(shift / "table.toml")
    seen = tray_in_view(table, table.dealer.place, 640)
    assert seen is not None
    told = seen.as_dict()
    assert (told["kind"], told["labelled"]) == ("chip", False)
    corners = (table.dealer.place.to_local(table.dealer.tray.array) + VIEW_MM / 2) * 1.6 - 0.5
    # The tray's edge towards the table; beyond the view's edge it is cut.
    assert told["xyxy"][3] == pytest.approx(corners[:, 1].max(), abs=0.02)
    assert told["xyxy"][1] == 0.0
    assert tray_in_view(table, table.seat(1).place, 640) is None


def test_crops_are_upright_whichever_way_the_index_lies(shift: Path, views: Path) -> None:
    crops = np.load(views / "crops" / "val" / "night_1.npy")
    labels = np.load(views / "crops" / "val" / "night_1-labels.npy")
    assert crops.shape == (len(labels), 64, 64, 3)
    cards = {DECK_LABELS[k] for k in labels if k != NONE_CLASS}
    assert cards == {"9C", "KD"}
    assert NONE_CLASS in labels
    table = load_table(shift / "table.toml")
    assert table.camera is not None
    calibration = Calibration.fit(table.camera)
    rng = np.random.default_rng(2)
    noise = rng.integers(0, 256, (720, 1280, 3), np.uint8)
    frame = np.asarray(cv2.GaussianBlur(noise, (0, 0), 4), np.uint8)
    quad = np.array([[300, 280], [330, 280], [330, 340], [300, 340.0]])
    place = table.seat(1).place
    one = index_crop(frame, calibration, place, quad, 640)
    over = index_crop(frame, calibration, place, np.roll(quad, 2, axis=0), 640)
    assert np.abs(one.astype(int) - over[::-1, ::-1]).mean() < 1.5
    assert np.abs(one.astype(int) - over).mean() > 5


def test_a_second_shift_goes_beside_the_first(shift: Path, tmp_path: Path) -> None:
    first = cut(shift, tmp_path, size=160, most=3)
    with pytest.raises(FeltwatchError, match="holds views of the shift 'night_1' already"):
        cut(shift, tmp_path, size=160)
    with pytest.raises(FeltwatchError, match="another recipe or size"):
        cut(shift, tmp_path, size=320, shift="b")
    arguments = ["dataset", "views", str(shift / "video.mp4"), "--table", str(shift / "table.toml")]
    arguments += ["--truth", str(shift / "frames.jsonl.gz"), "--out", str(tmp_path)]
    assert main([*arguments, "--size", "160", "--shift", "b-2", "--most", "2", "--quiet"]) == 0
    recipe = json.loads((tmp_path / "recipe.json").read_text())
    assert recipe["views"] == first + 2 == len(lines(tmp_path / "meta.jsonl"))
    assert set(recipe["shifts"]) == {"night_1", "b_2"}
    assert recipe["shifts"]["b_2"]["codec"] == "h264"
    # A deck's folder is recognised by its name alone.
    assert recipe["decks"] == ["jumbo"]
    assert "/some/where" not in json.dumps(recipe)


def test_the_same_wishes_give_the_same_images(shift: Path, views: Path, tmp_path: Path) -> None:
    cut(shift, tmp_path, size=320)
    for path in (views / "images" / "val").iterdir():
        assert path.read_bytes() == (tmp_path / "images" / "val" / path.name).read_bytes()
    assert (views / "meta.jsonl").read_bytes() == (tmp_path / "meta.jsonl").read_bytes()


def test_files_that_do_not_belong_together(shift: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(shift, broken)
    (broken / "frames.jsonl.gz").write_bytes((shift / "frames.jsonl.gz").read_bytes()[:900])
    with pytest.raises(FeltwatchError, match=r"frames\.jsonl\.gz: cannot be read"):
        cut(broken, tmp_path / "a")
    (broken / "frames.jsonl.gz").unlink()
    with pytest.raises(FeltwatchError, match="--frames-truth"):
        cut(broken, tmp_path / "a")
    shutil.copy(shift / "frames.jsonl.gz", broken)
    (broken / "video.mp4").write_bytes(b"no video")
    with pytest.raises(FeltwatchError, match=r"video\.mp4: cannot be read"):
        cut(broken, tmp_path / "b")
    table = load_table(shift / "table.toml").model_copy(update={"camera": None})
    write_table(table, broken / "table.toml")
    with pytest.raises(FeltwatchError, match=r"has no \[camera\]"):
        cut(broken, tmp_path / "c")


def test_a_box_is_labelled_by_the_one_rule() -> None:
    """What the rendered sets ask of a box is what is asked here."""
    assert Box("index", (0, 0, 8, 12), 0.71, "AS").labelled
    assert not Box("index", (0, 0, 8, 12), 0.69, "AS").labelled
