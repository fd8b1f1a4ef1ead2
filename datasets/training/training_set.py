"""Rendered training sets: images with YOLO labels, and upright crops of their indices.

Beside each image's YOLO labels, `boxes/SPLIT/SHARD.jsonl` holds every box's visible share.

A set is written by shards, each from its own seed with decks of its own, so that an
interrupted run goes on where it stopped and the validation shard shares no deck design
with the others.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import cv2
import numpy as np

from datasets.render.cards.deck import Picture
from datasets.render.cards.mixed import known_faces
from datasets.training.asset_pool import Stage
from datasets.training.new_decks import new_deck
from datasets.training.views import CLASSES, LabelledView, render_view
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS
from vision.geometry.table import FloatArray

CROP_PX = 64
CROP_MARGIN = 1.3
"""Side of an index crop over the longer side of the index."""

NONE_CLASS = len(DECK_LABELS)
"""Class of a crop that shows no upright index."""

CLASS_NAMES = (*DECK_LABELS, "none")
SHARD_VIEWS = 250
RESIDENT_DECKS = 6
VIEWS_PER_DECK = 8
"""Views after which the oldest resident deck gives way to a new one."""

LOOK_VERSION = 6
"""Goes up when the same seed gives other images than before."""


@dataclass(frozen=True)
class TrainingSet:
    """What a training set is made of; the same values give the same images.

    `deck_folders` are folders of card faces, whole decks or parts of one, for the images to
    train on; see `new_decks.new_deck`. Those to check with show drawn decks alone.
    """

    views: int
    seed: int = 1
    size: int = 640
    deck_folders: tuple[Path, ...] = ()
    fonts: tuple[str, ...] = ()
    val_share: float = 0.04
    shard_views: int = SHARD_VIEWS


def upright_crop(
    image: Picture, quad: FloatArray, size: int = CROP_PX, view: LabelledView | None = None,
    margin: float = CROP_MARGIN,
) -> Picture:  # fmt: skip
    """The square about an index, turned upright; uint8 (size, size, 3).

    `quad` (4, 2) px as in `Box.quad`, `margin` the square's side over its longer side. With
    `view` a table's view is passed over: the square is cut from the camera's own image, as
    the product cuts it.
    """
    center = quad.mean(axis=0)
    right = (quad[1] - quad[0] + quad[2] - quad[3]) / 2
    down = (quad[3] - quad[0] + quad[2] - quad[1]) / 2
    side = margin * max(float(np.hypot(*right)), float(np.hypot(*down)))
    axis = down / max(1e-6, float(np.hypot(*down)))
    across = np.array([axis[1], -axis[0]])
    if view is not None and view.camera is not None and view.to_view is not None:
        k, half = side / size, (size - 1) / 2
        corner = center - half * k * (across + axis)
        patch = np.vstack([np.column_stack([across * k, axis * k, corner]), [0, 0, 1]])
        return np.asarray(
            cv2.warpPerspective(
                view.camera, np.linalg.inv(view.to_view) @ patch, (size, size),
                flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_REPLICATE,
            ), np.uint8,
        )  # fmt: skip
    return square_crop(image, center, across, axis, side, size)


def square_crop(
    image: Picture, center: FloatArray, right: FloatArray, down: FloatArray, side: float, size: int
) -> Picture:
    """A turned square of an image: unit vectors `right` and `down`, `side` in px."""
    k = side / size
    half = (size - 1) / 2
    matrix = np.array([
        [right[0] * k, down[0] * k, center[0] - half * k * (right[0] + down[0])],
        [right[1] * k, down[1] * k, center[1] - half * k * (right[1] + down[1])],
    ])  # fmt: skip
    if k > 2:
        # Shrinking more than twofold needs averaging first, or thin strokes break up.
        shrink = 1 / (k / 1.5)
        x0, y0 = np.floor(center - side).astype(int)
        x1, y1 = np.ceil(center + side).astype(int)
        x0, y0 = max(0, int(x0)), max(0, int(y0))
        x1, y1 = min(image.shape[1], int(x1)), min(image.shape[0], int(y1))
        if x1 - x0 < 2 or y1 - y0 < 2:
            return np.zeros((size, size, 3), np.uint8)
        part = cv2.resize(
            image[y0:y1, x0:x1], None, fx=shrink, fy=shrink, interpolation=cv2.INTER_AREA
        )
        fx, fy = part.shape[1] / (x1 - x0), part.shape[0] / (y1 - y0)
        moved = (center - (x0, y0) + 0.5) * (fx, fy) - 0.5
        return square_crop(np.asarray(part, np.uint8), moved, right, down, side * shrink, size)
    crop = cv2.warpAffine(
        image, matrix, (size, size), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )  # fmt: skip
    return np.asarray(crop, np.uint8)


def _crops(rng: np.random.Generator, view: LabelledView) -> list[tuple[Picture, int]]:
    out: list[tuple[Picture, int]] = []
    for box in view.boxes:
        if box.card is not None and box.quad is not None:
            side = max(
                np.hypot(*(box.quad[1] - box.quad[0])), np.hypot(*(box.quad[3] - box.quad[0]))
            )
            if side >= 9:
                out.append(
                    (upright_crop(view.image, box.quad, view=view), DECK_LABELS.index(box.card))
                )
    for _ in range(2):
        center = rng.uniform(0, view.image.shape[0], 2)
        side = float(rng.uniform(20, 80))
        near = any(
            b.card is not None
            and b.xyxy[0] - side / 2 < center[0] < b.xyxy[2] + side / 2
            and b.xyxy[1] - side / 2 < center[1] < b.xyxy[3] + side / 2
            for b in view.boxes
        )
        if not near and view.boxes:
            a = rng.uniform(0, 6.3)
            right = np.array([np.cos(a), np.sin(a)])
            crop = square_crop(
                view.image, center, right, np.array([-right[1], right[0]]), side, CROP_PX
            )
            out.append((crop, NONE_CLASS))
    return out


def _yolo_line(kind: str, xyxy: Sequence[float], size: int) -> str:
    x0, y0, x1, y1 = (v / size for v in xyxy)
    return (
        f"{CLASSES.index(kind)} {(x0 + x1) / 2:.6f} {(y0 + y1) / 2:.6f} {x1 - x0:.6f} {y1 - y0:.6f}"
    )


def _boxes_line(view: LabelledView, name: str) -> str:
    """One line of JSON: every box with its visible share, and whose index it is.

    Those of which too little is seen to be labelled have `labelled` false.
    """
    boxes = [
        {
            "kind": b.kind, "xyxy": [round(v, 2) for v in b.xyxy], "visible": round(b.visible, 3),
            "card": b.card, "labelled": b.labelled,
            "quad": None if b.quad is None else np.round(b.quad, 2).tolist(),
        }
        for b in (*view.boxes, *view.partly)
    ]  # fmt: skip
    scene = "loose" if view.camera is None else "table"
    return json.dumps({"image": f"{name}.jpg", "scene": scene, "boxes": boxes})


def _render_shard(spec: TrainingSet, out: Path, shard: int, count: int, split: str) -> int:
    cv2.setNumThreads(1)
    done = out / "shards" / f"{shard:04d}.json"
    if done.is_file():
        return count
    rng = np.random.default_rng([spec.seed, shard])
    folders = spec.deck_folders if split == "train" else ()
    decks = [new_deck(rng, folders, spec.fonts) for _ in range(RESIDENT_DECKS)]
    stage = Stage.draw(rng, decks, RESIDENT_DECKS, spec.fonts)
    images, labels = out / "images" / split, out / "labels" / split
    crops: list[Picture] = []
    classes: list[int] = []
    lines_of_boxes: list[str] = []
    for i in range(count):
        if i:
            stage.refresh(rng, i, spec.fonts)
            if i % VIEWS_PER_DECK == 0:
                decks = [*decks[1:], new_deck(rng, folders, spec.fonts)]
        view = render_view(rng, decks, size=spec.size, stage=stage)
        name = f"{shard:04d}-{i:04d}"
        cv2.imwrite(str(images / f"{name}.jpg"), view.image, [cv2.IMWRITE_JPEG_QUALITY, 94])
        lines = [_yolo_line(b.kind, b.xyxy, spec.size) for b in view.boxes]
        (labels / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="ascii")
        lines_of_boxes.append(_boxes_line(view, name))
        for crop, label in _crops(rng, view):
            crops.append(crop)
            classes.append(label)
    folder = out / "boxes" / split
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{shard:04d}.jsonl").write_text("\n".join(lines_of_boxes) + "\n", encoding="ascii")
    folder = out / "crops" / split
    stacked = np.stack(crops) if crops else np.zeros((0, CROP_PX, CROP_PX, 3), np.uint8)
    np.save(folder / f"{shard:04d}.npy", stacked)
    np.save(folder / f"{shard:04d}-labels.npy", np.asarray(classes, np.int16))
    done.write_text(
        json.dumps({"views": count, "crops": len(crops), "split": split}), encoding="ascii"
    )
    return count


def render_training_set(
    spec: TrainingSet,
    out: Path,
    workers: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Path:
    """Render the set into `out`; returns the YOLO `data.yaml`. Resumable.

    Raises FeltwatchError when `out` holds a set of another recipe, or for a deck folder
    that cannot be read.
    """
    recipe = {
        "views": spec.views, "seed": spec.seed, "size": spec.size,
        "decks": [folder.name for folder in spec.deck_folders], "fonts": len(spec.fonts),
        "look": LOOK_VERSION,
    }  # fmt: skip
    note = out / "recipe.json"
    if spec.shard_views != SHARD_VIEWS:
        recipe["shard_views"] = spec.shard_views
    if note.is_file() and json.loads(note.read_text(encoding="ascii")) != recipe:
        raise FeltwatchError(
            f"{out}: holds a training set of another recipe; choose another folder"
        )
    for folder in spec.deck_folders:
        known_faces(folder)
    for part in ("images", "labels", "crops"):
        for split in ("train", "val"):
            (out / part / split).mkdir(parents=True, exist_ok=True)
    (out / "shards").mkdir(exist_ok=True)
    note.write_text(json.dumps(recipe), encoding="ascii")
    shards = max(2, -(-spec.views // spec.shard_views))
    held = max(1, round(shards * spec.val_share))
    jobs = [
        (n, min(spec.shard_views, spec.views), "val" if n < held else "train")
        for n in range(shards)
    ]
    finished = 0
    # Spawned, not forked: OpenCV's threads do not survive a fork.
    with ProcessPoolExecutor(workers or os.cpu_count() or 1, get_context("spawn")) as pool:
        waiting = [
            pool.submit(_render_shard, spec, out, n, count, split) for n, count, split in jobs
        ]
        for job in as_completed(waiting):
            job.result()
            finished += 1
            if progress:
                progress(finished / len(jobs))
    names = "\n".join(f"  {i}: {name}" for i, name in enumerate(CLASSES))
    data = out / "data.yaml"
    data.write_text(
        f"path: {out.resolve()}\ntrain: images/train\nval: images/val\nnames:\n{names}\n",
        encoding="utf-8",
    )
    return data
