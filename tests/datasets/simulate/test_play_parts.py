from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets.render.scene import CardItem, Reach, StackItem
from datasets.simulate.bets import Crowd
from datasets.simulate.chipwork import (
    PAY_STACK_CHIPS,
    STACK_CHIPS,
    in_stacks,
    make_change,
    pay_stacks,
    small_change,
    value_cents,
)
from datasets.simulate.dealing import deal, fouls, four_of_a_kind, house_way, other_ways
from datasets.simulate.house_tables import GAME_IDS, NEVADA, rules_for, table_for
from datasets.simulate.meters import Meters
from datasets.simulate.mistakes.money import miscounts
from datasets.simulate.paying import corrected, pay_steps
from datasets.simulate.play.layouts import Habit, card_corners, face_up_row, index_shows, overlap
from datasets.simulate.play.motion import Arm, Stop, Timeline, Wait, hand_at
from datasets.simulate.play.pace import clock_for
from datasets.simulate.script import WagerScript
from datasets.simulate.stakes import stake_chips
from settlement.cards import parse_cards
from settlement.errors import FeltwatchError
from settlement.games import terms_for
from settlement.hands import is_foul, rank_five, rank_two
from settlement.houseways import house_way_for
from settlement.record import DECK_LABELS
from settlement.result import (
    DealerSettlement,
    MeterSettlement,
    Settlement,
    WagerSettlement,
)
from tests.datasets.simulate.play_checks import RULES, TABLE
from vision.geometry.standard_layout import CHIPS
from vision.geometry.table import ChipKind, Place

_seven = st.lists(st.sampled_from(DECK_LABELS), min_size=7, max_size=7, unique=True).map(tuple)


@given(dollars=st.integers(0, 6000))
def test_change_is_exact_and_greedy(dollars: int) -> None:
    chips = make_change(dollars * 100, CHIPS)
    assert value_cents(chips, CHIPS) == dollars * 100
    assert len(chips) <= 21 + dollars // 1000
    stacks = pay_stacks(chips, CHIPS)
    assert sum(len(stack) for stack in stacks) == len(chips)
    if len(chips) <= 2 * PAY_STACK_CHIPS:
        assert all(len(stack) <= PAY_STACK_CHIPS for stack in stacks)


def test_change_looks_past_the_greedy_choice() -> None:
    kinds = {
        "a": ChipKind(value_cents=250, rgb=(0, 0, 0)),
        "b": ChipKind(value_cents=100, rgb=(0, 0, 0)),
    }
    assert make_change(300, kinds) == ("b", "b", "b")
    with pytest.raises(FeltwatchError, match="50 cents cannot be laid"):
        make_change(50, kinds)


def test_stacks_have_the_largest_chips_at_the_bottom() -> None:
    assert in_stacks(("white", "black", "red"), CHIPS) == (("black", "red", "white"),)
    assert [len(s) for s in in_stacks(("red",) * 24, CHIPS, 2)] == [20, 4]
    assert [len(s) for s in in_stacks(("red",) * 24, CHIPS, 1)] == [24]
    assert [len(s) for s in in_stacks(("red",) * 7, CHIPS, 2, split=True)] == [4, 3]


def test_mistakes_change_the_sum_the_right_way() -> None:
    paid = ("green", "red", "white")
    for over in (True, False):
        sums = [value_cents(chips, CHIPS) for chips in miscounts(paid, TABLE, over=over)]
        assert len(sums) >= 5
        assert all((s > 3100) == over and s != 3100 and s > 0 for s in sums)
    assert miscounts(("white",), TABLE, over=False) == []


@given(seven=_seven)
def test_other_ways_are_legal_and_worth_something_else(seven: tuple[str, ...]) -> None:
    way = house_way_for(RULES).set_hands(
        parse_cards(seven), RULES.ranking, RULES.house_way_readings
    )
    for setting in other_ways(seven, RULES):
        low, high = parse_cards(setting.low), parse_cards(setting.high)
        assert sorted((*setting.low, *setting.high)) == sorted(seven)
        assert not is_foul(rank_two(low), rank_five(high, RULES.ranking))
        assert not way.same_hands(low, high, RULES.ranking)


@given(seven=_seven)
def test_fouls_are_fouls(seven: tuple[str, ...]) -> None:
    for setting in fouls(seven, RULES):
        low, high = parse_cards(setting.low), parse_cards(setting.high)
        assert is_foul(rank_two(low), rank_five(high, RULES.ranking))
    ours = house_way(seven, RULES)
    assert ours not in fouls(seven, RULES)


