"""How soon an alert stands in a client: films by RTSP into the real server, and out by SSE."""

from __future__ import annotations

import contextlib
import json
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx

from benchmarks.overload import busy_processes, outcome, read_told, truth_beside
from benchmarks.room.rtsp_loopback import RtspServer
from benchmarks.room.server_process import (
    STARTS_WITHIN_S,
    cpu_s,
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

AFTER_S = 12.0
"""Listened for so long after the film's end."""


@dataclass
class _Heard:
    """What the client has heard."""

    alerts: list[dict[str, Any]] = field(default_factory=list)
    rounds: dict[tuple[str, int], bool] = field(default_factory=dict)
    """By camera and number: whether it was timed by the sender's clock."""
    states: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Film:
    """What a camera shows: a video, and the table file of its table."""

    video: Path
    table: Path

    @classmethod
    def of_shift(cls, folder: Path) -> Film:
        """A simulated shift with its truth. Raises FeltwatchError where a file is missing."""
        film = cls(folder / "video.mp4", folder / "table.toml")
        for path in (film.video, film.table, folder / "truth.jsonl"):
            if not path.is_file():
                raise FeltwatchError(
                    f"{folder}: {path.name} is missing; expected a folder that "
                    "`feltwatch simulate` made"
                )
        return film

    def properties(self) -> dict[str, Any]:
        """Its name, size in px, frames a second and length. Raises FeltwatchError."""
        with FileSource(self.video) as source:
            return {
                "file": f"{self.video.parent.name}/{self.video.name}",
                "size": [source.width, source.height],
                "fps": float(source.frame_rate or 0),
                "length_s": source.duration_s or 0.0,
            }


def bench_live(
    films: Sequence[Film],
    report: Callable[[str], None],
    seconds: float | None = None,
    busy: int = 0,
    keep: Path | None = None,
) -> dict[str, Any]:
    """Play each film to a camera of its own, all at once, and measure.

    `seconds` None plays the longest once; a film that has ended begins again. `busy` processes
    run beside it. Where a film's truth lies beside it, the outcome of each round is reported, see
    `benchmarks.overload.outcome`. The server's data stay in the new folder `keep`, if given.

    The time of an alert is from when the camera showed the deciding image, by the stream's
    own clock (RTCP sender reports), to the event's arrival in the client; which rounds and
    alerts were timed so is reported, and their delays apart. Raises FeltwatchError.
    """
    cameras = {f"table{number}": film for number, film in enumerate(films, start=1)}
    videos = {name: film.properties() for name, film in cameras.items()}
    longest_s = max(own["length_s"] for own in videos.values())
    listen_s = seconds if seconds is not None else longest_s + AFTER_S
    with (
        _folder(keep) as folder,
        RtspServer({name: film.video for name, film in cameras.items()}) as rtsp,
    ):
        site = write_site(folder, {name: film.table for name, film in cameras.items()}, rtsp)
        token = make_token(folder)
        report(f"starting the server with {len(cameras)} tables")
        with running_server(site) as (process, address):
            heard = _listen(address, token, process, list(cameras), listen_s, report, busy)
            usage = heard.pop("usage")
            news: _Heard = heard.pop("news")
            end_s = time.time()
        url = f"sqlite:///{folder}/data/feltwatch.sqlite"
        rounds = {}
        for name, film in cameras.items():
            path = truth_beside(film.video)
            if path is not None:
                rounds[name] = outcome(read_rounds(path), read_told(url, name, end_s), end_s)
    return {
        "tables": len(cameras),
        "videos": videos,
        "listened_s": round(listen_s, 1),
        "busy_processes": busy,
        "rounds_played": rounds,
        **delays(news.rounds, news.alerts),
        "cameras": {name: _summary(own) for name, own in sorted(news.states.items())},
        **usage,
    }


@contextlib.contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="feltwatch-bench-") as folder:
            yield Path(folder)
        return
    try:
        keep.mkdir(parents=True)
    except FileExistsError:
        raise FeltwatchError(f"{keep}: exists already; expected a new folder") from None
    except OSError as error:
        raise FeltwatchError(f"{keep}: cannot be made: {error.strerror}") from None
    yield keep.absolute()


