"""What more workers bring: recordings audited from one queue, also when workers fail."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tomli_w

from settlement.errors import FeltwatchError
from surveillance.audit.clips import cut_clip
from surveillance.audit.recording import audit
from surveillance.config.site_file import load_site
from surveillance.recordings import AuditManager
from surveillance.store import RecordingRow, Store

KINDS = 3
"""Recordings that differ; the others are copies of these."""
LONGEST_S = 3600.0
PAUSE_S = 60.0
RESULTS = ("rounds.jsonl", "alerts.jsonl")
Records = tuple[bytes, ...]


def bench_workers(
    video: Path,
    table: Path,
    store_url: str,
    report: Callable[[str], None],
    recordings: int = 12,
    seconds: float = 10.0,
    workers: Sequence[int] = (1, 2, 3),
) -> dict[str, Any]:
    """Audit so many recordings of `seconds` by one, two and three workers of one database.

    A last run has three workers, one killed and one stopped for a minute in mid-audit. The
    records of every run are compared with those of audits in this process. CPU time is that of
    the workers and all their processes. Raises FeltwatchError.
    """
    with (
        tempfile.TemporaryDirectory(prefix="feltwatch-workers-") as place,
        Store.open(store_url) as store,
    ):
        if store.database.is_sqlite:
            raise FeltwatchError(f"{store_url}: workers share a PostgreSQL database")
        folder = Path(place)
        report(f"cutting {recordings} recordings of {seconds:g} s")
        _cut(video, table, folder / "recordings", recordings, seconds)
        report(f"auditing {KINDS} of them here")
        expected = [_audit_here(folder, number) for number in range(KINDS)]
        room = _Room(folder, store, store_url, recordings, expected)
        runs = []
        for number in workers:
            report(f"{number} workers")
            runs.append(room.run(number))
        report("3 workers, one killed, one stopped for a minute")
        disturbed = room.run(3, disturb=True)
        for run in runs:
            run["speed_up"] = round(runs[0]["wall_s"] / run["wall_s"], 2)
    return {
        "recordings": recordings,
        "seconds_each": seconds,
        "runs": runs,
        "one_killed_one_stopped": disturbed,
        "load_average": [round(load, 1) for load in os.getloadavg()],
    }


def _cut(video: Path, table: Path, folder: Path, many: int, seconds: float) -> None:
    folder.mkdir()
    shutil.copy(table, folder / "table.toml")
    for number in range(many):
        target = folder / f"{number:02d}.mp4"
        if number < KINDS:
            begin = number * seconds
            cut_clip(video, begin, begin + seconds, target.with_suffix(""))
        else:
            shutil.copy(folder / f"{number % KINDS:02d}.mp4", target)
        _add_box(target, number)


def _add_box(path: Path, number: int) -> None:
    """Add a box that players skip, for files with the same contents would be audited once."""
    with path.open("ab") as file:
        file.write((16).to_bytes(4, "big") + b"free" + number.to_bytes(8, "big"))


def _audit_here(folder: Path, number: int) -> Records:
    own = folder / "local" / str(number)
    own.parent.mkdir(exist_ok=True)
    source = folder / "recordings"
    audit(source / f"{number:02d}.mp4", source / "table.toml", own)
    return _records(own)


def _records(out: Path) -> Records:
    return tuple((out / name).read_bytes() for name in RESULTS)


class _Room:
    """A site over one database whose recordings are audited again and again."""

    def __init__(
        self, folder: Path, store: Store, url: str, recordings: int, expected: list[Records]
    ) -> None:
        self._recordings, self._expected, self._store = recordings, expected, store
        self._source, self._data = folder / "recordings", folder / "data"
        self._site_file = folder / "site.toml"
        site = {
            "site": {"name": "bench", "data_dir": "data"},
            "store": {"url": url},
            "recordings": {"folders": [str(self._source)]},
            "camera": [
                {
                    "name": "none",
                    "table_file": str(self._source / "table.toml"),
                    "source": str(self._source / "00.mp4"),
                }
            ],
        }
        self._site_file.write_text(tomli_w.dumps(site), encoding="utf-8")

    def run(self, workers: int, disturb: bool = False) -> dict[str, Any]:
        """Queue the recordings and have them audited."""
        site = load_site(self._site_file)
        manager = AuditManager.of_site(site, self._store)
        for number in range(self._recordings):
            name = f"{number:02d}.mp4"
            _add_box(self._source / name, 0)  # every run audits it as another file
            manager.add(str(self._source), name, str(self._source / "table.toml"), "bench")
        own = sorted(row.id for row in self._rows())[-self._recordings :]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.monotonic()
        with self._workers(workers) as processes:
            if disturb:
                self._disturb(processes)
            self._wait_done(own)
            wall_s = time.monotonic() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        rows = sorted((row for row in self._rows() if row.id in own), key=lambda row: row.file)
        evidence = site.evidence_dir
        differ = sum(
            _records(evidence / str(row.out)) != self._expected[int(Path(row.file).stem) % KINDS]
            for row in rows
        )
        cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return {
            "workers": workers,
            "wall_s": round(wall_s, 1),
            "cpu_s": round(cpu_s, 1),
            "takeovers": sum(row.takeovers for row in rows),
            "differ": differ,
        }

    def _rows(self) -> tuple[RecordingRow, ...]:
        return self._store.recordings.page(limit=200).rows

    def _running(self, process: subprocess.Popen[bytes]) -> list[RecordingRow]:
        """What a worker audits now and has begun to read."""
        own = f" {process.pid} "
        rows = (row for row in self._rows() if row.state == "running")
        return [row for row in rows if own in (row.worker or "") and row.at_s > 0]

    def _disturb(self, processes: list[subprocess.Popen[bytes]]) -> None:
        """Kill the first and stop the second for a minute, each in the middle of an audit."""
        killed, paused = processes[:2]
        _until(lambda: bool(self._running(killed)), "the first worker audits")
        killed.kill()
        _until(lambda: bool(self._running(paused)), "the second worker audits")
        paused.send_signal(signal.SIGSTOP)
        time.sleep(PAUSE_S)
        paused.send_signal(signal.SIGCONT)

    def _wait_done(self, own: list[int]) -> None:
        def done() -> bool:
            rows = [row for row in self._rows() if row.id in own]
            failed = next((row for row in rows if row.state == "failed"), None)
            if failed is not None:
                raise FeltwatchError(f"{failed.file}: {failed.message}")
            return all(row.state == "done" for row in rows)

        _until(done, "all recordings are audited")

    @contextmanager
    def _workers(self, many: int) -> Iterator[list[subprocess.Popen[bytes]]]:
        root = str(Path(__file__).resolve().parents[1])
        paths = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
        command = [sys.executable, "-m", "surveillance", "worker", "--config", str(self._site_file)]
        processes = [
            subprocess.Popen(
                command, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": paths}
            )
            for _ in range(many)
        ]
        try:
            yield processes
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.wait(120)


def _until(holds: Callable[[], bool], what: str) -> None:
    limit = time.monotonic() + LONGEST_S
    while not holds():
        if time.monotonic() > limit:
            raise FeltwatchError(f"not within {LONGEST_S:g} s: {what}")
        time.sleep(0.2)
