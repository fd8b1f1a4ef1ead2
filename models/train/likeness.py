"""Training what compares an index with a deck's samples (`models.networks.likeness`).

A step takes a few decks. Of each its 53 samples and its other indices were degraded, each in its
own way, and every index is asked which of the deck's samples it is, or none. Degrading takes longer
than learning: a deck that was degraded is asked a few times. The reader whose features are taken is
not changed.
"""

from __future__ import annotations

import copy
import json
import math
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from datasets.training.deck_patches import DeckPatches, read_decks
from datasets.training.index_patches import RECIPE_FILE
from datasets.training.training_set import CLASS_NAMES, NONE_CLASS
from models.data.degrade import degrade
from models.data.provenance import TRAINING_FILE, Provenance, patch_data, read_provenance
from models.networks.likeness import LikenessHead, LikenessNetwork
from models.train.chain import note_training
from models.train.patches import AVERAGED, average, slope
from models.train.precision import bfloat16_pays
from models.train.state_file import read_state, save_state
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS
from vision.detect.openvino_runtime import LIKENESS

DECKS, FRESH, READY = 6, 2, 48
"""Decks of a step, decks degraded for each, and decks that are ready to be drawn."""

MISSING_SHARE, MOST_MISSING = 0.15, 8
"""Share of decks some of whose samples are missing, and how many at most."""

DECK_RASTERS = (0.02, 0.03, 0.06, 0.08, 0.1, 0.12, 0.14, 0.15, 0.14, 0.16)
"""How often each of RASTERS is the middle one of a deck's; its crops are within one step of it."""

CHECKPOINT, FORM = "likeness.pt", "feltwatch likeness 1"
RATE, WEIGHT_DECAY = 0.0015, 0.02
SCALE, NONE_ODDS = 14.0, 5.0
"""What a cosine is weighed with, and what it takes to be like none, at the start; both learn."""


