import itertools
import re
import tomllib
from pathlib import Path

import cv2
import numpy as np
import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from datasets.render.camera import synthetic_camera, table_camera
from settlement.errors import FeltwatchError
from settlement.rules import TableRules
from vision.geometry.standard_layout import (
    LAMMER_OFFSET_MM,
    PAY_OFFSETS_MM,
    SPOT_RADIUS_MM,
    standard_table,
)
from vision.geometry.table import (
    CARD_MM,
    CHIP_DIAMETER_MM,
    VIEW_MM,
    FloatArray,
    Place,
    Polygon,
    TableFile,
    load_table,
)

RULES = TableRules(game="emperors_challenge_exposed")

SMALL = """\
table = "t9"

[felt]
width_mm = 2130
height_mm = 1120

[rules]
game = "emperors_challenge_exposed"

[chips.red]
value_cents = 500
rgb = [190, 32, 42]

[lammers.envy]
word = "ENVY"
rgb = [250, 214, 40]

[dealer]
place = { center_mm = [1065, 255] }
low = { points_mm = [[985, 249], [1145, 249], [1145, 345], [985, 345]] }
high = { points_mm = [[970, 145], [1160, 145], [1160, 241], [970, 241]] }
tray = { points_mm = [[735, 20], [1395, 20], [1395, 110], [735, 110]] }
rack = { points_mm = [[525, 20], [645, 20], [645, 160], [525, 160]] }

[[seats]]
seat = 1
place = { center_mm = [1065, 800], angle_deg = 0 }
low = { points_mm = [[990, 790], [1140, 790], [1140, 884], [990, 884]] }
high = { points_mm = [[980, 888], [1150, 888], [1150, 982], [980, 982]] }

[seats.spots.main]
points_mm = [[1040, 735], [1090, 735], [1090, 785], [1040, 785]]

[camera]
width_px = 3840
height_px = 2160
points = [
  { felt_mm = [0, 0], image_px = [300, 200] },
  { felt_mm = [2130, 0], image_px = [3500, 200] },
  { felt_mm = [2130, 1120], image_px = [3700, 2000] },
  { felt_mm = [0, 1120], image_px = [100, 2000] },
]
"""


def refused(path: Path) -> str:
    with pytest.raises(FeltwatchError) as raised:
        load_table(path)
    message = str(raised.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message


def changed(tmp_path: Path, old: str, new: str) -> Path:
    assert SMALL.count(old) >= 1
    path = tmp_path / "table.toml"
    path.write_text(SMALL.replace(old, new, 1), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (
            "[chips.red]", '[rules.limits.main]\nmin_cents = "10"\n\n[chips.red]',
            "rules.limits.main.min_cents: write a whole number, without quotes",
        ),
        ("value_cents = 500", "value_cents = true", "chips.red.value_cents: write a whole number"),
        ("width_mm = 2130", 'width_mm = "2130"', "felt.width_mm: write a number, without quotes"),
    ],
)  # fmt: skip
def test_a_number_as_text_is_refused(tmp_path: Path, old: str, new: str, fault: str) -> None:
    assert fault in refused(changed(tmp_path, old, new))


def test_a_good_file_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_text(SMALL, encoding="utf-8")
    table = load_table(path)
    assert table.table == "t9"
    assert table.chips["red"].value_cents == 500
    assert table.lammers["envy"].diameter_mm == 30.0
    assert table.seat(1).spots["main"].center_mm == (1065.0, 760.0)
    assert table.camera is not None
    assert len(table.camera.points) == 4
    with pytest.raises(KeyError):
        table.seat(2)
    assert table == TableFile.model_validate(tomllib.loads(SMALL))


SECOND = SMALL[SMALL.index("[camera]") :].replace("[camera]", "[[cameras]]\nname = 'low'")


