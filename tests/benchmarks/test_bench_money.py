"""The money benchmark: its plan, and one small shift filmed, enrolled, audited and scored."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from benchmarks.money import plan, run
from benchmarks.money.plan import (
    FIXED,
    GAMES,
    ROUNDS,
    SHIFTS,
    WAYS_SHIFTS,
    Shift,
    listed_truths,
    numbers,
    ways_of,
)
from datasets.simulate.house_tables import table_for
from datasets.simulate.mistakes.catalogue import FaultPlan
from datasets.simulate.play.shift_play import plan_shift
from settlement.errors import FeltwatchError


def test_the_fixed_benchmark_is_listed_by_hash() -> None:
    listed = listed_truths()
    assert sorted(listed) == list(range(SHIFTS))
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in listed.values())
    assert len(set(listed.values())) == SHIFTS


def test_a_name_draws_its_own_shifts_of_every_game_with_and_without_mistakes() -> None:
    shifts = [Shift.of(FIXED, n) for n in range(SHIFTS)]
    assert len({shift.seed for shift in shifts}) == SHIFTS
    assert {(shift.game, shift.faults == "none") for shift in shifts} == {
        (game, clean) for game in GAMES for clean in (False, True)
    }
    assert Shift.of(FIXED, 3).seed != Shift.of("another", 3).seed


def test_shifts_of_every_way_hold_each_way_of_a_game_once_and_rounds_without() -> None:
    shifts = [Shift.of_ways("test", n) for n in range(WAYS_SHIFTS)]
    assert len({shift.seed for shift in shifts}) == WAYS_SHIFTS
    for game in GAMES:
        own = [shift for shift in shifts if shift.game == game]
        held = [word.partition(":")[0] for s in own for word in s.faults.split(",")]
        assert sorted(word for word in held if word != "none") == sorted(ways_of(game))
        assert (len(own), held.count("none")) == (10, 2)
        assert sum(shift.cameras > 1 for shift in own) == 1
    assert Shift.of_ways("other", 0) != Shift.of_ways("test", 0) == shifts[0]


@pytest.mark.parametrize(
    ("number", "seed", "digest"),
    [(2, 29685802, "6f1d4feacae6c294"), (4, 54282735, "6a9d6a4bb826a68b"),
     (9, 125651386, "c6ecdcb1e44b5d5d")],
)  # fmt: skip
def test_a_shift_of_a_name_stays_what_it_was(number: int, seed: int, digest: str) -> None:
    """Judging sets are named, not kept: a way that is added later comes by its name only."""
    shift = Shift.of_ways("test", number)
    faults = FaultPlan.parse(shift.faults)
    own = plan_shift(table_for(shift.game), seed=shift.seed, rounds=ROUNDS, faults=faults)
    lines = [record.to_json() for record in own.rounds]
    lines += [
        f"{c.t_s} {[(item.key, item.center_mm) for item in c.put]} {c.remove}" for c in own.changes
    ]
    assert shift.seed == seed
    assert hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16] == digest


@pytest.mark.parametrize("text", ["", "a", "3-", "2-1", "40", "0-40"])
def test_numbers_that_are_none(text: str) -> None:
    with pytest.raises(FeltwatchError, match="--shifts: expected numbers"):
        numbers(text)


def test_another_truth_than_the_listed_one_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "00"
    folder.mkdir()
    (folder / "audited").touch()
    (folder / "truth.jsonl").write_text("{}\n")
    with pytest.raises(FeltwatchError, match=r"truth\.jsonl: not the shift of the benchmark"):
        run.bench_money(tmp_path, [0], print)


def test_a_step_that_fails_names_its_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "GAMES", ("chess",))
    with pytest.raises(FeltwatchError, match=r"simulate failed: .*chess.*film\.log"):
        run.bench_money(tmp_path, [1], print, name="test")


@pytest.mark.slow
@pytest.mark.render
def test_a_shift_is_filmed_audited_and_scored_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "ROUNDS", 1)
    reported: list[str] = []
    found = run.bench_money(tmp_path, [1], reported.append, name="test")
    assert reported == ["shift 1: filming", "shift 1: auditing"]
    one = found["one camera"]
    assert one["rounds"] == {"true": 1, "found": 1, "missed": 0, "invented": 0, "split": 0}
    assert one["cards"]["right"] > 20
    assert one["stakes"]["right"] > 0
    assert one["false alerts"] == []
    assert found["two cameras"] is None
    # The film is gone; what was read of it is not read again.
    assert not list(tmp_path.rglob("*.mp4"))
    assert (tmp_path / "01" / "audit" / "report.html").is_file()
    assert "side_png" in (tmp_path / "01" / "table-read.toml").read_text()
    assert run.bench_money(tmp_path, [1], reported.append, name="test") == found
    assert len(reported) == 2
