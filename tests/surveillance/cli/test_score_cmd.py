"""`feltwatch score` of stacks, of several shifts, and of stated probabilities."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from datasets.simulate.filming.stack_lines import StackLine, StackView
from settlement.record import RoundRecord
from surveillance.cli import main
from tests.surveillance.handmade import observed_round


def stack_of(record: RoundRecord, chips: int) -> StackLine:
    """The stake of seat 3, seen well by the second camera alone."""
    return StackLine(
        round_id=record.round_id, seat=3, wager="main", role="stake", key="r1.3.main.stake0",
        laying=1, cents=2500, chips=chips, colours=1, lean_mm=0, untidy=0, t0_s="1", t1_s="2",
        cameras={
            "": StackView(px_per_chip=2.0, hidden=0, foot_hidden=False),
            "shoulder": StackView(px_per_chip=5.0, hidden=0, foot_hidden=False),
        },
    )  # fmt: skip


def shift_of(folder: Path, chips: int, *, right: bool = True) -> list[str]:
    """Arguments of a shift of one round, whose stake is one stack of so many chips."""
    folder.mkdir()
    truth = observed_round(1, paid_cents=2500).record.model_copy(update={"faults": ()})
    (seat,) = (one for one in truth.seats if one.seat == 3)
    main_wager = seat.wager("main")
    assert main_wager is not None
    assert main_wager.stake_cents is not None
    cents = main_wager.stake_cents if right else main_wager.stake_cents + 500
    read = main_wager.model_copy(update={"stake_cents": cents, "stake_sums": ((cents, 0.995),)})
    wagers = tuple(read if one is main_wager else one for one in seat.wagers)
    seats = tuple(
        one.model_copy(update={"wagers": wagers}) if one is seat else one for one in truth.seats
    )
    lines = {
        "truth": truth.to_json(),
        "rounds": truth.model_copy(update={"seats": seats}).to_json(),
        "stacks": stack_of(truth, chips).model_dump_json(),
    }
    arguments = []
    for name, line in lines.items():
        path = folder / f"{name}.jsonl"
        path.write_text(line + "\n")
        arguments += [f"--{name}", str(path)]
    return arguments


@pytest.fixture
def shifts(tmp_path: Path) -> list[str]:
    """Two shifts whose rounds have the same ids: four chips right, twelve wrong."""
    return [*shift_of(tmp_path / "a", 4), *shift_of(tmp_path / "b", 12, right=False)]


def test_shifts_are_scored_as_one(shifts: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", *shifts, "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert form["rounds"]["true"] == 2
    stakes = form["stacks"]["stakes"]
    assert form["stacks"]["cameras"] == "first"
    assert stakes["height"]["3-5"]["right"] == 1
    assert stakes["height"]["11-20"]["wrong"] == 1
    assert stakes["px_per_chip"]["<2.5"]["seen"] == 2
    assert stakes["aim"]["11-20 chips"]["seen"] == 0
    (one,) = [bin_ for bin_ in form["reliability"]["stakes"]["bins"] if bin_["count"]]
    assert (one["from"], one["count"], one["right"]) == (0.99, 2, 1)


def test_all_cameras_see_more(shifts: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", *shifts, "--json", "--cameras", "all"]) == 0
    aim = json.loads(capsys.readouterr().out)["stacks"]["both"]["aim"]
    assert (aim["1-10 chips"]["right"], aim["11-20 chips"]["wrong"]) == (1, 1)


def test_the_tables_are_printed(
    shifts: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chart = tmp_path / "sums.png"
    assert main(["score", *shifts, "--chart", str(chart)]) == 0
    shown = capsys.readouterr().out
    for words in (
        "Stakes by how they are seen", "Payouts by how they are seen", "px per chip",
        "≥ 3 px, in view", "foot hidden", "Likeliest sum by its stated probability",
        "0.99-0.999", "undecided", "95% interval", "–100.00%",
    ):  # fmt: skip
        assert words in shown
    assert chart.read_bytes().startswith(b"\x89PNG")


def test_without_stacks_there_are_no_tables_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = shift_of(tmp_path / "a", 4)
    assert main(["score", *arguments[:4], "--json"]) == 0
    assert "stacks" not in json.loads(capsys.readouterr().out)


def test_each_shift_needs_its_files(
    shifts: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", *shifts[:-2]]) == 2
    assert "--stacks: expected one for each --truth (2), got 1" in capsys.readouterr().err
    assert main(["score", *shifts[:6], "--truth", shifts[1]]) == 2
    assert "--rounds: expected one for each --truth (2), got 1" in capsys.readouterr().err


def test_stacks_of_another_shift_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = shift_of(tmp_path / "a", 4)
    path = Path(arguments[-1])
    path.write_text(path.read_text().replace('"round_id":"', '"round_id":"x'))
    assert main(["score", *arguments]) == 2
    assert f"{path}: no stack is of a round of" in capsys.readouterr().err


def test_a_chart_that_cannot_be_written_is_named(
    shifts: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chart = tmp_path / "none" / "sums.png"
    assert main(["score", *shifts, "--chart", str(chart)]) == 2
    assert f"--chart {chart}: No such file" in capsys.readouterr().err


def test_the_tables_fit_80_columns(
    shifts: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["score", *shifts]) == 0
    assert "…" not in capsys.readouterr().out


def scored(tmp_path: Path, truth: RoundRecord, seen: RoundRecord, *more: str) -> int:
    """Exit code of scoring one round against one."""
    arguments = []
    for name, record in (("truth", truth), ("rounds", seen)):
        path = tmp_path / f"{name}.jsonl"
        path.write_text(record.to_json() + "\n")
        arguments += [f"--{name}", str(path)]
    return main(["score", *arguments, *more])


TRUTH = observed_round().record.model_copy(update={"faults": ()})


def test_records_of_another_game_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = TRUTH.model_copy(update={"game": "imperial_pai_gow_draw"})
    assert scored(tmp_path, TRUTH, other) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "rounds.jsonl: game: expected emperors_challenge_exposed as in " in line
    assert line.endswith("truth.jsonl, got imperial_pai_gow_draw")


def test_records_of_another_recording_are_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert scored(tmp_path, TRUTH, TRUTH) == 0
    assert "warning" not in capsys.readouterr().err
    late = TRUTH.model_copy(update={"start_s": "90.0", "end_s": "95.0"})
    assert scored(tmp_path, TRUTH, late) == 0
    assert "warning: " in (err := capsys.readouterr().err)
    assert "no round shares its time" in err
    (seat,) = TRUTH.seats
    hands = {"low": ("2D", "3D"), "high": ("4S", "5S", "6S", "8S", "TC")}
    dealer = TRUTH.dealer.model_copy(
        update={"low": ("2H", "4H"), "high": ("5H", "6H", "7H", "8H", "TH")}
    )
    other = TRUTH.model_copy(update={"seats": (seat.model_copy(update=hands),), "dealer": dealer})
    assert scored(tmp_path, TRUTH, other, "--json") == 0
    out, err = capsys.readouterr()
    assert "the cards agree with the truth in 0 of 1 rounds" in err
    assert json.loads(out)["cards"]["right"] == 0
