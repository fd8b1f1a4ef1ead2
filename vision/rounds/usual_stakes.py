"""What people stake at the table: whole multiples of $5 far more often than sums between.

Stakes that were read with confidence are counted over the shift, those of the main wagers and those
of the side wagers apart, by the unit that they are multiples of. What a stake may be is weighed by
how usual such a sum is at this table: chips that may come to $20 or $21 are mostly $20. A table
where people bet otherwise is soon known as one. The due payout is not used, nor what a seat staked
before.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from settlement.games import JACKPOTS
from settlement.record import RoundRecord, Undecided, WagerRecord
from vision.chips.states import PlaceSum
from vision.rounds.payouts import why_not

UNITS = 500, 100
"""Cents that stakes are counted as multiples of: of the first, of the second only, of neither."""

SUMS = 0.2, 0.8, 3.0
"""How many such sums there are for each dollar, with quarters."""

MAIN, SIDE = (9.0, 0.9, 0.1), (4.0, 4.0, 0.1)
"""Stakes of each unit that count as read before the first was. Of no set of images: chosen, as
people bet; side wagers are often $1 to $4."""


def unit_of(cents: int) -> int:
    """The place in `UNITS` of the largest that a sum is a multiple of; after the last: of none."""
    return next((k for k, unit in enumerate(UNITS) if cents % unit == 0), len(UNITS))


@dataclass
class UsualStakes:
    """Stakes counted by their unit, of main wagers and of side wagers.

    >>> round(UsualStakes().weight("main", 2000) / UsualStakes().weight("main", 2100))
    40
    """

    main: list[float] = field(default_factory=lambda: list(MAIN))
    side: list[float] = field(default_factory=lambda: list(SIDE))

    def weight(self, wager: str, cents: int) -> float:
        """How usual a stake is, against any sum of whole dollars."""
        counts, unit = self._counts(wager), unit_of(cents)
        return counts[unit] / sum(counts) / SUMS[unit]

    def weighed(self, record: RoundRecord) -> RoundRecord:
        """The record with its stakes weighed so; those read with confidence are counted."""
        doubts = list(record.undecided)
        read = []
        seats = []
        for seat in record.seats:
            wagers = []
            for wager in seat.wagers:
                before = _sum(wager)
                if before is None:
                    wagers.append(wager)
                    continue
                if before.cents is not None:
                    read.append((wager.wager, before.cents))
                after = self._weighed(wager.wager, before)
                wagers.append(
                    wager.model_copy(
                        update={
                            "stake_cents": after.cents,
                            "stake_sums": after.sums,
                            "read_sums": before.sums,
                        }
                    )
                )
                own = Undecided(seat=seat.seat, what=f"{wager.wager}.stake", why=why_not(before))
                doubts = [doubt for doubt in doubts if doubt != own]
                if after.cents is None:
                    doubts.append(own.model_copy(update={"why": why_not(after)}))
            seats.append(seat.model_copy(update={"wagers": tuple(wagers)}))
        for name, cents in read:
            self._counts(name)[unit_of(cents)] += 1
        return record.model_copy(update={"seats": tuple(seats), "undecided": tuple(doubts)})

    def _counts(self, wager: str) -> list[float]:
        return self.main if wager == "main" else self.side

    def _weighed(self, wager: str, read: PlaceSum) -> PlaceSum:
        # Over all sums that are not listed the weight is 1 on average.
        rest = max(0.0, 1 - sum(share for _, share in read.sums))
        shares = {cents: share * self.weight(wager, cents) for cents, share in read.sums}
        whole = sum(shares.values()) + rest
        ordered = sorted(shares.items(), key=lambda one: -one[1])
        sums = tuple((cents, share / whole) for cents, share in ordered)
        return PlaceSum(sums, read.height, read.cameras, read.is_high)


def _sum(wager: WagerRecord) -> PlaceSum | None:
    """A stake's sum as it was read; None where something else decides it, or it was changed."""
    if not wager.stake_sums or wager.late is not None or wager.wager in JACKPOTS:
        return None
    read = PlaceSum(wager.stake_sums, wager.stake_chips, wager.cameras or ())
    return read if read.cents == wager.stake_cents else None
