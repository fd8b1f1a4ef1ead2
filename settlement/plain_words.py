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
    "int_parsing_size": "write a whole number of fewer digits",
    "bool_type": "write true or false",
    "bool_parsing": "write true or false",
    "bytes_type": "write a text",
    "datetime_type": "write a date and time such as 2026-01-31T08:00:00Z",
    "datetime_parsing": "write a date and time such as 2026-01-31T08:00:00Z",
    "datetime_from_date_parsing": "write a date and time such as 2026-01-31T08:00:00Z",
    "tuple_type": "a list belongs here",
    "list_type": "a list belongs here",
    "dict_type": "a table of keys and values belongs here",
    "model_type": "a table of keys and values belongs here",
    "model_attributes_type": "a table of keys and values belongs here",
}

_NAME = "takes letters, digits, '.', '_' and '-', a letter or digit first"
_HEX = "takes hexadecimal digits in small letters, {} of them"
_PATTERNS = {
    r"^[A-Za-z0-9][A-Za-z0-9_.-]*$": _NAME,
    r"^[A-Za-z0-9][A-Za-z0-9._-]*$": _NAME,
    r"^[a-z0-9][a-z0-9_-]{0,31}$": "takes up to 32 small letters, digits, '_' and '-', a letter "
    "or digit first",
    r"^([A-Za-z_][A-Za-z0-9_]*)?$": "write the name of an environment variable, or nothing",
    r"^([01][0-9]|2[0-3]):[0-5][0-9]$": "write a time of day such as 06:30",
    r"^[0-9a-f]{16}$": _HEX.format(16),
    r"^[0-9a-f]{64}$": _HEX.format(64),
    r"^[A-Z_]{2,40}$": "takes 2 to 40 capital letters and '_'",
    r"^\S([\s\S]*\S)?$": "must not begin or end with a space",
    r"^[^\x00-\x1f\x7f]+$": "must not hold line breaks or other control characters",
    r"^[^\x00-\x1f\x7f]*$": "must not hold line breaks or other control characters",
}
"""What the patterns of texts accept."""


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
        case "literal_error" | "enum":
            return f"must be {context['expected']}"
        case "greater_than":
            return f"must be more than {_number(context['gt'])}"
        case "greater_than_equal":
            return f"must be {_number(context['ge'])} or more"
        case "less_than":
            return f"must be less than {_number(context['lt'])}"
        case "less_than_equal":
            return f"must be {_number(context['le'])} or less"
        case "multiple_of":
            return f"must be a multiple of {_number(context['multiple_of'])}"
        case "too_short":
            return f"needs at least {context['min_length']}, has {context['actual_length']}"
        case "too_long":
            return f"takes at most {context['max_length']}, has {context['actual_length']}"
        case "string_too_short":
            least = context["min_length"]
            return "must not be empty" if least == 1 else f"needs at least {least} letters"
        case "string_pattern_mismatch":
            pattern = context["pattern"]
            return _PATTERNS.get(pattern, f"must have the form {pattern}")
        case "string_too_long":
            return f"takes at most {context['max_length']} letters"
    return one["msg"]


def _number(bound: object) -> str:
    """A bound as people write it: not 1e+06, as `:g` has it for whole numbers."""
    return f"{bound:g}" if isinstance(bound, float) else str(bound)
