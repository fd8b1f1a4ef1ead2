"""CVAT for images 1.1 and for video 1.1: XML files, one a task or subset, read as a stream.

Carries labels, boxes, their turn, scores, attributes as text, polygons and masks. Other shapes
come in as the box about them; what feltwatch has no place for is kept as attributes that begin
with `cvat.` and written back. Tracks of the form for video are read by `cvat_tracks.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from datasets.labelled.formats.base import (
    Bad,
    Entry,
    Progress,
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
from datasets.labelled.formats.cvat_tracks import Tracks
from datasets.labelled.formats.shapes import (
    Shape,
    bounds,
    inside_mask,
    mask_bounds,
    mask_of,
    shape_of,
)
from datasets.labelled.formats.xml_forms import (
    as_tree,
    clean,
    fits_attribute,
    fits_element,
    from_tree,
    join_values,
    number,
    parse_stream,
    root_name,
    split_values,
)
from datasets.labelled.manifest import Dataset
from datasets.labelled.records import Attributes, Box, Picture
from datasets.labelled.source_files import files_with
from settlement.errors import FeltwatchError

OWN = "cvat."
FILE = "annotations.xml"
NO_SUBSET = "default"
_SHAPES = ("polygon", "polyline", "points", "mask", "ellipse", "cuboid", "skeleton")
_OUTLINES = ("polygon", "mask")
_CORNERS = ("xtl", "ytl", "xbr", "ybr")
_PLAIN = {"occluded": "0", "z_order": "0", "source": "manual", "outside": "0", "keyframe": "0"}
"""What CVAT or others write where there is nothing to say."""

_BOX_KEYS = (
    "label", "rotation", "points", "rle", "left", "top", "width", "height", "frame", *_CORNERS,
)  # fmt: skip
_IMAGE_KEYS = ("id", "name", "width", "height", "subset")


def detect(folder: Path) -> Path | None:
    """The first annotation file, None where there is none."""
    return next(iter(_files(folder)), None)


def claims(file: Path) -> bool:
    """Whether the file is one of CVAT."""
    return file.suffix.lower() == ".xml" and root_name(file) == "annotations"


def _files(folder: Path) -> list[Path]:
    places = (folder, folder / "annotations")
    return [path for place in places for path in files_with(place, ".xml") if claims(path)]


def as_read(box: Box) -> Box:
    """Attributes come back as text, a polygon or mask with the box about it."""
    native = _native(box)
    values, attributes = join_values(split_values(box, native))
    own = tuple((k, v) for k, v in native.items() if _PLAIN.get(k.removeprefix(OWN)) != v)
    corners, angle, shape = box.xyxy, box.angle_deg or None, _outline(box)
    outlines: Attributes = ()
    if shape is not None:
        found = mask_bounds(shape.mask) if shape.mask else bounds(shape.polygons[0])
        corners, angle = found or corners, None
        outlines = shape.attributes(corners)
    return Box(box.label, *corners, angle, **values, attributes=attributes + own + outlines)


def _outline(box: Box) -> Shape | None:
    """The polygon or mask that a box is written as, None for a plain one.

    Only what says all of the box: several rings, and the outline of a turned box, stay boxes.
    """
    shape = shape_of(box)
    if shape is None or box.angle_deg or shape.keypoints:
        return None
    if shape.mask and not shape.polygons:
        return shape if mask_bounds(shape.mask) else None
    return shape if len(shape.polygons) == 1 and not shape.mask else None


def read(folder: Path, file: Path, alone: bool = False) -> CvatReader:
    """The reader of all annotation files of a folder, or of one that was named."""
    return CvatReader(folder, (file,) if alone else tuple(_files(folder)))


@dataclass(frozen=True)
class CvatReader:
    """Reads the images in the order of the files.

    `times` gives the time in seconds, as decimal text, of frames that were cut from a video.
    """

    folder: Path
    files: tuple[Path, ...]
    times: dict[int, str] = field(default_factory=dict)

    @property
    def labels(self) -> tuple[str, ...]:
        """As the heads of the files list them, then those of the shapes."""
        names: dict[str, None] = {}
        for file in self.files:
            meta = _meta_of(file)
            for label in () if meta is None else meta.iter("label"):
                names[(label.findtext("name") or "").strip()] = None
        return tuple(name for name in names if name)

    @property
    def notes(self) -> dict[str, Any]:
        """The first file's head: labels with their colours and attributes, and the task."""
        metas = (_meta_of(file) for file in self.files)
        meta = next((meta for meta in metas if meta is not None), None)
        return {} if meta is None else {"cvat": as_tree(meta)}

    @property
    def count(self) -> int | None:
        """How many images there are, None where there are tracks."""
        found = 0
        for file in self.files:
            for event, element in parse_stream(file):
                if event == "start" and element.tag == "track":
                    return None
                if event == "start":
                    found += element.tag == "image"
                else:
                    element.clear()
        return found

    def entries(self) -> Iterator[Entry | Bad]:
        """The images, wrong ones with their shape."""
        for file in self.files:
            # datumaro and others write a file a subset, with nothing in it that says so.
            split = split_name(file.stem)
            tracks = Tracks(file)
            root: Element | None = None
            for event, element in parse_stream(file):
                if root is None:
                    root = element
                if event == "end" and element.tag in ("image", "meta", "track"):
                    if element.tag == "image":
                        place = f"{file}: image {element.get('id')}"
                        yield attempt(partial(self._entry, element, place, split), place)
                    elif element.tag == "track":
                        tracks.add(element, _box)
                    else:
                        tracks.read_head(element)
                    # Else every image would stay in memory as a child of the root.
                    root.clear()
            yield from tracks.entries(self.folder, split, self.times)

    def frames(self) -> set[int]:
        """Numbers of the video's frames that carry tracks."""
        found: set[int] = set()
        for file in self.files:
            tracks = Tracks(file)
            for event, element in parse_stream(file):
                if event == "end" and element.tag == "meta":
                    tracks.read_head(element)
                if event == "end" and element.tag == "track":
                    tracks.add(element, _box)
            found |= tracks.frames()
        return found

    def _entry(self, element: Element, place: str, split: str | None) -> Entry:
        name = checked_name(element.get("name") or "", place)
        width = whole_px(element.get("width"), "width", place)
        height = whole_px(element.get("height"), "height", place)
        split = element.get("subset") or split
        split = None if split in (None, NO_SUBSET) else split_name(split) or split
        path = find_picture(self.folder, name, (f"images/{split}",) if split else (), place)
        drawn = [shape for shape in element if _is_drawn(shape)]
        boxes = boxes_read(
            partial(_box, shape, f"{place}: {shape.tag} {n}", (width, height))
            for n, shape in enumerate(drawn, start=1)
        )
        tags = [{other.tag: as_tree(other)} for other in element if not _is_drawn(other)]
        extra: Attributes = tuple(
            (OWN + k, v) for k, v in element.attrib.items() if k not in _IMAGE_KEYS
        )
        if tags:
            extra += ((OWN + "tags", tags),)
        found = entry_name(path, self.folder, place) if path else name
        if split and path and path.is_relative_to(self.folder / "images" / split):
            found = name
        return Entry(
            found,
            path,
            boxes,
            place,
            width,
            height,
            {"split": split} if split else {},
            extra,
        )


