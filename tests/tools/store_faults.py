"""Stop PostgreSQL and fill the disk while rounds are decided; see faults.py beside this."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

from surveillance.live.journal import Journal
from surveillance.live.recorder import Recorder
from surveillance.store import Store
from tests.surveillance import postgres
from tests.surveillance.full_disk import fill, free, small_disk
from tests.surveillance.live.record_made import (
    lone_alerts,
    no_clip,
    recorder_of,
    round_entry,
    stored,
    undisturbed,
)

BEFORE = 3
"""Rounds decided before each fault."""
WITHIN_S = 300.0


def _take(recorder: Recorder, first: int, many: int) -> int:
    """Report rounds; return the number of the next."""
    for number in range(first, first + many):
        entry = round_entry(number)
        recorder.take(entry)
        if entry.judged.alerts:
            recorder.take(no_clip(entry))
    return first + many


def _counts(store: Store, folder: Path, rounds: int) -> dict[str, int]:
    found, expected = stored(store), undisturbed(folder, rounds)
    return {
        "rounds": len(found), "lost": len(set(expected) - set(found)),
        "gaps": len(lone_alerts(store)),
        "differ": sum(found.get(key) != value for key, value in expected.items()),
    }  # fmt: skip


def stop_store(folder: Path, outages: int, chance: random.Random) -> dict[str, Any]:
    """Stop PostgreSQL for up to 10 s, over and over."""
    following, waited = 1, 0
    with postgres.stoppable_server() as server:
        postgres.run(server.host, "CREATE DATABASE outages")
        with (
            Store.open(postgres.url(server.host, "outages")) as store,
            recorder_of(store, folder) as recorder,
        ):
            for _ in range(outages):
                following = _take(recorder, following, BEFORE)
                server.stop()
                following = _take(recorder, following, chance.randint(5, 30))
                time.sleep(chance.uniform(0.5, 10.0))
                waited += recorder.status.waiting
                server.start()
                assert recorder.wait_stored(WITHIN_S)
            counts = _counts(store, folder, following - 1)
    return {"outages": outages, "waited_in_the_journal": waited, **counts}


def fill_disks(folder: Path, times: int, chance: random.Random) -> dict[str, Any]:
    """Fill the disk under store and journal, over and over."""
    following, held = 1, 0
    with (
        small_disk(folder / "disk", 24) as disk,
        Store.open(f"sqlite:///{disk}/feltwatch.sqlite") as store,
        recorder_of(store, disk, Journal(disk / "journal.sqlite", 6 * 2**20)) as recorder,
    ):
        for _ in range(times):
            following = _take(recorder, following, BEFORE)
            assert recorder.wait_stored(WITHIN_S)
            fill(disk)
            following = _take(recorder, following, chance.randint(5, 30))
            held += recorder.status.held
            time.sleep(chance.uniform(0.5, 5.0))
            free(disk)
            assert recorder.wait_stored(WITHIN_S)
        counts = _counts(store, folder, following - 1)
    return {"full_disks": times, "held_in_memory": held, **counts}
