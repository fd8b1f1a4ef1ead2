"""Cards that were not read: judged where every card that they may be says the same.

A deck has 53 cards, and those that lie elsewhere are known: a card that nobody could read is one
of a few. The round is settled and compared with each of them. What nearly all of them say is
said; the rest stays undecided. So one unread card of the dealer does not hide a whole round.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from settlement.compare.evidence import SURE_FINDING, SURE_ORDER
from settlement.compare.finding import Finding, FindingCode
from settlement.record import DECK_LABELS, DealerRecord, RoundRecord, SeatRecord, Undecided
from settlement.result import Settlement, WagerSettlement

MOST_WAYS = 120
"""Ways to name the unread cards that are tried; with more, hands that miss most are left out."""

OTHER_CARD = 0.02
"""The least probability left for all cards that a reading does not name; of no set: it can only
leave more undecided."""

_PLACE = re.compile(r"(low|high)\[(\d)\]$")
_OF_A_HAND = re.compile(r"(dealer\.)?(low|high|hands?|cards|discard)\b|dealer$")
_FULL = {"low": 2, "high": 5}
_NOTE = " One card or more were not read; what they may be makes no difference here."

Judge = Callable[[RoundRecord], list[Finding]]
Settle = Callable[[RoundRecord], Settlement]
Sign = frozenset[tuple[str, str | None]]


@dataclass(frozen=True, slots=True)
class OpenCard:
    """A card of a hand that is not known, and what it may be with probabilities of sum 1.

    >>> entry = Undecided(seat=4, what="low[1]", why="covered")
    >>> OpenCard(entry, "low", (("AS", 0.75), ("KD", 0.25))).names[0]
    ('AS', 0.75)
    """

    entry: Undecided
    box: str
    names: tuple[tuple[str, float], ...]


def judge_open(record: RoundRecord, findings: list[Finding], judge: Judge) -> list[Finding]:
    """The findings with what can be said although cards are not read.

    `findings` are those of the record as it is; `judge` gives the findings of a record whose
    open cards are named.
    """
    cards = open_cards(record)
    if not cards or not any(f.code is FindingCode.UNDECIDED for f in findings):
        return findings
    ways = [(share, judge(named)) for share, named in _ways(record, cards)]
    whole = sum(share for share, _ in ways)
    out: list[Finding] = []
    for place in dict.fromkeys(f.seat for f in findings):
        own = [f for f in findings if f.seat == place]
        if any(f.code is FindingCode.UNDECIDED for f in own):
            weighted = [
                (share / whole, [f for f in found if f.seat == place]) for share, found in ways
            ]
            own = _decided(own, weighted)
        out += own
    return out


def settle_open(
    record: RoundRecord, settlement: Settlement, findings: Sequence[Finding], settle: Settle
) -> Settlement:
    """The settlement with the dues that do not hang on the cards that were not read.

    `settlement` is that of the record as it is, `findings` are those of `judge_open`; `settle`
    settles a record whose open cards are named. What was judged is due as it was judged; hands
    stay unknown, and so does every due that another card may change.
    """
    cards = open_cards(record)
    if not cards:
        return settlement
    ways = [(share, settle(named)) for share, named in _ways(record, cards)]
    whole = sum(share for share, _ in ways)
    open_at = {f.seat for f in findings if f.code is FindingCode.UNDECIDED}
    seats = []
    for place, seat in enumerate(settlement.seats):
        least = (SURE_FINDING if seat.seat in open_at else SURE_ORDER) * whole
        dues = [
            _due(due, [(share, own.seats[place].wager(due.wager)) for share, own in ways], least)
            for due in seat.wagers
        ]
        dues = [due for due in dues if due is not None]
        seats.append(seat.model_copy(update={"wagers": tuple(dues)}))
    return settlement.model_copy(update={"seats": tuple(seats)})


def _due(
    due: WagerSettlement, ways: Sequence[tuple[float, WagerSettlement | None]], least: float
) -> WagerSettlement | None:
    """A wager's due, decided where cards of at least the probability `least` agree on it.

    None where they agree on no due at all: an envy prize that no hand wins.
    """
    if due.outcome is not None and not due.undecided:
        return due
    shares: defaultdict[tuple[str | None, int | None] | None, float] = defaultdict(float)
    first: dict[tuple[str | None, int | None] | None, WagerSettlement | None] = {}
    for share, own in ways:
        key = None if own is None else (own.outcome, own.pay_cents)
        shares[key] += share
        first.setdefault(key, own)
    likeliest = max(shares, key=lambda key: shares[key])
    if shares[likeliest] < least:
        return due
    found = first[likeliest]
    if found is None:
        return None
    if found.outcome is None or (due.outcome is not None and found.undecided):
        return due
    return found.model_copy(update={"why": f"{found.why}.{_NOTE}".removesuffix(".").lstrip(".")})


def open_cards(record: RoundRecord) -> list[OpenCard]:
    """The unread cards of hands of which all else is known, as many as can be tried."""
    hands: dict[int | None, DealerRecord | SeatRecord] = {None: record.dealer}
    hands |= {seat.seat: seat for seat in record.seats}
    seen = {
        card for hand in hands.values()
        for card in (*(hand.low or ()), *(hand.high or ()), hand.discard)
    }  # fmt: skip
    free = [name for name in DECK_LABELS if name not in seen]
    found: dict[int | None, list[OpenCard]] = defaultdict(list)
    for entry in record.undecided:
        place = _PLACE.match(entry.what)
        if place is None or entry.seat not in hands:
            continue
        # A place before the end of those named is in doubt itself, unless it was read and left out.
        if entry.may_be or int(place[2]) >= len(getattr(hands[entry.seat], place[1]) or ()):
            found[entry.seat].append(OpenCard(entry, place[1], _names(entry, free)))
    whole = [own for seat, own in found.items() if _fills(hands[seat], own, record, seat)]
    out: list[OpenCard] = []
    for own in sorted(whole, key=lambda own: (len(own), own[0].entry.seat or 0)):
        if math.prod(len(card.names) for card in (*out, *own)) <= MOST_WAYS:
            out += own
    return out


def _names(entry: Undecided, free: Sequence[str]) -> tuple[tuple[str, float], ...]:
    named = dict(entry.may_be or ())
    others = [name for name in free if name not in named]
    rest = max(OTHER_CARD, 1 - sum(named.values())) if others else 0.0
    shares = {**named, **{name: rest / len(others) for name in others}}
    whole = sum(shares.values())
    return tuple((name, share / whole) for name, share in shares.items() if share > 0)


def _fills(
    hand: DealerRecord | SeatRecord, own: Sequence[OpenCard], record: RoundRecord, seat: int | None
) -> bool:
    """Whether the hand is whole with these cards, and nothing else of it is in doubt."""
    missing = {box: full - len(getattr(hand, box) or ()) for box, full in _FULL.items()}
    undecided = {box: sum(card.box == box for card in own) for box in _FULL}
    known = {id(card.entry) for card in own}
    doubts = (e for e in record.undecided if e.seat == seat and id(e) not in known)
    return missing == undecided and not any(_OF_A_HAND.match(e.what) for e in doubts)


def _ways(record: RoundRecord, cards: Sequence[OpenCard]) -> Iterator[tuple[float, RoundRecord]]:
    """The record with each way to name the cards, no name twice among them."""
    left = tuple(e for e in record.undecided if all(e is not card.entry for card in cards))
    for names in product(*(card.names for card in cards)):
        if len({name for name, _ in names}) < len(names):
            continue
        more: defaultdict[int | None, dict[str, tuple[str, ...]]] = defaultdict(dict)
        for card, (name, _) in zip(cards, names, strict=True):
            own = more[card.entry.seat]
            own[card.box] = (*own.get(card.box, ()), name)
        dealer = record.dealer.model_copy(update=_with(record.dealer, more.get(None, {})))
        seats = tuple(
            seat.model_copy(update=_with(seat, more.get(seat.seat, {}))) for seat in record.seats
        )
        update = {"dealer": dealer, "seats": seats, "undecided": left}
        yield math.prod(share for _, share in names), record.model_copy(update=update)


def _with(
    hand: DealerRecord | SeatRecord, more: dict[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    return {box: (*(getattr(hand, box) or ()), *cards) for box, cards in more.items()}


def _decided(own: list[Finding], weighted: Sequence[tuple[float, list[Finding]]]) -> list[Finding]:
    """A seat's findings: those of the likeliest cards, or those found with nearly all of them.

    `weighted` holds each possible assignment of cards: its probability and its findings.
    """
    known = {(f.code, f.wager) for f in own}
    shares: defaultdict[Sign, float] = defaultdict(float)
    first: dict[Sign, list[Finding]] = {}
    single: defaultdict[tuple[str, str | None], float] = defaultdict(float)
    for share, found in weighted:
        kept = [f for f in found if f.code is not FindingCode.DECK or (f.code, f.wager) in known]
        for key in {(str(f.code), f.wager) for f in kept}:
            single[key] += share
        sign = frozenset((f.code, f.wager or f.due) for f in kept)
        shares[sign] += share
        first.setdefault(sign, kept)
    likeliest = max(shares, key=lambda sign: shares[sign])
    new = [f for f in first[likeliest] if _is_new(f, known)]
    if shares[likeliest] >= (SURE_FINDING if new else SURE_ORDER):
        return [_noted(f) if f in new else f for f in first[likeliest]]
    sure = {key for key, share in single.items() if share >= SURE_FINDING}
    more: dict[tuple[str, str | None], Finding] = {}
    for _, found in weighted:
        for f in found:
            if _is_new(f, known) and (f.code, f.wager) in sure:
                more.setdefault((f.code, f.wager), _noted(f))
    return [*more.values(), *own]


def _is_new(finding: Finding, known: set[tuple[FindingCode, str | None]]) -> bool:
    return (
        finding.code not in (FindingCode.UNDECIDED, FindingCode.DECK)
        and (finding.code, finding.wager) not in known
    )


def _noted(finding: Finding) -> Finding:
    return finding.model_copy(update={"message": finding.message + _NOTE})
