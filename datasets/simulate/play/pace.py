"""Shortening the waiting in a shift without changing anything that is seen.

Only stillness in which people wait is cut: no arm moves faster, no rest of the dealer's is
shorter, and everything happens in the same order.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from datasets.render.scene import Reach, ShiftPlan
from datasets.simulate.play.motion import Wait
from settlement.errors import FeltwatchError
from settlement.record import RoundRecord

PACES = (0.02, 3.0)
"""The paces that a shift may be played at; 1 is a table's usual 60 to 120 s a round."""


@dataclass(frozen=True)
class Clock:
    """A map of times to times, in straight pieces; slope 1 before the first and after the last.

    >>> clock = Clock((0.0, 10.0, 20.0), (0.0, 10.0, 12.0))
    >>> clock.at(5.0), clock.at(15.0), clock.at(30.0)
    (5.0, 11.0, 22.0)
    """

    old_s: tuple[float, ...] = (0.0,)
    new_s: tuple[float, ...] = (0.0,)

    def at(self, t_s: float) -> float:
        """The new time of an old one."""
        k = bisect_right(self.old_s, t_s) - 1
        if k < 0:
            return t_s
        gone = t_s - self.old_s[k]
        if k + 1 < len(self.old_s):
            span = self.old_s[k + 1] - self.old_s[k]
            gone *= (self.new_s[k + 1] - self.new_s[k]) / span
        return round(self.new_s[k] + gone, 3)

    def text(self, t_s: str | None) -> str | None:
        """The same for a time as it stands in a record."""
        return None if t_s is None else f"{self.at(float(t_s)):.3f}"


def clock_for(waits: Sequence[Wait], reaches: Sequence[Reach], pace: float) -> Clock:
    """The clock that a pace gives; raises FeltwatchError for a pace that is none."""
    if not PACES[0] <= pace <= PACES[1]:
        raise FeltwatchError(
            f"--pace {pace:g}: a pace lies between {PACES[0]:g} and {PACES[1]:g}; "
            "1 waits as long as people do, 0.35 about a third of it"
        )
    if pace == 1.0:
        return Clock()
    old, new = [0.0], [0.0]
    for t0, t1, floor in _still(waits, reaches):
        length = t1 - t0
        kept = max(min(length, floor), length * pace)
        start = new[-1] + t0 - old[-1]
        old += [t0, t1]
        new += [start, start + kept]
    return Clock(tuple(old), tuple(new))


def _still(waits: Sequence[Wait], reaches: Sequence[Reach]) -> list[tuple[float, float, float]]:
    """The parts (from, to, least length) of the waits in which no arm is over the felt."""
    found: list[tuple[float, float, float]] = []
    busy = sorted((reach.t0_s, reach.t1_s) for reach in reaches)
    first, until = 0, 0.0
    for wait in sorted(waits, key=lambda one: one.t0_s):
        at = max(wait.t0_s, until)
        while first < len(busy) and busy[first][1] < at - 120.0:
            first += 1
        for t0, t1 in busy[first:]:
            if t0 >= wait.t1_s:
                break
            if t0 > at:
                found.append((at, t0, wait.floor_s))
            at = max(at, t1)
        if at < wait.t1_s:
            found.append((at, wait.t1_s, wait.floor_s))
        until = max(until, wait.t1_s)
    return [part for part in found if part[1] - part[0] > 1e-6]


def at_pace(plan: ShiftPlan, waits: Sequence[Wait], pace: float) -> ShiftPlan:
    """The same shift with its waiting shortened (or, above 1, drawn out) to that share."""
    clock = clock_for(waits, plan.reaches, pace)
    if len(clock.old_s) == 1:
        return plan
    return ShiftPlan(
        duration_s=clock.at(plan.duration_s),
        changes=tuple(replace(change, t_s=clock.at(change.t_s)) for change in plan.changes),
        reaches=tuple(
            replace(reach, t0_s=clock.at(reach.t0_s), t1_s=clock.at(reach.t1_s))
            for reach in plan.reaches
        ),
        rounds=tuple(_record(record, clock) for record in plan.rounds),
        events=tuple(
            replace(event, t0_s=clock.at(event.t0_s), t1_s=clock.at(event.t1_s))
            for event in plan.events
        ),
    )


def _record(record: RoundRecord, clock: Clock) -> RoundRecord:
    seats = tuple(
        seat.model_copy(
            update={
                "cards_taken_s": clock.text(seat.cards_taken_s),
                "wagers": tuple(
                    wager
                    if wager.payments is None
                    else wager.model_copy(
                        update={
                            "payments": tuple(
                                pay.model_copy(update={"at_s": clock.text(pay.at_s)})
                                for pay in wager.payments
                            )
                        }
                    )
                    for wager in seat.wagers
                ),
            }
        )
        for seat in record.seats
    )
    faults = tuple(
        fault.model_copy(update={"at_s": clock.text(fault.at_s)}) for fault in record.faults or ()
    )
    dice = record.dice
    if dice is not None:
        dice = dice.model_copy(update={"seen_s": clock.text(dice.seen_s)})
    return record.model_copy(
        update={
            "dice": dice,
            "start_s": clock.text(record.start_s),
            "end_s": clock.text(record.end_s),
            "seats": seats,
            "faults": faults,
        }
    )
