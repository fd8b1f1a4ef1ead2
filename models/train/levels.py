"""Training the reader of levels: which chip of a palette a level of a stack shows, or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from datasets.training.stack_strips import LevelSet, joined, read_levels
from models.networks.level_network import LevelNetwork
from models.train.state_file import read_state, save_state

BATCH, EPOCHS, RATE = 256, 4, 0.003
WARM_UP = 0.1
RECOLOURED = 0.5
LEFT_OUT = 0.15
ADDED = 0.5
ADDED_APART = 0.3
"""Half of the windows change their colours together with their palette; palettes lose and gain
colours, the added ones at least so far (of 1) from the true one."""

HIDDEN = 0.1
SMOOTHING = 0.01
FORM = "feltwatch levels 1"
NEVER = -30.0


@dataclass(frozen=True, slots=True, eq=False)
class _Batch:
    """Windows (n, 24, 24, 4) and colours (n, k, 3), 0 to 255, which of these there are (n, k),
    and the true place (n,), k for none."""

    windows: torch.Tensor
    colours: torch.Tensor
    there: torch.Tensor
    label: torch.Tensor

    @classmethod
    def of(cls, levels: LevelSet, places: Any, device: str) -> _Batch:
        colours = torch.from_numpy(levels.palettes[places].astype(np.float32))
        label = torch.from_numpy(levels.colours[places].astype(np.int64))
        none = colours.shape[1]
        return cls(
            torch.from_numpy(levels.windows[places]).to(device).float(), colours.to(device),
            (colours[..., 0] >= 0).to(device), torch.where(label < 0, none, label).to(device),
        )  # fmt: skip

    def logits(self, network: LevelNetwork) -> torch.Tensor:
        told = network(self.windows, self.colours)
        told[:, :-1] = told[:, :-1].masked_fill(~self.there, NEVER)
        return told


def varied(batch: _Batch) -> _Batch:
    """The same levels under another light, of other colours, from other palettes."""
    n, k = batch.there.shape
    device = batch.windows.device

    def drawn(*shape: int) -> torch.Tensor:
        return torch.rand(*shape, device=device)

    own = torch.arange(k, device=device)[None] == batch.label[:, None]
    there = batch.there & ~((drawn(n, k) < LEFT_OUT * drawn(n, 1)) & ~own)
    # Chips and palette are mixed to other colours alike.
    shuffled = torch.eye(3, device=device)[torch.argsort(drawn(n, 3), dim=1)]
    share = (drawn(n, 1, 1) * (drawn(n, 1, 1) < RECOLOURED)).expand(n, 3, 3)
    mix = (1 - share) * torch.eye(3, device=device) + share * shuffled
    bgr = torch.einsum("nij,nhwj->nhwi", mix, batch.windows[..., :3])
    # The palette is told as RGB, the picture as BGR: the same mix in the other order.
    colours = torch.einsum("nij,nkj->nki", mix.flip(1, 2), batch.colours)
    light = torch.exp(torch.randn(n, 1, 1, 1, device=device) * 0.12)
    tint = torch.exp(torch.randn(n, 1, 1, 3, device=device) * 0.05)
    haze = torch.randn(n, 1, 1, 1, device=device) * 5
    noise = torch.randn(bgr.shape, device=device) * 5 * drawn(n, 1, 1, 1)
    bgr = (bgr * light * tint + haze + noise).clamp(0, 255)
    side = torch.arange(bgr.shape[2], device=device)[None]
    cut = (drawn(n, 1) * 12 + 4) * (drawn(n, 1) < HIDDEN)
    hidden = (side < cut)[:, None, :, None]
    seen = batch.windows[..., 3:] * ~hidden
    shown = torch.cat([bgr, seen], 3)
    flip = (drawn(n) < 0.5)[:, None, None, None]
    shown = torch.where(flip, shown.flip(2), shown)
    # Colours that the table might have too, in the palette's free places.
    other = drawn(n, k, 3) * 255
    true = colours[torch.arange(n, device=device), batch.label.clamp(max=k - 1)]
    apart = (other - true[:, None]).norm(dim=2) > ADDED_APART * 255
    added = ~batch.there & apart & (drawn(n, k) < ADDED)
    return _Batch(shown, torch.where(added[..., None], other, colours), there | added, batch.label)


def train_levels(
    folders: Sequence[Path],
    out: Path,
    *,
    later_weight: int = 1,
    epochs: int = EPOCHS,
    batch: int = BATCH,
    rate: float = RATE,
    device: str | None = None,
    resume: bool = False,
    start: Path | None = None,
    seed: int = 0,
) -> Path:
    """Train on the folders' `train`, validate on their `val`; gives back the best checkpoint.

    Levels of all folders but the first count `later_weight` times. `out/weights/last.pt` is
    written after every epoch and goes on from there with `resume`; best.pt is the epoch with
    the least held-out loss. Raises FeltwatchError for folders without levels.
    """
    device = ("cuda" if torch.cuda.is_available() else "cpu") if device is None else device
    device = f"cuda:{device}" if device.isdigit() else device
    parts = [read_levels(folder / "train") for folder in folders]
    train = joined([*parts[:1], *(part for part in parts[1:] for _ in range(later_weight))])
    held = joined([read_levels(folder / "val") for folder in folders])
    weights = out / "weights"
    weights.mkdir(parents=True, exist_ok=True)
    last, best = weights / "last.pt", weights / "best.pt"
    torch.manual_seed(seed)
    network = LevelNetwork()
    if start is not None:
        network.load_state_dict(read_checkpoint(start)["network"])
    network.to(device)
    optimizer = torch.optim.AdamW(network.parameters(), rate, weight_decay=0.01)
    steps = max(1, len(train.colours) // batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, rate, total_steps=epochs * steps, pct_start=WARM_UP
    )
    done, least = 0, float("inf")
    if resume and last.is_file():
        state = read_checkpoint(last)
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
        schedule.load_state_dict(state["schedule"])
        done, least = int(state["epochs done"]), float(state["least"])
    settings = {
        "model": "level network", "epochs": epochs, "batch": batch, "optimizer": "AdamW",
        "lr0": rate, "weight_decay": 0.01, "device": device, "seed": seed,
    }  # fmt: skip
    for epoch in range(done, epochs):
        order = np.random.default_rng([seed, epoch]).permutation(len(train.colours))
        network.train()
        for step in range(steps):
            places = order[step * batch : (step + 1) * batch]
            given = varied(_Batch.of(train, places, device))
            loss = functional.cross_entropy(
                given.logits(network), given.label, label_smoothing=SMOOTHING
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        found = held_loss(network, held, device)
        print(f"levels: epoch {epoch + 1} of {epochs}, held-out loss {found:.4f}", flush=True)
        state = {
            "form": FORM, "network": network.state_dict(), "train_args": settings,
            "epochs done": epoch + 1, "epoch": epoch if epoch + 1 < epochs else -1,
            "held-out loss": found, "least": min(least, found),
        }  # fmt: skip
        if found < least:
            least = found
            save_state(state, best)
        save_state(
            {**state, "optimizer": optimizer.state_dict(), "schedule": schedule.state_dict()}, last
        )
    return best


def held_loss(network: LevelNetwork, held: LevelSet, device: str = "cpu") -> float:
    """The mean cross entropy on levels that were not trained on."""
    network.eval()
    total = 0.0
    with torch.no_grad():
        for at in range(0, len(held.colours), 1024):
            given = _Batch.of(held, slice(at, at + 1024), device)
            loss = functional.cross_entropy(given.logits(network), given.label, reduction="sum")
            total += float(loss)
    return total / max(1, len(held.colours))


def read_checkpoint(path: Path) -> dict[str, Any]:
    """What `train_levels` wrote; FeltwatchError when the file is missing or something else."""
    return read_state(path, FORM, "reader of levels")
