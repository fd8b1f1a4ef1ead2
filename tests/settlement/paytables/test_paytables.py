"""Pay table files: what is read, what is refused and with which error, and the rows found.

The figures themselves are checked against a second transcription in `test_transcription.py`.
"""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path

import pytest

from settlement.errors import FeltwatchError
from settlement.paytables.registry import (
    CATEGORIES,
    PayRow,
    PayTable,
    parse_pay_table,
    pay_table,
    pay_table_ids,
    read_pay_table,
)

SHIPPED = pay_table_ids()
HEAD = """
id = "X"
wager = "emperors_treasure"
document = "House table of May"
column = "X"
basis = "to 1"
"""
ROW = '[[rows]]\ncategory = "flush"\nlabel = "Flush"\npay = 4\n'
FOR_1 = HEAD.replace("emperors_treasure", "emperors_treasure_progressive").replace("to 1", "for 1")
SUM = ROW.replace("pay = 4", "pay_cents = 400")
PERCENT = ROW.replace("pay = 4", "percent = 10")
STRAIGHT = PERCENT.replace("flush", "straight").replace("Flush", "Straight")
TEN = "dynamic_cents = [500, 600, 700, 800, 900, 1000, 1100, 1200, 1300, 1400]\n"
ENVY = HEAD.replace("emperors_treasure", "envy").replace("to 1", "fixed")
ALSO = '[[also]]\ndocument = "002_x.txt"\nlabels = { flush = "5-Card Flush" }\n'


