"""The work folder of an audit that can be stopped and go on: what was decided, and where.

    key.json       contents of the files, model and program: with another the audit starts again
    digests.json   SHA-256 of the videos by path, size and time of change (`identity`)
    rounds.jsonl   the rounds judged so far
    evidence/      their pictures
    place.bin      the last place: a line of JSON, then the watcher's snapshot

A place is written in one step, so that a run cut off anywhere goes on from the last one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from settlement.errors import FeltwatchError
from surveillance.alerts.judged_round import JudgedRound
from surveillance.staging import flush, write_error
from vision.sources.base import Mark

KEY, ROUNDS, EVIDENCE, PLACE = "key.json", "rounds.jsonl", "evidence", "place.bin"
DIGESTS = "digests.json"


_LINE = TypeAdapter(JudgedRound)
_MARK = TypeAdapter(Mark)


@dataclass(frozen=True, slots=True)
class Place:
    """Where an audit stands: the frame looked at last, the first one's time, and the watcher."""

    mark: Mark
    first_s: Fraction
    wall_s: float
    rounds: int
    snapshot: bytes


class AuditWork:
    """The work folder of one audit; makes it, or takes up what is there.

    `place` is None and `judged` empty when there is nothing to go on from: nothing was done
    yet, it was done for something else (`key`), or it is damaged. Raises FeltwatchError
    when the folder cannot be written.
    """

    def __init__(self, folder: Path, key: dict[str, Any], *, anew: bool = False) -> None:
        """Open `folder` for the audit of `key` (plain JSON); `anew`: drop what it holds."""
        self.folder = folder
        self.place: Place | None = None
        self.judged: list[JudgedRound] = []
        try:
            if not anew and self._is_of(key):
                self._take_up()
            if self.place is None:
                self._clear(key)
        except OSError as error:
            raise write_error(folder, error) from error

    def add_round(self, judged: JudgedRound) -> None:
        """Keep a judged round; it counts from the next `go_on_from`."""
        line = _LINE.dump_json(judged.without_pictures(), exclude_none=True)
        try:
            with (self.folder / ROUNDS).open("ab") as file:
                file.write(line + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise write_error(self.folder / ROUNDS, error) from error

    def add_picture(self, name: str, data: bytes) -> None:
        """Keep an evidence picture."""
        path = self.folder / EVIDENCE / name
        try:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
            flush([path])
        except OSError as error:
            raise write_error(path, error) from error

    def pictures(self, rounds: list[JudgedRound]) -> list[tuple[str, bytes]]:
        """The evidence of these rounds, by file name."""
        shown = (one for j in rounds for one in (*j.alerts, *j.suspicions))
        names = dict.fromkeys(path for one in shown for path in one.pictures)
        try:
            return [(n, self._picture(n).read_bytes()) for n in names]
        except OSError as error:
            why = error.strerror or error
            raise FeltwatchError(f"{error.filename}: cannot be read: {why}") from error

    def go_on_from(self, place: Place) -> None:
        """Let a later run go on from here."""
        head = {
            "mark": _MARK.dump_python(place.mark, mode="json"),
            "first_s": str(place.first_s),
            "wall_s": place.wall_s,
            "rounds": place.rounds,
            "sha256": hashlib.sha256(place.snapshot).hexdigest(),
        }
        data = json.dumps(head).encode() + b"\n" + place.snapshot
        try:
            self._replace(PLACE, data)
        except OSError as error:
            raise write_error(self.folder / PLACE, error) from error

    def remove(self) -> None:
        """The audit is done: take the folder away."""
        # First of all, so that nothing goes on from what a removal that is cut off leaves.
        with contextlib.suppress(OSError):
            (self.folder / PLACE).unlink()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _picture(self, name: str) -> Path:
        return self.folder / EVIDENCE / Path(name).name

    def _replace(self, name: str, data: bytes) -> None:
        part = self.folder / f"{name}.part"
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(self.folder / name)

    def _is_of(self, key: dict[str, Any]) -> bool:
        try:
            found: object = json.loads((self.folder / KEY).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return False
        wanted: object = json.loads(json.dumps(key))
        return bool(found == wanted)

    def _clear(self, key: dict[str, Any]) -> None:
        self.judged = []
        # Only what an audit left there: the folder may have been named by mistake.
        for name in (KEY, ROUNDS, PLACE):
            (self.folder / name).unlink(missing_ok=True)
        shutil.rmtree(self.folder / EVIDENCE, ignore_errors=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._replace(KEY, json.dumps(key).encode())

    def _take_up(self) -> None:
        try:
            place = _place((self.folder / PLACE).read_bytes())
            lines = (self.folder / ROUNDS).read_text("utf-8").split("\n") if place.rounds else []
            kept = lines[: place.rounds]
            if len(kept) < place.rounds:
                return
            rounds = [_LINE.validate_json(line) for line in kept]
            shown = (one for j in rounds for one in (*j.alerts, *j.suspicions))
            if not all(self._picture(n).is_file() for one in shown for n in one.pictures):
                return
        except (FileNotFoundError, ValueError, KeyError, TypeError, ValidationError):
            return
        self._replace(ROUNDS, "".join(line + "\n" for line in kept).encode())
        self.judged = rounds
        self.place = place


def copy_work(earlier: Iterable[Path], to: Path) -> None:
    """Begin a work folder with what the first of the earlier ones that is there holds.

    Whoever worked there may still write: rounds after the place that was copied do not count.
    """
    for folder in earlier:
        if not (folder / PLACE).is_file():
            continue
        shutil.rmtree(to, ignore_errors=True)
        to.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(OSError):
            for name in (DIGESTS, PLACE, KEY, ROUNDS):
                shutil.copyfile(folder / name, to / name)
            shutil.copytree(folder / EVIDENCE, to / EVIDENCE, dirs_exist_ok=True)
        return


def _place(data: bytes) -> Place:
    """A place of its bytes; ValueError and the like when they are damaged."""
    line, _, snapshot = data.partition(b"\n")
    head = json.loads(line)
    if hashlib.sha256(snapshot).hexdigest() != head["sha256"]:
        raise ValueError("the snapshot is damaged")
    return Place(
        mark=_MARK.validate_python(head["mark"]),
        first_s=Fraction(head["first_s"]),
        wall_s=float(head["wall_s"]),
        rounds=int(head["rounds"]),
        snapshot=snapshot,
    )
