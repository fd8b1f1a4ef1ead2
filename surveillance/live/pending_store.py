"""A folder of what waits to be written, so that a full disk or an end loses no evidence."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from settlement.record import RoundRecord
from surveillance.alerts.model import Alert
from surveillance.evidence.clips import Clip
from surveillance.live.open_alert import CameraFacts, OpenAlert
from surveillance.staging import write_error
from surveillance.store import AlertRow

WAITING = "waiting"
"""Name of the folder, beside the evidence."""
_ALERT, _SMALL, _PARTIAL, _CLIP = ".alert.json", ".small.json", ".partial", ".mp4"

log = logging.getLogger(__name__)


class _Kept(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, ser_json_bytes="base64", val_json_bytes="base64"
    )
    version: Literal[1] = 1


class KeptAlert(_Kept):
    """An `OpenAlert` but for its row, which the store holds."""

    row_id: int
    alert: Alert
    facts: CameraFacts
    record: RoundRecord | None
    settlement: dict[str, Any] | None
    detections: list[dict[str, Any]]
    pictures: dict[str, bytes]
    clip: Clip | None
    clip_name: str
    missing: tuple[str, ...]

    def opened(self, row: AlertRow) -> OpenAlert:
        """The same with its row, after the clip was waited for."""
        missing = self.missing
        if self.clip is None and not missing:
            missing = ("the clip: the server ended before it came",)
        return OpenAlert(
            row, self.alert, self.facts, self.record, self.settlement, list(self.detections),
            dict(self.pictures), self.clip, self.clip_name, missing, is_kept=True,
        )  # fmt: skip


class SmallClip(_Kept):
    """A clip `stored` that is to be coded as `small` for these alerts; names from the evidence."""

    rows: tuple[int, ...]
    stored: str
    small: str


def _small_name(small: SmallClip) -> str:
    return hashlib.sha256(small.stored.encode()).hexdigest()[:20] + _SMALL


class WaitingFolder:
    """What waits, a file each; made at once, so that on a full disk names still find room."""

    def __init__(self, path: Path) -> None:
        """At `path`, on the file system of the evidence."""
        self.path = path
        with contextlib.suppress(OSError):
            path.mkdir(parents=True, exist_ok=True)

    def keep(self, own: OpenAlert) -> None:
        """Write an alert down, in place of what was written before. Raises FeltwatchError."""
        kept = KeptAlert(
            row_id=own.row.id, alert=own.alert, facts=own.facts, record=own.record,
            settlement=own.settlement, detections=own.detections, pictures=own.pictures,
            clip=own.clip, clip_name=own.clip_name, missing=own.missing,
        )  # fmt: skip
        self._write(f"{own.row.id}{_ALERT}", kept)

    def keep_small(self, small: SmallClip) -> None:
        """Write a clip down that is to be coded. Raises FeltwatchError."""
        self._write(_small_name(small), small)

    def alert(self, row_id: int) -> KeptAlert | None:
        """What was written down of an alert; None when there is nothing that can be read."""
        path = self.path / f"{row_id}{_ALERT}"
        try:
            return KeptAlert.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as error:
            log.error("%s: cannot be read: %s", path, type(error).__name__)
            return None

    def alerts(self) -> tuple[int, ...]:
        """Rows of the alerts that are written down, in order."""
        names = (path.name.removesuffix(_ALERT) for path in self._files(_ALERT))
        return tuple(sorted(int(name) for name in names if name.isdigit()))

    def smalls(self) -> Iterator[SmallClip]:
        """Clips that are to be coded."""
        for path in self._files(_SMALL):
            try:
                yield SmallClip.model_validate_json(path.read_bytes())
            except (OSError, ValidationError) as error:
                log.error("%s: cannot be read: %s", path, type(error).__name__)

    def save_clip(self, clip: Path) -> Path:
        """Have a clip here, out of a spool that is emptied. Raises OSError."""
        place = self.path / clip.name
        if clip != place:
            clip.replace(place)
        return place

    def done(self, row_id: int) -> None:
        """An alert waits no more."""
        self._remove(self.path / f"{row_id}{_ALERT}")

    def small_done(self, small: SmallClip) -> None:
        """A clip waits no more."""
        self._remove(self.path / _small_name(small))

    def remove_strays(self) -> None:
        """Delete half written files and clips that no alert waits for; only at the start."""
        wanted = set()
        for row_id in self.alerts():
            kept = self.alert(row_id)
            if kept is not None and kept.clip is not None:
                wanted.add(kept.clip.path.name)
        for path in (*self._files(_PARTIAL), *self._files(_CLIP)):
            if path.name not in wanted:
                self._remove(path)

    def _files(self, suffix: str) -> list[Path]:
        try:
            return sorted(p for p in self.path.iterdir() if p.name.endswith(suffix))
        except OSError:
            return []

    def _remove(self, path: Path) -> None:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)

    def _write(self, name: str, kept: _Kept) -> None:
        partial = self.path / (name + _PARTIAL)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            # Evidence: nobody else's to read.
            handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o640)
            with os.fdopen(handle, "wb") as file:
                file.write(kept.model_dump_json().encode())
            partial.replace(self.path / name)
        except OSError as error:
            self._remove(partial)
            raise write_error(self.path, error) from error
