"""A view's reading joined with what a further camera read there."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from datasets.render.camera import shoulder_camera, synthetic_camera, table_camera
from tests.vision.rounds.readings import PICTURE, TABLE, reading, seat_cards, stack
from vision.chips.reading import ReadStack
from vision.chips.states import place_sum
from vision.geometry.table import FurtherCamera, Point, SeatPlace, TableFile
from vision.rounds.cameras.further_camera import Beside
from vision.rounds.cameras.joining import join_reading, join_round
from vision.rounds.payouts import NOTHING, done, hides_more, hides_payout, stands
from vision.rounds.round_state import Episode, Round, Shot, ViewTrack
from vision.rounds.view_reader import ViewReading

SEAT = TABLE.seats[0]
MAIN = SEAT.spots["main"].center_mm


def at(place: Point, colours: str, right: float = 0.0, down: float = 0.0) -> ReadStack:
    """A stack so far (mm) from a place, as the seat's own frame goes."""
    local = SEAT.place.to_local(np.array([place])) + np.array([[right, down]])
    x, y = SEAT.place.to_felt(local)[0]
    return replace(stack(colours), center_mm=(float(x), float(y)))


def staked(*stacks: ReadStack) -> ViewReading:
    return reading(1.0, stakes={"main": stacks})


def test_a_stack_that_both_read_has_both_posteriors() -> None:
    own, other = at(MAIN, "red red"), at(MAIN, "red red red", 4.0, 3.0)
    joined = join_reading(staked(own), [other], SEAT, "low")
    (both,) = joined.stakes["main"]
    assert both.also == (("low", other.posterior),)
    assert (both.center_mm, both.colours, both.camera) == (own.center_mm, own.colours, "")
    assert joined.beside == ("low",)
    assert place_sum([joined.stakes["main"]]).cameras == ("low",)


def test_a_stack_that_a_further_camera_finds_elsewhere_is_read_by_it_alone() -> None:
    own = replace(at(MAIN, "red"), below=4)
    found = replace(at(MAIN, "red red red", 25.0), first_mm=own.center_mm)
    joined = join_reading(staked(own), [found], SEAT, "low")
    (one,) = joined.stakes["main"]
    assert (one.center_mm, one.colours, one.camera) == (own.center_mm, found.colours, "low")
    assert place_sum([joined.stakes["main"]]).sums[0] == (1500, pytest.approx(0.995, abs=0.01))


def test_what_a_camera_does_not_read_stays_as_it_was() -> None:
    own = at(MAIN, "red red")
    joined = join_reading(staked(own), [], SEAT, "low")
    assert joined.stakes == {"main": (own,)}
    assert joined.beside == ("low",)


@pytest.mark.parametrize(
    ("off", "where"), [((-43.0, 0.0), "pays"), ((0.0, 105.0), "strays"), ((25.0, 0.0), None)]
)
def test_a_stack_that_the_first_camera_did_not_read(off: Point, where: str | None) -> None:
    own, hidden = at(MAIN, "red red"), at(MAIN, "green", *off)
    joined = join_reading(staked(own), [at(MAIN, "red red"), hidden], SEAT, "low")
    more = replace(hidden, camera="low")
    assert joined.pays == ({"main": (more,)} if where == "pays" else {})
    assert joined.strays == ((more,) if where == "strays" else ())
    assert len(joined.stakes["main"]) == 1
    if where == "pays":
        paid = place_sum([joined.pays["main"]])
        assert (paid.cents, paid.cameras) == (2500, ("low",))


class LowCamera:
    """A further camera that shows rest at two moments alone."""

    name = "low"

    def __init__(self) -> None:
        self.asked: list[float] = []

    def beside(self, seat: SeatPlace, reading: ViewReading, at_s: float) -> Beside | None:
        self.asked.append(at_s)
        if at_s not in (1.2, 3.6):
            return None
        shown = np.full((8, 8, 3), round(reading.at_s * 10), np.uint8), np.zeros((1, 4))
        return Beside(tuple(reading.stacks), lambda: shown)


def test_a_rest_is_shown_at_the_moment_nearest_to_the_one_that_decided() -> None:
    staked = [reading(t, stakes={"main": ["red red"]}) for t in (1.0, 1.2, 1.4)]
    settled = [reading(t, stakes={"main": ["red red"]}) for t in (3.0, 3.2, 3.4)]
    later = [reading(t, stakes={"main": ["red red"]}) for t in (3.6, 3.8)]
    track = ViewTrack(
        [Episode(own[0].at_s, own) for own in (staked, settled, later)],
        {"bets": Shot(PICTURE, staked[2]), "settled": Shot(PICTURE, settled[0])},
    )
    own = Round(1.0, {1: track})
    joined = join_round(own, TABLE, [LowCamera()])
    # The last rest was read too, but it is not the one that is told as settled.
    (picture,) = joined.pictures
    assert (picture.seat, picture.what, picture.at_s, picture.camera) == (1, "bets", "1.200", "low")
    assert picture.image[0, 0, 0] == 12


