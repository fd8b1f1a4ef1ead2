"""`feltwatch dataset import`, `relabel`, `cut`, `harvest` and `export`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from datasets.labelled.checks.enclosure import Encloses
from datasets.labelled.formats.base import Format, WritableFormat
from settlement.errors import FeltwatchError
from surveillance.cli.options import (
    Cards,
    DryRun,
    Folder,
    Into,
    Json,
    MapFile,
    Quiet,
    Renamed,
    counting_bar,
    resumable,
)

if TYPE_CHECKING:
    from datasets.labelled.importing import ImportSummary


def import_command(
    source: Annotated[
        Path, typer.Argument(help="Folder, .zip or .tar with labels and images, or a label file.")
    ],
    into: Into,
    format: Annotated[
        Format | None, typer.Option("--format", help="Where the folder could be several.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Of the import; default: the folder's name.")
    ] = None,
    prefix: Annotated[
        str | None, typer.Option("--prefix", help="Folder in the dataset for these images.")
    ] = None,
    deck: Annotated[str | None, typer.Option("--deck", help="Deck on these images.")] = None,
    camera: Annotated[str | None, typer.Option("--camera", help="Camera that took them.")] = None,
    shift: Annotated[str | None, typer.Option("--shift", help="Shift they are of.")] = None,
    deal: Annotated[str | None, typer.Option("--deal", help="Deal they all show.")] = None,
    split: Annotated[str | None, typer.Option("--split", help="Split they belong to.")] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Images that are there already get these labels.")
    ] = False,
    boxes: Annotated[
        Encloses | None,
        typer.Option("--boxes", help="What boxes of cards enclose; detected by default."),
    ] = None,
    renamed: Renamed = None,
    map_file: MapFile = None,
    cards: Cards = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="End at the first entry that is wrong.")
    ] = False,
    skip_boxes: Annotated[
        bool,
        typer.Option("--skip-boxes", help="Leave out wrong boxes alone, not their whole images."),
    ] = False,
    unlabelled: Annotated[
        bool, typer.Option("--unlabelled", help="Accept a set without any box.")
    ] = False,
    video: Annotated[
        Path | None, typer.Option("--video", help="Recording that tracks of CVAT belong to.")
    ] = None,
    every: Annotated[
        int, typer.Option("--every", min=1, help="Take every Nth labelled frame of --video.")
    ] = 1,
    dry_run: DryRun = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Import labelled images from the forms of other tools; docs/label-formats.md lists them.

    An import that was interrupted is run again and goes on. Values of --deck, --camera,
    --shift, --deal and --split apply to images that name none themselves. Wrong entries are
    left out and listed; an image with a wrong box is left out whole, because it would show a thing
    without a label (but see --skip-boxes). Missing and broken images come in with their labels, for
    'dataset check' to report. It is an error when nothing at all can be imported.

    Examples:

      feltwatch dataset import photos/poker_cards --into felt --deck bicycle

      feltwatch dataset import roboflow.zip --into felt --cards --map person= --dry-run

      feltwatch dataset import annotations.xml --into felt --update

      feltwatch dataset import tracks.xml --into felt --video shift.mp4 --every 5
    """
    from datasets.labelled.import_source import ImportOptions, NothingImported
    from datasets.labelled.importing import import_labels, preview_labels
    from datasets.labelled.relabel import parse_map

    if strict and skip_boxes:
        raise FeltwatchError("--strict and --skip-boxes exclude each other")
    options = ImportOptions(
        format, name, prefix, deck, camera, shift, deal, split, update,
        strict=strict, skip_boxes=skip_boxes, unlabelled=unlabelled,
        labels=parse_map(renamed or (), map_file, cards), encloses=boxes, video=video, every=every,
    )  # fmt: skip
    try:
        if dry_run:
            summary = preview_labels(source, into, options)
        else:
            with resumable(), counting_bar("images", shown=not quiet) as show:
                summary = import_labels(source, into, options, show)
    except NothingImported as error:
        for fault in error.faults if len(error.faults) > 1 else ():
            typer.echo(f"  {fault}", err=True)
        raise
    if as_json:
        typer.echo(json.dumps(summary.as_dict()))
        return
    _print_import(summary)


def _print_import(summary: ImportSummary) -> None:
    counts = [f"{summary.added} images with {summary.boxes} boxes added"]
    counts += [f"{summary.present} there already"] if summary.present else []
    counts += [f"{summary.updated} updated"] if summary.updated else []
    would = "dry run, nothing written: " if summary.dry_run else ""
    typer.echo(f"{would}{summary.format}: {', '.join(counts)}")
    if summary.labels:
        typer.echo("labels: " + ", ".join(f"{k} {n}" for k, n in summary.labels.items()))
    enclosed = {"card": "whole cards", "index": "indices (rank and suit in a corner)"}
    if summary.encloses:
        typer.echo(f"boxes of cards enclose {enclosed[summary.encloses]}")
    elif summary.boxes and summary.has_cards:
        typer.echo("what boxes of cards enclose was not detected; say --boxes index or card")
    if summary.missing or summary.broken:
        typer.echo(f"{summary.missing} images missing, {summary.broken} broken:")
        _print_some(summary.examples, summary.missing + summary.broken)
    if summary.skipped:
        typer.echo(f"{summary.skipped} entr{'y' if summary.skipped == 1 else 'ies'} left out:")
        _print_some(summary.skipped_examples, summary.faults)
    if summary.wrong_boxes:
        typer.echo(f"{summary.wrong_boxes} box{'es' * (summary.wrong_boxes > 1)} left out:")
        _print_some(summary.wrong_box_examples, summary.wrong_boxes)
    for name in summary.unused:
        typer.echo(f"--map: there is no label {name!r}; give --map once for each name")


