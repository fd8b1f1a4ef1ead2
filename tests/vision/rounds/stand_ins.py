"""Stand-ins for the models that are told what lies on the felt, and where they look."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import av
import numpy as np
import pytest

from datasets.render.appearance import lammer_sprites
from datasets.render.boxes import boxes_of, item_outlines
from datasets.render.camera import SyntheticCamera
from datasets.render.cards.deck import Deck
from datasets.render.chips import ChipLook
from datasets.render.painter import Painter, painting_order
from datasets.render.scene import CardItem, FeltState, Item, ShiftPlan, StackItem
from datasets.simulate.filming.film import Film
from settlement.record import DECK_LABELS
from tests.vision.painted import NAMES
from vision.chips import reading
from vision.chips.network_input.side_strip import (
    BELOW_CHIPS,
    COLUMNS,
    MOST_CHIPS,
    ROWS,
    ROWS_PER_CHIP,
)
from vision.chips.side_chain import FEWEST_ROWS, MOST_ROWS, Potentials
from vision.chips.side_palette import Palette
from vision.detect.detections import ByteArray, Detections, Floats
from vision.geometry.calibration import Calibration
from vision.geometry.table import FloatArray, TableFile
from vision.networks import Networks
from vision.sources.base import Frame

SIZE = 640
NEAR_MM = 330.0


class World:
    """What lies on the felt now; its detector, reader and stack reader answer from that.

    They know where they are asked to look from the patches that were cut last, so that they
    need no frames; everything else is the watcher's own work.
    """

    size = SIZE

    def __init__(self, table: TableFile, camera: SyntheticCamera, deck: Deck) -> None:
        self.items: Mapping[str, Item] = {}
        self.table, self.camera, self.deck = table, camera, deck
        self.networks = Networks(self, self, WorldStacks(self))
        self._patches: list[FloatArray] = []
        self._bases: list[FloatArray] = []
        looks = {name: ChipLook(kind.rgb) for name, kind in table.chips.items()}
        sprites, sizes = lammer_sprites(np.random.default_rng(1), table.lammers, vary=False)
        self._parts: tuple[Any, ...] = (deck, looks, sprites, sizes)

    def watch_patches(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Note every patch that is cut from a frame."""
        cut: Callable[..., ByteArray] = Calibration.warp_patch

        def noted(own: Calibration, image: ByteArray, matrix: FloatArray, *rest: Any) -> ByteArray:
            self._patches = [*self._patches[-200:], matrix]
            return cut(own, image, matrix, *rest)

        monkeypatch.setattr(Calibration, "warp_patch", noted)

        def unrolled(
            frame: ByteArray, calibration: Calibration, base: FloatArray, *rest: Any
        ) -> ByteArray:
            self._bases = [*self._bases[-100:], base]
            return np.zeros((ROWS, COLUMNS, 3), np.uint8)

        monkeypatch.setattr(reading, "cut_strip", unrolled)

    def _painter(self, to_px: FloatArray) -> Painter:
        canvas = np.zeros((SIZE, SIZE, 3), np.uint8)
        return Painter(canvas, to_px[:2], self.camera.foot_mm, self.camera.height_mm, *self._parts)

    def find(self, views: Sequence[ByteArray], *, least: float | None = None) -> list[Detections]:
        """The boxes of what lies in the views cut last; none is fainter than its threshold."""
        if least is not None:
            return [Detections.empty(NAMES) for _ in views]
        return [self._find(matrix) for matrix in self._patches[-len(views) :]]

    def _find(self, to_felt: FloatArray) -> Detections:
        painter = self._painter(np.linalg.inv(to_felt).astype(np.float64))
        middle = to_felt @ (SIZE / 2, SIZE / 2, 1.0)
        near = [i for i in self.items.values() if math.dist(i.center_mm, middle[:2]) < NEAR_MM]
        boxes = boxes_of(painting_order(near, self.camera.foot_mm), painter, np.eye(3), SIZE)
        return Detections(
            np.array([b.xyxy for b in boxes], np.float32).reshape(-1, 4),
            np.full(len(boxes), 0.9, np.float32),
            np.array([NAMES.index(b.kind) for b in boxes], np.int64), NAMES,
        )  # fmt: skip

    def read(self, crops: ByteArray) -> Floats:
        """The index that stands upright in each crop, or none."""
        shares = np.full((len(crops), len(DECK_LABELS) + 1), 0.0004, np.float32)
        known = [
            (quad.mean(axis=0), quad[3] - quad[0], DECK_LABELS.index(card))
            for item in self.items.values()
            if isinstance(item, CardItem)
            for _, quad, card in item_outlines(item, self._painter(np.eye(3)))
            if card is not None
        ]
        for k, matrix in enumerate(self._patches[-len(crops) :]):
            middle, down = (matrix @ (31.5, 31.5, 1.0))[:2], matrix[:2, 1]
            fits = [
                label
                for at, own, label in known
                if math.dist(at, middle) < 4
                and own @ down > 0.8 * math.hypot(*own) * math.hypot(*down)
            ]
            shares[k, fits[0] if len(fits) == 1 else len(DECK_LABELS)] = 0.978
        return shares

    def potentials(self, strips: ByteArray, palette: Palette) -> list[Potentials]:
        """Those of the stacks on whose bases the strips were set."""
        stacks = [i for i in self.items.values() if isinstance(i, StackItem)]
        out = []
        for base in self._bases[-len(strips) :]:
            own = min(stacks, key=lambda s: math.dist(s.center_mm, base))
            chips = tuple(palette.names.index(name) for name in own.colours)
            out.append(potentials_of(chips, len(palette.names)))
        return out