class BusyCamera(LowCamera):
    """One before which somebody stands until 3.5 s."""

    def beside(self, seat: SeatPlace, reading: ViewReading, at_s: float) -> Beside | None:
        self.asked.append(at_s)
        shown = np.zeros((8, 8, 3), np.uint8), np.zeros((1, 4))
        return Beside(tuple(reading.stacks), lambda: shown) if at_s > 3.5 else None


@pytest.mark.parametrize(
    ("until_s", "asked", "beside"),
    [(6.0, [1.0, 2.0, 4.0], ("low",)), (3.9, [1.0, 2.0], ()), (1.5, [1.0], ())],
)
def test_a_camera_that_shows_no_rest_is_asked_again_while_the_first_shows_the_same(
    until_s: float, asked: list[float], beside: tuple[str, ...]
) -> None:
    staked = reading(1.0, stakes={"main": ["red red"]})
    rest = Episode(1.0, [staked, staked], until_s=until_s)
    camera = BusyCamera()
    joined = join_round(Round(1.0, {1: ViewTrack([rest], {})}), TABLE, [camera])
    assert camera.asked == asked
    assert {one.beside for one in joined.round.tracks[1].episodes[0].readings} == {beside}


class SeesBehind(LowCamera):
    """One that sees where a payout comes at a moment: its image is another from then on."""

    def __init__(self, comes_s: float, first_s: float = 0.0) -> None:
        super().__init__()
        self.comes_s, self.first_s = comes_s, first_s

    def beside(self, seat: SeatPlace, reading: ViewReading, at_s: float) -> Beside | None:
        if at_s < self.first_s:
            return None
        level = 200 if at_s >= self.comes_s else 90
        # A change of the light over all of it does not count.
        image = np.full((640, 640, 3), 90, np.uint8)
        image[300:330, 300:330] = level
        boxes = ((-6.0, -6.0, 6.0, 6.0),)
        base = reading.stacks[0].center_mm
        return Beside(tuple(reading.stacks), lambda: (image, np.zeros((1, 4))), {base: boxes})


@pytest.mark.parametrize(
    ("camera", "bare"),
    [
        (SeesBehind(99.0), {"main"}),
        (SeesBehind(5.5), set()),
        # It must have seen the place before the hand was turned up, when nothing could be paid.
        (SeesBehind(99.0, first_s=3.5), set()),
    ],
)
def test_nothing_came_where_a_further_camera_sees_what_it_saw_before_the_hand_was_shown(
    camera: SeesBehind, bare: set[str]
) -> None:
    tall = {"main": [" ".join(["red"] * 14)]}
    staked = [reading(t, stakes=tall) for t in (1.0, 1.2)]
    shown = [reading(t, cards=seat_cards(1), stakes=tall) for t in (4.0, 4.2)]
    last = [reading(t, stakes=tall) for t in (6.0, 6.2)]
    rests = [Episode(own[0].at_s, own, until_s=own[-1].at_s) for own in (staked, shown, last)]
    joined = join_round(Round(1.0, {1: ViewTrack(rests, {})}), TABLE, [camera])
    assert joined.round.tracks[1].episodes[-1].readings[-1].bare == bare


def two_cameras() -> TableFile:
    first = synthetic_camera(TABLE.felt, height_mm=2800, tilt_deg=40)
    low = shoulder_camera(TABLE, np.random.default_rng(2), 3840, 2160)
    further = FurtherCamera(name="low", **dict(table_camera(low, TABLE)))
    return TABLE.model_copy(update={"camera": table_camera(first, TABLE), "cameras": (further,)})


def test_that_a_further_camera_finds_no_payout_behind_a_tall_stake_says_nothing() -> None:
    hides = hides_payout(two_cameras())
    assert hides is not None
    hidden = partial(hides, SEAT.seat, ())
    tall = at(MAIN, " ".join(["red"] * 14))
    alone = staked(tall)
    for seen in (alone, join_reading(alone, [tall], SEAT, "low")):
        assert hidden("main", Episode(0.0, [seen]))
        doubts: list[str] = []
        rest = Episode(0.0, [seen])
        result = done("main", rest, [], lambda what, _: doubts.append(what), hidden)  # noqa: B023
        assert (result[0], doubts) == (None, ["main.action"])
        assert stands("main", rest)
    # It must have seen that nothing came there.
    bare = join_reading(alone, [tall], SEAT, "low", {tall.center_mm})
    assert done("main", Episode(0.0, [bare]), [], lambda *_: None, hidden) == ("left", NOTHING)
    seen = join_reading(alone, [tall], SEAT, "low", {(0.0, 0.0)})
    assert hidden("main", Episode(0.0, [bare, seen]))
    # A low stake hides nothing.
    low = Episode(0.0, [staked(at(MAIN, "red red"))])
    assert done("main", low, [], lambda *_: None, hidden) == ("left", NOTHING)


def test_more_of_a_payout_may_lie_behind_a_tall_stake() -> None:
    tall, low = at(MAIN, " ".join(["red"] * 14)), at(MAIN, "red red")
    hides = hides_payout(two_cameras())
    assert hides is not None
    for stake, may in ((tall, True), (low, None)):
        rest = Episode(0.0, [staked(stake)])
        assert hides_more("main", rest, "paid", partial(hides, SEAT.seat, ())) is may
    assert hides_more("main", Episode(0.0, [staked(tall)]), "paid", None) is None
