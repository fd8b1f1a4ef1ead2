"""The runtime on tiny networks made here: queues, batches, calibrated scores, hashes."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as op

from vision.detect import openvino_runtime
from vision.detect.openvino_runtime import (
    ModelError,
    OpenVinoComparer,
    OpenVinoDetector,
    OpenVinoReader,
    load_card,
    open_comparer,
    open_detector,
    tempered,
)

NAMES = ("index", "joker", "back")


def detector_file(folder: Path, outputs: tuple[int, ...] = (1, 7, 2)) -> Path:
    """A network on 32 px views whose first place is a back, as sure as the view is red."""
    given = op.parameter([1, 3, 32, 32], np.float32)
    mean = op.reduce_mean(given, np.array([2, 3]), keep_dims=False)
    red = op.slice(mean, np.array([0]), np.array([1]), np.array([1]), np.array([1]))
    fixed = np.zeros(outputs, np.float32)
    fixed[0, :4, 0] = (16, 16, 8, 8)
    place = np.zeros(outputs, np.float32)
    place[0, 6 if outputs[1] == 7 else 4, 0] = 1
    scores = op.multiply(op.reshape(red, np.array([1, 1, 1]), False), op.constant(place))
    model = ov.Model([op.add(scores, op.constant(fixed))], [given], "tiny")
    path = folder / "tiny.xml"
    ov.save_model(model, path, compress_to_fp16=False)
    return path


def reader_file(folder: Path, batch: int = 3) -> Path:
    """A network on 8 px crops whose shares are the means of blue, green and red."""
    given = op.parameter([batch, 3, 8, 8], np.float32)
    mean = op.reduce_mean(given, np.array([2, 3]), keep_dims=False)
    path = folder / "shares.xml"
    ov.save_model(ov.Model([mean], [given], "shares"), path, compress_to_fp16=False)
    return path


def reds(*values: int) -> list[np.ndarray]:
    return [np.full((32, 32, 3), (0, 0, value), np.uint8) for value in values]


def test_each_view_has_its_own_answer_in_order(tmp_path: Path) -> None:
    detector = OpenVinoDetector(detector_file(tmp_path), NAMES, precision="f32")
    found = detector.find(reds(255, 0, 102, 204))
    assert [len(one) for one in found] == [1, 0, 1, 1]
    assert [round(float(one.scores[0]), 2) for one in found if len(one)] == [1.0, 0.4, 0.8]
    assert found[0].xyxy.tolist() == [[12, 12, 20, 20]]
    assert found[0].name(0) == "back"
    assert detector.find([]) == []
    with pytest.raises(ValueError, match="views are"):
        detector.find([np.zeros((16, 16, 3), np.uint8)])
    assert detector.settings()["precision"] == "f32"


def test_a_bare_head_is_recognised_by_its_outputs(tmp_path: Path) -> None:
    given = op.parameter([1, 3, 32, 32], np.float32)
    red = op.slice(
        op.reduce_mean(given, np.array([2, 3]), keep_dims=False),
        np.array([0]), np.array([1]), np.array([1]), np.array([1]),
    )  # fmt: skip
    reach = np.zeros((1, 4, 4, 64), np.float32)
    reach[0, 1, 1, [1, 16 + 1, 32 + 2, 48 + 2]] = 50  # a stride left and up, two right and down
    place = np.zeros((1, 4, 4, 3), np.float32)
    place[0, 1, 1, 2] = 10
    fixed = op.constant(np.full((1, 4, 4, 3), -5, np.float32))
    red = op.reshape(red, np.array([1, 1, 1, 1]), False)
    found = op.multiply(red, op.constant(place))
    far = op.add(op.constant(reach), op.multiply(red, op.constant(np.float32(0))))
    path = tmp_path / "bare.xml"
    ov.save_model(ov.Model([far, op.add(found, fixed)], [given], "bare"), path)
    detector = OpenVinoDetector(path, NAMES, precision="f32")
    some, none = detector.find(reds(255, 0))
    assert len(none) == 0
    assert some.name(0) == "back"
    assert some.xyxy[0].round(2).tolist() == [4, 4, 28, 28]
    assert float(some.scores[0]) == pytest.approx(1 / (1 + np.exp(-5)), abs=1e-4)
    with pytest.raises(ModelError, match="a detector gives"):
        OpenVinoDetector(path, NAMES[:2])


def test_threads_may_share_a_detector_and_the_compiled_network(tmp_path: Path) -> None:
    path = detector_file(tmp_path)
    detector, other = (OpenVinoDetector(path, NAMES, precision="f32") for _ in range(2))
    assert detector._model is other._model
    shades = [[255, 128, 0], [0, 255, 77], [90, 0, 200]] * 6

    def scores(shade: list[int]) -> list[int]:
        return [sum(round(255 * s) for s in one.scores) for one in detector.find(reds(*shade))]

    with ThreadPoolExecutor(4) as pool:
        got = list(pool.map(scores, shades))
    assert got == [[v if v >= 64 else 0 for v in shade] for shade in shades]


def test_scores_are_carried_along_the_cards_points(tmp_path: Path) -> None:
    points = {"back": [[0.0, 0.0], [0.5, 0.9], [1.0, 1.0]]}
    detector = OpenVinoDetector(
        detector_file(tmp_path), NAMES, 0.25, precision="f32", points=points
    )
    found = detector.find(reds(102, 50, 255))
    assert [round(float(s), 2) for one in found for s in one.scores] == [0.72, 1.0]


def test_what_is_no_detector_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"tiny\.xml: the network gives \(5, 2\) for 3 classes"):
        OpenVinoDetector(detector_file(tmp_path, (1, 5, 2)), NAMES)
    with pytest.raises(ModelError, match="missing"):
        OpenVinoDetector(tmp_path / "none.xml", NAMES)
    broken = tmp_path / "broken.xml"
    broken.write_text("no network")
    with pytest.raises(ModelError, match="cannot read"):
        OpenVinoDetector(broken, NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("batch", [3, 20])
@pytest.mark.parametrize("count", [0, 1, 3, 7])
def test_crops_are_read_in_batches_of_any_size(tmp_path: Path, batch: int, count: int) -> None:
    reader = OpenVinoReader(reader_file(tmp_path, batch), precision="f32")
    crops = np.zeros((count, 8, 8, 3), np.uint8)
    crops[..., 2] = (np.arange(count) * 20)[:, None, None]
    got = reader.read(crops)
    assert got.shape == (count, 3)
    assert got[:, 0] == pytest.approx(np.arange(count) * 20 / 255, abs=1e-3)
    assert (got[:, 1:] == 0).all()
    compared = OpenVinoComparer(reader_file(tmp_path, batch), precision="f32")
    assert np.array_equal(compared.features(crops), got)


def test_a_temperature_flattens_shares_and_keeps_their_order() -> None:
    shares = np.array([[0.7, 0.2, 0.1]], np.float32)
    flat = tempered(shares, 2.0)
    assert flat.sum() == pytest.approx(1.0)
    assert 0.33 < flat[0, 0] < 0.7
    assert list(np.argsort(-flat[0])) == [0, 1, 2]
    assert tempered(shares, 1.0) is shares


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    """A folder whose card lists an int8 detector beside the float one."""
    models: dict[str, dict[str, object]] = {}
    for name in ("detector", "reader", "strips"):
        file = tmp_path / f"{name}.onnx"
        file.write_bytes(name.encode())
        models[name] = {"file": file.name, "sha256": hashlib.sha256(name.encode()).hexdigest()}
    files = {}
    for kind in ("xml", "bin"):
        file = tmp_path / f"detector-int8.{kind}"
        file.write_bytes(kind.encode())
        files[kind] = {"file": file.name, "sha256": hashlib.sha256(kind.encode()).hexdigest()}
    models["detector"]["int8"] = {**files["xml"], "weights": files["bin"]}
    (tmp_path / "model-card.json").write_text(json.dumps({"models": models}))
    return tmp_path


@pytest.mark.parametrize("kind", ["xml", "bin"])
def test_int8_files_are_checked_like_the_others(weights: Path, kind: str) -> None:
    assert load_card(weights)["models"]["detector"]["int8"]["file"] == "detector-int8.xml"
    file = weights / f"detector-int8.{kind}"
    file.write_bytes(b"other")
    with pytest.raises(ModelError, match=rf"int8\.{kind}: not the file of the model card"):
        load_card(weights)
    file.unlink()
    with pytest.raises(ModelError, match=rf"int8\.{kind}: the model is missing"):
        load_card(weights)


def test_a_folder_may_have_a_network_that_compares(
    weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(
        openvino_runtime, "OpenVinoComparer", lambda path, *a, **k: opened.append(path.name)
    )
    assert open_comparer(weights, load_card(weights)) is None
    assert not opened
    file, card = weights / "likeness.onnx", json.loads((weights / "model-card.json").read_text())
    file.write_bytes(b"likeness")
    digest = hashlib.sha256(b"likeness").hexdigest()
    card["models"]["likeness"] = {"file": file.name, "sha256": digest}
    (weights / "model-card.json").write_text(json.dumps(card))
    open_comparer(weights, load_card(weights))
    assert opened == [file.name]
    file.write_bytes(b"other")
    with pytest.raises(ModelError, match=r"likeness\.onnx: not the file of the model card"):
        load_card(weights)


@pytest.mark.parametrize("shipped", [True, False])
def test_int8_runs_where_the_card_has_it(
    weights: Path, monkeypatch: pytest.MonkeyPatch, shipped: bool
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(
        openvino_runtime, "OpenVinoDetector", lambda path, *a, **k: opened.append(path.name)
    )
    card = json.loads((weights / "model-card.json").read_text())
    card["models"]["detector"]["classes"] = list(NAMES)
    if not shipped:
        del card["models"]["detector"]["int8"]
    (weights / "model-card.json").write_text(json.dumps(card))
    open_detector(weights, load_card(weights))
    assert opened == ["detector-int8.xml" if shipped else "detector.onnx"]


def test_a_card_of_an_earlier_version_names_the_network_that_it_lacks(tmp_path: Path) -> None:
    (tmp_path / "d.onnx").write_bytes(b"")
    own = {"file": "d.onnx", "sha256": hashlib.sha256(b"").hexdigest()}
    card = tmp_path / "model-card.json"
    card.write_text(json.dumps({"models": {"detector": own, "reader": own}}))
    with pytest.raises(ModelError, match="names no strips: weights of an earlier version"):
        load_card(tmp_path)
