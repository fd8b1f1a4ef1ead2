"""One view read at one moment: cards, backs, chips by wager, lammers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import cv2
import numpy as np

from settlement.games import JACKPOTS
from vision.cards.backs import without_faces
from vision.cards.view import ViewIndex, backs_seen, see_indices
from vision.chips.boxes import Box
from vision.chips.network_input.side_strip import ChipSize
from vision.chips.reading import ReadStack, read_stacks
from vision.chips.side_palette import Palette
from vision.chips.side_runtime import StripReader
from vision.detect.detections import ByteArray, Detections, Floats, Reader
from vision.geometry.calibration import Calibration
from vision.geometry.table import VIEW_MM, DealerPlace, FloatArray, Place, Polygon

IN_SPOT_MM = 24.0
BY_SPOT_MM = 53.0
"""A stack this near to a spot's centre stands on it, or beside it."""

CHAIN_MM = 70.0
"""A stack this near to a stack or lammer that has an owner belongs to the same wager."""

UNREAD_MM = 75.0
"""The same of a box that could not be read, whose middle lies above the base of its stack: the
payouts and stakes of two of the nine messy tune shifts of docs/accuracy.md."""

NEAR_SPOTS_MM = 130.0
"""What is farther than this from all spots of a seat is none of its money."""

BEYOND_MM = 40.0
"""What lies farther above or below the dealer's boxes is no card of a hand: the name printed on two
judged felts, 85 mm below, read as two cards and more and joined all rounds of a shift."""

MIN_CHIP_SCORE = 0.5
FAINT_CHIP_SCORE = 0.25
"""A box of chips with less than MIN_CHIP_SCORE is not read, but one with this much that looks like
a stack leaves its wager in doubt. Of 500 boxes of ten simulated tables full of stacks 16 had 0.25
to 0.5: three were stacks; shift 0 of "feltwatch judge 2026-11-25 e" had such a payout."""

MIN_LAMMER_SCORE = 0.4


@dataclass(frozen=True, slots=True)
class ViewReading:
    """What one view showed in one image.

    `stakes` and `pays` map a wager to its stacks; `envy` prizes are pays of 'envy'. `strays`
    are the stacks about the spots that could be given to no wager, `unread` the wagers on or
    beside whose spots chips were found that could not be read. `beside` names the further cameras
    that saw the view at rest then, `bare` the wagers behind whose stakes one of them saw that
    nothing came where the first is blind. `unread_card` (53,) is what the one card
    of a hand that is not read may be, `joker_marks` where its faintest finds are likest a joker's
    mark (`vision.cards.unread_card`). `plain` are the indices as the reader alone reads them, where
    `indices` are read with the deck's samples.
    """

    at_s: float
    indices: tuple[ViewIndex, ...]
    backs: int
    stakes: Mapping[str, tuple[ReadStack, ...]]
    pays: Mapping[str, tuple[ReadStack, ...]]
    lammers: frozenset[str]
    found: Detections
    strays: tuple[ReadStack, ...] = ()
    beside: tuple[str, ...] = ()
    bare: frozenset[str] = frozenset()
    unread: frozenset[str] = frozenset()
    unread_card: Floats | None = None
    joker_marks: tuple[ViewIndex, ...] = ()
    plain: tuple[ViewIndex, ...] | None = None

    @property
    def stacks(self) -> tuple[ReadStack, ...]:
        """All stacks: stakes, payouts and strays."""
        owned = (*self.stakes.values(), *self.pays.values())
        return (*(stack for own in owned for stack in own), *self.strays)


