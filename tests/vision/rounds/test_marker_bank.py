"""Who banks by the banker's marker, beside the wagers and what is declared."""

from __future__ import annotations

import numpy as np
import pytest

from datasets.render.banker_markers import MarkerLook
from datasets.render.scene import FeltState
from datasets.simulate.house_tables import table_for
from datasets.simulate.play.shift_play import MARKER_KEY, plan_shift
from settlement.declared import Banker, Declared, with_declared
from settlement.record import DealerRecord, RoundRecord, SeatRecord
from tests.vision.rounds.readings import reading
from vision.geometry.marker_places import marker_places
from vision.rounds.procedure.bank import seen_bank
from vision.rounds.procedure.marker_bank import MarkerPlace, MarkerRest, read_marker
from vision.rounds.round_state import Episode, Round, ViewTrack


def dealt(*without: int) -> Round:
    """Seats 1 and 2 got cards; those named staked nothing on the main spot."""
    tracks: dict[int | None, ViewTrack] = {None: ViewTrack()}
    for seat in (1, 2):
        stakes = {} if seat in without else {"main": ["red red"]}
        tracks[seat] = ViewTrack([Episode(1.0, [reading(stakes=stakes, backs=7)])])
    return Round(0.0, tracks)


@pytest.mark.parametrize(
    ("without", "house", "marker", "seat", "doubt"),
    [
        ((1,), False, MarkerPlace(1), 1, None),
        ((1,), None, MarkerPlace(1), 1, None),
        ((1,), True, MarkerPlace(1), 1, None),
        ((1, 2), True, MarkerPlace(2), 2, None),
        ((), False, MarkerPlace("house"), None, None),
        ((1,), False, None, None, "no house wager lies"),
        ((1,), True, MarkerPlace(doubt="seen at no place"), 1, None),
        ((1,), True, MarkerPlace(2), None, "lies at seat 2, and seat 1 got cards without"),
        ((), False, MarkerPlace(2), None, "lies at seat 2, which has a main wager"),
        ((1,), True, MarkerPlace("house"), None, "seat 1 got cards without a main wager, and the"),
        ((), True, MarkerPlace("house"), None, "a house wager lies"),
        ((1,), True, MarkerPlace(doubt="may lie at two", twice=True), None, "may lie at two"),
    ],
)
def test_marker_and_wagers_agree_or_leave_the_bank_undecided(
    without: tuple[int, ...], house: bool | None, marker: MarkerPlace | None, seat: int | None,
    doubt: str | None,
) -> None:  # fmt: skip
    bank = seen_bank(dealt(*without), [1, 2], house, marker)
    assert bank.seat == seat
    assert (bank.doubt is None) == (doubt is None)
    assert doubt is None or doubt in str(bank.doubt)


def rests(*spans: tuple[float, float, float]) -> list[MarkerRest]:
    return [MarkerRest(start, until, [share]) for start, until, share in spans]


@pytest.mark.parametrize(
    ("at_one", "at_two", "place", "doubt"),
    [
        (rests((0, 60, 0.99)), rests((0, 60, 0.01)), 1, None),
        # An arm over it for a while, and what lay there before the deal, do not count.
        (rests((0, 20, 0.99), (22, 25, 0.0), (26, 60, 0.99)), rests((0, 8, 0.99)), 1, None),
        (rests((0, 60, 0.0)), rests((0, 60, 0.0)), None, "was seen at no place"),
        (rests((0, 60, 0.99)), rests((0, 30, 0.0), (31, 60, 0.95)), None, "seat 1 and seat 2"),
        (rests((0, 60, 0.6)), rests((0, 60, 0.0)), None, "may lie at seat 1"),
        (rests((0, 20, 0.99), (21, 60, 0.0)), rests((0, 60, 0.0)), None, "in part of the round"),
    ],
)
def test_a_round_is_read_from_the_deal_until_the_dealers_cards_are_gone(
    at_one: list[MarkerRest], at_two: list[MarkerRest], place: int | None, doubt: str | None
) -> None:
    found = read_marker({1: at_one, 2: at_two, None: []}, 10.0, 55.0)
    assert found.place == place
    assert (found.doubt is None) == (doubt is None)
    assert doubt is None or doubt in str(found.doubt)


@pytest.mark.parametrize(
    ("marked", "declared", "why"),
    [
        (2, 2, None),
        ("house", "house", None),
        (1, 2, "seat 2 is declared to bank, and the banker's marker lies at seat 1"),
        ("house", 2, "seat 2 is declared to bank, and the banker's marker lies at the house"),
        (2, "house", "the house is declared to bank, and the banker's marker lies at seat 2"),
    ],
)
def test_a_declaration_that_the_marker_contradicts_is_undecided(
    marked: Banker, declared: Banker, why: str | None
) -> None:
    record = RoundRecord(
        round_id="t1-000001", table="t1", game="pai_gow_poker", dealer=DealerRecord(),
        seats=(SeatRecord(seat=1), SeatRecord(seat=2)), banker_marker=marked,
        banker=None if marked == "house" else int(marked),
    )  # fmt: skip
    said = with_declared(record, Declared(banker=declared), players_bank=True)
    doubts = [entry.why for entry in said.undecided if entry.what == "banker"]
    assert doubts == ([] if why is None else [why])
    assert said.banker == (int(declared) if why is None and declared != "house" else None)


def test_the_simulated_marker_lies_where_the_truth_says() -> None:
    table = table_for("pai_gow_poker")
    look = MarkerLook.draw("button", np.random.default_rng(3))
    plan = plan_shift(table, seed=11, rounds=12, marker=look)
    places = marker_places(table)
    state, changes = FeltState(), list(plan.changes)
    for record in plan.rounds:
        assert record.banker_marker == (record.banker or "house")
        while changes and changes[0].t_s <= float(record.end_s or 0):
            state.apply(changes.pop(0))
        at_mm = np.array(state.items[MARKER_KEY].center_mm)
        near = min(places, key=lambda one: float(np.hypot(*(places[one].center_mm - at_mm))))
        assert near == record.banker
    assert len({record.banker for record in plan.rounds}) > 2