def _is_drawn(element: Element) -> bool:
    return element.tag == "box" or element.tag in _SHAPES


def _meta_of(file: Path) -> Element | None:
    with closing(parse_stream(file)) as stream:
        for event, element in stream:
            if event == "end" and element.tag == "meta":
                return element
            if element.tag in ("image", "track"):
                return None
    return None


def _box(element: Element, place: str, size: tuple[int, int], label: str | None = None) -> Box:
    """A shape of an image `size` px; `label` is that of its track."""
    texts = {a.get("name") or "": a.text or "" for a in element.iterfind("attribute")}
    own: Attributes = ()
    shape = Shape()
    if element.tag == "box":
        x0, y0, x1, y1 = (number(element.get(name), name, place) for name in _CORNERS)
    else:
        x0, y0, x1, y1 = _bounds(element, place)
        if element.tag == "polygon":
            shape = Shape(polygons=[_points(element, place)])
        elif element.tag == "mask":
            shape = Shape(mask=_mask(element, size, place))
            x0, y0, x1, y1 = mask_bounds(shape.mask or {}) or (x0, y0, x1, y1)
        else:
            own = ((OWN + "shape", element.tag), (OWN + "told", as_tree(element)))
    angle = number(element.get("rotation", "0"), "rotation", place) or None
    if element.tag == "box" or element.tag in _OUTLINES:
        own += tuple(
            (OWN + k, v)
            for k, v in element.attrib.items()
            if k not in _BOX_KEYS and _PLAIN.get(k) != v
        )
    values, attributes = join_values(texts)
    kept = attributes + own + shape.attributes((x0, y0, x1, y1))
    try:
        return Box(
            label or element.get("label") or "", x0, y0, x1, y1, angle, **values, attributes=kept
        )
    except FeltwatchError as error:
        raise place_of(error, place) from error


