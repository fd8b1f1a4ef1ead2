"""Checking who wrote a log: every line since the key's first is signed by it, and the head too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surveillance.evidence.bundle.chain import LINE
from surveillance.evidence.bundle.head import HEAD, head_path, head_value
from surveillance.evidence.bundle.keys import SignedState, VerifyKey
from surveillance.evidence.bundle.problem import Problem

_WORDS: dict[SignedState, str] = {
    "none": "carries no signature",
    "other": "is signed by another key",
    "false": "its signature is not of the key that it names",
}


@dataclass(frozen=True, slots=True)
class SignatureCheck:
    """Result of checking a log's signatures; `signed`: lines with a valid one of the key."""

    problems: tuple[Problem, ...]
    notes: tuple[str, ...]
    signed: int = 0


def check_signatures(
    log: Path,
    entries: Sequence[tuple[int, dict[str, Any]]],
    key: VerifyKey | None,
    is_sound: bool = True,
) -> SignatureCheck:
    """Check the lines (line number and entry) and the head with a public key.

    Without a key a note says what is left open; `is_sound`: the hashes fit together. Lines
    before the first one signed stand as they did when that was written: it carries their hash.
    """
    if key is None:
        return SignatureCheck((), (_unchecked(entries, is_sound),) if entries else ())
    name = str(log)
    states = [(at, entry, key.state(entry, LINE)) for at, entry in entries]
    own = [entry["number"] for _, entry, state in states if state == "own"]
    head = head_value(log)
    head_state = None if head is None else key.state(head, HEAD)
    if entries and not own:
        what = f"no line is signed by the key {key.id}: all of it was rewritten without it"
        return SignatureCheck((Problem("altered", name, what),), ())
    problems = [
        Problem("altered", name, _WORDS[state], line=at, entry=entry["number"])
        for at, entry, state in states
        if state == "false" or (state != "own" and own and entry["number"] > min(own))
    ]
    if head_state not in (None, "own"):
        what = f"{head_path(log).name}: the head record {_head_words(head_state)}"
        problems.append(Problem("altered", name, f"{what}; last lines may be missing"))
    before = [entry for _, entry, state in states if own and entry["number"] < min(own)]
    notes = []
    if before and not any(problem.entry in {e["number"] for e in before} for problem in problems):
        many = len(before)
        lines = "line was" if many == 1 else "lines were"
        first = next(entry for _, entry, state in states if state == "own")
        notes.append(
            f"{many:,} {lines} written before this key first signed, at {first.get('at')}; its "
            "first line vouches for them as they were then"
        )
    return SignatureCheck(tuple(problems), tuple(notes), len(own))


def _head_words(state: SignedState | None) -> str:
    return _WORDS[state or "none"].replace("its signature is", "has a signature")


def _unchecked(entries: Sequence[tuple[int, dict[str, Any]]], is_sound: bool) -> str:
    keys = sorted({str(entry["key"]) for _, entry in entries if "key" in entry})
    if not keys:
        return (
            "the log is not signed: whoever could write in its folder could have rewritten all "
            "of it"
        )
    holds = "the chain holds together; " if is_sound else ""
    return (
        f"{holds}without the key a log that was rewritten as a whole is not found (give the "
        f"public key {' and '.join(keys)} with --key)"
    )
