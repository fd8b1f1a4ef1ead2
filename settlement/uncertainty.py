"""What a record says could not be read, and what hangs on it."""

from __future__ import annotations

import re
from collections import defaultdict

from settlement.record import RoundRecord, Undecided

PARTS = ("stake", "paid", "action")
_HANDS = frozenset({"low", "high", "hand", "hands", "cards", "discard"})
_CHIPS = "chips"
"""Chips by a seat whose owner could not be determined: they may be what seems to be missing."""
_BANKER = "banker"
"""Who banks: main wagers hang on it, and nothing else."""
_HOUSE = "house"
"""The dealer's own wager: nothing else hangs on it."""
_METERS = "meters"
"""What a display shows: payouts from a meter hang on it, and have no sum without it."""
_HARMLESS = frozenset({"start", "end", "start_s", "end_s", "confidence", "dice", "first_hand"})


class Doubts:
    """The record's `undecided` entries, asked for by what they touch.

    An entry that names nothing known of a seat puts all of that seat in doubt; one of the
    whole table puts everything in doubt. Every answer is the reason, or None.

    >>> record = RoundRecord(round_id="r", table="t", game="g", undecided=(
    ...     Undecided(seat=4, what="high[2]", why="covered"),
    ...     Undecided(seat=4, what="main.paid", why="glare")))
    >>> doubts = Doubts(record)
    >>> doubts.hand(4), doubts.hand(1)
    ('high[2]: covered', None)
    >>> doubts.wager(4, "main", "paid"), doubts.wager(4, "main", "stake")
    ('main.paid: glare', None)
    """

    def __init__(self, record: RoundRecord) -> None:
        """Sort the record's entries by what they touch."""
        self._names = {"main", "envy"}
        if record.undecided:
            self._names |= {wager.wager for seat in record.seats for wager in seat.wagers}
        self._all: dict[int | None, str] = {}
        self._hands: dict[int | None, str] = {}
        self._lammers: dict[int, str] = {}
        self._chips: dict[int, str] = {}
        self._wagers: dict[tuple[int, str, str], str] = {}
        self._banker: str | None = None
        self._entries: dict[int | None, list[Undecided]] = defaultdict(list)
        for entry in record.undecided:
            self._entries[entry.seat].append(entry)
            self._add(entry)

    def _add(self, entry: Undecided) -> None:
        head, *rest = re.split(r"[.\[]", entry.what.removeprefix("dealer."))
        reason = f"{entry.what}: {entry.why}"
        if head in _HARMLESS or (entry.seat is None and head in (_HOUSE, _METERS)):
            return
        if entry.seat is None and head == _BANKER:
            self._banker = reason
            return
        if head in _HANDS or (entry.seat is None and head == "dealer"):
            self._hands.setdefault(entry.seat, reason)
        elif entry.seat is not None and head == "lammers":
            self._lammers.setdefault(entry.seat, reason)
        elif entry.seat is not None and head == _CHIPS:
            self._chips.setdefault(entry.seat, reason)
        elif entry.seat is not None and (rest or head in self._names):
            parts = [part for part in PARTS if part in rest] or list(PARTS)
            for part in parts:
                self._wagers.setdefault((entry.seat, head, part), reason)
        else:
            self._all.setdefault(entry.seat, reason)

    def entries(self, seat: int | None) -> list[Undecided]:
        """The entries of a seat, or of the dealer and the whole table (None)."""
        return self._entries.get(seat, [])

    def seats(self) -> set[int]:
        """The seats that have entries."""
        return {seat for seat in self._entries if seat is not None}

    def whole(self, seat: int | None) -> str | None:
        """Why nothing of a seat can be judged."""
        if not self._all:
            return None
        return self._all.get(None) or self._all.get(seat)

    def hand(self, seat: int | None) -> str | None:
        """Why a seat's hand, or the dealer's (None), is not known."""
        return self.whole(seat) or self._hands.get(seat)

    def banker(self) -> str | None:
        """Why it is not known who banks.

        >>> entry = Undecided(what="banker", why="two seats stake nothing")
        >>> doubts = Doubts(RoundRecord(round_id="r", table="t", game="g", undecided=(entry,)))
        >>> doubts.banker(), doubts.whole(None), doubts.hand(1)
        ('banker: two seats stake nothing', None, None)
        """
        return self._banker

    def lammers(self, seat: int) -> str | None:
        """Why a seat's lammers are not known."""
        return self.whole(seat) or self._lammers.get(seat)

    def chips(self, seat: int) -> str | None:
        """Why money that seems to be missing at a seat may lie there nevertheless.

        >>> entry = Undecided(seat=4, what="chips", why="by nobody's spot")
        >>> doubts = Doubts(RoundRecord(round_id="r", table="t", game="g", undecided=(entry,)))
        >>> doubts.chips(4), doubts.chips(1), doubts.wager(4, "main", "paid")
        ("chips: by nobody's spot", None, None)
        """
        return self.whole(seat) or self._chips.get(seat)

    def wager(self, seat: int, name: str, part: str) -> str | None:
        """Why the 'stake', 'paid' or 'action' of a seat's wager is not known."""
        if not self._entries:
            return None
        return self.whole(seat) or self._wagers.get((seat, name, part))
