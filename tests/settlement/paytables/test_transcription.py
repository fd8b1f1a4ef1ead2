"""Shipped pay tables against a second transcription of the documents, and that one against itself.

The identities are those of the documents' own ids; the counts of hands are exact, out of
154,143,080 seven-card hands, in the order in which the tables list them.
"""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction

import pytest

from settlement.paytables.registry import PayRow, PayTable, pay_table, pay_table_ids
from tests.settlement.counts import PAI_GOW_COUNTS, TREASURE_COUNTS
from tests.settlement.paytables.transcription import DYNAMIC, LAYOUTS, PRINTED, Printed

BY_PLACE = {(printed.document, printed.table_id): printed for printed in PRINTED}
DOCUMENTS = ("000", "001", "002", "003", "004")
HANDS = 154_143_080

CATEGORIES = {
    "pai_gow_insurance": "nine_high ten_high jack_high queen_high king_high ace_high",
    "pai_gow_insurance_progressive": "nine_high_one_colour nine_high ten_high jack_high queen_high",
    "ace_high_pai_gow_insurance": (
        "player_and_dealer_ace_high dealer_ace_high_with_joker dealer_ace_high_without_joker"
    ),
}
TREASURE = (
    "seven_card_straight_flush_natural seven_card_straight_flush_joker seven_card_straight_flush "
    "royal_flush_with_suited_ace_king five_aces royal_flush_natural royal_flush straight_flush "
    "four_of_a_kind full_house flush three_of_a_kind straight three_pair"
)
CELLS = {
    "to 1": r"(\d+(\.5)?|push|loss)",
    "joined": r"(\d+(\.5)?|push|-) \| (\$\d+|-)",
    "for 1": r"(\$\d+|\d+%( Lv\.\d)?|n/a)",
    "fixed": r"\$\d+",
}


def name(printed: Printed) -> str:
    return f"{printed.document}-{printed.appendix}-{printed.table_id}"


def cells(printed: Printed) -> dict[str, str]:
    return {category: cell for _, category, cell in printed.rows}


def pays(printed: Printed) -> dict[str, str]:
    """Category to pay; a dash is read as a loss."""
    return {
        category: cell.split(" | ")[0].replace("-", "loss")
        for category, cell in cells(printed).items()
    }


def envies(printed: Printed) -> dict[str, str]:
    """Category to envy of a joined table, rows without an envy left out."""
    pairs = {category: cell.split(" | ")[1] for category, cell in cells(printed).items()}
    return {category: envy for category, envy in pairs.items() if envy != "-"}


def is_joined(printed: Printed) -> bool:
    return any(" | " in cell for _, _, cell in printed.rows)


# ---- the transcription against itself ----


def test_every_column_is_there_once():
    assert len(BY_PLACE) == len(PRINTED)
    assert Counter(p.document for p in PRINTED) == {"000": 29, "001": 3, "002": 42, "003": 33}
    rows: Counter[str] = Counter()
    for printed in PRINTED:
        rows[printed.document] += len(printed.rows)
    assert rows == {"000": 231, "001": 30, "002": 299, "003": 246}


@pytest.mark.parametrize("printed", [*PRINTED, *LAYOUTS], ids=name)
def test_cells_have_the_form_of_their_basis(printed):
    form = CELLS["joined" if is_joined(printed) else printed.basis]
    assert all(re.fullmatch(form, cell) for _, _, cell in printed.rows)


@pytest.mark.parametrize("printed", [*PRINTED, *LAYOUTS], ids=name)
def test_rows_name_each_category_and_label_once(printed):
    known = CATEGORIES.get(printed.wager, TREASURE).split()
    categories = [category for _, category, _ in printed.rows]
    labels = [label for label, _, _ in printed.rows]
    assert len(set(categories)) == len(categories)
    assert set(categories) <= set(known)
    assert len(set(labels)) == len(labels)
    if printed.wager in CATEGORIES:
        assert categories == known


@pytest.mark.parametrize("printed", [*PRINTED, *LAYOUTS], ids=name)
def test_a_higher_row_never_pays_less(printed):
    """Numbers of one kind fall from top to bottom; document 001 prints the best row last."""
    rows = list(cells(printed).values())
    if printed.document == "001":
        rows.reverse()
    for part in (0, 1):
        shown = [cell.split(" | ")[part] for cell in rows if part == 0 or " | " in cell]
        for kind in (r"(\d+(?:\.5)?)", r"\$(\d+)"):
            numbers = [Fraction(m[1]) for cell in shown if (m := re.fullmatch(kind, cell))]
            assert numbers == sorted(numbers, reverse=True)


