"""Recordings as a source of images: frames by their presentation time, cut to be labelled.

A frame is known by its number in presentation order and by its PTS, never by the wall clock
or a frame rate. Tracks of CVAT for video take their images from here, and a recording with
its round records becomes images to label.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import av
import cv2
import numpy as np
import numpy.typing as npt

from datasets.labelled.formats.base import Bad, Entry, Progress, Reader
from datasets.labelled.manifest import Dataset, NewPicture
from datasets.labelled.pictures import inspect, put_file
from datasets.labelled.records import checked_file
from datasets.labelled.store import MANIFEST, PICTURES
from settlement.errors import FeltwatchError
from settlement.record import RoundRecord, read_rounds

if TYPE_CHECKING:
    from datasets.labelled.import_source import ImportOptions

QUALITY = 95
BEFORE_TAKEN_S = Fraction(1, 2)
"""How long before its cards are taken a seat is looked at: they lie open and at rest."""

APART_S = Fraction(1)
"""Moments of a round that are closer than this show the same."""

Image = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class VideoFrame:
    """A frame: its number in presentation order, its PTS in s, and its image (h, w, 3) BGR."""

    number: int
    time_s: Fraction
    image: Image


def video_frames(path: Path, wanted: Sequence[int] | None = None) -> Iterator[VideoFrame]:
    """The frames of a recording in order, those of the `wanted` numbers where given.

    Raises FeltwatchError when the file is no video that can be read, or a frame has no time.
    """
    numbers = None if wanted is None else set(wanted)
    last = max(numbers, default=-1) if numbers is not None else None
    try:
        with av.open(str(path)) as container:
            if not container.streams.video:
                raise FeltwatchError(f"{path}: holds no video")
            stream = container.streams.video[0]
            stream.thread_type = "AUTO"
            for number, frame in enumerate(container.decode(stream)):
                if last is not None and number > last:
                    return
                if numbers is not None and number not in numbers:
                    continue
                if frame.pts is None or frame.time_base is None:
                    raise FeltwatchError(f"{path}: frame {number} has no time")
                image = np.asarray(frame.to_ndarray(format="bgr24"), np.uint8)
                yield VideoFrame(number, frame.pts * frame.time_base, image)
    except (av.FFmpegError, OSError) as error:
        raise FeltwatchError(f"{path}: is no video that can be read ({error})") from error


def seconds_text(time_s: Fraction) -> str:
    """A time as decimal text, to the microsecond.

    >>> seconds_text(Fraction(1, 3))
    '0.333333'
    """
    return f"{float(round(time_s, 6)):.6f}"


def _jpeg(image: Image) -> bytes:
    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    if not done:
        raise FeltwatchError(f"an image of {image.shape} cannot be written as JPEG")
    return data.tobytes()


@contextmanager
def video_reader(
    folder: Path, file: Path, options: ImportOptions, scratch: Path | None
) -> Iterator[Reader]:
    """The reader of CVAT's tracks in `file` with the frames of the video as its images."""
    from datasets.labelled.formats.cvat import CvatReader, claims

    video = options.video
    assert video is not None
    if not claims(file):
        raise FeltwatchError(f"{file}: --video goes with tracks of CVAT for video 1.1")
    if options.every < 1:
        raise FeltwatchError(f"--every {options.every}: a number of frames from 1 is due")
    labelled = sorted(CvatReader(folder, (file,)).frames())[:: options.every]
    if not labelled:
        raise FeltwatchError(f"{file}: holds no tracks; nothing can be cut from {video}")
    times: dict[int, str] = {}
    with tempfile.TemporaryDirectory(dir=scratch, prefix=".frames-") as temporary:
        cut = Path(temporary) / "images"
        cut.mkdir()
        for frame in video_frames(video, labelled):
            (cut / f"{video.stem}_{frame.number:06d}.jpg").write_bytes(_jpeg(frame.image))
            times[frame.number] = seconds_text(frame.time_s)
        if missing := [number for number in labelled if number not in times]:
            raise FeltwatchError(
                f"{video}: has no frame {missing[0]} that {file.name} labels; is it the right one?"
            )
        yield _OnlyCut(CvatReader(Path(temporary), (file,), times), times)


