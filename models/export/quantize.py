"""The detector in int8: quantized with NNCF, and what that costs on held-out images.

`vision.detect.openvino_runtime` takes it wherever the model card names it; EXPERIMENTS.md says
what it brings.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
from openvino import opset13

from models.evaluate.detection import Finding, match_found
from models.evaluate.predictions import FLOOR, Prediction
from models.evaluate.samples import ValPicture, read_val_set
from models.extras import INSTALL_TRAIN
from models.networks.backends import network_input
from settlement.errors import FeltwatchError
from vision.cards.photo import read_picture
from vision.detect.detections import ByteArray
from vision.detect.openvino_runtime import OpenVinoDetector
from vision.detect.yolo_head import is_bare
from vision.geometry.letterbox import fit_square

CALIBRATION_VIEWS = 160
MOST_COST = 0.002
"""Shipped when mAP50 falls by less than this: 0.2 points."""

HEAD_OPERATIONS = ("Sigmoid", "Softmax", "Sub", "Add", "Div", "Mul", "Concat", "dfl/")
"""Of the head, what makes boxes and scores of the last layers' numbers stays in float."""

PICTURES_AT_ONCE = 16
_LAYER = re.compile(r"/model\.(\d+)/(.+)")


@dataclass(frozen=True, slots=True)
class Int8Cost:
    """mAP50 and mAP50-95 of the float and of the int8 detector on the same images."""

    pictures: int
    map50: float
    map50_int8: float
    map50_95: float
    map50_95_int8: float

    @property
    def cost(self) -> float:
        """By how much mAP50 falls.

        >>> round(Int8Cost(1, 0.96, 0.955, 0.8, 0.8).cost, 4)
        0.005
        """
        return self.map50 - self.map50_int8

    def as_dict(self) -> dict[str, Any]:
        """The form of the model card."""
        return {
            "pictures": self.pictures,
            "map50": self.map50,
            "map50 int8": self.map50_int8,
            "map50-95": self.map50_95,
            "map50-95 int8": self.map50_95_int8,
        }


