"""The results of an audit, put into the store."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

from settlement.record import RoundRecord, read_rounds
from settlement.settle import settle
from surveillance.alerts import Alert, read_alerts
from surveillance.live.versions import versions_of
from surveillance.store import NewAlert, NewRound, RecordingRow, Store
from vision.table import TableFile, load_table


def take_results(
    store: Store, row: RecordingRow, out: Path, pictures_under: str, weights: Path
) -> tuple[int, int]:
    """Put an audit's rounds and alerts into the store; gives back how many of each.

    `pictures_under` is the output folder's place within the evidence folder. The same results
    taken twice are there once. Raises FeltwatchError when the files are damaged.
    """
    table_file = Path(row.table_file)
    table = load_table(table_file)
    versions = store.versions.note_set(versions_of(table, table_file.read_bytes(), weights))
    rounds = read_rounds(out / "rounds.jsonl")
    alerts = read_alerts(out / "alerts.jsonl")
    own: dict[str | None, list[Alert]] = defaultdict(list)
    for alert in alerts:
        own[alert.round_id].append(alert)
    for record in rounds:
        stored = store.rounds.add(_round(row, record, table, versions))
        for alert in own.pop(record.round_id, ()):
            store.alerts.add(_alert(row, alert, table.table, stored.id, pictures_under))
    for rest in own.values():
        for alert in rest:
            store.alerts.add(_alert(row, alert, table.table, None, pictures_under))
    return len(rounds), len(alerts)


def source_of(row: RecordingRow) -> str:
    """What names the stream and the run in the store."""
    return f"recording {row.id}"


def camera_of(row: RecordingRow) -> str:
    """The camera's name of rounds from a recording: that of its file."""
    return Path(row.file).name


def begun_at(row: RecordingRow) -> datetime:
    """When a recording began: its file was written last when it ended."""
    return datetime.fromtimestamp(row.mtime, UTC) - timedelta(seconds=row.duration_s or 0.0)


def _at(row: RecordingRow, seconds: str | None) -> datetime:
    return begun_at(row) + timedelta(seconds=float(seconds or 0))


def _round(row: RecordingRow, record: RoundRecord, table: TableFile, versions: int) -> NewRound:
    return NewRound(
        table=table.table,
        camera=camera_of(row),
        round_id=record.round_id,
        game=record.game,
        started_at=_at(row, record.start_s),
        ended_at=_at(row, record.end_s or record.start_s),
        source=source_of(row),
        record=record.model_dump(mode="json", exclude_none=True),
        settlement=settle(record, table.rules).model_dump(mode="json"),
        start_s=record.start_s,
        end_s=record.end_s,
        recording_id=row.id,
        undecided=len(record.undecided),
        versions_id=versions,
    )


def _alert(
    row: RecordingRow, alert: Alert, table: str, round_id: int | None, pictures_under: str
) -> NewAlert:
    return NewAlert(
        alert_id=alert.alert_id,
        table=table,
        camera=camera_of(row),
        source=source_of(row),
        code=alert.code,
        severity=alert.severity,
        at=_at(row, alert.end_s or alert.start_s),
        message=alert.message,
        round=round_id,
        seat=alert.seat,
        wager=alert.wager,
        start_s=alert.start_s,
        end_s=alert.end_s,
        seen=alert.seen,
        due=alert.due,
        rule=alert.rule,
        pictures=tuple(f"{pictures_under}/{name}" for name in alert.pictures),
        recording_id=row.id,
    )
