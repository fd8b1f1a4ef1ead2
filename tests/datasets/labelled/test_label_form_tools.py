"""LabelMe and Label Studio by their own libraries: their writer, or their reader beside ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from datasets.labelled.formats.shapes import corners_of, shape_of
from datasets.labelled.importing import import_labels
from datasets.labelled.manifest import Box
from tests.datasets.labelled.test_label_form_matrix import RING, TURNED, UPRIGHT
from tests.datasets.labelled.test_labelled_defects import pictures, put


def test_what_labelme_writes_comes_in(tmp_path: Path) -> None:
    file = pytest.importorskip("labelme._label_file", reason="labelme is not installed")
    put(tmp_path / "me", "a.jpg")
    more = {"group_id": 2, "flags": {"worn": True}, "description": "", "mask": None}
    shapes: list[dict[str, Any]] = [
        {"label": "KD", "points": [[58.5, 40.0], [10.0, 8.0]], "shape_type": "rectangle", **more},
        {"label": "AS", "points": corners_of(TURNED), "shape_type": "oriented_rectangle", **more},
        {"label": "KD", "points": RING, "shape_type": "polygon", **more},
    ]
    target = tmp_path / "me" / "a.json"
    file.LabelFile().save(str(target), shapes, "a.jpg", 64, 96)
    import_labels(tmp_path / "me", tmp_path / "d")
    ((_, (box, turned, polygon)),) = pictures(tmp_path / "d").values()
    assert (box.label, box.xyxy, box.attribute("group_id")) == ("KD", UPRIGHT.xyxy, 2)
    assert (turned.label, turned.angle_deg) == ("AS", pytest.approx(30))
    assert turned.xyxy == pytest.approx(TURNED.xyxy)
    shape = shape_of(polygon)
    assert shape is not None
    assert np.asarray(shape.polygons[0]) == pytest.approx(np.asarray(RING))


CONFIG = """<View><Image name="image" value="$image"/>
<RectangleLabels name="box" toName="image"><Label value="AS"/><Label value="KD"/></RectangleLabels>
</View>"""


def test_label_studio_is_read_as_its_own_converter_reads_it(tmp_path: Path) -> None:
    converter = pytest.importorskip(
        "label_studio_sdk.converter.converter", reason="label-studio-sdk is not installed"
    )
    source = tmp_path / "export"
    put(source, "upload/1f2e3d4c-a.jpg", "upload/5a6b7c8d-b.jpg")
    boxes = {"1f2e3d4c-a.jpg": [UPRIGHT, Box("AS", 4, 6, 20, 30)], "5a6b7c8d-b.jpg": [UPRIGHT]}
    tasks = [
        {
            "id": n, "data": {"image": f"/data/upload/{name}"}, "project": 1,
            "annotations": [{"id": n, "completed_by": 1, "was_cancelled": False, "result": [
                {
                    "id": f"r{n}{k}", "from_name": "box", "to_name": "image",
                    "type": "rectanglelabels", "original_width": 96, "original_height": 64,
                    "value": {
                        "x": box.x0 / 0.96, "y": box.y0 / 0.64, "width": (box.x1 - box.x0) / 0.96,
                        "height": (box.y1 - box.y0) / 0.64, "rotation": 0,
                        "rectanglelabels": [box.label],
                    },
                }
                for k, box in enumerate(own)
            ]}],
        }
        for n, (name, own) in enumerate(boxes.items(), 1)
    ]  # fmt: skip
    (source / "export.json").write_text(json.dumps(tasks), encoding="utf-8")
    theirs = converter.Converter(CONFIG, str(source), download_resources=False)
    theirs.convert_to_coco(
        str(source / "export.json"), str(tmp_path / "coco"), str(tmp_path / "out"), is_dir=False
    )
    (found,) = (tmp_path / "coco").glob("*.json")
    told = json.loads(found.read_text(encoding="utf-8"))
    names = {one["id"]: one["name"] for one in told["categories"]}
    files = {one["id"]: Path(one["file_name"]).name for one in told["images"]}
    read: dict[str, list[tuple[str, list[float]]]] = {}
    for one in told["annotations"]:
        x, y, width, height = one["bbox"]
        line = (names[one["category_id"]], [x, y, x + width, y + height])
        read.setdefault(files[one["image_id"]], []).append(line)

    import_labels(source, tmp_path / "d")
    own = {
        Path(file).name: [(box.label, list(box.xyxy)) for box in found_boxes]
        for file, (_, found_boxes) in pictures(tmp_path / "d").items()
    }
    assert set(own) == set(read)
    for file, lines in own.items():
        assert [label for label, _ in lines] == [label for label, _ in read[file]]
        for (_, mine), (_, other) in zip(lines, read[file], strict=True):
            assert mine == pytest.approx(other, abs=1e-3)
