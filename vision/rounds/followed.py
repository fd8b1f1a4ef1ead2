"""The games whose dealing procedure the camera follows: those with a procedure as data.

The rules of a game can be known before its procedure is: a game is followed when
`settlement.procedures` has a file for it.
"""

from __future__ import annotations

from pathlib import Path

from settlement.errors import FeltwatchError
from settlement.games import GAMES
from settlement.procedures import procedures
from vision.geometry.table import TableFile

FOLLOWED_GAMES = frozenset(procedures())
"""Ids of the games whose procedure the tracker follows."""


def is_followed(game: str) -> bool:
    """Whether the camera follows the procedure of a game.

    >>> is_followed("pai_gow_poker"), is_followed("pai_gow_tiles")
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
