"""House edges against figures worked out by hand from counts that are published."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest

from settlement.analysis import house_edge as module
from settlement.analysis.house_edge import HouseEdge, house_edge, row_counts
from settlement.paytables.registry import parse_pay_table, pay_table, pay_table_ids
from settlement.rules import Readings
from tests.settlement.counts import PAI_GOW_COUNTS, TREASURE_COUNTS

HANDS = 154_143_080


def edge_of(table_id: str, readings: Readings | None = None) -> HouseEdge:
    return house_edge(pay_table(table_id), readings or Readings())


def kept(table_id: str) -> Fraction:
    """The edge of a table that has one."""
    edge = edge_of(table_id).edge
    assert edge is not None
    return edge


def test_the_counts_of_the_issue() -> None:
    assert row_counts(pay_table("PT-FLT-EC-ET-02")) == TREASURE_COUNTS
    assert row_counts(pay_table("PT-FLT-EC-PGI-05")) == PAI_GOW_COUNTS


def test_emperors_treasure_02_without_envy() -> None:
    odds = (8000, 2000, 1000, 400, 150, 50, 25, 5, 4, 3, 2)
    returned = sum(
        count * (o + 1) for count, o in zip(TREASURE_COUNTS.values(), odds, strict=False)
    )
    edge = edge_of("PT-FLT-EC-ET-02")
    assert edge.edge == 1 - Fraction(returned, HANDS)
    assert f"{float(edge.edge):.4%}" == "7.7656%"
    assert edge.hit == Fraction(
        sum(TREASURE_COUNTS.values()) - TREASURE_COUNTS["three_pair"], HANDS
    )
    assert not edge.meters
    assert not edge.envy_cents
    assert not edge.caveats


def test_pai_gow_insurance_05() -> None:
    odds = (100, 25, 15, 7, 5, 3)
    returned = sum(count * (o + 1) for count, o in zip(PAI_GOW_COUNTS.values(), odds, strict=True))
    edge = edge_of("PT-FLT-EC-PGI-05").edge
    assert edge == 1 - Fraction(returned, HANDS)
    assert f"{float(edge):.4%}" == "7.3457%"


def test_a_push_row_gives_the_stake_back() -> None:
    """Table 01 pushes three pairs; its other pays differ from table 02's in five rows."""
    less = {0: 3000, 1: 1000, 2: 250, 3: 150, 4: 50, 6: 5}
    counts = list(TREASURE_COUNTS.values())
    lost = sum(counts[row] * odds for row, odds in less.items()) - TREASURE_COUNTS["three_pair"]
    difference = kept("PT-FLT-EC-ET-01") - kept("PT-FLT-EC-ET-02")
    assert difference == Fraction(lost, HANDS)


def test_fixed_pays_for_1_are_never_returned_and_percent_is_left_to_the_meter() -> None:
    edge = edge_of("PT-BJS-EC-PGI-03")
    paid = 30_800 * 250 + 248_640 * 125 + 963_480 * 30 + 2_719_500 * 7
    assert edge.edge == 1 - Fraction(paid, HANDS)
    (meter,) = edge.meters
    assert (meter.level, meter.share) == (1, Fraction(280, HANDS))
    assert meter.per_1000_dollars == Fraction(280_000, HANDS)
    assert meter.break_even_cents * meter.share / 100 == edge.edge
    assert "meter" in edge.caveats[0]


def test_percentages_of_one_meter_add_up() -> None:
    """Emperor's Treasure Progressive 01: 100%, 50% and 25% of one meter."""
    (meter,) = edge_of("PT-BJS-EC-ET-01").meters
    assert meter.share == Fraction(32 * 100 + 72 * 50 + 196 * 25, 100 * HANDS)


def test_each_level_is_a_meter_of_its_own() -> None:
    edge = edge_of("PT-PRG-MLP-ET-03")
    assert [m.level for m in edge.meters] == [1, 2, 3, 4]
    assert [m.share * HANDS for m in edge.meters] == [32, 72, 196, 1128]


def test_a_row_not_available_goes_to_the_next_row_or_is_not_paid() -> None:
    passed = row_counts(pay_table("PT-BJS-EC-ET-03"))
    assert passed["royal_flush_with_suited_ace_king"] == 0
    assert passed["royal_flush"] == 26_092
    readings = Readings(unlisted_hand="not_paid")
    unpaid = edge_of("PT-BJS-EC-ET-03", readings)
    assert [row.count for row in unpaid.rows][1] == 72
    assert unpaid.hit == edge_of("PT-BJS-EC-ET-03").hit - Fraction(72, HANDS)


def test_three_pair_above_full_house() -> None:
    counts = row_counts(pay_table("PT-BJS-EC-ET-14"))
    assert counts["three_pair"] == 2_897_856
    best = Readings(three_pair="best_hand_only")
    assert row_counts(pay_table("PT-BJS-EC-ET-14"), best)["three_pair"] == 2_862_000


