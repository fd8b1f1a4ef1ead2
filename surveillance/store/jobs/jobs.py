"""Commands that render, film or train, and how far each is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from surveillance.store.database import Database
from surveillance.store.jobs.leases import Leases
from surveillance.store.jobs.tables import jobs
from surveillance.store.queries.where import utc_now
from surveillance.store.rows import RecordingState
from surveillance.version import installed_version

_J = jobs.c


@dataclass(frozen=True, slots=True)
class JobRow:
    """A command of feltwatch and its progress (`share`, 0 to 1); run in its `folder`."""

    id: int
    key: str
    arguments: tuple[str, ...]
    folder: str
    state: RecordingState
    share: float
    message: str
    by: str
    created_at: datetime
    updated_at: datetime
    worker: str | None
    takeovers: int
    stop_asked: bool


class Jobs(Leases[JobRow]):
    """The jobs of the store."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, jobs, tuple(jobs.c), _row, "job")

    def add(self, arguments: Sequence[str], folder: str, by: str) -> JobRow:
        """Queue a command. The same one is kept once: what failed or was stopped waits again."""
        key, now = job_key(arguments, folder), utc_now()
        again = {"state": "queued", "message": "", "updated_at": now}
        with self._database.write() as connection:
            connection.execute(
                self._database.insert(jobs)
                .values(
                    key=key, arguments=list(arguments), folder=folder, state="queued", share=0.0,
                    message="", by_name=by, created_at=now, updated_at=now,
                )
                .on_conflict_do_nothing(index_elements=["key"])
            )  # fmt: skip
            ended = _J.state.in_(("failed", "stopped"))
            connection.execute(sa.update(jobs).where(_J.key == key, ended).values(again))
            row = connection.execute(sa.select(jobs).where(_J.key == key)).one()
        return _row(row)

    def all(self, most: int = 1000) -> tuple[JobRow, ...]:
        """The jobs, of more than `most` the newest, oldest first."""
        query = sa.select(jobs).order_by(_J.id.desc()).limit(most)
        with self._database.read() as connection:
            rows = connection.execute(query).all()
        return tuple(_row(row) for row in reversed(rows))

    def stop(self, id: int) -> JobRow:
        """Stop a job, whether it waits or runs. Raises NotStoredError."""
        self._change(id, {"state": "stopped"}, frozenset({"queued"}))
        return self.ask_to_stop(id)

    def progress(self, held: JobRow, share: float) -> None:
        """Store the progress of a job."""
        self._change(held.id, {"share": share}, None, held)

    def end(self, held: JobRow, state: RecordingState, message: str) -> None:
        """Store the end of a job; nothing changes where it is not this worker's any more."""
        values: dict[str, Any] = {"state": state, "message": message}
        if state == "done":
            values["share"] = 1.0
        self._change(held.id, values, None, held)


def job_key(arguments: Sequence[str], folder: str) -> str:
    """Return the key of a job: of its arguments, its folder and the program's version.

    >>> job_key(["simulate"], "/a") == job_key(["simulate"], "/a") != job_key(["simulate"], "/b")
    True
    """
    identity = json.dumps([installed_version(), folder, *arguments], ensure_ascii=False)
    return hashlib.sha256(identity.encode()).hexdigest()


def _row(row: Any) -> JobRow:
    return JobRow(
        id=row.id,
        key=row.key,
        arguments=tuple(row.arguments),
        folder=row.folder,
        state=row.state,
        share=row.share,
        message=row.message,
        by=row.by_name,
        created_at=row.created_at,
        updated_at=row.updated_at,
        worker=row.worker,
        takeovers=row.takeovers,
        stop_asked=row.stop_asked,
    )
