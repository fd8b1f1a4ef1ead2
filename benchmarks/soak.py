"""What the real server holds after hours of faults: memory, handles, threads and processes."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import signal
import sqlite3
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import httpx

from benchmarks.overload import outcome, read_told, truth_beside
from benchmarks.room.rtsp_loopback import RtspServer
from benchmarks.room.server_process import (
    family,
    make_token,
    memory_bytes,
    running_server,
    wait_for_server,
    write_site,
)
from settlement.errors import FeltwatchError
from settlement.record import read_rounds
from vision.sources.file import FileSource

CAMERA = "table1"
FAULTS = ("drop", "stall", "down", "kill", "freeze", "store")
"""Stream cut, stream silent, camera away; its process killed, frozen; the store locked."""
ENDS_WITH = {"stall": "go", "down": "up"}
FAULT_S = (5.0, 25.0)
"""How long a stream fault or a locked store lasts, at least and at most."""
SAMPLE_EVERY_S = 15.0
WINDOW_S = 600.0
"""Figures after the warm-up and at the end are medians over so long."""
SETTLED_S = (300.0, 600.0)
"""Ages of the camera's process at which it is compared with earlier ones."""
PAGES = ("/", "/rounds", "/alerts", "/api/tables", "/api/rounds", "/api/alerts")


@dataclass(frozen=True, slots=True)
class Sample:
    """What the server and all its processes hold at one time."""

    at_s: float
    server_mib: float
    camera_mib: float
    """Its largest child: the camera's process holds the networks."""
    all_mib: float
    handles: int
    """Open files of the server itself."""
    threads: int
    processes: int
    camera: int = 0
    """The process id of the camera's process."""


@dataclass(frozen=True, slots=True)
class Life:
    """One process of the camera, from `began_s` of the run on."""

    began_s: float
    lived_s: float
    mib: float
    """Median memory while it was between five and ten minutes old."""


def bench_soak(
    video: Path,
    table: Path,
    minutes: float,
    tell: Callable[[str], None],
    fault_every_s: float = 180.0,
    warm_minutes: float = 20.0,
    fps: int = 2,
    seed: int = 17,
) -> dict[str, Any]:
    """Watch a film, thinned to `fps`, for `minutes` with a fault each `fault_every_s`.

    Pages are requested and an event stream is opened and closed all the while. Returns what is
    held after `warm_minutes` and at the end, the faults and what became of the rounds. Raises
    FeltwatchError.
    """
    if minutes <= warm_minutes:
        raise FeltwatchError(f"{minutes:g} minutes: more than the warm-up, {warm_minutes:g}")
    with tempfile.TemporaryDirectory(prefix="feltwatch-soak-") as place:
        folder = Path(place)
        tell(f"thinning {video.name} to {fps} frames a second")
        film = thin_film(video, folder / "film.mp4", fps)
        with RtspServer({CAMERA: film}) as rtsp:
            site = write_site(folder, {CAMERA: table}, rtsp)
            token = make_token(folder)
            with running_server(site) as (process, address), _client(token, address) as client:
                wait_for_server(client, address, process)
                store = folder / "data/feltwatch.sqlite"
                soak = _Soak(process, client, rtsp, store, random.Random(seed), tell)
                soak.run(minutes * 60, fault_every_s)
                pids, end_s = family(process.pid), time.time()
                process.terminate()
                code = process.wait(60)
            left = _still_there(pids, 10.0)
        path = truth_beside(video)
        told = read_told(f"sqlite:///{store}", CAMERA, end_s)
        counts = outcome(read_rounds(path) if path else [], told, end_s)
    warm = summary(soak.samples, warm_minutes * 60)
    last = summary(soak.samples, float("inf"))
    return {
        "video": {"file": video.name, "fps": fps},
        "minutes": minutes,
        "faults": dict(soak.faults),
        "came_back": soak.came_back,
        "answers": dict(soak.answers),
        "after_warm_up": warm,
        "at_end": last,
        "change": {
            key: round(last[key] / warm[key] - 1, 4)
            for key in ("server_mib", "camera_mib", "all_mib")
        },
        "camera_processes": [asdict(life) for life in lives(soak.samples)],
        "exit_status": code,
        "processes_left": left,
        "rounds": len(told.rounds),
        "false_alerts": counts["false_alerts"] if path else None,
        "false": counts["false"] if path else None,
        "reported_gap_s": counts["reported_gap_s"],
        "samples": [asdict(one) for one in soak.samples[:: round(300 / SAMPLE_EVERY_S)]],
    }


def summary(samples: list[Sample], until_s: float) -> dict[str, float]:
    """Medians over the last `WINDOW_S` before `until_s`, or of what there is.

    >>> many = [Sample(60.0 * n, 100.0 + n, 300.0, 500.0, 20, 9, 4) for n in range(60)]
    >>> summary(many, 1200.0)["server_mib"], summary(many, float("inf"))["server_mib"]
    (115.5, 154.5)
    """
    before = [one for one in samples if one.at_s <= until_s]
    own = [one for one in before if one.at_s > before[-1].at_s - WINDOW_S]
    names = [field.name for field in fields(Sample) if field.name not in ("at_s", "camera")]
    medians = {name: statistics.median(getattr(one, name) for one in own) for name in names}
    return {name: round(value, 1) for name, value in medians.items()} | {"samples": len(own)}


