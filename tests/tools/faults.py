"""Kill servers and audits at random moments and break streams; count what became of every round.

    python tests/tools/faults.py recording KILLS     between journal and store, SQLite
    python tests/tools/faults.py watching KILLS      a server with a live camera
    python tests/tools/faults.py auditing KILLS      a worker with its audits, PostgreSQL
    python tests/tools/faults.py importing KILLS     imports of labelled images
    python tests/tools/faults.py reviewing KILLS     the review page's server while labels are saved
    python tests/tools/faults.py saving KILLS        a server that stores rounds and verdicts, half
                                                     on SQLite, half on PostgreSQL
    python tests/tools/faults.py outages TIMES       PostgreSQL stopped while rounds are decided
    python tests/tools/faults.py disks TIMES         a full disk under SQLite and the journal
    python tests/tools/faults.py streams FAULTS      an RTSP camera that drops, stalls and restarts

Each prints one line of JSON and ends with 1 if a round was lost without a report, stored twice, or
differs from that of an undisturbed run.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from surveillance.store import AlertFilter, Store  # noqa: E402
from tests.rtsp.loopback import RtspServer  # noqa: E402
from tests.surveillance import postgres  # noqa: E402
from tests.surveillance.conftest import (  # noqa: E402
    small_table,
    table_text,
    write_tagged,
    write_video,
)
from tests.surveillance.live import record_made, watch_made  # noqa: E402
from tests.surveillance.live.live_room import wait_for, write_site  # noqa: E402
from tests.surveillance.web.recordings import test_recordings_workers as workers  # noqa: E402
from tests.tools import save_faults, store_faults  # noqa: E402
from tests.vision.sources.live_films import write_film  # noqa: E402

SEED = 17
STANDS_STILL = 0.3
"""Share of the servers that stand still for a while before they are killed."""
PATIENCE_S = 600.0
STORE = "sqlite:///{}/feltwatch-data/feltwatch.sqlite"


def kill_recording(folder: Path, kills: int, chance: random.Random) -> dict[str, Any]:
    """Kill a process that journals and stores rounds; compare with an undisturbed run."""
    url, data, rounds = f"sqlite:///{folder}/data/feltwatch.sqlite", folder / "data", 60 * kills
    command = [sys.executable, "-m", "tests.surveillance.live.record_made", url, str(data)]
    decided: set[int] = set()

    def begin() -> subprocess.Popen[str]:
        return subprocess.Popen([*command, str(rounds)], stdout=subprocess.PIPE, text=True)

    for _ in range(kills):
        process = begin()
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(chance.uniform(0.0, 0.5))
        process.kill()
        said = process.stdout.read().split("\n")
        process.wait()
        decided |= {int(line.split()[1]) for line in said if line.startswith("decided ")}
    process = begin()
    process.communicate(timeout=3600)
    with Store.open(url) as store:
        found = record_made.stored(store)
        expected = record_made.undisturbed(folder, rounds)
        lost = {f"t1-{number:06d}" for number in decided} - set(found)
        return {
            "kills": kills, "decided_before_a_kill": len(decided), "rounds": len(found),
            "lost": len(lost), "gaps": len(record_made.lone_alerts(store)),
            "differ": sum(found.get(key) != value for key, value in expected.items()),
        }  # fmt: skip


def _decided(folder: Path) -> int:
    path = folder / "decided.txt"
    return len(path.read_text().splitlines()) if path.exists() else 0


def _wait_round(folder: Path) -> None:
    """Wait until the camera has decided one more round."""
    before = _decided(folder)
    wait_for(lambda: _decided(folder) > before, PATIENCE_S)


def _accounted(folder: Path) -> dict[str, Any]:
    with Store.open(STORE.format(folder)) as store:
        found = watch_made.account_for(store, folder / "decided.txt")
        cameras = len(store.alerts.page(AlertFilter(code="CAMERA"), None, 500).rows)
    return {
        "decided": found.decided, "stored": found.stored, "in_gaps": found.in_gaps,
        "lost": len(found.lost), "gap_alerts": found.gaps, "camera_alerts": cameras,
    }  # fmt: skip


def _stop(server: subprocess.Popen[str]) -> None:
    server.terminate()
    server.wait(PATIENCE_S)


def kill_watching(folder: Path, kills: int, chance: random.Random) -> dict[str, Any]:
    """Kill a server that watches a camera, now and then one that stands still first."""
    film = write_film(folder / "a.mp4", 20.0, rate=5, b_frames=2)
    write_site(folder, str(film), camera={"loop": True})
    for _ in range(kills):
        with watch_made.watching(folder) as server:
            _wait_round(folder)
            if chance.random() < STANDS_STILL:
                os.kill(server.pid, signal.SIGSTOP)
            time.sleep(chance.uniform(0.0, 6.0))
            server.kill()
    with watch_made.watching(folder) as server:
        _wait_round(folder)
        time.sleep(5.0)
        _stop(server)
    return {"kills": kills, **_accounted(folder)}


def break_streams(folder: Path, faults: int, chance: random.Random) -> dict[str, Any]:
    """Break an RTSP camera in turn; every fault must end with the camera watched again."""
    film = write_film(folder / "a.mp4", 30.0, rate=5, b_frames=0)
    came_back = 0
    with RtspServer({"t": film}) as camera:
        write_site(folder, camera.url("t"))
        with watch_made.watching(folder) as server:
            _wait_round(folder)
            for number in range(faults):
                fault = ("drop", "stall", "down")[number % 3]
                camera.say(fault)
                time.sleep(chance.uniform(1.0, 8.0))
                if fault != "drop":
                    camera.say({"stall": "go", "down": "up"}[fault])
                _wait_round(folder)
                came_back += 1
            _stop(server)
    return {"faults": faults, "came_back": came_back, **_accounted(folder)}


def kill_auditing(folder: Path, kills: int, chance: random.Random) -> dict[str, Any]:
    """Kill workers while they audit, and compare with audits that nobody disturbed."""
    recordings = folder / "recordings"
    recordings.mkdir()
    film = write_video(folder / "film.mp4")
    (recordings / "table.toml").write_text(table_text(small_table()))
    for number in range(workers.RECORDINGS):
        write_tagged(film, recordings / f"{number:02d}.mp4", number)
    expected = workers.run_locally(recordings, folder / "local")
    data, done = folder / "shared", 0
    with postgres.server() as host, ExitStack() as ends:
        postgres.run(host, "CREATE DATABASE jobs")
        url = postgres.url(host, "jobs")
        store = ends.enter_context(Store.open(url))
        workers.add_all(store, recordings, data)

        def is_over() -> bool:
            return all(row.state == "done" for row in workers.all_rows(store))

        while done < kills and not is_over():
            with workers.worker(url, recordings, data):
                time.sleep(chance.uniform(0.5, 12.0))
            done += 1
        with workers.worker(url, recordings, data):
            wait_for(is_over, PATIENCE_S)
        found = workers.results(store, data)
        takeovers = sum(row.takeovers for row in workers.all_rows(store))
        rounds = len(store.rounds.page(limit=500).rows)
    return {
        "kills": done, "recordings": len(expected), "takeovers": takeovers, "rounds": rounds,
        "lost": sum(len(records.splitlines()) for records, _ in expected) - rounds,
        "differ": sum(one != other for one, other in zip(found, expected, strict=True)),
    }  # fmt: skip


KINDS: dict[str, Callable[[Path, int, random.Random], dict[str, Any]]] = {
    "recording": kill_recording,
    "watching": kill_watching,
    "auditing": kill_auditing,
    "importing": save_faults.kill_importing,
    "reviewing": save_faults.kill_reviewing,
    "saving": save_faults.kill_saving,
    "outages": store_faults.stop_store,
    "disks": store_faults.fill_disks,
    "streams": break_streams,
}


def main(kind: str, many: int) -> int:
    """Run one kind of faults and print its counts; `FELTWATCH_SEED` is another seed."""
    began, seed = time.monotonic(), int(os.environ.get("FELTWATCH_SEED", SEED))
    with tempfile.TemporaryDirectory(prefix="feltwatch-faults-") as place:
        counts = KINDS[kind](Path(place), many, random.Random(seed))
    counts |= {"seed": seed, "took_s": round(time.monotonic() - began)}
    print(json.dumps({"kind": kind, **counts}))
    bad = ("lost", "differ", "failed", "left_over", "not_in_the_log")
    return 1 if any(counts.get(name) for name in bad) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
