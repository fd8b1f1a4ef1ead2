"""What a game is made of: a main bet, side wagers by the cards they depend on, and a prize."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from settlement.paytables.registry import PayRow, PayTable, Unlisted
from settlement.rules import Commission, MainOption, SeveralHands, TableRules, WagerLimit
from settlement.ruling import LOSS, Outcome, Rule, Ruling
from settlement.seven_card_hand import SevenCardHand, Unread


@dataclass(frozen=True, slots=True)
class SeatView:
    """All that a wager's rule may depend on.

    `opponent` is the hand that the main wager is played against: the dealer's, or that of
    the player who banks; `opponent_name` says whose. `set_again` is a fouled hand as the
    house way sets it, where the house resets fouls. `lammers` is None when they are not
    known; `lammers_doubt` then says why.

    >>> dealer = Unread("b")
    >>> view = SeatView(3, Unread("a"), dealer, dealer, "the dealer", TableRules(game="g"),
    ...                 None, frozenset({"dealer"}))
    >>> view.has_lammer("dealer")
    True
    """

    seat: int | None
    hand: SevenCardHand | Unread
    dealer: SevenCardHand | Unread
    opponent: SevenCardHand | Unread
    opponent_name: str
    rules: TableRules
    option: MainOption | None
    lammers: frozenset[str] | None
    lammers_doubt: str = ""
    set_again: SevenCardHand | None = None

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


@dataclass(frozen=True, slots=True)
class EnvyRule:
    """Who wins a prize for another's hand.

    `wager` is the one whose stake qualifies and whose categories trigger. With
    `own_hands` a player's other hand wins the prize too (reading ST-10); with
    `trigger_needs_wager` the hand that triggers must carry the wager (ST-9).

    >>> from settlement.games import GAMES
    >>> GAMES["imperial_pai_gow_draw"].envy
    EnvyRule(wager='imperial_side_bet', own_hands=False, trigger_needs_wager=True)
    """

    wager: str
    own_hands: bool
    trigger_needs_wager: bool = False


MainRule = Callable[[SeatView], Ruling]
SideRule = Callable[[SeatView], Held]

JACKPOTS: Mapping[str, str] = MappingProxyType(
    {
        "pai_gow_insurance_progressive": "pai_gow_insurance_progressive",
        "emperors_treasure_progressive": "emperors_treasure_progressive",
        "emperors_treasure_progressive_2": "emperors_treasure_progressive",
        "emperors_treasure_progressive_3": "emperors_treasure_progressive",
    }
)
"""Wagers on a sensor, paid "for 1", whose percentages come from a meter of their own.

Each is named with the wager whose pay tables it takes: a second and third sensor offer
another Emperor's Treasure jackpot as a game of its own (003, House and Progressive Jackpots;
002, Appendices E to G).
"""


@dataclass(frozen=True, slots=True)
class Game:
    """One game: data and rule functions, found by its id.

    `side` gives, for every wager that a pay table pays, what the cards hold.
    `main_options` are the commission-free options, the game's own first. `copies_fixed`
    names the line that says who wins a copy, where the document decides it.
    `dealer_cards` is 8 where the dealer draws. `players_bank` where the bank goes round.
    `tables_document` is the document of the pay tables where it is another one. `single`
    names wagers of which a seat may place only one, with the line that says so; `envy_fixed`
    the line that fixes the stake for envy at $5. `jackpots_most` and `seats_most` are how
    many sensors a layout, and how many seats a table, may have: 53 cards make seven hands,
    the dealer's among them, or seven of players where one of them banks.

    >>> from settlement.games import GAMES
    >>> sorted(GAMES["emperors_challenge_exposed_earlier"].side)[:2]
    ['emperors_treasure', 'emperors_treasure_progressive']
    """

    id: str
    title: str
    document: str
    main: MainRule
    side: Mapping[str, SideRule]
    envy: EnvyRule
    lammers: tuple[LammerRule, ...] = ()
    main_options: tuple[MainOption, ...] = ()
    copies_fixed: str | None = None
    commission: Commission | None = None
    several_hands: SeveralHands | None = None
    limits: Mapping[str, WagerLimit] = field(default_factory=dict)
    dealer_cards: int = 7
    players_bank: bool = False
    tables_document: str | None = None
    single: Mapping[str, Rule] = field(default_factory=dict)
    envy_fixed: str | None = None
    jackpots_most: int | None = None
    seats_most: int = 6

    @property
    def printed_in(self) -> str:
        """The document whose printings of pay tables are cited."""
        return self.tables_document or self.document

    @property
    def wagers(self) -> tuple[str, ...]:
        """Every wager the game knows, 'main' first."""
        return ("main", *self.side, "envy")


def rule_by_table(
    table: PayTable, held: Held, place: str, unlisted: Unlisted = "next_row"
) -> Ruling:
    """Decide a wager by its pay table: the highest row held, in printed order.

    When some categories are only possible, the outcome stands if every row that may be the
    first held agrees on it; the pay stands if only one row may be. `place` is the game's
    document, whose printing of the table is cited.
    """
    sure = table.row_for(held.sure, unlisted)
    if not held.possible:
        return _by_row(table, sure, held, place)
    rows = table.ranked(unlisted)
    above = rows if sure is None else rows[: rows.index(sure)]
    candidates: list[PayRow | None] = [row for row in above if row.category in held.possible]
    if not candidates:
        return _by_row(table, sure, held, place)
    candidates.append(sure)
    outcomes: set[Outcome] = {row.value.outcome if row else "lose" for row in candidates}
    if len(outcomes) > 1:
        return Ruling.unknown(held.reason)
    ruling = _by_row(table, sure, held, place)
    # Rows go from the highest down, so the first candidate has the best pay.
    best = candidates[0].value if candidates[0] else None
    return Ruling(ruling.outcome, None, ruling.rule, ruling.why, held.reason, best)


def _by_row(table: PayTable, row: PayRow | None, held: Held, place: str) -> Ruling:
    rule = table.rule(row, place)
    if row is None:
        return Ruling.of(LOSS, rule, f"{held.whose} is in no row of the pay table")
    pay = row.value
    if pay.outcome == "win":
        return Ruling.of(pay, rule, f"{table.name_of(row)} pays {pay}")
    verb = "pushes" if pay.outcome == "push" else "loses"
    return Ruling.of(pay, rule, f"{table.name_of(row)} {verb}")
