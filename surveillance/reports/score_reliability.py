"""Reliability of stated probabilities: how often the likeliest sum of a record is the true one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from models.intervals import wilson
from surveillance.reports.score import MoneyRead
from surveillance.reports.score_views import HEIGHTS, ROLES, height_group, rounded

LIMITS = (0.0, 0.5, 0.7, 0.9, 0.97, 0.99, 0.999)
"""Where the bins of probability begin."""


@dataclass
class Bin:
    """Sums stated with a probability from `low` to below `high` (the last one: up to 1)."""

    low: float
    high: float | None
    count: int = 0
    right: int = 0
    _total: float = 0.0

    @property
    def mean(self) -> float | None:
        """The mean of the stated probabilities; None of an empty bin."""
        return self._total / self.count if self.count else None

    @property
    def title(self) -> str:
        """The bin's range as text."""
        return f"{self.low:g}+" if self.high is None else f"{self.low:g}-{self.high:g}"

    def note(self, probability: float, right: bool) -> None:
        """Count one sum."""
        self.count += 1
        self.right += right
        self._total += probability


def _bins() -> list[Bin]:
    return [Bin(*pair) for pair in zip(LIMITS, (*LIMITS[1:], None), strict=True)]


@dataclass
class Reliability:
    """The bins of all sums, and of those of each group of heights."""

    bins: list[Bin] = field(default_factory=_bins)
    by_height: dict[str, list[Bin]] = field(
        default_factory=lambda: {name: _bins() for name in HEIGHTS}
    )

    @property
    def count(self) -> int:
        """Sums in all bins."""
        return sum(one.count for one in self.bins)


def reliability(money: Iterable[MoneyRead]) -> dict[str, Reliability]:
    """The bins of stakes, of payouts and of both; readings without stated sums are left out."""
    found = {name: Reliability() for name in ROLES}
    for one in money:
        if not one.sums:
            continue
        cents, probability = max(one.sums, key=lambda pair: pair[1])
        number = max(k for k, low in enumerate(LIMITS) if probability >= low)
        for name, roles in ROLES.items():
            if one.role in roles:
                found[name].bins[number].note(probability, cents == one.cents)
                if one.chips:
                    group = found[name].by_height[height_group(one.chips)]
                    group[number].note(probability, cents == one.cents)
    return found


def reliability_form(found: Mapping[str, Reliability]) -> dict[str, dict[str, Any]]:
    """The form of the JSON report."""
    return {
        name: {
            "bins": [_form(one) for one in own.bins],
            "by_height": {group: [_form(b) for b in bins] for group, bins in own.by_height.items()},
        }
        for name, own in found.items()
    }


def _form(one: Bin) -> dict[str, Any]:
    return {
        "from": one.low,
        "below": one.high,
        "count": one.count,
        "right": one.right,
        "mean": None if one.mean is None else round(one.mean, 5),
        "right_interval": rounded(wilson(one.right, one.count)),
    }
