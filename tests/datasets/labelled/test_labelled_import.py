"""Imports: resumed, updated, of photographs and rendered sets, and what they refuse."""

from __future__ import annotations

import json
import re
import stat
import zipfile
from pathlib import Path

import pytest

from datasets.labelled import importing
from datasets.labelled.archive import opened
from datasets.labelled.exporting import export_labels
from datasets.labelled.formats.base import Format
from datasets.labelled.import_source import ImportOptions
from datasets.labelled.importing import import_labels, preview_labels
from datasets.labelled.manifest import Box, Dataset
from settlement.errors import FeltwatchError
from surveillance.cli import main
from tests.datasets.labelled.made import add, contents, picture_bytes

LINE = "0 0.5 0.5 0.25 0.5\n"


def yolo(folder: Path, count: int = 6, names: str = "[AS, KD]") -> Path:
    for n in range(count):
        split = "train" if n % 3 else "val"
        for part, data in (("images", picture_bytes(n)), ("labels", LINE.encode())):
            path = folder / part / split / f"{n:03d}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_suffix(".jpg" if part == "images" else ".txt").write_bytes(data)
    text = f"train: images/train\nval: images/val\nnames: {names}\nnote: mine\n"
    (folder / "data.yaml").write_text(text)
    return folder


def test_an_interrupted_import_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = yolo(tmp_path / "in", 9)
    monkeypatch.setattr(importing, "CHUNK", 2)

    def stop(done: int, _total: int | None) -> None:
        if done >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_labels(source, tmp_path / "d", progress=stop)
    with Dataset.open(tmp_path / "d") as dataset:
        assert len(dataset) == 4
        dataset.set_boxes(1, [], by="person:ann", revision=1)
    summary = import_labels(source, tmp_path / "d")
    assert (summary.added, summary.present, summary.boxes) == (5, 4, 5)
    with Dataset.open(tmp_path / "d") as dataset:
        assert len(dataset) == 9
        assert dataset.boxes(1) == ()  # what a person did in between stays
        assert dataset.splits() == {"train": 6, "val": 3}
        assert dataset.note("yolo") == {"note": "mine"}
        (box,) = dataset.boxes(2)
        assert box.xyxy == pytest.approx((36, 16, 60, 48))


def test_update_brings_new_labels_to_images_that_are_there(tmp_path: Path) -> None:
    with Dataset.create(tmp_path / "d", ("AS", "KD")) as dataset:
        one = add(dataset, "a.jpg", (Box("AS", 1, 1, 9, 9, score=0.5), Box("KD", 20, 1, 30, 9)))
        two = add(dataset, "b.jpg", (Box("AS", 1, 1, 9, 9),))
        dataset.confirm(two, by="person:ann", revision=1)
        export_labels(dataset, tmp_path / "out", Format.CVAT)
        path = tmp_path / "out" / "annotations.xml"
        # As it comes from CVAT: no images, no sidecar.
        lone = tmp_path / "annotations.xml"
        lone.write_text(path.read_text().replace('label="KD"', 'label="AS"'))
        summary = import_labels(lone, tmp_path / "d", ImportOptions(update=True, name="cvat"))
        assert (summary.updated, summary.present, summary.added) == (1, 1, 0)
        first, second = dataset.boxes(one)
        assert (first.score, second.label) == (0.5, "AS")
        assert dataset.picture(two).is_confirmed
        assert dataset.history(one)[-1].by == "import:cvat"


def test_a_missing_image_that_turns_up_is_taken(tmp_path: Path) -> None:
    content = {
        "categories": [{"id": 1, "name": "AS"}],
        "images": [{"id": n, "file_name": f"{n}.jpg", "width": 96, "height": 64} for n in (1, 2)],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]}],
    }
    source = tmp_path / "in"
    (source / "images").mkdir(parents=True)
    (source / "x.json").write_text(json.dumps(content))
    (source / "images" / "2.jpg").write_bytes(picture_bytes(2)[:200])
    summary = import_labels(source, tmp_path / "d")
    assert (summary.added, summary.missing, summary.broken) == (2, 1, 1)
    assert summary.examples == ["missing: 1.jpg", "broken: 2.jpg"]
    (source / "images" / "1.jpg").write_bytes(picture_bytes(1))
    import_labels(source, tmp_path / "d")
    with Dataset.open(tmp_path / "d") as dataset:
        picture = dataset.picture(1)
        assert picture.phash is not None
        assert dataset.path(picture).is_file()