def write(folder: Path, text: str, name: str = "X.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("table_id", SHIPPED)
def test_every_shipped_table_is_in_order(table_id: str) -> None:
    table = pay_table(table_id)
    assert table.id == table_id
    assert table.notes
    assert [p.document for p in table.printings] == [
        table.document,
        *(also.document for also in table.also),
    ]
    for printing in table.printings:
        assert printing.digits in {"000", "001", "002", "003"}
        assert printing.column
        assert printing.notes
        assert set(printing.labels) == {row.category for row in table.rows}
    for row in table.rows:
        assert table.name_of(row) == CATEGORIES[table.wager][row.category]
        assert table.row_for({row.category}, "not_paid") == row


def test_the_shipped_tables_are_those_the_documents_name() -> None:
    numbers = {
        "E0{}": range(1, 9),
        "IMPERIAL-BONUS-{}": "ABC",
        "PT-BJS-EC-ET-{:02}": (1, 2, 3, 4, 5, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21, 22),
        "PT-BJS-EC-PGI-0{}": range(1, 6),
        "PT-FLT-AHPG-0{}": range(1, 6),
        "PT-FLT-EC-ET-0{}": range(1, 9),
        "PT-FLT-EC-ET-E0{}": (1, 2, 3, 4, 6, 9),
        "PT-FLT-EC-PGI-0{}": range(1, 6),
        "PT-PRG-EC-ET-D0{}": range(1, 4),
        "PT-PRG-MLP-ET-0{}": range(1, 5),
    }
    named = [form.format(number) for form, some in numbers.items() for number in some]
    assert sorted(named) == list(SHIPPED)


def test_a_table_in_order_is_read() -> None:
    table = parse_pay_table(HEAD + ROW + ALSO, "x.toml")
    assert table.rows[0].value.odds == 4
    assert [p.label("flush") for p in table.printings] == ["Flush", "5-Card Flush"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + ROW + ROW, r"row 2 \('Flush'\): category: 'flush' stands twice"),
        (
            HEAD + ROW.replace('"flush"', '"blush"'),
            r"row 1 \('Flush'\): category: 'blush' is no category of emperors_treasure; those are",
        ),
        (HEAD.replace("emperors_treasure", "insurance") + ROW, "wager: 'insurance' is paid by no"),
        (HEAD.replace("to 1", "for fun") + ROW, "basis: must be 'to 1', 'for 1' or 'fixed'"),
        (HEAD.replace('"X"', '"../X"') + ROW, "id: takes letters, digits, "),
        (HEAD + ROW.replace("4", '"lots"'), r"row 1 \('Flush'\): pay: 'lots' is no pay: write"),
        (HEAD + ROW.replace("4", "0"), "pay: 0 is no pay"),
        (HEAD + ROW.replace("4", "0.5"), "pay: 0.5 is no pay"),
        (HEAD + ROW.replace("4", "true"), "pay: True is no pay"),
        (HEAD + ROW.replace("4", "[]"), r"pay: \[\] is no pay"),
        (HEAD + ROW.replace("4", '"1/0"'), "pay: '1/0' is no pay"),
        (HEAD + ROW.replace("pay = 4", ""), "needs one of pay, pay_cents and percent; .* none"),
        (HEAD + ROW + "percent = 5\n", "it has pay and percent"),
        (HEAD + ROW.replace("pay = 4", "pay_cents = 400"), "basis 'to 1' takes pay: odds"),
        (HEAD + ROW.replace("4", '"n/a"'), "basis 'to 1' takes pay: odds"),
        (HEAD + ROW + "level = 1\n", "level: only a row with percent has a level"),
        (FOR_1 + ROW, "basis 'for 1' takes pay_cents, percent, or pay = 'n/a'"),
        (FOR_1 + SUM.replace("400", "4.5"), "pay_cents: write a whole number"),
        (FOR_1 + SUM.replace("400", "-1"), "pay_cents: must be more than 0"),
        (FOR_1 + PERCENT.replace("10", "101"), "percent: must be 100 or less"),
        (FOR_1 + PERCENT.replace("10", "0"), "percent: must be 1 or more"),
        (FOR_1 + PERCENT + "level = 3\n", r"row 1 \('Flush'\): level: 3, and no row has level 1"),
        (
            FOR_1 + PERCENT + "level = 1\n" + STRAIGHT + "level = 3\n",
            r"row 2 \('Straight'\): level: 3, and no row has level 2",
        ),
        (
            FOR_1 + PERCENT + "level = 1\n" + STRAIGHT,
            r"row 2 \('Straight'\): level: is missing, and other rows have one",
        ),
        (FOR_1.replace("_progressive", "") + PERCENT, "percent: emperors_treasure has no meter"),
        (FOR_1 + PERCENT + TEN, "dynamic_cents: only a row with pay_cents has dynamic pays"),
        (FOR_1 + SUM + TEN.replace("500, ", ""), "dynamic_cents: 10 sums are needed, not 9"),
        (FOR_1 + SUM + TEN.replace("600", "400"), "dynamic_cents: the sums do not rise"),
        (FOR_1 + SUM + "envy_cents = 500\n", "envy_cents: only tables 'to 1' have envy prizes"),
        (ENVY + ROW, "basis 'fixed' takes pay_cents alone"),
        (ENVY + SUM + TEN, "dynamic_cents: only tables 'for 1' have dynamic pays"),
        (ENVY.replace("fixed", "to 1") + ROW, "basis: 'fixed' is for the wager 'envy', and"),
        (HEAD.replace("to 1", "fixed") + SUM, "basis: 'fixed' is for the wager 'envy', and"),
        (HEAD + ROW + "colour = 3\n", r"row 1 \('Flush'\): colour: there is no such key"),
        (HEAD + ROW.replace("label", "name"), "row 1: label: is missing"),
        (HEAD + "rows = [5]\n", "row 1: a table of keys and values belongs"),
        (HEAD + "rows = []\n", "rows: needs at least 1, has 0"),
        (HEAD + "rows = 5\n", "rows: a list belongs here"),
        (HEAD + ROW + ALSO + ALSO, "also 2: document: '002_x.txt' stands twice"),
        (
            HEAD.replace("House table of May", "002_x.txt") + ROW + ALSO,
            "also 1: document: '002_x.txt' stands twice",
        ),
        (HEAD + ROW + ALSO.replace("flush", "straight"), "also 1: labels: the table has no row"),
        (HEAD + ROW + ALSO + "pages = 3\n", "also 1: pages: there is no such key"),
        ("id = ", "not valid TOML"),
    ],
)
def test_a_table_out_of_order_is_refused_with_file_row_and_key(text: str, message: str) -> None:
    with pytest.raises(FeltwatchError, match=message) as caught:
        parse_pay_table(text, "x.toml")
    assert str(caught.value).startswith("x.toml: ")


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ({"pay": "1/2"}, "1 to 2"),
        ({"pay": "push"}, "push"),
        ({"pay": "n/a"}, "loss"),
        ({"pay_cents": 12500}, "$125.00"),
        ({"percent": 50}, "50% of the meter"),
        ({"percent": 100, "level": 3}, "100% of level 3"),
    ],
)
def test_the_kinds_of_pay(row: dict[str, object], kind: str) -> None:
    value = PayRow.model_validate({"category": "flush", "label": "Flush", **row}).value
    assert str(value) == kind
    assert value.outcome == ("push" if kind == "push" else "lose" if kind == "loss" else "win")


def test_odds_may_be_a_fraction() -> None:
    assert pay_table("IMPERIAL-BONUS-A").rows[0].value.odds == Fraction(1, 2)


