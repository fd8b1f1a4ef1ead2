"""TOML files, read with the file named in every error."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from settlement.errors import FeltwatchError
from settlement.plain_words import plain_words


def read_toml(path: Path) -> dict[str, Any]:
    """The data of a TOML file; raises FeltwatchError naming the file and what is wrong."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise FeltwatchError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise FeltwatchError(f"{path}: not a text file ({error.reason})") from error
    except tomllib.TOMLDecodeError as error:
        raise FeltwatchError(f"{path}: not valid TOML: {error}") from error


def file_fault(path: Path, error: ValidationError, within: str = "") -> FeltwatchError:
    """The first fault of a file's form: file, key, what is wrong, how many more there are."""
    first = error.errors()[0]
    parts = (*filter(None, [within]), *first["loc"])
    # A key may hold what no terminal should be sent.
    key = ascii(".".join(str(part) for part in parts))[1:-1] or "file"
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return FeltwatchError(f"{path}: {key}: {plain_words(first)}{more}")
