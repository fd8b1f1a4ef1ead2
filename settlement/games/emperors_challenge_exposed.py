"""Emperor's Challenge Exposed, Nevada edition (`002_a612a20b2ff3374e.txt`)."""

from __future__ import annotations

from fractions import Fraction

from settlement.games.base import Game, LammerRule, SeatView
from settlement.games.side_wagers import (
    ace_high_pai_gow_insurance,
    emperors_treasure,
    pai_gow_insurance,
)
from settlement.rules import MainOption
from settlement.ruling import LOSS, PUSH, Pay, Rule, Ruling
from settlement.seven import SevenCards, Unread

DOCUMENT = "002_a612a20b2ff3374e.txt"
_MAIN = "Emperor's Challenge Wager"
_OPTIONS = "Alternative Commission-Free Options"

_PUSHES: dict[MainOption, tuple[frozenset[str], Rule]] = {
    "ace_high_push": (
        frozenset({"ace_high"}),
        Rule(document=DOCUMENT, section=_MAIN, row="5.a, dealer's Ace-high pai gow"),
    ),
    "king_high_or_less_push": (
        frozenset({"nine_high", "ten_high", "jack_high", "queen_high", "king_high"}),
        Rule(document=DOCUMENT, section=_OPTIONS, row="King-high pai gow or less"),
    ),
    "any_pai_gow_pays_half": (
        frozenset(),
        Rule(document=DOCUMENT, section=_OPTIONS, row="any pai gow pays 1 to 2"),
    ),
}
"""The dealer's pai gow hands that make all main wagers push, by option (reading ST-3)."""


def _line(row: str) -> Rule:
    return Rule(document=DOCUMENT, section=_MAIN, row=row)


def main_bet(view: SeatView) -> Ruling:
    """Decide the main wager (002, Emperor's Challenge Wager, 5; readings ST-1 to ST-3).

    The dealer's hands count as they were set. A push of all main wagers comes before
    anything else, a foul included; then a foul loses.
    """
    dealer = view.dealer
    if isinstance(dealer, Unread):
        return Ruling.unknown(dealer.reason)
    pushing, rule = _PUSHES[view.rules.main_option]
    if dealer.pai_gow in pushing:
        return Ruling.of(PUSH, rule, f"the dealer's {dealer.pai_gow_name} pushes all")
    if isinstance(view.hand, Unread):
        return Ruling.unknown(view.hand.reason)
    if view.hand.foul_reason:
        return Ruling.of(LOSS, _line("4, foul"), f"foul: {view.hand.foul_reason}")
    return _compare(view, view.hand, dealer)


def _compare(view: SeatView, hand: SevenCards, dealer: SevenCards) -> Ruling:
    """Standard reconciliation; a copy is the dealer's (002, 5.b)."""
    if dealer.split is None or hand.split is None:
        return Ruling.unknown(f"the dealer's hand: {dealer.foul_reason}")
    low = hand.split.low_rank > dealer.split.low_rank
    high = hand.split.high_rank > dealer.split.high_rank
    if low and high:
        if view.rules.main_option == "any_pai_gow_pays_half" and dealer.pai_gow:
            _, rule = _PUSHES["any_pai_gow_pays_half"]
            why = f"both hands beat the dealer's, who has a pai gow ({dealer.pai_gow_name})"
            return Ruling.of(Pay.to_one(Fraction(1, 2)), rule, f"{why}: pays 1 to 2")
        return Ruling.of(
            Pay.to_one(Fraction(1)),
            _line("5.b.i, both hands beat"),
            "both hands beat the dealer's: pays 1 to 1",
        )
    if low or high:
        winner = "low" if low else "high"
        return Ruling.of(
            PUSH,
            _line("5.b.ii, one hand beats"),
            f"only the {winner} hand beats the dealer's",
        )
    return Ruling.of(
        LOSS, _line("5.b.iii, both hands lose or tie"), "both hands lose to or tie the dealer's"
    )


GAME = Game(
    id="emperors_challenge_exposed",
    title="Emperor's Challenge Exposed (Nevada)",
    document=DOCUMENT,
    main=main_bet,
    side={
        "pai_gow_insurance": pai_gow_insurance,
        "ace_high_pai_gow_insurance": ace_high_pai_gow_insurance,
        "emperors_treasure": emperors_treasure,
    },
    envy_on="emperors_treasure",
    lammers=(
        LammerRule(
            "envy",
            "emperors_treasure",
            Rule(document=DOCUMENT, section="Emperor's Treasure", row="Envy Bonus, lammer"),
            envy=True,
        ),
        LammerRule(
            "dealer",
            "pai_gow_insurance",
            Rule(document=DOCUMENT, section="Pai Gow Insurance", row="wager on the dealer's hand"),
        ),
    ),
)
