"""What a labelled dataset holds: boxes, images and the changes made to them."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import PurePosixPath
from typing import Any

from settlement.errors import FeltwatchError

AUTHORS = ("person", "model", "truth", "import")
"""What may stand before the colon in `labelled_by`: who or what drew the boxes."""

_AUTHOR = re.compile(rf"({'|'.join(AUTHORS)}):\S(.*\S)?")
_DRIVE = re.compile(r"^[A-Za-z]:")
NAME_BYTES = 255
"""Longest name of one file or folder, as common file systems take it."""

Attributes = tuple[tuple[str, Any], ...]
"""Further values by name, kept as they came; values are what JSON can hold."""


@dataclass(frozen=True, slots=True)
class Box:
    """One labelled thing on an image; px of the image, origin at its top left corner.

    `angle_deg` turns the box clockwise about its centre, where a format has it. `visible`
    is the share that nothing covers and `score` a model's, both in 0..1 and None where
    unknown. A box may lie outside the image or be empty: `check` finds those.

    >>> Box("AS", 10, 20, 50, 80).area_px
    2400.0
    >>> Box("AS", 10, float("nan"), 50, 80)
    Traceback (most recent call last):
        ...
    settlement.errors.FeltwatchError: box AS: y0 is nan; a number of px is needed
    """

    label: str
    x0: float
    y0: float
    x1: float
    y1: float
    angle_deg: float | None = None
    visible: float | None = None
    score: float | None = None
    attributes: Attributes = ()

    def __post_init__(self) -> None:
        """Check the values; raises FeltwatchError."""
        checked_label(self.label)
        for name in ("x0", "y0", "x1", "y1", "angle_deg", "visible", "score"):
            value = getattr(self, name)
            if value is None and name not in ("x0", "y0", "x1", "y1"):
                continue
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise FeltwatchError(f"box {self.label}: {name} is {value!r}; a number is needed")
            if not math.isfinite(value):
                raise FeltwatchError(
                    f"box {self.label}: {name} is {value}; a number of px is needed"
                )
            if name in ("visible", "score") and not 0 <= value <= 1:
                raise FeltwatchError(f"box {self.label}: {name} is {value}; 0 to 1 is needed")
            object.__setattr__(self, name, float(value))
        object.__setattr__(self, "attributes", tuple(self.attributes))

    @property
    def xyxy(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom, px."""
        return self.x0, self.y0, self.x1, self.y1

    @property
    def area_px(self) -> float:
        """Area in square px; 0 where left is not before right or top not above bottom."""
        return max(0.0, self.x1 - self.x0) * max(0.0, self.y1 - self.y0)

    def enclosing(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom of the upright box about a turned one, px.

        >>> Box("AS", 0, 0, 40, 20, angle_deg=90).enclosing()
        (10.0, -10.0, 30.0, 30.0)
        """
        if not self.angle_deg:
            return self.xyxy
        turn = math.radians(self.angle_deg)
        c, s = abs(math.cos(turn)), abs(math.sin(turn))
        w, h = self.x1 - self.x0, self.y1 - self.y0
        half_w, half_h = round((c * w + s * h) / 2, 9), round((s * w + c * h) / 2, 9)
        x, y = (self.x0 + self.x1) / 2, (self.y0 + self.y1) / 2
        return x - half_w, y - half_h, x + half_w, y + half_h

    def attribute(self, name: str) -> Any:
        """The value of an attribute, None where it has none."""
        return dict(self.attributes).get(name)


@dataclass(frozen=True, slots=True)
class NewPicture:
    """An image as it is added to a dataset.

    `file` is relative to the folder `pictures`, with `/` on every system. `phash` is the
    64 bit perceptual hash, None where the image could not be read; `time_s` the stream's
    own clock in seconds as decimal text. `deal` names the deal the image shows: images
    of one deal show one pack.
    """

    file: str
    width: int
    height: int
    sha256: str = ""
    phash: int | None = None
    source: str | None = None
    time_s: str | None = None
    deck: str | None = None
    camera: str | None = None
    shift: str | None = None
    deal: str | None = None
    split: str | None = None
    labelled_by: str | None = None
    confirmed_by: str | None = None
    confirmed_at: str | None = None
    attributes: Attributes = ()


@dataclass(frozen=True, slots=True)
class Picture(NewPicture):
    """An image of a dataset.

    `revision` grows by one with every change of boxes or of their confirmation.
    """

    id: int = field(kw_only=True)
    revision: int = field(default=1, kw_only=True)

    @property
    def is_confirmed(self) -> bool:
        """Whether a person said that the boxes are right."""
        return self.confirmed_by is not None


@dataclass(frozen=True, slots=True)
class Change:
    """One change of an image: who made it, when (UTC, ISO 8601), what, and the boxes before.

    `what` is `added`, `boxes`, `labels`, `confirmed`, `unconfirmed`, `split`, `details` or `file`;
    `note` holds the new split or the changed details; `before` is None where the boxes
    stayed as they were.
    """

    picture: int
    revision: int
    by: str
    at: str
    what: str
    note: str | None = None
    before: tuple[Box, ...] | None = None


def checked_author(by: str) -> str:
    """`by` as it is; raises FeltwatchError when it is no author.

    >>> checked_author("person:ann")
    'person:ann'
    >>> checked_author("ann")
    Traceback (most recent call last):
        ...
    settlement.errors.FeltwatchError: 'ann' is no author; write person:NAME, model:NAME, ...
    """
    if not _AUTHOR.fullmatch(by):
        forms = ", ".join(f"{kind}:NAME" for kind in AUTHORS)
        raise FeltwatchError(f"{by!r} is no author; write {forms}")
    return by


def checked_label(name: str) -> str:
    """A label as it is; raises FeltwatchError when it is empty or cannot be shown."""
    if not name or name != name.strip() or not name.isprintable():
        raise FeltwatchError(f"{name!r} is no label: a text without blanks around it is due")
    return name


def checked_file(name: str) -> str:
    """An image's name as it is; raises FeltwatchError when it could lead out of the folder.

    >>> checked_file("round 7/seat-2.jpg")
    'round 7/seat-2.jpg'
    >>> checked_file("../../etc/passwd")
    Traceback (most recent call last):
        ...
    settlement.errors.FeltwatchError: '../../etc/passwd' is no name for an image: ...
    """
    parts = name.split("/")
    reason = None
    if not name or any(part in ("", ".", "..") for part in parts):
        reason = "it must stay inside the folder"
    elif "\\" in name or _DRIVE.match(name) or PurePosixPath(name).is_absolute():
        reason = "it must be relative, with / between folders"
    elif not name.isprintable():
        reason = "it holds characters that cannot be shown"
    elif any(len(part.encode()) > NAME_BYTES for part in parts):
        reason = f"a part of it is longer than {NAME_BYTES} bytes"
    if reason:
        raise FeltwatchError(f"{name!r} is no name for an image: {reason}")
    return name


def checked_time(value: str | None) -> str | None:
    """A time in seconds as it is; raises FeltwatchError when it is no plain decimal text."""
    if value is None:
        return None
    try:
        number = Decimal(value)
    except (InvalidOperation, TypeError) as error:
        raise FeltwatchError(f"time_s {value!r} is no number of seconds") from error
    if not number.is_finite():
        raise FeltwatchError(f"time_s {value!r} is no number of seconds")
    return value


def attributes_json(attributes: Attributes) -> str:
    """Attributes as the text of one JSON object; raises FeltwatchError for what JSON lacks."""
    try:
        return json.dumps(dict(attributes), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise FeltwatchError(f"attributes {attributes!r} cannot be kept: {error}") from error


def attributes_of(text: str) -> Attributes:
    """The attributes of a JSON object's text."""
    return tuple(json.loads(text).items())
