"""Training the stack reader on rendered strips (`datasets.training.sides.render`)."""

from __future__ import annotations

import itertools
import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from datasets.training.sides.shards import StripSet, joined, read_shard, shards
from models.networks.side_loss import chain_loss, rim_loss
from models.networks.side_network import SideNetwork
from models.train.precision import bfloat16_pays
from models.train.side_start import unfolded_strips
from models.train.state_file import read_state, save_state
from settlement.errors import FeltwatchError
from vision.chips.network_input.side_strip import COLUMNS, ROWS

STEPS, BATCH, RATE, WARM_UP, WEIGHT_DECAY = 6000, 128, 0.002, 150, 0.02
POOL = 8
"""Shards that are mixed with each other."""

RECOLOURED = 0.5
FLAT_SAMPLES = 0.3
"""How often a palette is given by its body colours alone, as a table file without samples does."""

HIDDEN = 0.08
DIMMED, LEAST_LIGHT, SHADED = 0.35, 0.3, 0.3
"""How often a strip and its samples get less light, down to so much of it, and how often the strip
alone gets other light than the samples, or more at its head than at its foot."""

COOLED = 0.35
"""Share of a training that is limited in minutes during which the rate falls."""

ROOM = 1_500_000
"""Strips that are kept in a GPU's memory, 31 kB each."""

RIM_SHARE = 0.25
"""How much the rows of the rims count in the loss beside the chain."""

UNFOLDED_OVER = 480
"""Strips over which a network that was exported gets its batch normalisation back."""

CPU = torch.device("cpu")
FORM = "feltwatch strips 1"
_PRIME = 1_000_003


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Strips (n, 4, h, w), facts (n, 2), samples (n, k, 3, h, w), faces (n, k, 3), flags
    (n, k, 1), which chips there are (n, k), the number (n,), the chips (n, MOST_CHIPS) and the
    row of the base's near rim (n,)."""

    strips: torch.Tensor
    facts: torch.Tensor
    samples: torch.Tensor
    faces: torch.Tensor
    flags: torch.Tensor
    there: torch.Tensor
    count: torch.Tensor
    colours: torch.Tensor
    base: torch.Tensor


class StripPool:
    """Strips on the training device, in their bytes, with room for `room` of them."""

    def __init__(self, room: int, device: torch.device) -> None:
        self.room, self.device = room, device
        self.size = 0
        self._strips = torch.empty((room, ROWS, COLUMNS, 4), dtype=torch.uint8, device=device)
        self._parts: list[list[torch.Tensor]] = []
        self._whole: list[torch.Tensor] = []
        self._tables = 0

    @classmethod
    def of(cls, data: StripSet, device: torch.device = CPU) -> StripPool:
        """A pool of these strips alone."""
        pool = cls(len(data.count), device)
        pool.add(data)
        return pool

    def add(self, data: StripSet) -> bool:
        """Take strips up; False when there is no room for them."""
        many = len(data.count)
        if self.size + many > self.room:
            return False
        rows = [
            data.table + self._tables, data.facts, data.count, data.colours, data.samples,
            data.rgb, data.tops,
        ]  # fmt: skip
        own = [torch.from_numpy(np.ascontiguousarray(row)).to(self.device) for row in rows]
        strips = torch.from_numpy(np.array(data.strips))
        self._strips[self.size : self.size + many] = strips.to(self.device)
        self._parts.append(own)
        self._tables += len(data.samples)
        self._whole = [torch.cat(parts) for parts in zip(*self._parts, strict=True)]
        self._parts = [self._whole]
        self.size += many
        return True

    def batch(self, places: torch.Tensor, flat: torch.Tensor | None = None) -> Batch:
        """The strips at `places` (n,); `flat` (n,) says whose palette is given by its body
        colours alone."""
        table, facts, count, colours, samples, rgb, tops = self._whole
        strips = self._strips[places].permute(0, 3, 1, 2).float() / 255
        tables = table[places].long()
        bodies = rgb[tables].float()
        there = bodies[..., 0] >= 0
        sides = samples[tables].float() / 255
        faces = tops[tables].float() / 255
        flags = there[..., None].float()
        if flat is not None:
            even = bodies.flip(2)[:, :, None, None, :].expand_as(sides) / 255
            sides = torch.where(flat[:, None, None, None, None], even, sides)
            flags = flags * (~flat)[:, None, None]
        sides = sides * there[:, :, None, None, None]
        own = facts[places]
        given = torch.stack([torch.log(own[:, 1]) - 1, own[:, 2] * 2 - 1], dim=1)
        return Batch(
            strips.contiguous(memory_format=torch.channels_last), given,
            sides.permute(0, 1, 4, 2, 3), faces, flags, there, count[places].long(),
            colours[places].long(), own[:, 0],
        )  # fmt: skip