def potentials_of(
    chips: Sequence[int], kinds: int, sure: float = 30.0, first: int | None = None
) -> Potentials:
    """Potentials of a stack of such places in a palette, `sure` more likely than any other."""
    first = round(BELOW_CHIPS * ROWS_PER_CHIP) if first is None else first
    edges = np.zeros((3, ROWS + 1))
    edges[0, first] = edges[2, first + ROWS_PER_CHIP * len(chips)] = sure
    looks = np.full((ROWS, kinds), -sure)
    for k, chip in enumerate(chips):
        looks[first + ROWS_PER_CHIP * k : first + ROWS_PER_CHIP * (k + 1), chip] = sure
        edges[1, first + ROWS_PER_CHIP * (k + 1)] = sure
    numbers = np.zeros(MOST_CHIPS + 1)
    numbers[len(chips)] = sure
    durations = np.full(MOST_ROWS - FEWEST_ROWS + 1, -sure)
    durations[ROWS_PER_CHIP - FEWEST_ROWS] = 0.0
    return Potentials(edges, looks, numbers, durations)


def shots(film: Film, world: World, plan: ShiftPlan, fps: int) -> Iterator[Frame]:
    """The plan's frames; the world goes with them."""
    state, left = FeltState(), sorted(plan.changes, key=lambda c: c.t_s)
    for k, (t, planes) in enumerate(film.frames(plan, fps)):
        while left and left[0].t_s <= t:
            state.apply(left.pop(0))
        world.items = state.items
        yield frame_of(planes, k, fps)


def frame_of(planes: ByteArray, k: int, fps: int) -> Frame:
    """A frame of planes of yuv420p, the k-th of a film."""
    shot = av.VideoFrame.from_ndarray(planes, format="yuv420p")
    return Frame("film", k, Fraction(k, fps), shot)


class WorldStacks:
    """The stack reader's side of a world."""

    temperature = 1.0

    def __init__(self, world: World) -> None:
        self.world = world

    def read(
        self, strips: ByteArray, px_per_chip: Sequence[float], off_vertical: Sequence[float],
        palette: Palette,
    ) -> list[Potentials]:  # fmt: skip
        """The potentials of the world's own stacks."""
        return self.world.potentials(strips, palette)
