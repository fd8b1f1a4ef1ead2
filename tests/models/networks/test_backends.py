"""Other back ends: what is said where a library, a device or a file is missing."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from datasets.render.cards.deck import draw_deck
from datasets.training.views import CLASSES, render_view
from models.networks import backends
from models.networks.backends import (
    OnnxRuntimeDetector,
    UltralyticsDetector,
    network_input,
    open_onnx,
    register,
)
from models.weights.folder import default_weights
from vision.detect.openvino_runtime import ModelError, OpenVinoDetector
from vision.networks import FILE_LOADERS, load_networks


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.pt"
    path.write_bytes(b"no checkpoint")
    return path


def test_images_become_what_networks_take() -> None:
    picture = np.zeros((1, 2, 3, 3), np.uint8)
    picture[0, 1, 2] = (255, 0, 51)
    given = network_input(picture)
    assert given.shape == (1, 3, 2, 3)
    assert given.dtype == np.float32
    assert given[0, :, 1, 2] == pytest.approx([0.2, 0.0, 1.0])


@pytest.mark.parametrize("suffix", [".pt", ".engine", ".onnx"])
def test_files_are_known_once_registered(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(FILE_LOADERS, suffix, raising=False)
    register()
    with pytest.raises(ModelError, match=f"gone{suffix}: the model is missing"):
        load_networks(tmp_path / f"gone{suffix}")


def test_without_ultralytics_what_to_install_is_named(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(
        ModelError, match=r'mine\.pt: .*pip install "feltwatch\[train\]", which is about 7 GB'
    ):
        UltralyticsDetector(file)


def _toys(monkeypatch: pytest.MonkeyPatch, cuda: bool, opened: object = None) -> None:
    torch = SimpleNamespace(
        cuda=SimpleNamespace(is_available=lambda: cuda), device=lambda name: name
    )

    def auto(*args: object, **kwargs: object) -> object:
        if opened is None:
            raise RuntimeError("invalid load key\nand more")
        return opened

    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(
        sys.modules, "ultralytics.nn.autobackend", SimpleNamespace(AutoBackend=auto)
    )
    monkeypatch.setitem(sys.modules, "ultralytics", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "ultralytics.nn", SimpleNamespace())


def test_an_engine_needs_a_gpu_and_tensorrt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = tmp_path / "mine.engine"
    engine.write_bytes(b"engine")
    monkeypatch.setattr(backends, "find_spec", lambda name: None)
    _toys(monkeypatch, cuda=False)
    with pytest.raises(ModelError, match="needs a CUDA device and the package tensorrt"):
        UltralyticsDetector(engine)
    _toys(monkeypatch, cuda=True)
    with pytest.raises(ModelError, match=r"needs the package tensorrt; use the \.pt file"):
        UltralyticsDetector(engine)


def test_a_broken_file_and_other_classes_are_refused_in_one_line(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _toys(monkeypatch, cuda=False)
    with pytest.raises(ModelError, match=r"cannot open it \(invalid load key\)$"):
        UltralyticsDetector(file)
    other = SimpleNamespace(names={0: "cat", 1: "dog"}, eval=lambda: None)
    _toys(monkeypatch, cuda=False, opened=other)
    with pytest.raises(ModelError, match=r"lacks the classes index, .* and has cat, dog besides"):
        UltralyticsDetector(file)


def test_without_onnx_runtime_it_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ModelError, match="pip install onnxruntime"):
        OnnxRuntimeDetector(tmp_path / "detector.onnx")


def _renamed(tmp_path: Path, change: object) -> Path:
    """The shipped detector with other metadata, as bytes of the same file."""
    path = tmp_path / "outside.onnx"
    path.write_bytes(change((default_weights() / "detector.onnx").read_bytes()))  # type: ignore[operator]
    return path


def test_an_outside_onnx_file_finds_what_the_shipped_one_finds(tmp_path: Path) -> None:
    outside = open_onnx(_renamed(tmp_path, bytes))
    shipped = OpenVinoDetector(default_weights() / "detector.onnx", CLASSES)
    assert (outside.names, outside.size) == (CLASSES, 640)
    view = render_view(np.random.default_rng(3), [draw_deck()], size=640).image
    mine, theirs = outside.find([view])[0], shipped.find([view])[0]
    assert len(mine.scores) > 3
    assert np.array_equal(mine.xyxy, theirs.xyxy)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b"'lammer_envy'", b"'trafficcone'", "lacks the classes lammer_envy and has trafficcone"),
        (b"names", b"nymes", r"holds no classes \(names\); export it with: yolo export"),
    ],
)  # fmt: skip
def test_what_an_outside_onnx_file_lacks_is_said(
    tmp_path: Path, old: bytes, new: bytes, words: str
) -> None:
    # Texts of protobuf carry their length: what is put in place is padded or cut to it.
    path = _renamed(tmp_path, lambda data: data.replace(old, new.ljust(len(old))[: len(old)]))
    with pytest.raises(ModelError, match=words):
        open_onnx(path)


def test_files_that_are_no_onnx_are_said(tmp_path: Path) -> None:
    path = tmp_path / "mine.onnx"
    path.write_bytes(b"no network")
    with pytest.raises(ModelError, match="OpenVINO cannot read the model"):
        open_onnx(path)
