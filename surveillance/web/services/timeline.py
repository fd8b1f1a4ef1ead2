"""The marks of a recording's timeline: from the store, and of an audit that goes on."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from surveillance.store import AlertRow, RoundRow
from surveillance.web.schemas.recordings import TimelineAlert, TimelineRound

_MOST_FILES = 16
_ROUNDS, _ALERTS = "rounds.jsonl", "alerts.jsonl"

Marks = tuple[list[TimelineRound], list[TimelineAlert]]


def round_mark(row: RoundRow, first_s: float) -> TimelineRound:
    """A stored round; `first_s` is the stream's clock at the first image, in seconds."""
    start = _seconds(row.start_s, first_s) or 0.0
    end = _seconds(row.end_s, first_s)
    return TimelineRound(
        id=row.id, round_id=row.round_id, start_s=start, end_s=start if end is None else end,
        alerts=row.alerts, undecided=row.undecided,
    )  # fmt: skip


def alert_mark(row: AlertRow, first_s: float) -> TimelineAlert:
    """A stored alert; for `first_s` see `round_mark`."""
    own = row.alert
    at = _seconds(own.start_s, first_s)
    end = _seconds(own.end_s, first_s)
    return TimelineAlert(
        id=row.id, alert_id=own.alert_id, round_id=own.round_id, code=own.code,
        severity=own.severity, seat=own.seat, wager=own.wager,
        at_s=at if at is not None else end or 0.0, end_s=end if end is not None else at or 0.0,
        message=own.message, state=row.state,
    )  # fmt: skip


@dataclass(slots=True)
class _Read:
    """How far a file was read, and what was found."""

    first_s: float
    inode: int
    offset: int = 0
    rounds: list[TimelineRound] = field(default_factory=list)
    alerts: list[TimelineAlert] = field(default_factory=list)

    def goes_on(self, first_s: float, now: os.stat_result) -> bool:
        """Whether it is still that file; an audit begun again writes another, or a shorter one."""
        same = (self.first_s, self.inode) == (first_s, now.st_ino)
        return same and now.st_size >= self.offset


class SoFar:
    """Reads what audits that go on have decided; of a file that grew only what is new.

    A night's rounds are tens of megabytes, and the page asks every few seconds.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: OrderedDict[Path, _Read] = OrderedDict()
        self._results: tuple[tuple[Path, int, float], Marks] | None = None

    def of_audit(self, work: Path, out: Path, first_s: float) -> Marks:
        """The marks of an audit that is not done, by its work folder and its results.

        The work folder goes when the last image was looked at. Until the results are in
        the store, which takes a while with many clips, they are in `out`.
        """
        if work.is_dir():
            return self.read(work / _ROUNDS, first_s)
        try:
            key = (out, (out / _ALERTS).stat().st_mtime_ns, first_s)
            with self._lock:
                if self._results is None or self._results[0] != key:
                    self._results = key, _of_results(out, first_s)
                rounds, alerts = self._results[1]
        except (OSError, ValueError, KeyError):
            return [], []
        return list(rounds), list(alerts)

    def read(self, path: Path, first_s: float) -> Marks:
        """The marks of an audit's rounds; none without a file.

        A line that is being written is left out. For `first_s` see `round_mark`.
        """
        with self._lock:
            try:
                with path.open("rb") as file:
                    status = os.fstat(file.fileno())
                    known = self._files.pop(path, None)
                    if known is None or not known.goes_on(first_s, status):
                        known = _Read(first_s, status.st_ino)
                    file.seek(known.offset)
                    for line in file:
                        if not line.endswith(b"\n"):
                            break
                        known.offset += len(line)
                        _take(line, known)
            except OSError:
                return [], []
            self._files[path] = known
            if len(self._files) > _MOST_FILES:
                self._files.popitem(last=False)
            return list(known.rounds), list(known.alerts)


def _of_results(out: Path, first_s: float) -> Marks:
    alerts = list(_lines(out / _ALERTS))
    many = Counter(alert.get("round_id") for alert in alerts)
    rounds = [_round(record, many[record["round_id"]], first_s) for record in _lines(out / _ROUNDS)]
    starts = {one.round_id: one.start_s for one in rounds}
    marks = [_mark(one, starts.get(str(one.get("round_id")), 0.0), first_s) for one in alerts]
    return rounds, marks


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        for line in file:
            yield json.loads(line)


def _take(line: bytes, into: _Read) -> None:
    try:
        data = json.loads(line)
        record, own = data["record"], data["alerts"]
    except (ValueError, KeyError):
        return
    mark = _round(record, len(own), into.first_s)
    into.rounds.append(mark)
    into.alerts += [_mark(alert, mark.start_s, into.first_s) for alert in own]


def _round(record: dict[str, Any], alerts: int, first_s: float) -> TimelineRound:
    start = _seconds(record.get("start_s"), first_s) or 0.0
    return TimelineRound(
        id=None, round_id=record["round_id"], start_s=start,
        end_s=_seconds(record.get("end_s"), first_s) or start, alerts=alerts,
        undecided=len(record.get("undecided", ())),
    )  # fmt: skip


def _mark(alert: dict[str, Any], start_s: float, first_s: float) -> TimelineAlert:
    at = _seconds(alert.get("start_s"), first_s) or start_s
    return TimelineAlert(
        id=None, alert_id=alert["alert_id"], round_id=alert.get("round_id"),
        code=alert["code"], severity=alert["severity"], seat=alert.get("seat"),
        wager=alert.get("wager"), at_s=at, end_s=_seconds(alert.get("end_s"), first_s) or at,
        message=alert["message"], state="open",
    )  # fmt: skip


def _seconds(text: str | None, first_s: float) -> float | None:
    return None if text is None else max(0.0, float(text) - first_s)
