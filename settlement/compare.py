"""Comparing: what lay on the felt against what was due, as findings.

Nothing that a record calls undecided, and nothing that hangs on it, is ever called right
or wrong; each seat, and the dealer, gets at most one UNDECIDED finding that says what was
not judged and why. Main bets are judged by the dealer's hands as they lie on the felt, also
where those are not the house way's (then HOUSE_WAY says so).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from settlement.check import check_record
from settlement.doubt import Doubts
from settlement.errors import FeltwatchError
from settlement.finding import Finding, FindingCode, wager_name
from settlement.games import JACKPOTS, Terms, terms_for
from settlement.games.base import LammerRule
from settlement.laid import Laid, right_sums
from settlement.record import Action, RoundRecord, SeatRecord, WagerRecord
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
    terms: Terms
    hands_of: Counter[int]


@dataclass(frozen=True)
class _Difference:
    """A finding about a pay, with how many cents too much (or, below 0, too little) lay there."""

    wager: str
    finding: Finding
    cents: int | None = None


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
    doubts = Doubts(record)
    hands_of = Counter(
        seat.player
        for seat in record.seats
        if seat.player is not None and not is_empty(seat, doubts)
    )
    case = _Case(record, settlement, rules, doubts, terms_for(rules), hands_of)
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
    yield from _house_wager(case, unjudged)
    if dealer.house_way_undecided:
        unjudged.add(dealer.house_way_undecided)
        unjudged.wagers.append("the house way")
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


def _house_wager(case: _Case, unjudged: _Unjudged) -> Iterator[Finding]:
    """The dealer's own stake against a player who banks."""
    for wager, ruling in zip(case.record.dealer.wagers, case.settlement.dealer.wagers, strict=True):
        for difference in _wager(case, None, wager, ruling, unjudged, foul=False):
            yield difference.finding


def _seat(
    case: _Case, seat: SeatRecord, due: SeatSettlement, unjudged: _Unjudged
) -> Iterator[Finding]:
    _entries(case, seat.seat, unjudged)
    if not is_empty(seat, case.doubts):
        unjudged.add(due.undecided)
    differences: list[_Difference] = []
    rulings = {ruling.wager: ruling for ruling in reversed(due.wagers)}
    for wager in seat.wagers:
        ruling = rulings.get(wager.wager)
        if wager.wager == "envy" or ruling is None:
            continue
        yield from _limit(case, seat, wager)
        if seat.seat == case.record.banker and wager.wager == "main" and not wager.stake_cents:
            continue
        differences += _wager(case, seat, wager, ruling, unjudged, foul=bool(due.foul))
    differences += _envy(case, seat, due, unjudged)
    yield from _settled_together(case, seat.seat, _sure(case, differences, unjudged))
    yield from _lammers(case, seat, unjudged)


def _sure(case: _Case, differences: list[_Difference], unjudged: _Unjudged) -> list[_Difference]:
    """The differences that stand although some wager of the seat could not be judged.

    An envy prize and the pay of its wager may lie together: with one of them in doubt, a
    wrong sum of the other is in doubt too.
    """
    if not unjudged.wagers:
        return differences
    pair = ("envy", case.terms.envy.wager)
    doubted = [name for name in pair if wager_name(name) in unjudged.wagers]
    if not doubted:
        return differences
    kept = []
    for difference in differences:
        if difference.cents is not None and difference.wager in pair:
            unjudged.add(None, difference.wager)
        else:
            kept.append(difference)
    return kept


def _settled_together(case: _Case, seat: int, differences: list[_Difference]) -> Iterator[Finding]:
    """A seat's differences, where pays laid beside another of its wagers are one finding.

    An envy prize has no spot of its own: laid with the pay of its wager it is in order.
    """
    left = list(differences)
    envy = case.terms.envy.wager
    for missing in differences:
        if missing.cents is None or missing.cents >= 0 or missing not in left:
            continue
        match = next((d for d in left if d.cents == -missing.cents), None)
        if match is None:
            continue
        left.remove(missing)
        left.remove(match)
        if {missing.wager, match.wager} != {envy, "envy"}:
            yield _wrong_spot(seat, missing, match)
    for difference in left:
        yield difference.finding


def _wrong_spot(seat: int, missing: _Difference, match: _Difference) -> Finding:
    sum_, spot = money(match.cents or 0), wager_name(match.wager)
    name = wager_name(missing.wager)
    return Finding.of(
        FindingCode.WRONG_SPOT,
        seat=seat,
        wager=missing.wager,
        seen=f"{sum_} laid beside the {spot}",
        due=f"{sum_} beside the {name}",
        rule=missing.finding.rule,
        message=f"Seat {seat}, {name}: {sum_} of its pay was laid beside the {spot}; the seat's "
        f"sum is right, the spot is not.",
    )


