"""What is impossible in a round record under a table's rules.

The command line refuses such a record; for one read from a camera the same problems are
findings. Settling itself never stops at them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from settlement.compare.finding import FindingCode
from settlement.errors import FeltwatchError
from settlement.games import JACKPOTS, LAMMER_KINDS, Terms, terms_for
from settlement.record import (
    DECK_LABELS,
    JOKER,
    DealerRecord,
    DynamicPay,
    RoundRecord,
    SeatRecord,
)
from settlement.rules import TableRules
from settlement.seven_card_hand import cards_held_twice, known_cards, place_name
from settlement.uncertainty import Doubts

HANDS_MOST = len(DECK_LABELS) // 7
"""Hands of seven cards that the deck makes, the dealer's among them."""

_NO_STAKE = "a stake of 0; leave a wager out that was not made"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something impossible: where, what, and the code under which it is reported.

    >>> print(Problem(FindingCode.DECK, 3, None, "6 cards, not 7"))
    seat 3: 6 cards, not 7
    >>> print(Problem(FindingCode.UNDECIDED, 2, "main", "stands twice"))
    seat 2, main: stands twice
    """

    code: FindingCode
    seat: int | None
    wager: str | None
    reason: str

    def __str__(self) -> str:
        """Place and reason in one line."""
        place = "round" if self.seat is None else f"seat {self.seat}"
        if self.seat is None and self.code is FindingCode.DECK:
            place = "dealer"
        return f"{place}{f', {self.wager}' if self.wager else ''}: {self.reason}"


def check_record(record: RoundRecord, rules: TableRules) -> list[Problem]:
    """Everything impossible in a record, in a fixed order.

    A card twice, two jokers, hands that were read but don't have seven cards, an eighth
    card where nobody draws; more hands than the deck makes; a seat or a wager named twice;
    a stake for a wager that the table lacks; an envy stake; a banker where players don't
    bank; meters and dynamic pays that no wager of the table has; a record of another game.
    Missing parts are no problem.
    Raises FeltwatchError when the rules name an unknown game, house way or pay table.

    >>> record = RoundRecord(round_id="r", table="t", game="emperors_challenge_exposed",
    ...                      seats=(SeatRecord(seat=1, low=("AS", "AS")),))
    >>> [str(p) for p in check_record(record, TableRules(game="emperors_challenge_exposed"))]
    ['seat 1: AS lies twice at seat 1']
    """
    terms = terms_for(rules)
    problems: list[Problem] = []
    if record.game != rules.game:
        reason = f"the record is of {record.game!r}, the table plays {rules.game!r}"
        problems.append(_odd(None, None, reason))
    if None not in (record.start_s, record.end_s) and (
        Decimal(record.end_s) < Decimal(record.start_s)  # type: ignore[arg-type]
    ):
        reason = f"it ends at {record.end_s} s, before it starts at {record.start_s} s"
        problems.append(_odd(None, None, reason))
    problems += _cards_twice(record)
    doubts = Doubts(record)
    problems += _miscounted(None, record.dealer, doubts, terms)
    seats = Counter(seat.seat for seat in record.seats)
    if len(seats) < len(record.seats):
        twice = sorted(number for number, count in seats.items() if count > 1)
        problems += [_odd(number, None, "the seat stands twice") for number in twice]
    if len(record.seats) > terms.game.seats_most:
        reason = f"{len(record.seats)} seats; {terms.game.id} has cards for {terms.game.seats_most}"
        problems.append(_odd(None, None, reason))
    problems += _hands_too_many(record, doubts)
    for seat in record.seats:
        problems += _lammers(seat)
        problems += _miscounted(seat.seat, seat, doubts, terms)
        problems += _wagers(record, seat, terms)
    problems += _bank(record, terms)
    problems += meter_problems(record, terms)
    problems += dynamic_problems(record, terms)
    return problems


def _odd(seat: int | None, wager: str | None, reason: str) -> Problem:
    return Problem(FindingCode.UNDECIDED, seat, wager, reason)


def _cards_twice(record: RoundRecord) -> Iterator[Problem]:
    for label, places in sorted(cards_held_twice(record).items()):
        where = ": " + " and ".join(place_name(place) for place in places)
        if len(set(places)) == 1:
            where = f" at {place_name(places[0])}".replace("at the dealer", "in the dealer's hands")
        seats = [place for place in places if place is not None]
        times = "twice" if len(places) == 2 else f"{len(places)} times"
        what = "a second joker: it" if label == JOKER else label
        yield Problem(
            FindingCode.DECK, min(seats, default=None), None, f"{what} lies {times}{where}"
        )


def _miscounted(
    seat: int | None, hand: SeatRecord | DealerRecord, doubts: Doubts, terms: Terms
) -> Iterator[Problem]:
    if hand.discard is not None and terms.game.dealer_cards == 7:
        reason = f"{hand.discard} as an eighth card, and nobody draws in {terms.game.id}"
        yield Problem(FindingCode.DECK, seat, None, reason)
    if hand.low is None or hand.high is None or doubts.hand(seat):
        return
    count = len(hand.low) + len(hand.high)
    if count not in (0, 7):
        reason = f"{count} cards ({len(hand.low)} low and {len(hand.high)} high), not 7"
        yield Problem(FindingCode.DECK, seat, None, reason)


def _hands_too_many(record: RoundRecord, doubts: Doubts) -> Iterator[Problem]:
    """Hands beyond those that can be dealt: seven seats and the dealer's (traditional game)."""

    def lies(seat: int | None, hand: SeatRecord | DealerRecord) -> bool:
        return bool(known_cards(hand) or (doubts.hand(seat) and not doubts.whole(seat)))

    seats = sum(lies(seat.seat, seat) for seat in record.seats)
    if seats >= HANDS_MOST and lies(None, record.dealer):
        reason = f"{seats} seats and the dealer have cards, but {len(DECK_LABELS)} cards make"
        yield _odd(None, None, f"{reason} {HANDS_MOST} hands")


