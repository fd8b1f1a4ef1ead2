"""The folders of views cut for labelling, one an alert, kept within a number of views.

Each can be cut again as long as the alert's bundle stands, so the limit costs little: views
that are in a dataset already go first, then the oldest of the rest.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from datasets.labelled.harvest import CANDIDATES, VIEWS

HARVESTED = "harvested"
"""An empty file in a folder whose views are in a dataset."""

KEEP = 5_000


@dataclass(frozen=True, slots=True)
class _Folder:
    path: Path
    views: int
    is_harvested: bool
    written_s: float

    @property
    def order(self) -> tuple[bool, float, str]:
        """Those to go first stand first."""
        return not self.is_harvested, self.written_s, self.path.name


class CandidateFolders:
    """The folders in `root`, which together hold at most `keep` views after `sweep`."""

    def __init__(self, root: Path, keep: int = KEEP) -> None:
        """Nothing is touched before `sweep`."""
        self.root = root
        self.keep = keep

    def note_harvested(self, folder: Path) -> None:
        """The folder's views are in a dataset; folders that lie elsewhere are passed over."""
        if folder.parent == self.root:
            with contextlib.suppress(OSError):
                (folder / HARVESTED).touch()

    def sweep(self, newest: Path | None = None) -> int:
        """Remove folders until the rest is within the limit; returns how many views went.

        `newest` stays whatever it holds: somebody is at work with it.
        """
        folders = sorted(self._folders(), key=lambda folder: folder.order)
        over = sum(folder.views for folder in folders) - self.keep
        gone = 0
        for folder in folders:
            if over - gone <= 0:
                break
            if folder.path == newest:
                continue
            shutil.rmtree(folder.path, ignore_errors=True)
            if not folder.path.exists():
                gone += folder.views
        return gone

    def _folders(self) -> Iterator[_Folder]:
        with contextlib.suppress(OSError), os.scandir(self.root) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    yield _folder(Path(entry.path))


def _folder(path: Path) -> _Folder:
    views = 0
    written_s = 0.0
    with contextlib.suppress(OSError):
        written_s = path.stat().st_mtime
        written_s = (path / CANDIDATES).stat().st_mtime
    with contextlib.suppress(OSError), os.scandir(path / VIEWS) as found:
        views = sum(1 for _ in found)
    return _Folder(path, views, (path / HARVESTED).exists(), written_s)