def _limit(case: _Case, seat: SeatRecord, wager: WagerRecord) -> Iterator[Finding]:
    stake = wager.stake_cents
    if not stake or case.doubts.wager(seat.seat, wager.wager, "stake"):
        return
    for bound, word, rule in _bounds(case, seat, wager.wager):
        broken = stake > bound if word == "maximum" else stake < bound
        if word == "fixed wager":
            broken = stake != bound
        if not broken:
            continue
        side = {"maximum": "over", "fixed wager": "not"}.get(word, "under")
        yield Finding.of(
            FindingCode.LIMIT,
            seat=seat.seat,
            wager=wager.wager,
            seen=money(stake),
            due=f"{word} {money(bound)}",
            rule=rule,
            message=f"Seat {seat.seat}, {wager_name(wager.wager)}: {money(stake)} is {side} the "
            f"{word} of {money(bound)}.",
        )


def _bounds(case: _Case, seat: SeatRecord, wager: str) -> Iterator[tuple[int, str, str]]:
    """Each bound of a stake in cents, with its name and the rule that sets it."""
    limit = case.terms.limits.get(wager)
    least = None if limit is None else limit.min_cents
    hands = case.hands_of[seat.player] if seat.player is not None else 1
    several = case.terms.several_hands
    if wager == "main" and several is not None and hands > 1:
        yield (
            several.least(hands, least or 0),
            f"minimum for {hands} hands",
            f"table limits, main, minimum for {hands} hands of one player",
        )
    elif least is not None:
        yield least, "minimum", f"table limits, {wager}, minimum"
    if limit is not None and limit.max_cents is not None:
        yield limit.max_cents, "maximum", f"table limits, {wager}, maximum"
    progressive = case.terms.progressives.get(wager)
    if progressive is not None:
        yield progressive.base_cents, "fixed wager", f"{wager}, fixed wager"


def _wager(
    case: _Case,
    seat: SeatRecord | None,
    wager: WagerRecord,
    ruling: WagerSettlement,
    unjudged: _Unjudged,
    *,
    foul: bool,
) -> Iterator[_Difference]:
    """What was done with a wager against what was due; `seat` None is the dealer's own."""
    name = wager.wager
    place = None if seat is None else seat.seat
    if ruling.undecided:
        unjudged.add(ruling.undecided, name)
    if ruling.hand_pay:
        yield _Difference(name, _hand_pay(place, ruling))
    if ruling.outcome is None or ruling.stake_cents == 0:
        return
    doubt = None if seat is None else case.doubts.wager(seat.seat, name, "action")
    if doubt or wager.action is None:
        if name not in JACKPOTS or ruling.outcome == "win" or doubt:
            unjudged.add(doubt or f"{name}: what was done is not known", name)
        return
    if ruling.outcome == "win" and wager.action == "paid":
        yield from _pay(case, seat, wager, ruling, unjudged)
        return
    code = _wrong_action(name, ruling.outcome, wager.action)
    if code is None or (code is FindingCode.NOT_PAID and _by_hand(ruling)):
        return
    if name == "main" and foul and ruling.outcome == "lose":
        code = FindingCode.FOUL
    paid = _paid_known(case, seat, wager)
    finding = _finding(code, place, wager, ruling, None if paid is None else paid.text)
    yield _Difference(name, finding, _cents_off(code, ruling, paid))


def _by_hand(ruling: WagerSettlement) -> bool:
    """Whether the pay comes, or may come, from the cage and not from the tray."""
    return ruling.hand_pay or ruling.may_be_hand_pay


def _wrong_action(name: str, outcome: Outcome, action: Action) -> FindingCode | None:
    if name in JACKPOTS and action != "paid":
        # The coin is in the sensor since before the deal: it is neither left nor taken now.
        return FindingCode.NOT_PAID if outcome == "win" else None
    return _WRONG_ACTION.get((outcome, action))


def _cents_off(code: FindingCode, ruling: WagerSettlement, paid: Laid | None) -> int | None:
    """How much too much or too little a wrong action gave, where it is only that."""
    if code is FindingCode.NOT_PAID:
        return None if ruling.pay_cents is None else -ruling.pay_cents
    if code in (FindingCode.PAID_LOSER, FindingCode.PAID_PUSH):
        return None if paid is None else paid.in_time
    return None


def _paid_known(case: _Case, seat: SeatRecord | None, wager: WagerRecord) -> Laid | None:
    if seat is not None and case.doubts.wager(seat.seat, wager.wager, "paid"):
        return None
    return Laid.of(wager, seat) if wager.action == "paid" else None


