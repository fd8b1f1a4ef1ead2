from __future__ import annotations

import math
import random

import numpy as np
import pytest

from datasets.render.scene import CardItem, FeltState, ShiftPlan
from datasets.simulate.decide import Decider, possible_codes
from datasets.simulate.house_tables import NEVADA, table_for
from datasets.simulate.lamps import with_house_lamps
from datasets.simulate.mistakes.catalogue import CODES, DRAWN_CODES, WAYS, FaultPlan
from datasets.simulate.play.layouts import INDEX_MM, card_corners, index_shows
from datasets.simulate.play.motion import hand_at
from datasets.simulate.play.shift_play import plan_shift
from datasets.simulate.shift import commission_later
from settlement.compare.finding import FindingCode
from settlement.errors import FeltwatchError
from settlement.record import Fault, RoundRecord
from settlement.rules import TableRules
from tests.datasets.simulate.play_checks import (
    RULES,
    TABLE,
    check_sound,
    faults,
    findings,
    hands_at,
    replay,
)
from vision.geometry.dice import DicePlace
from vision.geometry.standard_layout import DISCARD_MM, standard_table
from vision.geometry.table import TableFile

EXPOSED = table_for(NEVADA, jackpots="levels")
TRADITIONAL = table_for("pai_gow_poker", jackpots="plain")
IMPERIAL = table_for("imperial_pai_gow_draw")
COLLECTED_LATER = commission_later(table_for("pai_gow_poker"))
WASHINGTON = with_house_lamps(
    table_for("emperors_challenge_exposed_washington", jackpots="plain"), 1
)
DICE = TRADITIONAL.model_copy(update={"dice": DicePlace(center_mm=(780.0, 215.0))})
ALL_WAYS = [f"{code}/{way}" for code, ways in WAYS.items() for way in ways]


def _table_of(kind: str) -> TableFile:
    """A table whose rules leave room for a way."""
    way = kind.partition("/")[2]
    if way == "house" or kind in ("OVERPAID/commission", "LIMIT/hands"):
        return TRADITIONAL
    if kind == "OVERPAID/uncollected":
        return COLLECTED_LATER
    if kind == "PROCEDURE/wrong_first_seat":
        return DICE
    if way in ("coin_unregistered", "coin_unseen", "lit_alone"):
        return WASHINGTON
    of_imperial = {"eighth", "set_late", "shown_early", "second_discard", "discard_late"}
    return IMPERIAL if way in of_imperial else EXPOSED


def _shift(
    kind: str, seed: int = 0, table: TableFile | None = None
) -> tuple[TableFile, ShiftPlan, Fault]:
    own = table or _table_of(kind)
    plan = plan_shift(own, seed=seed, rounds=2, faults=FaultPlan(at=((kind, 2),)), silent_s=90)
    code = kind.partition("/")[0]
    return own, plan, next(f for f in plan.rounds[1].faults or () if f.code == code)


def test_the_ways_cover_the_whole_catalogue() -> None:
    assert set(CODES) >= {str(code) for code in FindingCode}
    assert set(CODES) >= {"LATE_BET", "CARD_MOVED", "CAMERA", "SILENT", "UNDECIDED"}


@pytest.mark.parametrize("kind", ALL_WAYS)
def test_each_way_is_done_and_is_the_only_mistake(kind: str) -> None:
    table, plan, fault = _shift(kind)
    check_sound(plan, table)
    first, second = plan.rounds
    assert not first.faults
    codes = {f.code for f in second.faults or ()}
    assert codes <= {fault.code, "HAND_PAY"}
    start, end = float(second.start_s or 0), float(second.end_s or 0)
    assert start <= float(fault.at_s or 0) <= end + 1
    assert fault.note or fault.code == "SILENT"
    # The deal may wrongly begin at the dealer.
    of_dealer = kind.endswith(("/house", "/dealer", "/wrong_first_seat"))
    if fault.code not in ("HOUSE_WAY", "CAMERA", "SILENT") and not of_dealer:
        assert fault.seat in {seat.seat for seat in second.seats}


@pytest.mark.parametrize("table", [TRADITIONAL, IMPERIAL], ids=["traditional", "imperial"])
@pytest.mark.parametrize("code", ["FOUL", "TOOK_PUSH", "ENVY_WRONG", "DECK", "CARD_MOVED"])
def test_other_games_take_mistakes_too(code: str, table: TableFile) -> None:
    for seed in range(3):
        own, plan, _ = _shift(code, seed, table)
        check_sound(plan, own)


