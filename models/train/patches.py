"""Training the reader on index patches, for a number of steps or while they are rendered.

The patches (`datasets.training.index_patches`) are kept in the memory of the device that trains,
the oldest replaced by new ones, and degraded again each time they are shown
(`models.data.degrade`). A training by steps takes shards up at fixed steps and draws the random
numbers of a step from the seed and its number: it gives the same network however often it is
stopped.
"""

from __future__ import annotations

import copy
import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional
from ultralytics.nn.tasks import ClassificationModel

from datasets.training.index_patches import PATCH_PX, PatchSet, patch_count, read_patches
from datasets.training.training_set import CLASS_NAMES, CROP_PX
from models.data.degrade import degrade
from models.train.precision import bfloat16_pays
from models.train.state_file import read_state, save_state
from settlement.errors import FeltwatchError

ARCHITECTURE = "yolo11n-cls.yaml"
WARM_UP_STEPS = 200
LAST_RATE = 0.01
SMOOTHING = 0.01
WEIGHT_DECAY = 0.01
AVERAGED = 0.999
"""The weights that are kept are a running mean over about so many thousandths' steps."""

STATE_FILE = "state.pt"
FORM = "feltwatch patches 1"
_PRIME = 1_000_003


@dataclass
class Pool:
    """Patches on a device, at most `size` of them: the newest replace the oldest."""

    size: int
    device: torch.device
    filled: int = 0
    taken: int = 0
    _at: int = 0
    patches: torch.Tensor = field(init=False)
    labels: torch.Tensor = field(init=False)
    aspects: torch.Tensor = field(init=False)

    def __post_init__(self) -> None:
        shape = (self.size, PATCH_PX, PATCH_PX, 3)
        self.patches = torch.empty(shape, dtype=torch.uint8, device=self.device)
        self.labels = torch.empty(self.size, dtype=torch.int64, device=self.device)
        self.aspects = torch.empty(self.size, device=self.device)

    def take(self, made: PatchSet) -> None:
        """Add a shard's patches."""
        n = min(len(made.labels), self.size)
        at = (self._at + torch.arange(n, device=self.device)) % self.size
        self.patches[at] = torch.from_numpy(made.patches[:n]).to(self.device)
        self.labels[at] = torch.from_numpy(made.labels[:n].astype(np.int64)).to(self.device)
        self.aspects[at] = torch.from_numpy(made.aspects[:n]).to(self.device)
        self._at = (self._at + n) % self.size
        self.filled, self.taken = min(self.size, self.filled + n), self.taken + n

    def draw(self, n: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """`n` patches at random, with classes and aspects."""
        at = torch.randint(0, self.filled, (n,), device=self.device)
        return self.patches[at], self.labels[at], self.aspects[at]


class Planned:
    """Takes up shards that are all there: those the pool holds at once, then the rest evenly."""

    def __init__(self, incoming: Path, pool: Pool, steps: int) -> None:
        """Raises FeltwatchError for a folder without shards."""
        self._paths = sorted(incoming.glob("*.npz"))
        if not self._paths:
            raise FeltwatchError(f"{incoming}: no shards of patches (*.npz); render them first")
        self._pool, self._steps, self._next = pool, steps, 0
        room, self._first = pool.size, 0
        for path in self._paths:
            room -= patch_count(path)
            if room < 0 and self._first:
                break
            self._first += 1

    def take(self, step: int) -> None:
        """Take up what is due at a step, also what was due before it."""
        later = len(self._paths) - self._first
        due = self._first + later * step // self._steps
        for path in self._paths[self._next : due]:
            self._pool.take(read_patches(path))
        self._next = max(self._next, due)


class Arriving:
    """Takes up shards as they come to lie in a folder."""

    def __init__(self, incoming: Path, pool: Pool, *, remove: bool) -> None:
        """Waits for the first; raises FeltwatchError where none comes within five minutes."""
        self._incoming, self._pool, self._remove = incoming, pool, remove
        self._seen: set[str] = set()
        self._looked = 0.0
        for _ in range(1500):
            self._take(64)
            if pool.filled:
                return
            time.sleep(0.2)
        raise FeltwatchError(f"{incoming}: no shards of patches (*.npz); render them first")

    def take(self, step: int) -> None:
        """Take up a few of those that are new, a few times a second."""
        del step
        if time.monotonic() - self._looked > 0.3:
            self._looked = time.monotonic()
            self._take(4)

    def _take(self, most: int) -> None:
        new = [path for path in sorted(self._incoming.glob("*.npz")) if path.name not in self._seen]
        for path in new[:most]:
            self._seen.add(path.name)
            self._pool.take(read_patches(path))
            if self._remove:
                path.unlink()


def train_on_patches(
    incoming: Path, out: Path, *, start: Path | None = None,
    fixed: Sequence[tuple[Path, float]] = (), seconds: float | None = None,
    steps: int | None = None, batch: int = 2048, rate: float = 0.002, pool: int = 400_000,
    device: str = "cpu", remove: bool = False, keep_every_s: float = 60.0, seed: int = 0,
    resume: bool = False,
) -> Path:  # fmt: skip
    """Train on the shards of `incoming` for `steps` batches, or for `seconds`.

    Returns the checkpoint, `out/reader.pt`. By steps all shards lie there before, and with
    `resume` the training goes on from `out/state.pt` to the network of an unbroken run; by
    seconds new shards are taken up as they come. `fixed` are shards with their share of each
    batch, as of photographs. `start` is a checkpoint of the reader's architecture. `remove`
    deletes shards that were taken. Raises FeltwatchError where there are no shards.
    """
    if (steps is None) == (seconds is None):
        raise ValueError("give steps or seconds")
    out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(seed)
    where = torch.device(device)
    network = _network(start).to(where, memory_format=torch.channels_last)
    mean = copy.deepcopy(network).eval()
    optimizer = torch.optim.AdamW(network.parameters(), rate, weight_decay=WEIGHT_DECAY)
    last, state = out / "reader.pt", out / STATE_FILE
    step = _restored(state, network, mean, optimizer) if resume and state.is_file() else 0
    pools = [(_fixed_pool(path, where), share) for path, share in fixed]
    moving = Pool(pool, where)
    source = (
        Arriving(incoming, moving, remove=remove)
        if steps is None
        else Planned(incoming, moving, steps)
    )
    began = kept = time.monotonic()
    sums = [0.0, 0.0, 0.0]
    done = step / steps if steps else 0.0
    while done < 1:
        source.take(step)
        if steps is not None:
            torch.manual_seed(seed * _PRIME + step)
        for group in optimizer.param_groups:
            group["lr"] = rate * slope(step, done)
        parts = [p.draw(max(1, round(share * batch))) for p, share in pools]
        parts.append(moving.draw(batch - sum(len(p[1]) for p in parts)))
        given = [torch.cat(list(column)) for column in zip(*parts, strict=True)]
        # Shuffled, as the crops of one raster stand together.
        order = torch.randperm(batch, device=where)
        made = degrade(given[0][order], given[1][order], given[2][order])
        loss, right = _step(network, optimizer, made.crops, made.labels, where)
        average(mean, network, min(AVERAGED, (step + 1) / (step + 10)))
        step += 1
        sums = [sums[0] + 1, sums[1] + loss, sums[2] + right]
        now = time.monotonic()
        done = step / steps if steps else (now - began) / (seconds or 1)
        if now - kept > keep_every_s or done >= 1:
            kept = now
            args = {"steps": step, "batch": batch, "lr0": rate, "seed": seed}
            _keep(mean, last, args)
            save_state(
                {
                    "form": FORM, "step": step, "network": network.state_dict(),
                    "mean": mean.state_dict(), "optimizer": optimizer.state_dict(),
                },
                state,
            )  # fmt: skip
            line = {
                "seconds": round(now - began), "step": step, "patches": moving.taken,
                "loss": round(float(sums[1]) / sums[0], 4),
                "right": round(float(sums[2]) / sums[0], 4),
            }  # fmt: skip
            print(json.dumps(line), flush=True)
            with (out / "log.jsonl").open("a", encoding="ascii") as log:
                log.write(json.dumps(line) + "\n")
            sums = [0.0, 0.0, 0.0]
    return last


def _restored(state: Path, network: Any, mean: Any, optimizer: torch.optim.Optimizer) -> int:
    """Put a stopped training's state back; returns its steps. Raises FeltwatchError."""
    kept = read_state(state, FORM, "state of a training on patches")
    network.load_state_dict(kept["network"])
    mean.load_state_dict(kept["mean"])
    optimizer.load_state_dict(kept["optimizer"])
    return int(kept["step"])


def _step(
    network: Any, optimizer: torch.optim.Optimizer, crops: torch.Tensor, labels: torch.Tensor,
    where: torch.device,
) -> tuple[Any, Any]:  # fmt: skip
    """One step; loss and share of right ones, still on the device."""
    network.train()
    crops = crops.contiguous(memory_format=torch.channels_last)
    with torch.autocast(where.type, torch.bfloat16, enabled=bfloat16_pays(where.type)):
        logits = network(crops)
    logits = logits.float()
    loss = functional.cross_entropy(logits, labels, label_smoothing=SMOOTHING)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(network.parameters(), 5.0)
    optimizer.step()
    return loss.detach(), (logits.argmax(1) == labels).float().mean()


def slope(step: int, done: float) -> float:
    """Share of the highest rate: a short rise, then a cosine to LAST_RATE where `done` is 1."""
    rise = min(1.0, (step + 1) / WARM_UP_STEPS)
    return rise * (LAST_RATE + (1 - LAST_RATE) * (1 + math.cos(math.pi * done)) / 2)


def average(mean: torch.nn.Module, network: torch.nn.Module, keep: float) -> None:
    """Move the running mean to the network's weights, by 1 - `keep` of the way."""
    with torch.no_grad():
        own, new = list(mean.state_dict().values()), list(network.state_dict().values())
        floats = [k for k, value in enumerate(own) if value.is_floating_point()]
        torch._foreach_lerp_([own[k] for k in floats], [new[k] for k in floats], 1 - keep)
        for k, value in enumerate(own):
            if not value.is_floating_point():
                value.copy_(new[k])


def _network(start: Path | None) -> Any:
    network: Any
    if start is None:
        network = ClassificationModel(ARCHITECTURE, nc=len(CLASS_NAMES), verbose=False)
    else:
        network = torch.load(start, map_location="cpu", weights_only=False)["model"].float()
    network.requires_grad_(True)
    network.names = dict(enumerate(CLASS_NAMES))
    network.args = {"task": "classify", "imgsz": CROP_PX}
    return network


def _keep(mean: Any, path: Path, args: dict[str, Any]) -> None:
    """Write a checkpoint in ultralytics' form, whole or not at all."""
    args = {"task": "classify", "model": ARCHITECTURE, "imgsz": CROP_PX, "optimizer": "AdamW",
            "weight_decay": WEIGHT_DECAY, **args}  # fmt: skip
    part = path.with_suffix(".part")
    torch.save({"epoch": -1, "model": copy.deepcopy(mean).cpu().half(), "train_args": args}, part)
    part.replace(path)


def _fixed_pool(path: Path, where: torch.device) -> Pool:
    made = read_patches(path)
    pool = Pool(len(made.labels), where)
    pool.take(made)
    return pool
