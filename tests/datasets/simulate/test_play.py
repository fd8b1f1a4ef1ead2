from __future__ import annotations

import math
import random
from statistics import mean

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.money.plan import FAULTS
from datasets.render.scene import CardItem, FeltState, ShiftPlan, StackItem
from datasets.simulate.chipwork import value_cents
from datasets.simulate.house_tables import GAME_IDS, NEVADA, table_for
from datasets.simulate.mistakes.catalogue import FaultPlan
from datasets.simulate.play.behaviour import DealerStyle, Manner
from datasets.simulate.play.layouts import index_shows
from datasets.simulate.play.shift_events import EventPlan
from datasets.simulate.play.shift_play import plan_shift
from settlement.errors import FeltwatchError
from settlement.games import terms_for
from settlement.record import RoundRecord
from settlement.rules import TableRules
from tests.datasets.simulate.play_checks import (
    EPS_S,
    TABLE,
    check_felt_matches_truth,
    check_nothing_overlaps,
    check_sound,
    faults,
    findings,
    reach_of,
    replay,
)
from vision.geometry.standard_layout import standard_table
from vision.geometry.table import TableFile

TABLES: dict[str, TableFile] = {
    "nevada": table_for(NEVADA),
    "nevada, levels": table_for(NEVADA, jackpots="levels"),
    "nevada, dynamic": table_for(NEVADA, jackpots="dynamic"),
    "washington": table_for("emperors_challenge_exposed_washington", jackpots="plain"),
    "earlier": table_for("emperors_challenge_exposed_earlier", jackpots="plain"),
    "traditional": table_for("pai_gow_poker", jackpots="plain"),
    "imperial": table_for("imperial_pai_gow_draw"),
}
EVERYTHING = EventPlan.parse("fill@2,empty_table@4,dealer_change@3")


@pytest.fixture(scope="module", params=list(TABLES))
def game(request: pytest.FixtureRequest) -> tuple[TableFile, ShiftPlan]:
    table = TABLES[request.param]
    return table, plan_shift(table, seed=11, rounds=16, events=EVERYTHING)


@pytest.fixture(scope="module")
def nevada() -> ShiftPlan:
    return plan_shift(TABLE, seed=12, rounds=6, dealers="untidy")


def test_the_tables_are_of_every_game() -> None:
    assert {table.rules.game for table in TABLES.values()} == set(GAME_IDS)


def test_a_shift_of_every_game_is_sound(game: tuple[TableFile, ShiftPlan]) -> None:
    table, plan = game
    check_sound(plan, table)
    for record in plan.rounds:
        assert {fault.code for fault in record.faults or ()} <= {"HAND_PAY"}


def test_every_wager_of_the_table_is_played(game: tuple[TableFile, ShiftPlan]) -> None:
    table, plan = game
    played = {w.wager for r in plan.rounds for s in r.seats for w in s.wagers}
    assert played >= set(terms_for(table.rules).offered) - {"envy"}


def test_the_truth_carries_what_a_record_can(game: tuple[TableFile, ShiftPlan]) -> None:
    table, plan = game
    terms = terms_for(table.rules)
    paid = 0
    for record in plan.rounds:
        assert bool(record.meters) == bool(terms.progressives)
        assert bool(record.dynamic_pays) == bool(terms.dynamic)
        for seat in record.seats:
            assert seat.player is not None
            taken = float(seat.cards_taken_s or 0)
            assert float(record.start_s or 0) < taken < float(record.end_s or 0)
            for wager in seat.wagers:
                if wager.payments:
                    paid += 1
                    assert sum(pay.cents for pay in wager.payments) == wager.paid_cents
                    assert all(float(pay.at_s) < taken for pay in wager.payments)
    assert paid > 5


def test_clean_truths_raise_nothing_but_hand_pays() -> None:
    for table in TABLES.values():
        for record in plan_shift(table, seed=77, rounds=12).rounds:
            found = findings(record, table)
            assert found == faults(record)
            assert {code for code, _, _ in found} <= {"HAND_PAY"}


