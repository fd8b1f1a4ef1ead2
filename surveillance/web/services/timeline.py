"""The marks of a recording's timeline: from the store, and of an audit that goes on."""

from __future__ import annotations

import json
import os
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from surveillance.web.repositories.recorded import RecordedAlert, RecordedRound
from surveillance.web.schemas.recordings import TimelineAlert, TimelineRound

_MOST_FILES = 16

Marks = tuple[list[TimelineRound], list[TimelineAlert]]


def round_mark(row: RecordedRound, first_s: float) -> TimelineRound:
    """A stored round; `first_s` is the stream's clock at the first picture, in seconds."""
    start = _seconds(row.start_s, first_s) or 0.0
    end = _seconds(row.end_s, first_s)
    return TimelineRound(
        id=row.id, round_id=row.round_id, start_s=start, end_s=start if end is None else end,
        alerts=row.alerts, undecided=row.undecided,
    )  # fmt: skip


def alert_mark(row: RecordedAlert, first_s: float) -> TimelineAlert:
    """A stored alert; for `first_s` see `round_mark`."""
    at = _seconds(row.start_s, first_s)
    end = _seconds(row.end_s, first_s)
    return TimelineAlert(
        id=row.id, alert_id=row.alert_id, round_id=row.alert_id.rpartition("-")[0] or None,
        code=row.code, severity=row.severity, seat=row.seat, wager=row.wager,
        at_s=at if at is not None else end or 0.0, end_s=end if end is not None else at or 0.0,
        message=row.message, state=row.state,
    )  # fmt: skip


@dataclass(slots=True)
class _Read:
    """How far a file was read, and what stood there."""

    first_s: float
    inode: int
    offset: int = 0
    rounds: list[TimelineRound] = field(default_factory=list)
    alerts: list[TimelineAlert] = field(default_factory=list)

    def goes_on(self, first_s: float, now: os.stat_result) -> bool:
        """Whether it is still that file; an audit begun anew writes another, or a shorter one."""
        same = (self.first_s, self.inode) == (first_s, now.st_ino)
        return same and now.st_size >= self.offset


class SoFar:
    """Reads what audits that go on have decided; of a file that grew only what is new.

    A night's rounds are tens of megabytes, and the page asks every few seconds.
    """

    def __init__(self) -> None:
        """Nothing is read yet."""
        self._lock = threading.Lock()
        self._files: OrderedDict[Path, _Read] = OrderedDict()

    def read(self, path: Path, first_s: float) -> Marks:
        """The marks of an audit's rounds; none without a file.

        A line that is being written is left out. For `first_s` see `round_mark`.
        """
        with self._lock:
            try:
                with path.open("rb") as file:
                    told = os.fstat(file.fileno())
                    known = self._files.pop(path, None)
                    if known is None or not known.goes_on(first_s, told):
                        known = _Read(first_s, told.st_ino)
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


def _take(line: bytes, into: _Read) -> None:
    try:
        data = json.loads(line)
        record, own = data["record"], data["alerts"]
    except (ValueError, KeyError):
        return
    start = _seconds(record.get("start_s"), into.first_s) or 0.0
    into.rounds.append(
        TimelineRound(
            id=None, round_id=record["round_id"], start_s=start,
            end_s=_seconds(record.get("end_s"), into.first_s) or start, alerts=len(own),
            undecided=len(record.get("undecided", ())),
        )
    )  # fmt: skip
    into.alerts += [_mark(alert, start, into.first_s) for alert in own]


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
