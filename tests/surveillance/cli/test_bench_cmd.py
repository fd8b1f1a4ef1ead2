"""`feltwatch bench rules`: every figure is measured and printed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import rules
from settlement.analysis import odds
from settlement.compare.check import check_record
from settlement.compare.comparison import compare
from settlement.games import terms_for
from settlement.houseways import HOUSE_WAYS
from settlement.settle import settle
from surveillance.cli import main

SMALL = ["bench", "rules", "--hands", "2000", "--rounds", "12"]
MEASURED = {
    "five_one_by_one_per_s",
    "seven_one_by_one_per_s",
    "five_vectorised_per_s",
    "seven_vectorised_per_s",
    "tables_s",
    "census_s",
    "table_rounds",
    "table_median_ms",
    "table_p95_ms",
}


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        shown: list[str] = []
        patch.setattr("typer.echo", shown.append)
        assert main([*SMALL, "--json"]) == 0
    [line] = shown
    assert "\n" not in line
    answer: dict[str, Any] = json.loads(line)
    return answer


def test_all_figures_are_printed(found: dict[str, Any]) -> None:
    assert set(found) == {*MEASURED, "counts", "machine"}
    assert found["counts"]["seven_card_straight_flush_joker"] == 196
    assert found["counts"]["ace_high"] == 14_430_780
    assert all(found[name] > 0 for name in MEASURED - {"tables_s"})
    assert found["table_rounds"] == 12
    assert found["table_median_ms"] <= found["table_p95_ms"]
    assert {"processor", "cores", "system", "python", "numpy"} <= set(found["machine"])


def test_so_much_is_measured_as_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that goes on by a second each time it is looked at: rates are then counts."""
    ticks = iter(range(1_000_000))
    clock = SimpleNamespace(process_time=lambda: float(next(ticks)))
    monkeypatch.setattr(rules, "time", clock)
    monkeypatch.setattr(rules, "_census_s", lambda: 1.0)
    found = rules.bench_rules(2000, 12, lambda _: None).to_dict()
    assert found["five_one_by_one_per_s"] == found["seven_one_by_one_per_s"] == 2000
    # Vectorised five times as many, as the command's help says.
    assert found["five_vectorised_per_s"] == found["seven_vectorised_per_s"] == 5 * 2000
    assert found["table_rounds"] == 12
    assert found["table_median_ms"] == found["table_p95_ms"] == 1000


def test_measured_rounds_carry_every_wager_and_few_mistakes() -> None:
    rng = random.Random(5)
    offered = set(terms_for(rules.TABLE).offered) - {"envy"}
    mistakes = wagers = 0
    for _ in range(40):
        record = rules.random_round(rng)
        assert check_record(record, rules.TABLE) == []
        assert len(record.seats) == rules.SEATS
        for seat in record.seats:
            assert offered <= {wager.wager for wager in seat.wagers}
        settlement = settle(record, rules.TABLE)
        assert all(w.undecided is None for seat in settlement.seats for w in seat.wagers)
        mistakes += len(compare(record, settlement, rules.TABLE))
        wagers += sum(len(seat.wagers) for seat in record.seats)
    assert 0 < mistakes < 3 * rules.MISTAKES * wagers


def test_house_ways_are_simulated_when_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[str, str, int, int]] = []

    def simulate(player: str, dealer: str, deals: int, seed: int, **more: Any) -> odds.Odds:
        asked.append((player, dealer, deals, seed))
        more["progress"](deals)
        return odds.Odds(player, dealer, seed, deals, ((28, 42, 30), *[(0, 0, 0)] * 6), 3, 0)

    monkeypatch.setattr(odds, "simulate", simulate)
    assert main([*SMALL, "--deals", "100", "--seed", "7"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert asked == [(way, way, 100, 7) for way in HOUSE_WAYS]
    assert [entry["win"]["value"] for entry in printed["odds"]] == [0.28] * len(HOUSE_WAYS)


def test_a_dataset_of_so_many_images_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "benchmarks.labelled.bench_dataset",
        lambda pictures, **sizes: {"pictures": pictures},
    )
    assert main(["bench", "dataset", "--pictures", "300", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"pictures": 300}
    assert main(["bench", "dataset", "--pictures", "299"]) == 2
    assert "--pictures" in capsys.readouterr().err


def test_filming_and_views_are_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def film(seconds: float, progress: Callable[[float], None]) -> dict[str, Any]:
        progress(1.0)
        return {"film_s": seconds}

    monkeypatch.setattr("benchmarks.render.bench_simulate", film)
    monkeypatch.setattr("benchmarks.render.bench_views", lambda views: {"views": views})
    assert main(["bench", "simulate", "--seconds", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"film_s": 2}
    assert main(["bench", "simulate", "--views", "9"]) == 0
    assert json.loads(capsys.readouterr().out) == {"film_s": 20, "views": {"views": 9}}


def test_one_set_of_shifts_is_filmed_at_a_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["bench", "money", "--out", str(tmp_path), "--every-way", "--catalogue"]
    assert main(words) == 2
    assert "--every-way and --catalogue: give one of them" in capsys.readouterr().err


def test_no_hands_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "rules", "--hands", "0"]) == 2
    assert "--hands" in capsys.readouterr().err
