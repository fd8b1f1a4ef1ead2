"""Checking the log: which lines were altered, removed, moved, copied or added."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from settlement.input_file import reading
from surveillance.evidence.bundle.canonical import opened
from surveillance.evidence.bundle.chain import HEAD_LOST, NO_LINE, Head, head_path, read_head
from surveillance.evidence.bundle.keys import VerifyKey
from surveillance.evidence.bundle.problem import Kind, Problem
from surveillance.evidence.bundle.verify_signatures import check_signatures

READS = 100
"""How often a log is read again whose head changed meanwhile; writing a line takes longer."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that is whole: where it stands, the number it carries, and what it says."""

    at: int
    number: int
    prev: str
    sha256: str
    act: str


@dataclass(frozen=True, slots=True)
class LogCheck:
    """Result of checking a log: its entries and the problems found.

    `entries` are the complete ones in file order; `notes` name what is odd but no
    change, such as a line that a crash left half written; `pending` is that line's entry.
    `signed`: how many entries carry a valid signature of the key they were checked with.
    """

    entries: tuple[dict[str, Any], ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]
    head: str | None
    pending: dict[str, Any] | None = None
    signed: int = 0


def verify_log(path: Path, key: VerifyKey | None = None) -> tuple[Problem, ...]:
    """Return the changes found in a log; empty when it is as it was written.

    Without the public `key` a log that was rewritten as a whole is not found.
    Raises FeltwatchError when it is there but cannot be read.
    """
    return check_log(path, key=key).problems


def check_log(path: Path, noted_head: str | None = None, key: VerifyKey | None = None) -> LogCheck:
    """The same with the entries; `noted_head`: hash of a line that must stand in it.

    Raises FeltwatchError when the log cannot be read.
    """
    raw, head = _at_once(path)
    name = str(path)
    problems: list[Problem] = []
    notes: list[str] = []
    if raw is None:
        if head is not None or head_path(path).exists():
            problems.append(Problem("removed", name, "the log is gone"))
        return LogCheck((), tuple(problems), (), head.sha256 if head else None)
    texts = _texts(raw, head, notes)
    entries: list[dict[str, Any]] = []
    lines: list[_Line] = []
    altered: list[int] = []
    for at, text in enumerate(texts, start=1):
        entry = opened(text)
        line = None if entry is None else _line(at, entry)
        if entry is None or line is None:
            altered.append(at)
        else:
            entries.append(entry)
            lines.append(line)
    problems += _compare(name, lines, altered, head)
    held = [(line.at, entry) for line, entry in zip(lines, entries, strict=True)]
    signatures = check_signatures(path, held, key, not problems)
    problems += signatures.problems
    notes += signatures.notes
    if noted_head is not None and noted_head not in {line.sha256 for line in lines}:
        problems.append(
            Problem("altered", name, f"the noted head {noted_head} stands in no line of it")
        )
    problems.sort(key=lambda problem: problem.line or len(texts) + 1)
    pending = head and head.pending and opened(head.pending.line.rstrip(b"\n"))
    last = head.sha256 if head else None
    return LogCheck(
        tuple(entries), tuple(problems), tuple(notes), last, pending or None, signatures.signed
    )


def _at_once(path: Path) -> tuple[bytes | None, Head | None]:
    """The log's bytes and its head as they were at one time, while a server goes on writing."""
    head = read_head(path)
    for _ in range(READS):
        before = head
        with reading(path):
            raw = path.read_bytes() if path.exists() else None
        head = read_head(path)
        if head == before:
            break
    return raw, head


def _texts(raw: bytes, head: Head | None, notes: list[str]) -> list[bytes]:
    """The lines; a last one that a crash left half written is passed over."""
    if head is not None and head.pending is not None:
        rest = raw[head.size :]
        if len(rest) < len(head.pending.line) and head.pending.line.startswith(rest):
            notes.append("a line was being written when the program ended; the next one ends it")
            raw = raw[: head.size]
    if not raw:
        return []
    texts = raw.split(b"\n")
    if texts[-1] == b"":
        texts.pop()
    else:
        texts[-1] += b"\n(no end of line)"  # as written, every line has one
    return texts


def _line(at: int, entry: dict[str, Any]) -> _Line | None:
    number, prev, sha256 = entry.get("number"), entry.get("prev"), entry.get("sha256")
    if type(number) is not int or not isinstance(prev, str) or not isinstance(sha256, str):
        return None
    return _Line(at, number, prev, sha256, str(entry.get("act")))


