"""What an audit reads: one recording, or the files of one shift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from settlement.errors import FeltwatchError
from surveillance.audit.clips import cut_clip
from surveillance.evidence.clips import Clip
from vision.sources.base import FileSource
from vision.sources.shift import ShiftSource

Recording = FileSource | ShiftSource
VIDEO_SUFFIXES = frozenset(
    {".mp4", ".mkv", ".mov", ".avi", ".ts", ".m2ts", ".webm", ".m4v", ".mpg", ".mpeg", ".h264",
     ".h265", ".hevc", ".dav", ".asf", ".wmv"}
)  # fmt: skip


def recording_files(video: Path | Sequence[Path]) -> tuple[Path, ...]:
    """The files of a recording: those given, or all videos of a folder.

    Raises FeltwatchError for a folder without a video, and for folders and files together.
    """
    paths = (video,) if isinstance(video, Path) else tuple(video)
    if len(paths) == 1 and paths[0].is_dir():
        own = (p for p in paths[0].iterdir() if p.suffix.lower() in VIDEO_SUFFIXES)
        found = tuple(sorted(p for p in own if p.is_file() and not p.name.startswith(".")))
        if not found:
            raise FeltwatchError(
                f"{paths[0]}: not a file, and no video in it; give a recording or a folder of them"
            )
        return found
    folder = next((path for path in paths if path.is_dir()), None)
    if folder is not None:
        raise FeltwatchError(f"{folder}: is a folder; give one folder, or the files of a shift")
    return paths


def named(paths: Sequence[Path]) -> Path:
    """What a recording is called: its file, or the folder of its files."""
    return paths[0] if len(paths) == 1 else paths[0].parent


def open_recording(paths: Sequence[Path]) -> Recording:
    """Open a file, or several as one shift. Raises SourceError."""
    return FileSource(paths[0]) if len(paths) == 1 else ShiftSource(paths)


def cut_of(source: Recording, from_s: float, to_s: float, stem: Path) -> Clip:
    """Cut a clip by the recording's clock, of a shift from the file with most of the span.

    Raises ClipError.
    """
    if isinstance(source, FileSource):
        return cut_clip(source.path, from_s, to_s, stem)
    part = source.part_of(from_s, to_s)
    shift = float(part.shift_s)
    clip = cut_clip(part.path, from_s - shift, to_s - shift, stem)
    return replace(clip, start_s=clip.start_s + shift, end_s=clip.end_s + shift)
