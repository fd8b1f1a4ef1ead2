"""Other back ends behind the runtime's protocols: `.pt` and TensorRT through ultralytics, ONNX
Runtime, and ONNX files of other people's detectors.

All of them share `vision.detect.yolo_head`, so that one image gives the same detections on each.
The libraries are imported only when a file is opened. A `.pt` file is a pickle and may run any
code when it is opened: take it only from whom you trust.
"""

from __future__ import annotations

import logging
import threading
from ast import literal_eval
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov

from datasets.training.training_set import CLASS_NAMES
from datasets.training.views import CLASSES
from models.extras import INSTALL_TRAIN
from models.weights.folder import default_weights
from vision.detect.detections import ByteArray, Detections, Floats
from vision.detect.openvino_runtime import (
    DEFAULT_THRESHOLD,
    ModelError,
    OpenVinoDetector,
    tempered,
)
from vision.detect.yolo_head import decode
from vision.networks import FILE_LOADERS, FileLoader

ULTRALYTICS_FILES = (".pt", ".engine")
VIEWS_AT_ONCE = 16


def network_input(images: ByteArray) -> Floats:
    """BGR bytes (n, h, w, 3) as RGB float32 (n, 3, h, w) in 0..1."""
    turned = np.ascontiguousarray(images[..., ::-1].transpose(0, 3, 1, 2))
    return turned.astype(np.float32) / np.float32(255)


class _Ultralytics:
    """A `.pt` or `.engine` file opened by ultralytics' AutoBackend; float32 in and out."""

    def __init__(self, path: Path, names: tuple[str, ...], device: str | None) -> None:
        if not path.is_file():
            raise ModelError(f"{path}: the model is missing")
        try:
            self._torch = import_module("torch")
            backend = import_module("ultralytics.nn.autobackend").AutoBackend
        except ImportError as error:
            raise ModelError(
                f"{path}: {path.suffix} files run through ultralytics, which is not installed "
                f"({error.name or error} is missing): {INSTALL_TRAIN}"
            ) from error
        cuda = bool(self._torch.cuda.is_available())
        if path.suffix.lower() == ".engine":
            # ultralytics would try to install TensorRT by itself.
            missing = [] if cuda else ["a CUDA device"]
            missing += [] if find_spec("tensorrt") else ["the package tensorrt"]
            if missing:
                raise ModelError(
                    f"{path}: a TensorRT engine needs {' and '.join(missing)}; use the .pt file "
                    "or a folder of weights on this machine"
                )
        self.device = device or ("cuda:0" if cuda else "cpu")
        log = logging.getLogger("ultralytics")
        level = log.level
        log.setLevel(logging.ERROR)
        try:
            options: dict[str, Any] = {"fuse": True, "verbose": False}
            if "end2end" in signature(backend).parameters:
                options["end2end"] = False  # of a .pt with both heads the one that is exported
            self._model = backend(str(path), device=self._torch.device(self.device), **options)
            self._model.eval()
        except Exception as error:  # unpickling and deserializing may raise anything
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise ModelError(f"{path}: ultralytics cannot open it ({reason})") from error
        finally:
            log.setLevel(level)
        self.names = checked_names(path, self._model.names, names)
        self.size = _side(self._model, path)
        self._turn = threading.Lock()

    def run(self, images: ByteArray) -> Floats:
        """The raw output float32 (n, ...) for BGR bytes (n, size, size, 3)."""
        given = self._torch.from_numpy(network_input(images)).to(self.device)
        with self._turn, self._torch.inference_mode():
            out = self._model(given)
        first = out[0] if isinstance(out, (list, tuple)) else out
        return np.asarray(first.float().cpu().numpy(), np.float32)


def checked_names(path: Path, listed: Any, names: tuple[str, ...]) -> tuple[str, ...]:
    """The classes that a file lists, in its own order.

    Raises ModelError naming the classes that it lacks or has beside `names`.

    >>> checked_names(Path("a.pt"), {0: "joker", 1: "index"}, ("index", "joker"))
    ('joker', 'index')
    >>> checked_names(Path("a.pt"), {0: "person"}, ("index",))
    Traceback (most recent call last):
    ...
    vision.detect.openvino_runtime.ModelError: a.pt: another model: it lacks the classes index and has person besides; train it on the classes index
    """  # noqa: E501
    found = tuple(str(listed[place]) for place in sorted(listed))
    if sorted(found) == sorted(names):
        return found
    lacking = [name for name in names if name not in found]
    besides = [name for name in found if name not in names]
    parts = [
        f"it lacks the classes {_few(lacking)}" if lacking else "",
        f"has {_few(besides)} besides" if besides else "",
    ]
    reason = " and ".join(part for part in parts if part) or "it has a class twice"
    raise ModelError(f"{path}: another model: {reason}; train it on the classes {_few(names)}")


def _few(names: Sequence[str], shown: int = 12) -> str:
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more


def _side(model: Any, path: Path) -> int:
    """Side of the square input in px: an engine's own, a checkpoint's as it was trained."""
    stated: Any = getattr(model, "imgsz", None)
    if stated is None:
        args = getattr(getattr(model, "model", None), "args", None)
        stated = args.get("imgsz") if isinstance(args, dict) else getattr(args, "imgsz", None)
    sides = {
        int(side) for side in (stated if isinstance(stated, (list, tuple)) else [stated]) if side
    }
    if len(sides) != 1:
        raise ModelError(f"{path}: does not state one side of its square views (imgsz {stated})")
    return sides.pop()


