"""Which tables are left out when this machine cannot keep up with all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SETTLES_S = 20.0
"""After a table was left out, the others are given so long to recover."""
BACK_S = 60.0
"""A table is taken back when the others had room for so long; it doubles with each relapse ..."""
MOST_BACK_S = 1800.0
"""... up to this."""


@dataclass(frozen=True, slots=True)
class CameraLoad:
    """How a camera's process keeps up: see `vision.sources.load.LoadPlan`."""

    load: float = 0.0
    is_thinned: bool = False
    is_over: bool = False


class LeaveOut:
    """Decides which cameras are left out; `order` names all, the first to be left out first.

    >>> plan = LeaveOut(["b", "a"])
    >>> plan.look(100.0, {"a": CameraLoad(1.0, True, True), "b": CameraLoad(0.9, True, False)})
    ('b',)
    >>> [plan.look(now, {"a": CameraLoad(0.3)}) for now in (130.0, 191.0)]
    [('b',), ()]
    """

    def __init__(self, order: Sequence[str]) -> None:
        self._order = tuple(order)
        self._out: list[str] = []
        self._changed_s = float("-inf")
        self._calm_from_s: float | None = None
        self._back_s = BACK_S
        self._returned_s = float("-inf")

    def look(self, now_s: float, loads: Mapping[str, CameraLoad]) -> tuple[str, ...]:
        """Take the loads of the cameras that run; returns the cameras that are left out."""
        watched = {name: load for name, load in loads.items() if name not in self._out}
        is_over = any(load.is_over for load in watched.values())
        if is_over or any(load.is_thinned for load in watched.values()):
            self._calm_from_s = None
        elif self._calm_from_s is None:
            self._calm_from_s = now_s
        if now_s - self._changed_s < SETTLES_S:
            return tuple(self._out)
        if is_over and len(watched) > 1:
            # The last one is watched as well as it can be.
            self._out.append(next(name for name in self._order if name in watched))
            if now_s - self._returned_s < 2 * self._back_s:
                self._back_s = min(2 * self._back_s, MOST_BACK_S)
            self._changed_s, self._calm_from_s = now_s, None
        elif self._out and self._is_calm(now_s):
            self._out.pop()
            self._changed_s = self._returned_s = now_s
            self._calm_from_s = None
        return tuple(self._out)

    def _is_calm(self, now_s: float) -> bool:
        return self._calm_from_s is not None and now_s - self._calm_from_s >= self._back_s


def leave_out_order(cameras: Sequence[str], first: Sequence[str]) -> list[str]:
    """All cameras, those named `first` before the others, of which the last comes first.

    >>> leave_out_order(["a", "b", "c"], ["b"])
    ['b', 'c', 'a']
    """
    return [*first, *(name for name in reversed(cameras) if name not in first)]
