"""A labelled dataset on disk: a folder `pictures` and the manifest `dataset.sqlite`.

One process may import while people review in others: every step is one transaction, a
change made on an old revision is refused, and nothing is held in memory but one page.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path

from datasets.labelled.pictures import PictureFile
from datasets.labelled.queries import Queries
from datasets.labelled.records import (
    Box,
    Change,
    NewPicture,
    Picture,
    attributes_json,
    checked_author,
    checked_file,
    checked_time,
)
from datasets.labelled.rows import (
    BOX_COLUMNS,
    CHANGE_COLUMNS,
    PICTURE_COLUMNS,
    box_of,
    boxes_text,
    change_of,
    filters,
    picture_of,
    signed,
)
from datasets.labelled.store import MANIFEST, PICTURES
from settlement.errors import FeltwatchError

__all__ = ["MANIFEST", "PICTURES", "Box", "Change", "Conflict", "Dataset", "NewPicture", "Picture"]

PAGE = 500
"""Images read from the manifest at a time."""

DETAILS = ("source", "time_s", "deck", "camera", "shift", "deal")
"""What `set_details` can change."""


class Conflict(FeltwatchError):  # noqa: N818
    """An image was changed by someone else since it was read; `revision` is the current one."""

    def __init__(self, message: str, revision: int) -> None:
        """An error with that `message`; `revision` is the image's current one."""
        super().__init__(message)
        self.revision = revision