def varied(given: Batch) -> Batch:
    """The same stacks in other colours, under a little other light, mirrored, partly hidden."""
    n, device = given.count.shape[0], given.strips.device

    def even(*shape: int) -> torch.Tensor:
        return torch.rand(*shape, device=device)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, device=device)

    same = torch.eye(3, device=device)
    shuffled = same[torch.argsort(even(n, 3), dim=1)]
    share = even(n, 1, 1) * (even(n, 1, 1) < RECOLOURED)
    mix = (1 - share) * same + share * shuffled
    bgr = torch.einsum("nij,njhw->nihw", mix, given.strips[:, :3])
    samples = torch.einsum("nij,nkjhw->nkihw", mix, given.samples)
    faces = torch.einsum("nij,nkj->nki", mix, given.faces)
    # A dark room darkens the samples too; a stack's own shadow or lamp does not.
    dim = torch.exp(even(n) * math.log(LEAST_LIGHT) * (even(n) < DIMMED))
    bgr, samples = bgr * dim[:, None, None, None], samples * dim[:, None, None, None, None]
    faces = faces * dim[:, None, None]
    is_shaded = (even(n) < SHADED)[:, None, None, None]
    light = torch.exp(normal(n, 1, 1, 1) * torch.where(is_shaded, 0.25, 0.08))
    light = light * torch.exp(normal(n, 3, 1, 1) * 0.03)
    slope = normal(n, 1, 1, 1) * 0.2 * (even(n) < SHADED)[:, None, None, None]
    light = light * torch.exp(slope * torch.linspace(-1, 1, bgr.shape[2], device=device)[:, None])
    noise = normal(*bgr.shape) * (even(n, 1, 1, 1) * 0.02)
    bgr = (bgr * light + noise).clamp(0, 1)
    strips = torch.cat([bgr, given.strips[:, 3:]], 1)
    wide = strips.shape[3]
    cut = (even(n, 1) * wide * 0.35 + 2) * (even(n, 1) < HIDDEN)
    hidden = (torch.arange(wide, device=device)[None] < cut)[:, None, None, :]
    # What hides a part is of any colour and known or not.
    colour = even(n, 4, 1, 1)
    colour[:, 3] = (colour[:, 3] < 0.7).float()
    strips = torch.where(hidden, colour, strips)
    strips = torch.where((even(n) < 0.5)[:, None, None, None], strips.flip(3), strips)
    return Batch(
        strips.contiguous(memory_format=torch.channels_last), given.facts, samples, faces,
        given.flags, given.there, given.count, given.colours, given.base,
    )  # fmt: skip


