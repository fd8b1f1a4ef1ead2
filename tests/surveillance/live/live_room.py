"""A little room for the tests: a table over a film of noise, and scripted readings."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from datasets.render.camera import play_area, synthetic_camera, table_camera
from settlement.procedures import Phase
from settlement.record import RoundRecord
from surveillance.live.event_bus import Subscription
from surveillance.live.states import LiveEvent
from tests.surveillance.handmade import RULES, observed_round
from tests.vision.sources.live_films import SIZE
from vision.geometry.standard_layout import standard_table
from vision.geometry.table import FurtherCamera, TableFile
from vision.health import camera_watch
from vision.rounds.live_view import OutlineNow, TableNow, ViewNow
from vision.rounds.observed import ObservedRound
from vision.sources.base import Frame

PATIENCE_S = 90.0
"""For a process to start and do something: the machine may be busy with other things."""

SCRIPTED = "tests.surveillance.live.live_room:scripted_watcher"
CRASHES = "tests.surveillance.live.live_room:crashing_watcher"
EATS = "tests.surveillance.live.live_room:eating_watcher"
FITS = "tests.surveillance.live.live_room:fit_watcher"
SLOW = "tests.surveillance.live.live_room:slow_watcher"
HANGS = "tests.surveillance.live.live_room:hanging_watcher"
BUSY = "tests.surveillance.live.live_room:busy_watcher"
ROUND_EVERY_S = 3.0


def small_table(name: str = "t1") -> TableFile:
    """The standard table as a camera with the film's size would see it."""
    bare = standard_table(RULES).model_copy(update={"table": name})
    camera = synthetic_camera(
        bare.felt, height_mm=2700, tilt_deg=33, width_px=SIZE[0], height_px=SIZE[1],
        keep_mm=play_area(bare), margin=0.05,
    )  # fmt: skip
    return bare.model_copy(update={"camera": table_camera(camera, bare, 0.0, 3)})


def write_toml(path: Path, data: dict[str, object]) -> Path:
    path.write_text(tomli_w.dumps(data), encoding="utf-8")
    return path


def write_table(path: Path, table: TableFile) -> Path:
    return write_toml(path, table.model_dump(mode="json", exclude_none=True))


def write_site(folder: Path, source: str, **more: Any) -> Path:
    """A site with one camera; `more` are parts of the file, `camera` further keys of its own.

    `beside` names further cameras of the table file.
    """
    own = small_table()
    assert own.camera is not None
    beside = tuple(FurtherCamera(name=n, **dict(own.camera)) for n in more.pop("beside", ()))
    table = write_table(folder / "table.toml", own.model_copy(update={"cameras": beside}))
    camera = {"name": "c1", "table_file": table.name, "source": source}
    camera |= more.pop("camera", {})
    data: dict[str, object] = {
        "evidence": {"before_s": 1, "after_s": 1},
        "web": {"port": 0},
        **{key: part for key, part in more.items() if key != "others"},
        "camera": [camera, *more.get("others", ())],
    }
    return write_toml(folder / "site.toml", data)


class ScriptedWatcher:
    """Decides a round with an overpaid bet every few seconds of the stream."""

    sample_every_s = 0.2

    def __init__(self, rounds_before: int = 0) -> None:
        self.number = rounds_before
        self.every_s = ROUND_EVERY_S
        self.due_s: float | None = None
        self.at_s = 0.0

    def feed(self, frame: Frame) -> list[ObservedRound]:
        frame.bgr()
        self.at_s = float(frame.at_s)
        if self.due_s is None:
            self.due_s = self.at_s + self.every_s
        if self.at_s < self.due_s:
            return []
        self.due_s += self.every_s
        self.number += 1
        return [observed_round(self.number, paid_cents=5000, start_s=max(0.0, self.at_s - 2))]

    def finish(self) -> list[ObservedRound]:
        return []

    def now(self) -> TableNow:
        corners = ((40.0, 40.0), (80.0, 40.0), (80.0, 90.0), (40.0, 90.0))
        view = ViewNow(
            3, self.at_s, ("AH", "KD"), ("TS", "TD", "8C", "4C", "3H"), 0, {"main": 2500},
            {"main": None}, ("envy",), (OutlineNow("card", "AH", corners),),
        )  # fmt: skip
        return TableNow(Phase.SETTLING, f"t1-{self.number + 1:06d}", self.at_s, (view,), ())