def _mask(element: Element, size: tuple[int, int], place: str) -> dict[str, Any]:
    """CVAT's run lengths, row by row within the mask's box, as COCO's of the whole image."""
    left, top, w, h = (
        whole_px(element.get(k), k, place) for k in ("left", "top", "width", "height")
    )  # fmt: skip
    width, height = max(size[0], left + w), max(size[1], top + h)
    try:
        counts = [int(n) for n in (element.get("rle") or "").split(",")]
        if width * height > 2**28:
            raise ValueError(f"a mask of {width} x {height} px")
        rows = inside_mask({"size": [w, h], "counts": counts}).T
    except ValueError as error:
        raise FeltwatchError(f"{place}: rle: {error}") from error
    whole = np.zeros((height, width), np.bool_)
    whole[top : top + h, left : left + w] = rows
    return mask_of(whole)


def _points(element: Element, place: str) -> list[list[float]]:
    listed = [element.get("points"), *(p.get("points") for p in element.iterfind("points"))]
    pairs = [pair.split(",") for text in listed if text for pair in text.split(";")]
    if any(len(pair) != 2 for pair in pairs):
        raise FeltwatchError(f"{place}: points are pairs x,y with ; between them")
    return [[number(x, "points", place), number(y, "points", place)] for x, y in pairs]


def _bounds(element: Element, place: str) -> list[float]:
    """The box about a shape that is none, px."""
    if element.tag == "mask":
        left, top, w, h = (
            number(element.get(k), k, place) for k in ("left", "top", "width", "height")
        )
        return [left, top, left + w, top + h]
    if element.tag == "ellipse":
        x, y, rx, ry = (number(element.get(k), k, place) for k in ("cx", "cy", "rx", "ry"))
        return [x - rx, y - ry, x + rx, y + ry]
    if element.tag == "cuboid":
        corners = [k for k in element.attrib if k[:2] in ("xt", "xb", "yt", "yb")]
        xs = [number(element.get(k), k, place) for k in corners if k[0] == "x"]
        ys = [number(element.get(k), k, place) for k in corners if k[0] == "y"]
    else:
        points = _points(element, place)
        xs, ys = [x for x, _ in points], [y for _, y in points]
    if not xs or not ys:
        raise FeltwatchError(f"{place}: has no points")
    return [min(xs), min(ys), max(xs), max(ys)]


def write(dataset: Dataset, out: Path, progress: Progress) -> None:
    """Write `images` and `annotations.xml`; boxes with all digits."""
    total = len(dataset)
    has_splits = bool(set(dataset.splits()) - {None})
    part = out / f"{FILE}.part"
    out.mkdir(parents=True, exist_ok=True)
    with part.open("wb") as file:
        file.write(b'<?xml version="1.0" encoding="utf-8"?>\n<annotations>\n')
        file.write(b"  <version>1.1</version>\n")
        file.write(_text(_meta(dataset)))
        for done, picture in enumerate(dataset.pictures(), start=1):
            put_picture(dataset, picture, out / "images" / picture.file)
            file.write(_text(_image(done - 1, picture, dataset.boxes(picture.id), has_splits)))
            progress(done, total)
        file.write(b"</annotations>\n")
    part.replace(out / FILE)


def _text(element: Element) -> bytes:
    indent(element, level=1)
    text: bytes = tostring(element, encoding="utf-8", xml_declaration=False)
    return b"  " + text.rstrip() + b"\n"


def _meta(dataset: Dataset) -> Element:
    """A task, or where there are splits a project with a task for each, as CVAT exports it."""
    meta = Element("meta")
    splits = dataset.splits()
    whole = SubElement(meta, "project" if set(splits) - {None} else "task")
    SubElement(whole, "name").text = clean(dataset.folder.name)
    if whole.tag == "project":
        tasks = SubElement(whole, "tasks")
        for split, count in splits.items():
            _task(SubElement(tasks, "task"), clean(f"{dataset.folder.name} {split or ''}"), count)
            SubElement(tasks[-1], "subset").text = split or NO_SUBSET
        SubElement(whole, "subsets").text = "\n".join(split or NO_SUBSET for split in splits)
    else:
        _task(whole, None, len(dataset))
    listed = SubElement(whole, "labels")
    colours = _label_colours(dataset.note("cvat"))
    for label in dataset.labels:
        own = SubElement(listed, "label")
        SubElement(own, "name").text = label
        if colour := colours.get(label):
            SubElement(own, "color").text = colour
        SubElement(own, "type").text = "any"
        attributes = SubElement(own, "attributes")
        for name in sorted(dataset.attribute_names(label)):
            if name.startswith(OWN):
                continue
            one = SubElement(attributes, "attribute")
            for tag, text in (
                ("name", clean(name)),
                ("mutable", "True"),
                ("input_type", "text"),
                ("default_value", ""),
                ("values", ""),
            ):
                SubElement(one, tag).text = text
    return meta