def _print_some(examples: list[str], count: int) -> None:
    for example in examples:
        typer.echo(f"  {example}")
    if count > len(examples):
        typer.echo(f"  and {count - len(examples)} more")


def relabel_command(
    folder: Folder,
    renamed: Renamed = None,
    map_file: MapFile = None,
    cards: Cards = False,
    boxes: Annotated[
        Encloses | None, typer.Option("--boxes", help="Set what boxes of cards enclose.")
    ] = None,
    by: Annotated[
        str, typer.Option("--by", help="Who does it, for the history.")
    ] = "import:relabel",
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Rename, merge and drop labels of a dataset; the history keeps the boxes before.

    Examples:

      feltwatch dataset relabel felt --cards

      feltwatch dataset relabel felt --map 10C=TC --map 'ace of spades=AS' --map person=

      feltwatch dataset relabel felt --boxes card
    """
    from datasets.labelled.checks.enclosure import NOTE
    from datasets.labelled.manifest import Dataset
    from datasets.labelled.relabel import RelabelSummary, parse_map, relabel

    names = parse_map(renamed or (), map_file, cards)
    if not names.names and not cards and boxes is None:
        raise FeltwatchError("give --map OLD=NEW, --map-file, --cards or --boxes")
    with Dataset.open(folder) as dataset:
        summary = RelabelSummary()
        if names.names or cards:
            summary = relabel(dataset, names, by=by, dry_run=dry_run)
        if boxes is not None and not dry_run:
            dataset.set_note(NOTE, str(boxes))
    if as_json:
        typer.echo(json.dumps(summary.as_dict()))
        return
    for (old, new), count in sorted(summary.boxes.items()):
        typer.echo(f"{old} to {new}: {count} boxes" if new else f"{old}: {count} boxes dropped")
    would = "would change" if dry_run else "changed"
    typer.echo(f"{summary.pictures} images {would}")
    if summary.unused:
        typer.echo(f"not among the labels: {', '.join(summary.unused)}")


def cut_command(
    video: Annotated[Path, typer.Argument(help="Recording.")],
    rounds: Annotated[Path, typer.Option("--rounds", help="Its round records, rounds.jsonl.")],
    into: Into,
    each: Annotated[int, typer.Option("--each", min=1, help="Most frames of a round.")] = 3,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Cut frames of every round of a recording into images to label.

    Frames are chosen by their presentation time: shortly before a seat's cards are taken where
    the record says when, else evenly over the round.

    Example:

      feltwatch dataset cut shift.mp4 --rounds audit/rounds.jsonl --into felt
    """
    from datasets.labelled.video import cut_recording

    with resumable(), counting_bar("frames", shown=not quiet) as show:
        summary = cut_recording(video, rounds, into, each=each, progress=show)
    if as_json:
        typer.echo(json.dumps(summary.as_dict()))
        return
    present = f", {summary.present} there already" if summary.present else ""
    typer.echo(f"{summary.added} images of {summary.rounds} rounds added{present}")


def export_command(
    folder: Folder,
    format: Annotated[WritableFormat, typer.Option("--format", help="Form to write.")],
    out: Annotated[Path, typer.Option("--out", help="New folder for images and labels.")],
    zipped: Annotated[
        bool, typer.Option("--zip", help="Also put it into OUT.zip, as CVAT takes it.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write YOLO, COCO, Pascal VOC or CVAT for images; an interrupted export goes on.

    `yolo` writes upright boxes, `yolo-obb` turned ones, `yolo-seg` outlines.

    Beside the labels lies feltwatch.jsonl with all that the form has no field for (sources,
    decks, shifts, confirmations, exact corners, ...), so that an import of the folder brings
    everything back except the history of changes.

    Examples:

      feltwatch dataset export felt --format coco --out felt-coco

      feltwatch dataset export felt --format cvat --out felt-cvat --zip
    """
    from datasets.labelled.exporting import export_labels, pack
    from datasets.labelled.manifest import Dataset

    with (
        resumable(),
        Dataset.open(folder, to_read=True) as dataset,
        counting_bar("images", shown=not quiet) as show,
    ):
        summary = export_labels(dataset, out, Format(format), show)
    packed = pack(out) if zipped else None
    if as_json:
        typer.echo(json.dumps(summary.as_dict() | ({"zip": str(packed)} if packed else {})))
        return
    typer.echo(f"{summary.format}: {summary.pictures} images in {packed or out}")
    if summary.missing:
        typer.echo(f"{summary.missing} of them have no file; their labels were written")


def harvest_command(
    audits: Annotated[list[Path], typer.Argument(help="Folders of audits.")],
    into: Into,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Most views of each audit.")
    ] = None,
    surer_than: Annotated[
        float,
        typer.Option("--surer-than", min=0, max=1, help="Leave out views surer than this."),
    ] = 1.0,
    overruled: Annotated[
        bool, typer.Option("--overruled", help="Only views of alerts a person overruled.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Take the views an audit was least sure of, with the model's boxes as first labels.

    The audit has to be run with --candidates. Views behind alerts that a person overruled
    (verdicts.jsonl in the audit's folder) come first.

    Examples:

      feltwatch audit shift.mp4 --table table.toml --out audit --candidates 200

      feltwatch dataset harvest audit --into felt --surer-than 0.8
    """
    from datasets.labelled.harvest import harvest

    summary = harvest(audits, into, limit=limit, surer_than=surer_than, overruled_only=overruled)
    if as_json:
        typer.echo(json.dumps(summary.as_dict()))
        return
    typer.echo(
        f"{summary.added} views with {summary.boxes} boxes added, {summary.present} there already, "
        f"{summary.left} left out, {summary.overruled} of overruled alerts"
    )
