"""Comparing what was done with the dealing procedure: hands and bets touched at a wrong time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from settlement.compare.context import Case
from settlement.compare.finding import Finding, FindingCode, wager_name
from settlement.dice import place_words
from settlement.procedures import Phase, procedure_of
from settlement.record import Breach, SeatRecord
from settlement.ruling import Rule
from settlement.stream_clock import span_words

_BETS_CLOSED = "bets were closed"
_SEEN: Mapping[str, str] = {
    "taken_up": "the set hand was taken up again after {when}",
    "looked_at": "a part of the set hand was taken up again after {when}",
    "set_late": "the hand was not yet set after {when}",
    "shown_early": "the hand was turned up before {when}",
    "bet_touched": "the stake was lifted and laid again after {when}",
    "bet_taken": "the stake was taken away after {when}",
    "coin_unregistered": "the sensor's lamp was lit, and its system has no coin registered",
    "coin_unseen": "the sensors' system has a coin registered, and the lamp stayed unlit",
    "second_discard": "a second card was discarded",
    "discard_late": "a card was discarded after the hand was set",
}
_DUE: Mapping[str, str] = {
    "taken_up": "hands set and left alone before {when}",
    "looked_at": "hands set and left alone before {when}",
    "set_late": "hands set and left alone before {when}",
    "shown_early": "hands face down until {when}",
    "bet_touched": "stakes left alone from the deal until they are settled",
    "bet_taken": "stakes left alone from the deal until they are settled",
    "coin_unregistered": "each coin that is taken in is registered",
    "coin_unseen": "each coin that is registered lights its sensor",
    "second_discard": "one card discarded at most",
    "discard_late": "a card discarded before hands are set, or none",
}
_WHEN: Mapping[Phase, str] = {
    Phase.DEALT: _BETS_CLOSED,
    Phase.DEALER_SET: "the dealer's cards were shown",
    Phase.SETTLING: "the first hand was turned up",
}


def judge_breaches(case: Case, seat: SeatRecord) -> Iterator[Finding]:
    """What a seat did that its game's dealing procedure forbids."""
    procedure = procedure_of(case.rules.game)
    if not seat.breaches or procedure is None or case.doubts.whole(seat.seat):
        return
    for breach in seat.breaches:
        document = case.terms.game.document
        rule = procedure.breach(breach.kind, document)
        if rule is None or _is_late_bet(seat, breach):
            continue
        phase = rule.until or rule.since
        when = _WHEN.get(phase, phase.value)
        seen = _SEEN[breach.kind].format(when=when)
        section = rule.sections[document[:3]]
        yield Finding.of(
            FindingCode.PROCEDURE,
            seat=seat.seat,
            wager=breach.wager,
            seen=seen,
            due=_DUE[breach.kind].format(when=when),
            rule=str(Rule(document=document, section=section, row=rule.says)),
            message=_message(seat.seat, seen, breach),
        )


def judge_dice(case: Case) -> Iterator[Finding]:
    """A first hand that went to another place than the dice name."""
    dice, procedure = case.record.dice, procedure_of(case.rules.game)
    if dice is None or dice.due is None or dice.before_due is None or procedure is None:
        return
    document = case.terms.game.document
    rule = procedure.breach("wrong_first_seat", document)
    if rule is None:
        return
    due, got = place_words(dice.due), place_words(dice.before_due)
    *others, last = (str(value) for value in dice.values)
    values = f"{', '.join(others)} and {last}" if others else last
    went = f"It went to {got}" if dice.first == dice.before_due else f"Before that {got} got one"
    yield Finding.of(
        FindingCode.PROCEDURE,
        seat=None if dice.before_due == "dealer" else dice.before_due,
        seen=f"the first hand went to {got}" if dice.first else f"{got} got a hand before {due}",
        due=f"the first hand to {due}: the dice show {dice.total}",
        rule=str(Rule(document=document, section=rule.sections[document[:3]], row=rule.says)),
        message=f"The dice show {values}, in total {dice.total}: the first hand goes to {due}. "
        f"{went}.",
    )


def _is_late_bet(seat: SeatRecord, breach: Breach) -> bool:
    """Whether the stake came back as another one: that is a finding of its own."""
    wager = None if breach.wager is None else seat.wager(breach.wager)
    return wager is not None and wager.late is not None


def _message(seat: int, seen: str, breach: Breach) -> str:
    what = "" if breach.wager is None else f", {wager_name(breach.wager)}"
    return f"Seat {seat}{what}: {seen}, {span_words(breach.before_s, breach.after_s)}."
