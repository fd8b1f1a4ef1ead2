"""Three kinds of chips laid out in stacks of six, and a table under the camera that sees them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from surveillance.web.repositories.tablefiles import read_table_data, write_table_data
from tests.surveillance.web.tools_made import table_copy
from tests.vision.stack_scenes import PLACE, Scene, render, scene_camera
from vision.geometry.standard_layout import CHIPS

NAMES = ("red", "green", "purple")
WHERE = ((-90.0, 0.0), (0.0, 0.0), (90.0, 0.0))


def laid_out() -> Scene:
    """One stack of each of NAMES, at WHERE."""
    return render(31, [(at, [name] * 6) for at, name in zip(WHERE, NAMES, strict=True)])


def laid_table(folder: Path) -> Path:
    """A table file under the scene's camera, in which the colours of NAMES are wrong."""
    path = table_copy(folder)
    stored = read_table_data(path)
    points = PLACE.to_felt(np.array([(u, v) for u in (-180.0, 0, 180) for v in (-180.0, 0, 180)]))
    shown = scene_camera()[0].project(points)
    stored.data["camera"] = {
        "width_px": 900, "height_px": 900,
        "points": [
            {"felt_mm": felt.tolist(), "image_px": px.tolist()}
            for felt, px in zip(points, shown, strict=True)
        ],
    }  # fmt: skip
    stored.data["chips"] = {
        name: {
            "value_cents": kind.value_cents,
            "rgb": [128, 128, 128] if name in NAMES else list(kind.rgb),
        }
        for name, kind in CHIPS.items()
    }
    write_table_data(path, stored.data, stored.revision)
    return path


def on_stack(n: int, height: float = 0.5) -> list[float]:
    """A point of the image in the middle of a stack, at a share of its height."""
    _, calibration = scene_camera()
    base = PLACE.to_felt(np.array([WHERE[n]]))
    at = calibration.felt_to_image(calibration.lift(base, height * 6 * 3.3))
    return [float(v) for v in at[0]]
