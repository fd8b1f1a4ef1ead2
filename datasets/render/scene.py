"""What lies on the felt and what moves over it: the contract between play and image.

The shift simulator writes a `ShiftPlan`; the renderer draws it. Positions are felt
millimetres (see `vision.geometry.table`), times are seconds of the recording.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from settlement.record import RoundRecord
from vision.geometry.table import Point


@dataclass(frozen=True, slots=True)
class CardItem:
    """A card on the felt; `label` is 'AS' ... 'JOKER', whichever side is up.

    `angle_deg` turns the card clockwise as the felt is drawn; at 0 its top is towards
    the dealer's edge (-y).
    """

    key: str
    label: str
    center_mm: Point
    angle_deg: float
    face_up: bool


@dataclass(frozen=True, slots=True)
class StackItem:
    """A stack of chips, colours from the bottom up, standing at `center_mm`.

    `lean_mm` is how far the top chip lies beside the lowest; `untidy` (0 to 1) is the share
    of chips pushed some millimetres out of line. Chips lean by their share of the height to the
    power of `bend`, and each lies `wander_mm` (standard deviation of either axis) beside the one
    below it, other than the lean says.
    """

    key: str
    center_mm: Point
    colours: tuple[str, ...]
    lean_mm: Point = (0.0, 0.0)
    untidy: float = 0.0
    bend: float = 1.0
    wander_mm: float = 0.0


@dataclass(frozen=True, slots=True)
class LammerItem:
    """A lammer; `kind` is a key of the table file's lammers."""

    key: str
    kind: str
    center_mm: Point
    angle_deg: float


@dataclass(frozen=True, slots=True)
class DisplayItem:
    """A seven-segment display on a panel that leans back from the players.

    `center_mm` is the middle of the panel's lower edge on the felt, `text` a character a
    digit (a space is blank), `decimals` how many stand after the point. `lean_deg` is off the
    vertical, 90 lies flat; `slant` is mm to the right per mm upwards. `brightness`, `bloom` and
    `ghost` are shares of a full segment: its level, its halo, and an unlit segment.
    """

    key: str
    center_mm: Point
    text: str
    decimals: int = 2
    digit_mm: Point = (9.0, 16.0)
    gap_mm: float = 4.5
    thick_mm: float = 2.0
    lean_deg: float = 55.0
    slant: float = 0.1
    rgb: tuple[int, int, int] = (255, 60, 40)
    brightness: float = 1.0
    bloom: float = 0.35
    ghost: float = 0.05


@dataclass(frozen=True, slots=True)
class MarkerItem:
    """The banker's button or dice cup; its size is that of its upper face and its height."""

    key: str
    center_mm: Point
    angle_deg: float
    diameter_mm: float
    height_mm: float


@dataclass(frozen=True, slots=True)
class SensorItem:
    """A jackpot's sensor, let into the felt: a bezel about a lamp that is lit or not.

    `diameter_mm` is the lamp's, the bezel is `bezel_mm` wide; a lamp that is no `ring` is a
    disc. `level` is the light of the lamp when lit as a share of its full colour, from 1 on its
    core is overexposed; `dim` is its lens unlit, and `bloom` the halo's share.
    """

    key: str
    center_mm: Point
    lit: bool
    diameter_mm: float
    rgb: tuple[int, int, int]
    bezel_mm: float = 2.5
    bezel_rgb: tuple[int, int, int] = (22, 22, 24)
    ring: bool = False
    level: float = 1.0
    dim: float = 0.12
    bloom: float = 0.35


@dataclass(frozen=True, slots=True)
class Die:
    """A die: the value of its upper face, and of one at its side.

    `base_mm` is how high it stands over the tray (on another die); a cocked one is tilted by
    `tilt_deg` about a level axis.
    """

    center_mm: Point
    top: int
    front: int
    angle_deg: float
    base_mm: float = 0.0
    tilt_deg: float = 0.0
    tilt_axis_deg: float = 0.0


@dataclass(frozen=True, slots=True)
class DiceItem:
    """The tray of a dice cup, `tray_high_mm` over the felt, with the dice that lie on it."""

    key: str
    center_mm: Point
    tray_mm: float
    tray_high_mm: float
    die_mm: float
    dice: tuple[Die, ...]


Item = CardItem | StackItem | LammerItem | DisplayItem | MarkerItem | SensorItem | DiceItem


@dataclass(frozen=True, slots=True)
class Change:
    """At `t_s`, items of these keys go and these come; later items lie over earlier ones."""

    t_s: float
    put: tuple[Item, ...] = ()
    remove: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reach:
    """An arm over the felt from `t0_s` to `t1_s`.

    `hand_mm` are the hand's places at equal shares of the time, the first and the last
    usually off the felt; the arm comes from `shoulder_mm`, off the felt. `height_mm` is how
    high the hand goes over the felt where it does not go as usual.
    """

    t0_s: float
    t1_s: float
    who: Literal["dealer", "player"]
    shoulder_mm: Point
    hand_mm: tuple[Point, ...]
    height_mm: float | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """Something of the shift that is no round: a dealer change, or the camera going dark.

    `kind` says what ('fill', 'camera/frozen', ...), `seed` draws its look; `code` is the
    alert that is due for it, `round_id` the round under way, if any.
    """

    kind: str
    t0_s: float
    t1_s: float
    note: str = ""
    code: str | None = None
    round_id: str | None = None
    seed: int = 0


@dataclass(frozen=True)
class ShiftPlan:
    """A whole shift: what changes when, the arms, and the truth round by round."""

    duration_s: float
    changes: tuple[Change, ...]
    reaches: tuple[Reach, ...]
    rounds: tuple[RoundRecord, ...]
    events: tuple[Event, ...] = ()


@dataclass
class FeltState:
    """The items on the felt at a moment, in drawing order."""

    items: dict[str, Item] = field(default_factory=dict)

    def apply(self, change: Change) -> tuple[Item, ...]:
        """Carry the change out; returns every item that went or came.

        Raises KeyError when an item to remove is not there or a key comes twice.
        """
        touched: list[Item] = []
        for key in change.remove:
            touched.append(self.items.pop(key))
        for item in change.put:
            if item.key in self.items:
                raise KeyError(f"{item.key} lies on the felt already")
            self.items[item.key] = item
            touched.append(item)
        return tuple(touched)

    def snapshot(self) -> Mapping[str, Item]:
        """A copy of the items, in drawing order."""
        return dict(self.items)
