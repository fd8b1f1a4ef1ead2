"""`feltwatch settle`: the printed forms, and every input that is refused."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from surveillance.cli import main
from tests.surveillance.cli.table_texts import PAYTABLES, write_table

RECORD: dict[str, Any] = {
    "round_id": "t1-000042",
    "table": "t1",
    "game": "emperors_challenge_exposed",
    "start_s": "812.400",
    "dealer": {"low": ["AS", "KD"], "high": ["9H", "9C", "7S", "5D", "2C"]},
    "seats": [
        {
            "seat": 3,
            "low": ["QH", "JD"],
            "high": ["TS", "TD", "TH", "4C", "3H"],
            "lammers": ["envy"],
            "wagers": [
                {"wager": "main", "stake_cents": 2500, "action": "left", "paid_cents": 0},
                {"wager": "emperors_treasure", "stake_cents": 500, "action": "paid"},
            ],
        }
    ],
}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_table(tmp_path / "table.toml", paytables=PAYTABLES)


def record_file(folder: Path, text: str) -> str:
    path = folder / "round.json"
    path.write_text(text)
    return str(path)


def changed(**wager: object) -> str:
    record = json.loads(json.dumps(RECORD))
    record["seats"][0]["wagers"][1].update(wager)
    return json.dumps(record)


@pytest.mark.parametrize("indent", [None, 2])
def test_json_gives_one_object_a_line(
    indent: int | None, tmp_path: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = record_file(tmp_path, json.dumps(RECORD, indent=indent))
    assert main(["settle", file, "--table", str(table), "--json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1
    settled = json.loads(lines[0])
    assert settled["dealer"]["matches"] is True
    seat = settled["seats"][0]
    assert seat["high"]["name"] == "three tens, four kicker"
    assert [(w["wager"], w["outcome"], w["pay_cents"]) for w in seat["wagers"]] == [
        ("main", "push", 0),
        ("emperors_treasure", "win", 1500),
    ]
    assert seat["wagers"][1]["rule"] == {
        "document": "002_a612a20b2ff3374e.txt",
        "section": "Appendix C, PT-FLT-EC-ET-02",
        "row": "3-of-a-Kind",
    }


def test_lines_from_standard_input(
    table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"{json.dumps(RECORD)}\n\n{json.dumps(RECORD)}\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert main(["settle", "-", "--table", str(table), "--json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_the_text_form_names_hands_pays_and_rules(
    tmp_path: Path,
    table: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    record = json.loads(json.dumps(RECORD))
    fouled = {"seat": 4, "low": ["KH", "KS"], "high": ["QS", "QC", "8D", "6D", "4D"]}
    unknown = {"seat": 5, "wagers": [{"wager": "main"}]}
    record["seats"] += [fouled, unknown]
    file = record_file(tmp_path, json.dumps(record))
    assert main(["settle", file, "--table", str(table)]) == 0
    out = capsys.readouterr().out
    for part in (
        "house way: AS KD and 9C 9H 7S 5D 2C, as set",
        "004 House Way, One Pair",
        "Seat 3: QH JD (queen-jack) and TD TH TS 4C 3H (three tens, four kicker)",
        "$15.00",
        "three of a kind pays 3 to 1",
        "002, Appendix C, PT-FLT-EC-ET-02, 3-of-a-Kind",
        "foul: the low hand, pair of kings, outranks",
        "Seat 5: hand not known",
        "undecided",
    ):
        assert part in out


def test_a_foul_that_the_house_sets_again_is_shown_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    rules = tmp_path / "rules.toml"
    rules.write_text('game = "emperors_challenge_exposed"\n[readings]\nfoul = "reset"\n')
    seat = {"seat": 4, "low": ["KH", "KS"], "high": ["QS", "QC", "8D", "6D", "4D"]}
    file = record_file(tmp_path, json.dumps({**RECORD, "seats": [seat]}))
    assert main(["settle", file, "--table", str(rules)]) == 0
    out = capsys.readouterr().out
    assert "set again by the house way: QC QS (pair of queens) and KH KS 8D 6D 4D (pair of" in out


def test_a_dealer_set_otherwise_or_not_known_is_said(
    tmp_path: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = {
        **RECORD,
        "seats": [],
        "dealer": {"low": ["9H", "9C"], "high": ["AS", "KD", "7S", "5D", "2C"]},
    }
    boxes = {
        **RECORD,
        "seats": [],
        "dealer": {"low": ["9H"], "high": ["9C", "AS", "KD", "7S", "5D", "2C"]},
    }
    unknown = {**RECORD, "seats": [], "dealer": {}}
    text = "\n".join(json.dumps(r) for r in (record, boxes, unknown))
    assert main(["settle", record_file(tmp_path, text), "--table", str(table)]) == 0
    out = capsys.readouterr().out
    assert out.count("set differently") == 2
    assert "the boxes don't hold two and five cards" in out
    assert "Dealer: not known" in out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no round record"),
        ("[]", "line 1: "),
        ("{", "line 1: "),
        (changed(stake_cents=-5), "seat 3, emperors_treasure: stake_cents: must be 0 or more"),
        (changed(colour="red"), "seat 3, emperors_treasure: colour: there is no such key here"),
        (changed(wager="keno"), "seat 3, keno: the table offers no such wager; it has main"),
        (json.dumps(RECORD).replace('"QH"', '"1H"'), "seat 3: low.0: '1H' is no card"),
        (
            json.dumps(RECORD).replace('"QH"', '"AS"'),
            "seat 3: AS lies twice: the dealer and seat 3",
        ),
        (json.dumps(RECORD).replace('"QH", ', ""), "seat 3: 6 cards (1 low and 5 high), not 7"),
        (json.dumps(RECORD).replace('"seats"', '"chairs"'), "chairs: there is no such key here"),
        (
            json.dumps({**RECORD, "seats": [5]}),
            "seat 1 in the list: a table of keys",
        ),
        (f"{json.dumps(RECORD)}\n{changed(wager='keno')}", "line 2: seat 3, keno: "),
        ("{", "not valid JSON ("),
        (changed(stake_cents=0), "seat 3, emperors_treasure: a stake of 0; leave a wager out"),
        (json.dumps(RECORD).replace('"envy"', '"blue"'), "seat 3: 'blue' is no lammer; there are"),
        (
            json.dumps(RECORD).replace('"seat": 3', '"seat": 99'),
            "seat 99: seat: must be 12 or less",
        ),
        (
            json.dumps(RECORD).replace('"seat": 3', '"seat": 9'),
            "seat 9: the table has no such seat; it has 1, 2, 3, 4, 5, 6",
        ),
        (
            json.dumps(RECORD).replace('"stake_cents": 2500', '"stake_cents": 1, "stake_cents": 2'),
            "seat 3, main: stake_cents: the key stands twice",
        ),
        (f'{{"table": "t2", {json.dumps(RECORD)[1:]}', "table: the key stands twice"),
        (
            json.dumps(RECORD).replace('"AS", "KD"]', '"AS", "KD"], "high": []'),
            "dealer.high: the key stands twice",
        ),
    ],
)
def test_bad_records_are_refused_in_one_line(
    text: str, message: str, tmp_path: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = record_file(tmp_path, text)
    assert main(["settle", file, "--table", str(table), "--json"]) == 2
    captured = capsys.readouterr()
    # Lines before the bad one are answered.
    assert len(captured.out.splitlines()) == (1 if "line 2" in message else 0)
    assert len(captured.err.splitlines()) == 1
    assert "round.json" in captured.err
    assert message in captured.err


@pytest.mark.parametrize("by_stdin", [True, False])
def test_cards_as_people_write_them_and_a_byte_order_mark(
    by_stdin: bool,
    tmp_path: Path,
    table: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = json.dumps(RECORD)
    for label, written in (("TS", "10S"), ("TD", "10d"), ("AS", "as"), ("9H", "9h")):
        text = text.replace(f'"{label}"', f'"{written}"')
    settled = []
    over_lines = json.dumps(json.loads(text), indent=1)
    for line in (
        f"\ufeff{text}",
        json.dumps(RECORD),
        f"\ufeff{over_lines}",
    ):
        monkeypatch.setattr("sys.stdin", io.StringIO(line))
        file = "-" if by_stdin else record_file(tmp_path, line)
        assert main(["settle", file, "--table", str(table), "--json"]) == 0
        settled.append(capsys.readouterr().out)
    assert settled[0] == settled[1] == settled[2]


RULES_FILE = """
game = "emperors_challenge_exposed"
[paytables]
emperors_treasure = "PT-FLT-EC-ET-02"
envy = "E02"
[limits.main]
min_cents = 1000
"""


@pytest.mark.parametrize(
    "text",
    [
        RULES_FILE,
        RULES_FILE.replace("[p", "[rules.p")
        .replace("[l", "[rules.l")
        .replace("game", "[rules]\ngame"),
        "\ufeff" + RULES_FILE,
    ],
    ids=["keys of the rules", "a table file without felt", "byte order mark"],
)
def test_rules_alone_are_enough(
    text: str, tmp_path: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rules.toml").write_text(text, encoding="utf-8")
    file = record_file(tmp_path, json.dumps(RECORD))
    found = []
    for rules in (tmp_path / "rules.toml", table):
        assert main(["settle", file, "--table", str(rules), "--json"]) == 0
        found.append(capsys.readouterr().out)
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('game = "bridge"', "rules.game: no game 'bridge'; known are"),
        ("", "game: is missing"),
        ('[rules]\ngame = "bridge"', "rules.game: no game 'bridge'"),
        ("[rules]\nwheel = 'third'", "rules.game: is missing (and 1 more)"),
        ('tables = 3\n[rules]\ngame = "pai_gow_poker"', "tables: move it under [rules]"),
        ('game = "pai_gow_poker"\ngame = "x"', "line 2: game: stands twice; keep one of the two"),
        ('game = "pai_gow_poker"\n[felt]\nwidth_mm = 1', "table: is missing (and 6 more)"),
        ('game = "pai_gow_poker"\n[limits.main]\nmax_cents = 0', "max_cents: must be more than 0"),
        ('game = "pai_gow_poker"\n[limits.main]\nmin_cents = "five"', "limits.main.min_cents"),
    ],
)
def test_rules_files_that_are_refused(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rules.toml").write_text(text)
    file = record_file(tmp_path, json.dumps(RECORD))
    assert main(["settle", file, "--table", str(tmp_path / "rules.toml")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{tmp_path}/rules.toml: " in line
    assert message in line


def test_the_rules_files_folder_of_pay_tables_lies_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "HOUSE-1.toml").write_text(
        '\ufeffid = "HOUSE-1"\nwager = "emperors_treasure"\ndocument = "House rules"\n'
        'basis = "to 1"\n'
        'rows = [{ category = "three_of_a_kind", label = "Trips", pay = 9 }]\n',
        encoding="utf-8",
    )
    (tmp_path / "rules.toml").write_text(
        'game = "emperors_challenge_exposed"\npaytable_folder = "own"\n'
        '[paytables]\nemperors_treasure = "HOUSE-1"\n'
    )
    file = record_file(tmp_path, json.dumps(RECORD))
    monkeypatch.chdir("/")
    assert main(["settle", file, "--table", str(tmp_path / "rules.toml"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["seats"][0]["wagers"][1]["pay_cents"] == 4500


def test_files_that_cannot_be_read(
    tmp_path: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["settle", str(tmp_path / "none.json"), "--table", str(table)]) == 2
    assert "none.json: No such file" in capsys.readouterr().err
    (tmp_path / "round.json").write_bytes(b"\xff\xfe{")
    assert main(["settle", str(tmp_path / "round.json"), "--table", str(table)]) == 2
    assert "not a text file" in capsys.readouterr().err


def test_a_table_with_an_unknown_pay_table_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = write_table(tmp_path / "own.toml", paytables={"envy": "E99"})
    file = record_file(tmp_path, json.dumps(RECORD))
    assert main(["settle", file, "--table", str(table)]) == 2
    assert "own.toml: rules.paytables.envy: no pay table 'E99'" in capsys.readouterr().err


def test_the_schema_of_the_round_record(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "round"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert schema["title"] == "RoundRecord"
    assert set(RECORD) <= set(schema["properties"])
