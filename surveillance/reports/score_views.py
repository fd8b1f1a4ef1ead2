"""Stakes and payouts right, wrong and undecided by how their stacks are seen.

A wager's stake or payout of several stacks counts by its worst: the lowest chip in px, the
tallest, the most hidden stack. It is right when its sum is right to the cent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from datasets.simulate.filming.stack_lines import StackLine, StackView
from models.intervals import wilson
from surveillance.reports.score import MoneyRead, Tally

Cameras = Literal["first", "all"]

HEIGHTS = {
    "1-2": range(1, 3), "3-5": range(3, 6), "6-10": range(6, 11), "11-20": range(11, 21),
    "21+": range(21, 10_000),
}  # fmt: skip
"""Groups of heights in chips."""

_PX = {"<2.5": 2.5, "2.5-3": 3.0, "3-4": 4.0, "4-6": 6.0, "6+": float("inf")}
_UPRIGHT_MM = 1.0
_IN_VIEW, _MOSTLY = 0.05, 0.5
_HIDDEN = ("in view", "partly", "foot hidden", "mostly")
AIM_PX = 3.0

ROLES = {"stakes": ("stake",), "pays": ("paid",), "both": ("stake", "paid")}


def height_group(chips: int) -> str:
    """The group of a stack of so many chips.

    >>> height_group(10), height_group(30)
    ('6-10', '21+')
    """
    return next((name for name, heights in HEIGHTS.items() if chips in heights), "21+")


@dataclass(frozen=True)
class Seen:
    """How the stacks of a stake or payout are seen, the worst of them."""

    px_per_chip: float
    hidden: int
    chips: int
    colours: int
    lean: str
    stacks: int
    covered: int

    @classmethod
    def of(cls, stacks: tuple[StackLine, ...], cameras: Cameras) -> Seen:
        """The worst of all; of each stack by the first camera, or by the one that sees it best.

        That is the camera in whose image least of it is hidden, and of equals the nearest.
        """
        views = [
            one.cameras[""] if cameras == "first" else min(one.cameras.values(), key=_badness)
            for one in stacks
        ]
        lean = "leaning" if max(one.lean_mm for one in stacks) >= _UPRIGHT_MM else "upright"
        return cls(
            px_per_chip=min(view.px_per_chip for view in views),
            hidden=max(_hidden(view) for view in views),
            chips=max(one.chips for one in stacks),
            colours=max(one.colours for one in stacks),
            lean="untidy" if any(one.untidy for one in stacks) else lean,
            stacks=len(stacks),
            covered=max(view.chips_covered for view in views),
        )

    @property
    def aim(self) -> str | None:
        """The group of those that are to be read; None for others."""
        if self.px_per_chip < AIM_PX or self.hidden or self.chips > 20:
            return None
        return "1-10 chips" if self.chips <= 10 else "11-20 chips"


def _hidden(view: StackView) -> int:
    """Which of `_HIDDEN` it is, the worse the higher."""
    if view.hidden > _MOSTLY:
        return 3
    if view.foot_hidden:
        return 2
    return int(view.hidden >= _IN_VIEW)


def _badness(view: StackView) -> tuple[int, float]:
    return _hidden(view), -view.px_per_chip


@dataclass(frozen=True)
class Dimension:
    """One table: its key in JSON, its title, its groups and the group of a stake or payout."""

    key: str
    title: str
    groups: tuple[str, ...]
    of: Callable[[Seen], str | None]


DIMENSIONS = (
    Dimension("px_per_chip", "px per chip", tuple(_PX),
              lambda seen: next(name for name, below in _PX.items() if seen.px_per_chip < below)),
    Dimension("height", "chips", tuple(HEIGHTS), lambda seen: height_group(seen.chips)),
    Dimension("lean", "lean", ("upright", "leaning", "untidy"), lambda seen: seen.lean),
    Dimension("colours", "colours", ("1", "2", "3+"),
              lambda seen: "3+" if seen.colours > 2 else str(seen.colours)),
    Dimension("hidden", "hidden", _HIDDEN, lambda seen: _HIDDEN[seen.hidden]),
    Dimension("covered", "under others", ("none", "some"),
              lambda seen: "some" if seen.covered else "none"),
    Dimension("stacks", "stacks", ("one", "more"),
              lambda seen: "one" if seen.stacks == 1 else "more"),
    Dimension("aim", "≥ 3 px, in view", ("1-10 chips", "11-20 chips"),
              lambda seen: seen.aim),
)  # fmt: skip


@dataclass(frozen=True)
class Views:
    """The tables of a role by dimension and group; `not_listed` have no line in the stacks."""

    tables: Mapping[str, Mapping[str, Tally]]
    not_listed: int


def money_views(money: Iterable[MoneyRead], cameras: Cameras) -> dict[str, Views]:
    """The tables of stakes, of payouts and of both together."""
    every = list(money)
    return {
        name: _views([one for one in every if one.role in roles], cameras)
        for name, roles in ROLES.items()
    }


def _views(money: list[MoneyRead], cameras: Cameras) -> Views:
    tables = {one.key: {group: Tally() for group in one.groups} for one in DIMENSIONS}
    for one in money:
        if not one.stacks:
            continue
        seen = Seen.of(one.stacks, cameras)
        for dimension in DIMENSIONS:
            group = dimension.of(seen)
            if group is not None:
                tables[dimension.key][group].count(one.verdict)
    return Views(tables, sum(not one.stacks for one in money))


def views_form(views: Mapping[str, Views]) -> dict[str, dict[str, Any]]:
    """The form of the JSON report."""
    return {
        name: {
            **{
                key: {group: _tally_form(tally) for group, tally in table.items()}
                for key, table in own.tables.items()
            },
            "not_listed": own.not_listed,
        }
        for name, own in views.items()
    }


def _tally_form(tally: Tally) -> dict[str, Any]:
    return {
        **tally.as_dict(),
        "right_interval": rounded(wilson(tally.right, tally.seen)),
        "wrong_interval": rounded(wilson(tally.wrong, tally.seen)),
    }


def rounded(interval: tuple[float, float]) -> list[float]:
    """An interval in four places.

    >>> rounded((0.123456, 1.0))
    [0.1235, 1.0]
    """
    return [round(limit, 4) for limit in interval]
