"""Alerts of the store that have no bundle, made up again from what is still there."""

from __future__ import annotations

import logging
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import ValidationError

from settlement.errors import FeltwatchError
from settlement.record import RoundRecord
from surveillance.alerts.model import Alert
from surveillance.live.open_alert import CameraFacts, OpenAlert
from surveillance.store import AlertFilter, AlertRow, Store

WITHIN = timedelta(days=7)
"""Alerts older than this are not looked through at a start."""
_PAGE = 200
UNKEPT = " Evidence could not be kept"
"""How what is told at an alert begins, after its own words."""

log = logging.getLogger(__name__)


def without_bundle(
    store: Store, evidence_dir: Path, kept: Collection[int], now: datetime | None = None
) -> list[int]:
    """Rows of cameras' alerts that have no bundle and are not in `kept`, oldest first."""
    found: list[int] = []
    cursor = None
    since = (now or datetime.now(UTC)) - WITHIN
    while True:
        page = store.alerts.page(AlertFilter(since=since), cursor, _PAGE)
        for row in page.rows:
            # Whose evidence was removed to make room has no pictures any more either.
            lacks = row.bundle is None and row.recording_id is None and bool(row.pictures)
            # Another server may share the database; its evidence lies elsewhere.
            if lacks and row.id not in kept and (evidence_dir / row.camera).is_dir():
                found.append(row.id)
        cursor = page.next
        if cursor is None:
            return sorted(found)


def rebuilt(store: Store, evidence_dir: Path, row: AlertRow) -> OpenAlert:
    """An alert with what the store and the evidence folder hold of it. Raises FeltwatchError."""
    missing = ["the clip: it was not kept", "the detections: they were not kept"]
    record: RoundRecord | None = None
    settlement: dict[str, Any] | None = None
    game, versions_id = "", None
    if row.round is not None:
        kept = store.rounds.get(row.round)
        game, versions_id, settlement = kept.game, kept.versions_id, kept.settlement
        try:
            record = RoundRecord.model_validate(kept.record)
        except ValidationError as error:
            raise FeltwatchError(f"round {row.round}: its record cannot be read") from error
    pictures = {}
    for name in row.pictures:
        try:
            pictures[PurePosixPath(name).name] = (evidence_dir / name).read_bytes()
        except OSError:
            missing.append(f"the picture {PurePosixPath(name).name}: it was not kept")
    missing.append("the table file: it was not kept")
    versions: dict[str, dict[str, Any]] = {}
    if versions_id is not None:
        for kind, version in store.versions.of_set(versions_id).items():
            versions[kind] = {"name": version.name, "sha256": version.sha256, **version.detail}
    return OpenAlert(
        row=row,
        alert=_alert(row, None if record is None else record.round_id),
        facts=CameraFacts(row.camera, row.table, game, row.source, b"", versions, versions_id),
        record=record,
        settlement=settlement,
        detections=[],
        pictures=pictures,
        missing=tuple(missing),
    )


def _alert(row: AlertRow, round_id: str | None) -> Alert:
    return Alert(
        alert_id=row.alert_id, round_id=round_id, code=row.code, severity=row.severity,
        seat=row.seat, wager=row.wager, start_s=row.start_s, end_s=row.end_s, seen=row.seen,
        due=row.due, rule=row.rule, message=own_words(row.message),
        pictures=tuple(f"evidence/{PurePosixPath(name).name}" for name in row.pictures),
    )  # fmt: skip


def own_words(message: str) -> str:
    """An alert's message without what was told of its evidence.

    >>> own_words("Seat 3 was overpaid. Evidence could not be kept: no space left on disk.")
    'Seat 3 was overpaid.'
    """
    return message.split(UNKEPT, 1)[0]
