"""The whole recipe: views rendered, networks trained, photographs added, weights exported.

Every stage leaves its result in a folder of its own and is passed over when that is there,
so that an interrupted build goes on where it stopped.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from datasets.training.stack_crops import render_stack_crops
from datasets.training.stack_strips import render_stack_levels
from datasets.training.training_set import TrainingSet, render_training_set
from models.data.photo_crops import harvest_photos
from models.data.photo_labels import held_out, load_labels
from models.data.provenance import SOURCES_FILE
from models.data.shift_stacks import film_stacks
from models.export.weights import ExportSettings, export_models
from models.train.run import STACK_PARTS, TrainingRun, train_part
from settlement.errors import FeltwatchError
from vision.detect.openvino_runtime import CARD_FILE, load_models

PARTS = ("detector", "reader", "stacks", "levels")
FINE_EPOCHS = {"detector": 1, "reader": 2, "stacks": 5, "levels": 2}
FINE_RATE = {"detector": 0.0006, "reader": 0.0008, "stacks": 0.0015, "levels": 0.0015}
STACKS_PER_VIEW = 2
LEVELS_PER_VIEW = 1
"""Stacks to a view whose number, and whose colours, are learned from."""

PICTURES_WEIGHT = 6
"""Photographs count so often beside the rendered views."""

SHIFT_CROPS_WEIGHT = 2
"""Crops as the detector finds them in recordings count so often beside the rendered ones."""


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
    shifts: int = 28
    """Simulated shifts whose stacks, as the detector finds them, are learned from too."""


def build(
    plan: BuildPlan, told: Callable[[str], None], show: Callable[[float], None] | None
) -> Path:
    """Do the stages that are not done; gives back the folder of the finished weights.

    `out/set` is rendered, `out/rendered` trained on it alone and exported to
    `out/rendered-weights`. From there `out/shifts` goes on with stacks of simulated shifts
    and `out/photographed` with photographs; `out/weights` holds the result.
    `told` hears each stage's name, `show` the progress of rendering and filming.

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
    alone = plan.out / ("rendered-weights" if plan.photographs or plan.shifts else "weights")
    told(f"exporting to {alone}")
    _export(plan, dict.fromkeys(PARTS, first), alone)
    if not plan.photographs and not plan.shifts:
        return alone
    runs = dict.fromkeys(PARTS, first)
    if plan.shifts:
        second = _shift_stacks(plan, first, alone, told, show)
        runs |= dict.fromkeys(STACK_PARTS, second)
    if plan.photographs:
        runs |= _photographed(plan, first, alone, told)
    weights = plan.out / "weights"
    told(f"exporting to {weights}")
    _export(plan, runs, weights)
    return weights


def _shift_stacks(
    plan: BuildPlan, first: Path, alone: Path, told: Callable[[str], None],
    show: Callable[[float], None] | None,
) -> Path:  # fmt: skip
    """Train what reads stacks on with stacks as the detector finds them; the runs' folder."""
    filmed = plan.out / "shift-stacks"
    told(f"filming {plan.shifts} shifts and cutting their stacks into {filmed}")
    film_stacks(filmed, plan.shifts, load_models(alone)[0], progress=show)
    second = plan.out / "shifts"
    for part in STACK_PARTS:
        told(f"training the {part} on, with those of the shifts")
        run = replace(
            _run(plan, plan.out / "set", second), epochs=FINE_EPOCHS[part],
            rate=FINE_RATE[part], start=first / part / "weights" / "best.pt",
            stacks=(plan.out / "set" / "stacks", filmed), crops_weight=SHIFT_CROPS_WEIGHT,
        )  # fmt: skip
        train_part(part, run)
    return second


def _photographed(
    plan: BuildPlan, first: Path, alone: Path, told: Callable[[str], None]
) -> dict[str, Path]:
    """Train detector and reader on with photographs; the run's folder of each that was."""
    cuts = tuple(_cut(own, plan, alone, told) for own in plan.photographs)
    crops = tuple(cut for cut in cuts if any((cut / "crops").glob("*.npy")))
    pictures = tuple(cut for cut in cuts if any((cut / "images").glob("*.jpg")))
    second = plan.out / "photographed"
    runs = {}
    for part, found in (("detector", pictures), ("reader", crops)):
        if not found:
            told(f"the photographs gave nothing to train the {part} on")
            continue
        told(f"training the {part} on, with photographs")
        run = replace(
            _run(plan, plan.out / "set", second), epochs=FINE_EPOCHS[part],
            rate=FINE_RATE[part], start=first / part / "weights" / "best.pt",
            crops=crops, crops_weight=3, pictures=pictures * PICTURES_WEIGHT,
        )  # fmt: skip
        train_part(part, run)
        runs[part] = second
    return runs


def _run(plan: BuildPlan, data: Path, out: Path) -> TrainingRun:
    return TrainingRun(
        data=data, out=out, epochs=plan.epochs, size=plan.size, device=plan.device, resume=True,
        slim=True,
    )  # fmt: skip


def _render(plan: BuildPlan, data: Path, show: Callable[[float], None] | None) -> None:
    spec = TrainingSet(views=plan.views, seed=plan.seed, deck_folders=plan.decks, fonts=plan.fonts)
    render_training_set(spec, data, plan.workers, show)
    stacks = data / "stacks"
    crops = STACKS_PER_VIEW * plan.views
    note = stacks / "recipe.json"
    if not note.is_file():
        render_stack_crops(stacks, crops, plan.seed, plan.workers, show)
        render_stack_levels(stacks, LEVELS_PER_VIEW * plan.views, plan.seed, plan.workers, show)
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
        best["detector"],
        best["reader"],
        best["stacks"],
        best["levels"],
        out,
        ExportSettings(size=plan.size, int8_data=plan.out / "set" if _can_quantize() else None),
    )


def _can_quantize() -> bool:
    return find_spec("nncf") is not None


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
