"""One training run: its data checked, the parts trained, and what they learned from noted."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from datasets.training.training_set import CROP_PX
from datasets.training.views import CLASSES
from models.data.crops import read_crops
from models.data.provenance import (
    TRAINING_FILE,
    PhotoData,
    Provenance,
    RenderedData,
    photo_data,
    read_provenance,
    rendered_data,
    stack_data,
)
from models.evaluate.validate import class_names
from models.heldout.lists import refuse_held_out
from models.train import detector, reader
from models.train.chain import note_training
from models.train.checkpoint import checkpoint_of, provenance_beside
from models.train.chip_stacks import ROOM, STEPS, train_strips
from models.train.exact import forget_state
from settlement.errors import FeltwatchError


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """What to train on and how; None leaves a setting to the part's own default.

    `data` is the folder of a rendered set; `crops` are more folders of index crops for the
    reader, each counted `crops_weight` times; `pictures` more folders of `images` with
    YOLO `labels` for the detector: cut photographs, or other rendered sets. `stacks` are
    folders of strips of stacks (none: data/stacks), the first also for the held-out figures.
    `steps` are batches, for detector and reader rounded up to whole epochs where `epochs` is None;
    the last `cool` of the stack reader have a falling learning rate, and so many as `room` of its
    strips stay in a GPU's memory. `seed` is of the weights and of what varies the samples.
    `minutes` ends the detector's training after so much processor time; `slim` makes its network
    slim first.
    """

    data: Path
    out: Path
    epochs: int | None = None
    size: int = 512
    batch: int | None = None
    rate: float | None = None
    device: str | None = None
    resume: bool = False
    start: Path | None = None
    crops: tuple[Path, ...] = ()
    crops_weight: int = 1
    pictures: tuple[Path, ...] = ()
    stacks: tuple[Path, ...] = ()
    steps: int | None = None
    cool: int = 0
    room: int = 0
    seed: int = 0
    minutes: float | None = None
    slim: bool = False


def train_part(part: str, run: TrainingRun) -> Path:
    """Train 'detector', 'reader' or 'strips' into `out/PART`; the best checkpoint.

    Notes beside it in training.json what it was trained on, for the model card. With
    `resume` a part that is finished is left as it is.

    Raises FeltwatchError for data or a device that are not there, and for data that hold an
    image which is held out (`models.heldout.lists`).
    """
    folder = run.out / part
    note = folder / TRAINING_FILE
    best = folder / "weights" / ("last.pt" if part == "strips" else "best.pt")
    if run.resume and note.is_file() and best.is_file():
        return best
    provenance = part_provenance(part, run)
    refuse_held_out(_folders(part, run))
    start = run.start
    if start is not None and start.suffix == ".onnx":
        if part == "strips":
            raise FeltwatchError(
                f"{start}: the stack reader goes on from a checkpoint (last.pt) only"
            )
        provenance = provenance.joined(provenance_beside(start))
        start = _unfolded_start(part, start, run, folder)
    elif start is not None:
        provenance = provenance.joined(read_provenance(start.parent.parent / TRAINING_FILE))
    _check_device(run.device)
    folder.mkdir(parents=True, exist_ok=True)
    note.unlink(missing_ok=True)
    began = time.monotonic()
    best = _trained(part, run, start, folder)
    note_training(
        best, part, provenance, _folders(part, run), start=run.start, began_s=began,
        steps=run.steps, epochs=run.epochs, seed=run.seed, rate=run.rate,
    )  # fmt: skip
    forget_state(folder)
    return best


def _trained(part: str, run: TrainingRun, start: Path | None, folder: Path) -> Path:
    """Train a part into its folder; the checkpoint."""
    own: dict[str, Any] = {
        name: value
        for name in ("epochs", "batch", "rate", "steps")
        if (value := getattr(run, name)) is not None
    }
    own |= {"resume": run.resume, "start": start, "seed": run.seed}
    # With both, epochs are for detector and reader and steps for the stack reader.
    if "epochs" in own:
        own.pop("epochs" if part == "strips" else "steps", None)
    if part == "strips":
        places = stack_folders(run)
        return train_strips(
            [one / "train" for one in places], places[0] / "val", folder / "weights",
            **({"steps": STEPS} | own), cool=run.cool, device=torch_device(run.device),
            room=0 if torch_device(run.device) == "cpu" else run.room or ROOM,
        )  # fmt: skip
    if part == "detector":
        data = _placed_data(run.data, run.pictures, folder)
        how = replace(detector.USUAL, device=run.device, **own)
        return detector.train_detector(
            data, folder, how, size=run.size, minutes=run.minutes, slim_form=run.slim
        )
    train, val = run.data / "crops" / "train", run.data / "crops" / "val"
    extra = crop_folders(run.crops)
    weights = [1] + [run.crops_weight] * len(extra)
    how = replace(reader.USUAL, device=run.device, **own)
    return reader.train_reader([train, *extra], [val], folder, how, weights=weights)


def _unfolded_start(part: str, onnx_file: Path, run: TrainingRun, folder: Path) -> Path:
    """A checkpoint of exported weights, measured with the held-out images of the set."""
    data = run.data
    if part == "reader":
        data = run.data / "crops" / "val"
    size = run.size if part == "detector" else CROP_PX
    return checkpoint_of(part, onnx_file, data, folder / "start.pt", size)


def part_provenance(part: str, run: TrainingRun) -> Provenance:
    """What a part would be trained on; raises FeltwatchError where that is not there."""
    if part == "strips":
        return Provenance(stacks=tuple(stack_data(folder) for folder in stack_folders(run)))
    rendered = rendered_data(run.data)
    if part == "reader":
        read_crops(run.data / "crops" / "val")
        extra = crop_folders(run.crops)
    else:
        extra = list(run.pictures)
    # A folder that is given again counts more; it is still one source.
    sources = [_source(folder) for folder in dict.fromkeys(extra)]
    return Provenance(
        rendered=(rendered, *(one for one in sources if isinstance(one, RenderedData))),
        photographs=tuple(one for one in sources if isinstance(one, PhotoData)),
    )


def _source(folder: Path) -> RenderedData | PhotoData:
    """What a folder of more images or crops holds: another rendered set, or photographs."""
    for place in (folder, *folder.resolve().parents[:2]):
        if (place / "recipe.json").is_file() and (place / "data.yaml").is_file():
            return rendered_data(place)
    return photo_data(folder)


def _pictures_of(folder: Path) -> Path:
    """Where the images of a rendered set or of cut photographs are."""
    inner = folder / "images" / "train"
    return inner if inner.is_dir() else folder / "images"


def _folders(part: str, run: TrainingRun) -> tuple[Path, ...]:
    """The folders that a part is trained on."""
    if part == "strips":
        return stack_folders(run)
    return (run.data, *(run.crops if part == "reader" else run.pictures))


def stack_folders(run: TrainingRun) -> tuple[Path, ...]:
    """Where the strips of stacks are."""
    return run.stacks or (run.data / "stacks",)


def crop_folders(given: tuple[Path, ...]) -> list[Path]:
    """The folders that hold the crops, each itself or within; raises FeltwatchError.

    A rendered set keeps them in crops/train, cut photographs in crops.
    """
    folders = []
    for folder in given:
        inner = (folder / "crops" / "train", folder / "crops", folder)
        folders.append(next((place for place in inner if place.is_dir()), folder))
        read_crops(folders[-1])
    return folders


def _placed_data(data: Path, pictures: tuple[Path, ...], folder: Path) -> Path:
    """A data.yaml of where the set lies now, for one that was moved, and of more images."""
    source = data / "data.yaml"
    train = data / "images" / "train"
    names = class_names(source)
    if names != CLASSES:
        raise FeltwatchError(
            f"{source}: classes {', '.join(names)}, the detector has {', '.join(CLASSES)}"
        )
    for place in (train, data / "images" / "val", *(_pictures_of(more) for more in pictures)):
        if not any(place.glob("*.jpg")):
            raise FeltwatchError(f"{place}: no images (.jpg) to train on")
    placed = {
        "path": str(data.resolve()),
        "train": [str(train.resolve()), *(str(_pictures_of(more).resolve()) for more in pictures)],
        "val": "images/val",
    }
    target = folder / "data.yaml"
    # JSON is YAML too, and quotes whatever a path may hold.
    lines = [f"{key}: {json.dumps(value)}" for key, value in placed.items()]
    lines += ["names:", *(f"  {place}: {name}" for place, name in enumerate(CLASSES))]
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return target


def torch_device(device: str | None) -> str:
    """A device as torch names it; without one a GPU where there is one."""
    if device is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    return f"cuda:{device}" if device.isdigit() else device


def _check_device(device: str | None) -> None:
    if device is None or device == "cpu":
        return
    found = torch.cuda.device_count()
    wanted = device.removeprefix("cuda:").split(",")
    if device == "mps" and torch.backends.mps.is_available():
        return
    if not all(place.isdigit() and int(place) < found for place in wanted):
        raise FeltwatchError(f"--device {device}: not here ({found} GPUs found); use cpu")
