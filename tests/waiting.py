"""Waiting for what another thread or process does."""

from __future__ import annotations

import time
from collections.abc import Callable

WITHIN_S = 40.0


def until(holds: Callable[[], object], what: str, within_s: float = WITHIN_S) -> None:
    """Wait until something holds; fails naming `what` when it does not."""
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, f"not within {within_s:g} s: {what}"
        time.sleep(0.02)
