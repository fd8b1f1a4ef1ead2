"""One server for one data folder: a lock that ends with the process that holds it."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from settlement.errors import FeltwatchError
from surveillance.staging import write_error

LOCK_FILE = "server.lock"
PRIVATE = 0o700
OTHERS = 0o077

log = logging.getLogger(__name__)


@contextlib.contextmanager
def data_lock(data_dir: Path) -> Iterator[None]:
    """Lock a data folder for this process.

    The file names the process that holds it; the lock is the system's and ends with its process,
    however that ended. Raises FeltwatchError where another process holds it.
    """
    path = data_dir / LOCK_FILE
    # No fallback to a file that a crash would leave behind.
    lock = FileLock(path, mode=0o600, preserve_lock_file=True, fallback_to_soft=False)
    try:
        private_folder(data_dir)
        lock.acquire(blocking=False)
    except Timeout as error:
        raise FeltwatchError(
            f"{data_dir}: another server works on this folder ({_holder(path.read_text())}): end "
            "that one first, or give this site a data_dir of its own"
        ) from error
    except OSError as error:
        raise write_error(path, error) from error
    with lock:
        # A full disk must not keep the server from its work: the lock holds without words.
        with contextlib.suppress(OSError):
            path.write_text(f"{os.getpid()} {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}\n")
        yield


def private_folder(folder: Path) -> None:
    """Make a folder that its owner alone may read and enter; one that is there is closed too.

    Raises OSError. A folder of another user, which cannot be closed, is left with a warning.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=PRIVATE)
    if folder.stat().st_mode & OTHERS:
        try:
            folder.chmod(PRIVATE)
        except PermissionError:
            log.warning("%s: other users may read it: it belongs to another user", folder)


def _holder(text: str) -> str:
    """Describe the process that the lock file's text names.

    >>> _holder("4711 2026-03-01T08:00:00Z\\n"), _holder("")
    ('process 4711, started 2026-03-01T08:00:00Z', 'a process that did not give its number')
    """
    parts = text.split()
    if len(parts) != 2 or not parts[0].isdigit():
        return "a process that did not give its number"
    return f"process {parts[0]}, started {parts[1]}"
