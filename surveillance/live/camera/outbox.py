"""The sending end of a camera's pipe: never holds up the watching, never grows without bound."""

from __future__ import annotations

import threading
from collections import deque
from multiprocessing.connection import Connection

from surveillance.live.messages import Message, PictureMessage, StateMessage

MOST_WAITING = 64
"""Rounds, incidents and clips that wait for a room that does not listen; then the oldest goes."""


class Sender:
    """Sends from a thread of its own. Of states and pictures only the newest waits."""

    def __init__(self, connection: Connection, most: int = MOST_WAITING) -> None:
        """Send over `connection`; `broken` is set when nobody is at its other end."""
        self.broken = threading.Event()
        self.lost = 0
        self._connection = connection
        self._most = most
        self._fresh = threading.Condition()
        self._news: deque[Message] = deque()
        self._state: StateMessage | None = None
        self._picture: PictureMessage | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="sender", daemon=True)
        self._thread.start()

    def send(self, message: Message) -> None:
        """Have a message sent; never waits."""
        with self._fresh:
            match message:
                case StateMessage():
                    self._state = message
                case PictureMessage():
                    self._picture = message
                case _:
                    if len(self._news) >= self._most:
                        self._news.popleft()
                        self.lost += 1
                    self._news.append(message)
            self._fresh.notify()

    def close(self, timeout_s: float = 3.0) -> None:
        """Send what waits, as far as it goes in time."""
        with self._fresh:
            self._closed = True
            self._fresh.notify()
        self._thread.join(timeout_s)

    def _next(self) -> Message | None:
        with self._fresh:
            while not (self._news or self._state or self._picture or self._closed):
                self._fresh.wait()
            message: Message | None
            if self._news:
                message = self._news.popleft()
            elif self._state is not None:
                message, self._state = self._state, None
            else:
                message, self._picture = self._picture, None
            return message

    def _run(self) -> None:
        while (message := self._next()) is not None:
            try:
                self._connection.send(message)
            except (OSError, ValueError):
                self.broken.set()
                return
