"""What pydantic finds wrong, in plain English, each at its place."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from settlement.errors import FeltwatchError

_WORDS = {
    "missing": "is missing",
    "extra_forbidden": "there is no such key here; take it out or check its spelling",
    "int_type": "write a whole number",
    "int_parsing": "write a whole number",
    "int_from_float": "write a whole number, without decimals",
    "float_type": "write a number",
    "float_parsing": "write a number",
    "finite_number": "write a finite number",
    "string_type": "write a text",
    "bool_type": "say yes or no",
    "bool_parsing": "say yes or no",
    "tuple_type": "a list belongs here",
    "list_type": "a list belongs here",
    "dict_type": "a table of keys and values belongs here",
    "model_type": "a table of keys and values belongs here",
    "model_attributes_type": "a table of keys and values belongs here",
}
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
        Fault(".".join(str(part) for part in one["loc"]), _words(one)[:_LONGEST])
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


def _words(one: ErrorDetails) -> str:
    kind, context = one["type"], one.get("ctx") or {}
    if kind in _WORDS:
        return _WORDS[kind]
    match kind:
        case "value_error":
            return str(context.get("error", one["msg"]))
        case "literal_error":
            return f"must be {context['expected']}"
        case "greater_than":
            return f"must be more than {context['gt']:g}"
        case "greater_than_equal":
            return f"must be {context['ge']:g} or more"
        case "less_than":
            return f"must be less than {context['lt']:g}"
        case "less_than_equal":
            return f"must be {context['le']:g} or less"
        case "too_short":
            return f"needs at least {context['min_length']}, has {context['actual_length']}"
        case "too_long":
            return f"takes at most {context['max_length']}, has {context['actual_length']}"
        case "string_too_short":
            return "must not be empty"
        case "string_too_long":
            return f"takes at most {context['max_length']} letters"
    return one["msg"]