def test_further_cameras_are_calibrated_to_the_same_felt(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_text(SMALL + SECOND + "k1 = -0.1\n", encoding="utf-8")
    table = load_table(path)
    (low,) = table.cameras
    assert (low.name, low.k1, len(low.points)) == ("low", -0.1, 4)
    assert table.camera is not None
    assert low.points == table.camera.points
    path.write_text(tomli_w.dumps(table.model_dump(mode="json", exclude_none=True)))
    assert load_table(path) == table


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SMALL + SECOND + SECOND, "the names of cameras must differ, found low, low"),
        (SMALL[: SMALL.index("[camera]")] + SECOND, "the first one, \\[camera\\], is missing"),
        (SMALL + SECOND.replace("'low'", "'the low one'"), "cameras.0.name"),
        (SMALL + SECOND.replace("name = 'low'\n", ""), "cameras.0.name"),
        (SMALL + SECOND.replace("width_px = 3840\n", ""), "cameras.0.width_px"),
    ],
)
def test_wrong_further_cameras_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "table.toml"
    path.write_text(text, encoding="utf-8")
    assert re.search(message, refused(path))


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("width_mm = 2130", "width_mm = 2130\ncolour = 'green'", "felt.colour"),
        ('table = "t9"', 'table = "t9"\nsize = 3', "size"),
        ("[rules]\n", "[rules]\nenvy_minimum = 3\n", "rules.envy_minimum"),
        ("value_cents = 500", "value_cents = 500\nname = 'five'", "chips.red.name"),
        ("seat = 1\n", "seat = 1\nhands = 2\n", "seats.0.hands"),
        ("width_mm = 2130", "width_mm = 'wide'", "felt.width_mm"),
        ("height_mm = 1120", "height_mm = -1", "felt.height_mm"),
        ("value_cents = 500", "value_cents = 5.5", "chips.red.value_cents"),
        ("rgb = [190, 32, 42]", "rgb = [190, 32]", "chips.red.rgb"),
        ("[990, 790], [1140, 790], [1140, 884], [990, 884]", "[990, 790], [1140, 790]", "low"),
        ("[seats.spots.main]", "[seats.spots.treasure]", "seats.0.spots"),
        ('table = "t9"', "", "table"),
        ('game = "emperors_challenge_exposed"', "", "rules.game"),
        ("  { felt_mm = [0, 0], image_px = [300, 200] },\n", "", "camera.points"),
        ("width_px = 3840", "width_px = 0", "camera.width_px"),
    ],
)
def test_a_wrong_key_or_value_is_named(tmp_path: Path, old: str, new: str, key: str) -> None:
    message = refused(changed(tmp_path, old, new))
    assert key in message.split(": ")[1]


def test_several_faults_are_counted(tmp_path: Path) -> None:
    path = changed(tmp_path, "width_mm = 2130\nheight_mm = 1120", "width_mm = 0\nheight_mm = 0")
    assert refused(path).endswith("(and 1 more)")


def test_a_seat_number_twice(tmp_path: Path) -> None:
    first = SMALL.index("[[seats]]")
    second = SMALL.index("[camera]")
    path = tmp_path / "table.toml"
    path.write_text(SMALL[:second] + SMALL[first:second] + SMALL[second:], encoding="utf-8")
    assert "seat numbers must differ, found [1, 1]" in refused(path)


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_text("\ufeff" + SMALL, encoding="utf-8")
    assert load_table(path).table == "t9"


@pytest.mark.parametrize(
    ("game", "seats", "most"),
    [
        # 001, Dealing procedure, 3: the dealer is spots 1, 7 and 13, so six hands are dealt.
        ("imperial_pai_gow_draw", 6, 5),
        ("imperial_pai_gow_draw", 7, 5),
        # Each player and the dealer have seven of the 53 cards.
        ("emperors_challenge_exposed", 7, 6),
        ("emperors_challenge_exposed_washington", 7, 6),
        ("emperors_challenge_exposed_earlier", 7, 6),
        # 004, Rules of Play, 2: each player and the banker, who may be one of the players.
        ("pai_gow_poker", 8, 7),
    ],
)
def test_more_seats_than_cards(tmp_path: Path, game: str, seats: int, most: int) -> None:
    table = standard_table(TableRules(game=game), seats=seats)
    data = table.model_dump(mode="json", exclude_none=True)
    path = tmp_path / "table.toml"
    path.write_text(tomli_w.dumps(data))
    assert f"{path}: seats: {seats} seats; {game} has cards for {most} at most" in refused(path)
    data["seats"] = data["seats"][:most]
    path.write_text(tomli_w.dumps(data))
    assert len(load_table(path).seats) == most


def test_a_seat_that_no_table_has(tmp_path: Path) -> None:
    path = changed(tmp_path, "seat = 1\n", "seat = 99\n")
    assert "seats.0.seat: must be 12 or less" in refused(path)


def test_a_lammer_that_does_not_exist(tmp_path: Path) -> None:
    lammer = "[lammers.blue]\nword = 'BLUE'\nrgb = [1, 2, 3]\n\n[dealer]"
    path = changed(tmp_path, "[dealer]", lammer)
    assert "lammers.blue: no game has such a lammer; there are dealer, envy" in refused(path)


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ("banker = 3", "declared.banker: no player banks in emperors_challenge_exposed"),
        ("players = { 9 = 1 }", "declared.players: no seat 9 at this table; there are 1"),
        ("jackpot_wagers = {}", "declared.jackpot_wagers: holds for one round; report it with"),
        (
            "[[declared.meters]]\nwager = 'main'\ncents = 5",
            "declared.meters: no jackpot 'main' on this table; there are: none",
        ),
    ],
)
def test_what_is_declared_for_good_must_be_possible(
    tmp_path: Path, facts: str, message: str
) -> None:
    path = changed(tmp_path, "[dealer]", f"[declared]\n{facts}\n\n[dealer]")
    assert message in refused(path)


