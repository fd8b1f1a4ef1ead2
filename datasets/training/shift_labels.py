"""What the truth of a recording's image says of one view: boxes, and crops of the indices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from datasets.render.boxes import PARTLY_PX, PARTLY_VISIBLE, Box
from datasets.render.cards.deck import Picture
from datasets.training.shift_moments import NO_THINGS
from datasets.training.training_set import CROP_MARGIN, CROP_PX, NONE_CLASS
from settlement.record import DECK_LABELS
from vision.geometry.calibration import Calibration, view_to_felt
from vision.geometry.table import VIEW_MM, FloatArray, Place, TableFile

LEAST_CROP_PX = 9


@dataclass(frozen=True, slots=True, eq=False)
class SeenBox:
    """A box of a view, and the colours of a stack from the bottom up.

    What is not `asked` need not be found, however much of it is seen.
    """

    box: Box
    colours: tuple[str, ...] | None = None
    asked: bool = True

    @property
    def labelled(self) -> bool:
        """Whether it has to be found."""
        return self.asked and self.box.labelled

    def as_dict(self) -> dict[str, Any]:
        """An entry of `boxes/`."""
        box = self.box
        entry: dict[str, Any] = {
            "kind": box.kind, "xyxy": [round(v, 2) for v in box.xyxy],
            "visible": round(box.visible, 3), "card": box.card, "labelled": self.labelled,
            "quad": None if box.quad is None else np.round(box.quad, 2).tolist(),
        }  # fmt: skip
        if self.colours is not None:
            entry["colours"] = list(self.colours)
        return entry


def boxes_in_view(
    objects: Sequence[Mapping[str, Any]], calibration: Calibration, place: Place, size: int
) -> tuple[SeenBox, ...]:
    """The boxes of an image's truth in a view of it, (n) px of the view as its pixels count.

    What the view's edge cuts is less seen by as much of its box. Those of which hardly
    anything is seen are left out, as in rendered sets.
    """
    out = []
    for one in objects:
        if one["class"] in NO_THINGS or one["visible"] < PARTLY_VISIBLE:
            continue
        felt = calibration.image_to_felt(np.asarray(one["polygon_px"], np.float64))
        quad = (place.to_local(felt) + VIEW_MM / 2) * (size / VIEW_MM) - 0.5
        x0, y0 = quad.min(axis=0).tolist()
        x1, y1 = quad.max(axis=0).tolist()
        left, top, right, bottom = max(0.0, x0), max(0.0, y0), min(size, x1), min(size, y1)
        if min(right - left, bottom - top) < PARTLY_PX:
            continue
        kept = (right - left) * (bottom - top) / max(1e-6, (x1 - x0) * (y1 - y0))
        visible = float(one["visible"]) * kept
        if visible < PARTLY_VISIBLE:
            continue
        card = one.get("card")
        colours = tuple(one["colours"]) if "colours" in one else None
        xyxy = (left, top, float(right), float(bottom))
        box = Box(str(one["class"]), xyxy, visible, card, None if card is None else quad)
        out.append(SeenBox(box, colours))
    return tuple(out)


def tray_in_view(table: TableFile, place: Place, size: int) -> SeenBox | None:
    """The dealer's tray in a view: chips lie in its tubes, and finding them is no mistake."""
    tray = (place.to_local(table.dealer.tray.array) + VIEW_MM / 2) * (size / VIEW_MM) - 0.5
    low, high = tray.min(axis=0), tray.max(axis=0)
    (x0, y0), (x1, y1) = np.maximum(low, 0.0).tolist(), np.minimum(high, size).tolist()
    if min(x1 - x0, y1 - y0) < PARTLY_PX:
        return None
    seen = (x1 - x0) * (y1 - y0) / float(np.prod(high - low))
    return SeenBox(Box("chip", (x0, y0, x1, y1), seen), asked=False)


def index_crop(
    frame: Picture, calibration: Calibration, place: Place, quad: FloatArray, size: int
) -> Picture:
    """The square about an index, upright, from the full image; uint8 (64, 64, 3).

    `quad` (4, 2) px of a view of `size` px, as in `datasets.render.boxes.Box.quad`.
    """
    center = quad.mean(axis=0)
    right = (quad[1] - quad[0] + quad[2] - quad[3]) / 2
    down = (quad[3] - quad[0] + quad[2] - quad[1]) / 2
    long = max(float(np.hypot(*right)), float(np.hypot(*down)))
    step = CROP_MARGIN * long / CROP_PX
    axis = down / max(1e-6, float(np.hypot(*down)))
    across = np.array([axis[1], -axis[0]])
    corner = center - (CROP_PX - 1) / 2 * step * (across + axis)
    patch = np.vstack([np.column_stack([across * step, axis * step, corner]), [0, 0, 1]])
    to_felt = view_to_felt(place, size) @ patch
    return calibration.warp_patch(frame, to_felt, (CROP_PX, CROP_PX))


def view_crops(
    rng: np.random.Generator, frame: Picture, calibration: Calibration, place: Place,
    seen: Sequence[SeenBox], size: int,
) -> Iterator[tuple[Picture, int]]:  # fmt: skip
    """Crops of the indices to be read, and one of what is none, with their classes."""
    for one in seen:
        box = one.box
        if box.card is None or box.quad is None or not one.labelled:
            continue
        sides = box.quad[1] - box.quad[0], box.quad[3] - box.quad[0]
        if max(float(np.hypot(*side)) for side in sides) >= LEAST_CROP_PX:
            crop = index_crop(frame, calibration, place, box.quad, size)
            yield crop, DECK_LABELS.index(box.card)
    center = rng.uniform(0.1 * size, 0.9 * size, 2)
    half = float(rng.uniform(10, 40)) * size / 640
    for one in seen:
        x0, y0, x1, y1 = one.box.xyxy
        inside = x0 - half < center[0] < x1 + half and y0 - half < center[1] < y1 + half
        if one.box.card is not None and inside:
            return
    square = center + half / CROP_MARGIN * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    yield index_crop(frame, calibration, place, square, size), NONE_CLASS
