"""Common parts of queries for alerts: columns, conditions of filters, and the row made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import sqlalchemy as sa

from models.intervals import wilson
from surveillance.alerts.model import ALERTED_APART, NO_ALERT, Alert
from surveillance.store import tables
from surveillance.store.queries.filters import AlertFilter
from surveillance.store.queries.where import between, equal
from surveillance.store.rows import AlertRow, CodePrecision

_A = tables.alerts.c
_UNREAD = frozenset({"at", "id", "alert_id", "code", "seat", "was_right", "case_by"})
COLUMNS = (_A.at, _A.id, *(c for c in _A if c.name not in _UNREAD))
"""Of an AlertRow; the first two are what pages go by."""


IS_ALERT = _A.code != NO_ALERT
"""Condition of lists and counts; earlier versions stored what was not read as alerts too."""


def conditions(filter: AlertFilter) -> Iterator[sa.ColumnElement[bool]]:
    """Return the conditions of a filter for alerts."""
    yield IS_ALERT
    yield from equal(
        {
            _A.table_name: filter.table,
            _A.camera: filter.camera,
            _A.code: filter.code,
            _A.seat: filter.seat,
            _A.dealer: filter.dealer,
            _A.state: filter.state,
            _A.recording_id: filter.recording_id,
        }
    )
    yield from between(_A.at, filter.since, filter.until)
    if filter.case is not None:
        yield _A.is_case if filter.case else ~_A.is_case
    if filter.upheld is not None:
        yield upheld_condition() if filter.upheld else ~upheld_condition()


def upheld_condition() -> sa.ColumnElement[bool]:
    """Alerts that claim a mistake, of which a person said that it was one."""
    # Said by what it is not, so that no index of the state is taken: most alerts were upheld, and
    # the index of times gives them in order.
    return sa.and_(_A.state.not_in(("open", "rejected")), _A.code.not_in(sorted(ALERTED_APART)))


def precision_of(code: str, counts: Mapping[str, int]) -> CodePrecision:
    """Return the precision of a code from the number of alerts in each state and 'right'."""
    judged = counts["confirmed"] + counts["rejected"] + counts["corrected"]
    low, high = wilson(counts["right"], judged)
    return CodePrecision(
        code=code,
        confirmed=counts["confirmed"],
        rejected=counts["rejected"],
        corrected=counts["corrected"],
        open=counts["open"],
        precision=counts["right"] / judged if judged else None,
        low=low,
        high=high,
    )


def alert_row(row: Any) -> AlertRow:
    """A row of COLUMNS as the store gives it."""
    return AlertRow(
        id=row.id,
        alert=Alert.model_validate(row.alert),
        round=row.round,
        table=row.table_name,
        camera=row.camera,
        dealer=row.dealer,
        at=row.at,
        state=row.state,
        decided_by=row.decided_by,
        decided_at=row.decided_at,
        bundle=row.bundle,
        bundle_sha256=row.bundle_sha256,
        clip=row.clip,
        recording_id=row.recording_id,
        case=row.is_case,
        source=row.source,
        difference_cents=row.difference_cents,
        further_clips=row.further_clips or {},
    )
