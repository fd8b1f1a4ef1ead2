"""Files that people give, read with the file named in every error."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from settlement.errors import FeltwatchError
from settlement.plain_words import plain_words


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
        raise FeltwatchError(f"{path}: not a text file ({error.reason})") from error


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
        raise FeltwatchError(f"{place}: not valid TOML: {error}") from error


def read_json(path: Path) -> Any:
    """The data of a JSON file; raises FeltwatchError naming the file and what is wrong."""
    try:
        return json.loads(read_text(path))
    except (json.JSONDecodeError, RecursionError) as error:
        raise FeltwatchError(f"{path}: not valid JSON: {error}") from error


def file_fault(place: Path | str, error: ValidationError, within: str = "") -> FeltwatchError:
    """The first fault of a file's form: file, key, what is wrong, how many more there are."""
    first = error.errors()[0]
    parts = (*filter(None, [within]), *first["loc"])
    # A key may hold what no terminal should be sent.
    key = ascii(".".join(str(part) for part in parts))[1:-1] or "file"
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return FeltwatchError(f"{place}: {key}: {plain_words(first)}{more}")
