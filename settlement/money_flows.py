"""Who pays whom in a settled round: players, house, banker and jackpot meters.

Every flow has two ends, so the sum over all parties is zero. Wagers that are not decided
have no flow yet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from settlement.result import Settlement, WagerSettlement

HOUSE = "house"


@dataclass(frozen=True, slots=True)
class Flow:
    """Money from one party to another: 'house', 'seat 3' or 'meter WAGER, level 1'.

    >>> Flow("seat 3", "house", 2500, "main lost").cents
    2500
    """

    payer: str
    payee: str
    cents: int
    why: str


def flows(settlement: Settlement) -> tuple[Flow, ...]:
    """Every flow of a round, as it should be; none of 0 cents."""
    return tuple(flow for flow in _flows(settlement) if flow.cents)


def balances(settlement: Settlement) -> dict[str, int]:
    """What each party wins (or, below 0, loses) in cents; the sum is 0.

    >>> from settlement.result import DealerSettlement, SeatSettlement
    >>> lost = WagerSettlement(wager="main", stake_cents=2500, outcome="lose", pay_cents=0,
    ...                        stake_returned=False)
    >>> balances(Settlement(round_id="r", table="t", game="g", dealer=DealerSettlement(),
    ...                     seats=(SeatSettlement(seat=3, wagers=(lost,)),)))
    {'seat 3': -2500, 'house': 2500}
    """
    sums: Counter[str] = Counter()
    for flow in flows(settlement):
        sums[flow.payer] -= flow.cents
        sums[flow.payee] += flow.cents
    return dict(sums)


def _flows(settlement: Settlement) -> Iterator[Flow]:
    banker = None if settlement.banker is None else f"seat {settlement.banker.seat}"
    for seat in settlement.seats:
        for wager in seat.wagers:
            bank = banker if banker and wager.wager == "main" else HOUSE
            yield from _wager(f"seat {seat.seat}", bank, wager)
    for wager in settlement.dealer.wagers:
        yield from _wager(HOUSE, banker or HOUSE, wager)
    if settlement.banker is not None and banker is not None:
        yield Flow(banker, HOUSE, settlement.banker.commission_cents, "commission of the bank")
    for meter in settlement.meters:
        yield Flow(HOUSE, _meter(meter.wager, meter.level), meter.reseed_cents, "reseed")


def _meter(wager: str, level: int) -> str:
    return f"meter {wager}, level {level}"


def _wager(player: str, bank: str, wager: WagerSettlement) -> Iterator[Flow]:
    name, stake = wager.wager, wager.stake_cents or 0
    if wager.outcome is None or wager.pay_cents is None:
        return
    if not wager.stake_returned:
        yield Flow(player, bank, stake, f"{name}: stake kept")
    from_bank = wager.pay_cents + wager.commission_cents - wager.meter_cents
    yield Flow(bank, player, from_bank, f"{name}: pay")
    if wager.meter_cents:
        source = _meter(name, wager.meter_level or 1)
        yield Flow(source, player, wager.meter_cents, f"{name}: pay from the meter")
    yield Flow(player, HOUSE, wager.commission_cents, f"{name}: commission")
