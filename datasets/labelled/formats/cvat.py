"""CVAT for images 1.1: `annotations.xml` with all pictures, read and written as a stream.

Carries labels, boxes, their turn, scores and attributes, the attributes as text. Polygons
and other shapes come in as the box about them; what feltwatch has no place for is kept as
attributes that begin with `cvat.` and written back.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

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
    parse_stream,
    root_name,
    split_values,
)
from datasets.labelled.manifest import Dataset
from datasets.labelled.records import Attributes, Box, Picture
from settlement.errors import FeltwatchError

OWN = "cvat."
FILE = "annotations.xml"
_SHAPES = ("polygon", "polyline", "points", "mask", "ellipse", "cuboid", "skeleton")
_CORNERS = ("xtl", "ytl", "xbr", "ybr")
_PLAIN = {"occluded": "0", "z_order": "0", "source": "manual", "outside": "0", "keyframe": "0"}
"""What CVAT or others write where there is nothing to say."""

_IMAGE_KEYS = ("id", "name", "width", "height", "subset")


def detect(folder: Path) -> Path | None:
    """The annotation file, None where there is none."""
    for path in (folder / FILE, *sorted(folder.glob("*.xml"))):
        if path.is_file() and root_name(path) == "annotations":
            return path
    return None


def as_read(box: Box) -> Box:
    """Attributes come back as text."""
    values, attributes = join_values(split_values(box, OWN))
    own = tuple(
        (k, v)
        for k, v in box.attributes
        if k.startswith(OWN) and _PLAIN.get(k.removeprefix(OWN)) != v
    )
    return Box(
        box.label, *box.xyxy, box.angle_deg or None, **values, attributes=attributes + own
    )  # fmt: skip


def read(folder: Path, file: Path) -> CvatReader:
    """The reader of an annotation file."""
    return CvatReader(folder, file)


@dataclass(frozen=True)
class CvatReader:
    """Reads the pictures in the order of the file."""

    folder: Path
    file: Path

    @property
    def labels(self) -> tuple[str, ...]:
        """As the file's head lists them."""
        meta = self._meta()
        names = [] if meta is None else [label.findtext("name") for label in meta.iter("label")]
        return tuple(dict.fromkeys(name.strip() for name in names if name))

    @property
    def notes(self) -> dict[str, Any]:
        """The file's head: labels with their colours and attributes, and the task."""
        meta = self._meta()
        return {} if meta is None else {"cvat": as_tree(meta)}

    @property
    def count(self) -> int | None:
        """How many pictures there are."""
        found = 0
        for event, element in parse_stream(self.file):
            if event == "start":
                found += element.tag == "image"
            else:
                element.clear()
        return found

    def _meta(self) -> Element | None:
        with closing(parse_stream(self.file)) as stream:
            for event, element in stream:
                if event == "end" and element.tag == "meta":
                    return element
                if element.tag in ("image", "track"):
                    return None
        return None

    def entries(self) -> Iterator[Entry]:
        """The pictures; raises FeltwatchError naming the picture and shape."""
        root: Element | None = None
        for event, element in parse_stream(self.file):
            if root is None:
                root = element
            if event == "start" and element.tag == "track":
                raise FeltwatchError(
                    f"{self.file}: is of the form CVAT for video; export it as CVAT for images"
                )
            if event == "end" and element.tag in ("image", "meta"):
                if element.tag == "image":
                    yield self._entry(element)
                # Else every picture would stay in memory as a child of the root.
                root.clear()

    def _entry(self, told: Element) -> Entry:
        place = f"{self.file}: image {told.get('id')}"
        name = told_name(told.get("name") or "", place)
        width = int(number(told.get("width"), "width", place))
        height = int(number(told.get("height"), "height", place))
        split = told.get("subset")
        path = find_picture(self.folder, name, (f"images/{split}",) if split else (), place)
        boxes: list[Box] = []
        tags: list[Any] = []
        for shape in told:
            if shape.tag == "box" or shape.tag in _SHAPES:
                boxes.append(_box(shape, f"{place}: {shape.tag} {len(boxes) + 1}"))
            else:
                tags.append({shape.tag: as_tree(shape)})
        extra: Attributes = tuple(
            (OWN + k, v) for k, v in told.attrib.items() if k not in _IMAGE_KEYS
        )
        if tags:
            extra += ((OWN + "tags", tags),)
        return Entry(
            entry_name(path, self.folder, place) if path else name,
            path,
            lambda _w, _h: tuple(boxes),
            place,
            width,
            height,
            {"split": split} if split else {},
            extra,
        )


def _box(told: Element, place: str) -> Box:
    texts = {a.get("name") or "": a.text or "" for a in told.iterfind("attribute")}
    own: Attributes = ()
    if told.tag == "box":
        x0, y0, x1, y1 = (number(told.get(name), name, place) for name in _CORNERS)
    else:
        x0, y0, x1, y1 = _bounds(told, place)
        own = ((OWN + "shape", told.tag), (OWN + "told", as_tree(told)))
    angle = number(told.get("rotation", "0"), "rotation", place) or None
    known = ("label", "rotation", *_CORNERS)
    if told.tag == "box":
        own += tuple(
            (OWN + k, v) for k, v in told.attrib.items() if k not in known and _PLAIN.get(k) != v
        )
    values, attributes = join_values(texts)
    label, kept = told.get("label") or "", attributes + own
    try:
        return Box(label, x0, y0, x1, y1, angle, **values, attributes=kept)
    except FeltwatchError as error:
        raise place_of(error, place) from error


