from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from datasets.render.camera import synthetic_camera, table_camera
from settlement.rules import TableRules
from vision.chips.network_input.side_strip import ChipSize
from vision.chips.reading import ReadStack
from vision.chips.side_palette import Palette
from vision.chips.side_posterior import Posterior, Sum
from vision.detect.detections import Detections
from vision.geometry.calibration import VIEW_PX, Calibration
from vision.geometry.standard_layout import (
    FELT,
    HIGH_BOX_MM,
    LAMMER_OFFSET_MM,
    PAY_OFFSETS_MM,
    SENSORS_MM,
    SPOTS_MM,
    box,
    standard_table,
)
from vision.geometry.table import VIEW_MM, Point
from vision.rounds import view_reader
from vision.rounds.view_reader import (
    MIN_CHIP_SCORE,
    MIN_LAMMER_SCORE,
    assign,
    cards_of_place,
    cards_within,
    dealers_rows,
    read_view,
)

TABLE = standard_table(TableRules(game="emperors_challenge_exposed"))
SEAT = TABLE.seat(5)
SPOTS = {name: np.array(at) for name, at in SPOTS_MM.items()}
NAMES = ("index", "joker", "back", "chip", "lammer_envy", "lammer_dealer")


def stack(at: Point, cents: int = 500) -> ReadStack:
    """A stack at (u, v) of the seat."""
    x, y = SEAT.place.to_felt(np.array([at]))[0]
    box = (at[0] - 20, at[1] - 22, at[0] + 20, at[1] + 20)
    own = Posterior((Sum(cents, (0,), 0.99),), 0.0, 24)
    return ReadStack((float(x), float(y)), ("red",), box, own)


def beside(name: str, *, place: int = 0) -> Point:
    """Where the pay of a wager is laid."""
    spot = SPOTS_MM["emperors_treasure" if name == "envy" else name]
    off = PAY_OFFSETS_MM[name][place]
    return (spot[0] + off[0], spot[1] + off[1])


ENVY = (SPOTS_MM["emperors_treasure"][0] + LAMMER_OFFSET_MM[0],
        SPOTS_MM["emperors_treasure"][1] + LAMMER_OFFSET_MM[1])  # fmt: skip


def owners(assigned: dict[str, tuple[ReadStack, ...]]) -> dict[str, list[int]]:
    return {name: [s.value_cents for s in stacks] for name, stacks in assigned.items()}


@pytest.mark.parametrize(
    ("places", "envy", "stakes", "pays"),
    [
        pytest.param([], [], {}, {}, id="nothing"),
        pytest.param(
            list(SPOTS_MM.values()), [],
            {"pai_gow_insurance": [1], "ace_high_pai_gow_insurance": [2],
             "emperors_treasure": [3], "main": [4]},
            {}, id="stakes on every spot",
        ),
        pytest.param([(14.0, -28.0)], [], {"main": [1]}, {}, id="a stake laid crookedly"),
        pytest.param(
            [SPOTS_MM["main"], beside("main")], [], {"main": [1]}, {"main": [2]}, id="a pay",
        ),
        pytest.param(
            [SPOTS_MM["main"], beside("main"), beside("main", place=1)], [],
            {"main": [1]}, {"main": [2, 3]}, id="a pay of two stacks",
        ),
        pytest.param(
            [beside("pai_gow_insurance", place=1), beside("pai_gow_insurance")], [],
            {}, {"pai_gow_insurance": [2, 1]}, id="the stake was drawn in, the pays still lie",
        ),
        pytest.param(
            [SPOTS_MM["emperors_treasure"], beside("emperors_treasure"), beside("envy")], [ENVY],
            {"emperors_treasure": [1]}, {"emperors_treasure": [2], "envy": [3]},
            id="a treasure paid and an envy prize beyond its lammer",
        ),
        pytest.param([beside("envy")], [], {}, {}, id="an envy prize needs its lammer"),
        pytest.param([beside("envy")], [ENVY], {}, {"envy": [1]}, id="an envy prize alone"),
        pytest.param(
            [beside("envy"), (beside("envy")[0] - 41, beside("envy")[1])], [ENVY],
            {}, {"envy": [1, 2]}, id="an envy prize of two stacks",
        ),
        pytest.param([(-150.0, 60.0)], [ENVY], {}, {}, id="a stack that touches nothing"),
        pytest.param(
            [SPOTS_MM["main"], (150.0, 90.0), (0.0, 5.0)], [], {"main": [1]}, {"main": [3]},
            id="a stray one is left out, one below the main wager is its pay",
        ),
    ],
)  # fmt: skip
def test_stacks_belong_to_wagers(
    places: Sequence[Point], envy: Sequence[Point],
    stakes: dict[str, list[int]], pays: dict[str, list[int]],
) -> None:  # fmt: skip
    stacks = [stack(at, k) for k, at in enumerate(places, start=1)]
    lammers = {"envy": [np.array(at) for at in envy]} if envy else {}
    assigned = assign(stacks, SEAT.place, SPOTS, lammers)
    assert (owners(assigned[0]), owners(assigned[1])) == (stakes, pays)


