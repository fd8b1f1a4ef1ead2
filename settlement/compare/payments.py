"""Comparing wagers: what was done with each, and the sum laid, against what was due."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from settlement.compare.context import Case, Difference, Unjudged, place_name
from settlement.compare.finding import Finding, FindingCode, wager_name
from settlement.compare.payment import Laid, is_settled, right_sums
from settlement.games import JACKPOTS
from settlement.record import Action, SeatRecord, WagerRecord
from settlement.result import SeatSettlement, WagerSettlement
from settlement.ruling import Outcome, money

_VERBS = {"paid": "paid", "taken": "taken", "left": "left in place"}

_WRONG_ACTION: dict[tuple[Outcome, str], FindingCode] = {
    ("win", "left"): FindingCode.NOT_PAID,
    ("win", "taken"): FindingCode.TOOK_WINNER,
    ("push", "paid"): FindingCode.PAID_PUSH,
    ("push", "taken"): FindingCode.TOOK_PUSH,
    ("lose", "paid"): FindingCode.PAID_LOSER,
    ("lose", "left"): FindingCode.NOT_TAKEN,
}


MAY_BE_PAID = (
    "It may have been paid, too: a payout would lie behind the stake, where it is not seen."
)


def judge_wager(
    case: Case,
    seat: SeatRecord | None,
    wager: WagerRecord,
    ruling: WagerSettlement,
    unjudged: Unjudged,
    *,
    foul: bool,
) -> Iterator[Difference]:
    """What was done with a wager against what was due; `seat` None is the dealer's own."""
    name = wager.wager
    place = None if seat is None else seat.seat
    if ruling.undecided:
        unjudged.add(ruling.undecided, name)
    if ruling.hand_pay:
        yield Difference(name, _hand_pay(place, ruling))
    if ruling.outcome is None or (ruling.stake_cents == 0 and not wager.paid_cents):
        return
    doubt = None if seat is None else case.doubts.wager(seat.seat, name, "action")
    may_be_paid = seat is not None and case.doubts.chips(seat.seat)
    is_foul = foul and name == "main"
    stands = wager.action is None and wager.stands
    if stands and ruling.outcome == "lose" and (is_foul or not may_be_paid):
        # A lost stake that lay there to the end was not taken, whatever it hides. A foul is one
        # whether it was paid or not.
        doubt, wager = None, wager.model_copy(update={"action": "left"})
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
    if code is FindingCode.NOT_PAID and name != "main" and ruling.pay_cents is None:
        # A larger stake may be a hand pay, or its payout may be what lies as another wager's.
        unjudged.add(f"{name}: what is due is not known", name)
        return
    if is_foul and ruling.outcome == "lose":
        code = FindingCode.FOUL
    paid = _paid_known(case, seat, wager)
    finding = _finding(code, place, wager, ruling, None if paid is None else paid.text)
    if stands and code is FindingCode.NOT_TAKEN:
        message = f"{finding.message} {MAY_BE_PAID}"
        finding = finding.model_copy(update={"message": message})
    yield Difference(name, finding, _cents_off(code, ruling, paid))


def _by_hand(ruling: WagerSettlement) -> bool:
    """Whether the payout comes, or may come, from the cage and not from the tray."""
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


def _paid_known(case: Case, seat: SeatRecord | None, wager: WagerRecord) -> Laid | None:
    if seat is not None and case.doubts.wager(seat.seat, wager.wager, "paid"):
        return None
    return Laid.of(wager, seat) if wager.action == "paid" else None


