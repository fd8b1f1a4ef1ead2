"""The whole recipe: views rendered, networks trained, photographs added, weights exported.

Every stage leaves its result in a folder of its own and is passed over when that is there,
so that an interrupted build goes on where it stopped.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from datasets.stack_crops import render_stack_crops
from datasets.training_set import TrainingSet, render_training_set
from models.export import ExportSettings, export_models
from models.photo_crops import harvest_photos
from models.photo_labels import held_out, load_labels
from models.provenance import SOURCES_FILE
from models.training import TrainingRun, train_part
from settlement.errors import FeltwatchError
from vision.runtime import CARD_FILE, load_models

PARTS = ("detector", "reader", "stacks")
FINE_EPOCHS = {"detector": 1, "reader": 2}
FINE_RATE = {"detector": 0.0004, "reader": 0.0008}
STACKS_PER_VIEW = 2


@dataclass(frozen=True, slots=True)
class Photographs:
    """A folder of labelled photographs and the part of it that is never opened here."""

    folder: Path
    after: str | None = None
    share: float | None = None
    skip_suits: str = ""


@dataclass(frozen=True, slots=True)
class BuildPlan:
    """What to build from; the same plan in the same folder goes on where it stopped."""

    out: Path
    views: int
    seed: int = 1
    size: int = 640
    decks: tuple[Path, ...] = ()
    fonts: tuple[str, ...] = ()
    photographs: tuple[Photographs, ...] = ()
    epochs: int | None = None
    device: str | None = None
    workers: int = 1


def build(
    plan: BuildPlan, told: Callable[[str], None], show: Callable[[float], None] | None
) -> Path:
    """Do the stages that are not done; gives back the folder of the finished weights.

    `out/set` is rendered, `out/rendered` trained on it alone and exported to
    `out/rendered-weights`; with photographs `out/photographed` goes on from there and
    `out/weights` holds the result. `told` hears each stage's name, `show` the rendering's
    progress.

    Raises FeltwatchError as the stages do, before the first hour for what can be checked.
    """
    for own in plan.photographs:
        held_out(own.folder, own.after, own.share)
    data = plan.out / "set"
    told(f"rendering {plan.views} views into {data}")
    _render(plan, data, show)
    first = plan.out / "rendered"
    for part in PARTS:
        told(f"training the {part} on rendered pictures")
        train_part(part, _run(plan, data, first))
    alone = plan.out / ("rendered-weights" if plan.photographs else "weights")
    told(f"exporting to {alone}")
    _export(plan, dict.fromkeys(PARTS, first), alone)
    if not plan.photographs:
        return alone
    cuts = tuple(_cut(own, plan, alone, told) for own in plan.photographs)
    crops = tuple(cut for cut in cuts if any((cut / "crops").glob("*.npy")))
    pictures = tuple(cut for cut in cuts if any((cut / "images").glob("*.jpg")))
    second = plan.out / "photographed"
    runs = dict.fromkeys(PARTS, first)
    for part, found in (("detector", pictures), ("reader", crops)):
        if not found:
            told(f"the photographs gave nothing to train the {part} on")
            continue
        told(f"training the {part} on, with photographs")
        run = TrainingRun(
            data=data, out=second, epochs=FINE_EPOCHS[part], size=plan.size,
            rate=FINE_RATE[part], device=plan.device, resume=True,
            start=first / part / "weights" / "best.pt", crops=crops, crops_weight=3,
            pictures=pictures,
        )  # fmt: skip
        train_part(part, run)
        runs[part] = second
    weights = plan.out / "weights"
    told(f"exporting to {weights}")
    _export(plan, runs, weights)
    return weights


def _run(plan: BuildPlan, data: Path, out: Path) -> TrainingRun:
    return TrainingRun(
        data=data, out=out, epochs=plan.epochs, size=plan.size, device=plan.device, resume=True
    )


def _render(plan: BuildPlan, data: Path, show: Callable[[float], None] | None) -> None:
    spec = TrainingSet(views=plan.views, seed=plan.seed, deck_folders=plan.decks, fonts=plan.fonts)
    render_training_set(spec, data, plan.workers, show)
    stacks = data / "stacks"
    crops = STACKS_PER_VIEW * plan.views
    note = stacks / "recipe.json"
    if not note.is_file():
        render_stack_crops(stacks, crops, plan.seed, plan.workers, show)
        note.write_text(json.dumps({"crops": crops, "seed": plan.seed}) + "\n", encoding="utf-8")
    names = {"fonts": sorted({Path(name).stem for name in plan.fonts})}
    (data / SOURCES_FILE).write_text(json.dumps(names, indent=1) + "\n", encoding="utf-8")


def _export(plan: BuildPlan, runs: dict[str, Path], out: Path) -> None:
    if (out / CARD_FILE).is_file():
        return
    best = {part: run / part / "weights" / "best.pt" for part, run in runs.items()}
    for part, path in best.items():
        if not path.is_file():
            raise FeltwatchError(f"{path}: the checkpoint of the {part} is missing; train it anew")
    export_models(
        best["detector"], best["reader"], best["stacks"], out, ExportSettings(size=plan.size)
    )


def _cut(own: Photographs, plan: BuildPlan, weights: Path, told: Callable[[str], None]) -> Path:
    """Training data of one folder of photographs, the held-out part left out."""
    out = plan.out / "cut" / own.folder.name
    if (out / "done").is_file():
        return out
    told(f"cutting training data out of {own.folder}")
    held = held_out(own.folder, own.after, own.share)
    chosen = {photo.image for photo in load_labels(own.folder)} - held
    detector, reader = load_models(weights)
    harvest_photos(
        own.folder, chosen, detector, reader, out, prefix=own.folder.name,
        skip_suits=own.skip_suits.upper(),
    )  # fmt: skip
    (out / "done").touch()
    return out
