"""This server's share of the cameras: taken, given back, and lost, turn by turn."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Sequence

from settlement.errors import FeltwatchError
from surveillance.config.site_file import SiteConfig
from surveillance.live.supervisor import Supervisor
from surveillance.store.sharing.assignments import Assignments, Turn

LEASE_S = 15.0
"""A server that gives no sign for so long has lost its cameras to the others."""
TURN_S = 2.0
END_WITHIN_S = 3.0
"""A turn that waits for a database that does not answer holds up the end for no longer."""

log = logging.getLogger(__name__)


def sharing_name(site: SiteConfig) -> str:
    """Name this server among those that share its cameras; empty where it shares none."""
    if not site.store.share_cameras:
        return ""
    return f"{socket.gethostname()}:{site.site.data_dir.absolute()}"


class TableShare:
    """Watches the cameras that the store assigns to this server; `start` and `stop`, each once.

    While the database is away, what is watched goes on being watched.
    """

    def __init__(
        self,
        assignments: Assignments,
        server: str,
        cameras: Sequence[str],
        supervisor: Supervisor,
        lease_s: float = LEASE_S,
        turn_s: float = TURN_S,
    ) -> None:
        """`server` names this one; no other may have its name."""
        self._assignments, self._server = assignments, server
        self._cameras, self._supervisor = tuple(cameras), supervisor
        self._lease_s, self._turn_s = lease_s, turn_s
        self._stopping = threading.Event()
        self._leaving: dict[str, threading.Thread] = {}
        self._starting = True
        self._thread = threading.Thread(target=self._run, name="share of cameras", daemon=True)

    def start(self) -> None:
        """Begin to watch this server's share."""
        self._thread.start()

    def stop(self) -> None:
        """Take no further cameras; watching goes on until the supervisor is stopped."""
        self._stopping.set()
        self._thread.join(END_WITHIN_S)

    def leave(self) -> None:
        """Release this server's cameras, which it has stopped, to the other servers."""
        try:
            self._assignments.leave(self._server, self._supervisor.watched_until())
        except FeltwatchError as error:
            log.error("the cameras of this server are free in %g s: %s", self._lease_s, error)

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._turn()
            except FeltwatchError as error:
                log.warning("the assignment of cameras is not known now: %s", error)
            self._stopping.wait(self._turn_s)

    def _turn(self) -> None:
        left = [name for name, thread in self._leaving.items() if not thread.is_alive()]
        turn = self._assignments.turn(
            self._server, self._cameras, self._lease_s,
            watched=self._supervisor.watched_until(), left=left, starting=self._starting,
        )  # fmt: skip
        self._starting = False
        for name in left:
            del self._leaving[name]
        for name in self._supervisor.watching():
            if name not in turn.held and name not in self._leaving:
                log.warning("camera %s: another server watches it now", name)
                self._leave(name, is_lost=True)
        self._follow(turn)

    def _follow(self, turn: Turn) -> None:
        for one in turn.taken:
            if one.why:
                log.warning("camera %s: %s", one.camera, one.why)
            self._supervisor.watch(one)
        for name in turn.give_back:
            if not self._leaving:
                self._leave(name, is_lost=False)

    def _leave(self, name: str, *, is_lost: bool) -> None:
        """Stop watching a camera, in a thread: the lease must be renewed meanwhile."""
        thread = threading.Thread(
            target=self._supervisor.unwatch, args=(name,), kwargs={"is_lost": is_lost}, daemon=True
        )
        self._leaving[name] = thread
        thread.start()
