"""Record what a checkout of feltwatch makes of a recording, and compare two such results.

    python tests/tools/compare_runs.py record TREE OUT    run TREE's own code, keep its records
    python tests/tools/compare_runs.py compare ONE OTHER  byte by byte; exit status 1 if different

`record` runs the demo, and `feltwatch serve` with the recording played as a live camera. It
reads the live results out of the SQLite file, so it needs nothing of the tree but its command.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

DEMO_FILES = ("rounds.jsonl", "alerts.jsonl")
FILES = tuple(f"{kind}/{name}" for kind in ("demo", "live") for name in DEMO_FILES)
LIVE_MODULES = ("vision.sources.limits", "vision.live_limits")
"""Where a tree may keep `LiveLimits`."""
PATIENCE_S = 3600.0
_SERVE = f"""
import importlib, sys
for module in {LIVE_MODULES!r}:
    try:
        limits = importlib.import_module(module).LiveLimits
        break
    except ModuleNotFoundError:
        pass
# No frame is dropped however busy the machine is: records then do not depend on its load.
of = {{'slot': 10_000, 'slot_s': 1e9, 'skip_lag_s': 1e9, 'key_lag_s': 1e9, 'slow_share': 1.0}}
fields = [name for name in limits.__init__.__annotations__ if name != 'return']
defaults = zip(fields, limits.__init__.__defaults__, strict=True)
limits.__init__.__defaults__ = tuple(of.get(name, default) for name, default in defaults)
from surveillance.cli import main
if __name__ == '__main__':
    sys.exit(main(['serve', '--config', sys.argv[1]]))
"""
_ALERT = (
    *("alert_id", "table_name", "camera", "source", "dealer", "code", "severity", "seat", "wager"),
    *("start_s", "end_s", "seen", "due", "rule", "message", "pictures", "state"),
    "difference_cents",
)
"""Of a stored alert; what is no column of its own is a key of the column `alert`."""


def run_demo(command: list[str], tree: Path, out: Path) -> None:
    """Run the demo and keep its rounds and alerts under `out`."""
    with tempfile.TemporaryDirectory(prefix="compare-runs-") as folder:
        report = Path(folder) / "report"
        subprocess.run([*command, "demo", "--quiet", "--out", str(report)], cwd=tree, check=True)
        for name in DEMO_FILES:
            shutil.copyfile(report / name, out / name)


def run_live(python: str, tree: Path, out: Path) -> None:
    """Serve a site whose one camera plays the sample once; keep the stored rounds and alerts."""
    with tempfile.TemporaryDirectory(prefix="compare-runs-") as name:
        folder = Path(name)
        site = folder / "site.toml"
        site.write_text(
            '[site]\ndata_dir = "data"\n[web]\nport = 0\n'
            "[limits]\nheartbeat_s = 600.0\nstart_s = 900.0\nmemory_mb = 16000\n"
            f'[[camera]]\nname = "c1"\ntable_file = "{tree / "sample/table.toml"}"\n'
            f'source = "{tree / "sample/video.mp4"}"\n',
            encoding="utf-8",
        )
        with (folder / "log").open("w") as log:
            process = subprocess.Popen(
                [python, "-c", _SERVE, str(site)], cwd=tree, stdout=log, stderr=subprocess.STDOUT
            )
            try:
                wait_for_end(process, folder / "data/feltwatch.sqlite")
            finally:
                process.send_signal(signal.SIGTERM)
                process.wait(300)
                print((folder / "log").read_text(errors="replace")[-2000:], file=sys.stderr)
        write_stored(folder / "data/feltwatch.sqlite", out)


def wait_for_end(process: subprocess.Popen[bytes], database: Path) -> None:
    """Wait for the camera's state `ended`, and then for the end of its process.

    The state says that the film is over; its last frames may still be read then. Raises
    SystemExit when the camera fails, drops frames or takes too long.
    """
    end = time.monotonic() + PATIENCE_S
    worker: Path | None = None
    while time.monotonic() < end:
        time.sleep(1)
        if process.poll() is not None:
            raise SystemExit("the server ended by itself")
        worker = worker or camera_process(process.pid)
        states = [] if not database.exists() else camera_states(database)
        for state, message in states:
            if state in ("failed", "too_slow", "reconnecting"):
                raise SystemExit(f"camera: {state}: {message}")
        if any(state == "ended" for state, _ in states) and not (worker and worker.exists()):
            return
    raise SystemExit(f"the film did not end within {PATIENCE_S:g} s")


def camera_process(server: int) -> Path | None:
    """The folder in /proc of the first process that the server has spawned."""
    for folder in sorted(Path("/proc").glob("[0-9]*"), key=lambda path: int(path.name)):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == server and b"spawn_main" in (folder / "cmdline").read_bytes():
                return folder
        except OSError:
            continue  # It has ended meanwhile.
    return None


def camera_states(database: Path) -> list[tuple[str, str]]:
    """The states that the camera has gone through, with their messages."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        try:
            return connection.execute("SELECT state, message FROM health ORDER BY id").fetchall()
        except sqlite3.OperationalError:
            return []  # The tables are still being made.


