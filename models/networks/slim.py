"""A detector made slim for int8: what costs more than it brings is left out of the network.

Three things take a third of an int8 detector's time on processors without matrix units: SiLU's
exponential, the attention on the coarsest map (its products stay in float), and the box branches,
which are as wide for six classes as for eighty. A slim network has Hardswish, no attention, and
box branches of `BOX_WIDTH` channels, those that weigh most. It has to be trained on afterwards.
EXPERIMENTS.md holds what it costs and brings.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from ultralytics.nn.modules import Conv
from ultralytics.nn.modules.block import PSABlock
from ultralytics.nn.modules.head import Detect

BOX_WIDTH = 48
"""Channels within a box branch; a multiple of 16, as int8 convolutions are reckoned in such."""


class FeedForward(nn.Module):
    """What is left of a `PSABlock` without its attention."""

    def __init__(self, block: PSABlock) -> None:
        """Take over the block's two convolutions."""
        super().__init__()
        self.ffn = block.ffn

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Features (n, channels, h, w) with what the convolutions make of them added."""
        return x + self.ffn(x)


def is_slim(network: nn.Module) -> bool:
    """Whether a network has the form that `slim` makes."""
    return any(isinstance(part, FeedForward) for part in network.modules())


def slim(network: Any, box_width: int = BOX_WIDTH) -> Any:
    """Make a yolo11 detection model slim, in place; its weights stay where they are kept.

    Returns the same model. A box branch that is no wider than `box_width` is left as it is.
    """
    for block in list(network.modules()):
        for name, part in list(block.named_children()):
            if isinstance(part, nn.SiLU):
                setattr(block, name, nn.Hardswish(inplace=True))
            elif isinstance(part, PSABlock):
                setattr(block, name, FeedForward(part))
        if isinstance(block, Detect):
            for branch in block.cv2:
                _narrow(branch, box_width)
    return network


def _narrow(branch: Any, width: int) -> None:
    """Keep the `width` channels of each hidden layer that weigh most in the next one."""
    first, second, last = branch
    for before, after in ((first, second.conv), (second, last)):
        if before.conv.out_channels <= width:
            continue
        with torch.no_grad():
            weighs = before.bn.weight.abs() * after.weight.abs().sum(dim=(0, 2, 3))
            kept = weighs.argsort(descending=True)[:width].sort().values
        _keep_outputs(before, kept)
        after.weight = nn.Parameter(after.weight.detach()[:, kept].clone())
        after.in_channels = width


def _keep_outputs(layer: Conv, kept: torch.Tensor) -> None:
    conv, norm = layer.conv, layer.bn
    conv.weight = nn.Parameter(conv.weight.detach()[kept].clone())
    conv.out_channels = norm.num_features = len(kept)
    for name in ("weight", "bias"):
        setattr(norm, name, nn.Parameter(getattr(norm, name).detach()[kept].clone()))
    for name in ("running_mean", "running_var"):
        setattr(norm, name, getattr(norm, name)[kept].clone())
