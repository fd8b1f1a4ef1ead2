"""A net between a browser and a server that can go silent, as when a cable is pulled."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Self


class Relay:
    """Passes bytes on to a port of this machine; `hold` keeps them back, and closes nothing."""

    def __init__(self, to_port: int) -> None:
        self._to_port = to_port
        self._flows = threading.Event()
        self._flows.set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = []
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def hold(self) -> None:
        self._flows.clear()

    def go_on(self) -> None:
        self._flows.set()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                here, _ = self._listener.accept()
                there = socket.create_connection(("127.0.0.1", self._to_port))
                self._sockets += [here, there]
                for one, other in ((here, there), (there, here)):
                    threading.Thread(target=self._pass_on, args=(one, other), daemon=True).start()

    def _pass_on(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(65_536):
                self._flows.wait()
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.go_on()
        for one in (self._listener, *self._sockets):
            one.close()
