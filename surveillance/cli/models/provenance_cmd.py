"""`feltwatch model provenance`: what weights are made from."""

from __future__ import annotations

import json
from typing import Any

import typer

from models.weights.folder import default_weights
from surveillance.cli.options import Json, Weights

Weights = Weights


def provenance_command(
    weights: Weights = None,
    as_json: Json = False,
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
    provenance: dict[str, Any] = {
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
        typer.echo(json.dumps(provenance))
        return
    versions = ", ".join(f"{name} {version}" for name, version in provenance["versions"].items())
    typer.echo(f"made {provenance['date']} with {versions}")
    for name, own in provenance["models"].items():
        typer.echo(f"{name}: {own['file']} sha256 {own['sha256'][:12]}")
        for number, link in enumerate(own["chain"], 1):
            typer.echo(f"  {number}. {link_words(link).replace('`', '')}")
        if not own["chain"]:
            typer.echo(f"  {own['history'] or 'its trainings were not recorded'}")
    for kind, sources in provenance["data"].items():
        for one in sources:
            values = ", ".join(
                f"{key} {len(value) if isinstance(value, list) else value}"
                for key, value in one.items()
                if value not in (None, [], 0) and key != "name"
            )
            # Crops of many sources have no name of their own.
            words = [one.get("name", ""), f"({values})" if values else ""]
            typer.echo(f"{kind}: {' '.join(word for word in words if word)}")