def _lammers(seat: SeatRecord) -> Iterator[Problem]:
    """Lammers that no game has, or two alike; comparing finds those that this game lacks."""
    for kind, count in Counter(kind.lower() for kind in seat.lammers).items():
        if count > 1 and kind in LAMMER_KINDS:
            yield _odd(seat.seat, None, f"the {kind} lammer stands {count} times; list it once")
    for kind in seat.lammers:
        if kind.lower() not in LAMMER_KINDS:
            reason = f"{kind!r} is no lammer; there are {', '.join(sorted(LAMMER_KINDS))}"
            yield Problem(FindingCode.LAMMER, seat.seat, None, reason)


def _wagers(record: RoundRecord, seat: SeatRecord, terms: Terms) -> Iterator[Problem]:
    names = [wager.wager for wager in seat.wagers]
    for name in dict.fromkeys(names):
        if len(names) > 1 and names.count(name) > 1 and name not in terms.game.single:
            yield _odd(seat.seat, name, "the wager stands twice")
        if name != "main" and name not in terms.tables:
            offered = ", ".join(terms.offered)
            yield _odd(seat.seat, name, f"the table offers no such wager; it has {offered}")
    banks = record.banker == seat.seat or Doubts(record).banker() is not None
    free = (*JACKPOTS, "envy", *(("main",) if banks and terms.game.players_bank else ()))
    for wager in seat.wagers:
        if wager.stake_cents == 0 and wager.wager not in free:
            yield _odd(seat.seat, wager.wager, _NO_STAKE)
        if wager.wager == "envy" and wager.stake_cents:
            yield _odd(seat.seat, "envy", "a prize has no stake")
        if wager.paid_cents and wager.action in ("taken", "left"):
            what = f"{wager.paid_cents} cents were paid, and its action is {wager.action!r}"
            yield _odd(seat.seat, wager.wager, f"{what}; 'paid' is for chips that were laid")
        if None not in (wager.returned_cents, wager.paid_cents) and (
            wager.returned_cents > wager.paid_cents  # type: ignore[operator]
        ):
            what = f"{wager.returned_cents} cents were taken back of {wager.paid_cents} paid"
            yield _odd(seat.seat, wager.wager, what)
        if wager.payments:
            laid = sum(payment.cents for payment in wager.payments)
            if laid < 0 or wager.paid_cents not in (None, laid):
                reason = f"payments sum to {laid} cents, and paid_cents is {wager.paid_cents}"
                yield _odd(seat.seat, wager.wager, reason)


