"""Export of trained checkpoints to ONNX, checked against them and put in place with a card."""

from __future__ import annotations

import hashlib
import logging
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import openvino as ov
import torch
from ultralytics import YOLO

from datasets.training.training_set import CLASS_NAMES, CROP_PX
from datasets.training.views import CLASSES
from models.data.provenance import TRAINING_FILE, Provenance, read_provenance, rendered_data
from models.data.trial import trial_pictures
from models.evaluate.calibration import put_calibration
from models.evaluate.charts import reliability_chart
from models.export.model_card import (
    CHART_FILE,
    LICENCE,
    PAGE_FILE,
    build_card,
    card_json,
    card_markdown,
)
from models.export.onnx_form import rewrite
from models.export.parity import check_detector, check_reader
from models.export.quantize import MOST_COST, calibration_views, int8_cost, quantize
from models.export.sides import STRIPS_FILE, export_strips
from models.networks.slim import is_slim
from models.train.chain import training_chain
from settlement.errors import FeltwatchError
from vision.detect.openvino_runtime import CARD_FILE
from vision.detect.yolo_head import is_end_to_end

OPSET = 17
READER_BATCH = 7
"""Small batches fill without waste and run side by side, one on each core: a seat's 14 crops
take two of them, and half of the time of one batch of 32."""

READER_PRECISION = "f32"
"""A share between two cards is as good as its last digits: in bfloat16 it is off by up to 0.07."""

READER_VIEWS, VIEW_PX = 24, 640
"""Rendered views whose index crops the reader is compared on."""

INT8_FILES = ("detector-int8.bin", "detector-int8.xml")
FILES = {"detector": "detector.onnx", "reader": "reader.onnx"}
NAMES = {"detector": CLASSES, "reader": CLASS_NAMES}

SETTINGS = (
    "model", "epochs", "imgsz", "batch", "optimizer", "lr0", "weight_decay", "device", "seed",
)  # fmt: skip
"""The settings of a checkpoint that the card holds; others hold paths or change nothing."""


@dataclass(frozen=True, slots=True)
class ExportSettings:
    """How the networks are exported and used: view side px, score threshold, temperatures.

    `int8_data`: a rendered set whose training images calibrate an int8 detector and whose
    held-out ones say what it costs; None: no int8 detector.
    """

    size: int = 512
    threshold: float = 0.25
    temperature: float = 1.0
    strips_temperature: float = 1.0
    half: bool = True
    int8_data: Path | None = None