@dataclass(frozen=True)
class _OnlyCut:
    """The frames that were cut, and no others."""

    reader: Any
    times: dict[int, str]

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.reader.labels)

    @property
    def notes(self) -> dict[str, Any]:
        return dict(self.reader.notes)

    @property
    def count(self) -> int | None:
        return len(self.times)

    def entries(self) -> Iterator[Entry | Bad]:
        for entry in self.reader.entries():
            if isinstance(entry, Bad) or entry.path is not None:
                yield entry


@dataclass
class CutSummary:
    """What was cut of a recording."""

    rounds: int = 0
    added: int = 0
    present: int = 0

    def as_dict(self) -> dict[str, int]:
        """The form of `feltwatch dataset cut --json`."""
        return {"rounds": self.rounds, "added": self.added, "present": self.present}


def cut_recording(
    video: Path,
    rounds: Path,
    folder: Path,
    *,
    each: int = 3,
    progress: Progress = lambda _done, _total: None,
) -> CutSummary:
    """Put frames of each round of a recording into the dataset of `folder`, to be labelled.

    Of every round at most `each`: shortly before cards are taken, where the record has that time,
    else evenly over the round. An image gets its PTS, the recording as its source and shift, the
    table as its camera, the round as its deal and the cards that lay there. Frames that are
    there already stay. Raises FeltwatchError naming the file that is not in order.
    """
    if each < 1:
        raise FeltwatchError(f"--each {each}: a number of frames from 1 is due")
    records = [r for r in read_rounds(rounds) if r.start_s and r.end_s]
    if not records:
        raise FeltwatchError(f"{rounds}: no round has start_s and end_s; nothing can be cut")
    wishes = sorted((m, at) for at, r in enumerate(records) for m in moments(r, each))
    summary = CutSummary(rounds=len(records))
    there = (folder / MANIFEST).is_file()
    with Dataset.open(folder) if there else Dataset.create(folder, ()) as dataset:
        left = iter(wishes)
        wish = next(left, None)
        for frame in video_frames(video):
            while wish is not None and frame.time_s >= wish[0]:
                _add(dataset, video, frame, records[wish[1]], summary)
                progress(summary.added + summary.present, len(wishes))
                wish = next(left, None)
            if wish is None:
                break
    if not summary.added + summary.present:
        raise FeltwatchError(f"{video}: ends before the first round of {rounds.name} begins")
    return summary


def moments(record: RoundRecord, each: int) -> list[Fraction]:
    """When a round is looked at, s of the recording, at most `each`, in order."""
    start, end = Fraction(record.start_s or 0), Fraction(record.end_s or 0)
    taken = sorted(Fraction(s.cards_taken_s) - BEFORE_TAKEN_S for s in record.seats
                   if s.cards_taken_s is not None)  # fmt: skip
    found: list[Fraction] = []
    for at in taken:
        if start <= at <= end and (not found or at - found[-1] >= APART_S):
            found.append(at)
    if not found:
        return [start + (end - start) * n / (each + 1) for n in range(1, each + 1)]
    if len(found) <= each:
        return found
    return [found[n * (len(found) - 1) // max(1, each - 1)] for n in range(each)]


def _add(
    dataset: Dataset, video: Path, frame: VideoFrame, record: RoundRecord, summary: CutSummary
) -> None:
    file = checked_file(f"{video.stem}/{record.round_id}-{frame.number:06d}.jpg")
    if dataset.find(file) is not None:
        summary.present += 1
        return
    data = _jpeg(frame.image)
    found = inspect(data)
    put_file(data, dataset.folder / PICTURES / file)
    hands = [(seat.low, seat.high) for seat in record.seats]
    hands += [(record.dealer.low, record.dealer.high)] if record.dealer else []
    cards = sorted({card for low, high in hands for card in (*(low or ()), *(high or ())) if card})
    new = NewPicture(
        file,
        found.width,
        found.height,
        found.sha256,
        found.phash,
        source=video.name,
        time_s=seconds_text(frame.time_s),
        camera=record.table,
        shift=video.stem,
        deal=f"{video.stem} {record.round_id}",
        attributes=(("cards", cards),) if cards else (),
    )
    dataset.add_picture(new, thumb=found.thumb)
    summary.added += 1
