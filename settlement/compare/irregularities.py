"""Comparing what was moved too late: stakes after bets were closed, cards after hands were set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from settlement.cards import parse_cards
from settlement.compare.context import Case, place_name
from settlement.compare.finding import Finding, FindingCode, wager_name
from settlement.record import CardMove, DealerRecord, SeatRecord, WagerRecord
from settlement.ruling import Rule, money
from settlement.seven_card_hand import SevenCardHand
from settlement.stream_clock import clock, span_words

_WAGER = "Emperor's Challenge Wager"
_PROCEDURES: Mapping[str, tuple[tuple[str, str], tuple[str, str]]] = {
    "000_ecbb648c02a00a61.txt": (
        (_WAGER, "1 and 2, wagers are made before the deal"),
        (_WAGER, "4 and 5, hands are set, then compared"),
    ),
    "001_c719e91411763852.txt": (
        ("Dealing procedure", "2 to 4, wagers are placed before the deal"),
        ("Dealing procedure", "7 to 9, hands are set, then compared"),
    ),
    "002_a612a20b2ff3374e.txt": (
        (_WAGER, "2, cards are dealt after all wagers are placed"),
        (_WAGER, "4 and 5, hands are set, then compared"),
    ),
    "003_839020ec5d7be95d.txt": (
        ("Rules of Play", "1 and 2, wagers are made before the deal"),
        ("Rules of Play", "4 and 5, hands are set, then compared"),
    ),
    "004_85e5a972ed3a3af9.txt": (
        ("Wagers", "1, all wagers are made before the cards are delivered"),
        ("Rules of Play", "3 to 5, hands are set, then compared"),
    ),
}
"""By document, section and row of what closes the bets, and of what closes the setting."""


def judge_late(case: Case, seat: SeatRecord, wager: WagerRecord) -> Iterator[Finding]:
    """A stake that was another one when bets were closed."""
    late = wager.late
    if late is None or case.doubts.whole(seat.seat):
        return
    now = money(late.after_cents)
    was = money(late.before_cents) if late.before_cents else "no stake"
    name = wager_name(wager.wager)
    change = {
        "grew": f"grew from {was} to {now}",
        "shrank": f"shrank from {was} to {now}",
        "appeared": f"of {now} appeared",
    }[late.how]
    yield Finding.of(
        FindingCode.LATE_BET,
        seat=seat.seat,
        wager=wager.wager,
        seen=f"{now}; {was} until {clock(late.before_s)}",
        due=f"{was}, as when bets were closed",
        rule=_rule(case, 0),
        message=f"Seat {seat.seat}, {name}: the stake {change} after bets were closed, "
        f"{span_words(late.before_s, late.after_s)}.",
    )


def judge_moves(case: Case, hand: SeatRecord | DealerRecord) -> Iterator[Finding]:
    """Cards of a seat, or of the dealer, that moved after the hands were set."""
    seat = hand.seat if isinstance(hand, SeatRecord) else None
    if not hand.moves or case.doubts.whole(seat):
        return
    for move in hand.moves:
        if _resets_foul(case, hand, move) or _is_own(case, hand, move):
            continue
        cards = " and ".join(move.cards if move.kind != "seat" else move.cards[:1])
        cards = cards or "the player's arm"
        seen, due = _seen_and_due(move, seat)
        yield Finding.of(
            FindingCode.CARD_MOVED,
            seat=seat,
            seen=f"{cards} {seen}",
            due=due,
            rule=_rule(case, 1),
            message=f"{place_name(seat)}: {cards} {seen}, "
            f"{span_words(move.before_s, move.after_s)}.",
        )


def _resets_foul(case: Case, hand: SeatRecord | DealerRecord, move: CardMove) -> bool:
    """Whether a fouled hand was laid again, where the house does so (reading ST-2)."""
    if case.rules.readings.foul != "reset" or move.kind != "hand" or isinstance(hand, DealerRecord):
        return False
    low, moved = frozenset(hand.low or ()), frozenset(move.cards)
    cards = (*(hand.low or ()), *(hand.high or ()))
    if len(set(cards)) != 7:
        return False
    was = low ^ moved
    before = SevenCardHand.of(
        parse_cards(c for c in cards if c in was),
        parse_cards(c for c in cards if c not in was),
        case.rules.ranking,
        case.rules.readings,
    )
    return before.foul_reason is not None


def _is_own(case: Case, hand: SeatRecord | DealerRecord, move: CardMove) -> bool:
    """Whether a reach went to another hand of the same player."""
    player = hand.player if isinstance(hand, SeatRecord) else None
    if move.kind != "reach" or player is None:
        return False
    return any(seat.seat == move.to_seat and seat.player == player for seat in case.record.seats)


def _seen_and_due(move: CardMove, seat: int | None) -> tuple[str, str]:
    """What happened to a move's cards, and what should have."""
    whose = "the hands were set" if seat is None else "the hand was shown"
    if move.kind == "hand":
        return f"changed between low and high hand after {whose}", "hands left as they were set"
    if move.kind == "seat":
        where = "the dealer" if move.to_seat is None else f"seat {move.to_seat}"
        what = f"changed places with a card of {where}, {move.cards[-1]},"
        return f"{what} after {whose}", "hands left as they were set"
    if move.kind == "reach":
        return (
            f"was over the cards of seat {move.to_seat}, which lay set and face down: cards may "
            "have changed seats",
            "hands left as they were set",
        )
    if move.kind == "face_up":
        return (
            "lay face up before the dealer turned the hand up",
            "face down until the dealer turns the hand up",
        )
    return f"turned face down after {whose}", "face up until the cards are taken"


def _rule(case: Case, which: int) -> str:
    document = case.terms.game.document
    section, row = _PROCEDURES[document][which]
    return str(Rule(document=document, section=section, row=row))