def read_view(
    frame: ByteArray,
    calibration: Calibration,
    place: Place,
    spots: Mapping[str, Polygon],
    palette: Palette,
    chip_size: ChipSize,
    found: Detections,
    view_px: int,
    reader: Reader,
    stack_reader: StripReader,
    at_s: float,
    moment: int = 0,
    lammer_wagers: Mapping[str, str] = MappingProxyType({}),
) -> ViewReading:
    """Read a view's detections against the felt's geometry.

    `reader` names indices, `stack_reader` reads stacks against the table's `palette` of chips.
    `lammer_wagers` says which wager each kind of lammer lies by; one that lies nearer to another
    wager's spot is not among those read.
    `moment` counts the readings of one rest.
    """
    seen = see_indices(frame, calibration, place, found, view_px, reader, moment)
    found = without_faces(found, seen.indices, view_px)
    mm = VIEW_MM / view_px
    chip = found.of("chip")
    centers = spot_centers(place, spots)
    near: list[Box] = []
    faint: list[Box] = []
    for xyxy, score in zip(chip.xyxy, chip.scores, strict=True):
        x0, y0, x1, y1 = (float(v) * mm - VIEW_MM / 2 for v in xyxy)
        box = (x0, y0, x1, y1)
        if score >= FAINT_CHIP_SCORE and _near_spots(box, list(centers.values())):
            (near if score >= MIN_CHIP_SCORE else faint).append(box)
    stacks = read_stacks(frame, calibration, palette, chip_size, place, near, stack_reader)
    # The box of a thing that is found already is often found a second time.
    faint = [box for box in faint if not any(_meet(box, stack.box_mm) for stack in stacks)]
    doubted = read_stacks(frame, calibration, palette, chip_size, place, faint, stack_reader)
    lammers: dict[str, list[np.ndarray]] = {}
    for item in range(len(found)):
        name = found.name(item)
        if name.startswith("lammer_") and found.scores[item] >= MIN_LAMMER_SCORE:
            x0, y0, x1, y1 = found.xyxy[item]
            middle = np.array([(x0 + x1) / 2, (y0 + y1) / 2]) * mm - VIEW_MM / 2
            if centers and min(math.dist(middle, c) for c in centers.values()) < 75:
                lammers.setdefault(name.removeprefix("lammer_"), []).append(middle)
    stakes, pays = assign(stacks, place, centers, lammers)
    given = {id(stack) for own in (*stakes.values(), *pays.values()) for stack in own}
    strays = tuple(stack for stack in stacks if id(stack) not in given)
    in_place = frozenset(
        kind for kind, places in lammers.items()
        if any(_owner(at, centers)[0] == lammer_wagers.get(kind, _owner(at, centers)[0])
               for at in places)
    )  # fmt: skip
    return ViewReading(
        at_s, seen.indices, backs_seen(found), stakes, pays, in_place, found, strays,
        unread=frozenset(_unread([*near, *(s.box_mm for s in doubted)], stacks, centers)),
        plain=seen.plain,
    )  # fmt: skip


def unread_boxes(
    reading: ViewReading, place: Place, spots: Mapping[str, Polygon], view_px: int
) -> dict[str, list[Box]]:
    """By the wagers in `unread` the boxes (mm of the view's frame) of what may be those chips."""
    mm = VIEW_MM / view_px
    chip = reading.found.of("chip")
    boxes = [
        (x0 * mm - VIEW_MM / 2, y0 * mm - VIEW_MM / 2, x1 * mm - VIEW_MM / 2, y1 * mm - VIEW_MM / 2)
        for (x0, y0, x1, y1), score in zip(chip.xyxy.tolist(), chip.scores, strict=True)
        if score >= FAINT_CHIP_SCORE
    ]
    owned = _unread(boxes, reading.stacks, spot_centers(place, spots))
    return {name: owned.get(name, []) for name in reading.unread}


def spot_centers(place: Place, spots: Mapping[str, Polygon]) -> dict[str, FloatArray]:
    """The middles (2,) of a place's spots by wager, mm in its own frame."""
    return {name: place.to_local(np.array([p.center_mm]))[0] for name, p in spots.items()}


def _unread(
    boxes: Sequence[Box], stacks: Sequence[ReadStack], spots: Mapping[str, np.ndarray]
) -> dict[str, list[Box]]:
    """By wager the boxes on or beside its spot that are no read stack's, nor across one's."""
    names: dict[str, list[Box]] = {}
    for box in boxes:
        if not any(_meet(box, stack.box_mm) for stack in stacks):
            middle = np.array([(box[0] + box[2]) / 2, (box[1] + box[3]) / 2])
            name, far = _owner(middle, spots)
            if far <= UNREAD_MM:
                names.setdefault(name, []).append(box)
    return names


def _meet(one: Box, other: Box) -> bool:
    """Whether two boxes are of one thing: the middle of either lies in the other."""
    return any(
        a[0] <= (b[0] + b[2]) / 2 <= a[2] and a[1] <= (b[1] + b[3]) / 2 <= a[3]
        for a, b in ((one, other), (other, one))
    )


def cards_within(found: Detections, rows_mm: tuple[float, float], view_px: int) -> Detections:
    """The detections without indices, jokers and backs that lie outside rows of the view.

    `rows_mm` are the least and greatest v of the view's own frame, `view_px` its side.
    """
    v = found.xyxy[:, 1::2].mean(axis=1) * (VIEW_MM / view_px) - VIEW_MM / 2
    inside = (v >= rows_mm[0]) & (v <= rows_mm[1])
    names = [found.name(k) for k in range(len(found))]
    return found.where(inside | ~np.isin(names, ("index", "joker", "back")))


