"""Formats: back and forth with nothing lost, and opened by the libraries of the other side."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from datasets.labelled.exporting import MARK, export_labels, pack
from datasets.labelled.formats.base import WRITABLE, Format, module_of
from datasets.labelled.import_source import ImportOptions
from datasets.labelled.importing import import_labels
from datasets.labelled.manifest import Box, Dataset
from datasets.labelled.sidecar import SIDECAR
from settlement.errors import FeltwatchError
from tests.datasets.labelled.made import add, contents, picture_bytes, small_dataset
from tests.datasets.labelled.matrix import covers

LABELS = ("AS", "a label", "été <1>", "x:y")
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
shares = st.none() | st.floats(0, 1)
places = st.floats(-50, 150)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
TAGS = (
    "", "name", "bndbox", "attributes", "pose", "part", "two words", "1st", "a:b", "label", "xtl",
    "points", "shape", "told", "occluded", "attribute", "id", "bbox", "area", "category_id", "mine",
)  # fmt: skip
names = texts.filter(lambda t: t not in ("visible", "score", "rotation")) | st.builds(
    str.__add__, st.sampled_from(["voc.", "cvat.", "coco."]), texts | st.sampled_from(TAGS)
)
trees = json_values | st.sampled_from(["0", "manual", "Unspecified", "<a>", " a ", "a\r\nb"])
attributes = st.dictionaries(names, trees, max_size=3).map(lambda d: tuple(d.items()))
boxes = st.builds(
    Box,
    label=st.sampled_from(LABELS),
    x0=places,
    y0=places,
    x1=places,
    y1=places,
    angle_deg=st.none() | st.floats(0.5, 359),
    visible=shares,
    score=shares,
    attributes=attributes,
)


@pytest.mark.parametrize("format", WRITABLE)
def test_all_of_a_dataset_comes_back(tmp_path: Path, format: Format) -> None:
    with small_dataset(tmp_path / "d") as dataset:
        export_labels(dataset, tmp_path / "out", format)
        import_labels(tmp_path / "out", tmp_path / "back")
        with Dataset.open(tmp_path / "back") as back:
            assert contents(back) == contents(dataset)
            assert back.labels == dataset.labels
            assert back.notes() == dataset.notes()
            for picture in back.pictures():
                twin = dataset.find(picture.file)
                assert twin is not None
                assert back.path(picture).read_bytes() == dataset.path(twin).read_bytes()


@pytest.mark.parametrize("format", WRITABLE)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(drawn=st.lists(st.lists(boxes, max_size=4), min_size=1, max_size=3))
def test_any_boxes_come_back(format: Format, drawn: list[list[Box]]) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        with Dataset.create(root / "d", LABELS) as dataset:
            for n, own in enumerate(drawn):
                add(dataset, f"{n}.jpg", tuple(own), seed=n)
            export_labels(dataset, root / "out", format)
            import_labels(root / "out", root / "back")
            with Dataset.open(root / "back") as back:
                assert contents(back) == contents(dataset)


@pytest.mark.parametrize("format", [Format.COCO, Format.VOC, Format.CVAT])
@settings(max_examples=25, deadline=None)
@given(own=boxes)
def test_what_a_format_gives_back_alone_is_what_it_says(format: Format, own: Box) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        with Dataset.create(root / "d", LABELS) as dataset:
            add(dataset, "a.jpg", (own,), seed=1)
            export_labels(dataset, root / "out", format)
        (root / "out" / SIDECAR).unlink()
        import_labels(root / "out", root / "back")
        expected = module_of(format).as_read(own)
        with Dataset.open(root / "back") as back:
            (read,) = back.boxes(1)
    assert read.xyxy == pytest.approx(expected.xyxy, abs=1e-6)
    assert (read.label, read.angle_deg) == (expected.label, expected.angle_deg)
    assert (read.visible, read.score) == (expected.visible, expected.score)
    assert dict(read.attributes) == dict(expected.attributes)


def test_labels_changed_in_between_stay_as_they_are_now(tmp_path: Path) -> None:
    with small_dataset(tmp_path / "d") as dataset:
        export_labels(dataset, tmp_path / "out", Format.YOLO)
    labels = tmp_path / "out" / "labels" / "train" / "a.txt"
    lines = labels.read_text().splitlines()
    labels.write_text("\n".join([lines[0], "1" + lines[1][1:]]) + "\n")  # renamed; last removed
    import_labels(tmp_path / "out", tmp_path / "back", ImportOptions(name="fixed"))
    with Dataset.open(tmp_path / "back") as back:
        picture = back.find("a.jpg")
        assert picture is not None
        first, second = back.boxes(picture.id)
        assert first.score == pytest.approx(1 / 3)  # untouched: all of it is back
        assert second.label == "KD"
        assert second.score is None
        assert picture.labelled_by == "import:fixed"
        other = back.find("sub/a.jpg")
        assert other is not None
        assert other.confirmed_by == "person:ann"


def test_ultralytics_opens_yolo(tmp_path: Path) -> None:
    pytest.importorskip("ultralytics", reason="the train extra is not installed")
    from ultralytics.data.dataset import YOLODataset
    from ultralytics.data.utils import check_det_dataset

    with Dataset.create(tmp_path / "d", ("AS", "KD")) as dataset:
        for n in range(4):
            add(dataset, f"{n}.jpg", (Box("KD", 10, 8, 58, 40),), split=("train", "val")[n % 2])
        export_labels(dataset, tmp_path / "out", Format.YOLO)
    data = check_det_dataset(str(tmp_path / "out" / "data.yaml"))
    assert data["names"] == {0: "AS", 1: "KD"}
    opened = YOLODataset(img_path=data["train"], data=data, imgsz=64, augment=False, task="detect")
    assert len(opened) == 2
    for label in opened.labels:
        assert label["cls"].tolist() == [[1.0]]
        x, y, w, h = label["bboxes"][0].tolist()
        assert [x * 96, y * 64, w * 96, h * 64] == pytest.approx([34, 24, 48, 32], abs=0.01)


@covers("pycocotools", "coco export boxes splits")
def test_pycocotools_opens_coco(tmp_path: Path) -> None:
    coco = pytest.importorskip("pycocotools.coco", reason="pycocotools is not installed")
    with small_dataset(tmp_path / "d") as dataset:
        export_labels(dataset, tmp_path / "out", Format.COCO)
        for split, count in (("train", 2), ("val", 1), ("test", 1), ("default", 1)):
            opened = coco.COCO(str(tmp_path / "out" / "annotations" / f"instances_{split}.json"))
            assert len(opened.imgs) == count
            assert [c["name"] for c in opened.loadCats(opened.getCatIds())] == list(dataset.labels)
            for image in opened.loadImgs(opened.getImgIds()):
                assert (tmp_path / "out" / "images" / image["file_name"]).is_file()
                twin = dataset.find(image["file_name"])
                assert twin is not None
                read = opened.loadAnns(opened.getAnnIds(imgIds=image["id"]))
                assert [opened.cats[a["category_id"]]["name"] for a in read] == [
                    b.label for b in dataset.boxes(twin.id)
                ]
                for annotation, box in zip(read, dataset.boxes(twin.id), strict=True):
                    x, y, w, h = annotation["bbox"]
                    assert [x, y, x + w, y + h] == pytest.approx(box.xyxy)


@pytest.mark.parametrize(
    ("format", "theirs"), [(Format.CVAT, "cvat"), (Format.VOC, "voc"), (Format.COCO, "coco")]
)
def test_datumaro_opens_it(tmp_path: Path, format: Format, theirs: str) -> None:
    datumaro = pytest.importorskip("datumaro", reason="datumaro is not installed")
    with Dataset.create(tmp_path / "d", ("AS", "KD")) as dataset:
        for n in range(3):
            own = (Box("KD", 10, 8, 58.5, 40, attributes=(("kind", "corner"),)),)
            add(dataset, f"sub/{n}.jpg", own, split="train")
        export_labels(dataset, tmp_path / "out", format)
    opened = datumaro.Dataset.import_from(str(tmp_path / "out"), theirs)
    items = list(opened)
    assert sorted(item.id for item in items) == ["sub/0", "sub/1", "sub/2"]
    names = [c.name for c in opened.categories()[datumaro.AnnotationType.label]]
    for item in items:
        (one,) = [a for a in item.annotations if a.type == datumaro.AnnotationType.bbox]
        assert names[one.label] == "KD"
        x, y, w, h = one.get_bbox()
        assert [x, y, x + w, y + h] == pytest.approx([10, 8, 58.5, 40], abs=0.01)
        assert one.attributes["kind"] == "corner"
        assert item.media.data.shape[:2] == (64, 96)


@covers("datumaro", "cvat export rotation")
def test_datumaro_reads_a_turned_box_of_cvat(tmp_path: Path) -> None:
    datumaro = pytest.importorskip("datumaro", reason="datumaro is not installed")
    with Dataset.create(tmp_path / "d", ("AS",)) as dataset:
        add(dataset, "a.jpg", (Box("AS", 10, 20, 50, 40, angle_deg=30.0),))
        export_labels(dataset, tmp_path / "out", Format.CVAT)
    (item,) = datumaro.Dataset.import_from(str(tmp_path / "out"), "cvat")
    (one,) = item.annotations
    assert one.type == datumaro.AnnotationType.rotated_bbox
    assert list(one.points) == pytest.approx([30, 30, 40, 20, 30])


def test_what_datumaro_wrote_comes_in(tmp_path: Path) -> None:
    datumaro = pytest.importorskip("datumaro", reason="datumaro is not installed")
    with small_dataset(tmp_path / "d") as dataset:
        export_labels(dataset, tmp_path / "out", Format.COCO)
    opened = datumaro.Dataset.import_from(str(tmp_path / "out"), "coco")
    opened.export(str(tmp_path / "cvat"), "cvat", save_media=True)
    (tmp_path / "one").mkdir()
    for part in ("train.xml", "images"):
        (tmp_path / "cvat" / part).rename(tmp_path / "one" / part)
    summary = import_labels(tmp_path / "one", tmp_path / "back")
    assert (summary.added, summary.missing) == (2, 0)
    assert summary.boxes == 5


COCO: dict[str, Any] = {
    "info": {"year": 2026},
    "licenses": [{"id": 1, "name": "CC BY"}],
    "categories": [{"id": 7, "name": "KD", "supercategory": "card"}, {"id": 3, "name": "AS"}],
    "images": [{"id": 5, "file_name": "a.jpg", "width": 96, "height": 64, "license": 1}],
    "annotations": [
        {"id": 1, "image_id": 5, "category_id": 7, "bbox": [1, 2, 3, 4], "area": 12,
         "iscrowd": 1, "segmentation": [[1, 2, 4, 2, 4, 6]], "mine": {"a": 1}},
    ],
}  # fmt: skip


def test_nothing_of_a_coco_file_is_lost(tmp_path: Path) -> None:
    (tmp_path / "in" / "images").mkdir(parents=True)
    (tmp_path / "in" / "images" / "a.jpg").write_bytes(picture_bytes(1))
    (tmp_path / "in" / "labels.json").write_text(json.dumps(COCO))
    import_labels(tmp_path / "in", tmp_path / "d")
    with Dataset.open(tmp_path / "d") as dataset:
        assert dataset.labels == ("AS", "KD")
        export_labels(dataset, tmp_path / "out", Format.COCO)
    content = json.loads((tmp_path / "out" / "annotations" / "instances_default.json").read_text())
    assert content["info"] == COCO["info"]
    assert content["licenses"] == COCO["licenses"]
    assert {c["name"]: c for c in content["categories"]} == {
        c["name"]: c for c in COCO["categories"]
    }
    assert content["images"][0]["license"] == 1
    (one,) = content["annotations"]
    assert {k: one[k] for k in ("category_id", "bbox", "iscrowd", "segmentation", "mine")} == {
        k: COCO["annotations"][0][k]
        for k in ("category_id", "bbox", "iscrowd", "segmentation", "mine")
    }


CVAT = """<?xml version="1.0" encoding="utf-8"?>
<annotations><version>1.1</version><meta><task><name>t</name><labels>
<label><name>KD</name><color>#ff0000</color><attributes/></label></labels></task></meta>
<image id="0" name="a.jpg" width="96" height="64" subset="train" task_id="4">
<box label="KD" source="auto" occluded="1" xtl="1.00" ytl="2.00" xbr="30.50" ybr="40.00"
 rotation="12.00" z_order="2" group_id="3"><attribute name="worn">true</attribute></box>
