"""The semi-Markov chain over a strip's rows as a loss: what the stack reader is trained by.

A stack of n chips is a start row, n pieces of FEWEST_ROWS to MOST_ROWS rows, each with one of the
table's chips, and an end. Its log weight is the sum of its potentials; the loss is the negative
log probability of the true number and colours, summed over all ways to cut the rows.
"""

from __future__ import annotations

import torch
from torch.nn import functional

from vision.chips.network_input.side_strip import MOST_CHIPS, ROWS_PER_CHIP
from vision.chips.side_chain import FEWEST_ROWS, MOST_ROWS

NEVER = -1e4

RIM_LOOSE, THICKNESS_LOOSE = 0.8, 0.012
"""Standard deviations of a rim's true row, and of the top's by the chips' thickness."""


def _windows(values: torch.Tensor) -> torch.Tensor:
    """Values (n, ROWS + 1) as a chip that ends at each border finds them where it begins.

    (n, ROWS + 1, d): the highest chip first.
    """
    padded = functional.pad(values, (MOST_ROWS, 0), value=NEVER)
    return padded.unfold(1, MOST_ROWS - FEWEST_ROWS + 1, 1)[:, : values.shape[1]]


def chain_loss(
    edges: torch.Tensor, looks: torch.Tensor, numbers: torch.Tensor, durations: torch.Tensor,
    there: torch.Tensor, count: torch.Tensor, colours: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """Loss (n,) and log probabilities (n, MOST_CHIPS + 1) of the number of chips.

    `there` (n, k) says which chips the palette has, `count` (n,) and `colours`
    (n, MOST_CHIPS), -1 above the top, are the truth.
    """
    looks = looks.masked_fill(~there[:, None], NEVER / ROWS_PER_CHIP)
    start, seam, end = edges[:, 0], edges[:, 1], edges[:, 2]
    total = functional.pad(looks.cumsum(1), (0, 0, 1, 0)) / ROWS_PER_CHIP
    heights = durations.flip(0)
    # Any of the palette's chips, all as likely beforehand.
    palette = there.sum(1).float().log()[:, None]
    padded = functional.pad(total, (0, 0, MOST_ROWS, 0))
    before = padded.unfold(1, MOST_ROWS - FEWEST_ROWS + 1, 1)[:, : total.shape[1]]
    free = torch.logsumexp(total[..., None] - before, dim=2) - palette[..., None] + heights
    alpha = own = start
    ends, true = [numbers[:, 0]], [numbers[:, 0]]
    for k in range(MOST_CHIPS):
        alpha = torch.logsumexp(_windows(alpha) + free, dim=2).clamp(min=NEVER)
        place = colours[:, k].clamp(min=0)[:, None, None].expand(-1, total.shape[1], 1)
        run = torch.gather(total, 2, place)[..., 0]
        own = torch.logsumexp(_windows(own - run) + heights, dim=2) + run - palette
        own = own.clamp(min=NEVER)
        ends.append(torch.logsumexp(alpha + end, dim=1) + numbers[:, k + 1])
        true.append(torch.logsumexp(own + end, dim=1) + numbers[:, k + 1])
        alpha, own = alpha + seam, own + seam
    by_number = torch.stack(ends, dim=1)
    whole = torch.logsumexp(by_number, dim=1)
    told = torch.gather(torch.stack(true, dim=1), 1, count[:, None])[:, 0]
    return whole - told, by_number - whole[:, None]


def rim_loss(rims: torch.Tensor, base: torch.Tensor, count: torch.Tensor) -> torch.Tensor:
    """Cross-entropy (n,) of the rims' rows, nothing where no stack stands.

    `rims` (n, 2, ROWS) are log probabilities, `base` (n,) is the row of the true base.
    """
    rows = torch.arange(rims.shape[2], device=rims.device)[None]
    high = count.float() * ROWS_PER_CHIP
    place = torch.stack([base, base + high], dim=1)
    loose = torch.stack(
        [torch.full_like(base, RIM_LOOSE), torch.hypot(
            torch.full_like(base, RIM_LOOSE), THICKNESS_LOOSE * high)], dim=1,
    )  # fmt: skip
    off = (rows[:, None] - place[..., None]) / loose[..., None]
    due = torch.softmax(-0.5 * off**2, dim=2)
    return -(due * rims).sum(2).sum(1) * (count > 0)
