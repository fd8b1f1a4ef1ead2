"""Parts of a round that were not read, by kind and cause: reading quality, not alerts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from settlement.compare.check import check_record
from settlement.compare.finding import FindingCode
from settlement.record import RoundRecord, Undecided
from settlement.rules import TableRules

_PARTS = {
    "low": "card",
    "high": "card",
    "cards": "card",
    "stake": "stake",
    "paid": "payout",
    "action": "what was done",
    "lammers": "lammer",
    "chips": "chips of no wager",
    "end": "end of the round",
    "gap": "bets",
}
"""Kinds of things, by the last or first part of their name in the record."""
_DETAILS = re.compile(r"\b(?:[2-9TJQKA][CDHS]|JOKER)\b|\$?\d+(?:[.,]\d+)*")
"""Values of one round only: cards, times, confidences, sums."""


def unread_of(record: RoundRecord, rules: TableRules) -> tuple[Undecided, ...]:
    """Return what a record says was not read, and what of it cannot be and so was misread."""
    impossible = (
        Undecided(seat=problem.seat, what=problem.wager or "record", why=problem.reason)
        for problem in check_record(record, rules)
        if problem.code is FindingCode.UNDECIDED
    )
    return (*record.undecided, *impossible)


def part_of(what: str) -> str:
    """Return the kind of a thing that was not read, from its name in the record.

    >>> [part_of(w) for w in ("high[2]", "main.stake", "envy.paid", "hand", "dealer.low[0]")]
    ['card', 'stake', 'payout', 'hand', 'card']
    """
    head, *rest = re.split(r"[.\[]", what.removeprefix("dealer."))
    named = rest[-1] if rest and rest[-1] in _PARTS else head
    return _PARTS.get(named, named.replace("_", " "))


def cause_of(why: str) -> str:
    """Return a reason with all that is of one round only left open.

    >>> cause_of("read as 7C with a share of 0.42 only")
    'read as … with a share of … only'
    """
    return _DETAILS.sub("…", why)


def count_unread(unread: Iterable[Undecided]) -> list[dict[str, Any]]:
    """Return how many things of each seat, kind and cause were not read.

    >>> cards = [Undecided(seat=2, what=f"low[{n}]", why="hidden") for n in (0, 1)]
    >>> count_unread(cards)
    [{'seat': 2, 'part': 'card', 'cause': 'hidden', 'things': 2}]
    """
    counts = Counter((entry.seat, part_of(entry.what), cause_of(entry.why)) for entry in unread)
    return [
        {"seat": seat, "part": part, "cause": cause, "things": many}
        for (seat, part, cause), many in counts.items()
    ]
