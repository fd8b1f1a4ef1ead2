"""Hostile and odd files: bounded, named in one clear line, or read for what they are."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import pytest

from datasets.labelled.checks.check import Code, check
from datasets.labelled.importing import import_labels
from datasets.labelled.manifest import Box, Dataset, NewPicture
from settlement.errors import FeltwatchError
from tests.datasets.labelled.test_labelled_defects import (
    VOC_BOX,
    coco,
    cvat,
    cvat_image,
    put,
    yolo,
)

LINE = "0 0.5 0.5 0.25 0.5"


def bomb() -> str:
    """A YAML file of a few hundred bytes that stands for 10 to the 9th values."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for n in range(1, 9):
        names = ", ".join([f"*a{n - 1}"] * 10)
        lines.append(f"a{n}: &a{n} [{names}]")
    return "\n".join(lines) + "\n"


def test_a_yaml_bomb_is_refused_in_little_memory(tmp_path: Path) -> None:
    yolo(tmp_path / "in", LINE, bomb())
    code = (
        "import sys, resource\n"
        "resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))\n"
        "from pathlib import Path\n"
        "from datasets.labelled.importing import import_labels\n"
        "from settlement.errors import FeltwatchError\n"
        "try:\n"
        "    import_labels(Path(sys.argv[1]), Path(sys.argv[2]))\n"
        "except FeltwatchError as error:\n"
        "    print(error)\n"
        # Of its own image: ru_maxrss begins with that of the process which started it.
        "status = Path('/proc/self/status').read_text()\n"
        "print(status.split('VmHWM:')[1].split()[0])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "in"), str(tmp_path / "d")],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert re.search(
        r"data.yaml: line \d+, column \d+: aliases \(\*name\) are not read", done.stdout
    )
    assert "unicode string" not in done.stdout
    assert int(done.stdout.split()[-1]) < 600 * 1024


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("names: [AS]\n", "the key 'names' is there twice"),
        ("nc: " + "[" * 5000 + "]" * 5000 + "\n", "nested too deep|is not YAML"),
        ("kpt_shape: [0, 3]\n", "kpt_shape is"),
        ("feltwatch_splits: [a]\n", "feltwatch_splits: folders by split are due"),
    ],
)
def test_a_wrong_data_file_is_named(tmp_path: Path, head: str, message: str) -> None:
    yolo(tmp_path / "in", LINE, head)
    with pytest.raises(FeltwatchError, match=message):
        import_labels(tmp_path / "in", tmp_path / "d")


