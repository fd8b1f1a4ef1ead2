"""How the cameras see every stack that lies as a stake or payout, from the shift's geometry.

The outlines are those that the frames are drawn with; a stack hides what lies farther from the
point under the camera, as it is painted. Moments in which an arm is over the felt do not count
for a stack that also lies at another time: what is taken up with one movement of a hand would
else leave the stack behind it in view for a fraction of a second.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
import numpy.typing as npt

from datasets.render.camera import SyntheticCamera
from datasets.render.chips import chip_places, stack_hull_rings
from datasets.render.scene import MarkerItem, Reach, ShiftPlan, StackItem
from datasets.simulate.chipwork import value_cents
from datasets.simulate.filming.stack_lines import Role, StackLine, StackView
from vision.geometry.table import CHIP_DIAMETER_MM, CHIP_THICKNESS_MM, FloatArray, TableFile

STILL_S = 0.3
"""Arms that leave the felt free for less than this count as one."""

GRID = 40
"""So many sample points across and up a silhouette's bounding box."""

FOOT_HIDDEN = 0.5

CHIP_COVERED = 0.7
"""A chip is covered where higher ones of its stack hide more than this of its near side: no camera
that stands there sees it, a stack with one chip fewer looks the same."""

_KEY = re.compile(r"r(\d+)\.(\d+|house)\.(\w+)\.(stake|paid|prize)(?:(\d+)-)?\d+")
_NO_WAGERS = {"bank"}
"""A banker's net win or loss is laid before the seat, as no wager's payout."""

Solid = StackItem | MarkerItem
Views = dict[str, tuple[float, float]]
"""By camera: the fraction of the silhouette and of the lowest chip's near side that is hidden."""


@dataclass(frozen=True)
class _Owner:
    """What a stack's key says of it."""

    number: int
    seat: int | None
    wager: str
    role: Role
    laying: int

    @classmethod
    def parse(cls, key: str) -> _Owner | None:
        """None for chips that are neither a stake nor a payout."""
        found = _KEY.fullmatch(key)
        if found is None or found[3] in _NO_WAGERS:
            return None
        return cls(
            number=int(found[1]),
            seat=int(found[2]) if found[2].isdecimal() else None,
            wager=found[3],
            role="stake" if found[4] == "stake" else "paid",
            laying=int(found[5] or 1),
        )


@dataclass(frozen=True)
class _Outline:
    """A solid in one camera's image: convex hull (n, 2) px, its box, its distance (mm)."""

    hull: FloatArray
    low: FloatArray
    high: FloatArray
    far_mm: float

    @classmethod
    def of(cls, item: Solid, camera: SyntheticCamera, from_mm: float = 0.0) -> _Outline:
        """The outline of a stack or marker that stands on the felt, or so high over it."""
        rings = stack_hull_rings(item) if isinstance(item, StackItem) else _marker_rings(item)
        px = np.vstack([camera.project(ring, from_mm + height) for ring, height in rings])
        hull = cv2.convexHull(px.astype(np.float32)).reshape(-1, 2).astype(np.float64)
        far = math.dist(item.center_mm, camera.foot_mm)
        return cls(hull, hull.min(axis=0), hull.max(axis=0), far)

    def hides(self, other: _Outline) -> bool:
        """Whether it stands nearer and may cover a part of the other."""
        if self.far_mm >= other.far_mm:
            return False
        return bool((self.low < other.high).all() and (other.low < self.high).all())

    def holds(self, points: FloatArray) -> npt.NDArray[np.bool_]:
        """Which of the points (n, 2) px lie in it."""
        start = self.hull
        edge = np.roll(start, -1, axis=0) - start
        away = points[:, None] - start[None]
        side = edge[None, :, 0] * away[..., 1] - edge[None, :, 1] * away[..., 0]
        inside = np.logical_or((side >= 0).all(axis=1), (side <= 0).all(axis=1))
        return np.asarray(inside, np.bool_)


