"""The table file as it is calibrated for a further camera."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from datasets.render.camera import synthetic_camera, table_camera
from datasets.simulate.shift import default_rules, write_table
from surveillance.web.services.camera_shelf import CameraShelf
from surveillance.web.services.errors import RefusedError
from vision.geometry.standard_layout import standard_table
from vision.geometry.table import TableFile, load_table

BARE = standard_table(default_rules())


def marks(tilt_deg: float) -> dict[str, Any]:
    camera = synthetic_camera(BARE.felt, tilt_deg=tilt_deg)
    return table_camera(camera, BARE).model_dump(mode="json", exclude_none=True)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    table = TableFile.model_validate({**BARE.model_dump(), "camera": marks(35)})
    write_table(table, tmp_path / "t.toml")
    return tmp_path / "t.toml"


def test_a_further_camera_is_added_and_changed(path: Path) -> None:
    before = load_table(path)
    for tilt_deg in (60.0, 65.0):
        shelf = CameraShelf(path, "shoulder")
        (shelved,) = shelf.all()
        _, stored = shelf.read(shelved.id)
        assert ("camera" in stored.data) == (tilt_deg == 65.0)
        assert "cameras" not in stored.data
        shelf.write(shelved.id, {**stored.data, "camera": marks(tilt_deg)}, stored.revision)
        table = load_table(path)
        assert table.camera == before.camera
        assert [c.name for c in table.cameras] == ["shoulder"]
        own = shelf.table(shelved.id).camera
        assert own is not None
        assert own.points == table.cameras[0].points
        assert own.model_dump(mode="json", exclude_none=True) == {
            "name": "shoulder", **marks(tilt_deg)
        }  # fmt: skip
    other = CameraShelf(path, "left")
    _, stored = other.read(shelved.id)
    other.write(shelved.id, {**stored.data, "camera": marks(50)}, stored.revision)
    assert [c.name for c in load_table(path).cameras] == ["shoulder", "left"]


def test_points_that_do_not_fit_are_refused_by_name(path: Path) -> None:
    shelf = CameraShelf(path, "shoulder")
    (shelved,) = shelf.all()
    _, stored = shelf.read(shelved.id)
    wrong = marks(60)
    points = list(wrong["points"])
    points[0] = {**points[0], "image_px": [1900.0, 1000.0]}
    with pytest.raises(RefusedError, match=r"cameras\.0: shoulder: "):
        shelf.write(
            shelved.id, {**stored.data, "camera": {**wrong, "points": points}}, stored.revision
        )
    with pytest.raises(RefusedError, match="camera: missing"):
        shelf.write(shelved.id, stored.data, stored.revision)
    assert load_table(path).cameras == ()
