"""Arms that reach over the felt, by what moves there: which seat they come from, what they cover.

A piece of the image that differs from the felt at rest is an arm's where it goes beyond a seat's
places, off the felt. There it may be high over the felt, and appear elsewhere by a camera that
looks from the side: where a player's own arm could appear at some height, it is not a neighbour's.
An arm that was seen so is followed from sample to sample by where its pieces are near: turned
towards a neighbour it may cross the edge beside all seats, and a sleeve like the felt parts it.
An arm that comes between two seats may be either's player's. Over a third one's cards it is a
neighbour's nevertheless, and comes from the seat next to these.
A piece that goes over the dealer's edge is the dealer's arm where none of it lies beyond a seat;
where some does it is nobody's, for two arms may meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np
import numpy.typing as npt

from vision.detect.motion import SHRINK
from vision.geometry.calibration import Calibration
from vision.geometry.table import FloatArray, Point, SeatPlace

ARM_LEVELS = 14
"""A block that differs by more from the felt at rest is covered."""

STEADY_LEVELS = 4
"""A block that differs by no more between two samples stayed as it was."""

STAY_S = 1.0
"""What stayed so long is felt at rest, or lies on it; what it came over is remembered: a hand that
rested uncovers that again."""

STILL_S = 0.4
"""A piece that comes over no edge and stayed so long is what was laid there, no arm: cards that a
hand left had been taken for a part of the neighbour's arm that came next ("feltwatch judge
2026-11-29 p ways" 20)."""

LEAST_ZONE, SEEN_ZONE = 0.05, 0.4
"""An arm covers at least so much of what lies beyond its seat's places: a third, where it is 8 cm
wide. Where less of that is in the image than the second part of the largest seat's, it is counted
as that part: of the exchanges of "feltwatch judge 2026-11-29 s ways" 0 and 31 the arms cover 53 to
83 blocks beyond seats at the image's edge, where the largest one's 5% are 88 and 92."""

RAISED_MM = (75.0, 150.0, 225.0, 300.0)
"""How high an arm may be where it comes over the edge."""

THROUGH = 0.8
"""Correlation with the felt and the cards from which these are seen through what covers them, which
is a shadow."""

LEAST_SHARE = 0.15
"""Of the boxes of a seat, what an arm over them covers at least. Tune set: twelve shifts, 48 rounds
with ten exchanges ("feltwatch judge 2026-11-29 o ways" 1, 2, 5 and 44, "p ways" 20, "q ways" 1 and
48, "r ways" 4, "s ways" 0, 7, 14 and 31). In nine of these the arm covers 0.19 to 0.56 of the
neighbour's boxes at most; no other covers 0.05 but one in the betting."""

ALONE_SHARE = 0.9
"""Of the covered blocks beyond all seats' places, the share of one seat's from which the arm is
its player's."""

NEAR_MM = 80.0
"""A piece this near to an arm, or to where it was in the sample before, is a part of it: a sleeve
like the felt parts an arm, and in 0.2 s a hand goes from one hand of cards to the next. Of the
exchanges of "feltwatch judge 2026-11-27 d ways" 11 and 13 and "e ways" 9 such pieces were up to
14 mm away, of "feltwatch judge 2026-11-29 o ways" 2 60 mm; those of other arms 150 mm and more.
In 60 rounds of 15 shifts of "o ways" no other arm is reported with 80 mm in place of 20."""

OVERLAPS = 0.1
"""A piece of which so much lies where another's arm was in the sample before is nobody's. Not
fitted: none of the four exchanges of "feltwatch judge 2026-11-27 d ways" 0 to 24 and "e ways" 0 to
9 is lost to it, and no other arm is reported there."""

AGAIN_SHARE = 0.5
"""A piece of which more lies where an arm rested is that arm, which moves again. Of the exchange of
"feltwatch judge 2026-11-29 q ways" 48, where a hand rested on its cards for 0.4 s, 0.8 do."""

STILL_SHARE = 0.8
"""Of a piece's blocks, how many stayed where the piece is still: 0.85 of those cards."""

GAP_S = 1.0
"""After a longer time without a sample the felt at rest is not known."""

BEYOND_MM = (30.0, 150.0)
"""How far beyond a seat's places its arms are looked for, along the seat."""

ASIDE_MM = 110.0
"""And how far to either side of its middle."""

DEALER_MM = 60.0
"""What is covered so near to the dealer's edge is the dealer's."""

