"""The images that show an alert: views with what was read drawn over them.

Each image carries what a person needs to trust it: the round, the place, the time of
the stream and a legend of what the boxes are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import InvalidOperation
from pathlib import PurePosixPath

import cv2
import numpy as np
import numpy.typing as npt

from settlement.record import Dice
from settlement.stream_clock import clock as clock
from vision.rounds.observed import ObservedRound, Seen, ViewPicture

Image = npt.NDArray[np.uint8]
Bgr = tuple[int, int, int]

JPEG_QUALITY = 88
MIN_WIDTH_PX = 672
STRIP_PX = 56

INK: Bgr = (235, 232, 228)
DIM: Bgr = (170, 164, 158)
STRIP: Bgr = (28, 24, 22)
CARD: Bgr = (255, 214, 92)
BACK: Bgr = (190, 186, 182)
CHIP: Bgr = (64, 176, 255)
LAMMER: Bgr = (222, 128, 255)
_FONT = cv2.FONT_HERSHEY_SIMPLEX

WHAT_SHOWS = {
    "HOUSE_WAY": ("cards",),
    "FOUL": ("cards", "settled"),
    "OVERPAID": ("bets", "cards", "settled"),
    "UNDERPAID": ("bets", "cards", "settled"),
    "NOT_PAID": ("bets", "cards", "settled"),
    "PAID_LOSER": ("bets", "cards", "settled"),
    "PAID_PUSH": ("bets", "cards", "settled"),
    "TOOK_WINNER": ("bets", "cards", "settled"),
    "TOOK_PUSH": ("bets", "cards", "settled"),
    "NOT_TAKEN": ("bets", "cards", "settled"),
    "ENVY_MISSED": ("bets", "cards", "envy"),
    "ENVY_WRONG": ("bets", "cards", "envy"),
    "LAMMER": ("bets",),
    "LIMIT": ("bets",),
    "LATE_BET": ("staked", "changed"),
    "CARD_MOVED": ("set", "moved", "reach"),
    "PROCEDURE": ("set", "moved", "dealt", "dice"),
}
"""Which of a seat's views show an alert of each code; codes not named take them all."""

_BY_NAME = frozenset({"reach", "dice", "dealt"})
"""Views that show nothing but what they are named for."""

WITHOUT_DEALER = frozenset({"LAMMER", "LIMIT", "LATE_BET", "CARD_MOVED", "PROCEDURE"})
"""Codes that the dealer's cards have no part in."""


def choose(observed: ObservedRound, code: str, seat: int | None) -> tuple[ViewPicture, ...]:
    """The views that show an alert: the seat's first, then the dealer's hand."""
    wanted = WHAT_SHOWS.get(code)
    of_seat = [
        p
        for p in observed.pictures
        if p.seat == seat and (p.what not in _BY_NAME or p.what in (wanted or ()))
    ]
    every = wanted is None or (seat is None and code != "PROCEDURE")
    own = [p for p in of_seat if every or p.what in (wanted or ())] or of_seat
    if code == "PROCEDURE" and observed.record.dice is not None:
        own += _of_the_deal(observed, observed.record.dice, seat)
    if seat is None or code in WITHOUT_DEALER:
        return tuple(own)
    return (*own, *(p for p in observed.pictures if p.seat is None and p.what == "cards"))


def _of_the_deal(observed: ObservedRound, dice: Dice, seat: int | None) -> list[ViewPicture]:
    """The dice and the place that they name, where the first hand went to `seat` instead."""
    if dice.before_due is None or dice.before_due != (seat or "dealer"):
        return []
    due = None if dice.due == "dealer" else dice.due
    return [
        picture for picture in observed.pictures
        if picture.seat != seat and (picture.what, picture.seat) in (("dealt", due), ("dice", None))
    ]  # fmt: skip


def file_name(round_id: str, picture: ViewPicture) -> str:
    """A name that says round, place and moment.

    >>> blank = np.zeros((2, 2, 3), np.uint8)
    >>> file_name("t1-000042", ViewPicture(3, "settled", "812.400", blank, ()))
    't1-000042-seat3-settled-812.400.jpg'
    """
    place = "dealer" if picture.seat is None else f"seat{picture.seat}"
    what = f"{picture.what}-{picture.camera}" if picture.camera else picture.what
    return file_stem(f"{round_id}-{place}-{what}-{picture.at_s}") + ".jpg"


def file_stem(name: str) -> str:
    """`name`, which begins with a table's, as a file and a bundle's part may be called.

    >>> file_stem("t1-000042-01"), file_stem("../Pit 1/3-overload")
    ('t1-000042-01', '._Pit_1_3-overload')
    """
    return re.sub(r"[^A-Za-z0-9._-]|(?<=\.)[./]+", "_", name)


_NAME = re.compile(
    r"-(?P<place>dealer|seat\d+)-(?P<what>[a-z]+)(-(?P<camera>[a-z0-9_-]+))?-(?P<at_s>[0-9.]+)$"
)