def test_a_code_alone_comes_in_several_ways() -> None:
    notes = {_shift("LAMMER", seed)[2].note for seed in range(12)}
    assert len(notes) >= 3


def test_two_mistakes_in_one_round() -> None:
    wanted = FaultPlan(at=(("HOUSE_WAY", 1), ("TOOK_PUSH", 1)))
    (record,) = plan_shift(TABLE, seed=3, rounds=1, faults=wanted).rounds
    assert sorted(f.code for f in record.faults or ()) == ["HOUSE_WAY", "TOOK_PUSH"]
    assert findings(record) == faults(record)


@pytest.mark.parametrize("other", ["LIMIT/hands", "LIMIT/under", "LIMIT/over"])
@pytest.mark.parametrize("seed", [0, 2, 5, 11])
def test_a_late_bet_is_not_laid_again_for_a_limit(other: str, seed: int) -> None:
    plan = FaultPlan(at=(("LATE_BET/grew", 1), (other, 1)))
    (record,) = plan_shift(table_for("pai_gow_poker"), seed=seed, rounds=1, faults=plan).rounds
    (late,) = [f for f in record.faults or () if f.code == "LATE_BET"]
    (seat,) = [s for s in record.seats if s.seat == late.seat]
    wager = seat.wager(late.wager or "")
    assert wager is not None
    assert (late.note or "").endswith(f"to {wager.stake_cents} cents")


def test_all_drawn_kinds_in_one_shift() -> None:
    rounds = len(DRAWN_CODES) + 2
    plan = plan_shift(TABLE, seed=7, rounds=rounds, faults=FaultPlan(kinds=DRAWN_CODES))
    assert sorted(f.code for r in plan.rounds for f in r.faults or ()) == sorted(DRAWN_CODES)
    assert all(findings(r) == faults(r) for r in plan.rounds)


def _fault_round(code: str, seed: int) -> RoundRecord:
    return plan_shift(TABLE, seed=seed, rounds=1, faults=FaultPlan(at=((code, 1),))).rounds[0]


def test_envy_mistakes_need_a_qualifying_hand_at_another_seat() -> None:
    for seed in range(4):
        record = _fault_round("ENVY_MISSED", seed)
        fault = next(f for f in record.faults or () if f.code == "ENVY_MISSED")
        missed = next(s for s in record.seats if s.seat == fault.seat)
        assert missed.wager("envy") is None
        treasure = missed.wager("emperors_treasure")
        assert treasure is not None
        assert (treasure.stake_cents or 0) >= RULES.envy_min_cents


@pytest.mark.parametrize("way", ["grew", "shrank", "appeared"])
def test_a_late_bet_moves_after_the_deal_has_begun(way: str) -> None:
    _, plan, fault = _shift(f"LATE_BET/{way}")
    at = float(fault.at_s or 0)
    dealt = min(
        c.t_s for c in plan.changes for i in c.put
        if isinstance(i, CardItem) and i.key.startswith("r2.")
    )  # fmt: skip
    assert at > dealt
    (change,) = (c for c in plan.changes if abs(c.t_s - at) < 0.002)
    assert f"r2.{fault.seat}.{fault.wager}.stake" in change.put[0].key
    assert bool(change.remove) == (way != "appeared")
    wager = plan.rounds[1].seats[0].wager("main")
    assert wager is not None


def test_a_card_that_is_hidden_by_another_is_never_seen() -> None:
    _, plan, fault = _shift("UNDECIDED/card")
    label = (fault.note or "").split()[0]
    shown = 0
    for _, state, _ in replay(plan):
        cards = [i for i in state.items.values() if isinstance(i, CardItem)]
        for number, card in enumerate(cards):
            if card.label == label and card.face_up and card.key.startswith("r2."):
                shown += 1
                assert not index_shows(card, cards[number + 1 :])
    assert shown


def test_a_hand_rests_on_a_card_from_its_show_to_its_end() -> None:
    _, plan, fault = _shift("UNDECIDED/hand")
    label = (fault.note or "").split()[0]
    state, seen = FeltState(), []
    for change in plan.changes:
        state.apply(change)
        for item in change.put:
            if not isinstance(item, CardItem) or not item.key.startswith("r2."):
                continue
            if item.face_up and item.label == label:
                seen.append((change.t_s, item))
    (t_s, card) = seen[-1]
    gone = next(c.t_s for c in plan.changes if c.t_s > t_s and card.key in c.remove)
    index = card_corners(card, INDEX_MM).mean(axis=0).tolist()
    for k in range(11):
        at = t_s + (gone - t_s) * k / 10
        assert any(math.dist(hand, index) < 1 for hand, _ in hands_at(plan, at)), at