def _bounds(told: Element, place: str) -> list[float]:
    """The box about a shape that is none, px."""
    if told.tag == "mask":
        left, top, w, h = (
            number(told.get(k), k, place) for k in ("left", "top", "width", "height")
        )
        return [left, top, left + w, top + h]
    if told.tag == "ellipse":
        x, y, rx, ry = (number(told.get(k), k, place) for k in ("cx", "cy", "rx", "ry"))
        return [x - rx, y - ry, x + rx, y + ry]
    if told.tag == "cuboid":
        corners = [k for k in told.attrib if k[:2] in ("xt", "xb", "yt", "yb")]
        xs = [number(told.get(k), k, place) for k in corners if k[0] == "x"]
        ys = [number(told.get(k), k, place) for k in corners if k[0] == "y"]
    else:
        listed = [told.get("points"), *(p.get("points") for p in told.iterfind("points"))]
        pairs = [pair.split(",") for text in listed if text for pair in text.split(";")]
        if any(len(pair) != 2 for pair in pairs):
            raise FeltwatchError(f"{place}: points are pairs x,y with ; between them")
        xs = [number(x, "points", place) for x, _ in pairs]
        ys = [number(y, "points", place) for _, y in pairs]
    if not xs or not ys:
        raise FeltwatchError(f"{place}: has no points")
    return [min(xs), min(ys), max(xs), max(ys)]


def write(dataset: Dataset, out: Path, progress: Progress) -> None:
    """Write `images` and `annotations.xml`; boxes with all digits."""
    total = len(dataset)
    part = out / f"{FILE}.part"
    out.mkdir(parents=True, exist_ok=True)
    with part.open("wb") as file:
        file.write(b'<?xml version="1.0" encoding="utf-8"?>\n<annotations>\n')
        file.write(b"  <version>1.1</version>\n")
        file.write(_text(_meta(dataset)))
        for done, picture in enumerate(dataset.pictures(), start=1):
            put_picture(dataset, picture, out / "images" / picture.file)
            file.write(_text(_image(done - 1, picture, dataset.boxes(picture.id))))
            progress(done, total)
        file.write(b"</annotations>\n")
    part.replace(out / FILE)


def _text(element: Element) -> bytes:
    indent(element, level=1)
    text: bytes = tostring(element, encoding="utf-8", xml_declaration=False)
    return b"  " + text.rstrip() + b"\n"


def _meta(dataset: Dataset) -> Element:
    meta = Element("meta")
    task = SubElement(meta, "task")
    for tag, value in (
        ("name", dataset.folder.name),
        ("size", str(len(dataset))),
        ("mode", "annotation"),
        ("overlap", "0"),
    ):
        SubElement(task, tag).text = clean(value)
    listed = SubElement(task, "labels")
    colours = _told_labels(dataset.note("cvat"))
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


def _told_labels(told: Any) -> dict[str, str]:
    """The colours of labels out of the head of an imported file."""
    found: dict[str, str] = {}
    waiting = [told]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if "name" in one and "color" in one:
                found[str(one["name"][0])] = str(one["color"][0])
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
    return found


def _image(number_: int, picture: Picture, boxes: tuple[Box, ...]) -> Element:
    native = {k.removeprefix(OWN): v for k, v in picture.attributes if k.startswith(OWN)}
    tags = native.pop("tags", [])
    told = {"id": str(number_), "name": picture.file, "width": str(picture.width)}
    told |= {"height": str(picture.height)} | {k: clean(str(v)) for k, v in native.items()}
    image = Element("image", told)
    for box in boxes:
        image.append(_shape(box))
    for tag in tags:
        for name, tree in tag.items():
            image.append(from_tree(name, tree))
    return image


def _shape(box: Box) -> Element:
    native = {k.removeprefix(OWN): v for k, v in box.attributes if k.startswith(OWN)}
    tag, told = native.pop("shape", None), native.pop("told", None)
    if tag is not None and told is not None:
        shape = from_tree(tag, told)
        if all(abs(a - b) < 1e-6 for a, b in zip(_bounds(shape, box.label), box.xyxy, strict=True)):
            shape.set("label", box.label)
            for old in shape.findall("attribute"):
                shape.remove(old)
            return _with_texts(shape, box)
    plain = {k: v for k, v in _PLAIN.items() if k in ("occluded", "source", "z_order")}
    values = {"label": box.label} | plain | {k: clean(str(v)) for k, v in native.items()}
    values |= {k: repr(v) for k, v in zip(_CORNERS, box.xyxy, strict=True)}
    if box.angle_deg:
        values["rotation"] = repr(box.angle_deg)
    return _with_texts(Element("box", values), box)


def _with_texts(shape: Element, box: Box) -> Element:
    for name, text in split_values(box, OWN).items():
        SubElement(shape, "attribute", {"name": name}).text = text
    return shape
