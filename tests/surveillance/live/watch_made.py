"""A server that watches a film until it is killed, and what its cameras decided meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from surveillance.config.site_file import load_site
from surveillance.serve import serve_stack
from surveillance.store import AlertFilter, AlertRow, RoundFilter, RoundRow, Store
from tests.surveillance.live.live_room import ScriptedWatcher
from vision.geometry.table import TableFile
from vision.health import camera_watch
from vision.rounds.observed import ObservedRound
from vision.sources.base import Frame

DECIDES = "tests.surveillance.live.watch_made:deciding_watcher"
DECIDED = "FELTWATCH_TEST_DECIDED"
"""Environment variable with the file that decided rounds are added to, before they are sent."""
EVERY_S = "FELTWATCH_TEST_ROUND_EVERY_S"
"""Environment variable with the seconds of the stream from round to round."""


class DecidingWatcher(ScriptedWatcher):
    """Writes down each round that it decides, with its time, s of the stream."""

    def feed(self, frame: Frame) -> list[ObservedRound]:
        decided = super().feed(frame)
        if decided and self.due_s is not None:
            # After a stall not one round for each frame until all are made up for.
            self.due_s = max(self.due_s, self.at_s + self.every_s / 2)
        with Path(os.environ[DECIDED]).open("a") as file:
            for one in decided:
                file.write(f"{frame.shown_at:.3f} {one.record.round_id}\n")  # type: ignore[attr-defined]
        return decided


def deciding_watcher(
    table: TableFile, weights: Path, name: str, rounds_before: int
) -> DecidingWatcher:
    # The film is noise, and is to be taken for a table nevertheless.
    camera_watch.FELT_MATCH_MIN = 0.0  # type: ignore[attr-defined]
    watcher = DecidingWatcher(rounds_before)
    watcher.every_s = float(os.environ.get(EVERY_S, watcher.every_s))
    return watcher


@dataclass(frozen=True, slots=True)
class Accounted:
    """What became of the rounds that cameras decided."""

    decided: int
    stored: int
    in_gaps: int
    lost: tuple[str, ...]
    """Neither stored nor decided within a span that an alert reports."""
    gaps: int


def account_for(store: Store, decided: Path, slack_s: float = 1.5) -> Accounted:
    """Compare what cameras decided with the store; a gap's ends are known to the second.

    A number may be decided again where the round of that number was lost: their times differ.
    """
    lines = [line.split() for line in decided.read_text().splitlines()]
    rounds = [(round_id, round(float(at), 3)) for at, round_id in lines]
    stored = {(row.round_id, round(row.ended_at.timestamp(), 3)) for row in all_rounds(store)}
    gaps = [span_of(row) for row in store.alerts.page(AlertFilter(code="GAP"), None, 500).rows]
    missing = [one for one in rounds if one not in stored]
    lost = [
        f"{round_id} at {at}"
        for round_id, at in missing
        if not any(since - slack_s <= at <= until + slack_s for since, until in gaps)
    ]
    return Accounted(
        len(rounds), len(rounds) - len(missing), len(missing) - len(lost), tuple(lost), len(gaps)
    )


def all_rounds(store: Store) -> list[RoundRow]:
    """Every round of a store, each once."""
    rows: list[RoundRow] = []
    cursor = None
    while True:
        page = store.rounds.page(RoundFilter(), cursor, 500, whole=False)
        rows += page.rows
        cursor = page.next
        if cursor is None:
            ids = [(row.camera, row.source, row.round_id) for row in rows]
            assert len(set(ids)) == len(ids), "a round is stored twice"
            return rows


def span_of(gap: AlertRow) -> tuple[float, float]:
    """The span of a GAP alert, s since 1970; it ends when the alert was raised."""
    since = datetime.strptime((gap.alert.seen or "")[:19], "%Y-%m-%d %H:%M:%S")
    return since.replace(tzinfo=UTC).timestamp(), gap.at.timestamp()


@contextmanager
def watching(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """The server of a folder's `site.toml` as a process; it runs when this is entered."""
    environment = {**os.environ, DECIDED: str(folder / "decided.txt")}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.surveillance.live.watch_made", str(folder)],
        stdout=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "began\n"
        yield process
    finally:
        process.kill()
        process.wait()


def main(folder: Path) -> None:
    """Watch until SIGTERM, or until it is killed."""
    site_file = folder / "site.toml"
    ends = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ends.set())
    with serve_stack(load_site(site_file), site_file, watcher=DECIDES):
        print("began", flush=True)
        ends.wait()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
