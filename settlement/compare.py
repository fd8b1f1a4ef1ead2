"""Comparing: what lay on the felt against what was due, as findings.

Nothing that a record calls undecided, and nothing that hangs on it, is ever called right
or wrong; each seat, and the dealer, gets at most one UNDECIDED finding that says what was
not judged and why. Main bets are judged by the dealer's hands as they lie on the felt, also
where those are not the house way's (then HOUSE_WAY says so).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from settlement.check import check_record
from settlement.doubt import Doubts
from settlement.errors import FeltwatchError
from settlement.finding import Finding, FindingCode, wager_name
from settlement.games import Game, terms_for
from settlement.games.base import LammerRule
from settlement.record import RoundRecord, SeatRecord, WagerRecord
from settlement.result import HandResult, SeatSettlement, Settlement, WagerSettlement
from settlement.rules import TableRules
from settlement.ruling import Outcome, money
from settlement.seven import is_empty

__all__ = ["Finding", "FindingCode", "compare"]

_VERBS = {"paid": "paid", "taken": "taken", "left": "left in place"}

_WRONG_ACTION: dict[tuple[Outcome, str], FindingCode] = {
    ("win", "left"): FindingCode.NOT_PAID,
    ("win", "taken"): FindingCode.TOOK_WINNER,
    ("push", "paid"): FindingCode.PAID_PUSH,
    ("push", "taken"): FindingCode.TOOK_PUSH,
    ("lose", "paid"): FindingCode.PAID_LOSER,
    ("lose", "left"): FindingCode.NOT_TAKEN,
}


@dataclass
class _Unjudged:
    """What of one seat could not be judged: causes and the wagers concerned."""

    causes: list[str] = field(default_factory=list)
    wagers: list[str] = field(default_factory=list)

    def add(self, cause: str | None, wager: str | None = None) -> None:
        """Note a cause, unless it is noted already, and a wager."""
        if cause and not any(cause.endswith(noted) for noted in self.causes):
            self.causes.append(cause)
        if wager and wager_name(wager) not in self.wagers:
            self.wagers.append(wager_name(wager))


@dataclass(frozen=True)
class _Case:
    record: RoundRecord
    settlement: Settlement
    rules: TableRules
    doubts: Doubts
    game: Game


def compare(record: RoundRecord, settlement: Settlement, rules: TableRules) -> list[Finding]:
    """Every difference between a round as seen and as it should have been settled.

    `settlement` is that of the same record and rules. The dealer's findings come first,
    then the seats' in the record's order. Raises FeltwatchError when the settlement is of
    another record, or the rules name something unknown.
    """
    if [seat.seat for seat in record.seats] != [seat.seat for seat in settlement.seats]:
        raise FeltwatchError(
            f"round {record.round_id}: the settlement of {settlement.round_id} has other seats"
        )
    case = _Case(record, settlement, rules, Doubts(record), terms_for(rules).game)
    problems = check_record(record, rules)
    findings = [
        Finding.of(
            FindingCode.DECK,
            seat=problem.seat,
            seen=problem.reason,
            due="53 different cards, seven to a hand",
            rule="53-card deck",
            message=f"{_place(problem.seat)}: {problem.reason}.",
        )
        for problem in problems
        if problem.code is FindingCode.DECK
    ]
    unjudged: dict[int | None, _Unjudged] = {}
    for problem in problems:
        if problem.code is not FindingCode.DECK:
            unjudged.setdefault(problem.seat, _Unjudged()).add(problem.reason, problem.wager)
    findings += _dealer(case, unjudged.setdefault(None, _Unjudged()))
    for seat, due in zip(record.seats, settlement.seats, strict=True):
        findings += _seat(case, seat, due, unjudged.setdefault(seat.seat, _Unjudged()))
    for entered in case.doubts.seats():
        _entries(case, entered, unjudged.setdefault(entered, _Unjudged()))
    for place in sorted(unjudged, key=lambda seat: seat or 0):
        findings += _undecided(place, unjudged[place])
    return findings


def _place(seat: int | None) -> str:
    return "Dealer" if seat is None else f"Seat {seat}"


def _entries(case: _Case, seat: int | None, unjudged: _Unjudged) -> None:
    for entry in case.doubts.entries(seat):
        unjudged.add(f"{entry.what}: {entry.why}")


def _undecided(seat: int | None, unjudged: _Unjudged) -> Iterator[Finding]:
    if not unjudged.causes:
        return
    causes = "; ".join(unjudged.causes)
    wagers = ", ".join(unjudged.wagers) or "nothing else"
    tail = f" Not judged: {wagers}." if unjudged.wagers else ""
    yield Finding.of(
        FindingCode.UNDECIDED,
        seat=seat,
        seen=causes,
        due=f"not judged: {wagers}",
        rule="what was not read is neither right nor wrong",
        message=f"{_place(seat)} was not fully read: {causes}.{tail}",
    )


def _dealer(case: _Case, unjudged: _Unjudged) -> Iterator[Finding]:
    _entries(case, None, unjudged)
    dealer = case.settlement.dealer
    if dealer.undecided:
        unjudged.add(dealer.undecided)
        unjudged.wagers.append("the house way")
        return
    way = dealer.house_way
    if dealer.matches or way is None:
        return
    low, high = case.record.dealer.low or (), case.record.dealer.high or ()
    seen, due = _set_text(low, high), _set_text(way.low, way.high)
    named = f" ({_names(dealer.low, dealer.high)})" if dealer.low else ""
    yield Finding.of(
        FindingCode.HOUSE_WAY,
        seen=seen,
        due=due,
        rule=way.rule,
        message=f"Dealer set {seen}{named}; the house way is {due}: {way.why}.",
    )


def _set_text(low: tuple[str, ...], high: tuple[str, ...]) -> str:
    return f"{' '.join(low) or 'nothing'} low, {' '.join(high) or 'nothing'} high"


def _names(low: HandResult | None, high: HandResult | None) -> str:
    return f"{low.name if low else '?'}; {high.name if high else '?'}"


def _seat(
    case: _Case, seat: SeatRecord, due: SeatSettlement, unjudged: _Unjudged
) -> Iterator[Finding]:
    _entries(case, seat.seat, unjudged)
    if not is_empty(seat, case.doubts):
        unjudged.add(due.undecided)
    for wager in seat.wagers:
        ruling = due.wager(wager.wager)
        if wager.wager == "envy" or ruling is None:
            continue
        yield from _limit(case, seat, wager)
        yield from _wager(case, seat, due, wager, ruling, unjudged)
    yield from _envy(case, seat, due, unjudged)
    yield from _lammers(case, seat, unjudged)


def _limit(case: _Case, seat: SeatRecord, wager: WagerRecord) -> Iterator[Finding]:
    limit = case.rules.limits.get(wager.wager)
    stake = wager.stake_cents
    if not limit or not stake or case.doubts.wager(seat.seat, wager.wager, "stake"):
        return
    name = wager_name(wager.wager)
    for bound, broken, word in (
        (limit.min_cents, limit.min_cents is not None and stake < limit.min_cents, "minimum"),
        (limit.max_cents, limit.max_cents is not None and stake > limit.max_cents, "maximum"),
    ):
        if bound is None or not broken:
            continue
        side = "under" if word == "minimum" else "over"
        yield Finding.of(
            FindingCode.LIMIT,
            seat=seat.seat,
            wager=wager.wager,
            seen=money(stake),
            due=f"{word} {money(bound)}",
            rule=f"table limits, {wager.wager}, {word}",
            message=f"Seat {seat.seat}, {name}: {money(stake)} is {side} the {word} of "
            f"{money(bound)}.",
        )


def _wager(
    case: _Case,
    seat: SeatRecord,
    due: SeatSettlement,
    wager: WagerRecord,
    ruling: WagerSettlement,
    unjudged: _Unjudged,
) -> Iterator[Finding]:
    name = wager.wager
    if ruling.undecided:
        unjudged.add(ruling.undecided, name)
    if ruling.hand_pay:
        yield _hand_pay(seat.seat, ruling)
    if ruling.outcome is None or ruling.stake_cents == 0:
        return
    doubt = case.doubts.wager(seat.seat, name, "action")
    if doubt or wager.action is None:
        unjudged.add(doubt or f"{name}: what was done is not known", name)
        return
    if ruling.outcome == "win" and wager.action == "paid":
        yield from _pay(case, seat, wager, ruling, unjudged)
        return
    code = _WRONG_ACTION.get((ruling.outcome, wager.action))
    if code is None or (code is FindingCode.NOT_PAID and ruling.hand_pay):
        return
    if name == "main" and due.foul and ruling.outcome == "lose":
        code = FindingCode.FOUL
    yield _finding(code, seat.seat, wager, ruling, _paid_known(case, seat.seat, wager))


def _paid_known(case: _Case, seat: int, wager: WagerRecord) -> int | None:
    return None if case.doubts.wager(seat, wager.wager, "paid") else wager.paid_cents


def _pay(
    case: _Case,
    seat: SeatRecord,
    wager: WagerRecord,
    ruling: WagerSettlement,
    unjudged: _Unjudged,
) -> Iterator[Finding]:
    """A winner that was paid: the sum laid against the pay due."""
    doubt = case.doubts.wager(seat.seat, wager.wager, "paid")
    paid = _paid_known(case, seat.seat, wager)
    if paid is None:
        unjudged.add(doubt or f"{wager.wager}: what was paid is not known", wager.wager)
        return
    if ruling.pay_cents is None or paid == ruling.pay_cents:
        return
    if paid > ruling.pay_cents:
        code = FindingCode.OVERPAID
    elif ruling.hand_pay:
        # The tray pays nothing or a part; the rest comes from the cage.
        return
    else:
        code = FindingCode.UNDERPAID if paid else FindingCode.NOT_PAID
    yield _finding(code, seat.seat, wager, ruling, paid)


def _finding(
    code: FindingCode, seat: int, wager: WagerRecord, ruling: WagerSettlement, paid: int | None
) -> Finding:
    action = wager.action or "left"
    seen = _VERBS[action]
    if action == "paid" and paid is not None:
        seen = f"paid {money(paid)}"
    elif ruling.stake_cents is not None:
        seen = f"{money(ruling.stake_cents)} {seen}"
    due = _due(ruling)
    return Finding.of(
        code,
        seat=seat,
        wager=wager.wager,
        seen=seen,
        due=due,
        rule=str(ruling.rule),
        message=f"Seat {seat}, {wager_name(wager.wager)}: {seen}, due {due} ({ruling.why}).",
    )


def _due(ruling: WagerSettlement) -> str:
    if ruling.outcome == "push":
        return "a push"
    if ruling.outcome == "lose":
        return "a loss"
    return "a win" if ruling.pay_cents is None else money(ruling.pay_cents)


def _hand_pay(seat: int, ruling: WagerSettlement) -> Finding:
    due = money(ruling.pay_cents or 0)
    return Finding.of(
        FindingCode.HAND_PAY,
        seat=seat,
        wager=ruling.wager,
        seen="a pay too large for the tray",
        due=due,
        rule=str(ruling.rule),
        message=f"Seat {seat}, {wager_name(ruling.wager)}: {due} is due as a hand pay, to be "
        f"checked by a person ({ruling.why}).",
    )


def _envy(
    case: _Case, seat: SeatRecord, due: SeatSettlement, unjudged: _Unjudged
) -> Iterator[Finding]:
    """The prize laid against the prize due; with unread hands the due sum is a least one."""
    ruling = due.wager("envy")
    if ruling is None:
        return
    if ruling.pay_cents is None:
        unjudged.add(ruling.undecided, "envy")
        return
    laid = seat.wager("envy")
    doubt = case.doubts.wager(seat.seat, "envy", "paid") or case.doubts.wager(
        seat.seat, "envy", "action"
    )
    unknown = laid is not None and laid.action in (None, "paid") and laid.paid_cents is None
    if doubt or unknown:
        unjudged.add(doubt or "envy: what was paid is not known", "envy")
        return
    paid = 0 if laid is None else laid.paid_cents or 0
    if ruling.hand_pay:
        yield _hand_pay(seat.seat, ruling)
    if paid == ruling.pay_cents or (ruling.hand_pay and paid < ruling.pay_cents):
        return
    if ruling.undecided and paid > ruling.pay_cents:
        unjudged.add(ruling.undecided, "envy")
        return
    code = FindingCode.ENVY_WRONG if paid else FindingCode.ENVY_MISSED
    seen, prize = f"paid {money(paid)}" if paid else "nothing paid", money(ruling.pay_cents)
    yield Finding.of(
        code,
        seat=seat.seat,
        wager="envy",
        seen=seen,
        due=prize,
        rule=str(ruling.rule),
        message=f"Seat {seat.seat}, Envy Bonus: {seen}, due {prize} ({ruling.why}).",
    )


def _lammers(case: _Case, seat: SeatRecord, unjudged: _Unjudged) -> Iterator[Finding]:
    doubt = case.doubts.lammers(seat.seat)
    if doubt:
        unjudged.add(doubt)
        return
    lying = {kind.lower() for kind in seat.lammers}
    for lammer in case.game.lammers:
        stake = _stake(case, seat, lammer.wager)
        if stake is not None:
            yield from _lammer(case, seat.seat, lammer, stake, lammer.kind in lying)


def _stake(case: _Case, seat: SeatRecord, name: str) -> int | None:
    """The stake in cents, 0 where there is no wager, None when it is not known."""
    if case.doubts.wager(seat.seat, name, "stake"):
        return None
    wager = seat.wager(name)
    return 0 if wager is None else wager.stake_cents


def _lammer(
    case: _Case, seat: int, lammer: LammerRule, stake: int, lies: bool
) -> Iterator[Finding]:
    """A lammer that is missing, or lies where none belongs."""
    least = max(case.rules.envy_min_cents, 1) if lammer.envy else 1
    offered = "envy" in case.rules.paytables if lammer.envy else True
    belongs = offered and stake >= least
    if lies == belongs or (belongs and not lammer.envy):
        return
    word = lammer.kind.upper()
    shown = money(stake) if stake else "no stake"
    if not lies:
        why = f"no {word} lammer lies by {shown}, which qualifies from {money(least)}"
    elif not offered:
        why = f"an {word} lammer lies, and the table has no Envy Bonus"
    elif lammer.envy:
        why = f"an {word} lammer lies by {shown}, which qualifies only from {money(least)}"
    else:
        why = f"a {word} lammer lies by no stake"
    yield Finding.of(
        FindingCode.LAMMER,
        seat=seat,
        wager=lammer.wager,
        seen=f"{word} lammer" if lies else f"no {word} lammer",
        due=f"no {word} lammer" if lies else f"{word} lammer",
        rule=str(lammer.rule),
        message=f"Seat {seat}, {wager_name(lammer.wager)}: {why}.",
    )
