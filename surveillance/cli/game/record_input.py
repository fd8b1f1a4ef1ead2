"""Round records and table rules that a command is given, read with clear errors."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from settlement.compare.check import Problem, check_record
from settlement.compare.finding import FindingCode
from settlement.errors import FeltwatchError
from settlement.games import terms_for
from settlement.input_file import file_fault, form_of_toml, read_toml, reading
from settlement.record import BOM, RoundRecord, parse_round
from settlement.rules import TableRules
from vision.geometry.table import TableFile, load_table

TABLE_HELP = "Table file, or a file with its rules alone (TOML)."
_OF_A_FELT = frozenset(TableFile.model_fields) - {"table", "rules"}


@dataclass(frozen=True, slots=True)
class Rules:
    """A table's rules, and the numbers of its seats where its felt is known."""

    table: TableRules
    seats: frozenset[int] | None = None


def load_rules(path: Path) -> Rules:
    """The rules of a table file, or of a file without a felt, checked.

    Such a file holds `[rules]` as a table file does, or the keys of the rules themselves:
    `game`, `[paytables]`, `[limits.main]` and so on. Raises FeltwatchError naming file and key.
    """
    found = read_rules(path)
    try:
        terms_for(found.table)
    except FeltwatchError as error:
        raise FeltwatchError(f"{path}: {error}") from error
    return found


def read_rules(path: Path) -> Rules:
    """As `load_rules`, for commands that need the readings alone: what they name is not looked up.

    Raises FeltwatchError naming file and key.
    """
    data = read_toml(path)
    if _OF_A_FELT & data.keys():
        table = load_table(path)
        return Rules(table.rules, frozenset(seat.seat for seat in table.seats))
    return Rules(_bare_rules(data, path))


def _bare_rules(data: dict[str, object], path: Path) -> TableRules:
    within = "rules" if "rules" in data else ""
    unknown = sorted(data.keys() - {"table", "rules"}) if within else []
    if unknown:
        raise FeltwatchError(f"{path}: {unknown[0]}: move it under [rules], or take it out")
    try:
        return form_of_toml(TableRules, data["rules"] if within else data).beside(path)
    except ValidationError as error:
        raise file_fault(path, error, within) from error


def read_records(file: str, rules: Rules, *, refuse: bool = True) -> Iterator[RoundRecord]:
    """Round records of a file, or of standard input for '-', each as soon as it is read.

    One JSON object over any lines, or one object a line. Raises FeltwatchError naming file,
    line, seat, wager and reason when a line is no record, is of another game, names a seat that
    the table lacks, or there is no record at all; with `refuse` also when it holds what the
    rules make impossible, which comparing reports as findings.
    """
    name = "standard input" if file == "-" else file
    found = False
    for place, record in _parsed(_lines(file), name):
        problems = list(_other_seats(record, rules))
        problems += check_record(record, rules.table) if refuse else _other_game(record, rules)
        if problems:
            more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
            raise FeltwatchError(f"{place}: {problems[0]}{more}")
        found = True
        yield record
    if not found:
        raise FeltwatchError(f"{name}: no round record; write one JSON object a line")


def _other_seats(record: RoundRecord, rules: Rules) -> Iterator[Problem]:
    """Seats of a record that the table lacks."""
    if rules.seats is None:
        return
    for seat in record.seats:
        if seat.seat not in rules.seats:
            has = ", ".join(map(str, sorted(rules.seats)))
            reason = f"the table has no such seat; it has {has}"
            yield Problem(FindingCode.UNDECIDED, seat.seat, None, reason)


def _other_game(record: RoundRecord, rules: Rules) -> Iterator[Problem]:
    """A record of a game that the table does not play: its payouts are judged by wrong rules."""
    if record.game != rules.table.game:
        reason = f"the record is of {record.game!r}, the table plays {rules.table.game!r}"
        yield Problem(FindingCode.UNDECIDED, None, None, reason)


def _lines(file: str) -> Iterator[str]:
    with reading(file):
        if file == "-":
            for number, line in enumerate(sys.stdin):
                yield line if number else line.removeprefix(BOM)
            return
        with Path(file).open(encoding="utf-8-sig") as handle:
            yield from handle


def _parsed(lines: Iterable[str], name: str) -> Iterator[tuple[str, RoundRecord]]:
    numbered = ((n, line) for n, line in enumerate(lines, start=1) if line.strip())
    for number, line in numbered:
        if number == 1 or line.lstrip().startswith("{"):
            whole = _one_object(line, numbered)
            if whole is not None:
                yield name, parse_round(whole, name)
                return
        place = f"{name}, line {number}"
        yield place, parse_round(line, place)


def _one_object(line: str, following: Iterator[tuple[int, str]]) -> str | None:
    """The text of an object that goes on over more lines; None when this line holds it all."""
    if line.strip() not in ("{", "[") and _is_json(line):
        return None
    rest = "".join(text for _, text in following)
    return line + rest if _is_json(line + rest) else None


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