WITH_SENSORS = {
    name: np.array(at) for name, at in {**SPOTS_MM, **SENSORS_MM}.items()
}  # fmt: skip


@pytest.mark.parametrize("sensor", SENSORS_MM)
def test_a_coin_on_a_sensor_is_its_stake(sensor: str) -> None:
    stakes, pays = assign([stack(SENSORS_MM[sensor], 1)], SEAT.place, WITH_SENSORS, {})
    assert (owners(stakes), pays) == ({sensor: [1]}, {})


@pytest.mark.parametrize("wager", SPOTS_MM)
def test_a_pay_beside_a_sensor_is_its_neighbours(wager: str) -> None:
    places = [SPOTS_MM[wager], beside(wager)]
    stacks = [stack(at, k) for k, at in enumerate(places, start=1)]
    stakes, pays = assign(stacks, SEAT.place, WITH_SENSORS, {})
    assert (owners(stakes), owners(pays)) == ({wager: [1]}, {wager: [2]})


@pytest.mark.parametrize("sensor", SENSORS_MM)
def test_a_pay_that_touches_a_coin_is_no_pay_of_the_coins(sensor: str) -> None:
    (x, y), main = SENSORS_MM[sensor], SPOTS_MM["main"]
    # Beyond what lies beside a spot, nearer to the coin than to any stake.
    away = max(
        ((x + 50 * np.cos(turn), y + 50 * np.sin(turn)) for turn in np.linspace(0, 6.2, 60)),
        key=lambda at: min(
            float(np.hypot(*(np.array(at) - c))) for c in map(np.array, SPOTS_MM.values())
        ),
    )
    stacks = [stack(at, k) for k, at in enumerate([main, SENSORS_MM[sensor], away], start=1)]
    stakes, pays = assign(stacks, SEAT.place, WITH_SENSORS, {})
    assert owners(stakes) == {"main": [1], sensor: [2]}
    assert sensor not in pays


def test_a_seat_without_spots_owns_nothing() -> None:
    assert assign([stack((0.0, 0.0))], SEAT.place, {}, {}) == ({}, {})


# --- read_view ---


class Silent:
    """A reader that must not be asked."""

    def read(self, crops: Any) -> Any:
        raise AssertionError("asked")


def found(*boxes: tuple[str, float, Point]) -> Detections:
    """Boxes 40 mm wide by kind, score and middle (u, v)."""
    k = VIEW_PX / VIEW_MM
    middles = np.array([at for _, _, at in boxes], float).reshape(-1, 2)
    lo, hi = (middles - 20 + VIEW_MM / 2) * k, (middles + 20 + VIEW_MM / 2) * k
    return Detections(
        np.hstack([lo, hi]).astype(np.float32),
        np.array([s for _, s, _ in boxes], np.float32),
        np.array([NAMES.index(n) for n, _, _ in boxes], np.int64), NAMES,
    )  # fmt: skip


@pytest.fixture
def view(monkeypatch: pytest.MonkeyPatch) -> Any:
    """read_view with a stack reader that takes every box for a red chip."""
    camera = synthetic_camera(FELT, width_px=640, height_px=360)
    calibration = Calibration.fit(table_camera(camera, TABLE))
    frame = np.zeros((360, 640, 3), np.uint8)

    def read_stacks(*args: Any) -> list[ReadStack]:
        return [stack(((b[0] + b[2]) / 2, (b[1] + b[3]) / 2)) for b in args[5]]

    monkeypatch.setattr(view_reader, "read_stacks", read_stacks)

    def read(own: Detections, spots: Any = SEAT.spots) -> view_reader.ViewReading:
        return read_view(
            frame,
            calibration,
            SEAT.place,
            spots,
            Palette.of(TABLE.chips),
            ChipSize(),
            own,
            VIEW_PX,
            Silent(),
            Silent(),  # type: ignore[arg-type]
            3.5,
            lammer_wagers={"envy": "emperors_treasure", "dealer": "pai_gow_insurance"},
        )

    return read


def test_a_view_gives_stakes_backs_and_lammers(view: Any) -> None:
    own = found(
        ("chip", 0.9, SPOTS_MM["main"]), ("chip", 0.9, beside("main")),
        ("lammer_envy", 0.8, ENVY), ("back", 0.7, (0.0, 40.0)), ("back", 0.7, (10.0, 40.0)),
    )  # fmt: skip
    reading = view(own)
    assert reading.at_s == 3.5
    assert set(reading.stakes) == set(reading.pays) == {"main"}
    assert reading.lammers == {"envy"}
    assert reading.backs == 2
    assert reading.indices == ()
    assert reading.found is own


