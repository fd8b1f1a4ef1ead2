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

from datasets.training.sides.render import render_strips
from datasets.training.training_set import TrainingSet, render_training_set
from models.data.photo_crops import harvest_photos
from models.data.photo_labels import held_out, load_labels
from models.data.provenance import SOURCES_FILE
from models.export.weights import ExportSettings, export_models
from models.train.run import TrainingRun, train_part
from models.train.sides import BATCH
from settlement.errors import FeltwatchError
from vision.detect.openvino_runtime import CARD_FILE
from vision.networks import load_networks

PARTS = ("detector", "reader", "strips")
FINE_EPOCHS = {"detector": 1, "reader": 2}
FINE_RATE = {"detector": 0.0006, "reader": 0.0008}
STRIPS_PER_VIEW = 20
"""Strips of chip stacks to a view."""

STRIP_EPOCHS = 2.0
"""How often the stack reader sees each strip."""

PICTURES_WEIGHT = 6
"""Photographs count so often beside the rendered views."""


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
    `out/rendered-weights`. From there `out/photographed` goes on with photographs; `out/weights`
    holds the result.
    `told` hears each stage's name, `show` the progress of rendering.

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
    runs = dict.fromkeys(PARTS, first) | _photographed(plan, first, alone, told)
    weights = plan.out / "weights"
    told(f"exporting to {weights}")
    _export(plan, runs, weights)
    return weights


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
    steps = round(STRIPS_PER_VIEW * plan.views * STRIP_EPOCHS / BATCH)
    return TrainingRun(
        data=data, out=out, epochs=plan.epochs, size=plan.size, device=plan.device, resume=True,
        slim=True, steps=max(1, steps), cool=steps // 4,
    )  # fmt: skip


def _render(plan: BuildPlan, data: Path, show: Callable[[float], None] | None) -> None:
    spec = TrainingSet(views=plan.views, seed=plan.seed, deck_folders=plan.decks, fonts=plan.fonts)
    render_training_set(spec, data, plan.workers, show)
    stacks = data / "stacks"
    strips = STRIPS_PER_VIEW * plan.views
    note = stacks / "recipe.json"
    if not note.is_file():
        render_strips(stacks, strips, plan.seed, plan.workers, show)
        note.write_text(json.dumps({"strips": strips, "seed": plan.seed}) + "\n", encoding="utf-8")
    names = {"fonts": sorted({Path(name).stem for name in plan.fonts})}
    (data / SOURCES_FILE).write_text(json.dumps(names, indent=1) + "\n", encoding="utf-8")


def _export(plan: BuildPlan, runs: dict[str, Path], out: Path) -> None:
    if (out / CARD_FILE).is_file():
        return
    best = {
        part: run / part / "weights" / ("last.pt" if part == "strips" else "best.pt")
        for part, run in runs.items()
    }
    for part, path in best.items():
        if not path.is_file():
            raise FeltwatchError(f"{path}: the checkpoint of the {part} is missing; train it anew")
    export_models(
        best["detector"],
        best["reader"],
        best["strips"],
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
    networks = load_networks(weights)
    harvest_photos(
        own.folder, chosen, networks.detector, networks.reader, out, prefix=own.folder.name,
        skip_suits=own.skip_suits.upper(),
    )  # fmt: skip
    (out / "done").touch()
    return out
