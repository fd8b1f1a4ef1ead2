"""The results of an audit, put into the store, and a bundle made for each alert."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from pathlib import Path

from settlement.compare.comparison import compare, settlement_as_judged
from settlement.compare.open_cards import open_cards
from settlement.record import RoundRecord, read_rounds
from settlement.settle import settle
from surveillance.alerts.judged_round import JudgedRound
from surveillance.alerts.model import Alert, read_alerts
from surveillance.alerts.unread import unread_of
from surveillance.audit import bundles as audit_bundles
from surveillance.audit.bundles import AuditBundles
from surveillance.audit.footage import FOR_BUNDLES
from surveillance.evidence.bundle import Chain
from surveillance.evidence.versions import versions_of
from surveillance.store import AlertRow, RecordingRow, Store
from surveillance.store.record_rows import RunFacts
from vision.geometry.table import load_table

BUNDLES = "bundles"
"""Folder of the bundles, within that of the results."""


def take_results(
    store: Store, row: RecordingRow, out: Path, under: str, weights: Path, chain: Chain
) -> tuple[int, int]:
    """Put an audit's rounds and alerts into the store; returns how many of each.

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
    # It may have been renamed since an earlier audit stored these rounds; they are kept once.
    known = store.rounds.of_recording(row.id, 1) or store.alerts.of_recording(row.id, 1)
    run = RunFacts(
        camera=known[0].camera if known else camera_of(row),
        table=table.table,
        source=source_of(row),
        place=lambda name: f"{under}/{name}",
        versions_id=versions,
        recording_id=row.id,
    )

    def add(record: RoundRecord | None, mine: list[Alert]) -> None:
        new = None
        if record is not None:
            unread = unread_of(record, table.rules)
            settlement = settle(record, table.rules)
            if open_cards(record):
                findings = compare(record, settlement, table.rules)
                settlement = settlement_as_judged(record, settlement, findings, table.rules)
            judged = JudgedRound(record, settlement, tuple(mine), unread=unread)
            new = run.round(
                judged, _at(row, record.start_s), _at(row, record.end_s or record.start_s)
            )
        rows = [run.alert(alert, _at(row, alert.end_s or alert.start_s)) for alert in mine]
        stored = store.record.add(new, rows)
        taken.extend((kept, alert, record) for kept, alert in zip(stored.alerts, mine, strict=True))

    taken: list[tuple[AlertRow, Alert, RoundRecord | None]] = []
    for record in rounds:
        add(record, own.pop(record.round_id, []))
    for rest in own.values():
        add(None, rest)
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
    further = {
        camera: f"{under}/{name}" for camera, name in bundles.small_further_clips(alert).items()
    }
    first = f"{under}/{small}" if small else None
    store.alerts.set_bundle(row.id, path, ref.sha256, first, further)


def source_of(row: RecordingRow) -> str:
    """Return the name of the stream and its run in the store."""
    return f"recording {row.id}"


def camera_of(row: RecordingRow) -> str:
    """The camera's name of rounds from a recording: that of its file."""
    return Path(row.file).name


def begun_at(row: RecordingRow) -> datetime:
    """When a recording began: its file was written last when it ended."""
    return audit_bundles.begun_at(row.mtime, row.duration_s)


def _at(row: RecordingRow, seconds: str | None) -> datetime:
    return audit_bundles.time_of(begun_at(row), seconds)
