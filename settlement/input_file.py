"""Files that people give, read with the file named in every error."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from settlement.errors import FeltwatchError
from settlement.plain_words import plain_words
from settlement.toml_keys import twice_in_toml

FormOfFile = TypeVar("FormOfFile", bound=BaseModel)


@contextmanager
def reading(path: Path | str) -> Iterator[None]:
    """Raise a FeltwatchError that names the file where it cannot be read or is no text.

    >>> with reading(Path("none.txt")):
    ...     Path("none.txt").read_text()
    Traceback (most recent call last):
    ...
    settlement.errors.FeltwatchError: none.txt: No such file or directory
    """
    try:
        yield
    except OSError as error:
        raise FeltwatchError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise FeltwatchError(
            f"{path}: not a text file in UTF-8 (byte {error.start + 1}); save it as UTF-8"
        ) from error


def read_text(path: Path) -> str:
    """The text of a file in UTF-8, without a byte order mark; raises FeltwatchError."""
    with reading(path):
        return path.read_text(encoding="utf-8-sig")


def read_toml(path: Path) -> dict[str, Any]:
    """The data of a TOML file; raises FeltwatchError naming the file and what is wrong."""
    return parse_toml(read_text(path), str(path))


def parse_toml(text: str, place: str) -> dict[str, Any]:
    """The data of a text in TOML; `place` opens the message of the FeltwatchError."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        twice = None if isinstance(error, RecursionError) else twice_in_toml(text, error)
        if twice is not None:
            line, key = twice
            # A key may hold what no terminal should be sent.
            shown = ascii(key)[1:-1]
            raise FeltwatchError(
                f"{place}: line {line}: {shown}: stands twice; keep one of the two"
            ) from error
        raise FeltwatchError(f"{place}: not valid TOML: {error}") from error


def read_json(path: Path) -> Any:
    """The data of a JSON file; raises FeltwatchError naming the file and what is wrong."""
    try:
        return json.loads(read_text(path))
    except (json.JSONDecodeError, RecursionError) as error:
        raise FeltwatchError(f"{path}: not valid JSON: {error}") from error


def json_data(text: str) -> object:
    """The data of a text in JSON, for `key_twice`; None where it is no JSON."""
    try:
        return json.loads(text, object_pairs_hook=_object)
    except (ValueError, RecursionError):
        return None


class _Twice(dict[str, object]):
    """An object of JSON in which a key stands twice."""

    key = ""


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    twice = _Twice(found)
    keys = [key for key, _ in pairs]
    twice.key = next(key for key in keys if keys.count(key) > 1)
    return twice


def key_twice(data: object, keys: tuple[str | int, ...] = ()) -> tuple[str | int, ...] | None:
    """The way to the first key that stands twice in its object, in what `json_data` read.

    >>> key_twice(json_data('{"seats": [{"seat": 1, "seat": 2}]}'))
    ('seats', 0, 'seat')
    """
    if isinstance(data, _Twice):
        return (*keys, data.key)
    if not isinstance(data, dict | list):
        return None
    inner = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in inner:
        found = key_twice(value, (*keys, key))
        if found is not None:
            return found
    return None


_NUMBERS = {"int_type": "a whole number", "float_type": "a number"}


def form_of_toml(form: type[FormOfFile], data: object) -> FormOfFile:
    """Return data that TOML gave in its form; raises ValidationError.

    TOML has numbers of its own, so a text or a truth value in place of one is a fault; pydantic
    takes `"10"` for 10 and `true` for 1.

    >>> from settlement.rules import WagerLimit
    >>> form_of_toml(WagerLimit, {"min_cents": 10}).min_cents
    10
    >>> form_of_toml(WagerLimit, {"min_cents": "10"})
    Traceback (most recent call last):
    ...
    pydantic_core._pydantic_core.ValidationError: 1 validation error for WagerLimit
    min_cents
      write a whole number, without quotes ...
    """
    found = form.model_validate(data)
    try:
        # Strict JSON knows lists, paths and times as TOML gives them, and numbers as such.
        form.model_validate_json(json.dumps(data, default=str), strict=True)
    except ValidationError as error:
        faults = [
            InitErrorDetails(type=_no_number(one), loc=one["loc"], input=one["input"])
            for one in error.errors()
            if one["type"] in _NUMBERS and isinstance(one["input"], str | bool)
        ]
        if faults:
            raise ValidationError.from_exception_data(form.__name__, faults) from None
    return found


def _no_number(one: ErrorDetails) -> PydanticCustomError:
    end = ", without quotes" if isinstance(one["input"], str) else ""
    return PydanticCustomError(
        "no_number", "write {form}{end}", {"form": _NUMBERS[one["type"]], "end": end}
    )


_OTHER_KIND = frozenset({"literal_error", "int_type", "int_parsing", "dict_type"})


def is_form(part: str | int) -> bool:
    """Whether a part of a fault's place names a form that was tried, and no key."""
    return isinstance(part, str) and part.startswith(("literal[", "dict[", "constrained-", "[key]"))


def _is_choice(one: ErrorDetails) -> bool:
    return any(is_form(part) for part in one["loc"])


Keys = Sequence[str | int]
"""The way to a value: keys of tables and numbers, from 0, in lists."""


def dotted(keys: Keys) -> str:
    """The way to a value as its keys, "file" for the whole.

    >>> dotted(("seats", 0, "seat")), dotted(())
    ('seats.0.seat', 'file')
    """
    return ".".join(str(part) for part in keys) or "file"


def file_fault(
    place: Path | str,
    error: ValidationError,
    within: str = "",
    words_of: Callable[[Keys], str] = dotted,
) -> FeltwatchError:
    """The first fault of a file's form: file, key, what is wrong, how many more there are.

    `words_of` gives the words for the keys; none for "".
    """
    errors = error.errors()
    first = errors[0]
    if _is_choice(first):
        # Of the forms that a key takes, the one whose kind was met is the one meant.
        own = [one for one in errors if one["loc"][:1] == first["loc"][:1]]
        first = next((one for one in own if one["type"] not in _OTHER_KIND), first)
    keys = [part for part in first["loc"] if not is_form(part)]
    parts = (*filter(None, [within]), *keys)
    # A key may hold what no terminal should be sent.
    key = ascii(words_of(parts))[1:-1]
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    where = f"{place}: {key}" if key else place
    return FeltwatchError(f"{where}: {plain_words(first)}{more}")
