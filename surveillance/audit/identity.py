"""What makes two audits the same: the contents of all files, the model and the program."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from settlement.errors import FeltwatchError
from surveillance.audit.candidates import model_sha256
from surveillance.audit.further import CameraVideo, FurtherRecording
from surveillance.audit.source import Recording
from surveillance.audit.work_folder import DIGESTS
from surveillance.staging import write_error
from surveillance.stopped import Stopped
from vision.sources.shift import ShiftSource

_CHUNK_BYTES = 4 << 20


class Digests:
    """SHA-256 of large files, kept in a work folder by resolved path, size and time of change.

    A file that has all three as before is not read again while its audit is unfinished.
    """

    def __init__(self, folder: Path, should_stop: Callable[[], bool] | None = None) -> None:
        self._path = folder / DIGESTS
        self._should_stop = should_stop
        self._known: dict[str, str] = {}
        with contextlib.suppress(OSError, ValueError):
            found = json.loads(self._path.read_text("utf-8"))
            self._known = found if isinstance(found, dict) else {}

    def of(self, path: Path) -> str:
        """The digest of a file; `should_stop` is asked every 4 MiB.

        Raises FeltwatchError for a file that cannot be read or a folder that cannot be written,
        Stopped when `should_stop` says so.
        """
        # Taken before the file is read: what is written to it meanwhile is noticed the next time.
        stamp = json.dumps(_stamp(path))
        if stamp not in self._known:
            self._known[stamp] = self._read(path)
            self._keep()
        return self._known[stamp]

    def _read(self, path: Path) -> str:
        digest = hashlib.sha256()
        with _reading(path), path.open("rb") as file:
            for number, chunk in enumerate(iter(partial(file.read, _CHUNK_BYTES), b"")):
                if number and self._should_stop is not None and self._should_stop():
                    raise Stopped(f"{path}: stopped while its digest was computed")
                digest.update(chunk)
        return digest.hexdigest()

    def _keep(self) -> None:
        part = self._path.with_suffix(".part")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps(self._known), encoding="utf-8")
            part.replace(self._path)
        except OSError as error:
            raise write_error(self._path, error) from error


def audit_identity(
    source: Recording,
    further: Sequence[FurtherRecording],
    table_path: Path,
    model: Path,
    feed: Path | None,
    *,
    for_bundles: bool,
    digests: Digests,
) -> dict[str, Any]:
    """Return what an audit must have in common with another for the same results, as JSON.

    Names, places and times of files do not count, except that the names of a shift's files may
    give their start times. Raises as `Digests.of`.
    """
    return {
        "videos": _contents(source, digests),
        "cameras": [
            [one.camera.name, one.offset_s, _contents(one.source, digests)]
            for one in sorted(further, key=lambda one: one.camera.name)
        ],
        "by": versions_key(table_path, model),
        "feed_sha256": None if feed is None else _sha256(feed),
        # What was detected is kept for bundles alone.
        "for_bundles": for_bundles,
    }


def request_key(
    videos: Sequence[Path], cameras: Mapping[str, CameraVideo], table_path: Path, model: Path
) -> str:
    """Return a digest of an audit's files by path, size and time of change, table file, model and
    program: known at once, however large the files are.

    Raises FeltwatchError for a file that is gone or cannot be read.
    """
    beside = [[name, one.offset_s, _stamps(one.files)] for name, one in sorted(cameras.items())]
    return digest_of([_stamps(videos), beside, versions_key(table_path, model)])


def request_identity(
    videos: Sequence[Path],
    cameras: Mapping[str, CameraVideo],
    table_path: Path,
    model: Path,
    feed: Path | None,
    *,
    for_bundles: bool,
) -> dict[str, Any]:
    """Return what an audit must have in common with an unfinished one to go on with it, as JSON.

    Videos count by path, size and time of change: known at once, however large they are.
    Raises FeltwatchError for a file that is gone or cannot be read.
    """
    return {
        "videos": _stamps(videos),
        "cameras": [
            [name, one.offset_s, _stamps(one.files)] for name, one in sorted(cameras.items())
        ],
        "by": versions_key(table_path, model),
        "feed_sha256": None if feed is None else _sha256(feed),
        "for_bundles": for_bundles,
    }


def audit_key(identity: dict[str, Any]) -> str:
    """Return the key of an audit: a digest of its identity, and its `versions_key`."""
    return f"{digest_of(identity)}.{identity['by']}"


def versions_key(table_path: Path, model: Path) -> str:
    """Return a digest of table file, model and program. Raises FeltwatchError."""
    # Imported here: it brings the model's runtime along, which most commands do without.
    from surveillance.evidence.versions import program_sha256

    return digest_of([_sha256(table_path), model_sha256(model), program_sha256()])


def is_by(key: str | None, versions: str) -> bool:
    """Whether an audit's key is of this table file, model and program (`versions_key`).

    >>> is_by("1234.ab", "ab"), is_by("1234.ab", "cd"), is_by(None, "ab")
    (True, False, False)
    """
    return key is not None and key.partition(".")[2] == versions


def digest_of(plain: object) -> str:
    """Return the SHA-256 of plain JSON."""
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def _contents(source: Recording, digests: Digests) -> list[list[str]]:
    """Digest and place in time of each file, by start time."""
    if isinstance(source, ShiftSource):
        return [[digests.of(part.path), str(part.shift_s)] for part in source.parts]
    return [[digests.of(source.path), "0"]]


def _stamps(paths: Sequence[Path]) -> list[list[str | int]]:
    return sorted(_stamp(path) for path in paths)


def _stamp(path: Path) -> list[str | int]:
    with _reading(path):
        stat = path.stat()
        return [str(path.resolve()), stat.st_size, stat.st_mtime_ns]


def _sha256(path: Path) -> str:
    with _reading(path):
        return hashlib.sha256(path.read_bytes()).hexdigest()


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FeltwatchError(f"{path}: cannot be read: {error.strerror or error}") from error
