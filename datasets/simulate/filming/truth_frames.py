"""What each frame of a shift shows: outlines and boxes of all that lies there, and how much
of it is seen.

Everything comes from the geometry that the frames are drawn with: the outlines of
`datasets.render.boxes`, the camera with its lens and shake, the arms as they are laid. One JSON
object per frame, gzipped:

    {"pts": 412, "t_s": 27.467, "trouble": "camera/dark", "objects": [
      {"key": "r1.3.card2", "class": "index", "card": "QH", "seat": 3,
       "box_px": [x0, y0, x1, y1], "polygon_px": [[x, y], ...], "visible": 0.87}]}

`class` is one of the model's own (index, joker, back, chip, lammer_envy, ...), 'card' for
the whole of a card that lies face up, or 'arm'. A 'chip' is a stack, with its colours.
The polygon of an index or joker goes round as it reads: top left, top right, bottom right and
bottom left corner. `visible` is the share of the outline, beyond the frame's edge included,
that nothing hides. Where a camera's trouble is named the boxes are those of the camera in order.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import cv2
import numpy as np
import numpy.typing as npt

from datasets.render.arms import draw_arm, lay_arm
from datasets.render.boxes import item_outlines
from datasets.render.cards.deck import Deck
from datasets.render.painter import Painter, card_corners, painting_order
from datasets.render.scene import (
    CardItem,
    DiceItem,
    DisplayItem,
    FeltState,
    SensorItem,
    ShiftPlan,
    StackItem,
)
from datasets.simulate.filming.film import Film
from vision.geometry.table import FloatArray

SCALE = 2
"""Who hides whom is worked out on a raster this much coarser than the frame."""

ARM_SOLID = 128
Owners = npt.NDArray[np.int32]


@dataclass
class FrameTruth:
    """The truth of a shift's frames one after another, as `film` draws them."""

    film: Film
    plan: ShiftPlan
    _state: FeltState = field(default_factory=FeltState)
    _at: int = 0
    _parts: list[tuple[dict[str, Any], FloatArray, int]] = field(default_factory=list)
    _owners: Owners = field(init=False)
    _objects: list[dict[str, Any]] = field(default_factory=list)
    _stale: bool = True

    def __post_init__(self) -> None:
        camera = self.film.camera
        self._painter = painter_for(self.film, self.film.deck)
        shape = (camera.height_px // SCALE + 1, camera.width_px // SCALE + 1)
        self._owners = np.zeros(shape, np.int32)

    def objects(self, t_s: float) -> list[dict[str, Any]]:
        """All that lies on the felt at a time of the plan, later than those asked before."""
        changes = self.plan.changes
        while self._at < len(changes) and changes[self._at].t_s <= t_s:
            self._state.apply(changes[self._at])
            self._at += 1
            self._stale = True
        if self._stale:
            self._outline()
            self._objects = self._seen(self._owners)
            self._stale = False
        arms = self._arms(t_s)
        if arms is None:
            objects = self._objects
        else:
            mask, outlines = arms
            owners = np.where(mask, -1, self._owners).astype(np.int32)
            objects = [*self._seen(owners), *outlines]
        dx, dy = self.film.shift_px(t_s)
        return [_shifted(one, dx, dy) for one in objects]

    def _outline(self) -> None:
        """Outlines in px of all items, and who owns each px of the raster."""
        camera, painter = self.film.camera, self._painter
        self._parts = []
        self._owners[:] = 0
        for number, item in enumerate(
            painting_order(self._state.items.values(), camera.foot_mm), start=1
        ):
            if isinstance(item, DisplayItem | SensorItem | DiceItem):
                continue
            outlines = item_outlines(item, painter)
            solid = outlines[0][1]
            if isinstance(item, CardItem):
                solid = card_corners(item, painter.deck.size_mm)
                if item.face_up:
                    outlines = [("card", solid, item.label), *outlines]
            cv2.fillConvexPoly(self._owners, _coarse(camera.project(solid)), number)
            for kind, outline, card in outlines:
                thing: dict[str, Any] = {"key": item.key, "class": kind}
                if card is not None:
                    thing["card"] = card
                if isinstance(item, StackItem):
                    thing["colours"] = list(item.colours)
                owner = item.key.split(".")[1] if "." in item.key else ""
                if owner.isdecimal() and item.key.startswith("r") and "rack" not in item.key:
                    thing["seat"] = int(owner)
                self._parts.append((thing, camera.project(outline), number))

    def _seen(self, owners: Owners) -> list[dict[str, Any]]:
        """Every outline with its box and the share of it that nothing hides."""
        found = []
        for thing, px, number in self._parts:
            share = _share(px, owners, number)
            low, high = px.min(axis=0), px.max(axis=0)
            found.append(
                {
                    **thing,
                    "box_px": [*_round(low), *_round(high)],
                    "polygon_px": [_round(point) for point in px],
                    "visible": round(share, 3),
                }
            )
        return found

    def _arms(self, t_s: float) -> tuple[npt.NDArray[np.bool_], list[dict[str, Any]]] | None:
        """What the arms cover of the raster, and each arm's box."""
        reaches = [r for r in self.plan.reaches if r.t0_s <= t_s <= r.t1_s]
        if not reaches:
            return None
        shape = self._owners.shape
        whole = np.zeros(shape, np.uint8)
        objects = []
        canvas = np.zeros((*shape, 3), np.uint8)
        for reach in reaches:
            look, (shoulder, hand), scale = self.film._arm(reach, t_s)
            mask = np.zeros(shape, np.uint8)
            lay_arm(canvas, draw_arm(look), shoulder / SCALE, hand / SCALE, scale / SCALE,
                    depth=0.0, mask=mask)  # fmt: skip
            rows, columns = np.flatnonzero(mask.max(axis=1)), np.flatnonzero(mask.max(axis=0))
            if rows.size:
                low = (float(columns[0]) * SCALE, float(rows[0]) * SCALE)
                high = (float(columns[-1] + 1) * SCALE, float(rows[-1] + 1) * SCALE)
                objects.append(
                    {"key": f"arm.{reach.who}", "class": "arm", "box_px": [*low, *high],
                     "polygon_px": [list(low), [high[0], low[1]], list(high), [low[0], high[1]]],
                     "visible": 1.0}
                )  # fmt: skip
            np.maximum(whole, mask, out=whole)
        return whole >= ARM_SOLID, objects


def painter_for(film: Film, deck: Deck) -> Painter:
    """What `item_outlines` needs to know of a film: camera, deck and sizes; it never paints."""
    camera = film.camera
    return Painter(
        canvas=np.zeros((1, 1, 3), np.uint8), to_px=camera.homography, foot_mm=camera.foot_mm,
        height_mm=camera.height_mm, deck=deck, chips={}, lammers={},
        lammer_mm={kind: lammer.diameter_mm for kind, lammer in film.table.lammers.items()},
        lens=camera.lens,
    )  # fmt: skip


def _coarse(px: FloatArray) -> npt.NDArray[np.int32]:
    return np.round(px / SCALE).astype(np.int32)


def _round(point: FloatArray) -> list[float]:
    return [round(float(v), 1) for v in point]


def _share(px: FloatArray, owners: Owners, number: int) -> float:
    """The share of an outline's area that its item owns in the raster."""
    points = _coarse(px)
    low, high = points.min(axis=0), points.max(axis=0) + 1
    mask = np.zeros((high[1] - low[1], high[0] - low[0]), np.uint8)
    cv2.fillPoly(mask, [points - low], 1)
    total = int(np.count_nonzero(mask))
    inside_low = np.maximum(low, 0)
    inside_high = np.minimum(high, owners.shape[::-1])
    if total == 0 or (inside_high <= inside_low).any():
        return 0.0
    (x0, y0), (x1, y1) = inside_low.tolist(), inside_high.tolist()
    own = owners[y0:y1, x0:x1] == number
    part = mask[y0 - low[1] : y1 - low[1], x0 - low[0] : x1 - low[0]]
    return float(np.count_nonzero(own & (part > 0))) / total


def _shifted(thing: dict[str, Any], dx: float, dy: float) -> dict[str, Any]:
    if not (dx or dy):
        return thing
    x0, y0, x1, y1 = thing["box_px"]
    return {
        **thing,
        "box_px": [round(v, 2) for v in (x0 + dx, y0 + dy, x1 + dx, y1 + dy)],
        "polygon_px": [[round(x + dx, 2), round(y + dy, 2)] for x, y in thing["polygon_px"]],
    }


class FrameLog:
    """Writes one line per frame into a gzipped JSONL file; used in a `with`."""

    def __init__(self, path: Path) -> None:
        """Write to `path`."""
        self._path = path

    def __enter__(self) -> Self:
        self._file = gzip.open(self._path, "wt", encoding="utf-8", compresslevel=5)
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(
        self, pts: int, t_s: float, objects: Sequence[dict[str, Any]], trouble: str | None = None
    ) -> None:
        """One frame: its number in the shift, its time, what is on it, the camera's trouble."""
        line: dict[str, Any] = {"pts": pts, "t_s": round(t_s, 4)}
        if trouble:
            line["trouble"] = trouble
        line["objects"] = list(objects)
        self._file.write(json.dumps(line, separators=(",", ":")) + "\n")


def read_frames(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of such a file, one at a time."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
