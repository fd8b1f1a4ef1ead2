"""A second head of the finest scale for indices and jokers alone.

A finest head that is trained on new decks finds their indices, but its boxes of chips change with
it, by which sums get worse (`models/EXPERIMENTS.md`, "A head for cards alone"). So the trained head
stands beside the one that it was trained from: the one gives indices and jokers, the other all
else, as before.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

from datasets.training.views import CLASSES

CARDS = ("index", "joker")
NEVER = -12.0
"""A logit of what is never found: a score of 0.000006."""


def has_card_head(names: Iterable[str]) -> bool:
    """Whether weights of these names are a detector's with a head for cards."""
    return any(".cv2.3." in name for name in names)


def add_card_head(network: Any) -> Any:
    """A detector (yolo11) with a copy of its finest head added, in place; returns it."""
    head = network.model[-1]
    for branches in (head.cv2, head.cv3):
        branches.append(copy.deepcopy(branches[0]))
    head.nl = len(head.cv2)
    head.f = [*head.f, head.f[0]]
    head.stride = torch.cat([head.stride, head.stride[:1]])
    network.stride = head.stride
    return network


def join_card_head(network: Any, trained: Any) -> Any:
    """`network` in place with the finest head of `trained` beside its own; returns it.

    Both are detectors of one architecture without a head for cards, and alike but for the finest
    head: it reads what the layers before it give. Raises ValueError for others.
    """
    for name, values in network.state_dict().items():
        finest = ".cv2.0." in name or ".cv3.0." in name
        if not finest and not torch.equal(values, trained.state_dict()[name]):
            raise ValueError(f"{name} differs: the finest head alone may be trained (--finest)")
    add_card_head(network)
    head, other = network.model[-1], trained.model[-1]
    for branches, theirs in ((head.cv2, other.cv2), (head.cv3, other.cv3)):
        branches[-1].load_state_dict(theirs[0].state_dict())
    return part_classes(network)


def part_classes(network: Any) -> Any:
    """Let each finest head find its own classes alone, in place; returns the network."""
    cv3 = network.model[-1].cv3
    _silence(cv3[0][-1], [n for n, kind in enumerate(CLASSES) if kind in CARDS])
    _silence(cv3[-1][-1], [n for n, kind in enumerate(CLASSES) if kind not in CARDS])
    return network


def _silence(last: nn.Conv2d, classes: list[int]) -> None:
    """Let a head's last layer never find some classes."""
    with torch.no_grad():
        last.weight[classes] = 0.0
        if last.bias is not None:
            last.bias[classes] = NEVER