def test_photographs_give_time_and_session(tmp_path: Path) -> None:
    names = [
        "IMG_20220316_134551.jpg", "IMG_20220316_134959.jpg", "IMG_20220316_161000.jpg",
        "felt_jpg.rf.0a1b2c3d.jpg", "felt-2.jpg",
    ]  # fmt: skip
    folder = tmp_path / "phone"
    (folder / "images").mkdir(parents=True)
    entries = []
    for n, name in enumerate(names):
        (folder / "images" / name).write_bytes(picture_bytes(n))
        box = {"label": "JOKER", "xyxy": [1, 2, 30, 40], "kind": "corner", "joker": "red"}
        entries.append({"image": f"images/{name}", "width": 96, "height": 64, "boxes": [box]})
    (folder / "labels.json").write_text(json.dumps(entries))
    import_labels(folder, tmp_path / "d", ImportOptions(deck="bicycle"))
    with Dataset.open(tmp_path / "d") as dataset:
        pictures = list(dataset.pictures())
        assert [p.shift for p in pictures] == [
            "phone 20220316 1", "phone 20220316 1", "phone 20220316 2",
            "phone shot felt", "phone shot felt",
        ]  # fmt: skip
        assert pictures[0].time_s == str((13 * 60 + 45) * 60 + 51)
        assert {(p.deck, p.source) for p in pictures} == {("bicycle", "phone")}
        (own,) = dataset.boxes(1)
        assert dict(own.attributes) == {"kind": "corner", "joker": "red"}


def test_a_rendered_set_counts_as_truth(tmp_path: Path) -> None:
    source = yolo(tmp_path / "set")
    for split in ("train", "val"):
        for path in list((source / "images" / split).iterdir()):
            number = 0 if split == "val" else 1
            new = f"{number:04d}-{path.stem}"
            path.rename(path.with_stem(new))
            label = source / "labels" / split / f"{path.stem}.txt"
            label.rename(label.with_stem(new))
    (source / "recipe.json").write_text('{"views": 6, "seed": 5}')
    (source / "shards").mkdir()
    import_labels(source, tmp_path / "d")
    with Dataset.open(tmp_path / "d") as dataset:
        assert {p.labelled_by for p in dataset.pictures()} == {"truth:simulator"}
        assert set(dataset.values("deck")) == {"seed 5 shard 0000", "seed 5 shard 0001"}
        assert not list(dataset.spread("deck"))


def test_a_rendered_set_gives_cards_and_visible_fractions(tmp_path: Path) -> None:
    source = yolo(tmp_path / "set")
    (source / "recipe.json").write_text('{"views": 6, "seed": 5}')
    (source / "shards").mkdir()
    boxes_file = source / "boxes" / "train" / "001.jsonl"
    boxes_file.parent.mkdir(parents=True)
    box = {"kind": "AS", "xyxy": [1, 2, 9, 8], "visible": 0.5, "card": "QD", "quad": None}
    boxes_file.write_text(json.dumps({"image": "001.jpg", "boxes": [box]}) + "\n")
    import_labels(source, tmp_path / "d")
    with Dataset.open(tmp_path / "d") as dataset:
        found = {Path(p.file).name: dataset.boxes(p.id) for p in dataset.pictures()}
        (one,) = found["001.jpg"]
        assert (one.label, one.visible, one.xyxy) == ("AS", 0.5, (1, 2, 9, 8))
        assert dict(one.attributes) == {"card": "QD"}
        assert all(b.visible is None for b in found["002.jpg"])


def test_a_rendered_set_with_broken_boxes_is_refused(tmp_path: Path) -> None:
    source = yolo(tmp_path / "set")
    (source / "recipe.json").write_text('{"views": 6, "seed": 5}')
    (source / "shards").mkdir()
    (source / "boxes" / "val").mkdir(parents=True)
    (source / "boxes" / "val" / "000.jsonl").write_text("{}\n")
    with pytest.raises(FeltwatchError, match="line 1: is no list of rendered boxes"):
        import_labels(source, tmp_path / "d", ImportOptions(strict=True))


