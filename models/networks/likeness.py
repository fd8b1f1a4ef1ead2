"""The network by which an index is compared with a deck's samples.

Its first layers are those of a reader, which have seen many cameras, light and blur; from there on
it learns where strokes lie and not which letter they are.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from ultralytics.nn.tasks import ClassificationModel

READER = "yolo11n-cls.yaml"
TAKEN_AFTER = 4
"""The reader's layer whose output is taken: (n, 128, 8, 8) of crops of 64 px."""

TAKEN_CHANNELS, TAKEN_PX = 128, 8
WIDE, WIDER, FEATURES = 96, 192, 256


class _Block(nn.Module):
    """Two convolutions and a way around them."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.last = nn.BatchNorm2d(channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(n, c, h, w) of the same shape."""
        y = torch.relu(self.norm(self.first(x)))
        return torch.relu(x + self.last(self.second(y)))


class LikenessHead(nn.Module):
    """From (n, 128, 8, 8) to (n, 256)."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(TAKEN_CHANNELS, WIDE, 1, bias=False), nn.BatchNorm2d(WIDE), nn.ReLU(),
            _Block(WIDE),
            nn.Conv2d(WIDE, WIDER, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(WIDER),
            nn.ReLU(), _Block(WIDER),
        )  # fmt: skip
        side = TAKEN_PX // 2
        self.out = nn.Linear(WIDER * side * side, FEATURES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Features (n, 256) of the reader's (n, 128, 8, 8)."""
        out: torch.Tensor = self.out(self.body(x).flatten(1))
        return out


class LikenessNetwork(nn.Module):
    """Crops float32 (n, 3, 64, 64) RGB in 0 to 1 to features (n, 256), compared by their cosine."""

    def __init__(self, reader: Any = None) -> None:
        """With the first layers of `reader`, a classifier as `models.train.patches` trains it."""
        super().__init__()
        own = ClassificationModel(READER, nc=2, verbose=False) if reader is None else reader
        self.stem = nn.Sequential(*list(own.model.children())[: TAKEN_AFTER + 1]).float()
        self.head = LikenessHead()

    def forward(self, crops: torch.Tensor) -> torch.Tensor:
        """Features (n, 256)."""
        out: torch.Tensor = self.head(self.stem(crops))
        return out
