"""Which moments of a simulated shift are worth an image of a view, by the shift's own truth.

A view is at rest when for a while nothing in it came, went or moved and no arm was over it.
Each state of rest of a view is reported once, however long it lasts and how often it comes back.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from vision.geometry.calibration import Calibration
from vision.geometry.table import VIEW_MM, FloatArray, Place

Kind = Literal["rest", "motion", "empty"]

REST_S = 0.5
"""So long nothing may have moved; the audit waits for two still samples 0.2 s apart."""

MOVED_MM = 5.0
"""Less than this is the camera's shake, as the felt's mm show it."""

MOTION_SHARE = 0.15
EMPTY_SHARE = 0.05
"""Of all images chosen: with an arm over the view, and of felt on which nothing lies."""

NO_THINGS = frozenset({"arm", "card"})
"""Classes of the truth that the detector has no name for; a card's indices stand for it."""


@dataclass(frozen=True, slots=True, order=True)
class Moment:
    """An image of the recording and the view to cut from it; seat 0 is the dealer's."""

    pts: int
    t_s: float
    seat: int
    kind: Kind


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """What lies in a view: names in order, and their middles (n, 2) mm."""

    names: tuple[tuple[Any, ...], ...]
    middles: FloatArray

    def same(self, other: _State) -> bool:
        """Whether the same things lie at the same places."""
        if self.names != other.names:
            return False
        away = np.abs(self.middles - other.middles)
        return not away.size or float(away.max()) <= MOVED_MM


@dataclass
class _Watch:
    """Follows one view through the shift and gathers a moment of each of its states."""

    seat: int
    corners_px: FloatArray
    place: Place
    rng: np.random.Generator
    states: list[_State] = field(default_factory=list)
    rests: dict[int, Moment] = field(default_factory=dict)
    motions: dict[int, Moment] = field(default_factory=dict)
    _now: int = -1
    _busy_s: float = -math.inf
    _counts: dict[tuple[int, bool], int] = field(default_factory=dict)

    def look(self, pts: int, t_s: float, state: _State, arms: Sequence[Sequence[float]]) -> None:
        """Take the next image's truth in."""
        if self._now < 0 or not self.states[self._now].same(state):
            self._now = next((k for k, old in enumerate(self.states) if old.same(state)), -1)
            if self._now < 0:
                self.states.append(state)
                self._now = len(self.states) - 1
            self._busy_s = t_s
        low, high = self.corners_px.min(axis=0), self.corners_px.max(axis=0)
        over = any(
            x0 < high[0] and x1 > low[0] and y0 < high[1] and y1 > low[1] for x0, y0, x1, y1 in arms
        )
        if over:
            self._busy_s = t_s
            if state.names:
                self._keep(self.motions, Moment(pts, t_s, self.seat, "motion"))
        elif t_s - self._busy_s >= REST_S:
            kind: Kind = "rest" if state.names else "empty"
            self._keep(self.rests, Moment(pts, t_s, self.seat, kind))

    def _keep(self, kept: dict[int, Moment], moment: Moment) -> None:
        """One moment of a state, each as likely as the others."""
        key = (self._now, kept is self.motions)
        self._counts[key] = self._counts.get(key, 0) + 1
        if self.rng.random() < 1 / self._counts[key]:
            kept[self._now] = moment


def choose_moments(
    frames: Iterable[Mapping[str, Any]],
    calibration: Calibration,
    places: Mapping[int, Place],
    *,
    every_s: float = 0.2,
    most: int | None = None,
    seed: int = 0,
) -> tuple[Moment, ...]:
    """Moments of a shift in order: states of rest, a share in motion, a share of empty felt.

    `frames` are the lines of a truth file (`datasets.simulate.filming.truth_frames`), looked at no
    more often
    than `every_s`; images with a camera's trouble are passed over. `places` are the views
    by seat, 0 for the dealer's. At most `most` are chosen, the same for the same `seed`.
    """
    rng = np.random.default_rng([seed, 61])
    edge = VIEW_MM / 2
    square = np.array([[-edge, -edge], [edge, -edge], [edge, edge], [-edge, edge]])
    watches = [
        _Watch(seat, calibration.felt_to_image(place.to_felt(square)), place, rng)
        for seat, place in sorted(places.items())
    ]
    next_s = -math.inf
    for frame in frames:
        t_s = float(frame["t_s"])
        if t_s < next_s or "trouble" in frame:
            continue
        next_s = t_s + every_s - 1e-6
        things = [one for one in frame["objects"] if one["class"] not in NO_THINGS]
        arms = [one["box_px"] for one in frame["objects"] if one["class"] == "arm"]
        boxes = np.array([one["box_px"] for one in things], np.float64).reshape(-1, 4)
        felt = calibration.image_to_felt((boxes[:, :2] + boxes[:, 2:]) / 2)
        for watch in watches:
            watch.look(int(frame["pts"]), t_s, _state(things, watch.place.to_local(felt)), arms)
    rests = sorted(m for watch in watches for m in watch.rests.values() if m.kind == "rest")
    empty = sorted(m for watch in watches for m in watch.rests.values() if m.kind == "empty")
    motions = sorted(m for watch in watches for m in watch.motions.values())
    total = len(rests) / (1 - MOTION_SHARE - EMPTY_SHARE)
    if most is not None:
        total = min(total, most)
    empty = _some(rng, empty, round(total * EMPTY_SHARE))
    motions = _some(rng, motions, round(total * MOTION_SHARE))
    if most is not None:
        rests = _some(rng, rests, most - len(empty) - len(motions))
    return tuple(sorted([*rests, *empty, *motions]))


def _state(things: Sequence[Mapping[str, Any]], local_mm: FloatArray) -> _State:
    """The state of a view in whose frame the things' middles are `local_mm` (n, 2)."""
    named: list[tuple[tuple[Any, ...], int]] = []
    seen: Counter[tuple[Any, ...]] = Counter()
    for k in np.flatnonzero(np.abs(local_mm).max(axis=1, initial=0) < VIEW_MM / 2).tolist():
        one = things[k]
        name = (one["key"], one["class"], one.get("card"), tuple(one.get("colours", ())))
        # The indices of a card have one name and come in one order.
        named.append(((*name, seen[name]), k))
        seen[name] += 1
    named.sort(key=repr)
    return _State(tuple(name for name, _ in named), local_mm[[k for _, k in named]])


def _some(rng: np.random.Generator, moments: list[Moment], count: int) -> list[Moment]:
    if len(moments) <= count:
        return moments
    chosen = rng.choice(len(moments), max(0, count), replace=False)
    return [moments[int(k)] for k in np.sort(chosen)]
