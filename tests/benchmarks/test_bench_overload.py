"""What became of each round: counted from rounds, alerts and reported gaps of a live run."""

from __future__ import annotations

import os
import time
from pathlib import Path

from benchmarks.overload import Told, _passes_and_gaps, busy_processes, outcome
from settlement.record import RoundRecord, Undecided, read_rounds
from surveillance.alerts.model import IncidentAct

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
