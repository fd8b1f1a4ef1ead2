from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from datasets.render.appearance import CameraFaults
from datasets.render.camera import play_area, synthetic_camera, table_camera
from datasets.render.cards.deck import Deck, draw_deck
from datasets.render.scene import CardItem, Change, FeltState, ShiftPlan, StackItem
from datasets.simulate.filming.film import Film, Look
from datasets.simulate.mistakes.catalogue import FaultPlan
from datasets.simulate.play.shift_play import plan_shift
from datasets.simulate.shift import default_rules
from models.weights.folder import default_weights
from settlement.errors import FeltwatchError
from settlement.felt_timeline import EventLine
from settlement.record import RoundRecord
from tests.vision.rounds.readings import DEALER, HANDS, PICTURE, hand, reading
from tests.vision.rounds.stand_ins import World, frame_of, shots
from vision.cards.table_deck import DeckReader, DeckSamples
from vision.cards.view import join_cards
from vision.detect.openvino_runtime import ModelError
from vision.geometry.standard_layout import standard_table
from vision.geometry.table import TableFile
from vision.networks import load_networks
from vision.rounds import watcher as watcher_module
from vision.rounds.changes import Changes
from vision.rounds.felt.felt_check import FELT_CHECKS, NotThisTableError
from vision.rounds.loose_pays import compile_owned
from vision.rounds.observed import ObservedRound
from vision.rounds.rest_doubt import RestDoubt
from vision.rounds.round_state import Round
from vision.rounds.watcher import READS_PER_REST, TableWatcher

pytestmark = pytest.mark.render

FPS = 5
frame = partial(frame_of, fps=FPS)
LOOK = Look((24, 90, 50), (230, 210, 150), (40, 30, 25), CameraFaults(noise=1.0, blur_px=0.5))


def two_seats() -> TableFile:
    """The middle seats of the standard table, as a camera on them alone sees it."""
    whole = standard_table(default_rules())
    return whole.model_copy(update={"seats": whole.seats[2:4]})


BARE = two_seats()
CAMERA = synthetic_camera(
    BARE.felt, height_mm=2700, tilt_deg=33, width_px=1920, height_px=1080,
    keep_mm=play_area(BARE), margin=0.05,
)  # fmt: skip
TABLE = BARE.model_copy(update={"camera": table_camera(CAMERA, BARE, 0.4, 3)})


Planes = npt.NDArray[np.uint8]


@pytest.fixture(scope="module")
def deck() -> Deck:
    return draw_deck()


@pytest.fixture(scope="module")
def film(deck: Deck) -> Film:
    return Film(TABLE, CAMERA, deck, LOOK, np.random.default_rng(6))


@pytest.fixture(scope="module")
def empty(film: Film) -> Planes:
    """A picture of the empty table."""
    ((_, planes),) = film.frames(ShiftPlan(1 / FPS, (), (), ()), FPS)
    return planes


@pytest.fixture
def world(deck: Deck, monkeypatch: pytest.MonkeyPatch) -> World:
    own = World(TABLE, CAMERA, deck)
    own.watch_patches(monkeypatch)
    return own


def watcher(world: World) -> TableWatcher:
    return TableWatcher(TABLE, world.networks, "film")