def _beside_bet(plan: ShiftPlan, fault: Fault, table: TableFile) -> list[tuple[float, int]]:
    """How many cards lie by a seat's discard place, whenever that changes: (time, number)."""
    place = table.seat(fault.seat or 0).place
    found = [(0.0, 0)]
    for change, state, _ in replay(plan):
        items = [i for i in state.items.values() if isinstance(i, CardItem) and not i.face_up]
        middles = np.array([i.center_mm for i in items]).reshape(-1, 2)
        off = place.to_local(middles) - DISCARD_MM
        near = int((np.hypot(off[:, 0], off[:, 1]) < 90).sum()) if len(items) else 0
        if near != found[-1][1]:
            found.append((change.t_s, near))
    return found[1:]


@pytest.mark.parametrize("seed", range(3))
def test_a_second_discard_lies_beside_the_first_and_both_are_drawn_for(seed: int) -> None:
    table, plan, fault = _shift("PROCEDURE/second_discard", seed)
    (begin, until) = (float(plan.rounds[1].start_s or 0), float(plan.rounds[1].end_s or 0))
    own = [one for one in _beside_bet(plan, fault, table) if begin <= one[0] <= until]
    assert [number for _, number in own] == [1, 2, 0]
    assert own[1][0] == float(fault.at_s or 0)
    assert own[2][0] - own[1][0] > 2.0
    (seat,) = [s for s in plan.rounds[1].seats if s.seat == fault.seat]
    assert seat.discard is not None
    assert len({*(seat.low or ()), *(seat.high or ()), seat.discard}) == 8


@pytest.mark.parametrize("seed", range(3))
def test_a_late_discard_comes_from_the_set_hand_once_the_dealers_is_shown(seed: int) -> None:
    table, plan, fault = _shift("PROCEDURE/discard_late", seed)
    at = float(fault.at_s or 0)
    shown = [
        c.t_s for c in plan.changes for i in c.put
        if isinstance(i, CardItem) and i.face_up and i.key.startswith("r2.dealer")
    ]  # fmt: skip
    assert min(shown) < at
    later = [one for one in _beside_bet(plan, fault, table) if one[0] >= at]
    assert [number for _, number in later[:2]] == [1, 0]


def test_a_code_alone_draws_what_it_drew_before_ways_were_added() -> None:
    """A shift of a seed stays what it was: judging sets are named by their seeds."""
    rng, other = random.Random(3), random.Random(3)
    decider = Decider(IMPERIAL, rng)
    drawn = [decider._way("PROCEDURE")[1] for _ in range(20)]
    old = ["taken_up", "set_late", "looked_at", "shown_early", "bet_touched"]
    assert drawn == [other.choice(old) for _ in range(20)]


@pytest.mark.parametrize("way", list(WAYS["SILENT"]))
def test_a_silent_round_is_busy_and_shows_no_hands(way: str) -> None:
    _, plan, fault = _shift(f"SILENT/{way}")
    begin = float(fault.at_s or 0)
    busy = [r for r in plan.reaches if begin < r.t0_s < begin + 90]
    assert len(busy) >= 8
    for change in plan.changes:
        if begin < change.t_s < begin + 90:
            assert not any(isinstance(i, CardItem) and i.face_up for i in change.put)


@pytest.mark.parametrize("way", ["hand", "seat", "face", "face_down"])
def test_moved_cards_move_under_a_players_hand(way: str) -> None:
    _, plan, fault = _shift(f"CARD_MOVED/{way}")
    at = float(fault.at_s or 0)
    (change,) = (c for c in plan.changes if abs(c.t_s - at) < 0.002)
    cards = [i for i in change.put if isinstance(i, CardItem)]
    if way != "seat":
        assert cards
    assert any(reach.who == "player" for _, reach in hands_at(plan, at))
    if way == "face":
        assert cards[0].face_up
    if way == "face_down":
        assert not cards[0].face_up
    assert all(hand_at(r, at) is None or r.t0_s <= at for r in plan.reaches)


