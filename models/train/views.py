"""Training the detector on shards of views, while they are rendered or from a folder.

The views (`datasets.training.view_shards`) stay in the memory of the device that trains, and are
moved, scaled, blurred, dimmed and coded again each time they are shown. ultralytics' own trainer
decodes files on the processor, which on a graphics card takes longer than the training.
"""

from __future__ import annotations

import copy
import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional
from ultralytics.cfg import get_cfg
from ultralytics.nn.tasks import DetectionModel
from ultralytics.utils.loss import v8DetectionLoss

from datasets.training.index_patches import RECIPE_FILE
from datasets.training.view_shards import PATCHES_FOLDER, SHARD_VIEWS, ViewSet, read_views
from datasets.training.views import CLASSES
from models.data.degrade import coded, some
from models.data.provenance import (
    TRAINING_FILE,
    Provenance,
    RenderedData,
    read_object,
    read_provenance,
)
from models.networks.card_head import (
    add_card_head,
    has_card_head,
    join_card_head,
    part_classes,
)
from models.networks.slim import slim
from models.train.chain import note_training
from models.train.detector import ARCHITECTURE, BOX_GAIN, DFL_GAIN, to_float
from models.train.patches import average, slope
from models.train.precision import bfloat16_pays
from settlement.errors import FeltwatchError

AVERAGED = 0.9995
WEIGHT_DECAY = 0.0005
CLIP = 10.0
MOST_BOXES = 96
"""Boxes of a view that are kept; more are not on any."""

LEAST_SEEN, LEAST_PX = 0.6, 4.0
"""A box is dropped where a view is moved so that less of it, or fewer px, are left."""

MOVED, LEAST_SCALE, MOST_SCALE, MOST_SHIFT = 0.7, 0.72, 1.35, 0.1
BLURRED, MOST_MOTION_PX, MOST_DEFOCUS_PX = 0.2, 6.0, 1.3
DIMMED, CODED = 0.12, 0.25

ABOUT_A_BOX, OFF_MIDDLE = 0.8, 0.8
"""Share of windows that are cut about a box, and how far that lies off their middle at most, in
halves of a side."""

PLACES, CHIP_COUNTS = 12, 5.0
"""Windows from which one is chosen, and for how many boxes a stack of chips counts that is cut: the
stacks' boxes got less exact when windows were cut anywhere (`models/EXPERIMENTS.md`)."""


class ViewPool:
    """Views on a device, at most `room`: the newest replace the oldest."""

    def __init__(self, room: int, size: int, device: torch.device) -> None:
        self.room, self.device = room, device
        self.filled = self.taken = self._at = 0
        self.views = torch.empty((room, size, size, 3), dtype=torch.uint8, device=device)
        self.boxes = torch.full((room, MOST_BOXES, 5), -1.0, device=device)

    def take(self, made: ViewSet) -> None:
        """Add a shard's views; FeltwatchError where they are of another size."""
        if made.views.shape[1] != self.views.shape[1]:
            raise FeltwatchError(
                f"views of {made.views.shape[1]} px among views of {self.views.shape[1]} px"
            )
        n = min(len(made.views), self.room)
        own = torch.full((n, MOST_BOXES, 5), -1.0)
        first = 0
        for row, many in enumerate(made.many[:n].tolist()):
            kept = min(many, MOST_BOXES)
            own[row, :kept] = torch.from_numpy(made.boxes[first : first + kept])
            first += many
        at = (self._at + torch.arange(n, device=self.device)) % self.room
        self.views[at] = torch.from_numpy(made.views[:n]).to(self.device)
        self.boxes[at] = own.to(self.device)
        self._at = (self._at + n) % self.room
        self.filled, self.taken = min(self.room, self.filled + n), self.taken + n

    def draw(self, n: int) -> tuple[torch.Tensor, torch.Tensor]:
        """`n` views (n, 3, s, s) RGB in 0..1 at random, with their boxes (n, MOST_BOXES, 5)."""
        at = torch.randint(0, self.filled, (n,), device=self.device)
        return self.views[at].permute(0, 3, 1, 2).flip(1).float() / 255, self.boxes[at]


