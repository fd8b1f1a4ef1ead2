"""Imperial Pai Gow Draw Poker (`001_c719e91411763852.txt`).

Players may change one card; the dealer takes an eighth and sets seven. Ties are the
player's, and wins pay 21 to 20.
"""

from __future__ import annotations

from fractions import Fraction

from settlement.games.base import EnvyRule, Game, SeatView
from settlement.games.main_bets import Lines, beat_or_tie_both, played
from settlement.games.side_wagers import own_hand
from settlement.ruling import Ruling

DOCUMENT = "001_c719e91411763852.txt"
ODDS = Fraction(21, 20)
_LINES = Lines(
    DOCUMENT,
    "Dealing procedure",
    foul="7, two-card low hand and five-card high hand",
    win="9.a, both hands beat or tie",
    push="9.c, otherwise",
    lose="9.b, both of the dealer's hands beat",
)


def main_bet(view: SeatView) -> Ruling:
    """Decide the Main Bet (001, 9; readings ST-1b, ST-2)."""
    hand = played(view, _LINES)
    return hand if isinstance(hand, Ruling) else beat_or_tie_both(view, hand, _LINES, ODDS)


GAME = Game(
    id="imperial_pai_gow_draw",
    title="Imperial Pai Gow Draw Poker",
    document=DOCUMENT,
    main=main_bet,
    side={"imperial_side_bet": own_hand},
    # 10.a: each other player is paid, and the hand must win on the Side Bet.
    envy=EnvyRule("imperial_side_bet", own_hands=False, trigger_needs_wager=True),
    copies_fixed="001, 9.a: ties are the player's",
    dealer_cards=8,
    envy_fixed="001, Dealing procedure, 10.a: each other player who bet $5 or more",
    # 3: the dealer is spots 1, 7 and 13, so six hands are dealt (ST-24).
    seats_most=5,
)
