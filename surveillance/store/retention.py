"""Removing what is too old or too much; cases stay."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from settlement.errors import FeltwatchError
from surveillance.evidence.bundle.keys import SigningKey
from surveillance.evidence.folder import EvidenceFolder
from surveillance.store import tables
from surveillance.store.database import Database
from surveillance.store.logins import Logins
from surveillance.store.pending import remove_pending
from surveillance.store.rows import Swept

_R = tables.rounds.c
_A = tables.alerts.c
_C = tables.recordings.c
_L = tables.audit.c
_BATCH = 100
_LOG_BATCH = 5_000
_UNFINISHED = ("queued", "running", "stopped")


@dataclass(frozen=True, slots=True)
class _Held:
    """Columns of an alert that the sweep reads."""

    id: int
    round: int | None
    case: bool
    alert: dict[str, Any]
    files: frozenset[str]


class Retention:
    """Keeps the store and the evidence folder within their limits.

    By age rounds go with their alerts, verdicts and files. By size only bundles, clips and
    images go, the oldest first, and the alerts stay. A round with an alert that is a case
    stays whole in both. The audit log goes by an age of its own.
    """

    def __init__(self, database: Database, logins: Logins) -> None:
        self._database = database
        self._logins = logins

    def sweep(
        self,
        now: datetime,
        keep_days: float,
        keep_bytes: int | None,
        evidence_dir: Path,
        keep_log_days: float | None = None,
        key: SigningKey | None = None,
    ) -> Swept:
        """Remove what is older than `keep_days`, then evidence beyond `keep_bytes`.

        What came from a recording counts from the end of its audit. Health notes and old
        logins go by age too; recordings and versions stay. The audit log has a time of its
        own: only what is older than `keep_log_days` goes, nothing when that is None. A file
        that is missing already is passed over; one that cannot be deleted keeps its row, and
        is reported in `left`. `key` signs what goes into the evidence's log. Raises FeltwatchError
        for limits that keep nothing.
        """
        if keep_log_days is not None and keep_log_days <= 0:
            raise FeltwatchError(
                f"retention: keep_log_days is {keep_log_days:g}: it must keep something"
            )
        if keep_days <= 0 or (keep_bytes is not None and keep_bytes < 0):
            raise FeltwatchError(
                f"retention: keep_days is {keep_days:g} and keep_bytes {keep_bytes}: "
                "they must keep something"
            )
        folder = EvidenceFolder(evidence_dir, key=key)
        folder.remove_stale(now.timestamp())
        before = now - timedelta(days=keep_days)
        rounds, alerts = self._old_rounds(before, folder)
        alerts += self._old_alerts(before, folder)
        emptied = 0
        if keep_bytes is not None:
            emptied = self._beyond(keep_bytes, folder)
        with self._database.write() as connection:
            connection.execute(sa.delete(tables.health).where(tables.health.c.at < before))
        self._logins.prune(before)
        log = 0 if keep_log_days is None else self._old_log(now - timedelta(days=keep_log_days))
        return Swept(rounds, alerts, folder.files, folder.bytes, emptied, tuple(folder.left), log)

    def _old_log(self, before: datetime) -> int:
        """Delete old lines of the audit log in batches and return their number."""
        gone = 0
        old = sa.select(_L.id).where(_L.at < before).order_by(_L.at, _L.id).limit(_LOG_BATCH)
        while True:
            with self._database.write() as connection:
                query = sa.delete(tables.audit).where(_L.id.in_(old))
                many = connection.execute(query).rowcount
            gone += many
            if many < _LOG_BATCH:
                return gone

    def _old_rounds(self, before: datetime, folder: EvidenceFolder) -> tuple[int, int]:
        """Delete old rounds; return their number and that of their alerts."""
        rounds = alerts = 0
        last: tuple[datetime, int] | None = None
        while True:
            with self._database.write() as connection:
                query = (
                    sa.select(_R.started_at, _R.id)
                    .where(_R.started_at < before, _not_recent(_R.recording_id, before))
                    .where(~sa.exists().where(_A.round == _R.id, _A.is_case))
                    .order_by(_R.started_at, _R.id)
                    .limit(_BATCH)
                )
                if last is not None:
                    query = query.where(_after(_R.started_at, _R.id, last))
                found = [(row.started_at, row.id) for row in connection.execute(query)]
                if not found:
                    return rounds, alerts
                last = found[-1]
                numbers = [number for _, number in found]
                held = _lock(connection, _A.round.in_(numbers))
                staying = _staying(held, folder, "age")
                going = [number for number in numbers if number not in staying]
                gone = [alert.id for alert in held if alert.round not in staying]
                connection.execute(sa.delete(tables.alerts).where(_A.id.in_(gone)))
                connection.execute(sa.delete(tables.rounds).where(_R.id.in_(going)))
            rounds += len(going)
            alerts += len(gone)

    def _old_alerts(self, before: datetime, folder: EvidenceFolder) -> int:
        """Delete old alerts of no round and return their number."""
        alerts = 0
        last: tuple[datetime, int] | None = None
        while True:
            with self._database.write() as connection:
                query = (
                    sa.select(_A.at, _A.id)
                    .where(_A.at < before, _A.round.is_(None), ~_A.is_case)
                    .where(_not_recent(_A.recording_id, before))
                    .order_by(_A.at, _A.id)
                    .limit(_BATCH)
                )
                if last is not None:
                    query = query.where(_after(_A.at, _A.id, last))
                found = [(row.at, row.id) for row in connection.execute(query)]
                if not found:
                    return alerts
                last = found[-1]
                held = _lock(connection, _A.id.in_([number for _, number in found]))
                free = [alert for alert in held if not alert.case]
                stuck = folder.remove(_files(free), "age")
                gone = [alert.id for alert in free if not alert.files & stuck]
                connection.execute(sa.delete(tables.alerts).where(_A.id.in_(gone)))
            alerts += len(gone)

    def _beyond(self, keep_bytes: int, folder: EvidenceFolder) -> int:
        """Delete evidence until the folder holds `keep_bytes`; return the number of its alerts."""
        size = folder.size()
        emptied = 0
        last: tuple[datetime, int] | None = None
        other = tables.alerts.alias()
        in_case = sa.exists().where(other.c.round == _A.round, other.c.is_case)
        while size > keep_bytes:
            with self._database.write() as connection:
                query = (
                    sa.select(_A.at, _A.id, _A.round)
                    .where(_A.bundle.is_not(None) | _A.clip.is_not(None))
                    .where(~_A.is_case, ~in_case)
                    .order_by(_A.at, _A.id)
                    .limit(1)
                )
                if last is not None:
                    query = query.where(_after(_A.at, _A.id, last))
                row = connection.execute(query).one_or_none()
                if row is None:
                    folder.left.append(
                        f"{folder.path}: {size:,} bytes remain, above {keep_bytes:,}: the rest "
                        "is of cases, or of nothing the store knows"
                    )
                    return emptied
                last = (row.at, row.id)
                # The alerts of a round may share a clip, so they lose it together.
                together = _A.id == row.id if row.round is None else _A.round == row.round
                held = _lock(connection, together)
                freed = folder.bytes
                if any(alert.case for alert in held) or folder.remove(_files(held), "size"):
                    continue
                size -= folder.bytes - freed
                remove_pending(connection, [alert.id for alert in held])
                for alert in held:
                    connection.execute(
                        sa.update(tables.alerts)
                        .where(_A.id == alert.id)
                        .values(
                            bundle=None,
                            clip=None,
                            further_clips=None,
                            alert={**alert.alert, "pictures": []},
                        )
                    )
            emptied += len(held)
        return emptied


def _lock(connection: Connection, which: sa.ColumnElement[bool]) -> list[_Held]:
    """The alerts, which nobody can make a case of until the transaction ends."""
    query = (
        sa.select(_A.id, _A.round, _A.is_case, _A.bundle, _A.clip, _A.further_clips, _A.alert)
        .where(which)
        .order_by(_A.id)
        .with_for_update()
    )
    return [
        _Held(row.id, row.round, row.is_case, row.alert, frozenset(_names(row)))
        for row in connection.execute(query)
    ]


def _names(row: Any) -> list[str]:
    further = (row.further_clips or {}).values()
    names = (row.bundle, row.clip, *further, *row.alert.get("pictures", ()))
    return [name for name in names if name]


def _files(held: Iterable[_Held]) -> frozenset[str]:
    return frozenset().union(*(alert.files for alert in held))


def _staying(held: list[_Held], folder: EvidenceFolder, reason: str) -> frozenset[int]:
    """The rounds that must stay: a case by now, or with a file that cannot be deleted."""
    cases = {alert.round for alert in held if alert.case}
    stuck = folder.remove(_files(a for a in held if a.round not in cases), reason)
    return frozenset(
        alert.round
        for alert in held
        if alert.round is not None and (alert.round in cases or alert.files & stuck)
    )


def _after(
    time: sa.Column[Any], number: sa.Column[Any], last: tuple[datetime, int]
) -> sa.ColumnElement[bool]:
    at = sa.bindparam("_at", last[0], type_=time.type)
    return sa.tuple_(time, number) > sa.tuple_(at, sa.bindparam("_id", last[1]))


def _not_recent(recording: sa.Column[Any], before: datetime) -> sa.ColumnElement[bool]:
    """Not of a recording whose audit goes on or ended after `before`."""
    recent = _C.state.in_(_UNFINISHED) | (_C.updated_at >= before)
    return ~sa.exists().where(_C.id == recording, recent)