@pytest.mark.parametrize("other", ["hand", "seat"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_two_moves_of_a_round_start_from_hands_of_their_own(other: str, seed: int) -> None:
    wanted = FaultPlan(at=(("CARD_MOVED/seat", 1), (f"CARD_MOVED/{other}", 1)))
    plan = plan_shift(EXPOSED, seed=seed, rounds=1, faults=wanted)
    check_sound(plan, EXPOSED)
    (record,) = plan.rounds
    seats = [move.seat for move in record.faults or () if move.code == "CARD_MOVED"]
    assert len(set(seats)) == 2


def test_the_banker_moves_no_cards_before_its_hand_was_compared() -> None:
    """All hands are compared with it as it was set, and are settled by what lies there at last."""
    banked = 0
    for seed in (2, 3, 14, 15, 18, 24):
        plan = plan_shift(
            table_for("pai_gow_poker"), seed=seed, rounds=1,
            faults=FaultPlan(at=(("CARD_MOVED/hand", 1),)),
        )  # fmt: skip
        (record,) = plan.rounds
        (fault,) = record.faults or ()
        banked += record.banker is not None
        assert fault.seat != record.banker
    assert banked == 6


@pytest.mark.parametrize("seed", [6, 16, 46])
def test_no_lammer_lies_by_a_stake_that_appears_late(seed: int) -> None:
    plan = plan_shift(
        table_for(NEVADA), seed=seed, rounds=1, faults=FaultPlan(at=(("LATE_BET/appeared", 1),))
    )
    (record,) = plan.rounds
    (fault,) = record.faults or ()
    seat = next(own for own in record.seats if own.seat == fault.seat)
    assert not (fault.wager == "pai_gow_insurance" and "dealer" in seat.lammers)


def test_a_camera_trouble_is_written_as_event_and_fault() -> None:
    _, plan, fault = _shift("CAMERA/frozen")
    (event,) = plan.events
    assert event.kind == "camera/frozen"
    assert (event.code, event.round_id) == ("CAMERA", plan.rounds[1].round_id)
    assert f"{event.t0_s:.3f}" == fault.at_s
    assert event.t1_s - event.t0_s >= 2


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("none", FaultPlan()),
        ("", FaultPlan()),
        ("0.3", FaultPlan(rate=0.3)),
        ("OVERPAID, took_push", FaultPlan(kinds=("OVERPAID", "TOOK_PUSH"))),
        (
            "OVERPAID@3,HOUSE_WAY@5,DECK",
            FaultPlan(kinds=("DECK",), at=(("OVERPAID", 3), ("HOUSE_WAY", 5))),
        ),
        (
            "0.1,deck/jokers:0.05,CAMERA/frozen@2",
            FaultPlan(rate=0.1, at=(("CAMERA/frozen", 2),), rates=(("DECK/jokers", 0.05),)),
        ),
    ],
)
def test_words_of_the_command_line(words: str, expected: FaultPlan) -> None:
    assert FaultPlan.parse(words) == expected


@pytest.mark.parametrize(
    "words",
    ["1.5", "-0.1", "nan", "OVERPAYED", "OVERPAID@", "OVERPAID,,", "@3", "OVERPAID/frozen",
     "OVERPAID:2", "OVERPAID:0.1@3"],
)  # fmt: skip
def test_other_words_are_refused(words: str) -> None:
    with pytest.raises(FeltwatchError, match="--faults"):
        FaultPlan.parse(words)


def test_a_rate_draws_kinds_in_turn() -> None:
    plan = FaultPlan(rate=0.7).schedule(20, random.Random(1))
    codes = [code for codes in plan.values() for code in codes]
    assert len(codes) == 14
    assert sorted(codes) == sorted(DRAWN_CODES)
    assert "DECK" not in codes


def test_a_kind_has_its_own_rate() -> None:
    plan = FaultPlan.parse("OVERPAID/twice:0.25,TOOK_PUSH:0.01").schedule(
        40, random.Random(1), CODES
    )
    kinds = [kind for kinds in plan.values() for kind in kinds]
    assert kinds.count("OVERPAID/twice") == 10
    assert kinds.count("TOOK_PUSH") == 1


def test_kinds_are_spread_over_rounds_before_they_share_one() -> None:
    plan = FaultPlan(kinds=("OVERPAID", "UNDERPAID", "NOT_PAID")).schedule(3, random.Random(2))
    assert sorted(len(codes) for codes in plan.values()) == [1, 1, 1]


