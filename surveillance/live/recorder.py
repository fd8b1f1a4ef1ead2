"""The recorder: what the cameras report goes into the journal, and from there into the store.

A decided round counts from the moment the journal has it. A thread of its own brings it into
the store in one transaction with its alerts and their pending evidence, then publishes it. While
the store is down, entries wait; what is brought twice is stored once.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from settlement.declared import FeedLine
from settlement.errors import FeltwatchError
from surveillance.alerts.catalogue import alert_code
from surveillance.alerts.judged_round import Detection
from surveillance.alerts.model import Alert
from surveillance.evidence.bundle import SigningKey
from surveillance.live.entries import (
    CameraEntry,
    ClipEntry,
    Entry,
    EvidenceContent,
    GapEntry,
    IncidentEntry,
    LogEntry,
    NoteEntry,
    RoundEntry,
    camera_of,
    from_bytes,
    kind_of_entry,
    picture_names,
)
from surveillance.live.event_bus import EventBus
from surveillance.live.evidence_queue import EvidenceQueue
from surveillance.live.inbox import Inbox, Waiting
from surveillance.live.journal import Journal, Watched
from surveillance.live.news import Hooks, News, moment
from surveillance.live.open_alert import CameraFacts
from surveillance.live.record_status import RecordStatus
from surveillance.store import NewAlert, RoundFilter, Store, StoreDownError
from surveillance.store.record_rows import RunFacts

JOURNAL = "journal.sqlite"
"""Name of the journal in the data folder."""
RETRY_FIRST_S = 0.5
RETRY_MOST_S = 10.0
ASK_EVERY_S = 2.0
"""How often the store is asked for nothing but an answer."""
_LOOK_EVERY_S = 1.0

log = logging.getLogger(__name__)


class Recorder:
    """Takes what cameras report, from any number of threads, and stores it exactly once."""

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        evidence_dir: Path,
        webhooks: Hooks | None = None,
        key: SigningKey | None = None,
        journal: Journal | None = None,
    ) -> None:
        """Bundles, images and clips go below `evidence_dir`; `key` signs its log.

        Without `journal` it lies beside `evidence_dir`.
        """
        self._store = store
        self._bus = bus
        self._news = News(bus, webhooks)
        self._journal = journal or Journal(evidence_dir.parent / JOURNAL)
        self._inbox = Inbox(self._journal)
        self.evidence = EvidenceQueue(store, evidence_dir, self._news.alert_changed, key)
        self._versions: dict[str, int] = {}
        self._began = datetime.now(UTC)
        self._has_caught_up = False
        self._store_down: tuple[datetime, str] | None = None
        self._unanswered: tuple[datetime, str] | None = None
        self._status = RecordStatus()
        self._fresh = threading.Event()
        self._closing = threading.Event()
        self._until = 0.0
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()
        self._asking = threading.Thread(target=self._ask_store, name="store asked", daemon=True)
        self._asking.start()

    @property
    def status(self) -> RecordStatus:
        """Status of the record as published last."""
        return self._status

    def take(self, entry: Entry) -> None:
        """Take an entry of a camera; it is journaled on return, or the status says it is not."""
        if isinstance(entry, ClipEntry):
            # The camera's own spool is emptied whenever its process starts again.
            entry = self.evidence.save_clips(entry)
        self._inbox.put(entry)
        self._publish_status()
        self._fresh.set()

    def log(
        self, by: str, act: str, target: str, detail: dict[str, Any], address: str, at: datetime
    ) -> None:
        """Take a line of the audit log that the store cannot take now."""
        self.take(
            LogEntry(
                by=by, act=act, target=target, detail=detail, address=address, at=at.timestamp()
            )
        )

    def add_camera(self, camera: str, table: str) -> None:
        """Prepare for a camera's entries, while the disk still has space."""
        self.evidence.add_camera(camera)
        self._inbox.add_camera(camera, table)

    def watched(self, camera: str) -> Watched | None:
        """Return until when all of a camera was taken by the server before, if it is known."""
        return self._inbox.watched(camera)

    def set_watched(self, camera: str, watched: Watched | None) -> None:
        """Keep until when all of a camera was taken; None: nobody is to watch it any more."""
        self._inbox.set_watched(camera, watched)

    def unwatch_others(self, cameras: Collection[str]) -> None:
        """Nobody is to watch any camera but these."""
        self._inbox.unwatch_others(cameras)

    def last_journaled(self, camera: str) -> int:
        """Return the number of a camera's last round that was decided here, else 0."""
        return self._inbox.last_round(camera)

    def last_round(self, camera: str) -> int:
        """Return the number of a camera's last decided round, stored or not, else 0."""
        known = self._inbox.last_round(camera)
        try:
            rows = self._store.rounds.page(RoundFilter(camera=camera), limit=1, whole=False).rows
        except FeltwatchError as error:
            log.warning("camera %s: its rounds in the store are not known now: %s", camera, error)
            return known
        number = rows[0].round_id.rsplit("-", 1)[-1] if rows else "0"
        return max(known, int(number) if number.isdigit() else 0)

    def declared(self, table: str) -> tuple[FeedLine, ...]:
        """Return what people declared of a table, by the wall clock; none while it is not known."""
        try:
            rows = self._store.declarations.in_force(table, datetime.now(UTC))
        except FeltwatchError as error:
            log.warning("table %s: what is declared of it is not known now: %s", table, error)
            return ()
        return tuple(
            FeedLine(at_s=f"{row.at.timestamp():.3f}", **row.facts.model_dump(exclude_none=True))
            for row in rows
        )

    def wait_stored(self, timeout_s: float) -> bool:
        """Wait until all that was taken is in the store; returns whether it is."""
        until = time.monotonic() + timeout_s
        while time.monotonic() < until:
            if self._inbox.counts() == (0, 0):
                return True
            time.sleep(0.01)
        return False

    def close(self, timeout_s: float = 20.0) -> None:
        """End within `timeout_s`; what is not stored by then waits in the journal."""
        self._until = time.monotonic() + timeout_s
        self._closing.set()
        self._fresh.set()
        self._thread.join(timeout_s)
        journaled, held = self._inbox.counts()
        if journaled or held:
            log.warning("record: %d entries wait in the journal, %d in memory", journaled, held)
        self.evidence.close(max(0.0, self._until - time.monotonic()))
        self._journal.close()

    def _run(self) -> None:
        pause_s = RETRY_FIRST_S
        while True:
            found = self._inbox.oldest()
            is_down = not all(self._bring(waiting) for waiting in found)
            self._publish_status()
            if is_down:
                if self._closing.is_set():
                    return
                self._closing.wait(pause_s)
                pause_s = min(pause_s * 2, RETRY_MOST_S)
                continue
            pause_s = RETRY_FIRST_S
            if found:
                if self._closing.is_set() and time.monotonic() >= self._until:
                    return
                continue
            self._catch_up()
            self._store_down = self._unanswered
            if self._closing.is_set():
                return
            self._fresh.wait(_LOOK_EVERY_S)
            self._fresh.clear()

    def _bring(self, waiting: Waiting) -> bool:
        """Bring an entry into the store; returns whether the store can be written."""
        try:
            self._store_entry(from_bytes(waiting.kind, waiting.body))
        except StoreDownError as error:
            if self._store_down is None:
                log.error("the record waits in the journal: %s", error)
                self._store_down = (datetime.now(UTC), str(error))
            return False
        except Exception as error:
            # One entry that cannot be stored must not hold up all that come after it.
            log.exception("an entry of kind %r is not taken by the store", waiting.kind)
            self._inbox.refuse(waiting, f"{type(error).__name__}: {error}")
            return True
        if self._store_down is not None:
            log.warning("the store is written again")
            self._store_down = None
        self._inbox.done(waiting)
        return True

    def _ask_store(self) -> None:
        """Find out whether the store answers at all; calls that wait in vain end with it."""
        while not self._closing.wait(ASK_EVERY_S):
            try:
                self._store.database.ping()
            except StoreDownError as error:
                self._unanswered = self._unanswered or (datetime.now(UTC), str(error))
            else:
                self._unanswered = None

    def _catch_up(self) -> None:
        """When all of an earlier run is stored: clips that it waited for will not come."""
        if self._has_caught_up:
            return
        try:
            self.evidence.give_up_earlier(self._began)
        except FeltwatchError as error:
            log.error("evidence of an earlier run cannot be looked for: %s", error)
        self._has_caught_up = True

    def _store_entry(self, entry: Entry) -> None:
        match entry:
            case RoundEntry() | IncidentEntry() | NoteEntry() | GapEntry() if self._is_superseded(
                entry
            ):
                pass
            case RoundEntry():
                self._store_round(entry)
            case IncidentEntry():
                self._store_incident(entry)
            case ClipEntry():
                self.evidence.take_clip(entry)
            case NoteEntry():
                self._store.health.note(
                    entry.camera, entry.state, entry.message, moment(entry.at), entry=entry.entry_id
                )
            case LogEntry():
                self._store.audit.write(
                    entry.by, entry.act, entry.target, entry.detail, entry.address,
                    moment(entry.at), entry.entry_id,
                )  # fmt: skip
            case CameraEntry():
                self._store.cameras.upsert(
                    entry.camera, entry.table, entry.source, entry.table_file_sha256
                )
            case GapEntry():
                self._store_gap(entry)

    def _store_round(self, entry: RoundEntry) -> None:
        judged = entry.judged
        shown = moment(entry.shown_at)
        run = self._run_facts(entry.facts, shown)
        stored = self._store.record.add(
            run.round(judged, moment(min(entry.started_at, entry.shown_at)), shown),
            [run.alert(alert, shown) for alert in judged.alerts],
            {
                alert.alert_id: _content(alert, entry.facts, judged.detections, judged.pictures)
                for alert in judged.alerts
            },
        )
        assert stored.round is not None
        for row in stored.alerts:
            self._news.alert(row)
        self._news.round(entry, stored.round)
        # An alert is published before its images are written: they take longer.
        self.evidence.write_pictures(entry.facts.folder(shown), judged.pictures)
        for row in stored.alerts:
            self._news.alert_changed(row)

    def _is_superseded(self, entry: RoundEntry | IncidentEntry | NoteEntry | GapEntry) -> bool:
        """Whether another server watched the camera by the time an entry was taken here."""
        if not entry.term:
            return False
        camera = camera_of(entry)
        since = self._store.assignments.superseded_at(camera, entry.term)
        if since is None or entry.taken_at <= since.timestamp():
            return False
        what = f"a {kind_of_entry(entry)}"
        if isinstance(entry, RoundEntry):
            what = entry.judged.record.round_id
        log.warning(
            "camera %s: %s is left to the server that watches it since %s", camera, what, since
        )
        return True

    def _store_incident(self, entry: IncidentEntry) -> None:
        at = moment(entry.at)
        facts, alert = entry.facts, entry.alert
        if entry.act == "began":
            content = _content(alert, facts, (), entry.pictures)
            run = self._run_facts(facts, at)
            stored = self._store.record.add(None, [run.alert(alert, at)], {alert.alert_id: content})
            for row in stored.alerts:
                self._news.alert(row)
            self.evidence.write_pictures(facts.folder(at), entry.pictures)
            for row in stored.alerts:
                self._news.alert_changed(row)
        self._store.health.note(
            facts.camera, entry.incident, alert.message, at, entry.act, entry.entry_id
        )
        self._news.incident(entry)

    def _store_gap(self, entry: GapEntry) -> None:
        """A gap is an alert of its own: a person must know that something may be missing."""
        code = alert_code("GAP")
        since, until = moment(entry.since), moment(entry.until)
        ends = f"{until:%H:%M:%S}"
        if until.date() != since.date():
            ends = f"{until:%Y-%m-%d %H:%M:%S}"
        span = f"{since:%Y-%m-%d %H:%M:%S} to {ends} UTC"
        lost = f"up to {entry.rounds} rounds or incidents of {span} were lost"
        if not entry.rounds:
            lost = f"not watched from {span}, a round of that time may be lost"
        message = f"{entry.camera}: {lost}: {entry.why}."
        stored = self._store.record.add(
            None,
            [
                NewAlert(
                    alert=Alert(
                        alert_id=f"{entry.table}-gap-{since:%Y%m%dT%H%M%S}",
                        code=code.code,
                        severity="medium" if entry.planned else code.severity,
                        message=message,
                        seen=span,
                    ),
                    table=entry.table,
                    camera=entry.camera,
                    source=f"gap#{entry.since:.3f}",
                    at=until,
                    dealer=self._store.dealers.current(entry.table, until),
                )
            ],
        )
        for row in stored.alerts:
            self._news.alert(row)

    def _run_facts(self, facts: CameraFacts, at: datetime) -> RunFacts:
        if facts.source not in self._versions and facts.versions:
            self._versions[facts.source] = self._store.versions.note_set(facts.versions)
        folder = facts.folder(at)
        return RunFacts(
            camera=facts.camera,
            table=facts.table,
            source=facts.source,
            place=lambda path: str(folder / Path(path).name),
            dealer=self._store.dealers.current(facts.table, at),
            versions_id=self._versions.get(facts.source),
        )

    def _publish_status(self) -> None:
        journaled, held = self._inbox.counts()
        down = self._store_down
        status = RecordStatus(
            store_down_since=None if down is None else down[0],
            store_why="" if down is None else down[1],
            journal_down_since=self._inbox.down_since,
            journal_why=self._inbox.down_why,
            waiting=journaled if down is not None else 0,
            held=held,
            refused=self._inbox.refused,
        )
        if status != self._status:
            self._status = status
            self._bus.set_record(status, datetime.now(UTC))


def _content(
    alert: Alert,
    facts: CameraFacts,
    detections: tuple[Detection, ...],
    pictures: dict[str, bytes],
) -> dict[str, Any]:
    own = {name: pictures[name] for name in picture_names(alert) if name in pictures}
    content = EvidenceContent(alert=alert, facts=facts, detections=detections, pictures=own)
    return content.model_dump(mode="json")
