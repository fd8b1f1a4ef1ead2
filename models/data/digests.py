"""Hashes of files and folders by names and contents, wherever they lie."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

LEFT_OUT = {".cache", ".yaml", ".part"}
"""Suffixes of files that hold the folder's path, or are generated again."""


def folder_digest(folder: Path) -> str:
    """SHA-256 of the names and contents of all files of a folder, wherever it lies."""
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix not in LEFT_OUT)
    return _digest((path.relative_to(folder).as_posix(), path) for path in files)


def files_digest(files: Iterable[Path]) -> str:
    """SHA-256 of the names and contents of some files."""
    return _digest(sorted((path.name, path) for path in files))


def _digest(files: Iterable[tuple[str, Path]]) -> str:
    whole = hashlib.sha256()
    for name, path in files:
        own = hashlib.sha256(path.read_bytes()).hexdigest()
        whole.update(f"{own} {name}\n".encode())
    return whole.hexdigest()