def test_documents_that_print_the_same_id_print_the_same_numbers():
    first: dict[str, Printed] = {}
    for printed in PRINTED:
        other = first.setdefault(printed.table_id, printed)
        assert cells(printed) == cells(other), (name(printed), name(other))
        assert list(cells(printed)) == list(cells(other))
        assert (printed.wager, printed.basis) == (other.wager, other.basis)
    assert len(first) == 63


@pytest.mark.parametrize("document", ["000", "002"])
def test_envy_and_felt_tables_that_are_the_same(document):
    def envy(number: str) -> dict[str, str]:
        return cells(BY_PLACE[document, f"E{number}"])

    def felt(number: str) -> dict[str, str]:
        return cells(BY_PLACE[document, f"PT-FLT-EC-ET-{number}"])

    assert envy("02") == envy("07")
    assert envy("04") == envy("08")
    assert envy("05") == envy("06")
    assert felt("03") == felt("05") == felt("07")
    different_envies = [envy(n) for n in ("01", "02", "03", "04", "05")]
    different_felts = [felt(n) for n in ("01", "02", "03", "04", "06", "08")]
    for tables in (different_envies, different_felts):
        assert all(one != two for i, one in enumerate(tables) for two in tables[:i])


@pytest.mark.parametrize("document", ["000", "002"])
@pytest.mark.parametrize(
    ("washington", "felt", "envy"),
    [
        ("E01", "ET-01", "E01"),
        ("E02", "ET-02", "E02"),
        ("E03", "ET-03", "E03"),
        ("E04", "ET-08", "E04"),
        ("E09", "ET-06", "E05"),
        ("E06", "ET-05", "E05"),
    ],
)
def test_washington_joins_a_felt_and_an_envy_table(document, washington, felt, envy):
    joined = BY_PLACE["003", f"PT-FLT-EC-ET-{washington}"]
    assert pays(joined) == cells(BY_PLACE[document, f"PT-FLT-EC-{felt}"])
    assert envies(joined) == cells(BY_PLACE[document, envy])


def test_imperial_bonuses_differ_in_straight_and_trips_alone():
    bonuses = [BY_PLACE["001", f"IMPERIAL-BONUS-{letter}"] for letter in "ABC"]
    assert len(bonuses[0].rows) == 10
    apart = {
        category
        for category in cells(bonuses[0])
        if len({cells(bonus)[category] for bonus in bonuses}) > 1
    }
    assert apart == {"straight", "three_of_a_kind"}


@pytest.mark.parametrize("layout", LAYOUTS, ids=name)
def test_example_layouts_show_the_table_they_are_said_to_show(layout):
    alike = [
        printed.table_id
        for printed in PRINTED
        if printed.document == "003" and cells(layout).items() <= cells(printed).items()
    ]
    assert alike == [layout.table_id]


@pytest.mark.parametrize("table_id", DYNAMIC)
def test_dynamic_pays_are_multiples_of_the_default_pay(table_id):
    default = cells(BY_PLACE["002", table_id])
    assert list(DYNAMIC[table_id]) == [c for c, cell in default.items() if cell.startswith("$")]
    times: list[int | Fraction] = [Fraction(3, 2), 2, 3, 4, 5, 6, 7, 8, 9, 10]
    for category, dollars in DYNAMIC[table_id].items():
        assert list(dollars) == [int(default[category][1:]) * n for n in times]


@pytest.mark.parametrize(
    ("table_id", "counts", "edge_percent"),
    [
        ("PT-FLT-EC-ET-02", TREASURE_COUNTS, "7.7656"),
        ("PT-FLT-EC-PGI-05", PAI_GOW_COUNTS, "7.3457"),
    ],
)
@pytest.mark.parametrize("document", ["000", "002"])
def test_house_edge_from_the_printed_pays(document, table_id, counts, edge_percent):
    odds = pays(BY_PLACE[document, table_id])
    assert odds.keys() == counts.keys()
    back = sum(n * (int(odds[c]) + 1) for c, n in counts.items() if odds[c] != "loss")
    assert f"{100 * (1 - back / HANDS):.4f}" == edge_percent


