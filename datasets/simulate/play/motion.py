"""Arms over the felt and the changes under them, put on one time line.

Nothing appears on the felt or goes from it by itself: every change is made at a stop of
a reach, at the moment the hand rests there.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from datasets.render.scene import Change, Item, Reach
from settlement.errors import FeltwatchError
from vision.geometry.table import Felt, Place, Point, TableFile


@dataclass(frozen=True, slots=True)
class Tempo:
    """How long things take, in seconds.

    `step_s` is one leg of a reach, or one rest of the hand at a stop. The dealer rests for
    `compare_rest_s` after spreading a hand and for `settled_rest_s` before taking its cards.
    Players lay their bets within `bets_s` and look at their cards for up to `look_s`;
    `between_s` is the empty felt between two rounds.
    """

    step_s: float = 0.22
    compare_rest_s: float = 1.2
    settled_rest_s: float = 0.8
    bets_s: float = 12.0
    look_s: float = 9.0
    between_s: float = 4.0


@dataclass(frozen=True, slots=True)
class Wait:
    """A time in which people wait: its still parts may be shortened, none below `floor_s`."""

    t0_s: float
    t1_s: float
    floor_s: float = 0.3


@dataclass(frozen=True, slots=True)
class Stop:
    """A place where the hand rests and what it takes from the felt and lays there."""

    at_mm: Point
    put: tuple[Item, ...] = ()
    remove: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Arm:
    """Where an arm comes from: the shoulder and the hand's first place, both off the felt."""

    who: Literal["dealer", "player"]
    shoulder_mm: Point
    entry_mm: Point


def dealer_arm(felt: Felt, side: int, rng: random.Random) -> Arm:
    """The dealer's left (`side` -1) or right (+1) arm as the felt is drawn."""
    x = felt.width_mm / 2 + side * 200.0
    return Arm(
        who="dealer",
        shoulder_mm=(x + rng.uniform(-30, 30), -250.0 + rng.uniform(-20, 20)),
        entry_mm=(x - side * rng.uniform(0, 80), -80.0 + rng.uniform(-20, 20)),
    )


def player_arm(felt: Felt, place: Place, rng: random.Random) -> Arm:
    """An arm of the player at a seat, from beyond the seat and off the felt's rectangle."""

    def beyond(along_mm: float, across_mm: float) -> Point:
        for further in range(0, 4000, 20):
            (x, y), *_ = place.to_felt(np.array([[across_mm, along_mm + further]])).tolist()
            if not (-10 <= x <= felt.width_mm + 10 and -10 <= y <= felt.height_mm + 10):
                return (x, y)
        raise FeltwatchError(f"seat at {place.center_mm}: it faces no edge of the felt")

    side = rng.choice((-1, 1)) * rng.uniform(30, 90)
    return Arm("player", shoulder_mm=beyond(450.0, side), entry_mm=beyond(330.0, side * 0.8))


@dataclass
class Timeline:
    """The changes, reaches and waits so far."""

    changes: list[Change] = field(default_factory=list)
    reaches: list[Reach] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)

    def reach(self, t0_s: float, arm: Arm, stops: Sequence[Stop], step_s: float) -> float:
        """Send an arm out at `t0_s` to each stop and back; gives back when it is off again.

        Every leg and every rest takes `step_s`; a stop's change is made amid its rest.
        """
        if not stops:
            return t0_s
        hand: list[Point] = [arm.entry_mm]
        for number, stop in enumerate(stops):
            hand += [stop.at_mm, stop.at_mm]
            if stop.put or stop.remove:
                when = t0_s + step_s * (2 * number + 1.5)
                self.changes.append(Change(round(when, 3), stop.put, stop.remove))
        hand.append(arm.entry_mm)
        t1 = t0_s + step_s * (len(hand) - 1)
        self.reaches.append(
            Reach(round(t0_s, 3), round(t1, 3), arm.who, arm.shoulder_mm, tuple(hand))
        )
        return t1

    def wait(self, t0_s: float, t1_s: float, floor_s: float = 0.3) -> None:
        """Note that people wait from `t0_s` to `t1_s`."""
        if t1_s > t0_s:
            self.waits.append(Wait(round(t0_s, 3), round(t1_s, 3), floor_s))

    @property
    def off_s(self) -> float:
        """When the last arm is off the felt; 0 before any reach."""
        return max((reach.t1_s for reach in self.reaches), default=0.0)


def hand_at(reach: Reach, t_s: float) -> Point | None:
    """Where the hand of a reach is at a time, or None when it is not under way."""
    if not reach.t0_s <= t_s <= reach.t1_s:
        return None
    legs = len(reach.hand_mm) - 1
    share = 0.0 if reach.t1_s == reach.t0_s else (t_s - reach.t0_s) / (reach.t1_s - reach.t0_s)
    leg = min(int(share * legs), legs - 1)
    within = share * legs - leg
    (x0, y0), (x1, y1) = reach.hand_mm[leg], reach.hand_mm[leg + 1]
    return (x0 + within * (x1 - x0), y0 + within * (y1 - y0))


@dataclass
class Dealer:
    """The dealer's two hands, used in turn: one goes out while the other comes back.

    `free_s` is when the next reach may start, `off_s` when both hands are off the felt.
    """

    table: TableFile
    tempo: Tempo
    timeline: Timeline
    rng: random.Random
    free_s: float = 0.0
    off_s: float = 0.0
    _side: int = 1

    def act(self, stops: Sequence[Stop], *, alone: bool = False) -> float:
        """One reach over these stops; gives back the time of its last change.

        With `alone` the reach waits until the other hand is off the felt. Later reaches
        start while this hand is on its way back.
        """
        step = self.tempo.step_s * self.rng.uniform(0.94, 1.06)
        start = self.off_s if alone else self.free_s
        start = max(start, self.free_s)
        self._side = -self._side
        arm = dealer_arm(self.table.felt, self._side, self.rng)
        end = self.timeline.reach(start, arm, stops, step)
        self.free_s = end - step
        self.off_s = max(self.off_s, end)
        return end - 1.5 * step

    def rest(self, seconds: float) -> None:
        """Keep both hands off the felt for so long, counted from now."""
        self.wait_until(self.off_s + seconds)

    def wait_until(self, t_s: float) -> None:
        """Do nothing before this time."""
        self.free_s = max(self.free_s, self.off_s, t_s)
        self.off_s = max(self.off_s, t_s)


def spread_about(center_mm: Point, radius_mm: float, rng: random.Random) -> Point:
    """A point about a centre, at most `radius_mm` away."""
    turn, away = rng.uniform(0, 2 * math.pi), radius_mm * math.sqrt(rng.random())
    return (center_mm[0] + away * math.cos(turn), center_mm[1] + away * math.sin(turn))