class _Asked(nn.Module):
    """The head, and how its cosines count in training."""

    def __init__(self, head: LikenessHead) -> None:
        super().__init__()
        self.head = head
        self.scale = nn.Parameter(torch.tensor(math.log(SCALE)))
        self.none = nn.Parameter(torch.tensor(NONE_ODDS))

    def loss(
        self, samples: torch.Tensor, there: torch.Tensor, asked: torch.Tensor, labels: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Log loss of one deck and how many of its indices are right.

        `samples` (53, 256) and `asked` (n, 256) are features, `there` (53,) which samples there
        are, `labels` (n,) classes; what has no sample is none.
        """
        middle = samples[there].mean(0)
        cosine = functional.normalize(asked - middle) @ functional.normalize(samples - middle).T
        odds = (self.scale.exp() * cosine).masked_fill(~there, -1e4)
        odds = torch.cat([odds, self.none.expand(len(odds), 1)], 1)
        known = torch.cat([there, there.new_ones(1)])
        truth = torch.where(known[labels], labels, torch.full_like(labels, NONE_CLASS))
        return functional.cross_entropy(odds, truth), (odds.argmax(1) == truth).float().mean()


def train_likeness(
    shards: Path, out: Path, *, reader: Path | None = None, start: Path | None = None,
    seconds: float | None = None, steps: int | None = None, rate: float = RATE, seed: int = 0,
    keep_every_s: float = 60.0,
) -> Path:  # fmt: skip
    """Train on the decks of `shards` for `seconds`, or for `steps` batches.

    Returns the checkpoint, `out/weights/likeness.pt`. `reader` is a reader's checkpoint (.pt),
    whose first layers are taken as they are; or `start` one of an earlier training to go on from.
    Raises FeltwatchError where there is no shard, or no such checkpoint.
    """
    first = start or reader
    if (seconds is None) == (steps is None) or first is None or (start and reader):
        raise ValueError("give seconds or steps, and a reader or a start")
    torch.manual_seed(seed)
    if start is not None:
        whole, _ = read_likeness(start)
    else:
        whole = LikenessNetwork(read_reader(first)).eval()
    pool = _pool(shards)
    path = out / "weights" / CHECKPOINT
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = whole.to(memory_format=torch.channels_last)
    asked = _Asked(copy.deepcopy(whole.head)).train()
    optimizer = torch.optim.AdamW(asked.parameters(), rate, weight_decay=WEIGHT_DECAY)
    half = bfloat16_pays("cpu")
    ready: deque[_Ready] = deque(maxlen=READY)
    order: list[int] = []
    args = {"decks": len(pool), "batch": DECKS, "lr0": rate, "seed": seed, "optimizer": "AdamW",
            "weight_decay": WEIGHT_DECAY}  # fmt: skip
    began = kept = time.monotonic()
    step, sums, done = 0, [0.0, 0.0, 0.0], 0.0
    while done < 1:
        for _ in range(FRESH if len(ready) >= READY else READY):
            order = order or torch.randperm(len(pool)).tolist()
            ready.append(_ready(whole.stem, pool[order.pop()], half))
        own = [ready[k] for k in torch.randperm(len(ready))[:DECKS].tolist()]
        for group in optimizer.param_groups:
            group["lr"] = rate * slope(step, done)
        optimizer.zero_grad()
        loss, right = _step(asked, own, half)
        loss.backward()
        nn.utils.clip_grad_norm_(asked.parameters(), 5.0)
        optimizer.step()
        average(whole.head, asked.head, min(AVERAGED, (step + 1) / (step + 10)))
        step += 1
        sums = [sums[0] + 1, sums[1] + float(loss.detach()), sums[2] + float(right)]
        now = time.monotonic()
        done = step / steps if steps else (now - began) / (seconds or 1)
        if now - kept > keep_every_s or done >= 1:
            kept = now
            args["steps"] = step
            save_state({"form": FORM, "network": whole.state_dict(), "train_args": args}, path)
            line = {
                "seconds": round(now - began), "step": step, "loss": round(sums[1] / sums[0], 4),
                "right": round(sums[2] / sums[0], 4),
            }  # fmt: skip
            print(json.dumps(line), flush=True)
            sums = [0.0, 0.0, 0.0]
    earlier = read_provenance(first.resolve().parent.parent / TRAINING_FILE)
    shown = (patch_data(shards),) if (shards / RECIPE_FILE).is_file() else ()
    note_training(
        path, LIKENESS, earlier.joined(Provenance(patches=shown)), (), start=first, began_s=began,
        steps=step, seed=seed, rate=rate,
    )  # fmt: skip
    return path


def _pool(shards: Path) -> list[DeckPatches]:
    paths = sorted(shards.glob("*.npz"))
    if not paths:
        raise FeltwatchError(f"{shards}: no shards of decks (*.npz); render them first")
    return [deck for path in paths for deck in read_decks(path)]


def read_reader(path: Path) -> Any:
    """The classifier of a reader's checkpoint; raises FeltwatchError."""
    if not path.is_file():
        raise FeltwatchError(f"{path}: no checkpoint of a reader (reader.pt)")
    try:
        network = torch.load(path, map_location="cpu", weights_only=False)["model"].float()
        classes = len(network.names)
    except Exception as error:  # unpickling may raise anything
        raise FeltwatchError(f"{path}: not a checkpoint of a reader") from error
    if classes != len(CLASS_NAMES):
        raise FeltwatchError(f"{path}: not a reader's checkpoint: it has {classes} classes")
    return network


def read_likeness(path: Path) -> tuple[LikenessNetwork, dict[str, Any]]:
    """The network of a checkpoint, and how it was trained; raises FeltwatchError."""
    state = read_state(path, FORM, "checkpoint of a likeness network")
    network = LikenessNetwork()
    try:
        network.load_state_dict(state["network"])
        return network.eval(), dict(state["train_args"])
    except (KeyError, TypeError, RuntimeError) as error:
        raise FeltwatchError(f"{path}: not the weights of a likeness network") from error


@dataclass(frozen=True, slots=True)
class _Ready:
    """A degraded deck: what the reader's layers make of it (n, 128, 8, 8), and classes (n,); the
    first 53 are its samples."""

    taken: torch.Tensor
    labels: torch.Tensor


def _ready(stem: nn.Module, deck: DeckPatches, half: bool) -> _Ready:
    n = len(DECK_LABELS)
    given = [torch.from_numpy(v) for v in (deck.patches, deck.labels.astype("int64"), deck.aspects)]
    raster = int(torch.multinomial(torch.tensor(DECK_RASTERS), 1))
    shares = [float(abs(k - raster) <= 1) for k in range(len(DECK_RASTERS))]
    samples, own = _degraded([v[:n] for v in given], shares, lies_still=True)
    asked, labels = _degraded([v[n:] for v in given], shares)
    crops = torch.cat([samples, asked]).to(memory_format=torch.channels_last)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=half):
        return _Ready(stem(crops), torch.cat([own, labels]))


def _step(
    network: _Asked, decks: Sequence[_Ready], half: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean loss and share right of a step."""
    n = len(DECK_LABELS)
    with torch.autocast("cpu", torch.bfloat16, enabled=half):
        features = network.head(torch.cat([own.taken for own in decks]))
    parts = features.float().split([len(own.labels) for own in decks])
    results = [
        network.loss(part[:n], _there(), part[n:], own.labels[n:])
        for part, own in zip(parts, decks, strict=True)
    ]
    loss = torch.stack([one for one, _ in results]).mean()
    return loss, torch.stack([one for _, one in results]).mean()


def _degraded(
    given: Sequence[torch.Tensor], raster_shares: Sequence[float], *, lies_still: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Crops and classes, each degraded in a group drawn at random, in the order given."""
    order = torch.randperm(len(given[1]))
    made = degrade(
        given[0][order], given[1][order], given[2][order], lies_still=lies_still,
        raster_shares=raster_shares,
    )  # fmt: skip
    back = torch.argsort(order)
    return made.crops[back], made.labels[back]


def _there() -> torch.Tensor:
    """Which samples of a deck there are, (53,)."""
    there = torch.ones(len(DECK_LABELS), dtype=torch.bool)
    if float(torch.rand(())) < MISSING_SHARE:
        there[torch.randperm(len(there))[: int(torch.randint(1, MOST_MISSING + 1, ()))]] = False
    return there
