"""Rounds of the games with another order, watched from the frame to the judged record.

What lies on the felt is given to the watcher (`told.World`), so that only its own work counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from datasets.render.appearance import CameraFaults
from datasets.render.camera import play_area, synthetic_camera, table_camera
from datasets.render.cards.deck import Deck, draw_deck
from datasets.render.scene import ShiftPlan
from datasets.simulate.filming.film import Film, Look
from datasets.simulate.house_tables import table_for
from datasets.simulate.mistakes.catalogue import FaultPlan
from datasets.simulate.play.shift_events import EventPlan
from datasets.simulate.play.shift_play import plan_shift
from settlement.compare.comparison import compare
from settlement.record import RoundRecord, SeatRecord
from settlement.settle import settle
from tests.vision.rounds.stand_ins import World, shots
from vision.geometry.table import TableFile
from vision.rounds.watcher import TableWatcher

pytestmark = pytest.mark.render

FPS = 5
LOOK = Look((24, 90, 50), (230, 210, 150), (40, 30, 25), CameraFaults(noise=1.0, blur_px=0.5))


@pytest.fixture(scope="module")
def deck() -> Deck:
    return draw_deck()


def table_of(game: str) -> tuple[TableFile, Any]:
    """A table of three seats and the camera on it."""
    bare = table_for(game, seats=3)
    camera = synthetic_camera(
        bare.felt, height_mm=2700, tilt_deg=33, width_px=1920, height_px=1080,
        keep_mm=play_area(bare), margin=0.05,
    )  # fmt: skip
    return bare.model_copy(update={"camera": table_camera(camera, bare, 0.4, 3)}), camera


def watched(
    table: TableFile, camera: Any, deck: Deck, plan: ShiftPlan, monkeypatch: pytest.MonkeyPatch
) -> list[RoundRecord]:
    """The records of a plan, as a watcher reads them."""
    world = World(table, camera, deck)
    world.watch_patches(monkeypatch)
    own = TableWatcher(table, world.networks, "film")
    film = Film(table, camera, deck, LOOK, np.random.default_rng(6))
    seen = [one for shot in shots(film, world, plan, FPS) for one in own.feed(shot)]
    return [one.record for one in (*seen, *own.finish())]


def _hand(own: SeatRecord) -> tuple[int, list[str], list[str]]:
    return own.seat, sorted(own.low or ()), sorted(own.high or ())


def _check(
    record: RoundRecord, truth: RoundRecord, table: TableFile,
    unread: tuple[str, ...] = ("stake", "paid"),
) -> None:  # fmt: skip
    """Hands and bank as they were, and nothing found but what could not be counted."""
    assert record.banker == truth.banker
    assert sorted(record.dealer.low or ()) == sorted(truth.dealer.low or ())
    assert sorted(record.dealer.high or ()) == sorted(truth.dealer.high or ())
    assert record.dealer.discard == truth.dealer.discard
    assert [_hand(s) for s in record.seats] == [_hand(s) for s in truth.seats]
    assert all(seat.breaches is None for seat in record.seats)
    found = compare(record, settle(record, table.rules), table.rules)
    assert {str(one.code) for one in found} <= {"UNDECIDED"}
    assert {e.what.split(".")[-1] for e in record.undecided} <= set(unread)


def test_a_player_banks(deck: Deck, monkeypatch: pytest.MonkeyPatch) -> None:
    table, camera = table_of("pai_gow_poker")
    plan = plan_shift(table, seed=11, rounds=2, faults=FaultPlan(), pace=0.1, dealers="neat")
    truths = plan.rounds
    assert [truth.banker for truth in truths] == [1, None]
    records = watched(table, camera, deck, plan, monkeypatch)
    for record, truth in zip(records, truths, strict=True):
        _check(record, truth, table)
    (house,), (wanted,) = records[0].dealer.wagers, truths[0].dealer.wagers
    assert (house.action, house.paid_cents) == (wanted.action, wanted.paid_cents)
    assert house.stake_cents in (wanted.stake_cents, None)
    assert records[1].dealer.wagers == ()
    # Everybody plays against seat 1, and the dealer's hand too.
    settled = settle(records[0], table.rules)
    assert settled.banker is not None
    main = settled.seats[2].wager("main")
    assert main is not None
    assert "seat 1" in main.why


@pytest.mark.parametrize(
    ("game", "way"),
    [
        ("pai_gow_poker", "taken_up"),
        ("pai_gow_poker", "set_late"),
        ("pai_gow_poker", "looked_at"),
        ("imperial_pai_gow_draw", "shown_early"),
        ("imperial_pai_gow_draw", "second_discard"),
        ("imperial_pai_gow_draw", "discard_late"),
        ("emperors_challenge_exposed", "bet_touched"),
    ],
)
def test_what_the_procedure_forbids_is_found(
    game: str, way: str, deck: Deck, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, camera = table_of(game)
    faults = FaultPlan.parse(f"PROCEDURE/{way}@1")
    plan = plan_shift(table, seed=21, rounds=1, faults=faults, pace=0.1, dealers="neat")
    (record,) = watched(table, camera, deck, plan, monkeypatch)
    (truth,) = plan.rounds
    (fault,) = truth.faults or ()
    (found,) = (
        (seat.seat, breach) for seat in record.seats for breach in seat.breaches or ()
    )  # fmt: skip
    assert (found[0], found[1].kind, found[1].wager) == (fault.seat, way, fault.wager)
    codes = [
        (str(one.code), one.seat)
        for one in compare(record, settle(record, table.rules), table.rules)
    ]
    assert [own for own in codes if own[0] != "UNDECIDED"] == [("PROCEDURE", fault.seat)]


def test_the_dealer_draws_an_eighth_card(deck: Deck, monkeypatch: pytest.MonkeyPatch) -> None:
    table, camera = table_of("imperial_pai_gow_draw")
    plan = plan_shift(table, seed=3, rounds=1, faults=FaultPlan(), pace=0.1, dealers="neat")
    (record,) = watched(table, camera, deck, plan, monkeypatch)
    (truth,) = plan.rounds
    assert truth.dealer.discard is not None
    _check(record, truth, table)
    # The house way is judged: it hangs on the card set aside.
    assert settle(record, table.rules).dealer.matches


def test_a_dealer_change_between_two_rounds_begins_and_ends_none(
    deck: Deck, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, camera = table_of("emperors_challenge_exposed")
    events = EventPlan.parse("dealer_change@2")
    plan = plan_shift(
        table, seed=5, rounds=2, faults=FaultPlan(), pace=0.1, dealers="neat", events=events
    )
    assert [event.kind for event in plan.events] == ["dealer_change"]
    records = watched(table, camera, deck, plan, monkeypatch)
    for record, truth in zip(records, plan.rounds, strict=True):
        assert [_hand(s) for s in record.seats] == [_hand(s) for s in truth.seats]
        codes = {str(f.code) for f in compare(record, settle(record, table.rules), table.rules)}
        assert not codes & {"PROCEDURE", "LATE_BET", "CARD_MOVED", "DECK", "HOUSE_WAY"}


def test_a_round_is_abandoned_and_the_next_is_dealt_at_once_and_again(
    deck: Deck, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, camera = table_of("pai_gow_poker")
    events = EventPlan.parse("abandoned@1,quick_deal@2,misdeal@2")
    plan = plan_shift(table, seed=6, rounds=2, events=events, pace=0.1, dealers="fast")
    records = watched(table, camera, deck, plan, monkeypatch)
    first, second = records
    assert "broken off" in first.undecided[0].why
    assert float(first.end_s or 0) <= float(second.start_s or 0)
    # A stake of 17 chips hides what may lie behind it.
    _check(second, plan.rounds[1], table, ("action",))
