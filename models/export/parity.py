"""Whether an exported network gives what its checkpoint gives, on rendered images.

Twice: computing in float32, which shows an export that went wrong, and through the shipped
runtime in the processor's own precision (bfloat16 where it has matrix units), which shows
what a user gets.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import openvino as ov
import torch

from models.data.trial import trial_pictures
from models.metrics import overlaps
from models.networks.backends import network_input
from settlement.errors import FeltwatchError
from vision.detect.detections import Detections
from vision.detect.openvino_runtime import OpenVinoDetector, OpenVinoReader
from vision.detect.yolo_head import IOU_LIMIT, decode, is_end_to_end

SCORE_GAP = 0.01
"""Most that a score or a share may differ, computing in float32."""

BOX_GAP_PX = 1.0
"""Most that a side of a box of score 0.1 or more may differ, computing in float32."""

SHIPPED_SCORE_GAP = 0.05
"""Most that a score or share may differ through the shipped runtime in bfloat16."""

SHIPPED_OVERLAP = 0.7
"""Least overlap of a box of the shipped runtime with the checkpoint's."""

SUPPRESSING = IOU_LIMIT - 0.05
"""Overlap from which a stronger box of the same class may leave no room for a weaker one: about
that at which the runtime's own decoding suppresses it."""

VIEWS = 8

Array = npt.NDArray[Any]


def check_detector(
    network: torch.nn.Module, path: Path, names: tuple[str, ...], size: int, threshold: float
) -> dict[str, Any]:
    """Compare; returns the greatest differences. Raises FeltwatchError when too great."""
    views, _ = trial_pictures(VIEWS, size)
    given = network_input(views)
    raw = np.concatenate([_run_float32(path, one[None]) for one in given])
    end_to_end = is_end_to_end(raw.shape[1:], len(names))
    if hasattr(network, "end2end"):
        network.end2end = end_to_end  # networks with both heads: the one that was exported
    truth = _outputs(network, given)  # (views, 4 + classes, places) or (views, boxes, 6)
    if end_to_end:
        scores, boxes = _row_gaps(raw, truth, names)
    else:
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
    found = OpenVinoDetector(path, names, low).find(list(views))
    expected = [decode(raw, names, low) for raw in truth]
    return detection_gaps(found, expected, threshold + SHIPPED_SCORE_GAP)[0]


def _row_gaps(raw: Array, truth: Array, names: tuple[str, ...]) -> tuple[float, float]:
    """Greatest differences of score and box of two end-to-end outputs, whose rows are sorted."""
    a, b = (
        [
            Detections(one[:, :4], one[:, 4], one[:, 5].round().astype(np.int64), names)
            for one in rows.astype(np.float32)
        ]
        for rows in (raw, truth)
    )
    return detection_gaps(a, b, 0.1)


def detection_gaps(
    a: Sequence[Detections], b: Sequence[Detections], sure: float
) -> tuple[float, float]:
    """Greatest difference of score, and of a box's side in px, between two's detections.

    Of each view, both ways: every box of at least the score `sure` is compared with the other's
    box of its class that overlaps it by `SHIPPED_OVERLAP` and is nearest in score; where there
    is none, its whole score counts as the difference, if no stronger one may have suppressed it.
    """
    scores, boxes = [0.0], [0.0]
    for one, other in zip(a, b, strict=True):
        for seen, partner_set in ((one, other), (other, one)):
            for item in np.flatnonzero(seen.scores >= sure):
                gap, off = _nearest(seen, int(item), partner_set)
                scores.append(gap)
                boxes.append(off)
    return max(scores), max(boxes)


def _nearest(seen: Detections, item: int, partner_set: Detections) -> tuple[float, float]:
    own = float(seen.scores[item])
    if not len(partner_set):
        return own, 0.0
    partner = (overlaps(seen.xyxy[item : item + 1], partner_set.xyxy)[0] >= SHIPPED_OVERLAP) & (
        partner_set.classes == seen.classes[item]
    )
    if not partner.any():
        # Of two boxes of one thing the weaker may be suppressed by one runtime alone.
        stronger = (overlaps(seen.xyxy[item : item + 1], partner_set.xyxy)[0] >= SUPPRESSING) & (
            (partner_set.classes == seen.classes[item]) & (partner_set.scores > own)
        )
        return (0.0 if stronger.any() else own), 0.0
    gaps = np.where(partner, np.abs(partner_set.scores - own), np.inf)
    best = int(gaps.argmin())
    return float(gaps[best]), float(np.abs(partner_set.xyxy[best] - seen.xyxy[item]).max())


def check_reader(
    network: torch.nn.Module, path: Path, crops: Array, precision: str | None = None
) -> dict[str, Any]:
    """Compare on crops (n, 64, 64, 3); returns the greatest differences.

    `precision` is the one that it runs in, the processor's own by default.

    Raises FeltwatchError when they are too great.
    """
    reader = OpenVinoReader(path, precision=precision)
    # Whole batches: the first crops come again where the last batch is not full.
    crops = crops[np.arange(-(-len(crops) // reader.batch) * reader.batch) % len(crops)]
    given = network_input(crops)
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