def cards_of_place(
    found: Detections, place: Place, own: Sequence[Polygon], others: Sequence[Polygon], view_px: int
) -> Detections:
    """The detections without indices, jokers and backs that lie in the boxes of other places.

    Where places lie near to each other a view shows a part of its neighbours' hands. `own` and
    `others` are the boxes of hands on the felt.
    """
    names = [found.name(k) for k in range(len(found))]
    local = (found.xyxy[:, :2] + found.xyxy[:, 2:]) / 2 * (VIEW_MM / view_px) - VIEW_MM / 2
    middles = place.to_felt(local)
    keep = np.array(
        [
            name not in ("index", "joker", "back")
            or _within(middle, own)
            or not _within(middle, others)
            for name, middle in zip(names, middles, strict=True)
        ],
        np.bool_,
    )
    return found if keep.all() else found.where(keep)


def _within(at_mm: FloatArray, boxes: Sequence[Polygon]) -> bool:
    x, y = float(at_mm[0]), float(at_mm[1])
    return any(
        cv2.pointPolygonTest(box.array.astype(np.float32), (x, y), False) >= 0 for box in boxes
    )


def dealers_rows(dealer: DealerPlace) -> tuple[float, float]:
    """Rows of the dealer's view, v in mm, in which cards of a hand lie; see `cards_within`."""
    v = np.vstack([dealer.place.to_local(box.array) for box in (dealer.low, dealer.high)])[:, 1]
    return float(v.min()) - BEYOND_MM, float(v.max()) + BEYOND_MM


def _near_spots(box: Box, centers: Sequence[np.ndarray]) -> bool:
    middle = ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
    return any(math.dist(middle, c) < NEAR_SPOTS_MM for c in centers)


def assign(
    stacks: Sequence[ReadStack],
    place: Place,
    spots: Mapping[str, np.ndarray],
    lammers: Mapping[str, Sequence[np.ndarray]],
) -> tuple[dict[str, tuple[ReadStack, ...]], dict[str, tuple[ReadStack, ...]]]:
    """Stakes and pays by wager from where the stacks stand, in the view's own frame (mm).

    A stack inside a spot is its stake, one beside the spot its pay; one beside an envy
    lammer and not beside a spot is an envy prize; further ones belong to what they touch.
    A stack that touches nothing is left out. Nothing is laid beside a jackpot's sensor, nor beside
    its coin, only on it: between the spots it is, the pays of its neighbours lie nearer to it than
    to them.
    """
    stakes: dict[str, list[ReadStack]] = {}
    pays: dict[str, list[ReadStack]] = {}
    owned: list[tuple[np.ndarray, str]] = []
    rest: list[tuple[ReadStack, np.ndarray]] = []
    for stack in stacks:
        at = place.to_local(np.array([stack.center_mm]))[0]
        name, far = _owner(at, spots)
        if far <= IN_SPOT_MM:
            stakes.setdefault(name, []).append(stack)
            if name not in JACKPOTS:
                owned.append((at, name))
        elif far <= BY_SPOT_MM:
            pays.setdefault(name, []).append(stack)
            owned.append((at, name))
        else:
            rest.append((stack, at))
    owned += [(at, "envy") for at in lammers.get("envy", ())]
    while rest:
        options = [
            (math.dist(at, where), k, name)
            for k, (_, at) in enumerate(rest)
            for where, name in owned
        ]
        if not options:
            break
        far, k, name = min(options)
        if far > CHAIN_MM:
            break
        stack, at = rest.pop(k)
        pays.setdefault(name, []).append(stack)
        owned.append((at, name))
    return {k: tuple(v) for k, v in stakes.items()}, {k: tuple(v) for k, v in pays.items()}


def _owner(at: np.ndarray, spots: Mapping[str, np.ndarray]) -> tuple[str, float]:
    """The spot that a place belongs to and how far (mm) its centre is."""
    name, far = _nearest(at, spots)
    if name in JACKPOTS and far > IN_SPOT_MM:
        return _nearest(at, {n: c for n, c in spots.items() if n not in JACKPOTS})
    return name, far


def _nearest(at: np.ndarray, spots: Mapping[str, np.ndarray]) -> tuple[str, float]:
    if not spots:
        return "", math.inf
    name = min(spots, key=lambda s: math.dist(at, spots[s]))
    return name, math.dist(at, spots[name])
