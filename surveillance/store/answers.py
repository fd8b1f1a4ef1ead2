"""How long PostgreSQL may take to answer.

A server that is frozen, or whose network is cut, closes no connection: a call would wait for ever,
and with it everything that waits for the call.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Generator, Iterator
from contextvars import ContextVar
from typing import Any, TypeVar

import psycopg

from surveillance.store.errors import StoreDownError

ANSWER_S = 25.0
"""Longest silence within a call: one may wait for locks that a frozen server holds for 20 s."""
PING_S = 5.0
"""Longest silence where nothing but an answer is asked for, and of all calls once one had none."""
CONNECT_S = 5
ASK_AGAIN_S = 2.0
"""After a call without an answer one in so many seconds is tried; others fail at once."""

T = TypeVar("T")


class NoAnswerError(psycopg.OperationalError):
    """The server was silent for too long; whether it did what was asked is not known."""


class Answers:
    """Whether a PostgreSQL server answers; for any number of threads."""

    def __init__(self, name: str) -> None:
        """`name` of the database in messages."""
        self._name = name
        self._ask_at: float | None = None
        self._limit_s: ContextVar[float | None] = ContextVar("limit_s", default=None)
        self._lock = threading.Lock()

    def check(self) -> None:
        """Raise StoreDownError while a call is sure to wait in vain."""
        if self._ask_at is None:
            return
        with self._lock:
            now = time.monotonic()
            if self._ask_at is None:  # answered meanwhile
                return
            if now < self._ask_at:
                raise StoreDownError(f"{self._name}: the server does not answer")
            self._ask_at = now + ASK_AGAIN_S

    @contextlib.contextmanager
    def within(self, limit_s: float) -> Iterator[None]:
        """Let calls of this thread wait for so long, such as `math.inf` to change large tables."""
        token = self._limit_s.set(limit_s)
        try:
            yield
        finally:
            self._limit_s.reset(token)

    def connect(self, *args: Any, **settings: Any) -> psycopg.Connection[Any]:
        """Open a connection whose calls are limited. Raises psycopg.Error."""
        settings.setdefault("connect_timeout", CONNECT_S)
        began = time.monotonic()
        try:
            connection = _Connection.connect(*args, **settings)
        except psycopg.OperationalError:
            if time.monotonic() - began >= CONNECT_S:
                self._silent()
            raise
        connection.answers = self
        return connection

    def limited(self, calls: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
        """Pass on what psycopg waits for, until the server is silent for too long."""
        limit_s = self._limit_s.get() or ANSWER_S
        heard, ready = time.monotonic(), None
        while True:
            try:
                wanted = calls.send(ready)
            except StopIteration as end:
                self._ask_at = None
                answer: T = end.value
                return answer
            ready = yield wanted
            if ready:
                heard = time.monotonic()
                continue
            silent_s = time.monotonic() - heard
            if silent_s > limit_s or (self._ask_at is not None and silent_s > PING_S):
                self._silent()
                raise NoAnswerError(f"no answer within {silent_s:.0f} s")

    def _silent(self) -> None:
        with self._lock:
            self._ask_at = time.monotonic() + ASK_AGAIN_S


class _Connection(psycopg.Connection[Any]):
    """A connection that breaks where the server is silent."""

    answers: Answers | None = None

    def wait(self, gen: Generator[Any, Any, T], *args: Any, **settings: Any) -> T:
        """Wait for an answer. Raises NoAnswerError."""
        if self.answers is None:
            return super().wait(gen, *args, **settings)
        try:
            return super().wait(self.answers.limited(gen), *args, **settings)
        except NoAnswerError:
            # What comes later would be taken for the answer to another question.
            self.pgconn.finish()
            raise
