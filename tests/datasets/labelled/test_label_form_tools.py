"""LabelMe, Label Studio, Supervisely: files by their own libraries, see `written/write.py`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from datasets.labelled.formats.shapes import shape_of
from datasets.labelled.importing import import_labels
from datasets.labelled.manifest import Box
from tests.datasets.labelled.matrix import covers
from tests.datasets.labelled.test_label_form_matrix import RING, TURNED, UPRIGHT
from tests.datasets.labelled.test_labelled_defects import pictures, put

WRITTEN = Path(__file__).parent / "written"


def polygon_of(box: Box) -> list[list[float]]:
    shape = shape_of(box)
    assert shape is not None
    return list(shape.polygons[0])


def mask_area(box: Box) -> int:
    shape = shape_of(box)
    assert shape is not None
    assert shape.mask is not None
    return sum(shape.mask["counts"][1::2])


@covers("supervisely", "supervisely import boxes polygons splits attributes")
def test_what_supervisely_writes_comes_in(tmp_path: Path) -> None:
    summary = import_labels(WRITTEN / "supervisely", tmp_path / "d")
    assert (summary.added, summary.missing, summary.skipped) == (2, 0, 0)
    found = pictures(tmp_path / "d")
    assert {file: picture.split for file, (picture, _) in found.items()} == {
        "train/a.jpg": "train", "val/a.jpg": "val",
    }  # fmt: skip
    for _, (box, polygon, mask) in found.values():
        assert (box.label, box.xyxy) == ("KD", (10, 8, 58, 40))
        assert dict(box.attributes) == {"worn": "yes", "seat": 3}
        assert (polygon.label, polygon_of(polygon)) == ("AS", RING)
        assert (mask.label, mask.xyxy, mask_area(mask)) == ("7H", (40, 8, 44, 14), 24)


@covers("labelme", "labelme import boxes rotation polygons splits attributes")
def test_what_labelme_writes_comes_in(tmp_path: Path) -> None:
    shutil.copytree(WRITTEN / "labelme", tmp_path / "in")
    put(tmp_path / "in" / "val", "a.jpg")
    import_labels(tmp_path / "in", tmp_path / "d")
    ((picture, (box, turned, polygon, mask)),) = pictures(tmp_path / "d").values()
    assert picture.split == "val"
    assert (box.label, box.xyxy, box.attribute("group_id")) == ("KD", UPRIGHT.xyxy, 2)
    assert (turned.label, turned.angle_deg) == ("AS", pytest.approx(30))
    assert turned.xyxy == pytest.approx(TURNED.xyxy)
    assert np.asarray(polygon_of(polygon)) == pytest.approx(np.asarray(RING))
    assert (mask.label, mask_area(mask)) == ("7H", 35)


def label_studio(folder: Path) -> dict[str, tuple[Box, ...]]:
    """The boxes of each image of the export, as they come in."""
    (folder / "in").mkdir()
    shutil.copy(WRITTEN / "label-studio-sdk" / "export.json", folder / "in")
    put(folder / "in", "upload/1f2e3d4c-a.jpg", "upload/5a6b7c8d-b.jpg")
    import_labels(folder / "in", folder / "d")
    return {Path(file).name: boxes for file, (_, boxes) in pictures(folder / "d").items()}


@covers("label-studio-sdk", "label-studio import boxes polygons")
def test_label_studio_is_read_as_its_own_converter_reads_it(tmp_path: Path) -> None:
    found = label_studio(tmp_path)
    (path,) = (WRITTEN / "label-studio-sdk" / "coco").glob("*.json")
    content = json.loads(path.read_text(encoding="utf-8"))
    names = {one["id"]: one["name"] for one in content["categories"]}
    files = {one["id"]: Path(one["file_name"]).name for one in content["images"]}
    upright = {
        (files[one["image_id"]], names[one["category_id"]]): one for one in content["annotations"]
    }
    (box, _), (polygon,) = found["1f2e3d4c-a.jpg"], found["5a6b7c8d-b.jpg"]
    x, y, width, height = upright["1f2e3d4c-a.jpg", box.label]["bbox"]
    assert box.xyxy == pytest.approx((x, y, x + width, y + height), abs=1e-3)
    (ring,) = upright["5a6b7c8d-b.jpg", polygon.label]["segmentation"]
    assert np.asarray(polygon_of(polygon)).ravel() == pytest.approx(np.asarray(ring), abs=1e-3)


@covers("label-studio-sdk", "label-studio import rotation")
def test_turned_boxes_of_label_studio_are_where_its_converter_puts_them(tmp_path: Path) -> None:
    from datasets.labelled.formats.shapes import corners_of

    (box,) = [own for own in label_studio(tmp_path)["1f2e3d4c-a.jpg"] if own.angle_deg]
    obb = WRITTEN / "label-studio-sdk" / "obb"
    classes = (obb / "classes.txt").read_text(encoding="utf-8").split()
    (text,) = [path.read_text() for path in (obb / "labels").glob("*a.txt")]
    lines = {classes[int(line.split()[0])]: line.split()[1:] for line in text.splitlines()}
    corners = np.array(lines[box.label], float).reshape(4, 2) * (96, 64)
    assert np.asarray(corners_of(box)) == pytest.approx(corners, abs=1e-3)
