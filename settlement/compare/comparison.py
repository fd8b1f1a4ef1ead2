"""Comparing: what lay on the felt against what was due, as findings.

Nothing that a record calls undecided, and nothing that hangs on it, is ever called right
or wrong; each seat, and the dealer, gets at most one UNDECIDED finding that says what was
not judged and why. Main bets are judged by the dealer's hands as they lie on the felt, also
where those are not the house way's (then HOUSE_WAY says so).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from settlement.compare.check import check_record
from settlement.compare.commission import not_seen_collected
from settlement.compare.context import Case, Difference, Unjudged, place_name
from settlement.compare.evidence import UNKNOWN, laid_with, likely_dues, resolved
from settlement.compare.finding import Finding, FindingCode, Suspicion, cause_words, wager_name
from settlement.compare.irregularities import judge_late, judge_moves
from settlement.compare.limits_lammers import judge_lammers, judge_limits, judge_single
from settlement.compare.open_cards import judge_open, settle_open
from settlement.compare.payments import is_made_up, judge_envy, judge_wager, without_change
from settlement.compare.procedure import judge_breaches, judge_dice
from settlement.compare.unsure_cards import weigh_cards
from settlement.errors import FeltwatchError
from settlement.games import JACKPOTS, terms_for
from settlement.record import RoundRecord, SeatRecord, WagerRecord
from settlement.result import HandResult, SeatSettlement, Settlement, WagerSettlement
from settlement.rules import TableRules
from settlement.ruling import money
from settlement.settle import settle
from settlement.seven_card_hand import is_empty
from settlement.uncertainty import Doubts

__all__ = [
    "Finding",
    "FindingCode",
    "Suspicion",
    "compare",
    "compare_and_suspect",
    "settlement_as_judged",
]

_MISSING = frozenset(
    {
        FindingCode.NOT_PAID,
        FindingCode.UNDERPAID,
        FindingCode.TOOK_WINNER,
        FindingCode.TOOK_PUSH,
        FindingCode.ENVY_MISSED,
    }
)
"""Money is missing by a wager; chips by the seat that no wager owns may be that money."""

_HIDDEN = "more of the payout may lie behind the stake, where it would not be seen"

_TOO_MUCH = frozenset(
    {
        FindingCode.OVERPAID,
        FindingCode.PAID_PUSH,
        FindingCode.PAID_LOSER,
        FindingCode.ENVY_WRONG,
    }
)
"""Something lies by a wager that is not its own payout."""

MAY_LIE_THERE = 0.02
"""A missing payout this likely to lie in another wager's undecided payout is undecided too."""


LIKELY_OWN = 0.5
"""What lies by a wager whose stake is not sure is more likely its own payout than not: no tuned
limit."""


def compare(record: RoundRecord, settlement: Settlement, rules: TableRules) -> list[Finding]:
    """Every difference between a round as seen and as it should have been settled.

    `settlement` is that of the same record and rules. The dealer's findings come first,
    then the seats' in the record's order. Raises FeltwatchError when the settlement is of
    another record, or the rules name something unknown.
    """
    return compare_and_suspect(record, settlement, rules)[0]


def compare_and_suspect(
    record: RoundRecord, settlement: Settlement, rules: TableRules
) -> tuple[list[Finding], list[Suspicion]]:
    """Return the findings of `compare`, and the wagers without one that are probably wrong.

    Errors as in `compare`.
    """
    if [seat.seat for seat in record.seats] != [seat.seat for seat in settlement.seats]:
        raise FeltwatchError(
            f"round {record.round_id}: the settlement of {settlement.round_id} has other seats"
        )
    suspected: list[Suspicion] = []

    def judge(named: RoundRecord) -> list[Finding]:
        return _judged(named, settle(named, rules), rules)

    findings = judge_open(record, _judged(record, settlement, rules, suspected), judge)
    findings, by_cards = weigh_cards(
        record, findings, lambda named: judge_open(named, judge(named), judge)
    )
    suspected += [*by_cards, *not_seen_collected(record, rules)]
    found = {(f.seat, f.wager) for f in findings if f.code is not FindingCode.UNDECIDED}
    return findings, [s for s in suspected if (s.finding.seat, s.finding.wager) not in found]


def settlement_as_judged(
    record: RoundRecord, settlement: Settlement, findings: Sequence[Finding], rules: TableRules
) -> Settlement:
    """Return the settlement with the dues that `compare` judged although cards were not read.

    `settlement` is that of the record, `findings` are what `compare` found.
    """
    return settle_open(record, settlement, findings, lambda named: settle(named, rules))


def _judged(
    record: RoundRecord, settlement: Settlement, rules: TableRules,
    suspected: list[Suspicion] | None = None,
) -> list[Finding]:  # fmt: skip
    """The findings of a record, its sums decided where their question is; see `resolved`."""
    decided = resolved(record, rules, _compare, suspected)
    if decided is not record:
        settlement = settle(decided, rules)
    return _compare(decided, settlement, rules)