def lives(samples: list[Sample]) -> list[Life]:
    """The camera's processes that became ten minutes old, to compare them at one age.

    >>> def held(minute):  # a new process after 20 minutes, which holds as much
    ...     return Sample(60.0 * minute, 90.0, 300.0 + minute % 20, 500.0, 20, 9, 4, minute // 20)
    >>> [(life.began_s, life.lived_s, life.mib) for life in lives([held(n) for n in range(45)])]
    [(0.0, 1140.0, 307.5), (1200.0, 1140.0, 307.5)]
    """
    found = []
    for _, own in itertools.groupby(samples, key=lambda one: one.camera):
        run = list(own)
        began_s, lived_s = run[0].at_s, run[-1].at_s - run[0].at_s
        settled = [
            one.camera_mib for one in run if SETTLED_S[0] <= one.at_s - began_s <= SETTLED_S[1]
        ]
        if lived_s >= SETTLED_S[1]:
            found.append(Life(began_s, lived_s, round(statistics.median(settled), 1)))
    return found


def thin_film(video: Path, out: Path, fps: int) -> Path:
    """Write the film again with `fps` frames a second and a key frame each second."""
    with FileSource(video) as source, av.open(str(out), "w") as container:
        stream = container.add_stream("libx264", rate=fps)
        stream.width, stream.height, stream.pix_fmt = source.width, source.height, "yuv420p"
        stream.time_base = stream.codec_context.time_base = Fraction(1, fps)
        stream.options = {"preset": "veryfast", "crf": "20", "g": str(fps), "bf": "0"}
        for number, frame in enumerate(source.frames(every_s=1 / fps)):
            image = frame.scaled(source.width, source.height)
            image.pts, image.time_base = number, Fraction(1, fps)
            container.mux(stream.encode(image))
        container.mux(stream.encode(None))
    return out


def _still_there(pids: list[int], within_s: float) -> int:
    """How many of the processes have not ended after `within_s`; zombies have."""
    limit = time.monotonic() + within_s
    while True:
        left = 0
        for pid in pids:
            with contextlib.suppress(OSError):
                stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
                left += stat.rpartition(")")[2].split()[0] != "Z"
        if not left or time.monotonic() > limit:
            return left
        time.sleep(0.2)


def _camera(processes: list[int]) -> int:
    """The camera's process, the largest child of the first one; 0 where there is none."""
    return max(processes[1:], key=memory_bytes, default=0)


def _client(token: str, address: str) -> httpx.Client:
    headers = {"authorization": f"Bearer {token}"}
    return httpx.Client(base_url=address, headers=headers, timeout=60.0)


class _Soak:
    """The faults and the figures of one run."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        client: httpx.Client,
        rtsp: RtspServer,
        store: Path,
        chance: random.Random,
        tell: Callable[[str], None],
    ) -> None:
        self._process, self._client, self._rtsp = process, client, rtsp
        self._store, self._chance, self._tell = store, chance, tell
        self.samples: list[Sample] = []
        self.faults: Counter[str] = Counter()
        self.answers: Counter[int] = Counter()
        self.came_back = 0

    def run(self, length_s: float, fault_every_s: float) -> None:
        """Run for `length_s`; the last fault ends before that."""
        self._wait_watched(300.0)
        began = time.monotonic()
        next_fault = began + fault_every_s
        while (now := time.monotonic()) < began + length_s:
            if now >= next_fault and now + fault_every_s < began + length_s:
                next_fault += fault_every_s
                self._fault(FAULTS[self.faults.total() % len(FAULTS)])
            self._ask()
            self._take_sample(now - began)
            time.sleep(SAMPLE_EVERY_S)

    def _ask(self) -> None:
        """Request what a wall and a report request, and open and close an event stream."""
        for path in PAGES:
            self.answers[self._client.get(path).status_code] += 1
        with self._client.stream("GET", "/api/events") as answer:
            next(answer.iter_lines(), None)
            self.answers[answer.status_code] += 1

    def _take_sample(self, at_s: float) -> None:
        pid = self._process.pid
        own = family(pid)
        held = {one: memory_bytes(one) / 2**20 for one in own}
        camera = _camera(own)
        entry = Sample(
            round(at_s, 1),
            round(held[pid], 1),
            round(held.get(camera, 0.0), 1),
            round(sum(held.values()), 1),
            sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir()),
            sum(1 for _ in Path(f"/proc/{pid}/task").iterdir()),
            len(own),
            camera,
        )
        if len(self.samples) % round(300 / SAMPLE_EVERY_S) == 0:
            self._tell(f"{entry}, {dict(self.faults)}, {dict(self.answers)}")
        self.samples.append(entry)

    def _fault(self, kind: str) -> None:
        lasts_s = self._chance.uniform(*FAULT_S)
        self._tell(f"fault: {kind}")
        self.faults[kind] += 1
        if kind in ("kill", "freeze"):
            if camera := _camera(family(self._process.pid)):
                os.kill(camera, signal.SIGKILL if kind == "kill" else signal.SIGSTOP)
        elif kind == "store":
            with contextlib.closing(sqlite3.connect(self._store, timeout=30.0)) as connection:
                connection.execute("BEGIN EXCLUSIVE")
                time.sleep(lasts_s)
                connection.rollback()
        else:
            self._rtsp.say(kind)
            if kind in ENDS_WITH:
                time.sleep(lasts_s)
                self._rtsp.say(ENDS_WITH[kind])
        since = time.time()
        self._wait_watched(180.0, since)
        self.came_back += 1

    def _wait_watched(self, patience_s: float, since: float | None = None) -> None:
        """Wait until the camera shows an image that is newer than `since`, wall time s."""
        since = time.time() if since is None else since
        limit = time.monotonic() + patience_s
        while time.monotonic() < limit:
            if self._process.poll() is not None:
                raise FeltwatchError(f"the server ended with {self._process.returncode}")
            shown = self._client.get("/api/tables").json()[0]["frame_shown_at"]
            if shown and datetime.fromisoformat(shown).timestamp() > since:
                return
            time.sleep(1.0)
        raise FeltwatchError(f"the camera was not watched again within {patience_s:g} s")
