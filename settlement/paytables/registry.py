"""Pay tables: TOML files beside the code, one per id, checked on load.

An operator adds a table by adding a file to a folder of its own; see `settlement.paytables.table`
for the form and `feltwatch paytables --help` for an example.
"""

from __future__ import annotations

import difflib
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path

from pydantic import ValidationError

from settlement.errors import FeltwatchError
from settlement.input_file import form_of_toml, parse_toml, read_text, reading
from settlement.paytables.citation import Printing, document_digits
from settlement.paytables.row import CATEGORIES, PayRow
from settlement.paytables.table import Basis, PayTable, PrintedOrder, Unlisted
from settlement.plain_words import plain_words

__all__ = [
    "CATEGORIES",
    "Basis",
    "PayRow",
    "PayTable",
    "PrintedOrder",
    "Printing",
    "Unlisted",
    "document_digits",
    "parse_pay_table",
    "pay_table",
    "pay_table_ids",
    "read_pay_table",
]


def parse_pay_table(text: str, place: str) -> PayTable:
    """A pay table from TOML; `place` opens error messages.

    Raises FeltwatchError naming the row and key and what would be right.
    """
    data = parse_toml(text, place)
    try:
        return form_of_toml(PayTable, data)
    except ValidationError as error:
        raise FeltwatchError(f"{place}: {_first_fault(data, error)}") from error


def _first_fault(data: dict[str, object], error: ValidationError) -> str:
    """The first fault in words: which row, which key, what is wrong."""
    first = error.errors()[0]
    message = plain_words(first)
    match first["loc"]:
        case ("rows", int(index), *key):
            rows = data["rows"]
            row = rows[index] if isinstance(rows, list) else None
            label = f" ({row['label']!r})" if isinstance(row, dict) and "label" in row else ""
            parts = [f"row {index + 1}{label}", *key]
        case ("also", int(index), *key):
            parts = [f"also {index + 1}", *key]
        case key:
            parts = list(key)
    return ": ".join(str(part) for part in [*parts, message])


@cache
def _shipped_ids() -> tuple[str, ...]:
    folder = files("settlement").joinpath("paytables")
    names = (entry.name for entry in folder.iterdir())
    return tuple(sorted(n.removesuffix(".toml") for n in names if n.endswith(".toml")))


@cache
def _shipped(table_id: str) -> PayTable:
    file = files("settlement").joinpath("paytables", f"{table_id}.toml")
    return parse_pay_table(file.read_text(encoding="utf-8"), f"{table_id}.toml")


def pay_table_ids(folder: Path | str | None = None) -> tuple[str, ...]:
    """The ids of all pay tables that are shipped, and of those in an own folder.

    Raises FeltwatchError when there is no such folder or it takes a shipped id.

    >>> pay_table_ids()[:2]
    ('E01', 'E02')
    """
    if folder is None:
        return _shipped_ids()
    own = {path.stem: path for path in _own_folder(folder).glob("*.toml")}
    for table_id in sorted(own):
        _refuse_shipped(own[table_id])
    return tuple(sorted({*own, *_shipped_ids()}))


def pay_table(table_id: str, folder: Path | str | None = None) -> PayTable:
    """The pay table of an id, shipped or in an own folder.

    Raises FeltwatchError when there is none, or when its file is not in order.

    >>> pay_table("E01").rows[-1].pay_cents
    500
    """
    own = None if folder is None else _own_folder(folder) / f"{table_id}.toml"
    if table_id in _shipped_ids():
        if own is not None and own.exists():
            _refuse_shipped(own)
        return _shipped(table_id)
    # A name with a path in it would leave the folder.
    if own is not None and Path(table_id).name == table_id and own.is_file():
        return read_pay_table(own)
    by_upper = {name.upper(): name for name in pay_table_ids(folder)}
    close = difflib.get_close_matches(table_id.upper(), by_upper, n=4, cutoff=0.5)
    hint = f"close to it are {', '.join(by_upper[name] for name in close)}; " if close else ""
    own_option = "" if folder is None else f" --folder {folder}"
    raise FeltwatchError(
        f"no pay table {table_id!r}; {hint}'feltwatch paytables{own_option}' lists all"
    )


def read_pay_table(path: Path) -> PayTable:
    """The pay table in a file of the house's own.

    Raises FeltwatchError naming the file when it cannot be read, is not in order, is not
    named by its id, or takes the id of a shipped table.
    """
    with reading(path):
        changed_ns = path.stat().st_mtime_ns
    return _read_own(path, changed_ns)


@lru_cache(maxsize=256)
def _read_own(path: Path, _changed_ns: int) -> PayTable:
    table = parse_pay_table(read_text(path), str(path))
    _refuse_shipped(path)
    if path.name != f"{table.id}.toml":
        raise FeltwatchError(
            f"{path}: id: {table.id!r} belongs in a file {table.id}.toml; rename one of them"
        )
    return table


def _own_folder(folder: Path | str) -> Path:
    path = Path(folder)
    if not path.is_dir():
        raise FeltwatchError(f"{path}: no such folder of pay tables")
    return path


def _refuse_shipped(path: Path) -> None:
    # Ids that differ by case alone would be different files on some disks only.
    if path.stem.upper() in {table_id.upper() for table_id in _shipped_ids()}:
        raise FeltwatchError(
            f"{path}: {path.stem!r} is the id of a table that comes along; take another id"
        )