def _compare(record: RoundRecord, settlement: Settlement, rules: TableRules) -> list[Finding]:
    """The findings of a record whose sums are decided or undecided."""
    doubts = Doubts(record)
    hands_of = Counter(
        seat.player
        for seat in record.seats
        if seat.player is not None and not is_empty(seat, doubts)
    )
    case = Case(record, settlement, rules, doubts, terms_for(rules), hands_of)
    problems = check_record(record, rules)
    findings = [
        Finding.of(
            FindingCode.DECK,
            seat=problem.seat,
            seen=problem.reason,
            due="53 different cards, seven to a hand",
            rule="53-card deck",
            message=f"{place_name(problem.seat)}: {problem.reason}.",
        )
        for problem in problems
        if problem.code is FindingCode.DECK
    ]
    findings += judge_dice(case)
    unjudged: dict[int | None, Unjudged] = {}
    for problem in problems:
        # A wrong lammer is found where lammers are compared.
        if problem.code is FindingCode.UNDECIDED:
            unjudged.setdefault(problem.seat, Unjudged()).add(problem.reason, problem.wager)
    findings += _dealer(case, unjudged.setdefault(None, Unjudged()))
    for seat, due in zip(record.seats, settlement.seats, strict=True):
        own = unjudged.setdefault(seat.seat, Unjudged())
        findings += _seat(case, seat, due, own)
    for entered in case.doubts.seats():
        _entries(case, entered, unjudged.setdefault(entered, Unjudged()))
    for place in sorted(unjudged, key=lambda seat: seat or 0):
        findings += _undecided(place, unjudged[place])
    return findings


def _entries(case: Case, seat: int | None, unjudged: Unjudged) -> None:
    for entry in case.doubts.entries(seat):
        unjudged.add(f"{entry.what}: {entry.why}")


def _undecided(seat: int | None, unjudged: Unjudged) -> Iterator[Finding]:
    if not unjudged.causes:
        return
    causes = "; ".join(map(cause_words, unjudged.causes))
    wagers = ", ".join(unjudged.wagers) or "nothing else"
    tail = f" Not judged: {wagers}." if unjudged.wagers else ""
    yield Finding.of(
        FindingCode.UNDECIDED,
        seat=seat,
        seen=causes,
        due=f"not judged: {wagers}",
        rule="what was not read is neither right nor wrong",
        message=f"{place_name(seat)} was not fully read: {causes}.{tail}",
    )


def _dealer(case: Case, unjudged: Unjudged) -> Iterator[Finding]:
    _entries(case, None, unjudged)
    yield from judge_moves(case, case.record.dealer)
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


def _house_wager(case: Case, unjudged: Unjudged) -> Iterator[Finding]:
    """The dealer's own stake against a player who banks."""
    for wager, ruling in zip(case.record.dealer.wagers, case.settlement.dealer.wagers, strict=True):
        yield from judge_limits(case, None, wager)
        found = list(judge_wager(case, None, wager, ruling, unjudged, foul=False))
        for difference in without_change(found, unjudged):
            yield difference.finding


def _seat(
    case: Case, seat: SeatRecord, due: SeatSettlement, unjudged: Unjudged
) -> Iterator[Finding]:
    _entries(case, seat.seat, unjudged)
    if not is_empty(seat, case.doubts):
        unjudged.add(due.undecided)
    yield from judge_single(case, seat)
    differences: list[Difference] = []
    rulings = {ruling.wager: ruling for ruling in reversed(due.wagers)}
    for wager in seat.wagers:
        ruling = rulings.get(wager.wager)
        if wager.wager == "envy" or ruling is None:
            continue
        yield from judge_limits(case, seat, wager)
        yield from judge_late(case, seat, wager)
        if seat.seat == case.record.banker and wager.wager == "main" and not wager.stake_cents:
            continue
        differences += judge_wager(case, seat, wager, ruling, unjudged, foul=bool(due.foul))
    differences += judge_envy(case, seat, due, unjudged)
    differences = without_change(differences, unjudged)
    differences = _by_one_mistake(case, seat, rulings, differences)
    differences = _with_other_payouts(case, seat, differences, unjudged)
    differences = _without_open_winners(seat, rulings, differences, unjudged)
    differences = _without_unseen_payouts(case, seat, rulings, differences, unjudged)
    found = _settled_together(case, seat.seat, _sure(case, seat, rulings, differences, unjudged))
    yield from _not_by_the_spots(case, seat, rulings, found, unjudged)
    yield from judge_lammers(case, seat, unjudged)
    yield from judge_moves(case, seat)
    yield from judge_breaches(case, seat)