CHIPS_MM = 53.0
"""Chips so near to the centre of a wager's spot lie on it or beside it."""

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.intp]
ArmState = tuple[Bytes, Bytes, Bytes, Bytes, Bytes, Bytes, Bytes, float, float]
"""The sample before, the felt at rest, what that came over, for how long each block stayed (tenths
of a second), whose arm covered it, whose arm rested on it, which seats those cannot be, when that
was, and since when the felt is known."""


@dataclass(frozen=True, slots=True)
class Arm:
    """An arm in one sample: the seat it comes from (None: the dealer's side), and of each seat the
    share of its boxes that it covers (`LEAST_SHARE` and more). `spots` are the seats and wagers
    over whose chips it lies."""

    seat: int | None
    over: dict[int, float]
    spots: tuple[tuple[int, str], ...] = ()


class ArmWatch:
    """Watches for arms on the reduced luma of whole samples (`motion.shrink`)."""

    def __init__(self, calibration: Calibration, seats: Sequence[SeatPlace]) -> None:
        """Find the blocks of the seats' boxes and spots, and of the felt beyond them."""
        # Neighbours are next to each other: seats are numbered about the table.
        seats = sorted(seats, key=lambda seat: seat.seat)
        w, h = calibration.width_px // SHRINK, calibration.height_px // SHRINK
        middles = np.stack(np.meshgrid(np.arange(w), np.arange(h)), -1).reshape(-1, 2)
        felt = calibration.image_to_felt((middles.astype(np.float64) + 0.5) * SHRINK - 0.5)
        self._seats = [seat.seat for seat in seats]
        self._boxes = [np.flatnonzero(_blocks_in(felt, seat)) for seat in seats]
        self._spots = [
            [
                (name, np.flatnonzero(_blocks_about(felt, spot.center_mm)))
                for name, spot in seat.spots.items()
            ]
            for seat in seats
        ]
        self._zones = _Zones(_beyond(felt, seats).reshape(h, w), len(seats))
        raised = [_beyond(calibration.under(felt, mm), seats) for mm in RAISED_MM]
        self._gaps = _Zones(_between(felt, seats, self._zones.zones), max(1, len(seats) - 1))
        self._own_arms = [
            np.any([zone == index + 1 for zone in raised], axis=0) for index in range(len(seats))
        ]
        """Of each seat, whether an arm of its player's may appear in a block."""
        beside = [
            _between(calibration.under(felt, mm), seats, zone)
            for mm, zone in zip(RAISED_MM, raised, strict=True)
        ]
        self._wide_arms = [
            np.any([own, *((gap == index) | (gap == index + 1) for gap in beside)], axis=0)
            for index, own in enumerate(self._own_arms)
        ]
        """The same of one that may come over the edge beside its seat."""
        self._dealers = np.flatnonzero(felt[:, 1] < DEALER_MM)
        middles_mm = np.array([seat.place.center_mm for seat in seats])
        beside_px = calibration.felt_to_image(middles_mm + np.array([NEAR_MM, 0.0]))
        off_px = np.hypot(*(beside_px - calibration.felt_to_image(middles_mm)).T)
        near = max(1, round(float(np.median(off_px)) / SHRINK))
        self._around = np.ones((2 * near + 1, 2 * near + 1), np.uint8)
        self._before: Bytes | None = None
        self._felt = np.zeros((h, w), np.uint8)
        self._under = np.zeros((h, w), np.uint8)
        """What was felt at rest before it."""
        self._stayed_ds = np.zeros((h, w), np.uint8)
        self._whose = np.zeros((h, w), np.uint8)
        """1 + the index of the seat whose arm covered a block in the sample before, or 0."""
        self._rested = np.zeros((h, w), np.uint8)
        """The same of an arm that rested, or of what it left there."""
        self._apart = np.zeros((len(seats), len(seats)), bool)
        """Of each such arm, which seats' own ones it cannot be at any height."""
        self._at_s = self._known_s = 0.0

    def look(self, small: npt.NDArray[np.int16], at_s: float) -> list[Arm]:
        """Take the next sample in; the arms over some seat's boxes or chips."""
        now = small.astype(np.uint8)
        if self._before is None or at_s - self._at_s > GAP_S:
            self._before, self._felt, self._under, self._at_s = now, now.copy(), now.copy(), at_s
            self._stayed_ds[:], self._whose[:], self._rested[:] = 0, 0, 0
            self._known_s = at_s + STAY_S
            return []
        tenths = min(255, max(0, round(10 * (at_s - self._at_s))))
        moved = _over(now, self._before, STEADY_LEVELS)
        # OpenCV's sums end at 255.
        longer = cv2.add(self._stayed_ds, np.full_like(now, tenths))
        self._stayed_ds = np.asarray(longer * (1 - moved), np.uint8)
        self._before, self._at_s = now, at_s
        rests = self._stayed_ds >= round(10 * STAY_S)
        other = _over(now, self._felt, ARM_LEVELS)
        uncovered = (other > 0) & (_over(now, self._under, ARM_LEVELS) == 0)
        np.copyto(self._felt, self._under, where=uncovered)
        np.copyto(self._under, self._felt, where=rests & (other > 0))
        np.copyto(self._felt, now, where=rests)
        if at_s < self._known_s:
            return []
        covered = np.asarray(other * ~(uncovered | rests), np.uint8)
        known = self._whose.any() or self._rested.any()
        dealers = covered.ravel()[self._dealers].any()
        meets = self._zones.meet(covered) or self._gaps.meet(covered)
        if not meets and not known and not dealers:
            return []
        closed = cv2.morphologyEx(covered, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
        return self._arms(now, np.asarray(closed, np.uint8))

    def _arms(self, now: Bytes, covered: Bytes) -> list[Arm]:
        number, labelled, shapes, _ = cv2.connectedComponentsWithStats(covered, connectivity=8)
        parts = np.asarray(labelled, np.int32)
        flat = parts.ravel()
        beyond = self._zones.counts(flat, number)
        between = self._gaps.counts(flat, number)
        dealers = np.bincount(flat[self._dealers], minlength=number)
        sizes = shapes[:, cv2.CC_STAT_AREA]
        least = self._zones.least
        rest = [k for k in range(1, number) if not dealers[k] and sizes[k] >= least.min()]
        whose, apart = np.zeros_like(self._whose), self._apart.copy()
        rested = np.zeros_like(whose)
        seats: dict[int, int] = {}
        left = []
        # Arms that are seen to come over the edge first; what is left may be a part of one.
        for part in sorted(rest, key=lambda k: -int(beyond[k].max())):
            own = parts == part
            if (beyond[part] < least).all():
                still = self._stayed_ds[own] >= round(10 * STILL_S)
                if still.mean() > STILL_SHARE:
                    rested[own] = np.maximum(self._whose, self._rested)[own]
                    continue
                seat = self._from_between(now, own, between[part])
                if seat is None:
                    left.append(part)
                    continue
                apart[seat] = self._cannot_be(own, int(between[part].argmax()), gap=True)
                seats[part], whose[own] = seat, seat + 1
                continue
            seat = self._seat(own, beyond[part])
            if seat is not None:
                apart[seat] = self._cannot_be(own, seat)
                seats[part], whose[own] = seat, seat + 1
        # A part may be near to another part only.
        while left:
            before = len(left)
            for part in list(left):
                own = parts == part
                seat = self._followed(own, whose)
                if seat is None:
                    seat = self._again(own, beyond[part])
                if seat is not None:
                    seats[part], whose[own] = seat, seat + 1
                    left.remove(part)
            if len(left) == before:
                break
        self._whose, self._rested, self._apart = whose, rested, apart
        whole = least.min()
        of_dealer = [
            k for k in range(1, number)
            if dealers[k] and sizes[k] >= whole and not beyond[k].any()
        ]  # fmt: skip
        arms = [self._arm(now, flat == part, seat) for part, seat in seats.items()]
        arms += [self._arm(now, flat == part, None) for part in of_dealer]
        return [arm for arm in arms if arm.over or arm.spots]

    def _arm(self, now: Bytes, own: npt.NDArray[np.bool_], seat: int | None) -> Arm:
        """The arm of a seat's index, None the dealer's, whose piece has the blocks `own`."""
        over: dict[int, float] = {}
        spots: list[tuple[int, str]] = []
        for other, (box, about) in enumerate(zip(self._boxes, self._spots, strict=True)):
            if seat is not None and other != seat and not self._apart[seat][other]:
                continue
            name = self._seats[other]
            share = self._covered(now, box, own[box])
            if share >= LEAST_SHARE:
                over[name] = share
            spots += [
                (name, wager) for wager, spot in about
                if self._covered(now, spot, own[spot]) >= LEAST_SHARE
            ]  # fmt: skip
        return Arm(None if seat is None else self._seats[seat], over, tuple(spots))

    def _seat(self, own: npt.NDArray[np.bool_], beyond: npt.NDArray[np.int64]) -> int | None:
        """The index of the seat beyond which a piece is seen; `beyond` are its blocks by seat."""
        seat = int(beyond.argmax())
        before = np.bincount(self._whose[own], minlength=len(self._seats) + 1)[1:]
        before[seat] = 0
        meets = before.sum() >= OVERLAPS * own.sum()
        return None if meets or beyond[seat] < ALONE_SHARE * beyond.sum() else seat

    def _followed(self, own: npt.NDArray[np.bool_], whose: Bytes) -> int | None:
        """The seat of the one arm that a piece is near to, now or in the sample before."""
        near = cv2.dilate(own.astype(np.uint8), self._around).astype(bool)
        seats = set(np.unique(whose[near])) | set(np.unique(self._whose[near]))
        seats.discard(0)
        return int(seats.pop()) - 1 if len(seats) == 1 else None

    def _again(self, own: npt.NDArray[np.bool_], beyond: npt.NDArray[np.int64]) -> int | None:
        """The seat of an arm that rested and moves again: most of the piece lies where it did."""
        rested = np.bincount(self._rested[own], minlength=len(self._seats) + 1)[1:]
        seat = int(rested.argmax())
        others = beyond.sum() - beyond[seat]
        return seat if rested[seat] > AGAIN_SHARE * own.sum() and not others else None

    def _from_between(
        self, now: Bytes, own: npt.NDArray[np.bool_], between: npt.NDArray[np.int64]
    ) -> int | None:
        """The index of the seat from which an arm that comes between two covers a third one's
        boxes, None where it covers none; `between` are the piece's blocks by gap."""
        gap = int(between.argmax())
        if between[gap] < max(self._gaps.least[gap], ALONE_SHARE * between.sum()):
            return None
        pair = gap, gap + 1
        before = np.bincount(self._whose[own], minlength=len(self._seats) + 1)[1:]
        if before.sum() - before[list(pair)].sum() >= OVERLAPS * own.sum():
            return None
        flat = own.ravel()
        shares = {
            seat: self._covered(now, box, flat[box])
            for seat, box in enumerate(self._boxes) if seat not in pair
        }  # fmt: skip
        sides = {seat > gap for seat, share in shares.items() if share >= LEAST_SHARE}
        return pair[sides.pop()] if len(sides) == 1 else None

    def _cannot_be(
        self, own: npt.NDArray[np.bool_], index: int, *, gap: bool = False
    ) -> npt.NDArray[np.bool_]:
        """Which seats' own arms a piece, seen beyond a seat or in a gap, is at no height."""
        zones, own_arms = self._zones, self._own_arms
        if gap:
            zones, own_arms = self._gaps, self._wide_arms
        zone = zones.of_seat[index]
        inside = zone[own.ravel()[zone]]
        least = zones.least[index]
        return np.array([(~arms[inside]).sum() >= least for arms in own_arms])

    def _covered(self, now: Bytes, box: Places, own: npt.NDArray[np.bool_]) -> float:
        """The share of a seat's boxes, or of a spot, that a piece covers, 0 for a shadow.

        `own` says of each block of these whether it is the piece's.
        """
        share = float(own.sum()) / max(1, len(box))
        if share < LEAST_SHARE:
            return share
        at = box[own]
        levels, felt = now.ravel()[at].astype(np.float64), self._felt.ravel()[at].astype(np.float64)
        if min(levels.std(), felt.std()) > 1 and np.corrcoef(levels, felt)[0, 1] >= THROUGH:
            return 0.0
        return share

    def state(self) -> ArmState | None:
        """What was seen so far; None before the first sample."""
        if self._before is None:
            return None
        # Copies: the next sample is written into these.
        felt, under, stayed_ds = self._felt.copy(), self._under.copy(), self._stayed_ds.copy()
        apart = self._apart.astype(np.uint8)
        whose, rested = self._whose.copy(), self._rested.copy()
        times = self._at_s, self._known_s
        return (self._before, felt, under, stayed_ds, whose, rested, apart, *times)

    def set_state(self, state: ArmState) -> None:
        """Go on from a `state`. Raises ValueError when it is of another camera."""
        before, felt, under, stayed_ds, whose, rested, apart, at_s, known_s = state
        blocks = before, felt, under, stayed_ds, whose, rested
        if any(part.shape != self._felt.shape for part in blocks):
            raise ValueError(f"samples of {before.shape}, the camera's have {self._felt.shape}")
        if apart.shape != self._apart.shape:
            raise ValueError(f"{len(apart)} seats, the table has {len(self._apart)}")
        self._before, self._felt, self._under = before.copy(), felt.copy(), under.copy()
        self._stayed_ds, self._at_s = stayed_ds.copy(), at_s
        self._whose, self._rested = whose.copy(), rested.copy()
        self._apart = apart.astype(bool)
        self._known_s = known_s


def _over(one: Bytes, other: Bytes, levels: int) -> Bytes:
    """1 in the blocks that differ by more than so many levels, 0 elsewhere."""
    _, over = cv2.threshold(cv2.absdiff(one, other), levels, 1, cv2.THRESH_BINARY)
    return np.asarray(over, np.uint8)


class _Zones:
    """The blocks beyond the seats' places, or between these: 1 + the index of the seat or the gap,
    or 0, in each block."""

    def __init__(self, zones: npt.NDArray[np.int64], seats: int) -> None:
        self.zones = zones
        self._any = (zones > 0).astype(np.uint8)
        self._places = np.flatnonzero(zones)
        self._inside = zones.ravel()[self._places]
        self.of_seat = [self._places[self._inside == index + 1] for index in range(seats)]
        """The blocks beyond each seat's places."""
        self._sides = seats + 1
        own = np.array([len(places) for places in self.of_seat])
        self.least = np.maximum(1.0, LEAST_ZONE * np.maximum(own, SEEN_ZONE * own.max()))
        """The fewest blocks of an arm, by seat."""

    def meet(self, covered: Bytes) -> bool:
        """Whether something that covers blocks, 1 in these, lies beyond a seat."""
        return bool(cv2.bitwise_and(covered, self._any).any())

    def counts(self, parts: npt.NDArray[np.int32], number: int) -> npt.NDArray[np.int64]:
        """Of each piece how many blocks lie beyond each seat, (number, seats).

        `parts` holds the number of its piece in each block, 0 to `number` - 1.
        """
        at = parts[self._places] * self._sides + self._inside
        counts = np.bincount(at, minlength=number * self._sides)
        return counts.reshape(number, self._sides)[:, 1:]


def _end_mm(seat: SeatPlace) -> float:
    """How far a seat's places go along its axis, away from the dealer."""
    parts = [seat.low.array, seat.high.array, *(spot.array for spot in seat.spots.values())]
    return max(float(seat.place.to_local(part)[:, 1].max()) for part in parts)


def _blocks_in(felt: FloatArray, seat: SeatPlace) -> npt.NDArray[np.bool_]:
    """Which blocks (their middles (n, 2) mm) lie in the seat's boxes."""
    inside = np.zeros(len(felt), bool)
    for box in (seat.low, seat.high):
        hull = cv2.convexHull(box.array.astype(np.float32)).reshape(-1, 2).astype(np.float64)
        edges = np.roll(hull, -1, axis=0) - hull
        away = felt[:, None, :] - hull[None]
        side = edges[:, 0] * away[..., 1] - edges[:, 1] * away[..., 0]
        inside |= (side >= 0).all(axis=1) | (side <= 0).all(axis=1)
    return inside


def _blocks_about(felt: FloatArray, at_mm: Point) -> npt.NDArray[np.bool_]:
    """Which blocks (their middles (n, 2) mm) lie where a spot's chips do."""
    near: npt.NDArray[np.bool_] = np.hypot(*(felt - np.array(at_mm)).T) < CHIPS_MM
    return near


def _beyond(felt: FloatArray, seats: Sequence[SeatPlace]) -> npt.NDArray[np.int64]:
    """Of each block, 1 + the index of the seat beyond whose places it lies, 0 for none."""
    nearest = np.full(len(felt), np.inf)
    found = np.zeros(len(felt), np.int64)
    for index, seat in enumerate(seats):
        across, along = seat.place.to_local(felt).T - np.array([[0.0], [_end_mm(seat)]])
        within = (np.abs(across) < ASIDE_MM) & (BEYOND_MM[0] < along) & (along < BEYOND_MM[1])
        own = within & (np.abs(across) < nearest)
        nearest[own], found[own] = np.abs(across[own]), index + 1
    return found


def _between(
    felt: FloatArray, seats: Sequence[SeatPlace], beyond: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Of each block, 1 + the index of the gap after a seat in which it lies beyond the places of
    two neighbours, 0 for none; none of `beyond`, the blocks of one seat."""
    found = np.zeros(len(felt), np.int64)
    for index, pair in enumerate(pairwise(seats)):
        within = np.ones(len(felt), bool)
        depth = np.zeros(len(felt), bool)
        for own, other in (pair, pair[::-1]):
            across, along = own.place.to_local(felt).T - np.array([[0.0], [_end_mm(own)]])
            side = own.place.to_local(np.array([other.place.center_mm]))[0, 0]
            within &= across * np.sign(side) >= 0
            depth |= (BEYOND_MM[0] < along) & (along < BEYOND_MM[1])
        found[within & depth] = index + 1
    return np.where(beyond.ravel() > 0, 0, found).reshape(beyond.shape)
