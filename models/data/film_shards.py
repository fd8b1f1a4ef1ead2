"""Shards of strips from filmed tables (`models.data.filmed_sides`), in `render_strips`' form."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

import cv2
import numpy as np

from datasets.training.sides.render import RECIPE_FILE
from datasets.training.sides.shards import save_strips
from models.data.filmed_sides import film_strips
from settlement.errors import FeltwatchError
from vision.networks import load_networks

TABLES, LAYOUTS = 8, 3
"""Of a shard: tables, and images of each. More tables teach more than more images of one."""
PER_SHARD = 1900
"""Strips of a shard, about: layouts differ."""

FIRST_SEED = 10_000_000_000
"""Seeds of tables begin here: no seed of a filmed shift is one of them."""

HELD_SHARE = 0.03


def _shard(seed: int, number: int, path: Path, weights: Path) -> None:
    if path.is_file():
        return
    cv2.setNumThreads(1)
    rng = np.random.default_rng([seed, number, 12])
    seeds = [FIRST_SEED + int(rng.integers(2**40)) for _ in range(TABLES)]
    detector = load_networks(weights, threads=1).detector
    save_strips(path, film_strips(rng, seeds, LAYOUTS, detector))


def film_shards(
    out: Path, count: int, weights: Path, seed: int = 1, workers: int = 1,
    progress: Callable[[float], None] | None = None,
) -> int:  # fmt: skip
    """Film about `count` strips into shards of `out/train` and a few of `out/val`; how many, about.

    The detector of `weights` finds the stacks. Goes on where it was stopped. Raises FeltwatchError
    where `out` holds strips of another recipe.
    """
    out.mkdir(parents=True, exist_ok=True)
    shards = max(2, -(-count // PER_SHARD))
    held = max(1, round(shards * HELD_SHARE))
    recipe = {"shards": shards, "seed": seed, "filmed": True}
    note = out / RECIPE_FILE
    if note.is_file() and json.loads(note.read_text(encoding="utf-8")) != recipe:
        raise FeltwatchError(f"{out}: holds strips of another recipe; choose another folder")
    note.write_text(json.dumps(recipe) + "\n", encoding="utf-8")
    for split in ("train", "val"):
        (out / split).mkdir(parents=True, exist_ok=True)
    places = [out / ("val" if k < held else "train") / f"{k:05d}.npz" for k in range(shards)]
    with ProcessPoolExecutor(min(workers, shards), get_context("spawn")) as pool:
        jobs = [pool.submit(_shard, seed, k, path, weights) for k, path in enumerate(places)]
        for done, job in enumerate(as_completed(jobs), start=1):
            job.result()
            if progress:
                progress(done / shards)
    return shards * PER_SHARD
