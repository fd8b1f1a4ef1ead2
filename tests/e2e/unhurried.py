"""A camera's own worker on a film that goes on only as its frames are read: none is left out."""

from __future__ import annotations

import multiprocessing
import threading
import time
from fractions import Fraction
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from models.weights.folder import default_weights
from surveillance.alerts.judged_round import JudgedRound
from surveillance.alerts.model import Alert
from surveillance.config.site_file import EvidencePart
from surveillance.live.camera.outbox import Sender
from surveillance.live.camera.worker import CameraWorker
from surveillance.live.messages import (
    IncidentMessage,
    Message,
    RoundMessage,
    StateMessage,
    WorkerSetup,
)
from vision.sources.camera_backends import LivePlace
from vision.sources.clock import Timeline
from vision.sources.limits import LiveLimits
from vision.sources.live import LiveSource
from vision.sources.load import LoadPlan
from vision.sources.url import Address

UNHURRIED = LiveLimits(stalled_s=60, give_up_s=120, frozen_s=300, skip_lag_s=3600, key_lag_s=3600)
"""How long a frame takes on this machine is not what is tested."""


class ByReader:
    """Plays a film no faster than its frames are read, in place of `vision.sources.pacing.Pace`."""

    def __init__(self, source: LiveSource) -> None:
        self._source = source
        self.passes, self.film_s = 0, 0.0

    def restart(self) -> None:
        self.passes += 1

    def wait(self, stamp_s: Any) -> float:
        self.film_s = float(stamp_s)
        while self._source._slot and not self._source._stop.is_set():
            time.sleep(0.002)
        return time.time()


class InTime(Timeline):
    """A stream's time where the film is played in time, however long reading it takes here."""

    def at(self, stamp_s: Fraction, wall_s: float) -> Fraction:
        return super().at(stamp_s, 0.0)


class UnhurriedSource(LiveSource):
    """The real source of a file, at the pace of its reader."""

    def __init__(self, *parts: Any, **named: Any) -> None:
        super().__init__(*parts, **named)
        self._timeline = InTime()
        self._pace: Any = ByReader(self)


class Heard(Sender):
    """What the worker reports."""

    def __init__(self) -> None:
        self.broken = threading.Event()
        self.lost = 0
        self.rounds: list[JudgedRound] = []
        self.incidents: list[Alert] = []
        self.states: list[StateMessage] = []

    def send(self, message: Message) -> None:
        if isinstance(message, RoundMessage):
            self.rounds.append(message.judged)
        elif isinstance(message, IncidentMessage):
            self.incidents.append(message.alert)
        elif isinstance(message, StateMessage):
            self.states.append(message)

    def alerts(self) -> list[tuple[int, str, int | None]]:
        """Of each alert: the number of its round, its code and its seat."""
        return [
            (number, str(alert.code), alert.seat)
            for number, judged in enumerate(self.rounds)
            for alert in judged.alerts
        ]


def worker_on(
    film: Path, table_file: Path, spool: Path, *, loop: bool
) -> tuple[CameraWorker, Heard, Connection]:
    """A worker that watches a film, what it reports, and the end of the pipe that it obeys.

    `surveillance.live.camera.worker.LiveSource` is to be an `UnhurriedSource`.
    """
    setup = WorkerSetup(
        camera="practice", place=LivePlace(Address.parse(str(film)), loop=loop),
        table_file=table_file, weights=default_weights(), spool=spool,
        evidence=EvidencePart(), silent_s=600.0, run="run1", limits=UNHURRIED,
    )  # fmt: skip
    ours, theirs = multiprocessing.Pipe()
    heard = Heard()
    worker = CameraWorker(setup, heard, theirs)
    # A clock that stands still: the frames are never thinned out.
    worker.load = LoadPlan(worker.watcher.sample_every_s, clock=lambda: 0.0)
    return worker, heard, ours
