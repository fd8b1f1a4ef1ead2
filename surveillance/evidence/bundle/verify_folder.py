"""Checking an evidence folder: the log, and every bundle against it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from settlement.errors import FeltwatchError
from surveillance.evidence.bundle.chain import CHAIN_FILE
from surveillance.evidence.bundle.keys import VerifyKey
from surveillance.evidence.bundle.problem import Problem
from surveillance.evidence.bundle.verify_bundle import refuse_no_bundle, verify_bundle
from surveillance.evidence.bundle.verify_checkpoints import CheckpointCheck, Place, check_against
from surveillance.evidence.bundle.verify_log import LogCheck, check_log
from surveillance.evidence.bundle.write import file_sha256

_LEVELS_UP = 4
_ANOTHER_FILE = "is not the file whose hash the log holds"


@dataclass(frozen=True, slots=True)
class FolderCheck:
    """Result of checking a folder: what was checked, and the changes found.

    `bundles`: how many were read; `lines`: whole lines of the log; `log` is None when none
    was found. `head`: hash of the log's last line, worth noting elsewhere. `key`: the one
    that the signatures were held against, None when none was; `signed`: lines it signed.
    """

    path: str
    problems: tuple[Problem, ...]
    bundles: int
    lines: int
    log: str | None
    head: str | None
    notes: tuple[str, ...]
    key: str | None = None
    signed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "path": self.path,
            "changed": bool(self.problems),
            "problems": [problem.to_dict() for problem in self.problems],
            "bundles": self.bundles,
            "lines": self.lines,
            "log": self.log,
            "head": self.head,
            "notes": list(self.notes),
            "key": self.key,
            "signed": self.signed,
        }


def verify_folder(
    folder: Path,
    *,
    noted_head: str | None = None,
    key: VerifyKey | None = None,
    places: Sequence[Place] = (),
    authority: Path | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> FolderCheck:
    """Check the log of a folder and all bundles in and below it, by a public `key` if given.

    The log is compared with the checkpoints of `places`, whose time stamps `authority` (a root
    certificate) vouches for.

    Raises FeltwatchError when the folder holds no log and no bundle, or cannot be read.
    """
    if not folder.is_dir():
        raise FeltwatchError(f"{folder}: no such folder")
    log_path = folder / CHAIN_FILE
    # A server may go on writing: what lay here before the log was read is in it.
    found = sorted(path for path in folder.rglob("*.zip") if path.is_file())
    log = check_log(log_path, noted_head, key)
    problems = list(log.problems)
    elsewhere = _compared(log_path, log, places, key, authority)
    problems += elsewhere.problems
    if not log_path.exists() and not log.problems:
        if not found:
            raise FeltwatchError(f"{folder}: holds no log {CHAIN_FILE} and no bundle")
        problems.append(Problem("removed", str(log_path), "the log is gone"))
    logged = _logged_bundles(log)
    by_hash = {sha256: name for name, sha256 in logged.items()}
    present = {path.relative_to(folder).as_posix(): path for path in found}
    renamed = set()
    for number, (name, path) in enumerate(present.items(), start=1):
        problems += verify_bundle(path)
        sha256 = file_sha256(path)
        if name in logged and sha256 != logged[name]:
            if not any(problem.file == str(path) for problem in problems):
                problems.append(Problem("altered", str(path), _ANOTHER_FILE))
        elif name not in logged and by_hash.get(sha256, name) not in present:
            renamed.add(by_hash[sha256])
            problems.append(Problem("moved", str(path), f"the log knows it as {by_hash[sha256]}"))
        elif name not in logged and log_path.exists():
            problems.append(Problem("added", str(path), "the log knows no such bundle"))
        if on_progress is not None:
            on_progress(number / len(present))
    gone = set(logged) - set(present) - renamed - _removed(log)
    if log.pending is not None and isinstance(log.pending.get("detail"), dict):
        gone.discard(str(log.pending["detail"].get("file")))
    gone = {name for name in gone if not (folder / name).is_file()}
    problems += [
        Problem("removed", str(folder / name), "the bundle is gone") for name in sorted(gone)
    ]
    shown = str(log_path) if log_path.exists() else None
    return FolderCheck(
        str(folder), tuple(problems), len(present), len(log.entries), shown, log.head,
        (*log.notes, *elsewhere.notes), key.id if key else None, log.signed,
    )  # fmt: skip


def _compared(
    path: Path,
    log: LogCheck,
    places: Sequence[Place],
    key: VerifyKey | None,
    authority: Path | None,
) -> CheckpointCheck:
    lines = {int(entry["number"]): str(entry["sha256"]) for entry in log.entries}
    if log.pending is not None:
        # A crash left it half written; a checkpoint of it cannot be there yet.
        lines.setdefault(int(log.pending["number"]), str(log.pending["sha256"]))
    return check_against(path, lines, places, key, authority)


def verify_file(
    bundle: Path,
    *,
    log_path: Path | None = None,
    noted_head: str | None = None,
    key: VerifyKey | None = None,
    places: Sequence[Place] = (),
    authority: Path | None = None,
) -> FolderCheck:
    """Check one bundle, and against its log where that is found in a folder above it.

    Raises FeltwatchError when a file cannot be read, or is no bundle at all.
    """
    refuse_no_bundle(bundle)
    problems = list(verify_bundle(bundle))
    log_path = log_path or _log_above(bundle)
    if log_path is None:
        note = "no log was found above it: checked by itself alone"
        if noted_head is not None or key is not None or places:
            raise FeltwatchError(f"{bundle}: no log was found above it: give it with --log")
        return FolderCheck(str(bundle), tuple(problems), 1, 0, None, None, (note,))
    if not log_path.is_file():
        raise FeltwatchError(f"{log_path}: no such file")
    log = check_log(log_path, noted_head, key)
    sha256 = file_sha256(bundle)
    hashes = {
        entry["detail"].get("sha256"): entry["detail"].get("file")
        for entry in log.entries
        if entry.get("act") == "bundle" and isinstance(entry.get("detail"), dict)
    }
    if sha256 not in hashes:
        by_name = [file for file in hashes.values() if str(file).endswith(bundle.name)]
        if by_name:
            problems.append(Problem("altered", str(bundle), _ANOTHER_FILE))
        else:
            problems.append(Problem("added", str(bundle), "the log knows no such bundle"))
    elif Path(str(hashes[sha256])).name != bundle.name:
        message = f"the log knows it as {hashes[sha256]}"
        problems.append(Problem("moved", str(bundle), message))
    problems += log.problems
    elsewhere = _compared(log_path, log, places, key, authority)
    problems += elsewhere.problems
    return FolderCheck(
        str(bundle), tuple(problems), 1, len(log.entries), str(log_path), log.head,
        (*log.notes, *elsewhere.notes), key.id if key else None, log.signed,
    )  # fmt: skip


def _logged_bundles(log: LogCheck) -> dict[str, str]:
    """File name and hash of every bundle that the log lists; the last line counts."""
    logged = {}
    for entry in (*log.entries, *([log.pending] if log.pending else [])):
        detail = entry.get("detail")
        if entry.get("act") == "bundle" and isinstance(detail, dict):
            logged[str(detail.get("file"))] = str(detail.get("sha256"))
    return logged


def _removed(log: LogCheck) -> frozenset[str]:
    """Files that the log says were removed by retention."""
    names: set[str] = set()
    for entry in log.entries:
        detail = entry.get("detail")
        if entry.get("act") == "removed" and isinstance(detail, dict):
            names.update(str(name) for name in detail.get("files") or ())
    return frozenset(names)


def _log_above(bundle: Path) -> Path | None:
    for folder in list(bundle.resolve().parents)[:_LEVELS_UP]:
        if (folder / CHAIN_FILE).is_file():
            return folder / CHAIN_FILE
    return None
