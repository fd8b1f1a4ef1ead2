"""Decided rounds for the tests of the recorder, and a process that reports them."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from surveillance.alerts.judge import judge
from surveillance.live.entries import ClipEntry, NoteEntry, RoundEntry
from surveillance.live.event_bus import EventBus
from surveillance.live.journal import Journal
from surveillance.live.open_alert import CameraFacts
from surveillance.live.recorder import Recorder
from surveillance.store import AlertFilter, AuditFilter, RoundFilter, Store
from tests.surveillance.handmade import RULES, observed_round
from vision.geometry.standard_layout import standard_table

BEGAN = 1_780_000_000.0
FACTS = CameraFacts(
    "c1", "t1", RULES.game, "film#run1", b'table = "t1"\n',
    {"model": {"name": "m", "sha256": "00"}},
)  # fmt: skip
TABLE = standard_table(RULES)


def round_entry(number: int = 1) -> RoundEntry:
    """A round; two of three have an overpaid wager, so an alert."""
    observed = observed_round(number, paid_cents=2500 if number % 3 == 0 else 5000)
    shown = BEGAN + 40.0 * number
    return RoundEntry(
        facts=FACTS, judged=judge(observed, TABLE), started_at=shown - 30, shown_at=shown
    )


def no_clip(entry: RoundEntry) -> ClipEntry:
    ids = tuple(alert.alert_id for alert in entry.judged.alerts)
    return ClipEntry(camera="c1", source=FACTS.source, alert_ids=ids, why="no video is kept")


@contextmanager
def recorder_of(
    store: Store, folder: Path, journal: Journal | None = None, close_s: float = 10.0
) -> Iterator[Recorder]:
    """A recorder over a data folder."""
    recorder = Recorder(store, EventBus(), folder / "evidence", journal=journal)
    recorder.add_camera("c1", "t1")
    try:
        yield recorder
    finally:
        recorder.close(close_s)


def stored(store: Store) -> dict[str, Any]:
    """All rounds with their alerts, without the numbers that a store gives."""
    found: dict[str, Any] = {}
    cursor = None
    while True:
        page = store.rounds.page(RoundFilter(), cursor, 200)
        for row in page.rows:
            alerts = [(a.alert, a.at, a.difference_cents) for a in store.alerts.of_round(row.id)]
            assert row.round_id not in found, "a round is stored twice"
            assert row.alerts == len(alerts)
            found[row.round_id] = (row.started_at, row.record, row.settlement, alerts)
        cursor = page.next
        if cursor is None:
            return found


def lone_alerts(store: Store) -> list[Any]:
    """Alerts of no round, such as gaps."""
    rows = store.alerts.page(AlertFilter(), limit=500).rows
    return [row for row in rows if row.round is None]


def log_and_notes(store: Store) -> tuple[list[str], list[str]]:
    """The rounds of which there is a line in the audit log and a note, as `report` leaves them."""
    lines = store.audit.page(AuditFilter(act="round seen"), limit=500).rows
    notes = store.health.page(limit=500).rows
    return [line.target for line in lines], [note.message for note in notes]


def undisturbed(tmp_path: Path, many: int) -> dict[str, Any]:
    """What a store holds after `many` rounds when nothing goes wrong."""
    folder = tmp_path / "undisturbed"
    with Store.open(f"sqlite:///{folder}/feltwatch.sqlite") as store:
        with recorder_of(store, folder) as recorder:
            for number in range(1, many + 1):
                recorder.take(round_entry(number))
            assert recorder.wait_stored(60 + many)
        return stored(store)


def report(url: str, folder: Path, many: int) -> None:
    """What the process does: reports rounds, from the one after the last journaled on."""
    with Store.open(url) as store, recorder_of(store, folder) as recorder:
        number = recorder.last_round("c1")
        print("began", number, flush=True)
        while number < many:
            number += 1
            entry = round_entry(number)
            recorder.take(entry)
            print("decided", number, flush=True)
            at = datetime.fromtimestamp(entry.shown_at, UTC)
            recorder.log("ann", "round seen", str(number), {}, "", at)
            recorder.take(
                NoteEntry(camera="c1", state="running", message=str(number), at=entry.shown_at)
            )
            if entry.judged.alerts:
                recorder.take(no_clip(entry))
            time.sleep(0.002)
        recorder.wait_stored(60 + many)
        print("done", number, flush=True)


if __name__ == "__main__":
    report(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