@dataclass
class _Lying:
    """A stack of a wager while it lies, with what may hide it by camera."""

    item: StackItem
    owner: _Owner
    t0_s: float
    outlines: Mapping[str, _Outline]
    points: Mapping[str, tuple[FloatArray, FloatArray]]
    covers: dict[str, set[str]]
    calm: Views | None = None
    any: Views | None = None
    _known: dict[tuple[str, frozenset[str]], tuple[float, float]] = field(default_factory=dict)

    def note(self, solids: Mapping[str, Mapping[str, _Outline]], calm: bool) -> None:
        """Take what hides it in a moment into account."""
        now = {name: self._hidden(name, solids) for name in self.outlines}
        self.any = _least(self.any, now)
        if calm:
            self.calm = _least(self.calm, now)

    def _hidden(
        self, name: str, solids: Mapping[str, Mapping[str, _Outline]]
    ) -> tuple[float, float]:
        covers = frozenset(self.covers[name])
        if not covers:
            return 0.0, 0.0
        if (name, covers) not in self._known:
            whole, foot = (
                float(np.any([solids[key][name].holds(points) for key in covers], axis=0).mean())
                for points in self.points[name]
            )
            self._known[name, covers] = (whole, foot)
        return self._known[name, covers]


def stack_lines(
    plan: ShiftPlan, table: TableFile, cameras: Mapping[str, SyntheticCamera]
) -> list[StackLine]:
    """Every stack that lies as a stake or payout of the plan's rounds, in order of time.

    What still lies at the plan's end lies until then.
    """
    rounds = {int(r.round_id.rsplit("-", 1)[1]): r.round_id for r in plan.rounds}
    busy = _busy(plan.reaches)
    solids: dict[str, dict[str, _Outline]] = {}
    lying: dict[str, _Lying] = {}
    found: list[tuple[_Lying, float]] = []
    ends = [change.t_s for change in plan.changes[1:]] + [plan.duration_s]
    for change, end in zip(plan.changes, ends, strict=True):
        for key in change.remove:
            if solids.pop(key, None) is not None:
                for one in lying.values():
                    for covers in one.covers.values():
                        covers.discard(key)
            if key in lying:
                found.append((lying.pop(key), change.t_s))
        for item in change.put:
            if not isinstance(item, StackItem | MarkerItem):
                continue
            outlines = {name: _Outline.of(item, camera) for name, camera in cameras.items()}
            for one in lying.values():
                for name, outline in outlines.items():
                    if outline.hides(one.outlines[name]):
                        one.covers[name].add(item.key)
            owner = _Owner.parse(item.key)
            if isinstance(item, StackItem) and owner is not None and owner.number in rounds:
                lying[item.key] = _lay(item, owner, change.t_s, outlines, cameras, solids)
            solids[item.key] = outlines
        if end > change.t_s:
            calm = _is_calm(busy, change.t_s, end)
            for one in lying.values():
                one.note(solids, calm)
    found += [(one, plan.duration_s) for one in lying.values()]
    found.sort(key=lambda pair: (pair[0].t0_s, pair[0].item.key))
    return [_line(one, end, rounds[one.owner.number], table, cameras) for one, end in found]


def _lay(
    item: StackItem, owner: _Owner, t_s: float, outlines: Mapping[str, _Outline],
    cameras: Mapping[str, SyntheticCamera], solids: Mapping[str, Mapping[str, _Outline]],
) -> _Lying:  # fmt: skip
    covers = {
        name: {key for key, other in solids.items() if other[name].hides(outline)}
        for name, outline in outlines.items()
    }
    points = {
        name: (_samples(outline), _side_samples(item, cameras[name]))
        for name, outline in outlines.items()
    }
    return _Lying(item, owner, t_s, outlines, points, covers)


def _line(
    one: _Lying, end_s: float, round_id: str, table: TableFile,
    cameras: Mapping[str, SyntheticCamera],
) -> StackLine:  # fmt: skip
    item, owner = one.item, one.owner
    hidden = one.calm or one.any or dict.fromkeys(cameras, (0.0, 0.0))
    return StackLine(
        round_id=round_id, seat=owner.seat, wager=owner.wager, role=owner.role, key=item.key,
        laying=owner.laying, cents=value_cents(item.colours, table.chips),
        chips=len(item.colours), colours=len(set(item.colours)),
        lean_mm=round(math.hypot(*item.lean_mm), 2), untidy=item.untidy,
        t0_s=f"{one.t0_s:.3f}", t1_s=f"{end_s:.3f}",
        cameras={
            name: StackView(
                px_per_chip=round(_px_per_chip(item, camera), 3),
                hidden=round(hidden[name][0], 3),
                foot_hidden=hidden[name][1] > FOOT_HIDDEN,
                chips_covered=_chips_covered(item, camera),
            )
            for name, camera in cameras.items()
        },
    )  # fmt: skip