def test_same_names_of_other_images_need_a_prefix(tmp_path: Path) -> None:
    import_labels(yolo(tmp_path / "in"), tmp_path / "d")
    other = yolo(tmp_path / "other")
    for path in other.rglob("*.jpg"):
        path.write_bytes(picture_bytes(77, 120, 90))
    with pytest.raises(FeltwatchError, match="--prefix"):
        import_labels(other, tmp_path / "d")
    import_labels(other, tmp_path / "d", ImportOptions(prefix="two"))
    with Dataset.open(tmp_path / "d") as dataset:
        assert len(dataset) == 12


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("2 0.5 0.5 0.1 0.1", r"001\.txt: line 2: class 2 is unknown"),
        ("0 0.5 zero 0.1 0.1", r"001\.txt: line 2: numbers are due"),
        ("0 0.5 nan 0.1 0.1", r"001\.txt: line 2: numbers are due"),
        ("0 0.5 0.5", r"001\.txt: line 2: 2 numbers"),
        ("0.5 0.5 0.5 0.1 0.1", r"001\.txt: line 2: class 0\.5 is unknown"),
        ("0 0.5 0.5 0.1 0.1 7", r"001\.txt: line 2: box AS: score is 7"),
    ],
)
def test_a_wrong_yolo_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    source = yolo(tmp_path / "in")
    (source / "labels" / "train" / "001.txt").write_text(LINE + line + "\n")
    with pytest.raises(FeltwatchError, match=message):
        import_labels(source, tmp_path / "strict", ImportOptions(strict=True))
    summary = import_labels(source, tmp_path / "d")
    assert (summary.added, summary.skipped) == (5, 1)
    assert re.search(message, summary.skipped_examples[0])


WRONG = "0 0.5 zero 0.1 0.1\n9 0.5 0.5 0.1 0.1\n"


def test_every_wrong_box_is_listed(tmp_path: Path) -> None:
    source = yolo(tmp_path / "in")
    for name in ("001", "002"):
        (source / "labels" / "train" / f"{name}.txt").write_text(LINE + WRONG)
    for summary in (
        preview_labels(source, tmp_path / "d"), import_labels(source, tmp_path / "d"),
    ):  # fmt: skip
        assert (summary.added, summary.skipped, summary.faults) == (4, 2, 4)
        listed = [re.sub(r".*/(\d+)\.txt: line (\d).*", r"\1 \2", t)
                  for t in summary.skipped_examples]  # fmt: skip
        assert listed == ["001 2", "001 3", "002 2", "002 3"]
    # An image that is left out leaves no file behind.
    assert len(list((tmp_path / "d" / "pictures").rglob("*.jpg"))) == 4


def test_wrong_boxes_alone_are_left_out(tmp_path: Path) -> None:
    source = yolo(tmp_path / "in")
    (source / "labels" / "train" / "001.txt").write_text(LINE + WRONG)
    options = ImportOptions(skip_boxes=True)
    for summary in (
        preview_labels(source, tmp_path / "d", options),
        import_labels(source, tmp_path / "d", options),
    ):
        assert (summary.added, summary.boxes, summary.skipped) == (6, 6, 0)
        assert summary.wrong_boxes == len(summary.wrong_box_examples) == 2
        assert "001.txt: line 2: numbers are due" in summary.wrong_box_examples[0]


