"""Errors of pydantic in plain English, each with its place."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import ValidationError

from settlement.errors import FeltwatchError
from settlement.plain_words import plain_words

_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong at a place: keys joined by dots, list numbers from 0; "" for the whole."""

    place: str
    message: str


def faults_of(error: ValidationError) -> tuple[Fault, ...]:
    """Everything that a form found wrong, in its order.

    >>> from settlement.rules import TableRules
    >>> try:
    ...     TableRules.model_validate({"game": "g", "wheel": "third", "envy_min_cents": -1})
    ... except ValidationError as error:
    ...     for fault in faults_of(error):
    ...         print(fault.place, "-", fault.message)
    envy_min_cents - must be 0 or more
    wheel - must be 'second' or 'lowest'
    """
    return tuple(
        Fault(".".join(str(part) for part in one["loc"]), plain_words(one)[:_LONGEST])
        for one in error.errors(include_url=False)
    )


def fault_of_rules(error: FeltwatchError) -> Fault:
    """What the rules' own check found; its message opens with the key.

    >>> fault_of_rules(FeltwatchError("rules.game: no game 'x'; known are: a"))
    Fault(place='rules.game', message="no game 'x'; known are: a")
    """
    place, sign, message = str(error).partition(": ")
    is_key = sign and " " not in place and place.split(".")[0] in ("rules", "camera")
    return Fault(place, message) if is_key else Fault("", str(error))
