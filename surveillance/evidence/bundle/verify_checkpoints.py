"""Comparing a log with checkpoints of it that lie elsewhere: what was dropped or put back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from settlement.errors import FeltwatchError
from surveillance.evidence.bundle.checkpoint import CHECKPOINT, Checkpoint, read_checkpoints
from surveillance.evidence.bundle.keys import VerifyKey
from surveillance.evidence.bundle.problem import Problem
from surveillance.evidence.bundle.timestamps import stamped_at, timestamp_path


@dataclass(frozen=True, slots=True)
class Place:
    """Checkpoints that were read from one place; `damaged` counts entries that are none.

    `tokens` is the folder of their time stamps, None where there are none. `is_expected`: whether
    it is a fault when none is there.
    """

    name: str
    checkpoints: tuple[Checkpoint, ...]
    damaged: int = 0
    tokens: Path | None = None
    is_expected: bool = True


@dataclass(frozen=True, slots=True)
class CheckpointCheck:
    """Result of a comparison; `last` is the highest entry that a place vouches for."""

    problems: tuple[Problem, ...]
    notes: tuple[str, ...]
    last: int


def place_at(path: Path) -> Place:
    """The checkpoints in a folder or file. Raises FeltwatchError."""
    found, damaged = read_checkpoints(path)
    return Place(str(path), tuple(found), damaged, path if path.is_dir() else path.parent)


def check_against(
    log: Path,
    lines: Mapping[int, str],
    places: Sequence[Place],
    key: VerifyKey | None = None,
    authority: Path | None = None,
) -> CheckpointCheck:
    """Compare a log (hash of each entry by its number) with checkpoints of it.

    With a public `key`, checkpoints that it did not sign are problems of their own and vouch for
    nothing. `authority`: certificate of who stamped times. Raises FeltwatchError for a
    certificate that cannot be read.
    """
    problems: list[Problem] = []
    notes: list[str] = []
    last = 0
    for place in places:
        good = list(_signed(place, key, problems))
        problems += _compare(str(log), lines, place.name, good)
        last = max([last, *(checkpoint.number for checkpoint in good)])
        if good:
            newest = max(good, key=lambda checkpoint: checkpoint.number)
            many = "1 checkpoint" if len(good) == 1 else f"{len(good):,} checkpoints"
            notes.append(
                f"{place.name}: {many} compared, the last of entry {newest.number}, {newest.at}"
            )
        elif not place.is_expected:
            notes.append(f"{place.name}: holds no checkpoint")
        else:
            problems.append(Problem("removed", place.name, "holds no checkpoint of this log"))
        if authority is not None and place.tokens is not None:
            notes += _stamps(place, good, authority, problems)
    return CheckpointCheck(tuple(problems), tuple(notes), last)


def _signed(place: Place, key: VerifyKey | None, problems: list[Problem]) -> Iterator[Checkpoint]:
    if place.damaged:
        what = "1 entry is" if place.damaged == 1 else f"{place.damaged} entries are"
        problems.append(Problem("altered", place.name, f"{what} no checkpoint as written"))
    for checkpoint in place.checkpoints:
        if key is None or key.state(checkpoint.value, CHECKPOINT) == "own":
            yield checkpoint
        else:
            what = f"the checkpoint of {checkpoint.at} is not signed by the key {key.id}"
            problems.append(Problem("altered", place.name, what, entry=checkpoint.number))


def _compare(
    log: str, lines: Mapping[int, str], place: str, checkpoints: Sequence[Checkpoint]
) -> Iterator[Problem]:
    """The first checkpoint that does not fit, of each kind; the later ones follow from it."""
    top = max(lines, default=0)
    ordered = sorted(checkpoints, key=lambda checkpoint: checkpoint.number)
    other = next((c for c in ordered if lines.get(1) not in (None, c.first)), None)
    if other is not None:
        what = f"is not the log that {place} knows: another was here at {other.at}"
        yield Problem("altered", log, what)
        return
    rewritten = next(
        (c for c in ordered if c.number in lines and lines[c.number] != c.sha256), None
    )
    if rewritten is not None:
        what = (
            f"entry {rewritten.number} is not the one that {place} noted at {rewritten.at}: the "
            "log was chained again from there or before"
        )
        yield Problem("altered", log, what, entry=rewritten.number)
    beyond = [c for c in ordered if c.number > top]
    if beyond:
        newest = beyond[-1]
        what = (
            f"ends with entry {top}, and {place} noted entry {newest.number} at {newest.at}: an "
            "older copy was put back, or the last lines were taken away"
        )
        yield Problem("removed", log, what, entry=newest.number)
    missing = next((c for c in ordered if c.number <= top and c.number not in lines), None)
    if missing is not None:
        what = f"entry {missing.number}, which {place} noted at {missing.at}, is not in it"
        yield Problem("removed", log, what, entry=missing.number)


def _stamps(
    place: Place, checkpoints: Sequence[Checkpoint], authority: Path, problems: list[Problem]
) -> list[str]:
    assert place.tokens is not None, "only places with tokens are looked at"
    stamped = []
    for checkpoint in checkpoints:
        path = timestamp_path(place.tokens, checkpoint)
        if not path.is_file():
            continue
        try:
            stamped.append((stamped_at(path.read_bytes(), checkpoint, authority), checkpoint))
        except FeltwatchError as error:
            if str(authority) in str(error):
                raise
            problems.append(Problem("altered", str(path), str(error), entry=checkpoint.number))
        except OSError as error:
            raise FeltwatchError(f"{path}: {error.strerror or error}") from error
    if not stamped:
        return [f"{place.name}: no time stamp was found"]
    at, checkpoint = max(stamped, key=lambda pair: pair[1].number)
    many = "1 time stamp" if len(stamped) == 1 else f"{len(stamped):,} time stamps"
    return [f"{place.name}: {many}, the last of entry {checkpoint.number}, {at.isoformat()}"]