def test_an_import_of_wrong_entries_alone_lists_them_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = json.loads(json.dumps(GOOD))
    content["images"].append(content["images"][0] | {"id": 2, "file_name": "b.jpg"})
    content["annotations"][0]["bbox"] = [1, 2, 3]
    content["annotations"].append(content["annotations"][0] | {"id": 5, "image_id": 2})
    good = content["annotations"][0] | {"id": 6, "bbox": [1, 2, 3, 4]}
    content["annotations"].append(good)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "x.json").write_text(json.dumps(content))
    for n, name in enumerate(("a.jpg", "b.jpg")):
        (tmp_path / "in" / name).write_bytes(picture_bytes(n))
    command = ["dataset", "import", str(tmp_path / "in"), "--into", str(tmp_path / "d"), "--quiet"]
    for more in (["--dry-run"], []):
        assert main([*command, *more]) == 2
        said = capsys.readouterr().err
        assert "nothing can be imported; the first of 2 faults: " in said
        for number in (4, 5):
            assert f"  {tmp_path / 'in' / 'x.json'}: annotation {number}: bbox: four" in said
    assert not (tmp_path / "d").exists()
    assert main([*command, "--skip-boxes"]) == 0
    said = capsys.readouterr().out
    assert "2 images with 1 boxes added" in said
    assert "2 boxes left out:" in said
    assert "annotation 5: bbox" in said
    assert main([*command, "--skip-boxes", "--strict"]) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("names: {0: AS, 2: KD}\ntrain: images/train\nval: images/val\n", "numbers from 0"),
        ("names: [AS, AS]\ntrain: images/train\nval: images/val\n", "a name of its own"),
        ("names: [AS]\ntrain: ../../../etc\nval: images/val\n", r"there is no|leads out"),
        ("names: [AS]\ntrain: /etc\nval: images/val\n", "leads out"),
        ("names: [AS]\ntrain: images/none\nval: images/val\n", "there is no images/none"),
        ("names: [AS\n", "is not YAML"),
    ],
)
def test_a_wrong_data_file_is_named(tmp_path: Path, text: str, message: str) -> None:
    source = yolo(tmp_path / "in")
    (source / "data.yaml").write_text(text)
    with pytest.raises(FeltwatchError, match=message):
        import_labels(source, tmp_path / "d", ImportOptions(format=Format.YOLO))


GOOD = {
    "categories": [{"id": 1, "name": "AS"}],
    "images": [{"id": 1, "file_name": "a.jpg", "width": 9, "height": 9}],
    "annotations": [{"id": 4, "image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]}],
}


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("annotations", {"category_id": 9}, "annotation 4: category_id 9"),
        ("annotations", {"bbox": [1, 2, 3]}, "annotation 4: bbox"),
        ("annotations", {"bbox": [1, 2, 3, "x"]}, "annotation 4: bbox"),
        ("annotations", {"image_id": 8}, "image_id 8: there is no such image"),
        ("images", {"file_name": "../../secret.jpg"}, "image 1: .* must stay inside"),
        ("images", {"width": "wide"}, "image 1: width is 'wide'"),
        ("categories", {"name": None}, "None"),
    ],
)
def test_a_wrong_coco_entry_is_named(
    tmp_path: Path, part: str, value: dict[str, object], message: str
) -> None:
    content = json.loads(json.dumps(GOOD))
    content[part][0] |= value
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "x.json").write_text(json.dumps(content))
    (tmp_path / "in" / "a.jpg").write_bytes(picture_bytes(1))
    if value == {"name": None}:
        import_labels(tmp_path / "in", tmp_path / "d")
        with Dataset.open(tmp_path / "d") as dataset:
            assert dataset.labels == ("None",)
        return
    with pytest.raises(FeltwatchError, match=message):
        import_labels(tmp_path / "in", tmp_path / "d", ImportOptions(strict=True))


def test_a_coco_file_that_was_cut_off_is_named(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "x.json").write_text(json.dumps(GOOD)[:-40])
    with pytest.raises(FeltwatchError, match=r"x\.json: is not JSON"):
        import_labels(tmp_path / "in", tmp_path / "d")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<image id="0" name="/etc/a.jpg" width="9" height="9"/>', "image 0: .* inside"),
        ('<image id="0" name="a.jpg" width="w" height="9"/>', "image 0: width is 'w'"),
        ('<image id="0" name="a.jpg" width="9" height="9"><box label="AS" xtl="1"/></image>',
         "image 0: box 1: ytl is None"),
        ('<image id="0" name="a.jpg" width="9" height="9"><polygon points="1;2"/></image>',
         "polygon 1: points are pairs"),
        ('<track id="0" label="AS"></track>', "lists no images"),
        ('<track id="0" label="AS"><box frame="x"/></track>', "track 0: frame is 'x'"),
        ("<image", "is no XML"),
    ],
)  # fmt: skip
def test_a_wrong_cvat_shape_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "annotations.xml").write_text(f"<annotations>{text}</annotations>")
    with pytest.raises(FeltwatchError, match=message):
        import_labels(tmp_path / "in", tmp_path / "d", ImportOptions(format=Format.CVAT))


