"""Games: one plain module each, found by the id that a table file names."""

from __future__ import annotations

from settlement.games import (
    emperors_challenge_exposed,
    imperial_pai_gow_draw,
    pai_gow_poker,
)
from settlement.games.base import JACKPOTS, Game
from settlement.games.terms import Terms, TermsCache

GAMES: dict[str, Game] = {
    game.id: game
    for game in (
        emperors_challenge_exposed.GAME,
        emperors_challenge_exposed.WASHINGTON_GAME,
        emperors_challenge_exposed.EARLIER_GAME,
        pai_gow_poker.GAME,
        imperial_pai_gow_draw.GAME,
    )
}
"""Every game by its id."""

LAMMER_KINDS = frozenset(lammer.kind for game in GAMES.values() for lammer in game.lammers)
"""Every lammer that some game has."""


def players_bank(game: str) -> bool:
    """Whether the bank goes round in a game; False in one that is not known.

    >>> players_bank("pai_gow_poker"), players_bank("imperial_pai_gow_draw")
    (True, False)
    """
    return game in GAMES and GAMES[game].players_bank


terms_for = TermsCache(GAMES).terms_for
"""Look up everything that a table's rules name; see `TermsCache.terms_for`."""

__all__ = ["GAMES", "JACKPOTS", "LAMMER_KINDS", "Game", "Terms", "players_bank", "terms_for"]
