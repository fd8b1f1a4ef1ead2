"""`feltwatch model card`: the page of weights, with figures measured for it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from models.weights.folder import default_weights
from settlement.errors import FeltwatchError
from settlement.input_file import read_json
from surveillance.cli.options import Quiet, StackData, Weights, progress_bar

_KEYS = ("kind", "data", "figure", "value", "samples", "command")


def card_command(
    weights: Weights = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Held-out rendered set: measures figures and robustness."),
    ] = None,
    photos: Annotated[
        list[str] | None,
        typer.Option(
            "--photos",
            help="Labelled photographs, FOLDER:after=17:00 or FOLDER:share=0.2: measures the part "
            "that is held out. May be given again.",
        ),
    ] = None,
    stack_data: StackData = None,
    split: Annotated[str, typer.Option("--split", help="Which split of --data.")] = "val",
    evaluations: Annotated[
        Path | None,
        typer.Option("--evaluations", help="JSON list of results measured elsewhere."),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write the page of a folder of weights again from its card; weights stay as they are.

    --data and --photos measure the figures of these weights; without them those of the
    card stay. Each result holds kind, data, figure, value, samples and the command that prints it.

    Examples:

      feltwatch model card --data sets/decks-and-cameras \\
        --photos poker_cards:after=17:00 --photos phone:share=0.2

      feltwatch model card --weights build/weights --evaluations results.json
    """
    from models.export.model_card import PAGE_FILE, card_json, card_markdown
    from vision.detect.openvino_runtime import CARD_FILE, load_card

    folder = weights or Path(default_weights())
    card = load_card(folder)
    kept: dict[str, list[dict[str, Any]]] = {"photographs": [], "robustness": []}
    for one in card.get("evaluations") or ():
        kept.setdefault(one["kind"], []).append(one)
    shas = {name: card["models"][name]["sha256"] for name in ("detector", "reader")}
    if photos:
        kept["photographs"] = [one | {"weights": shas} for one in _photographs(folder, photos)]
    if data is not None:
        figures, robust = _on_views(folder, data, split, stack_data, not quiet)
        kept["robustness"] = [one | {"weights": shas} for one in robust]
        card["figures"] = figures
    if evaluations is not None:
        kept = {"": [{"weights": shas} | one for one in _read_evaluations(evaluations)]}
    card["evaluations"] = [one for rows in kept.values() for one in rows]
    (folder / PAGE_FILE).write_text(card_markdown(card), encoding="utf-8")
    (folder / CARD_FILE).write_text(card_json(card), encoding="utf-8")
    typer.echo(str(folder / PAGE_FILE))


def _photographs(folder: Path, photos: list[str]) -> list[dict[str, Any]]:
    from models.evaluate.card_results import photograph_result
    from models.networks import backends
    from surveillance.cli.models.model_build_cmd import parse_photos
    from vision.cards.photo import PhotoReader
    from vision.networks import load_networks

    sets = [parse_photos(one) for one in photos]
    backends.register()
    networks = load_networks(folder)
    reader = PhotoReader(networks.detector, networks.reader)
    return [photograph_result(s.folder, s.after, s.share, reader) for s in sets]


def _on_views(
    folder: Path, data: Path, split: str, stacks: Path | None, shown: bool
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    from models.evaluate.card_results import robustness_results
    from models.evaluate.validate import CheckOptions, validate
    from models.heldout.lists import check_folder, held_sets, sets_of

    with progress_bar("views", shown=shown) as show:
        figures = validate(folder, data, CheckOptions(split), stacks=stacks, progress=show).figures
    for held in sets_of(data, held_sets())[:1]:
        found = check_folder(data, held)
        files = len(held.pictures) + len(held.crops)
        share = {"name": held.name, "unchanged": found.right, "of": files}
        figures["data"]["held_out"] = share
    with progress_bar("steps", shown=shown) as show:
        return figures, robustness_results(folder, data, split, show)


def _read_evaluations(path: Path) -> list[dict[str, Any]]:
    data = read_json(path)
    if not isinstance(data, list) or not all(
        isinstance(one, dict) and set(one) - {"weights"} == set(_KEYS) for one in data
    ):
        raise FeltwatchError(f"{path}: a list of objects with {', '.join(_KEYS)} is needed")
    return data
