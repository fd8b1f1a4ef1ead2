"""What further cameras read, joined to what the first camera read of the same round."""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from typing import Protocol

import numpy as np

from vision.chips.reading import ReadStack
from vision.chips.states import SAME_MM
from vision.detect.detections import ByteArray
from vision.geometry.table import Point, SeatPlace, TableFile
from vision.rounds.cameras.further_camera import OTHER_STACK_MM, Beside
from vision.rounds.observed import Seen, ViewPicture, What
from vision.rounds.region_change import CHANGED_SHARE, different_share
from vision.rounds.round_state import Episode, Round, ViewTrack
from vision.rounds.view_reader import ViewReading, assign

MONEY_SHOWN: tuple[What, ...] = ("bets", "settled", "envy")
"""The views of a seat that are shown by further cameras too."""


AGAIN_S = 1.0
"""A camera that shows no rest is asked again so much later, then after twice as long, and so on."""


class ReadsBeside(Protocol):
    """A further camera: `RecordedCamera`, or `LiveCamera`."""

    @property
    def name(self) -> str:
        """Its name in the table file."""

    def beside(self, seat: SeatPlace, reading: ViewReading, at_s: float) -> Beside | None:
        """What it shows at `at_s` of a seat that looks as at a reading; None where it shows no
        rest."""


@dataclass(frozen=True, slots=True)
class Joined:
    """A round with the further cameras' readings, and what they showed when money was decided."""

    round: Round
    pictures: tuple[ViewPicture, ...] = ()


@dataclass(frozen=True, slots=True, order=True)
class _Due:
    """A reading that a further camera is asked beside, while the first one shows the same rest:
    what moves before it for a moment may hide the seat from the other."""

    at_s: float
    number: int
    reading: ViewReading = field(compare=False)
    until_s: float = field(compare=False)
    again_s: float = field(default=AGAIN_S, compare=False)


def join_round(own: Round, table: TableFile, cameras: Sequence[ReadsBeside]) -> Joined:
    """The round with each stack read by all cameras that saw it at rest at the same moments.

    What a further camera does not show then stays as the first one read it.
    """
    joined = Joined(own)
    for camera in cameras:
        joined = _join(joined, table, camera)
    return joined


def _join(joined: Joined, table: TableFile, camera: ReadsBeside) -> Joined:
    own = joined.round
    due = [
        _Due(reading.at_s, seat, reading, episode.until_s)
        for seat, track in own.tracks.items()
        for episode in track.episodes
        for reading in episode.images
        if seat is not None and reading.stacks
    ]
    heapify(due)
    read: dict[int, ViewReading] = {}
    near = {seat: _near_shots(track) for seat, track in own.tracks.items()}
    blind = {seat: _Blind(track) for seat, track in own.tracks.items()}
    shown: dict[tuple[int, What], tuple[float, ViewPicture]] = {}
    while due:
        one = heappop(due)
        at_s, number, reading = one.at_s, one.number, one.reading
        seat = table.seat(number)
        beside = camera.beside(seat, reading, at_s)
        if beside is None:
            if at_s + one.again_s <= one.until_s:
                later = replace(one, at_s=at_s + one.again_s, again_s=2 * one.again_s)
                heappush(due, later)
            continue
        bare = blind[number].bare(beside, at_s)
        read[id(reading)] = join_reading(reading, beside.stacks, seat, camera.name, bare)
        for what, away_s in near[number].get(id(reading), ()):
            if (number, what) not in shown or away_s < shown[number, what][0]:
                picture = _picture(camera.name, beside, number, what, at_s)
                shown[number, what] = away_s, picture
    pictures = sorted((p for _, p in shown.values()), key=lambda p: (float(p.at_s), p.seat or 0))
    tracks = {seat: _with_readings(track, read) for seat, track in own.tracks.items()}
    return Joined(replace(own, tracks=tracks), (*joined.pictures, *pictures))


