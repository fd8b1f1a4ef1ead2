"""Rendered levels of chip stacks with their colours, to train the reader of levels on."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from datasets.render.cards.deck import Picture, draw_deck
from datasets.training.asset_pool import House
from datasets.training.stack_crops import CROPS_PER_HOUSE, DrawnStack, draw_stack
from datasets.training.view_items import CHIP_COLOURS
from settlement.errors import FeltwatchError
from vision.chips.network_input.count_crop import MOST_COUNTED
from vision.chips.network_input.level_windows import WINDOW_PX, level_windows
from vision.chips.network_input.patch import PX_PER_MM, StackPatch
from vision.geometry.table import FloatArray

SHARD, LEAST = 750, 10
"""Stacks that are written at once, and the fewest of a small set."""

HYPOTHESES = 3
"""Each stack is looked at from so many bases and for as many numbers of chips."""

BASE_OFF_CHIPS = (-0.12, 0.22)
BASE_SIDE_MM = 0.6
WRONG_BASE_SHARE = 0.3
WRONG_COUNT_SHARE = 0.4
"""How far fitted bases lie from true ones, mean and spread, as `vision.chips.base_fit` fitted them
on nine simulated shifts; and how often base or count are a whole chip off."""

CLEAR_CHIPS = 0.4
"""A window that lies between two levels by more than this has no label."""

MOST_LEFT_OUT = 4
PALETTE_SD = 5.0
"""A table file's colours are not quite those of its chips."""

NO_CHIP = -1
MARK = "-levels"
"""How the files end, beside the crops that counts are learned from."""

Labels = npt.NDArray[np.int16]


@dataclass(frozen=True, slots=True, eq=False)
class LevelSet:
    """Windows uint8 (n, 24, 24, 4) of `vision.chips.network_input.level_windows`, the place of
    each one's chip in its
    palette or NO_CHIP (n,), and its palette's colours, sRGB int16 (n, k, 3), -1 where there are
    fewer."""

    windows: Picture
    colours: Labels
    palettes: Labels


def level_labels(
    colours: tuple[int, ...], chips: int, off_chips: float
) -> tuple[Labels, npt.NDArray[np.bool_]]:
    """What the windows (chips + 2,) show whose base lies `off_chips` above the true one, and
    which of them lie clearly enough on one level.

    >>> level_labels((4, 7), 2, 0.1)[0].tolist()
    [-1, 4, 7, -1]
    >>> level_labels((4, 7), 3, -1.0)[0].tolist()
    [-1, -1, 4, 7, -1]
    """
    heights = np.arange(-1, chips + 1) + off_chips
    levels = np.round(heights).astype(int)
    labels = [colours[k] if 0 <= k < len(colours) else NO_CHIP for k in levels]
    return np.asarray(labels, np.int16), np.abs(heights - levels) < CLEAR_CHIPS


def render_levels(rng: np.random.Generator, drawn: DrawnStack, house: House) -> LevelSet:
    """The levels of one drawn stack as they look from likely and from wrong bases."""
    out = rng.choice(CHIP_COLOURS, int(rng.integers(0, MOST_LEFT_OUT + 1)), replace=False)
    names = [c for c in CHIP_COLOURS if c in drawn.colours or c not in out]
    rgb = np.array([house.looks[name].rgb for name in names], np.float64)
    palette = np.full((len(CHIP_COLOURS), 3), -1, np.int16)
    palette[: len(names)] = np.clip(rgb + rng.normal(0, PALETTE_SD, rgb.shape), 0, 255).round()
    path = tuple(names.index(c) for c in drawn.colours)
    patch, n, axes = _patch(drawn), len(path), drawn.axes
    windows, labels = [], []
    for _ in range(HYPOTHESES):
        wrong = rng.random(2) < (WRONG_COUNT_SHARE, WRONG_BASE_SHARE)
        count = int(np.clip(n + wrong[0] * rng.choice([-1, 1]), 1, MOST_COUNTED))
        off = float(rng.normal(*BASE_OFF_CHIPS) + wrong[1] * rng.choice([-1, 1]))
        base = axes.up * off * axes.per_chip_mm + axes.side * rng.normal(0, BASE_SIDE_MM)
        seen = level_windows(patch, drawn.foot_mm, drawn.camera_mm, base, count, axes.up)
        own, clear = level_labels(path, count, off - BASE_OFF_CHIPS[0])
        windows.append(seen[clear])
        labels.append(own[clear])
    colours = np.concatenate(labels)
    palettes = np.broadcast_to(palette, (len(colours), *palette.shape))
    return LevelSet(np.concatenate(windows), colours, palettes)