def test_xml_that_swells_is_refused(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE a [<!ENTITY x "xxxx">]><annotations><version>&x;</version></annotations>'
    (tmp_path / "annotations.xml").write_text(bomb)
    with pytest.raises(FeltwatchError):
        import_labels(tmp_path, tmp_path / "d", ImportOptions(format=Format.CVAT))


def archive(path: Path, members: dict[str, bytes], link: bool = False) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            if link:
                info.external_attr = (stat.S_IFLNK | 0o777) << 16
            target.writestr(info, data)
    return path


@pytest.mark.parametrize(
    ("members", "link", "message"),
    [
        ({"../evil.txt": b"x"}, False, r"evil\.txt.* must stay inside"),
        ({"/etc/evil.txt": b"x"}, False, "must stay inside"),
        ({"a/../../evil.txt": b"x"}, False, "must stay inside"),
        ({"C:/evil.txt": b"x"}, False, "must be relative"),
        ({"a": b"/etc"}, True, "a is a link"),
        ({"zeros.txt": bytes(40_000_000)}, False, r"zeros\.txt would grow"),
    ],
)
def test_hostile_archives_are_refused(
    tmp_path: Path, members: dict[str, bytes], link: bool, message: str
) -> None:
    path = archive(tmp_path / "x.zip", members, link)
    with pytest.raises(FeltwatchError, match=message):
        import_labels(path, tmp_path / "d")
    assert not list(tmp_path.rglob("*evil*"))


def test_damaged_archives_are_refused(tmp_path: Path) -> None:
    source = yolo(tmp_path / "in")
    members = {p.relative_to(source).as_posix(): p.read_bytes() for p in source.rglob("*.*")}
    path = archive(tmp_path / "x.zip", members)
    whole = path.read_bytes()
    assert import_labels(path, tmp_path / "good").added == 6
    for name, data in {
        "cut.zip": whole[: len(whole) // 2],
        "text.zip": b"no archive",
        "changed.zip": whole[:400] + bytes(b ^ 255 for b in whole[400:900]) + whole[900:],
    }.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(FeltwatchError, match=name):
            import_labels(tmp_path / name, tmp_path / f"d-{name}")
    assert not list(tmp_path.rglob(".unpacked-*"))


def test_an_archive_with_one_folder_is_that_folder(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.zip", {"in/a/b.txt": b"1", "in/c.txt": b"2"})
    with opened(path) as folder:
        assert sorted(p.name for p in folder.iterdir()) == ["a", "c.txt"]


def test_links_that_lead_out_are_refused(tmp_path: Path) -> None:
    secret = tmp_path / "secret.jpg"
    secret.write_bytes(picture_bytes(3))
    (tmp_path / "in" / "images").mkdir(parents=True)
    (tmp_path / "in" / "images" / "a.jpg").symlink_to(secret)
    (tmp_path / "in" / "x.json").write_text(json.dumps(GOOD))
    with pytest.raises(FeltwatchError, match="leads out of"):
        import_labels(tmp_path / "in", tmp_path / "d")


def test_a_broken_sidecar_is_named(tmp_path: Path) -> None:
    with Dataset.create(tmp_path / "d", ("AS",)) as dataset:
        add(dataset, "a.jpg", (Box("AS", 1, 1, 9, 9),))
        export_labels(dataset, tmp_path / "out", Format.COCO)
        expected = contents(dataset)
    path = tmp_path / "out" / "feltwatch.jsonl"
    whole = path.read_text()
    path.write_text(whole[:-30])
    with pytest.raises(FeltwatchError, match=r"feltwatch\.jsonl: line 2"):
        import_labels(tmp_path / "out", tmp_path / "back")
    path.write_text(whole)
    import_labels(tmp_path / "out", tmp_path / "back")
    with Dataset.open(tmp_path / "back") as back:
        assert contents(back) == expected


def test_a_folder_that_could_be_two_formats_needs_a_word(tmp_path: Path) -> None:
    source = yolo(tmp_path / "in")
    (source / "x.json").write_text(json.dumps(GOOD))
    with pytest.raises(FeltwatchError, match="could be yolo or coco"):
        import_labels(source, tmp_path / "d")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FeltwatchError, match="holds no labels that can be read"):
        import_labels(tmp_path / "empty", tmp_path / "d")
    assert import_labels(source, tmp_path / "d", ImportOptions(format=Format.YOLO)).added == 6