def _task(task: Element, name: str | None, size: int) -> None:
    fields = (("name", name), ("size", str(size)), ("mode", "annotation"), ("overlap", "0"))
    for tag, value in fields:
        if value is not None:
            SubElement(task, tag).text = value


def _label_colours(note: Any) -> dict[str, str]:
    """The colours of labels out of the head of an imported file."""
    found: dict[str, str] = {}
    waiting = [note]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if "name" in one and "color" in one:
                found[str(one["name"][0])] = str(one["color"][0])
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
    return found


def _image(number_: int, picture: Picture, boxes: tuple[Box, ...], has_splits: bool) -> Element:
    native = {k.removeprefix(OWN): v for k, v in picture.attributes if k.startswith(OWN)}
    tags = native.pop("tags", None)
    attributes = {"id": str(number_), "name": picture.file, "width": str(picture.width)}
    attributes |= {"height": str(picture.height)}
    attributes |= {"subset": picture.split or NO_SUBSET} if has_splits else {}
    attributes |= {k: v for k, v in native.items() if k not in _IMAGE_KEYS and fits_attribute(k, v)}
    image = Element("image", attributes)
    for box in boxes:
        image.append(_shape(box))
    for tag in tags if isinstance(tags, list) else ():
        for name, tree in tag.items() if isinstance(tag, dict) else ():
            if fits_element(name, tree):
                image.append(from_tree(name, tree))
    return image


def _shape(box: Box) -> Element:
    shape = _as_it_came(box)
    if shape is not None:
        shape.set("label", box.label)
        for old in shape.findall("attribute"):
            shape.remove(old)
        return _with_texts(shape, box)
    native = {k.removeprefix(OWN): v for k, v in _native(box).items()}
    outline = _outline(box)
    if outline is not None:
        return _with_texts(_drawn(outline, box.label, native), box)
    plain = {k: v for k, v in _PLAIN.items() if k in ("occluded", "source", "z_order")}
    values = {"label": box.label} | plain | native
    values |= {k: repr(v) for k, v in zip(_CORNERS, box.xyxy, strict=True)}
    if box.angle_deg:
        values["rotation"] = repr(box.angle_deg)
    return _with_texts(Element("box", values), box)


def _as_it_came(box: Box) -> Element | None:
    """The shape that a box was read from, None for another box or where the box was moved."""
    own = dict(box.attributes)
    tag, tree = own.get(OWN + "shape"), own.get(OWN + "told")
    if tag not in _SHAPES or not fits_element(tag, tree):
        return None
    shape = from_tree(tag, tree)
    try:
        found = _bounds(shape, box.label)
    except FeltwatchError:
        return None
    same = all(abs(a - b) < 1e-6 for a, b in zip(found, box.xyxy, strict=True))
    return shape if same else None


def _native(box: Box) -> dict[str, Any]:
    """The attributes that have a place of their own, those of a box or the shape it was."""
    own = {k: v for k, v in box.attributes if k.startswith(OWN)}
    if _as_it_came(box) is not None:
        return {OWN + k: own[OWN + k] for k in ("shape", "told")}
    return {
        name: text
        for name, text in own.items()
        if (key := name.removeprefix(OWN)) not in _BOX_KEYS and fits_attribute(key, text)
    }


def _with_texts(shape: Element, box: Box) -> Element:
    for name, text in split_values(box, _native(box)).items():
        SubElement(shape, "attribute", {"name": name}).text = text
    return shape


def _drawn(shape: Shape, label: str, native: dict[str, str]) -> Element:
    """The polygon or mask of an outline."""
    attributes = {"label": label, "source": "manual", "occluded": "0", "z_order": "0"}
    attributes |= native
    if shape.mask is None:
        points = ";".join(f"{_digits(x)},{_digits(y)}" for x, y in shape.polygons[0])
        return Element("polygon", attributes | {"points": points})
    inside = inside_mask(shape.mask)
    x0, y0, x1, y1 = (int(v) for v in mask_bounds(shape.mask) or (0, 0, 0, 0))
    runs = mask_of(inside[y0:y1, x0:x1].T)["counts"]
    place = {"left": str(x0), "top": str(y0), "width": str(x1 - x0), "height": str(y1 - y0)}
    return Element("mask", attributes | {"rle": ", ".join(map(str, runs))} | place)


def _digits(value: float) -> str:
    """All digits of a number, without the `.0` of a whole one."""
    return repr(float(value)).removesuffix(".0")
