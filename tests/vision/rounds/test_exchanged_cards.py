"""Cards that two seats exchange face down, in rendered frames: nothing but the arm shows it."""

from __future__ import annotations

import numpy as np
import pytest

from datasets.render.appearance import CameraFaults
from datasets.render.camera import synthetic_camera, table_camera
from datasets.render.cards.deck import Deck, draw_deck
from datasets.simulate.filming.film import Film, Look
from datasets.simulate.house_tables import table_for
from datasets.simulate.mistakes.catalogue import FaultPlan
from datasets.simulate.play.shift_play import plan_shift
from settlement.compare.comparison import compare
from settlement.settle import settle
from tests.vision.rounds.stand_ins import World, shots
from vision.rounds.observed import ObservedRound
from vision.rounds.watcher import TableWatcher

pytestmark = pytest.mark.render

FPS = 5
LOOK = Look((24, 90, 50), (230, 210, 150), (40, 30, 25), CameraFaults(noise=1.0, blur_px=0.5))
BARE = table_for("emperors_challenge_exposed", seats=3)
CAMERA = synthetic_camera(
    BARE.felt, height_mm=2900, tilt_deg=32, width_px=1920, height_px=1080, margin=0.08
)
TABLE = BARE.model_copy(update={"camera": table_camera(CAMERA, BARE, 0.4, 3)})


@pytest.fixture(scope="module")
def deck() -> Deck:
    return draw_deck()


@pytest.fixture
def world(deck: Deck, monkeypatch: pytest.MonkeyPatch) -> World:
    own = World(TABLE, CAMERA, deck)
    own.watch_patches(monkeypatch)
    return own


def moves(observed: ObservedRound) -> list[tuple[int, str, int | None]]:
    return [(s.seat, m.kind, m.to_seat) for s in observed.record.seats for m in s.moves or ()]


def watched(
    world: World, deck: Deck, faults: str, *, seed: int = 21, restored: bool = False
) -> ObservedRound:
    """A round as a watcher reads it; `restored`: another one goes on after each five seconds."""
    plan = plan_shift(
        TABLE, seed=seed, rounds=1, faults=FaultPlan.parse(faults), pace=0.2, dealers="neat"
    )
    film = Film(TABLE, CAMERA, deck, LOOK, np.random.default_rng(6))
    own = TableWatcher(TABLE, world.networks, "film")
    seen: list[ObservedRound] = []
    for k, shot in enumerate(shots(film, world, plan, FPS)):
        seen += own.feed(shot)
        if restored and k % 25 == 24:
            state = own.snapshot()
            own = TableWatcher(TABLE, world.networks, "film")
            own.restore(state)
    (one,) = (*seen, *own.finish())
    return one


def test_an_exchange_is_reported_with_the_image_of_the_arm(world: World, deck: Deck) -> None:
    observed = watched(world, deck, "CARD_MOVED/seat@1")
    ((seat, kind, to_seat),) = moves(observed)
    assert kind == "reach"
    assert to_seat is not None
    assert abs(to_seat - seat) == 1
    record = observed.record
    findings = compare(record, settle(record, TABLE.rules), TABLE.rules)
    assert [f.seat for f in findings if f.code == "CARD_MOVED"] == [seat]
    (picture,) = (p for p in observed.pictures if p.what == "reach")
    (own,) = (s.moves or () for s in record.seats if s.seat == seat)
    assert float(own[0].before_s) <= float(picture.at_s) <= float(own[0].after_s)
    assert picture.seat == seat
    assert picture.image.shape == (800, 800, 3)
    # A watcher that goes on from what was saved sees the same.
    again = watched(world, deck, "CARD_MOVED/seat@1", restored=True)
    assert again.record == record
    assert [p.at_s for p in again.pictures if p.what == "reach"] == [picture.at_s]


def test_a_round_without_an_exchange_has_none(world: World, deck: Deck) -> None:
    observed = watched(world, deck, "none")
    assert moves(observed) == []
    assert all(p.what != "reach" for p in observed.pictures)


@pytest.mark.parametrize(
    ("seed", "players"), [(6, {1: 1, 2: 1, 3: None}), (12, {1: None, 2: 2, 3: 2}), (21, {})]
)
def test_the_arm_shows_who_plays_two_hands(
    world: World, deck: Deck, seed: int, players: dict[int, int | None]
) -> None:
    observed = watched(world, deck, "none", seed=seed)
    seen = {seat.seat: seat.player for seat in observed.record.seats}
    assert seen == (players or dict.fromkeys(seen))
    assert moves(observed) == []
