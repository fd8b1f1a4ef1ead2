"""Figures over a whole dataset, counted by the database: memory does not grow with images."""

from __future__ import annotations

from collections.abc import Iterator

from datasets.labelled.store import Store
from settlement.errors import FeltwatchError

GROUP_KEYS = ("shift", "deck", "camera", "deal", "source")
"""Values of images that can hold them together."""


class Queries(Store):
    """Queries over all images or boxes."""

    def state(self) -> int:
        """A number that grows with every change."""
        row = self._db.execute("SELECT coalesce(max(id), 0) FROM changes").fetchone()
        return int(row[0])

    def last_picture(self) -> int:
        """The number of the image that was added last, 0 where there is none."""
        row = self._db.execute("SELECT coalesce(max(id), 0) FROM pictures").fetchone()
        return int(row[0])

    def splits(self) -> dict[str | None, int]:
        """How many images each split holds; None stands for those in no split."""
        query = "SELECT split, count(*) FROM pictures GROUP BY split ORDER BY split"
        return dict(self._db.execute(query).fetchall())

    def values(self, key: str) -> Iterator[str]:
        """The different values of one of `GROUP_KEYS`."""
        query = f"SELECT DISTINCT {_key(key)} FROM pictures WHERE {key} IS NOT NULL ORDER BY 1"
        for (value,) in self._db.execute(query):
            yield value

    def counted(self, key: str) -> dict[str | None, int]:
        """How many images have each value of a column."""
        allowed = (*GROUP_KEYS, "split", "labelled_by", "confirmed_by")
        if key not in allowed:
            raise FeltwatchError(f"{key} cannot be counted; {', '.join(allowed)} can")
        query = f"SELECT {key}, count(*) FROM pictures GROUP BY {key} ORDER BY count(*) DESC, {key}"
        return dict(self._db.execute(query).fetchall())

    def spread(self, key: str) -> Iterator[tuple[str, str, int]]:
        """Values that are in more than one split: value, split, images; by value."""
        query = (
            f"SELECT {_key(key)}, split, count(*) FROM pictures WHERE split IS NOT NULL AND {key} "
            f"IN (SELECT {key} FROM pictures WHERE split IS NOT NULL AND {key} IS NOT NULL "
            f"GROUP BY {key} HAVING count(DISTINCT split) > 1) GROUP BY {key}, split "
            f"ORDER BY {key}, split"
        )
        yield from self._db.execute(query)

    def hashes(self) -> Iterator[tuple[int, int, str]]:
        """Number, perceptual hash (64 bit, from 0) and split of the images that have both."""
        query = (
            "SELECT id, phash, split FROM pictures "
            "WHERE phash IS NOT NULL AND split IS NOT NULL ORDER BY id"
        )
        for id, phash, split in self._db.execute(query):
            yield id, phash % 2**64, split

    def all_hashes(self) -> Iterator[tuple[int, int]]:
        """Number and perceptual hash (64 bit, from 0) of the images that have one."""
        query = "SELECT id, phash FROM pictures WHERE phash IS NOT NULL ORDER BY id"
        for id, phash in self._db.execute(query):
            yield id, phash % 2**64

    def picture_classes(self) -> Iterator[tuple[int, str, int]]:
        """How many boxes of each label every image has: image, label, boxes."""
        query = "SELECT picture, label, count(*) FROM boxes GROUP BY picture, label"
        yield from self._db.execute(query)

    def class_counts(self) -> dict[str, dict[str | None, int]]:
        """How many boxes each label has in each split, None for images in no split."""
        query = (
            "SELECT b.label, p.split, count(*) FROM boxes AS b JOIN pictures AS p "
            "ON p.id = b.picture GROUP BY b.label, p.split"
        )
        out: dict[str, dict[str | None, int]] = {}
        for label, split, count in self._db.execute(query):
            out.setdefault(label, {})[split] = count
        return out

    def members(
        self, keys: tuple[str, ...]
    ) -> Iterator[tuple[int, tuple[str | None, ...], str | None]]:
        """Number, values of `keys` and split of every image, in order."""
        columns = ", ".join(("id", *(_key(key) for key in keys), "split"))
        for row in self._db.execute(f"SELECT {columns} FROM pictures ORDER BY id"):
            yield row[0], tuple(row[1:-1]), row[-1]

    def box_places(self) -> Iterator[tuple[float, float, float, float]]:
        """Of every box the middle, as shares of its image, and width and height, px."""
        yield from self._db.execute(
            "SELECT (b.x0 + b.x1) / 2.0 / p.width, (b.y0 + b.y1) / 2.0 / p.height, "
            "b.x1 - b.x0, b.y1 - b.y0 FROM boxes AS b JOIN pictures AS p ON p.id = b.picture"
        )

    def image_sizes(self) -> dict[str, int]:
        """How many images have each size, the most frequent first."""
        query = (
            "SELECT width || ' x ' || height, count(*) FROM pictures GROUP BY 1 "
            "ORDER BY count(*) DESC, 1"
        )
        return dict(self._db.execute(query).fetchall())

    def count_with_labels(self, labels: list[str]) -> int:
        """How many images have a box of any of these labels."""
        marks = ", ".join("?" * len(labels))
        query = f"SELECT count(DISTINCT picture) FROM boxes WHERE label IN ({marks})"
        return int(self._db.execute(query, labels).fetchone()[0])

    def box_count(self) -> int:
        """How many boxes there are."""
        return int(self._db.execute("SELECT count(*) FROM boxes").fetchone()[0])

    def sample(self, label: str, count: int) -> list[tuple[int, int]]:
        """Some boxes of a label, the same every time: number of the image, place of the box."""
        query = (
            "SELECT picture, place FROM boxes WHERE label = ? "
            "ORDER BY ((picture * 97 + place) * 2654435761) % 4294967291 LIMIT ?"
        )
        return [(p, n) for p, n in self._db.execute(query, (label, count))]

    def attribute_names(self, label: str) -> set[str]:
        """Names of the attributes that boxes of a label have, `visible` and `score` with them."""
        rows = self._db.execute(
            "SELECT DISTINCT j.key FROM boxes, json_each(boxes.attributes) AS j WHERE label = ?",
            (label,),
        )
        names = {name for (name,) in rows}
        for name in ("visible", "score"):
            query = f"SELECT 1 FROM boxes WHERE label = ? AND {name} IS NOT NULL LIMIT 1"
            if self._db.execute(query, (label,)).fetchone():
                names.add(name)
        return names


def _key(key: str) -> str:
    if key not in GROUP_KEYS:
        raise FeltwatchError(f"{key} does not group images; {', '.join(GROUP_KEYS)} can")
    return key
