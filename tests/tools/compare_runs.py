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
from fractions import Fraction
from pathlib import Path

import av

DEMO_FILES = ("rounds.jsonl", "alerts.jsonl")
FILES = tuple(f"{kind}/{name}" for kind in ("demo", "live") for name in DEMO_FILES)
START_S = 300.0
_ALERT = (
    "alert_id, table_name, camera, source, dealer, code, severity, seat, wager, start_s, end_s, "
    "seen, due, rule, message, pictures, state, difference_cents"
)


def stretched(video: Path, out: Path, slower: Fraction) -> Path:
    """The video with all its times multiplied by `slower`, its packets unchanged."""
    with av.open(str(video)) as film, av.open(str(out), "w") as made:
        inner = film.streams.video[0]
        outer = made.add_stream_from_template(inner)
        for packet in film.demux(inner):
            if packet.pts is None or packet.dts is None:
                continue
            packet.pts, packet.dts = round(packet.pts * slower), round(packet.dts * slower)
            packet.stream = outer
            made.mux(packet)
    return out


def run_demo(command: list[str], tree: Path, out: Path) -> None:
    """Run the demo and keep its rounds and alerts under `out`."""
    with tempfile.TemporaryDirectory(prefix="compare-runs-") as folder:
        report = Path(folder) / "report"
        subprocess.run([*command, "demo", "--quiet", "--out", str(report)], cwd=tree, check=True)
        for name in DEMO_FILES:
            shutil.copyfile(report / name, out / name)


def run_live(command: list[str], tree: Path, out: Path, slower: Fraction) -> None:
    """Serve a site whose one camera plays the sample once; keep the stored rounds and alerts."""
    with tempfile.TemporaryDirectory(prefix="compare-runs-") as name:
        folder = Path(name)
        film = stretched(tree / "sample/video.mp4", folder / "film.mp4", slower)
        site = folder / "site.toml"
        site.write_text(
            '[site]\ndata_dir = "data"\n[web]\nport = 0\n'
            "[limits]\nheartbeat_s = 120.0\nstart_s = 300.0\n"
            f'[[camera]]\nname = "c1"\ntable_file = "{tree / "sample/table.toml"}"\n'
            f'source = "{film}"\n',
            encoding="utf-8",
        )
        with (folder / "log").open("w") as log:
            process = subprocess.Popen(
                [*command, "serve", "--config", str(site)],
                cwd=tree, stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip
            try:
                wait_for_end(process, folder / "data/feltwatch.sqlite", START_S + 200 * slower)
            finally:
                process.send_signal(signal.SIGTERM)
                process.wait(120)
        notes = (folder / "log").read_text(encoding="utf-8", errors="replace")
        print(notes[-2000:], file=sys.stderr)
        write_stored(folder / "data/feltwatch.sqlite", out)


def wait_for_end(process: subprocess.Popen[bytes], database: Path, patience_s: float) -> None:
    """Until the camera's state is `ended`; SystemExit when it fails or takes too long."""
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        time.sleep(1)
        if process.poll() is not None:
            raise SystemExit("the server ended by itself")
        states = [] if not database.exists() else camera_states(database)
        for state, message in states:
            if state in ("failed", "fatal"):
                raise SystemExit(f"camera: {state}: {message}")
        if any(state == "ended" for state, _ in states):
            if any(state == "too_slow" for state, _ in states):
                print("frames were dropped; if records differ, try --slower N", file=sys.stderr)
            return
    raise SystemExit(f"the film did not end within {patience_s:g} s")


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
        alerts = connection.execute(f"SELECT {_ALERT} FROM alerts ORDER BY id").fetchall()
    lines = [
        f'{{"record":{zlib.decompress(record).decode()},'
        f'"settlement":{zlib.decompress(settlement).decode()}}}'
        for record, settlement in rounds
    ]
    (out / "rounds.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    # The name of a live source holds the wall clock at which its process began.
    told = [re.sub(r"live:[^\"]*", "live", json.dumps(alert)) for alert in alerts]
    (out / "alerts.jsonl").write_text("".join(f"{line}\n" for line in told), encoding="utf-8")


def record(tree: Path, out: Path, slower: Fraction) -> None:
    """Run the code of `tree` and keep what it gives in `out`."""
    tree = tree.resolve()
    own = tree / ".venv/bin/python"
    command = [str(own if own.exists() else sys.executable), "-m", "surveillance"]
    for kind in ("demo", "live"):
        (out / kind).mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    run_demo(command, tree, out / "demo")
    run_live(command, tree, out / "live", slower)


def compare(one: Path, other: Path) -> bool:
    """Whether two results are the same, byte by byte; prints a line for each file."""
    same = True
    for name in FILES:
        a, b = (one / name).read_bytes(), (other / name).read_bytes()
        alike = a == b and bool(a)
        same = same and alike
        told = "same" if alike else "EMPTY" if a == b else "DIFFERENT"
        print(
            f"{name}: {told} ({len(a)} and {len(b)} bytes, {a.count(10)} and {b.count(10)} lines)"
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
    recording.add_argument(
        "--slower", type=Fraction, default=Fraction(2),
        help="play the live film so many times slower, so that no frame is dropped",
    )  # fmt: skip
    comparing = commands.add_parser("compare", help="compare two results of record")
    comparing.add_argument("one", type=Path)
    comparing.add_argument("other", type=Path)
    given = parser.parse_args()
    if given.command == "record":
        record(given.tree, given.out, given.slower)
        return 0
    return 0 if compare(given.one, given.other) else 1


if __name__ == "__main__":
    sys.exit(main())