def test_a_deal_has_every_card_once_and_keeps_what_is_rigged() -> None:
    rng = random.Random(4)
    four = four_of_a_kind(rng)
    dealt = deal([1, 3, 5], rng, rigged={3: four})
    cards = [*dealt.dealer, *(c for hand in dealt.seats.values() for c in hand)]
    assert len(set(cards)) == len(cards) == 28
    assert set(four) <= set(dealt.seats[3])


@given(seed=st.integers(0, 10**6), turn=st.floats(-180, 180))
def test_rows_show_every_index_whoever_lays_them(seed: int, turn: float) -> None:
    rng = random.Random(seed)
    habit = Habit.draw(rng)
    place = Place(center_mm=(500.0, 500.0), angle_deg=turn)
    keyed = [(f"k{n}", label) for n, label in enumerate(("AS", "KD", "9H", "9C", "2D"))]
    row = face_up_row(place, keyed, habit.five_step_mm, habit, rng)
    assert [card.label for card in row] == [label for _, label in keyed]
    assert all(index_shows(card, row[n + 1 :]) for n, card in enumerate(row))
    assert not index_shows(row[1], row[:1])


def test_a_row_without_room_is_refused() -> None:
    rng = random.Random(1)
    habit = Habit.draw(rng)
    place = Place(center_mm=(500.0, 500.0))
    there = CardItem("x", "2C", (500.0, 500.0), 0.0, True)
    with pytest.raises(FeltwatchError, match="no room"):
        face_up_row(place, [("k", "AS")], (20.0, 20.0), habit, rng, free_of=[there])


def test_card_corners_turn_with_the_card() -> None:
    flat = card_corners(CardItem("x", "2C", (0.0, 0.0), 0.0, True))
    assert flat.tolist() == [[-31.5, -44.0], [31.5, -44.0], [31.5, 44.0], [-31.5, 44.0]]
    turned = card_corners(CardItem("x", "2C", (0.0, 0.0), 90.0, True))
    assert turned[0] == pytest.approx([44.0, -31.5])
    assert overlap(flat, turned) == pytest.approx(63 * 63, rel=0.01)


def test_a_reach_changes_things_while_the_hand_is_there() -> None:
    timeline = Timeline()
    arm = Arm("dealer", (0.0, -250.0), (0.0, -80.0))
    chip = StackItem("c", (100.0, 300.0), ("red",))
    end = timeline.reach(2.0, arm, [Stop((100.0, 300.0), put=(chip,)), Stop((200.0, 300.0))], 0.2)
    (change,), (reach,) = timeline.changes, timeline.reaches
    assert end == pytest.approx(3.0)
    assert change.t_s == pytest.approx(2.3)
    assert hand_at(reach, change.t_s) == pytest.approx((100.0, 300.0))
    assert hand_at(reach, 2.1) == pytest.approx((50.0, 110.0))
    assert hand_at(reach, 2.7) == pytest.approx((200.0, 300.0))
    assert hand_at(reach, 3.0) == pytest.approx((0.0, -80.0))
    assert hand_at(reach, 3.1) is None
    assert timeline.reach(4.0, arm, [], 0.2) == 4.0


def test_tall_stacks_are_worth_the_same() -> None:
    rng = random.Random(1)
    heights = set()
    for _ in range(60):
        chips = stake_chips(12500, TABLE, "tall", rng)
        assert value_cents(chips, CHIPS) == 12500
        heights.add(len(chips))
    assert max(heights) > 12
    assert max(heights) <= STACK_CHIPS


def test_commission_can_be_taken_out_of_small_change() -> None:
    chips = table_for("pai_gow_poker").chips
    split = small_change(("green",), 125, chips)
    assert split is not None
    assert value_cents(split, chips) == 2500
    assert value_cents([c for c in split if chips[c].value_cents <= 100], chips) >= 125