def _px_per_chip(item: StackItem, camera: SyntheticCamera) -> float:
    at = np.array([item.center_mm, item.center_mm])
    low, high = camera.project(at, np.array([0.0, CHIP_THICKNESS_MM]))
    return float(np.hypot(*(high - low)))


def _marker_rings(item: MarkerItem) -> list[tuple[FloatArray, float]]:
    turn = np.linspace(0, 2 * math.pi, 24, endpoint=False)
    ring = np.column_stack([np.cos(turn), np.sin(turn)]) * item.diameter_mm / 2
    at = ring + np.asarray(item.center_mm)
    return [(at, 0.0), (at, item.height_mm)]


def _samples(outline: _Outline) -> FloatArray:
    """Points (n, 2) px spread evenly over an outline."""
    steps = (np.arange(GRID) + 0.5) / GRID
    x, y = np.meshgrid(*(low + steps * (high - low) for low, high in
                         zip(outline.low, outline.high, strict=True)))  # fmt: skip
    points = np.column_stack([x.ravel(), y.ravel()])
    return points[outline.holds(points)]


def _side_samples(item: StackItem, camera: SyntheticCamera, level: int = 0) -> FloatArray:
    """Points (n, 2) px spread over the side that a chip, the lowest is 0, turns to the camera."""
    (x, y) = chip_places(item)[0][level]
    facing = math.atan2(camera.foot_mm[1] - y, camera.foot_mm[0] - x)
    turn = facing + np.arcsin(np.linspace(-0.98, 0.98, 25))
    ring = np.column_stack([np.cos(turn), np.sin(turn)]) * CHIP_DIAMETER_MM / 2 + (x, y)
    heights = (np.array([0.1, 0.3, 0.5, 0.7, 0.9]) + level) * CHIP_THICKNESS_MM
    return camera.project(np.tile(ring, (len(heights), 1)), np.repeat(heights, len(ring)))


def _chips_covered(item: StackItem, camera: SyntheticCamera) -> int:
    """How many chips of a stack higher ones cover."""
    places = chip_places(item)[0]
    chips = [
        _Outline.of(
            StackItem(f"{item.key}.{level}", at, (colour,)), camera, level * CHIP_THICKNESS_MM
        )
        for level, (at, colour) in enumerate(zip(places, item.colours, strict=True))
    ]
    covered = 0
    for level in range(len(chips) - 1):
        points = _side_samples(item, camera, level)
        hidden = np.any([chip.holds(points) for chip in chips[level + 1 :]], axis=0)
        covered += bool(hidden.mean() > CHIP_COVERED)
    return covered


def _least(so_far: Views | None, now: Views) -> Views:
    if so_far is None:
        return now
    return {
        name: (min(whole, so_far[name][0]), min(foot, so_far[name][1]))
        for name, (whole, foot) in now.items()
    }


def _busy(reaches: Sequence[Reach]) -> list[tuple[float, float]]:
    """Spans in which an arm is over the felt, apart from each other by `STILL_S` or more."""
    spans: list[tuple[float, float]] = []
    for t0, t1 in sorted((reach.t0_s, reach.t1_s) for reach in reaches):
        if spans and t0 - spans[-1][1] < STILL_S:
            spans[-1] = (spans[-1][0], max(spans[-1][1], t1))
        else:
            spans.append((t0, t1))
    return spans


def _is_calm(busy: Sequence[tuple[float, float]], t0_s: float, t1_s: float) -> bool:
    """Whether no arm is over the felt at some time between."""
    at = bisect_right(busy, (t0_s, math.inf)) - 1
    return at < 0 or busy[at][1] < t1_s