def scripted_watcher(
    table: TableFile, weights: Path, name: str, rounds_before: int
) -> ScriptedWatcher:
    return ScriptedWatcher(rounds_before)


def fit_watcher(table: TableFile, weights: Path, name: str, rounds_before: int) -> ScriptedWatcher:
    # The film is noise: its view is taken for right for as long as it is watched.
    camera_watch.FELT_MATCH_MIN = 0.0  # type: ignore[attr-defined]
    return ScriptedWatcher(rounds_before)


class _Crashing(ScriptedWatcher):
    def feed(self, frame: Frame) -> list[ObservedRound]:
        raise RuntimeError("the reading met rtsp://ann:s3cret@cam/s")


def crashing_watcher(
    table: TableFile, weights: Path, name: str, rounds_before: int
) -> ScriptedWatcher:
    return _Crashing()


class _Eating(ScriptedWatcher):
    def __init__(self) -> None:
        super().__init__()
        self.eaten: list[np.ndarray] = []

    def feed(self, frame: Frame) -> list[ObservedRound]:
        if not self.eaten:
            self.eaten.append(np.ones(600_000_000, np.uint8))
        return []


def eating_watcher(
    table: TableFile, weights: Path, name: str, rounds_before: int
) -> ScriptedWatcher:
    return _Eating()


class _Hanging(ScriptedWatcher):
    def feed(self, frame: Frame) -> list[ObservedRound]:
        if float(frame.at_s) > 1:
            time.sleep(3600)
        return []


def hanging_watcher(
    table: TableFile, weights: Path, name: str, rounds_before: int
) -> ScriptedWatcher:
    return _Hanging()


class _Slow(ScriptedWatcher):
    """Takes more than a second for a frame, as the reading does on a machine that is overloaded."""

    def feed(self, frame: Frame) -> list[ObservedRound]:
        time.sleep(1.2)
        return super().feed(frame)


def slow_watcher(table: TableFile, weights: Path, name: str, rounds_before: int) -> ScriptedWatcher:
    fit_watcher(table, weights, name, rounds_before)
    return _Slow(rounds_before)


class _Busy(ScriptedWatcher):
    """Sees play that comes to no round."""

    def feed(self, frame: Frame) -> list[ObservedRound]:
        self.at_s = float(frame.at_s)
        return []

    def now(self) -> TableNow:
        return replace(super().now(), moving=(3,))


def busy_watcher(table: TableFile, weights: Path, name: str, rounds_before: int) -> ScriptedWatcher:
    fit_watcher(table, weights, name, rounds_before)
    return _Busy()


def wait_event(
    news: Subscription,
    wanted: Callable[[LiveEvent], bool],
    patience_s: float = PATIENCE_S,
) -> LiveEvent:
    """The next event that is as wanted."""
    end = time.monotonic() + patience_s
    seen: list[str] = []
    while time.monotonic() < end:
        event = news.get(timeout=0.5)
        if event is None:
            continue
        if wanted(event):
            return event
        words = f"{event.kind} {event.body.get('state', '')} {event.body.get('message', '')}"
        if not seen or seen[-1] != words:
            seen.append(words)
    raise AssertionError(f"not so within {patience_s:g} s; seen: {seen[-20:]}")


def wait_for(wanted: Callable[[], bool], patience_s: float = PATIENCE_S) -> None:
    """Until it is so."""
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        if wanted():
            return
        time.sleep(0.1)
    raise AssertionError(f"not so within {patience_s:g} s")


def is_alive(process_id: int) -> bool:
    """Whether a process runs; one that has ended but was not reaped does too."""
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True


def record_of(number: int = 1) -> RoundRecord:
    return observed_round(number).record