def test_the_same_seed_gives_the_same_shift() -> None:
    wanted = FaultPlan.parse("0.5,CAMERA@2")
    first = plan_shift(TABLE, seed=5, rounds=3, faults=wanted, events=EVERYTHING_3)
    assert first == plan_shift(TABLE, seed=5, rounds=3, faults=wanted, events=EVERYTHING_3)
    assert first != plan_shift(TABLE, seed=6, rounds=3, faults=wanted, events=EVERYTHING_3)


EVERYTHING_3 = EventPlan.parse("fill@2,dealer_change@3,usual")


def test_a_mistake_in_one_round_leaves_the_bets_of_the_next_alone() -> None:
    clean = plan_shift(TABLE, seed=5, rounds=3)
    wrong = plan_shift(TABLE, seed=5, rounds=3, faults=FaultPlan.parse("NOT_TAKEN@1"))
    assert wrong.rounds[0].seats != clean.rounds[0].seats
    for before, after in zip(clean.rounds[1:], wrong.rounds[1:], strict=True):
        assert _without_times(before) == _without_times(after)


def _without_times(record: RoundRecord) -> object:
    return [
        (seat.low, seat.high, [(w.wager, w.stake_cents, w.paid_cents) for w in seat.wagers])
        for seat in record.seats
    ]


def test_hands_start_and_end_off_the_felt(nevada: ShiftPlan) -> None:
    for reach in nevada.reaches:
        for x, y in (reach.shoulder_mm, reach.hand_mm[0], reach.hand_mm[-1]):
            assert not (0 <= x <= TABLE.felt.width_mm and 0 <= y <= TABLE.felt.height_mm)


def test_every_index_shows_and_rows_keep_their_steps(nevada: ShiftPlan) -> None:
    hands = 0
    for change in nevada.changes:
        faces = [item for item in change.put if isinstance(item, CardItem) and item.face_up]
        both = len(faces) == 7 and ".dealer." not in faces[0].key
        for group in (faces[:2], faces[2:]) if both else (faces,):
            for number, card in enumerate(group):
                assert index_shows(card, group[number + 1 :])
                for late in group[number + 1 : number + 2]:
                    assert 14.0 <= math.dist(card.center_mm, late.center_mm) <= 75.0
            hands += bool(group)
    assert hands == sum(2 * len(r.seats) + 3 for r in nevada.rounds)


def test_the_dealer_rests_after_a_show_and_before_the_cards_go(nevada: ShiftPlan) -> None:
    style = DealerStyle.draw("untidy", _dealer_stream(12))
    dealers = [r for r in nevada.reaches if r.who == "dealer"]
    rested = 0
    for change, _, touched in replay(nevada):
        cards = [item for item in touched if isinstance(item, CardItem)]
        if not cards or ".dealer." in cards[0].key or change.put:
            continue
        reach = reach_of(nevada, change, touched)
        if cards[0].face_up and reach.who == "dealer":
            before = max(r.t1_s for r in dealers if r.t0_s < reach.t0_s)
            assert reach.t0_s - before >= style.tempo.settled_rest_s - EPS_S
            rested += 1
    assert rested == sum(len(record.seats) for record in nevada.rounds)


def _dealer_stream(seed: int) -> random.Random:
    return random.Random(f"{seed}/dealer")


def _hand_to_hand(plan: ShiftPlan, seats: int = 5) -> list[float]:
    """From one round's first bet to the next one's, s, for rounds with so many seats."""
    starts = [float(record.start_s or 0) for record in plan.rounds]
    return [
        after - start
        for record, start, after in zip(plan.rounds, starts, starts[1:], strict=False)
        if len(record.seats) >= seats
    ]


def test_rounds_at_a_tables_own_pace_take_about_60_to_120_seconds() -> None:
    times = [t for seed in range(8) for t in _hand_to_hand(plan_shift(TABLE, seed=seed, rounds=6))]
    assert len(times) >= 20
    assert 65.0 <= mean(times) <= 110.0
    assert min(times) > 45.0
    assert max(times) < 140.0


_SPEEDS: tuple[Manner, Manner] = ("fast", "slow")


