"""The work folder of an audit that can be stopped and go on: what was decided, and where.

    key.json       what is audited by what: another recording, table file or model starts anew
    rounds.jsonl   the rounds judged so far
    evidence/      their pictures
    place.bin      the last place: a line of JSON, then the watcher's snapshot

A place is written in one step, so that a run cut off anywhere goes on from the last one.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from settlement.felt_timeline import TimelineLine
from settlement.record import RoundRecord
from settlement.result import Settlement
from surveillance.alerts.judged_round import Detection, JudgedRound
from surveillance.alerts.model import Alert
from surveillance.staging import write_error
from vision.sources.base import Mark

KEY, ROUNDS, EVIDENCE, PLACE = "key.json", "rounds.jsonl", "evidence", "place.bin"


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    record: RoundRecord
    settlement: Settlement
    alerts: tuple[Alert, ...]
    detections: tuple[Detection, ...] = ()
    timeline: tuple[TimelineLine, ...] = ()


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

    def __init__(self, folder: Path, key: dict[str, Any]) -> None:
        """Open `folder` for the audit that `key` (plain JSON) tells."""
        self.folder = folder
        self.place: Place | None = None
        self.judged: list[JudgedRound] = []
        try:
            if self._is_of(key):
                self._take_up()
            if self.place is None:
                self._clear(key)
        except OSError as error:
            raise write_error(folder, error) from error

    def add_round(self, judged: JudgedRound) -> None:
        """Keep a judged round; it counts from the next `go_on_from`."""
        line = _Line(
            record=judged.record,
            settlement=judged.settlement,
            alerts=judged.alerts,
            detections=judged.detections,
            timeline=judged.timeline,
        )
        try:
            with (self.folder / ROUNDS).open("a", encoding="utf-8") as file:
                file.write(line.model_dump_json(exclude_none=True) + "\n")
        except OSError as error:
            raise write_error(self.folder / ROUNDS, error) from error

    def add_picture(self, name: str, data: bytes) -> None:
        """Keep an evidence picture."""
        path = self.folder / EVIDENCE / name
        try:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
        except OSError as error:
            raise write_error(path, error) from error

    def pictures(self, rounds: list[JudgedRound]) -> list[tuple[str, bytes]]:
        """The evidence of these rounds, by file name."""
        names = dict.fromkeys(p for j in rounds for a in j.alerts for p in a.pictures)
        return [(n, (self.folder / EVIDENCE / Path(n).name).read_bytes()) for n in names]

    def go_on_from(self, place: Place) -> None:
        """Let a later run go on from here."""
        head = {
            "at_s": str(place.mark.at_s),
            "index": place.mark.index,
            "broken": [list(one) for one in place.mark.broken],
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
        shutil.rmtree(self.folder, ignore_errors=True)

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
            rounds = [_Line.model_validate_json(line) for line in kept]
        except (FileNotFoundError, ValueError, KeyError, TypeError, ValidationError):
            return
        self._replace(ROUNDS, "".join(line + "\n" for line in kept).encode())
        self.judged = [
            JudgedRound(
                r.record, r.settlement, r.alerts, detections=r.detections, timeline=r.timeline
            )
            for r in rounds
        ]
        self.place = place


def _place(data: bytes) -> Place:
    """A place of its bytes; ValueError and the like when they are damaged."""
    line, _, snapshot = data.partition(b"\n")
    head = json.loads(line)
    if hashlib.sha256(snapshot).hexdigest() != head["sha256"]:
        raise ValueError("the snapshot is damaged")
    broken = tuple((str(what), int(stamp)) for what, stamp in head["broken"])
    return Place(
        mark=Mark(Fraction(head["at_s"]), int(head["index"]), broken),
        first_s=Fraction(head["first_s"]),
        wall_s=float(head["wall_s"]),
        rounds=int(head["rounds"]),
        snapshot=snapshot,
    )
