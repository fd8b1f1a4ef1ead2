"""`feltwatch camera meters`: the displays of a filmed table, read from one image."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from datasets.render.camera import play_area, synthetic_camera, table_camera
from datasets.render.displays import lay_panel, panel_corners
from datasets.render.scene import DisplayItem
from datasets.simulate.displays import panels, seen_displays, with_displays
from datasets.simulate.house_tables import table_for
from datasets.simulate.play.shift_play import plan_shift
from datasets.simulate.shift import write_table
from settlement.errors import FeltwatchError
from surveillance.cli import main
from vision.geometry.displays import MeterDisplay
from vision.geometry.table import TableFile

FLAT = ((0.0, 0.0), (90.0, 0.0), (90.0, 16.0), (0.0, 16.0))


def _table(**changed: object) -> TableFile:
    table = table_for("emperors_challenge_exposed", jackpots="plain")
    displays = tuple(
        MeterDisplay.model_validate({"wager": wager, "digits": 7, "corners_mm": FLAT} | changed)
        for wager in table.rules.progressives
    )
    return table.model_copy(update={"displays": displays})


def test_the_displays_of_a_shift_are_read_as_its_truth_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = _table()
    camera = synthetic_camera(table.felt, keep_mm=play_area(table), margin=0.05)
    luck = np.random.default_rng(11)
    own = table.model_copy(
        update={
            "camera": table_camera(camera, table),
            "displays": seen_displays(table, camera, luck),
        }
    )
    write_table(own, tmp_path / "table.toml")
    plan = with_displays(plan_shift(table, seed=4, rounds=1, pace=0.1), own)
    shown = {
        item.key: item
        for item in plan.changes[0].put + plan.changes[1].put
        if isinstance(item, DisplayItem)
    }
    image = np.full((camera.height_px, camera.width_px, 3), 60, np.uint8)
    for item in panels(own):
        lay_panel(image, shown[item.key], camera.project(*panel_corners(item)))
    cv2.imwrite(str(tmp_path / "still.png"), cv2.GaussianBlur(image, (0, 0), 0.8))
    drawn = tmp_path / "drawn.png"
    words = ["camera", "meters", str(tmp_path / "still.png"), "--table"]
    assert main([*words, str(tmp_path / "table.toml"), "--json", "--image", str(drawn)]) == 0
    read = json.loads(capsys.readouterr().out)
    truth = plan.rounds[0].meters or ()
    assert [(one["wager"], one["cents"]) for one in read] == [(m.wager, m.cents) for m in truth]
    assert cv2.imread(str(drawn)) is not None


def test_a_table_without_displays_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = _table()
    camera = synthetic_camera(table.felt, keep_mm=play_area(table), margin=0.05)
    bare = table.model_copy(update={"displays": (), "camera": table_camera(camera, table)})
    write_table(bare, tmp_path / "table.toml")
    assert main(["camera", "meters", "x.png", "--table", str(tmp_path / "table.toml")]) == 2
    assert "no [[displays]]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changed", "words"),
    [({"digits": 3}, "digits are too few"), ({"level": 4}, "no meter of level 4")],
)
def test_the_simulator_names_a_display_that_cannot_show_its_meter(
    changed: dict[str, object], words: str
) -> None:
    table = _table(**changed)
    plan = plan_shift(table, seed=4, rounds=1, pace=0.1)
    with pytest.raises(FeltwatchError, match=words):
        with_displays(plan, table)
