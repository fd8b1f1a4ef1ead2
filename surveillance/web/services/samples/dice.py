"""Where a table's dice lie open, and what an image shows of them there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from pydantic import JsonValue

from surveillance.web.schemas.dice import DiceForm, DieForm
from surveillance.web.services.errors import RefusedError
from surveillance.web.services.samples.laid_pictures import LaidPicture, sound_table
from vision.dice.throw import LEAST_FRAMES, SURE_DIE, read_frame, total_of
from vision.geometry.dice import dice_faults
from vision.geometry.table import FloatArray

CIRCLE = 36
"""Points of the drawn rim."""


def dice_look(
    data: Mapping[str, JsonValue], picture: Path, at_px: tuple[float, float] | None
) -> DiceForm:
    """The place of the dice about a point, or as the table file's `data` has it, and what is read.

    Raises RefusedError where data, image or place will not do.
    """
    known = data.get("dice")
    dice = dict(known) if isinstance(known, dict) else {}
    if at_px is None and "center_mm" not in dice:
        raise RefusedError("the table file has no dice yet: point at the middle of their place")
    table = sound_table({**data, "dice": {"center_mm": [0.0, 0.0], **dice}})
    place = table.dice
    assert place is not None
    laid = LaidPicture.of(table, picture)
    if at_px is not None:
        felt_mm = np.array([laid.felt_mm(at_px)])
        (x, y) = laid.calibration.under(felt_mm, place.height_mm)[0].tolist()
        place = place.model_copy(update={"center_mm": (round(x, 1), round(y, 1))})
        table = table.model_copy(update={"dice": place})
        dice["center_mm"] = list(place.center_mm)
    for key, message in dice_faults(table):
        raise RefusedError(f"{key}: {message}")
    upper = place.height_mm + place.die_mm

    def px(points_mm: FloatArray) -> list[tuple[float, float]]:
        lifted = laid.calibration.lift(points_mm, upper)
        shown = laid.calibration.felt_to_image(lifted) / laid.scale
        return [(float(x), float(y)) for x, y in shown]

    turn = np.arange(CIRCLE) * 2 * math.pi / CIRCLE
    rim = np.stack([np.cos(turn), np.sin(turn)], axis=-1) * place.radius_mm + place.center_mm
    found = read_frame(laid.frame, laid.calibration, place)
    sure = [one for one in found if one.die >= SURE_DIE]
    at = px(np.array([one.at_mm for one in sure]).reshape(-1, 2))
    # The image stands for all frames in which the dice would lie so.
    total = total_of([found] * LEAST_FRAMES, place.count)
    return DiceForm(
        dice=dice,
        outline_px=px(rim),
        seen=[
            DieForm(value=one.value, probability=one.die * max(one.faces), at_px=where)
            for one, where in zip(sure, at, strict=True)
        ],
        total=total.total, probability=total.probability, why=total.doubt,
    )  # fmt: skip
