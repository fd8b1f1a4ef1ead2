"""What the parts of comparing share: the round at hand, what could not be judged, differences."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from settlement.compare.finding import Finding, wager_name
from settlement.games import Terms
from settlement.record import RoundRecord
from settlement.result import Settlement
from settlement.rules import TableRules
from settlement.uncertainty import Doubts


@dataclass
class Unjudged:
    """What of one seat could not be judged: causes and the wagers concerned.

    >>> unjudged = Unjudged()
    >>> unjudged.add("a chip was hidden", "main")
    >>> unjudged.add("main: a chip was hidden")
    >>> unjudged.causes, unjudged.wagers
    (['a chip was hidden'], ['main bet'])
    """

    causes: list[str] = field(default_factory=list)
    wagers: list[str] = field(default_factory=list)

    def add(self, cause: str | None, wager: str | None = None) -> None:
        """Note a cause, unless it is noted already, and a wager."""
        if cause and not any(cause.endswith(noted) for noted in self.causes):
            self.causes.append(cause)
        if wager and wager_name(wager) not in self.wagers:
            self.wagers.append(wager_name(wager))


@dataclass(frozen=True)
class Case:
    """A round, what was due in it, and what of it is in doubt.

    `hands_of`: how many hands each player has in the round.

    >>> sorted(field for field in Case.__dataclass_fields__)
    ['doubts', 'hands_of', 'record', 'rules', 'settlement', 'terms']
    """

    record: RoundRecord
    settlement: Settlement
    rules: TableRules
    doubts: Doubts
    terms: Terms
    hands_of: Counter[int]


@dataclass(frozen=True)
class Difference:
    """A finding about a payout, with how many cents too much (or, below 0, too little) lay there.

    `may_be`: what may have made it right, so that it stands only where it explains another one.

    >>> from settlement.compare.finding import FindingCode
    >>> finding = Finding.of(
    ...     FindingCode.NOT_PAID, seat=2, wager="main", seen="left", due="$25", rule="", message=""
    ... )
    >>> Difference("main", finding, -2500).cents
    -2500
    """

    wager: str
    finding: Finding
    cents: int | None = None
    may_be: str | None = None


def place_name(seat: int | None) -> str:
    """A seat's number in words; None is the dealer.

    >>> place_name(None), place_name(3)
    ('Dealer', 'Seat 3')
    """
    return "Dealer" if seat is None else f"Seat {seat}"