@pytest.mark.parametrize(
    ("plan", "rounds", "words"),
    [
        (FaultPlan(kinds=("OVERPAID",) * 5), 2, "ask for more rounds"),
        (FaultPlan(at=(("OVERPAID", 1),) * 3), 2, "more than 2 mistakes in round 1"),
        (FaultPlan(at=(("OVERPAID", 3),)), 2, "rounds 1 to 2"),
    ],
)
def test_more_than_a_shift_can_hold_is_refused(plan: FaultPlan, rounds: int, words: str) -> None:
    with pytest.raises(FeltwatchError, match=words):
        plan.schedule(rounds, random.Random(0))


@pytest.mark.parametrize("code", ["LIMIT", "ENVY_MISSED", "LAMMER", "HAND_PAY", "WRONG_SPOT"])
def test_a_mistake_that_the_rules_leave_no_room_for_is_refused(code: str) -> None:
    table = standard_table(TableRules(game=NEVADA))
    assert code not in possible_codes(table)
    with pytest.raises(FeltwatchError, match=f"{code}.*no room"):
        plan_shift(table, seed=1, rounds=1, faults=FaultPlan(kinds=(code,)))


def test_a_mistake_that_needs_more_players_is_refused() -> None:
    with pytest.raises(FeltwatchError, match="round 1: ENVY_MISSED: no fitting round"):
        plan_shift(TABLE, seed=1, rounds=1, faults=FaultPlan(kinds=("ENVY_MISSED",)), players=1)


@pytest.mark.parametrize("table", [EXPOSED, TRADITIONAL, IMPERIAL], ids=["N", "T", "I"])
def test_a_stake_that_is_taken_away_is_gone_for_a_while_before_the_hand_is_shown(
    table: TableFile,
) -> None:
    _, plan, fault = _shift("PROCEDURE/bet_taken", 2, table)
    check_sound(plan, table)
    at = float(fault.at_s or 0)
    (change,) = (c for c in plan.changes if abs(c.t_s - at) < 0.002)
    assert all(f"r2.{fault.seat}.{fault.wager}.stake" in key for key in change.remove)
    shown = min(
        c.t_s for c in plan.changes for i in c.put
        if isinstance(i, CardItem) and i.face_up and i.key.startswith(f"r2.{fault.seat}.")
    )  # fmt: skip
    assert shown - at > 1.5
    (seat,) = (s for s in plan.rounds[1].seats if s.seat == fault.seat)
    wager = seat.wager(fault.wager or "")
    assert wager is not None
    assert (wager.action, wager.paid_cents) == (None, None)
    assert wager.stake_cents
    (doubt,) = plan.rounds[1].undecided
    assert (doubt.seat, doubt.what) == (fault.seat, f"{fault.wager}.action")


def test_a_commission_is_collected_once_all_seats_are_settled_but_for_the_mistake() -> None:
    given = taken = 0
    for seed in range(6):
        _, plan, fault = _shift("OVERPAID/uncollected", seed)
        for number, record in enumerate(plan.rounds, start=1):
            last_s = max(float(seat.cards_taken_s or 0) for seat in record.seats)
            won = [(s, w) for s in record.seats for w in s.wagers
                   if w.wager == "main" and w.action == "paid"]  # fmt: skip
            for seat, wager in won:
                keys = f"r{number}.{seat.seat}.main."
                laid = [
                    c.t_s for c in plan.changes for i in c.put if i.key.startswith(f"{keys}given")
                ]
                out = [c.t_s for c in plan.changes if c.t_s > last_s and c.put
                       and any(k.startswith(f"{keys}paid") for k in c.remove)]  # fmt: skip
                if number == 2 and seat.seat == fault.seat:
                    assert not laid + out
                    assert wager.returned_cents is None
                    continue
                assert wager.returned_cents == round((wager.paid_cents or 0) * 0.05)
                assert len(laid + out) == 1
                assert min(laid + out) > last_s
                given, taken = given + len(laid), taken + len(out)
    assert given > 0 < taken


def test_the_dealers_cards_change_hands_before_any_hand_is_compared() -> None:
    _, plan, fault = _shift("CARD_MOVED/dealer")
    at = float(fault.at_s or 0)
    shown = [
        (c.t_s, i.label) for c in plan.changes for i in c.put
        if isinstance(i, CardItem) and i.face_up and i.key.startswith("r2.")
        and "dealer" not in i.key
    ]  # fmt: skip
    assert at < min(t_s for t_s, _ in shown)
    assert fault.seat is None
    moved = set((fault.note or "").split()[0:3:2])
    dealer = plan.rounds[1].dealer
    assert len(moved & set(dealer.low or ())) == len(moved & set(dealer.high or ())) == 1
