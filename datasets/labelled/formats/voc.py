"""Pascal VOC: one XML file a picture under `Annotations`, splits under `ImageSets/Main`.

Carries labels, boxes, scores, attributes and a turn (both as CVAT writes them, in
`attributes`). Corners are written as they are, without the 1 that the first VOC sets added.
Elements that feltwatch has no place for are kept as attributes that begin with `voc.`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from datasets.labelled.formats.base import (
    Entry,
    Progress,
    entry_name,
    find_picture,
    place_of,
    put_picture,
    told_name,
)
from datasets.labelled.formats.xml_forms import (
    as_tree,
    clean,
    from_tree,
    join_values,
    number,
    parse_whole,
    root_name,
    split_values,
)
from datasets.labelled.manifest import Dataset
from datasets.labelled.records import Box, Picture
from settlement.errors import FeltwatchError

OWN = "voc."
LABEL_FILE = "labelmap.txt"
_SETS = "ImageSets/Main"
_FLAGS = ("pose", "truncated", "difficult", "occluded")
_CORNERS = ("xmin", "ymin", "xmax", "ymax")


def detect(folder: Path) -> Path | None:
    """The first annotation file, None where there is none."""
    place = _annotations(folder)
    first = next(_walk(place), None) if place.is_dir() else None
    return first if first is not None and root_name(first) == "annotation" else None


def _annotations(folder: Path) -> Path:
    own = folder / "Annotations"
    return own if own.is_dir() else folder


def _walk(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders.sort()
        yield from (Path(place) / name for name in sorted(files) if name.endswith(".xml"))


def as_read(box: Box) -> Box:
    """Attributes come back as text."""
    values, attributes = join_values(split_values(box, OWN))
    own = tuple((k, v) for k, v in box.attributes if k.startswith(OWN))
    return Box(box.label, *box.xyxy, box.angle_deg or None, **values, attributes=attributes + own)


def read(folder: Path, file: Path) -> VocReader:
    """The reader of a folder of annotation files."""
    own = _annotations(folder)
    return VocReader(folder, own if file.is_relative_to(own) else file.parent)


@dataclass(frozen=True)
class VocReader:
    """Reads the annotation files in the order of their names."""

    folder: Path
    place: Path

    @property
    def labels(self) -> tuple[str, ...]:
        """Of `labelmap.txt` where there is one, then those of the boxes by name."""
        listed: dict[str, None] = {}
        path = self.folder / LABEL_FILE
        if path.is_file():
            for line in path.read_text(encoding="utf-8").splitlines():
                if line.strip() and not line.startswith("#"):
                    listed[line.rsplit(":", 3)[0].strip()] = None
        found = {
            (told.findtext("name") or "").strip()
            for file in _walk(self.place)
            for told in parse_whole(file).iterfind("object")
        }
        return (*listed, *sorted(found - set(listed) - {""}))

    @property
    def notes(self) -> dict[str, Any]:
        """None; each picture tells its own."""
        return {}

    @property
    def count(self) -> int | None:
        """How many annotation files there are."""
        return sum(1 for _ in _walk(self.place))

    def entries(self) -> Iterator[Entry]:
        """The pictures; raises FeltwatchError naming the file and object."""
        splits = self._splits()
        for file in _walk(self.place):
            stem = file.relative_to(self.place).with_suffix("").as_posix()
            yield self._entry(file, parse_whole(file), splits.get(stem))

    def _splits(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for path in sorted((self.folder / _SETS).glob("*.txt")):
            # Files such as `card_train.txt` repeat a split for one class.
            if path.stem in ("trainval", "default") or "_" in path.stem:
                continue
            for line in path.read_text(encoding="utf-8").splitlines():
                if line.strip():
                    found[line.strip().strip('"')] = path.stem
        return found

    def _entry(self, file: Path, root: Element, split: str | None) -> Entry:
        place = str(file)
        if root.tag != "annotation":
            raise FeltwatchError(f"{place}: <annotation> is due, not <{root.tag}>")
        told = (root.findtext("filename") or "").strip()
        told_name(told, f"{place}: filename")
        near = file.parent.relative_to(self.place).as_posix()
        size = root.find("size")
        width = height = None
        if size is not None:
            width = int(number(size.findtext("width"), "width", place))
            height = int(number(size.findtext("height"), "height", place))
        # In a sub-folder some write the whole name and others only its end.
        names = [told] if near == "." else [told, f"{near}/{told}"]
        found = [find_picture(self.folder, name, (near,), place) for name in names]
        path = next((p for p in found if p is not None), None)
        boxes = tuple(
            _box(o, f"{place}: object {n}") for n, o in enumerate(root.iterfind("object"), 1)
        )
        known = ("filename", "size", "object", "segmented", "folder")
        extra = tuple((OWN + e.tag, as_tree(e)) for e in root if e.tag not in known)
        return Entry(
            entry_name(path, self.folder, place) if path else told,
            path,
            lambda _w, _h: boxes,
            place,
            width,
            height,
            {"split": split} if split else {},
            extra,
        )


def _box(told: Element, place: str) -> Box:
    label = (told.findtext("name") or "").strip()
    bounds = told.find("bndbox")
    if bounds is None:
        raise FeltwatchError(f"{place}: bndbox is missing")
    x0, y0, x1, y1 = (number(bounds.findtext(name), name, place) for name in _CORNERS)
    texts: dict[str, str] = {}
    for one in told.iterfind("attributes/attribute"):
        texts[one.findtext("name") or ""] = one.findtext("value") or ""
    angle = number(texts.pop("rotation", "0"), "rotation", place) or None
    values, attributes = join_values(texts)
    kept = ("name", "bndbox", "attributes")
    for element in told:
        if element.tag not in kept and not _plain(element):
            attributes += ((OWN + element.tag, as_tree(element)),)
    try:
        return Box(label, x0, y0, x1, y1, angle, **values, attributes=attributes)
    except FeltwatchError as error:
        raise place_of(error, place) from error


def _plain(element: Element) -> bool:
    """Whether a flag says nothing, as tools write it for every box."""
    text = (element.text or "").strip()
    return element.tag in _FLAGS and text in ("", "0", "Unspecified")


def write(dataset: Dataset, out: Path, progress: Progress) -> None:
    """Write `JPEGImages`, `Annotations` and `ImageSets/Main`."""
    sets = out / _SETS
    sets.mkdir(parents=True, exist_ok=True)
    for old in sets.glob("*.txt"):
        old.unlink()
    lines = ["# label:color_rgb:parts:actions", *(f"{label}:::" for label in dataset.labels)]
    (out / LABEL_FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")
    total = len(dataset)
    for done, picture in enumerate(dataset.pictures(), start=1):
        name = dataset.export_name(picture)
        put_picture(dataset, picture, out / "JPEGImages" / name)
        stem = name.rpartition(".")[0] or name
        target = out / "Annotations" / f"{stem}.xml"
        target.parent.mkdir(parents=True, exist_ok=True)
        tree = ElementTree(_annotation(name, picture, dataset.boxes(picture.id)))
        indent(tree)
        tree.write(target, encoding="utf-8", xml_declaration=True)
        with (sets / f"{picture.split or 'default'}.txt").open("a", encoding="utf-8") as file:
            file.write(f"{stem}\n")
        progress(done, total)


def _annotation(name: str, picture: Picture, boxes: tuple[Box, ...]) -> Element:
    root = Element("annotation")
    _leaf(root, "folder", "JPEGImages")
    _leaf(root, "filename", name)
    for key, value in picture.attributes:
        if key.startswith(OWN):
            root.append(from_tree(key.removeprefix(OWN), value))
    size = SubElement(root, "size")
    for tag, number_px in (("width", picture.width), ("height", picture.height), ("depth", 3)):
        _leaf(size, tag, str(number_px))
    _leaf(root, "segmented", "0")
    for box in boxes:
        own = SubElement(root, "object")
        _leaf(own, "name", box.label)
        native = {k.removeprefix(OWN): v for k, v in box.attributes if k.startswith(OWN)}
        for flag in _FLAGS:
            native.setdefault(flag, "Unspecified" if flag == "pose" else "0")
        for key, value in native.items():
            own.append(from_tree(key, value))
        bounds = SubElement(own, "bndbox")
        for tag, corner in zip(_CORNERS, box.xyxy, strict=True):
            _leaf(bounds, tag, repr(corner))
        texts = split_values(box, OWN)
        if box.angle_deg:
            texts["rotation"] = repr(box.angle_deg)
        if texts:
            listed = SubElement(own, "attributes")
            for key, text in texts.items():
                one = SubElement(listed, "attribute")
                _leaf(one, "name", key)
                _leaf(one, "value", text)
    return root


def _leaf(parent: Element, tag: str, text: str) -> None:
    SubElement(parent, tag).text = clean(text)
