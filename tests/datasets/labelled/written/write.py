"""Write the files beside this one with the tools' own libraries.

The libraries bring hundreds of megabytes and pin what feltwatch uses too, so they are not among the
test's requirements: `python -m venv x && x/bin/pip install supervisely`, then in this folder
`x/bin/python write.py supervisely`; likewise labelme and label-studio-sdk.
"""

from __future__ import annotations

import json
import shutil
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RING = [[10.0, 10.0], [30.0, 10.0], [30.0, 20.0], [15.0, 26.0], [8.0, 18.0]]
TURNED = [[33.83974596, 20.66987298], [51.16025404, 30.66987298], [46.16025404, 39.33012702],
          [28.83974596, 29.33012702]]  # fmt: skip
"""Corners of the box 30, 25 to 50, 35 turned by 30 degrees."""


def write_supervisely(out: Path) -> None:
    """A project of two datasets: a rectangle with tags, a polygon and a bitmap each."""
    import numpy as np
    import supervisely as sly

    classes = {
        "KD": sly.ObjClass("KD", sly.Rectangle), "AS": sly.ObjClass("AS", sly.Polygon),
        "7H": sly.ObjClass("7H", sly.Bitmap),
    }  # fmt: skip
    worn = sly.TagMeta("worn", sly.TagValueType.ANY_STRING)
    seat = sly.TagMeta("seat", sly.TagValueType.ANY_NUMBER)
    project = sly.Project(str(out), sly.OpenMode.CREATE)
    project.set_meta(sly.ProjectMeta(obj_classes=list(classes.values()), tag_metas=[worn, seat]))
    for n, name in enumerate(("train", "val")):
        tags = sly.TagCollection([sly.Tag(worn, "yes"), sly.Tag(seat, 3)])
        ring = [sly.PointLocation(y, x) for x, y in RING]
        mask = sly.Bitmap(np.ones((6, 4), np.bool_), origin=sly.PointLocation(8, 40))
        labels = [
            sly.Label(sly.Rectangle(8, 10, 40, 58), classes["KD"], tags=tags),
            sly.Label(sly.Polygon(ring), classes["AS"]), sly.Label(mask, classes["7H"]),
        ]  # fmt: skip
        image = np.full((64, 96, 3), 60 + 90 * n, np.uint8)
        project.create_dataset(name).add_item_np(
            "a.jpg", image, ann=sly.Annotation((64, 96), labels=labels)
        )


def write_labelme(out: Path) -> None:
    """One file of each kind of shape that cards are labelled with."""
    import numpy as np
    from labelme._label_file import LabelFile
    from labelme.utils import img_arr_to_b64

    more = {"group_id": 2, "flags": {"worn": True}, "description": "", "mask": None}
    mask = {"label": "7H", "points": [[40.0, 8.0], [44.0, 14.0]], "shape_type": "mask"}
    shapes: list[dict[str, Any]] = [
        {"label": "KD", "points": [[58.5, 40.0], [10.0, 8.0]], "shape_type": "rectangle", **more},
        {"label": "AS", "points": TURNED, "shape_type": "oriented_rectangle", **more},
        {"label": "KD", "points": RING, "shape_type": "polygon", **more},
        {**mask, **more, "mask": img_arr_to_b64(np.ones((7, 5), np.bool_))},
    ]
    (out / "val").mkdir(parents=True)
    LabelFile().save(str(out / "val" / "a.json"), shapes, "a.jpg", 64, 96)


CONFIG = """<View><Image name="image" value="$image"/>
<RectangleLabels name="box" toName="image"><Label value="AS"/><Label value="KD"/></RectangleLabels>
<PolygonLabels name="ring" toName="image"><Label value="AS"/><Label value="KD"/></PolygonLabels>
</View>"""


def tasks() -> list[dict[str, Any]]:
    """An export of Label Studio: upright and turned boxes, and a polygon."""
    turned = {"x": TURNED[0][0] / 0.96, "y": TURNED[0][1] / 0.64, "width": 20 / 0.96,
              "height": 10 / 0.64, "rotation": 30, "rectanglelabels": ["AS"]}  # fmt: skip
    upright = {"x": 10 / 0.96, "y": 8 / 0.64, "width": 48.5 / 0.96, "height": 32 / 0.64,
               "rotation": 0, "rectanglelabels": ["KD"]}  # fmt: skip
    ring = {"points": [[x / 0.96, y / 0.64] for x, y in RING], "polygonlabels": ["KD"]}
    size = {"original_width": 96, "original_height": 64, "to_name": "image"}
    boxes = size | {"from_name": "box", "type": "rectanglelabels"}
    results = {
        "1f2e3d4c-a.jpg": [boxes | {"value": upright}, boxes | {"value": turned}],
        "5a6b7c8d-b.jpg": [size | {"from_name": "ring", "type": "polygonlabels", "value": ring}],
    }
    return [
        {
            "id": n, "data": {"image": f"/data/upload/{name}"}, "project": 1,
            "annotations": [{"id": n, "completed_by": 1, "was_cancelled": False, "result": [
                {"id": f"r{n}{k}"} | one for k, one in enumerate(own)
            ]}],
        }
        for n, (name, own) in enumerate(results.items(), 1)
    ]  # fmt: skip


def write_label_studio(out: Path) -> None:
    """An export, and what Label Studio's own converter reads of it: as COCO, as YOLO OBB."""
    from label_studio_sdk.converter.converter import Converter

    out.mkdir(parents=True)
    export = out / "export.json"
    export.write_text(json.dumps(tasks(), indent=1), encoding="utf-8")
    for name in ("1f2e3d4c-a.jpg", "5a6b7c8d-b.jpg"):
        (out / "upload").mkdir(exist_ok=True)
        shutil.copy(HERE / "supervisely" / "val" / "img" / "a.jpg", out / "upload" / name)
    own = Converter(CONFIG, str(out), download_resources=False)
    own.convert_to_coco(str(export), str(out / "coco"), str(out / "upload"), is_dir=False)
    own.convert_to_yolo(
        str(export), str(out / "obb"), str(out / "upload"), is_dir=False, is_obb=True
    )
    shutil.rmtree(out / "upload")
    for images in ("coco", "obb"):
        shutil.rmtree(out / images / "images", ignore_errors=True)


WRITERS = {
    "supervisely": write_supervisely, "labelme": write_labelme,
    "label-studio-sdk": write_label_studio,
}  # fmt: skip

if __name__ == "__main__":
    tool = sys.argv[1]
    shutil.rmtree(HERE / tool, ignore_errors=True)
    WRITERS[tool](HERE / tool)
    noted = HERE / "versions.json"
    versions = json.loads(noted.read_text(encoding="utf-8")) if noted.is_file() else {}
    versions[tool] = version(tool)
    noted.write_text(json.dumps(versions, indent=1, sort_keys=True) + "\n", encoding="utf-8")
