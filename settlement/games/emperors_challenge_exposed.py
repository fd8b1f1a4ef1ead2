"""Emperor's Challenge Exposed in its three editions.

Nevada (`002_a612a20b2ff3374e.txt`), Washington (`003_839020ec5d7be95d.txt`) and an earlier
one (`000_ecbb648c02a00a61.txt`). They differ in the wagers they offer, in the
commission-free option printed first, and in where their lines stand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from settlement.games.base import EnvyRule, Game, LammerRule, MainRule, SeatView
from settlement.games.main_bets import Lines, beat_both, played
from settlement.games.side_wagers import (
    ace_high_pai_gow_insurance,
    own_hand,
    pai_gow_insurance,
)
from settlement.rules import MainOption
from settlement.ruling import PUSH, Pay, Rule, Ruling
from settlement.seven_card_hand import SevenCardHand, Unread

_KING_HIGH_OR_LESS = frozenset({"nine_high", "ten_high", "jack_high", "queen_high", "king_high"})
_PUSHING: Mapping[MainOption, frozenset[str]] = {
    "ace_high_push": frozenset({"ace_high"}),
    "king_high_or_less_push": _KING_HIGH_OR_LESS,
    "any_pai_gow_pays_half": frozenset(),
}
"""The dealer's pai gow hands that make all main wagers push (readings ST-3, ST-3c)."""


@dataclass(frozen=True, slots=True)
class _Edition:
    lines: Lines
    options: Mapping[MainOption, Rule]


def _main_of(edition: _Edition) -> MainRule:
    """The main wager of an edition (readings ST-1 to ST-3).

    The dealer's hands count as they were set. A push of all main wagers comes before
    anything else, a foul included unless the house lets fouls lose always.
    """
    lines = edition.lines

    def main_bet(view: SeatView) -> Ruling:
        dealer = view.dealer
        if isinstance(dealer, Unread):
            return Ruling.unknown(dealer.reason)
        option = view.option
        assert option is not None, "the terms of such a game have an option"
        pushes = dealer.pai_gow in _PUSHING[option]
        always_loses = view.rules.readings.foul == "always_loses"
        if pushes and not always_loses:
            return _all_push(edition, option, dealer)
        hand = played(view, lines)
        if isinstance(hand, Ruling):
            return hand
        if pushes:
            return _all_push(edition, option, dealer)
        half = None
        if option == "any_pai_gow_pays_half" and dealer.pai_gow:
            why = f"both hands beat the dealer's, who has a pai gow ({dealer.pai_gow_name})"
            half = Ruling.of(
                Pay.to_one(Fraction(1, 2)), edition.options[option], f"{why}: pays 1 to 2"
            )
        return beat_both(view, hand, dealer, lines, half)

    return main_bet


def _all_push(edition: _Edition, option: MainOption, dealer: SevenCardHand) -> Ruling:
    return Ruling.of(
        PUSH, edition.options[option], f"the dealer's {dealer.pai_gow_name} pushes all"
    )


NEVADA = "002_a612a20b2ff3374e.txt"
WASHINGTON = "003_839020ec5d7be95d.txt"
EARLIER = "000_ecbb648c02a00a61.txt"
_WAGER = "Emperor's Challenge Wager"
_OPTIONS = "Alternative Commission-Free Options"


def _rule(document: str, section: str, row: str) -> Rule:
    return Rule(document=document, section=section, row=row)