<polygon label="KD" occluded="0" points="1,2;9,2;9,8" z_order="0"></polygon>
<tag label="blurred" source="manual"></tag>
</image></annotations>
"""


def test_nothing_of_a_cvat_file_is_lost(tmp_path: Path) -> None:
    (tmp_path / "in" / "images").mkdir(parents=True)
    (tmp_path / "in" / "images" / "a.jpg").write_bytes(picture_bytes(1))
    (tmp_path / "in" / "annotations.xml").write_text(CVAT)
    import_labels(tmp_path / "in", tmp_path / "d")
    with Dataset.open(tmp_path / "d") as dataset:
        (picture,) = dataset.pictures()
        assert (picture.split, picture.labelled_by) == ("train", "import:in")
        box, shape = dataset.boxes(1)
        assert (box.xyxy, box.angle_deg) == ((1, 2, 30.5, 40), 12.0)
        assert dict(box.attributes) == {
            "worn": "true", "cvat.source": "auto", "cvat.occluded": "1", "cvat.z_order": "2",
            "cvat.group_id": "3",
        }  # fmt: skip
        assert shape.xyxy == (1, 2, 9, 8)
        export_labels(dataset, tmp_path / "out", Format.CVAT)
    text = (tmp_path / "out" / "annotations.xml").read_text()
    for kept in (
        'occluded="1"', 'z_order="2"', 'group_id="3"', 'source="auto"', 'task_id="4"',
        "<polygon", 'points="1,2;9,2;9,8"', '<tag label="blurred"', "<color>#ff0000</color>",
        'rotation="12.0"', '<attribute name="worn">true</attribute>',
    ):  # fmt: skip
        assert kept in text


VOC = """<annotation><folder>x</folder><filename>a.jpg</filename>
<source><database>mine</database></source><size><width>96</width><height>64</height></size>
<object><name>KD</name><pose>Left</pose><truncated>1</truncated><difficult>0</difficult>
<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>30.5</xmax><ymax>40</ymax></bndbox>
<part><name>corner</name><bndbox><xmin>1</xmin></bndbox></part></object></annotation>
"""


def test_nothing_of_a_voc_file_is_lost(tmp_path: Path) -> None:
    for folder in ("JPEGImages", "Annotations", "ImageSets/Main"):
        (tmp_path / "in" / folder).mkdir(parents=True)
    (tmp_path / "in" / "JPEGImages" / "a.jpg").write_bytes(picture_bytes(1))
    (tmp_path / "in" / "Annotations" / "a.xml").write_text(VOC)
    (tmp_path / "in" / "ImageSets" / "Main" / "val.txt").write_text("a\n")
    import_labels(tmp_path / "in", tmp_path / "d")
    with Dataset.open(tmp_path / "d") as dataset:
        (picture,) = dataset.pictures()
        assert picture.split == "val"
        export_labels(dataset, tmp_path / "out", Format.VOC)
    text = (tmp_path / "out" / "Annotations" / "a.xml").read_text()
    for kept in ("<database>mine<", "<pose>Left<", "<truncated>1<", "<part>", "<name>corner<"):
        assert kept in text
    assert (tmp_path / "out" / "ImageSets" / "Main" / "val.txt").read_text() == "a\n"


def test_names_that_differ_in_their_ending_only(tmp_path: Path) -> None:
    with Dataset.create(tmp_path / "d", ("AS",)) as dataset:
        for n, name in enumerate(("a.jpg", "a.png", "a.b.jpg")):
            add(dataset, name, (Box("AS", n, 0, n + 9, 9),))
        for format in WRITABLE:
            export_labels(dataset, tmp_path / format, format)
            import_labels(tmp_path / format, tmp_path / f"back-{format}")
            with Dataset.open(tmp_path / f"back-{format}") as back:
                assert contents(back) == contents(dataset)


def test_an_export_writes_over_nothing_and_goes_on(tmp_path: Path) -> None:
    with small_dataset(tmp_path / "d") as dataset:
        (tmp_path / "full").mkdir()
        (tmp_path / "full" / "mine.txt").write_text("mine")
        with pytest.raises(FeltwatchError, match="is not empty"):
            export_labels(dataset, tmp_path / "full", Format.YOLO)

        def stop(done: int, _total: int | None) -> None:
            if done == 3:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            export_labels(dataset, tmp_path / "out", Format.VOC, stop)
        assert not (tmp_path / "out" / SIDECAR).exists()
        export_labels(dataset, tmp_path / "out", Format.VOC)
        assert json.loads((tmp_path / "out" / MARK).read_text())["finished"] is True
        with pytest.raises(FeltwatchError, match="finished export"):
            export_labels(dataset, tmp_path / "out", Format.VOC)
        import_labels(tmp_path / "out", tmp_path / "back")
        with Dataset.open(tmp_path / "back") as back:
            assert contents(back) == contents(dataset)
        with pytest.raises(KeyboardInterrupt):
            export_labels(dataset, tmp_path / "two", Format.YOLO, stop)
        dataset.set_splits([(1, "val")], by="person:x")
        with pytest.raises(FeltwatchError, match="another state"):
            export_labels(dataset, tmp_path / "two", Format.YOLO)


def test_a_zip_of_an_export_comes_back(tmp_path: Path) -> None:
    with small_dataset(tmp_path / "d") as dataset:
        export_labels(dataset, tmp_path / "out", Format.CVAT)
        packed = pack(tmp_path / "out")
        import_labels(packed, tmp_path / "back")
        with Dataset.open(tmp_path / "back") as back:
            assert contents(back) == contents(dataset)
