"""`feltwatch model`: render a training set, train, check and export the networks."""

from __future__ import annotations

import json
import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from settlement.errors import FeltwatchError
from surveillance.cli.models.indices_cmd import indices_app
from surveillance.cli.models.likeness_cmd import likeness_app
from surveillance.cli.models.sides_cmd import sides_app
from surveillance.cli.models.train_extra import train_extra
from surveillance.cli.models.views_cmd import views_app
from surveillance.cli.options import Decks, Device, Quiet, Seed, Workers, add_command, progress_bar

model_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="""Train, check and export the networks that read the table.

    Examples:

      feltwatch model render --views 14000 --fonts /usr/share/fonts --out set

      feltwatch model train --data set --out run

      feltwatch model export --detector run/detector/weights/best.pt \\
        --reader run/reader/weights/best.pt --strips run/strips/weights/last.pt \\
        --out weights

      feltwatch model val --weights weights --data set
    """,
)


class Part(StrEnum):
    """Which network is trained."""

    DETECTOR = "detector"
    READER = "reader"
    STRIPS = "strips"
    BOTH = "both"
    ALL = "all"


PARTS = {Part.BOTH: ("detector", "reader"), Part.ALL: ("detector", "reader", "strips")}


StackFolders = Annotated[
    list[Path] | None,
    typer.Option(
        "--stack-data", help="Folder of strips; DATA/stacks by default. May be given again."
    ),
]


@model_app.command("render")
def render_command(
    views: Annotated[int, typer.Option("--views", min=1, help="How many views, about.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the set.")],
    deck: Decks = None,
    fonts: Annotated[
        Path | None,
        typer.Option("--fonts", help="Folder of fonts for drawn decks; without it DejaVu."),
    ] = None,
    seed: Seed = 1,
    size: Annotated[int, typer.Option("--size", min=64, help="Side of a view in px.")] = 640,
    strips: Annotated[
        int | None,
        typer.Option("--strips", min=0, help="Strips of chip stacks, about; 20 per view."),
    ] = None,
    workers: Workers = None,
    quiet: Quiet = False,
) -> None:
    """Render views with labels, crops of their indices, strips of chip stacks; can go on.

    Whole shards are rendered, at least one to train on and one to check with, so there may
    be somewhat more views than asked for.

    Examples:

      feltwatch model render --views 14000 --out set

      feltwatch dataset render --views 1000 --out views --strips 0

      feltwatch model render --views 500 --seed 5 --deck decks/classic --fonts fonts --out small
    """
    from datasets.render.cards.fonts import default_fonts, usable_fonts
    from datasets.training.training_set import TrainingSet, render_training_set
    from models.data.provenance import SOURCES_FILE

    names = default_fonts() if fonts is None else usable_fonts(fonts)
    wanted = 20 * views if strips is None else strips
    if wanted:
        with train_extra():
            from datasets.training.sides.render import render_strips
    spec = TrainingSet(
        views=views, seed=seed, size=size, deck_folders=tuple(deck or ()), fonts=names
    )
    with progress_bar("views", shown=not quiet) as show:
        data = render_training_set(spec, out, workers, show)
    if wanted:
        with progress_bar("strips of stacks", shown=not quiet) as show:
            render_strips(out / "stacks", wanted, seed, workers or os.cpu_count() or 1, show)
    sources = {"fonts": sorted({Path(name).stem for name in names})}
    (out / SOURCES_FILE).write_text(json.dumps(sources, indent=1) + "\n", encoding="utf-8")
    typer.echo(f"training set: {data}")


