"""A new network put in the place of a shipped one, or beside them; the others stay."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from models.data.provenance import Provenance
from models.evaluate.calibration import put_calibration
from models.export.likeness import LIKENESS_FILE, export_likeness
from models.export.model_card import CHART_FILE, PAGE_FILE, card_json, card_markdown
from models.export.weights import (
    FILES,
    INT8_FILES,
    ExportSettings,
    export_int8,
    export_part,
    own_provenance,
    same_weights,
)
from models.train.chain import training_chain
from vision.detect.openvino_runtime import CARD_FILE, LIKENESS, load_card


def replace_reader(checkpoint: Path, folder: Path, provenance: Provenance) -> dict[str, Any]:
    """Export a reader's checkpoint (`.pt`) into a folder of weights; returns its new card.

    The card's figures, evaluations and calibration of the former reader are left out: they are
    of other weights. What was trained on is added to the card's entries.
    Raises FeltwatchError where the folder or the checkpoint is not in order, or where
    OpenVINO's output differs from the checkpoint's; then nothing is changed.
    """
    card = load_card(folder)
    former = card["models"]["reader"]
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=folder) as name:
        work = Path(name)
        own = export_part("reader", checkpoint, work, ExportSettings())
        own["chain"] = training_chain(checkpoint)
        if "history" in former:
            own["history"] = former["history"]
        card["models"]["reader"] = own
        card["recipe"] = (
            "The networks are trained from scratch (no pretrained weights) on rendered views: "
            "feltwatch model render, feltwatch model train, feltwatch model export; the reader "
            "goes on from there on patches: feltwatch model indices."
        )
        figures = card.get("figures")
        if figures is not None:
            figures["reader"] = figures["end_to_end"] = figures["calibration"] = None
            figures["scenes"] = {}
            figures["weights"].pop("reader", None)
        card["calibration"] = None
        card["evaluations"] = []
        _put(card, provenance, work, folder, (FILES["reader"],))
    (folder / CHART_FILE).unlink(missing_ok=True)
    return card


def replace_detector(
    checkpoint: Path, folder: Path, settings: ExportSettings,
    calibration: dict[str, Any] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Export a detector's checkpoint (`.pt`) into a folder of weights; returns its new card.

    `settings` of the detector and of its int8 form are taken; `calibration`, as
    `models.evaluate.calibration.read_calibration` gives it, sets the points that its scores are
    carried along. Figures and evaluations of the former detector are left out, what the
    checkpoint was trained on is added. Raises FeltwatchError as `replace_reader` does, and for a
    calibration of another detector; then nothing is changed.
    """
    card = load_card(folder)
    former = card["models"]["detector"]
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=folder) as name:
        work = Path(name)
        models = {"detector": export_part("detector", checkpoint, work, settings)}
        int8 = settings.int8_data is not None and export_int8(work, models, settings)
        if calibration is not None:
            same_weights(models, calibration, "calibration's figures")
            put_calibration(models, {"reader": None, "detector": calibration["detector"]})
        own = models["detector"] | {"chain": training_chain(checkpoint)}
        if "history" in former:
            own["history"] = former["history"]
        card["models"]["detector"] = own
        card["figures"] = card["calibration"] = None
        card["evaluations"] = []
        files = (FILES["detector"], *(INT8_FILES if int8 else ()))
        _put(card, own_provenance(checkpoint), work, folder, files)
    for file in (CHART_FILE, *(() if int8 else INT8_FILES)):
        (folder / file).unlink(missing_ok=True)
    return card


def replace_likeness(checkpoint: Path, folder: Path) -> dict[str, Any]:
    """Export the network that compares indices (`.pt`) into a folder of weights; returns its card.

    The folder need not have had one. What was trained on is added to the card. Raises
    FeltwatchError as `replace_reader` does; then nothing is changed.
    """
    card = load_card(folder)
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=folder) as name:
        work = Path(name)
        notes = {"part": LIKENESS, "licence": card["licence"]}
        own = export_likeness(checkpoint, work / LIKENESS_FILE, notes)
        own["chain"] = training_chain(checkpoint)
        card["models"][LIKENESS] = own
        _put(card, own_provenance(checkpoint), work, folder, (LIKENESS_FILE,))
    return card


def _put(
    card: dict[str, Any], provenance: Provenance, work: Path, folder: Path, files: tuple[str, ...]
) -> None:
    """Date a card, add what was trained on, and move files, page and card into the folder."""
    card["data"] = (
        Provenance.model_validate(card["data"]).joined(provenance).model_dump(mode="json")
    )
    card["date"] = datetime.now(UTC).date().isoformat()
    card["versions"] |= {part: version(part) for part in ("torch", "onnx", "openvino")}
    (work / CARD_FILE).write_text(card_json(card), encoding="utf-8")
    (work / PAGE_FILE).write_text(card_markdown(card), encoding="utf-8")
    # The card goes last: until then the earlier card's hashes show that files changed.
    for file in (*files, PAGE_FILE, CARD_FILE):
        (work / file).replace(folder / file)
