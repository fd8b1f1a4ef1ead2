"""What Pascal VOC and CVAT have in common: XML read safely, attributes as text."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Generator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError, tostring

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring, iterparse, parse

from datasets.labelled.formats.base import text_of
from datasets.labelled.formats.shapes import CROWD, SHAPE_NAMES
from datasets.labelled.records import Attributes, Box
from settlement.errors import FeltwatchError

_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def parse_whole(path: Path) -> Element:
    """The root of a small XML file; raises FeltwatchError when it is broken or hostile."""
    try:
        root = parse(path).getroot()
    except (ParseError, DefusedXmlException, LookupError, ValueError) as error:
        raise _wrong(path, error) from error
    assert root is not None
    return root


def parse_stream(path: Path) -> Generator[tuple[str, Element], None, None]:
    """Starts and ends of the elements of an XML file; the caller clears what it has used."""
    try:
        yield from iterparse(path, events=("start", "end"))
    except (ParseError, DefusedXmlException, LookupError, ValueError) as error:
        raise _wrong(path, error) from error


def root_name(path: Path) -> str | None:
    """The name of the root element, None where the file is no XML."""
    try:
        for _, element in iterparse(path, events=("start",)):
            return str(element.tag)
    except (ParseError, DefusedXmlException, LookupError, ValueError):
        return None
    return None


def _wrong(path: Path, error: Exception) -> FeltwatchError:
    reason = " ".join(str(error).split()) or type(error).__name__
    return FeltwatchError(f"{path}: is no XML that can be read ({reason})")


def number(text: str | None, name: str, place: str) -> float:
    """A number written in XML; raises FeltwatchError naming the place."""
    try:
        value = float(text if text is not None else "")
    except ValueError as error:
        raise FeltwatchError(f"{place}: {name} is {text!r}; a number is due") from error
    if not math.isfinite(value):
        raise FeltwatchError(f"{place}: {name} is {text!r}; a number is due")
    return value


def as_tree(element: Element) -> Any:
    """An element as JSON can hold it: its text, or its attributes and children by name."""
    if not len(element) and not element.attrib:
        return (element.text or "").strip()
    tree: dict[str, Any] = {f"@{k}": v for k, v in element.attrib.items()}
    if element.text and element.text.strip():
        tree["#text"] = element.text.strip()
    for child in element:
        tree.setdefault(child.tag, []).append(as_tree(child))
    return tree


def from_tree(tag: str, tree: Any) -> Element:
    """The element that `as_tree` returned as `tree`."""
    own = Element(tag)
    if not isinstance(tree, dict):
        own.text = clean(str(tree))
        return own
    for key, value in tree.items():
        if key.startswith("@"):
            own.set(key[1:], clean(str(value)))
        elif key == "#text":
            own.text = clean(str(value))
        else:
            own.extend(from_tree(key, child) for child in value)
    return own


def fits_element(tag: str, tree: Any) -> bool:
    """Whether an element of that name comes back from XML as `tree`."""
    try:
        return bool(as_tree(fromstring(tostring(from_tree(tag, tree)))) == tree)
    except (ParseError, DefusedXmlException, AttributeError, TypeError, ValueError):
        return False


def fits_attribute(name: str, text: Any) -> bool:
    """Whether an attribute of that name comes back from XML as `text`."""
    try:
        read: Element = fromstring(tostring(Element("a", {name: text})))
    except (ParseError, DefusedXmlException, AttributeError, TypeError, ValueError):
        return False
    return read.attrib == {name: text}


def split_values(box: Box, native: Container[str]) -> dict[str, str]:
    """All of a box but its label and corners as attributes of text: what XML is to carry.

    The attributes that `native` names have a place of their own in the format.
    """
    texts = {
        clean(name): clean(text_of(value))
        for name, value in box.attributes
        if name not in native and name not in SHAPE_NAMES
    }
    for name in ("visible", "score"):
        value = getattr(box, name)
        if value is not None:
            texts[name] = repr(value)
    return texts


def join_values(texts: dict[str, str]) -> tuple[dict[str, float], Attributes]:
    """`visible` and `score` out of attributes of text, and the other attributes."""
    values: dict[str, float] = {}
    for name in ("visible", "score"):
        try:
            value = float(texts.get(name, ""))
        except ValueError:
            continue
        if 0 <= value <= 1:
            values[name] = value
            texts = {k: v for k, v in texts.items() if k != name}
    crowd: dict[str, Any] = {CROWD: True} if texts.get(CROWD) in ("true", "True", "1") else {}
    return values, tuple((texts | crowd).items())


def clean(text: str) -> str:
    """Text without the characters that XML cannot hold, its line ends as XML gives them back."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _UNFIT.sub("\ufffd", text)