def _compare(
    name: str, lines: list[_Line], altered: list[int], head: Head | None
) -> Iterator[Problem]:
    firsts: dict[int, _Line] = {}
    for line in lines:
        if line.number in firsts:
            first = firsts[line.number]
            same = first.sha256 == line.sha256
            what = f"entry {line.number} stands in line {first.at} already"
            kind: Kind = "copied" if same else "added"
            yield Problem(kind, name, what, line=line.at, entry=line.number)
        else:
            firsts[line.number] = line
    single = list(firsts.values())
    kept = _longest_rising([line.number for line in single])
    in_place = [single[i] for i in kept]
    for i in sorted(set(range(len(single))) - set(kept)):
        line = single[i]
        what = f"entry {line.number} does not belong here"
        yield Problem("moved", name, what, line=line.at, entry=line.number)
    top = max(firsts, default=0) if head is None else head.number
    yield from _gaps(name, in_place, set(firsts), altered, top)
    yield from _breaks(name, firsts)
    yield from _against_head(name, firsts, head)
    for line in single:
        if line.act == HEAD_LOST:
            what = "the head record was gone or altered when this was written; lines may be missing"
            yield Problem("removed", name, what, line=line.at, entry=line.number)


def _gaps(
    name: str, in_place: list[_Line], present: set[int], altered: list[int], top: int
) -> Iterator[Problem]:
    """Entries that are nowhere: altered where lines that cannot be read stand, else removed."""
    bounds = [(0, 0), *((line.at, line.number) for line in in_place)]
    ends = [*bounds[1:], (max([*altered, bounds[-1][0]]) + 1, max(top, bounds[-1][1]) + 1)]
    for (at, number), (next_at, next_number) in zip(bounds, ends, strict=True):
        missing = [n for n in range(number + 1, next_number) if n not in present]
        broken = [a for a in altered if at < a < next_at]
        for line, entry in zip(broken, missing, strict=False):
            if len(broken) == len(missing):
                yield Problem(
                    "altered", name, f"is not entry {entry} as written", line=line, entry=entry
                )
        if len(broken) != len(missing):
            for line in broken:
                yield Problem("altered", name, "is not as written", line=line)
            if len(missing) > len(broken):
                yield from _removed(name, missing, len(missing) - len(broken), at)


def _removed(name: str, missing: list[int], many: int, after: int) -> Iterator[Problem]:
    where = f"after line {after}" if after else "at the beginning"
    if many < len(missing):
        what = f"{many} of the entries {missing[0]} to {missing[-1]} are gone, {where}"
        yield Problem("removed", name, what, line=after or None)
        return
    for entry in missing[:100]:
        yield Problem(
            "removed", name, f"entry {entry} is gone, {where}", line=after or None, entry=entry
        )
    if len(missing) > 100:
        yield Problem("removed", name, f"and {len(missing) - 100} more up to entry {missing[-1]}")


def _breaks(name: str, firsts: dict[int, _Line]) -> Iterator[Problem]:
    """Entries whose hash was computed again: the next one does not know them."""
    for number, line in sorted(firsts.items()):
        before = firsts.get(number - 1)
        if number == 1 and line.prev != NO_LINE:
            yield Problem("altered", name, "begins no log", line=line.at, entry=1)
        elif before is not None and line.prev != before.sha256:
            yield Problem(
                "altered",
                name,
                f"entry {before.number} was rewritten, or entry {number} was",
                line=before.at,
                entry=before.number,
            )


def _against_head(name: str, firsts: dict[int, _Line], head: Head | None) -> Iterator[Problem]:
    if head is None:
        what = "the head record is gone or altered; last lines may be missing"
        yield Problem("altered", name, f"{head_path(Path(name)).name}: {what}")
        return
    last = firsts.get(head.number)
    if last is not None and last.sha256 != head.sha256:
        what = f"entry {head.number} was rewritten: the head record has another hash"
        yield Problem("altered", name, what, line=last.at, entry=head.number)
    pending = None if head.pending is None else opened(head.pending.line.rstrip(b"\n"))
    for number, line in sorted(firsts.items()):
        if number > head.number and (pending is None or line.sha256 != pending["sha256"]):
            what = f"the log ended with entry {head.number}"
            yield Problem("added", name, what, line=line.at, entry=number)


def _longest_rising(numbers: Iterable[int]) -> list[int]:
    """Indices of a longest strictly rising run, others left out; patience sorting.

    Of several, the one whose numbers all stand where sorting would put them.

    >>> _longest_rising([1, 5, 2, 3, 4]), _longest_rising([1, 4, 3, 2, 5])
    ([0, 2, 3, 4], [0, 2, 4])
    """
    values = list(numbers)
    settled = [i for i, (a, b) in enumerate(zip(values, sorted(values), strict=True)) if a == b]
    tails: list[int] = []
    at: list[int] = []
    before = [-1] * len(values)
    for i, value in enumerate(values):
        place = bisect_left(tails, value)
        before[i] = at[place - 1] if place else -1
        if place == len(tails):
            tails.append(value)
            at.append(i)
        else:
            tails[place], at[place] = value, i
    chosen = []
    i = at[-1] if at else -1
    while i >= 0:
        chosen.append(i)
        i = before[i]
    return settled if len(settled) >= len(chosen) else chosen[::-1]