@given(seed=st.integers(0, 10**6), stake=st.sampled_from((500, 1500, 2500, 30000)))
def test_every_way_of_paying_ends_at_what_is_due(seed: int, stake: int) -> None:
    rng = random.Random(seed)
    table = table_for("pai_gow_poker")
    chips = make_change(stake, table.chips)
    due = WagerSettlement(
        wager="main", stake_cents=stake, outcome="win", pay_cents=stake * 95 // 100,
        commission_cents=stake * 5 // 100,
    )  # fmt: skip
    steps = pay_steps(due, chips, table, rng)
    script = WagerScript("main", chips, "paid", steps)
    assert script.net_cents(table.chips) == due.pay_cents
    record = script.record(table.chips, tuple("1" for _ in steps))
    assert (record.paid_cents or 0) - (record.returned_cents or 0) == due.pay_cents
    plain = due.model_copy(update={"commission_cents": 0, "pay_cents": stake})
    own = WagerScript("main", chips, "paid", pay_steps(plain, chips, table, rng))
    assert own.net_cents(table.chips) == stake
    assert own.paid


def test_a_corrected_payout_is_wrong_at_first() -> None:
    for seed in range(20):
        first, second = corrected(("red", "red"), TABLE, random.Random(seed))
        assert first.paid_cents(CHIPS) in (500, 1500)
        assert first.paid_cents(CHIPS) + second.paid_cents(CHIPS) == 1000
    assert corrected(("red",), TABLE, random.Random(1), over=False) == ()


def test_meters_rise_pay_and_reseed() -> None:
    rules = rules_for(NEVADA, "levels")
    meters = Meters(terms_for(rules), random.Random(1))
    wager = "emperors_treasure_progressive"
    before = dict(meters.cents)
    shown = meters.shown({wager: 600})
    assert {(m.wager, m.level) for m in shown} == {
        *((wager, level) for level in (1, 2, 3, 4)), ("pai_gow_insurance_progressive", 1)
    }  # fmt: skip
    assert meters.cents[wager, 1] > before[wager, 1]
    settled = MeterSettlement(
        wager=wager, level=2, before_cents=1, paid_cents=1, after_cents=200000
    )
    meters.paid(
        Settlement(round_id="r", table="t", game=NEVADA, dealer=DealerSettlement(),
                   meters=(settled,))
    )  # fmt: skip
    assert meters.cents[wager, 2] == 200000


def test_dynamic_pays_are_one_to_three_of_the_printed_ones() -> None:
    terms = terms_for(rules_for(NEVADA, "dynamic"))
    meters = Meters(terms, random.Random(1))
    rows = {r.category: r for r in terms.tables["emperors_treasure_progressive"].rows}
    counts = set()
    for seed in range(30):
        drawn = meters.dynamic(random.Random(seed))
        counts.add(len(drawn))
        assert all(pay.pay_cents in rows[pay.category].dynamic_cents for pay in drawn)
    assert counts == {1, 2, 3}


def test_players_of_several_hands_sit_side_by_side_and_keep_the_minimums() -> None:
    table = table_for("pai_gow_poker")
    several = 0
    for seed in range(30):
        crowd = Crowd(table, random.Random(seed), 6)
        crowd.open()
        for own in crowd.bets():
            hands = crowd.hands()[own.seat]
            if hands > 1:
                several += 1
                least = 1000 if hands == 2 else 10000
                assert value_cents(own.stakes["main"], table.chips) >= least
        for player in crowd.people:
            seats = [place.seat for place in player.places]
            assert seats == list(range(seats[0], seats[0] + len(seats)))
    assert several > 5


def test_a_table_of_every_game_has_its_spots() -> None:
    for game in GAME_IDS:
        table = table_for(game)
        assert set(table.rules.paytables) - {"envy"} <= set(table.seats[0].spots)
    with pytest.raises(FeltwatchError, match="cards for 5 players"):
        table_for("imperial_pai_gow_draw", seats=6)
    with pytest.raises(FeltwatchError, match="no jackpot wagers"):
        table_for("imperial_pai_gow_draw", jackpots="plain")
    with pytest.raises(FeltwatchError, match="no such game"):
        table_for("bridge")


def test_a_clock_cuts_only_the_stillness_of_waits() -> None:
    arm = Reach(4.0, 6.0, "player", (0.0, 0.0), ((0.0, 0.0), (1.0, 1.0)))
    clock = clock_for([Wait(2.0, 10.0, 0.5)], [arm], 0.25)
    assert clock.at(2.0) == 2.0
    assert clock.at(4.0) == 2.5
    assert clock.at(6.0) - clock.at(4.0) == 2.0
    assert clock.at(10.0) == 5.5
    assert clock.at(12.0) == 7.5
    assert clock.text("12.000") == "7.500"
    assert clock.text(None) is None
