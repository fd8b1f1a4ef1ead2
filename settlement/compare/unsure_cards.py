"""Findings that hang on a card that was read with too little confidence for an alert.

A card is decided from a probability of 0.9 on, a finding is raised from 0.999 on. So each finding
is weighed by the listed cards of the record that are read with less than `ALERT_SHARE`: it is
compared again with each other name that such a card may have. What hangs on the card alone is worth
a look and no finding.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from settlement.compare.context import Unjudged, place_name
from settlement.compare.evidence import LIKELY, SURE_FINDING
from settlement.compare.finding import Finding, FindingCode, Suspicion, card_words
from settlement.record import DealerRecord, RoundRecord, SeatRecord, UnsureCard

_PLACE = re.compile(r"(low|high)\[(\d)\]$")

_NOT_WEIGHED = frozenset({FindingCode.UNDECIDED, FindingCode.DECK, FindingCode.HAND_PAY})
"""A faulty deck is decided by evidence of its own, and a hand pay asks a person to look anyway."""

ALERT_SHARE = 0.99
"""On a card that is read with less no alert hangs. Of cards of new decks read so
(`models/faces/judge-15.json`, tune since) 350 are right and 16 wrong, of those from 0.99 to 0.999
595 and one, of surer ones 5,456 and one."""

Judge = Callable[[RoundRecord], list[Finding]]


def weigh_cards(
    record: RoundRecord, findings: list[Finding], judge: Judge
) -> tuple[list[Finding], list[Suspicion]]:
    """The findings that stand whatever the unsure cards are, and the others as suspicions.

    `judge` gives the findings of a record. Errors of two cards add up: the probability of a finding
    is 1 less that of all names, of each card by itself, with which it is not found.
    """
    listed = (record.confidence.cards if record.confidence else None) or ()
    unsure = [card for card in listed if card.may_be[0][1] < ALERT_SHARE]
    weighed = [f for f in findings if f.code not in _NOT_WEIGHED]
    if not unsure or not weighed:
        return findings, []
    without = [0.0] * len(weighed)
    culprits: list[tuple[float, UnsureCard] | None] = [None] * len(weighed)
    for card in unsure:
        lost = [0.0] * len(weighed)
        for share, other in _ways(record, card):
            found = {_sign(f) for f in judge(other)}
            for n, finding in enumerate(weighed):
                lost[n] += share * (_sign(finding) not in found)
        for n, share in enumerate(lost):
            without[n] += share
            if share > (culprits[n] or (0.0,))[0]:
                culprits[n] = share, card
    out = list(findings)
    suspected = []
    for finding, share, culprit in zip(weighed, without, culprits, strict=True):
        if culprit is None or 1 - share >= SURE_FINDING:
            continue
        out.remove(finding)
        out = _with_undecided(out, finding, culprit[1])
        if 1 - share >= LIKELY:
            suspected.append(Suspicion(probability=round(1 - share, 4), finding=finding))
    return out, suspected


def _sign(finding: Finding) -> tuple[FindingCode, int | None, str | None]:
    return finding.code, finding.seat, finding.wager


def _ways(record: RoundRecord, card: UnsureCard) -> Iterator[tuple[float, RoundRecord]]:
    """The record with each other name of a card, and its probability; they have all that is left
    for other names than the card's own."""
    place = _PLACE.match(card.what)
    if place is None:
        return
    box, at = place[1], int(place[2])
    hands: Sequence[DealerRecord | SeatRecord] = (
        (record.dealer,) if card.seat is None
        else tuple(seat for seat in record.seats if seat.seat == card.seat)
    )  # fmt: skip
    for hand in hands:
        names = getattr(hand, box) or ()
        if at >= len(names):
            continue
        shares = {name: share for name, share in card.may_be if name != names[at] and share > 0}
        whole = sum(shares.values())
        left = 1 - dict(card.may_be).get(names[at], 1.0)
        for name, share in shares.items():
            own = hand.model_copy(update={box: (*names[:at], name, *names[at + 1 :])})
            yield share / whole * left, _with_hand(record, hand, own)


def _with_hand(
    record: RoundRecord, hand: DealerRecord | SeatRecord, own: DealerRecord | SeatRecord
) -> RoundRecord:
    if hand is record.dealer:
        return record.model_copy(update={"dealer": own})
    seats = tuple(own if seat is hand else seat for seat in record.seats)
    return record.model_copy(update={"seats": seats})


def _with_undecided(findings: list[Finding], lost: Finding, card: UnsureCard) -> list[Finding]:
    """The findings, and that one more was not judged for a card's sake."""
    whose = "the dealer's hand" if card.seat is None else f"seat {card.seat}'s hand"
    name, share = card.may_be[0]
    place = card_words(card.what)
    cause = f"{whose}: {place} was read as {name} with a probability of {share:.3f} only"
    unjudged = Unjudged()
    unjudged.add(cause, lost.wager)
    if not unjudged.wagers:
        unjudged.wagers.append(
            "the house way" if lost.code is FindingCode.HOUSE_WAY else lost.code.value
        )
    named = ", ".join(unjudged.wagers)
    for n, own in enumerate(findings):
        if own.code is FindingCode.UNDECIDED and own.seat == lost.seat:
            update = {
                "seen": f"{own.seen}; {cause}",
                "due": f"{own.due}, {named}",
                "message": f"{own.message} For {cause}, not judged: {named}.",
            }
            return [*findings[:n], own.model_copy(update=update), *findings[n + 1 :]]
    message = f"{place_name(lost.seat)} was not fully read: {cause}. Not judged: {named}."
    return [
        *findings,
        Finding.of(
            FindingCode.UNDECIDED, seat=lost.seat, seen=cause, due=f"not judged: {named}",
            rule="what was not read is neither right nor wrong", message=message,
        ),
    ]  # fmt: skip
