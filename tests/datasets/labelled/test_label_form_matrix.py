"""The matrix of docs/label-formats.md: each cell by the outside library's own reader or writer.

supervision and datumaro write and read the sets; pycocotools and ultralytics have tests of
their own in test_labelled_formats.py and tests/train.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from datasets.labelled.exporting import export_labels
from datasets.labelled.formats.base import Format
from datasets.labelled.formats.shapes import corners_of, shape_of
from datasets.labelled.import_source import ImportOptions
from datasets.labelled.importing import import_labels
from datasets.labelled.manifest import Box, Dataset
from settlement.errors import FeltwatchError
from tests.datasets.labelled.made import add, picture_bytes
from tests.datasets.labelled.matrix import covers
from tests.datasets.labelled.test_labelled_defects import pictures, put

LABELS = ("AS", "KD")
RING = [[10.0, 10.0], [30.0, 10.0], [30.0, 20.0], [15.0, 26.0], [8.0, 18.0]]
UPRIGHT = Box("KD", 10, 8, 58.5, 40)
TURNED = Box("AS", 30, 25, 50, 35, angle_deg=30)


def theirs(folder: Path, form: str, *kinds: str, **save: Any) -> Path:
    """A set of two subsets as datumaro writes it."""
    datumaro = pytest.importorskip("datumaro", reason="datumaro is not installed")
    kinds_of = pytest.importorskip("datumaro.components.annotation")
    made = {
        "box": datumaro.Bbox(10, 8, 48.5, 32, label=1, attributes={"occluded": True}),
        "turned": kinds_of.RotatedBbox(40, 30, 20, 10, 30, label=0),
        "polygon": datumaro.Polygon([v for p in RING for v in p], label=1),
        "mask": datumaro.Mask(np.pad(np.ones((6, 4), bool), ((8, 50), (20, 72))), label=0),
    }
    items = [
        datumaro.DatasetItem(
            id=f"sub/{split}",
            subset=split,
            media=datumaro.Image.from_numpy(np.full((64, 96, 3), 60 + n * 90, np.uint8)),
            annotations=[made[kind] for kind in kinds],
        )
        for n, split in enumerate(("train", "val"))
    ]
    whole = datumaro.Dataset.from_iterable(
        items, categories=list(LABELS), media_type=datumaro.Image
    )
    whole.export(str(folder), form, save_media=True, **save)
    return folder


def splits(folder: Path) -> set[str | None]:
    return {picture.split for picture, _ in pictures(folder).values()}


@covers("datumaro", *(f"{form} import boxes splits" for form in
                      ("coco", "voc", "cvat", "darknet", "datumaro", "yolo")))  # fmt: skip
@pytest.mark.parametrize("form", ["coco_instances", "coco", "voc_detection", "cvat", "yolo",
                                  "datumaro", "yolo_ultralytics"])  # fmt: skip
def test_boxes_and_splits_that_datumaro_writes_come_in(tmp_path: Path, form: str) -> None:
    summary = import_labels(theirs(tmp_path / "in", form, "box"), tmp_path / "d")
    # Its form coco writes the boxes a second time as "stuff", a file for each subset.
    again = 2 if form == "coco" else 0
    assert (summary.added, summary.missing, summary.skipped) == (2, 0, again)
    assert splits(tmp_path / "d") == {"train", "val"}
    for _, (box,) in pictures(tmp_path / "d").values():
        assert box.label == "KD"
        assert box.xyxy == pytest.approx(UPRIGHT.xyxy, abs=0.01)


@covers("datumaro", "cvat import rotation")
def test_rotation_that_datumaro_writes_comes_in(tmp_path: Path) -> None:
    import_labels(theirs(tmp_path / "in", "cvat", "turned"), tmp_path / "d")
    for _, (box,) in pictures(tmp_path / "d").values():
        assert (box.label, box.angle_deg) == ("AS", 30)
        assert box.xyxy == pytest.approx(TURNED.xyxy, abs=0.01)


@covers("datumaro", *(f"{form} import polygons" for form in ("coco", "cvat", "datumaro")))
@pytest.mark.parametrize("form", ["coco_instances", "cvat", "datumaro"])
def test_polygons_and_masks_that_datumaro_writes_come_in(tmp_path: Path, form: str) -> None:
    import_labels(theirs(tmp_path / "in", form, "polygon", "mask"), tmp_path / "d")
    for _, boxes in pictures(tmp_path / "d").values():
        by_label = {box.label: shape_of(box) for box in boxes}
        polygon, mask = by_label["KD"], by_label["AS"]
        assert polygon is not None
        assert mask is not None
        assert np.asarray(polygon.polygons[0]) == pytest.approx(np.asarray(RING), abs=0.01)
        assert mask.mask is not None
        assert sum(mask.mask["counts"][1::2]) == 24


@covers("datumaro", *(f"{form} import attributes" for form in ("coco", "cvat", "datumaro")))
@pytest.mark.parametrize("form", ["coco_instances", "cvat", "datumaro"])
def test_attributes_that_datumaro_writes_come_in(tmp_path: Path, form: str) -> None:
    import_labels(theirs(tmp_path / "in", form, "box"), tmp_path / "d")
    names = {"cvat": "cvat.occluded"}
    for _, (box,) in pictures(tmp_path / "d").values():
        assert box.attribute(names.get(form, "occluded")) in (True, "1")


def ours(folder: Path, *boxes: Box) -> Dataset:
    dataset = Dataset.create(folder, LABELS)
    for split in ("train", "val"):
        add(dataset, f"sub/{split}.jpg", boxes, split=split)
    return dataset


@covers("datumaro", *(f"{f} export boxes splits attributes" for f in ("coco", "voc", "cvat")))
@pytest.mark.parametrize(
    ("form", "name"), [(Format.COCO, "coco"), (Format.VOC, "voc"), (Format.CVAT, "cvat")]
)
def test_datumaro_reads_our_boxes_splits_and_attributes(
    tmp_path: Path, form: Format, name: str
) -> None:
    datumaro = pytest.importorskip("datumaro", reason="datumaro is not installed")
    box = Box("KD", 10, 8, 58.5, 40, attributes=(("worn", "yes"),))
    with ours(tmp_path / "d", box) as dataset:
        export_labels(dataset, tmp_path / "out", form)
    opened = datumaro.Dataset.import_from(str(tmp_path / "out"), name)
    items = list(opened)
    assert sorted((item.id, item.subset) for item in items) == [
        ("sub/train", "train"), ("sub/val", "val"),
    ]  # fmt: skip
    for item in items:
        (one,) = [a for a in item.annotations if a.type == datumaro.AnnotationType.bbox]
        assert one.get_bbox() == pytest.approx([10, 8, 48.5, 32], abs=0.01)
        assert one.attributes["worn"] == "yes"


@covers("datumaro", "coco export polygons", "cvat export polygons")
@pytest.mark.parametrize(("form", "name"), [(Format.COCO, "coco"), (Format.CVAT, "cvat")])
def test_datumaro_reads_our_polygons(tmp_path: Path, form: Format, name: str) -> None:
    datumaro = pytest.importorskip("datumaro", reason="datumaro is not installed")
    own = (("polygons", [RING]), ("shape_box", [8.0, 10.0, 30.0, 26.0]))
    with ours(tmp_path / "d", Box("KD", 8, 10, 30, 26, attributes=own)) as dataset:
        export_labels(dataset, tmp_path / "out", form)
    for item in datumaro.Dataset.import_from(str(tmp_path / "out"), name):
        (one,) = [a for a in item.annotations if a.type == datumaro.AnnotationType.polygon]
        assert list(one.points) == pytest.approx([v for p in RING for v in p], abs=0.01)


# supervision


def supervised(folder: Path, form: str, turned: bool = False) -> None:
    """A set as supervision writes it."""
    sv = pytest.importorskip("supervision", reason="supervision is not installed")
    put(folder / "made", "a.jpg")
    path = str(folder / "made" / "a.jpg")
    box = TURNED if turned else UPRIGHT
    more: dict[str, Any] = {}
    if turned:
        more["data"] = {"xyxyxyxy": np.array([corners_of(box)], np.float32)}
    found = sv.Detections(
        xyxy=np.array([box.enclosing()], np.float32),
        class_id=np.array([LABELS.index(box.label)]), **more,
    )  # fmt: skip
    whole = sv.DetectionDataset(list(LABELS), [path], {path: found})
    out = folder / "in"
    if form == "coco":
        whole.as_coco(str(out / "data"), str(out / "labels.json"))
    elif form == "voc":
        whole.as_pascal_voc(str(out / "JPEGImages"), str(out / "Annotations"))
    else:
        args = {"is_obb": True} if turned else {}
        whole.as_yolo(str(out / "images"), str(out / "labels"), str(out / "data.yaml"), **args)
        text = (out / "data.yaml").read_text()
        (out / "data.yaml").write_text(f"{text}\ntrain: images\nval: images\n")


@covers("supervision", "coco import boxes", "voc import boxes", "yolo import boxes")
@pytest.mark.parametrize("form", ["coco", "voc", "yolo"])
def test_boxes_that_supervision_writes_come_in(tmp_path: Path, form: str) -> None:
    supervised(tmp_path, form)
    assert import_labels(tmp_path / "in", tmp_path / "d").added == 1
    ((file, (_, (box,))),) = pictures(tmp_path / "d").items()
    assert (file, box.label) == ("a.jpg", "KD")
    # supervision counts corners of VOC from 1.
    assert box.xyxy == pytest.approx(UPRIGHT.xyxy, abs=1.51 if form == "voc" else 0.01)


def test_fiftyones_layout_of_coco_comes_in(tmp_path: Path) -> None:
    supervised(tmp_path, "coco")
    assert (tmp_path / "in" / "data" / "a.jpg").is_file()
    summary = import_labels(tmp_path / "in", tmp_path / "d")
    assert (summary.format, summary.missing) == ("coco", 0)
    assert list(pictures(tmp_path / "d")) == ["a.jpg"]


@covers(
    "supervision", "yolo export boxes", "yolo-obb export boxes rotation", "yolo-seg export boxes"
)
@pytest.mark.parametrize(("form", "turned"), [(Format.YOLO, False), (Format.YOLO_OBB, True),
                                              (Format.YOLO_SEG, False)])  # fmt: skip
def test_supervision_reads_our_yolo(tmp_path: Path, form: Format, turned: bool) -> None:
    sv = pytest.importorskip("supervision", reason="supervision is not installed")
    box = TURNED if turned else UPRIGHT
    with ours(tmp_path / "d", box) as dataset:
        export_labels(dataset, tmp_path / "out", form)
    folder = tmp_path / "out"
    opened = sv.DetectionDataset.from_yolo(
        str(folder / "images" / "train" / "sub"), str(folder / "labels" / "train" / "sub"),
        str(folder / "data.yaml"), **({"is_obb": True} if turned else {}),
    )  # fmt: skip
    ((_, _, found),) = list(opened)
    if turned:
        corners = found.data["xyxyxyxy"][0]
        assert np.asarray(corners) == pytest.approx(np.asarray(corners_of(box)), abs=0.01)
    else:
        assert found.xyxy[0].tolist() == pytest.approx(box.xyxy, abs=1.01)


# Forms that are read only; written as their tools document them


def video_xml(boxes: str) -> str:
    return (
        "<annotations><version>1.1</version><meta><task><size>6</size><mode>interpolation</mode>"
        "<original_size><width>96</width><height>64</height></original_size>"
        "<labels><label><name>AS</name><attributes/></label></labels></task></meta>"
        f'<track id="0" label="AS" source="manual">{boxes}</track></annotations>'
    )


def track_box(frame: int, x: float, outside: int = 0, more: str = "") -> str:
    return (
        f'<box frame="{frame}" outside="{outside}" occluded="0" keyframe="1" xtl="{x}" ytl="2.00" '
        f'xbr="{x + 20}" ybr="40.00" z_order="0"{more}></box>'
    )


@covers("datumaro", "cvat-video import boxes")
def test_tracks_are_read_as_datumaro_reads_them(tmp_path: Path) -> None:
    datumaro = pytest.importorskip("datumaro", reason="datumaro is not installed")
    boxes = "".join(track_box(n, 4.0 * n) for n in range(4)) + track_box(4, 16, outside=1)
    (tmp_path / "annotations.xml").write_text(video_xml(boxes))
    put(tmp_path / "images", *(f"frame_{n:06d}.png" for n in range(4)))
    import_labels(tmp_path, tmp_path / "d")
    own = {file: box.xyxy for file, (_, (box,)) in pictures(tmp_path / "d").items()}
    read = {
        f"{item.id}.png": tuple(item.annotations[0].points)
        for item in datumaro.Dataset.import_from(str(tmp_path), "cvat")
        # datumaro gives the box with which CVAT ends a track as well.
        if item.annotations and not item.annotations[0].attributes.get("outside")
    }
    assert own == read


@covers("datumaro", "cvat-video import rotation polygons splits attributes")
def test_shapes_of_tracks_are_read_as_datumaro_reads_them(tmp_path: Path) -> None:
    datumaro = pytest.importorskip("datumaro", reason="datumaro is not installed")
    ring = ";".join(f"{x},{y}" for x, y in RING)
    worn = '<attribute name="worn">yes</attribute>'
    shape = 'keyframe="1" occluded="1" z_order="2"'
    at = 'xtl="30" ytl="25" xbr="50" ybr="35" rotation="30"'
    text = video_xml(
        "".join(f'<box frame="{n}" outside="{n}" {shape} {at}>{worn}</box>' for n in range(2))
    )
    more = "".join(
        f'<polygon frame="{n}" outside="{n}" {shape} points="{ring}"></polygon>' for n in range(2)
    )
    track = f'<track id="1" label="AS" source="manual">{more}</track></annotations>'
    (tmp_path / "val.xml").write_text(text.replace("</annotations>", track))
    put(tmp_path / "images", "frame_000000.png", "frame_000001.png")
    import_labels(tmp_path, tmp_path / "d")
    found = pictures(tmp_path / "d")
    assert found["frame_000001.png"][1] == ()
    picture, (box, polygon) = found["frame_000000.png"]
    read = datumaro.Dataset.import_from(str(tmp_path), "cvat").get("frame_000000", "val")
    assert picture.split == read.subset
    turned, outline = read.annotations
    x0, y0, x1, y1 = box.xyxy
    own = [(x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0, box.angle_deg]
    assert own == list(turned.points)
    assert box.attribute("worn") == turned.attributes["worn"] == "yes"
    shape_read = shape_of(polygon)
    assert shape_read is not None
    assert [v for p in shape_read.polygons[0] for v in p] == list(outline.points)


def test_frames_of_a_video_are_cut_by_their_time(tmp_path: Path) -> None:
    import av

    video = tmp_path / "shift.mp4"
    with av.open(str(video), "w") as container:
        stream = container.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = 96, 64, "yuv420p"
        for n in range(12):
            image = np.full((64, 96, 3), 20 * n, np.uint8)
            frame = av.VideoFrame.from_ndarray(image, format="rgb24")
            # A pause of two seconds after the third frame: numbers and times part.
            frame.pts = n if n < 3 else n + 20
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    xml = tmp_path / "tracks.xml"
    xml.write_text(video_xml(track_box(2, 4) + track_box(6, 12) + track_box(7, 0, outside=1)))
    summary = import_labels(xml, tmp_path / "d", ImportOptions(video=video, every=2))
    found = pictures(tmp_path / "d")
    assert summary.added == 3
    assert {f: (p.time_s, b[0].x0) for f, (p, b) in found.items()} == {
        "shift_000002.jpg": ("0.200000", 4.0),
        "shift_000004.jpg": ("2.400000", 8.0),
        "shift_000006.jpg": ("2.600000", 12.0),
    }
    last = cv2.imread(str(tmp_path / "d" / "pictures" / "shift_000006.jpg"))
    assert last is not None
    assert float(last.mean()) == pytest.approx(120, abs=6)
    xml.write_text(video_xml(track_box(50, 4)))
    with pytest.raises(FeltwatchError, match="has no frame 50"):
        import_labels(xml, tmp_path / "d2", ImportOptions(video=video))


def test_label_studios_turn_about_its_corner(tmp_path: Path) -> None:
    put(tmp_path, "upload/1f2e3d4c-a.jpg")
    turned = corners_of(TURNED)
    value = {
        "x": turned[0][0] / 96 * 100, "y": turned[0][1] / 64 * 100, "width": 20 / 96 * 100,
        "height": 10 / 64 * 100, "rotation": 30, "rectanglelabels": ["AS"],
    }  # fmt: skip
    region = {"original_width": 96, "original_height": 64, "type": "rectanglelabels"}
    ring = {"points": [[x / 96 * 100, y / 64 * 100] for x, y in RING], "polygonlabels": ["KD"]}
    task = {
        "id": 1, "data": {"image": "/data/upload/1f2e3d4c-a.jpg"},
        "annotations": [
            {"was_cancelled": True, "result": []},
            {"result": [region | {"value": value}, region | {"value": ring}]},
        ],
    }  # fmt: skip
    (tmp_path / "export.json").write_text(json.dumps([task]))
    import_labels(tmp_path, tmp_path / "d")
    ((_, (box, polygon)),) = pictures(tmp_path / "d").values()
    assert box.angle_deg == pytest.approx(30)
    assert box.xyxy == pytest.approx(TURNED.xyxy)
    shape = shape_of(polygon)
    assert shape is not None
    assert np.asarray(shape.polygons[0]) == pytest.approx(np.asarray(RING))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("_annotations.createml.json", "[]", "form CreateML .*datum convert"),
        ("train.tfrecord", "", "form TFRecord"),
        ("via.json", '{"_via_settings": {}}', r"VGG Image Annotator \(VIA\)"),
        ("labels.csv", "ImageID,Source,LabelName,Confidence,XMin\n", "form Open Images"),
        ("samples.json", "{}", "form FiftyOneDataset .*COCODetectionDataset"),
    ],
)
def test_other_forms_are_refused_by_name_with_a_way_round(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / name).write_text(text)
    with pytest.raises(FeltwatchError, match=message):
        import_labels(tmp_path / "in", tmp_path / "d")
    assert picture_bytes(1)


@pytest.mark.parametrize(
    ("form", "name"), [("label_me", "LabelMe XML"), ("open_images", "Open Images")]
)
def test_forms_that_datumaro_writes_are_refused_by_name(
    tmp_path: Path, form: str, name: str
) -> None:
    theirs(tmp_path / "in", form, "box")
    with pytest.raises(FeltwatchError, match=f"form {name} .*datum convert .* -if {form}"):
        import_labels(tmp_path / "in", tmp_path / "d")