SPOT = "[[1040, 735], [1090, 735], [1090, 785], [1040, 785]]"
JACKPOT = "emperors_treasure_progressive"
TWICE = SMALL[SMALL.index("[[seats]]") : SMALL.index("[camera]")]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (SPOT, "[[1040, 735], [nan, 735], [1090, 785]]", "points_mm.1.0: write a finite number"),
        (SPOT, "[[9, 9], [9, 9], [9, 9]]", "the corners enclose nothing; give them in order"),
        (SPOT, SPOT.replace("10", "90"), "seats.0.spots.main: lies off the felt of 2130 x 1120 mm"),
        (
            "[seats.spots.main]",
            f"[seats.spots.emperors_treasures]\npoints_mm = {SPOT}\n\n[seats.spots.main]",
            "seats.0.spots.emperors_treasures: no game has such a wager; there are main, pai_gow",
        ),
        (
            "[seats.spots.main]",
            f"[seats.spots.emperors_treasure]\npoints_mm = {SPOT}\n\n[seats.spots.main]",
            "seats.0.spots.emperors_treasure: lies where spots.main lies; move one of them",
        ),
        (
            "[[seats]]", TWICE.replace("seat = 1", "seat = 2") + "\n[[seats]]",
            "seats.1.spots.main: lies where seats.0.spots.main lies; move one of the seats",
        ),
        (
            "[chips.red]", "[rules.paytables]\npai_gow_insurance = 'PT-FLT-EC-PGI-05'\n[chips.red]",
            "rules.paytables.pai_gow_insurance: no seat has a spot for it: its bets would not be",
        ),
        (
            "[dealer]",
            f"[rules.paytables]\n{JACKPOT} = 'PT-BJS-EC-ET-01'\n\n[[displays]]\n"
            f"wager = '{JACKPOT}'\nlevel = 4\ndigits = 7\n"
            "corners_px = [[1.0, 1.0], [90.0, 1.0], [90.0, 9.0], [1.0, 9.0]]\n\n[dealer]",
            "displays[1].level: 4; its pay table has 1",
        ),
        ("width_mm = 2130", "width_mm = inf", "felt.width_mm: write a finite number"),
        ("rgb = [190, 32, 42]", "rgb = [190, 32, 999]", "chips.red.rgb.2: must be 255 or less"),
    ],
)  # fmt: skip
def test_an_impossible_table_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert message in refused(changed(tmp_path, old, new))


def test_a_sensor_may_be_where_no_camera_sees_it(tmp_path: Path) -> None:
    rules = f"[rules.paytables]\n{JACKPOT} = 'PT-BJS-EC-ET-01'\n\n[chips.red]"
    assert load_table(changed(tmp_path, "[chips.red]", rules)).rules.paytables


def test_a_tables_name_is_short_enough_to_name_files(tmp_path: Path) -> None:
    assert load_table(changed(tmp_path, 'table = "t9"', f'table = "{"t" * 80}"')).table
    long = changed(tmp_path, 'table = "t9"', f'table = "{"t" * 81}"')
    assert "table: takes at most 80 letters" in refused(long)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert "No such file" in refused(tmp_path / "missing.toml")
    assert "directory" in refused(tmp_path)
    bad = tmp_path / "bad.toml"
    bad.write_text("table = \n", encoding="utf-8")
    assert "not valid TOML" in refused(bad)
    assert "line 1" in refused(bad)
    data = tmp_path / "data.toml"
    data.write_bytes(bytes([0xFF, 0xFE, 0x00, 0x81]) * 20)
    assert "not a text file" in refused(data)
    empty = tmp_path / "empty.toml"
    empty.write_text("", encoding="utf-8")
    assert "is missing" in refused(empty)


@given(
    st.tuples(st.floats(-3000, 3000), st.floats(-3000, 3000)),
    st.floats(-360, 360),
    st.tuples(st.floats(-500, 500), st.floats(-500, 500)),
)
def test_places_turn_there_and_back(
    center: tuple[float, float], angle: float, point: tuple[float, float]
) -> None:
    place = Place(center_mm=center, angle_deg=angle)
    local = np.array([point])
    felt = place.to_felt(local)
    assert np.allclose(place.to_local(felt), local, atol=1e-6)
    reach = np.hypot(*(felt[0] - np.array(center)))
    assert reach == pytest.approx(np.hypot(*point), abs=1e-6)