class UltralyticsDetector:
    """A detector from a `.pt` checkpoint or a TensorRT `.engine`; see `Detector`."""

    def __init__(
        self, path: Path, threshold: float = DEFAULT_THRESHOLD, device: str | None = None
    ) -> None:
        """Open the file on `device`: the first CUDA device if there is one, else the CPU.

        Raises ModelError when it, the library or the device is missing, or it has other classes.
        """
        self.threshold = threshold
        self._network = _Ultralytics(path, CLASSES, device)
        self.names = self._network.names
        self.size = self._network.size

    def find(self, views: Sequence[ByteArray], *, least: float | None = None) -> list[Detections]:
        """Detections for each view, uint8 (size, size, 3) BGR; see `Detector`."""
        threshold = self.threshold if least is None else least
        found: list[Detections] = []
        for start in range(0, len(views), VIEWS_AT_ONCE):
            raw = self._network.run(np.stack(views[start : start + VIEWS_AT_ONCE]))
            found += [decode(one, self.names, threshold) for one in raw]
        return found


class UltralyticsReader:
    """A reader from a `.pt` checkpoint or a TensorRT `.engine`; see `Reader`."""

    def __init__(
        self,
        path: Path,
        temperature: float = 1.0,
        device: str | None = None,
        classes: tuple[str, ...] = CLASS_NAMES,
    ) -> None:
        """Open the file, as `UltralyticsDetector` does; `classes` are those it must have."""
        self.temperature = temperature
        self._network = _Ultralytics(path, classes, device)
        if self._network.names != classes:
            raise ModelError(f"{path}: its classes are in another order than the reader's")
        self._classes = len(classes)

    def read(self, crops: ByteArray) -> Floats:
        """Shares float32 (n, classes) for crops uint8 (n, 64, 64, 3) BGR."""
        if not len(crops):
            return np.zeros((0, self._classes), np.float32)
        return tempered(self._network.run(crops), self.temperature)


class OnnxRuntimeDetector:
    """A shipped detector run by ONNX Runtime; see `Detector`."""

    def __init__(
        self,
        path: Path,
        names: tuple[str, ...] = CLASSES,
        threshold: float = DEFAULT_THRESHOLD,
        threads: int | None = None,
    ) -> None:
        """Open the file; ModelError when ONNX Runtime is missing or cannot read it."""
        self.names = names
        self.threshold = threshold
        self._session = _session(path, threads)
        shape = self._session.get_inputs()[0].shape
        self._name = self._session.get_inputs()[0].name
        self.size = int(shape[2])

    def find(self, views: Sequence[ByteArray], *, least: float | None = None) -> list[Detections]:
        """Detections for each view, uint8 (size, size, 3) BGR; see `Detector`."""
        threshold = self.threshold if least is None else least
        found = []
        for view in views:
            (raw,) = self._session.run(None, {self._name: network_input(view[None])})
            found.append(decode(raw[0], self.names, threshold))
        return found


def _session(path: Path, threads: int | None) -> Any:
    try:
        runtime = import_module("onnxruntime")
    except ImportError as error:
        raise ModelError(
            f"{path}: ONNX Runtime is not installed: pip install onnxruntime"
        ) from error
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    if threads:
        options.intra_op_num_threads = threads
    try:
        return runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors share no class of their own
        reason = str(error).splitlines()[0]
        raise ModelError(f"{path}: ONNX Runtime cannot open it ({reason})") from error


def _open(path: Path, _threads: int | None) -> UltralyticsDetector:
    return UltralyticsDetector(path)


def open_onnx(path: Path, threads: int | None = None) -> OpenVinoDetector:
    """A detector that ultralytics exported to ONNX elsewhere, run by OpenVINO.

    Its classes are those of its metadata, its side the one it was exported for. Raises
    ModelError saying what it lacks.
    """
    if not path.is_file():
        raise ModelError(f"{path}: the model is missing")
    try:
        model = ov.Core().read_model(str(path))
    except RuntimeError as error:
        raise ModelError(f"{path}: OpenVINO cannot read the model") from error
    again = "export it with: yolo export format=onnx imgsz=640 dynamic=False"
    try:
        listed = literal_eval(str(model.get_rt_info(["framework", "names"]).value))
        names = checked_names(path, dict(listed), CLASSES)
    except (RuntimeError, ValueError, SyntaxError, TypeError) as error:
        raise ModelError(f"{path}: its metadata holds no classes (names); {again}") from error
    shape = model.input(0).partial_shape
    if shape.is_dynamic or len(shape) != 4 or shape[2] != shape[3]:
        raise ModelError(f"{path}: takes images {shape}, not of one square size; {again}")
    return OpenVinoDetector(path, names, threads=threads)


def register() -> None:
    """Let `vision.networks.load_networks` take lone files of a detector.

    Those are `.pt`, `.engine` and `.onnx`. Indices are then read, and stacks counted, by the
    shipped networks.
    """
    for suffix in ULTRALYTICS_FILES:
        FILE_LOADERS[suffix] = FileLoader(_open, default_weights)
    FILE_LOADERS[".onnx"] = FileLoader(open_onnx, default_weights)
