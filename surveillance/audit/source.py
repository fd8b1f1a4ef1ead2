"""What an audit reads: one recording, or the files of one shift."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from settlement.errors import FeltwatchError
from surveillance.audit.clips import cut_clip, cut_joined
from surveillance.evidence.clips import Clip, ClipError
from vision.sources.file import FileSource
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


def open_recording(paths: Sequence[Path], *, full: bool = False) -> Recording:
    """Open a file, or several as one shift. Raises SourceError.

    Frames that need not be decoded are not, unless `full`.
    """
    if len(paths) == 1:
        return FileSource(paths[0], is_thrifty=not full)
    return ShiftSource(paths, is_thrifty=not full)


def cut_of(source: Recording, from_s: float, to_s: float, stem: Path, faults: list[str]) -> Clip:
    """Cut a clip by the recording's clock, of a shift across its files.

    Of files that are coded differently the one with most of the span is taken, which `faults`
    then tells. Raises ClipError.
    """
    if isinstance(source, FileSource):
        return cut_clip(source.path, from_s, to_s, stem)
    parts = source.parts_of(from_s, to_s)
    try:
        return cut_joined([(part.path, part.shift_s) for part in parts], from_s, to_s, stem)
    except ClipError as error:
        if len(parts) == 1:
            raise
        longest = max(parts, key=lambda part: part.held_s(from_s, to_s))
        clip = cut_joined([(longest.path, longest.shift_s)], from_s, to_s, stem)
        faults.append(f"a clip shows {longest.path.name} alone: {error}")
        return clip
