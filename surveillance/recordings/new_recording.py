"""A recording to be audited, of the files that a person has named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from settlement.errors import FeltwatchError
from surveillance.audit.further import CameraVideo, open_cameras
from surveillance.audit.source import open_recording
from surveillance.recordings.folders import AllowedFolders
from surveillance.store import CameraFile, NewRecording
from vision.geometry.table import load_table
from vision.rounds.followed import check_followed
from vision.sources.shift import ShiftSource


def new_recording(
    folders: AllowedFolders,
    folder: str,
    files: Sequence[str],
    table_file: str,
    by: str,
    cameras: Sequence[CameraFile] = (),
) -> tuple[NewRecording, tuple[Path, ...]]:
    """Return a recording of one file, or of the files of a shift, and their paths by start time.

    In whatever order files are named, they give the same; `cameras` are the files of further
    cameras. Raises FeltwatchError for what lies outside of the folders or cannot be audited.
    """
    named = _named(folders, folder, files)
    table_path = folders.table_file(table_file)
    table = load_table(table_path)
    check_followed(table, table_path)
    beside = camera_videos(folders, folder, cameras)
    own = next((path for one in beside.values() for path in one.files if path in named), None)
    if own is not None:
        raise FeltwatchError(f"{named[own]}: is the first camera's; name another camera's file")
    with open_cameras(beside, table, table_path):
        pass
    videos = _by_start(tuple(named))
    stats = [video.stat() for video in videos]
    ordered = tuple(named[video] for video in videos)
    new = NewRecording(
        folder=str(folders.folder(folder)), file=ordered[0], files=ordered,
        size=sum(stat.st_size for stat in stats), table_file=str(table_path), by=by,
        # The file that was written last ended with the shift.
        mtime=max(stat.st_mtime for stat in stats),
        cameras=tuple(
            _ordered(folders, folder, one) for one in sorted(cameras, key=lambda one: one.name)
        ),
    )  # fmt: skip
    return new, videos


def camera_videos(
    folders: AllowedFolders, folder: str, cameras: Sequence[CameraFile]
) -> dict[str, CameraVideo]:
    """Return the files of further cameras by name.

    Raises FeltwatchError for a camera or file that is named twice, and for a file that is gone or
    lies outside of the folders.
    """
    out: dict[str, CameraVideo] = {}
    for one in cameras:
        if one.name in out:
            raise FeltwatchError(f"camera {one.name!r} is named twice; give all its files at once")
        out[one.name] = CameraVideo(tuple(_named(folders, folder, one.files)), one.offset_s)
    return out


def _named(folders: AllowedFolders, folder: str, files: Sequence[str]) -> dict[Path, str]:
    """The paths of one camera's files, with the names that were given."""
    named = {folders.video(folder, file): file for file in files}
    if len(named) < len(files):
        raise FeltwatchError(f"{files[0]}: a file is named twice; give each file once")
    return named


def _by_start(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    with open_recording(paths) as source:
        parts = source.parts if isinstance(source, ShiftSource) else ()
    return tuple(part.path for part in parts) or paths


def _ordered(folders: AllowedFolders, folder: str, camera: CameraFile) -> CameraFile:
    """A further camera's files by start time."""
    named = _named(folders, folder, camera.files)
    file, *more = (named[path] for path in _by_start(tuple(named)))
    return replace(camera, file=file, more_files=tuple(more))