_NEVADA = _Edition(
    Lines(
        NEVADA,
        _WAGER,
        foul="4, foul",
        win="5.b.i, both hands beat",
        push="5.b.ii, one hand beats",
        lose="5.b.iii, both hands lose or tie",
    ),
    {
        "ace_high_push": _rule(NEVADA, _WAGER, "5.a, dealer's Ace-high pai gow"),
        "king_high_or_less_push": _rule(NEVADA, _OPTIONS, "King-high pai gow or less"),
        "any_pai_gow_pays_half": _rule(NEVADA, _OPTIONS, "any pai gow pays 1 to 2"),
    },
)
_WASHINGTON = _Edition(
    Lines(
        WASHINGTON,
        "Rules of Play",
        foul="4, foul",
        win="5.b.i, both hands greater",
        push="5.b.ii, one hand greater",
        lose="5.b.iii, both hands less",
    ),
    {
        "king_high_or_less_push": _rule(
            WASHINGTON, "Rules of Play", "5.a, Commission-Free Option #1"
        ),
        "ace_high_push": _rule(WASHINGTON, "Rules of Play", "Commission-Free Option #2"),
        "any_pai_gow_pays_half": _rule(WASHINGTON, "Rules of Play", "Commission-Free Option #3"),
    },
)
_EARLIER = _Edition(
    Lines(
        EARLIER,
        _WAGER,
        foul="4, foul",
        win="5.a.i, both hands greater",
        push="5.b, one hand greater",
        lose="5.c, both hands less",
    ),
    {
        "any_pai_gow_pays_half": _rule(EARLIER, _WAGER, "5.a.ii, any pai gow pays 1 to 2"),
        "king_high_or_less_push": _rule(EARLIER, _OPTIONS, "king-high pai gow or less"),
        "ace_high_push": _rule(EARLIER, _OPTIONS, "ace-high pai gow"),
    },
)


def _lammers(document: str, treasure: str, insurance: str) -> tuple[LammerRule, ...]:
    return (
        LammerRule(
            "envy",
            "emperors_treasure",
            _rule(document, treasure, "Envy Bonus, lammer"),
            envy=True,
        ),
        LammerRule(
            "dealer",
            "pai_gow_insurance",
            _rule(document, insurance, "wager on the dealer's hand"),
        ),
    )


_SIDE = {
    "pai_gow_insurance": pai_gow_insurance,
    "ace_high_pai_gow_insurance": ace_high_pai_gow_insurance,
    "emperors_treasure": own_hand,
    "pai_gow_insurance_progressive": own_hand,
    "emperors_treasure_progressive": own_hand,
}

_SECOND = {"emperors_treasure_progressive_2": own_hand}

GAME = Game(
    id="emperors_challenge_exposed",
    title="Emperor's Challenge Exposed (Nevada)",
    document=NEVADA,
    main=_main_of(_NEVADA),
    # Appendices E, F and G are three treasure jackpots, each a wager of its own.
    side={**_SIDE, **_SECOND, "emperors_treasure_progressive_3": own_hand},
    # Appendix C, note 4: the dealer's hand and the own hand alone are left out.
    envy=EnvyRule("emperors_treasure", own_hands=True),
    lammers=_lammers(NEVADA, "Emperor's Treasure", "Pai Gow Insurance"),
    main_options=tuple(_NEVADA.options),
    copies_fixed="002, Emperor's Challenge Wager, 5.b: a tie does not beat the dealer",
)

WASHINGTON_GAME = Game(
    id="emperors_challenge_exposed_washington",
    title="Emperor's Challenge Exposed (Washington)",
    document=WASHINGTON,
    main=_main_of(_WASHINGTON),
    side={**_SIDE, **_SECOND},
    # Envy Bonus: one hand of a player may trigger the prize of the player's other hand.
    envy=EnvyRule("emperors_treasure", own_hands=True),
    lammers=_lammers(WASHINGTON, "Emperor's Treasure (felt)", "Pai Gow Insurance (felt)"),
    main_options=tuple(_WASHINGTON.options),
    single={
        "pai_gow_insurance": _rule(
            WASHINGTON, "Pai Gow Insurance (felt)", "only one such wager may be placed"
        )
    },
    envy_fixed="003, Envy Bonus: a wager of $5 or more per hand",
    jackpots_most=2,
)

EARLIER_GAME = Game(
    id="emperors_challenge_exposed_earlier",
    title="Emperor's Challenge Exposed (earlier edition)",
    document=EARLIER,
    main=_main_of(_EARLIER),
    side={name: rule for name, rule in _SIDE.items() if name != "ace_high_pai_gow_insurance"},
    # Appendix B, note 4: the player who had the hand is left out.
    envy=EnvyRule("emperors_treasure", own_hands=False),
    lammers=_lammers(EARLIER, "Emperor's Treasure (with Envy Bonus)", "Pai Gow Insurance"),
    main_options=tuple(_EARLIER.options),
)