def test_dealers_differ_in_speed_and_neatness() -> None:
    fast, slow = (
        mean(_hand_to_hand(plan_shift(TABLE, seed=3, rounds=6, dealers=manner), 3))
        for manner in _SPEEDS
    )
    assert slow > fast + 15
    neat = [DealerStyle.draw("neat", _dealer_stream(k)).habit.chip_jitter_mm for k in range(5)]
    loose = [DealerStyle.draw("untidy", _dealer_stream(k)).habit.chip_jitter_mm for k in range(5)]
    assert max(neat) < min(loose)
    rests = [DealerStyle.draw("fast", _dealer_stream(k)).tempo.compare_rest_s for k in range(5)]
    assert max(rests) < 0.6


@pytest.mark.parametrize("name", ["nevada", "traditional", "imperial"])
def test_a_pace_shortens_the_waiting_and_nothing_else(name: str) -> None:
    table = TABLES[name]
    own = plan_shift(table, seed=9, rounds=4, events=EVERYTHING)
    short = plan_shift(table, seed=9, rounds=4, events=EVERYTHING, pace=0.1)
    assert [(c.put, c.remove) for c in own.changes] == [(c.put, c.remove) for c in short.changes]
    assert [r.hand_mm for r in own.reaches] == [r.hand_mm for r in short.reaches]
    for a, b in zip(own.reaches, short.reaches, strict=True):
        assert b.t1_s - b.t0_s == pytest.approx(a.t1_s - a.t0_s, abs=2 * EPS_S)
    assert short.duration_s < 0.8 * own.duration_s
    for a_round, b_round in zip(own.rounds, short.rounds, strict=True):
        assert _without_times(a_round) == _without_times(b_round)
        # From the first hand shown to the last act the dealer's rests are the same.
        assert _settling_s(b_round) == pytest.approx(_settling_s(a_round), abs=4 * EPS_S)
    check_sound(short, table)


def _settling_s(record: RoundRecord) -> float:
    taken = [float(seat.cards_taken_s or 0) for seat in record.seats]
    return float(record.end_s or 0) - min(taken)


def test_a_pace_above_one_waits_longer() -> None:
    own, long = (plan_shift(TABLE, seed=9, rounds=2, pace=pace) for pace in (1.0, 2.0))
    assert long.duration_s > own.duration_s + 10


def test_seats_bets_and_stacks_vary() -> None:
    plan = plan_shift(TABLE, seed=3, rounds=30)
    assert len({len(r.seats) for r in plan.rounds}) >= 3
    wagers = [w for r in plan.rounds for s in r.seats for w in s.wagers]
    assert len({w.stake_cents for w in wagers}) >= 6
    assert max(w.stake_chips or 0 for w in wagers) > 12
    assert {k for r in plan.rounds for s in r.seats for k in s.lammers} == {"envy", "dealer"}
    players = [[s.player for s in r.seats] for r in plan.rounds]
    assert any(len(set(own)) < len(own) for own in players)
    pairs = [
        change for change in plan.changes
        if sum(".main.stake" in item.key for item in change.put) == 2
    ]  # fmt: skip
    assert pairs


def test_what_people_do_besides() -> None:
    """Bets moved before the close, hands laid again, dropped cards, own chips, corrected payout."""
    plan = plan_shift(TABLE, seed=21, rounds=40, dealers="untidy")
    keys = [item.key for change in plan.changes for item in change.put]
    assert any(key.startswith("rack.") for key in keys)
    assert any(".stake2-" in key for key in keys), "no bet was moved"
    steps = [w.payments or () for r in plan.rounds for s in r.seats for w in s.wagers]
    assert any(len(pays) == 2 for pays in steps), "no payout was corrected"
    assert any(w.returned_cents for r in plan.rounds for s in r.seats for w in s.wagers)
    downs: dict[str, int] = {}
    for change in plan.changes:
        for item in change.put:
            if isinstance(item, CardItem) and not item.face_up and item.key.endswith("card0"):
                downs[item.key] = downs.get(item.key, 0) + 1
    assert max(downs.values()) >= 3, "no hand was laid again"
    assert _half_out(plan), "no card was dropped half outside"


def _half_out(plan: ShiftPlan) -> bool:
    for change in plan.changes:
        for item in change.put:
            if isinstance(item, CardItem) and item.face_up and ".dealer." not in item.key:
                seat = TABLE.seat(int(item.key.split(".")[1]))
                ((_, v),) = seat.place.to_local([item.center_mm])  # type: ignore[arg-type]
                ((_, bottom), *_) = seat.place.to_local(seat.high.array)[2:]
                if v + 44 > bottom + 30:
                    return True
    return False


