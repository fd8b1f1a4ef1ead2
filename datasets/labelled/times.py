"""When images were taken: by their names, their EXIF, or the clock of their recording."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from PIL import Image

from datasets.labelled.manifest import Dataset
from datasets.labelled.records import Picture
from settlement.errors import FeltwatchError

SPAN_S = 60.0
"""Images that are nearer in time than this stay together by default."""

_NAMED = re.compile(
    r"(?<!\d)((?:19|20)\d\d)([-_.:]?)(\d\d)\2(\d\d)[-_ T.]?"
    r"([01]\d|2[0-3])([-_.:h]?)([0-5]\d)[-_.:m]?([0-5]\d)"
)
_EXIF = 0x8769
_TAKEN = (0x9003, 0x9004)
"""EXIF tags: DateTimeOriginal, DateTimeDigitized."""

_UNITS_S = {"": 1.0, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}
Moment = tuple[str, float]
"""A clock and a time on it, s: images of different clocks are never near each other."""


def parse_span(text: str) -> float:
    """A span as seconds, more than 0; raises FeltwatchError.

    >>> [parse_span(t) for t in ("90", "60s", "2.5min", "1h")]
    [90.0, 60.0, 150.0, 3600.0]
    """
    found = re.fullmatch(r"(\d+(?:\.\d*)?)\s*(s|min|m|h)?", text.strip())
    span_s = float(found[1]) * _UNITS_S[found[2] or ""] if found else 0.0
    if not span_s > 0:
        raise FeltwatchError(f"--span {text}: expected a time such as 60s, 5min or 1h, more than 0")
    return span_s


def named_time(name: str) -> datetime | None:
    """The date and time of day in an image's name, None where it has none.

    >>> named_time("train/IMG_20220316_134551_jpg.rf.0a1b.jpg")
    datetime.datetime(2022, 3, 16, 13, 45, 51, tzinfo=datetime.timezone.utc)
    >>> named_time("2022-03-16 13.45.51.jpg") == named_time("20220316134551.png")
    True
    >>> named_time("IMG-20220316-WA0001.jpg")
    """
    for found in _NAMED.finditer(PurePosixPath(name).name):
        year, _, month, day, hour, _, minute, second = found.groups()
        try:
            return datetime(
                int(year), int(month), int(day), int(hour), int(minute), int(second), tzinfo=UTC
            )
        except ValueError:
            continue
    return None


def exif_time(path: Path) -> datetime | None:
    """The time of exposure in a file's EXIF, None where there is none to be read."""
    try:
        with Image.open(path) as image:
            own = image.getexif().get_ifd(_EXIF)
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError):
        return None
    for tag in _TAKEN:
        try:
            return datetime.strptime(str(own.get(tag)).strip("\0 "), "%Y:%m:%d %H:%M:%S").replace(
                tzinfo=UTC
            )
        except ValueError:
            continue
    return None


def moment_of(picture: Picture, path: Path) -> Moment | None:
    """When an image was taken, None where nothing says it.

    The recorded time of a frame is that of its shift's clock, or else its source's; the time
    of a photograph is that of the wall clock, which its name gives with the date.
    """
    named = named_time(picture.file)
    if picture.time_s is not None and not _is_time_of_day(picture.time_s, named):
        return f"{picture.shift or picture.source or ''}", float(picture.time_s)
    taken = named or exif_time(path)
    return None if taken is None else ("", taken.timestamp())


def _is_time_of_day(time_s: str, named: datetime | None) -> bool:
    """Whether a recorded time only repeats the time of day that the name holds."""
    if named is None:
        return False
    return float(time_s) == (named.hour * 60 + named.minute) * 60 + named.second


def time_groups(dataset: Dataset, span_s: float = SPAN_S) -> dict[int, str]:
    """The group of every image by its number: a pause of `span_s` or more begins a new one.

    So two images that are nearer in time than `span_s` are always of one group. Raises
    FeltwatchError where images have no time.
    """
    moments: list[tuple[Moment, int]] = []
    without: list[str] = []
    for picture in dataset.pictures():
        moment = moment_of(picture, dataset.path(picture))
        if moment is None:
            without.append(picture.file)
        else:
            moments.append((moment, picture.id))
    if without:
        raise FeltwatchError(
            f"{dataset.folder}: --by time: {len(without)} of {len(dataset)} images have no time "
            f"(first: {without[0]}); accepted are a date and time in the name "
            "(20220316_134551), EXIF DateTimeOriginal and a recorded time (time_s)"
        )
    return dict(_grouped(sorted(moments), span_s))


def _grouped(moments: Iterable[tuple[Moment, int]], span_s: float) -> Iterable[tuple[int, str]]:
    group, last = "", ("", float("-inf"))
    for (clock, at_s), id in moments:
        if not group or clock != last[0] or at_s - last[1] >= span_s:
            group = f"{clock} {at_s!r} s" if clock else _wall(at_s)
        last = clock, at_s
        yield id, group


def _wall(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%d %H:%M:%S")
