"""Entries that the store does not have yet: in the journal, else in memory.

The journal comes first. When it cannot be written, entries are held in memory until the journal
or the store takes them; that they are is kept in the journal's reserved space, so that even after
a crash the gap is known.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from surveillance.live.entries import (
    Entry,
    GapEntry,
    IncidentEntry,
    RoundEntry,
    kind_of_entry,
    to_bytes,
)
from surveillance.live.journal import Gap, Journal, JournalError, Watched

MOST_HELD_BYTES = 256 * 2**20
"""Entries held in memory while the journal cannot be written; beyond it the oldest are lost."""
ENDED = "the server ended while neither the journal nor the store could be written"
TOO_MUCH = "neither the journal nor the store could be written, and the memory for it was full"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Waiting:
    """An entry on its way to the store; `number` in the journal, None for one in memory."""

    kind: str
    body: bytes
    number: int | None = None
    camera: str = ""
    table: str = ""
    at: float | None = None
    """Of a round or incident, s since 1970: what a gap is counted by."""


class Inbox:
    """The entries that wait, in the order they came; for any number of threads."""

    def __init__(self, journal: Journal, most_held_bytes: int = MOST_HELD_BYTES) -> None:
        """Over this journal; what an earlier run could not write becomes a gap."""
        self._journal = journal
        self._most_held_bytes = most_held_bytes
        self._lock = threading.RLock()
        self._held: deque[Waiting] = deque()
        self._lost: dict[str, Gap] = {}
        self._marked: set[str] = set()
        self._delivered: set[int] = set()
        self._lent: dict[Waiting, int | None] = {}
        """Entries that `oldest` returned from memory, and their number once they are journaled."""
        self._last_round: dict[str, int] = {}
        self.refused = 0
        self.down_since: datetime | None = None
        self.down_why = ""
        with contextlib.suppress(JournalError):
            journal.retry_refused()
            for gap in journal.gaps():
                self._end_gap(gap, ENDED)

    def add_camera(self, camera: str, table: str) -> None:
        """Make room in the journal for what is kept of a camera."""
        with contextlib.suppress(JournalError):
            self._journal.add_camera(camera, table)

    def last_round(self, camera: str) -> int:
        """Return the number of a camera's last decided round that is known here, else 0."""
        with contextlib.suppress(JournalError):
            return max(self._last_round.get(camera, 0), self._journal.last_round(camera))
        return self._last_round.get(camera, 0)

    def watched(self, camera: str) -> Watched | None:
        """Return until when all of a camera came here, if it is known."""
        with contextlib.suppress(JournalError):
            return self._journal.watched(camera)
        return None

    def set_watched(self, camera: str, watched: Watched | None) -> None:
        """Keep until when all of a camera came here; None: nobody is to watch it any more."""
        with contextlib.suppress(JournalError):
            self._journal.set_watched(camera, watched)

    def unwatch_others(self, cameras: Collection[str]) -> None:
        """Nobody is to watch any camera but these."""
        with contextlib.suppress(JournalError):
            self._journal.unwatch_others(cameras)

    def put(self, entry: Entry) -> None:
        """Add an entry; on return it is in the journal, or in memory where that fails."""
        waiting = _waiting(entry)
        number = _round_number(entry)
        with self._lock:
            if number:
                known = self._last_round.get(waiting.camera, 0)
                self._last_round[waiting.camera] = max(known, number)
            self.write_held()
            if not self._held and self._write(waiting):
                return
            self._held.append(waiting)
            while len(self._held) > 1 and self._held_bytes() > self._most_held_bytes:
                self._lose(self._held.popleft(), TOO_MUCH)
            self._mark()

    def oldest(self) -> list[Waiting]:
        """Return the next entries for the store: those of the journal, then those in memory."""
        with self._lock:
            self._lent.clear()
            self.write_held()
            found: list[Waiting] = []
            with contextlib.suppress(JournalError):
                after = 0
                while not found and (entries := self._journal.entries(after)):
                    after = entries[-1].id
                    fresh = (e for e in entries if e.id not in self._delivered)
                    found = [Waiting(e.kind, e.body, e.id) for e in fresh]
            if not found:
                found = list(self._held)[:16]
                self._lent.update(dict.fromkeys(found))
            return found

    def done(self, waiting: Waiting) -> None:
        """Mark an entry as stored."""
        with self._lock:
            number = self._number(waiting)
            if number is None:
                self._remove_held(waiting)
                self._mark()
                return
            self._delivered.add(number)
            self._remove_delivered()

    def refuse(self, waiting: Waiting, why: str) -> None:
        """Set aside an entry that the store refuses: it stays in the journal."""
        with self._lock:
            self.refused += 1
            number = self._number(waiting)
            if number is None:
                self._remove_held(waiting)
                self._lose(waiting, f"the store does not take it: {why}")
                self._mark()
                return
            try:
                self._journal.refuse(number, why)
            except JournalError as error:
                log.error("%s", error)
                self._delivered.add(number)

    def counts(self) -> tuple[int, int]:
        """Return how many entries wait in the journal and in memory."""
        with self._lock:
            try:
                return self._journal.count() - len(self._delivered), len(self._held)
            except JournalError:
                return 0, len(self._held)

    def write_held(self) -> None:
        """Write what is in memory into the journal as far as it can be written now."""
        with self._lock:
            while self._held and (number := self._write(self._held[0])):
                journaled = self._held.popleft()
                if journaled in self._lent:
                    self._lent[journaled] = number
            if not self._held:
                for gap in list(self._lost.values()):
                    if self._end_gap(gap, TOO_MUCH):
                        del self._lost[gap.camera]
                self._mark()

    def _number(self, waiting: Waiting) -> int | None:
        """Its number in the journal, which may have taken it while it was brought from memory."""
        return self._lent.get(waiting) if waiting.number is None else waiting.number

    def _remove_held(self, waiting: Waiting) -> None:
        # It is gone where the memory was full meanwhile.
        with contextlib.suppress(ValueError):
            self._held.remove(waiting)

    def _write(self, waiting: Waiting) -> int:
        """Write an entry into the journal; returns its number there, 0 where that fails."""
        last_round = self._last_round.get(waiting.camera, 0) if waiting.kind == "round" else 0
        try:
            number = self._journal.add(waiting.kind, waiting.body, waiting.camera, last_round)
        except JournalError as error:
            if self.down_since is None:
                self.down_since = datetime.now(UTC)
                log.error("rounds are held in memory only: %s", error)
            self.down_why = str(error)
            return 0
        if self.down_since is not None:
            log.warning("the journal is written again")
        self.down_since, self.down_why = None, ""
        return number

    def _held_bytes(self) -> int:
        return sum(len(one.body) for one in self._held)

    def _lose(self, waiting: Waiting, why: str) -> None:
        log.error("camera %s: an entry of kind %r is lost: %s", waiting.camera, waiting.kind, why)
        if waiting.at is not None:
            known = self._lost.get(waiting.camera)
            self._lost[waiting.camera] = _wider(known, waiting)

    def _mark(self) -> None:
        """Keep in the journal's reserved space what is in no file, and no more than that."""
        gaps = dict(self._lost)
        for waiting in self._held:
            if waiting.at is not None:
                gaps[waiting.camera] = _wider(gaps.get(waiting.camera), waiting)
        for camera in self._marked - gaps.keys():
            self._set_gap(Gap(camera, "", 0.0, 0.0, 0))
        for gap in gaps.values():
            self._set_gap(gap)
        self._marked = set(gaps)

    def _set_gap(self, gap: Gap) -> None:
        try:
            self._journal.set_gap(gap)
        except JournalError as error:
            log.error("a gap cannot be kept: %s", error)

    def _end_gap(self, gap: Gap, why: str) -> bool:
        """Make a record of a gap; returns whether the journal has it."""
        entry = GapEntry(
            camera=gap.camera, table=gap.table, since=gap.since, until=gap.until,
            rounds=gap.rounds, why=why,
        )  # fmt: skip
        if not self._write(_waiting(entry)):
            return False
        self._set_gap(replace(gap, rounds=0))
        return True

    def _remove_delivered(self) -> None:
        for number in sorted(self._delivered):
            try:
                self._journal.remove(number)
            except JournalError as error:
                log.error("%s", error)
                return
            self._delivered.discard(number)


def _waiting(entry: Entry) -> Waiting:
    body = to_bytes(entry)
    kind = kind_of_entry(entry)
    match entry:
        case RoundEntry():
            facts = entry.facts
            return Waiting(kind, body, None, facts.camera, facts.table, entry.shown_at)
        case IncidentEntry():
            at = entry.at if entry.act == "began" else None
            return Waiting(kind, body, None, entry.facts.camera, entry.facts.table, at)
    return Waiting(kind, body, None, entry.camera)


def _round_number(entry: Entry) -> int:
    if not isinstance(entry, RoundEntry):
        return 0
    digits = entry.judged.record.round_id.rsplit("-", 1)[-1]
    return int(digits) if digits.isdigit() else 0


def _wider(known: Gap | None, waiting: Waiting) -> Gap:
    assert waiting.at is not None
    if known is None:
        return Gap(waiting.camera, waiting.table, waiting.at, waiting.at, 1)
    return replace(
        known,
        since=min(known.since, waiting.at),
        until=max(known.until, waiting.at),
        rounds=known.rounds + 1,
    )
