"""The results of an audit, put into the store, and a bundle made for each alert."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from pathlib import Path

from settlement.record import RoundRecord, read_rounds
from settlement.settle import settle
from surveillance.alerts.model import Alert, read_alerts
from surveillance.audit import bundles as audit_bundles
from surveillance.audit.bundles import AuditBundles
from surveillance.audit.footage import FOR_BUNDLES
from surveillance.evidence.bundle import Chain
from surveillance.evidence.versions import versions_of
from surveillance.store import AlertRow, NewAlert, NewRound, RecordingRow, Store
from vision.geometry.table import TableFile, load_table

BUNDLES = "bundles"
"""Folder of the bundles, within that of the results."""


def take_results(
    store: Store, row: RecordingRow, out: Path, under: str, weights: Path, chain: Chain
) -> tuple[int, int]:
    """Put an audit's rounds and alerts into the store; gives back how many of each.

    `under` is the output folder's place within the evidence folder, whose log is `chain`.
    The same results taken twice are there once, and so are their bundles. Raises
    FeltwatchError when the files are damaged or a bundle cannot be written.
    """
    table_file = Path(row.table_file)
    table = load_table(table_file)
    bundles = _bundles(row, out, chain, table.table)
    used = bundles.versions if bundles else versions_of(table, table_file.read_bytes(), weights)
    versions = store.versions.note_set(used)
    rounds = read_rounds(out / "rounds.jsonl")
    alerts = read_alerts(out / "alerts.jsonl")
    own: dict[str | None, list[Alert]] = defaultdict(list)
    for alert in alerts:
        own[alert.round_id].append(alert)
    taken: list[tuple[AlertRow, Alert, RoundRecord | None]] = []
    for record in rounds:
        stored = store.rounds.add(_round(row, record, table, versions))
        for alert in own.pop(record.round_id, ()):
            new = _alert(row, alert, table.table, stored.id, under)
            taken.append((store.alerts.add(new), alert, record))
    for rest in own.values():
        for alert in rest:
            new = _alert(row, alert, table.table, None, under)
            taken.append((store.alerts.add(new), alert, None))
    if bundles is not None:
        for kept, alert, about in taken:
            if not _has_bundle(kept, chain):
                _bundle(store, bundles, kept, alert, about, under, chain)
        bundles.finish()
    return len(rounds), len(alerts)


def _bundles(row: RecordingRow, out: Path, chain: Chain, table: str) -> AuditBundles | None:
    # An audit of an earlier version left nothing for bundles.
    if not (out / FOR_BUNDLES).is_dir():
        return None
    return AuditBundles(
        out, out / BUNDLES, chain, table=table, camera=camera_of(row), begun_at=begun_at(row)
    )


def _has_bundle(row: AlertRow, chain: Chain) -> bool:
    return row.bundle is not None and (chain.path.parent / row.bundle).is_file()


def _bundle(
    store: Store,
    bundles: AuditBundles,
    row: AlertRow,
    alert: Alert,
    record: RoundRecord | None,
    under: str,
    chain: Chain,
) -> None:
    ref = bundles.write(alert, record)
    path = ref.path.resolve().relative_to(chain.path.parent.resolve()).as_posix()
    small = bundles.small_clip(alert)
    # What browsers play at once is played from within the bundle.
    store.alerts.set_bundle(row.id, path, ref.sha256, f"{under}/{small}" if small else None)


def source_of(row: RecordingRow) -> str:
    """What names the stream and the run in the store."""
    return f"recording {row.id}"


def camera_of(row: RecordingRow) -> str:
    """The camera's name of rounds from a recording: that of its file."""
    return Path(row.file).name


def begun_at(row: RecordingRow) -> datetime:
    """When a recording began: its file was written last when it ended."""
    return audit_bundles.begun_at(row.mtime, row.duration_s)


def _at(row: RecordingRow, seconds: str | None) -> datetime:
    return audit_bundles.time_of(begun_at(row), seconds)


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
    row: RecordingRow, alert: Alert, table: str, round_id: int | None, under: str
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
        pictures=tuple(f"{under}/{name}" for name in alert.pictures),
        recording_id=row.id,
    )
