"""Writing one alert's pictures, clip and bundle into the evidence, and into its row."""

from __future__ import annotations

import errno
import logging
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from settlement.errors import FeltwatchError
from surveillance.evidence.bundle import BundleContents, Chain, SigningKey, write_bundle
from surveillance.evidence.clips import PLAYED_BY_BROWSERS
from surveillance.live.open_alert import OpenAlert
from surveillance.live.recovery import UNKEPT
from surveillance.staging import write_error
from surveillance.store import AlertRow, Store

CLIP, SMALL = "-clip.mp4", "-small.mp4"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})

log = logging.getLogger(__name__)


class BundleWriter:
    """Writes into one evidence folder; everything may be done again after it failed."""

    def __init__(self, store: Store, evidence_dir: Path, key: SigningKey | None) -> None:
        """`key` signs the log of the folder."""
        self._store = store
        self._dir = evidence_dir
        self._chain = Chain.of(evidence_dir, key)

    def write_pictures(self, folder: PurePosixPath, pictures: Mapping[str, bytes]) -> None:
        """Have the pictures that are not there where the alerts say; an error is logged."""
        place = self._dir / folder
        missing = [name for name in pictures if not (place / name).is_file()]
        try:
            for name in missing:
                place.mkdir(parents=True, exist_ok=True)
                partial = place / f"{name}.partial"
                try:
                    partial.write_bytes(pictures[name])
                    partial.replace(place / name)
                finally:
                    partial.unlink(missing_ok=True)
        except OSError as error:
            log.error("%s: pictures cannot be written: %s", place, error.strerror)

    def write(self, own: OpenAlert) -> AlertRow:
        """Write an alert's evidence and say so in its row, which comes back.

        Raises FeltwatchError; then nothing of it is lost, and it may be written later.
        """
        self.write_pictures(own.facts.folder(own.row.at), own.pictures)
        stored = self._store_clip(own)
        clip = own.clip if stored is not None else None
        contents = BundleContents(
            alert=own.alert,
            record=own.record,
            settlement=own.settlement,
            table=own.facts.table,
            camera=own.facts.camera,
            at=own.row.at,
            pictures=own.pictures,
            clip=None if stored is None else self._dir / stored,
            clip_start_s=None if clip is None else f"{clip.start_s:.3f}",
            detections=own.detections,
            versions=own.facts.versions,
            table_file=own.facts.table_file,
            missing=own.missing,
        )
        folder = self._dir / own.facts.camera / own.row.at.strftime("%Y-%m-%d")
        try:
            bundle = write_bundle(folder, contents, self._chain)
        except OSError as error:
            raise write_error(folder, error) from error
        path = bundle.path.resolve().relative_to(self._dir.resolve()).as_posix()
        plays = clip is not None and clip.codec in PLAYED_BY_BROWSERS
        row = self._store.alerts.set_bundle(
            own.row.id, path, bundle.sha256, stored if plays else None
        )
        if UNKEPT in row.message:
            row = self._store.alerts.set_message(row.id, own.alert.message)
        return row

    def tell_unkept(self, own: OpenAlert, why: str) -> AlertRow:
        """Say at an alert that its evidence could not be kept. Raises FeltwatchError."""
        return self._store.alerts.set_message(own.row.id, f"{own.alert.message}{UNKEPT}: {why}.")

    def _store_clip(self, own: OpenAlert) -> str | None:
        """Have the clip in the evidence; its path from there, None where it is gone."""
        if own.clip is None:
            return None
        place = self._dir / own.clip_name
        try:
            # Another alert of the same span may have brought it already.
            if not place.is_file():
                place.parent.mkdir(parents=True, exist_ok=True)
                own.clip.path.replace(place)
        except FileNotFoundError:
            own.clip = None
            own.missing += ("the clip: it is gone",)
            return None
        except OSError as error:
            raise write_error(place, error) from error
        return own.clip_name


def is_disk_error(error: FeltwatchError) -> bool:
    """Whether the disk did not take it, so that the next will not be taken either."""
    return isinstance(error.__cause__, OSError)


def disk_words(error: FeltwatchError, folder: Path) -> str:
    """Why nothing could be written into a folder.

    >>> full = FeltwatchError("x")
    >>> full.__cause__ = OSError(errno.ENOSPC, "No space left on device")
    >>> disk_words(full, Path("/data/evidence"))
    'no space left on /data/evidence'
    """
    cause = error.__cause__
    if isinstance(cause, OSError) and cause.errno in _FULL:
        return f"no space left on {folder}"
    return str(error)
