"""What pydantic finds wrong, in plain English."""

from __future__ import annotations

from pydantic_core import ErrorDetails

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


def plain_words(one: ErrorDetails) -> str:
    """One fault of a form in words.

    >>> from pydantic import ValidationError
    >>> from settlement.rules import TableRules
    >>> try:
    ...     TableRules.model_validate({"game": "g", "envy_min_cents": -1})
    ... except ValidationError as error:
    ...     plain_words(error.errors()[0])
    'must be 0 or more'
    """
    kind, context = one["type"], one.get("ctx") or {}
    if kind in _WORDS:
        return _WORDS[kind]
    match kind:
        case "json_invalid":
            return f"not valid JSON ({context['error']})"
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
