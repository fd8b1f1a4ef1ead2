"""Running the exported models with OpenVINO: the detector and the reader."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
from openvino.preprocess import ColorFormat, PrePostProcessor

from settlement.errors import FeltwatchError
from vision.detect.calibrated_scores import Points, calibrated
from vision.detect.detections import ByteArray, Detections, Floats
from vision.detect.yolo_head import HeadError, decode, decode_bare, is_bare, is_end_to_end

CARD_FILE = "model-card.json"
PARTS = ("detector", "reader", "strips")
LARGE_BATCH = 16
DEFAULT_THRESHOLD = 0.25


class ModelError(FeltwatchError):
    """A model is missing, altered or not what its card says."""


Card = Mapping[str, Any]
"""A model card as `load_card` reads it."""


def load_card(folder: Path) -> dict[str, Any]:
    """The model card of a folder of weights; hashes of the weights are checked.

    Raises ModelError naming the file when it is missing or altered.
    """
    path = folder / CARD_FILE
    try:
        card: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        for name in PARTS:
            own = card["models"][name]
            parts = [own]
            if "int8" in own:
                parts += [own["int8"], own["int8"]["weights"]]
            for part in parts:
                _check_file(folder / part["file"], part["sha256"])
    except OSError as error:
        raise ModelError(
            f"{path}: the model card is missing; the folder holds no models"
        ) from error
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise ModelError(f"{path}: not a model card ({error})") from error
    return card


def detector_part(card: Mapping[str, Any]) -> dict[str, Any]:
    """The entry of a model card for the file of the detector that runs: `file` and `sha256`.

    A card names an int8 detector only where that costs next to nothing; it is the quickest.

    >>> detector_part({"models": {"detector": {"file": "a.onnx", "int8": {"file": "a.xml"}}}})
    {'file': 'a.xml'}
    """
    own: dict[str, Any] = card["models"]["detector"]
    return dict(own.get("int8", own))


def _check_file(file: Path, sha256: str) -> None:
    if not file.is_file():
        raise ModelError(
            f"{file}: the model is missing; restore it or run 'feltwatch model export'"
        )
    found = hashlib.sha256(file.read_bytes()).hexdigest()
    if found != sha256:
        raise ModelError(f"{file}: not the file of the model card (sha256 {found[:12]}...)")


def _compile(path: Path, threads: int | None, batched: bool, precision: str | None = None) -> Any:
    """The network at `path` compiled; one for all in this process that ask for the same."""
    try:
        state = path.stat()
    except OSError as error:
        raise ModelError(f"{path}: the model is missing") from error
    return _compiled(path, (state.st_mtime_ns, state.st_size), threads, batched, precision)


@lru_cache(maxsize=8)
def _compiled(
    path: Path,
    _state: tuple[int, int],
    threads: int | None,
    batched: bool,
    precision: str | None,
) -> Any:
    core = ov.Core()
    try:
        model = core.read_model(str(path))
    except RuntimeError as error:
        raise ModelError(f"{path}: OpenVINO cannot read the model") from error
    features = _features_of(model) if batched else None
    if features is not None:
        model.add_outputs(features)
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
    # Many views or small batches go side by side, one on each core; a large batch is one job
    # that the cores share.
    large = batched and int(model.input(0).shape[0]) >= LARGE_BATCH
    config: dict[str, Any] = {"PERFORMANCE_HINT": "LATENCY" if large else "THROUGHPUT"}
    if threads:
        config["INFERENCE_NUM_THREADS"] = threads
    if precision:
        config["INFERENCE_PRECISION_HINT"] = precision
    return core.compile_model(model, "CPU", config)


def _features_of(model: Any) -> Any | None:
    """What the last layer of a classifier weighs: the output that its last product takes."""
    products = [node for node in model.get_ordered_ops() if node.get_type_name() == "MatMul"]
    return products[-1].input_value(0) if products else None


def _settings(model: Any) -> dict[str, str | int]:
    return {
        "precision": str(model.get_property("INFERENCE_PRECISION_HINT").get_type_name()),
        "threads": int(model.get_property("INFERENCE_NUM_THREADS")),
        "streams": int(str(model.get_property("NUM_STREAMS"))),
    }


class OpenVinoDetector:
    """The detector, images in and `Detections` out."""

    def __init__(
        self,
        path: Path,
        names: tuple[str, ...],
        threshold: float = DEFAULT_THRESHOLD,
        threads: int | None = None,
        precision: str | None = None,
        points: Points | None = None,
    ) -> None:
        """Compile the network at `path`; ModelError when it cannot be read or is no detector.

        `precision` is OpenVINO's ("f32", "bf16"); None is the processor's own, which is the
        quickest that it has. `points` calibrate the scores of what is found, as in
        `vision.detect.calibrated_scores`; `threshold` is of scores before that.
        """
        self.names = names
        self.threshold = threshold
        self._points = points or {}
        self._model = _compile(path, threads, batched=False, precision=precision)
        self.size = int(self._model.input(0).shape[1])
        try:
            shapes = tuple(tuple(output.shape)[1:] for output in self._model.outputs)
            self._bare = is_bare(shapes, len(names), self.size)
            if not self._bare:
                is_end_to_end(shapes[0], len(names))
        except (HeadError, RuntimeError) as error:
            raise ModelError(f"{path}: {error}") from error
        # One more than run at once: the next view is there already when one is done.
        most = int(self._model.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"))
        self._queue = ov.AsyncInferQueue(self._model, most + 1)
        self._turn = threading.Lock()

    def find(self, views: Sequence[ByteArray], *, least: float | None = None) -> list[Detections]:
        """Detections for each view, uint8 (size, size, 3) BGR; see `Detector`."""
        threshold = self.threshold if least is None else least
        results: list[Detections] = [Detections.empty(self.names)] * len(views)
        failed: list[Exception] = []

        def done(request: Any, place: int) -> None:
            try:
                results[place] = self._calibrated(self._decoded(request, threshold))
            except Exception as error:  # raised here it would end the process
                failed.append(error)

        for view in views:
            if view.shape != (self.size, self.size, 3):
                raise ValueError(f"views are ({self.size}, {self.size}, 3), found {view.shape}")
        with self._turn:
            self._queue.set_callback(done)
            for place, view in enumerate(views):
                self._queue.start_async({0: np.ascontiguousarray(view)[None]}, place)
            self._queue.wait_all()
        if failed:
            raise failed[0]
        return results

    def settings(self) -> dict[str, str | int]:
        """Precision, threads and streams that OpenVINO chose."""
        return _settings(self._model)

    def _decoded(self, request: Any, threshold: float) -> Detections:
        outputs = [tensor.data[0] for tensor in request.output_tensors]
        if self._bare:
            return decode_bare(outputs, self.names, threshold, self.size)
        return decode(outputs[0], self.names, threshold)

    def _calibrated(self, found: Detections) -> Detections:
        """The same boxes with calibrated scores."""
        return calibrated(found, self._points) if self._points and len(found) else found


class OpenVinoReader:
    """The reader, index crops in and shares of the 54 classes out."""

    def __init__(
        self,
        path: Path,
        threads: int | None = None,
        temperature: float = 1.0,
        precision: str | None = None,
    ) -> None:
        """Compile the network at `path`; ModelError when it cannot be read.

        `precision` as for `OpenVinoDetector`.
        """
        self._model = _compile(path, threads, batched=True, precision=precision)
        self._queue = ov.AsyncInferQueue(self._model)
        self._turn = threading.Lock()
        self.size = int(self._model.input(0).shape[1])
        self.batch = int(self._model.input(0).shape[0])
        self.classes = int(self._model.output(0).shape[1])
        self.temperature = temperature
        self._name = path

    def read(self, crops: ByteArray) -> Floats:
        """Shares float32 (n, classes) for crops uint8 (n, size, size, 3) BGR."""
        return tempered(self._run(crops, 1)[0], self.temperature)

    def read_features(self, crops: ByteArray) -> tuple[Floats, Floats]:
        """Shares as `read`, and what the last layer weighs, float32 (n, features).

        Raises ModelError for a network that has no such layer.
        """
        if len(self._model.outputs) < 2:
            raise ModelError(f"{self._name}: has no last layer whose input could be compared")
        shares, features = self._run(crops, 2)
        return tempered(shares, self.temperature), features

    def _run(self, crops: ByteArray, outputs: int) -> list[Floats]:
        """The first `outputs` of the network for crops, float32 (n, ...) each, made flat."""
        n = len(crops)
        widths = [int(np.prod(self._model.output(k).shape[1:])) for k in range(outputs)]
        out = [np.zeros((n, width), np.float32) for width in widths]

        def done(request: Any, start: int) -> None:
            for k, whole in enumerate(out):
                part = whole[start : start + self.batch]
                given = request.get_output_tensor(k).data.reshape(self.batch, -1)
                part[:] = given[: len(part)]

        with self._turn:
            self._queue.set_callback(done)
            for start in range(0, n, self.batch):
                part = crops[start : start + self.batch]
                if len(part) < self.batch:
                    full = np.zeros((self.batch, self.size, self.size, 3), np.uint8)
                    full[: len(part)] = part
                    part = full
                self._queue.start_async({0: np.ascontiguousarray(part)}, start)
            self._queue.wait_all()
        return out

    def settings(self) -> dict[str, str | int]:
        """Precision, threads and streams that OpenVINO chose."""
        return _settings(self._model)


def tempered(shares: Floats, temperature: float) -> Floats:
    """Shares (n, classes) float32 with their logits divided by `temperature`.

    >>> tempered(np.array([[0.8, 0.2]], np.float32), 2.0).round(3).tolist()
    [[0.6669999957084656, 0.3330000042915344]]
    """
    if temperature == 1.0:
        return shares
    logits = np.log(np.clip(shares, 1e-12, 1)) / temperature
    out = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(out / out.sum(axis=1, keepdims=True), np.float32)


def open_detector(
    folder: Path,
    card: Mapping[str, Any],
    threads: int | None = None,
    *,
    plain_from: float | None = None,
) -> OpenVinoDetector:
    """The detector that a card names for its folder, with the card's threshold and calibration.

    `plain_from` is a threshold in place of the card's, with scores that are not calibrated.
    """
    own = card["models"]["detector"]
    threshold, points = float(own.get("threshold", DEFAULT_THRESHOLD)), own.get("points")
    if plain_from is not None:
        threshold, points = plain_from, None
    file = folder / detector_part(card)["file"]
    return OpenVinoDetector(file, tuple(own["classes"]), threshold, threads, points=points)


def open_reader(folder: Path, card: Card, threads: int | None = None) -> OpenVinoReader:
    """The reader of indices that a card names for its folder."""
    own = card["models"]["reader"]
    temperature = float(own.get("temperature", 1.0))
    return OpenVinoReader(folder / own["file"], threads, temperature, own.get("precision"))
