"""What the camera side hands to the surveillance room: a record and the images behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from settlement.felt_timeline import TimelineLine
from settlement.record import RoundRecord

What = Literal[
    "bets", "cards", "settled", "envy", "staked", "changed", "set", "moved", "reach", "dice",
    "dealt",
]  # fmt: skip
"""A seat with its stakes, its hand, settled, with a prize; a stake before and after a late bet;
cards before and after a move; its player's arm over a neighbour's cards; the dice, and a place when
the first hand lay there or elsewhere."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One thing found in a view.

    `label` is as in records for cards, else `BACK`, `chip_redx3+whitex1` or `lammer_envy`.
    """

    label: str
    score: float
    xyxy: tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class ViewPicture:
    """A view that decided something: `image` is uint8 (h, w, 3) BGR, boxes are in its pixels."""

    seat: int | None
    what: What
    at_s: str
    image: npt.NDArray[np.uint8]
    seen: tuple[Seen, ...]
    camera: str = ""
    """The further camera that took it; none for the first."""


@dataclass(frozen=True, slots=True)
class ObservedRound:
    """One round as read: the record and, per seat (None: the dealer), the deciding views.

    `timeline` is what the record was read from.
    """

    record: RoundRecord
    pictures: tuple[ViewPicture, ...]
    timeline: tuple[TimelineLine, ...] = ()
