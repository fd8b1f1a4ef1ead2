"""Ending all parts of a server within one limit of time."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

AROUND_S = 4.0
"""Of the limit, what open pages may take before the parts end, and the process after them."""
CAMERAS_SHARE = 0.6
"""Of the limit, what cameras may take, so that time is left for what they brought last."""

log = logging.getLogger(__name__)


class Shutdown:
    """A clock that runs from `begin` on.

    >>> shutdown = Shutdown(20)
    >>> shutdown.begin()
    >>> 9 < shutdown.left_s(CAMERAS_SHARE) <= 9.6, 15 < shutdown.left_s() <= 16
    (True, True)
    """

    def __init__(self, limit_s: float) -> None:
        """All is to be over `limit_s` after the server was asked to stop."""
        self._limit_s = max(1.0, limit_s - AROUND_S)
        self._began: float | None = None

    def begin(self) -> None:
        """From now on."""
        self._began = time.monotonic()

    def left_s(self, share: float = 1.0) -> float:
        """Return what is left of a fraction of the limit, s, at least 0; all before `begin`."""
        gone = 0.0 if self._began is None else time.monotonic() - self._began
        return max(0.0, self._limit_s * share - gone)

    def run(self, name: str, stop: Callable[[], None]) -> None:
        """Stop a part, waiting for it no longer than is left."""
        thread = threading.Thread(target=stop, name=f"end {name}", daemon=True)
        thread.start()
        thread.join(self.left_s())
        if thread.is_alive():
            log.warning("%s did not stop in time and are ended", name)
