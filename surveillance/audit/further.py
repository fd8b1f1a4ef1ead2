"""The recordings of a table's further cameras, beside that of the first one in an audit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from settlement.errors import FeltwatchError
from surveillance.audit.source import Recording, named, open_recording, recording_files
from vision.geometry.calibration import Calibration, CalibrationError
from vision.geometry.table import FurtherCamera, TableFile
from vision.sources.moments import Moments


@dataclass(frozen=True, slots=True)
class CameraVideo:
    """The recording of a further camera, a file or the files of a shift in any order; the first of
    them began `offset_s` after the first camera's clock."""

    files: tuple[Path, ...]
    offset_s: float = 0.0


@dataclass(frozen=True, slots=True)
class FurtherRecording:
    """A further camera's recording, open; it began `offset_s` after the first camera's clock."""

    camera: FurtherCamera
    source: Recording
    offset_s: float


@runtime_checkable
class JoiningWatcher(Protocol):
    """A watcher that reads further cameras."""

    def join(self, camera: FurtherCamera, moments: Moments) -> None:
        """Read a further camera's recording too."""

    def faults(self) -> list[str]:
        """What of further cameras and samples could not be used, in words."""


def parse_videos(videos: Sequence[str], offsets: Sequence[str]) -> dict[str, CameraVideo]:
    """Recordings by camera of `NAME=FILE`, several of a name for a shift, and `NAME=SECONDS`.

    Raises FeltwatchError.

    >>> parse_videos(["low=1.mp4", "low=2.mp4"], ["low=1.5"])["low"].files
    (PosixPath('1.mp4'), PosixPath('2.mp4'))
    """
    files: dict[str, list[Path]] = {}
    for text in videos:
        name, found, path = text.partition("=")
        if not (name and found and path):
            raise FeltwatchError(
                f"--camera-video {text}: expected NAME=FILE, such as shoulder=low.mp4"
            )
        own = files.setdefault(name, [])
        if Path(path) in own:
            raise FeltwatchError(f"--camera-video {text}: is named twice; give each file once")
        own.append(Path(path))
    out = {name: CameraVideo(recording_files(paths)) for name, paths in files.items()}
    for text in offsets:
        name, _, seconds = text.partition("=")
        try:
            late = float(seconds)
        except ValueError:
            late = float("nan")
        if not abs(late) <= 86_400:
            raise FeltwatchError(
                f"--camera-offset {text}: expected NAME=SECONDS within a day, such as shoulder=1.5"
            )
        if name not in out:
            raise FeltwatchError(f"--camera-offset {text}: camera {name!r} has no --camera-video")
        out[name] = CameraVideo(out[name].files, late)
    return out


@contextmanager
def open_cameras(
    videos: Mapping[str, CameraVideo], table: TableFile, table_path: Path
) -> Iterator[list[FurtherRecording]]:
    """The further cameras with their recordings, open.

    Raises FeltwatchError for a camera that the table file does not have or whose points do not
    fit, and for a recording that cannot be read or is of another size.
    """
    known = {camera.name: camera for camera in table.cameras}
    with ExitStack() as stack:
        out = []
        for name, video in videos.items():
            if name not in known:
                have = ", ".join(known) or "none"
                raise FeltwatchError(
                    f"camera {name!r}: {table_path} has no such camera under [[cameras]]; it has "
                    f"{have}"
                )
            camera = known[name]
            try:
                Calibration.fit(camera)
            except CalibrationError as error:
                why = str(error).removeprefix("camera: ")
                raise FeltwatchError(f"{table_path}: cameras: {name}: {why}") from error
            source = open_recording(video.files)
            stack.callback(source.close)
            if (source.width, source.height) != (camera.width_px, camera.height_px):
                raise FeltwatchError(
                    f"{named(video.files)}: the picture is {source.width} x {source.height}, but "
                    f"camera {name!r} of {table_path} was calibrated on {camera.width_px} x "
                    f"{camera.height_px}"
                )
            out.append(FurtherRecording(camera, source, video.offset_s))
        yield out
