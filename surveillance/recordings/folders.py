"""The folders that recordings are taken from, and the videos and table files in them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from settlement.errors import FeltwatchError
from surveillance.audit.source import VIDEO_SUFFIXES
from vision.geometry.table import load_table

MOST_VIDEOS = 2_000
DEEPEST = 3
"""Folders below the one that is looked through."""


@dataclass(frozen=True, slots=True)
class Video:
    """A recording on disk; `table_files` are those that may fit it, the likeliest first."""

    folder: Path
    file: str
    size: int
    mtime: float
    table_files: tuple[Path, ...]


class AllowedFolders:
    """The folders of recordings; nothing outside them is looked at, not through a link either."""

    def __init__(self, roots: Iterable[Path], table_files: Iterable[Path] = ()) -> None:
        """`table_files` are further ones that recordings may be audited with."""
        self.roots = tuple(root.resolve() for root in roots)
        self.table_files = tuple(path.resolve() for path in table_files)

    def folder(self, text: str) -> Path:
        """The folder of that path. Raises FeltwatchError when it is none, or outside."""
        path = self._inside(Path(text), "folder")
        if not path.is_dir():
            raise FeltwatchError(f"{text}: no such folder")
        return path

    def video(self, folder: str, file: str) -> Path:
        """A video's path. Raises FeltwatchError when it is none, or outside."""
        path = self._inside(self.folder(folder) / file, "recording")
        if path.suffix.lower() not in VIDEO_SUFFIXES:
            raise FeltwatchError(f"{file}: not named as a video; {_suffixes()} are taken")
        if not path.is_file():
            raise FeltwatchError(f"{file}: no such file")
        return path

    def table_file(self, text: str) -> Path:
        """A table file's path. Raises FeltwatchError when it is none, or not allowed."""
        path = _resolved(Path(text))
        if path not in self.table_files:
            path = self._inside(path, "table file")
        if path.suffix != ".toml" or not path.is_file():
            raise FeltwatchError(f"{text}: no such table file")
        return path

    def videos(self, folder: Path) -> tuple[Video, ...]:
        """The videos in a folder and those below, by name; links that lead outside left out."""
        found = []
        for path in _walk(folder, DEEPEST):
            real = _resolved(path)
            if not real.is_file() or not self._is_inside(real):
                continue
            stat = real.stat()
            found.append(
                Video(
                    folder, path.relative_to(folder).as_posix(), stat.st_size, stat.st_mtime,
                    self.tables_for(path),
                )
            )  # fmt: skip
            if len(found) == MOST_VIDEOS:
                break
        return tuple(found)

    def tables_for(self, video: Path) -> tuple[Path, ...]:
        """Table files that may fit a video: of its name, its folder, those above, the cameras'."""
        beside = [video.with_suffix(".toml"), video.parent / "table.toml"]
        root = next((r for r in self.roots if video.resolve().is_relative_to(r)), None)
        folder = video.parent.resolve()
        while root is not None and folder.is_relative_to(root):
            beside += sorted(folder.glob("*.toml"))
            folder = folder.parent
        known = [_resolved(p) for p in beside] + list(self.table_files)
        allowed = (
            p for p in known if p.is_file() and (p in self.table_files or self._is_inside(p))
        )
        return tuple(path for path in dict.fromkeys(allowed) if further_cameras(path) is not None)

    def _inside(self, path: Path, what: str) -> Path:
        real = _resolved(path)
        if not self.roots:
            raise FeltwatchError(
                "no folder of recordings is set up: name one in the site file, "
                '[recordings] folders = ["..."]'
            )
        if not self._is_inside(real):
            raise FeltwatchError(
                f"{path}: this {what} lies outside the folders of recordings; those are named in "
                "the site file under [recordings]"
            )
        return real

    def _is_inside(self, path: Path) -> bool:
        return any(path == root or path.is_relative_to(root) for root in self.roots)


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise FeltwatchError(f"{str(path)!r}: no such path") from error


def _walk(folder: Path, deep: int) -> Iterator[Path]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    below = []
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            below.append(Path(entry.path))
        elif Path(entry.name).suffix.lower() in VIDEO_SUFFIXES:
            yield Path(entry.path)
    for one in below if deep else ():
        yield from _walk(one, deep - 1)


_tables: dict[tuple[Path, int, int], tuple[str, ...] | None] = {}


def further_cameras(path: Path) -> tuple[str, ...] | None:
    """Names of the further cameras of a sound table file with a camera; None for another file.

    It is looked at once for each state.
    """
    try:
        stat = path.stat()
        key = (path, stat.st_mtime_ns, stat.st_size)
        if key not in _tables:
            table = load_table(path)
            names = tuple(camera.name for camera in table.cameras)
            _tables[key] = None if table.camera is None else names
    except (FeltwatchError, OSError):
        return None
    return _tables[key]


def _suffixes() -> str:
    return ", ".join(sorted(VIDEO_SUFFIXES))
