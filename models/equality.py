"""Whether an exported network gives what its checkpoint gives, on rendered pictures.

Twice: computing in float32, which shows an export that went wrong, and through the shipped
runtime in the processor's own precision (bfloat16 where it has matrix units), which shows
what a user gets.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import openvino as ov
import torch

from datasets.deck import draw_deck, random_style
from datasets.stack_crops import House, render_crop
from datasets.training_set import upright_crop
from datasets.views import render_view
from models.metrics import overlaps
from settlement.errors import FeltwatchError
from vision.runtime import OpenVinoDetector, OpenVinoReader, suppress

SCORE_GAP = 0.01
"""Most that a score or a share may differ, computing in float32."""

BOX_GAP_PX = 1.0
"""Most that a side of a box of score 0.1 or more may differ, computing in float32."""

SHIPPED_SCORE_GAP = 0.05
"""Most that a score or share may differ through the shipped runtime in bfloat16."""

SHIPPED_OVERLAP = 0.7
"""Least overlap of a box of the shipped runtime with the checkpoint's."""

VIEWS = 8
STACKS = 64
SEED = 20_251

Array = npt.NDArray[Any]


def trial_pictures(count: int, size: int) -> tuple[Array, Array]:
    """Rendered views uint8 (count, size, size, 3) BGR, crops of their indices (n, 64, 64, 3)."""
    rng = np.random.default_rng(SEED)
    deck = draw_deck(random_style(rng, []))
    views, crops = [], []
    for _ in range(count):
        view = render_view(rng, [deck], size=size)
        views.append(view.image)
        crops += [
            upright_crop(view.image, box.quad)
            for box in view.boxes
            if box.card is not None and box.quad is not None
        ]
    return np.stack(views), np.stack(crops)


def trial_stacks() -> Array:
    """Rendered crops of stacks (n, 64, 64, 3) BGR."""
    rng = np.random.default_rng(SEED)
    deck, house = draw_deck(), House.draw(rng)
    return np.stack([render_crop(rng, deck, house)[0] for _ in range(STACKS)])


def check_detector(
    network: torch.nn.Module, path: Path, names: tuple[str, ...], size: int, threshold: float
) -> dict[str, Any]:
    """Compare; gives back the greatest differences. Raises FeltwatchError when too great."""
    views, _ = trial_pictures(VIEWS, size)
    given = _network_input(views)
    truth = _outputs(network, given)  # (views, 4 + classes, places)
    raw = np.concatenate([_run_float32(path, one[None]) for one in given])
    scores = float(np.abs(raw[:, 4:] - truth[:, 4:]).max())
    strong = np.broadcast_to(truth[:, 4:].max(axis=1, keepdims=True) >= 0.1, truth[:, :4].shape)
    boxes = float(np.abs(raw[:, :4] - truth[:, :4])[strong].max(initial=0.0))
    _require(path, "scores", scores, SCORE_GAP)
    _require(path, "boxes in px", boxes, BOX_GAP_PX)
    shipped = _shipped_gap(path, names, views, truth, threshold)
    _require(path, "scores through the shipped runtime", shipped, SHIPPED_SCORE_GAP)
    return {
        "views": len(views),
        "score difference": round(scores, 5),
        "allowed": SCORE_GAP,
        "box difference px": round(boxes, 3),
        "allowed px": BOX_GAP_PX,
        "score difference in the processor's own precision": round(shipped, 4),
        "allowed there": SHIPPED_SCORE_GAP,
    }


def _shipped_gap(
    path: Path, names: tuple[str, ...], views: Array, truth: Array, threshold: float
) -> float:
    """Greatest difference of score between what both find; one that has no partner counts whole.

    Boxes less than the allowed gap above the threshold may be found by one alone.
    """
    # Half the threshold below, so that a partner just under it is there to be compared with.
    low = threshold / 2
    gap = 0.0
    found = OpenVinoDetector(path, names, low).find(list(views))
    for seen, raw in zip(found, truth, strict=True):
        other = boxes_of(raw, low)
        one = (seen.xyxy, seen.scores, seen.classes)
        for a, b in ((one, other), (other, one)):
            sure = a[1] >= threshold + SHIPPED_SCORE_GAP
            gap = max(gap, _alone(a, b, sure))
    return gap


