from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from datasets.simulate.house_tables import table_for
from datasets.simulate.mistakes.catalogue import WAYS, FaultPlan
from datasets.simulate.play.shift_events import EventPlan
from datasets.simulate.shards import Shard
from datasets.simulate.shift import Wishes, write_table
from surveillance.cli import main
from surveillance.cli.datasets import simulate_cmd


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the command asks the simulator for."""
    seen: dict[str, Any] = {}

    def simulate(
        out: Path, wishes: Wishes, *, progress: Callable[[float], None] | None, **more: Any
    ) -> bool:
        seen.update(more, out=out, wishes=wishes, progress=progress)
        if progress is not None:
            progress(1.0)
        return more["shard"].count == 1

    monkeypatch.setattr(simulate_cmd, "simulate", simulate)
    return seen


def test_every_option_reaches_the_simulator(
    asked: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (
        "--seed 7 --rounds 3 --faults OVERPAID@2 --deck faces --pace 0.5 --seats 5 --fps 30 "
        "--width 1920 --height 1080 --camera-seed 4 --codec hevc --crf 28 --preset superfast "
        "--game pai_gow_poker --jackpots plain --events fill@2 --dealers untidy "
        "--silent-minutes 2 --shard 2/3 --frames-truth --commission afterwards"
    )
    assert main(["simulate", "--out", str(tmp_path), *words.split()]) == 0
    progress = asked.pop("progress")
    assert asked == {
        "out": tmp_path,
        "shard": Shard(2, 3),
        "frames_truth": True,
        "truth_only": False,
        "wishes": Wishes(
            seed=7,
            rounds=3,
            faults=FaultPlan(at=(("OVERPAID", 2),)),
            events=EventPlan(at=(("fill", 2),)),
            game="pai_gow_poker",
            jackpots="plain",
            deck=Path("faces"),
            pace=0.5,
            seats=5,
            dealers="untidy",
            silent_s=120.0,
            fps=30,
            size=(1920, 1080),
            camera_seed=4,
            codec="hevc",
            crf=28,
            preset="superfast",
            commission_later=True,
        ),
    }
    assert callable(progress)
    shown = capsys.readouterr()
    assert shown.out == f"recording: {tmp_path / 'video-2-of-3.mp4'} (there already)\n"
    assert "3 rounds, part 2/3" in shown.err


def test_quiet_shows_no_bar(
    asked: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", "--out", str(tmp_path), "--quiet"]) == 0
    assert asked["progress"] is None
    assert asked["wishes"] == Wishes(seed=0, rounds=5)
    shown = capsys.readouterr()
    assert shown.err == ""
    assert shown.out == f"recording: {tmp_path / 'video.mp4'}\n"


def test_the_truth_alone_is_named(
    asked: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", "--out", str(tmp_path), "--quiet", "--truth-only"]) == 0
    assert asked["truth_only"]
    assert capsys.readouterr().out == f"truth: {tmp_path / 'truth.jsonl'}\n"


def test_a_table_file_takes_the_place_of_a_usual_table(
    asked: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "own.toml"
    write_table(table_for("imperial_pai_gow_draw"), path)
    assert main(["simulate", "--out", str(tmp_path), "--quiet", "--table", str(path)]) == 0
    assert asked["wishes"].table.rules.game == "imperial_pai_gow_draw"


def test_every_way_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--list-faults"]) == 0
    shown = capsys.readouterr().out
    for code, ways in WAYS.items():
        for way, description in ways.items():
            assert f"{code}/{way}: {description}" in shown
            assert way in (simulate_cmd.__doc__ or "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--faults OVERPAYED", "'OVERPAYED' is no kind of mistake"),
        ("--faults 2", "a rate lies between 0 and 1"),
        ("--width 1921", "even numbers"),
        ("--faults FOUL/soup", "FOUL has no such way; it has rank, boxes"),
        ("--shard 3/2", "write I/N"),
        ("--events tea@2", "'tea@2' is no event"),
        ("--table nowhere.toml", "nowhere.toml: No such file"),
    ],
)
def test_bad_wishes_end_in_one_line(
    asked: dict[str, Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    words: str,
    message: str,
) -> None:
    assert main(["simulate", "--out", str(tmp_path), *words.split()]) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert shown.count("\n") == 1
    assert not asked