def test_fifty_thousand_boxes_of_one_image_are_checked_in_seconds(tmp_path: Path) -> None:
    boxes = tuple(
        Box("AS", x := 4.0 * (n % 250), y := 4.0 * (n // 250), x + 9, y + 9) for n in range(50_000)
    )
    with Dataset.create(tmp_path / "d", ("AS",)) as dataset:
        id = dataset.add_picture(
            NewPicture("a.jpg", 1010, 810, sha256="", deal="one", split="train"),
            boxes=(*boxes, boxes[7]),
        )
        assert id == 1
        start = time.process_time()
        found = {f.code: f for f in check(dataset, read_files=False)}
        # Every box was compared with every other of its image.
        assert time.process_time() - start < 30
    assert found[Code.BOX_TWICE].examples == ["a.jpg: box 50001 AS"]


@pytest.mark.parametrize("value", ["inf", "nan", "-5", "1e30", "wide", ""])
@pytest.mark.parametrize("form", ["cvat", "voc", "coco"])
def test_a_size_that_is_none_is_named(tmp_path: Path, value: str, form: str) -> None:
    put(tmp_path / "in", "a.jpg")
    if form == "cvat":
        text = cvat(cvat_image("a.jpg").replace('width="96"', f'width="{value}"'))
        (tmp_path / "in" / "annotations.xml").write_text(text)
    elif form == "voc":
        size = f"<size><width>{value}</width><height>9</height></size>"
        text = f"<annotation><filename>a.jpg</filename>{size}</annotation>"
        (tmp_path / "in" / "a.xml").write_text(text)
    else:
        path = coco(tmp_path / "in", "x.json", "a.jpg", [1, 2, 3, 4])
        content = json.loads(path.read_text())
        content["images"][0]["width"] = value
        path.write_text(json.dumps(content))
    with pytest.raises(FeltwatchError, match=r"width is .*; a whole number of px"):
        import_labels(tmp_path / "in", tmp_path / "d")


def test_a_number_that_is_none_is_named(tmp_path: Path) -> None:
    put(tmp_path / "in", "a.jpg")
    text = cvat(cvat_image("a.jpg").replace('xtl="1"', 'xtl="inf"'))
    (tmp_path / "in" / "annotations.xml").write_text(text)
    with pytest.raises(FeltwatchError, match="xtl is 'inf'; a number is due"):
        import_labels(tmp_path / "in", tmp_path / "d")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize("form", ["yolo", "coco", "cvat", "labelme"])
def test_byte_order_marks_and_utf_16_are_read(tmp_path: Path, encoding: str, form: str) -> None:
    folder = tmp_path / "in"
    if form == "yolo":
        yolo(folder, LINE)
        files = [folder / "data.yaml", folder / "labels" / "train" / "a.txt"]
    else:
        put(folder, "a.jpg")
        files = [folder / ("x.xml" if form == "cvat" else "x.json")]
        if form == "coco":
            coco(folder, "x.json", "a.jpg", [1, 2, 3, 4])
        elif form == "cvat":
            files[0].write_text(cvat(cvat_image("a.jpg")))
        else:
            shape = {"label": "AS", "points": [[1, 2], [9, 8]], "shape_type": "rectangle"}
            files[0].write_text(json.dumps({"shapes": [shape], "imagePath": "a.jpg"}))
    for path in files:
        path.write_text(path.read_text(), encoding=encoding)
    assert import_labels(folder, tmp_path / "d").boxes == 1


def test_text_of_another_encoding_is_named(tmp_path: Path) -> None:
    yolo(tmp_path / "in", LINE)
    (tmp_path / "in" / "data.yaml").write_bytes("train: été\nnames: [AS]\n".encode("latin-1"))
    with pytest.raises(FeltwatchError, match=r"data\.yaml: byte 7 is not UTF-8; save the file"):
        import_labels(tmp_path / "in", tmp_path / "d")


@pytest.mark.parametrize("linked", ["images/train/a.jpg", "labels/train/a.txt"])
def test_yolo_follows_no_link_out_of_the_folder(tmp_path: Path, linked: str) -> None:
    yolo(tmp_path / "in", LINE)
    path = tmp_path / "in" / linked
    secret = tmp_path / "secret"
    path.rename(secret)
    path.symlink_to(secret)
    with pytest.raises(FeltwatchError, match=r"leads out of .*; copy the file it links to"):
        import_labels(tmp_path / "in", tmp_path / "d")


def test_a_link_within_the_folder_is_followed(tmp_path: Path) -> None:
    yolo(tmp_path / "in", LINE)
    path = tmp_path / "in" / "images" / "train" / "a.jpg"
    kept = path.rename(tmp_path / "in" / "kept.jpg")
    path.symlink_to(kept)
    assert import_labels(tmp_path / "in", tmp_path / "d").added == 1


def members(folder: Path) -> dict[str, bytes]:
    """The files of a folder, with what macOS puts beside them."""
    own = {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*.*")}
    junk = {f"__MACOSX/._{Path(name).name}": b"\0\5\x16\7" for name in own}
    return own | junk | {".DS_Store": b"\0\0\0\1Bud1", "labels/train/._a.txt": b"\0\5"}


@pytest.mark.parametrize("suffix", ["zip", "tar", "tar.gz", "tgz", "tar.xz"])
def test_archives_of_macos_are_read(tmp_path: Path, suffix: str) -> None:
    yolo(tmp_path / "in", LINE)
    path = tmp_path / f"set.{suffix}"
    if suffix == "zip":
        with zipfile.ZipFile(path, "w") as target:
            for name, data in members(tmp_path / "in").items():
                target.writestr(name, data)
    else:
        mode = {"tar": "w", "tar.xz": "w:xz"}.get(suffix, "w:gz")
        with tarfile.open(path, mode) as packed:  # type: ignore[call-overload]
            for name, data in members(tmp_path / "in").items():
                info = tarfile.TarInfo(f"./{name}")
                info.size = len(data)
                packed.addfile(info, io.BytesIO(data))
    summary = import_labels(path, tmp_path / "d")
    assert (summary.added, summary.boxes, summary.skipped) == (1, 1, 0)
    assert not list(tmp_path.rglob(".unpacked-*"))


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("../evil.txt", tarfile.REGTYPE, "must stay inside"),
        ("/etc/evil.txt", tarfile.REGTYPE, "must stay inside|must be relative"),
        ("evil", tarfile.SYMTYPE, "is a link"),
        ("evil", tarfile.LNKTYPE, "is a link"),
        ("evil", tarfile.CHRTYPE, "is neither a file nor a folder"),
    ],
)
def test_hostile_tars_are_refused(tmp_path: Path, name: str, kind: bytes, message: str) -> None:
    path = tmp_path / "set.tar"
    with tarfile.open(path, "w") as packed:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, "/etc/passwd"
        packed.addfile(info)
    with pytest.raises(FeltwatchError, match=message):
        import_labels(path, tmp_path / "d")
    assert not list(tmp_path.rglob("*evil*"))


def test_a_tar_that_swells_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "set.tar.gz"
    with tarfile.open(path, "w:gz") as packed:
        info = tarfile.TarInfo("zeros.txt")
        info.size = 400 << 20

        class Zeros(io.RawIOBase):
            def read(self, size: int = -1) -> bytes:
                return bytes(size)

        packed.addfile(info, Zeros())
    with pytest.raises(FeltwatchError, match="would grow more than 200 times"):
        import_labels(path, tmp_path / "d")


@pytest.mark.parametrize(
    ("there", "named"), [("A.JPG", "a.jpg"), ("a.jpg", "A.jpg"), ("Sub/a.Jpg", "sub/A.jpg")]
)
def test_names_are_found_in_any_case(tmp_path: Path, there: str, named: str) -> None:
    put(tmp_path / "in" / "Images", there)
    coco(tmp_path / "in", "x.JSON", named, [1, 2, 3, 4])
    summary = import_labels(tmp_path / "in", tmp_path / "d")
    assert (summary.added, summary.missing) == (1, 0)


def test_label_files_are_found_in_any_case(tmp_path: Path) -> None:
    yolo(tmp_path / "in", LINE)
    folder = tmp_path / "in"
    (folder / "labels" / "train" / "a.txt").rename(folder / "labels" / "train" / "A.TXT")
    (folder / "data.yaml").rename(folder / "Data.YAML")
    assert import_labels(folder, tmp_path / "d").boxes == 1
    (folder / "Annotations").mkdir()
    put(tmp_path / "voc" / "jpegimages", "A.JPG")
    (tmp_path / "voc" / "annotations").mkdir()
    text = f"<annotation><filename>a.jpg</filename><object><name>AS</name>{VOC_BOX}</object>"
    (tmp_path / "voc" / "annotations" / "A.XML").write_text(text + "</annotation>")
    summary = import_labels(tmp_path / "voc", tmp_path / "d2")
    assert (summary.boxes, summary.missing) == (1, 0)


def test_two_names_that_differ_in_case_only_stay_apart(tmp_path: Path) -> None:
    put(tmp_path / "in", "a.jpg", "A.jpg")
    coco(tmp_path / "in", "x.json", "A.JPG", [1, 2, 3, 4])
    with pytest.raises(FeltwatchError, match=r"A\.JPG could be A\.jpg or a\.jpg; rename"):
        import_labels(tmp_path / "in", tmp_path / "d")
