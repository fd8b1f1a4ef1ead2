"""Training the stack reader on rendered strips (`datasets.training.sides.render`)."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from datasets.training.sides.shards import StripSet, joined, read_shard, shards
from models.networks.side_loss import chain_loss
from models.networks.side_network import SideNetwork
from models.train.state_file import read_state, save_state
from settlement.errors import FeltwatchError

STEPS, BATCH, RATE, WARM_UP, WEIGHT_DECAY = 6000, 128, 0.002, 150, 0.02
POOL = 8
"""Shards that are mixed with each other."""

RECOLOURED = 0.5
FLAT_SAMPLES = 0.3
"""How often a palette is given by its body colours alone, as a table file without samples does."""

HIDDEN = 0.08
FORM = "feltwatch strips 1"


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Strips (n, 4, h, w), facts (n, 2), samples (n, k, 3, h, w), faces (n, k, 3), flags
    (n, k, 1), which chips there are (n, k), the number (n,) and the chips (n, MOST_CHIPS)."""

    strips: torch.Tensor
    facts: torch.Tensor
    samples: torch.Tensor
    faces: torch.Tensor
    flags: torch.Tensor
    there: torch.Tensor
    count: torch.Tensor
    colours: torch.Tensor

    @classmethod
    def of(cls, data: StripSet, places: Any, flat: torch.Tensor | None = None) -> Batch:
        """The strips at `places`; `flat` (n,) says whose palette is given by colours alone."""
        strips = torch.from_numpy(np.ascontiguousarray(data.strips[places])).float() / 255
        tables = data.table[places]
        rgb = torch.from_numpy(data.rgb[tables].astype(np.float32))
        there = rgb[..., 0] >= 0
        samples = torch.from_numpy(data.samples[tables]).float() / 255
        faces = torch.from_numpy(data.tops[tables]).float() / 255
        flags = there[..., None].float()
        if flat is not None:
            even = rgb.flip(2)[:, :, None, None, :].expand_as(samples) / 255
            samples = torch.where(flat[:, None, None, None, None], even, samples)
            flags = flags * (~flat)[:, None, None]
        samples = samples * there[:, :, None, None, None]
        facts = data.facts[places]
        given = np.stack([np.log(facts[:, 1]) - 1, facts[:, 2] * 2 - 1], axis=1)
        return cls(
            strips.permute(0, 3, 1, 2).contiguous(memory_format=torch.channels_last),
            torch.from_numpy(given.astype(np.float32)), samples.permute(0, 1, 4, 2, 3), faces,
            flags, there, torch.from_numpy(data.count[places].astype(np.int64)),
            torch.from_numpy(data.colours[places].astype(np.int64)),
        )  # fmt: skip


def varied(given: Batch) -> Batch:
    """The same stacks in other colours, under a little other light, mirrored, partly hidden."""
    n = given.count.shape[0]
    shuffled = torch.eye(3)[torch.argsort(torch.rand(n, 3), dim=1)]
    share = torch.rand(n, 1, 1) * (torch.rand(n, 1, 1) < RECOLOURED)
    mix = (1 - share) * torch.eye(3) + share * shuffled
    bgr = torch.einsum("nij,njhw->nihw", mix, given.strips[:, :3])
    samples = torch.einsum("nij,nkjhw->nkihw", mix, given.samples)
    faces = torch.einsum("nij,nkj->nki", mix, given.faces)
    light = torch.exp(torch.randn(n, 1, 1, 1) * 0.08) * torch.exp(torch.randn(n, 3, 1, 1) * 0.03)
    noise = torch.randn_like(bgr) * (torch.rand(n, 1, 1, 1) * 0.02)
    bgr = (bgr * light + noise).clamp(0, 1)
    mask = given.strips[:, 3:]
    strips = torch.cat([bgr, mask], 1)
    wide = strips.shape[3]
    cut = (torch.rand(n, 1) * wide * 0.35 + 2) * (torch.rand(n, 1) < HIDDEN)
    hidden = (torch.arange(wide)[None] < cut)[:, None, None, :]
    # What hides a part is of any colour and known or not.
    colour = torch.rand(n, 4, 1, 1)
    colour[:, 3] = (colour[:, 3] < 0.7).float()
    strips = torch.where(hidden, colour, strips)
    flip = (torch.rand(n) < 0.5)[:, None, None, None]
    strips = torch.where(flip, strips.flip(3), strips)
    return Batch(
        strips.contiguous(memory_format=torch.channels_last), given.facts, samples, faces,
        given.flags, given.there, given.count, given.colours,
    )  # fmt: skip


