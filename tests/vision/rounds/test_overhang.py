"""Chips that an overhanging chip hides are seen beyond the far half of its rim."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.settlement.felt import RULES
from tests.vision.rounds.readings import TABLE, reading, stack
from tests.vision.stack_scenes import GRID, PLACE, render, scene_camera
from vision.chips.enrolment import sample_at
from vision.chips.faces import Faces
from vision.chips.network_input.side_strip import ChipSize
from vision.chips.reading import ReadStack
from vision.detect.detections import ByteArray
from vision.geometry.standard_layout import CHIPS
from vision.geometry.table import ChipKind, FloatArray
from vision.rounds.felt.overhang import overhangs, with_overhangs
from vision.rounds.region_change import kept_picture
from vision.rounds.round_state import Episode, Round, ViewTrack

SIZE = ChipSize()
SEED, VIEW_PX, LAID = 21, 640, 6
AT = GRID[1]


def up(base: FloatArray) -> FloatArray:
    away = base - np.array(scene_camera()[1].foot_mm)
    return np.asarray(away / np.hypot(*away))


def faces() -> Faces:
    scene = render(SEED, [(AT, ["red"] * LAID)])
    base = np.array(scene.items[0].center_mm)
    taken = sample_at(scene.frame, scene_camera()[1], base, SIZE, LAID).as_table_data()
    found = Faces.of(
        {"red": ChipKind.model_validate({"value_cents": CHIPS["red"].value_cents, **taken})}
    )
    assert found is not None
    return found


def seen(pushed_mm: float, chips: int, *, beside: bool = False) -> tuple[ReadStack, ByteArray]:
    """A stack whose uppermost chip is pushed so far towards the camera, and its view."""
    calibration = scene_camera()[1]
    base = PLACE.to_felt(np.array([AT]))[0]
    push = -up(base) * pushed_mm
    stacks: list[tuple[tuple[float, float], list[str]]] = [(AT, ["red"] * chips)]
    if beside:
        far = PLACE.to_local((base + up(base) * 43)[None])[0]
        stacks.append(((float(far[0]), float(far[1])), ["red"] * 6))
    scene = render(SEED, stacks, (), (float(push[0]), float(push[1])))
    tried = np.arange(0.5, chips + 3, 1 / 6) * SIZE.thickness_mm
    top = faces().height_mm(scene.frame, calibration, base, up(base), tried.tolist(), SIZE)
    assert top is not None
    own = stack(" ".join(["red"] * chips))
    own = replace(
        own,
        center_mm=(float(base[0]), float(base[1])),
        posterior=replace(own.posterior, top=top / SIZE.thickness_mm),
    )
    return own, calibration.warp_view(scene.frame, PLACE, VIEW_PX)


def bare() -> ByteArray:
    return scene_camera()[1].warp_view(render(SEED, []).frame, PLACE, VIEW_PX)


@pytest.mark.parametrize(
    ("pushed_mm", "beside", "found"),
    [(0.0, False, False), (-4.0, False, False), (4.0, False, True), (0.0, True, False)],
)
def test_chips_are_hidden_by_one_that_overhangs_towards_the_camera(
    pushed_mm: float, *, beside: bool, found: bool
) -> None:
    own, view = seen(pushed_mm, 4, beside=beside)
    assert overhangs(own, view, bare(), PLACE, scene_camera()[1], SIZE) == found


def test_where_no_face_was_found_nothing_is_said() -> None:
    own, view = seen(4.0, 4)
    own = replace(own, posterior=replace(own.posterior, top=None))
    assert not overhangs(own, view, bare(), PLACE, scene_camera()[1], SIZE)


@pytest.mark.parametrize("pushed_mm", [0.0, 4.0])
def test_a_stack_that_overhangs_may_have_one_chip_more(pushed_mm: float) -> None:
    own, view = seen(pushed_mm, 4)
    place = TABLE.seat(1).model_copy(update={"place": PLACE})
    table = TABLE.model_copy(update={"rules": RULES, "seats": (place,)})
    rest = Episode(1.0, [reading(stakes={"main": [own]})] * 2, picture=kept_picture(view))
    tracks = {None: ViewTrack(), 1: ViewTrack([rest], bare=kept_picture(bare()))}
    before = Round(0.0, tracks)
    after = with_overhangs(before, table, scene_camera()[1])
    shares = [r.stakes["main"][0].probability for r in after.tracks[1].episodes[0].readings]
    if pushed_mm:
        assert shares == [own.probability / 2] * 2
        assert before.tracks[1].episodes[0].readings[0].stakes["main"] == (own,)
    else:
        assert after is before
