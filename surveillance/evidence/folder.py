"""The files that rows of the store point to, and deleting them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from surveillance.evidence.bundle.chain import CHAIN_FILE, Chain
from surveillance.evidence.bundle.keys import SigningKey
from surveillance.evidence.bundle.write import PARTIAL

_STALE_S = 86_400.0


@dataclass
class EvidenceFolder:
    """A folder of bundles, clips and images with the log of what is in it.

    `files`, `bytes`: what was deleted so far; `left`: what could not be, with the reason.
    `key` signs the lines of the log.
    """

    path: Path
    files: int = 0
    bytes: int = 0
    left: list[str] = field(default_factory=list)
    key: SigningKey | None = None

    def size(self) -> int:
        """Bytes of all files but the log's."""
        return sum(size for _, size, _ in self._walk())

    def remove(self, names: Iterable[str], reason: str) -> frozenset[str]:
        """Delete files by the names that rows hold; returns those that are still there.

        What is missing already, lies outside or is the log is skipped. The log is written
        first, so that after a crash no bundle is missing without a line that says why.
        """
        found = {name: path for name in sorted(set(names)) if (path := self._inside(name))}
        if not found:
            return frozenset()
        if (self.path / CHAIN_FILE).exists():
            root = self.path.resolve()
            removed = [path.relative_to(root).as_posix() for path in found.values()]
            Chain.of(self.path, self.key).append("removed", {"files": removed, "reason": reason})
        return frozenset(name for name, path in found.items() if not self._unlink(path))

    def remove_stale(self, now_s: float) -> None:
        """Delete unfinished files that a crash left a day ago; `now_s`: since 1970."""
        Chain.of(self.path, self.key).recover()  # one of them may be waiting to be published
        for path, _, mtime in list(self._walk()):
            if path.name.startswith(PARTIAL) and mtime < now_s - _STALE_S:
                self._unlink(path)

    def _inside(self, name: str) -> Path | None:
        root = self.path.resolve()
        path = (root / name).resolve()
        if not path.is_relative_to(root) or path.name.startswith(CHAIN_FILE):
            return None
        return path if path.is_file() else None

    def _unlink(self, path: Path) -> bool:
        try:
            size = path.stat().st_size
            path.unlink()
        except FileNotFoundError:
            return True
        except OSError as error:
            self.left.append(f"{path}: {error.strerror or error}")
            return False
        self.files += 1
        self.bytes += size
        root = self.path.resolve()
        for folder in path.resolve().parents:
            if folder == root or root not in folder.parents:
                break
            with contextlib.suppress(OSError):  # not empty
                folder.rmdir()
        return True

    def _walk(self) -> Iterator[tuple[Path, int, float]]:
        for folder, _, names in os.walk(self.path):
            for name in names:
                path = Path(folder, name)
                with contextlib.suppress(OSError):  # gone meanwhile
                    status = path.lstat()
                    if not name.startswith(CHAIN_FILE):
                        yield path, status.st_size, status.st_mtime
