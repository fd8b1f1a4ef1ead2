"""What the forms in JSON have in common: entries read as a stream, values checked."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ijson

from datasets.labelled.source_files import as_utf8, read_text
from settlement.errors import FeltwatchError


def json_items(file: Path, prefix: str) -> Iterator[Any]:
    """The values at a prefix of a JSON file, one by one; raises FeltwatchError where broken."""
    try:
        with file.open("rb") as stream:
            yield from ijson.items(as_utf8(stream, file), prefix, use_float=True)
    except (ijson.JSONError, UnicodeDecodeError) as error:
        raise FeltwatchError(f"{file}: is not JSON ({' '.join(str(error).split())})") from error


def read_json(file: Path) -> Any:
    """A small JSON file; raises FeltwatchError where broken."""
    try:
        return json.loads(read_text(file))
    except (ValueError, RecursionError) as error:
        raise FeltwatchError(f"{file}: is not JSON ({' '.join(str(error).split())})") from error


def numbers(values: Any, name: str, place: str, count: int | None = None) -> list[float]:
    """A list of finite numbers, `count` of them where given; raises FeltwatchError."""
    try:
        found = [float(v) for v in values]
    except (TypeError, ValueError):
        found = [math.nan]
    if not all(map(math.isfinite, found)) or (count is not None and len(found) != count):
        raise FeltwatchError(f"{place}: {name}: {count or 'a list of'} numbers are due")
    return found


def pairs(values: Any, name: str, place: str) -> list[list[float]]:
    """Points of a flat list x, y, x, y; raises FeltwatchError."""
    flat = numbers(values, name, place)
    if not flat or len(flat) % 2:
        raise FeltwatchError(f"{place}: {name}: numbers in pairs x, y are due")
    return [flat[at : at + 2] for at in range(0, len(flat), 2)]
