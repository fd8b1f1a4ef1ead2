"""Tables under the camera of rendered stacks and cards, and what is laid out on them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection
from pathlib import Path

import numpy as np

from datasets.render.scene import CardItem
from datasets.simulate.laid_out import deck_rows
from models.weights.folder import default_weights
from settlement.record import JOKER
from surveillance.web.repositories.tablefiles import read_table_data, write_table_data
from tests.surveillance.web.tools_made import table_copy
from tests.vision.stack_scenes import PLACE, Scene, render, scene_camera
from vision.detect.openvino_runtime import CARD_FILE, LIKENESS
from vision.geometry.standard_layout import CHIPS

WHERE = ((-90.0, 0.0), (0.0, 0.0), (90.0, 0.0))
"""Where stacks stand, mm from PLACE."""

X, Y = PLACE.center_mm
JOKER_MM = (X + 5, Y - 4)
BACK_MM = (X + 120, Y)


def laid_table(folder: Path, wrong: Collection[str] = tuple(CHIPS)) -> Path:
    """A table file under the scene's camera, in which the colours of these chips are wrong."""
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
            "rgb": [128, 128, 128] if name in wrong else list(kind.rgb),
        }
        for name, kind in CHIPS.items()
    }
    write_table_data(path, stored.data, stored.revision)
    return path


def laid_stacks(*names: str) -> Scene:
    """One stack of six of each of these chips, at WHERE."""
    return render(31, [(at, [name] * 6) for at, name in zip(WHERE, names, strict=True)])


def laid_joker(card: str = JOKER) -> Scene:
    """A joker, or another `card`, at JOKER_MM, a card's back to its right."""
    cards = [
        CardItem("j", card, JOKER_MM, 20.0, face_up=True),
        CardItem("b", "AS", BACK_MM, 0.0, face_up=False),
    ]
    return render(5, [], cards)


def laid_deck(*, without: Collection[str] = ()) -> Scene:
    """A deck spread in rows about PLACE, but for the cards of `without`."""
    rows = deck_rows(np.random.default_rng(3), PLACE.center_mm, 3.0)
    return render(5, [], [card for card in rows if card.label not in without])


def pixel_of(felt_mm: tuple[float, float], above_mm: float = 0.0) -> list[float]:
    """Where the image shows a felt point, or what is so far above it."""
    _, calibration = scene_camera()
    at = calibration.felt_to_image(calibration.lift(np.array([felt_mm]), above_mm))
    return [float(v) for v in at[0]]


def plain_weights(folder: Path) -> Path:
    """The shipped weights without the network that compares with a deck's samples."""
    own = folder / "plain"
    shutil.copytree(default_weights(), own)
    card = json.loads((own / CARD_FILE).read_text())
    del card["models"][LIKENESS]
    (own / CARD_FILE).write_text(json.dumps(card))
    return own
