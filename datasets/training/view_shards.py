"""Shards of rendered views with their boxes, to train the detector on while they are rendered.

A training set of ultralytics (`datasets.training.training_set`) is files of images, which are
decoded at each showing; a shard is an array that goes to a graphics card once. The patches of
its indices (`datasets.training.index_patches`) come with it at no cost.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from datasets.training.asset_pool import Stage
from datasets.training.index_patches import RECIPE_FILE, PatchSet, patches_of, save_patches
from datasets.training.new_decks import new_deck
from datasets.training.views import CLASSES, LabelledView, render_view
from settlement.errors import FeltwatchError
from vision.geometry.letterbox import fit_square

VIEW_PX = 640
SHARD_VIEWS = 40
RESIDENT_DECKS = 6
VIEWS_PER_DECK = 5
PATCHES_FOLDER = "patches"
BOX_VALUES = 5


@dataclass(frozen=True, slots=True, eq=False)
class ViewSet:
    """Views uint8 (n, s, s, 3) BGR; boxes float32 (m, 5): number of the class, x0, y0, x1, y1 in
    px; and how many boxes each view has, int32 (n,)."""

    views: npt.NDArray[np.uint8]
    boxes: npt.NDArray[np.float32]
    many: npt.NDArray[np.int32]

    @classmethod
    def of(cls, views: Sequence[LabelledView]) -> ViewSet:
        """The labelled boxes of views."""
        rows = [
            [CLASSES.index(box.kind), *box.xyxy] for view in views for box in view.boxes
        ]  # fmt: skip
        return cls(
            np.stack([view.image for view in views]),
            np.array(rows, np.float32).reshape(-1, BOX_VALUES),
            np.array([len(view.boxes) for view in views], np.int32),
        )


def save_views(path: Path, made: ViewSet) -> None:
    """Write a shard whole or not at all."""
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        np.savez(file, views=made.views, boxes=made.boxes, many=made.many)
    part.replace(path)


def read_views(path: Path) -> ViewSet:
    """A shard as `save_views` writes it; FeltwatchError for another file."""
    try:
        with np.load(path) as data:
            made = ViewSet(data["views"], data["boxes"], data["many"])
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise FeltwatchError(f"{path}: not a shard of views ({error})") from error
    fits = made.views.ndim == 4 and made.boxes.shape == (int(made.many.sum()), BOX_VALUES)
    if not fits or len(made.views) != len(made.many):
        raise FeltwatchError(
            f"{path}: expected views (n, s, s, 3) and boxes (m, {BOX_VALUES}), found "
            f"{made.views.shape} and {made.boxes.shape}"
        )
    return made


def draw_views(
    seed: Sequence[int], folders: Sequence[Path], fonts: Sequence[str], count: int = SHARD_VIEWS,
    size: int = VIEW_PX,
) -> tuple[ViewSet, PatchSet]:  # fmt: skip
    """`count` views and the patches of their indices, the same for the same seed."""
    cv2.setNumThreads(1)
    rng = np.random.default_rng(list(seed))
    decks = [new_deck(rng, folders, fonts) for _ in range(RESIDENT_DECKS)]
    stage = Stage.draw(rng, decks[:1], 3, fonts)
    views: list[LabelledView] = []
    found = []
    for number in range(count):
        if number and number % VIEWS_PER_DECK == 0:
            decks = [*decks[1:], new_deck(rng, folders, fonts)]
        if number % 12:
            stage.refresh(rng, number, fonts)
        views.append(render_view(rng, decks, size=size, stage=stage))
        found += patches_of(rng, views[-1])
    patches = PatchSet(
        np.stack([patch for patch, _, _ in found]),
        np.array([label for _, label, _ in found], np.int16),
        np.array([aspect for _, _, aspect in found], np.float32),
    )
    return ViewSet.of(views), patches


def labelled_views(folder: Path, size: int = VIEW_PX, most: int = 200, seed: int = 0) -> ViewSet:
    """Up to `most` images of `folder`/images with YOLO labels in `folder`/labels, drawn at random.

    Each is fitted into a grey square of `size` px. Raises FeltwatchError where there is none, or
    where a label is of another form.
    """
    images = sorted(p for p in (folder / "images").rglob("*") if p.suffix in {".jpg", ".png"})
    views, rows, many = [], [], []
    for path in np.random.default_rng(seed).permutation(np.array(images, object))[:most]:
        image = cv2.imread(str(path))
        labels = folder / "labels" / path.relative_to(folder / "images").with_suffix(".txt")
        if image is None or not labels.is_file():
            raise FeltwatchError(f"{path}: an image with labels in {labels} is needed")
        view, scale, offset = fit_square(np.asarray(image, np.uint8), size)
        try:
            own = np.array([line.split() for line in labels.read_text().splitlines()], float)
            own = own.reshape(-1, BOX_VALUES)
        except ValueError as error:
            raise FeltwatchError(
                f"{labels}: each line is a class and a box: number, x, y, width, height"
            ) from error
        px = scale * np.array([image.shape[1], image.shape[0]])
        middles = own[:, 1:3] * px + offset
        half = own[:, 3:5] * px / 2
        views.append(view)
        rows.append(np.hstack([own[:, :1], middles - half, middles + half]))
        many.append(len(own))
    if not views:
        raise FeltwatchError(f"{folder}: no images (.jpg, .png) in images/")
    return ViewSet(
        np.stack(views), np.concatenate(rows).astype(np.float32), np.array(many, np.int32)
    )


def _shard(
    path: Path, seed: Sequence[int], folders: Sequence[Path], fonts: Sequence[str], size: int
) -> None:
    beside = path.parent / PATCHES_FOLDER / path.name
    # What a training took up is gone; its patches stay.
    if not beside.is_file():
        views, patches = draw_views(seed, folders, fonts, size=size)
        save_views(path, views)
        save_patches(beside, patches)


def render_view_shards(
    out: Path, shards: int, seed: int, folders: Sequence[Path], fonts: Sequence[str], *,
    size: int = VIEW_PX, workers: int = 1, progress: Callable[[float], None] | None = None,
) -> None:  # fmt: skip
    """Write `shards` shards `SEED-NUMBER.npz` of views into `out`, their patches beside.

    Each shard has a seed and decks of its own: the views do not depend on `workers`, and shards
    that are there, or whose patches are, are passed over. What they are made of goes to
    recipe.json. Raises FeltwatchError where `out` holds views of another recipe.
    """
    (out / PATCHES_FOLDER).mkdir(parents=True, exist_ok=True)
    recipe = {
        "seed": seed, "decks": [one.name for one in folders], "fonts": len(fonts), "size": size,
    }  # fmt: skip
    note = out / RECIPE_FILE
    if note.is_file() and json.loads(note.read_text(encoding="utf-8")) != recipe:
        raise FeltwatchError(f"{out}: holds views of another recipe; choose another folder")
    note.write_text(json.dumps(recipe) + "\n", encoding="utf-8")
    # Spawned, not forked: OpenCV's threads do not survive a fork.
    with ProcessPoolExecutor(min(workers, shards), get_context("spawn")) as pool:
        jobs = [
            pool.submit(
                _shard, out / f"{seed}-{number:05d}.npz", (seed, number), folders, fonts, size
            )
            for number in range(shards)
        ]
        for done, job in enumerate(as_completed(jobs), start=1):
            job.result()
            if progress:
                progress(done / shards)
