"""Alerts, the verdicts people give on them, and how often each code is right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from settlement.compare.finding import MONEY_CODES
from settlement.errors import FeltwatchError
from surveillance.store import tables
from surveillance.store.database import Database, Repository
from surveillance.store.difference import difference_of
from surveillance.store.errors import NotStoredError
from surveillance.store.queries.alerts import COLUMNS, IS_ALERT, alert_row, conditions, precision_of
from surveillance.store.queries.filters import AlertFilter, Page, Span
from surveillance.store.queries.paging import read_page
from surveillance.store.queries.upheld_alerts import UpheldLine, upheld_lines
from surveillance.store.queries.where import is_number, utc_now
from surveillance.store.rows import (
    ALERT_STATES,
    AlertRow,
    AlertState,
    CodePrecision,
    NewAlert,
    Verdict,
    VerdictRow,
)

_A = tables.alerts.c
_V = tables.verdicts.c
_D = tables.round_details.c


class Alerts(Repository):
    """The alerts of the store."""

    def add(self, new: NewAlert) -> AlertRow:
        """Keep an alert; one of the same camera, source and alert_id is given back as it is.

        What it came to in money is worked out from its round, which must be there before it.
        """
        with self._database.write() as connection:
            return insert_alert(self._database, connection, new)[0]

    def page(
        self, filter: AlertFilter | None = None, cursor: str | None = None, limit: int = 50
    ) -> Page[AlertRow]:
        """A page of alerts by their time. Raises CursorError."""
        query = sa.select(*COLUMNS).where(*conditions(filter or AlertFilter()))
        with self._database.read() as connection:
            return read_page(connection, query, _A.at, _A.id, alert_row, cursor, limit)

    def get(self, id: int) -> AlertRow:
        """One alert; raises NotStoredError."""
        with self._database.read() as connection:
            return _get(connection, id)

    def of_round(self, round: int) -> tuple[AlertRow, ...]:
        """The alerts of a round, in the order they were added."""
        query = sa.select(*COLUMNS).where(_A.round == round, IS_ALERT).order_by(_A.id)
        return tuple(alert_row(row) for row in self._rows(query))

    def of_recording(self, recording: int, most: int) -> tuple[AlertRow, ...]:
        """The alerts of a recording, of more than `most` the newest."""
        newest = (_A.at.desc(), _A.id.desc())
        query = sa.select(*COLUMNS).where(*conditions(AlertFilter(recording_id=recording)))
        with self._database.read() as connection:
            found = connection.execute(query.order_by(*newest).limit(most))
            return tuple(alert_row(row) for row in found)

    def upheld(self, span: Span) -> Iterator[Sequence[UpheldLine]]:
        """The alerts of a span that were upheld, newest first, a batch at a time."""
        return upheld_lines(self._database, span)

    def largest(self, filter: AlertFilter, limit: int) -> tuple[AlertRow, ...]:
        """Those that came to the most money, either way, the largest first; equals newest first.

        Those whose sum is not known come last.
        """
        sum_cents = sa.func.abs(sa.func.coalesce(_A.difference_cents, 0))
        found = (
            sa.select(_A.id)
            .where(*conditions(filter))
            .order_by(sum_cents.desc(), _A.at.desc(), _A.id.desc())
            .limit(max(1, limit))
        )
        with self._database.read() as connection:
            # First the numbers alone: they stand in an index, the rest of the rows does not.
            ids = list(connection.execute(found).scalars())
            rows = connection.execute(sa.select(*COLUMNS).where(_A.id.in_(ids))).all()
        by_id = {row.id: alert_row(row) for row in rows}
        return tuple(by_id[id] for id in ids if id in by_id)

    def set_bundle(
        self,
        id: int,
        path: str | None,
        sha256: str | None,
        clip: str | None = None,
        further_clips: Mapping[str, str] | None = None,
    ) -> AlertRow:
        """Store the paths of the bundle and the clips; raises NotStoredError."""
        values = {
            "bundle": path, "bundle_sha256": sha256, "clip": clip,
            "further_clips": dict(further_clips) if further_clips else None,
        }  # fmt: skip
        return self._change(id, values)

    def set_case(self, id: int, case: bool, by: str) -> AlertRow:
        """Make it a case, which no retention removes, or one no more; raises NotStoredError."""
        return self._change(id, {"is_case": case, "case_by": by})

    def judge(
        self,
        id: int,
        verdict: Verdict,
        comment: str,
        by: str,
        corrected: dict[str, Any] | None = None,
    ) -> VerdictRow:
        """Store a verdict; all are kept, the last one counts.

        'reopened' takes the verdicts before it back: the alert is open, decided by nobody.
        `corrected` (only with the verdict 'corrected') holds the correct values, by the
        alert's keys. Raises NotStoredError, FeltwatchError for a verdict that is none.
        """
        if verdict not in get_args(Verdict):
            raise FeltwatchError(
                f"verdict {verdict!r}: write one of {', '.join(get_args(Verdict))}"
            )
        if (corrected is not None) != (verdict == "corrected"):
            raise FeltwatchError(
                f"alert {id}: a verdict 'corrected' says what is corrected, the others do not"
            )
        with self._database.write() as connection:
            now = utc_now()
            # First the alert: its row is then ours, and verdicts follow one another in time.
            changed: dict[str, Any] = {"state": verdict, "decided_by": by, "decided_at": now}
            if verdict == "reopened":
                changed = {"state": "open", "decided_by": None, "decided_at": None}
            _change(connection, id, changed)
            code = _get(connection, id).alert.code
            right = None if verdict == "reopened" else verdict == "confirmed"
            if corrected is not None:
                right = corrected.get("code", code) == code
            _change(connection, id, {"was_right": right})
            row = connection.execute(
                sa.insert(tables.verdicts)
                .values(
                    alert=id,
                    verdict=verdict,
                    comment=comment,
                    corrected=corrected,
                    by_name=by,
                    at=now,
                )
                .returning(_V.id)
            ).one()
        return VerdictRow(row.id, id, verdict, comment, corrected, by, now)

    def verdicts(self, id: int) -> tuple[VerdictRow, ...]:
        """All verdicts of an alert, oldest first; raises NotStoredError."""
        with self._database.read() as connection:
            _get(connection, id)
            rows = connection.execute(
                sa.select(tables.verdicts).where(_V.alert == id).order_by(_V.id)
            ).all()
        return tuple(
            VerdictRow(r.id, r.alert, r.verdict, r.comment, r.corrected, r.by_name, r.at)
            for r in rows
        )

    def precision(self, filter: AlertFilter | None = None) -> tuple[CodePrecision, ...]:
        """Return the precision of each code by the verdicts that count; sorted by code."""
        query = (
            sa.select(_A.code, _A.state, _A.was_right, sa.func.count().label("many"))
            .where(*conditions(filter or AlertFilter()))
            .group_by(_A.code, _A.state, _A.was_right)
        )
        rows = self._rows(query)
        counts: dict[str, dict[str, int]] = {}
        for row in rows:
            of_code = counts.setdefault(row.code, dict.fromkeys((*ALERT_STATES, "right"), 0))
            of_code[row.state] += row.many
            of_code["right"] += row.many if row.was_right else 0
        return tuple(precision_of(code, counts[code]) for code in sorted(counts))

    def counts(self, filter: AlertFilter | None = None) -> dict[AlertState, int]:
        """Count the alerts in each state; states without any are 0."""
        query = (
            sa.select(_A.state, sa.func.count().label("many"))
            .where(*conditions(filter or AlertFilter()))
            .group_by(_A.state)
        )
        counts: dict[AlertState, int] = dict.fromkeys(ALERT_STATES, 0)
        with self._database.read() as connection:
            for state, many in connection.execute(query):
                counts[state] = many
        return counts

    def codes(self) -> tuple[str, ...]:
        """The codes that occur, sorted."""
        query = sa.select(_A.code).distinct().order_by(_A.code)
        with self._database.read() as connection:
            return tuple(connection.execute(query).scalars())

    def _change(self, id: int, values: dict[str, Any]) -> AlertRow:
        with self._database.write() as connection:
            return change_alert(connection, id, values)


def insert_alert(
    database: Database, connection: Connection, new: NewAlert
) -> tuple[AlertRow, bool]:
    """Add an alert within a transaction; returns it as stored and whether it is new."""
    own = new.alert
    number = connection.execute(
        database.insert(tables.alerts)
        .values(
            alert_id=own.alert_id,
            round=new.round,
            table_name=new.table,
            camera=new.camera,
            source=new.source,
            dealer=new.dealer,
            code=own.code,
            seat=own.seat,
            at=new.at,
            alert=own.model_dump(mode="json", exclude_none=True),
            state="open",
            recording_id=new.recording_id,
            is_case=False,
            difference_cents=_difference(connection, new),
        )
        .on_conflict_do_nothing(index_elements=["camera", "source", "alert_id"])
        .returning(_A.id)
    ).scalar()
    if number is not None and new.round is not None:
        _count_of_round(connection, new.round)
    row = connection.execute(
        sa.select(*COLUMNS).where(
            _A.camera == new.camera, _A.source == new.source, _A.alert_id == own.alert_id
        )
    ).one()
    return alert_row(row), number is not None


def _difference(connection: Connection, new: NewAlert) -> int | None:
    own = new.alert
    if new.round is None or own.code not in MONEY_CODES:
        return None
    query = sa.select(_D.record, _D.settlement).where(_D.round == new.round)
    row = connection.execute(query).one_or_none()
    if row is None:
        return None
    return difference_of(own.code, own.seat, own.wager, row.record, row.settlement)


def _count_of_round(connection: Connection, round: int) -> None:
    many = sa.select(sa.func.count()).where(_A.round == round).scalar_subquery()
    connection.execute(
        sa.update(tables.rounds)
        .where(tables.rounds.c.id == round, tables.rounds.c.alerts < many)
        .values(alerts=many)
    )


def _change(connection: Connection, id: int, values: dict[str, Any]) -> None:
    query = sa.update(tables.alerts).where(_A.id == id).values(values)
    if not is_number(id) or connection.execute(query).rowcount == 0:
        raise NotStoredError(f"there is no alert {id} in the store")


def change_alert(connection: Connection, id: int, values: dict[str, Any]) -> AlertRow:
    """Change an alert within a transaction. Raises NotStoredError."""
    _change(connection, id, values)
    return _get(connection, id)


def _get(connection: Connection, id: int) -> AlertRow:
    query = sa.select(*COLUMNS).where(_A.id == id)
    row = connection.execute(query).one_or_none() if is_number(id) else None
    if row is None:
        raise NotStoredError(f"there is no alert {id} in the store")
    return alert_row(row)