def varied_views(views: torch.Tensor, boxes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The same views moved and scaled, in other light, some blurred and coded, with their boxes.

    Random numbers are those of torch's generator of the views' device.
    """
    n, size, device = len(views), views.shape[-1], views.device
    moved = some(n, MOVED, device).flatten()
    far = math.log(LEAST_SCALE), math.log(MOST_SCALE)
    scale = torch.exp((far[0] + torch.rand(n, device=device) * (far[1] - far[0])) * moved)
    shift = (torch.rand(n, 2, device=device) * 2 - 1) * MOST_SHIFT * moved[:, None]
    theta = torch.zeros(n, 2, 3, device=device)
    theta[:, 0, 0] = theta[:, 1, 1] = 1 / scale
    theta[:, :, 2] = -2 * shift / scale[:, None]
    grid = functional.affine_grid(theta, list(views.shape), align_corners=False)
    views = functional.grid_sample(views, grid, mode="bilinear", align_corners=False)
    views = _lit(_blurred(views))
    # The order of a batch is drawn at random: others than the blurred ones are coded.
    uncoded = n - round(CODED * n)
    views = torch.cat([views[:uncoded], coded(views[uncoded:], 1.0)])
    middle = size / 2
    corners = (boxes[..., 1:] - middle) * scale[:, None, None] + middle
    corners = corners + shift.repeat(1, 2)[:, None] * size
    return views, _kept(boxes[..., 0], corners, size)


def windows_of(
    views: torch.Tensor, boxes: torch.Tensor, side: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """A window of `side` px of each view, most of them about one of its boxes, with their boxes.

    At the views' own scale: what is learned holds for whole views, at a fraction of the cost. Of
    `PLACES` windows the one is taken whose edges cut the fewest boxes.
    """
    n, room, device = len(views), views.shape[-1] - side, views.device
    there = boxes[..., 0] >= 0
    chosen = torch.multinomial(there.float() + 1e-6, 1)[:, 0]
    own = boxes[torch.arange(n, device=device), chosen]
    off = (torch.rand(n, PLACES, 2, device=device) - 0.5) * side * OFF_MIDDLE
    about = ((own[:, 1:3] + own[:, 3:5]) / 2)[:, None] + off
    anywhere = torch.rand(n, PLACES, 2, device=device) * room + side / 2
    known = (own[:, 0] >= 0) & (torch.rand(n, device=device) < ABOUT_A_BOX)
    corners = (torch.where(known[:, None, None], about, anywhere) - side / 2).round().clamp(0, room)
    first, last = boxes[:, None, :, 1:3], boxes[:, None, :, 3:5]
    low, high = corners[:, :, None], corners[:, :, None] + side
    meets = ((first < high) & (last > low)).all(-1) & there[:, None]
    inside = ((first >= low) & (last <= high)).all(-1)
    counts = torch.where(boxes[:, None, :, 0] == CLASSES.index("chip"), CHIP_COUNTS, 1.0)
    best = ((meets & ~inside) * counts).sum(-1).argmin(1)
    corner = corners[torch.arange(n, device=device), best].long()
    cut = torch.stack([
        view[:, y : y + side, x : x + side]
        for view, (x, y) in zip(views, corner.tolist(), strict=True)
    ])  # fmt: skip
    return cut, _kept(boxes[..., 0], boxes[..., 1:] - corner.repeat(1, 2)[:, None], side)


def _kept(kinds: torch.Tensor, corners: torch.Tensor, size: int) -> torch.Tensor:
    """Boxes cut at an image's edge, without those of which too little is left."""
    within = corners.clamp(0, size)
    wide, tall = (within[..., 2] - within[..., 0]), (within[..., 3] - within[..., 1])
    whole = (corners[..., 2] - corners[..., 0]) * (corners[..., 3] - corners[..., 1])
    seen = (wide * tall >= LEAST_SEEN * whole) & (torch.minimum(wide, tall) >= LEAST_PX)
    kinds = torch.where((kinds >= 0) & seen, kinds, -1.0)
    return torch.cat([kinds[..., None], within], 2)


def _lit(views: torch.Tensor) -> torch.Tensor:
    """Other light, its colour, contrast and saturation, and noise."""
    n, device = len(views), views.device

    def even(low: float, high: float) -> torch.Tensor:
        return low + torch.rand(n, 1, 1, 1, device=device) * (high - low)

    grey = views.mean(1, keepdim=True)
    views = grey + (views - grey) * even(0.6, 1.3)
    gain = torch.exp(torch.randn(n, 1, 1, 1, device=device) * 0.18)
    gain = gain * torch.where(some(n, DIMMED, device) > 0, even(0.25, 0.7), 1.0)
    cast = torch.exp(torch.randn(n, 3, 1, 1, device=device) * 0.06)
    gamma = torch.exp(torch.randn(n, 1, 1, 1, device=device) * 0.12)
    views = views.clamp(1e-4, 1) ** gamma * gain * cast
    noise = some(n, 0.4, device) * even(0, 0.025)
    return (views + noise * torch.randn_like(views)).clamp(0, 1)


def _blurred(views: torch.Tensor) -> torch.Tensor:
    """The first few of a batch, which is drawn at random, blurred by motion or lack of focus."""
    n, device = round(BLURRED * len(views)), views.device
    if not n:
        return views
    size = views.shape[-1]
    spectrum = torch.fft.rfft2(views[:n])
    fy = torch.fft.fftfreq(size, device=device)[None, :, None]
    fx = torch.fft.rfftfreq(size, device=device)[None, None, :]
    way = torch.rand(n, 1, 1, device=device) * math.pi
    moved = (torch.rand(n, 1, 1, device=device) < 0.5).float()
    long = (1 + torch.rand(n, 1, 1, device=device) * (MOST_MOTION_PX - 1)) * moved
    wide = torch.rand(n, 1, 1, device=device) * MOST_DEFOCUS_PX * (1 - moved)
    passed = torch.sinc(long * (fx * torch.cos(way) + fy * torch.sin(way)))
    passed = passed * torch.exp(-2 * math.pi**2 * wide**2 * (fx**2 + fy**2))
    own = torch.fft.irfft2(spectrum * passed[:, None], s=(size, size)).clamp(0, 1)
    return torch.cat([own, views[n:]])


def fresh(start: Path | None) -> Any:
    """A slim detector, with the weights of a state `start` where one is given."""
    network = slim(DetectionModel(ARCHITECTURE, nc=len(CLASSES), verbose=False))
    if start is not None:
        stored = torch.load(start, map_location="cpu", weights_only=False)
        found = stored.get("model", stored)
        state = found if isinstance(found, dict) else found.float().state_dict()
        if has_card_head(state):
            add_card_head(network)
        network.load_state_dict(state)
    network.requires_grad_(True)
    for name, values in network.named_parameters():
        # The bins of the distribution of a box's sides are no weights.
        if ".dfl" in name:
            values.requires_grad_(False)
    network.names = dict(enumerate(CLASSES))
    network.args = get_cfg(overrides={"box": BOX_GAIN, "dfl": DFL_GAIN})
    return network


def join_cards(start: Path, trained: Path, out: Path) -> Path:
    """A checkpoint `out`: the detector `start` with the finest head of `trained` for cards alone.

    `trained` was trained from `start` with `finest`. Raises FeltwatchError where more differs.
    """
    kept = torch.load(trained, map_location="cpu", weights_only=False)
    try:
        network = join_card_head(fresh(start), fresh(trained))
    except ValueError as error:
        raise FeltwatchError(f"{trained}: not trained from {start} alone: {error}") from error
    torch.save(kept | {"model": network.half()}, out)
    return out


def train_views(data: Path, out: Path, *, start: Path | None = None, **how: Any) -> Path:
    """Train as `train_on_views` does into `out/weights`; notes in training.json from what.

    Returns the checkpoint. The mean of its weights and those of `start` comes to lie beside it as
    `mean.pt`. Raises FeltwatchError where `data` has no recipe.
    """
    began = time.monotonic()
    last = train_on_views(data, out / "weights", start=start, **how)
    if start is not None:
        _write_mean(last, start, last.parent / "mean.pt")
    recipe = read_object(data / RECIPE_FILE)
    shards = len(list((data / PATCHES_FOLDER).glob("*.npz")))
    shown = RenderedData(
        name=data.resolve().name, views=SHARD_VIEWS * shards,
        seed=recipe["seed"], size_px=recipe["size"], decks=tuple(recipe["decks"]),
        fonts=recipe["fonts"],
    )  # fmt: skip
    earlier = Provenance()
    if start is not None:
        earlier = read_provenance(start.resolve().parent.parent / TRAINING_FILE)
    note_training(
        last, "detector", earlier.joined(Provenance(rendered=(shown,))), (), start=start,
        began_s=began, steps=how.get("steps"), seed=how.get("seed"), rate=how.get("rate"),
    )  # fmt: skip
    return last


def train_on_views(
    incoming: Path, out: Path, *, start: Path | None = None,
    fixed: Sequence[tuple[Path, float]] = (), seconds: float | None = None,
    steps: int | None = None, batch: int = 64, rate: float = 0.0015, pool: int = 20_000,
    size: int = 640, device: str = "cpu", remove: bool = False, keep_every_s: float = 60.0,
    seed: int = 0, window: int | None = None, held: int = 0, finest: bool = False,
) -> Path:  # fmt: skip
    """Train on the shards of `incoming` for `steps` batches, or for `seconds`.

    Returns the checkpoint, `out/detector.pt`. New shards are taken up as they come to lie there;
    `remove` deletes those that were. `fixed` are shards with their share of each batch, as of
    photographs. `start` is a checkpoint, or a state, of a slim detector. With `window` pieces of
    so many px are shown, at the views' scale. `held` of the first layers stay as they are, and
    with any the figures that layers are normalised by. With `finest` the head of the finest scale
    alone is trained, or the one for cards where there is one: what the others find stays bit by
    bit. Raises FeltwatchError where no shard comes within five minutes.
    """
    if (steps is None) == (seconds is None):
        raise ValueError("give steps or seconds")
    out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(seed)
    where = torch.device(device)
    network = fresh(start).to(where, memory_format=torch.channels_last)
    network.model[:held].requires_grad_(False)
    if finest:
        _hold_all_but_finest(network)
    mean = copy.deepcopy(network).eval()
    loss_of = v8DetectionLoss(network)
    optimizer = torch.optim.AdamW(_groups(network), rate)
    pools = [(_fixed_pool(path, size, where), share) for path, share in fixed]
    moving = ViewPool(pool, size, where)
    taken: set[str] = set()
    began = kept = time.monotonic()
    looked, step, done = 0.0, 0, 0.0
    sums = torch.zeros(4, device=where)
    while done < 1:
        now = time.monotonic()
        if now - looked > 0.3 or not moving.filled:
            looked = now
            _take(incoming, moving, taken, 12, remove=remove)
        if not moving.filled:
            if now - began > 300:
                raise FeltwatchError(f"{incoming}: no shards of views (*.npz); render them first")
            time.sleep(0.2)
            continue
        for group in optimizer.param_groups:
            group["lr"] = rate * slope(step, done)
        parts = [p.draw(max(1, round(share * batch))) for p, share in pools]
        parts.append(moving.draw(batch - sum(len(p[0]) for p in parts)))
        order = torch.randperm(batch, device=where)
        views, boxes = (torch.cat(list(c))[order] for c in zip(*parts, strict=True))
        if window is not None:
            views, boxes = windows_of(views, boxes, window)
        views, boxes = varied_views(views, boxes)
        sums += _step(network, loss_of, optimizer, views, boxes, norms_held=held > 0 or finest)
        average(mean, network, min(AVERAGED, (step + 1) / (step + 10)))
        step += 1
        now = time.monotonic()
        done = step / steps if steps else (now - began) / (seconds or 1)
        if now - kept > keep_every_s or done >= 1:
            kept = now
            _keep(mean, out / "detector.pt", {"steps": step, "batch": batch, "lr0": rate,
                                              "seed": seed, "imgsz": size})  # fmt: skip
            of = (sums / sums[3]).tolist()
            line = {
                "seconds": round(now - began), "step": step, "views": moving.taken,
                "box": round(of[0], 4), "class": round(of[1], 4), "dfl": round(of[2], 4),
            }  # fmt: skip
            print(json.dumps(line), flush=True)
            with (out / "log.jsonl").open("a", encoding="ascii") as log:
                log.write(json.dumps(line) + "\n")
            sums.zero_()
    return out / "detector.pt"


def _hold_all_but_finest(network: Any) -> None:
    network.model[:-1].requires_grad_(False)
    head = network.model[-1]
    trained = len(head.cv2) - 1 if has_card_head(network.state_dict()) else 0
    for branches in (head.cv2, head.cv3):
        for n, branch in enumerate(branches):
            if n != trained:
                branch.requires_grad_(False)


def _write_mean(last: Path, start: Path, out: Path) -> None:
    """A checkpoint with the mean of the weights of two."""
    kept = torch.load(last, map_location="cpu", weights_only=False)
    network = kept["model"].float()
    state, former = network.state_dict(), fresh(start).state_dict()
    for name, values in state.items():
        if values.is_floating_point():
            values.lerp_(former[name], 0.5)
    torch.save(kept | {"model": network.half()}, out)


def _groups(network: Any) -> list[dict[str, Any]]:
    """Weights that decay, and biases and scales that do not."""
    learned = [values for values in network.parameters() if values.requires_grad]
    return [
        {"params": [v for v in learned if v.ndim > 1], "weight_decay": WEIGHT_DECAY},
        {"params": [v for v in learned if v.ndim <= 1], "weight_decay": 0.0},
    ]


def _take(incoming: Path, pool: ViewPool, taken: set[str], most: int, *, remove: bool) -> None:
    new = [path for path in sorted(incoming.glob("*.npz")) if path.name not in taken]
    for path in new[:most]:
        taken.add(path.name)
        pool.take(read_views(path))
        if remove:
            path.unlink()


def _step(
    network: Any, loss_of: Any, optimizer: torch.optim.Optimizer, views: torch.Tensor,
    boxes: torch.Tensor, *, norms_held: bool = False,
) -> torch.Tensor:  # fmt: skip
    """One step; the three losses and 1, still on the device."""
    network.train()
    if norms_held:
        for layer in network.modules():
            if isinstance(layer, torch.nn.BatchNorm2d):
                layer.eval()
    views = views.contiguous(memory_format=torch.channels_last)
    where, size = views.device.type, views.shape[-1]
    with torch.autocast(where, torch.bfloat16, enabled=bfloat16_pays(where)):
        found = network(views)
    image, row = torch.nonzero(boxes[..., 0] >= 0, as_tuple=True)
    own = boxes[image, row]
    middles, sides = (own[:, 1:3] + own[:, 3:5]) / 2, own[:, 3:5] - own[:, 1:3]
    wanted = {
        "batch_idx": image.float(), "cls": own[:, :1],
        "bboxes": torch.cat([middles, sides], 1) / size, "img": views,
    }  # fmt: skip
    loss = loss_of(to_float(found), wanted)[0] / len(views)
    optimizer.zero_grad(set_to_none=True)
    loss.sum().backward()
    torch.nn.utils.clip_grad_norm_(network.parameters(), CLIP)
    optimizer.step()
    return torch.cat([loss.detach(), loss.new_ones(1)])


def _keep(mean: Any, path: Path, args: dict[str, Any]) -> None:
    """Write a checkpoint in ultralytics' form, whole or not at all."""
    args = {"task": "detect", "model": ARCHITECTURE, "optimizer": "AdamW",
            "weight_decay": WEIGHT_DECAY, **args}  # fmt: skip
    part = path.with_suffix(".part")
    kept = copy.deepcopy(mean).cpu()
    if has_card_head(kept.state_dict()):
        part_classes(kept)
    torch.save({"epoch": -1, "model": kept.half(), "train_args": args}, part)
    part.replace(path)


def _fixed_pool(path: Path, size: int, where: torch.device) -> ViewPool:
    made = read_views(path)
    pool = ViewPool(len(made.views), size, where)
    pool.take(made)
    return pool