def batches(
    folders: Sequence[Path], size: int, seed: int, first: int = 0, least_px: float = 0.0
) -> Iterator[Batch]:
    """Batches without end from all shards that are there, mixed, `first` of them left out.

    Strips under `least_px` to a chip are left out."""
    turn, step = 0, 0
    while True:
        if turn and not step:
            raise FeltwatchError(f"{folders[0]}: no strips of {least_px:g} px a chip or more")
        paths = all_shards(folders)
        order = np.random.default_rng([seed, turn]).permutation(len(paths))
        for at in range(0, len(order), POOL):
            own = [paths[k] for k in order[at : at + POOL]]
            rng = np.random.default_rng([seed, turn, at])
            # A set smaller than a batch is one batch.
            parts = [_coarse_left_out(read_shard(path), least_px) for path in own]
            found = sum(len(part.count) for part in parts)
            many = max(min(1, found), found // size)
            if step + many <= first:
                step += many
                continue
            pool = StripPool.of(joined(parts))
            mixed = rng.permutation(pool.size)
            for k in range(many):
                step += 1
                if step <= first:
                    continue
                torch.manual_seed(seed * _PRIME + step)
                places = torch.from_numpy(np.sort(mixed[k * size : (k + 1) * size]))
                yield varied(pool.batch(places, torch.rand(len(places)) < FLAT_SAMPLES))
        turn += 1


def _coarse_left_out(data: StripSet, least_px: float) -> StripSet:
    """The strips with at least so many px to a chip."""
    if not least_px:
        return data
    kept = np.flatnonzero(data.facts[:, 1] >= least_px)
    return replace(
        data, strips=data.strips[kept], count=data.count[kept], colours=data.colours[kept],
        table=data.table[kept], facts=data.facts[kept],
    )  # fmt: skip


def resident_batches(
    folders: Sequence[Path], size: int, seed: int, room: int, device: torch.device, first: int = 0
) -> Iterator[Batch]:
    """Batches without end, drawn from up to `room` strips that lie in the device's memory.

    Shards are taken up as they are rendered: 400 at once, then four each 20 steps. `first`
    batches are left out.
    """
    pool, taken = StripPool(room, device), set[Path]()
    full = False
    for step in itertools.count(first):
        if not full and (step % 20 == 0 or step == first):
            due = 400 + 4 * (step // 20)
            new = [path for path in all_shards(folders) if path not in taken]
            for path in new[: max(0, due - len(taken))]:
                full = not pool.add(read_shard(path))
                if full:
                    break
                taken.add(path)
        torch.manual_seed(seed * _PRIME + step)
        places = torch.randint(pool.size, (size,), device=device)
        yield varied(pool.batch(places, torch.rand(size, device=device) < FLAT_SAMPLES))


def all_shards(folders: Sequence[Path]) -> list[Path]:
    """The shards of all folders; FeltwatchError where there is none."""
    paths = [path for folder in folders for path in shards(folder)]
    if not paths:
        raise FeltwatchError(f"{folders[0]}: no strips; render them first")
    return paths


def run(network: SideNetwork, given: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """Loss (n,) and log probabilities of the numbers (n, MOST_CHIPS + 1)."""
    device = given.strips.device.type
    with torch.autocast(device, torch.bfloat16, enabled=bfloat16_pays(device)):
        edges, looks, numbers, rims = network.with_rims(
            given.strips, given.facts, given.samples, given.faces, given.flags
        )
    loss, logs = chain_loss(
        edges.float(), looks.float(), numbers.float(), network.durations, given.there,
        given.count, given.colours,
    )  # fmt: skip
    return loss + RIM_SHARE * rim_loss(rims.float(), given.base, given.count), logs


def held_figures(network: SideNetwork, held: StripPool, size: int = 480) -> dict[str, float]:
    """Loss, share of right numbers and share of numbers said at 0.99 or more that are wrong."""
    network.eval()
    losses, right, top = [], [], []
    with torch.no_grad():
        for at in range(0, held.size, size):
            end = min(at + size, held.size)
            given = held.batch(torch.arange(at, end, device=held.device))
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
    device: str = "cpu", room: int = 0, minutes: float = math.inf, least_px: float = 0.0,
) -> Path:  # fmt: skip
    """Train for `steps` batches of all shards of `folders`; returns the last checkpoint.

    The learning rate rises over WARM_UP steps, stays, and falls to nothing over the last `cool`:
    a long stage without and a short one with it (`start`) end where more data does no good.
    `start` may be a checkpoint or an exported `strips.onnx`. The mean of its weights and the last
    ones, which keeps more of what `start` knew (Wortsman et al., Robust fine-tuning of zero-shot
    models, 2022), is written to `out/mean.pt` then.
    `out/last.pt` is written every two minutes and goes on from there with `resume`; figures on
    the strips of `held` go to `out/log.jsonl`. New shards are taken up as they are rendered.
    Strips under `least_px` to a chip are left out, but not with `room`.
    With `room` the strips stay in the memory of `device`, up to so many. After `minutes` the
    training ends as after `steps`, the last COOLED of it at a falling rate.
    Raises FeltwatchError for folders without strips.
    """
    out.mkdir(parents=True, exist_ok=True)
    last = out / "last.pt"
    torch.manual_seed(seed)
    place = torch.device(device)
    network = SideNetwork().to(place, memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(network.parameters(), rate, weight_decay=WEIGHT_DECAY)
    began = time.monotonic()

    def slope(step: int) -> float:
        gone = (time.monotonic() - began) / (60 * minutes)
        timed = min(1.0, max(0.0, 1 - gone) / COOLED)
        return min(timed, _slope(step, steps, cool, warm=start is None))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, slope)
    done = 0
    tune = StripPool.of(joined([read_shard(path) for path in shards(held)]), place)
    first = None if start is None else started(start, tune)
    if first is not None:
        network.load_state_dict(first)
    if resume and last.is_file():
        state = read_checkpoint(last)
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
        schedule.load_state_dict(state["schedule"])
        done = int(state["steps done"])
    kept, mean = time.monotonic(), math.nan
    source = (
        resident_batches(folders, batch, seed, room, place, done)
        if room
        else batches(folders, batch, seed, done, least_px)
    )
    for step in range(done, steps):
        loss, _ = run(network, next(source))
        total = loss.clamp(max=60).mean()
        optimizer.zero_grad(set_to_none=True)
        total.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 2.0)
        optimizer.step()
        schedule.step()
        if step % 10 == 0:
            now = float(total.detach())
            mean = now if math.isnan(mean) else mean * 0.85 + now * 0.15
        end = step + 1 == steps or time.monotonic() - began > 60 * minutes
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
        if end:
            break
    if first is not None:
        ended = read_checkpoint(last)
        ended["network"] = _mean([ended["network"], first])
        save_state(ended, out / "mean.pt")
    return last


def mean_checkpoint(checkpoints: Sequence[Path], out: Path) -> Path:
    """Write the mean of checkpoints that were trained on from the same weights to `out`.

    The mean of such networks reads better than each (Wortsman et al., Model soups, 2022); of
    networks that began apart it reads nothing. Raises FeltwatchError for fewer than two files,
    and for one that is no such checkpoint.
    """
    if len(checkpoints) < 2:
        raise FeltwatchError("a mean is of two checkpoints or more")
    states = [read_checkpoint(path) for path in checkpoints]
    states[0]["network"] = _mean([state["network"] for state in states])
    save_state(states[0], out)
    return out


def _mean(networks: Sequence[Mapping[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    """The mean of the weights of networks that were trained on from the same ones."""
    return {
        name: torch.stack([one[name].cpu() for one in networks]).mean(dim=0)
        if own.is_floating_point() else own
        for name, own in networks[0].items()
    }  # fmt: skip


def started(start: Path, strips: StripPool) -> dict[str, torch.Tensor]:
    """The weights of a checkpoint or of a `strips.onnx`, unfolded over some of `strips`."""
    if start.suffix != ".onnx":
        # A network from before the rims has none of them.
        return {**SideNetwork().state_dict(), **read_checkpoint(start)["network"]}
    some = torch.linspace(0, strips.size - 1, min(strips.size, UNFOLDED_OVER)).long()
    given = strips.batch(some.to(strips.device))
    inputs = (given.strips, given.facts, given.samples, given.faces, given.flags)
    return dict(unfolded_strips(start, [one.cpu() for one in inputs]).state_dict())


def _slope(step: int, steps: int, cool: int, *, warm: bool) -> float:
    """The learning rate at a step, as a share of the full one."""
    rise = min(1.0, (step + 1) / WARM_UP) if warm else 1.0
    return rise * (min(1.0, (steps - step) / cool) if cool else 1.0)


def read_checkpoint(path: Path) -> dict[str, Any]:
    """What `train_strips` wrote; FeltwatchError when the file is missing or something else."""
    return read_state(path, FORM, "stack reader")
