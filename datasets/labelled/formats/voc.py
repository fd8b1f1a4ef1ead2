"""Pascal VOC: one XML file an image under `Annotations`, splits under `ImageSets/Main`.

Carries labels, boxes, scores, attributes and a turn (both as CVAT writes them, in
`attributes`); outlines have no place in it. Roboflow's layout (a folder a split, the files
beside their images) and a VOCdevkit with its years are read too. Corners are written as
they are, without the 1 that the first VOC sets added. Elements that feltwatch has no place
for are kept as attributes that begin with `voc.`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from datasets.labelled.formats.base import (
    Bad,
    Entry,
    Progress,
    Reader,
    attempt,
    boxes_read,
    checked_name,
    entry_name,
    find_picture,
    place_of,
    put_picture,
    split_name,
    whole_px,
)
from datasets.labelled.formats.other_forms import other_form
from datasets.labelled.formats.xml_forms import (
    as_tree,
    clean,
    fits_element,
    from_tree,
    join_values,
    number,
    parse_whole,
    root_name,
    split_values,
)
from datasets.labelled.manifest import Dataset
from datasets.labelled.records import Attributes, Box, Picture
from datasets.labelled.source_files import check_inside, find_folder, read_text, walk
from settlement.errors import FeltwatchError

OWN = "voc."
LABEL_FILE = "labelmap.txt"
_SETS = "ImageSets/Main"
_FLAGS = ("pose", "truncated", "difficult", "occluded")
_CORNERS = ("xmin", "ymin", "xmax", "ymax")
_IMAGE_TAGS = ("filename", "size", "object", "segmented", "folder")
_BOX_TAGS = ("name", "bndbox", "attributes")


def detect(folder: Path) -> Path | None:
    """The first annotation file, None where there is none."""
    for root in _roots(folder):
        first = next(_walk(_annotations(root)), None)
        if first is not None and claims(first):
            return first
    return None


def claims(file: Path) -> bool:
    """Whether the file is one of VOC."""
    is_ours = file.suffix.lower() == ".xml" and root_name(file) == "annotation"
    return is_ours and other_form(file) is None  # LabelMe's XML has the same root


def _roots(folder: Path) -> list[Path]:
    """The folder itself, or the years of a VOCdevkit below it."""
    if find_folder(folder, "Annotations"):
        return [folder]
    for place in (folder, find_folder(folder, "VOCdevkit")):
        if place is None:
            continue
        own = [p for p in sorted(place.iterdir()) if p.is_dir() and find_folder(p, "Annotations")]
        if own:
            return own
    return [folder]


def _annotations(folder: Path) -> Path:
    return find_folder(folder, "Annotations") or folder


def _walk(folder: Path) -> Iterator[Path]:
    for path in walk(folder, (".xml",)):
        yield check_inside(path, folder, str(path))


def as_read(box: Box) -> Box:
    """Attributes come back as text."""
    native = _native(box.attributes, _BOX_TAGS)
    values, attributes = join_values(split_values(box, native))
    own = tuple((k, v) for k, v in native.items() if not _plain(k.removeprefix(OWN), v))
    return Box(box.label, *box.xyxy, box.angle_deg or None, **values, attributes=attributes + own)


def read(folder: Path, file: Path, alone: bool = False) -> VocReader:
    """The reader of a folder of annotation files, or of one of them."""
    return VocReader(folder, tuple(_roots(folder)), file if alone else None)


@dataclass(frozen=True)
class VocReader(Reader):
    """Reads the annotation files in the order of their names; `only` where one was named."""

    folder: Path
    roots: tuple[Path, ...]
    only: Path | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """Of `labelmap.txt` where there is one, then those of the boxes by name."""
        listed: dict[str, None] = {}
        for root in self.roots:
            path = root / LABEL_FILE
            for line in read_text(path).splitlines() if path.is_file() else ():
                if line.strip() and not line.startswith("#"):
                    listed[line.rsplit(":", 3)[0].strip()] = None
        found: set[str] = set()
        for _, file in self._files():
            try:
                whole = parse_whole(file)
            except FeltwatchError:
                continue
            found |= {(thing.findtext("name") or "").strip() for thing in whole.iterfind("object")}
        return (*listed, *sorted(found - set(listed) - {""}))

    @property
    def count(self) -> int | None:
        """How many annotation files there are."""
        return sum(1 for _ in self._files())

    def _files(self) -> Iterator[tuple[Path, Path]]:
        """Each annotation file with its root."""
        for root in self.roots:
            place = _annotations(root)
            if self.only is None:
                yield from ((root, file) for file in _walk(place))
            elif self.only.is_relative_to(place):
                yield root, self.only

    def entries(self) -> Iterator[Entry | Bad]:
        """The images, wrong ones with the file and object."""
        splits = {root: _splits(root) for root in self.roots}
        for root, file in self._files():
            inner = file.relative_to(_annotations(root))
            stem = inner.with_suffix("").as_posix()
            # Roboflow puts each split into a folder; a name in ImageSets decides before that.
            split = splits[root].get(stem) or split_name(inner.parts[0] if inner.parts[1:] else "")
            yield attempt(partial(self._entry, root, file, split), str(file))

    def _entry(self, root: Path, file: Path, split: str | None) -> Entry:
        place, whole = str(file), parse_whole(file)
        if whole.tag != "annotation":
            raise FeltwatchError(f"{place}: <annotation> is due, not <{whole.tag}>")
        filename = (whole.findtext("filename") or "").strip()
        checked_name(filename, f"{place}: filename")
        near = file.parent.relative_to(_annotations(root)).as_posix()
        size = whole.find("size")
        width = height = None
        if size is not None:
            width = whole_px(size.findtext("width"), "width", place)
            height = whole_px(size.findtext("height"), "height", place)
        # In a sub-folder some write the whole name and others only its end.
        names = [filename] if near == "." else [f"{near}/{filename}", filename]
        found = [find_picture(root, name, (near,), place) for name in names]
        path = next((p for p in found if p is not None), None)
        boxes = boxes_read(
            partial(_box, o, f"{place}: object {n}")
            for n, o in enumerate(whole.iterfind("object"), 1)
        )
        extra = tuple((OWN + e.tag, as_tree(e)) for e in whole if e.tag not in _IMAGE_TAGS)
        name = entry_name(path, root, place) if path else filename
        return Entry(
            f"{root.name}/{name}" if len(self.roots) > 1 else name,
            path,
            boxes,
            place,
            width,
            height,
            {"split": split} if split else {},
            extra,
        )


def _splits(root: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in sorted((root / _SETS).glob("*.txt")):
        # Files such as `card_train.txt` repeat a split for one class.
        if path.stem in ("trainval", "default") or "_" in path.stem:
            continue
        for line in read_text(path).splitlines():
            if line.strip():
                found[line.strip().strip('"')] = path.stem
    return found


def _box(thing: Element, place: str) -> Box:
    label = (thing.findtext("name") or "").strip()
    bounds = thing.find("bndbox")
    if bounds is None:
        raise FeltwatchError(f"{place}: bndbox is missing")
    x0, y0, x1, y1 = (number(bounds.findtext(name), name, place) for name in _CORNERS)
    texts: dict[str, str] = {}
    for one in thing.iterfind("attributes/attribute"):
        texts[one.findtext("name") or ""] = one.findtext("value") or ""
    angle = number(texts.pop("rotation", "0"), "rotation", place) or None
    values, attributes = join_values(texts)
    for element in thing:
        tree = as_tree(element)
        if element.tag not in _BOX_TAGS and not _plain(element.tag, tree):
            attributes += ((OWN + element.tag, tree),)
    try:
        return Box(label, x0, y0, x1, y1, angle, **values, attributes=attributes)
    except FeltwatchError as error:
        raise place_of(error, place) from error


def _plain(tag: str, tree: Any) -> bool:
    """Whether a flag says nothing, as tools write it for every box."""
    return tag in _FLAGS and tree in ("", "0", "Unspecified")


def _native(attributes: Attributes, taken: tuple[str, ...]) -> dict[str, Any]:
    """The attributes that are written as elements of their own, which are not among `taken`."""
    return {
        name: tree
        for name, tree in attributes
        if name.startswith(OWN)
        and (tag := name.removeprefix(OWN)) not in taken
        and fits_element(tag, tree)
    }


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
    for key, value in _native(picture.attributes, _IMAGE_TAGS).items():
        root.append(from_tree(key.removeprefix(OWN), value))
    size = SubElement(root, "size")
    for tag, number_px in (("width", picture.width), ("height", picture.height), ("depth", 3)):
        _leaf(size, tag, str(number_px))
    _leaf(root, "segmented", "0")
    for box in boxes:
        own = SubElement(root, "object")
        _leaf(own, "name", box.label)
        flags = {OWN + flag: "Unspecified" if flag == "pose" else "0" for flag in _FLAGS}
        native = _native(box.attributes, _BOX_TAGS)
        for key, value in (flags | native).items():
            own.append(from_tree(key.removeprefix(OWN), value))
        bounds = SubElement(own, "bndbox")
        for tag, corner in zip(_CORNERS, box.xyxy, strict=True):
            _leaf(bounds, tag, repr(corner))
        texts = split_values(box, native)
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
