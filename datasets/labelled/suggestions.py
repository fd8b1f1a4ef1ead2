"""What a model or a second labeller suggests for each image, kept beside the labels.

Suggestions never change labels by themselves: a person accepts or rejects each in review.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from datasets.labelled.diff import TIGHT_IOU, Difference, Found, Kind, compare_boxes
from datasets.labelled.manifest import Dataset
from datasets.labelled.records import Box, Picture, checked_author
from datasets.labelled.rows import PICTURE_COLUMNS, boxes_of, boxes_text, filters, picture_of

_TABLE = """
CREATE TABLE IF NOT EXISTS suggestions (
  picture INTEGER PRIMARY KEY REFERENCES pictures (id) ON DELETE CASCADE,
  by TEXT NOT NULL,
  disagreement REAL NOT NULL,
  boxes TEXT NOT NULL,
  rejected TEXT NOT NULL DEFAULT '[]'
)
"""
_INDEX = """
CREATE INDEX IF NOT EXISTS suggestions_order ON suggestions (disagreement DESC, picture)
"""
_JOINED = "FROM suggestions AS s JOIN pictures AS p ON p.id = s.picture"
_AFTER = "(s.disagreement < ? OR (s.disagreement = ? AND s.picture > ?))"
_BEFORE = "(s.disagreement > ? OR (s.disagreement = ? AND s.picture < ?))"


@dataclass(frozen=True, slots=True)
class Suggested:
    """The boxes that `by` suggests for an image, and the keys of those a person rejected."""

    by: str
    boxes: tuple[Box, ...]
    rejected: frozenset[str]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One change suggested for an image's boxes.

    `own` is the place of the box that it is about among the image's, None for a new one;
    `result` that box as it would be, None where it would be deleted. `key` names the
    suggestion; it stays the same however the image's other boxes change.
    """

    key: str
    kind: Kind
    own: int | None
    result: Box | None
    score: float | None
    badness: float


class Suggestions:
    """The suggestions of a dataset that is open."""

    def __init__(self, dataset: Dataset) -> None:
        """Those kept in the manifest of `dataset`; there may be none yet."""
        self._dataset = dataset

    def __len__(self) -> int:
        """For how many images there are suggestions that differ from the labels."""
        if not self._exist():
            return 0
        query = "SELECT count(*) FROM suggestions WHERE disagreement > 0"
        return int(self._dataset.query(query)[0][0])

    def put(self, id: int, boxes: Sequence[Box], *, by: str, disagreement: float) -> None:
        """Keep the boxes suggested for an image in place of earlier ones.

        What a person rejected of the same source stays rejected.
        """
        checked_author(by)
        with self._dataset.batch():
            self._dataset.query(_TABLE)
            self._dataset.query(_INDEX)
            self._dataset.query(
                "INSERT INTO suggestions (picture, by, disagreement, boxes) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (picture) DO UPDATE SET by = excluded.by, boxes = excluded.boxes, "
                "disagreement = excluded.disagreement",
                (id, by, disagreement, boxes_text(tuple(boxes))),
            )

    def of(self, id: int) -> Suggested | None:
        """What is suggested for an image, None when nothing was."""
        if not self._exist():
            return None
        rows = self._dataset.query(
            "SELECT by, boxes, rejected FROM suggestions WHERE picture = ?", (id,)
        )
        if not rows:
            return None
        by, boxes, rejected = rows[0]
        return Suggested(by, boxes_of(boxes), frozenset(json.loads(rejected)))

    def has(self, id: int) -> bool:
        """Whether what is suggested for an image differs from its labels at the time."""
        return self._exist() and self._place(id) is not None

    def reject(self, id: int, keys: Iterable[str]) -> None:
        """Keep these keys as the rejected ones of an image."""
        if self._exist():
            with self._dataset.batch():
                self._dataset.query(
                    "UPDATE suggestions SET rejected = ? WHERE picture = ?",
                    (json.dumps(sorted(set(keys))), id),
                )

    def page(
        self, at: int | None, limit: int, *, before: bool = False, split: str | None = None,
        confirmed: bool | None = None, label: str | None = None, deal: str | None = None,
        without_boxes: bool = False,
    ) -> list[Picture]:  # fmt: skip
        """Images by disagreement, the most first: those after image `at`, or before it.

        From the start where `at` is None or has no suggestions.
        """
        if not self._exist():
            return []
        where, values = filters(split, confirmed, label, deal, without_boxes)
        place, where_at = self._place(at), ""
        if place is not None:
            where_at = f" AND {_BEFORE if before else _AFTER}"
            values = [*values, place, place, at]  # type: ignore[list-item]
        elif before:
            return []
        order = "s.disagreement, s.picture DESC" if before else "s.disagreement DESC, s.picture"
        columns = ", ".join(f"p.{name}" for name in PICTURE_COLUMNS.split(", "))
        rows = self._dataset.query(
            f"SELECT {columns} {_JOINED} WHERE s.disagreement > 0{where}{where_at} "
            f"ORDER BY {order} LIMIT ?",
            (*values, limit),
        )
        found = [picture_of(row) for row in rows]
        return found[::-1] if before else found

    def count(
        self, after: int | None = None, *, split: str | None = None,
        confirmed: bool | None = None, label: str | None = None, deal: str | None = None,
        without_boxes: bool = False,
    ) -> int:  # fmt: skip
        """How many images `page` would give after image `after`."""
        if not self._exist():
            return 0
        where, values = filters(split, confirmed, label, deal, without_boxes)
        place, where_at = self._place(after), ""
        if place is not None:
            where_at = f" AND {_AFTER}"
            values = [*values, place, place, after]  # type: ignore[list-item]
        query = f"SELECT count(*) {_JOINED} WHERE s.disagreement > 0{where}{where_at}"
        return int(self._dataset.query(query, values)[0][0])

    def _place(self, id: int | None) -> float | None:
        if id is None:
            return None
        query = "SELECT disagreement FROM suggestions WHERE picture = ? AND disagreement > 0"
        rows = self._dataset.query(query, (id,))
        return float(rows[0][0]) if rows else None

    def _exist(self) -> bool:
        query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'suggestions'"
        return bool(self._dataset.query(query))


