"""Rows of the manifest's tables as records, and filters as SQL."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from datasets.labelled.records import Box, Change, Picture, attributes_of

PICTURE_COLUMNS = (
    "id, file, width, height, sha256, phash, source, time_s, deck, camera, shift, deal, split, "
    "labelled_by, confirmed_by, confirmed_at, revision, attributes"
)
BOX_COLUMNS = "label, x0, y0, x1, y1, angle_deg, visible, score, attributes"
CHANGE_COLUMNS = "picture, revision, by, at, what, note, before"


def filters(
    split: str | None,
    confirmed: bool | None,
    label: str | None,
    deal: str | None,
    without_boxes: bool,
) -> tuple[str, list[str]]:
    """The end of a WHERE clause on `pictures AS p`, and its values."""
    parts, values = [""], []
    for column, wanted in (("split", split), ("deal", deal)):
        if wanted == "":
            parts.append(f"p.{column} IS NULL")
        elif wanted is not None:
            parts.append(f"p.{column} = ?")
            values.append(wanted)
    if confirmed is not None:
        parts.append(f"p.confirmed_by IS {'NOT ' if confirmed else ''}NULL")
    if label is not None:
        parts.append("EXISTS (SELECT 1 FROM boxes AS b WHERE b.label = ? AND b.picture = p.id)")
        values.append(label)
    if without_boxes:
        parts.append("NOT EXISTS (SELECT 1 FROM boxes AS b WHERE b.picture = p.id)")
    return " AND ".join(parts), values


def picture_of(row: Sequence[Any]) -> Picture:
    """A row of `PICTURE_COLUMNS`."""
    values = dict(zip(PICTURE_COLUMNS.split(", "), row, strict=True))
    values["phash"] = None if values["phash"] is None else values["phash"] % 2**64
    values["attributes"] = attributes_of(values["attributes"])
    return Picture(**values)


def box_of(row: Sequence[Any]) -> Box:
    """A row of `BOX_COLUMNS`."""
    values = list(row)
    values[-1] = attributes_of(values[-1])
    return Box(*values)


def change_of(row: Sequence[Any]) -> Change:
    """A row of `CHANGE_COLUMNS`."""
    values = list(row)
    values[-1] = None if values[-1] is None else boxes_of(values[-1])
    return Change(*values)


def boxes_text(boxes: Sequence[Box]) -> str:
    """Boxes as JSON text, for the history."""
    return json.dumps([asdict(b) for b in boxes], ensure_ascii=False)


def boxes_of(text: str) -> tuple[Box, ...]:
    """The boxes of a JSON text."""
    boxes = json.loads(text)
    return tuple(Box(**b | {"attributes": tuple(map(tuple, b["attributes"]))}) for b in boxes)


def signed(value: int | None) -> int | None:
    """A 64 bit number as SQLite keeps it."""
    return value if value is None or value < 2**63 else value - 2**64
