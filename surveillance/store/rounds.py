"""Rounds: added once, listed newest first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from surveillance.alerts.unread import count_unread
from surveillance.store import tables
from surveillance.store.database import Database, Repository
from surveillance.store.errors import NotStoredError
from surveillance.store.queries.filters import Page, RoundFilter
from surveillance.store.queries.paging import read_page
from surveillance.store.queries.where import between, equal, is_number
from surveillance.store.rows import NewRound, RoundCounts, RoundRow

_R = tables.rounds.c
_D = tables.round_details.c
_BRIEF = (
    _R.started_at,
    _R.id,
    _R.table_name,
    _R.camera,
    _R.round_id,
    _R.game,
    _R.dealer,
    _R.ended_at,
    _R.start_s,
    _R.end_s,
    _R.source,
    _R.recording_id,
    _R.undecided,
    _R.suspicions,
    _R.alerts,
    _R.versions_id,
)
_WHOLE = (*_BRIEF, _D.record, _D.settlement)
_JOINED = tables.rounds.join(tables.round_details)


class Rounds(Repository):
    """The rounds of the store."""

    def add(self, new: NewRound) -> RoundRow:
        """Keep a round; one of the same camera, source and round_id is given back as it is."""
        with self._database.write() as connection:
            return insert_round(self._database, connection, new)[0]

    def page(
        self,
        filter: RoundFilter | None = None,
        cursor: str | None = None,
        limit: int = 50,
        *,
        whole: bool = True,
    ) -> Page[RoundRow]:
        """A page of rounds by their start; `whole=False` leaves record and settlement empty.

        Raises CursorError.
        """
        query = sa.select(*(_WHOLE if whole else _BRIEF))
        if whole:
            query = query.select_from(_JOINED)
        query = query.where(*_conditions(filter or RoundFilter()))
        with self._database.read() as connection:
            make = _whole if whole else _brief
            return read_page(connection, query, _R.started_at, _R.id, make, cursor, limit)

    def get(self, id: int) -> RoundRow:
        """One round; raises NotStoredError."""
        with self._database.read() as connection:
            query = sa.select(*_WHOLE).select_from(_JOINED).where(_R.id == id)
            row = connection.execute(query).one_or_none() if is_number(id) else None
        if row is None:
            raise NotStoredError(f"there is no round {id} in the store")
        return _whole(row)

    def timeline(self, id: int) -> tuple[dict[str, Any], ...]:
        """The lines of what lay where and when in a round; none where none were kept."""
        own = tables.round_timelines.c
        with self._database.read() as connection:
            query = sa.select(own.lines).where(own.round == id)
            lines = connection.execute(query).scalar() if is_number(id) else None
        return tuple(lines or ())

    def of_recording(self, recording: int, most: int) -> tuple[RoundRow, ...]:
        """The rounds of a recording without their records, of more than `most` the newest."""
        newest = (_R.started_at.desc(), _R.id.desc())
        query = sa.select(*_BRIEF).where(_R.recording_id == recording)
        with self._database.read() as connection:
            found = connection.execute(query.order_by(*newest).limit(most))
            return tuple(_brief(row) for row in found)

    def latest(self, table: str) -> RoundRow | None:
        """The table's newest round."""
        page = self.page(RoundFilter(table=table), limit=1)
        return page.rows[0] if page.rows else None

    def count(self, filter: RoundFilter) -> RoundCounts:
        """Count the rounds of a filter; meant for a day or a shift, not for a list."""
        some_alerts = sa.func.coalesce(sa.func.sum(sa.case((_R.alerts > 0, 1), else_=0)), 0)
        undecided = sa.func.coalesce(sa.func.sum(_R.undecided), 0)
        query = sa.select(sa.func.count(), some_alerts, undecided).where(*_conditions(filter))
        with self._database.read() as connection:
            rounds, with_alerts, not_read = connection.execute(query).one()
        return RoundCounts(int(rounds), int(with_alerts), int(not_read))


def insert_round(
    database: Database, connection: Connection, new: NewRound
) -> tuple[RoundRow, bool]:
    """Add a round within a transaction; returns it as stored and whether it is new."""
    number = connection.execute(
        database.insert(tables.rounds)
        .values(
            table_name=new.table,
            camera=new.camera,
            round_id=new.round_id,
            game=new.game,
            dealer=new.dealer,
            started_at=new.started_at,
            ended_at=new.ended_at,
            start_s=new.start_s,
            end_s=new.end_s,
            source=new.source,
            recording_id=new.recording_id,
            undecided=len(new.unread),
            suspicions=list(new.suspicions) or None,
            alerts=new.alerts,
            versions_id=new.versions_id,
        )
        .on_conflict_do_nothing(index_elements=["camera", "source", "round_id"])
        .returning(_R.id)
    ).scalar()
    if number is not None:
        connection.execute(
            sa.insert(tables.round_details).values(
                round=number, record=new.record, settlement=new.settlement
            )
        )
        if new.timeline:
            connection.execute(
                sa.insert(tables.round_timelines).values(round=number, lines=list(new.timeline))
            )
        own = {"round": number, "table_name": new.table, "at": new.started_at}
        if counts := count_unread(new.unread):
            connection.execute(sa.insert(tables.unread), [{**own, **count} for count in counts])
    row = connection.execute(
        sa.select(*_WHOLE)
        .select_from(_JOINED)
        .where(_R.camera == new.camera, _R.source == new.source, _R.round_id == new.round_id)
    ).one()
    return _whole(row), number is not None


def _conditions(filter: RoundFilter) -> Iterator[sa.ColumnElement[bool]]:
    yield from equal(
        {
            _R.table_name: filter.table,
            _R.camera: filter.camera,
            _R.dealer: filter.dealer,
            _R.recording_id: filter.recording_id,
            _R.round_id: filter.round_id,
        }
    )
    yield from between(_R.started_at, filter.since, filter.until)
    for column, wanted in ((_R.alerts, filter.with_alerts), (_R.undecided, filter.with_undecided)):
        if wanted is not None:
            # Written out, not bound, so that the index of just those rows is taken.
            zero: sa.ColumnElement[int] = sa.literal_column("0")
            yield column > zero if wanted else column == zero
    if filter.with_suspicions is not None:
        none = _R.suspicions.is_(None)
        yield sa.not_(none) if filter.with_suspicions else none


def _whole(row: Any) -> RoundRow:
    return _row(row, row.record, row.settlement)


def _brief(row: Any) -> RoundRow:
    return _row(row, {}, {})


def _row(row: Any, record: dict[str, Any], settlement: dict[str, Any]) -> RoundRow:
    return RoundRow(
        id=row.id,
        table=row.table_name,
        camera=row.camera,
        round_id=row.round_id,
        game=row.game,
        dealer=row.dealer,
        started_at=row.started_at,
        ended_at=row.ended_at,
        start_s=row.start_s,
        end_s=row.end_s,
        source=row.source,
        recording_id=row.recording_id,
        undecided=row.undecided,
        suspicions=tuple(row.suspicions or ()),
        alerts=row.alerts,
        record=record,
        settlement=settlement,
        versions_id=row.versions_id,
    )
