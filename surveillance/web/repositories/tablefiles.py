"""Table files on disk: which there are, read with a revision, written whole with a backup."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import threading
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import tomli_w
import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, Array

from settlement.errors import FeltwatchError
from settlement.input_file import parse_toml, reading
from surveillance.staging import write_error

try:
    import fcntl
except ImportError:  # a system without file locks
    fcntl = None  # type: ignore[assignment]

_WRITING = threading.Lock()
LARGEST_BYTES = 2_000_000
"""A table file has some 20 KB; one with every corner of every spot in a line of its own, 60."""
BACKUPS = ".backups"
KEPT_BACKUPS = 20


class ChangedOnDiskError(FeltwatchError):
    """Somebody else wrote the file meanwhile."""


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A table file as it stands: its data as TOML has it, and the hash that names this state."""

    path: Path
    revision: str
    data: dict[str, Any]


def tables_in(folder: Path) -> Iterator[Path]:
    """The table files of a folder, not of those below: TOML with a `rules` and a `felt` part."""
    try:
        found = sorted(p for p in folder.glob("*.toml") if p.is_file())
    except OSError:
        return
    for path in found:
        try:
            data = read_table_data(path).data
        except FeltwatchError:
            continue
        if "felt" in data and "rules" in data:
            yield path


def read_table_data(path: Path) -> StoredTable:
    """Read a table file. Raises FeltwatchError when it is not there, too large or no TOML."""
    with reading(path.name):
        if path.stat().st_size > LARGEST_BYTES:
            raise FeltwatchError(f"{path.name}: too large for a table file")
        content = path.read_bytes()
    return StoredTable(path, _revision(content), parse_table_data(content, path.name))


def parse_table_data(content: bytes | str, name: str) -> dict[str, Any]:
    """The data of a table file's text; raises FeltwatchError."""
    with reading(name):
        return parse_toml(content if isinstance(content, str) else content.decode("utf-8"), name)


def write_table_data(path: Path, data: dict[str, Any], revision: str | None) -> str:
    """Write a table file in one step; returns its new revision.

    `revision` is the state that was changed, None for a file that must not be there yet. The
    former file goes to the folder `.backups` beside it. Comments and order stay as they were
    where the data allows. Raises ChangedOnDiskError when the file is not of that revision any
    more, FeltwatchError when it cannot be written.
    """
    try:
        with _alone(path.parent):
            return _write(path, data, revision)
    except OSError as error:
        raise write_error(path, error) from error


def _write(path: Path, data: dict[str, Any], revision: str | None) -> str:
    former = path.read_bytes() if path.exists() else None
    if (None if former is None else _revision(former)) != revision:
        raise ChangedOnDiskError(
            f"{path.name}: somebody changed it meanwhile; reload it, then change it"
        )
    text = _merged(former.decode("utf-8"), data) if former is not None else _dump(data)
    content = text.encode("utf-8")
    if former is not None:
        _back_up(path, former)
    _replace(path, content, revision)
    return _revision(content)


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One writer at a time in a folder: of this process, and of others where the system can."""
    with _WRITING:
        if fcntl is None:
            yield
            return
        handle = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


def _revision(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _dump(data: dict[str, Any]) -> str:
    return tomli_w.dumps(data)


def _replace(path: Path, content: bytes, revision: str | None) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if revision is None:
            # Unlike a rename, a link never takes the place of a file that came meanwhile.
            try:
                path.hardlink_to(part)
            except FileExistsError as error:
                raise ChangedOnDiskError(f"{path.name}: there is such a file by now") from error
        else:
            shutil.copymode(path, part)
            part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _back_up(path: Path, content: bytes) -> None:
    folder = path.parent / BACKUPS
    folder.mkdir(exist_ok=True)
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    (folder / f"{path.name}.{stamp}").write_bytes(content)
    for old in backups_of(path)[KEPT_BACKUPS:]:
        old.unlink(missing_ok=True)


def backups_of(path: Path) -> list[Path]:
    """The former states of a table file that are kept, the latest first."""
    return sorted((path.parent / BACKUPS).glob(f"{path.name}.*Z"), reverse=True)


def _merged(former: str, data: dict[str, Any]) -> str:
    """The former text with the new data in it; made again where that is not to be had."""
    try:
        document = tomlkit.parse(former)
        _merge(document, data)
        text = document.as_string()
        if tomllib.loads(text) == data:
            return text
    except (TOMLKitError, tomllib.TOMLDecodeError, ValueError, TypeError, AttributeError):
        pass
    return _dump(data)


def _merge(into: Any, data: dict[str, Any]) -> None:
    """Change a document's table such that it holds `data`, touching what differs only."""
    for key in [k for k in into if k not in data]:
        del into[key]
    for key, value in data.items():
        there = into.get(key)
        plain = there.unwrap() if hasattr(there, "unwrap") else there
        if there is not None and plain == value and type(plain) is type(value):
            continue
        if isinstance(value, dict) and isinstance(plain, dict):
            _merge(there, value)
        elif isinstance(there, AoT) and _is_tables(value):
            _merge_list(there, value)
        elif isinstance(there, Array) and isinstance(value, list) and len(there) == len(value):
            _merge_array(there, value)
        else:
            into[key] = _item(value)


def _merge_array(into: Array, data: list[Any]) -> None:
    """Change what differs, so that a list over many lines stays one."""
    for place, value in enumerate(data):
        there = into[place]
        if isinstance(there, Array) and isinstance(value, list) and len(there) == len(value):
            _merge_array(there, value)
        elif there != value or type(there) is bool:
            into[place] = value


def _merge_list(into: AoT, data: list[dict[str, Any]]) -> None:
    while len(into) > len(data):
        del into[-1]
    for place, value in enumerate(data):
        if place < len(into):
            _merge(into[place], value)
        else:
            into.append(_item(value))


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def _item(value: Any) -> Any:
    if _is_tables(value):
        tables = tomlkit.aot()
        for one in value:
            tables.append(_item(one))
        return tables
    if isinstance(value, dict):
        table = tomlkit.table()
        for key, inner in value.items():
            table[key] = _item(inner)
        return table
    return tomlkit.item(value)


def distinct(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Paths without those that lead to the same file, in order."""
    return tuple({path.resolve(): path.resolve() for path in paths})
