"""`feltwatch compare`: what it finds, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from surveillance.cli import main
from tests.surveillance.cli.table_texts import PAYTABLES, write_table
from tests.surveillance.cli.test_settle_cmd import RECORD

PAID = {"action": "paid", "paid_cents": 1500}


def record(number: int = 1, treasure: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A round in which the three tens are paid, as a rule in order."""
    made = json.loads(json.dumps(RECORD)) | {"round_id": f"t1-{number:06}", **more}
    made["seats"][0]["wagers"][1].update(PAID if treasure is None else treasure)
    return made


UNDERPAID = record(2, {"action": "paid", "paid_cents": 1000})
UNDECIDED = record(3, undecided=[{"seat": 3, "what": "main.action", "why": "covered"}])
CARD_TWICE = json.loads(json.dumps(record(4)).replace('"QH"', '"AS"'))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_table(tmp_path / "table.toml", paytables=PAYTABLES)


def run(folder: Path, table: Path, *records: dict[str, Any], as_json: bool = True) -> int:
    path = folder / "rounds.jsonl"
    path.write_text("\n".join(json.dumps(r) for r in records))
    return main(["compare", str(path), "--table", str(table), *(["--json"] if as_json else [])])


@pytest.mark.parametrize(
    ("records", "code", "verdicts"),
    [
        ([record()], 0, ["in_order"]),
        ([UNDERPAID], 1, ["wrong"]),
        ([UNDECIDED], 3, ["undecided"]),
        ([CARD_TWICE], 1, ["wrong"]),
        ([record(), UNDECIDED, record()], 3, ["in_order", "undecided", "in_order"]),
        ([UNDERPAID, UNDECIDED, record()], 1, ["wrong", "undecided", "in_order"]),
    ],
)
def test_verdicts_and_exit_codes(
    records: list[dict[str, Any]],
    code: int,
    verdicts: list[str],
    tmp_path: Path,
    table: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(tmp_path, table, *records) == code
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["verdict"] for line in lines] == verdicts
    assert [line["round_id"] for line in lines] == [r["round_id"] for r in records]


def test_json_holds_the_findings(
    tmp_path: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, table, UNDERPAID) == 1
    (found,) = json.loads(capsys.readouterr().out)["findings"]
    assert (found["code"], found["severity"], found["seat"]) == ("UNDERPAID", "high", 3)
    assert (found["wager"], found["due"]) == ("emperors_treasure", "$15.00")
    assert found["rule"] == "002, Appendix C, PT-FLT-EC-ET-02, 3-of-a-Kind"


def test_what_is_perhaps_wrong_is_no_finding(
    tmp_path: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sums = [[1000, 0.9], [1500, 0.06], [500, 0.04]]
    perhaps = record(2, {"action": "paid", "paid_sums": sums, "paid_cents": None})
    assert run(tmp_path, table, perhaps) == 3
    line = json.loads(capsys.readouterr().out)
    assert [f["code"] for f in line["findings"]] == ["UNDECIDED"]
    (own,) = line["suspicions"]
    assert (own["finding"]["code"], own["finding"]["wager"]) == ("UNDERPAID", "emperors_treasure")
    assert own["probability"] == pytest.approx(0.88, abs=0.01)
    assert run(tmp_path, table, perhaps, as_json=False) == 3
    out = capsys.readouterr().out
    assert "? Perhaps (88%): Seat 3, Emperor's Treasure: paid $10.00, due $15.00" in out


def test_a_hand_pay_alone_is_in_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = write_table(tmp_path / "table.toml", paytables=PAYTABLES, hand_pay_cents=1000)
    assert run(tmp_path, table, record()) == 0
    line = json.loads(capsys.readouterr().out)
    assert line["verdict"] == "in_order"
    assert [f["code"] for f in line["findings"]] == ["HAND_PAY"]


def test_for_people(tmp_path: Path, table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, table, record(), UNDERPAID, UNDECIDED, as_json=False) == 1
    out = capsys.readouterr().out
    for part in (
        "round t1-000001: in order",
        "round t1-000002: wrong",
        "UNDERPAID Seat 3, Emperor's Treasure: paid $10.00, due $15.00",
        "002, Appendix C, PT-FLT-EC-ET-02, 3-of-a-Kind",
        "round t1-000003: undecided",
        "UNDECIDED Seat 3 was not fully read",
    ):
        assert part in out


def test_a_card_that_lies_twice_is_a_finding_and_no_error(
    tmp_path: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, table, CARD_TWICE, as_json=False) == 1
    assert "DECK Seat 3: AS lies twice: the dealer and seat 3." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no round record"),
        ("{", "not valid JSON"),
        (json.dumps(record()).replace('"seat": 3', '"seat": 9'), "seat 9: the table has no such"),
        (json.dumps(record()).replace('"QH"', '"1H"'), "seat 3: low.0: '1H' is no card"),
    ],
)
def test_what_is_no_record_of_this_table_is_refused(
    text: str, message: str, tmp_path: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rounds.jsonl"
    path.write_text(text)
    assert main(["compare", str(path), "--table", str(table)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{path}: " in line or f"{path}, line 1: " in line
    assert message in line


def test_rules_alone_are_enough(tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text(
        'game = "emperors_challenge_exposed"\n[paytables]\n'
        'emperors_treasure = "PT-FLT-EC-ET-02"\nenvy = "E02"\n'
    )
    assert run(tmp_path, tmp_path / "rules.toml", record()) == 0
    assert run(tmp_path, tmp_path / "rules.toml", UNDERPAID) == 1


def test_a_record_of_another_game_is_refused(
    tmp_path: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = record(2, game="emperors_challenge_exposed_earlier")
    assert run(tmp_path, table, record(), other) == 2
    said = capsys.readouterr()
    assert [json.loads(line)["verdict"] for line in said.out.splitlines()] == ["in_order"]
    assert "rounds.jsonl, line 2: round: the record is of 'emperors_challenge_exposed_earlier'" in (
        said.err
    )