def _alone(a: tuple[Array, ...], b: tuple[Array, ...], sure: Array) -> float:
    if not sure.any():
        return 0.0
    if len(b[0]) == 0:
        return float(a[1][sure].max())
    partner = (overlaps(a[0], b[0]) >= SHIPPED_OVERLAP) & (a[2][:, None] == b[2][None, :])
    gaps = np.where(partner, np.abs(a[1][:, None] - b[1][None, :]), np.inf).min(axis=1)
    return float(np.where(np.isfinite(gaps), gaps, a[1])[sure].max())


def boxes_of(raw: Array, threshold: float) -> tuple[Array, Array, Array]:
    """Boxes (n, 4) xyxy px, scores and classes of a raw output (4 + classes, places)."""
    best = raw[4:].max(axis=0)
    keep = best >= threshold
    center, classes = raw[:4, keep].T, raw[4:, keep].argmax(axis=0)
    half = center[:, 2:] / 2
    xyxy = np.hstack([center[:, :2] - half, center[:, :2] + half]).astype(np.float32)
    kept = suppress(xyxy, best[keep], classes) if keep.any() else np.zeros(0, np.int64)
    return xyxy[kept], best[keep][kept], classes[kept]


def check_reader(network: torch.nn.Module, path: Path, crops: Array) -> dict[str, Any]:
    """Compare on crops (n, 64, 64, 3); gives back the greatest differences.

    Raises FeltwatchError when they are too great.
    """
    reader = OpenVinoReader(path)
    # Whole batches: the first crops come again where the last batch is not full.
    crops = crops[np.arange(-(-len(crops) // reader.batch) * reader.batch) % len(crops)]
    given = _network_input(crops)
    truth = _outputs(network, given)
    raw = np.concatenate(
        [
            _run_float32(path, given[i : i + reader.batch])
            for i in range(0, len(given), reader.batch)
        ]
    )
    shares = float(np.abs(raw - truth).max())
    shipped = float(np.abs(reader.read(crops) - truth).max())
    _require(path, "shares", shares, SCORE_GAP)
    _require(path, "shares through the shipped runtime", shipped, SHIPPED_SCORE_GAP)
    return {
        "crops": len(crops),
        "share difference": round(shares, 5),
        "allowed": SCORE_GAP,
        "share difference in the processor's own precision": round(shipped, 4),
        "allowed there": SHIPPED_SCORE_GAP,
    }


def _require(path: Path, what: str, gap: float, most: float) -> None:
    if not gap <= most:  # not a number is refused too
        raise FeltwatchError(
            f"{path.name}: OpenVINO's {what} differ from the checkpoint's by {gap:.4g}, allowed "
            f"is {most:g}; nothing was exported: try full weights (--full) or another version of "
            "ultralytics or OpenVINO"
        )


def _network_input(pictures: Array) -> npt.NDArray[np.float32]:
    """BGR bytes (n, h, w, 3) as RGB (n, 3, h, w) in 0..1."""
    turned = np.ascontiguousarray(pictures[..., ::-1].transpose(0, 3, 1, 2))
    return turned.astype(np.float32) / np.float32(255)


def _outputs(network: torch.nn.Module, given: npt.NDArray[np.float32]) -> Array:
    with torch.inference_mode():
        out: Any = network(torch.from_numpy(given))
    return np.asarray(out[0] if isinstance(out, tuple) else out)


def _run_float32(path: Path, given: npt.NDArray[np.float32]) -> Array:
    core = ov.Core()
    model = core.compile_model(
        core.read_model(str(path)), "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
    )
    return np.array(model({0: given})[0])
