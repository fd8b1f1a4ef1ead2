"""Wrong data without a word: each test failed before its defect was fixed."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from datasets.labelled import importing
from datasets.labelled.checks.enclosure import NOTE, Encloses
from datasets.labelled.exporting import export_labels
from datasets.labelled.formats.base import Format
from datasets.labelled.formats.shapes import shape_of
from datasets.labelled.import_source import ImportOptions
from datasets.labelled.importing import import_labels, preview_labels
from datasets.labelled.manifest import Box, Dataset
from datasets.labelled.records import Picture
from datasets.labelled.relabel import LabelMap
from models.evaluate.matching import match
from models.evaluate.samples import read_val_set
from settlement.errors import FeltwatchError
from surveillance.cli import main
from surveillance.reports.model_labels import Terms, terms_of
from tests.datasets.labelled.made import add, picture_bytes
from tests.datasets.labelled.matrix import DOCUMENTED, covers

SIZE = 'width="96" height="64"'


def put(folder: Path, *names: str) -> None:
    """Put made images of 96 x 64 px into a folder."""
    for n, name in enumerate(names):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(picture_bytes(n + 1))


def coco(folder: Path, name: str, image: str, box: list[float], **more: object) -> Path:
    """Write a COCO file of one image with one box."""
    content = {
        "categories": [{"id": 1, "name": "AS"}],
        "images": [{"id": 1, "file_name": image, "width": 96, "height": 64}],
        "annotations": [{"id": 4, "image_id": 1, "category_id": 1, "bbox": box, **more}],
    }
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def cvat(images: str, head: str = "") -> str:
    return f"<annotations><version>1.1</version>{head}{images}</annotations>"


def cvat_image(name: str, label: str = "AS") -> str:
    return (
        f'<image id="0" name="{name}" {SIZE}>'
        f'<box label="{label}" xtl="1" ytl="2" xbr="30" ybr="40"/></image>'
    )


def pictures(folder: Path) -> dict[str, tuple[Picture, tuple[Box, ...]]]:
    with Dataset.open(folder) as dataset:
        return {p.file: (p, dataset.boxes(p.id)) for p in dataset.pictures()}


# 1: a named file is that file


def test_a_named_file_is_that_file_alone(tmp_path: Path) -> None:
    put(tmp_path / "in", "a.jpg", "b.jpg")
    one = coco(tmp_path / "in", "one.json", "a.jpg", [1, 2, 3, 4])
    coco(tmp_path / "in", "two.json", "b.jpg", [5, 6, 7, 8])
    assert import_labels(one, tmp_path / "d").added == 1
    assert list(pictures(tmp_path / "d")) == ["a.jpg"]


def test_update_from_a_named_file_leaves_other_images_corrected(tmp_path: Path) -> None:
    put(tmp_path / "in", "a.jpg", "b.jpg")
    (tmp_path / "in" / "a.xml").write_text(cvat(cvat_image("a.jpg")))
    (tmp_path / "in" / "b.xml").write_text(cvat(cvat_image("b.jpg")))
    import_labels(tmp_path / "in", tmp_path / "d")
    corrected = (Box("KD", 3, 3, 9, 9),)
    with Dataset.open(tmp_path / "d") as dataset:
        for file in ("a.jpg", "b.jpg"):
            picture = dataset.find(file)
            assert picture is not None
            dataset.set_boxes(picture.id, corrected, by="person:ann", revision=1)
    import_labels(tmp_path / "in" / "a.xml", tmp_path / "d", ImportOptions(update=True))
    found = pictures(tmp_path / "d")
    assert found["a.jpg"][1][0].label == "AS"
    assert found["b.jpg"][1] == corrected


@pytest.mark.parametrize("where", ["Annotations/a.xml", "Annotations/sub/a.xml", "a.xml"])
def test_a_named_voc_file_finds_its_image(tmp_path: Path, where: str) -> None:
    root = tmp_path / "in"
    image = "a.jpg" if "/" not in where else f"JPEGImages/{where.split('/', 1)[1][:-4]}.jpg"
    put(root, image)
    path = root / where
    path.parent.mkdir(parents=True, exist_ok=True)
    body = "<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>9</xmax><ymax>8</ymax></bndbox>"
    text = f"<annotation><filename>a.jpg</filename><object><name>AS</name>{body}</object>"
    path.write_text(text + "</annotation>")
    path.with_name("other.xml").write_text(text.replace("a.jpg", "b.jpg") + "</annotation>")
    summary = import_labels(path, tmp_path / "d")
    assert (summary.added, summary.missing, summary.boxes) == (1, 0, 1)


# 2: files and splits that were lost


def test_every_cvat_file_of_a_folder_is_read(tmp_path: Path) -> None:
    put(tmp_path / "in" / "images", "a.jpg", "b.jpg", "c.jpg")
    for name, split in (("a", "train"), ("b", "val"), ("c", "test")):
        (tmp_path / "in" / f"{split}.xml").write_text(cvat(cvat_image(f"{name}.jpg")))
    assert import_labels(tmp_path / "in", tmp_path / "d").added == 3
    found = pictures(tmp_path / "d")
    assert {f: p.split for f, (p, _) in found.items()} == {
        "a.jpg": "train", "b.jpg": "val", "c.jpg": "test",
    }  # fmt: skip


def test_cvat_exports_carry_the_split(tmp_path: Path) -> None:
    with Dataset.create(tmp_path / "d", ("AS",)) as dataset:
        add(dataset, "a.jpg", (Box("AS", 1, 2, 3, 4),), split="val")
        add(dataset, "b.jpg", (Box("AS", 1, 2, 3, 4),))
        export_labels(dataset, tmp_path / "out", Format.CVAT)
    (tmp_path / "out" / "feltwatch.jsonl").unlink()
    import_labels(tmp_path / "out", tmp_path / "back")
    found = pictures(tmp_path / "back")
    assert {f: p.split for f, (p, _) in found.items()} == {"a.jpg": "val", "b.jpg": None}


VOC_BOX = "<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>9</xmax><ymax>8</ymax></bndbox>"


def voc(name: str) -> str:
    return (
        f"<annotation><filename>{name}</filename>"
        f"<object><name>AS</name>{VOC_BOX}</object></annotation>"
    )


def test_roboflow_voc_keeps_its_splits(tmp_path: Path) -> None:
    for split in ("train", "valid", "test"):
        put(tmp_path / "in" / split, f"{split}.jpg")
        (tmp_path / "in" / split / f"{split}.xml").write_text(voc(f"{split}.jpg"))
    import_labels(tmp_path / "in", tmp_path / "d")
    found = pictures(tmp_path / "d")
    assert {p.split for p, _ in found.values()} == {"train", "val", "test"}


@pytest.mark.parametrize("root", ["", "VOCdevkit"])
def test_a_vocdevkit_is_read_year_by_year(tmp_path: Path, root: str) -> None:
    for year in ("VOC2007", "VOC2012"):
        place = tmp_path / "in" / root / year
        put(place / "JPEGImages", "a.jpg")
        for name, text in (
            ("Annotations/a.xml", voc("a.jpg")), ("ImageSets/Main/val.txt", "a\n"),
        ):  # fmt: skip
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text)
    summary = import_labels(tmp_path / "in", tmp_path / "d")
    assert (summary.added, summary.missing) == (2, 0)
    found = pictures(tmp_path / "d")
    assert {f: p.split for f, (p, _) in found.items()} == {
        "VOC2007/a.jpg": "val", "VOC2012/a.jpg": "val",
    }  # fmt: skip


# 3: lines and categories read for something else


def yolo(folder: Path, line: str, head: str = "") -> Path:
    put(folder / "images" / "train", "a.jpg")
    (folder / "labels" / "train").mkdir(parents=True)
    (folder / "labels" / "train" / "a.txt").write_text(line + "\n")
    (folder / "data.yaml").write_text(
        f"train: images/train\nval: images/train\nnames: [AS]\n{head}"
    )
    return folder


POSE = "0 0.5 0.5 0.25 0.5 0.4 0.4 2 0.6 0.6 1 0 0 0"


def test_pose_labels_are_boxes_with_keypoints(tmp_path: Path) -> None:
    yolo(tmp_path / "in", POSE, "kpt_shape: [3, 3]\n")
    import_labels(tmp_path / "in", tmp_path / "d")
    ((_, (box,)),) = pictures(tmp_path / "d").values()
    assert box.xyxy == pytest.approx((36, 16, 60, 48))
    shape = shape_of(box)
    assert shape is not None
    assert shape.keypoints[0] == pytest.approx([38.4, 25.6, 2])
    assert shape.keypoints[2] == [0, 0, 0]


def test_pose_without_its_shape_is_refused(tmp_path: Path) -> None:
    line = "0 0.5 0.5 0.25 0.5 0.4 0.4 2 0.6 0.6 1"
    yolo(tmp_path / "in", line)
    with pytest.raises(FeltwatchError, match="keypoints need kpt_shape"):
        import_labels(tmp_path / "in", tmp_path / "d")


@covers(DOCUMENTED, "yolo-seg import rotation")
def test_turned_boxes_of_yolo_keep_their_turn(tmp_path: Path) -> None:
    turn = math.radians(30)
    c, s = math.cos(turn), math.sin(turn)
    corners = [(48 + c * x - s * y, 32 + s * x + c * y)
               for x, y in ((-20, -10), (20, -10), (20, 10), (-20, 10))]  # fmt: skip
    line = "0 " + " ".join(f"{x / 96!r} {y / 64!r}" for x, y in corners)
    yolo(tmp_path / "in", line)
    import_labels(tmp_path / "in", tmp_path / "d")
    ((_, (box,)),) = pictures(tmp_path / "d").values()
    assert box.angle_deg == pytest.approx(30)
    assert box.xyxy == pytest.approx((28, 22, 68, 42))


def test_a_category_id_that_stands_twice_is_refused(tmp_path: Path) -> None:
    put(tmp_path / "in", "a.jpg")
    path = coco(tmp_path / "in", "x.json", "a.jpg", [1, 2, 3, 4])
    content = json.loads(path.read_text())
    content["categories"].append({"id": 1, "name": "KD"})
    path.write_text(json.dumps(content))
    with pytest.raises(FeltwatchError, match="id 1 stands for both 'AS' and 'KD'"):
        import_labels(tmp_path / "in", tmp_path / "d")


# 4: outlines


RING = [10, 10, 30, 10, 30, 20]


def test_a_moved_box_of_coco_loses_its_outline_and_keypoints(tmp_path: Path) -> None:
    put(tmp_path / "in", "a.jpg")
    coco(
        tmp_path / "in", "x.json", "a.jpg", [10, 10, 20, 10],
        segmentation=[RING], keypoints=[12, 12, 2], num_keypoints=1,
    )  # fmt: skip
    import_labels(tmp_path / "in", tmp_path / "d")
    for name, moved in (("same", 0), ("moved", 5)):
        with Dataset.open(tmp_path / "d") as dataset:
            picture = next(dataset.pictures())
            (box,) = dataset.boxes(picture.id)
            now = Box("AS", box.x0 + moved, 10, box.x1 + moved, 20, attributes=box.attributes)
            dataset.set_boxes(picture.id, [now], by="person:ann", revision=picture.revision)
            export_labels(dataset, tmp_path / name, Format.COCO)
        text = (tmp_path / name / "annotations" / "instances_default.json").read_text()
        (one,) = json.loads(text)["annotations"]
        assert one["segmentation"] == ([] if moved else [RING])
        assert one.get("keypoints") == (None if moved else [12, 12, 2])


def test_an_outline_kept_by_an_earlier_version_goes_when_the_box_was_moved(tmp_path: Path) -> None:
    kept = (("coco.segmentation", [RING]), ("coco.keypoints", [12, 12, 2]))
    with Dataset.create(tmp_path / "d", ("AS",)) as dataset:
        add(dataset, "a.jpg", (Box("AS", 10, 10, 30, 20, attributes=kept),))
        add(dataset, "b.jpg", (Box("AS", 40, 10, 60, 20, attributes=kept),))
        export_labels(dataset, tmp_path / "out", Format.COCO)
    text = (tmp_path / "out" / "annotations" / "instances_default.json").read_text()
    first, second = json.loads(text)["annotations"]
    assert (first["segmentation"], first["keypoints"]) == ([RING], [12, 12, 2])
    assert (second["segmentation"], "keypoints" in second) == ([], False)


def test_polygons_masks_and_crowds_reach_other_forms(tmp_path: Path) -> None:
    put(tmp_path / "in", "a.jpg")
    path = coco(tmp_path / "in", "x.json", "a.jpg", [10, 10, 20, 10], segmentation=[RING])
    content = json.loads(path.read_text())
    counts = [64 * 40 + 8, 6, 64 * 55 + 50]
    counts[2] = 96 * 64 - counts[0] - counts[1]
    content["annotations"].append(
        {"id": 5, "image_id": 1, "category_id": 1, "bbox": [40, 8, 1, 6], "iscrowd": 1,
         "segmentation": {"size": [64, 96], "counts": counts}}
    )  # fmt: skip
    path.write_text(json.dumps(content))
    import_labels(tmp_path / "in", tmp_path / "d")
    with Dataset.open(tmp_path / "d") as dataset:
        export_labels(dataset, tmp_path / "cvat", Format.CVAT)
        export_labels(dataset, tmp_path / "seg", Format.YOLO_SEG)
    text = (tmp_path / "cvat" / "annotations.xml").read_text()
    assert 'points="10,10;30,10;30,20"' in text
    assert 'rle="0, 6"' in text
    assert '<attribute name="is_crowd">true' in text
    line = (tmp_path / "seg" / "labels" / "none" / "a.txt").read_text().splitlines()[0]
    assert [float(v) for v in line.split()[1:]] == pytest.approx(
        [v / (96, 64)[n % 2] for n, v in enumerate(RING)]
    )
    # And back: what CVAT alone carries is what COCO said.
    (tmp_path / "cvat" / "feltwatch.jsonl").unlink()
    import_labels(tmp_path / "cvat", tmp_path / "back")
    with Dataset.open(tmp_path / "back") as back:
        export_labels(back, tmp_path / "coco", Format.COCO)
    text = (tmp_path / "coco" / "annotations" / "instances_default.json").read_text()
    first, second = json.loads(text)["annotations"]
    assert first["segmentation"] == [RING]
    assert second["segmentation"] == {"size": [64, 96], "counts": counts}
    assert second["iscrowd"] == 1


# 5: what boxes enclose


def fan(folder: Path, count: int, twice: bool) -> None:
    with Dataset.create(folder / "made", ("AS", "KD")) as dataset:
        for n in range(count):
            boxes = [Box("AS", 5, 5, 35, 50), Box("KD", 20, 5, 50, 50)]
            if twice:
                boxes = [Box("AS", 5, 5, 12, 18), Box("AS", 60, 40, 67, 53)]
            add(dataset, f"{n}.jpg", tuple(boxes), seed=n)
        export_labels(dataset, folder / "out", Format.COCO)
    (folder / "out" / "feltwatch.jsonl").unlink()


@pytest.mark.parametrize(("twice", "expected"), [(True, "index"), (False, "card")])
def test_what_boxes_enclose_is_detected_and_kept(
    tmp_path: Path, twice: bool, expected: str
) -> None:
    fan(tmp_path, 12, twice)
    summary = import_labels(tmp_path / "out", tmp_path / "d")
    assert summary.encloses == expected
    with Dataset.open(tmp_path / "d") as dataset:
        assert dataset.note(NOTE) == expected


def test_what_boxes_enclose_is_not_guessed(tmp_path: Path) -> None:
    fan(tmp_path, 2, False)
    assert import_labels(tmp_path / "out", tmp_path / "d").encloses is None
    options = ImportOptions(encloses=Encloses.CARD)
    assert import_labels(tmp_path / "out", tmp_path / "told", options).encloses == "card"


def test_indices_and_whole_cards_do_not_mix(tmp_path: Path) -> None:
    for name, twice in (("one", True), ("two", False)):
        fan(tmp_path / name, 12, twice)
    import_labels(tmp_path / "one" / "out", tmp_path / "d")
    with pytest.raises(FeltwatchError, match="enclose indices, those of the import whole cards"):
        import_labels(tmp_path / "two" / "out", tmp_path / "d", ImportOptions(prefix="two"))
    assert len(pictures(tmp_path / "d")) == 12


# 6: nothing imported


def test_a_set_whose_images_are_all_missing_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    coco(tmp_path / "in", "x.json", "a.jpg", [1, 2, 3, 4])
    assert main(["dataset", "import", str(tmp_path / "in"), "--into", str(tmp_path / "d")]) != 0
    assert "none of its 1 images is there" in capsys.readouterr().err
    assert not (tmp_path / "d").exists()
    with pytest.raises(FeltwatchError, match=r"none of its 1 images is there \(first: a\.jpg\)"):
        import_labels(tmp_path / "in", tmp_path / "d")


def test_a_set_without_any_box_is_an_error(tmp_path: Path) -> None:
    yolo(tmp_path / "in", "")
    with pytest.raises(FeltwatchError, match=r"carry no boxes; .*--unlabelled"):
        import_labels(tmp_path / "in", tmp_path / "d")
    assert import_labels(tmp_path / "in", tmp_path / "d", ImportOptions(unlabelled=True)).added == 1


def test_one_wrong_entry_does_not_end_the_import(tmp_path: Path) -> None:
    put(tmp_path / "in", "a.jpg", "b.jpg")
    bad = cvat_image("b.jpg").replace('xtl="1"', 'xtl="one"')
    (tmp_path / "in" / "annotations.xml").write_text(cvat(cvat_image("a.jpg") + bad))
    summary = import_labels(tmp_path / "in", tmp_path / "d")
    assert (summary.added, summary.skipped) == (1, 1)
    assert "xtl is 'one'" in summary.skipped_examples[0]
    with pytest.raises(FeltwatchError, match="xtl is 'one'"):
        import_labels(tmp_path / "in", tmp_path / "d2", ImportOptions(strict=True))
    assert not (tmp_path / "d2").exists()


def test_a_dry_run_shows_it_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path / "in", "a.jpg")
    path = coco(tmp_path / "in", "x.json", "a.jpg", [1, 2, 3, 4])
    content = json.loads(path.read_text())
    content["images"] += [
        {"id": 2, "file_name": "gone.jpg", "width": 9, "height": 9},
        {"id": 3, "file_name": "b.jpg", "width": "inf", "height": 9},
    ]
    path.write_text(json.dumps(content))
    options = ImportOptions(labels=LabelMap({"AS": "ace"}))
    summary = preview_labels(tmp_path / "in", tmp_path / "d", options)
    assert (summary.added, summary.missing, summary.skipped) == (2, 1, 1)
    assert (summary.labels, summary.dry_run) == ({"ace": 1}, True)
    assert not (tmp_path / "d").exists()
    command = [
        "dataset",
        "import",
        str(tmp_path / "in"),
        "--into",
        str(tmp_path / "d"),
        "--dry-run",
    ]
    assert main(command) == 0
    output = capsys.readouterr().out
    assert "dry run, nothing written" in output
    assert "width is 'inf'" in output


# 5, where a model is checked


def test_a_set_of_whole_cards_is_checked_by_the_indices_inside(tmp_path: Path) -> None:
    fan(tmp_path, 12, False)
    own = read_val_set(tmp_path / "out", "train")
    assert {truth.whole for picture in own.pictures for truth in picture.truths} == {True}
    cards = np.array([[0, 0, 60, 90], [100, 0, 160, 90]], np.float64)
    found = np.array(
        [[5, 5, 15, 25], [45, 65, 55, 85], [105, 5, 115, 25], [200, 5, 210, 25]], float
    )
    scores = np.array([0.9, 0.8, 0.7, 0.6])
    allowed = np.ones((4, 2), np.bool_)
    plain = match(found, scores, cards, allowed)
    assert not plain.right.any()  # 0 % before
    inside = match(found, scores, cards, allowed, whole=np.ones(2, np.bool_))
    assert inside.right[:, 0].tolist() == [True, False, True, False]
    assert inside.skipped[:, 0].tolist() == [False, True, False, False]


def test_diff_with_a_model_follows_what_boxes_enclose(tmp_path: Path) -> None:
    fan(tmp_path, 12, False)
    import_labels(tmp_path / "out", tmp_path / "d")
    with Dataset.open(tmp_path / "d") as dataset:
        assert terms_of(dataset) is Terms.CARDS
        dataset.set_note(NOTE, "index")
        assert terms_of(dataset) is Terms.INDICES


def test_of_coco_files_of_the_same_images_the_boxes_come_in(tmp_path: Path) -> None:
    put(tmp_path / "set" / "images" / "val", "a.png")
    coco(tmp_path / "set", "annotations/instances_val.json", "a.png", [1, 2, 20, 30])
    stuff = coco(tmp_path / "set", "annotations/stuff_val.json", "a.png", [5, 5, 9, 9])
    info = tmp_path / "set" / "annotations" / "image_info_val.json"
    info.write_text(json.dumps({**json.loads(stuff.read_text()), "annotations": []}))
    summary = import_labels(tmp_path / "set", tmp_path / "d")
    with Dataset.open(tmp_path / "d") as dataset:
        (picture,) = dataset.pictures()
        (box,) = dataset.boxes(picture.id)
    assert box.xyxy == (1.0, 2.0, 21.0, 32.0)
    assert summary.skipped == 1
    assert f"{stuff}: annotations" in summary.skipped_examples[0]


# An image that is listed twice, and two whose names differ by the folder of images only


@pytest.mark.parametrize("chunk", [1, 50])
def test_an_image_that_is_listed_twice_counts_once(
    tmp_path: Path, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "CHUNK", chunk)
    put(tmp_path / "in", "a.jpg", "b.jpg")
    twice = "".join(map(cvat_image, ("a.jpg", "b.jpg", "a.jpg")))
    (tmp_path / "in" / "annotations.xml").write_text(cvat(twice))
    shown = preview_labels(tmp_path / "in", tmp_path / "d")
    done = import_labels(tmp_path / "in", tmp_path / "d")
    for summary in (shown, done):
        assert (summary.added, summary.present, summary.boxes, summary.skipped) == (2, 0, 2, 1)
        assert "a.jpg is listed twice" in summary.skipped_examples[0]
    # All are there when it is run again, and a dry run says the same.
    for again in (preview_labels, import_labels):
        summary = again(tmp_path / "in", tmp_path / "d")
        assert (summary.added, summary.present) == (0, 2)
    with pytest.raises(FeltwatchError, match="listed twice"):
        preview_labels(tmp_path / "in", tmp_path / "e", ImportOptions(strict=True))


def test_coco_images_beside_and_in_the_folder_of_images_are_two(tmp_path: Path) -> None:
    put(tmp_path / "in", "a.jpg", "images/a.jpg")
    path = coco(tmp_path / "in", "x.json", "a.jpg", [1, 2, 3, 4])
    content = json.loads(path.read_text())
    content["images"].append(content["images"][0] | {"id": 2, "file_name": "images/a.jpg"})
    content["annotations"].append(content["annotations"][0] | {"id": 5, "image_id": 2,
                                                               "bbox": [5, 6, 7, 8]})  # fmt: skip
    path.write_text(json.dumps(content))
    shown = preview_labels(tmp_path / "in", tmp_path / "d")
    done = import_labels(tmp_path / "in", tmp_path / "d")
    assert (shown.added, shown.skipped) == (done.added, done.skipped) == (2, 0)
    found = {
        (tmp_path / "d" / "pictures" / file).read_bytes(): box.xyxy
        for file, (_, (box,)) in pictures(tmp_path / "d").items()
    }
    assert found == {
        (tmp_path / "in" / "a.jpg").read_bytes(): (1, 2, 4, 6),
        (tmp_path / "in" / "images" / "a.jpg").read_bytes(): (5, 6, 12, 14),
    }


def test_coco_names_are_looked_for_in_the_folder_of_images_first(tmp_path: Path) -> None:
    put(tmp_path / "in", "a.jpg", "images/a.jpg")
    coco(tmp_path / "in", "x.json", "a.jpg", [1, 2, 3, 4])
    import_labels(tmp_path / "in", tmp_path / "d")
    ((file, (picture, _)),) = pictures(tmp_path / "d").items()
    read = (tmp_path / "d" / "pictures" / file).read_bytes()
    assert read == (tmp_path / "in" / "images" / "a.jpg").read_bytes()
    assert picture.sha256


def test_frames_that_a_wrong_track_covers_are_left_out(tmp_path: Path) -> None:
    put(tmp_path / "in", *(f"images/frame_{n:06d}.png" for n in range(4)))
    corners = 'xtl="1" ytl="2" xbr="30" ybr="40" outside="0"'
    good = "".join(f'<box frame="{n}" {corners}/>' for n in range(4))
    wrong = f'<box frame="1" {corners}/><box frame="2" xtl="one"/>'
    tracks = f'<track id="0" label="AS">{good}</track><track id="1" label="KD">{wrong}</track>'
    head = "<meta><task><original_size><width>96</width><height>64</height></original_size>"
    head += "</task></meta>"
    (tmp_path / "in" / "annotations.xml").write_text(cvat(tracks, head))
    summary = import_labels(tmp_path / "in", tmp_path / "d")
    assert (summary.added, summary.boxes, summary.skipped) == (2, 2, 3)
    assert "track 1: frame 2: xtl is 'one'" in " ".join(summary.skipped_examples)
    assert "frame 1: track 1 has a wrong box" in " ".join(summary.skipped_examples)
    options = ImportOptions(skip_boxes=True)
    summary = import_labels(tmp_path / "in", tmp_path / "e", options)
    assert (summary.added, summary.boxes, summary.wrong_boxes) == (4, 4, 2)
