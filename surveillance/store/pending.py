"""Evidence that waits: for its clip, to be written as a bundle, for its small clip."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from surveillance.store import tables
from surveillance.store.alerts import change_alert
from surveillance.store.database import Database, Repository
from surveillance.store.queries.alerts import COLUMNS, alert_row
from surveillance.store.rows import AlertRow, PendingClip, PendingRow

_P = tables.pending_evidence.c
_A = tables.alerts.c
_D = tables.round_details.c
_OWN = [c.label(f"pending_{c.name}") for c in _P if c.name != "alert"]


class PendingEvidence(Repository):
    """The pending evidence of the store.

    A row goes from 'awaiting_clip' by way of 'ready' (and 'preview', where a small clip is to
    be made) out of the table. `cameras` and `server` hold every question to one server's own:
    several may share a database, each with an evidence folder of its own.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.server = ""
        """Whose evidence this is about, where servers share cameras."""

    def awaiting(self, camera: str, source: str, alert_ids: Collection[str]) -> list[AlertRow]:
        """Return those of a run's alerts that wait for their clip, in the order they came."""
        query = (
            sa.select(*COLUMNS)
            .join(tables.pending_evidence, _P.alert == _A.id)
            .where(_A.camera == camera, _A.source == source, _A.alert_id.in_(alert_ids))
            .where(_P.status == "awaiting_clip")
            .order_by(_A.id)
        )
        with self._database.read() as connection:
            return [alert_row(row) for row in connection.execute(query)]

    def set_ready(
        self,
        alerts: Collection[int],
        clip: dict[str, Any] | None,
        clip_name: str,
        missing: Sequence[str] = (),
        further: Sequence[PendingClip] = (),
    ) -> None:
        """Store that these alerts' clip is there, or (None) will never be; others are left.

        `further`: those of further cameras.
        """
        values = {
            "status": "ready", "clip": clip, "clip_name": clip_name, "missing": list(missing),
            "further_clips": _facts(further),
        }  # fmt: skip
        self._run(
            sa.update(tables.pending_evidence)
            .where(_P.alert.in_(alerts), _P.status == "awaiting_clip")
            .values(values)
        )

    def give_up(self, before: datetime, cameras: Collection[str], missing: str) -> int:
        """Wait no longer for clips of alerts stored before a time; returns how many there were."""
        own = sa.select(_A.id).where(_A.camera.in_(cameras))
        with self._database.write() as connection:
            found = connection.execute(
                sa.update(tables.pending_evidence)
                .where(_P.status == "awaiting_clip", _P.since < before, _P.alert.in_(own))
                .where(_P.server == self.server)
                .values(status="ready", missing=[missing])
            )
        return found.rowcount

    def ready(self, cameras: Collection[str], limit: int) -> list[PendingRow]:
        """Return what a bundle can be written of, the least often tried first."""
        return self._waiting(_P.status == "ready", cameras, limit)

    def is_wanted(self, clip_name: str) -> bool:
        """Return whether a bundle that is not written yet needs a clip."""
        query = sa.select(_P.clip_name, _P.further_clips).where(
            _P.status != "preview", (_P.clip_name == clip_name) | _P.further_clips.is_not(None)
        )
        with self._database.read() as connection:
            return any(
                clip_name in (own, *(one.name for one in _further(further)))
                for own, further in connection.execute(query)
            )

    def clips(self) -> frozenset[str]:
        """Return the files that rows wait with."""
        query = sa.select(_P.clip, _P.further_clips).where(
            _P.clip.is_not(None) | _P.further_clips.is_not(None)
        )
        with self._database.read() as connection:
            return frozenset(
                str(clip["path"])
                for own, further in connection.execute(query)
                for clip in (own, *(one.clip for one in _further(further)))
                if clip is not None
            )

    def count(self, cameras: Collection[str], *, previews: bool) -> int:
        """Return how many bundles, or small clips, are still to be written."""
        is_preview = _P.status == "preview"
        query = (
            sa.select(sa.func.count())
            .select_from(tables.pending_evidence.join(tables.alerts))
            .where(_A.camera.in_(cameras), is_preview if previews else ~is_preview)
            .where(_P.server == self.server)
        )
        with self._database.read() as connection:
            return int(connection.execute(query).scalar_one())

    def set_bundle(
        self,
        alert: int,
        path: str,
        sha256: str,
        clip: str | None,
        *,
        preview: bool,
        further_clips: Mapping[str, str] | None = None,
        further_previews: Sequence[PendingClip] = (),
    ) -> AlertRow:
        """Store the path of an alert's bundle; it waits no more, or (`preview`) for its small clip.

        `further_clips`: the files of further cameras' clips by camera, `further_previews` those
        of them whose small clips it waits for. Raises NotStoredError for an alert that is gone.
        """
        values = {
            "bundle": path, "bundle_sha256": sha256, "clip": clip,
            "further_clips": dict(further_clips) if further_clips else None,
        }  # fmt: skip
        own = _P.alert == alert
        with self._database.write() as connection:
            row = change_alert(connection, alert, values)
            if preview or further_previews:
                # The images stand in the bundle now.
                done = {
                    "status": "preview", "content": {}, "tries": 0, "error": "",
                    "further_clips": _facts(further_previews),
                }  # fmt: skip
                if not preview:
                    done["clip_name"] = ""
                connection.execute(sa.update(tables.pending_evidence).where(own).values(done))
            else:
                connection.execute(sa.delete(tables.pending_evidence).where(own))
        return row

    def set_failed(self, alert: int, error: str) -> None:
        """Note why a bundle could not be written; it is tried again after the others."""
        self._run(
            sa.update(tables.pending_evidence)
            .where(_P.alert == alert)
            .values(tries=_P.tries + 1, error=error)
        )

    def previews(self, cameras: Collection[str], limit: int) -> list[PendingRow]:
        """Return what waits for a small clip, the least often tried first."""
        return self._waiting(_P.status == "preview", cameras, limit)

    def set_preview(self, clip_name: str, small: str | None) -> list[AlertRow]:
        """Set the small clip of all alerts of a clip (None: there is none).

        They wait no more, but for small clips of other cameras.
        """
        waiting = sa.select(_P.alert, _P.clip_name, _P.further_clips, _A.further_clips.label("has"))
        waiting = waiting.join(tables.alerts).where(
            _P.status == "preview", (_P.clip_name == clip_name) | _P.further_clips.is_not(None)
        )
        rows = []
        with self._database.write() as connection:
            for found in connection.execute(waiting).all():
                further = _further(found.further_clips)
                left = [one for one in further if one.name != clip_name]
                is_first = found.clip_name == clip_name
                if not is_first and len(left) == len(further):
                    continue
                if small is not None:
                    has = dict(found.has or {})
                    has |= {one.camera: small for one in further if one.name == clip_name}
                    values = {"clip": small} if is_first else {"further_clips": has}
                    rows.append(change_alert(connection, found.alert, values))
                own, first = _P.alert == found.alert, "" if is_first else found.clip_name
                if left or first:
                    rest = {"clip_name": first, "further_clips": _facts(left)}
                    connection.execute(sa.update(tables.pending_evidence).where(own).values(rest))
                else:
                    connection.execute(sa.delete(tables.pending_evidence).where(own))
        return rows

    def _waiting(
        self, which: sa.ColumnElement[bool], cameras: Collection[str], limit: int
    ) -> list[PendingRow]:
        joined = tables.pending_evidence.join(tables.alerts).outerjoin(
            tables.round_details, _D.round == _A.round
        )
        query = (
            sa.select(*COLUMNS, *_OWN, _D.record, _D.settlement)
            .select_from(joined)
            .where(which, _A.camera.in_(cameras), _P.server == self.server)
            .order_by(_P.tries, _P.alert)
            .limit(limit)
        )
        return [_pending(row) for row in self._rows(query)]


def remove_pending(connection: Connection, alerts: Collection[int]) -> None:
    """Drop the pending evidence of alerts that lose theirs, within a transaction."""
    connection.execute(sa.delete(tables.pending_evidence).where(_P.alert.in_(alerts)))


def _facts(further: Sequence[PendingClip]) -> list[dict[str, Any]] | None:
    return [dataclasses.asdict(one) for one in further] or None


def _further(facts: list[dict[str, Any]] | None) -> tuple[PendingClip, ...]:
    return tuple(PendingClip(**one) for one in facts or ())


def _pending(row: Any) -> PendingRow:
    return PendingRow(
        alert=alert_row(row),
        status=row.pending_status,
        since=row.pending_since,
        content=row.pending_content,
        clip=row.pending_clip,
        clip_name=row.pending_clip_name,
        missing=tuple(row.pending_missing),
        tries=row.pending_tries,
        error=row.pending_error,
        record=row.record,
        settlement=row.settlement,
        further=_further(row.pending_further_clips),
    )
