"""Payouts due by the cards that lie there now: the round is settled before it is over.

Seats are read as they are turned up. What has not been read yet is undecided, never guessed;
the verdict on the round is the audit's, once the round is decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from settlement.cards import by_rank, labels, parse_cards
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS, DealerRecord, RoundRecord, SeatRecord, WagerRecord
from settlement.result import SeatSettlement, Settlement
from settlement.rules import TableRules
from settlement.ruling import money
from settlement.settle import settle
from surveillance.reports.cards_view import wager_name
from surveillance.web.schemas.room import DueNow, HouseWayNow, SeatNow
from vision.geometry.table import TableFile, load_table

_CARDS = frozenset(DECK_LABELS)
_OUTCOMES = {"lose": "take", "push": "leave"}


class RulesOfTables:
    """Table files and the rules in them, read again when a file changes."""

    def __init__(self) -> None:
        self._read: dict[Path, tuple[float, TableFile | None]] = {}

    def get(self, path: Path) -> TableRules | None:
        """The rules of a table file; None when it cannot be read."""
        table = self.table(path)
        return None if table is None else table.rules

    def table(self, path: Path) -> TableFile | None:
        """A table file; None when it cannot be read."""
        try:
            changed = path.stat().st_mtime
        except OSError:
            return None
        known = self._read.get(path)
        if known is None or known[0] != changed:
            try:
                known = (changed, load_table(path))
            except FeltwatchError:
                known = (changed, None)
            self._read[path] = known
        return known[1]


def seats_now(
    seats: Sequence[Mapping[str, Any]], rules: TableRules | None, table: str
) -> tuple[tuple[SeatNow, ...], HouseWayNow | None]:
    """Return what lies at each seat (`live.states.SeatNow` as JSON), with what is due there."""
    settlement = None
    if rules is not None:
        try:
            settlement = settle(_record(seats, rules, table), rules)
        except (FeltwatchError, ValueError):
            settlement = None
    settled = {s.seat: s for s in settlement.seats} if settlement else {}
    shown = tuple(_seat(seat, settlement, settled.get(seat["seat"] or 0)) for seat in seats)
    return shown, _house_way(settlement)


def _record(seats: Sequence[Mapping[str, Any]], rules: TableRules, table: str) -> RoundRecord:
    dealer = next((s for s in seats if s["seat"] is None), None)
    return RoundRecord(
        round_id="now",
        table=table,
        game=rules.game,
        dealer=DealerRecord(
            low=_whole(dealer["low"], 2) if dealer else None,
            high=_whole(dealer["high"], 5) if dealer else None,
        ),
        seats=tuple(
            SeatRecord(
                seat=seat["seat"],
                low=_whole(seat["low"], 2),
                high=_whole(seat["high"], 5),
                lammers=tuple(seat["lammers"]),
                wagers=tuple(
                    WagerRecord(wager=name, stake_cents=cents)
                    for name, cents in seat["stakes"].items()
                ),
            )
            for seat in seats
            if seat["seat"] is not None
        ),
    )


def _whole(labels: Sequence[str], size: int) -> tuple[str, ...] | None:
    """A hand that is there whole; a part of one says nothing yet."""
    return tuple(labels) if len(labels) == size and set(labels) <= _CARDS else None


def _seat(
    seat: Mapping[str, Any], settlement: Settlement | None, settled: SeatSettlement | None
) -> SeatNow:
    named = settlement.dealer if settlement and seat["seat"] is None else settled
    main = settled.wager("main") if settled else None
    low, high = (named.low, named.high) if named else (None, None)
    return SeatNow(
        seat=seat["seat"],
        low=low.cards if low else tuple(seat["low"]),
        high=high.cards if high else tuple(seat["high"]),
        low_name=low.name if low else "",
        high_name=high.name if high else "",
        backs=seat["backs"],
        stakes=dict(seat["stakes"]),
        pays=dict(seat["pays"]),
        lammers=tuple(word.upper() for word in seat["lammers"]),
        result=(main.outcome or "") if main else "",
        foul=(settled.foul_reason or "") if settled else "",
        due=tuple(
            DueNow(
                wager=due.wager,
                name=wager_name(due.wager),
                stake_cents=due.stake_cents,
                paid_cents=seat["pays"].get(due.wager),
                words=_words(due.outcome, due.pay_cents, due.undecided),
                outcome=due.outcome,
                rule=str(due.rule) if due.rule else "",
                why=due.why or due.undecided or "",
            )
            for due in (settled.wagers if settled else ())
        ),
    )


def _words(outcome: str | None, pay_cents: int | None, undecided: str | None) -> str:
    if outcome is None:
        return undecided or "not decided yet"
    if outcome == "win":
        return "pay, sum not known" if pay_cents is None else f"pay {money(pay_cents, short=True)}"
    return _OUTCOMES[outcome]


def _house_way(settlement: Settlement | None) -> HouseWayNow | None:
    if settlement is None:
        return None
    dealer = settlement.dealer
    way = dealer.house_way
    if way is None:
        words = dealer.undecided or dealer.house_way_undecided or "not read yet"
        return HouseWayNow(kind="undecided", words=words)
    reason = f"{way.why} ({way.rule})"
    if dealer.matches is None:
        return HouseWayNow(kind="undecided", words=reason)
    if dealer.matches:
        return HouseWayNow(kind="ok", words=reason)
    return HouseWayNow(
        kind="high", words=reason, low=_high_first(way.low), high=_high_first(way.high)
    )


def _high_first(cards: Sequence[str]) -> tuple[str, ...]:
    return labels(by_rank(parse_cards(cards)))