def test_players_bank_by_turns_and_the_house_bets() -> None:
    table = TABLES["traditional"]
    plan = plan_shift(table, seed=4, rounds=25)
    banked = [r for r in plan.rounds if r.banker is not None]
    assert 3 <= len(banked) <= 15
    done = set()
    for record in banked:
        (house,) = record.dealer.wagers
        assert house.wager == "house"
        done.add(house.action)
        banker = next(s for s in record.seats if s.seat == record.banker)
        assert banker.wager("main") is None
    assert len(done) >= 2
    backs = [w.returned_cents for r in plan.rounds for s in r.seats for w in s.wagers]
    assert any(backs), "no commission was taken back"


def test_a_banker_is_paid_what_the_tables_chips_can_pay() -> None:
    """The commission on this banker's win leaves $222.30, and the smallest chip is a quarter."""
    faults = FaultPlan.parse(FAULTS[2])
    plan = plan_shift(table_for("pai_gow_poker"), seed=74676010, rounds=4, faults=faults, pace=0.35)
    paid = [
        value_cents(item.colours, table_for("pai_gow_poker").chips)
        for change in plan.changes
        for item in change.put
        if isinstance(item, StackItem) and ".bank.paid" in item.key
    ]
    assert paid == [22225]


def test_the_dealers_hand_stays_down_until_all_are_set() -> None:
    for name in ("traditional", "imperial"):
        plan = plan_shift(TABLES[name], seed=4, rounds=3)
        for number, record in enumerate(plan.rounds, start=1):
            first_face = min(
                change.t_s for change in plan.changes
                if any(isinstance(i, CardItem) and i.face_up and i.key.startswith(f"r{number}.")
                       for i in change.put)
            )  # fmt: skip
            last_set = max(
                change.t_s for change in plan.changes for item in change.put
                if isinstance(item, CardItem) and not item.face_up
                and item.key.startswith(f"r{number}.") and ".dealer." not in item.key
            )  # fmt: skip
            assert first_face > last_set
            assert float(record.start_s or 0) < last_set


def test_imperial_players_discard_and_draw() -> None:
    plan = plan_shift(TABLES["imperial"], seed=4, rounds=10)
    discards = [s.discard for r in plan.rounds for s in r.seats]
    assert 0 < sum(d is None for d in discards) < len(discards)
    for record in plan.rounds:
        assert record.dealer.discard is not None
    small = {w.paid_cents or 0 for r in plan.rounds for s in r.seats for w in s.wagers}
    assert any(cents % 100 for cents in small), "no 21 to 20 took small chips"


def test_coins_are_gone_before_the_deal() -> None:
    plan = plan_shift(TABLES["nevada, levels"], seed=4, rounds=3)
    state, coins = FeltState(), 0
    for change in plan.changes:
        state.apply(change)
        standing = [k for k in state.items if "_progressive.stake" in k]
        coins += len(standing)
        if any(isinstance(item, CardItem) for item in state.items.values()):
            assert not standing
    assert coins


def test_events_between_rounds() -> None:
    plan = plan_shift(TABLE, seed=8, rounds=4, events=EVERYTHING)
    assert [event.kind for event in plan.events] == ["fill", "dealer_change", "empty_table"]
    fill = [i for c in plan.changes for i in c.put if i.key.startswith("fill")]
    assert fill
    assert all(isinstance(i, StackItem) and len(i.colours) == 20 for i in fill)
    (empty,) = (event for event in plan.events if event.kind == "empty_table")
    assert empty.t1_s - empty.t0_s >= 90
    assert not any(empty.t0_s < c.t_s < empty.t1_s for c in plan.changes)
    state = FeltState()
    for change in plan.changes:
        if change.t_s < empty.t1_s:
            state.apply(change)
    assert not state.items


