"""A new reader put in the place of a shipped one; the other networks stay as they are."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from models.data.provenance import Provenance
from models.export.model_card import CHART_FILE, PAGE_FILE, card_json, card_markdown
from models.export.weights import FILES, ExportSettings, export_part
from models.train.chain import training_chain
from vision.detect.openvino_runtime import CARD_FILE, load_card


def replace_reader(checkpoint: Path, folder: Path, provenance: Provenance) -> dict[str, Any]:
    """Export a reader's checkpoint (`.pt`) into a folder of weights; returns its new card.

    The card's figures and calibration of the former reader are left out: they are of other
    weights. What was trained on is added to what the card tells.
    Raises FeltwatchError where the folder or the checkpoint is not in order, or where
    OpenVINO's output differs from the checkpoint's; then nothing is changed.
    """
    card = load_card(folder)
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=folder) as name:
        work = Path(name)
        own = export_part("reader", checkpoint, work, ExportSettings())
        card["models"]["reader"] = own | {"chain": training_chain(checkpoint)}
        told = Provenance.model_validate(card["data"]).joined(provenance)
        card["data"] = told.model_dump(mode="json")
        card["date"] = datetime.now(UTC).date().isoformat()
        card["versions"] |= {part: version(part) for part in ("torch", "onnx", "openvino")}
        card["recipe"] = (
            "The networks are trained from scratch (no pretrained weights) on rendered views: "
            "feltwatch model render, feltwatch model train, feltwatch model export; the reader "
            "goes on from there on patches: feltwatch model indices."
        )
        _without_former(card)
        (work / CARD_FILE).write_text(card_json(card), encoding="utf-8")
        (work / PAGE_FILE).write_text(card_markdown(card), encoding="utf-8")
        for file in (FILES["reader"], PAGE_FILE, CARD_FILE):
            (work / file).replace(folder / file)
    if card["calibration"] is None:
        (folder / CHART_FILE).unlink(missing_ok=True)
    return card


def _without_former(card: dict[str, Any]) -> None:
    """Take out what was measured with the former reader."""
    figures = card.get("figures")
    if figures is not None:
        figures["reader"] = figures["end_to_end"] = figures["calibration"] = None
        figures["scenes"] = {}
        figures["weights"].pop("reader", None)
    card["calibration"] = None
