"""Tracks of CVAT for video: the boxes of a thing from frame to frame, as images with boxes.

CVAT lists every frame of a track; where a file lists key frames only, the boxes between them
are drawn on a straight line, as CVAT does. A frame is the image `frame_NNNNNN` in `images`,
as CVAT saves it, or one that was cut from the video (`video.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from xml.etree.ElementTree import Element

from datasets.labelled.formats.base import Bad, Entry, WrongBoxes, entry_name, whole_px
from datasets.labelled.pictures import SUFFIXES
from datasets.labelled.records import Box
from datasets.labelled.source_files import check_inside, walk
from settlement.errors import FeltwatchError

MOST_FRAMES = 10_000_000
_NUMBER = re.compile(r"(\d+)$")

BoxesOf = Callable[[int, int], tuple[Box, ...]]
BoxOf = Callable[[Element, str, tuple[int, int], str], Box]


@dataclass
class Tracks:
    """The tracks of one file; frames are numbered as the task does, from 0."""

    file: Path
    width: int = 0
    height: int = 0
    start: int = 0
    step: int = 1
    boxes: dict[int, list[Box]] = field(default_factory=dict)
    bad: list[Bad] = field(default_factory=list)
    wrong: list[tuple[int, int, str]] = field(default_factory=list)
    """First and last frame of each track that is left out, and its name."""

    seen: bool = False

    def read_head(self, meta: Element) -> None:
        """Size of the frames, and which of the video's they are; raises FeltwatchError."""
        size = next(meta.iter("original_size"), None)
        if size is not None:
            self.width = whole_px(size.findtext("width"), "width", str(self.file))
            self.height = whole_px(size.findtext("height"), "height", str(self.file))
        start = next(meta.iter("start_frame"), None)
        self.start = _whole(start.text if start is not None else None, 0)
        frame_filter = next(meta.iter("frame_filter"), None)
        step = re.fullmatch(
            r"\s*step=(\d+)\s*", (frame_filter.text or "") if frame_filter is not None else ""
        )
        self.step = max(1, int(step[1])) if step else 1

    def add(self, track: Element, box_of: BoxOf) -> None:
        """Take the boxes of one track in; a wrong one leaves the whole track out.

        The frames that it covers lack its box, so each has a wrong box.
        """
        self.seen = True
        place = f"{self.file}: track {track.get('id')}"
        label = track.get("label") or ""
        try:
            keys: list[tuple[int, bool, Box]] = []
            for shape in track:
                frame = _whole(shape.get("frame"), -1)
                if not 0 <= frame <= MOST_FRAMES:
                    raise FeltwatchError(
                        f"{place}: frame is {shape.get('frame')!r}; a number from 0 is due"
                    )
                where = f"{place}: frame {frame}"
                box = box_of(shape, where, (self.width, self.height), label)
                kept = tuple(a for a in box.attributes if a[0] not in _FRAME_KEYS)
                kept += (("track", track.get("id") or ""),)
                keys.append((frame, shape.get("outside") == "1", replace(box, attributes=kept)))
            keys.sort(key=lambda one: one[0])
            drawn = list(_every_frame(keys))
        except FeltwatchError as error:
            self.bad.append(Bad(place, error))
            own = [_whole(shape.get("frame"), -1) for shape in track]
            known = [frame for frame in own if 0 <= frame <= MOST_FRAMES]
            if known:
                self.wrong.append((min(known), max(known), f"track {track.get('id')}"))
            return
        for frame, box in drawn:
            self.boxes.setdefault(frame, []).append(box)

    def frames(self) -> set[int]:
        """Numbers in the video of the frames that have boxes."""
        return {self.start + self.step * frame for frame in self.boxes}

    def entries(
        self, folder: Path, split: str | None, times: dict[int, str]
    ) -> Iterator[Entry | Bad]:
        """The frames, those with an image and those with boxes."""
        yield from self.bad
        if not self.seen:
            return
        paths = Frames(folder).paths
        own = {self.start + self.step * frame: boxes for frame, boxes in self.boxes.items()}
        # Images that CVAT saved are numbered as the task's frames, cut ones as the video's.
        by_task = self.boxes if not times else own
        for frame in sorted(set(by_task) | set(paths)):
            path = paths.get(frame)
            boxes = tuple(by_task.get(frame, ()))
            place = f"{self.file}: frame {frame}"
            name = f"frame_{frame:06d}.png"
            details = {"split": split} if split else {}
            if frame in times:
                details["time_s"] = times[frame]
            yield Entry(
                entry_name(path, folder, place) if path else name,
                path,
                self._boxes_of(
                    frame if not times else (frame - self.start) // self.step, place, boxes
                ),
                place,
                self.width or None,
                self.height or None,
                details,
            )

    def _boxes_of(self, frame: int, place: str, boxes: tuple[Box, ...]) -> BoxesOf:
        """`Entry.boxes` of a frame of the task."""

        def given(_width: int, _height: int) -> tuple[Box, ...]:
            wrong = tuple(
                FeltwatchError(f"{place}: {name} has a wrong box and is left out")
                for first, last, name in self.wrong
                if first <= frame <= last
            )
            if wrong:
                raise WrongBoxes(wrong, boxes)
            return boxes

        return given


_FRAME_KEYS = ("cvat.keyframe", "cvat.outside")


@dataclass(frozen=True)
class Frames:
    """The images of a folder whose names end with the number of a frame."""

    folder: Path

    @cached_property
    def paths(self) -> dict[int, Path]:
        """Images by number."""
        found: dict[int, Path] = {}
        for path in walk(self.folder, SUFFIXES):
            if number := _NUMBER.search(path.stem):
                check_inside(path, self.folder, str(path))
                found.setdefault(int(number[1]), path)
        return found


def _whole(text: str | None, default: int) -> int:
    return int(text) if text and text.strip().isdecimal() else default


def _every_frame(keys: list[tuple[int, bool, Box]]) -> Iterator[tuple[int, Box]]:
    """The box of each frame that the thing is on, those between key frames drawn."""
    for at, (frame, outside, box) in enumerate(keys):
        if outside:
            continue
        yield frame, box
        if at + 1 == len(keys):
            return
        end, _, last = keys[at + 1]
        for between in range(frame + 1, end):
            part = (between - frame) / (end - frame)
            corners = (a + (b - a) * part for a, b in zip(box.xyxy, last.xyxy, strict=True))
            angle = (box.angle_deg or 0.0) * (1 - part) + (last.angle_deg or 0.0) * part
            x0, y0, x1, y1 = corners
            yield between, replace(box, x0=x0, y0=y0, x1=x1, y1=y1, angle_deg=angle or None)
