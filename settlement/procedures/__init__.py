"""Dealing procedures: a small state machine for each game, as data beside the code.

`phases` are of the whole table, `steps` of one seat; both say what a place must show at rest.
`forbidden` are the steps that the rules do not allow any more from some phase on. One
interpreter (`vision.rounds.procedure`) reads them all; another game is another TOML file.
"""

from settlement.procedures.procedure import (
    BreachKind,
    Course,
    Forbidden,
    Phase,
    PhaseChange,
    Procedure,
    SeatShows,
    SeatStep,
    parse_procedure,
)
from settlement.procedures.registry import procedure_of, procedures

__all__ = [
    "BreachKind",
    "Course",
    "Forbidden",
    "Phase",
    "PhaseChange",
    "Procedure",
    "SeatShows",
    "SeatStep",
    "parse_procedure",
    "procedure_of",
    "procedures",
]