def write_stored(database: Path, out: Path) -> None:
    """Write the rounds with their settlements, and the alerts, without times of the wall clock."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        rounds = connection.execute(
            "SELECT record, settlement FROM round_details ORDER BY round"
        ).fetchall()
        columns = {row[1] for row in connection.execute("PRAGMA table_info(alerts)")}
        columns_sql = [n if n in columns else f"json_extract(alert, '$.{n}')" for n in _ALERT]
        columns_sql[_ALERT.index("pictures")] = f"json({columns_sql[_ALERT.index('pictures')]})"
        alerts = connection.execute(
            f"SELECT {', '.join(columns_sql)} FROM alerts WHERE code <> 'UNDECIDED' ORDER BY id"
        ).fetchall()
    lines = [
        f'{{"record":{zlib.decompress(record).decode()},'
        f'"settlement":{zlib.decompress(settlement).decode()}}}'
        for record, settlement in rounds
    ]
    (out / "rounds.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    kept = [_without_run(json.dumps(alert)) for alert in alerts]
    (out / "alerts.jsonl").write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")


def _without_run(line: str) -> str:
    """The line without what names this run: the wall clock of its start, its day and folder."""
    line = re.sub(r"[0-9]{8}T[0-9]{6}\.[0-9]+", "RUN", line)
    line = re.sub(r"/[0-9]{4}-[0-9]{2}-[0-9]{2}/", "/DAY/", line)
    return re.sub(r"\"/[^\"]*/(?=[^/\"]*#RUN)", '"', line)


def record(tree: Path, out: Path) -> None:
    """Run the code of `tree` and keep what it gives in `out`."""
    tree = tree.resolve()
    own = tree / ".venv/bin/python"
    python = str(own if own.exists() else sys.executable)
    for kind in ("demo", "live"):
        (out / kind).mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    run_demo([python, "-m", "surveillance"], tree, out / "demo")
    run_live(python, tree, out / "live")


def compare(one: Path, other: Path) -> bool:
    """Whether two results are the same, byte by byte; prints a line for each file."""
    same = True
    for name in FILES:
        a, b = (one / name).read_bytes(), (other / name).read_bytes()
        alike = a == b and bool(a)
        same = same and alike
        result = "same" if alike else "EMPTY" if a == b else "DIFFERENT"
        print(
            f"{name}: {result} ({len(a)} and {len(b)} bytes, {a.count(10)} and {b.count(10)} lines)"
        )
    return same


def main() -> int:
    """Run as the command line asks."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="run a checkout's code and keep its records")
    recording.add_argument("tree", type=Path, help="the checkout; its .venv is used if it has one")
    recording.add_argument("out", type=Path, help="folder for the records")
    comparing = commands.add_parser("compare", help="compare two results of record")
    comparing.add_argument("one", type=Path)
    comparing.add_argument("other", type=Path)
    given = parser.parse_args()
    if given.command == "record":
        record(given.tree, given.out)
        return 0
    return 0 if compare(given.one, given.other) else 1


if __name__ == "__main__":
    sys.exit(main())
