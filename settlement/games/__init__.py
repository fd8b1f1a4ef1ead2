"""Games: one plain module each, found by the id that a table file names."""

from __future__ import annotations

from dataclasses import dataclass

from settlement.errors import FeltwatchError
from settlement.games import emperors_challenge_exposed
from settlement.games.base import Game
from settlement.houseways import HouseWay, house_way_for
from settlement.paytable import PayTable, pay_table
from settlement.rules import TableRules

GAMES: dict[str, Game] = {game.id: game for game in (emperors_challenge_exposed.GAME,)}
"""Every game by its id."""


@dataclass(frozen=True, slots=True)
class Terms:
    """A table's rules with the game, house way and pay tables they name.

    >>> terms = terms_for(TableRules(game="emperors_challenge_exposed"))
    >>> terms.offered
    ('main',)
    >>> terms_for(TableRules(game="bridge"))
    Traceback (most recent call last):
    ...
    settlement.errors.FeltwatchError: rules.game: no game 'bridge'; known are: \
emperors_challenge_exposed
    """

    game: Game
    house_way: HouseWay
    tables: dict[str, PayTable]

    @property
    def offered(self) -> tuple[str, ...]:
        """The wagers that the table offers, 'main' first."""
        return ("main", *self.tables)


def terms_for(rules: TableRules) -> Terms:
    """Look up everything that a table's rules name.

    Raises FeltwatchError naming the key when a game, house way or pay table is not known,
    or a pay table pays another wager.
    """
    if rules.game not in GAMES:
        known = ", ".join(sorted(GAMES))
        raise FeltwatchError(f"rules.game: no game {rules.game!r}; known are: {known}")
    game = GAMES[rules.game]
    tables: dict[str, PayTable] = {}
    for wager, table_id in rules.paytables.items():
        place = f"rules.paytables.{wager}"
        if wager not in game.wagers or wager == "main":
            paid = ", ".join(game.wagers[1:])
            raise FeltwatchError(f"{place}: {game.id} pays no such wager by a table; it has {paid}")
        try:
            table = pay_table(table_id)
        except FeltwatchError as error:
            raise FeltwatchError(f"{place}: {error}") from error
        if table.wager != wager:
            raise FeltwatchError(f"{place}: {table_id!r} is a pay table of {table.wager}")
        tables[wager] = table
    return Terms(game, house_way_for(rules), tables)


__all__ = ["GAMES", "Game", "Terms", "terms_for"]
