"""`feltwatch houseway`: hands from arguments, files and standard input; both printed forms."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from settlement.houseways import HOUSE_WAYS
from surveillance.cli import main
from tests.surveillance.cli.table_texts import write_table

HAND = "AS KD 9H 9C 7S 5D 2C"
SET = {
    "low": ["AS", "KD"],
    "high": ["9C", "9H", "7S", "5D", "2C"],
    "rule": "004 House Way, One Pair",
    "why": "the pair of nines stays high, the two highest go low",
}


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert main(["houseway", "--json", *arguments]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["houseway", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("feltwatch: error: ")
    assert error.count("\n") == 1
    return error.removeprefix("feltwatch: error: ").strip()


@pytest.mark.parametrize("arguments", [(HAND,), tuple(HAND.split()), (HAND.replace(" ", ","),)])
def test_a_hand_of_arguments(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert answer(capsys, *arguments) == [SET]


def test_eight_cards_name_the_discard(capsys: pytest.CaptureFixture[str]) -> None:
    [form] = answer(capsys, "KS QD 9H 9C 7S 5D 3H 2C")
    assert form["discard"] == "2C"
    assert list(form) == ["low", "high", "rule", "why", "discard"]


def test_a_file_with_a_hand_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "hands.txt"
    file.write_text(f"{HAND}\n\nAS AD 2H 2C KS 8D 5C\n")
    first, second = answer(capsys, str(file))
    assert first == SET
    assert second["low"] == ["2C", "2H"]


def test_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{HAND}\n"))
    assert answer(capsys, "-") == [SET]


def test_answers_come_line_by_line() -> None:
    """A script that writes one hand gets its answer before it writes the next."""
    command = [
        sys.executable,
        "-c",
        "import sys; from surveillance.cli import main; sys.exit(main())",
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [*command, "houseway", "-", "--json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(2):
            process.stdin.write(f"{HAND}\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline()) == SET
        process.stdin.close()
        assert process.wait(timeout=60) == 0


def test_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["houseway", HAND]) == 0
    out = capsys.readouterr().out
    assert "AS KD" in out
    assert "ace-king" in out
    assert "9C 9H 7S 5D 2C  pair of nines, seven kicker" in out
    assert "004 House Way, One Pair: the pair of nines stays high" in " ".join(out.split())


def test_discard_and_choice_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = str(write_table(tmp_path / "t.toml", house_way_readings={"equal_cards": "free"}))
    assert main(["houseway", "AS AD AC JOKER KD QC JH 2C", "--table", table]) == 0
    out = capsys.readouterr().out
    assert "discard  2C" in out
    [choice] = [line for line in out.splitlines() if line.startswith("or ")]
    assert choice.split()[1:] == ["AC", "JOKER", "and", "AD", "AS", "KD", "QC", "JH"]


def test_ways(capsys: pytest.CaptureFixture[str]) -> None:
    hand = "KS 5D 5C 4H 4C QD 9S"
    lows = {way: answer(capsys, hand, "--way", way)[0]["low"] for way in HOUSE_WAYS}
    assert lows == {
        "document_004": ["4C", "4H"],
        "trump_plaza": ["KS", "QD"],
        "foxwoods": ["KS", "QD"],
    }


def test_the_wheel(capsys: pytest.CaptureFixture[str]) -> None:
    """A-2-3-4-5 stays high by either ranking; a draw dealer may need to choose by it."""
    hand = "KC KS AH 2D 3C 4S 5H"
    assert answer(capsys, hand, "--wheel", "lowest") == answer(capsys, hand)
    assert main(["houseway", hand, "--wheel", "lowest"]) == 0
    assert "straight, ace to five" in capsys.readouterr().out
    # Of a draw dealer's two straights the better by the house's ranking is kept.
    eight = "AH 2D 3C 4S 5H 6D QC QS"
    assert [answer(capsys, eight, *more)[0]["discard"] for more in ((), ("--wheel", "lowest"))] == [
        "6D",
        "AH",
    ]


def test_the_table_says_the_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.toml"
    table = str(write_table(path, house_way="trump_plaza", wheel="lowest", house_way_readings={}))
    [form] = answer(capsys, "KS 5D 5C 4H 4C QD 9S", "--table", table)
    assert form["rule"] == "Trump Plaza, Two Pair, low and low"
    [form] = answer(capsys, "KS 5D 5C 4H 4C QD 9S", "--table", table, "--way", "document_004")
    assert form["rule"] == "004 House Way, Two Pair"
    table = str(
        write_table(tmp_path / "u.toml", house_way_readings={"two_pair_with_ace": "high_mid"})
    )
    [form] = answer(capsys, "AS TD TC 7H 7C 9D 2S", "--table", table)
    assert form["low"] == ["AS", "9D"]


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    ways = answer(capsys, "--list")
    assert [way["id"] for way in ways] == list(HOUSE_WAYS)
    assert main(["houseway", "--list"]) == 0
    out = capsys.readouterr().out
    for way in HOUSE_WAYS.values():
        assert way.title in out
        assert way.document in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "no hand: write seven cards"),
        (("hands.txt",), "hands.txt: no such file, and no cards such as 'AS KD'"),
        (("AS KD 9H 9C 7S 5D",), "the hand: 6 cards (AS KD 9H 9C 7S 5D); a hand is seven cards"),
        (("A5 KD QH 9C 9D 4S 2H",), "the hand: 'A5' is no card"),
        (("AS",), "the hand: 1 card (AS); a hand is seven cards, or eight of a draw dealer"),
        (("AS KD 9H 9C 7S 5D XX",), "the hand: 'XX' is no card"),
        (("AS", "KD", "9H", "9C", "7S", "5D", "AS"), "the hand: AS is there twice"),
        ((HAND, "--way", "own"), "--way: no house way 'own'; known are: document_004, trump"),
    ],
)
def test_what_is_refused(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refusal(capsys, *arguments)


def test_lines_that_are_refused_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hands.txt"
    file.write_text(f"{HAND}\n\n{HAND} 1X\n")
    assert main(["houseway", str(file), "--json"]) == 2
    captured = capsys.readouterr()
    assert json.loads(captured.out) == SET
    assert f"{file}, line 3: '1X' is no card" in captured.err
    file.write_bytes(b"\xff\xfe\n")
    assert "line 0: not text" in refusal(capsys, str(file))


def test_files_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hands.txt"
    file.write_text(HAND)

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refused)
    assert "hands.txt: Permission denied" in refusal(capsys, str(file))


def test_a_table_with_an_unknown_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = str(write_table(tmp_path / "t.toml", house_way="own"))
    error = refusal(capsys, HAND, "--table", table)
    assert "t.toml: rules.house_way: no house way 'own'" in error