def test_a_row_not_available_is_passed_over_or_not_paid() -> None:
    table = pay_table("PT-BJS-EC-ET-03")
    held = {"royal_flush_with_suited_ace_king", "royal_flush", "straight_flush", "flush"}
    assert table.row_for(held) == table.rows[4]
    assert table.rows[4].pay_cents == 50000
    unpaid = table.row_for(held, "not_paid")
    assert unpaid is not None
    assert (unpaid.pay, unpaid.value.outcome) == ("n/a", "lose")
    assert len(table.ranked()) == len(table.ranked("not_paid")) - 1
    assert table.row_for({"three_pair"}) is None


def test_a_table_printed_lowest_first_is_paid_from_its_end() -> None:
    table = pay_table("IMPERIAL-BONUS-A")
    assert table.rows[0].category == table.ranked()[-1].category == "straight"
    row = table.row_for({"straight", "flush", "three_of_a_kind"})
    assert row is not None
    assert row.label == "trips"


def test_poker_order_puts_trips_below_flush_and_straight() -> None:
    poker = pay_table("IMPERIAL-BONUS-B").in_poker_order
    row = poker.row_for({"flush", "three_of_a_kind"})
    assert row is not None
    assert row.label == "flush"
    assert [r.category for r in poker.rows[-3:]] == ["flush", "straight", "three_of_a_kind"]
    assert poker.in_poker_order.rows == poker.rows
    insurance = pay_table("PT-FLT-EC-PGI-01")
    assert insurance.in_poker_order == insurance


def test_the_rule_cites_the_printing_asked_for() -> None:
    table = pay_table("PT-BJS-EC-PGI-01")
    row = table.rows[1]
    place = "PT-BJS-EC-PGI-01"
    assert str(table.rule(row)) == f"002, Appendix D, {place}, 9-High"
    assert str(table.rule(row, "000")) == f"000, Appendix C, {place}, 9-High two-tone"
    assert str(table.rule(row, "003_839020ec5d7be95d.txt")) == (
        f"003, Appendix D, {place}, 9-High Pai Gow"
    )
    assert str(table.rule(row, "001")) == str(table.rule(row))
    assert str(table.rule(None, "000")) == f"000, Appendix C, {place}, no row is held"
    assert table.printed_in("001") is None
    imperial = pay_table("IMPERIAL-BONUS-C")
    assert str(imperial.rule(imperial.rows[0])) == "001, BONUS PAYOUT C, straight"


def test_envy_prizes_of_a_joined_table() -> None:
    joined = pay_table("PT-FLT-EC-ET-E09")
    envy = joined.envy
    assert envy is not None
    assert (envy.id, envy.wager, envy.basis, len(envy.rows)) == (joined.id, "envy", "fixed", 7)
    assert [row.pay_cents for row in envy.rows] == [row.pay_cents for row in pay_table("E05").rows]
    assert envy.row_for({"full_house"}) is None
    assert pay_table("PT-FLT-EC-ET-02").envy is None
    imperial = pay_table("IMPERIAL-BONUS-A").envy
    assert imperial is not None
    assert imperial.ranked()[0].pay_cents == 200000


def test_envy_prizes_keep_the_labels_of_further_printings() -> None:
    joined = parse_pay_table(
        HEAD
        + ROW
        + "envy_cents = 500\n"
        + ROW.replace("flush", "straight")
        + ALSO.replace("}", ', straight = "Run" }'),
        "x.toml",
    )
    assert joined.envy is not None
    assert joined.envy.also[0].labels == {"flush": "5-Card Flush"}


def test_dynamic_pays_take_the_place_of_default_ones_for_a_round() -> None:
    table = pay_table("PT-PRG-EC-ET-D01")
    assert table.with_dynamic({}) is table
    drawn = table.with_dynamic({"full_house": 600, "royal_flush": 200000})
    sums = {row.category: row.value.fixed_cents for row in drawn.rows}
    assert (sums["full_house"], sums["royal_flush"], sums["straight_flush"]) == (600, 200000, 3000)
    assert table.with_dynamic({"royal_flush": 200000, "full_house": 600}) is drawn
    assert table.with_dynamic({"full_house": 400}).rows[-1].value.fixed_cents == 400
    assert table.rows[-1].value.fixed_cents == 200


@pytest.mark.parametrize(
    ("table_id", "pays", "message"),
    [
        ("PT-PRG-EC-ET-D01", {"five_aces": 600}, "'five_aces' has no dynamic pays; royal_flush, "),
        ("PT-PRG-EC-ET-D01", {"full_house": 500}, "500 cents is no dynamic pay of full_house"),
        ("PT-FLT-EC-ET-02", {"full_house": 600}, "no row has them"),
        (
            "PT-PRG-EC-ET-D01",
            dict.fromkeys(("royal_flush", "straight_flush", "four_of_a_kind", "full_house"), 300),
            "4 dynamic pays; a round has at most 3",
        ),
    ],
)
def test_impossible_dynamic_pays_are_refused(
    table_id: str, pays: dict[str, int], message: str
) -> None:
    with pytest.raises(FeltwatchError, match=f"{table_id}: .*{message}"):
        pay_table(table_id).with_dynamic(pays)