class Dataset(Queries):
    """A dataset that is open; safe to use from several threads and processes at once.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "felt"
    >>> with Dataset.create(folder, ["AS", "KD"]) as dataset:
    ...     new = NewPicture("a.jpg", 640, 480, labelled_by="model:5f3a")
    ...     one = dataset.add_picture(new, [Box("AS", 10, 10, 60, 90, score=0.4)])
    ...     now = dataset.set_boxes(one, [Box("KD", 10, 10, 60, 90)], by="person:ann", revision=1)
    ...     dataset.confirm(one, by="person:ann", revision=now)
    ...     dataset.set_boxes(one, [], by="person:bob", revision=1)
    Traceback (most recent call last):
        ...
    datasets.labelled.manifest.Conflict: a.jpg: was changed by person:ann meanwhile; load it ...
    """

    def __len__(self) -> int:
        return self.count()

    def count(
        self,
        *,
        after_id: int = 0,
        split: str | None = None,
        confirmed: bool | None = None,
        label: str | None = None,
        deal: str | None = None,
        without_boxes: bool = False,
    ) -> int:
        """How many images `pictures` would give."""
        where, values = filters(split, confirmed, label, deal, without_boxes)
        query = f"SELECT count(*) FROM pictures AS p WHERE p.id > ?{where}"
        return int(self._db.execute(query, (after_id, *values)).fetchone()[0])

    def pictures(
        self,
        *,
        after_id: int = 0,
        limit: int | None = None,
        split: str | None = None,
        confirmed: bool | None = None,
        label: str | None = None,
        deal: str | None = None,
        without_boxes: bool = False,
    ) -> Iterator[Picture]:
        """The images in the order they were added, read page by page.

        `split`: of that split, those of no split for the empty text.
        `label`: with at least one such box. `without_boxes`: only those with no box.
        The dataset may be changed meanwhile.
        """
        where, values = filters(split, confirmed, label, deal, without_boxes)
        query = (
            f"SELECT {PICTURE_COLUMNS} FROM pictures AS p WHERE p.id > ?{where} "
            "ORDER BY p.id LIMIT ?"
        )
        left = limit
        while left is None or left > 0:
            wanted = PAGE if left is None else min(PAGE, left)
            rows = self._db.execute(query, (after_id, *values, wanted)).fetchall()
            for row in rows:
                yield picture_of(row)
            if len(rows) < wanted:
                return
            after_id = rows[-1][0]
            left = None if left is None else left - len(rows)

    def picture(self, id: int) -> Picture:
        """One image; raises FeltwatchError when there is none of that number."""
        row = self._db.execute(
            f"SELECT {PICTURE_COLUMNS} FROM pictures WHERE id = ?", (id,)
        ).fetchone()
        if row is None:
            raise FeltwatchError(f"{self.folder}: there is no image {id}")
        return picture_of(row)

    def find(self, file: str) -> Picture | None:
        """The image of that name, None when there is none."""
        row = self._db.execute(
            f"SELECT {PICTURE_COLUMNS} FROM pictures WHERE file = ?", (file,)
        ).fetchone()
        return None if row is None else picture_of(row)

    def with_content(self, sha256: str) -> Picture | None:
        """The first image whose file has that SHA-256, None when there is none."""
        query = f"SELECT {PICTURE_COLUMNS} FROM pictures WHERE sha256 = ? ORDER BY id LIMIT 1"
        row = self._db.execute(query, (sha256,)).fetchone() if sha256 else None
        return None if row is None else picture_of(row)

    def path(self, picture: Picture) -> Path:
        """Where the image lies."""
        return self.folder / PICTURES / picture.file

    def boxes(self, id: int) -> tuple[Box, ...]:
        """The boxes of an image, in order; none for an image that is not there."""
        rows = self._db.execute(
            f"SELECT {BOX_COLUMNS} FROM boxes WHERE picture = ? ORDER BY place", (id,)
        )
        return tuple(box_of(row) for row in rows)

    def thumb(self, id: int) -> bytes | None:
        """The small grey image (`pictures.THUMB_PX` squared bytes), None without one."""
        row = self._db.execute("SELECT gray FROM thumbs WHERE picture = ?", (id,)).fetchone()
        return None if row is None else bytes(row[0])

    def history(self, id: int) -> tuple[Change, ...]:
        """Every change of an image, the first one first."""
        rows = self._db.execute(
            f"SELECT {CHANGE_COLUMNS} FROM changes WHERE picture = ? ORDER BY id",
            (id,),
        )
        return tuple(change_of(row) for row in rows)

    # Writing

    def add_picture(
        self, new: NewPicture, boxes: Sequence[Box] = (), thumb: bytes | None = None
    ) -> int:
        """Add an image with its boxes in one step; gives back its number.

        The image's file is put at `folder / PICTURES / new.file` by the caller beforehand;
        `thumb` is the small grey image of `thumb`. Raises FeltwatchError when there is one of
        that name already.
        """
        checked_file(new.file)
        by = checked_author(new.labelled_by) if new.labelled_by else "import:unknown"
        if new.width < 1 or new.height < 1:
            raise FeltwatchError(
                f"{new.file}: width and height must be 1 px or more, got {new.width} x {new.height}"
            )
        values = {one.name: getattr(new, one.name) for one in fields(NewPicture)}
        values["phash"] = signed(new.phash)
        values["time_s"] = checked_time(new.time_s)
        values["attributes"] = attributes_json(new.attributes)
        with self.batch():
            if self.find(new.file) is not None:
                raise FeltwatchError(f"{self.folder}: holds an image {new.file} already")
            id = self._db.execute(
                f"INSERT INTO pictures ({', '.join(values)}) "
                f"VALUES ({', '.join('?' * len(values))})",
                tuple(values.values()),
            ).lastrowid
            assert id is not None
            if thumb is not None:
                self._db.execute("INSERT INTO thumbs VALUES (?, ?)", (id, thumb))
            self._write_boxes(id, boxes)
            self._log(id, 1, by, "added")
        return id

    def set_boxes(self, id: int, boxes: Sequence[Box], *, by: str, revision: int) -> int:
        """Put `boxes` in place of those there; gives back the new revision.

        The image counts as labelled by `by` and is no longer confirmed. Nothing changes
        when the boxes are the same. Raises Conflict when `revision` is not the one now.
        """
        checked_author(by)
        with self.batch():
            self._expect(id, revision)
            before = self.boxes(id)
            if before == tuple(boxes):
                return revision
            self._db.execute("DELETE FROM boxes WHERE picture = ?", (id,))
            self._write_boxes(id, boxes)
            self._db.execute(
                "UPDATE pictures SET labelled_by = ?, confirmed_by = NULL, confirmed_at = NULL "
                "WHERE id = ?",
                (by, id),
            )
            return self._next(id, revision, by, "boxes", before=before)

    def confirm(self, id: int, *, by: str, revision: int) -> int:
        """A person says that the boxes are right; gives back the new revision.

        Raises Conflict when the image was changed since `revision`.
        """
        checked_author(by)
        with self.batch():
            self._expect(id, revision)
            self._db.execute(
                "UPDATE pictures SET confirmed_by = ?, confirmed_at = ? WHERE id = ?",
                (by, _now(), id),
            )
            return self._next(id, revision, by, "confirmed")

    def unconfirm(self, id: int, *, by: str, revision: int) -> int:
        """Take a confirmation back; gives back the new revision. Raises Conflict."""
        checked_author(by)
        with self.batch():
            self._expect(id, revision)
            self._db.execute(
                "UPDATE pictures SET confirmed_by = NULL, confirmed_at = NULL WHERE id = ?", (id,)
            )
            return self._next(id, revision, by, "unconfirmed")

    def rename_labels(self, names: Mapping[str, str | None], *, by: str) -> None:
        """Give labels their new names, None drops their boxes, all in one step.

        An image keeps its confirmation unless boxes of it are dropped; its revision grows.
        """
        checked_author(by)
        marks = ", ".join("?" * len(names))
        query = f"SELECT DISTINCT picture FROM boxes WHERE label IN ({marks}) ORDER BY picture"
        with self.batch():
            for (id,) in self._db.execute(query, tuple(names)).fetchall():
                picture, before = self.picture(id), self.boxes(id)
                now = [
                    replace(box, label=new)
                    for box in before
                    if (new := names.get(box.label, box.label)) is not None
                ]
                self._db.execute("DELETE FROM boxes WHERE picture = ?", (id,))
                self._write_boxes(id, now)
                if len(now) < len(before):
                    self._db.execute(
                        "UPDATE pictures SET confirmed_by = NULL, confirmed_at = NULL WHERE id = ?",
                        (id,),
                    )
                self._next(id, picture.revision, by, "labels", before=before)
            self._rename_known(names)

    def set_splits(self, splits: Iterable[tuple[int, str | None]], *, by: str) -> None:
        """Put images into splits, all in one step; revisions stay, so no review is disturbed."""
        checked_author(by)
        with self.batch():
            for id, split in splits:
                picture = self.picture(id)
                if picture.split != split:
                    self._db.execute("UPDATE pictures SET split = ? WHERE id = ?", (split, id))
                    self._log(id, picture.revision, by, "split", note=split or "")

    def set_details(self, id: int, *, by: str, **details: str | None) -> None:
        """Change some of `DETAILS`; the revision stays."""
        checked_author(by)
        unknown = sorted(set(details) - set(DETAILS))
        if unknown:
            raise FeltwatchError(f"{unknown[0]} is no detail; there are {', '.join(DETAILS)}")
        checked_time(details.get("time_s"))
        with self.batch():
            picture = self.picture(id)
            for name, value in details.items():
                self._db.execute(f"UPDATE pictures SET {name} = ? WHERE id = ?", (value, id))
            note = json.dumps(details, ensure_ascii=False)
            self._log(id, picture.revision, by, "details", note=note)

    def set_file(self, id: int, *, by: str, found: PictureFile) -> None:
        """Note what the image's file holds now, as after a missing one was put there."""
        checked_author(by)
        with self.batch():
            picture = self.picture(id)
            self._db.execute(
                "UPDATE pictures SET sha256 = ?, phash = ?, width = ?, height = ? WHERE id = ?",
                (found.sha256, signed(found.phash), found.width or picture.width,
                 found.height or picture.height, id),
            )  # fmt: skip
            if found.thumb is not None:
                self._db.execute("INSERT OR REPLACE INTO thumbs VALUES (?, ?)", (id, found.thumb))
            self._log(id, picture.revision, by, "file")

    def export_name(self, picture: Picture) -> str:
        """A name no other image has once the ending is left out: `file`, or with a number."""
        stem, dot, suffix = picture.file.rpartition(".")
        if not dot or "/" in suffix:
            return picture.file
        row = self._db.execute(
            "SELECT 1 FROM pictures WHERE file > ? AND file < ? AND id < ? "
            "AND instr(substr(file, ?), '.') = 0 AND instr(substr(file, ?), '/') = 0 LIMIT 1",
            (f"{stem}.", f"{stem}/", picture.id, len(stem) + 2, len(stem) + 2),
        ).fetchone()
        return picture.file if row is None else f"{stem}~{picture.id}.{suffix}"

    def _expect(self, id: int, revision: int) -> None:
        picture = self.picture(id)
        if picture.revision != revision:
            who = self._db.execute(
                "SELECT by FROM changes WHERE picture = ? AND revision = ? ORDER BY id",
                (id, picture.revision),
            ).fetchone()
            raise Conflict(
                f"{picture.file}: was changed by {who[0] if who else 'someone'} meanwhile; "
                "load it again",
                picture.revision,
            )

    def _next(
        self, id: int, revision: int, by: str, what: str, before: tuple[Box, ...] | None = None
    ) -> int:
        self._db.execute("UPDATE pictures SET revision = ? WHERE id = ?", (revision + 1, id))
        self._log(id, revision + 1, by, what, before=before)
        return revision + 1

    def _log(
        self,
        id: int,
        revision: int,
        by: str,
        what: str,
        note: str | None = None,
        before: tuple[Box, ...] | None = None,
    ) -> None:
        kept = None if before is None else boxes_text(before)
        self._db.execute(
            "INSERT INTO changes (picture, revision, by, at, what, note, before) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (id, revision, by, _now(), what, note, kept),
        )

    def _write_boxes(self, id: int, boxes: Sequence[Box]) -> None:
        self._db.executemany(
            f"INSERT INTO boxes (picture, place, {BOX_COLUMNS}) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (id, n, b.label, *b.xyxy, b.angle_deg, b.visible, b.score,
                 attributes_json(b.attributes))
                for n, b in enumerate(boxes)
            ],
        )  # fmt: skip


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
