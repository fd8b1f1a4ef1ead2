"""From nothing to weights by a recipe: rendered, trained, exported, photographs added.

Each stage leaves its results in a folder of its own and a note of their hashes in `stages/`.
Stages that are noted are passed over, and those that were cut short go on to what an unbroken
run gives: the same recipe in the same folder gives the same weights however often it is stopped.
They are those of detector, reader and stack reader; what compares indices with a deck's samples is
trained by itself (`models.train.likeness`).
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path

from filelock import FileLock, Timeout

from datasets.training.index_patches import patch_count, render_patches
from datasets.training.sides.render import render_strips
from datasets.training.training_set import TrainingSet, render_training_set
from models.data.digests import files_digest, folder_digest
from models.data.photo_crops import harvest_photos
from models.data.photo_labels import held_out, load_labels
from models.data.provenance import (
    SOURCES_FILE,
    TRAINING_FILE,
    Provenance,
    patch_data,
    photo_data,
    read_object,
    read_provenance,
)
from models.export.weights import ExportSettings, export_models
from models.extras import INSTALL_TRAIN
from models.heldout.lists import refuse_held_out
from models.recipe_file import Photographs, Recipe, Training, input_hashes
from models.train.chain import commit, note_training, weights_digest
from models.train.patches import STATE_FILE, train_on_patches
from models.train.run import TrainingRun, torch_device, train_part
from settlement.errors import FeltwatchError
from vision.networks import load_networks

RECIPE_FILE = "recipe.json"
STAGES = "stages"
LOCK_FILE = ".lock"
PATCHES_FILE = "patches.npz"

Report = Callable[[str], None]
Show = Callable[[float], None] | None


@dataclass(frozen=True, slots=True)
class Build:
    """A recipe carried out in the folder `out`; `workers` do not change the result."""

    recipe: Recipe
    out: Path
    device: str | None = None
    workers: int = 1
    report: Report = field(default=lambda _text: None)
    show: Show = None


def build(plan: Build) -> Path:
    """Do the stages that are not done; returns the folder of the finished weights.

    `out/rendered-weights` are trained on rendered images alone, `out/weights` is the result;
    without photographs the two are one.

    Raises FeltwatchError as the stages do, before the first hour for what can be checked, and
    for a folder that was begun with another recipe or in which another build runs.
    """
    recipe, out = plan.recipe, plan.out
    if recipe.int8 and find_spec("nncf") is None:
        raise FeltwatchError(
            f"int8: nncf is not installed: {INSTALL_TRAIN}; or int8 = false in the recipe"
        )
    for own in recipe.photographs.sets:
        held_out(own.folder, own.after, own.share)
    out.mkdir(parents=True, exist_ok=True)
    lock = FileLock(out / LOCK_FILE, preserve_lock_file=True, fallback_to_soft=False)
    try:
        lock.acquire(blocking=False)
    except Timeout as error:
        raise FeltwatchError(f"{out}: another build runs in it; wait for its end") from error
    try:
        _begin(plan)
        return _build(plan)
    finally:
        lock.release()


def _build(plan: Build) -> Path:
    recipe, out = plan.recipe, plan.out
    runs = _rendered(plan) | {"strips": _strips(plan)}
    weights = out / "weights"
    if not recipe.photographs.sets:
        _export(plan, "export", runs, weights)
        return weights
    alone = out / "rendered-weights"
    _export(plan, "export-rendered", runs, alone)
    _export(plan, "export", runs | _photographed(plan, runs, alone), weights)
    return weights


def _begin(plan: Build) -> None:
    note = plan.out / RECIPE_FILE
    identity = {
        "recipe": plan.recipe.digest(),
        "name": plan.recipe.name,
        "inputs": input_hashes(plan.recipe),
    }
    if note.is_file():
        before = read_object(note)
        if {key: before.get(key) for key in identity} != identity:
            raise FeltwatchError(
                f"{plan.out}: was begun with another recipe, or other fonts, decks or photographs; "
                "choose another folder"
            )
        return
    (plan.out / STAGES).mkdir(parents=True, exist_ok=True)
    _write(note, identity | {"values": plan.recipe.model_dump(mode="json"), "commit": commit()})


def _stage(plan: Build, name: str, run: Callable[[], object], result: Callable[[], str]) -> None:
    """Run a stage unless it is noted as done; its note holds the hash of what it gave."""
    note = plan.out / STAGES / f"{name}.json"
    if note.is_file():
        return
    plan.report(f"stage {name}")
    began = time.monotonic()
    run()
    seconds = round(time.monotonic() - began, 1)
    _write(note, {"stage": name, "sha256": result(), "seconds": seconds, "commit": commit()})


def _write(path: Path, values: dict[str, object]) -> None:
    part = path.with_suffix(".part")
    part.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
    part.replace(path)


def _rendered(plan: Build) -> dict[str, Path]:
    """Detector and reader trained on rendered views, the reader then on patches."""
    recipe, views, patches = plan.recipe, plan.out / "set", plan.out / "patches"
    _stage(plan, "views", lambda: _render_views(plan, views), lambda: folder_digest(views))
    runs = {}
    for part, training in (("detector", recipe.detector), ("reader", recipe.reader)):
        run = _run(plan, training, plan.out / "rendered")
        runs[part] = _train(plan, part, part, run)

    def render() -> None:
        render_patches(
            patches, recipe.patches.count, recipe.seed, [one.folder for one in recipe.decks],
            recipe.font_files, workers=plan.workers, progress=plan.show,
        )  # fmt: skip

    _stage(plan, "patches", render, lambda: folder_digest(patches))
    runs["reader"] = _on_patches(
        plan, "reader-patches", recipe.patches.training, runs["reader"], ()
    )
    return runs


def _strips(plan: Build) -> Path:
    """The stack reader trained on sides of both renderers."""
    strips, seed, out = plan.recipe.strips, plan.recipe.seed, plan.out
    made = {
        "sides": (strips.count, seed, False),
        "sides-painted": (strips.painted, seed, True),
        "sides-beside": (strips.beside, seed + 1, False),
    }
    for name, (count, own, painted) in made.items():

        def render(
            place: Path = out / name, count: int = count, own: int = own, painted: bool = painted
        ) -> None:
            render_strips(place, count, own, plan.workers, plan.show, painted=painted)

        def result(place: Path = out / name) -> str:
            return folder_digest(place)

        _stage(plan, name, render, result)
    run = replace(_run(plan, strips.training, out / "rendered"), stacks=(out / "sides",))
    start = _train(plan, "strips", "strips", run)
    both = (out / "sides-beside", out / "sides-painted")
    run = replace(_run(plan, strips.both, out / "both"), stacks=both, start=start)
    return _train(plan, "strips-both", "strips", run)


def _photographed(plan: Build, runs: dict[str, Path], weights: Path) -> dict[str, Path]:
    """Train detector and reader on with photographs, where these gave anything."""
    photographs = plan.recipe.photographs
    cuts = [plan.out / "cut" / own.folder.name for own in photographs.sets]
    for own, cut in zip(photographs.sets, cuts, strict=True):

        def take(own: Photographs = own, cut: Path = cut) -> None:
            _cut(own, cut, weights)

        def result(cut: Path = cut) -> str:
            return folder_digest(cut)

        _stage(plan, f"cut-{cut.name}", take, result)
    found = {}
    pictures = tuple(cut for cut in cuts if any((cut / "images").glob("*.jpg")))
    if pictures:
        run = _run(plan, photographs.detector, plan.out / "photographed")
        run = replace(run, start=runs["detector"], pictures=pictures * photographs.weight)
        found["detector"] = _train(plan, "detector-photographs", "detector", run)
    crops = tuple(cut for cut in cuts if (cut / PATCHES_FILE).is_file())
    if crops:
        found["reader"] = _on_patches(
            plan, "reader-photographs", photographs.reader, runs["reader"], crops
        )
    for part in {"detector", "reader"} - set(found):
        plan.report(f"the photographs gave nothing to train the {part} on")
    return found


def _run(plan: Build, training: Training, out: Path) -> TrainingRun:
    return TrainingRun(
        data=plan.out / "set", out=out, steps=training.steps, rate=training.rate,
        batch=training.batch, cool=training.cool, size=plan.recipe.size, seed=plan.recipe.seed,
        device=plan.device, resume=True, slim=True,
    )  # fmt: skip


def _train(plan: Build, stage: str, part: str, run: TrainingRun) -> Path:
    """One training as a stage; returns its checkpoint."""
    name = "last.pt" if part == "strips" else "best.pt"
    best = run.out / part / "weights" / name
    _stage(plan, stage, lambda: train_part(part, run), lambda: weights_digest(best))
    return best


def _on_patches(
    plan: Build, stage: str, training: Training, start: Path, cuts: tuple[Path, ...]
) -> Path:
    """The reader trained on with rendered patches and those of photographs, as a stage."""
    recipe, patches = plan.recipe, plan.out / "patches"
    folder = plan.out / stage / "weights"
    last = folder / "reader.pt"
    many = {cut / PATCHES_FILE: patch_count(cut / PATCHES_FILE) for cut in cuts}
    share = recipe.photographs.share

    def train() -> None:
        refuse_held_out(cuts)
        began = time.monotonic()
        train_on_patches(
            patches, folder, start=start, steps=training.steps, batch=training.batch,
            fixed=[(one, share * n / sum(many.values())) for one, n in many.items()],
            rate=training.rate, pool=recipe.patches.pool, device=torch_device(plan.device),
            seed=recipe.seed, resume=True,
        )  # fmt: skip
        added = Provenance(
            patches=(patch_data(patches),), photographs=tuple(photo_data(cut) for cut in cuts)
        )
        earlier = read_provenance(start.parent.parent / TRAINING_FILE)
        note_training(
            last, "reader", earlier.joined(added), (patches, *cuts), start=start, began_s=began,
            steps=training.steps, rate=training.rate, seed=recipe.seed,
        )  # fmt: skip
        (folder / STATE_FILE).unlink()

    _stage(plan, stage, train, lambda: weights_digest(last))
    return last


def _render_views(plan: Build, data: Path) -> None:
    recipe, fonts = plan.recipe, plan.recipe.font_files
    spec = TrainingSet(
        views=recipe.views.count, seed=recipe.seed, size=recipe.size, fonts=fonts,
        deck_folders=tuple(one.folder for one in recipe.decks),
    )  # fmt: skip
    render_training_set(spec, data, plan.workers, plan.show)
    _write(data / SOURCES_FILE, {"fonts": sorted({Path(name).stem for name in fonts})})


def _export(plan: Build, stage: str, best: dict[str, Path], out: Path) -> None:
    settings = ExportSettings(
        size=plan.recipe.size, int8_data=plan.out / "set" if plan.recipe.int8 else None
    )
    _stage(
        plan, stage,
        lambda: export_models(best["detector"], best["reader"], best["strips"], out, settings),
        lambda: files_digest(out.glob("*.onnx")),
    )  # fmt: skip


def _cut(own: Photographs, out: Path, weights: Path) -> None:
    """Training data of one folder of photographs, the held-out part left out."""
    # Begun again as a whole: it takes minutes.
    shutil.rmtree(out, ignore_errors=True)
    held = held_out(own.folder, own.after, own.share)
    chosen = {photo.image for photo in load_labels(own.folder)} - held
    networks = load_networks(weights)
    harvest_photos(
        own.folder, chosen, networks.detector, networks.reader, out, prefix=own.folder.name,
        skip_suits=own.skip_suits.upper(),
    )  # fmt: skip