def delays(rounds: dict[tuple[str, int], bool], alerts: list[dict[str, Any]]) -> dict[str, Any]:
    """The delays of alerts, all and those timed by the sender's clock, with how many they are.

    `rounds` maps camera and number to whether the round was timed so. An alert of no round,
    which a camera's failing may raise, is timed by no stream and counted apart.

    >>> alerts = [{"camera": "a", "round": n, "latency_s": n / 10} for n in (1, 2, 3)]
    >>> found = delays({("a", 1): True, ("a", 2): True, ("a", 3): False}, alerts)
    >>> found["clock"], found["rounds"], found["latency_by_rtcp_s"]
    ('mixed', {'all': 3, 'by_rtcp': 2}, {'alerts': 2, 'median': 0.15, 'max': 0.2})
    """
    own = [a for a in alerts if a["round"] is not None]
    timed = [{**a, "by_rtcp": rounds.get((a["camera"], a["round"]), False)} for a in own]
    by_rtcp = sum(rounds.values())
    clock = "rtcp" if rounds and by_rtcp == len(rounds) else "mixed" if by_rtcp else "none"
    return {
        "rounds": {"all": len(rounds), "by_rtcp": by_rtcp},
        "alerts": timed,
        "alerts_without_round": [a for a in alerts if a["round"] is None],
        "latency_s": _latency(timed),
        "latency_by_rtcp_s": _latency([a for a in timed if a["by_rtcp"]]),
        "clock": clock,
    }


def _latency(alerts: list[dict[str, Any]]) -> dict[str, Any]:
    late = [a["latency_s"] for a in alerts]
    median = round(statistics.median(late), 3) if late else None
    return {"alerts": len(late), "median": median, "max": max(late, default=None)}


def _listen(
    address: str,
    token: str,
    process: subprocess.Popen[bytes],
    cameras: list[str],
    listen_s: float,
    report: Callable[[str], None],
    busy: int,
) -> dict[str, Any]:
    news, over = _Heard(), threading.Event()
    running: set[str] = set()
    usage: dict[str, Any] = {}
    with (
        contextlib.ExitStack() as beside,
        httpx.Client(
            headers={"authorization": f"Bearer {token}"}, timeout=httpx.Timeout(30, read=None)
        ) as client,
    ):
        wait_for_server(client, address, process)
        began, cpu = time.monotonic(), 0.0
        with client.stream("GET", f"{address}/api/events") as answer:
            if answer.status_code != 200:
                raise FeltwatchError(f"{address}/api/events answers {answer.status_code}")
            limit = time.monotonic() + STARTS_WITHIN_S
            # Every half second a state comes from each camera, so that this goes on.
            for kind, message in _events(answer.iter_lines()):
                arrived = time.time()
                if kind == "state" and message["body"].get("frame_shown_at"):
                    running.add(message["camera"])
                if len(running) < len(cameras):
                    if time.monotonic() > limit:
                        raise FeltwatchError(f"only {len(running)} cameras gave frames in time")
                    continue
                if not over.is_set():
                    over.set()
                    beside.enter_context(busy_processes(busy))
                    report(f"all cameras run; listening for {listen_s:.0f} s")
                    began, cpu = time.monotonic(), cpu_s(process.pid)
                _note(news, kind, message, arrived)
                if time.monotonic() - began > listen_s:
                    break
        took = time.monotonic() - began
        usage["cpu_cores"] = round((cpu_s(process.pid) - cpu) / took, 2)
        usage["memory_mib"] = round(sum(memory_bytes(p) for p in family(process.pid)) / 2**20)
    return {"news": news, "usage": usage}


def _events(lines: Iterator[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Kind and body of each event of an event stream."""
    kind = ""
    for line in lines:
        if line.startswith("event: "):
            kind = line.removeprefix("event: ")
        elif line.startswith("data: ") and kind:
            message = json.loads(line.removeprefix("data: "))
            if isinstance(message, dict) and "body" in message:
                yield kind, message


def _note(news: _Heard, kind: str, message: dict[str, Any], arrived: float) -> None:
    body = message.get("body", {})
    if kind == "state":
        news.states.setdefault(message["camera"], []).append(body)
    elif kind == "round":
        news.rounds[message["camera"], body["id"]] = bool(body["by_sender"])
    elif kind == "alert":
        shown = datetime.fromisoformat(body["at"]).timestamp()
        news.alerts.append(
            {
                "camera": message["camera"],
                "code": body["code"],
                "seat": body["seat"],
                "round": body["round"],
                "latency_s": round(arrived - shown, 3),
            }
        )


def _summary(states: list[dict[str, Any]]) -> dict[str, Any]:
    lags = sorted(s["lag_s"] for s in states if s["lag_s"] is not None)
    slow = sum(s["state"] == "too_slow" for s in states)
    return {
        "fps": round(statistics.mean(s["fps"] for s in states), 2),
        "dropped": states[-1]["dropped"] - states[0]["dropped"],
        "restarts": states[-1]["restarts"],
        "too_slow_share": round(slow / len(states), 3),
        "lag_s": {
            "median": round(statistics.median(lags), 3) if lags else None,
            "p95": round(lags[int(len(lags) * 0.95)], 3) if lags else None,
        },
    }
