"""The shipped stack reader turned back into weights that training can go on from.

The exported network has its batch normalisation folded into its convolutions. Scale and shift are
computed from the mean and variance over a batch of strips, so that every layer does what it did.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import nn

from models.networks.side_network import SideNetwork
from settlement.errors import FeltwatchError


def unfolded_strips(path: Path, given: Sequence[torch.Tensor]) -> SideNetwork:
    """A network in training form with the weights of a `strips.onnx`.

    `given` are strips, facts, samples, faces and flags of a batch (`SideNetwork.forward`), a few
    hundred strips. Raises FeltwatchError for a file that is no such network.
    """
    network = SideNetwork()
    with torch.no_grad():
        biases = _fill(network, path)
        hooks = [
            norm.register_forward_hook(_measured(norm, bias))
            for norm, bias in biases.items()
        ]  # fmt: skip
        network.train()
        network(*given)
        for hook in hooks:
            hook.remove()
    return network


def _fill(network: SideNetwork, path: Path) -> dict[nn.Module, torch.Tensor]:
    """Give the network the file's weights; the folded bias of each batch normalisation."""
    try:
        model = onnx.load(str(path))
    except Exception as error:  # protobuf's own errors have no public base
        raise FeltwatchError(f"{path}: not an ONNX file ({error})") from error
    stored = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    kept = {
        name.removeprefix("network."): torch.from_numpy(np.array(values))
        for name, values in stored.items() if name.startswith("network.")
    }  # fmt: skip
    state = network.state_dict()
    # Layers without names, in the order in which they are run: folded convolutions, and the
    # transposed weights of linear layers of more than two dimensions.
    folded = [
        (stored[node.input[1]], stored[node.input[2]])
        for node in model.graph.node
        if node.op_type == "Conv" and len(node.input) > 2 and node.input[1] in stored
        and not node.input[1].startswith("network.")
    ]  # fmt: skip
    turned = [
        stored[node.input[1]] for node in model.graph.node
        if node.op_type == "MatMul" and node.input[1] in stored
        and not node.input[1].startswith("network.")
    ]  # fmt: skip
    pairs = _normalised(network)
    durations = [v for n, v in stored.items() if v.shape == state["durations"].shape]
    linear = [layer for layer in network.chip if isinstance(layer, nn.Linear)]
    if len(folded) != len(pairs) or len(turned) != len(linear) or len(durations) != 1:
        raise FeltwatchError(f"{path}: not a stack reader of this version")
    kept["durations"] = torch.from_numpy(np.array(durations[0]))
    try:
        missing = network.load_state_dict(kept, strict=False).missing_keys
        biases: dict[nn.Module, torch.Tensor] = {}
        for (conv, norm), (weight, bias) in zip(pairs, folded, strict=True):
            conv.weight.copy_(torch.from_numpy(np.array(weight)))
            biases[norm] = torch.from_numpy(np.array(bias))
        for layer, values in zip(linear, turned, strict=True):
            layer.weight.copy_(torch.from_numpy(np.array(values)).T)
    except RuntimeError as error:
        raise FeltwatchError(f"{path}: not a stack reader of this version ({error})") from error
    set_here = {id(conv.weight) for conv, _ in pairs} | {id(one.weight) for one in linear}
    left = [
        name for name in missing
        if id(network.get_parameter(name) if name in dict(network.named_parameters()) else None)
        not in set_here and not any(name.startswith(own) for own in _norm_names(network))
    ]  # fmt: skip
    # A reader from before the comb has none.
    left = [name for name in left if not name.startswith("comb.")]
    if left:
        raise FeltwatchError(f"{path}: holds no weights of {left[0]}")
    return biases


def _normalised(network: SideNetwork) -> list[tuple[nn.Conv1d | nn.Conv2d, nn.Module]]:
    """Convolutions followed by a batch normalisation, in the order in which they are run."""
    found: list[tuple[nn.Conv1d | nn.Conv2d, nn.Module]] = []
    last: nn.Module | None = None
    for part in (network.wall, network.enter, network.rows):
        for layer in part.modules():
            if isinstance(layer, (nn.BatchNorm1d, nn.BatchNorm2d)):
                assert isinstance(last, (nn.Conv1d, nn.Conv2d))
                found.append((last, layer))
            if isinstance(layer, (nn.Conv1d, nn.Conv2d)):
                last = layer
    return found


def _norm_names(network: SideNetwork) -> list[str]:
    return [
        f"{name}." for name, layer in network.named_modules()
        if isinstance(layer, (nn.BatchNorm1d, nn.BatchNorm2d))
    ]  # fmt: skip


def _measured(norm: nn.Module, bias: torch.Tensor):  # type: ignore[no-untyped-def]
    """A hook that sets the normalisation so that it adds `bias` to what comes in."""
    assert isinstance(norm, (nn.BatchNorm1d, nn.BatchNorm2d))

    def hook(_: nn.Module, given: tuple[torch.Tensor], __: torch.Tensor) -> torch.Tensor:
        own = given[0]
        axes = [k for k in range(own.dim()) if k != 1]
        mean, var = own.mean(axes), own.var(axes, unbiased=False)
        assert norm.running_mean is not None
        assert norm.running_var is not None
        norm.running_mean.copy_(mean)
        norm.running_var.copy_(var)
        norm.weight.copy_(torch.sqrt(var + norm.eps))
        norm.bias.copy_(mean + bias)
        shape = (1, -1, *([1] * (own.dim() - 2)))
        return own + bias.reshape(shape)

    return hook
