"""How reliably dice are read: rendered throws, as parts of 4K frames, coded in H.264 and decoded.

Every table has a camera, light, felt and set of dice of its own, and several places where dice are
thrown, seen from different sides. A throw is of dice that lie as they should, or one is cocked, two
are stacked, one is missing, some stand behind the cup, or there are none at all. Each is read from
several frames, as the watcher reads it. A frame is rendered, degraded and coded about the place
only, each by itself:

    python -m benchmarks.dice --tables 12 --throws 20 --seed 9100

A judging set is drawn by the hash of its name (`--name`), so that nobody chooses its seeds.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from time import process_time
from typing import Any

import cv2
import numpy as np

from datasets.render.appearance import chip_styles, felt_rgb, felt_texture, print_rgb, random_light
from datasets.render.banker_markers import MarkerLook
from datasets.render.cards.deck import Deck, Face
from datasets.render.dice import DiceLook, thrown
from datasets.render.light import glare, mixed_light
from datasets.render.painter import Painter, painting_order
from datasets.render.scene import Die, Item, StackItem
from datasets.render.sensor import CameraFaults, degrade
from datasets.simulate.shift import Scenery, Wishes
from models.intervals import wilson
from vision.detect.detections import ByteArray
from vision.dice.throw import DieReads, read_frame, total_of
from vision.geometry.calibration import Calibration
from vision.geometry.dice import DicePlace
from vision.geometry.table import FloatArray, Point

CASES = (("flat", 0.7), ("cocked", 0.1), ("stacked", 0.05), ("missing", 0.05), ("hidden", 0.05),
         ("empty", 0.05))  # fmt: skip
"""Kinds of throws; only flat dice have a total."""

PLACES: tuple[Point, ...] = (
    (780.0, 215.0), (1340.0, 230.0), (1065.0, 520.0), (620.0, 500.0), (1500.0, 330.0),
)  # fmt: skip
FRAMES = 3
SIZES_MM = (16.0, 19.0)
BLURRED = 0.2
"""So many of the tables have a camera out of focus."""

ABOUT_MM = 60.0
"""So far beyond the place a frame is rendered."""

SHAKE_PX = 0.4


@dataclass(frozen=True)
class Throw:
    """What lies at one place; `values` None: no total can be read."""

    case: str
    at_mm: Point
    items: tuple[Item, ...]
    values: tuple[int, ...] | None


@dataclass
class DiceTable:
    """A table with its dice and throws; `seed` draws everything."""

    seed: int
    rng: np.random.Generator = field(init=False)
    look: DiceLook = field(init=False)
    place: DicePlace = field(init=False)
    faults: CameraFaults = field(init=False)
    _painter: Painter = field(init=False)

    def __post_init__(self) -> None:
        """Draw the table, its camera and its dice."""
        self.rng = np.random.default_rng([self.seed, 6])
        rng = self.rng
        scenery = Scenery(Wishes(seed=self.seed, rounds=1, game="pai_gow_poker"))
        self.table = scenery.table
        self.camera = scenery.cameras[""]
        self.place = DicePlace(
            center_mm=PLACES[0], die_mm=SIZES_MM[self.seed % 2],
            height_mm=round(float(rng.uniform(0, 12)), 1),
        )  # fmt: skip
        self.look = DiceLook.draw(
            rng, self.place.die_mm, float(rng.uniform(96, 118)), self.place.height_mm
        )
        level = float(rng.uniform(0.8, 1.15))
        gains = [float(level * rng.uniform(0.94, 1.06)) for _ in range(3)]
        sharp = (0.4, 0.65) if rng.random() > BLURRED else (0.8, 1.6)
        self.faults = CameraFaults(
            gain=(gains[0], gains[1], gains[2]), gamma=float(rng.uniform(0.85, 1.15)),
            blur_px=float(rng.uniform(*sharp)), noise=float(rng.uniform(1.0, 3.0)), codec="h264",
            crf=int(rng.integers(22, 33)),
        )  # fmt: skip
        self._felt = felt_rgb(rng)
        self._ink = print_rgb(rng, self._felt)
        self._glare, self._uneven = float(rng.uniform(0, 0.5)), float(rng.uniform(0.1, 0.6))
        blank = Face(np.zeros((8, 8, 4), np.uint8))
        self._painter = Painter(
            canvas=np.zeros((8, 8, 3), np.uint8), to_px=self.camera.homography,
            foot_mm=self.camera.foot_mm, height_mm=self.camera.height_mm,
            deck=Deck("none", (63.0, 88.0), {}, blank), chips=chip_styles(rng, self.table.chips),
            lammers={}, lammer_mm={}, light=random_light(rng),
        )  # fmt: skip

    def throw(self, n: int) -> Throw:
        """The table's throw number `n`; to be asked for in order."""
        rng = self.rng
        names, shares = zip(*CASES, strict=True)
        case = str(rng.choice(names, p=shares))
        x, y = PLACES[n % len(PLACES)]
        at_mm = (x + float(rng.normal(0, 2)), y + float(rng.normal(0, 2)))
        values = tuple(int(v) for v in rng.integers(1, 7, self.place.count))
        dice = [] if case == "empty" else list(thrown(rng, values, self.look, at_mm))
        extra: list[Item] = []
        if case == "cocked":
            tilt, axis = float(rng.uniform(15, 45)), float(rng.uniform(0, 360))
            dice[0] = replace(dice[0], tilt_deg=tilt, tilt_axis_deg=axis)
        elif case == "stacked":
            near = (dice[0].center_mm[0] + 2.0, dice[0].center_mm[1] - 1.5)
            dice[1] = replace(dice[1], center_mm=near, base_mm=self.look.die_mm)
        elif case == "missing":
            dice = dice[:-1]
        elif case == "hidden":
            extra.append(self._cup(dice[0]))
        if rng.random() < 0.3:
            extra.append(self._chips(at_mm))
        self._painter.dice["dice"] = self.look
        items = (self.look.item("dice", at_mm, tuple(dice)), *extra)
        return Throw(case, (x, y), items, values if case == "flat" else None)

    def _cup(self, over: Die) -> Item:
        """The cup, which stands before a die, as the camera sees it, and hides it."""
        look = MarkerLook.draw("cup", self.rng)
        self._painter.markers["cup"] = look
        at, foot = np.asarray(over.center_mm), np.asarray(self.camera.foot_mm)
        away = (foot - at) / np.linalg.norm(foot - at)
        x, y = (at + away * self.rng.uniform(0.35, 0.6) * look.height_mm).tolist()
        return look.item("cup", (x, y), float(self.rng.uniform(0, 360)))

    def _chips(self, about: Point) -> StackItem:
        """A stack just beside the place."""
        turn, far = (
            self.rng.uniform(0, 2 * math.pi),
            self.place.radius_mm + self.rng.uniform(22, 40),
        )
        at = (about[0] + far * math.cos(turn), about[1] + far * math.sin(turn))
        colours = [str(v) for v in self.rng.choice(list(self.table.chips), 4)]
        return StackItem("chips", at, tuple(colours))

    def frames(self, throw: Throw) -> Iterator[ByteArray]:
        """FRAMES frames of a throw, uint8 (2160, 3840, 3) BGR, black but for the place."""
        reach = self.place.radius_mm + ABOUT_MM
        corners = np.asarray(throw.at_mm) + reach * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
        seen = self.camera.project(corners)
        x0, y0 = (np.floor(seen.min(axis=0)).astype(int) // 2 * 2).tolist()
        x1, y1 = (np.ceil(seen.max(axis=0)).astype(int) // 2 * 2).tolist()
        x0, y0 = max(0, x0), max(0, y0)
        x1, y1 = min(self.camera.width_px, x1), min(self.camera.height_px, y1)
        for _ in range(FRAMES):
            shake = self.rng.uniform(-SHAKE_PX, SHAKE_PX, 2)
            move = np.array([[1, 0, shake[0] - x0], [0, 1, shake[1] - y0], [0, 0, 1.0]])
            part = self._painted(throw, move @ self.camera.homography, (y1 - y0, x1 - x0))
            frame = np.zeros((self.camera.height_px, self.camera.width_px, 3), np.uint8)
            frame[y0:y1, x0:x1] = degrade(self.rng, part, self.faults)
            yield frame

    def _painted(self, throw: Throw, to_px: FloatArray, size: tuple[int, int]) -> ByteArray:
        """The place as the camera sees it, without its faults."""
        luck = np.random.default_rng([self.seed, 7])
        canvas = felt_texture(luck, *size, self._felt, 4.0)
        painter = self._painter
        painter.canvas, painter.to_px = canvas, to_px
        line = np.asarray(throw.at_mm) + np.array([[-90.0, 45.0], [120.0, 62.0]])
        a, b = (tuple(int(v) for v in row) for row in painter.px(line).round())
        cv2.line(canvas, a, b, self._ink[::-1], 4, cv2.LINE_AA)
        bare = canvas.copy()
        for item in painting_order(throw.items, self.camera.foot_mm):
            painter.paint(item)
        lit = mixed_light(luck, canvas, self._uneven)
        return glare(luck, lit, self._glare, bare)


@dataclass(frozen=True)
class Read:
    """One throw as it was read in its frames."""

    seed: int
    throw: Throw
    frames: list[DieReads]


def read_table(seed: int, throws: int) -> tuple[list[Read], float]:
    """Every throw of a table as it was read, and the CPU seconds that this took."""
    own = DiceTable(seed)
    assert own.table.camera is not None
    calibration = Calibration.fit(own.table.camera)
    out, spent = [], 0.0
    for n in range(throws):
        throw = own.throw(n)
        place = own.place.model_copy(update={"center_mm": throw.at_mm})
        images = list(own.frames(throw))
        begun = process_time()
        frames = [read_frame(image, calibration, place) for image in images]
        spent += process_time() - begun
        out.append(Read(seed, throw, frames))
    return out, spent


def seed_of(name: str) -> int:
    """The first seed of the judging set of that name.

    >>> seed_of("a name") == seed_of("a name")
    True
    """
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")


def bench_dice(*, tables: int, throws: int, seed: int) -> dict[str, Any]:
    """Count the throws whose total is read right, wrong or not at all; tables from `seed` on."""
    cases: Counter[tuple[str, str]] = Counter()
    spent, frames = 0.0, 0
    for number in range(tables):
        reads, seconds = read_table(seed + number, throws)
        spent += seconds
        for read in reads:
            frames += len(read.frames)
            said = total_of(read.frames)
            values = None if read.throw.values is None else sorted(read.throw.values)
            if said.values is None:
                outcome = "undecided"
            else:
                outcome = "right" if values == sorted(said.values) else "wrong"
            cases[read.throw.case, outcome] += 1
    flat = sum(cases["flat", outcome] for outcome in ("right", "wrong", "undecided"))
    every = sum(cases.values())
    wrong = sum(n for (_, outcome), n in cases.items() if outcome == "wrong")
    return {
        "tables": tables, "seeds": [seed, seed + tables - 1], "throws": every,
        "frames_per_throw": FRAMES,
        "flat_read_right": {"right": cases["flat", "right"], "of": flat,
                            "interval": wilson(cases["flat", "right"], flat)},
        "wrong": {"count": wrong, "of": every, "interval": wilson(wrong, every)},
        "by_case": {
            case: {o: cases[case, o] for o in ("right", "wrong", "undecided")} for case, _ in CASES
        },
        "cpu_ms_per_frame": round(1000 * spent / max(1, frames), 1),
    }  # fmt: skip


def main() -> None:
    """Run the benchmark and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--tables", type=int, default=12)
    parser.add_argument("--throws", type=int, default=20, help="at each table")
    parser.add_argument("--seed", type=int, default=9100, help="that of the first table")
    parser.add_argument("--name", help="of a judging set, in place of --seed")
    wanted = parser.parse_args()
    seed = wanted.seed if wanted.name is None else seed_of(wanted.name)
    found = bench_dice(tables=wanted.tables, throws=wanted.throws, seed=seed)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
