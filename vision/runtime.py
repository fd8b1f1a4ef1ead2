"""Running the exported models with OpenVINO: the detector and the reader."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import openvino as ov
from openvino.preprocess import ColorFormat, PrePostProcessor

from settlement.errors import FeltwatchError
from vision.detections import ByteArray, Detections, Floats, Ints

CARD_FILE = "model-card.json"
IOU_LIMIT = 0.55
MOST_BOXES = 300


class ModelError(FeltwatchError):
    """A model is missing, altered or not what its card says."""


def load_card(folder: Path) -> dict[str, Any]:
    """The model card of a folder of weights; hashes of the weights are checked.

    Raises ModelError naming the file when it is missing or altered.
    """
    path = folder / CARD_FILE
    try:
        card: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        for name in ("detector", "reader", "stacks"):
            own = card["models"][name]
            file = folder / own["file"]
            if not file.is_file():
                raise ModelError(
                    f"{file}: the model is missing; restore it or run 'feltwatch model export'"
                )
            found = hashlib.sha256(file.read_bytes()).hexdigest()
            if found != own["sha256"]:
                raise ModelError(f"{file}: not the file of the model card (sha256 {found[:12]}...)")
    except OSError as error:
        raise ModelError(
            f"{path}: the model card is missing; the folder holds no models"
        ) from error
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise ModelError(f"{path}: not a model card ({error})") from error
    return card


def _compile(path: Path, threads: int | None, batched: bool) -> Any:
    core = ov.Core()
    try:
        model = core.read_model(str(path))
    except RuntimeError as error:
        raise ModelError(f"{path}: OpenVINO cannot read the model") from error
    prep = PrePostProcessor(model)
    given = prep.input().tensor()
    given.set_element_type(ov.Type.u8).set_layout(ov.Layout("NHWC")).set_color_format(
        ColorFormat.BGR
    )
    prep.input().model().set_layout(ov.Layout("NCHW"))
    prep.input().preprocess().convert_color(ColorFormat.RGB).convert_element_type(
        ov.Type.f32
    ).scale([255.0, 255.0, 255.0])
    model = prep.build()
    config: dict[str, Any] = {"PERFORMANCE_HINT": "LATENCY" if batched else "THROUGHPUT"}
    if threads:
        config["INFERENCE_NUM_THREADS"] = threads
    return core.compile_model(model, "CPU", config)


class OpenVinoDetector:
    """The detector, pictures in and `Detections` out."""

    def __init__(
        self,
        path: Path,
        names: tuple[str, ...],
        threshold: float = 0.25,
        threads: int | None = None,
    ) -> None:
        """Compile the network at `path`; ModelError when it cannot be read."""
        self.names = names
        self.threshold = threshold
        self._model = _compile(path, threads, batched=False)
        self.size = int(self._model.input(0).shape[1])
        self._queue = ov.AsyncInferQueue(self._model)

    def find(self, views: Sequence[ByteArray]) -> list[Detections]:
        """Detections for each view, uint8 (size, size, 3) BGR."""
        results: list[Detections | None] = [None] * len(views)

        def done(request: Any, place: int) -> None:
            raw = np.array(request.get_output_tensor(0).data[0], np.float32)
            results[place] = self._boxes(raw)

        self._queue.set_callback(done)
        for place, view in enumerate(views):
            if view.shape != (self.size, self.size, 3):
                raise ValueError(f"views are ({self.size}, {self.size}, 3), found {view.shape}")
            self._queue.start_async({0: np.ascontiguousarray(view)[None]}, place)
        self._queue.wait_all()
        return [r if r is not None else Detections.empty(self.names) for r in results]

    def _boxes(self, raw: Floats) -> Detections:
        """Raw output (4 + classes, places) as boxes after non-maximum suppression."""
        scores = raw[4:]
        best = scores.max(axis=0)
        keep = best >= self.threshold
        if not keep.any():
            return Detections.empty(self.names)
        center, own = raw[:4, keep].T, best[keep]
        classes = scores[:, keep].argmax(axis=0)
        half = center[:, 2:] / 2
        xyxy = np.hstack([center[:, :2] - half, center[:, :2] + half])
        kept = suppress(xyxy, own, classes)
        return Detections(
            xyxy[kept].astype(np.float32), own[kept].astype(np.float32),
            classes[kept].astype(np.int64), self.names,
        )  # fmt: skip


def suppress(
    xyxy: npt.NDArray[np.floating[Any]],
    scores: npt.NDArray[np.floating[Any]],
    classes: npt.NDArray[np.integer[Any]],
    limit: float = IOU_LIMIT,
) -> Ints:
    """Places of the boxes that stay: the best of those of one class that overlap, best first.

    `xyxy` (n, 4) px, `scores` (n,), `classes` (n,); gives back int64 (kept,).
    """
    boxes = np.column_stack([xyxy[:, :2], xyxy[:, 2:] - xyxy[:, :2]]).astype(np.float64)
    # Boxes of other classes are moved apart so that they do not suppress each other.
    boxes[:, :2] += classes[:, None] * 10000.0
    kept = cv2.dnn.NMSBoxes(boxes.tolist(), scores.astype(float).tolist(), 0.0, limit)
    return np.asarray(kept, np.int64).reshape(-1)[:MOST_BOXES]


class OpenVinoReader:
    """The reader, index crops in and shares of the 54 classes out."""

    def __init__(self, path: Path, threads: int | None = None, temperature: float = 1.0) -> None:
        """Compile the network at `path`; ModelError when it cannot be read."""
        self._model = _compile(path, threads, batched=True)
        self._request = self._model.create_infer_request()
        self.size = int(self._model.input(0).shape[1])
        self.batch = int(self._model.input(0).shape[0])
        self.temperature = temperature

    def read(self, crops: ByteArray) -> Floats:
        """Shares float32 (n, 54) for crops uint8 (n, 64, 64, 3) BGR."""
        n = len(crops)
        parts = []
        for start in range(0, n, self.batch):
            part = crops[start : start + self.batch]
            full = part
            if len(part) < self.batch:
                full = np.zeros((self.batch, self.size, self.size, 3), np.uint8)
                full[: len(part)] = part
            out = self._request.infer({0: full})[0][: len(part)]
            parts.append(np.array(out, np.float32))
        if not parts:
            return np.zeros((0, int(self._model.output(0).shape[1])), np.float32)
        shares = np.vstack(parts)
        if self.temperature != 1.0:
            logits = np.log(np.clip(shares, 1e-12, 1)) / self.temperature
            shares = np.exp(logits - logits.max(axis=1, keepdims=True))
            shares /= shares.sum(axis=1, keepdims=True)
        return shares.astype(np.float32)


def load_models(
    folder: Path, threads: int | None = None
) -> tuple[OpenVinoDetector, OpenVinoReader]:
    """The detector and the reader of a folder of weights, with the card's thresholds."""
    card = load_card(folder)
    detector, reader = card["models"]["detector"], card["models"]["reader"]
    return (
        OpenVinoDetector(
            folder / detector["file"], tuple(detector["classes"]),
            float(detector.get("threshold", 0.25)), threads,
        ),
        OpenVinoReader(folder / reader["file"], threads, float(reader.get("temperature", 1.0))),
    )  # fmt: skip


def load_counter(folder: Path, threads: int | None = None) -> OpenVinoReader:
    """The counter of chips in a stack of a folder of weights."""
    own = load_card(folder)["models"]["stacks"]
    return OpenVinoReader(folder / own["file"], threads, float(own.get("temperature", 1.0)))