@settings(
    max_examples=12, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(
    seed=st.integers(0, 10**9),
    pace=st.floats(0.05, 1.5),
    players=st.integers(1, 5),
    name=st.sampled_from(list(TABLES)),
)
def test_any_shift_is_sound(seed: int, pace: float, players: int, name: str) -> None:
    table = TABLES[name]
    check_sound(plan_shift(table, seed=seed, rounds=2, pace=pace, players=players), table)


@pytest.mark.parametrize(
    ("seed", "pace", "players", "name"),
    [
        (214108784, 0.5, 5, "nevada"),
        (704222374, 0.26195274767861754, 5, "washington"),
        (726804211, 1.134923870736729, 5, "earlier"),
    ],
)
def test_the_stacks_of_a_stake_leave_each_other_room(
    seed: int, pace: float, players: int, name: str
) -> None:
    """In these shifts the first stack once left no room on the second's place, and both had
    the same place."""
    plan = plan_shift(TABLES[name], seed=seed, rounds=2, pace=pace, players=players)
    check_nothing_overlaps(plan, TABLES[name])


def test_seven_seats_and_no_joker() -> None:
    table = standard_table(TABLES["traditional"].rules, seats=7)
    plan = plan_shift(table, seed=4, rounds=3, jokers=False)
    # The dealer has a hand too, and 52 cards make seven.
    assert max(len(record.seats) for record in plan.rounds) == 6
    labels = {
        item.label for change in plan.changes for item in change.put if isinstance(item, CardItem)
    }
    assert "JOKER" not in labels
    check_felt_matches_truth(plan, table)
    check_nothing_overlaps(plan, table)


def test_a_game_with_main_bets_alone() -> None:
    table = standard_table(TableRules(game=NEVADA))
    plan = plan_shift(table, seed=2, rounds=2)
    assert {w.wager for r in plan.rounds for s in r.seats for w in s.wagers} == {"main"}
    check_felt_matches_truth(plan, table)


def test_settling_begins_where_the_rules_say() -> None:
    first = plan_shift(TABLES["nevada"], seed=2, rounds=2)
    assert TABLES["nevada"].rules.settling_starts == "first_seat"
    rules = TABLE.rules.model_copy(update={"settling_starts": "last_seat"})
    last = plan_shift(TABLE.model_copy(update={"rules": rules}), seed=2, rounds=2)
    for plan, reverse in ((first, False), (last, True)):
        for record in plan.rounds:
            seats = sorted(record.seats, key=lambda s: s.seat, reverse=reverse)
            times = [float(seat.cards_taken_s or 0) for seat in seats]
            assert times == sorted(times)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rounds": 0}, "at least one round"),
        ({"players": 7}, "the table has 6 seats"),
        ({"pace": 0.01}, "between 0.02 and 3"),
        ({"faults": FaultPlan.parse("OVERPAID@9")}, "rounds 1 to 2"),
        ({"events": EventPlan.parse("fill@9")}, "rounds 1 to 2"),
    ],
)
def test_bad_wishes_are_refused(change: dict[str, object], words: str) -> None:
    wishes: dict[str, object] = {"seed": 1, "rounds": 2, **change}
    with pytest.raises(FeltwatchError, match=words):
        plan_shift(TABLE, **wishes)  # type: ignore[arg-type]


def test_an_unknown_game_is_refused() -> None:
    with pytest.raises(FeltwatchError, match="deals no 'bridge'"):
        plan_shift(standard_table(TableRules(game="bridge")), seed=1, rounds=1)


@pytest.mark.parametrize("words", ["tea@3", "fill", "fill@x"])
def test_other_events_are_refused(words: str) -> None:
    with pytest.raises(FeltwatchError, match="--events"):
        EventPlan.parse(words)


def test_usual_events_come_by_themselves_and_disturb_no_round_before() -> None:
    drawn = EventPlan.parse("usual").schedule(300, random.Random(3))
    kinds = [kind for kinds in drawn.values() for kind in kinds]
    assert 5 <= kinds.count("dealer_change") <= 20
    assert kinds.count("fill") >= 3
    assert kinds.count("empty_table") >= 1
    assert not EventPlan().schedule(300, random.Random(3))
    plain = plan_shift(TABLE, seed=1, rounds=3)
    usual = plan_shift(TABLE, seed=1, rounds=3, events=EventPlan.parse("fill@3"))
    assert usual.rounds[:2] == plain.rounds[:2]
    assert _without_times(usual.rounds[2]) == _without_times(plain.rounds[2])