def disagreement(differences: Iterable[Difference]) -> float:
    """How far two labellings of an image are apart: the badness of all differences together."""
    return sum(one.badness for one in differences)


def keep_suggestions(dataset: Dataset, by: str) -> Found:
    """A callback that stores the second labelling's boxes as suggestions of `by`."""
    suggestions = Suggestions(dataset)

    def keep(picture: Picture, second: Sequence[Box], differences: list[Difference]) -> None:
        suggestions.put(picture.id, second, by=by, disagreement=disagreement(differences))

    return keep


def differing(suggested: Sequence[Box], boxes: Sequence[Box]) -> list[Suggestion]:
    """What of the suggested boxes would change `boxes`, the most certain first.

    Other edges for a turned box are left out, as a suggested box is upright, and boxes without
    an area.

    >>> own = [Box("AS", 0, 0, 10, 20), Box("KD", 50, 0, 60, 20)]
    >>> found = differing([Box("AC", 0, 0, 10, 20, score=0.9)], own)
    >>> [(str(s.kind), s.own, s.result and s.result.label) for s in found]
    [('wrong_label', 0, 'AC'), ('missing', 1, None)]
    """
    # A box may lie there twice: each place is given once.
    places: dict[int, int] = {id(box): place for place, box in enumerate(boxes)}
    solid = [box for box in suggested if box.x0 < box.x1 and box.y0 < box.y1]
    _, differences = compare_boxes(boxes, solid)
    found = []
    for one in differences:
        key = key_of(one)
        turned = one.first is not None and bool(one.first.angle_deg)
        if turned and one.kind is Kind.LOOSE_BOX:
            continue
        own = None if one.first is None else places[id(one.first)]
        score = one.second.score if one.second else None
        found.append(Suggestion(key, one.kind, own, _result(one, turned), score, one.badness))
    return sorted(found, key=lambda s: (-s.badness, s.key))


def key_of(one: Difference) -> str:
    """The name of a suggested change: by the suggested box, or by the box that it deletes."""
    box = one.second or one.first
    assert box is not None
    edges = " ".join(f"{value:.2f}" for value in box.xyxy)
    kind = "keep" if one.second else "delete"
    return hashlib.sha256(f"{kind} {edges} {box.label}".encode()).hexdigest()[:16]


def _result(one: Difference, turned: bool) -> Box | None:
    if one.second is None:
        return None
    if one.first is None:
        return replace(one.second, score=None)
    named = replace(one.first, label=one.second.label, score=None)
    if one.kind is Kind.WRONG_LABEL and (one.iou >= TIGHT_IOU or turned):
        return named
    x0, y0, x1, y1 = one.second.xyxy
    return replace(named, x0=x0, y0=y0, x1=x1, y1=y1)
