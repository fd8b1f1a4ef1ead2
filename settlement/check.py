"""What is impossible in a round record under a table's rules.

The command line refuses such a record; for one read from a camera the same problems are
findings. Settling itself never stops at them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from settlement.doubt import Doubts
from settlement.finding import FindingCode
from settlement.games import Terms, terms_for
from settlement.record import JOKER, DealerRecord, RoundRecord, SeatRecord
from settlement.rules import TableRules
from settlement.seven import cards_held_twice, place_name


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

    A card twice, two jokers, hands that were read but don't have seven cards; a seat or a
    wager named twice; a stake for a wager that the table lacks; an envy stake; a record of
    another game. Missing parts are no problem. Raises FeltwatchError when the rules name
    an unknown game, house way or pay table.

    >>> record = RoundRecord(round_id="r", table="t", game="emperors_challenge_exposed",
    ...                      seats=(SeatRecord(seat=1, low=("AS", "AS")),))
    >>> [str(p) for p in check_record(record, TableRules(game="emperors_challenge_exposed"))]
    ['seat 1: AS lies twice: seat 1 and seat 1']
    """
    terms = terms_for(rules)
    problems: list[Problem] = []
    if record.game != rules.game:
        reason = f"the record is of {record.game!r}, the table plays {rules.game!r}"
        problems.append(Problem(FindingCode.UNDECIDED, None, None, reason))
    problems += _cards_twice(record)
    doubts = Doubts(record)
    problems += _miscounted(None, record.dealer, doubts)
    seats = Counter(seat.seat for seat in record.seats)
    for number in sorted(n for n, count in seats.items() if count > 1):
        problems.append(Problem(FindingCode.UNDECIDED, number, None, "the seat stands twice"))
    for seat in record.seats:
        problems += _miscounted(seat.seat, seat, doubts)
        problems += _wagers(seat, terms)
    return problems


def _cards_twice(record: RoundRecord) -> Iterator[Problem]:
    for label, places in sorted(cards_held_twice(record).items()):
        where = " and ".join(place_name(place) for place in places)
        seats = [place for place in places if place is not None]
        times = "twice" if len(places) == 2 else f"{len(places)} times"
        what = "a second joker: it" if label == JOKER else label
        yield Problem(
            FindingCode.DECK, min(seats, default=None), None, f"{what} lies {times}: {where}"
        )


def _miscounted(
    seat: int | None, hand: SeatRecord | DealerRecord, doubts: Doubts
) -> Iterator[Problem]:
    if hand.low is None or hand.high is None or doubts.hand(seat):
        return
    count = len(hand.low) + len(hand.high)
    if count not in (0, 7):
        reason = f"{count} cards ({len(hand.low)} low and {len(hand.high)} high), not 7"
        yield Problem(FindingCode.DECK, seat, None, reason)


def _wagers(seat: SeatRecord, terms: Terms) -> Iterator[Problem]:
    counts = Counter(wager.wager for wager in seat.wagers)
    for name, count in counts.items():
        if count > 1:
            yield Problem(FindingCode.UNDECIDED, seat.seat, name, "the wager stands twice")
        if name not in terms.offered:
            offered = ", ".join(terms.offered)
            reason = f"the table offers no such wager; it has {offered}"
            yield Problem(FindingCode.UNDECIDED, seat.seat, name, reason)
    for wager in seat.wagers:
        if wager.wager == "envy" and wager.stake_cents:
            reason = "a prize has no stake"
            yield Problem(FindingCode.UNDECIDED, seat.seat, "envy", reason)
