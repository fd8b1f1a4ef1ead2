"""Traditional Pai Gow Poker with 5% commission (`004_85e5a972ed3a3af9.txt`).

The bank goes round: the house or a player may hold it. The document's appendices are
missing; those of the earlier edition of Emperor's Challenge Exposed stand in (ST-21).
"""

from __future__ import annotations

from settlement.games.base import EnvyRule, Game, LammerRule, SeatView
from settlement.games.main_bets import EVEN_MONEY, Lines, beat_both, played
from settlement.games.side_wagers import own_hand, pai_gow_insurance
from settlement.rules import Commission, SeveralHands, WagerLimit
from settlement.ruling import Rule, Ruling
from settlement.seven_card_hand import SevenCardHand, Unread

DOCUMENT = "004_85e5a972ed3a3af9.txt"
TABLES = "000_ecbb648c02a00a61.txt"
"""Where the pay tables are taken from, and the lammer of the insurance."""

_LINES = Lines(
    DOCUMENT,
    "Rules of Play",
    foul="3, foul",
    win="5.a, both hands greater",
    push="5.b, one hand greater",
    lose="5.c, both hands less",
)


def main_bet(view: SeatView) -> Ruling:
    """Decide the main wager (004, Rules of Play, 5; readings ST-1, ST-2, ST-5).

    A player who banks and fouls loses to all who did not foul.
    """
    hand = played(view, _LINES)
    if isinstance(hand, Ruling):
        return hand
    opponent = view.opponent
    if isinstance(opponent, Unread):
        return Ruling.unknown(opponent.reason)
    if opponent.foul_reason and view.opponent_name != "the dealer":
        return _banker_fouled(view, opponent)
    return beat_both(view, hand, opponent, _LINES)


def _banker_fouled(view: SeatView, opponent: SevenCardHand) -> Ruling:
    return Ruling.of(
        EVEN_MONEY,
        _LINES.rule(_LINES.foul),
        f"{view.opponent_name} fouled ({opponent.foul_reason}): pays 1 to 1",
    )


GAME = Game(
    id="pai_gow_poker",
    title="Traditional Pai Gow Poker / Emperor's Challenge, 5% commission",
    document=DOCUMENT,
    main=main_bet,
    side={
        "pai_gow_insurance": pai_gow_insurance,
        "emperors_treasure": own_hand,
        # Rules of Play, 1: "Jackpot wagers", those of the tables that stand in (ST-21).
        "pai_gow_insurance_progressive": own_hand,
        "emperors_treasure_progressive": own_hand,
    },
    # Envy Bonus: one of a player's hands may trigger the prize of the other.
    envy=EnvyRule("emperors_treasure", own_hands=True),
    lammers=(
        LammerRule(
            "envy",
            "emperors_treasure",
            Rule(document=DOCUMENT, section="Envy Bonus", row="wager of $5 or more per hand"),
            envy=True,
        ),
        LammerRule(
            "dealer",
            "pai_gow_insurance",
            Rule(document=TABLES, section="Appendix A", row="note 5, wager on the dealer's hand"),
        ),
    ),
    tables_document=TABLES,
    commission=Commission(),
    several_hands=SeveralHands(),
    limits={"main": WagerLimit(min_cents=500, max_cents=50000)},
    players_bank=True,
    # Rules of Play, 2: each player and the banker, who may be one of the players.
    seats_most=7,
    envy_fixed="004, Envy Bonus: a wager of $5 or more per hand",
)
