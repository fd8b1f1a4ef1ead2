"""`feltwatch model provenance` and `card`: what weights are made from, and their page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from models.weights.folder import default_weights
from settlement.errors import FeltwatchError

Weights = Annotated[
    Path | None, typer.Option("--weights", help="Folder of weights; without it the shipped ones.")
]
_KEYS = ("kind", "data", "figure", "value", "samples", "command")


def provenance_command(
    weights: Weights = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print what weights were made from: files, data, versions and the chain of trainings.

    The files are checked against the card's hashes first.

    Examples:

      feltwatch model provenance

      feltwatch model provenance --weights build/weights --json | jq .models.detector.chain
    """
    from models.export.card_texts import link_words
    from vision.detect.openvino_runtime import load_card

    card = load_card(weights or default_weights())
    told: dict[str, Any] = {
        "date": card["date"], "versions": card["versions"], "recipe": card["recipe"],
        "models": {
            name: {
                "file": own["file"], "sha256": own["sha256"], "training": own["training"],
                "chain": own.get("chain", []), "history": own.get("history"),
            }
            for name, own in card["models"].items()
        },
        "data": card["data"],
    }  # fmt: skip
    if as_json:
        typer.echo(json.dumps(told))
        return
    versions = ", ".join(f"{name} {version}" for name, version in told["versions"].items())
    typer.echo(f"made {told['date']} with {versions}")
    for name, own in told["models"].items():
        typer.echo(f"{name}: {own['file']} sha256 {own['sha256'][:12]}")
        for number, link in enumerate(own["chain"], 1):
            typer.echo(f"  {number}. {link_words(link).replace('`', '')}")
        if not own["chain"]:
            typer.echo(f"  {own['history'] or 'its trainings were not recorded'}")
    for kind, sources in told["data"].items():
        for one in sources:
            values = ", ".join(
                f"{key} {len(value) if isinstance(value, list) else value}"
                for key, value in one.items()
                if value not in (None, [], 0) and key != "name"
            )
            # Crops of many sources tell no name of their own.
            words = [one.get("name", ""), f"({values})" if values else ""]
            typer.echo(f"{kind}: {' '.join(word for word in words if word)}")


def card_command(
    weights: Weights = None,
    evaluations: Annotated[
        Path | None,
        typer.Option("--evaluations", help="JSON list of results on photographs and robustness."),
    ] = None,
) -> None:
    """Write the page of a folder of weights again from its card; weights stay as they are.

    Each result holds kind, data, figure, value, samples and the command that prints it.

    Examples:

      feltwatch model card --weights build/weights --evaluations results.json
    """
    from models.export.model_card import PAGE_FILE, card_json, card_markdown
    from vision.detect.openvino_runtime import CARD_FILE, load_card

    folder = weights or default_weights()
    card = load_card(folder)
    if evaluations is not None:
        card["evaluations"] = _read_evaluations(evaluations)
    (folder / PAGE_FILE).write_text(card_markdown(card), encoding="utf-8")
    (folder / CARD_FILE).write_text(card_json(card), encoding="utf-8")
    typer.echo(str(folder / PAGE_FILE))


def _read_evaluations(path: Path) -> list[dict[str, Any]]:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FeltwatchError(f"{path}: not a JSON file that can be read ({error})") from error
    if not isinstance(told, list) or not all(
        isinstance(one, dict) and set(one) == set(_KEYS) for one in told
    ):
        raise FeltwatchError(f"{path}: a list of objects with {', '.join(_KEYS)} is needed")
    return told