def calibration_views(data: Path, size: int, count: int = CALIBRATION_VIEWS) -> list[ByteArray]:
    """Views uint8 (size, size, 3) BGR, evenly chosen from the training images of a set.

    Raises FeltwatchError when the set has none.
    """
    pictures = read_val_set(data, "train").pictures
    if not pictures:
        raise FeltwatchError(f"{data}: no training images to calibrate int8 with")
    step = max(1, len(pictures) // count)
    return [fit_square(read_picture(one.path), size)[0] for one in pictures[::step][:count]]


def quantize(source: Path, target: Path, views: Sequence[ByteArray]) -> None:
    """Write the detector `source` (ONNX) quantized to int8 as OpenVINO's `target` (.xml, .bin).

    `views` (size, size, 3) BGR set the ranges of the activations; weights have a scale per
    channel. Raises FeltwatchError where NNCF is not installed.
    """
    try:
        nncf = import_module("nncf")
    except ImportError as error:
        raise FeltwatchError(
            f"int8 needs a library that is not installed ({error.name or error} is missing): "
            f"{INSTALL_TRAIN}"
        ) from error
    log = logging.getLogger("nncf")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        # Converted, not only read: SiLU and its bias have to be one with their convolution
        # before ranges are set, or each is computed by itself and no bias is corrected.
        model = bare_head(ov.convert_model(str(source)))
        names = head_operations([op.get_friendly_name() for op in model.get_ops()])
        quantized = nncf.quantize(
            model, nncf.Dataset(list(views), lambda view: network_input(view[None])),
            preset=nncf.QuantizationPreset.MIXED, subset_size=len(views),
            ignored_scope=nncf.IgnoredScope(names=names),
        )  # fmt: skip
    finally:
        log.setLevel(level)
    ov.save_model(quantized, str(target), compress_to_fp16=True)


def bare_head(model: Any) -> Any:
    """A dense detector that ends with its last convolutions
    (`vision.detect.yolo_head.decode_bare`).

    What makes boxes of their numbers costs an int8 detector a twentieth of its time, for 8,400
    places of which some dozens hold anything. Each map has two outputs (1, h, w, channels), in
    the order in which a processor keeps them: of the distances, then of the classes. Another
    kind of model is given back as it is.
    """
    out = model.output(0).get_node().input_value(0).get_node()
    side, count = int(model.input(0).shape[-1]), int(model.output(0).shape[-1])
    ends = [
        op for op in model.get_ordered_ops()
        if op.get_type_name() == "Concat" and op is not out
        and all(one.get_node().get_type_name() == "Reshape" for one in op.input_values())
        and list(op.output(0).shape)[::2] == [1, count]
    ]  # fmt: skip
    scored = [op for op in ends if _feeds(op, "Sigmoid")]
    reach = [op for op in ends if op not in scored]
    if len(scored) != 1 or len(reach) != 1:
        return model
    heads = []
    for pair in zip(reach[0].input_values(), scored[0].input_values(), strict=True):
        for flat in pair:
            own = flat.get_node().input_value(0)
            heads.append(opset13.transpose(own, np.array([0, 2, 3, 1])).output(0))
    shapes = tuple(tuple(int(n) for n in head.shape)[1:] for head in heads)
    if not is_bare(shapes, shapes[1][-1], side):
        return model
    return ov.Model(heads, model.get_parameters(), "detector")


def _feeds(op: Any, kind: str) -> bool:
    """Whether an operation's outcome goes into one of this kind."""
    return any(
        target.get_node().get_type_name() == kind for target in op.output(0).get_target_inputs()
    )


def head_operations(names: Iterable[str]) -> list[str]:
    """Of a detector's operations, those of the head behind its last convolutions.

    >>> head_operations(["/model.9/Add", "/model.23/Sigmoid", "/model.23/cv2.0/conv/Conv", "x"])
    ['/model.23/Sigmoid']
    """
    layers = [(name, match) for name in names if (match := _LAYER.match(name))]
    last = max((int(match[1]) for _, match in layers), default=-1)
    return [
        name for name, match in layers
        if int(match[1]) == last and match[2].startswith(HEAD_OPERATIONS)
    ]  # fmt: skip


def int8_cost(
    plain: Path,
    int8: Path,
    names: tuple[str, ...],
    data: Path,
    *,
    threshold: float,
    most_pictures: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Int8Cost:
    """Compare both detectors on the held-out images of a set, with the audit's runtime."""
    pictures = read_val_set(data, "val").some(most_pictures).pictures
    if not pictures:
        raise FeltwatchError(f"{data}: no held-out images to measure the cost of int8 on")
    detectors = [OpenVinoDetector(path, names, FLOOR) for path in (plain, int8)]
    counts = [Finding(threshold, names) for _ in detectors]
    for start in range(0, len(pictures), PICTURES_AT_ONCE):
        part = pictures[start : start + PICTURES_AT_ONCE]
        for detector, count in zip(detectors, counts, strict=True):
            for one in _found(part, detector):
                count.add(one, match_found(one))
        if progress:
            progress((start + len(part)) / len(pictures))
    a, b = (count.as_dict() for count in counts)
    return Int8Cost(len(pictures), a["map50"], b["map50"], a["map50_95"], b["map50_95"])


def _found(pictures: Sequence[ValPicture], detector: OpenVinoDetector) -> list[Prediction]:
    fitted = [fit_square(read_picture(one.path), detector.size) for one in pictures]
    seen = detector.find([square for square, _, _ in fitted])
    out = []
    for picture, (_, scale, (x, y)), found in zip(pictures, fitted, seen, strict=True):
        xyxy = (found.xyxy - np.array([x, y, x, y], np.float32)) / np.float32(scale)
        placed = type(found)(xyxy.astype(np.float32), found.scores, found.classes, found.names)
        out.append(Prediction(picture, placed, {}, frozenset()))
    return out
