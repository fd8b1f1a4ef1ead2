"""The work folder of an audit in its own output folder, with which the same audit goes on.

    OUT/.unfinished-KEY/lock    locked as long as a process works on it
    OUT/.unfinished-KEY/        the rest: see `work_folder`

KEY is the begin of a digest of videos, table file, model, program and options
(`identity.request_identity`).
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

from settlement.errors import FeltwatchError
from surveillance.audit.identity import digest_of
from surveillance.audit.work_folder import PLACE, AuditWork
from surveillance.staging import lock, write_error
from surveillance.stopped import Stopped

UNFINISHED = ".unfinished-"
LOCK = "lock"


class Unfinished:
    """Holds the work folder of one audit; a context manager inside that of the output folder.

    The folder stays where something was kept in it, and goes where nothing was. Raises
    FeltwatchError when another process works on the same audit, or it cannot be written.
    """

    def __init__(self, video: Path, out_dir: Path, identity: dict[str, Any]) -> None:
        """`video` is what the recording is called."""
        self._video, self._out_dir, self._identity = video, out_dir, identity
        self.folder = out_dir / f"{UNFINISHED}{digest_of(identity)[:12]}"
        self._handle: int | None = None
        self._work: AuditWork | None = None

    def __enter__(self) -> Self:
        """Make the folder and lock it."""
        try:
            self._handle = _locked(self.folder)
        except OSError as error:
            raise write_error(self.folder, error) from error
        if self._handle is None:
            raise FeltwatchError(
                f"{self._video} is being audited into {self._out_dir} by another process: "
                "wait for it, or choose another folder"
            )
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the folder where nothing was kept, and let others have it."""
        if not self.keeps:
            shutil.rmtree(self.folder, ignore_errors=True)
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    @property
    def keeps(self) -> bool:
        """Whether there is a place to go on from."""
        return (self.folder / PLACE).is_file()

    def work(self, anew: bool) -> AuditWork:
        """Return what was kept; nothing when `anew`. Raises FeltwatchError."""
        self._work = AuditWork(self.folder, self._identity, anew=anew)
        return self._work

    def remove(self) -> None:
        """The audit is done: take the folder away."""
        if self._work is not None:
            self._work.remove()

    @contextlib.contextmanager
    def named(self, place: Callable[[], str]) -> Iterator[None]:
        """Add to an error's message from where the same command goes on (`place`)."""
        try:
            yield
        except (FeltwatchError, OSError) as error:
            if not self.keeps:
                raise
            raise FeltwatchError(f"{_words(error)}; {goes_on(place())}") from error
        except (KeyboardInterrupt, Stopped):
            raise
        except Exception as error:
            if self.keeps:
                error.add_note(goes_on(place()))
            raise


def remove_unfinished(out_dir: Path) -> None:
    """Remove the work folders of audits into `out_dir` that no process works on."""
    for folder in out_dir.glob(f"{UNFINISHED}*"):
        with contextlib.suppress(OSError):
            handle = _locked(folder, unless_unknown=True)
            if handle is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(handle)


def goes_on(place: str) -> str:
    """Return the words that say that nothing up to a place of the video is lost."""
    return f"the same command goes on from {place}"


def _words(error: Exception) -> str:
    if not isinstance(error, OSError):
        return str(error)
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{error.strerror or error}"


def _locked(folder: Path, *, unless_unknown: bool = False) -> int | None:
    """Make and lock a folder; returns the open lock file, None where another process has it.

    `unless_unknown`: None also where the file system has no locks.
    """
    path = folder / LOCK
    while True:
        folder.mkdir(exist_ok=True)
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except FileNotFoundError:  # another process has just removed the folder
            continue
        is_ours = lock(handle)
        if is_ours is False or (is_ours is None and unless_unknown):
            os.close(handle)
            return None
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(path.stat(), os.fstat(handle)):
                return handle
        os.close(handle)  # removed with its folder between opening and locking
