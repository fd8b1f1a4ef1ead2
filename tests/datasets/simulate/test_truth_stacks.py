"""How each stack of a stake or payout is seen: chip height in px, and what nearer stacks hide."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from datasets.render.camera import play_area, synthetic_camera
from datasets.render.chips import stack_hull_rings
from datasets.render.scene import Change, Item, MarkerItem, Reach, ShiftPlan, StackItem
from datasets.simulate.filming.stack_lines import StackLine, read_stacks
from datasets.simulate.filming.truth_stacks import stack_lines
from datasets.simulate.house_tables import NEVADA, table_for
from datasets.simulate.play.shift_play import plan_shift
from settlement.errors import FeltwatchError
from settlement.record import RoundRecord
from settlement.rules import TableRules
from vision.geometry.standard_layout import standard_table
from vision.geometry.table import CHIP_THICKNESS_MM, Point

TABLE = standard_table(TableRules(game="emperors_challenge_exposed"), seats=2)
CAMERA = synthetic_camera(
    TABLE.felt, height_mm=2800, tilt_deg=35, width_px=1280, height_px=720, keep_mm=play_area(TABLE)
)
LOW = synthetic_camera(
    TABLE.felt, height_mm=1000, tilt_deg=65, azimuth_deg=180, width_px=1280, height_px=720,
    keep_mm=play_area(TABLE),
)  # fmt: skip
AT: Point = (1000.0, 600.0)
ROUND = RoundRecord(round_id=f"{TABLE.table}-000001", table=TABLE.table, game=TABLE.rules.game)


def toward(camera_foot: Point, far_mm: float) -> Point:
    """A place so much nearer to the camera than `AT`."""
    way = np.asarray(camera_foot) - np.asarray(AT)
    x, y = (np.asarray(AT) + way / np.hypot(*way) * far_mm).tolist()
    return (x, y)


def stack(key: str, at: Point = AT, chips: int = 5, colour: str = "red") -> StackItem:
    return StackItem(key, at, (colour,) * chips)


def lines(*changes: Change, reaches: tuple[Reach, ...] = (), ends: float = 20.0) -> list[StackLine]:
    plan = ShiftPlan(duration_s=ends, changes=changes, reaches=reaches, rounds=(ROUND,))
    return stack_lines(plan, TABLE, {"": CAMERA, "shoulder": LOW})


def one_line(*put: Item) -> StackLine:
    """The line of the stake that lies with these other things."""
    (own,) = [line for line in lines(Change(1.0, put)) if line.key == "r1.2.main.stake0"]
    return own


STAKE = stack("r1.2.main.stake0")


def test_a_line_names_the_wager_and_the_stack() -> None:
    leaning = StackItem(STAKE.key, AT, ("green", "red", "red"), (3.0, 4.0), 0.25)
    (line,) = lines(Change(1.0, (leaning,)), Change(9.0, remove=(STAKE.key,)))
    assert (line.round_id, line.seat, line.wager) == (ROUND.round_id, 2, "main")
    assert (line.role, line.laying, line.t0_s, line.t1_s) == ("stake", 1, "1.000", "9.000")
    assert (line.cents, line.chips, line.colours) == (3500, 3, 2)
    assert (line.lean_mm, line.untidy) == (5.0, 0.25)


@pytest.mark.parametrize(
    ("key", "wager", "seat", "role", "laying"),
    [
        ("r1.1.main.stake2-1", "main", 1, "stake", 2),
        ("r1.1.emperors_treasure.paid12-0", "emperors_treasure", 1, "paid", 12),
        ("r1.2.envy.prize0", "envy", 2, "paid", 1),
        ("r1.house.house.stake0", "house", None, "stake", 1),
        ("r1.house.house.paid1", "house", None, "paid", 1),
    ],
)
def test_keys_say_what_a_stack_is(
    key: str, wager: str, seat: int | None, role: str, laying: int
) -> None:
    (line,) = lines(Change(1.0, (stack(key),)))
    assert (line.wager, line.seat, line.role, line.laying) == (wager, seat, role, laying)
    assert line.t1_s == "20.000"


@pytest.mark.parametrize(
    "key", ["rack.3.2.1.0", "fill3.0", "r1.2.main.given2-0", "r1.2.bank.paid0", "r2.2.main.stake0"]
)
def test_other_chips_have_no_line(key: str) -> None:
    assert lines(Change(1.0, (stack(key),))) == []


def test_a_chip_is_as_high_as_the_camera_projects_it() -> None:
    line = one_line(STAKE)
    for name, camera in (("", CAMERA), ("shoulder", LOW)):
        low, high = camera.project(np.array([AT, AT]), np.array([0.0, CHIP_THICKNESS_MM]))
        assert line.cameras[name].px_per_chip == pytest.approx(np.hypot(*(high - low)), abs=0.001)
    assert line.cameras["shoulder"].px_per_chip > line.cameras[""].px_per_chip


def test_a_stack_alone_is_in_view() -> None:
    for view in one_line(STAKE).cameras.values():
        assert (view.hidden, view.foot_hidden) == (0.0, False)


def test_a_chip_that_sticks_out_over_others_covers_them() -> None:
    chip_px = CAMERA.project(np.array([AT, AT]), np.array([0.0, CHIP_THICKNESS_MM]))
    mm_px = CAMERA.project(np.array([AT, toward(CAMERA.foot_mm, 1.0)]))
    hides_mm = np.hypot(*(chip_px[1] - chip_px[0])) / np.hypot(*(mm_px[1] - mm_px[0]))
    found = {}
    for chips in (0.5, 1.0, 2.0):
        # The uppermost of five chips alone, so far toward the camera.
        way = np.subtract(toward(CAMERA.foot_mm, hides_mm * chips), AT)
        item = StackItem(STAKE.key, AT, ("red",) * 5, (float(way[0]), float(way[1])), bend=1e6)
        found[chips] = {name: view.chips_covered for name, view in one_line(item).cameras.items()}
    assert [found[chips][""] for chips in (0.5, 1.0, 2.0)] == [0, 1, 2]
    # From lower down, and from the other side, every chip is seen.
    assert all(by["shoulder"] == 0 for by in found.values())
    assert one_line(STAKE).cameras[""].chips_covered == 0


def test_a_nearer_stack_hides_what_its_silhouette_covers() -> None:
    near = stack("rack.1", toward(CAMERA.foot_mm, 43.0), 20)
    view = one_line(STAKE, near).cameras[""]
    assert view.foot_hidden
    # Half of a raster's way of the same: both outlines filled, the shared px counted.
    import cv2

    masks = []
    for item in (STAKE, near):
        px = np.vstack([CAMERA.project(ring, h) for ring, h in stack_hull_rings(item)])
        hull = cv2.convexHull((px * 8).astype(np.float32)).astype(np.int32)
        mask = np.zeros((720 * 8, 1280 * 8), np.uint8)
        cv2.fillConvexPoly(mask, hull, 1)
        masks.append(mask)
    own, cover = masks
    share = np.count_nonzero(own & cover) / np.count_nonzero(own)
    assert 0.2 < share < 1.0
    assert view.hidden == pytest.approx(share, abs=0.02)


def test_a_farther_stack_hides_nothing() -> None:
    far = stack("rack.1", toward(CAMERA.foot_mm, -43.0), 20)
    assert one_line(STAKE, far).cameras[""].hidden == 0.0


def test_two_covers_hide_together_what_both_cover() -> None:
    near = toward(CAMERA.foot_mm, 43.0)
    left, right = (stack(f"rack.{dx}", (near[0] + dx, near[1]), 15) for dx in (-22.0, 22.0))
    shares = [one_line(STAKE, *covers).cameras[""] for covers in ([left], [right], [left, right])]
    assert shares[2].hidden > max(shares[0].hidden, shares[1].hidden)
    assert shares[2].hidden <= shares[0].hidden + shares[1].hidden + 0.001


def test_a_banker_s_marker_hides_too() -> None:
    cup = MarkerItem("banker.marker", toward(CAMERA.foot_mm, 70.0), 0.0, 80.0, 90.0)
    assert one_line(STAKE, cup).cameras[""].hidden > 0.2


def test_the_least_hidden_moment_counts() -> None:
    near = stack("rack.1", toward(CAMERA.foot_mm, 43.0), 20)
    (line,) = lines(Change(1.0, (STAKE, near)), Change(8.0, remove=(near.key,)))
    assert (line.cameras[""].hidden, line.cameras[""].foot_hidden) == (0.0, False)


def test_moments_under_an_arm_do_not_count_where_there_are_others() -> None:
    near = stack("rack.1", toward(CAMERA.foot_mm, 43.0), 20)
    arm = Reach(11.8, 13.0, "player", (1000, 1500), ((1000, 1300), AT, AT, (1000, 1300)))
    (line,) = lines(
        Change(1.0, (STAKE, near)), Change(12.0, remove=(near.key,)),
        Change(12.5, remove=(STAKE.key,)), reaches=(arm,),
    )  # fmt: skip
    assert line.cameras[""].foot_hidden


def test_a_stack_laid_again_has_a_line_for_each_time() -> None:
    found = lines(
        Change(1.0, (STAKE,)), Change(3.0, remove=(STAKE.key,)), Change(5.0, (STAKE,)),
    )  # fmt: skip
    assert [(line.t0_s, line.t1_s) for line in found] == [("1.000", "3.000"), ("5.000", "20.000")]


def test_every_wager_of_a_shift_has_the_chips_of_its_record() -> None:
    table = table_for(NEVADA)
    plan = plan_shift(table, seed=11, rounds=2, pace=0.1)
    found = stack_lines(plan, table, {"": CAMERA})
    for record in plan.rounds:
        for seat in record.seats:
            for wager in seat.wagers:
                for role, cents, chips in (
                    ("stake", wager.stake_cents, wager.stake_chips),
                    ("paid", wager.paid_cents, wager.paid_chips),
                ):
                    own = [
                        line for line in found
                        if (line.round_id, line.seat, line.wager, line.role)
                        == (record.round_id, seat.seat, wager.wager, role)
                    ]  # fmt: skip
                    last = [line for line in own if line.laying == own[-1].laying]
                    if not cents:
                        assert own == []
                        continue
                    assert max(line.chips for line in last) == chips
                    if not wager.returned_cents:
                        assert sum(line.cents for line in last) == cents


def test_lines_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "stacks.jsonl"
    written = lines(Change(1.0, (STAKE,)))
    path.write_text("".join(line.model_dump_json() + "\n" for line in written))
    assert read_stacks(path) == written


@pytest.mark.parametrize(("text", "message"), [("{", "line 2: "), ('{"seat": 1}', "line 2: rou")])
def test_a_wrong_line_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "stacks.jsonl"
    path.write_text("\n" + text + "\n")
    with pytest.raises(FeltwatchError, match=message):
        read_stacks(path)
