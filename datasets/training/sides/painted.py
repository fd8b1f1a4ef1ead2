"""Strips of stacks as the painter of simulated tables draws them (`datasets.render.chips`).

The painter shares no code with `datasets.training.sides.scene`: what was trained on one renderer
is judged on the other.
"""

from __future__ import annotations

import math

import cv2
import numpy as np
import numpy.typing as npt

from datasets.render.appearance import felt_rgb, felt_texture, print_rgb, random_light
from datasets.render.cards.deck import draw_deck
from datasets.render.painter import Painter, painting_order
from datasets.render.scene import Item, StackItem
from datasets.render.sensor import degrade, table_faults
from datasets.training.asset_pool import House
from datasets.training.sides.shards import MOST_KINDS, StripSet
from datasets.training.view_items import CHIP_COLOURS
from vision.chips.network_input.chip_sample import SAMPLE_CHIPS, cut_sample
from vision.chips.network_input.side_strip import (
    BELOW_CHIPS,
    MOST_CHIPS,
    ROWS_PER_CHIP,
    ChipSize,
    sample,
    strip_points,
)
from vision.geometry.table import CHIP_THICKNESS_MM

SCALE, SIDE_MM = 3.0, 240.0
LEAN_SHARE, UNTIDY_SHARE, NEIGHBOUR_SHARE = 0.3, 0.2, 0.4
LIKE_CHIPS = 0.25
"""Share of felts that are of a chip's colour."""

BOX_CHIPS, FAR_OFF, FAR_OFF_MM = 0.35, 0.2, 1.8
"""By how much a detector's box is wrong about a base: chips (0.31 measured on tune shift c of
models/EXPERIMENTS.md), and the share of boxes that are wrong by more, mm."""

SLIGHT_LEAN = 0.45
"""No stack that a hand lays is quite upright: of the lean of simulated tables' stacks this much."""


Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]


class _Table:
    """A house's chips under one camera and one light."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.house = House.draw(rng)
        self.names = [
            str(n) for n in rng.choice(CHIP_COLOURS, int(rng.integers(5, 9)), replace=False)
        ]
        self.height = float(rng.uniform(2300, 3600))
        self.tilt = math.radians(rng.uniform(20, 48))
        self.turn = float(rng.uniform(0, 2 * math.pi))
        away = self.height * math.tan(self.tilt)
        self.foot = np.array([away * math.cos(self.turn), away * math.sin(self.turn)])
        self.density = float(rng.uniform(1.2, 2.7))
        self.light = random_light(rng)
        self.faults = table_faults(rng)
        self.felt = felt_rgb(rng)
        if rng.random() < LIKE_CHIPS:
            body = self.house.looks[str(rng.choice(self.names))].rgb
            red, green, blue = np.clip(body + rng.normal(0, 8, 3), 12, 235).round().tolist()
            self.felt = (int(red), int(green), int(blue))
        self.ink = print_rgb(rng, self.felt)
        self.deck = draw_deck()
        spin = float(rng.uniform(0, 2 * math.pi))
        d = np.array([math.cos(self.turn), math.sin(self.turn)])
        r = np.array([[math.cos(spin), -math.sin(spin)], [math.sin(spin), math.cos(spin)]])
        squeeze = math.cos(self.tilt)
        self.linear = (
            r @ np.diag([self.density * squeeze, self.density]) @ np.array([d, [-d[1], d[0]]])
        )

    @property
    def px_per_chip(self) -> float:
        return CHIP_THICKNESS_MM * math.sin(self.tilt) * self.density

    def film(self, items: list[Item]) -> tuple[Bytes, Floats]:
        """The camera's image and the affine map (2, 3) from felt mm to its px."""
        rng, n = self.rng, round(SIDE_MM * SCALE)
        canvas = felt_texture(rng, n, n, self.felt, float(rng.uniform(1, 7)))
        for _ in range(int(rng.integers(0, 3))):
            at = (n / 2 + rng.normal(0, 12, 2) * SCALE).round().astype(int).tolist()
            cv2.circle(canvas, at, round(rng.uniform(24, 33) * SCALE), self.ink[::-1],
                       round(rng.uniform(1.5, 3) * SCALE), cv2.LINE_AA)  # fmt: skip
        to_canvas = np.array([[SCALE, 0, n / 2], [0, SCALE, n / 2]])
        painter = Painter(
            canvas=canvas, to_px=to_canvas, foot_mm=(float(self.foot[0]), float(self.foot[1])),
            height_mm=self.height, deck=self.deck, chips=self.house.looks,
            lammers=self.house.lammers, lammer_mm=self.house.lammer_mm, light=self.light,
            _sprites=self.house.sprites,
        )  # fmt: skip
        for item in painting_order(items, painter.foot_mm):
            painter.paint(item)
        m = round(SIDE_MM * self.density * 1.1)
        to_px = np.column_stack([self.linear, [m / 2, m / 2]])
        back = np.vstack([to_canvas, [0, 0, 1]])
        warp = np.vstack([to_px, [0, 0, 1]]) @ np.linalg.inv(back)
        # Averaged where the camera is coarser than the canvas.
        soft = cv2.GaussianBlur(painter.canvas, (0, 0), max(0.3, 0.4 * SCALE / self.density))
        seen = cv2.warpAffine(soft, warp[:2], (m, m), flags=cv2.INTER_LINEAR)
        return degrade(rng, np.asarray(seen, np.uint8), self.faults), to_px

    def strip(self, base: Floats, items: list[Item]) -> Bytes:
        """The strip of a stack believed to stand at `base`."""
        image, to_px = self.film(items)
        points = strip_points(self.foot, self.height, base, ChipSize())
        return sample(image, points @ to_px[:, :2].T + to_px[:, 2])

    def sampled(self, name: str) -> Bytes:
        item = StackItem(f"s{self.rng.integers(2**31)}", (0.0, 0.0), (name,) * SAMPLE_CHIPS)
        return cut_sample(self.strip(self.rng.normal(0, 0.7, 2), [item]))