@model_app.command("train")
def train_command(
    data: Annotated[Path, typer.Option("--data", help="Folder of a rendered set.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for checkpoints.")],
    part: Annotated[
        Part, typer.Option("--part", help="Which network; both: detector and reader.")
    ] = Part.ALL,
    epochs: Annotated[
        int | None, typer.Option("--epochs", min=1, help="Default: detector 3, others 4.")
    ] = None,
    size: Annotated[
        int, typer.Option("--size", min=64, help="Side of the detector's view, px.")
    ] = 512,
    batch: Annotated[
        int | None, typer.Option("--batch", min=1, help="Default: detector 16, others 128.")
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option("--rate", min=1e-6, max=0.1, help="Peak learning rate; each part its own."),
    ] = None,
    device: Device = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the last checkpoint of --out.")
    ] = False,
    start: Annotated[
        Path | None,
        typer.Option("--start", help="Checkpoint or exported .onnx to go on from; one --part."),
    ] = None,
    crops: Annotated[
        list[Path] | None,
        typer.Option("--crops", help="More index crops, as of photographs."),
    ] = None,
    crops_weight: Annotated[
        int,
        typer.Option("--crops-weight", min=1, help="How often those, or later stack data, count."),
    ] = 1,
    pictures: Annotated[
        list[Path] | None,
        typer.Option("--pictures", help="More images and labels for the detector."),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option("--minutes", min=0.1, help="End the detector after so much processor time."),
    ] = None,
    slim: Annotated[
        bool,
        typer.Option("--slim", help="Make the detector slim first: quicker in int8."),
    ] = False,
    stack_data: StackFolders = None,
    steps: Annotated[
        int | None,
        typer.Option("--steps", min=1, help="Batches; detector and reader: in place of --epochs."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of weights and order.")] = 0,
    cool: Annotated[
        int,
        typer.Option("--cool", min=0, help="Stack reader: the last batches, at a falling rate."),
    ] = 0,
) -> None:
    """Train from scratch on a rendered set; works on a CPU alone, uses a GPU where there is one.

    Examples:

      feltwatch model train --data set --out run

      feltwatch model train --data set --out run --part reader --epochs 8 --crops photo-crops

      feltwatch model train --data set --out run --resume

      feltwatch model train --data set --out run --part reader --start models/weights/reader.onnx

      feltwatch model train --data set --out slim --part detector --start run/detector/weights/best.pt --slim
    """  # noqa: E501
    if start is not None and part in PARTS:
        raise FeltwatchError("--start: the networks differ; say which with --part")
    if start is not None and not start.is_file():
        raise FeltwatchError(f"{start}: no such checkpoint")
    if size % 32:
        raise FeltwatchError(f"--size {size}: the detector needs a multiple of 32")
    with train_extra():
        from models.train.run import TrainingRun, part_provenance, train_part

    run = TrainingRun(
        data=data,
        out=out,
        epochs=epochs,
        size=size,
        batch=batch,
        rate=rate,
        device=device,
        resume=resume,
        start=start,
        crops=tuple(crops or ()),
        crops_weight=crops_weight,
        pictures=tuple(pictures or ()),
        stacks=tuple(stack_data or ()),
        steps=steps,
        cool=cool,
        seed=seed,
        minutes=minutes,
        slim=slim,
    )
    parts = PARTS.get(part, (part.value,))
    for one in parts:
        part_provenance(one, run)  # so that nothing is found missing after hours
    for one in parts:
        typer.echo(f"{one}: {train_part(one, run)}")


@model_app.command("export")
def export_command(
    detector: Annotated[Path, typer.Option("--detector", help="Checkpoint of the detector.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the weights and their card.")],
    reader: Annotated[
        Path | None, typer.Option("--reader", help="Checkpoint of the reader.")
    ] = None,
    strips: Annotated[
        Path | None, typer.Option("--strips", help="Checkpoint of the stack reader.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option("--figures", help="Output of 'model val --json' for the card.")
    ] = None,
    calibration: Annotated[
        Path | None,
        typer.Option("--calibration", help="Output of 'model val --fit': trustworthy scores."),
    ] = None,
    data: Annotated[
        list[Path] | None,
        typer.Option("--data", help="Rendered set trained on, where no training.json names it."),
    ] = None,
    crops: Annotated[
        list[Path] | None,
        typer.Option("--crops", help="Photograph crops trained on, where none names them."),
    ] = None,
    stack_data_used: Annotated[
        Path | None,
        typer.Option("--stack-data", help="Strips trained on, where no training.json names them."),
    ] = None,
    size: Annotated[
        int, typer.Option("--size", min=64, help="Side of the detector's view, px.")
    ] = 512,
    threshold: Annotated[
        float, typer.Option("--threshold", min=0.01, max=0.99, help="Working score.")
    ] = 0.25,
    temperature: Annotated[
        float, typer.Option("--temperature", min=0.1, max=10, help="Of the reader's shares.")
    ] = 1.0,
    strips_temperature: Annotated[
        float, typer.Option("--strips-temperature", min=0.1, max=10, help="Of the stack reader's.")
    ] = 1.0,
    full: Annotated[
        bool, typer.Option("--full", help="Weights in float32: twice the size.")
    ] = False,
    int8: Annotated[
        Path | None,
        typer.Option(
            "--int8",
            help="Rendered set to make an int8 detector with; kept if it costs little mAP50.",
        ),
    ] = None,
) -> None:
    """Write ONNX files with a model card, once OpenVINO gives what the checkpoints give.

    The same checkpoints give the same files, so figures may be put in by a second export. With
    a detector alone it takes the place of the one in --out; the other networks stay.

    Examples:

      feltwatch model export --detector d.pt --reader r.pt --strips s.pt --out new

      feltwatch model export --detector d.pt --reader r.pt --strips s.pt --out new \\
        --figures figures.json --calibration calibration.json

      feltwatch model export --detector d.pt --reader r.pt --strips s.pt --out new \\
        --int8 set

      feltwatch model export --detector d.pt --out weights --size 640 --int8 set
    """
    if size % 32:
        raise FeltwatchError(f"--size {size}: the detector needs a multiple of 32")
    if (reader is None) != (strips is None):
        raise FeltwatchError(
            "--reader, --strips: give both, or neither to put the detector among the weights of "
            "--out"
        )
    with train_extra():
        from models.data.provenance import Provenance, photo_data, rendered_data, stack_data
        from models.evaluate.calibration import read_calibration
        from models.export.model_card import read_figures
        from models.export.replace import replace_detector
        from models.export.weights import ExportSettings, export_models

    settings = ExportSettings(
        size=size,
        threshold=threshold,
        temperature=temperature,
        strips_temperature=strips_temperature,
        half=not full,
        int8_data=int8,
    )
    fitted = None if calibration is None else read_calibration(calibration)
    if reader is None or strips is None:
        card = replace_detector(detector, out, settings, fitted)
    else:
        card = export_models(
            detector,
            reader,
            strips,
            out,
            settings,
            provenance=Provenance(
                rendered=tuple(rendered_data(folder) for folder in data or ()),
                stacks=() if stack_data_used is None else (stack_data(stack_data_used),),
                photographs=tuple(photo_data(folder) for folder in crops or ()),
            ),
            figures=None if figures is None else read_figures(figures),
            calibration=fitted,
        )
    for name, own in card["models"].items():
        typer.echo(f"{name}: {out / own['file']} ({own['bytes'] / 1e6:.1f} MB)")
        cost = own.get("int8", {}).get("cost") or own.get("int8_left_out")
        if cost:
            done = "written" if "int8" in own else "left out"
            typer.echo(f"{name} in int8: {done}; mAP50 {cost['map50']} to {cost['map50 int8']}")


for _name, _module, _help in (
    ("build", "models.model_build_cmd", "Render, train and export in one: the whole recipe."),
    ("val", "models.val_cmd", "Evaluate weights on held-out images of any dataset."),
    ("robustness", "models.robustness_cmd", "See where turns, covers, glare and blur break it."),
    ("bench", "models.model_bench_cmd", "Measure how long the networks take."),
    ("photos", "models.photos_cmd", "Count how the cards of labelled photographs are read."),
    ("harvest", "models.harvest_cmd", "Cut training data out of labelled photographs."),
    ("provenance", "models.provenance_cmd", "Print what weights were made from."),
    ("card", "models.card_cmd", "Write the page of weights from their card."),
    ("heldout", "models.heldout_cmd", "Check held-out images against their lists."),
):
    add_command(model_app, "model", _name, _module, _help)
model_app.add_typer(sides_app, name="sides")
model_app.add_typer(indices_app, name="indices")
model_app.add_typer(likeness_app, name="likeness")
model_app.add_typer(views_app, name="views")
