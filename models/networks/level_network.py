"""The network that tells which chip of a palette a level of a stack shows, or none.

It is small and no ultralytics architecture: what it chooses from, a table's own chips, is given
with every question, so that a table whose chips have other colours needs no training.
"""

from __future__ import annotations

import torch
from torch import nn

from vision.chips.network_input.level_windows import WINDOW_PX

CHANNELS = (24, 48, 64, 96)
WIDTH = 96
UNSEEN = 0.5
"""What a window shows where something hides the level: middle grey, and 0 in its last layer."""


class LevelNetwork(nn.Module):
    """Windows and colours to log shares.

    `forward` takes windows float32 (n, 24, 24, 4), 0 to 255, as
    `vision.chips.network_input.level_windows` cuts
    them, and sRGB colours float32 (1 or n, k, 3), 0 to 255; it gives logits (n, k + 1), the
    last of them for no chip.
    """

    def __init__(self) -> None:
        """A network that learned nothing yet."""
        super().__init__()
        layers: list[nn.Module] = []
        given = 4
        for k, wanted in enumerate(CHANNELS):
            step = 1 if k == 0 else 2
            layers += [
                nn.Conv2d(given, wanted, 3, stride=step, padding=1, bias=False),
                nn.BatchNorm2d(wanted),
                nn.ReLU(),
            ]
            given = wanted
        side = WINDOW_PX // 2 ** (len(CHANNELS) - 1)
        self.seen = nn.Sequential(
            *layers, nn.Flatten(), nn.Linear(given * side * side, WIDTH), nn.ReLU(), nn.Dropout(0.1)
        )
        self.from_seen = nn.Linear(WIDTH, WIDTH)
        self.from_colour = nn.Sequential(nn.Linear(3, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))
        self.match = nn.Sequential(
            nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1)
        )
        self.none = nn.Linear(WIDTH, 1)

    def forward(self, windows: torch.Tensor, colours: torch.Tensor) -> torch.Tensor:
        """See the class."""
        shown = windows.permute(0, 3, 1, 2) / 255
        mask = shown[:, 3:]
        shown = torch.cat([shown[:, :3] * mask + UNSEEN * (1 - mask), mask], 1)
        seen = self.seen(shown)
        pairs = self.from_seen(seen)[:, None] + self.from_colour(colours.flip(-1) / 255)
        return torch.cat([self.match(pairs)[..., 0], self.none(seen)], 1)


class LogShares(nn.Module):
    """The network as it is exported: colours (k, 3) for all windows, log shares out."""

    def __init__(self, network: LevelNetwork) -> None:
        """`network` with what is needed around it."""
        super().__init__()
        self.network = network

    def forward(self, windows: torch.Tensor, colours: torch.Tensor) -> torch.Tensor:
        """Log shares (n, k + 1)."""
        return torch.log_softmax(self.network(windows, colours[None]), 1)