def _bank(record: RoundRecord, terms: Terms) -> Iterator[Problem]:
    seats = {seat.seat: seat for seat in record.seats}
    if record.banker is not None:
        if not terms.game.players_bank:
            yield _odd(record.banker, None, f"banks, and no player does in {terms.game.id}")
        elif record.banker not in seats:
            yield _odd(record.banker, None, "banks, but the seat is not in the record")
        else:
            main = seats[record.banker].wager("main")
            if main is not None and main.stake_cents:
                yield _odd(record.banker, "main", "the banker has no main wager")
    for wager in record.dealer.wagers:
        if wager.wager != "house":
            yield _odd(None, wager.wager, "the dealer plays no such wager; only 'house'")
        elif record.banker is None and wager.stake_cents and not Doubts(record).banker():
            yield _odd(None, "house", "the dealer stakes only where a player banks")
        elif wager.stake_cents == 0:
            yield _odd(None, "house", _NO_STAKE)
    if sum(wager.wager == "house" for wager in record.dealer.wagers) > 1:
        yield _odd(None, "house", "the wager stands twice")


def _levels(terms: Terms, wager: str) -> int:
    return max((row.level or 1 for row in terms.tables[wager].rows), default=1)


def meter_problems(record: RoundRecord, terms: Terms) -> Iterator[Problem]:
    """What cannot be of a record's meters."""
    shown = Counter((meter.wager, meter.level) for meter in record.meters or ())
    for (wager, level), count in shown.items():
        if wager not in terms.progressives:
            offered = ", ".join(terms.progressives) or "none"
            yield _odd(None, wager, f"a meter of no jackpot here; the table's jackpots: {offered}")
        elif count > 1:
            yield _odd(None, wager, f"the meter of level {level} stands twice")
        elif level > (levels := _levels(terms, wager)):
            yield _odd(None, wager, f"a meter of level {level}; its pay table has {levels}")


def dynamic_problems(record: RoundRecord, terms: Terms) -> Iterator[Problem]:
    """What cannot be of a record's dynamic pays."""
    if record.dynamic_pays is None:
        return
    if not terms.dynamic:
        yield _odd(None, None, "dynamic pays, and no pay table here has them")
        return
    yield from _dynamic_pays(record, record.dynamic_pays, terms)


def _dynamic_pays(
    record: RoundRecord, drawn: Sequence[DynamicPay], terms: Terms
) -> Iterator[Problem]:
    """One to three of a jackpot's fixed pays are replaced a round (002, Appendix G, note 4)."""
    named = Counter((entry.wager, entry.category) for entry in drawn)
    if any(count > 1 for count in named.values()):
        yield _odd(None, None, "a dynamic pay stands twice")
    for wager in sorted({entry.wager for entry in drawn if entry.wager} - terms.dynamic):
        offered = ", ".join(sorted(terms.dynamic))
        yield _odd(None, wager, f"dynamic pays of a wager that has none; {offered} has them")
    for wager in sorted(terms.dynamic):
        own = record.dynamic_pays_of(wager)
        if not own:
            yield _odd(None, wager, "no dynamic pay was drawn; a round has one to three")
        try:
            terms.tables[wager].with_dynamic(own)
        except FeltwatchError as error:
            yield _odd(None, wager, str(error))