# ---- the shipped tables against the transcription ----


def _dollars(cents: int) -> str:
    assert cents % 100 == 0, f"{cents} cents are no whole dollars"
    return f"${cents // 100}"


def shipped_pay(table: PayTable, row: PayRow) -> str:
    """The pay of a shipped row as the transcription writes it; a row has one pay alone."""
    given = [value for value in (row.pay, row.pay_cents, row.percent) if value is not None]
    assert len(given) == 1, f"{table.id}, {row.label}: {given}"
    if row.pay_cents is not None:
        return _dollars(row.pay_cents)
    if row.percent is not None:
        levels = {r.level or 1 for r in table.rows if r.percent is not None}
        return f"{row.percent}%" + (f" Lv.{row.level}" if len(levels) > 1 else "")
    if row.pay in ("push", "loss", "n/a"):
        return str(row.pay)
    return f"{float(Fraction(str(row.pay))):g}"


def shipped_cells(table: PayTable, *, joined: bool) -> list[tuple[str, str]]:
    """Category and cell of every shipped row, from the top."""
    found = []
    for row in table.rows:
        cell = shipped_pay(table, row)
        if joined:
            cell += " | " + ("-" if row.envy_cents is None else _dollars(row.envy_cents))
        else:
            assert row.envy_cents is None, f"{table.id}, {row.label}: an envy that is not printed"
        found.append((row.category, cell))
    return found


def read_cells(printed: Printed) -> list[tuple[str, str]]:
    """Category and cell as printed, the dash in a pay column read as a loss."""
    return [
        (category, "loss" + cell[1:] if cell.startswith("- |") else cell)
        for _, category, cell in printed.rows
    ]


def test_shipped_ids_are_the_printed_ids():
    assert set(pay_table_ids()) == {printed.table_id for printed in PRINTED}


@pytest.mark.parametrize("printed", PRINTED, ids=name)
def test_shipped_table_pays_what_is_printed(printed):
    table = pay_table(printed.table_id)
    assert (table.id, table.wager, table.basis) == (
        printed.table_id,
        printed.wager,
        printed.basis,
    )
    assert shipped_cells(table, joined=is_joined(printed)) == read_cells(printed)
    best_first = printed.document != "001"
    assert table.printed_order == ("highest_first" if best_first else "lowest_first")


@pytest.mark.parametrize("layout", LAYOUTS, ids=name)
def test_shipped_table_pays_what_the_example_layout_shows(layout):
    shown = shipped_cells(pay_table(layout.table_id), joined=is_joined(layout))
    assert shown[: len(layout.rows)] == read_cells(layout)
    assert [cell for _, cell in shown[len(layout.rows) :]] in ([], ["loss | -"])


@pytest.mark.parametrize("printed", PRINTED, ids=name)
def test_shipped_table_names_the_document_with_its_words(printed):
    printing = pay_table(printed.table_id).printed_in(printed.document)
    assert printing is not None
    assert printing.document.startswith(f"{printed.document}_")
    place = (printed.appendix, printed.table_id)
    if printed.document == "001":  # No appendix: its tables stand under headings.
        place = ("", printed.appendix)
    assert (printing.appendix, printing.column) == place
    assert [printing.label(category) for _, category, _ in printed.rows] == [
        label for label, _, _ in printed.rows
    ]


@pytest.mark.parametrize("table_id", pay_table_ids())
def test_shipped_table_names_no_document_that_does_not_print_it(table_id):
    table = pay_table(table_id)
    named = {document for document in DOCUMENTS if table.printed_in(document) is not None}
    assert named == {document for document, id_ in BY_PLACE if id_ == table_id}


@pytest.mark.parametrize("table_id", pay_table_ids())
def test_shipped_dynamic_pays_are_the_printed_ones(table_id):
    shipped = {
        row.category: tuple(_dollars(cents) for cents in row.dynamic_cents)
        for row in pay_table(table_id).rows
        if row.dynamic_cents
    }
    printed = DYNAMIC.get(table_id, {})
    assert shipped == {
        category: tuple(f"${dollars}" for dollars in row) for category, row in printed.items()
    }