@dataclass(frozen=True, slots=True)
class PictureName:
    """What an image's file name says, as `file_name` makes it; `camera`: a further one's name."""

    place: str
    what: str
    at_s: str
    camera: str = ""

    @classmethod
    def parse(cls, path: str) -> PictureName | None:
        """The parts of a name, None for a name of another form.

        >>> PictureName.parse("evidence/t1-000042-seat3-settled-812.400.jpg")
        PictureName(place='seat3', what='settled', at_s='812.400', camera='')
        >>> PictureName.parse("evidence/t1-000042-seat3-settled-low-2-812.400.jpg").camera
        'low-2'
        """
        found = _NAME.search(PurePosixPath(path).stem)
        if found is None:
            return None
        return cls(found["place"], found["what"], found["at_s"], found["camera"] or "")

    @property
    def words(self) -> str:
        """Such as 'seat 3, settled, 13:32.4', or 'shoulder: seat 3, settled, 13:32.4'."""
        try:
            when = clock(self.at_s)
        except InvalidOperation:
            when = self.at_s
        camera = f"{self.camera}: " if self.camera else ""
        return f"{camera}{self.place.replace('seat', 'seat ')}, {self.what}, {when}"


def _kind(label: str) -> tuple[str, Bgr]:
    if label.startswith("chip"):
        return "chips", CHIP
    if label.startswith("lammer"):
        return "lammer", LAMMER
    if label.startswith("BACK"):
        return "card back", BACK
    return "card", CARD


def _short(label: str) -> str:
    return label.removeprefix("chip_").removeprefix("lammer_").replace("_", " ")


def _text_width(text: str, scale: float) -> int:
    return int(cv2.getTextSize(text, _FONT, scale, 1)[0][0])


def _draw_box(image: Image, seen: Seen, taken: list[tuple[int, int, int, int]]) -> None:
    _, colour = _kind(seen.label)
    x0, y0, x1, y1 = (round(v) for v in seen.xyxy)
    cv2.rectangle(image, (x0, y0), (x1, y1), STRIP, 3)
    cv2.rectangle(image, (x0, y0), (x1, y1), colour, 1)
    text = _short(seen.label)
    width, height = _text_width(text, 0.42) + 6, 15
    left = min(max(x0 - 1, 0), max(image.shape[1] - width, 0))
    top = y0 - height
    # Overlapped cards have their indices side by side: stack labels that would collide.
    for _ in range(6):
        clash = any(
            left < tx1 and tx0 < left + width and top < ty1 and ty0 < top + height
            for tx0, ty0, tx1, ty1 in taken
        )
        if not clash:
            break
        top -= height + 1
    if top < 0:
        top = y1 + 1
    taken.append((left, top, left + width, top + height))
    cv2.rectangle(image, (left, top), (left + width, top + height), STRIP, -1)
    cv2.putText(image, text, (left + 3, top + 11), _FONT, 0.42, colour, 1, cv2.LINE_AA)


def draw(round_id: str, picture: ViewPicture) -> Image:
    """The view with boxes, a time stamp and a legend; uint8 (h + strip, w, 3) BGR."""
    scale = max(1.0, MIN_WIDTH_PX / picture.image.shape[1])
    image = picture.image.copy()
    if scale > 1.0:
        larger = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
        image = np.asarray(larger, dtype=np.uint8)
    taken: list[tuple[int, int, int, int]] = []
    for seen in sorted(picture.seen, key=lambda s: (s.xyxy[0], s.xyxy[1])):
        x0, y0, x1, y1 = (v * scale for v in seen.xyxy)
        _draw_box(image, Seen(seen.label, seen.score, (x0, y0, x1, y1)), taken)
    return np.vstack([image, _strip(round_id, picture, image.shape[1])])


def _strip(round_id: str, picture: ViewPicture, width: int) -> Image:
    strip = np.full((STRIP_PX, width, 3), STRIP, np.uint8)
    place = "dealer" if picture.seat is None else f"seat {picture.seat}"
    title = f"{place}  {picture.what}  {picture.camera}".rstrip()
    stamp = f"{round_id}   {clock(picture.at_s)}   ({picture.at_s} s)".replace("–", "-")
    cv2.putText(strip, title, (10, 22), _FONT, 0.55, INK, 1, cv2.LINE_AA)
    cv2.putText(
        strip, stamp, (width - 10 - _text_width(stamp, 0.42), 22), _FONT, 0.42, DIM, 1, cv2.LINE_AA
    )
    x = 10
    for name, (count, colour, least) in _legend(picture.seen).items():
        cv2.rectangle(strip, (x, 36), (x + 10, 46), colour, -1)
        text = f"{name}: {count}, least sure {least:.2f}"
        cv2.putText(strip, text, (x + 16, 46), _FONT, 0.4, DIM, 1, cv2.LINE_AA)
        x += 16 + _text_width(text, 0.4) + 18
    if not picture.seen and picture.what != "reach":
        cv2.putText(strip, "nothing found here", (x, 46), _FONT, 0.4, DIM, 1, cv2.LINE_AA)
    return strip


def _legend(seen: Sequence[Seen]) -> dict[str, tuple[int, Bgr, float]]:
    legend: dict[str, tuple[int, Bgr, float]] = {}
    for item in seen:
        name, colour = _kind(item.label)
        count, _, least = legend.get(name, (0, colour, 1.0))
        legend[name] = (count + 1, colour, min(least, item.score))
    return legend


def jpeg(image: Image) -> bytes:
    """Encode a BGR image; raises ValueError when it has no pixels."""
    if image.size == 0:
        raise ValueError("the image has no pixels")
    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    if not done:
        raise ValueError("the image could not be encoded")
    return bytes(data.tobytes())
