"""What jackpot meters show in the course of a shift, and the pays drawn for a round."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from settlement.games import Terms
from settlement.record import DynamicPay, Meter
from settlement.result import Settlement

_SHARE = 0.22
"""So much of a coin goes to a meter."""


@dataclass
class Meters:
    """The meters of a table's jackpots, by wager and level, in cents."""

    terms: Terms
    rng: random.Random
    cents: dict[tuple[str, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Let each meter stand somewhere over its seed."""
        for wager, progressive in self.terms.progressives.items():
            levels = {row.level or 1 for row in self.terms.tables[wager].rows if row.percent}
            for level in sorted(levels):
                seed = progressive.seed(level) or 100000
                self.cents[wager, level] = int(seed * self.rng.uniform(1.0, 2.5))

    def shown(self, coins: Mapping[str, int]) -> tuple[Meter, ...]:
        """The meters once a round's coins are in."""
        for (wager, level), cents in self.cents.items():
            levels = sum(1 for other, _ in self.cents if other == wager)
            self.cents[wager, level] = cents + int(coins.get(wager, 0) * _SHARE / levels)
        return tuple(
            Meter(wager=wager, level=level, cents=cents)
            for (wager, level), cents in self.cents.items()
        )

    def paid(self, settled: Settlement) -> None:
        """Take out what a round paid, and reseed."""
        for meter in settled.meters:
            if meter.after_cents is not None:
                self.cents[meter.wager, meter.level] = meter.after_cents

    def dynamic(self, rng: random.Random) -> tuple[DynamicPay, ...]:
        """One to three of the fixed payouts drawn again (002, Appendix G, note 4)."""
        for wager in sorted(self.terms.dynamic):
            rows = [row for row in self.terms.tables[wager].rows if row.dynamic_cents]
            drawn = rng.sample(rows, rng.randint(1, min(3, len(rows))))
            return tuple(
                DynamicPay(category=row.category, pay_cents=rng.choice(row.dynamic_cents))
                for row in rows
                if row in drawn
            )
        return ()
