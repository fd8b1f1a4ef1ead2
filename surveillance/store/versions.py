"""Versions of model, rules, table files and program, each known by its hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from surveillance.store import tables
from surveillance.store.database import Repository
from surveillance.store.errors import NotStoredError
from surveillance.store.queries.where import utc_now
from surveillance.store.rows import VersionRow

_V = tables.versions.c
SET = "set"
"""Kind of a version that stands for several: its detail holds their numbers by kind."""


class Versions(Repository):
    """The versions of the store."""

    def note(self, kind: str, name: str, sha256: str, detail: dict[str, Any] | None = None) -> int:
        """The number of a version, kept when it is new."""
        with self._database.write() as connection:
            connection.execute(
                self._database.insert(tables.versions)
                .values(
                    kind=kind, name=name, sha256=sha256, detail=detail or {}, first_at=utc_now()
                )
                .on_conflict_do_nothing(index_elements=["kind", "name", "sha256"])
            )
            number: int = connection.execute(
                sa.select(_V.id).where(_V.kind == kind, _V.name == name, _V.sha256 == sha256)
            ).scalar_one()
        return number

    def note_set(self, versions: Mapping[str, Mapping[str, Any]]) -> int:
        """The number of a set of versions, for `versions_id` of a round.

        `versions`: for each kind, such as 'model', 'rules', 'table_file', 'program', its
        `name` and `sha256`; other keys are kept as detail.
        """
        numbers = {}
        for kind in sorted(versions):
            detail = dict(versions[kind])
            name, sha256 = str(detail.pop("name")), str(detail.pop("sha256"))
            numbers[kind] = self.note(kind, name, sha256, detail)
        digest = hashlib.sha256(json.dumps(numbers, sort_keys=True).encode()).hexdigest()
        return self.note(SET, SET, digest, numbers)

    def get(self, id: int) -> VersionRow:
        """One version; raises NotStoredError."""
        row = self._one(sa.select(tables.versions).where(_V.id == id))
        if row is None:
            raise NotStoredError(f"there is no version {id} in the store")
        return VersionRow(row.id, row.kind, row.name, row.sha256, row.detail, row.first_at)

    def of_set(self, id: int) -> dict[str, VersionRow]:
        """The versions that a set stands for, by kind; one that is no set stands for itself."""
        version = self.get(id)
        if version.kind != SET:
            return {version.kind: version}
        return {kind: self.get(number) for kind, number in version.detail.items()}
