"""A recording to be audited, of the files that a person has named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from settlement.errors import FeltwatchError
from surveillance.audit.source import open_recording
from surveillance.recordings.folders import AllowedFolders
from surveillance.store import NewRecording
from vision.geometry.table import load_table
from vision.rounds.followed import check_followed
from vision.sources.shift import ShiftSource


def new_recording(
    folders: AllowedFolders, folder: str, files: Sequence[str], table_file: str, by: str
) -> tuple[NewRecording, tuple[Path, ...]]:
    """Return a recording of one file, or of the files of a shift, and their paths by start time.

    In whatever order files are named, they give the same. Raises FeltwatchError for what lies
    outside of the folders or cannot be audited.
    """
    named = {folders.video(folder, file): file for file in files}
    if len(named) < len(files):
        raise FeltwatchError(f"{files[0]}: a file is named twice; give each file once")
    table = folders.table_file(table_file)
    check_followed(load_table(table), table)
    with open_recording(tuple(named)) as source:
        parts = source.parts if isinstance(source, ShiftSource) else ()
    videos = tuple(part.path for part in parts) or tuple(named)
    stats = [video.stat() for video in videos]
    ordered = tuple(named[video] for video in videos)
    new = NewRecording(
        folder=str(folders.folder(folder)), file=ordered[0], files=ordered,
        size=sum(stat.st_size for stat in stats), table_file=str(table), by=by,
        # The file that was written last ended with the shift.
        mtime=max(stat.st_mtime for stat in stats),
    )  # fmt: skip
    return new, videos
