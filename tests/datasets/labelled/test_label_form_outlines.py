"""Cells of the matrix for rotation, outlines and splits: written or read by the outside library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from datasets.labelled.exporting import export_labels
from datasets.labelled.formats.base import Format
from datasets.labelled.formats.shapes import corners_of, shape_of
from datasets.labelled.importing import import_labels
from datasets.labelled.manifest import Box, Dataset
from tests.datasets.labelled.made import add
from tests.datasets.labelled.matrix import covers
from tests.datasets.labelled.test_label_form_matrix import (
    LABELS,
    RING,
    TURNED,
    UPRIGHT,
    ours,
    splits,
    supervised,
)
from tests.datasets.labelled.test_labelled_defects import pictures, put


def items_of(datumaro: Any, *annotations: Any, categories: Any = LABELS) -> Any:
    """A dataset of datumaro with two subsets of one image each."""
    items = [
        datumaro.DatasetItem(
            id=split, subset=split, annotations=list(annotations),
            media=datumaro.Image.from_numpy(np.full((64, 96, 3), 60 + n * 90, np.uint8)),
        )
        for n, split in enumerate(("train", "val"))
    ]  # fmt: skip
    return datumaro.Dataset.from_iterable(
        items, categories=categories if isinstance(categories, dict) else list(categories),
        media_type=datumaro.Image,
    )  # fmt: skip


# Rotation


@covers("datumaro", *(f"{f} import rotation attributes" for f in ("coco", "voc", "datumaro")))
@pytest.mark.parametrize("form", ["coco_instances", "voc_detection", "datumaro"])
def test_rotation_as_an_attribute_that_datumaro_writes_comes_in(tmp_path: Path, form: str) -> None:
    datumaro = pytest.importorskip("datumaro", reason="datumaro is not installed")
    x0, y0, x1, y1 = TURNED.xyxy
    box = datumaro.Bbox(
        x0, y0, x1 - x0, y1 - y0, label=0, attributes={"rotation": 30.0, "worn": "yes"}
    )
    items_of(datumaro, box).export(str(tmp_path / "in"), form, save_media=True)
    import_labels(tmp_path / "in", tmp_path / "d")
    found = pictures(tmp_path / "d")
    assert len(found) == 2
    for _, (own,) in found.values():
        assert (own.label, own.angle_deg, own.xyxy) == ("AS", 30, TURNED.xyxy)
        assert own.attribute("worn") == "yes"


@covers("datumaro", "coco export rotation", "voc export rotation")
@pytest.mark.parametrize(("form", "name"), [(Format.COCO, "coco"), (Format.VOC, "voc")])
def test_datumaro_reads_our_rotation_as_an_attribute(
    tmp_path: Path, form: Format, name: str
) -> None:
    datumaro = pytest.importorskip("datumaro", reason="datumaro is not installed")
    with ours(tmp_path / "d", TURNED) as dataset:
        export_labels(dataset, tmp_path / "out", form)
    items = list(datumaro.Dataset.import_from(str(tmp_path / "out"), name))
    assert len(items) == 2
    for item in items:
        (one,) = [a for a in item.annotations if a.type == datumaro.AnnotationType.bbox]
        assert float(one.attributes["rotation"]) == 30
        assert list(one.points) == pytest.approx(TURNED.xyxy, abs=0.01)


@covers("supervision", "yolo-obb import boxes rotation")
def test_turned_boxes_that_supervision_writes_come_in(tmp_path: Path) -> None:
    supervised(tmp_path, "yolo", turned=True)
    import_labels(tmp_path / "in", tmp_path / "d")
    ((_, (box,)),) = pictures(tmp_path / "d").values()
    assert (box.label, box.angle_deg) == ("AS", pytest.approx(30, abs=0.01))
    assert box.xyxy == pytest.approx(TURNED.xyxy, abs=0.01)


# Polygons, masks and keypoints


def outlined(folder: Path) -> Any:
    """A set of supervision with one mask; the mask."""
    sv = pytest.importorskip("supervision", reason="supervision is not installed")
    put(folder / "made", "a.jpg")
    mask = np.zeros((64, 96), np.uint8)
    cv2.fillPoly(mask, [np.array(RING, np.int32)], 1)
    path = str(folder / "made" / "a.jpg")
    found = sv.Detections(
        xyxy=np.array([[8, 10, 30, 26]], np.float32), class_id=np.array([1]),
        mask=mask[None].astype(np.bool_),
    )  # fmt: skip
    return sv.DetectionDataset(list(LABELS), [path], {path: found}), mask


def same_area(ring: Any, mask: Any) -> bool:
    """Whether a polygon encloses about what a mask does (IoU of 0.8: edges differ)."""
    own = np.zeros(mask.shape, np.uint8)
    cv2.fillPoly(own, [np.round(np.array(ring)).astype(np.int32)], 1)
    return bool((own & mask).sum() / (own | mask).sum() >= 0.8)


@covers("supervision", "yolo-seg import boxes polygons")
def test_polygons_that_supervision_writes_as_yolo_come_in(tmp_path: Path) -> None:
    whole, mask = outlined(tmp_path)
    out = tmp_path / "in"
    whole.as_yolo(str(out / "images"), str(out / "labels"), str(out / "data.yaml"))
    with (out / "data.yaml").open("a") as file:
        file.write("\ntrain: images\nval: images\n")
    import_labels(out, tmp_path / "d")
    ((_, (box,)),) = pictures(tmp_path / "d").values()
    assert (box.label, box.xyxy) == ("KD", pytest.approx((8, 10, 30, 26), abs=0.01))
    shape = shape_of(box)
    assert shape is not None
    assert same_area(shape.polygons[0], mask)


@covers("supervision", "coco import polygons")
def test_polygons_that_supervision_writes_as_coco_come_in(tmp_path: Path) -> None:
    whole, mask = outlined(tmp_path)
    whole.as_coco(str(tmp_path / "in" / "data"), str(tmp_path / "in" / "labels.json"))
    import_labels(tmp_path / "in", tmp_path / "d")
    ((_, (box,)),) = pictures(tmp_path / "d").values()
    shape = shape_of(box)
    assert shape is not None
    assert same_area(shape.polygons[0], mask)


@covers("supervision", "yolo-seg export boxes polygons rotation")
def test_supervision_reads_our_polygons_and_turned_boxes(tmp_path: Path) -> None:
    sv = pytest.importorskip("supervision", reason="supervision is not installed")
    own = (("polygons", [RING]), ("shape_box", [8.0, 10.0, 30.0, 26.0]))
    rings = {"KD": RING, "AS": corners_of(TURNED)}
    with ours(tmp_path / "d", Box("KD", 8, 10, 30, 26, attributes=own), TURNED) as dataset:
        export_labels(dataset, tmp_path / "out", Format.YOLO_SEG)
    folder = tmp_path / "out"
    opened = sv.DetectionDataset.from_yolo(
        str(folder / "images" / "train" / "sub"), str(folder / "labels" / "train" / "sub"),
        str(folder / "data.yaml"), force_masks=True,
    )  # fmt: skip
    ((_, _, found),) = list(opened)
    assert len(found) == 2
    for label, mask in zip(found.class_id, found.mask, strict=True):
        assert same_area(rings[opened.classes[label]], mask.astype(np.uint8))


@covers("pycocotools", "coco export polygons boxes")
def test_pycocotools_reads_our_masks_polygons_and_keypoints(tmp_path: Path) -> None:
    coco = pytest.importorskip("pycocotools.coco", reason="pycocotools is not installed")
    part = np.zeros((64, 96), np.uint8)
    part[8:14, 40:44] = 1
    counts = np.diff(np.flatnonzero(np.diff(np.r_[2, part.T.ravel(), 2])))
    mask = {"size": [64, 96], "counts": counts.tolist()}
    box = (40.0, 8.0, 44.0, 14.0)
    boxes = (
        Box("AS", *box, attributes=(("mask", mask), ("shape_box", list(box)))),
        Box("KD", 8, 10, 30, 26, attributes=(
            ("polygons", [RING]), ("keypoints", [[12, 12, 2]]),
            ("shape_box", [8.0, 10.0, 30.0, 26.0]),
        )),
    )  # fmt: skip
    with ours(tmp_path / "d", *boxes) as dataset:
        export_labels(dataset, tmp_path / "out", Format.COCO)
    opened = coco.COCO(str(tmp_path / "out" / "annotations" / "instances_train.json"))
    masked, ring = sorted(opened.dataset["annotations"], key=lambda one: one["category_id"])
    assert np.array_equal(opened.annToMask(masked), part)
    assert same_area(RING, opened.annToMask(ring))
    assert (ring["keypoints"], ring["num_keypoints"]) == ([12, 12, 2], 1)


@covers("datumaro", "coco import polygons splits")
def test_keypoints_that_datumaro_writes_come_in(tmp_path: Path) -> None:
    datumaro = pytest.importorskip("datumaro", reason="datumaro is not installed")
    kinds = pytest.importorskip("datumaro.components.annotation")
    categories = {
        datumaro.AnnotationType.label: kinds.LabelCategories.from_iterable(["AS"]),
        datumaro.AnnotationType.points: kinds.PointsCategories.from_iterable([(0, ["a", "b"])]),
    }
    box = datumaro.Bbox(10, 8, 48.5, 32, label=0, group=1, id=1)
    points = kinds.Points([12, 12, 30, 30], [2, 1], label=0, group=1, id=1)
    whole = items_of(datumaro, box, points, categories=categories)
    whole.export(str(tmp_path / "in"), "coco_person_keypoints", save_media=True)
    assert import_labels(tmp_path / "in", tmp_path / "d").missing == 0
    assert splits(tmp_path / "d") == {"train", "val"}
    for _, (own,) in pictures(tmp_path / "d").values():
        shape = shape_of(own)
        assert shape is not None
        assert shape.keypoints == [[12, 12, 2], [30, 30, 1]]


@covers("datumaro", "cvat export polygons")
def test_datumaro_reads_our_masks_of_cvat(tmp_path: Path) -> None:
    datumaro = pytest.importorskip("datumaro", reason="datumaro is not installed")
    part = np.zeros((64, 96), np.uint8)
    part[8:14, 40:44] = 1
    counts = np.diff(np.flatnonzero(np.diff(np.r_[2, part.T.ravel(), 2]))).tolist()
    box = (40.0, 8.0, 44.0, 14.0)
    own = (("mask", {"size": [64, 96], "counts": counts}), ("shape_box", list(box)))
    with ours(tmp_path / "d", Box("AS", *box, attributes=own)) as dataset:
        export_labels(dataset, tmp_path / "out", Format.CVAT)
    for item in datumaro.Dataset.import_from(str(tmp_path / "out"), "cvat"):
        (one,) = [a for a in item.annotations if a.type == datumaro.AnnotationType.mask]
        assert np.array_equal(np.asarray(one.image, np.uint8), part)


# supervision and ultralytics as readers


@covers("supervision", "coco export boxes", "voc export boxes")
@pytest.mark.parametrize("form", [Format.COCO, Format.VOC])
def test_supervision_reads_our_coco_and_voc(tmp_path: Path, form: Format) -> None:
    sv = pytest.importorskip("supervision", reason="supervision is not installed")
    with Dataset.create(tmp_path / "d", LABELS) as dataset:
        add(dataset, "a.jpg", (UPRIGHT,), split="train")
        export_labels(dataset, tmp_path / "out", form)
    out = tmp_path / "out"
    if form is Format.COCO:
        opened = sv.DetectionDataset.from_coco(
            str(out / "images"), str(out / "annotations" / "instances_train.json")
        )
    else:
        opened = sv.DetectionDataset.from_pascal_voc(
            str(out / "JPEGImages"), str(out / "Annotations")
        )
    ((_, _, found),) = list(opened)
    assert opened.classes[found.class_id[0]] == "KD"
    # supervision counts corners of VOC from 1.
    assert found.xyxy[0].tolist() == pytest.approx(UPRIGHT.xyxy, abs=1.51)


@covers("ultralytics", "yolo export boxes splits", "yolo-obb export boxes rotation splits",
        "yolo-seg export boxes polygons splits")  # fmt: skip
@pytest.mark.parametrize(("form", "task"), [(Format.YOLO, "detect"), (Format.YOLO_OBB, "obb"),
                                            (Format.YOLO_SEG, "segment")])  # fmt: skip
def test_ultralytics_reads_our_yolo(tmp_path: Path, form: Format, task: str) -> None:
    pytest.importorskip("ultralytics", reason="the train extra is not installed")
    from ultralytics.data.dataset import YOLODataset
    from ultralytics.data.utils import check_det_dataset

    box = TURNED if task == "obb" else UPRIGHT
    with ours(tmp_path / "d", box) as dataset:
        export_labels(dataset, tmp_path / "out", form)
    data = check_det_dataset(str(tmp_path / "out" / "data.yaml"))
    assert data["names"] == dict(enumerate(LABELS))
    corners = np.array(corners_of(box)) / (96, 64)
    for split in ("train", "val"):
        opened = YOLODataset(img_path=data[split], data=data, imgsz=64, augment=False, task=task)
        (label,) = opened.labels
        assert label["cls"].tolist() == [[LABELS.index(box.label)]]
        if task == "detect":
            x, y, w, h = label["bboxes"][0].tolist()
            assert (x - w / 2, y - h / 2) == pytest.approx(corners[0], abs=1e-4)
            assert (x + w / 2, y + h / 2) == pytest.approx(corners[2], abs=1e-4)
        else:
            assert np.asarray(label["segments"][0]) == pytest.approx(corners, abs=1e-4)


@covers("ultralytics", "yolo import boxes splits", "yolo-obb import boxes rotation splits")
@covers("ultralytics", *(f"yolo-{kind} import boxes polygons splits" for kind in ("seg", "pose")))
@pytest.mark.parametrize("task", ["detect", "obb", "segment", "pose"])
def test_labels_that_ultralytics_writes_come_in(tmp_path: Path, task: str) -> None:
    pytest.importorskip("ultralytics", reason="the train extra is not installed")
    import torch
    from ultralytics.data.utils import check_det_dataset
    from ultralytics.engine.results import Results

    put(tmp_path / "in" / "images" / "val", "a.jpg")
    put(tmp_path / "in" / "images" / "train", "b.jpg")
    image = cv2.imread(str(tmp_path / "in" / "images" / "val" / "a.jpg"))
    arguments: dict[str, Any] = {"boxes": torch.tensor([[*UPRIGHT.xyxy, 0.9, 1]])}
    if task == "obb":
        turn = float(np.radians(30))
        arguments = {"obb": torch.tensor([[40.0, 30.0, 20.0, 10.0, turn, 0.9, 0]])}
    elif task == "segment":
        mask = np.zeros((64, 96), np.uint8)
        cv2.fillPoly(mask, [np.array(RING, np.int32)], 1)
        arguments = {"boxes": torch.tensor([[8.0, 10.0, 30.0, 26.0, 0.9, 1]]),
                "masks": torch.tensor(mask[None])}  # fmt: skip
    elif task == "pose":
        arguments["keypoints"] = torch.tensor([[[12.0, 12.0, 1.0], [30.0, 30.0, 0.75]]])
    found = Results(image, path="a.jpg", names=dict(enumerate(LABELS)), **arguments)
    found.save_txt(str(tmp_path / "in" / "labels" / "val" / "a.txt"))
    shape = "kpt_shape: [2, 3]\n" if task == "pose" else ""
    (tmp_path / "in" / "data.yaml").write_text(
        f"train: images/train\nval: images/val\n{shape}names: [AS, KD]\n"
    )
    import_labels(tmp_path / "in", tmp_path / "d")
    own = {Path(file).name: one for file, one in pictures(tmp_path / "d").items()}
    read = check_det_dataset(str(tmp_path / "in" / "data.yaml"))
    for split in ("train", "val"):
        (path,) = Path(read[split]).glob("*.jpg")
        assert own[path.name][0].split == split
    (box,) = own["a.jpg"][1]
    if task == "obb":
        # From which corner it counts is open: the box may lie on its other side.
        assert (box.label, (box.angle_deg or 0) % 90) == ("AS", pytest.approx(30, abs=0.01))
        found_at, due_at = (np.array(sorted(corners_of(one))) for one in (box, TURNED))
        assert found_at == pytest.approx(due_at, abs=0.01)
        return
    wanted = (8, 10, 30, 26) if task == "segment" else UPRIGHT.xyxy
    assert (box.label, box.xyxy) == ("KD", pytest.approx(wanted, abs=1.01))
    outline = shape_of(box)
    if task == "segment":
        assert outline is not None
        assert same_area(outline.polygons[0], mask)
    elif task == "pose":
        assert outline is not None
        assert outline.keypoints == [
            pytest.approx([12, 12, 1], abs=0.01), pytest.approx([30, 30, 0.75], abs=0.01)
        ]  # fmt: skip
