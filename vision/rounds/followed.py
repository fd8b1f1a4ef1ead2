"""The games whose dealing procedure the camera follows.

The rules of more games are known than can be watched: a game is followed when the round
tracker knows the order in which its cards and bets come to lie. This is the one place that
says which; a tracker that learns another game adds its id here.
"""

from __future__ import annotations

from pathlib import Path

from settlement.errors import FeltwatchError
from settlement.games import GAMES
from vision.geometry.table import TableFile

FOLLOWED_GAMES = frozenset(
    {
        "emperors_challenge_exposed",
        "emperors_challenge_exposed_earlier",
        "emperors_challenge_exposed_washington",
    }
)
"""Ids of the games whose procedure the tracker follows."""


def is_followed(game: str) -> bool:
    """Whether the camera follows the procedure of a game.

    >>> is_followed("emperors_challenge_exposed"), is_followed("pai_gow_poker")
    (True, False)
    """
    return game in FOLLOWED_GAMES


def check_followed(table: TableFile, path: Path) -> None:
    """Raise FeltwatchError naming file, game and what is supported, unless it is followed."""
    game = table.rules.game
    if is_followed(game):
        return
    title = f" ({GAMES[game].title})" if game in GAMES else ""
    raise FeltwatchError(
        f"{path}: rules.game: the camera cannot follow {game!r}{title} yet, so its rounds would "
        f"be reported wrong; supported are {', '.join(sorted(FOLLOWED_GAMES))} "
        "('feltwatch settle' settles rounds of every game)"
    )