def _by_one_mistake(
    case: Case, seat: SeatRecord, rulings: Mapping[str, WagerSettlement],
    differences: list[Difference],
) -> list[Difference]:  # fmt: skip
    """The differences, with the sums of a payout that lies by another wager than its own.

    What lies too much by one wager may be what is due to another that was not paid, or of which
    it is not known: then one mistake was made, not two. The stake of the other need not be sure.
    """
    out = list(differences)
    for other in differences:
        own = seat.wager(other.wager)
        if own is None or other.finding.code not in _TOO_MUCH:
            continue
        shares = dict(own.paid_sums or ()) if other.cents is None else {other.cents: 1.0}
        for wager in seat.wagers:
            name, ruling = wager.wager, rulings.get(wager.wager)
            missing = next((d for d in out if d.wager == name), None)
            if ruling is None or name == other.wager:
                continue
            if not _may_be_missing(wager, ruling, missing):
                continue
            dues = likely_dues(case.record, seat.seat, name, case.rules)
            alike = {cents: share * dues.get(cents, 0.0) for cents, share in shares.items()}
            if not alike or sum(alike.values()) < MAY_LIE_THERE:
                continue
            cents = max(alike, key=lambda one: alike[one])
            lacking = other.finding if missing is None else missing.finding
            lacking = lacking.model_copy(update={"rule": str(ruling.rule)})
            out = [d for d in out if d.wager not in (name, other.wager)]
            out += [Difference(name, lacking, -cents), replace(other, cents=cents)]
            break
    return out


def _may_be_missing(wager: WagerRecord, ruling: WagerSettlement, found: Difference | None) -> bool:
    """Whether a payout of the wager is missing, or may be for all that is known."""
    if found is not None:
        return found.finding.code is FindingCode.NOT_PAID
    # Of a winner that was left whose stake is not sure no difference says so.
    unsure = wager.stake_cents is None and ruling.outcome == "win" and ruling.pay_cents is None
    return wager.action is None or (unsure and wager.action == "left")


def _with_other_payouts(
    case: Case, seat: SeatRecord, differences: list[Difference], unjudged: Unjudged
) -> list[Difference]:
    """The differences, with missing payouts that may lie in an undecided one of the seat."""
    out = list(differences)
    for missing in differences:
        if missing.cents is None or missing.cents >= 0 or missing not in out:
            continue
        if is_made_up(missing, differences):
            # The two become one finding.
            continue
        for other in seat.wagers:
            if other.wager == missing.wager or other.paid_cents is not None:
                continue
            dues = likely_dues(case.record, seat.seat, other.wager, case.rules)
            if not dues:
                continue
            share = sum(p * laid_with(other, due, -missing.cents) for due, p in dues.items())
            if share > 0.5:
                # The two become one finding; that the other was paid at all is part of it.
                out = [one for one in out if one.wager != other.wager]
                out.append(Difference(other.wager, missing.finding, -missing.cents))
            elif share > MAY_LIE_THERE:
                out.remove(missing)
                name = wager_name(other.wager)
                unjudged.add(f"the payout may lie with that of {name}", missing.wager)
            break
    return out


def _without_unseen_payouts(
    case: Case, seat: SeatRecord, rulings: Mapping[str, WagerSettlement],
    differences: list[Difference], unjudged: Unjudged,
) -> list[Difference]:  # fmt: skip
    """The differences without payouts that are missing by their own spots, and of which nobody can
    say that they do not lie by another of the seat's: that cannot be seen, or holds a sum that is
    more likely not its own payout, or that was not read, or whose outcome is not known."""
    out = list(differences)
    for missing in differences:
        if missing.finding.code not in (FindingCode.NOT_PAID, FindingCode.ENVY_MISSED):
            continue
        if is_made_up(missing, differences):
            continue
        for other in seat.wagers:
            name, ruling = other.wager, rulings.get(other.wager)
            if name == missing.wager or name == "envy" or name in JACKPOTS or ruling is None:
                continue
            if other.action is None:
                unjudged.add(
                    f"the payout may lie by the {wager_name(name)}, where it would not be seen",
                    missing.wager,
                )
            elif other.action == "paid" and (
                other.stake_cents is None or ruling.outcome is None or _is_unread(other)
            ):
                dues = likely_dues(case.record, seat.seat, name, case.rules)
                sums = {other.paid_cents: 1.0} if other.paid_cents else dict(other.paid_sums or ())
                if sums and max(sums) < -(missing.cents or 0):
                    continue
                own = sum(share * dues.get(cents, 0.0) for cents, share in sums.items())
                if own >= LIKELY_OWN:
                    continue
                unjudged.add(
                    f"the payout may lie with that of the {wager_name(name)}", missing.wager
                )
            else:
                continue
            out.remove(missing)
            break
    return out


