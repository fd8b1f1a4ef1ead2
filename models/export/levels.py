"""Export of the reader of levels to ONNX, checked against its checkpoint."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import torch

from datasets.training.stack_strips import LevelSet
from models.data.trial import trial_levels
from models.export.parity import SCORE_GAP
from models.networks.level_network import LevelNetwork, LogShares
from models.train.levels import read_checkpoint
from settlement.errors import FeltwatchError
from vision.chips.colour_network import INPUTS, OpenVinoLevelReader
from vision.chips.network_input.level_windows import WINDOW_PX

OPSET = 17
LEVELS_FILE = "levels.onnx"


def export_levels(checkpoint: Path, target: Path, notes: dict[str, str]) -> dict[str, Any]:
    """Write `target` (.onnx) with `notes`; gives back its entry for the model card.

    Raises FeltwatchError for a file that is no such checkpoint, and where OpenVINO's shares
    differ from the checkpoint's by more than `models.export.parity.SCORE_GAP`.
    """
    state = read_checkpoint(checkpoint)
    network = LevelNetwork()
    network.load_state_dict(state["network"])
    whole = LogShares(network).eval()
    trial = trial_levels()
    palette = _palette(trial)
    torch.onnx.export(
        whole, (torch.from_numpy(trial.windows[:2]).float(), torch.from_numpy(palette)),
        str(target), opset_version=OPSET, dynamo=False, input_names=list(INPUTS),
        output_names=["log shares"],
        dynamic_axes={INPUTS[0]: {0: "levels"}, INPUTS[1]: {0: "chips"}},
    )  # fmt: skip
    model = onnx.load(str(target))
    for key, value in notes.items():
        entry = model.metadata_props.add()
        entry.key, entry.value = key, value
    onnx.save(model, str(target))
    with torch.no_grad():
        told = whole(torch.from_numpy(trial.windows).float(), torch.from_numpy(palette)).numpy()
    gap = float(
        np.abs(
            np.exp(OpenVinoLevelReader(target).read(trial.windows, palette)) - np.exp(told)
        ).max()
    )
    if not gap <= SCORE_GAP:
        raise FeltwatchError(
            f"{target}: differs from its checkpoint: shares by {gap:.4f}, at most {SCORE_GAP:g}"
        )
    data = target.read_bytes()
    return {
        "file": LEVELS_FILE,
        "sha256": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
        "weights": "float32",
        "input": ["levels", WINDOW_PX, WINDOW_PX, 4],
        "opset": OPSET,
        "training": {**state["train_args"], "epochs done": int(state["epochs done"])},
        "check": {
            "levels": len(trial.windows),
            "share difference": round(gap, 5),
            "allowed": SCORE_GAP,
        },
    }


def _palette(levels: LevelSet) -> npt.NDArray[np.float32]:
    """The colours that the first level's palette has."""
    own = levels.palettes[0].astype(np.float32)
    there: npt.NDArray[np.float32] = own[own[:, 0] >= 0]
    return there
