"""Patches about card indices, and about what only resembles one, to train the reader on.

A patch is wider than the crop that is read, so that training can turn, move and blur it with
what is really beside it (`models.data.degrade`). Decks are drawn, read from folders of
faces, or mixed of both; the views are those of other training sets.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from datasets.render.boxes import Box
from datasets.render.cards.deck import Picture
from datasets.training.asset_pool import Stage
from datasets.training.new_decks import new_deck
from datasets.training.training_set import CROP_MARGIN, NONE_CLASS, upright_crop
from datasets.training.views import LabelledView, render_view
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS
from vision.geometry.table import FloatArray

PATCH_PX = 112
CONTEXT = 1.75
"""Side of a patch over that of the crop in its middle, of 64 px."""

LEAST_SEEN = 0.5
"""Of an index of which less is seen no card is asked."""

LEAST_PX = 8.0
NEGATIVES = 0.3
"""Patches of no index for each of one."""

RESIDENT_DECKS = 6
VIEWS_PER_DECK = 5
SHARD_PATCHES = 1500
RECIPE_FILE = "recipe.json"


@dataclass(frozen=True, slots=True, eq=False)
class PatchSet:
    """Patches uint8 (n, 112, 112, 3) BGR, classes int16 (n,), and width over height of each
    index float32 (n,)."""

    patches: npt.NDArray[np.uint8]
    labels: npt.NDArray[np.int16]
    aspects: npt.NDArray[np.float32]


def save_patches(path: Path, made: PatchSet) -> None:
    """Write a shard whole or not at all."""
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        np.savez(file, patches=made.patches, labels=made.labels, aspects=made.aspects)
    part.replace(path)


def read_patches(path: Path) -> PatchSet:
    """A shard as `save_patches` writes it; FeltwatchError for another file."""
    try:
        with np.load(path) as data:
            made = PatchSet(data["patches"], data["labels"], data["aspects"])
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise FeltwatchError(f"{path}: not a shard of index patches ({error})") from error
    if made.patches.shape[1:] != (PATCH_PX, PATCH_PX, 3) or len(made.patches) != len(made.labels):
        raise FeltwatchError(
            f"{path}: patches are (n, {PATCH_PX}, {PATCH_PX}, 3), found {made.patches.shape}"
        )
    return made


def patches_of(rng: np.random.Generator, view: LabelledView) -> list[tuple[Picture, int, float]]:
    """Patches of a view's indices and of other things, each with its class and aspect."""
    every = [*view.boxes, *view.partly]
    out = []
    for box in every:
        if box.card is None or box.quad is None or box.visible < LEAST_SEEN:
            continue
        wide, tall = _sides(box.quad)
        if max(wide, tall) >= LEAST_PX:
            label = DECK_LABELS.index(box.card)
            out.append((_patch(view, box.quad), label, wide / max(tall, 1e-6)))
    wanted = max(1, round(len(out) * NEGATIVES))
    for _ in range(4 * wanted):
        if wanted == 0:
            break
        quad = _elsewhere(rng, view, every)
        if quad is not None:
            out.append((_patch(view, quad), NONE_CLASS, 0.5))
            wanted -= 1
    return out


def _patch(view: LabelledView, quad: FloatArray) -> Picture:
    return upright_crop(view.image, quad, PATCH_PX, view, CROP_MARGIN * CONTEXT)


def _sides(quad: FloatArray) -> tuple[float, float]:
    """Width and height in px of an index."""
    right = (quad[1] - quad[0] + quad[2] - quad[3]) / 2
    down = (quad[3] - quad[0] + quad[2] - quad[1]) / 2
    return float(np.hypot(*right)), float(np.hypot(*down))


def _elsewhere(
    rng: np.random.Generator, view: LabelledView, boxes: Sequence[Box]
) -> FloatArray | None:
    """A square (4, 2) px about no index: on a card's face, a back, a chip or anywhere."""
    size = view.image.shape[0]
    kind = rng.random()
    indices = [b for b in boxes if b.quad is not None]
    others = [b for b in boxes if b.quad is None]
    turn = float(rng.uniform(0, 2 * np.pi))
    if kind < 0.65 and indices:
        # Pips and figures lie beside an index, and mostly the same way.
        near = indices[int(rng.integers(len(indices)))]
        assert near.quad is not None
        height = max(_sides(near.quad))
        down = near.quad[3] - near.quad[0]
        turn = float(np.arctan2(-down[0], down[1])) + float(rng.normal(0, 0.12))
        turn += float(rng.choice([0, 0, np.pi, np.pi / 2, -np.pi / 2]))
        far, way = height * float(rng.uniform(0.6, 3.2)), float(rng.uniform(0, 2 * np.pi))
        center = near.quad.mean(axis=0) + far * np.array([np.cos(way), np.sin(way)])
        side = height * float(np.exp(rng.uniform(np.log(0.4), np.log(2.6))))
    elif kind < 0.85 and others:
        x0, y0, x1, y1 = others[int(rng.integers(len(others)))].xyxy
        center = np.array([rng.uniform(x0, x1), rng.uniform(y0, y1)])
        side = max(x1 - x0, y1 - y0) * float(rng.uniform(0.2, 1.1))
    else:
        center = rng.uniform(0, size, 2)
        side = float(np.exp(rng.uniform(np.log(14), np.log(120))))
    if side < LEAST_PX or not (0 <= center[0] < size and 0 <= center[1] < size):
        return None
    if any(_shows(box, center, side * CROP_MARGIN) for box in indices):
        return None
    half = side / 2
    right = np.array([np.cos(turn), np.sin(turn)]) * half
    down = np.array([-right[1], right[0]])
    return np.stack([center - right - down, center + right - down,
                     center + right + down, center - right + down])  # fmt: skip