def test_positive_angles_turn_clockwise_as_drawn() -> None:
    place = Place(center_mm=(100.0, 100.0), angle_deg=90.0)
    assert np.allclose(place.to_felt(np.array([[0.0, -10.0]])), [[110.0, 100.0]])


def overlap(one: FloatArray, other: FloatArray) -> float:
    """Area two convex polygons share, mm^2."""
    area, _ = cv2.intersectConvexConvex(one.astype(np.float32), other.astype(np.float32))
    return float(area)


def named(table: TableFile) -> dict[str, FloatArray]:
    shapes = {
        "dealer low": table.dealer.low.array,
        "dealer high": table.dealer.high.array,
        "tray": table.dealer.tray.array,
        "rack": table.dealer.rack.array,
    }
    for seat in table.seats:
        shapes[f"seat {seat.seat} low"] = seat.low.array
        shapes[f"seat {seat.seat} high"] = seat.high.array
        shapes |= {f"seat {seat.seat} {name}": s.array for name, s in seat.spots.items()}
    return shapes


@pytest.mark.parametrize("seats", range(1, 8))
def test_nothing_printed_overlaps(seats: int) -> None:
    shapes = named(standard_table(RULES, seats=seats))
    clashes = {
        (a, b): round(overlap(shapes[a], shapes[b]))
        for a, b in itertools.combinations(shapes, 2)
        if overlap(shapes[a], shapes[b]) > 1.0
    }
    assert clashes == {}


@pytest.mark.parametrize("seats", range(1, 8))
def test_everything_lies_on_the_felt(seats: int) -> None:
    table = standard_table(RULES, seats=seats)
    size = np.array([table.felt.width_mm, table.felt.height_mm])
    off = [name for name, s in named(table).items() if (s < 0).any() or (s > size).any()]
    assert off == []


def test_each_view_shows_its_seat_whole() -> None:
    table = standard_table(RULES)
    parts = [
        (table.dealer.place, [table.dealer.low, table.dealer.high]),
        *((s.place, [s.low, s.high, *s.spots.values()]) for s in table.seats),
    ]
    for place, shapes in parts:
        for shape in shapes:
            assert np.abs(place.to_local(shape.array)).max() < VIEW_MM / 2


def test_pays_and_lammers_lie_in_the_view_and_apart_from_the_stakes() -> None:
    table = standard_table(RULES)
    for seat in table.seats:
        for name, spot in seat.spots.items():
            center = seat.place.to_local(np.array([spot.center_mm]))[0]
            for offset in (*PAY_OFFSETS_MM[name], LAMMER_OFFSET_MM):
                assert np.hypot(*offset) >= CHIP_DIAMETER_MM
                assert np.abs(center + offset).max() + CHIP_DIAMETER_MM / 2 < VIEW_MM / 2


def test_boxes_hold_their_cards_and_spots_their_chips() -> None:
    table = standard_table(RULES)
    width, height = CARD_MM
    for seat in table.seats:
        low = seat.place.to_local(seat.low.array)
        high = seat.place.to_local(seat.high.array)
        assert np.allclose(np.ptp(low, axis=0) >= [2 * width, height], [True, True])
        assert (np.ptp(high, axis=0) >= [width + 4 * 20, height]).all()
    assert 2 * SPOT_RADIUS_MM > CHIP_DIAMETER_MM


def test_seats_differ_by_their_order_from_the_left() -> None:
    table = standard_table(RULES)
    lefts = [seat.place.center_mm[0] for seat in table.seats]
    assert lefts == sorted(lefts)
    assert [seat.seat for seat in table.seats] == [1, 2, 3, 4, 5, 6]


def test_a_table_lives_through_json_with_its_camera() -> None:
    table = standard_table(RULES)
    camera = table_camera(synthetic_camera(table.felt), table)
    whole = table.model_copy(update={"camera": camera})
    assert TableFile.model_validate_json(whole.model_dump_json()) == whole


def test_polygon_center_is_the_mean_of_its_corners() -> None:
    assert Polygon(points_mm=((0, 0), (4, 0), (4, 2), (0, 2))).center_mm == (2.0, 1.0)


def test_overlap_is_seen_where_there_is_one() -> None:
    square = np.array([[0, 0], [10, 0], [10, 10], [0, 10]], dtype=np.float64)
    assert overlap(square, square + np.array([5, 5])) == pytest.approx(25)
    assert overlap(square, square[::-1] + np.array([9, 0])) == pytest.approx(10)
    assert overlap(square, square * 0.2 + 4) == pytest.approx(4)
    assert overlap(square, square + np.array([11, 0])) == 0
    twelve = named(standard_table(RULES, seats=12))
    assert any(overlap(a, b) > 1 for a, b in itertools.combinations(twelve.values(), 2))
