"""What an import that was killed leaves in a dataset's folder, taken away by a later one."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover
    fcntl = None  # type: ignore[assignment]

PART = ".part"
"""End of the name of a file that is being written; the name begins with a dot."""
UNPACKED = ".unpacked-"
"""Begin of the name of a folder with an unpacked archive."""
STALE_S = 60.0
"""No file takes so long to write, and no folder to be held after it was made."""


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Mark a folder as in use, for as long as this process lives at most."""
    if fcntl is None:  # pragma: no cover
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def remove_leftovers(folder: Path, pictures: Path) -> None:
    """Remove unpacked archives of `folder` that nobody holds and half files of `pictures`."""
    limit = time.time() - STALE_S
    for path in folder.glob(f"{UNPACKED}*"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < limit and not _is_held(path):
                shutil.rmtree(path, ignore_errors=True)
    for path in pictures.rglob(f".*{PART}"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < limit:
                path.unlink()


def _is_held(folder: Path) -> bool:
    if fcntl is None:  # pragma: no cover
        return True
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False
