"""The banker's button or dice cup on filmed 4K frames, through the real warp."""

from __future__ import annotations

import functools
from pathlib import Path

import cv2
import numpy as np
import pytest

from benchmarks.banker_marker import MarkerTable, Scene
from datasets.simulate.house_tables import NEVADA, rules_for
from datasets.simulate.shift import write_table
from settlement.errors import FeltwatchError
from surveillance.cli import main
from vision.bank.marker_match import MarkerSample, find_marker, probability
from vision.detect.detections import ByteArray
from vision.detect.motion import shrink
from vision.geometry.calibration import Calibration
from vision.geometry.marker_places import marker_places
from vision.geometry.table import load_table, table_faults
from vision.rounds.procedure.marker_bank import (
    MarkerPlace,
    MarkerWatch,
    one_place,
    read_marker,
)

CASES = ("seat", "house", "absent", "between", "hidden", "twice")
SEEDS = (8300, 8301)
"""A button and a cup."""


@functools.lru_cache(maxsize=1)
def filmed(seed: int) -> tuple[MarkerTable, list[Scene], list[ByteArray]]:
    """A table with its marker laid alone, then one scene of each case."""
    own = MarkerTable(seed, 0)
    scenes = [*own.scenes(), *(own._scene(n, case) for n, case in enumerate(CASES))]
    return own, scenes, list(own.decoded(scenes))


def enrolled(seed: int, folder: Path, *more: str) -> tuple[Path, int, int | None]:
    """The table file after `feltwatch banker enrol`, its exit code, and where the marker lay."""
    own, scenes, images = filmed(seed)
    table, laid = folder / "table.toml", folder / "laid.png"
    write_table(own.table, table)
    cv2.imwrite(str(laid), images[0])
    (seat,) = scenes[0].lies
    size = (
        "--diameter-mm",
        f"{own.own.diameter_mm:.1f}",
        "--height-mm",
        f"{own.own.height_mm:.1f}",
    )
    place = more or ("--marker", str(seat))
    return table, main(["banker", "enrol", str(laid), "--table", str(table), *place, *size]), seat


@pytest.mark.parametrize("seed", SEEDS)
def test_the_bank_is_read_where_one_marker_lies_alone(seed: int, tmp_path: Path) -> None:
    path, code, _ = enrolled(seed, tmp_path)
    assert code == 0
    table = load_table(path)
    assert table.banker_marker is not None
    assert table.camera is not None
    sample, calibration = MarkerSample.of(table.banker_marker), Calibration.fit(table.camera)
    _, scenes, images = filmed(seed)
    for scene, image in zip(scenes[1:], images[1:], strict=True):
        shares = {
            place: probability(find_marker(image, calibration, at.center_mm, sample).likeness)
            for place, at in marker_places(table).items()
        }
        said = one_place(shares)
        if scene.case in ("seat", "house"):
            assert said == MarkerPlace(next(iter(scene.lies)) or "house"), (scene.case, shares)
        else:
            assert said.doubt is not None, (scene.case, shares)
            assert said.twice == (scene.case == "twice"), (scene.case, shares)


def test_places_are_read_when_they_come_to_rest_and_not_again(tmp_path: Path) -> None:
    path, _, _ = enrolled(SEEDS[1], tmp_path)
    table = load_table(path)
    assert table.camera is not None
    watch = MarkerWatch(table, Calibration.fit(table.camera))
    _, scenes, images = filmed(SEEDS[1])
    read = []
    for k in range(8):
        scene = 1 if k < 4 else 2  # before a seat, then at the house
        luma = cv2.cvtColor(images[scene], cv2.COLOR_BGR2GRAY)
        due = watch.look(shrink(np.asarray(luma, np.uint8)))
        watch.read(images[scene], due, float(k))
        watch.seen(float(k))
        read.append(len(due))
    assert read[:4] == [0, 0, 7, 7]
    first = read_marker(watch.of_round(0.0), 0.0, 3.5)
    last = read_marker(watch.of_round(0.0), 5.5, None)
    assert [first.place, last.place] == [*scenes[1].lies, "house"]
    again = MarkerWatch(table, Calibration.fit(table.camera))
    again.set_state(watch.state())
    assert again.rests == watch.rests


def test_a_place_without_a_marker_is_refused_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, code, _ = enrolled(SEEDS[1], tmp_path, "--marker", "house")
    assert code == 2
    assert "no marker of that diameter and height lies there alone" in capsys.readouterr().err
    assert load_table(path).banker_marker is None
    _, code, _ = enrolled(SEEDS[1], tmp_path, "--marker", "9")
    assert code == 2
    assert "expected a seat, house or X,Y in mm; the seats of" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("reach_mm = 60.0", "reach_mm = 140.0", "more than twice reach_mm"),
        ("reach_mm = 60.0", "reach_mm = 60.0\nseats = {9 = [1, 2]}", "no seat 9 at this table"),
        ("reach_mm = 60.0", "reach_mm = 5.0", "banker_marker.reach_mm"),
    ],
)
def test_an_impossible_marker_is_refused_with_its_key(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    path, _, _ = enrolled(SEEDS[1], tmp_path)
    text = path.read_text()
    text = text.replace("[banker_marker]\n", "[banker_marker]\nreach_mm = 60.0\n")
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(FeltwatchError, match=message):
        load_table(path)


def test_a_marker_where_no_player_banks_is_refused(tmp_path: Path) -> None:
    path, _, _ = enrolled(SEEDS[1], tmp_path)
    table = load_table(path).model_copy(update={"rules": rules_for(NEVADA)})
    why = f"no player banks in {NEVADA}; leave the section out"
    # Its felt, that of another game, has no spot for one of the wagers either.
    found = [fault for fault in table_faults(table) if not fault[0].startswith("rules.paytables")]
    assert found == [("banker_marker", why)]
