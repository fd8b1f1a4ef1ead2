"""The network of the stack reader: a strip and samples of the table's chips to potentials.

The potentials are those of a semi-Markov chain over the strip's rows (`vision.chips.side_chain`):
where the stack begins, where it ends, where one chip ends and the next begins, which of the
table's chips each row looks like, and how likely each number of chips is by the whole strip. The
chain adds up all ways to cut the rows into chips of about the known thickness.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from models.networks.side_comb import BASES, SideComb
from vision.chips.network_input.chip_sample import SAMPLE_COLUMNS, SAMPLE_ROWS
from vision.chips.network_input.side_strip import MOST_CHIPS, ROWS, ROWS_PER_CHIP
from vision.chips.side_chain import FEWEST_ROWS, MOST_ROWS

CHANNELS = (24, 48, 96, 96)
WIDTH, BLOCKS = 128, 8
EMBEDDED = 48
FACTS = 2
"""Facts of the view given with a strip: log px to a chip, sine of the angle off the vertical."""

RIM_ROWS, THICKNESS_ERROR = 1.0, 0.012
"""Standard deviations of a stack's height: of its rims' places in rows, and of all its chips'
thickness as a share of itself."""

NO_HEIGHT = 1e-3
"""What a height that fits no number of chips counts as."""


class _Block(nn.Module):
    """A residual block of dilated convolutions over the rows."""

    def __init__(self, width: int, dilation: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(width, width, 3, padding=dilation, dilation=dilation, bias=False),
            nn.BatchNorm1d(width),
            nn.ReLU(inplace=True),
            nn.Conv1d(width, width, 3, padding=1, bias=False),
            nn.BatchNorm1d(width),
        )

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        return functional.relu(rows + self.body(rows))


class SideNetwork(nn.Module):
    """Strips, facts and samples to potentials.

    `forward` takes strips (n, 4, ROWS, COLUMNS), 0 to 1, the last channel 1 where something
    nearer hides the stack, facts (n, FACTS), and of each strip's palette, or of the one of all
    strips, samples (n or 1, k, 3, h, w), faces (n, k, 3) and flags (n, k, 1), 1 where the sample
    shows a real chip.
    It gives edges (n, 3, ROWS + 1): log potentials of a start, a seam and an end at the lower
    border of each row; looks (n, ROWS, k); numbers (n, MOST_CHIPS + 1), of 0, 1, ... chips.
    `durations` are log potentials of chips FEWEST_ROWS to MOST_ROWS high.
    `with_rims` also returns log probabilities (n, 2, ROWS) of the row of the base's near rim and of
    the top's. How well the height between them fits is part of the numbers' potentials: chips are
    alike in thickness, which a chain of chips each a little higher or lower does not know. So is
    how a comb of evenly spaced seams fits (`models.networks.side_comb`).
    """

    def __init__(self) -> None:
        """A network that learned nothing yet."""
        super().__init__()
        one, two, three, four = CHANNELS
        self.wall = nn.Sequential(
            nn.Conv2d(4, one, (3, 4), stride=(1, 2), padding=(1, 1)), nn.ReLU(inplace=True),
            nn.Conv2d(one, two, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(two),
            nn.ReLU(inplace=True),
            nn.Conv2d(two, three, 3, stride=(1, 2), padding=1, bias=False),
            nn.BatchNorm2d(three), nn.ReLU(inplace=True),
            nn.Conv2d(three, four, 3, stride=(1, 2), padding=1, bias=False),
            nn.BatchNorm2d(four), nn.ReLU(inplace=True),
        )  # fmt: skip
        self.enter = nn.Sequential(
            nn.Conv1d(four * 3 + FACTS + 1, WIDTH, 3, padding=1, bias=False),
            nn.BatchNorm1d(WIDTH),
            nn.ReLU(inplace=True),
        )
        self.rows = nn.Sequential(*(_Block(WIDTH, 2 ** (k % 5)) for k in range(BLOCKS)))
        # Two rows of the strip to a row of features.
        self.edges = nn.Conv1d(WIDTH, 3 * 2, 3, padding=1)
        self.look = nn.Conv1d(WIDTH, EMBEDDED * 2, 1)
        self.pooled = nn.Conv1d(WIDTH, 24, 5, stride=2, padding=2)
        self.numbers = nn.Sequential(
            nn.ReLU(), nn.Flatten(), nn.Linear(24 * (ROWS // 4), 128), nn.ReLU(),
            nn.Linear(128, MOST_CHIPS + 1),
        )  # fmt: skip
        self.sampled = nn.Sequential(
            nn.Conv2d(3, 24, 3, stride=(1, 2), padding=1), nn.ReLU(),
            nn.Conv2d(24, 32, 3, stride=2, padding=1), nn.ReLU(),
            nn.AvgPool2d((SAMPLE_ROWS // 2, SAMPLE_COLUMNS // 12)), nn.Flatten(),
        )  # fmt: skip
        self.chip = nn.Sequential(
            nn.Linear(32 * 3 + 3 + 3 + 1, 64), nn.ReLU(), nn.Linear(64, EMBEDDED)
        )
        heights = torch.arange(FEWEST_ROWS, MOST_ROWS + 1) - ROWS_PER_CHIP
        self.durations = nn.Parameter(-(heights.float() ** 2 / 8).clamp(max=5))
        self.rims = nn.Sequential(
            nn.Conv1d(WIDTH, 64, 5, padding=2), nn.ReLU(inplace=True),
            nn.Conv1d(64, 2 * 2, 3, padding=1),
        )  # fmt: skip
        # Little at first, so that a network from before the rims goes on from where it is.
        self.rim_weight = nn.Parameter(torch.full((1,), 0.2))
        self.rim_none = nn.Parameter(torch.zeros(1))
        self.comb = SideComb(WIDTH)
        self.register_buffer("rim_heights", _number_heights(), persistent=False)
        first = torch.arange(BASES)[:, None] + torch.arange(ROWS)[None]
        self.register_buffer("rim_tops", first.clamp(max=ROWS), persistent=False)
        self.height = nn.Parameter(
            torch.linspace(-1, 1, ROWS // 2)[None, None], requires_grad=False
        )

    def chips(
        self, samples: torch.Tensor, faces: torch.Tensor, flags: torch.Tensor
    ) -> torch.Tensor:
        """Embeddings (n, k, EMBEDDED) of a palette."""
        n, k = samples.shape[:2]
        seen = self.sampled(samples.flatten(0, 1)).reshape(n, k, -1)
        mean = samples.mean(dim=(3, 4))
        out: torch.Tensor = self.chip(torch.cat([seen, mean, faces * flags, flags], dim=2))
        return out

    def forward(
        self, strips: torch.Tensor, facts: torch.Tensor, samples: torch.Tensor,
        faces: torch.Tensor, flags: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:  # fmt: skip
        """Potentials; see the class."""
        edges, looks, numbers, _ = self.with_rims(strips, facts, samples, faces, flags)
        return edges, looks, numbers

    def with_rims(
        self, strips: torch.Tensor, facts: torch.Tensor, samples: torch.Tensor,
        faces: torch.Tensor, flags: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:  # fmt: skip
        """Potentials, and the rims' log probabilities; see the class."""
        return self.potentials(self.features(strips, facts), samples, faces, flags)

    def features(self, strips: torch.Tensor, facts: torch.Tensor) -> torch.Tensor:
        """Features of the rows, (n, WIDTH, ROWS / 2), whatever chips the table has."""
        wall = self.wall(strips * 2 - 1)
        n, half = strips.shape[0], ROWS // 2
        flat = wall.permute(0, 1, 3, 2).reshape(n, -1, half)
        given = facts[:, :, None].expand(-1, -1, half)
        height = self.height.expand(n, -1, -1)
        out: torch.Tensor = self.rows(self.enter(torch.cat([flat, given, height], dim=1)))
        return out

    def potentials(
        self, rows: torch.Tensor, samples: torch.Tensor, faces: torch.Tensor, flags: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """What `with_rims` gives, from the features of the rows."""
        n, half = rows.shape[0], ROWS // 2
        edges = self.edges(rows).reshape(n, 3, 2, half).transpose(2, 3).reshape(n, 3, ROWS)
        look = self.look(rows).reshape(n, EMBEDDED, 2, half).transpose(2, 3)
        chips = self.chips(samples, faces, flags).expand(n, -1, -1)
        looks = torch.einsum("ner,nke->nrk", look.reshape(n, EMBEDDED, ROWS), chips)
        rims = self.rims(rows).reshape(n, 2, 2, half).transpose(2, 3).reshape(n, 2, ROWS)
        rims = functional.log_softmax(rims.float(), dim=2)
        numbers = self.numbers(self.pooled(rows)).float() + self._by_height(rims) + self.comb(rows)
        return functional.pad(edges, (0, 1)), looks / EMBEDDED**0.5, numbers, rims

    def _by_height(self, rims: torch.Tensor) -> torch.Tensor:
        """What the height between the rims says of each number of chips, (n, MOST_CHIPS + 1)."""
        base, top = rims[:, 0, :BASES].exp(), functional.pad(rims[:, 1].exp(), (0, 1))
        # The share of each height, over all rows where the base may be.
        shares = (base[:, :, None] * top[:, self.rim_tops]).sum(1)
        fits = torch.log(shares @ self.rim_heights + NO_HEIGHT)
        none = self.rim_none.expand(rims.shape[0], 1)
        return torch.cat([none, fits], dim=1) * self.rim_weight


def _number_heights() -> torch.Tensor:
    """How well each height in rows fits each number of chips, (ROWS, MOST_CHIPS), at most 1."""
    due = torch.arange(1, MOST_CHIPS + 1) * ROWS_PER_CHIP
    off = torch.arange(ROWS)[:, None] - due[None]
    loose = torch.sqrt(RIM_ROWS**2 + (THICKNESS_ERROR * due) ** 2)
    return torch.exp(-0.5 * (off / loose) ** 2)