def test_a_round_is_read_as_it_was_played(film: Film, world: World) -> None:
    plan = plan_shift(TABLE, seed=8, rounds=1, faults=FaultPlan(), pace=0.35)
    own = watcher(world)
    seen: list[ObservedRound] = []
    for shot in shots(film, world, plan, FPS):
        seen += own.feed(shot)
    assert own.finish() == []
    (told,), (truth,) = seen, plan.rounds
    record = told.record
    assert (record.round_id, record.table, record.game) == (truth.round_id, "t1", truth.game)
    assert _hands(record) == _hands(truth)
    for seat, wanted in zip(record.seats, truth.seats, strict=True):
        assert {w.wager for w in seat.wagers} == {w.wager for w in wanted.wagers}
        for wager in seat.wagers:
            right = wanted.wager(wager.wager)
            assert right is not None
            assert (wager.action, wager.stake_chips) == (right.action, right.stake_chips)
            # What is not sure may be left undecided, but never be told wrongly.
            assert wager.stake_cents in (right.stake_cents, None)
            assert wager.paid_cents in (right.paid_cents, None)
    counted = [w.stake_cents for s in record.seats for w in s.wagers]
    assert sum(v is not None for v in counted) >= 0.5 * len(counted)
    assert {d.what.split(".")[-1] for d in record.undecided} <= {"stake", "paid"}
    assert float(truth.start_s or 0) <= float(record.start_s or 0) < float(truth.start_s or 0) + 3
    assert float(record.end_s or 0) >= float(truth.end_s or 0)
    _check_pictures(told, truth)


@pytest.mark.parametrize(
    ("until_s", "beside_s", "glimpsed"),
    [(3.4, 4.6, True), (3.4, 3.2, True), (3.2, 4.6, False), (3.8, 4.6, False)],
)
def test_a_card_turned_over_for_less_than_a_rest_is_glimpsed(
    film: Film, world: World, until_s: float, beside_s: float, *, glimpsed: bool
) -> None:
    """A card on top of a hand that lies face down is turned up at 3.0 s and down again.

    Chips come to lie beside the hand at `beside_s`.
    """
    seat = TABLE.seats[0]
    (a, b), (u, v) = seat.low.center_mm, seat.high.center_mm
    down = [
        CardItem(label, label, at, 0.0, face_up=False)
        for label, at in (("9C", (a, b)), ("KC", (u - 40, v)), ("6D", (u, v)), ("TH", (u + 16, v)))
    ]
    up = replace(down[-1], face_up=True)
    stake = StackItem("stake", seat.spots["main"].center_mm, ("red",))
    beside = StackItem("beside", seat.spots["emperors_treasure"].center_mm, ("red",) * 5)
    changes = (
        Change(0.4, (stake,)),
        Change(1.0, tuple(down)),
        Change(3.0, (up,), (up.key,)),
        Change(beside_s, (beside,)),
        Change(until_s, (down[-1],), (up.key,)),
        Change(4.8, remove=(stake.key, beside.key, *(card.key for card in down))),
    )
    plan = ShiftPlan(5.0, tuple(sorted(changes, key=lambda one: one.t_s)), (), ())
    own = watcher(world)
    state, left = FeltState(), list(plan.changes)
    for k, (t, planes) in enumerate(film.frames(plan, FPS)):
        # The frame before is read once the hand moves again.
        world.items = dict(state.items)
        while left and left[0].t_s <= t:
            state.apply(left.pop(0))
        own.feed(frame(planes, k))
    assert own.tracker.round is not None
    track = own.tracker.round.tracks[seat.seat]
    cards = [[c.label for c in join_cards(e.readings[0].indices)] for e in track.glimpses]
    assert cards == ([["TH"]] if glimpsed else [])
    if glimpsed:
        (brief,) = track.glimpses
        assert brief.start_s == pytest.approx(3.2)
        assert brief.readings[0].backs
        assert brief.picture
        assert not brief.readings[0].stacks


def _hands(record: RoundRecord) -> list[tuple[object, ...]]:
    """Hands and lammers, whatever side they were spread from."""
    parts: list[tuple[Any, Any, Any]] = [
        (None, record.dealer, ()),
        *((s.seat, s, s.lammers) for s in record.seats),
    ]
    return [
        (seat, sorted(own.low or ()), sorted(own.high or ()), sorted(lammers))
        for seat, own, lammers in parts
    ]


