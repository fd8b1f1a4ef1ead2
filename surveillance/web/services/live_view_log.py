"""Which of many like views go into the log: the first of a while, not each image or range."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

FORGET_AFTER_S = 900.0
_MOST_KEPT = 10_000


class LiveViewLog:
    """Remembers who looked at what of late.

    >>> log = LiveViewLog(clock=lambda: 0.0)
    >>> log.is_new("ann", "t1"), log.is_new("ann", "t1"), log.is_new("bob", "t1")
    (True, False, True)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Remember nothing yet; `clock` gives seconds."""
        self._clock = clock
        self._until: dict[tuple[str, str], float] = {}
        self._lock = threading.Lock()

    def is_new(self, who: str, what: str) -> bool:
        """Whether `who` has not looked at `what` for a quarter of an hour; notes that they do."""
        now = self._clock()
        with self._lock:
            if self._until.get((who, what), 0.0) > now:
                return False
            if len(self._until) >= _MOST_KEPT:
                self._until = {key: until for key, until in self._until.items() if until > now}
            self._until[who, what] = now + FORGET_AFTER_S
            return True

    def forget(self, who: str, what: str) -> None:
        """Take the look back: it could not be logged.

        >>> log = LiveViewLog(clock=lambda: 0.0)
        >>> log.is_new("ann", "t1"), log.forget("ann", "t1"), log.is_new("ann", "t1")
        (True, None, True)
        """
        with self._lock:
            self._until.pop((who, what), None)