class _Blind:
    """What a further camera shows of a seat where stacks hide the felt from the first one."""

    def __init__(self, track: ViewTrack) -> None:
        hands = track.hand_episodes()
        self._until_s = hands[0].start_s if hands else math.inf
        self._before: list[tuple[Point, ByteArray]] = []

    def bare(self, beside: Beside, at_s: float) -> frozenset[Point]:
        """The bases of stacks behind which nothing came since before the hand was turned up.

        A payout comes after that. The reader cannot decide it: where the further camera sees a tall
        stack behind the place it takes its chips for the place's.
        """
        if not beside.blind:
            return frozenset()
        patch, _ = beside.shown()
        out = set()
        for base, boxes in beside.blind.items():
            before = [image for at, image in self._before if math.dist(at, base) <= SAME_MM]
            if before and different_share(before[0], patch, boxes) < CHANGED_SHARE:
                out.add(base)
            elif not before and at_s < self._until_s:
                self._before.append((base, patch))
        return frozenset(out)


def _near_shots(track: ViewTrack) -> dict[int, list[tuple[What, float]]]:
    """Readings (by id) of the rests that shots were taken of, and how far each is from them, s."""
    near: dict[int, list[tuple[What, float]]] = {}
    for what in MONEY_SHOWN:
        shot = track.shots.get(what)
        for episode in track.episodes if shot else ():
            if shot and any(reading is shot.reading for reading in episode.readings):
                for reading in episode.images:
                    away_s = abs(reading.at_s - shot.reading.at_s)
                    near.setdefault(id(reading), []).append((what, away_s))
    return near


def join_reading(
    reading: ViewReading, stacks: Sequence[ReadStack], seat: SeatPlace, camera: str,
    bare: Set[Point] = frozenset(),
) -> ViewReading:  # fmt: skip
    """A view's reading with what a further camera read there at that moment.

    A stack that both read keeps its place and gets the other posterior too. One that stands
    away from all that the first camera read is one more stack, of the wager that it is next to.
    """
    free = list(stacks)

    def both(stack: ReadStack) -> ReadStack:
        found = next((one for one in free if one.first_mm == stack.center_mm), None)
        if found is not None:
            # What the first camera read beside the stack says nothing.
            free.remove(found)
            return replace(found, center_mm=stack.center_mm, camera=camera)
        near = [one for one in free if math.dist(one.center_mm, stack.center_mm) <= SAME_MM]
        if not near:
            return stack
        one = min(near, key=lambda one: math.dist(one.center_mm, stack.center_mm))
        free.remove(one)
        also, height = (*stack.also, (camera, one.posterior)), one.height or stack.height
        return replace(stack, also=also, height=height)

    known = [stack.center_mm for stack in reading.stacks]
    shown = {n for n, own in reading.stakes.items() if all(s.center_mm in bare for s in own)}
    stakes = {name: tuple(both(s) for s in own) for name, own in reading.stakes.items()}
    pays = {name: tuple(both(s) for s in own) for name, own in reading.pays.items()}
    strays = tuple(both(s) for s in reading.strays)
    more = [
        replace(one, camera=camera)
        for one in free
        if all(math.dist(one.center_mm, at) >= OTHER_STACK_MM for at in known)
    ]
    spots = {
        name: seat.place.to_local(np.array([spot.center_mm]))[0]
        for name, spot in seat.spots.items()
    }
    staked, paid = assign([*reading.stacks, *more], seat.place, spots, {})
    for one in more:
        name = next((n for n, own in staked.items() if one in own), None)
        beside = next((n for n, own in paid.items() if one in own), None)
        if name is not None:
            stakes[name] = (*stakes.get(name, ()), one)
        elif beside is not None:
            pays[beside] = (*pays.get(beside, ()), one)
        else:
            strays = (*strays, one)
    return replace(
        reading, stakes=stakes, pays=pays, strays=strays, beside=(*reading.beside, camera),
        bare=reading.bare | shown,
    )  # fmt: skip


def _with_readings(track: ViewTrack, read: dict[int, ViewReading]) -> ViewTrack:
    def joined(episode: Episode) -> Episode:
        return replace(episode, readings=[read.get(id(r), r) for r in episode.readings])

    return replace(track, episodes=[joined(episode) for episode in track.episodes])


def _picture(camera: str, beside: Beside, seat: int, what: What, at_s: float) -> ViewPicture:
    image, boxes = beside.shown()
    seen = tuple(
        Seen(stack.label, stack.probability, (float(x0), float(y0), float(x1), float(y1)))
        for stack, (x0, y0, x1, y1) in zip(beside.stacks, boxes, strict=True)
    )
    return ViewPicture(seat, what, f"{at_s:.3f}", image, seen, camera)
