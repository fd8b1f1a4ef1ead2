"""Running the exported models with OpenVINO: the detector, and the networks that read crops."""

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
PARTS, LIKENESS = ("detector", "reader", "strips"), "likeness"
"""The networks that each folder of weights has, and the one that it may have."""

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
        models = card["models"]
        for name in (name for name in (*PARTS, LIKENESS) if name in models):
            own = models[name]
            parts = [own]
            if "int8" in own:
                parts += [own["int8"], own["int8"]["weights"]]
            for part in parts:
                _check_file(folder / part["file"], part["sha256"])
        missing = [name for name in PARTS if name not in models]
        if missing == list(PARTS):
            raise KeyError("models")
        if missing:
            raise ModelError(
                f"{path}: names no {' and no '.join(missing)}: weights of an earlier version "
                "cannot be used; leave the model out, or build it again"
            )
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


class _CropNetwork:
    """A network of crops uint8 (n, size, size, 3) BGR, in batches of its own."""

    def __init__(
        self, path: Path, threads: int | None = None, precision: str | None = None
    ) -> None:
        """Compile the network at `path`; ModelError when it cannot be read.

        `precision` as for `OpenVinoDetector`.
        """
        self._model = _compile(path, threads, batched=True, precision=precision)
        self._queue = ov.AsyncInferQueue(self._model)
        self._turn = threading.Lock()
        self.size = int(self._model.input(0).shape[1])
        self.batch = int(self._model.input(0).shape[0])

    def _run(self, crops: ByteArray) -> Floats:
        """What the network gives for crops, float32 (n, k)."""
        n = len(crops)
        out = np.zeros((n, int(self._model.output(0).shape[1])), np.float32)

        def done(request: Any, start: int) -> None:
            part = out[start : start + self.batch]
            part[:] = request.get_output_tensor(0).data[: len(part)]

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


class OpenVinoReader(_CropNetwork):
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
        super().__init__(path, threads, precision)
        self.classes = int(self._model.output(0).shape[1])
        self.temperature = temperature

    def read(self, crops: ByteArray) -> Floats:
        """Shares float32 (n, classes) for crops uint8 (n, size, size, 3) BGR."""
        return tempered(self._run(crops), self.temperature)


class OpenVinoComparer(_CropNetwork):
    """What index crops are compared by (`models.networks.likeness`)."""

    def features(self, crops: ByteArray) -> Floats:
        """Float32 (n, features) for crops uint8 (n, size, size, 3) BGR."""
        return self._run(crops)


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


def open_comparer(folder: Path, card: Card, threads: int | None = None) -> OpenVinoComparer | None:
    """What compares indices with a deck's samples; None where a card names no such network."""
    own = card["models"].get(LIKENESS)
    if own is None:
        return None
    return OpenVinoComparer(folder / own["file"], threads, own.get("precision"))
