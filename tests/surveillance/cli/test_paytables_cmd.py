"""`feltwatch paytables`: lists and shows tables, and checks those of the house."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest

from settlement.paytables.registry import pay_table_ids
from surveillance.cli import main
from surveillance.cli.game.paytables_cmd import paytables_command


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "140")


@pytest.fixture
def show(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: str) -> str:
        assert main(["paytables", *arguments]) == 0
        captured = capsys.readouterr()
        assert captured.err == ""
        return captured.out

    return run


@pytest.fixture
def refuse(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: str) -> str:
        assert main(["paytables", *arguments]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert len(captured.err.splitlines()) == 1
        return captured.err

    return run


def objects(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def line_with(text: str, *words: str) -> str:
    return next(line for line in text.splitlines() if all(word in line for word in words))


def example(tmp_path: Path) -> Path:
    """The file of the help text, as an operator would copy it."""
    text = paytables_command.__doc__ or ""
    body = text[text.index("\b\n") + 2 :].split("\n\n")[0]
    path = tmp_path / "HOUSE-ET-1.toml"
    path.write_text(textwrap.dedent(body), encoding="utf-8")
    return path


def test_the_list_names_every_table_with_its_place_and_edge(show: Any) -> None:
    shown = show()
    for table_id in pay_table_ids():
        assert table_id in shown
    assert "7.7656%" in line_with(shown, "PT-FLT-EC-ET-02", "002 C, 000 B")
    assert "7.7656% without envy" in line_with(shown, "PT-FLT-EC-ET-E02", "003 B")
    assert "43.7400% without meter" in line_with(shown, "PT-BJS-EC-PGI-03", "002 D, 000 C, 003 D")
    assert "4.63¢ a hand" in line_with(shown, " E02 ")


def test_the_list_by_wager_and_document(show: Any) -> None:
    shown = show("--wager", "emperors_treasure", "--document", "000")
    assert "PT-FLT-EC-ET-08" in shown
    assert "PT-FLT-EC-ET-E01" not in shown
    assert "PT-FLT-EC-PGI-01" not in shown
    envy = objects(show("--wager", "envy", "--json"))
    assert {"E01", "PT-FLT-EC-ET-E01", "IMPERIAL-BONUS-A"} < {table["id"] for table in envy}


def test_a_table_with_envy(show: Any) -> None:
    shown = show("PT-FLT-EC-ET-E02")
    row = line_with(shown, "Royal Flush w/ A-K Suited")
    for cell in ("2000", "$1,000", "72", "2,140,876.1", "0.0935%"):
        assert cell in row
    assert "printed in 003, Appendix B, PT-FLT-EC-ET-E02" in shown
    assert "of 154,143,080, paid or returned 19.1944%" in shown
    assert "house edge without envy 7.7656%" in shown
    assert "envy: 4.63¢ to expect of each other hand" in shown
    assert "1: 6.8387%; 2: 5.9119%; 3: 4.9851%; 4: 4.0582%; 5: 3.1314%" in shown


def test_a_jackpot_with_levels_and_dynamic_pays(show: Any) -> None:
    shown = show("PT-PRG-EC-ET-D01")
    assert "100% level 2" in line_with(shown, "5 Aces")
    assert "no edge at $114,236.58, other levels at nothing" in shown
    assert "dynamic pays of Full House: $3, $4, $6, $8, $10, $12, $14, $16, $18, $20" in shown
    assert "how dynamic pays are drawn is not stated" in shown
    assert "each $1,000 on the meter gives back 0.1816%; no edge at $240,793.50" in show(
        "PT-BJS-EC-PGI-03"
    )


def test_other_kinds_of_tables(show: Any) -> None:
    assert "never" in line_with(show("PT-BJS-EC-ET-03"), "n/a")
    assert "pairs of hands" in show("PT-FLT-AHPG-01")
    envy = show("E01")
    assert "house edge" not in envy
    assert "$1,000" in line_with(envy, "7-Card Straight Flush, No Joker")


def test_the_rows_of_the_document_asked_for(show: Any) -> None:
    assert "9-High two-tone" in show("PT-BJS-EC-PGI-01", "--document", "000")
    assert "9-High Pai Gow, Same Color" in show("PT-BJS-EC-PGI-01", "--document", "003")
    (shown,) = objects(show("PT-BJS-EC-PGI-01", "--document", "000", "--json"))
    assert shown["rows"][0]["label"] == "9-High one color"


def test_json_is_one_object_a_line(show: Any) -> None:
    every = objects(show("--json"))
    assert [table["id"] for table in every] == list(pay_table_ids())
    by_id = {table["id"]: table for table in every}
    treasure = by_id["PT-FLT-EC-ET-02"]
    assert treasure["hands"] == 154143080
    assert treasure["rows"][0] == {
        "category": "seven_card_straight_flush_natural",
        "label": "7-Card Straight Flush, No Joker",
        "pay": 8000,
        "count": 32,
        "probability": 32 / 154143080,
        "one_in": 154143080 / 32,
        "gives_back": 32 * 8001 / 154143080,
    }
    top, bottom = treasure["edge_exact"].split("/")
    assert treasure["edge"] == int(top) / int(bottom) == pytest.approx(0.077656, abs=5e-7)
    assert [place["appendix"] for place in treasure["printed_in"]] == ["C", "B"]
    jackpot = by_id["PT-PRG-EC-ET-D01"]
    assert jackpot["meters"][1]["level"] == 2
    assert len(jackpot["rows"][2]["dynamic_cents"]) == 10
    assert jackpot["caveats"]
    joined = by_id["PT-FLT-EC-ET-E02"]
    assert joined["edge_with_envy"]["5"] == pytest.approx(0.031314, abs=5e-7)
    assert "edge" not in by_id["E01"]
    assert by_id["E01"]["envy_cents_per_other_hand"] > 0
    assert "one_in" not in by_id["PT-BJS-EC-ET-03"]["rows"][1]


def test_an_own_table_as_the_help_shows_it(show: Any, tmp_path: Path) -> None:
    path = example(tmp_path)
    shown = show("--check", str(path))
    assert "9/2" in line_with(shown, "Full House")
    assert "push" in line_with(shown, "3 Pair")
    assert "in order" in line_with(shown, "HOUSE-ET-1.toml")
    assert "HOUSE-ET-1" in show("--folder", str(tmp_path), "--wager", "emperors_treasure")
    (printed,) = objects(show("HOUSE-ET-1", "--folder", str(tmp_path), "--json"))
    assert printed["printed_in"] == [{"document": "House rules of May"}]


def test_the_help_shows_the_example(show: Any) -> None:
    assert '{ category = "five_aces", label = "5 Aces", pay = 400 },' in show("--help")
    assert "[rules]" in show("--help")


def test_own_tables_out_of_order_are_refused(refuse: Any, tmp_path: Path) -> None:
    path = example(tmp_path)
    path.write_text(path.read_text().replace("400", "4.5"), encoding="utf-8")
    for arguments in (("--check", str(path)), ("--folder", str(tmp_path))):
        assert "HOUSE-ET-1.toml: row 1 ('5 Aces'): pay: 4.5 is no pay" in refuse(*arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("PT-FLT-EC-ET-99",), "no pay table 'PT-FLT-EC-ET-99'; close to it are PT-FLT-EC-ET-"),
        (("QT-1",), "no pay table 'QT-1'; 'feltwatch paytables' lists all"),
        (("--wager", "keno"), "--wager: 'keno' is none of pai_gow_insurance, "),
        (("E01", "--wager", "emperors_treasure"), "--wager: E01 is a pay table of envy"),
        (("E01", "--document", "003"), "--document: E01 is not printed in '003' but in 002, 000"),
        (("--document", "007"), "no pay table fits; .* (there are 000, 001, 002, 003)"),
        (("--folder", "none"), "none: no such folder of pay tables"),
        (("--check",), "paytables --check: name the files to check"),
        (("--check", "none.toml"), "none.toml: No such file"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_one_line(
    refuse: Any, arguments: tuple[str, ...], message: str
) -> None:
    error = refuse(*arguments)
    for part in message.split(".*"):
        assert part.strip() in error


RULES = """
game = "emperors_challenge_exposed"
[paytables]
emperors_treasure = "PT-FLT-EC-ET-E02"
pai_gow_insurance = "PT-FLT-EC-PGI-05"
emperors_treasure_progressive = "PT-BJS-EC-ET-05"
emperors_treasure_progressive_2 = "PT-BJS-EC-ET-05"
"""
READINGS = """
[readings]
joker_in_pai_gow = "ace"
three_pair = "with_full_house"
"""


def rules_file(folder: Path, text: str) -> str:
    path = folder / "rules.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_the_tables_readings_change_the_edges(show: Any, tmp_path: Path) -> None:
    """The counts are those of the readings ST-11 and ST-15."""
    by_id = {
        form["id"]: form
        for form in objects(show("--table", rules_file(tmp_path, RULES + READINGS), "--json"))
    }
    assert list(by_id) == ["PT-FLT-EC-ET-E02", "PT-FLT-EC-PGI-05", "PT-BJS-EC-ET-05"]
    insurance, jackpot = by_id["PT-FLT-EC-PGI-05"], by_id["PT-BJS-EC-ET-05"]
    assert insurance["rows"][-1]["count"] == 16_293_480
    assert next(r for r in jackpot["rows"] if r["category"] == "three_pair")["count"] == 3_048_336
    assert insurance["readings"]["joker_in_pai_gow"] == "ace"
    (plain,) = objects(show("PT-FLT-EC-PGI-05", "--json"))
    assert plain["rows"][-1]["count"] == 14_430_780
    assert insurance["edge"] < plain["edge"]
    assert "readings" not in plain
    plain_rules = rules_file(tmp_path, RULES)
    for form in objects(show("--table", plain_rules, "--json")):
        (alone,) = objects(show(form["id"], "--json"))
        assert {k: v for k, v in form.items() if k != "readings"} == alone


def test_one_table_with_the_readings_of_a_table_file(show: Any, tmp_path: Path) -> None:
    file = rules_file(tmp_path, RULES + READINGS)
    shown = show("PT-FLT-EC-PGI-05", "--table", file)
    assert "16,293,480" in line_with(shown, "Ace-High")
    assert "three_pair = with_full_house, joker_in_pai_gow = ace" in shown
    assert "all by default" in show("PT-FLT-EC-PGI-05", "--table", rules_file(tmp_path, RULES))


def test_the_envy_stake_is_the_tables(show: Any, tmp_path: Path) -> None:
    file = rules_file(tmp_path, "envy_min_cents = 1000\n" + RULES)
    shown = show("PT-FLT-EC-ET-E02", "--table", file)
    assert "house edge on $10 with so many other hands: 1: 7.3022%; 2: 6.8387%;" in shown


def test_the_houses_own_folder_is_the_tables(show: Any, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    example(tmp_path / "own")
    own = 'game = "pai_gow_poker"\npaytable_folder = "own"\n[paytables]\n'
    file = rules_file(tmp_path, own + 'emperors_treasure = "HOUSE-ET-1"\n')
    (shown,) = objects(show("--table", file, "--json"))
    assert shown["id"] == "HOUSE-ET-1"


def test_tables_that_cannot_be_computed_with_are_refused(refuse: Any, tmp_path: Path) -> None:
    file = rules_file(tmp_path, 'game = "pai_gow_poker"\n')
    assert "rules.toml: rules.paytables: the table offers no wager" in refuse("--table", file)
    file = rules_file(tmp_path, RULES.replace("E02", "E99"))
    assert "rules.toml: rules.paytables.emperors_treasure: no pay table" in refuse("--table", file)
    assert "leave --table out" in refuse("--check", str(example(tmp_path)), "--table", file)
