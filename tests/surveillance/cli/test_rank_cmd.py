"""`feltwatch rank`: what it says of two, five and seven cards, and what it refuses."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from settlement.paytables.registry import pay_table
from settlement.rules import Readings
from surveillance.cli import main
from surveillance.cli.game.rank_cmd import FAMILIES
from vision.geometry.table import TableFile

NOTHING = dict.fromkeys(FAMILIES)


def answers(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert main(["rank", *arguments, "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["rank", *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 1
    return shown.err


def test_two_cards(capsys: pytest.CaptureFixture[str]) -> None:
    [pair, high] = [answers(capsys, hand)[0] for hand in ("2S 2D", "AS KD")]
    assert pair["order"] > high["order"]
    assert high == {
        "cards": ["AS", "KD"],
        "name": "ace-king",
        "order": high["order"],
        "category": "high_card",
        "ranks": [14, 13],
    }


def test_five_cards_and_the_wheel(capsys: pytest.CaptureFixture[str]) -> None:
    wheel, king_high = "AS 2D 3H 4S 5C", "KS QD JH TS 9C"
    [second] = answers(capsys, wheel)
    [other] = answers(capsys, king_high)
    assert second["name"] == "straight, ace to five"
    assert second["order"] > other["order"]
    [lowest] = answers(capsys, wheel, "--wheel", "lowest")
    [other] = answers(capsys, king_high, "--wheel", "lowest")
    assert lowest["order"] < other["order"]


def test_a_foul_shows_in_the_orders(capsys: pytest.CaptureFixture[str]) -> None:
    [low] = answers(capsys, "AS KD")
    [fair] = answers(capsys, "AH KC 9S 4D 2C")
    [foul] = answers(capsys, "AH QC 9S 4D 2C")
    assert foul["order"] < low["order"] < fair["order"]


@pytest.mark.parametrize(
    ("cards", "rows"),
    [
        (
            "2S 3S 4S 5S 6S 7S 8S",
            {
                "emperors_treasure": "seven_card_straight_flush_natural",
                "washington_et_05": "seven_card_straight_flush_natural",
                "imperial_side_bet": "seven_card_straight_flush_natural",
            },
        ),
        (
            "AH KH QH JH TH AS KS",
            {
                "emperors_treasure": "royal_flush_with_suited_ace_king",
                "washington_et_05": "royal_flush_with_suited_ace_king",
                "imperial_side_bet": "royal_flush",
            },
        ),
        (
            "AH KH QH JH TH 2S 3C",
            {
                "emperors_treasure": "royal_flush",
                "washington_et_05": "royal_flush_natural",
                "imperial_side_bet": "royal_flush",
            },
        ),
        (
            "AS KS KD QS JD JOKER QD",
            {
                "emperors_treasure": "straight",
                "washington_et_05": "three_pair",
                "imperial_side_bet": "straight",
            },
        ),
        (
            "9S 9D 9C 5H 5S 5D QC",
            {
                "emperors_treasure": "full_house",
                "washington_et_05": "full_house",
                "imperial_side_bet": "full_house",
            },
        ),
        (
            "9H 9C 9D 8H 7H 6H 2H",
            {"emperors_treasure": "flush", "imperial_side_bet": "three_of_a_kind"},
        ),
        (
            "9S 9D 8C 8H 5S 5D 2C",
            {"emperors_treasure": "three_pair", "washington_et_05": "three_pair"},
        ),
        (
            "9S 8C 7S 5C 4S 3S 2C",
            {
                "pai_gow_insurance": "nine_high",
                "pai_gow_insurance_progressive": "nine_high_one_colour",
            },
        ),
        (
            "9S 8D 7S 5C 4S 3S 2C",
            {"pai_gow_insurance": "nine_high", "pai_gow_insurance_progressive": "nine_high"},
        ),
        ("KS 8D 7S 5C 4S 3S 2C", {"pai_gow_insurance": "king_high"}),
        ("JOKER QD 9S 8C 5S 3S 2C", {"pai_gow_insurance": "ace_high"}),
        ("QS QD 9S 8C 5S 3S 2C", {}),
    ],
)
def test_the_rows_of_seven_cards(
    cards: str, rows: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert answers(capsys, cards) == [{"cards": cards.split(), **NOTHING, **rows}]


def test_the_families_are_real_pay_tables() -> None:
    assert len(pay_table(FAMILIES["emperors_treasure"]).rows) == 12
    assert [r.category for r in pay_table(FAMILIES["washington_et_05"]).rows][-2:] == [
        "three_pair",
        "full_house",
    ]


def test_readings_come_from_the_table_file(
    capsys: pytest.CaptureFixture[str],
    table: TableFile,
    write_table: Callable[[TableFile], Path],
) -> None:
    readings = Readings(joker_in_pai_gow="ace", trips_and_flush="poker")
    rules = table.rules.model_copy(
        update={"readings": readings, "wheel": "lowest", "joker_in_flush": "ace"}
    )
    path = str(write_table(table.model_copy(update={"rules": rules})))
    [flush] = answers(capsys, "9H 9C 9D 8H 7H 6H 2H", "--table", path)
    assert flush["imperial_side_bet"] == "flush"
    [pai_gow] = answers(capsys, "JOKER QD JC TH 7S 8D 2C", "--table", path)
    assert pai_gow["pai_gow_insurance"] == "ace_high"
    [aces] = answers(capsys, "AS KS 9S 4S JOKER", "--table", path)
    assert aces["ranks"] == [14, 14, 13, 9, 4]
    [lowest] = answers(capsys, "AS 2D 3H 4S 5C", "--table", path)
    [second] = answers(capsys, "AS 2D 3H 4S 5C", "--table", path, "--wheel", "second")
    assert lowest["order"] < second["order"]


def test_cards_as_single_arguments_and_with_commas(capsys: pytest.CaptureFixture[str]) -> None:
    assert answers(capsys, "AS", "KD") == answers(capsys, "AS,KD") == answers(capsys, "AS KD")


def test_a_file_with_a_hand_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "hands.txt"
    path.write_text("AS KD\n\n  2S 2D\nJOKER KS QS JS TS\r\nQS QD 9S 8C 5S 3S 2C\n")
    found = answers(capsys, str(path))
    assert [len(answer["cards"]) for answer in found] == [2, 2, 5, 7]


def test_text_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rank", "9H 9C 9D 8H 7H 6H 2H"]) == 0
    shown = capsys.readouterr().out
    assert "5-Card Flush" in shown
    assert "trips" in shown
    assert shown.count("no row") == 3
    assert main(["rank", "AS KD"]) == 0
    assert "ace-king" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("AS KD\nAS KX\n", "line 2: 'KX' is no card"),
        ("AS KD\n\nAS AS\n", "line 3: AS is there twice"),
        ("JOKER 2S 3S 4S JOKER\n", "line 1: JOKER is there twice"),
        ("AS\n", "line 1: 1 card (AS); a hand is two, five or seven cards"),
        ("AS KD 9H 9C 7S 5D\n", "line 1: 6 cards (AS KD 9H 9C 7S 5D)"),
        ("1S KD\n", "line 1: '1S' is no card"),
    ],
)
def test_lines_that_are_no_hand(
    text: str,
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert f"standard input, {message}" in refused(capsys, "-", "--json")


def test_arguments_that_are_no_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "the hand: 'KX' is no card" in refused(capsys, "AS KX")
    assert "the hand: 'A5' is no card" in refused(capsys, "A5 KD")
    assert "no-such.txt: no such file, and no cards" in refused(capsys, "no-such.txt")
    assert "the hand: 3 cards (AS KD QD)" in refused(capsys, "AS", "KD", "QD")
    latin = tmp_path / "latin.txt"
    latin.write_bytes(b"AS KD\n\xe9\n")
    assert "not text" in refused(capsys, str(latin))


def test_lines_before_a_bad_one_are_answered(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("AS KD\nAS\n"))
    assert main(["rank", "-", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["name"] == "ace-king"


def test_cards_as_people_write_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    [plain] = answers(capsys, "TH TS 9D 8C 2S")
    written = "\ufeff10h 10S 9d 8C 2s"
    assert answers(capsys, "10H", "10s", "9d", "8C", "2S") == [plain]
    monkeypatch.setattr("sys.stdin", io.StringIO(written))
    assert answers(capsys, "-") == [plain]
    (tmp_path / "hands.txt").write_text(written, encoding="utf-8")
    assert answers(capsys, str(tmp_path / "hands.txt")) == [plain]


def test_each_line_of_a_pipe_is_answered_at_once() -> None:
    command = [sys.executable, "-m", "surveillance", "rank", "-", "--json"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        for hand, name in (("AS KD", "ace-king"), ("6S 6D", "pair of sixes")):
            running.stdin.write(f"{hand}\n")
            assert json.loads(running.stdout.readline())["name"] == name
        running.stdin.close()
        assert running.wait(timeout=60) == 0
