"""The sidecar of an export: all that the format has no field for, so that it comes back.

`feltwatch.jsonl` lies beside the labels. Its first line holds the labels and notes, each
other line one image with its boxes, as they were when exported. When the folder is
imported again, a box that is still where the export put it gets everything back that the
format does not carry; one that was changed, added or renamed in between stays as it is now.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from datasets.labelled.formats.base import FormatModule
from datasets.labelled.formats.shapes import SHAPE_NAMES
from datasets.labelled.manifest import Dataset
from datasets.labelled.records import Box, Picture
from datasets.labelled.rows import boxes_of, boxes_text
from settlement.errors import FeltwatchError

SIDECAR = "feltwatch.jsonl"
FORM = 1
SAME_PX = 0.011
"""CVAT and others write hundredths of a px; within that a box has not been moved."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The sidecar's entry of one image."""

    picture: dict[str, Any]
    boxes: tuple[Box, ...]


class Sidecar:
    """A sidecar that is open, by the names that its export gave the images."""

    def __init__(self, path: Path | None, db: sqlite3.Connection, head: dict[str, Any]) -> None:
        """Images in a table of `db`, `head` its first line."""
        self._path, self._db = path, db
        self.is_there = bool(head)
        self.labels: tuple[str, ...] = tuple(head.get("labels", ()))
        self.notes: dict[str, Any] = head.get("notes", {})
        self.format: str | None = head.get("format")

    def kept(self, name: str) -> Kept | None:
        """The entry of the image of that name, None without one."""
        row = self._db.execute("SELECT line FROM kept WHERE name = ?", (name,)).fetchone()
        if row is None:
            return None
        entry = json.loads(row[0])
        try:
            return Kept(dict(entry["picture"]), boxes_of(json.dumps(entry["boxes"])))
        except (KeyError, TypeError, ValueError, FeltwatchError) as error:
            raise FeltwatchError(
                f"{self._path}: image {name}: not in order ({error}); "
                f"remove {SIDECAR} to import without it"
            ) from error


@contextmanager
def open_sidecar(folder: Path) -> Iterator[Sidecar]:
    """The sidecar of a folder, empty where there is none; raises FeltwatchError if broken."""
    path = folder / SIDECAR
    with tempfile.TemporaryDirectory() as temporary:
        # On disk, so that memory does not grow with the images.
        db = sqlite3.connect(Path(temporary) / "kept.sqlite", isolation_level=None)
        try:
            db.execute("PRAGMA journal_mode = OFF")
            db.execute("PRAGMA synchronous = OFF")
            db.execute("CREATE TABLE kept (name TEXT PRIMARY KEY, line TEXT) WITHOUT ROWID")
            head = _fill(path, db) if path.is_file() else {}
            yield Sidecar(path, db, head)
        finally:
            db.close()


def _fill(path: Path, db: sqlite3.Connection) -> dict[str, Any]:
    head: dict[str, Any] = {}
    number = 0
    try:
        with path.open(encoding="utf-8") as file:
            db.execute("BEGIN")
            for number, line in enumerate(file, start=1):
                entry = json.loads(line)
                if number == 1:
                    head = entry
                    if entry["feltwatch"] != FORM:
                        raise FeltwatchError(f"{path}: is of form {entry['feltwatch']}, not {FORM}")
                else:
                    db.execute("INSERT OR REPLACE INTO kept VALUES (?, ?)", (entry["name"], line))
            db.execute("COMMIT")
    except (KeyError, TypeError, ValueError) as error:
        raise FeltwatchError(
            f"{path}: line {number}: not in order ({error}); remove the file to import without it"
        ) from error
    return head


def write_sidecar(
    dataset: Dataset, out: Path, names: Iterator[tuple[Picture, str]], format: str
) -> None:
    """Write the sidecar whole or not at all; `names` gives each image its exported name."""
    part = out / f"{SIDECAR}.part"
    with part.open("w", encoding="utf-8") as file:
        head: dict[str, Any] = {"feltwatch": FORM, "format": format, "labels": dataset.labels}
        head["notes"] = dataset.notes()
        file.write(json.dumps(head, ensure_ascii=False) + "\n")
        for picture, name in names:
            values = asdict(picture) | {"attributes": dict(picture.attributes)}
            for own in ("id", "revision"):
                del values[own]
            boxes = boxes_text(dataset.boxes(picture.id))
            line = json.dumps({"name": name, "picture": values}, ensure_ascii=False)
            file.write(f'{line[:-1]}, "boxes": {boxes}}}\n')
    part.replace(out / SIDECAR)


def restored(
    read: Sequence[Box], kept: Sequence[Box], form: FormatModule
) -> tuple[tuple[Box, ...], bool]:
    """Boxes read from a format with what was kept of them, and whether nothing had changed."""
    left = [(box, form.as_read(box)) for box in kept]
    out: list[Box] = []
    changed = False
    for box in read:
        for at, (whole, seen) in enumerate(left):
            if _same(box, seen):
                out.append(whole)
                del left[at]
                break
        else:
            out.append(box)
            changed = True
    if changed or left:
        return tuple(out), False
    return tuple(kept), True


def _same(a: Box, b: Box) -> bool:
    turned = abs((a.angle_deg or 0.0) - (b.angle_deg or 0.0)) % 360
    return (
        a.label == b.label
        and all(abs(u - v) <= SAME_PX for u, v in zip(a.xyxy, b.xyxy, strict=True))
        and min(turned, 360 - turned) <= SAME_PX
        and a.visible == b.visible
        and a.score == b.score
        and _alike(dict(a.attributes), dict(b.attributes))
    )


def _alike(a: Any, b: Any) -> bool:
    """Whether values are the same, the numbers of outlines within SAME_PX."""
    if a == b:
        return True
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(
            a[k] == b[k] or (k in SHAPE_NAMES and _alike(a[k], b[k])) for k in a
        )
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(_alike(u, v) for u, v in zip(a, b, strict=True))
    return isinstance(a, float) and isinstance(b, int | float) and abs(a - b) <= SAME_PX
