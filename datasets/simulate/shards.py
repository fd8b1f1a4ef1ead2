"""Cutting a planned shift between rounds, so that several processes film it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from datasets.render.scene import Change, FeltState, ShiftPlan
from settlement.errors import FeltwatchError


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `number` of `count` of a shift, counted from 1.

    >>> Shard.parse("2/4").suffix
    '-2-of-4'
    """

    number: int = 1
    count: int = 1

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read 'I/N'; raises FeltwatchError when it is no part of a whole."""
        first, _, last = text.partition("/")
        if not (first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last)):
            raise FeltwatchError(f"--shard {text}: write I/N with I from 1 to N, such as 2/4")
        return cls(int(first), int(last))

    @property
    def suffix(self) -> str:
        """What marks this part's files; nothing where the shift is whole."""
        if self.count == 1:
            return ""
        wide = len(str(self.count))
        return f"-{self.number:0{wide}d}-of-{self.count}"

    def rounds(self, total: int) -> range:
        """The part's rounds, counted from 0; raises FeltwatchError when it has none."""
        if self.count > total:
            raise FeltwatchError(
                f"--shard {self.number}/{self.count}: a shift of {total} rounds has at most "
                f"{total} shards"
            )
        return range(total * (self.number - 1) // self.count, total * self.number // self.count)


def cut_s(plan: ShiftPlan, before: int, fps: int) -> float:
    """A time between two rounds, on an image, when no arm is over the felt.

    `before` is the round, counted from 0, that begins after it; 0 is the shift's start.
    """
    if before == 0:
        return 0.0
    end = float(plan.rounds[before - 1].end_s or 0)
    off = max((r.t1_s for r in plan.reaches if r.t0_s <= end <= r.t1_s), default=end)
    return math.ceil((off + 0.05) * fps) / fps


def part_of(plan: ShiftPlan, shard: Shard, fps: int) -> tuple[ShiftPlan, float, float]:
    """The part of a plan, with the shift's own times, and when it begins and ends (s).

    What lies on the felt at its beginning is laid by its first change.
    """
    own = shard.rounds(len(plan.rounds))
    t0 = cut_s(plan, own.start, fps)
    last = own.stop == len(plan.rounds)
    t1 = plan.duration_s if last else cut_s(plan, own.stop, fps)
    state = FeltState()
    for change in plan.changes:
        if change.t_s < t0:
            state.apply(change)
    standing = Change(t0, put=tuple(state.items.values()))
    part = replace(
        plan,
        duration_s=t1,
        changes=(
            *([standing] if standing.put else []),
            *(change for change in plan.changes if t0 <= change.t_s < t1),
        ),
        reaches=tuple(reach for reach in plan.reaches if reach.t1_s > t0 and reach.t0_s < t1),
        rounds=plan.rounds[own.start : own.stop],
        events=tuple(event for event in plan.events if t0 <= event.t0_s < t1),
    )
    return part, t0, t1


def from_zero(plan: ShiftPlan, t0_s: float) -> ShiftPlan:
    """The plan with its times counted from `t0_s`, as a film counts them."""
    if not t0_s:
        return plan
    return replace(
        plan,
        duration_s=plan.duration_s - t0_s,
        changes=tuple(replace(change, t_s=change.t_s - t0_s) for change in plan.changes),
        reaches=tuple(
            replace(reach, t0_s=reach.t0_s - t0_s, t1_s=reach.t1_s - t0_s) for reach in plan.reaches
        ),
    )
