"""A second camera films the same shift: the same felt, chips and clock, seen from low."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from datasets.simulate.shards import Shard
from datasets.simulate.shift import SECOND, Scenery, Wishes, simulate
from vision.geometry.calibration import Calibration
from vision.geometry.table import load_table
from vision.health.felt_match import FELT_MATCH_MIN, felt_match
from vision.sources.file import FileSource

pytestmark = pytest.mark.render

WISHES = Wishes(seed=3, rounds=1, seats=2, fps=2, size=(640, 360), preset="ultrafast", pace=0.1)


@pytest.fixture(scope="module")
def shifts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    one, two = (tmp_path_factory.mktemp("shift") / name for name in ("one", "two"))
    simulate(one, WISHES)
    simulate(two, replace(WISHES, cameras=2))
    return one, two


def test_the_first_camera_and_the_truth_are_as_without_it(shifts: tuple[Path, Path]) -> None:
    one, two = shifts
    for name in ("truth.jsonl", "events.jsonl", "feed.jsonl", "video.mp4"):
        assert (one / name).read_bytes() == (two / name).read_bytes()
    assert not (one / f"video-{SECOND}.mp4").exists()
    assert load_table(one / "table.toml") == load_table(two / "table.toml").model_copy(
        update={"cameras": ()}
    )
    assert json.loads((two / "recipe.json").read_text())["cameras"] == 2


def test_the_second_one_shows_the_felt_from_low_on_the_same_clock(
    shifts: tuple[Path, Path],
) -> None:
    _, two = shifts
    table = load_table(two / "table.toml")
    (camera,) = table.cameras
    calibration = Calibration.fit(camera)
    assert calibration.rms_px < 1
    away = math.dist(calibration.foot_mm, table.seat(1).place.center_mm)
    assert 55 < math.degrees(math.atan2(away, calibration.height_mm)) < 80
    # Beyond the dealer's edge.
    assert calibration.foot_mm[1] < 0
    with FileSource(two / "video.mp4") as first, FileSource(two / f"video-{SECOND}.mp4") as second:
        times = [[frame.at_s for frame in source.frames()] for source in (first, second)]
    assert times[0] == times[1]


def test_both_see_the_same_felt_and_chips() -> None:
    wishes = replace(WISHES, cameras=2, size=(1280, 720))
    scenery = Scenery(wishes)
    assert scenery.second is not None
    films = scenery.film, scenery.second()
    assert scenery.table.camera is not None
    for film, camera in zip(films, (scenery.table.camera, *scenery.table.cameras), strict=True):
        match = felt_match(film.bgr().max(axis=2), scenery.table, Calibration.fit(camera))
        assert match >= FELT_MATCH_MIN
    one, other = (film._painter for film in films)
    assert one.light == other.light
    for colour, style in one.chips.items():
        assert str(style) == str(other.chips[colour])
    assert np.array_equal(films[0].look.felt_rgb, films[1].look.felt_rgb)
    assert films[0].look.shake != films[1].look.shake


def test_a_shard_is_finished_with_both_recordings(tmp_path: Path) -> None:
    wishes = replace(WISHES, cameras=2, rounds=2, fps=1, size=(320, 180))
    assert simulate(tmp_path, wishes, shard=Shard(1, 2))
    assert (tmp_path / f"video-{SECOND}-1-of-2.mp4").exists()
    assert not simulate(tmp_path, wishes, shard=Shard(1, 2))
    (tmp_path / f"video-{SECOND}-1-of-2.mp4").unlink()
    assert simulate(tmp_path, wishes, shard=Shard(1, 2))
