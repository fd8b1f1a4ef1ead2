"""Write one alert's images, clip and bundle into the evidence, and into its row."""

from __future__ import annotations

import errno
import logging
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from settlement.errors import FeltwatchError
from settlement.record import RoundRecord
from surveillance.evidence.bundle import (
    BundleContents,
    Chain,
    FurtherClip,
    SigningKey,
    write_bundle,
)
from surveillance.evidence.clips import PLAYED_BY_BROWSERS, Clip
from surveillance.evidence.images import file_stem
from surveillance.live.entries import EvidenceContent
from surveillance.staging import write_error
from surveillance.store import AlertRow, PendingClip, PendingRow, Store

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
        """Write the images that are missing where the alerts say; an error is logged."""
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
            log.error("%s: images cannot be written: %s", place, error.strerror)

    def write(self, own: PendingRow) -> AlertRow:
        """Write an alert's evidence and say so in its row, which comes back.

        Raises FeltwatchError; then nothing of it is lost, and it may be written later.
        """
        try:
            content = EvidenceContent.model_validate(own.content)
            record = None if own.record is None else RoundRecord.model_validate(own.record)
        except ValidationError as error:
            raise FeltwatchError(f"its pending evidence cannot be read: {error}") from error
        # Earlier versions named images by what may stand in no bundle, such as "Table 3-...".
        # The row points to them by these names, so that beside the bundle they keep them.
        named = {name: file_stem(name) for name in content.pictures}
        told = tuple(
            str(path.with_name(named.get(path.name, path.name)))
            for path in map(PurePosixPath, content.alert.pictures)
        )
        alert, facts = own.alert, content.facts
        self.write_pictures(facts.folder(alert.at), content.pictures)
        clip, missing = self._store_clip(own)
        further = [self._store_further(one) for one in own.further]
        contents = BundleContents(
            alert=content.alert.model_copy(update={"pictures": told}),
            record=record,
            settlement=own.settlement,
            table=facts.table,
            camera=facts.camera,
            at=alert.at,
            pictures={named[name]: data for name, data in content.pictures.items()},
            clip=None if clip is None else self._dir / own.clip_name,
            clip_start_s=None if clip is None else f"{clip.start_s:.3f}",
            detections=[one.model_dump(mode="json") for one in content.detections],
            versions=facts.versions,
            table_file=facts.table_file,
            missing=missing,
            further_clips=tuple(_in_bundle(self._dir, one) for one in further),
        )
        folder = self._dir / facts.camera / alert.at.strftime("%Y-%m-%d")
        try:
            bundle = write_bundle(folder, contents, self._chain)
        except OSError as error:
            raise write_error(folder, error) from error
        path = bundle.path.resolve().relative_to(self._dir.resolve()).as_posix()
        plays = clip is not None and clip.codec in PLAYED_BY_BROWSERS
        clips = [(one, clip_of(one.clip)) for one in further if one.clip is not None]
        return self._store.pending.set_bundle(
            alert.id,
            path,
            bundle.sha256,
            own.clip_name if plays else None,
            preview=clip is not None and not clip.plays_at_once,
            further_clips={
                one.camera: one.name for one, clip in clips if clip.codec in PLAYED_BY_BROWSERS
            },
            further_previews=[one for one, clip in clips if not clip.plays_at_once],
        )

    def _store_clip(self, own: PendingRow) -> tuple[Clip | None, tuple[str, ...]]:
        """Move the clip into the evidence; return it (None: it is gone) and what is missing."""
        if own.clip is None:
            return None, own.missing
        clip = clip_of(own.clip)
        if not self._move(clip, own.clip_name):
            return None, (*own.missing, "the clip: it is gone")
        return clip, own.missing

    def _store_further(self, own: PendingClip) -> PendingClip:
        """The same for a further camera's; returns it without one where it is gone."""
        if own.clip is None or self._move(clip_of(own.clip), own.name):
            return own
        return PendingClip(own.camera, missing="it is gone")

    def _move(self, clip: Clip, name: str) -> bool:
        """Move a clip into the evidence; False: it is gone. Raises FeltwatchError."""
        place = self._dir / name
        try:
            # Another alert of the same span may have brought it already.
            if not place.is_file():
                place.parent.mkdir(parents=True, exist_ok=True)
                clip.path.replace(place)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise write_error(place, error) from error
        return True


def _in_bundle(folder: Path, own: PendingClip) -> FurtherClip:
    if own.clip is None:
        return FurtherClip(own.camera, missing=own.missing)
    start_s = f"{clip_of(own.clip).start_s:.3f}"
    return FurtherClip(own.camera, folder / own.name, start_s)


def clip_facts(clip: Clip) -> dict[str, str | float | int]:
    """Return a clip as pending evidence keeps it."""
    return {
        "path": str(clip.path), "start_s": clip.start_s, "end_s": clip.end_s,
        "codec": clip.codec, "width": clip.width,
    }  # fmt: skip


def clip_of(facts: Mapping[str, str | float | int]) -> Clip:
    """Return the clip of `clip_facts`."""
    return Clip(
        Path(str(facts["path"])), float(facts["start_s"]), float(facts["end_s"]),
        str(facts["codec"]), int(facts["width"]),
    )  # fmt: skip


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
