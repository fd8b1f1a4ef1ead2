"""The store's last answers, returned again while it is down."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from surveillance.store.errors import StoreDownError

T = TypeVar("T")
MOST_KEPT = 5_000
ASK_AGAIN_S = 2.0
"""A store that was down is not asked again before: each question may wait for its timeout."""


class LastKnown:
    """Answers by question; for any number of threads.

    >>> known = LastKnown()
    >>> known.ask("open", lambda: 3)
    3
    >>> def down() -> int:
    ...     raise StoreDownError("postgresql: does not answer")
    >>> known.ask("open", down), known.ask("cameras", down, ())
    (3, ())
    """

    def __init__(self, most: int = MOST_KEPT) -> None:
        """Keep the answers to the `most` questions asked last."""
        self._most = most
        self._lock = threading.Lock()
        self._answers: OrderedDict[Hashable, Any] = OrderedDict()
        self._down_until = 0.0

    def ask(self, question: Hashable, ask: Callable[[], T], *default: T) -> T:
        """Return `ask()`, or while the store is down what it returned last, else `default`.

        Raises StoreDownError where there is neither.
        """
        with self._lock:
            is_known = question in self._answers
            is_down = time.monotonic() < self._down_until
        if not (is_down and (is_known or default)):
            try:
                answer = ask()
            except StoreDownError:
                with self._lock:
                    self._down_until = time.monotonic() + ASK_AGAIN_S
                    is_known = question in self._answers
                if not (is_known or default):
                    raise
            else:
                with self._lock:
                    self._answers[question] = answer
                    self._answers.move_to_end(question)
                    while len(self._answers) > self._most:
                        self._answers.popitem(last=False)
                return answer
        with self._lock:
            known: T = self._answers.get(question, *default)
        return known

    def forget(self, question: Hashable) -> None:
        """Forget an answer, as when it was changed here."""
        with self._lock:
            self._answers.pop(question, None)
