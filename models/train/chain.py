"""The chain of trainings that a checkpoint came by, noted in training.json beside each."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from ultralytics import __version__ as ultralytics_version

from models.data.digests import folder_digest
from models.data.provenance import TRAINING_FILE, Provenance, read_object
from vision.detect.openvino_runtime import CARD_FILE

LINK = (
    "part", "weights_sha256", "steps", "epochs", "seed", "rate", "minutes", "commit", "data_sha256",
    "torch", "ultralytics",
)  # fmt: skip
"""The keys of a training that its chain keeps."""


def weights_digest(checkpoint: Path) -> str:
    """SHA-256 of a checkpoint's weights in half precision; dates and settings do not count."""
    stored = torch.load(checkpoint, map_location="cpu", weights_only=False)
    found = stored.get("network") or stored.get("ema") or stored["model"]
    state = found if isinstance(found, dict) else found.state_dict()
    whole = hashlib.sha256()
    for name in sorted(state):
        values = state[name]
        values = values.half() if values.is_floating_point() else values
        whole.update(name.encode() + values.contiguous().numpy().tobytes())
    return whole.hexdigest()


def note_training(
    checkpoint: Path, part: str, provenance: Provenance, folders: Sequence[Path], *,
    start: Path | None, began_s: float, **settings: Any,
) -> None:  # fmt: skip
    """Write training.json beside a checkpoint's folder: what it was trained on, how, from what.

    `folders` are hashed; `began_s` is of time.monotonic(); `settings` are steps, seed and rate.
    """
    training = {
        "part": part,
        "data": provenance.model_dump(mode="json"),
        **settings,
        "weights_sha256": weights_digest(checkpoint),
        "data_sha256": {one.resolve().name: folder_digest(one) for one in dict.fromkeys(folders)},
        "commit": commit(),
        "chain": [] if start is None else chain_of(start),
        "ultralytics": ultralytics_version,
        "torch": torch.__version__,
        "minutes": round((time.monotonic() - began_s) / 60, 1),
    }
    note = checkpoint.resolve().parent.parent / TRAINING_FILE
    note.write_text(json.dumps(training, indent=1) + "\n", encoding="utf-8")


def chain_of(start: Path) -> list[dict[str, Any]]:
    """The trainings up to a checkpoint or an exported file, the first one first."""
    if start.suffix == ".onnx":
        card = start.parent / CARD_FILE
        own = {"part": start.stem, "weights_sha256": hashlib.sha256(start.read_bytes()).hexdigest()}
        models = read_object(card)["models"] if card.is_file() else {}
        return [*models.get(start.stem, {}).get("chain", []), own]
    return training_chain(start)


def training_chain(checkpoint: Path) -> list[dict[str, Any]]:
    """The trainings that gave a checkpoint, the first one first; none where none are noted."""
    note = checkpoint.resolve().parent.parent / TRAINING_FILE
    if not note.is_file():
        return []
    training = read_object(note)
    return [
        *training.get("chain", []),
        {key: training[key] for key in LINK if training.get(key) is not None},
    ]


def commit() -> str | None:
    """The commit of the code that runs, with "+" where files differ from it; None without git."""
    git, place = shutil.which("git"), Path(__file__).parents[2]
    if git is None or not (place / ".git").exists():
        return None

    def said(*arguments: str) -> str:
        found = subprocess.run(
            [str(git), "-C", str(place), *arguments], capture_output=True, text=True, check=False
        )
        return found.stdout.strip()

    changed = said("status", "--porcelain", "--untracked-files=no")
    return f"{said('rev-parse', 'HEAD')}{'+' if changed else ''}" or None
