"""Results that appear whole or not at all.

Everything is written into a hidden folder inside the output folder, which is on the same
file system, so that each result moves into place by one rename. Until then the files of an
earlier run stay as they were; when something fails they are put back and the hidden folder
goes. A run that was killed leaves its hidden folder; the next run on the same machine
removes it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import socket
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Self

from settlement.errors import FeltwatchError

try:
    import fcntl
except ImportError:  # pragma: no cover
    fcntl = None  # type: ignore[assignment]

PARTIAL = ".partial-"
"""How the hidden folder's name begins; host, process id and random letters follow."""

MIN_FREE_BYTES = 64 * 1024 * 1024
"""An audit's records, report and evidence images of an ordinary shift fit in this."""

_HINTS = {
    errno.ENOSPC: "the disk is full: free some space or choose another folder",
    errno.EDQUOT: "the disk quota is used up: free some space or choose another folder",
    errno.EROFS: "the file system is read-only: choose another folder",
    errno.EACCES: "no permission to write there: choose another folder",
    errno.EPERM: "no permission to write there: choose another folder",
    errno.ENOTDIR: "a part of this path is a file: choose another folder",
    errno.EEXIST: "there is a file of that name: choose another folder",
}


def write_error(path: Path, error: OSError) -> FeltwatchError:
    """The one-line error for a write that failed.

    >>> str(write_error(Path("out"), OSError(errno.ENOSPC, "No space left on device")))
    'out: cannot be written: the disk is full: free some space or choose another folder'
    """
    hint = _HINTS.get(error.errno or 0) or error.strerror or str(error)
    return FeltwatchError(f"{path}: cannot be written: {hint}")


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise write_error(path, error) from error


def lock(handle: int) -> bool | None:
    """Lock an open file or folder until it is closed; False where another holds it.

    None where the file system has no locks.
    """
    if fcntl is None:  # pragma: no cover
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def flush(paths: Iterable[Path]) -> None:
    """Wait until files, and all that lies in folders, are on the disk, where the system can."""
    for path in paths:
        for one in (*path.rglob("*"), path, path.parent):
            with contextlib.suppress(OSError):
                handle = os.open(one, os.O_RDONLY)
                try:
                    os.fsync(handle)
                finally:
                    os.close(handle)


def _host() -> str:
    """This machine's name, as in the names of hidden folders."""
    return re.sub(r"[^A-Za-z0-9.]+", "_", socket.gethostname())[:64]


def _remove_leftovers(out_dir: Path) -> None:
    """Remove the hidden folders of processes of this machine that are gone."""
    own = re.compile(re.escape(f"{PARTIAL}{_host()}") + r"-(\d+)-[^-]+")
    for folder in out_dir.glob(f"{PARTIAL}*"):
        found = own.fullmatch(folder.name)
        if found is not None and _is_left(folder, int(found[1])):
            shutil.rmtree(folder, ignore_errors=True)


def _is_left(folder: Path, process: int) -> bool:
    # An earlier process may have had this one's id, as the first of a container has.
    is_own = process == os.getpid()
    if not is_own and _may_run(process):
        return False
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return False
    try:
        # Another container may have this machine's name and processes of its own.
        is_free = lock(handle)
    finally:
        os.close(handle)
    return is_free is True or (is_free is None and not is_own)


def _may_run(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


class Staging:
    """A hidden folder inside `out_dir` whose files move into place together.

    Use as a context manager: write below `path`, then call `publish`. Leaving without
    `publish` removes what was written, and `out_dir` itself if this run made it.

    Raises FeltwatchError when the folder cannot be made, is not writable or has less than
    `min_free_bytes` left.
    """

    def __init__(self, out_dir: Path, min_free_bytes: int = MIN_FREE_BYTES) -> None:
        """Prepare for `out_dir`; nothing is touched before the `with` block."""
        self.out_dir = out_dir
        self._min_free_bytes = min_free_bytes
        self._made: list[Path] = []
        self._path: Path | None = None
        self._handle: int | None = None

    @property
    def path(self) -> Path:
        """The hidden folder; only inside the `with` block."""
        if self._path is None:
            raise RuntimeError("the staging folder exists only inside its with block")
        return self._path

    def __enter__(self) -> Self:
        """Make the folders and check that they take what is to be written."""
        if self.out_dir.exists() and not self.out_dir.is_dir():
            raise FeltwatchError(f"{self.out_dir}: is a file; the output needs a folder")
        try:
            with _told(self.out_dir):
                self._make_out_dir()
                _remove_leftovers(self.out_dir)
                prefix = f"{PARTIAL}{_host()}-{os.getpid()}-"
                self._path = Path(tempfile.mkdtemp(prefix=prefix, dir=self.out_dir))
                self._hold(self._path)
                (self._path / "probe").write_bytes(b"feltwatch")
                (self._path / "probe").unlink()
                free = shutil.disk_usage(self._path).free
            if free < self._min_free_bytes:
                raise FeltwatchError(
                    f"{self.out_dir}: only {free / 1e6:.0f} MB free, "
                    f"{self._min_free_bytes / 1e6:.0f} MB are needed: "
                    "free some space or choose another folder"
                )
        except BaseException:
            self._clear()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Remove what was not published."""
        self._clear()

    def _hold(self, folder: Path) -> None:
        with contextlib.suppress(OSError):  # where folders cannot be opened
            self._handle = os.open(folder, os.O_RDONLY)
            lock(self._handle)

    def _make_out_dir(self) -> None:
        missing = [p for p in (self.out_dir, *self.out_dir.parents) if not p.exists()]
        for folder in reversed(missing):
            folder.mkdir()
            self._made.append(folder)

    def _clear(self) -> None:
        if self._path is not None:
            shutil.rmtree(self._path, ignore_errors=True)
            self._path = None
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
        for folder in reversed(self._made):
            with contextlib.suppress(OSError):  # not empty: it holds the published result
                folder.rmdir()
        self._made = []

    def write_text(self, name: str, text: str) -> None:
        """Write a text file below the staging folder; raises FeltwatchError."""
        self.write_bytes(name, text.encode("utf-8"))

    def write_bytes(self, name: str, data: bytes) -> None:
        """Write a file below the staging folder; raises FeltwatchError."""
        target = self.path / name
        with _told(self.out_dir / name):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)

    def publish(self, names: list[str]) -> None:
        """Move these files and folders into `out_dir`, in this order.

        A name that was not written is taken away from `out_dir`, so that nothing of an
        earlier run lies beside the new results. On failure everything is put back.
        """
        kept = self.path / "earlier"
        done: list[tuple[str, bool]] = []
        with _told(self.out_dir):
            kept.mkdir()
            try:
                for name in names:
                    old, new = self.out_dir / name, self.path / name
                    had_old = old.exists()
                    if had_old and old.is_file() and new.is_file():
                        _second_name(old, kept / name)  # so that the replacing is one step
                    elif had_old:
                        old.rename(kept / name)
                    done.append((name, had_old))
                    if new.exists():
                        new.replace(old)
            except BaseException:  # Ctrl-C too
                self._put_back(kept, done)
                raise

    def _put_back(self, kept: Path, done: list[tuple[str, bool]]) -> None:
        for name, had_old in reversed(done):
            target = self.out_dir / name
            with contextlib.suppress(OSError):
                if target.is_dir():
                    shutil.rmtree(target)
                elif not had_old:
                    target.unlink(missing_ok=True)
                if had_old:
                    (kept / name).replace(target)


def _second_name(path: Path, copy: Path) -> None:
    try:
        copy.hardlink_to(path)
    except OSError:  # a file system without hard links
        shutil.copy2(path, copy)
