"""Rendered crops of chip stacks with their counts, to train the stack reader on."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path

import cv2
import numpy as np

from datasets.render.appearance import (
    degrade,
    felt_rgb,
    felt_texture,
    print_rgb,
    random_light,
    table_faults,
)
from datasets.render.cards.deck import Deck, Picture, draw_deck
from datasets.render.painter import Painter, painting_order
from datasets.render.scene import Item, LammerItem, StackItem
from datasets.training.asset_pool import House
from datasets.training.views import CHIP_COLOURS
from vision.chips.network_input.count_crop import (
    COUNT_NAMES,
    CROP_PX,
    MOST_COUNTED,
    StackAxes,
    crop_to_felt,
)
from vision.geometry.table import CHIP_THICKNESS_MM, FloatArray, Point

SCALE = 2.6
SIDE_MM = 150.0
SHARD = 1500
CROPS_PER_HOUSE = 12
ALIKE_SHARE = 0.3
FRONT_SHARE = 0.4


def _colours(rng: np.random.Generator, n: int) -> tuple[str, ...]:
    kinds = int(min(n, rng.choice([1, 2, 3, 4], p=[0.4, 0.3, 0.2, 0.1])))
    names = rng.choice(CHIP_COLOURS, kinds, replace=False)
    cuts: list[int] = []
    if kinds > 1:
        cuts = np.sort(rng.choice(np.arange(1, n), kinds - 1, replace=False)).tolist()
    out: list[str] = []
    for name, count in zip(names, np.diff([0, *cuts, n]), strict=True):
        out += [str(name)] * int(count)
    return tuple(out)


def _count(rng: np.random.Generator) -> int:
    chance = rng.random()
    if chance < 0.3:
        return int(rng.integers(1, 3))
    if chance < 0.8:
        return int(rng.integers(1, 9))
    return int(rng.integers(1, 17))


@dataclass(frozen=True, slots=True, eq=False)
class DrawnStack:
    """One stack standing at (0, 0) of a piece of felt, as a camera shows it.

    `picture` uint8 (m, m, 3) BGR, `felt_to_picture` (3, 3) from felt mm to its pixels, the
    felt point under the camera and its height in mm, the stack's colours from the bottom up
    and its directions. Where something stands before it, the found box begins `late` chips
    too far up.
    """

    picture: Picture
    felt_to_picture: FloatArray
    foot_mm: Point
    camera_mm: float
    colours: tuple[str, ...]
    axes: StackAxes
    late: float


def draw_stack(rng: np.random.Generator, deck: Deck, house: House) -> DrawnStack:
    """A stack on felt of any colour, with print, other stacks and lammers about it."""
    n_px = round(SIDE_MM * SCALE)
    height = float(rng.uniform(2300, 3600))
    a = rng.uniform(0, 2 * math.pi)
    tilt = math.radians(rng.uniform(19, 48))
    away = height * math.tan(tilt)
    foot = (float(away * math.cos(a)), float(away * math.sin(a)))
    rgb = felt_rgb(rng)
    if rng.random() < ALIKE_SHARE:
        # Felt of a chip's colour: the rim is told by its shade alone.
        body = house.looks[str(rng.choice(CHIP_COLOURS[:6]))].rgb
        near = np.array(body) * rng.uniform(0.6, 1.5) + rng.normal(0, 14, 3)
        rgb = tuple(int(v) for v in np.clip(near, 8, 235))  # type: ignore[assignment]
    ground = felt_texture(rng, n_px, n_px, rgb, float(rng.uniform(1, 7)))
    ink = print_rgb(rng, rgb)[::-1]
    mid = n_px / 2
    for _ in range(int(rng.integers(0, 3))):
        off = rng.normal(0, 9, 2) * SCALE
        center = (round(mid + off[0]), round(mid + off[1]))
        cv2.circle(
            ground,
            center,
            round(rng.uniform(24, 33) * SCALE),
            ink,
            round(rng.uniform(1.5, 3) * SCALE),
            cv2.LINE_AA,
        )
    if rng.random() < 0.3:
        p, q = rng.uniform(0, n_px, (2, 2)).round().astype(int).tolist()
        cv2.line(ground, tuple(p), tuple(q), ink, round(2.4 * SCALE), cv2.LINE_AA)
    if rng.random() < 0.5:
        at = (round(mid + rng.uniform(-45, 20) * SCALE), round(mid + rng.uniform(-25, 25) * SCALE))
        cv2.putText(
            ground, "INSURANCE", at, cv2.FONT_HERSHEY_DUPLEX, 0.22 * SCALE, ink, 1, cv2.LINE_AA
        )
    painter = Painter(
        canvas=ground, to_px=np.array([[SCALE, 0, mid], [0, SCALE, mid]]), foot_mm=foot,
        height_mm=height, deck=deck, chips=house.looks, lammers=house.lammers,
        lammer_mm=house.lammer_mm, light=random_light(rng), _sprites=house.sprites,
    )  # fmt: skip
    n = _count(rng)
    tag = str(rng.integers(2**31))
    colours = _colours(rng, n)
    items: list[Item] = [StackItem(f"m{tag}", (0.0, 0.0), colours)]
    before = False
    for k in range(int(rng.choice([0, 1, 2], p=[0.5, 0.35, 0.15]))):
        turn = rng.uniform(0, 2 * math.pi)
        far = rng.uniform(40.0, 52.0)
        if rng.random() < FRONT_SHARE:
            turn = a + rng.normal(0, 0.45)
            far = rng.uniform(40.5, 46.0)
        where = (float(far * math.cos(turn)), float(far * math.sin(turn)))
        if rng.random() < 0.75:
            before = before or abs((turn - a + math.pi) % (2 * math.pi) - math.pi) < 0.7
            items.append(StackItem(f"n{k}{tag}", where, _colours(rng, int(rng.integers(1, 9)))))
        else:
            items.append(LammerItem(f"l{k}", "envy", where, float(rng.uniform(0, 360))))
    for item in painting_order(items, foot):
        painter.paint(item)
    # What stands before the stack hides its base, and the found box begins late.
    late = float(rng.uniform(0, 2.2)) if before and rng.random() < 0.7 else 0.0
    # The camera's own raster, foreshortened along the line to its foot.
    density = float(rng.uniform(1.25, 2.1))
    d = np.array([math.cos(a), math.sin(a)])
    squeeze = math.cos(tilt)
    turn = float(rng.uniform(0, 2 * math.pi))
    r = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
    axes_rows = np.array([d, [-d[1], d[0]]])
    linear = (
        r
        @ np.diag([density * math.sqrt(squeeze), density / math.sqrt(squeeze)])
        @ axes_rows
        / SCALE
    )
    m = round(SIDE_MM * density * 1.3)
    to_camera = np.eye(3)
    to_camera[:2, :2] = linear
    to_camera[:2, 2] = m / 2 - linear @ np.array([mid, mid])
    seen = cv2.warpPerspective(painter.canvas, to_camera, (m, m), flags=cv2.INTER_LINEAR)
    seen = degrade(rng, np.asarray(seen, np.uint8), table_faults(rng))
    lifted = np.asarray(painter.lift((0.0, 0.0), CHIP_THICKNESS_MM))
    long = float(np.hypot(*lifted))
    up = lifted / long
    axes = StackAxes(up, np.array([-up[1], up[0]]), long)
    to_canvas = np.array([[SCALE, 0, mid], [0, SCALE, mid], [0, 0, 1]])
    return DrawnStack(seen, to_camera @ to_canvas, foot, height, colours, axes, late)


def render_crop(rng: np.random.Generator, deck: Deck, house: House) -> tuple[Picture, int]:
    """One crop, uint8 (64, 64, 3), and its class in COUNT_NAMES."""
    drawn = draw_stack(rng, deck, house)
    up, long = drawn.axes.up, drawn.axes.per_chip_mm
    axes = replace(drawn.axes, per_chip_mm=long * float(rng.normal(1, 0.015)))
    # The base comes from the detector's box: some way off, mostly along the height.
    base = up * (rng.normal(0, 1.3) + drawn.late * long) + axes.side * rng.normal(0, 0.9)
    crop = cv2.warpPerspective(
        drawn.picture, drawn.felt_to_picture @ crop_to_felt(base, axes), (CROP_PX, CROP_PX),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_REPLICATE,
    )  # fmt: skip
    return np.asarray(crop, np.uint8), min(len(drawn.colours), MOST_COUNTED + 1) - 1


def _shard(seed: int, number: int, out: Path, split: str) -> int:
    cv2.setNumThreads(1)
    target = out / split / f"{number:04d}.npy"
    if target.is_file():
        return number
    rng = np.random.default_rng([seed, number, 5])
    deck = draw_deck()
    made = []
    house = House.draw(rng)
    for k in range(SHARD):
        if k % CROPS_PER_HOUSE == 0:
            house = House.draw(rng)
        made.append(render_crop(rng, deck, house))
    np.save(out / split / f"{number:04d}-labels.npy", np.asarray([c for _, c in made], np.int16))
    np.save(target, np.stack([crop for crop, _ in made]))
    return number


def render_stack_crops(
    out: Path, count: int, seed: int = 1, workers: int = 1,
    progress: Callable[[float], None] | None = None,
) -> Path:  # fmt: skip
    """Render about `count` crops into `out/train` and a few into `out/val`. Resumable."""
    shards = max(2, -(-count // SHARD))
    held = max(1, round(shards * 0.06))
    for split in ("train", "val"):
        (out / split).mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        jobs = [
            pool.submit(_shard, seed, k, out, "val" if k < held else "train") for k in range(shards)
        ]
        for done, job in enumerate(as_completed(jobs), start=1):
            job.result()
            if progress:
                progress(done / shards)
    return out


__all__ = ["COUNT_NAMES", "House", "render_crop", "render_stack_crops"]