def export_models(
    detector: Path,
    reader: Path,
    strips: Path,
    out: Path,
    settings: ExportSettings | None = None,
    *,
    provenance: Provenance | None = None,
    figures: dict[str, Any] | None = None,
    calibration: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Export the checkpoints (`.pt`) into the folder `out`; gives back the card.

    Writes detector.onnx (one view of `size` px), reader.onnx (batches of 7 crops), strips.onnx
    (any number of stacks and chips), model-card.json and MODEL_CARD.md, all or none. Before
    anything is put in place, OpenVINO's outputs are compared with the checkpoints' on rendered
    views and crops. `provenance` adds to the checkpoints' own training.json.
    `calibration`, as `models.evaluate.calibration.read_calibration` gives it, sets the reader's
    temperature and the points that the detector's scores are carried along; its chart goes
    beside the card.

    Raises FeltwatchError for a checkpoint that is missing or of another task, for outputs
    that differ, and for figures or a calibration of other weights.
    """
    settings = settings or ExportSettings()
    provenance = provenance or Provenance()
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=out) as folder:
        work = Path(folder)
        checkpoints = {"detector": detector, "reader": reader}
        models = {
            part: export_part(part, path, work, settings) for part, path in checkpoints.items()
        }
        notes = {"part": "strips", "licence": LICENCE}
        models["strips"] = export_strips(
            strips, work / STRIPS_FILE, notes, settings.strips_temperature
        )
        checkpoints["strips"] = strips
        int8 = None if settings.int8_data is None else export_int8(work, models, settings)
        same_weights(models, figures, "figures")
        same_weights(models, calibration, "calibration's figures")
        pages = [PAGE_FILE]
        if calibration is not None:
            put_calibration(models, calibration)
            (work / CHART_FILE).write_text(reliability_chart(calibration), encoding="utf-8")
            pages.append(CHART_FILE)
        for part, path in checkpoints.items():
            provenance = provenance.joined(own_provenance(path))
            models[part]["chain"] = training_chain(path)
        versions = {name: version(name) for name in ("ultralytics", "torch", "onnx", "openvino")}
        date = datetime.now(UTC).date().isoformat()
        card = build_card(models, provenance, figures, versions, date, calibration)
        (work / CARD_FILE).write_text(card_json(card), encoding="utf-8")
        (work / PAGE_FILE).write_text(card_markdown(card), encoding="utf-8")
        # The card goes last: until then the earlier card's hashes show that files changed.
        int8_files = INT8_FILES if int8 else ()
        for name in (*FILES.values(), STRIPS_FILE, *int8_files, *pages, CARD_FILE):
            (work / name).replace(out / name)
        if not int8:
            for name in INT8_FILES:
                (out / name).unlink(missing_ok=True)
    return card


def export_int8(work: Path, models: dict[str, dict[str, Any]], settings: ExportSettings) -> bool:
    """Quantize the exported detector; note in `models` what it costs, and its file if shipped."""
    assert settings.int8_data is not None
    own, target = models["detector"], work / INT8_FILES[-1]
    raw = work / "detector-raw.onnx"  # as ultralytics exported it, in float32
    quantize(raw, target, calibration_views(settings.int8_data, settings.size))
    cost = int8_cost(
        work / FILES["detector"], target, tuple(own["classes"]), settings.int8_data,
        threshold=settings.threshold,
    )  # fmt: skip
    costs = {**cost.as_dict(), "most allowed": MOST_COST}
    if not cost.cost < MOST_COST:
        own["int8_left_out"] = costs
        return False
    weights, network = (
        {
            "file": name,
            "sha256": hashlib.sha256((work / name).read_bytes()).hexdigest(),
            "bytes": (work / name).stat().st_size,
        }
        for name in INT8_FILES
    )
    own["int8"] = {**network, "weights": weights, "cost": costs}
    return True


def export_part(
    part: str, checkpoint: Path, work: Path, settings: ExportSettings
) -> dict[str, Any]:
    """Export one checkpoint into `work`, checked against it; gives back its part of the card."""
    classes = NAMES[part]
    shape = (READER_BATCH, 3, CROP_PX, CROP_PX)
    if part == "detector":
        shape = (1, 3, settings.size, settings.size)
    with _quiet():
        network, training = load_checkpoint(checkpoint, part, classes)
        raw = work / f"{part}-raw.pt"
        shutil.copyfile(checkpoint, raw)  # the exporter writes beside the file it is given
        exported = YOLO(str(raw), verbose=False).export(
            format="onnx", imgsz=shape[2], batch=shape[0], opset=OPSET, simplify=True,
            dynamic=False, device="cpu", verbose=False,
        )  # fmt: skip
    target = work / FILES[part]
    # In the form of ultralytics' own exports, so that its tools open the files too.
    notes = {
        "part": part, "names": str(dict(enumerate(classes))), "licence": LICENCE,
        "task": "detect" if part == "detector" else "classify", "stride": "32",
        "batch": str(shape[0]), "imgsz": str(list(shape[2:])),
    }  # fmt: skip
    if part == "detector":
        found = tuple(ov.Core().read_model(str(exported)).output(0).shape)
        notes["end2end"] = str(is_end_to_end(found[1:], len(classes)))
    rewrite(Path(str(exported)), target, notes, half=settings.half)
    extra: dict[str, float | str]
    if part == "detector":
        check = check_detector(network, target, classes, settings.size, settings.threshold)
        extra = {"threshold": settings.threshold}
    else:
        crops = trial_pictures(READER_VIEWS, VIEW_PX)[1]
        check = check_reader(network, target, crops, READER_PRECISION)
        extra = {"temperature": settings.temperature, "precision": READER_PRECISION}
    data = target.read_bytes()
    return {
        "file": FILES[part],
        "sha256": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
        "weights": "float16" if settings.half else "float32",
        "input": list(shape),
        "opset": OPSET,
        "classes": list(classes),
        **extra,
        "training": training,
        "check": check,
    }


def load_checkpoint(
    path: Path, part: str, classes: tuple[str, ...]
) -> tuple[torch.nn.Module, dict[str, Any]]:
    """A checkpoint's network in float32, and the settings it was trained with.

    Raises FeltwatchError when the file is missing, no checkpoint, or has other classes.
    """
    if not path.is_file():
        raise FeltwatchError(f"{path}: no checkpoint; 'feltwatch model train' writes best.pt")
    try:
        model = YOLO(str(path), verbose=False)
        network = model.model.float().eval()
        names = tuple(model.names[i] for i in range(len(model.names)))
    except Exception as error:  # unpickling may raise anything
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FeltwatchError(f"{path}: not a checkpoint that can be loaded ({reason})") from error
    task = "detect" if part == "detector" else "classify"
    if model.task != task or names != classes:
        raise FeltwatchError(
            f"{path}: not a {part}: it is a {model.task} model of {len(names)} classes; "
            f"the {part} has {len(classes)}"
        )
    stored = model.ckpt or {}
    args = stored.get("train_args", {})
    training = {name: args[name] for name in SETTINGS if args.get(name) is not None}
    if "model" in training:
        training["model"] = Path(str(training["model"])).name
    if is_slim(network):
        training["form"] = "slim"
    done = stored.get("train_results", {}).get("epoch")
    if done:
        training["epochs done"] = int(done[-1])
    return network, training


def same_weights(models: dict[str, dict[str, Any]], of: dict[str, Any] | None, what: str) -> None:
    """Raise FeltwatchError where figures (`what`) are of other weights."""
    for part, own in models.items():
        sha256 = (of or {}).get("weights", {}).get(part)
        if sha256 is not None and sha256 != own["sha256"]:
            raise FeltwatchError(
                f"the {what} are of another {part} (sha256 {sha256[:12]}...); export without "
                "them, run 'feltwatch model val' on the result, then export again"
            )


def own_provenance(checkpoint: Path) -> Provenance:
    """What is noted beside a checkpoint, else the rendered set that it names itself."""
    noted = checkpoint.resolve().parent.parent / TRAINING_FILE
    if noted.is_file():
        return read_provenance(noted)
    stored = torch.load(checkpoint, map_location="cpu", weights_only=False)
    args = stored.get("train_args", {})
    data = Path(str(args.get("data", "")))
    if data.name == "data.yaml" and (data.parent / "recipe.json").is_file():
        return Provenance(rendered=(rendered_data(data.parent),))
    return Provenance()


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep ultralytics' notes out of the output; its errors are still printed."""
    log = logging.getLogger("ultralytics")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)