def _patch(drawn: DrawnStack) -> StackPatch:
    """The felt about the drawn stack as `vision.chips.network_input.patch.cut_patch` would cut
    it."""
    high = len(drawn.colours) * drawn.axes.per_chip_mm
    half = 30.0 + high / 2 + 4 * drawn.axes.per_chip_mm
    corner: FloatArray = drawn.axes.up * high / 2 - half
    n = math.ceil(2 * half * PX_PER_MM)
    k = 1 / PX_PER_MM
    to_felt = np.array([[k, 0, corner[0]], [0, k, corner[1]], [0, 0, 1.0]])
    image = cv2.warpPerspective(
        drawn.picture, drawn.felt_to_picture @ to_felt, (n, n),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_REPLICATE,
    )  # fmt: skip
    return StackPatch(np.asarray(image, np.uint8), corner, np.zeros((n, n), np.uint8))


def save_levels(path: Path, levels: LevelSet) -> None:
    """Write a set as a compressed `.npz`, whole or not at all."""
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        np.savez_compressed(
            file, windows=levels.windows, colours=levels.colours, palettes=levels.palettes
        )
    part.replace(path)


def read_levels(folder: Path) -> LevelSet:
    """All `.npz` sets of a folder as one; FeltwatchError naming the file that is none."""
    sets = []
    for path in sorted(folder.glob(f"*{MARK}.npz")):
        try:
            with np.load(path) as data:
                sets.append(LevelSet(data["windows"], data["colours"], data["palettes"]))
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise FeltwatchError(f"{path}: holds no levels of stacks ({error})") from error
        if sets[-1].windows.shape[1:] != (WINDOW_PX, WINDOW_PX, 4):
            raise FeltwatchError(f"{path}: holds levels of another form; cut them anew")
    if not sets:
        raise FeltwatchError(f"{folder}: no levels of stacks (*{MARK}.npz)")
    return joined(sets)


def joined(sets: list[LevelSet]) -> LevelSet:
    """Several sets as one; shorter palettes are filled up."""
    most = max(one.palettes.shape[1] for one in sets)
    palettes = [
        np.pad(p, ((0, 0), (0, most - p.shape[1]), (0, 0)), constant_values=-1)
        for p in (one.palettes for one in sets)
    ]
    return LevelSet(
        np.concatenate([one.windows for one in sets]),
        np.concatenate([one.colours for one in sets]),
        np.concatenate(palettes),
    )


def _shard(seed: int, number: int, target: Path, stacks: int) -> None:
    if target.is_file():
        return
    cv2.setNumThreads(1)
    rng = np.random.default_rng([seed, number, 7])
    deck, house, made = draw_deck(), House.draw(rng), []
    for k in range(stacks):
        if k % CROPS_PER_HOUSE == 0:
            house = House.draw(rng)
        drawn = draw_stack(rng, deck, house)
        if len(drawn.colours) <= MOST_COUNTED:
            made.append(render_levels(rng, drawn, house))
    save_levels(target, joined(made))


def render_stack_levels(
    out: Path, stacks: int, seed: int = 1, workers: int = 1,
    progress: Callable[[float], None] | None = None,
) -> Path:  # fmt: skip
    """Render about `stacks` stacks' levels into `out/train` and a few into `out/val`. Resumable."""
    each = min(SHARD, max(LEAST, -(-stacks // 2)))
    shards = max(2, -(-stacks // each))
    held = max(1, round(shards * 0.06))
    for split in ("train", "val"):
        (out / split).mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        places = [
            out / ("val" if k < held else "train") / f"{k:04d}{MARK}.npz" for k in range(shards)
        ]
        jobs = [pool.submit(_shard, seed, k, path, each) for k, path in enumerate(places)]
        for done, job in enumerate(as_completed(jobs), start=1):
            job.result()
            if progress:
                progress(done / shards)
    return out
