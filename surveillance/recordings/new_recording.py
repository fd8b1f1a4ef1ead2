"""A recording to be audited, of the files that a person has named."""

from __future__ import annotations

from collections.abc import Sequence
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
    named = {folders.video(folder, file): file for file in files}
    if len(named) < len(files):
        raise FeltwatchError(f"{files[0]}: a file is named twice; give each file once")
    table_path = folders.table_file(table_file)
    table = load_table(table_path)
    check_followed(table, table_path)
    beside = camera_videos(folders, folder, cameras)
    own = next((one.path for one in beside.values() if one.path in named), None)
    if own is not None:
        raise FeltwatchError(f"{named[own]}: is the first camera's; name another camera's file")
    with open_cameras(beside, table, table_path):
        pass
    with open_recording(tuple(named)) as source:
        parts = source.parts if isinstance(source, ShiftSource) else ()
    videos = tuple(part.path for part in parts) or tuple(named)
    stats = [video.stat() for video in videos]
    ordered = tuple(named[video] for video in videos)
    new = NewRecording(
        folder=str(folders.folder(folder)), file=ordered[0], files=ordered,
        size=sum(stat.st_size for stat in stats), table_file=str(table_path), by=by,
        # The file that was written last ended with the shift.
        mtime=max(stat.st_mtime for stat in stats),
        cameras=tuple(sorted(cameras, key=lambda one: one.name)),
    )  # fmt: skip
    return new, videos


def camera_videos(
    folders: AllowedFolders, folder: str, cameras: Sequence[CameraFile]
) -> dict[str, CameraVideo]:
    """Return the files of further cameras by name.

    Raises FeltwatchError for a camera that is named twice, and for a file that is gone or lies
    outside of the folders.
    """
    out: dict[str, CameraVideo] = {}
    for one in cameras:
        if one.name in out:
            raise FeltwatchError(f"camera {one.name!r} is named twice; give one file a camera")
        out[one.name] = CameraVideo(folders.video(folder, one.file), one.offset_s)
    return out
