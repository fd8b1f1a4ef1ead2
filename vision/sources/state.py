"""What a live source is doing, and which change of that is legal."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from vision.sources.base import SourceState

_S = SourceState

LEGAL: dict[SourceState, frozenset[SourceState]] = {
    _S.CONNECTING: frozenset({_S.RUNNING, _S.RECONNECTING, _S.ENDED, _S.FAILED}),
    _S.RUNNING: frozenset({_S.STALLED, _S.FROZEN, _S.RECONNECTING, _S.ENDED, _S.FAILED}),
    _S.STALLED: frozenset({_S.RUNNING, _S.RECONNECTING, _S.ENDED, _S.FAILED}),
    _S.FROZEN: frozenset({_S.RUNNING, _S.STALLED, _S.RECONNECTING, _S.ENDED, _S.FAILED}),
    _S.RECONNECTING: frozenset({_S.RUNNING, _S.ENDED, _S.FAILED}),
    _S.ENDED: frozenset(),
    _S.FAILED: frozenset(),
}
"""From each state to those that may follow it."""


class StateMachine:
    """The state of one source with a message for people; may be used from several threads.

    >>> machine = StateMachine()
    >>> machine.to(SourceState.RUNNING), machine.state
    (True, <SourceState.RUNNING: 'running'>)
    >>> machine.to(SourceState.CONNECTING)
    Traceback (most recent call last):
    ...
    ValueError: a source that is running cannot become connecting
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._state = SourceState.CONNECTING
        self._message = ""
        self._since = clock()

    @property
    def state(self) -> SourceState:
        """What the source is doing."""
        return self._state

    @property
    def now(self) -> tuple[SourceState, str, float]:
        """State, message and since when, s of the machine's clock."""
        with self._lock:
            return self._state, self._message, self._since

    def to(
        self,
        state: SourceState,
        message: str = "",
        only_from: frozenset[SourceState] | None = None,
    ) -> bool:
        """Change to `state`; whether it did. The same state takes the new message.

        With `only_from`, a source in any other state is left as it is. Raises ValueError
        when the change is not legal.
        """
        with self._lock:
            if only_from is not None and self._state not in only_from:
                return False
            if state is not self._state:
                if state not in LEGAL[self._state]:
                    raise ValueError(f"a source that is {self._state} cannot become {state}")
                self._since = self._clock()
            self._state, self._message = state, message
            return True
