"""Pays from jackpot meters: percentages, several hits in one round, reseeding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from settlement.result import MeterSettlement
from settlement.rules import Progressive
from settlement.wager_state import Due, Play

_BEFORE = "a hand that is not known may have hit the same meter"


@dataclass(slots=True)
class _Meter:
    """One level of a jackpot while the round is settled, with its hits and their percents."""

    wager: str
    level: int
    start: int
    now: int | None
    paid: int = 0
    reseeded: int = 0
    hits: list[tuple[Due, int]] = field(default_factory=list)


def pay_jackpots(play: Play, dues: Sequence[Sequence[Due]]) -> tuple[MeterSettlement, ...]:
    """Compute every percent payout of a round; return what the meters paid.

    Hits are taken in the order the dealer settles, each from the meter as it stands, and a
    100% payout reseeds it (reading ST-7 and its options). House jackpots pay the displayed
    prize out of the house's money, and the display stays.
    """
    settled: list[MeterSettlement] = []
    for wager, progressive in play.terms.progressives.items():
        mine = [_named(dues[i], wager) for i in play.settling_order]
        meters: dict[int, _Meter | None] = {}
        unsure = False
        for due in mine:
            if due is None:
                continue
            pay = due.ruling.pay
            if pay is not None and pay.from_meter:
                level = pay.level or 1
                if level not in meters:
                    meters[level] = _meter(play, wager, level)
                _hit(due, pay.percent, meters[level], unsure)
            unsure = unsure or _may_hit(due)
        for meter in meters.values():
            if meter is not None and meter.hits:
                settled.append(_settle_meter(play, progressive, meter))
    return tuple(settled)


def _named(dues: Sequence[Due], wager: str) -> Due | None:
    return next((due for due in dues if due.name == wager), None)


def _may_hit(due: Due) -> bool:
    """Whether a hand that is not fully known may take from a meter."""
    return due.ruling.outcome is None or (due.ruling.outcome == "win" and due.ruling.pay is None)


def _meter(play: Play, wager: str, level: int) -> _Meter | None:
    for meter in play.record.meters or ():
        if (meter.wager, meter.level) == (wager, level):
            return _Meter(wager, level, meter.cents, meter.cents)
    return None


def _hit(due: Due, percent: int, meter: _Meter | None, unsure: bool) -> None:
    if meter is None:
        due.undecided = "what the jackpot meter showed is not in the record"
    elif unsure:
        due.undecided = _BEFORE
    else:
        meter.hits.append((due, percent))


def _settle_meter(play: Play, progressive: Progressive, meter: _Meter) -> MeterSettlement:
    if progressive.kind == "house":
        for due, percent in meter.hits:
            due.cents = meter.start * percent // 100
        return MeterSettlement(
            wager=meter.wager,
            level=meter.level,
            before_cents=meter.start,
            paid_cents=0,
            after_cents=meter.start,
        )
    if play.rules.readings.percent_hits == "settling_order":
        _in_order(progressive, meter)
    else:
        shared = play.rules.readings.percent_hits == "split_equally"
        _from_the_start(progressive, meter, shared)
    return MeterSettlement(
        wager=meter.wager,
        level=meter.level,
        before_cents=meter.start,
        paid_cents=meter.paid,
        reseed_cents=meter.reseeded,
        after_cents=meter.now,
    )


def _in_order(progressive: Progressive, meter: _Meter) -> None:
    for due, percent in meter.hits:
        if meter.now is None:
            due.undecided = "the meter was hit before, and its reseed is not in the table file"
            continue
        due.cents = due.meter_cents = meter.now * percent // 100
        meter.now -= due.cents
        meter.paid += due.cents
        if percent == 100:
            _reseed(progressive, meter)


def _reseed(progressive: Progressive, meter: _Meter) -> None:
    seed = progressive.seed(meter.level)
    if seed is None:
        meter.now = None
        return
    meter.reseeded += seed - (meter.now or 0)
    meter.now = seed


def _from_the_start(progressive: Progressive, meter: _Meter, shared: bool) -> None:
    """Each hit from the meter at the start; what it can't give comes from the house."""
    alike = Counter(percent for _, percent in meter.hits)
    left = meter.start
    for due, percent in meter.hits:
        due.cents = meter.start * percent // (100 * (alike[percent] if shared else 1))
        due.meter_cents = min(due.cents, left)
        left -= due.meter_cents
    meter.paid, meter.now = meter.start - left, left
    if alike[100]:
        _reseed(progressive, meter)
