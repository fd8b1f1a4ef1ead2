"""The files behind an alert: images, clip and bundle, never outside the evidence folder."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Literal

from settlement.errors import FeltwatchError
from surveillance.evidence.bundle import part_names, part_span, read_part
from surveillance.evidence.bundle.manifest import MANIFEST, Manifest
from surveillance.evidence.images import PictureName
from surveillance.store import AlertRow
from surveillance.web.schemas.alerts import ClipForm, FurtherClipForm, PictureLine
from surveillance.web.services.errors import NotThereError

_MEDIA_TYPES = {".mp4": "video/mp4", ".webm": "video/webm", ".mkv": "video/x-matroska"}

BEFORE = ("bets", "staked", "set")
AFTER = ("settled", "envy", "cards", "changed", "moved")
"""Moments of a round that show it before and after; the first one there counts."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """`size` bytes of a file from `offset` on, and what they are."""

    path: Path
    offset: int
    size: int
    media_type: str

    def open(self) -> BinaryIO:
        """The file, at the first byte. Raises NotThereError when it went since it was found."""
        try:
            file = self.path.open("rb")
        except FileNotFoundError as error:
            raise NotThereError(f"{self.path.name} was replaced this moment; ask again") from error
        file.seek(self.offset)
        return file


def media_type(name: str) -> str:
    """The media type of a clip by its name.

    >>> media_type("clip.webm"), media_type("clip.mp4")
    ('video/webm', 'video/mp4')
    """
    return _MEDIA_TYPES.get(PurePosixPath(name).suffix.lower(), "video/mp4")


class EvidenceFiles:
    """Finds the files that an alert names, in the evidence folder and in its bundle."""

    def __init__(self, folder: Path | None, others: Sequence[Path] = ()) -> None:
        """Look into the evidence folder; None: there is none, nothing is found.

        `others` are evidence folders of other servers, looked into where it is not there.
        """
        own = () if folder is None else (folder,)
        self._folders = tuple(path.resolve() for path in (*own, *others))

    def picture(self, alert: AlertRow, n: int) -> tuple[bytes, str]:
        """The n-th image (from 0) and its media type. Raises NotThereError."""
        if not 0 <= n < len(alert.alert.pictures):
            raise NotThereError(f"alert {alert.id} has no image {n}")
        name = alert.alert.pictures[n]
        kind = "image/png" if name.endswith(".png") else "image/jpeg"
        path = self._inside(name)
        if path is not None:
            return path.read_bytes(), kind
        data = self._in_bundle(alert, name)
        if data is None:
            raise NotThereError(f"the image {PurePosixPath(name).name} is gone from the evidence")
        return data, kind

    def clip(self, alert: AlertRow, size: int | None = None, camera: str = "") -> Stretch:
        """Where the clip's bytes lie: a file of its own, or within the bundle.

        `camera`: of a further camera, by its name in the table file.

        The file may be a smaller copy, which comes after the bundle. Of `size` bytes: the one
        of the two that a player began with. Raises NotThereError.
        """
        own = self._own_clip(alert, camera)
        if own is not None and size in (None, own.size):
            return own
        bundled = self._bundled_clip(alert, camera)
        if bundled is not None and size in (None, bundled.size):
            return bundled
        if own is not None or bundled is not None:
            raise NotThereError(f"alert {alert.id} has no clip of {size} bytes any more")
        of = f" of camera {camera!r}" if camera else ""
        raise NotThereError(f"alert {alert.id} has no clip{of}")

    def _own_clip(self, alert: AlertRow, camera: str) -> Stretch | None:
        path = self._inside(alert.further_clips.get(camera) if camera else alert.clip)
        if path is None:
            return None
        try:
            return Stretch(path, 0, path.stat().st_size, media_type(path.name))
        except FileNotFoundError:
            return None  # its smaller copy came this moment

    def _bundled_clip(self, alert: AlertRow, camera: str) -> Stretch | None:
        bundle = self._inside(alert.bundle)
        if bundle is None:
            return None
        begin = f"clip-{camera}." if camera else "clip."
        try:
            name = next((n for n in part_names(bundle) if n.startswith(begin)), None)
            if name is None:
                return None
            return Stretch(bundle, *part_span(bundle, name), media_type(name))
        except FeltwatchError as error:
            raise NotThereError(str(error)) from error

    def bundle(self, alert: AlertRow) -> Path:
        """The evidence bundle's file. Raises NotThereError."""
        path = self._inside(alert.bundle)
        if path is None:
            raise NotThereError(f"alert {alert.id} has no bundle yet")
        return path

    def pictures(self, alert: AlertRow) -> list[PictureLine]:
        """The images that are there, with their words; of each camera a pair is marked before
        and after.

        An alert is published before its images are written.
        """
        there = self._there(alert)
        names = [PictureName.parse(path) for path in alert.alert.pictures]
        shown = [name if n in there else None for n, name in enumerate(names)]
        roles = _roles(alert, shown)
        return [
            PictureLine(
                n=n,
                url=f"/api/alerts/{alert.id}/picture/{n}",
                words=name.words if name else PurePosixPath(path).name,
                moment=name.what if name else "",
                camera=name.camera if name else "",
                role=roles.get(n, ""),
            )
            for n, (path, name) in enumerate(zip(alert.alert.pictures, names, strict=True))
            if n in there
        ]

    def clip_form(self, alert: AlertRow, before_s: float) -> ClipForm | None:
        """The clip and the moment in it; None when there is none.

        The bundle says when the clip begins on the stream's clock; without it the moment is
        taken to be `before_s` after the clip's beginning.
        """
        manifest = self._manifest(alert)
        begin = None if manifest is None else _number(manifest.clip_start_s)
        return self._clip_form(alert, before_s, begin)

    def further_clips(self, alert: AlertRow, before_s: float) -> list[FurtherClipForm]:
        """The clips of further cameras that the bundle names, or why one is missing."""
        manifest = self._manifest(alert)
        out = []
        for one in (manifest.further_clips if manifest else None) or ():
            clip, missing = None, one.missing or ""
            if not missing:
                clip = self._clip_form(alert, before_s, _number(one.start_s), one.camera)
                missing = "" if clip else "it is gone from the evidence"
            out.append(FurtherClipForm(camera=one.camera, clip=clip, missing=missing))
        return out

    def _clip_form(
        self, alert: AlertRow, before_s: float, begin: float | None, camera: str = ""
    ) -> ClipForm | None:
        try:
            clip = self.clip(alert, camera=camera)
        except NotThereError:
            return None
        moment = moment_of(alert)
        known = begin is not None and moment is not None
        which = f"size={clip.size}&camera={camera}" if camera else f"size={clip.size}"
        return ClipForm(
            url=f"/api/alerts/{alert.id}/clip?{which}",
            stills_url=f"/api/alerts/{alert.id}/clip/still?{which}",
            media_type=clip.media_type,
            moment_s=before_s if begin is None or moment is None else max(0.0, moment - begin),
            is_known=known,
        )

    def _manifest(self, alert: AlertRow) -> Manifest | None:
        """The bundle's manifest; None without one that can be read."""
        path = self._inside(alert.bundle)
        if path is None:
            return None
        try:
            return Manifest.model_validate_json(read_part(path, MANIFEST))
        except (FeltwatchError, ValueError):
            return None

    def _in_bundle(self, alert: AlertRow, name: str) -> bytes | None:
        path = self._inside(alert.bundle)
        if path is None:
            return None
        wanted = PurePosixPath(name).name
        try:
            found = next((n for n in part_names(path) if PurePosixPath(n).name == wanted), None)
            return None if found is None else read_part(path, found)
        except FeltwatchError:
            return None

    def _there(self, alert: AlertRow) -> set[int]:
        """Which images can be shown, from 0."""
        there = {n for n, name in enumerate(alert.alert.pictures) if self._inside(name) is not None}
        bundle = self._inside(alert.bundle)
        if len(there) == len(alert.alert.pictures) or bundle is None:
            return there
        with contextlib.suppress(FeltwatchError):
            held = {PurePosixPath(name).name for name in part_names(bundle)}
            there |= {
                n for n, p in enumerate(alert.alert.pictures) if PurePosixPath(p).name in held
            }
        return there

    def _inside(self, name: str | None) -> Path | None:
        """The file of that name in a folder; None when it is in none or lies outside."""
        for folder in self._folders if name else ():
            path: Path = (folder / str(name)).resolve()
            if path.is_relative_to(folder) and path.is_file():
                return path
        return None


def moment_of(alert: AlertRow) -> float | None:
    """When it happened, seconds of the stream: the last image that shows it."""
    own = alert.alert
    return _number(own.end_s if own.end_s is not None else own.start_s)


def _number(value: object) -> float | None:
    try:
        return None if value is None else float(Decimal(str(value)))
    except InvalidOperation:
        return None


def _roles(
    alert: AlertRow, names: list[PictureName | None]
) -> dict[int, Literal["before", "after", ""]]:
    """Which images show the place before and after, of each camera that shows both.

    The dealer's own where the alert names no seat.
    """
    place = "dealer" if alert.alert.seat is None else f"seat{alert.alert.seat}"
    own: dict[str, dict[str, int]] = {}
    for n, name in reversed(list(enumerate(names))):
        if name and name.place == place:
            own.setdefault(name.camera, {})[name.what] = n
    roles: dict[int, Literal["before", "after", ""]] = {}
    for at in own.values():
        before = next((at[what] for what in BEFORE if what in at), None)
        after = next((at[what] for what in AFTER if what in at), None)
        # One without the other shows no change.
        if before is not None and after is not None:
            roles |= {before: "before", after: "after"}
    return roles
