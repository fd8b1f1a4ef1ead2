"""JSON's numbers: 7.0 is the integer 7, as JSON Schema and OpenAPI have it."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator


def integral(value: Any) -> Any:
    """JSON data with every float of integral value as an int.

    >>> integral({"width_px": 1920.0, "points": [[0.5, 2.0]], "name": "1.0"})
    {'width_px': 1920, 'points': [[0.5, 2]], 'name': '1.0'}
    """
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: integral(part) for key, part in value.items()}
    if isinstance(value, list):
        return [integral(part) for part in value]
    return value


Part = TypeVar("Part")
Integral = Annotated[Part, BeforeValidator(integral)]
"""A form or a strict integer that accepts `7.0` for 7 too."""
