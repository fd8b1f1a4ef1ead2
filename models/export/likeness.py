"""Export of the network that compares indices to ONNX, checked against its checkpoint."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import torch

from datasets.training.training_set import CROP_PX
from models.data.trial import trial_pictures
from models.export.onnx_form import rewrite
from models.networks.likeness import FEATURES
from models.train.likeness import read_likeness
from settlement.errors import FeltwatchError
from vision.detect.openvino_runtime import OpenVinoComparer

OPSET, BATCH = 17, 7
VIEWS, VIEW_PX = 6, 640
"""Rendered views whose index crops are compared."""

PRECISION = "f32"
LIKENESS_FILE = "likeness.onnx"

COSINE_GAP = 0.01
"""Most that the cosine of two crops' features may differ."""


def export_likeness(checkpoint: Path, target: Path, notes: dict[str, str]) -> dict[str, Any]:
    """Write `target` (.onnx) with `notes`; returns its entry for the model card.

    Raises FeltwatchError for a file that is no such checkpoint, and where OpenVINO's cosines differ
    from the checkpoint's by more than COSINE_GAP.
    """
    network, training = read_likeness(checkpoint)
    raw = target.with_suffix(".raw.onnx")
    try:
        torch.onnx.export(
            network, (torch.zeros(BATCH, 3, CROP_PX, CROP_PX),), str(raw), opset_version=OPSET,
            dynamo=False, input_names=["images"], output_names=["features"],
        )  # fmt: skip
        rewrite(raw, target, notes, half=True)
    finally:
        raw.unlink(missing_ok=True)
    crops = trial_pictures(VIEWS, VIEW_PX)[1]
    given = torch.from_numpy(crops[..., ::-1].copy()).permute(0, 3, 1, 2).float() / 255
    with torch.no_grad():
        truth = network(given).numpy()
    shipped = OpenVinoComparer(target, precision=PRECISION).features(crops)
    gap = float(np.abs(_cosines(shipped) - _cosines(truth)).max())
    if not gap <= COSINE_GAP:
        raise FeltwatchError(
            f"{target}: differs from its checkpoint: cosines by {gap:.4f}, at most "
            f"{COSINE_GAP:g} is allowed"
        )
    data = target.read_bytes()
    return {
        "file": LIKENESS_FILE,
        "sha256": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
        "weights": "float16",
        "input": [BATCH, 3, CROP_PX, CROP_PX],
        "opset": OPSET,
        "precision": PRECISION,
        "features": FEATURES,
        "training": training,
        "check": {
            "crops": len(crops), "cosine difference": round(gap, 6), "allowed": COSINE_GAP,
        },
    }  # fmt: skip


def _cosines(features: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Of each pair of rows, off their mean."""
    own = features - features.mean(axis=0)
    own = own / np.linalg.norm(own, axis=1, keepdims=True)
    return np.asarray(own @ own.T)
