from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from datasets.faults import FaultPlan
from surveillance.cli import main, simulate_cmd


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the command asks the simulator for."""
    seen: dict[str, Any] = {}

    def simulate(out: Path, *, progress: Callable[[float], None] | None, **wishes: Any) -> None:
        seen.update(wishes, out=out, progress=progress)
        if progress is not None:
            progress(1.0)

    monkeypatch.setattr(simulate_cmd, "simulate", simulate)
    return seen


def test_every_option_reaches_the_simulator(
    asked: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (
        "--seed 7 --rounds 3 --faults OVERPAID@2 --deck faces --pace 0.5 --seats 5 --fps 30 "
        "--width 1920 --height 1080 --camera-seed 4 --codec hevc --crf 28 --preset superfast"
    )
    assert main(["simulate", "--out", str(tmp_path), *words.split()]) == 0
    progress = asked.pop("progress")
    assert asked == {
        "out": tmp_path,
        "seed": 7,
        "rounds": 3,
        "faults": FaultPlan(at=(("OVERPAID", 2),)),
        "deck": Path("faces"),
        "pace": 0.5,
        "seats": 5,
        "fps": 30,
        "size": (1920, 1080),
        "camera_seed": 4,
        "codec": "hevc",
        "crf": 28,
        "preset": "superfast",
    }
    assert callable(progress)
    shown = capsys.readouterr()
    assert shown.out == f"recording: {tmp_path / 'video.mp4'}\n"
    assert "3 rounds" in shown.err


def test_quiet_shows_no_bar(
    asked: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", "--out", str(tmp_path), "--quiet"]) == 0
    assert asked["progress"] is None
    assert asked["size"] == (3840, 2160)
    assert asked["faults"] == FaultPlan()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--faults OVERPAYED", "'OVERPAYED' is no kind of mistake"),
        ("--faults 2", "a rate lies between 0 and 1"),
        ("--width 1921", "even numbers"),
    ],
)
def test_bad_wishes_end_in_one_line(
    asked: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str], words: str, told: str
) -> None:
    assert main(["simulate", "--out", str(tmp_path), *words.split()]) == 2
    shown = capsys.readouterr().err
    assert told in shown
    assert shown.count("\n") == 1
    assert not asked
