"""Checkpoints of the evidence's log, taken while a server runs and sent out of its data folder."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

from settlement.errors import FeltwatchError
from surveillance.alerts.webhooks import Webhooks
from surveillance.config.site_file import EvidencePart
from surveillance.evidence.bundle import CHAIN_FILE, SigningKey
from surveillance.evidence.bundle.checkpoint import (
    CHECKPOINT,
    CHECKPOINT_FILE,
    Checkpoint,
    append_checkpoint,
    checkpoints_in,
    take_checkpoint,
)
from surveillance.evidence.bundle.timestamps import request_timestamp, write_timestamp
from surveillance.evidence.bundle.verify_checkpoints import Place, check_against, place_at
from surveillance.evidence.bundle.verify_log import check_log
from surveillance.store import AuditFilter, Store

BY, ACT = "feltwatch", "evidence checkpoint"
"""Act of the lines of the store's log that hold checkpoints."""

STOP_WITHIN_S = 5.0
_PAGE = 200

log = logging.getLogger(__name__)


class Checkpoints:
    """Takes checkpoints and sends them to the folder, the store, the webhooks and the authority.

    A failed delivery is logged; the next checkpoint vouches for all before it.
    """

    def __init__(
        self,
        evidence_dir: Path,
        key: SigningKey,
        config: EvidencePart,
        store: Store,
        webhooks: Webhooks,
        server: str = "",
    ) -> None:
        """Of the log in `evidence_dir`, by the site's `[evidence]`.

        `server` names this one where several, each with a log of its own, share the store.
        """
        self._server = server
        self._log = evidence_dir / CHAIN_FILE
        self._key, self._config = key, config
        self._store, self._webhooks = store, webhooks
        self._sent: dict[str, int] = {}
        self._stamped_s: float | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def check(self) -> None:
        """Compare the log with the existing checkpoints; what does not match is logged.

        So a folder that was put back while the server was down is known at its start.
        """
        try:
            places = [stored_place(self._store, self._server)]
            folder = self._config.checkpoint_dir
            if folder is not None and (folder / CHECKPOINT_FILE).exists():
                places.append(place_at(folder))
            lines = {entry["number"]: entry["sha256"] for entry in check_log(self._log).entries}
            known = [place for place in places if place.checkpoints]
            found = check_against(self._log, lines, known, self._key.public)
        except FeltwatchError as error:
            log.error("the evidence's log cannot be compared with its checkpoints: %s", error)
            return
        for problem in found.problems:
            log.critical("evidence: %s", problem)

    def start(self) -> None:
        """Begin to take checkpoints."""
        self._thread = threading.Thread(target=self._run, name="checkpoints", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Cease, with a last checkpoint; nothing is stamped any more."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(STOP_WITHIN_S)
        self.take(stamp=False)

    def _run(self) -> None:
        self.check()
        while True:
            self.take()
            if self._stop.wait(self._config.checkpoint_s):
                return

    def take(self, stamp: bool = True) -> None:
        """Take a checkpoint and send it to every place that has an older one."""
        try:
            checkpoint = take_checkpoint(self._log, self._key)
        except FeltwatchError as error:
            log.error("no checkpoint of the evidence's log: %s", error)
            return
        if checkpoint is None:
            return
        folder = self._config.checkpoint_dir
        self._send("store", checkpoint, self._to_store)
        self._send("webhooks", checkpoint, self._to_webhooks)
        if folder is not None:
            self._send("folder", checkpoint, lambda taken: append_checkpoint(folder, taken))
        if folder is not None and stamp and self._is_stamp_due():
            self._send("authority", checkpoint, lambda taken: self._stamp(folder, taken))

    def _send(
        self, place: str, checkpoint: Checkpoint, send: Callable[[Checkpoint], object]
    ) -> None:
        if self._sent.get(place) == checkpoint.number:
            return
        try:
            send(checkpoint)
        except FeltwatchError as error:
            log.error("evidence: the checkpoint of entry %d: %s", checkpoint.number, error)
            return
        self._sent[place] = checkpoint.number

    def _to_store(self, checkpoint: Checkpoint) -> None:
        self._store.audit.write(
            BY, act_of(self._server), f"entry {checkpoint.number}", checkpoint.value
        )

    def _to_webhooks(self, checkpoint: Checkpoint) -> None:
        self._webhooks.send(CHECKPOINT, checkpoint.value)

    def _is_stamp_due(self) -> bool:
        if not self._config.timestamp_url:
            return False
        now = time.monotonic()
        if self._stamped_s is not None and now - self._stamped_s < self._config.timestamp_s:
            return False
        self._stamped_s = now
        return True

    def _stamp(self, folder: Path, checkpoint: Checkpoint) -> None:
        authority = self._config.timestamp_ca
        assert authority is not None, "the site file gives it with timestamp_url"
        # The token is of these very bytes: they must lie beside it.
        append_checkpoint(folder, checkpoint)
        token = request_timestamp(checkpoint, self._config.timestamp_url, authority)
        write_timestamp(folder, checkpoint, token)


def act_of(server: str) -> str:
    """Return the act of a server's checkpoints in the store's log ('': the only server)."""
    return f"{ACT} of {server}" if server else ACT


def stored_place(store: Store, server: str = "") -> Place:
    """The checkpoints of a server that a store holds, the newest first. Raises StoreError."""
    values: list[object] = []
    cursor: str | None = None
    while True:
        page = store.audit.page(AuditFilter(by=BY, act=act_of(server)), cursor=cursor, limit=_PAGE)
        values += [row.detail for row in page.rows]
        cursor = page.next
        if cursor is None:
            found, damaged = checkpoints_in(values)
            return Place(store.database.name, tuple(found), damaged, is_expected=False)
