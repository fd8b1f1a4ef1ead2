"""The images that people calibrate on, kept for as long as the server runs."""

from __future__ import annotations

import secrets
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

MOST_KEPT = 12


@dataclass(frozen=True, slots=True)
class KeptPicture:
    """An image in a folder of the server's own."""

    id: str
    path: Path
    width_px: int
    height_px: int
    name: str


class CalibrationPictures:
    """The last images, in a folder that goes with the server; safe for several threads."""

    def __init__(self) -> None:
        """Nothing is written before the first image."""
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._kept: OrderedDict[str, KeptPicture] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, jpeg: bytes, width_px: int, height_px: int, name: str) -> KeptPicture:
        """Keep an image; the oldest goes when there are too many."""
        with self._lock:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="feltwatch-pictures-")
            id = secrets.token_hex(12)
            path = Path(self._folder.name) / f"{id}.jpg"
            path.write_bytes(jpeg)
            kept = KeptPicture(id, path, width_px, height_px, name)
            self._kept[id] = kept
            while len(self._kept) > MOST_KEPT:
                _, old = self._kept.popitem(last=False)
                old.path.unlink(missing_ok=True)
        return kept

    def get(self, id: str) -> KeptPicture | None:
        """The image of that id, None when there is none any more."""
        with self._lock:
            return self._kept.get(id)

    def latest(self, cameras: Collection[str] = ()) -> KeptPicture | None:
        """The image that came last; with `cameras`, of those that came from one of them."""
        names = {f"camera {name}" for name in cameras}
        with self._lock:
            of_them = (
                kept
                for kept in reversed(self._kept.values())
                if not names or kept.name.partition(",")[0] in names
            )
            return next(of_them, None)