def test_an_unknown_id_is_refused_with_close_ones_and_the_command(tmp_path: Path) -> None:
    with pytest.raises(FeltwatchError, match=r"'QT-99'; 'feltwatch paytables' lists all$"):
        pay_table("QT-99")
    with pytest.raises(FeltwatchError, match=r"close to it are PT-FLT-EC-ET-02, .*; 'feltwatch"):
        pay_table("pt-flt-ec-et-2")
    with pytest.raises(FeltwatchError, match=r"close to it are .*PT-FLT-EC-PGI-05"):
        pay_table("PGI-05")
    write(tmp_path, HEAD.replace('"X"', '"HOUSE-7"') + ROW, "HOUSE-7.toml")
    listing = f"'feltwatch paytables --folder {tmp_path}' lists all"
    with pytest.raises(FeltwatchError, match=f"close to it are HOUSE-7; {listing}"):
        pay_table("HOUSE-8", tmp_path)


def test_an_own_folder_adds_tables(tmp_path: Path) -> None:
    path = write(tmp_path, HEAD + ROW)
    assert pay_table_ids(tmp_path) == tuple(sorted([*SHIPPED, "X"]))
    table = pay_table("X", str(tmp_path))
    assert table.row_for({"flush"}) == table.rows[0]
    assert pay_table("X", tmp_path) is table
    assert pay_table("E01", tmp_path) == pay_table("E01")
    path.write_text(HEAD + ROW.replace("4", "7"), encoding="utf-8")
    os.utime(path, ns=(1, 1))
    assert pay_table("X", tmp_path).rows[0].pay == 7


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("Y.toml", HEAD + ROW, r"Y\.toml: id: 'X' belongs in a file X\.toml"),
        ("E01.toml", HEAD + ROW, r"E01\.toml: 'E01' is the id of a table that comes along"),
        ("e01.toml", HEAD + ROW, r"e01\.toml: 'e01' is the id of a table that comes along"),
        ("X.toml", HEAD + ROW.replace("4", "0"), r"X\.toml: row 1 \('Flush'\): pay: 0 is no pay"),
    ],
)
def test_own_tables_out_of_order_are_refused(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    path = write(tmp_path, text, name)
    with pytest.raises(FeltwatchError, match=message):
        read_pay_table(path)


def test_an_own_table_may_not_take_a_shipped_id(tmp_path: Path) -> None:
    write(tmp_path, HEAD.replace('"X"', '"E01"') + ROW, "E01.toml")
    for ask in (lambda: pay_table("E01", tmp_path), lambda: pay_table_ids(tmp_path)):
        with pytest.raises(FeltwatchError, match="'E01' is the id of a table that comes along"):
            ask()


def test_folders_and_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FeltwatchError, match="none: no such folder of pay tables"):
        pay_table("X", tmp_path / "none")
    with pytest.raises(FeltwatchError, match=r"none\.toml: No such file"):
        read_pay_table(tmp_path / "none.toml")
    (tmp_path / "B.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(FeltwatchError, match=r"B\.toml: not a text file"):
        read_pay_table(tmp_path / "B.toml")
    (tmp_path / "D.toml").mkdir()
    with pytest.raises(FeltwatchError, match=r"D\.toml: Is a directory"):
        read_pay_table(tmp_path / "D.toml")


def test_an_id_never_leads_out_of_the_folder(tmp_path: Path) -> None:
    write(tmp_path, HEAD + ROW)
    (tmp_path / "inner").mkdir()
    with pytest.raises(FeltwatchError, match="no pay table"):
        pay_table("../X", tmp_path / "inner")


def test_tables_of_one_file_are_equal() -> None:
    first, second = (parse_pay_table(HEAD + ROW, "x.toml") for _ in range(2))
    assert isinstance(first, PayTable)
    assert first.row_for({"flush"}) == second.rows[0]
    assert first == second


def test_a_houses_own_table_is_cited_with_its_id() -> None:
    text = (HEAD + ROW).replace('id = "X"', 'id = "OWN-1"').replace('column = "X"', 'column = "A"')
    table = parse_pay_table(text, "own.toml")
    assert str(table.rule(table.rows[0])) == "House table of May, A, OWN-1, Flush"
