"""Two jackpots of one kind on a table, each with its own sensor and meter.

003, House and Progressive Jackpots: "two independent wagering sensors", "each jackpot sensor
is considered a separate game", "all jackpots on a table must be of a single jackpot type".
002, Appendices E to G: three Emperor's Treasure jackpots, each a wager of its own.
"""

from __future__ import annotations

import pytest

from settlement.compare.check import check_record
from settlement.errors import FeltwatchError
from settlement.games import GAMES, JACKPOTS, terms_for
from settlement.record import DynamicPay, Meter, RoundRecord
from settlement.rules import TableRules
from settlement.settle import settle
from tests.settlement.felt import PAIR_DEALER, reported, round_of, seat, wager
from tests.settlement.tables import NEVADA, TRADITIONAL, WASHINGTON, with_rules

FIRST, SECOND, THIRD = (f"emperors_treasure_progressive{n}" for n in ("", "_2", "_3"))
INSURANCE = "pai_gow_insurance_progressive"
SEVEN = "8C 7C / 6C 5C 4C 3C 2C"
FIVE_ACES = "KD QC / AS AH AD AC JOKER"
FULL_HOUSE = "5H 5S / 6S 6H 6C 9D 2S"

TWO = with_rules(
    WASHINGTON,
    paytables={FIRST: "PT-BJS-EC-ET-05", SECOND: "PT-BJS-EC-ET-13"},
    progressives={FIRST: {"seed_cents": [500000]}, SECOND: {"seed_cents": [100000]}},
)
THREE = with_rules(
    NEVADA,
    paytables={
        FIRST: "PT-BJS-EC-ET-01",
        SECOND: "PT-PRG-MLP-ET-01",
        THIRD: "PT-PRG-EC-ET-D02",
    },
    progressives={},
)
METERS = ((FIRST, 1, 1000000), (SECOND, 1, 200000))


def record(
    rules: TableRules, cards: str, *names: str, meters: tuple[tuple[str, int, int], ...] = METERS
) -> RoundRecord:
    own = seat(1, cards, *(wager(name, 100) for name in names))
    shown = tuple(Meter(wager=w, level=level, cents=c) for w, level, c in meters)
    return round_of(None, own).model_copy(update={"game": rules.game, "meters": shown})


def test_each_sensor_pays_its_own_table_from_its_own_meter() -> None:
    settled = settle(record(TWO, SEVEN, FIRST, SECOND), TWO)
    first, second = settled.seats[0].wagers
    assert (first.pay_cents, second.pay_cents) == (1000000, 200000)
    assert [(m.wager, m.before_cents, m.after_cents) for m in settled.meters] == [
        (FIRST, 1000000, 500000),
        (SECOND, 200000, 100000),
    ]
    # ET-05 pays five aces 100%, ET-13 $2,500.
    aces = settle(record(TWO, FIVE_ACES, FIRST, SECOND), TWO).seats[0]
    assert [w.pay_cents for w in aces.wagers] == [1000000, 250000]
    assert str(aces.wagers[1].rule) == "003, Appendix E, PT-BJS-EC-ET-13, 5 Aces"


def test_a_coin_in_one_sensor_plays_that_game_alone() -> None:
    settled = settle(record(TWO, SEVEN, SECOND), TWO)
    assert [w.wager for w in settled.seats[0].wagers] == [SECOND]
    assert [m.wager for m in settled.meters] == [SECOND]
    assert ("HAND_PAY", 1, SECOND) in reported(record(TWO, SEVEN, SECOND), TWO)


def test_each_has_its_own_base_wager() -> None:
    rules = with_rules(TWO, progressives={FIRST: {"base_cents": 100}, SECOND: {"base_cents": 500}})
    found = settle(record(rules, FULL_HOUSE, FIRST, SECOND), rules).seats[0]
    assert [w.pay_cents for w in found.wagers] == [500, 3000]
    assert ("LIMIT", 1, SECOND) in reported(record(rules, FULL_HOUSE, FIRST, SECOND), rules)


def test_nevadas_three_treasure_jackpots_together() -> None:
    meters = ((FIRST, 1, 1000000), (SECOND, 2, 90000), (THIRD, 1, 80000))
    aces = settle(record(THREE, FIVE_ACES, FIRST, SECOND, THIRD, meters=meters), THREE).seats[0]
    assert [w.pay_cents for w in aces.wagers] == [100000, 90000, 80000]