def _pay(
    case: Case,
    seat: SeatRecord | None,
    wager: WagerRecord,
    ruling: WagerSettlement,
    unjudged: Unjudged,
) -> Iterator[Difference]:
    """A winner that was paid: the sum laid against the payout due."""
    doubt = None if seat is None else case.doubts.wager(seat.seat, wager.wager, "paid")
    paid = _paid_known(case, seat, wager)
    if paid is None:
        unjudged.add(doubt or f"{wager.wager}: what was paid is not known", wager.wager)
        return
    right = right_sums(ruling, case.terms.commission)
    if not right or is_settled(paid, ruling, case.terms.commission):
        return
    due = right[0]
    change: str | None = None
    if paid.in_time > due:
        whole = bool(ruling.commission_cents) and paid.in_time == ruling.gross_cents
        if not whole and _may_be_change(wager, due, paid.in_time - due):
            change = (
                f"{wager.wager}.paid: {money(paid.in_time - due)} too much is less than the "
                "smallest chip laid: change may have been given"
            )
        if whole and wager.stirred:
            unjudged.add(
                f"{wager.wager}.paid: the commission of {money(ruling.commission_cents)} may have "
                "been given in other chips",
                wager.wager,
            )
            return
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
    yield Difference(wager.wager, finding, paid.in_time - due, change)


def without_change(differences: Sequence[Difference], unjudged: Unjudged) -> list[Difference]:
    """The differences without what may be change, but where just that is missing by another wager
    of the seat."""
    out = [difference for difference in differences if difference.may_be is None]
    for difference in differences:
        if difference.may_be is None or difference.cents is None:
            continue
        # What is too much for sure makes up for what is missing before what may be change.
        lacking = sum(other.cents == -difference.cents for other in out)
        if lacking > sum(other.cents == difference.cents for other in out):
            out.append(replace(difference, may_be=None))
        else:
            unjudged.add(difference.may_be, difference.wager)
    return out


def is_made_up(missing: Difference, differences: Sequence[Difference]) -> bool:
    """Whether just what is missing by a wager is too much by another one of the seat."""
    return missing.cents is not None and any(d.cents == -missing.cents for d in differences)


def _may_be_change(wager: WagerRecord, due_cents: int, excess_cents: int) -> bool:
    """Whether what was laid too much may have been settled by change that nobody saw.

    A dealer who lays 25 for 20 is given 5 by the player, and takes it within a second. One chip
    too many is never less than the smallest chip laid, and nobody is paid mostly to give back:
    500 laid for 250 may be settled so, 100 laid for 25 is a chip mistaken for another.
    """
    known = wager.returned_cents is not None or wager.payments is not None
    smallest = wager.paid_least_cents or 0
    return not known and excess_cents < smallest and excess_cents <= due_cents


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
    elif action != "paid" and ruling.stake_cents is not None:
        seen = f"{money(ruling.stake_cents)} {seen}"
    due = _due(ruling)
    return Finding.of(
        code,
        seat=seat,
        wager=wager.wager,
        seen=seen,
        due=due,
        rule=str(ruling.rule),
        message=f"{place_name(seat)}, {wager_name(wager.wager)}: {seen}, due {due} ({ruling.why}).",
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
        message=f"{place_name(seat)}, {wager_name(ruling.wager)}: {due} is due as a hand pay, "
        f"to be checked by a person ({ruling.why}).",
    )


def judge_envy(
    case: Case, seat: SeatRecord, due: SeatSettlement, unjudged: Unjudged
) -> Iterator[Difference]:
    """The prize laid against the prize due.

    With unread hands the due sum is a least one: less is wrong, that much or more undecided.
    """
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
        yield Difference("envy", _hand_pay(seat.seat, ruling))
    if ruling.undecided and paid >= ruling.pay_cents:
        unjudged.add(ruling.undecided, "envy")
        return
    if paid == ruling.pay_cents or (ruling.hand_pay and paid < ruling.pay_cents):
        return
    open_wager = next((w.wager for w in seat.wagers if _may_have_a_payout(w)), None)
    if open_wager is not None and paid > ruling.pay_cents:
        unjudged.add(f"the chips may be the payout of {wager_name(open_wager)}", "envy")
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
    yield Difference("envy", finding, paid - ruling.pay_cents)


def _may_have_a_payout(wager: WagerRecord) -> bool:
    """Whether it is not known what was done with a wager beside whose spot payouts are laid."""
    return wager.action is None and wager.wager != "envy" and wager.wager not in JACKPOTS
