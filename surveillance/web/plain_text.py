"""Refuse text that not every store can keep: NUL and lone surrogates, anywhere in a request."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError

_ESCAPES = (b"\\u", b"\0")
"""Without one of these in it, JSON text decodes to neither NUL nor a lone surrogate."""

_MESSAGE = "holds a character that cannot be stored (NUL or half of a surrogate pair)"


async def plain_text(request: Request) -> None:
    """Refuse a request whose path, query or JSON holds such text; the application's dependency.

    PostgreSQL refuses it in the middle of a transaction and SQLite keeps it: refused here, both
    stores answer alike. Raises RequestValidationError, which is a 422 that names the place.
    """
    for name, value in request.path_params.items():
        _check(("path", name), value)
    for name, value in request.query_params.multi_items():
        _check(("query",), name)
        _check(("query", name), value)
    if "json" not in request.headers.get("content-type", ""):
        return
    body = await request.body()
    if any(escape in body for escape in _ESCAPES):
        try:
            parsed = json.loads(body)
        except (ValueError, RecursionError):
            return  # The route says what is wrong with it.
        for place, text in _texts((), parsed):
            _check(("body", *place), text)


def _texts(place: tuple[str | int, ...], value: Any) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every text of a JSON value, keys too, with its place."""
    waiting: list[tuple[tuple[str | int, ...], Any]] = [(place, value)]
    while waiting:
        where, found = waiting.pop()
        if isinstance(found, str):
            yield where, found
        elif isinstance(found, dict):
            for key, part in found.items():
                yield where, key
                waiting.append(((*where, key), part))
        elif isinstance(found, list):
            waiting.extend(((*where, index), part) for index, part in enumerate(found))


def _check(place: tuple[str | int, ...], text: object) -> None:
    if isinstance(text, str) and not is_plain(text):
        raise RequestValidationError([{"type": "text", "loc": place, "msg": _MESSAGE}])


def is_plain(text: str) -> bool:
    """Return whether every store can keep a text.

    >>> is_plain("Zoë"), is_plain("a\\0b"), is_plain("\\ud800")
    (True, False, False)
    """
    if "\0" in text:
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
