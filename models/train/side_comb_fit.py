"""Fitting the comb of the stack reader alone, on features that are computed once.

Comb and chain see the same seams: the log probabilities of both together are divided by a
temperature that is fitted too.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.nn import functional

from datasets.training.sides.shards import read_shard
from models.networks.side_comb import SideComb
from models.networks.side_loss import chain_loss
from models.networks.side_network import SideNetwork
from models.train.chip_stacks import FORM, Batch, StripPool, all_shards, started
from models.train.state_file import save_state

BATCH, RATE, WEIGHT_DECAY, FIRST_WEIGHT = 128, 0.002, 0.001, 0.3
LEAST_LOG = -25.0
"""Numbers less likely than this by the chain are as unlikely as this: the comb may be right."""


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """Of strips: features of their rows (n, WIDTH, ROWS / 2), half precision, the chain's log
    probabilities of the numbers of chips (n, MOST_CHIPS + 1) and the true ones (n,)."""

    rows: torch.Tensor
    logs: torch.Tensor
    count: torch.Tensor


def features(network: SideNetwork, paths: Sequence[Path]) -> Features:
    """What a network without its comb gives for all strips of these shards."""
    network.eval()
    found: list[list[torch.Tensor]] = []
    weight = network.comb.weight.detach().clone()
    with torch.no_grad():
        network.comb.weight.zero_()
        for path in paths:
            pool = StripPool.of(read_shard(path))
            for places in torch.arange(pool.size).split(256):
                given = pool.batch(places)
                rows = network.features(given.strips, given.facts)
                found.append([rows.half(), _chain_logs(network, given, rows), given.count])
        network.comb.weight.copy_(weight)
    return Features(*(torch.cat(parts) for parts in zip(*found, strict=True)))


def _chain_logs(network: SideNetwork, given: Batch, rows: torch.Tensor) -> torch.Tensor:
    edges, looks, numbers, _ = network.potentials(rows, given.samples, given.faces, given.flags)
    _, logs = chain_loss(
        edges, looks, numbers, network.durations, given.there, given.count, given.colours
    )
    return logs.clamp(min=LEAST_LOG)


def fit_comb(
    folders: Sequence[Path], held: Path, out: Path, *, start: Path, minutes: float, seed: int = 0
) -> Path:  # fmt: skip
    """Fit the comb of the network of `start` for so long; returns the checkpoint in `out`.

    All else stays as it is. The features of all strips of `folders` are held in memory, 20 kB each.
    The temperature in `out/log.jsonl` is that of the strips trained on; that of a tune set is found
    by `feltwatch model sides val --fit`. Raises FeltwatchError for folders without strips.
    """
    out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(seed)
    tune_paths = all_shards([held])
    network = SideNetwork()
    network.load_state_dict(started(start, StripPool.of(read_shard(tune_paths[0]))))
    tune, own = features(network, tune_paths), features(network, all_shards(folders))
    comb = network.comb
    with torch.no_grad():
        if not float(comb.weight):
            comb.weight.fill_(FIRST_WEIGHT)
    share = torch.nn.Parameter(torch.ones(1))
    fitted = [*comb.parameters(), share]
    optimizer = torch.optim.AdamW(fitted, RATE, weight_decay=WEIGHT_DECAY)
    began, steps, mean = time.monotonic(), 0, math.nan
    gone = 0.0
    while gone < 1:
        for places in torch.randperm(len(own.count)).split(BATCH):
            gone = (time.monotonic() - began) / (60 * minutes)
            if gone >= 1:
                break
            for group in optimizer.param_groups:
                group["lr"] = RATE * min(1.0, (steps + 1) / 50) * max(0.02, 1 - gone)
            logits = share * (own.logs[places] + comb(own.rows[places].float()))
            loss = functional.cross_entropy(logits, own.count[places])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(fitted, 2.0)
            optimizer.step()
            steps += 1
            now = float(loss.detach())
            mean = now if math.isnan(mean) else mean * 0.98 + now * 0.02
        figures = {
            "step": steps,
            "train loss": mean,
            "temperature": float(1 / share),
            **_figures(comb, tune, share),
        }
        print(json.dumps(figures), flush=True)
        with (out / "log.jsonl").open("a") as log:
            log.write(json.dumps(figures) + "\n")
    last = out / "last.pt"
    save_state(
        {
            "form": FORM, "network": network.state_dict(), "steps done": steps,
            "train_args": {
                "batch": BATCH, "rate": RATE, "seed": seed, "part": "comb",
                "temperature": float(1 / share),
            },
        },
        last,
    )  # fmt: skip
    return last


def _figures(comb: SideComb, held: Features, share: torch.Tensor) -> dict[str, float]:
    """Loss, share of right numbers, of those said at 0.97 or more, and of these wrong ones."""
    with torch.no_grad():
        parts = [
            share * (held.logs[places] + comb(held.rows[places].float()))
            for places in torch.arange(len(held.count)).split(256)
        ]
    logits = torch.cat(parts)
    top, where = logits.softmax(1).max(1)
    right, sure = where == held.count, top >= 0.97
    return {
        "loss": float(functional.cross_entropy(logits, held.count)),
        "right": float(right.float().mean()), "sure": float(sure.float().mean()),
        "sure and wrong": float((sure & ~right).float().mean()),
    }  # fmt: skip