@pytest.mark.parametrize("step", [-0.01, 0.01])
def test_faint_chips_and_lammers_are_left_out(view: Any, step: float) -> None:
    reading = view(
        found(
            ("chip", MIN_CHIP_SCORE + step, SPOTS_MM["main"]),
            ("lammer_dealer", MIN_LAMMER_SCORE + step, (-98.0, -71.0)),
        )
    )
    assert set(reading.stakes) == ({"main"} if step > 0 else set())
    assert reading.lammers == ({"dealer"} if step > 0 else frozenset())


@pytest.mark.parametrize(
    ("score", "at", "unread"),
    [
        (0.4, (SPOTS_MM["main"][0], SPOTS_MM["main"][1] + 55), {"main"}),
        (0.2, (SPOTS_MM["main"][0], SPOTS_MM["main"][1] + 55), set()),
        # It is the stack beside it, found a second time.
        (0.4, (beside("main")[0] + 4, beside("main")[1] + 4), set()),
    ],
)
def test_a_faint_stack_leaves_its_wager_in_doubt(
    view: Any, score: float, at: Point, unread: set[str]
) -> None:
    reading = view(
        found(("chip", 0.9, SPOTS_MM["main"]), ("chip", 0.9, beside("main")), ("chip", score, at))
    )
    assert reading.unread == unread
    assert (owners(reading.stakes), owners(reading.pays)) == ({"main": [500]}, {"main": [500]})


def test_a_lammer_far_from_every_spot_is_no_lammer_of_the_seat(view: Any) -> None:
    assert view(found(("lammer_envy", 0.9, (150.0, 150.0)))).lammers == frozenset()


@pytest.mark.parametrize(
    ("kind", "wager", "own"),
    [
        ("envy", "emperors_treasure", True),
        ("envy", "pai_gow_insurance", False),
        ("dealer", "pai_gow_insurance", True),
        ("dealer", "main", False),
    ],
)
def test_a_lammer_by_another_wager_is_not_in_its_place(
    view: Any, kind: str, wager: str, own: bool
) -> None:
    reading = view(found((f"lammer_{kind}", 0.9, beside(wager))))
    assert reading.lammers == ({kind} if own else frozenset())


def test_the_dealers_view_has_no_stacks_nor_lammers(view: Any) -> None:
    own = found(("chip", 0.9, (0.0, 0.0)), ("lammer_envy", 0.9, ENVY), ("back", 0.9, (0.0, 0.0)))
    reading = view(own, {})
    assert (reading.stakes, reading.pays, reading.lammers) == ({}, {}, frozenset())
    assert reading.backs == 1


def test_print_far_from_the_dealers_boxes_is_no_card() -> None:
    rows = dealers_rows(TABLE.dealer)
    to_px = VIEW_PX / VIEW_MM
    # A card in the low hand's box, the felt's name below it, the tray above with chips.
    middles = {
        "index": (60.0, 160.0, 175.0),
        "back": (-60.0,),
        "joker": (-195.0,),
        "chip": (-190.0,),
    }
    found = [(NAMES.index(name), v) for name, own in middles.items() for v in own]
    y = np.array([(v + VIEW_MM / 2) * to_px for _, v in found])
    boxes = np.stack([0 * y + 300, y - 9, 0 * y + 320, y + 9], axis=1)
    classes = np.array([k for k, _ in found])
    kept = cards_within(
        Detections(boxes, np.ones(len(y), np.float32), classes, NAMES), rows, VIEW_PX
    )
    assert [kept.name(k) for k in range(len(kept))] == ["index", "back", "chip"]
    assert kept.xyxy[0, 1] == pytest.approx(y[0] - 9)
    assert len(cards_within(Detections.empty(NAMES), rows, VIEW_PX)) == 0


def test_cards_in_the_boxes_of_another_place_are_none_of_this_one() -> None:
    near = SEAT.place.model_copy(
        update={"center_mm": tuple(SEAT.place.to_felt(np.array([[230.0, 0.0]]))[0].tolist())}
    )
    own, others = box(SEAT.place, HIGH_BOX_MM), box(near, HIGH_BOX_MM)
    # In the own box, in none, and in the neighbour's.
    middles = [(0.0, 130.0), (100.0, 130.0), (170.0, 130.0)]
    for name, left in (("index", 2), ("joker", 2), ("back", 2), ("chip", 3)):
        things = found(*((name, 0.9, at) for at in middles))
        assert len(cards_of_place(things, SEAT.place, [own], [others], VIEW_PX)) == left
    # A box that both have is the own one.
    assert len(cards_of_place(things, SEAT.place, [own], [own], VIEW_PX)) == 3
    none = Detections.empty(NAMES)
    assert len(cards_of_place(none, SEAT.place, [own], [others], VIEW_PX)) == 0
