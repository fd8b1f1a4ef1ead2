"""The procedures that come along, found by game."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from settlement.procedures.procedure import Procedure, parse_procedure


@cache
def procedures() -> dict[str, Procedure]:
    """Every procedure by the id of its games.

    >>> sorted(procedures())[-2:]
    ['imperial_pai_gow_draw', 'pai_gow_poker']
    """
    found: dict[str, Procedure] = {}
    folder = files("settlement.procedures")
    for file in sorted(folder.iterdir(), key=lambda one: one.name):
        if file.name.endswith(".toml"):
            own = parse_procedure(file.read_text(encoding="utf-8"), file.name)
            found.update(dict.fromkeys(own.games, own))
    return found


def procedure_of(game: str) -> Procedure | None:
    """The procedure of a game, or None where none is known."""
    return procedures().get(game)