def test_a_natural_royal_beside_the_joker() -> None:
    table = pay_table("PT-BJS-EC-ET-05")
    here = row_counts(table)["royal_flush_natural"]
    strict = row_counts(table, Readings(natural_royal="hand_without_joker"))
    assert here - strict["royal_flush_natural"] == 180


def test_envy_of_a_joined_table_is_listed_apart() -> None:
    joined, alone = edge_of("PT-FLT-EC-ET-E02"), edge_of("E02")
    cents = (500_000, 100_000, 50_000, 25_000, 5_000, 2_000, 500)
    expected = sum(n * c for n, c in zip(TREASURE_COUNTS.values(), cents, strict=False))
    assert joined.edge == edge_of("PT-FLT-EC-ET-02").edge
    assert joined.envy_cents == alone.envy_cents == Fraction(expected, HANDS)
    assert alone.edge is None
    assert joined.with_envy(0) == joined.edge
    five = 5 * joined.envy_cents / 500
    assert joined.with_envy(5) == joined.with_envy(0) - five
    assert alone.with_envy(5) == -five
    assert joined.with_envy(5, 1000) == joined.with_envy(0) - five / 2


def test_imperial_side_bet_by_its_list_or_by_poker() -> None:
    table = pay_table("IMPERIAL-BONUS-A")
    listed, poker = row_counts(table), row_counts(table, Readings(trips_and_flush="poker"))
    assert list(listed) == [row.category for row in table.rows]
    assert listed["three_of_a_kind"] > poker["three_of_a_kind"]
    assert sum(listed.values()) == sum(poker.values())
    edge = house_edge(table)
    assert edge.edge == 1 - sum(row.gives_back for row in edge.rows)
    assert any("draw" in caveat for caveat in edge.caveats)


def test_ace_high_insurance_counts_pairs_of_hands() -> None:
    edge = edge_of("PT-FLT-AHPG-01")
    assert edge.hands == HANDS * comb(46, 7)
    assert edge.hit == Fraction(14_430_780, HANDS)
    both, with_joker, without = edge.rows
    paid = 21 * both.count + 11 * with_joker.count + 9 * without.count
    assert edge.edge == 1 - Fraction(paid, edge.hands)


def test_an_own_ace_high_table_without_the_row_of_both() -> None:
    text = """
id = "X"
wager = "ace_high_pai_gow_insurance"
document = "House rules"
basis = "to 1"
rows = [
  { category = "dealer_ace_high_with_joker", label = "With", pay = 5 },
  { category = "dealer_ace_high_without_joker", label = "Without", pay = 4 },
]
"""
    counts = row_counts(parse_pay_table(text, "x.toml"))
    assert counts == {
        "dealer_ace_high_with_joker": 1_485_960 * comb(46, 7),
        "dealer_ace_high_without_joker": (14_430_780 - 1_485_960) * comb(46, 7),
    }


def test_dynamic_tables_are_reckoned_at_their_default_pays() -> None:
    edge = edge_of("PT-PRG-EC-ET-D02")
    counts = row_counts(pay_table("PT-PRG-EC-ET-D02"))
    paid = {"royal_flush": 200, "straight_flush": 40, "four_of_a_kind": 30, "full_house": 2}
    assert edge.edge == 1 - Fraction(sum(counts[c] * d for c, d in paid.items()), HANDS)
    assert any("default pays" in caveat for caveat in edge.caveats)


def test_a_hand_counts_for_its_highest_row_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a made-up census: the list from the bottom, and a meter row that never comes."""
    made_up = {
        frozenset({"straight", "flush", "three_of_a_kind"}): 10,
        frozenset({"straight"}): 20,
        frozenset({"three_pair"}): 40,
    }
    monkeypatch.setattr(module, "census", lambda readings: made_up)
    counts = row_counts(pay_table("IMPERIAL-BONUS-A"))
    assert {c: n for c, n in counts.items() if n} == {"three_of_a_kind": 10, "straight": 20}
    edge = edge_of("PT-BJS-EC-ET-02")
    assert edge.edge == 1
    assert not edge.meters
    assert {row.one_in for row in edge.rows} == {None}
    assert edge.rows[0].probability == 0


@pytest.mark.parametrize("table_id", pay_table_ids())
def test_every_shipped_table_has_figures(table_id: str) -> None:
    edge = edge_of(table_id)
    assert all(row.count for row in edge.rows if row.row.pay != "n/a")
    assert (edge.edge is None) == (edge.table.wager == "envy")
    assert edge.edge is None or 0 < edge.edge < 1
    levels = {row.level or 1 for row in edge.table.rows if row.percent}
    assert {meter.level for meter in edge.meters} == levels
    assert bool(edge.envy_cents) == (edge.table.envy is not None or edge.edge is None)