def _pay(
    case: _Case,
    seat: SeatRecord | None,
    wager: WagerRecord,
    ruling: WagerSettlement,
    unjudged: _Unjudged,
) -> Iterator[_Difference]:
    """A winner that was paid: the sum laid against the pay due."""
    doubt = None if seat is None else case.doubts.wager(seat.seat, wager.wager, "paid")
    paid = _paid_known(case, seat, wager)
    if paid is None:
        unjudged.add(doubt or f"{wager.wager}: what was paid is not known", wager.wager)
        return
    right = right_sums(ruling, case.terms.commission)
    if not right or paid.in_time in right:
        return
    due = right[0]
    if paid.in_time > due:
        code = FindingCode.OVERPAID
    elif ruling.hand_pay:
        # The tray pays nothing or a part; the rest comes from the cage.
        return
    else:
        code = FindingCode.UNDERPAID if paid.in_time else FindingCode.NOT_PAID
    note = ""
    if paid.in_time == ruling.gross_cents:
        note = f" (the commission of {money(ruling.commission_cents)} was not taken)"
    elif paid.at_last in right:
        note = " (put right only after the cards were taken)"
    place = None if seat is None else seat.seat
    finding = _finding(code, place, wager, ruling, paid.text + note)
    yield _Difference(wager.wager, finding, paid.in_time - due)


def _finding(
    code: FindingCode,
    seat: int | None,
    wager: WagerRecord,
    ruling: WagerSettlement,
    paid: str | None,
) -> Finding:
    action = wager.action or "left"
    seen = _VERBS[action]
    if action == "paid" and paid is not None:
        seen = paid
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
        message=f"{_place(seat)}, {wager_name(wager.wager)}: {seen}, due {due} ({ruling.why}).",
    )


def _due(ruling: WagerSettlement) -> str:
    if ruling.outcome == "push":
        return "a push"
    if ruling.outcome == "lose":
        return "a loss"
    if ruling.pay_cents is None:
        return "a win"
    if ruling.commission_cents:
        return f"{money(ruling.pay_cents)} after {money(ruling.commission_cents)} commission"
    return money(ruling.pay_cents)


def _hand_pay(seat: int | None, ruling: WagerSettlement) -> Finding:
    due = "a jackpot" if ruling.pay_cents is None else money(ruling.pay_cents)
    source = (
        "a pay from the jackpot meter" if ruling.meter_cents or ruling.pay_cents is None else ""
    )
    return Finding.of(
        FindingCode.HAND_PAY,
        seat=seat,
        wager=ruling.wager,
        seen=source or "a pay too large for the tray",
        due=due,
        rule=str(ruling.rule),
        message=f"{_place(seat)}, {wager_name(ruling.wager)}: {due} is due as a hand pay, to be "
        f"checked by a person ({ruling.why}).",
    )


def _envy(
    case: _Case, seat: SeatRecord, due: SeatSettlement, unjudged: _Unjudged
) -> Iterator[_Difference]:
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
    lies = None if laid is None else Laid.of(laid, seat)
    unknown = laid is not None and laid.action in (None, "paid") and lies is None
    if doubt or unknown:
        unjudged.add(doubt or "envy: what was paid is not known", "envy")
        return
    paid = 0 if lies is None else lies.in_time
    if ruling.hand_pay:
        yield _Difference("envy", _hand_pay(seat.seat, ruling))
    if paid == ruling.pay_cents or (ruling.hand_pay and paid < ruling.pay_cents):
        return
    if ruling.undecided and paid > ruling.pay_cents:
        unjudged.add(ruling.undecided, "envy")
        return
    code = FindingCode.ENVY_WRONG if paid else FindingCode.ENVY_MISSED
    seen, prize = f"paid {money(paid)}" if paid else "nothing paid", money(ruling.pay_cents)
    finding = Finding.of(
        code,
        seat=seat.seat,
        wager="envy",
        seen=seen,
        due=prize,
        rule=str(ruling.rule),
        message=f"Seat {seat.seat}, Envy Bonus: {seen}, due {prize} ({ruling.why}).",
    )
    yield _Difference("envy", finding, paid - ruling.pay_cents)


def _lammers(case: _Case, seat: SeatRecord, unjudged: _Unjudged) -> Iterator[Finding]:
    doubt = case.doubts.lammers(seat.seat)
    if doubt:
        unjudged.add(doubt)
        return
    lying = {kind.lower() for kind in seat.lammers}
    for lammer in case.terms.game.lammers:
        stake = _stake(case, seat, lammer.wager)
        if stake is not None:
            yield from _lammer(case, seat.seat, lammer, stake, lammer.kind in lying)
    known = {lammer.kind for lammer in case.terms.game.lammers}
    for kind in sorted(lying - known):
        yield Finding.of(
            FindingCode.LAMMER,
            seat=seat.seat,
            seen=f"{kind.upper()} lammer",
            due="no such lammer",
            rule=f"lammers of {case.terms.game.id}",
            message=f"Seat {seat.seat}: a {kind.upper()} lammer lies, and the game has none.",
        )


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
    offered = "envy" in case.terms.tables if lammer.envy else True
    belongs = offered and stake >= least
    if lies == belongs or (belongs and not lammer.envy):
        return
    word = lammer.kind.upper()
    shown = money(stake) if stake else "no stake"
    if not lies:
        why = f"no {word} lammer lies by the {shown}; stakes from {money(least)} on have one"
    elif not offered:
        why = f"an {word} lammer lies, and the table has no Envy Bonus"
    elif lammer.envy:
        why = f"an {word} lammer lies by {shown}; only stakes from {money(least)} on have one"
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