def _check_pictures(told: ObservedRound, truth: RoundRecord) -> None:
    """Each seat's deciding views show, and name, what the record says."""
    kinds = {(p.seat, p.what) for p in told.pictures}
    assert kinds >= {
        (None, "cards"),
        *((s.seat, w) for s in truth.seats for w in ("bets", "cards")),
    }
    hands: dict[int | None, Any] = {None: truth.dealer, **{s.seat: s for s in truth.seats}}
    for picture in told.pictures:
        assert picture.image.shape == (World.size, World.size, 3)
        assert 1.0 < float(picture.at_s) < float(told.record.end_s or 0)
        for seen in picture.seen:
            x0, y0, x1, y1 = seen.xyxy
            assert -1 <= x0 < x1 <= World.size + 1
            assert -1 <= y0 < y1 <= World.size + 1
            assert 0 < seen.score <= 1
        labels = [s.label for s in picture.seen]
        if picture.what == "cards":
            own = hands[picture.seat]
            assert own.low is not None
            assert own.high is not None
            assert set(labels) >= {*own.low, *own.high}
        if picture.what == "bets":
            assert any(label.startswith("chip_") for label in labels)


@pytest.mark.parametrize("in_doubt", [False, True])
def test_a_view_at_rest_is_read_a_few_times_only(
    in_doubt: bool, empty: Planes, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    find = world.find

    def counted(views: list[np.ndarray]) -> object:
        asked.append(len(views))
        return find(views)

    monkeypatch.setattr(world, "find", counted)
    if in_doubt:
        monkeypatch.setattr(RestDoubt, "remains", lambda *_, **__: True)
    own = watcher(world)
    for k in range(12):
        assert own.feed(frame(empty, k)) == []
    # An empty felt is read once.
    assert asked == [1 + len(TABLE.seats)] * (READS_PER_REST if in_doubt else 1)
    readings = {len(rest.readings) for rest in own.tracker.latest.values()}
    assert readings == {READS_PER_REST}
    assert own.finish() == []


@pytest.mark.parametrize("in_doubt", [False, True])
def test_a_shaken_image_is_read_again_only_where_the_rest_is_in_doubt(
    in_doubt: bool, empty: Planes, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    if in_doubt:
        monkeypatch.setattr(RestDoubt, "is_settled", lambda *_: False)
    own = watcher(world)
    still = empty.copy()
    for low in (TABLE.dealer.low, *(seat.low for seat in TABLE.seats)):
        sheet = own.calibration.felt_to_image(low.array).round().astype(np.int32)
        cv2.fillConvexPoly(still[:1080], sheet, 235)
    for k in range(6):
        own.feed(frame(still, k))
    rests = dict(own.tracker.latest)
    shaken = still.copy()
    # By three quarters of a pixel.
    luma = still[:1080].astype(np.uint16)
    shaken[:1080] = (luma + 3 * np.roll(luma, 1, axis=1)) // 4
    after = watcher(world)
    after.restore(own.snapshot())
    for k in range(6, 12):
        for each in (own, after):
            each.feed(frame(shaken, k))
    again = {seat for seat, rest in own.tracker.latest.items() if rest is not rests[seat]}
    assert again == (set(rests) if in_doubt else set())
    seen = [{s: e.start_s for s, e in w.tracker.latest.items()} for w in (own, after)]
    assert seen[0] == seen[1]


def test_what_came_to_a_spot_in_motion_is_dated(empty: Planes, world: World) -> None:
    """Also by a watcher that goes on from a snapshot made while the seat was in motion."""
    own = watcher(world)
    seat = TABLE.seats[0]

    def over(planes: Planes, at_mm: tuple[float, float], level: int) -> Planes:
        out = planes.copy()
        square = np.array(at_mm) + 18.0 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
        sheet = own.calibration.felt_to_image(square).round().astype(np.int32)
        cv2.fillConvexPoly(out[:1080], sheet, level)
        return out

    stake = over(empty, seat.spots["main"].center_mm, 220)
    hands = [over(empty, seat.high.center_mm, 20 + 60 * k) for k in range(4)]
    seen = [*[empty] * 5, *hands, *[stake] * 6]
    after = watcher(world)
    for k, planes in enumerate(seen):
        if k == 7:
            after.restore(own.snapshot())
        for each in (own, after) if k >= 7 else (own,):
            each.feed(frame(planes, k))
    for each in (own, after):
        rest = each.tracker.latest[seat.seat]
        assert rest.lay_until == {"main": pytest.approx(8 / FPS)}
        assert each.tracker.latest[TABLE.seats[1].seat].lay_until == {}


def test_it_is_counted_how_much_of_the_time_was_seen(empty: Planes, world: World) -> None:
    own = watcher(world)
    for k in range(6):
        own.feed(frame(empty, k))
    assert own.coverage.hidden_s == {}
    light = empty.copy()
    light[:1080] = 255 - light[:1080]
    own.feed(frame(light, 6))
    # Something moved over every place; then no frame comes for four seconds.
    assert set(own.coverage.hidden_s) == {"dealer", *(str(seat.seat) for seat in TABLE.seats)}
    own.feed(frame(light, 6 + 4 * FPS))
    own.feed(frame(light, 7 + 4 * FPS))
    assert own.coverage.seen_s == pytest.approx(7 / FPS)
    assert own.coverage.skipped_s == pytest.approx(4.0)
    assert all(hidden == pytest.approx(1 / FPS) for hidden in own.coverage.hidden_s.values())


def test_the_end_of_the_stream_tells_what_was_being_settled(empty: Planes, world: World) -> None:
    own = watcher(world)
    own.feed(frame(empty, 50))
    seat = TABLE.seats[0]
    green = {"main": ["green"]}
    cards = hand(seat, *HANDS[1])
    for place, shown in (
        (seat.seat, reading(stakes=green)),
        (None, reading(cards=hand(TABLE.dealer, *DEALER))),
        (seat.seat, reading(stakes=green, cards=cards)),
    ):
        for k in range(3):
            ended = own.tracker.take(place, shown, PICTURE, fresh=k == 0, since_s=1.0)
            assert ended is None
    (told,) = own.finish()
    assert told.record.end_s == "10.000"
    assert {(d.seat, d.what) for d in told.record.undecided} == {
        (None, "end"), (seat.seat, "main.action"), (seat.seat, "envy.action"),
    }  # fmt: skip
    assert told.record.seats[0].low == tuple(HANDS[1][0].split())
    assert own.finish() == []


def test_a_round_that_ends_before_a_hand_is_compared_is_said_to_be_cut_off(
    empty: Planes, world: World
) -> None:
    own = watcher(world)
    own.feed(frame(empty, 50))
    seat = TABLE.seats[0]
    for place, shown in (
        (seat.seat, reading(stakes={"main": ["green"]}, backs=1)),
        (None, reading(cards=hand(TABLE.dealer, *DEALER))),
    ):
        for k in range(3):
            own.tracker.take(place, shown, PICTURE, fresh=k == 0, since_s=1.0)
    (told,) = own.finish()
    (one,) = told.record.seats
    assert [(w.wager, w.stake_cents, w.action) for w in one.wagers] == [("main", 2500, None)]
    assert {(None, "end"), (None, "hand"), (seat.seat, "main.action")} <= {
        (d.seat, d.what) for d in told.record.undecided
    }
    assert "ended_unseen" in {line.name for line in told.timeline if isinstance(line, EventLine)}


def moved(planes: Planes) -> Planes:
    """The same table after somebody knocked the camera."""
    out = planes.copy()
    out[:1080] = np.roll(out[:1080], 60, axis=1)
    return out


def noise(planes: Planes) -> Planes:
    out = np.full_like(planes, 128)
    out[:1080] = np.random.default_rng(1).integers(60, 120, (1080, 1920))
    return out


@pytest.mark.parametrize("spoil", [moved, noise])
def test_another_felt_is_refused_after_some_frames(
    empty: Planes, world: World, spoil: Callable[[Planes], Planes]
) -> None:
    other = spoil(empty)
    own = watcher(world)
    for k in range(FELT_CHECKS - 1):
        own.feed(frame(other, k))
    with pytest.raises(
        NotThisTableError, match="film: the video does not show the felt of table 't1'"
    ):
        own.feed(frame(other, FELT_CHECKS))


def test_another_felt_is_refused_at_the_end_of_a_short_stream(empty: Planes, world: World) -> None:
    own = watcher(world)
    own.feed(frame(noise(empty), 0))
    with pytest.raises(NotThisTableError, match="or the camera was moved"):
        own.finish()


def test_one_frame_of_the_table_is_enough(empty: Planes, world: World) -> None:
    own = watcher(world)
    for k, planes in enumerate([noise(empty)] * (FELT_CHECKS - 1) + [empty] + [noise(empty)] * 3):
        own.feed(frame(planes, k))
    assert own.finish() == []


def test_a_stream_without_a_frame_is_no_error(world: World) -> None:
    assert watcher(world).finish() == []


def test_a_table_without_a_camera_is_refused(world: World) -> None:
    with pytest.raises(FeltwatchError, match="table 't1' has no \\[camera\\] in its table file"):
        TableWatcher(BARE, world.networks)


def test_a_folder_without_models_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        ModelError, match=f"^{tmp_path / 'model-card.json'}: the model card is missing"
    ):
        load_networks(tmp_path)


@pytest.mark.parametrize(
    ("card", "says"),
    [
        ("{", "model-card.json: not a model card"),
        ('{"models": {}}', "model-card.json: not a model card"),
        (
            '{"models": {"detector": {"file": "d.onnx", "sha256": "0"}}}',
            "d.onnx: the model is missing",
        ),
        (
            '{"models": {"detector": {"file": "w.onnx", "sha256": "0"}}}',
            "w.onnx: not the file of the model card",
        ),
    ],
)
def test_a_broken_folder_of_models_is_named(tmp_path: Path, card: str, says: str) -> None:
    (tmp_path / "model-card.json").write_text(card)
    (tmp_path / "w.onnx").write_bytes(b"weights")
    with pytest.raises(ModelError, match=says):
        load_networks(tmp_path)


@pytest.mark.parametrize("seldom_s", [0.0, 5.0])
def test_a_round_seen_too_seldom_names_no_motion(
    empty: Planes, world: World, monkeypatch: pytest.MonkeyPatch, seldom_s: float
) -> None:
    own = watcher(world)
    own.feed(frame(empty, 0))
    own.tracker.round = Round(0.0, own.tracker._tracks())
    # Frames 0.8 s apart are no gap, but too far apart to tell one motion from two.
    own.feed(frame(empty, int(0.8 * FPS)))
    assert own.tracker.round.seldom_s == pytest.approx(0.8)
    seen = Changes({1: ()}, ())
    used: list[Changes] = []
    compiled = compile_owned

    def spy(*given: Any, **named: Any) -> Any:
        used.append(named["changes"])
        return compiled(*given, **named)

    monkeypatch.setattr(watcher_module, "find_changes", lambda *_: seen)
    monkeypatch.setattr(watcher_module, "compile_owned", spy)
    played = Round(0.0, own.tracker._tracks(), seldom_s=seldom_s)
    own._observed(played, 10.0, cut_short=False)
    assert used == [Changes({}, ()) if seldom_s else seen]


def test_a_table_with_samples_of_its_deck_is_read_with_them() -> None:
    networks = load_networks(default_weights())
    assert TableWatcher(TABLE, networks, "film").networks.reader is networks.reader
    tones = np.arange(1, 54, dtype=np.uint8).repeat(64 * 64 * 3).reshape(-1, 64, 64, 3)
    own = TABLE.model_copy(update=DeckSamples(tones).as_table_data())
    watcher = TableWatcher(own, networks, "film")
    assert isinstance(watcher.networks.reader, DeckReader)
    assert watcher.networks.detector is networks.detector
