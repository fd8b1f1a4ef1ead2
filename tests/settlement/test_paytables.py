"""Every number of the pay tables, against figures typed anew from document 002."""

from __future__ import annotations

import pytest

from settlement.errors import FeltwatchError
from settlement.features import ACE_HIGH, PAI_GOW, TREASURE
from settlement.paytable import parse_pay_table, pay_table, pay_table_ids

INSURANCE = {
    "01": [400, 40, 20, 5, 3, 2],
    "02": [250, 75, 25, 5, 3, 2],
    "03": [100, 50, 25, 10, 5, 1],
    "04": [100, 25, 15, 6, 5, 3],
    "05": [100, 25, 15, 7, 5, 3],
}
ACE_HIGH_PAYS = {
    "01": [20, 10, 8],
    "02": [40, 15, 5],
    "03": [30, 15, 6],
    "04": [25, 10, 7],
    "05": [40, 12, 5],
}
LOW_ROWS = [5, 4, 3, 2]
TREASURE_PAYS = {
    "01": [5000, 1000, 750, 250, 100, 50, 20],
    "02": [8000, 2000, 1000, 400, 150, 50, 25],
    "03": [5000, 2000, 1000, 400, 150, 50, 25],
    "04": [2500, 1000, 750, 250, 100, 50, 25],
    "05": [5000, 2000, 1000, 400, 150, 50, 25],
    "06": [5000, 1000, 500, 300, 110, 45, 25],
    "07": [5000, 2000, 1000, 400, 150, 50, 25],
    "08": [2500, 1000, 750, 250, 125, 50, 25],
}
ENVY_DOLLARS = {
    "E01": [1000, 250, 100, 50, 25, 10, 5],
    "E02": [5000, 1000, 500, 250, 50, 20, 5],
    "E03": [3000, 1000, 500, 250, 50, 20, 5],
    "E04": [1000, 750, 250, 100, 50, 20, 5],
    "E05": [2500, 500, 250, 150, 55, 25, 6],
    "E06": [2500, 500, 250, 150, 55, 25, 6],
    "E07": [5000, 1000, 500, 250, 50, 20, 5],
    "E08": [1000, 750, 250, 100, 50, 20, 5],
}


def pays(table_id: str) -> dict[str, object]:
    return {row.category: row.pay for row in pay_table(table_id).rows}


@pytest.mark.parametrize("number", INSURANCE)
def test_pai_gow_insurance(number: str) -> None:
    expected = dict(zip(PAI_GOW, INSURANCE[number], strict=True))
    assert pays(f"PT-FLT-EC-PGI-{number}") == expected


@pytest.mark.parametrize("number", ACE_HIGH_PAYS)
def test_ace_high_pai_gow_insurance(number: str) -> None:
    expected = dict(zip(ACE_HIGH, ACE_HIGH_PAYS[number], strict=True))
    assert pays(f"PT-FLT-AHPG-{number}") == expected


@pytest.mark.parametrize("number", TREASURE_PAYS)
def test_emperors_treasure(number: str) -> None:
    last = "push" if number == "01" else "loss"
    expected = dict(zip(TREASURE, [*TREASURE_PAYS[number], *LOW_ROWS, last], strict=True))
    assert pays(f"PT-FLT-EC-ET-{number}") == expected


@pytest.mark.parametrize("table_id", ENVY_DOLLARS)
def test_envy(table_id: str) -> None:
    table = pay_table(table_id)
    prizes = [row.pay_cents for row in table.rows]
    assert prizes == [dollars * 100 for dollars in ENVY_DOLLARS[table_id]]
    assert [row.category for row in table.rows] == list(TREASURE)[:7]
    assert table.basis == "fixed"


def test_every_table_loads_and_is_covered_by_the_figures_above() -> None:
    assert len(pay_table_ids()) == (
        len(INSURANCE) + len(ACE_HIGH_PAYS) + len(TREASURE_PAYS) + len(ENVY_DOLLARS)
    )
    for table_id in pay_table_ids():
        table = pay_table(table_id)
        assert table.id == table.column == table_id
        assert table.document == "002_a612a20b2ff3374e.txt"
        assert table.notes


HEAD = """
id = "X"
wager = "emperors_treasure"
document = "d"
appendix = "C"
column = "X"
basis = "to 1"
"""
ROW = '[[rows]]\ncategory = "flush"\nlabel = "Flush"\npay = 4\n'


def test_a_table_in_order_is_read() -> None:
    assert parse_pay_table(HEAD + ROW, "x.toml").rows[0].pay == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + ROW + ROW, "'flush' stands twice"),
        (HEAD + ROW.replace('"flush"', '"blush"'), "'blush' is no category of emperors_treasure"),
        (HEAD.replace("emperors_treasure", "insurance") + ROW, "wager: .*is paid by no table"),
        (HEAD.replace("to 1", "for fun") + ROW, "basis: "),
        (HEAD + ROW.replace("4", '"lots"'), "rows.0.pay: .*is no pay"),
        (HEAD + ROW.replace("4", "0"), "is no pay"),
        (HEAD + ROW.replace("4", '"1/0"'), "is no pay"),
        (HEAD + ROW.replace("pay = 4", "pay_cents = 400"), "basis 'to 1' takes 'pay' alone"),
        (HEAD.replace("to 1", "fixed") + ROW, "basis 'fixed' takes 'pay_cents' alone"),
        (HEAD + ROW + "colour = 3\n", "rows.0.colour: Extra inputs are not permitted"),
        (HEAD + "rows = []", "rows: "),
        ("id = ", "not valid TOML"),
    ],
)
def test_a_table_out_of_order_is_refused_with_the_place(text: str, message: str) -> None:
    with pytest.raises(FeltwatchError, match=message) as caught:
        parse_pay_table(text, "x.toml")
    assert str(caught.value).startswith("x.toml: ")


def test_an_unknown_id_is_refused_with_the_known_ones() -> None:
    with pytest.raises(FeltwatchError, match=r"no pay table 'PT-99'; known are E01, E02"):
        pay_table("PT-99")


def test_odds_may_be_a_fraction() -> None:
    table = parse_pay_table(HEAD + ROW.replace("4", '"1/2"'), "x.toml")
    assert table.rows[0].value.cents(1500) == 750
