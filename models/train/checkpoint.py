"""Shipped ONNX weights turned back into a checkpoint that training can go on from.

An exported network has its batch normalisation folded into its convolutions. To go on, it is
unfolded again: each layer's mean and variance are measured over sample images with the
folded weights, and scale and shift are set so that the layer does what it did. What it does
in training, where batches are normalised by their own figures, is then near what it did.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from ultralytics.nn.tasks import ClassificationModel, DetectionModel

from datasets.training.training_set import CLASS_NAMES
from datasets.training.views import CLASSES
from models.data.crops import read_crops
from models.data.provenance import Provenance, read_object
from models.networks.card_head import add_card_head, has_card_head
from models.networks.slim import BOX_WIDTH, slim
from models.train import detector, patches
from settlement.errors import FeltwatchError
from vision.detect.openvino_runtime import CARD_FILE

SAMPLES = 64
_BOX_BRANCH = re.compile(r"model\.\d+\.cv2\.0\.0\.conv\.weight")


def unfolded(onnx_file: Path, model: nn.Module, samples: npt.NDArray[np.uint8]) -> nn.Module:
    """`model` with the weights of an exported network of the same architecture.

    `samples` are images (n, h, w, 3) BGR uint8 of the size the network takes; a few dozen
    of those it was made for are enough. Raises FeltwatchError when the file is of another
    architecture.
    """
    stored = _stored(onnx_file)
    modules = dict(model.named_modules())
    norms = _norms(model)
    missing = [
        name
        for name, layer in modules.items()
        if isinstance(layer, (nn.Conv2d, nn.Linear)) and f"{name}.weight" not in stored
    ]
    if missing:
        raise FeltwatchError(
            f"{onnx_file}: holds no weights of layer {missing[0]}; take the architecture it was "
            "trained with"
        )
    with torch.no_grad():
        for name, values in stored.items():
            layer = modules.get(name.removesuffix(".weight"))
            if name.endswith(".weight") and isinstance(layer, (nn.Conv2d, nn.Linear)):
                shift = stored.get(f"{name.removesuffix('.weight')}.bias")
                _fill(onnx_file, layer, norms.get(layer), values, shift)
        _measure(model, norms, samples)
    return model


def _stored(onnx_file: Path) -> dict[str, npt.NDArray[Any]]:
    """The numbers an ONNX file holds, by the names that its layers know."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(str(onnx_file)).graph
    stored = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    for node in graph.node:
        # Weights kept in half precision are cast to the name the layer knows.
        if node.op_type == "Cast" and node.input[0] in stored:
            stored[node.output[0]] = stored[node.input[0]]
    return stored


def fresh_detector(onnx_file: Path) -> nn.Module:
    """A detector of the architecture that exported weights have: slim where they are."""
    model = DetectionModel(detector.ARCHITECTURE, nc=len(CLASSES), verbose=False)
    stored = _stored(onnx_file)
    if not any(".attn." in name for name in stored):
        branch = next((n for n in stored if _BOX_BRANCH.fullmatch(n)), None)
        slim(model, BOX_WIDTH if branch is None else len(stored[branch]))
    return add_card_head(model) if has_card_head(stored) else model


def _norms(model: nn.Module) -> dict[nn.Module, nn.BatchNorm2d]:
    """The batch normalisation behind each convolution that has one."""
    found: dict[nn.Module, nn.BatchNorm2d] = {}
    for block in model.modules():
        conv, norm = getattr(block, "conv", None), getattr(block, "bn", None)
        if isinstance(conv, nn.Conv2d) and isinstance(norm, nn.BatchNorm2d):
            found[conv] = norm
    return found


def _tensor(samples: npt.NDArray[np.uint8]) -> torch.Tensor:
    turned = np.ascontiguousarray(samples[..., ::-1].transpose(0, 3, 1, 2))
    return torch.from_numpy(turned).float() / 255


