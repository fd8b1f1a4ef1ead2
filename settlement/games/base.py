"""What a game is made of: a main bet, side wagers by what they look at, and a prize."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from settlement.paytable import PayRow, PayTable
from settlement.rules import TableRules
from settlement.ruling import LOSS, Outcome, Rule, Ruling
from settlement.seven import SevenCards, Unread


@dataclass(frozen=True, slots=True)
class SeatView:
    """All that a wager's rule may look at.

    `lammers` is None when they are not known; `lammers_doubt` then says why.

    >>> view = SeatView(3, Unread("a"), Unread("b"), TableRules(game="g"), frozenset({"dealer"}))
    >>> view.has_lammer("dealer")
    True
    """

    seat: int
    hand: SevenCards | Unread
    dealer: SevenCards | Unread
    rules: TableRules
    lammers: frozenset[str] | None
    lammers_doubt: str = ""

    def has_lammer(self, kind: str) -> bool | None:
        """Whether a lammer lies there; None when that is not known."""
        return None if self.lammers is None else kind in self.lammers


@dataclass(frozen=True, slots=True)
class Held:
    """Pay table categories that cards hold for sure, and those they may hold.

    `whose` names the cards in messages; `reason` says why some are only possible.

    >>> Held(frozenset({"flush"}), "the hand").possible
    frozenset()
    """

    sure: frozenset[str]
    whose: str
    possible: frozenset[str] = frozenset()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LammerRule:
    """Where one kind of lammer belongs.

    It lies by the stake of `wager`: always from the envy minimum on when `envy`, else by
    the player's choice, but never without a stake.

    >>> from settlement.games import GAMES
    >>> [lammer.kind for lammer in GAMES["emperors_challenge_exposed"].lammers]
    ['envy', 'dealer']
    """

    kind: str
    wager: str
    rule: Rule
    envy: bool = False


MainRule = Callable[[SeatView], Ruling]
SideRule = Callable[[SeatView], Held]


@dataclass(frozen=True, slots=True)
class Game:
    """One game: data and rule functions, found by its id.

    `side` gives, for every wager that a pay table pays, what the cards hold. `envy_on` is
    the wager whose stake qualifies for the envy prize and whose categories trigger it.

    >>> from settlement.games import GAMES
    >>> sorted(GAMES["emperors_challenge_exposed"].side)
    ['ace_high_pai_gow_insurance', 'emperors_treasure', 'pai_gow_insurance']
    """

    id: str
    title: str
    document: str
    main: MainRule
    side: Mapping[str, SideRule]
    envy_on: str | None = None
    lammers: tuple[LammerRule, ...] = ()

    @property
    def wagers(self) -> tuple[str, ...]:
        """Every wager the game knows, 'main' first."""
        envy = ("envy",) if self.envy_on else ()
        return ("main", *self.side, *envy)


def rule_by_table(table: PayTable, held: Held) -> Ruling:
    """Decide a wager by its pay table: the first row held, in printed order.

    When some categories are only possible, the outcome stands if every row that may be the
    first held agrees on it; the pay stands if only one row may be.
    """
    sure = table.row_for(held.sure)
    candidates: list[PayRow | None] = []
    for row in table.rows:
        if row is sure:
            break
        if row.category in held.possible:
            candidates.append(row)
    candidates.append(sure)
    if len(candidates) == 1:
        return _by_row(table, sure, held)
    outcomes: set[Outcome] = {row.value.outcome if row else "lose" for row in candidates}
    if len(outcomes) > 1:
        return Ruling.unknown(held.reason)
    ruling = _by_row(table, sure, held)
    return Ruling(ruling.outcome, None, ruling.rule, ruling.why, held.reason)


def _by_row(table: PayTable, row: PayRow | None, held: Held) -> Ruling:
    if row is None:
        return Ruling.of(LOSS, table.rule(None), f"{held.whose} is in no row of the pay table")
    pay = row.value
    verb = {"win": f"pays {pay}", "push": "pushes", "lose": "loses"}[pay.outcome]
    return Ruling.of(pay, table.rule(row), f"{table.name_of(row)} {verb}")
