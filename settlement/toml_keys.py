"""The key that stands twice in a text of TOML, which tomllib does not name."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from typing import Any

_TWICE = re.compile(r"Cannot (?:overwrite a value|declare .+ twice)|Duplicate inline table key")
_LINE = re.compile(r"\(at line (\d+),")
_INLINE = re.compile(r"Duplicate inline table key '(.+)' \(at")
_PART = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+)"""
_KEY = rf"({_PART}(?:\s*\.\s*{_PART})*)"
_HEADER = re.compile(rf"\s*\[\[?\s*{_KEY}\s*\]\]?\s*(?:#.*)?$")
_ASSIGNED = re.compile(rf"\s*{_KEY}\s*=")


def twice_in_toml(text: str, error: tomllib.TOMLDecodeError) -> tuple[int, str] | None:
    """The line, from 1, and the key that stands twice; None where the error is another one.

    The key has the way to it, with list numbers from 0.

    >>> text = "[[seats]]\\nseat = 1\\nseat = 2\\n"
    >>> try:
    ...     tomllib.loads(text)
    ... except tomllib.TOMLDecodeError as error:
    ...     twice_in_toml(text, error)
    (3, 'seats.0.seat')
    """
    if not _TWICE.search(str(error)):
        return None
    lines = text.replace("\r\n", "\n").split("\n")
    found = _LINE.search(str(error))
    last = int(found[1]) if found else len(lines)
    inline = _INLINE.search(str(error))
    if inline:
        return last, inline[1]
    # The error is found at the end of a value, which may be some lines below its key.
    for at in range(last - 1, -1, -1):
        line = lines[at]
        stated = _HEADER.match(line) or _ASSIGNED.match(line)
        before = _data(lines[:at]) if stated else None
        if stated and before is not None:
            above = [] if _HEADER.match(line) else _header(lines[:at])
            return at + 1, _way([*above, *_parts(stated[1])], before)
    return None


def _data(lines: Sequence[str]) -> dict[str, Any] | None:
    """The data of the first lines of a text; None where they end within a value."""
    try:
        return tomllib.loads("\n".join(lines))
    except tomllib.TOMLDecodeError:
        return None


def _header(lines: Sequence[str]) -> list[str]:
    """The parts of the last header; none where no header stands."""
    for at in range(len(lines) - 1, -1, -1):
        header = _HEADER.match(lines[at])
        # A line within an array may look like a header.
        if header and _data(lines[:at]) is not None:
            return _parts(header[1])
    return []


def _parts(key: str) -> list[str]:
    parts = []
    inner: Any = tomllib.loads(f"{key} = 0")
    while isinstance(inner, dict):
        ((part, inner),) = inner.items()
        parts.append(part)
    return parts


def _way(parts: Sequence[str], data: Any) -> str:
    """The key, with the number of the last item of each list on the way."""
    way: list[str] = []
    for part in parts[:-1]:
        way.append(part)
        data = data.get(part) if isinstance(data, dict) else None
        if isinstance(data, list) and data:
            way.append(str(len(data) - 1))
            data = data[-1]
    return ".".join([*way, parts[-1]])