def test_dynamic_pays_are_those_of_their_wager() -> None:
    rules = with_rules(THREE, paytables={SECOND: "PT-PRG-EC-ET-D01", THIRD: "PT-PRG-EC-ET-D02"})
    drawn = (
        DynamicPay(wager=SECOND, category="full_house", pay_cents=300),
        DynamicPay(wager=THIRD, category="full_house", pay_cents=2000),
    )
    both = record(rules, FULL_HOUSE, SECOND, THIRD, meters=())
    known = both.model_copy(update={"dynamic_pays": drawn})
    assert check_record(known, rules) == []
    assert [w.pay_cents for w in settle(known, rules).seats[0].wagers] == [300, 2000]
    half = both.model_copy(update={"dynamic_pays": drawn[:1]})
    assert [w.pay_cents for w in settle(half, rules).seats[0].wagers] == [300, None]
    assert [str(p) for p in check_record(half, rules)] == [
        f"round, {THIRD}: no dynamic pay was drawn; a round has one to three"
    ]
    other = both.model_copy(
        update={"dynamic_pays": (*drawn, DynamicPay(wager=FIRST, category="x", pay_cents=1))}
    )
    assert f"round, {FIRST}: dynamic pays of a wager that has none" in str(
        check_record(other, rules)[0]
    )


@pytest.mark.parametrize("kind", ["house", "progressive"])
@pytest.mark.parametrize("rules", [TWO, WASHINGTON], ids=["treasure twice", "one of each"])
def test_jackpots_of_two_kinds_are_refused_also_by_default(rules: TableRules, kind: str) -> None:
    jackpots = [wager for wager in rules.paytables if wager in JACKPOTS]
    assert len(jackpots) == 2
    other = "progressive" if kind == "house" else "house"
    for settings in (
        {jackpots[0]: {"kind": kind}, jackpots[1]: {"kind": other}},
        {jackpots[0]: {"kind": "house"}},
        {jackpots[1]: {"kind": "house"}},
    ):
        with pytest.raises(
            FeltwatchError, match="all jackpots of a table are of one kind"
        ) as told_:
            terms_for(with_rules(rules, progressives=settings))
        if len(settings) == 1:
            assert "is 'progressive' by default" in str(told_.value)
    for settings in ({}, {key: {"kind": kind} for key in jackpots}):
        assert len(terms_for(with_rules(rules, progressives=settings)).progressives) == 2


def test_washingtons_layouts_have_two_sensors() -> None:
    three = {FIRST: "PT-BJS-EC-ET-05", SECOND: "PT-BJS-EC-ET-13", INSURANCE: "PT-BJS-EC-PGI-01"}
    with pytest.raises(FeltwatchError, match=r"rules.paytables: 3 jackpots .* up to 2 sensors"):
        terms_for(with_rules(WASHINGTON, paytables=three, progressives={}))


def test_a_second_sensor_takes_treasure_tables_alone() -> None:
    wrong = {SECOND: "PT-BJS-EC-PGI-01"}
    with pytest.raises(FeltwatchError, match=f"rules.paytables.{SECOND}: 'PT-BJS-EC-PGI-01' is a"):
        terms_for(with_rules(NEVADA, paytables=wrong, progressives={}))


def test_games_that_print_one_treasure_jackpot_have_one_sensor_for_it() -> None:
    for game in ("emperors_challenge_exposed_earlier", "pai_gow_poker"):
        assert [w for w in GAMES[game].wagers if w in JACKPOTS] == [INSURANCE, FIRST]


def test_the_traditional_game_has_both_jackpots() -> None:
    """004, Rules of Play, 1: "and/or Jackpot wagers"; the tables of 000 stand in (ST-21)."""
    settled = settle(record(TRADITIONAL, FULL_HOUSE, FIRST, INSURANCE), TRADITIONAL)
    treasure, insurance = settled.seats[0].wagers
    assert (treasure.outcome, treasure.pay_cents) == ("win", 500)
    assert str(treasure.rule) == "000, Appendix D, PT-BJS-EC-ET-02, Full House"
    assert insurance.outcome == "lose"


def two_insurances(rules: TableRules, lammers: tuple[str, ...] = ()) -> RoundRecord:
    stakes = (wager("pai_gow_insurance", 500, "taken"), wager("pai_gow_insurance", 1000, "taken"))
    own = seat(1, FULL_HOUSE, *stakes, lammers=lammers)
    return round_of(PAIR_DEALER, own).model_copy(update={"game": rules.game})


def test_only_one_pai_gow_insurance_wager_may_be_placed() -> None:
    """003, Pai Gow Insurance (felt): on the own hand or the dealer's, never on both."""
    twice = two_insurances(WASHINGTON, ("dealer",))
    assert check_record(twice, WASHINGTON) == []
    assert reported(twice, WASHINGTON) == [
        ("LIMIT", 1, "pai_gow_insurance"),
        ("UNDECIDED", 1, None),
    ]
    # Elsewhere no line says so: a wager that stands twice is a fault of the record.
    assert "the wager stands twice" in str(check_record(two_insurances(NEVADA), NEVADA)[0])
    assert "LIMIT" not in {code for code, *_ in reported(two_insurances(NEVADA), NEVADA)}