def _shows(box: Box, center: FloatArray, side: float) -> bool:
    """Whether a square crop shows enough of an index, at a size to be read, to be its crop."""
    x0, y0, x1, y1 = box.xyxy
    if max(x1 - x0, y1 - y0) < 0.33 * side:
        return False
    half = side * 0.55
    wide = min(x1, center[0] + half) - max(x0, center[0] - half)
    tall = min(y1, center[1] + half) - max(y0, center[1] - half)
    if wide <= 0 or tall <= 0:
        return False
    return bool(wide * tall > 0.3 * (x1 - x0) * (y1 - y0))


def draw_patches(
    seed: Sequence[int], folders: Sequence[Path], fonts: Sequence[str], least: int = SHARD_PATCHES
) -> PatchSet:
    """`least` patches or a few more, the same for the same seed; see `new_deck` for the decks."""
    cv2.setNumThreads(1)
    rng = np.random.default_rng(list(seed))
    decks = [new_deck(rng, folders, fonts) for _ in range(RESIDENT_DECKS)]
    stage = Stage.draw(rng, decks[:1], 3, fonts)
    found: list[tuple[Picture, int, float]] = []
    number = 0
    while len(found) < least:
        number += 1
        if number % VIEWS_PER_DECK == 0:
            decks = [*decks[1:], new_deck(rng, folders, fonts)]
        if number % 12:
            stage.refresh(rng, number, fonts)
        found += patches_of(rng, render_view(rng, decks, stage=stage))
    return PatchSet(
        np.stack([patch for patch, _, _ in found]),
        np.array([label for _, label, _ in found], np.int16),
        np.array([aspect for _, _, aspect in found], np.float32),
    )


def _shard(
    path: Path, seed: Sequence[int], folders: Sequence[Path], fonts: Sequence[str], least: int
) -> None:
    if not path.is_file():
        save_patches(path, draw_patches(seed, folders, fonts, least))


def render_patches(
    out: Path, count: int, seed: int, folders: Sequence[Path], fonts: Sequence[str], *,
    workers: int = 1, progress: Callable[[float], None] | None = None,
) -> int:  # fmt: skip
    """Write about `count` patches into shards `SEED-NUMBER.npz` of `out`; returns how many.

    Each shard has a seed and decks of its own: the patches do not depend on `workers`, and
    shards that are there are passed over. What they are made of goes to recipe.json. Raises
    FeltwatchError where `out` holds patches of another recipe.
    """
    note_recipe(out, seed, folders, fonts)
    each = min(SHARD_PATCHES, count)
    shards = -(-count // each)
    paths = [out / f"{seed}-{number:05d}.npz" for number in range(shards)]
    # Spawned, not forked: OpenCV's threads do not survive a fork.
    with ProcessPoolExecutor(min(workers, shards), get_context("spawn")) as pool:
        jobs = [
            pool.submit(_shard, path, (seed, number), folders, fonts, each)
            for number, path in enumerate(paths)
        ]
        for done, job in enumerate(as_completed(jobs), start=1):
            job.result()
            if progress:
                progress(done / shards)
    return sum(patch_count(path) for path in paths)


def note_recipe(
    out: Path, seed: int, folders: Sequence[Path], fonts: Sequence[str], kind: str | None = None
) -> None:
    """Write the recipe of a folder of patches; FeltwatchError where it holds another's."""
    out.mkdir(parents=True, exist_ok=True)
    recipe: dict[str, Any] = {
        "seed": seed, "decks": [one.name for one in folders], "fonts": len(fonts),
        **({} if kind is None else {"kind": kind}),
    }  # fmt: skip
    note = out / RECIPE_FILE
    if note.is_file() and json.loads(note.read_text(encoding="utf-8")) != recipe:
        raise FeltwatchError(f"{out}: holds patches of another recipe; choose another folder")
    note.write_text(json.dumps(recipe) + "\n", encoding="utf-8")


def patch_count(path: Path) -> int:
    """How many patches a shard holds, without reading them; FeltwatchError for another file."""
    try:
        with np.load(path) as data:
            return len(data["labels"])
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise FeltwatchError(f"{path}: not a shard of index patches ({error})") from error
