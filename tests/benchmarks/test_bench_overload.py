"""What became of each round: counted from rounds, alerts and reported gaps of a live run."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

import pytest

from benchmarks.live import Film
from benchmarks.overload import Told, _passes_and_gaps, busy_processes, outcome, read_told
from settlement.errors import FeltwatchError
from settlement.record import RoundRecord, Undecided, read_rounds
from surveillance.alerts.model import IncidentAct
from surveillance.live.entries import GapEntry
from surveillance.live.event_bus import EventBus
from surveillance.live.recorder import Recorder
from surveillance.store import Store

SAMPLE = Path(__file__).resolve().parents[2] / "sample"
TRUTH = read_rounds(SAMPLE / "truth.jsonl")
ENDS = [float(r.end_s or 0) for r in TRUTH]


def told(
    rounds: list[tuple[float, RoundRecord]],
    alerts: dict[int, tuple[tuple[str, int | None], ...]] | None = None,
    gaps: tuple[tuple[float, float], ...] = (),
    passes: tuple[float, ...] = (1000.0,),
) -> Told:
    known = alerts or {}
    return Told(tuple((at, r, known.get(k, ())) for k, (at, r) in enumerate(rounds)), passes, gaps)


def test_every_round_is_found() -> None:
    own = told([(1000 + end, r) for end, r in zip(ENDS, TRUTH, strict=True)])
    found = outcome(TRUTH, own, 1200.0)
    assert (found["played"], found["found"], found["missed"], found["merged"]) == (3, 3, 0, 0)


def test_an_alert_is_false_unless_the_truth_has_it() -> None:
    own = told(
        [(1000 + ENDS[1], TRUTH[1])],
        {0: (("NOT_TAKEN", 3), ("TOOK_PUSH", 4), ("UNDECIDED", 5))},
    )
    found = outcome(TRUTH, own, 1200.0)
    assert (found["false_alerts"], found["missed"]) == (1, 2)
    assert found["false"] == ["t1-000002 TOOK_PUSH seat 4"]


def test_rounds_in_gaps_and_undecided_ones_are_apart() -> None:
    doubtful = TRUTH[0].model_copy(
        update={"undecided": (Undecided(seat=3, what="main.action", why="no picture"),)}
    )
    own = told([(1000 + ENDS[0], doubtful)], gaps=((1045.0, 1060.0),))
    found = outcome(TRUTH, own, 1200.0)
    assert found["undecided"] == found["in_a_reported_gap"] == found["missed"] == 1
    assert found["reported_gap_s"] == 15


def test_a_record_with_cards_of_two_rounds_is_merged() -> None:
    both = TRUTH[0].model_copy(update={"seats": tuple(s for s in TRUTH[1].seats if s.seat != 3)})
    found = outcome(TRUTH, told([(1000 + ENDS[1], both)]), 1200.0)
    assert found["merged"] == 1


def test_a_pass_that_was_cut_counts_what_was_played_whole() -> None:
    found = outcome(TRUTH, told([], passes=(1000.0, 1060.0)), 1120.0)
    assert found["played"] == found["missed"] == 2


def test_passes_and_gaps_come_from_the_notes() -> None:
    notes: list[tuple[float, str, IncidentAct | None]] = [
        (1.0, "connecting", None), (3.0, "running", None), (9.0, "overload", "began"),
        (12.0, "stale", None), (13.0, "running", None), (20.0, "overload", "ended"),
        (30.0, "reconnecting", None), (32.0, "too_slow", None), (40.0, "left-out", "began"),
    ]  # fmt: skip
    assert _passes_and_gaps(notes, 50.0) == ((3.0, 32.0), ((9.0, 20.0), (40.0, 50.0)))


def test_processes_beside_take_time_and_end() -> None:
    before = os.times()
    with busy_processes(2):
        time.sleep(1.5)
    after = os.times()
    used = after.children_user - before.children_user
    assert used > 0.05


def test_a_gap_alert_is_a_reported_gap(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.sqlite"
    with contextlib.closing(EventBus()) as bus, Store.open(url) as store:
        recorder = Recorder(store, bus, tmp_path / "evidence")
        recorder.take(
            GapEntry(camera="c1", table="t1", since=1000.5, until=1020.0, rounds=0, why="killed")
        )
        assert recorder.wait_stored(20)
        recorder.close()
    assert read_told(url, "c1", 2000.0).gaps == ((1000.5, 1020.0),)


def test_a_folder_that_is_no_shift_is_refused(tmp_path: Path) -> None:
    (tmp_path / "video.mp4").write_bytes(b"")
    with pytest.raises(FeltwatchError, match=r"table.toml is missing; expected a folder that"):
        Film.of_shift(tmp_path)