def _fill(
    file: Path,
    layer: nn.Conv2d | nn.Linear,
    norm: nn.BatchNorm2d | None,
    values: npt.NDArray[Any],
    added: npt.NDArray[Any] | None,
) -> None:
    weight = torch.from_numpy(values.astype(np.float32))
    if weight.shape != layer.weight.shape:
        raise FeltwatchError(
            f"{file}: a layer of {tuple(weight.shape)} where the architecture has "
            f"{tuple(layer.weight.shape)}; take the architecture it was trained with"
        )
    layer.weight.copy_(weight)
    shift = None if added is None else torch.from_numpy(added.astype(np.float32))
    if norm is not None:
        # For the measuring, the normalisation only adds the folded shift.
        norm.running_mean.zero_()
        norm.running_var.fill_(1 - norm.eps)
        norm.weight.fill_(1)
        norm.bias.zero_()
    target = norm.bias if norm is not None else layer.bias
    if shift is not None and isinstance(target, torch.Tensor):
        target.copy_(shift)


def _measure(
    model: nn.Module, norms: dict[nn.Module, nn.BatchNorm2d], samples: npt.NDArray[np.uint8]
) -> None:
    """Set every normalisation to what its layer gives over the samples."""
    sums: dict[nn.Module, list[torch.Tensor]] = {}

    def note(layer: nn.Module, _inputs: Any, output: torch.Tensor) -> None:
        values = output.double()
        figures = torch.stack([
            values.mean(dim=(0, 2, 3)),
            values.square().mean(dim=(0, 2, 3)),
        ])  # fmt: skip
        sums.setdefault(layer, []).append(figures)

    hooks = [layer.register_forward_hook(note) for layer in norms]
    model.eval()
    for start in range(0, len(samples), 8):
        model(_tensor(samples[start : start + 8]))
    for hook in hooks:
        hook.remove()
    for layer, norm in norms.items():
        if layer not in sums:
            continue
        mean, square = torch.stack(sums[layer]).mean(dim=0)
        variance = (square - mean.square()).clamp(min=1e-6)
        shift = norm.bias.double() + mean
        norm.running_mean.copy_(mean)
        norm.running_var.copy_(variance)
        norm.weight.copy_((variance + norm.eps).sqrt())
        norm.bias.copy_(shift)


def checkpoint_of(part: str, onnx_file: Path, data: Path, out: Path, size: int) -> Path:
    """A checkpoint `out` (.pt) of an exported 'detector' or 'reader'.

    `data` is the set that is trained on next: its held-out images are the samples.
    Raises FeltwatchError when the file is another part's, or the set holds no images.
    """
    names: tuple[str, ...] = CLASSES
    if part == "detector":
        model = fresh_detector(onnx_file)
        samples = _views(data, size)
    else:
        names = CLASS_NAMES
        model = ClassificationModel(patches.ARCHITECTURE, nc=len(names), verbose=False)
        samples = np.concatenate([f.crops[:SAMPLES] for f in read_crops(data, len(names))])
    model = unfolded(onnx_file, model, np.ascontiguousarray(samples[:SAMPLES]))
    model.names = dict(enumerate(names))
    out.parent.mkdir(parents=True, exist_ok=True)
    task = "detect" if part == "detector" else "classify"
    model.args = {"task": task, "imgsz": size}
    torch.save({"epoch": -1, "model": model.half(), "train_args": {"task": task}}, out)
    return out


def _views(data: Path, size: int) -> npt.NDArray[np.uint8]:
    files = sorted((data / "images" / "val").glob("*.jpg"))[:SAMPLES]
    images = [cv2.imread(str(file)) for file in files]
    fitting = [cv2.resize(p, (size, size)) for p in images if p is not None]
    if not fitting:
        raise FeltwatchError(f"{data}: no images in images/val to measure the weights with")
    return np.asarray(np.stack(fitting), np.uint8)


def provenance_beside(onnx_file: Path) -> Provenance:
    """What exported weights were trained on, by the model card beside them."""
    card = onnx_file.parent / CARD_FILE
    if not card.is_file():
        return Provenance()
    return Provenance.model_validate(read_object(card).get("data", {}))
