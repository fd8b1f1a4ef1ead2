"""How well evenly spaced seams fit each number of chips: a comb laid over a strip's rows.

The chain (`vision.chips.side_chain`) cuts chip by chip, so that the heights of eighteen chips may
drift by more than one chip in all. A stack does not: every chip lies about where its number puts
it, and the stack leans evenly. The comb of n chips has a tooth at each seam, spread by the lean
towards or away from the camera, and all of its teeth are weighed together.
"""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional

from vision.chips.network_input.side_strip import BELOW_CHIPS, MOST_CHIPS, ROWS, ROWS_PER_CHIP

BASES = round(2 * BELOW_CHIPS * ROWS_PER_CHIP)
"""Rows in which a stack's base may lie."""

LEANS = torch.linspace(-1.25, 1.25, 11)
"""By how many chips a stack looks higher or lower than its chips are: a top that lies a millimetre
nearer to a camera 30 degrees off the vertical looks half a chip lower."""

REACH = math.ceil(ROWS_PER_CHIP * (MOST_CHIPS + float(LEANS.max()))) + 2
LOOSE_ROWS, SPREAD = 0.8, 3
"""Standard deviation of a chip's own place in rows, and how many rows to both sides count."""

FLATTEST = 8.0
"""Most that one row may say for or against a seam, in logs."""


class SideComb(nn.Module):
    """Features of the rows (n, width, ROWS / 2) to potentials of 0, 1, ... chips,
    (n, MOST_CHIPS + 1)."""

    def __init__(self, width: int) -> None:
        """A comb that has no weight yet."""
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(width, 64, 5, padding=2), nn.ReLU(inplace=True),
            nn.Conv1d(64, 3 * 2, 3, padding=1),
        )  # fmt: skip
        teeth, ends = _combs()
        self.register_buffer("teeth", teeth[:, None], persistent=False)
        self.register_buffer("ends", ends[:, None], persistent=False)
        near = torch.exp(-0.5 * (torch.arange(-SPREAD, SPREAD + 1) / LOOSE_ROWS) ** 2)
        self.register_buffer("near", (near / near.sum())[None, None], persistent=False)
        self.register_buffer("leans", LEANS.clone(), persistent=False)
        self.lean_log = nn.Parameter(torch.tensor(-0.9))
        self.weight = nn.Parameter(torch.zeros(1))
        self.bias = nn.Parameter(torch.zeros(MOST_CHIPS + 1))

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Potentials of each number of chips; see the class."""
        n, half = rows.shape[0], ROWS // 2
        marks = self.body(rows).reshape(n, 3, 2, half).transpose(2, 3).reshape(n, 3, ROWS)
        marks = marks.float().clamp(-FLATTEST, FLATTEST)
        start, tooth, end = marks[:, 0, :BASES], marks[:, 1:2], marks[:, 2:]
        # A tooth counts by the rows about it: every chip is a little out of line.
        wide = functional.pad(tooth.exp(), (SPREAD, SPREAD), mode="replicate")
        tooth = torch.log(functional.conv1d(wide, self.near))
        beyond = REACH + BASES - ROWS
        fits = functional.conv1d(functional.pad(tooth, (0, beyond)), self.teeth)
        fits = fits + functional.conv1d(
            functional.pad(end, (0, beyond), value=-FLATTEST), self.ends
        )
        fits = fits.reshape(n, MOST_CHIPS, len(LEANS), -1)[..., :BASES] + start[:, None, None]
        fits = fits - 0.5 * (self.leans / self.lean_log.exp())[:, None] ** 2
        fits = fits.reshape(n, MOST_CHIPS, len(LEANS) * BASES)
        # OpenVINO does not take the exported form of torch.logsumexp.
        top = fits.amax(dim=2, keepdim=True)
        best = torch.log(torch.exp(fits - top).sum(dim=2)) + top[..., 0]
        none = torch.zeros_like(best[:, :1])
        return torch.cat([none, best], dim=1) * self.weight + self.bias


def _combs() -> tuple[torch.Tensor, torch.Tensor]:
    """Teeth and ends of the combs of each number of chips and lean, rows over the base,
    (MOST_CHIPS * leans, REACH + 1)."""
    teeth = torch.zeros(MOST_CHIPS, len(LEANS), REACH + 1)
    ends = torch.zeros(MOST_CHIPS, len(LEANS), REACH + 1)
    for chips in range(1, MOST_CHIPS + 1):
        for k, lean in enumerate(LEANS.tolist()):
            for seam in range(1, chips + 1):
                at = ROWS_PER_CHIP * seam * (1 + lean / chips)
                row = math.floor(at)
                if row < 0:
                    continue
                marked = ends if seam == chips else teeth
                marked[chips - 1, k, row] += 1 - (at - row)
                marked[chips - 1, k, row + 1] += at - row
    return teeth.flatten(0, 1), ends.flatten(0, 1)
