"""Incidents: what goes on for a while is told once when it begins and once when it ends."""

from __future__ import annotations

import statistics
from collections import deque
from dataclasses import dataclass

from surveillance.alerts.model import IncidentAct

SETTLED_S = 5.0
"""A fault must be gone for so long before its incident has ended ..."""
AGAIN_S = 60.0
"""... and one that comes back so soon after is the same incident."""


@dataclass(frozen=True, slots=True)
class Change:
    """An incident began, ended, or came back before it was forgotten."""

    act: IncidentAct
    kind: str
    words: str
    since_s: float


@dataclass(slots=True)
class _Known:
    words: str
    since_s: float
    seen_s: float
    open: bool = False
    ended_s: float | None = None


class Incidents:
    """Follows the faults of one camera; times are s of any clock that only grows.

    >>> incidents = Incidents()
    >>> [c.act for c in incidents.update({"frozen": ("same picture", 0.0)}, 10.0)]
    ['began']
    >>> incidents.update({"frozen": ("same picture", 0.0)}, 11.0), incidents.update({}, 12.0)
    ([], [])
    >>> [c.act for c in incidents.update({}, 17.0)]
    ['ended']
    """

    def __init__(self, settled_s: float = SETTLED_S, again_s: float = AGAIN_S) -> None:
        self._settled_s, self._again_s = settled_s, again_s
        self._known: dict[str, _Known] = {}

    @property
    def open_kinds(self) -> tuple[str, ...]:
        """Kinds of the incidents that go on."""
        return tuple(kind for kind, own in self._known.items() if own.open)

    def update(self, faults: dict[str, tuple[str, float]], now_s: float) -> list[Change]:
        """Take the present faults, kind to (words, how long to wait before it is told, s)."""
        changes = []
        for kind, (words, after_s) in faults.items():
            own = self._known.setdefault(kind, _Known(words, now_s, now_s))
            own.words, own.seen_s = words, now_s
            if own.ended_s is not None:
                own.open, own.ended_s = True, None
                changes.append(Change("again", kind, words, own.since_s))
            elif not own.open and now_s - own.since_s >= after_s:
                own.open = True
                changes.append(Change("began", kind, words, own.since_s))
        for kind in [k for k in self._known if k not in faults]:
            own = self._known[kind]
            if own.open and now_s - own.seen_s >= self._settled_s:
                own.open, own.ended_s = False, now_s
                changes.append(Change("ended", kind, own.words, own.since_s))
            elif not own.open and (own.ended_s is None or now_s - own.ended_s >= self._again_s):
                del self._known[kind]
        return changes


LEAST_SILENT_S = 60.0
"""A table is not silent sooner, however short its rounds."""
FIRST_SILENT_S = 240.0
"""Until its own rounds are measured: twice a long round."""
MEASURED = 3
"""So many rounds make a measure; the last so many times three are kept."""


class SilentWatch:
    """Tells when a table is busy, yet no round is decided for long.

    Busy is what moves: chips forgotten on an empty table are no play. The time is the table's
    own: twice the usual busy time between two rounds, so that one was due and is missed.

    >>> watch = SilentWatch(limit_s=60, idle_s=20)
    >>> [watch.look(now, moving=True, decided=False) for now in range(0, 80, 10)][-3:]
    [False, True, True]
    >>> watch.look(81, moving=True, decided=True)
    False
    """

    def __init__(self, limit_s: float, idle_s: float = 30.0) -> None:
        """Told after `limit_s` at the latest; without motion for `idle_s` it is not busy."""
        self._most_s, self.idle_s = limit_s, idle_s
        self._lengths: deque[float] = deque(maxlen=3 * MEASURED)
        self._busy_s = 0.0
        self._moved: float | None = None
        self._last: float | None = None

    @property
    def limit_s(self) -> float:
        """After so long without a round the table is silent."""
        if len(self._lengths) < MEASURED:
            return min(FIRST_SILENT_S, self._most_s)
        own_s = max(LEAST_SILENT_S, 2 * statistics.median(self._lengths))
        return min(own_s, self._most_s)

    def look(self, now_s: float, *, moving: bool, decided: bool) -> bool:
        """Take a look at the table; whether it has been busy for too long without a round."""
        passed = 0.0 if self._last is None else max(0.0, now_s - self._last)
        self._last = now_s
        if moving:
            self._moved = now_s
        if self._moved is not None and now_s - self._moved < self.idle_s:
            # What passed while no picture came is not known to be play.
            self._busy_s += min(passed, self.idle_s)
        if decided:
            if self._busy_s > 0:
                self._lengths.append(self._busy_s)
            self._busy_s = 0.0
        elif self._moved is not None and now_s - self._moved >= self.limit_s:
            self._busy_s = 0.0
        return self._busy_s >= self.limit_s