def _without_open_winners(
    seat: SeatRecord, rulings: Mapping[str, WagerSettlement], differences: list[Difference],
    unjudged: Unjudged,
) -> list[Difference]:  # fmt: skip
    """The differences without what lies too much by one wager where another one was left and may
    have won: it may be the payout of that, laid beside the wrong spot."""
    left = {
        wager.wager for wager in seat.wagers
        if wager.action == "left" and wager.wager in rulings and not rulings[wager.wager].outcome
    }  # fmt: skip
    out = []
    for found in differences:
        others = left - {found.wager}
        if found.finding.code is FindingCode.OVERPAID and others:
            name = wager_name(min(others))
            unjudged.add(f"some of it may be the payout of the {name}", found.wager)
        else:
            out.append(found)
    return out


def _is_unread(wager: WagerRecord) -> bool:
    """Whether the payout's sum is so little known that it is often none of those that were read."""
    shares = [share for _, share in wager.paid_sums or ()]
    return wager.paid_cents is None and bool(shares) and max(shares) < UNKNOWN[0][0]


def _not_by_the_spots(
    case: Case, seat: SeatRecord, rulings: Mapping[str, WagerSettlement],
    found: Iterator[Finding], unjudged: Unjudged,
) -> Iterator[Finding]:  # fmt: skip
    """The findings without those of missing money where money of no known owner lies, or where
    more of a payout may lie behind its stake."""
    chips = case.doubts.chips(seat.seat)
    for finding in found:
        name = finding.wager
        wager = None if name is None else seat.wager(name)
        hidden = wager is not None and bool(wager.hides_more) and not _made_up(wager, rulings)
        doubt = chips or (_HIDDEN if hidden else None)
        if doubt and finding.code in _MISSING:
            unjudged.add(doubt, name)
        else:
            yield finding


def _made_up(wager: WagerRecord, rulings: Mapping[str, WagerSettlement]) -> bool:
    """Whether the payout in view became the right one by the chips laid last: before them it was
    too little, or with more behind the stake it is too much now."""
    ruling, payments = rulings.get(wager.wager), wager.payments or ()
    return (
        ruling is not None and bool(payments) and payments[-1].cents > 0
        and wager.paid_cents == ruling.pay_cents
    )  # fmt: skip


def _sure(
    case: Case, seat: SeatRecord, rulings: Mapping[str, WagerSettlement],
    differences: list[Difference], unjudged: Unjudged,
) -> list[Difference]:  # fmt: skip
    """The differences that remain although some wager of the seat could not be judged.

    An envy prize and the payout of its wager may lie together: with one of them in doubt, a
    wrong sum of the other is in doubt too. Not where it is known what the wager was paid and what
    it was due: whatever else is open then, such as change, it lacks nothing.
    """
    if not unjudged.wagers:
        return differences
    pair = ("envy", case.terms.envy.wager)
    doubted = [
        name for name in pair
        if wager_name(name) in unjudged.wagers and not _lacks_nothing(case, seat, rulings, name)
    ]  # fmt: skip
    if not doubted:
        return differences
    kept = []
    others = {d.cents for d in differences if d.cents is not None and d.wager not in pair}
    for difference in differences:
        cents = difference.cents
        # What lies by a wager of neither is not with the other of the two.
        if cents is not None and difference.wager in pair and -cents not in others:
            unjudged.add(None, difference.wager)
        else:
            kept.append(difference)
    return kept


def _lacks_nothing(
    case: Case, seat: SeatRecord, rulings: Mapping[str, WagerSettlement], name: str
) -> bool:
    """Whether what a wager was paid is known to be what it was due, or more."""
    wager, ruling = seat.wager(name), rulings.get(name)
    if wager is None or wager.action != "paid" or case.doubts.wager(seat.seat, name, "paid"):
        return False
    due = None if ruling is None else ruling.pay_cents
    return wager.paid_cents is not None and due is not None and wager.paid_cents >= due


def _settled_together(case: Case, seat: int, differences: list[Difference]) -> Iterator[Finding]:
    """A seat's differences; payouts laid beside another of its wagers are one finding.

    An envy prize has no spot of its own: laid with the payout of its wager it is in order. Chips
    beside a wager without a payout belong to another one before an excess beside a paid wager does.
    """
    left = list(differences)
    envy = case.terms.envy.wager
    for missing in differences:
        if missing.cents is None or missing.cents >= 0 or missing not in left:
            continue
        match = min(
            (d for d in left if d.cents == -missing.cents),
            key=lambda d: d.finding.code is FindingCode.OVERPAID, default=None,
        )  # fmt: skip
        if match is None:
            continue
        left.remove(missing)
        left.remove(match)
        if {missing.wager, match.wager} != {envy, "envy"}:
            yield _wrong_spot(seat, missing, match)
    for difference in left:
        yield difference.finding


def _wrong_spot(seat: int, missing: Difference, match: Difference) -> Finding:
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