def batches(folders: Sequence[Path], size: int, seed: int, first: int = 0) -> Iterator[Batch]:
    """Batches without end from all shards that are there, mixed, `first` of them left out."""
    turn = 0
    while True:
        paths = [path for folder in folders for path in shards(folder)]
        if not paths:
            raise FeltwatchError(f"{folders[0]}: no strips; render them first")
        order = np.random.default_rng([seed, turn]).permutation(len(paths))
        for at in range(0, len(order), POOL):
            own = [paths[k] for k in order[at : at + POOL]]
            rng = np.random.default_rng([seed, turn, at])
            data = None
            many = None
            if first:
                many = sum(len(read_shard(path).count) for path in own) // size
                if many <= first:
                    first -= many
                    continue
            data = joined([read_shard(path) for path in own])
            mixed = rng.permutation(len(data.count))
            for k in range(len(mixed) // size):
                if first:
                    first -= 1
                    continue
                places = np.sort(mixed[k * size : (k + 1) * size])
                flat = torch.from_numpy(rng.random(size) < FLAT_SAMPLES)
                yield varied(Batch.of(data, places, flat))
        turn += 1


def run(network: SideNetwork, given: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """Loss (n,) and log probabilities of the numbers (n, MOST_CHIPS + 1)."""
    with torch.autocast("cpu", torch.bfloat16):
        edges, looks, numbers = network(
            given.strips, given.facts, given.samples, given.faces, given.flags
        )
    return chain_loss(
        edges.float(), looks.float(), numbers.float(), network.durations, given.there,
        given.count, given.colours,
    )  # fmt: skip


def held_figures(network: SideNetwork, data: StripSet, size: int = 480) -> dict[str, float]:
    """Loss, share of right numbers and share of numbers said at 0.99 or more that are wrong."""
    network.eval()
    losses, right, top = [], [], []
    with torch.no_grad():
        for at in range(0, len(data.count), size):
            given = Batch.of(data, slice(at, at + size))
            loss, logs = run(network, given)
            best, where = logs.max(dim=1)
            losses.append(loss)
            right.append(where == given.count)
            top.append(best.exp())
    network.train()
    ok, sure = torch.cat(right), torch.cat(top) > 0.99
    return {
        "loss": float(torch.cat(losses).mean()), "right": float(ok.float().mean()),
        "sure": float(sure.float().mean()), "sure and wrong": float((sure & ~ok).float().mean()),
    }  # fmt: skip


def train_strips(
    folders: Sequence[Path], held: Path, out: Path, *, steps: int, batch: int = BATCH,
    rate: float = RATE, cool: int = 0, seed: int = 0, resume: bool = False,
    start: Path | None = None, check_every: int = 300, keep_every_s: float = 120.0,
) -> Path:  # fmt: skip
    """Train for `steps` batches of all shards of `folders`; returns the last checkpoint.

    The learning rate rises over WARM_UP steps, stays, and falls to nothing over the last `cool`:
    a long stage without and a short one with it (`start`) end where more data does no good.
    `out/last.pt` is written every two minutes and goes on from there with `resume`; figures on
    the strips of `held` go to `out/log.jsonl`. New shards are taken up as they are rendered.
    Raises FeltwatchError for folders without strips.
    """
    out.mkdir(parents=True, exist_ok=True)
    last = out / "last.pt"
    torch.manual_seed(seed)
    network = SideNetwork().to(memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(network.parameters(), rate, weight_decay=WEIGHT_DECAY)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: _slope(step, steps, cool, warm=start is None)
    )
    done = 0
    if start is not None:
        network.load_state_dict(read_checkpoint(start)["network"])
    if resume and last.is_file():
        state = read_checkpoint(last)
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
        schedule.load_state_dict(state["schedule"])
        done = int(state["steps done"])
    tune = joined([read_shard(path) for path in shards(held)])
    kept, mean = time.monotonic(), math.nan
    source = batches(folders, batch, seed, done)
    for step in range(done, steps):
        loss, _ = run(network, next(source))
        total = loss.clamp(max=60).mean()
        optimizer.zero_grad(set_to_none=True)
        total.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 2.0)
        optimizer.step()
        schedule.step()
        mean = (
            float(total.detach())
            if math.isnan(mean)
            else mean * 0.98 + float(total.detach()) * 0.02
        )
        end = step + 1 == steps
        if (step + 1) % check_every == 0 or end:
            figures = {"step": step + 1, "train loss": mean, **held_figures(network, tune)}
            print(json.dumps(figures), flush=True)
            with (out / "log.jsonl").open("a") as log:
                log.write(json.dumps(figures) + "\n")
        if end or time.monotonic() - kept > keep_every_s:
            kept = time.monotonic()
            save_state(
                {
                    "form": FORM, "network": network.state_dict(), "steps done": step + 1,
                    "optimizer": optimizer.state_dict(), "schedule": schedule.state_dict(),
                    "train_args": {
                        "steps": steps, "batch": batch, "rate": rate, "cool": cool, "seed": seed,
                    },
                },
                last,
            )  # fmt: skip
    return last


def _slope(step: int, steps: int, cool: int, *, warm: bool) -> float:
    """The learning rate at a step, as a share of the full one."""
    rise = min(1.0, (step + 1) / WARM_UP) if warm else 1.0
    return rise * (min(1.0, (steps - step) / cool) if cool else 1.0)


def read_checkpoint(path: Path) -> dict[str, Any]:
    """What `train_strips` wrote; FeltwatchError when the file is missing or something else."""
    return read_state(path, FORM, "stack reader")