def _colours(rng: np.random.Generator, names: list[str], n: int) -> list[int]:
    runs = int(min(n, rng.choice([1, 2, 3, 4], p=[0.4, 0.3, 0.2, 0.1]), len(names)))
    cuts = np.sort(rng.choice(np.arange(1, n), max(0, runs - 1), replace=False))
    own = rng.permutation(len(names))[:runs]
    return [int(v) for v in np.repeat(own, np.diff([0, *cuts, n]))]


def draw_painted(rng: np.random.Generator, tables: int, each: int) -> StripSet:
    """`each` strips of each of so many painted tables, in the form of `draw_strips`."""
    strips, count, colours, place, facts, samples, rgbs = [], [], [], [], [], [], []
    for t in range(tables):
        table = _Table(rng)
        many = len(table.names)
        own = [table.sampled(name) for name in table.names]
        samples.append(np.stack([*own, *([np.zeros_like(own[0])] * (MOST_KINDS - many))]))
        rgb = np.full((MOST_KINDS, 3), -1, np.int16)
        rgb[:many] = [table.house.looks[name].rgb for name in table.names]
        rgbs.append(rgb)
        up = -table.foot / np.hypot(*table.foot)
        per_chip = math.tan(table.tilt) * CHIP_THICKNESS_MM
        for _ in range(each):
            n = int(rng.integers(1, MOST_CHIPS + 1))
            kinds = _colours(rng, table.names, n)
            slight = min(2.0, 0.12 * n) * SLIGHT_LEAN if n > 2 else 0.0
            lean, far = (float(rng.normal(0, slight)), float(rng.normal(0, slight))), 0.0
            if rng.random() < LEAN_SHARE:
                a, far = rng.uniform(0, 2 * math.pi), abs(rng.normal(0, 0.5))
                lean = (far * n * math.cos(a), far * n * math.sin(a))
            untidy = float(rng.uniform(0.1, 0.6)) if rng.random() < UNTIDY_SHARE else 0.0
            tag = str(rng.integers(2**31))
            main = StackItem(
                f"m{tag}", (0.0, 0.0), tuple(table.names[k] for k in kinds), lean, untidy
            )
            items: list[Item] = [main]
            before = 0.0
            if rng.random() < NEIGHBOUR_SHARE:
                turn = (
                    table.turn + rng.normal(0, 0.6) if rng.random() < 0.4 else rng.uniform(0, 6.28)
                )
                away = float(rng.uniform(40, 50))
                other = _colours(rng, table.names, int(rng.integers(1, 12)))
                at = (away * math.cos(turn), away * math.sin(turn))
                items.append(StackItem(f"n{tag}", at, tuple(table.names[k] for k in other)))
                before = max(0.0, math.cos(turn - table.turn))
            wrong = FAR_OFF_MM if rng.random() < FAR_OFF else BOX_CHIPS * per_chip
            along = float(np.clip(rng.normal(0, wrong), -3 * per_chip, 3 * per_chip))
            base = up * along + np.array([-up[1], up[0]]) * rng.normal(0, 1.1)
            strip = table.strip(base, items)
            strips.append(np.dstack([strip, np.zeros(strip.shape[:2], np.uint8)]))
            count.append(n)
            row = np.full(MOST_CHIPS, -1, np.int8)
            row[:n] = kinds
            colours.append(row)
            place.append(t)
            facts.append([
                ROWS_PER_CHIP * (BELOW_CHIPS - along / per_chip), table.px_per_chip,
                math.sin(table.tilt), 1 - before, max(far, untidy), 0.0,
            ])  # fmt: skip
    rgb_all = np.stack(rgbs)
    return StripSet(
        np.stack(strips), np.array(count, np.int8), np.stack(colours), np.array(place, np.int32),
        np.array(facts, np.float32), np.stack(samples), rgb_all,
        np.stack(samples).mean(axis=(2, 3)).astype(np.uint8),
    )  # fmt: skip
