"""Trainings of ultralytics that give the same network however often they are stopped.

ultralytics goes on from its averaged weights in half precision and with other random numbers.
Here each epoch begins from the full state at the end of the one before, in full precision, and
draws its random numbers from the seed and its own number: an epoch that is cut short is done
again from its beginning.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from ultralytics.utils.torch_utils import strip_optimizer

STATE_FILE = "exact.pt"
_PRIME = 1_000_003


class ExactEpochs:
    """Keeps the state of a trainer at the end of each epoch in `folder`, and goes on from it."""

    def __init__(self, folder: Path, *, seed: int, resume: bool, steps: int | None) -> None:
        """`steps` are rounded up to whole epochs; None leaves the trainer its own epochs."""
        self.path = folder / STATE_FILE
        self.seed = seed
        self.steps = steps
        self.state: dict[str, Any] | None = None
        if resume and self.path.is_file():
            self.state = torch.load(self.path, map_location="cpu", weights_only=True)
        elif not resume:
            self.path.unlink(missing_ok=True)

    @property
    def finished(self) -> bool:
        """Whether the last epoch is done."""
        return self.state is not None and self.state["epoch"] + 1 >= self.state["epochs"]

    def train(self, trainer: Any) -> None:
        """Run a trainer that has not begun, or only finish what it wrote."""
        if self.finished:
            last = strip_optimizer(trainer.last)
            strip_optimizer(trainer.best, updates={"train_results": last.get("train_results")})
            return
        trainer.add_callback("on_pretrain_routine_end", self._restore)
        trainer.add_callback("on_train_epoch_start", self._begin)
        trainer.add_callback("on_fit_epoch_end", self._keep)
        trainer.train()

    def _restore(self, trainer: Any) -> None:
        if self.steps is not None:
            trainer.epochs = max(1, math.ceil(self.steps / max(1, len(trainer.train_loader))))
            trainer.args.epochs = trainer.epochs
        if self.state is None:
            return
        trainer.model.load_state_dict(self.state["model"])
        trainer.ema.ema.load_state_dict(self.state["ema"])
        trainer.ema.updates = self.state["updates"]
        trainer.optimizer.load_state_dict(self.state["optimizer"])
        trainer.scaler.load_state_dict(self.state["scaler"])
        trainer.best_fitness = self.state["best_fitness"]
        trainer.start_epoch = self.state["epoch"] + 1
        trainer.scheduler.last_epoch = trainer.start_epoch - 1

    def _begin(self, trainer: Any) -> None:
        mark = (self.seed * _PRIME + trainer.epoch) % 2**32
        random.seed(mark)
        np.random.seed(mark)
        torch.manual_seed(mark)
        loader = trainer.train_loader
        if getattr(loader, "generator", None) is not None:
            loader.generator.manual_seed(mark)
        if hasattr(loader, "reset"):
            loader.reset()

    def _keep(self, trainer: Any) -> None:
        if self.state is not None and self.state["epoch"] >= trainer.epoch:
            return
        self.state = {
            "epoch": trainer.epoch,
            "epochs": trainer.epochs,
            "model": trainer.model.state_dict(),
            "ema": trainer.ema.ema.state_dict(),
            "updates": trainer.ema.updates,
            "optimizer": trainer.optimizer.state_dict(),
            "scaler": trainer.scaler.state_dict(),
            "best_fitness": _number(trainer.best_fitness),
        }
        part = self.path.with_suffix(".part")
        torch.save(self.state, part)
        part.replace(self.path)


@dataclass(frozen=True, slots=True)
class Training:
    """How ultralytics trains a network.

    `steps` batches, rounded up to whole epochs, take the place of `epochs`. With `resume` an
    interrupted run goes on from its last epoch, to the network that it would have given. `start`
    begins from other weights of the same architecture. Without a `device` a GPU is used where
    there is one.
    """

    epochs: int
    batch: int
    rate: float
    device: str | None = None
    resume: bool = False
    start: Path | None = None
    steps: int | None = None
    seed: int = 0

    def settings(self, out: Path, architecture: str, **own: Any) -> dict[str, Any]:
        """ultralytics' settings of a run that writes to `out`; `own` are the network's."""
        has_gpu = torch.cuda.is_available()
        return {
            "model": str(self.start) if self.start else architecture,
            "project": str(out.resolve().parent),
            "name": out.name,
            "exist_ok": True,
            "epochs": self.epochs,
            "batch": self.batch,
            "nbs": self.batch,
            "optimizer": "AdamW",
            "lr0": self.rate,
            "lrf": 1.0,
            "warmup_epochs": 0.0,
            "workers": 1,
            "plots": False,
            "device": self.device or ("0" if has_gpu else "cpu"),
            "amp": has_gpu,
            "patience": 1000,
            "seed": self.seed,
            **own,
        }

    def run(self, trainer: Any, out: Path) -> Path:
        """Train into `out`; the best checkpoint (`.pt`)."""
        ExactEpochs(out, seed=self.seed, resume=self.resume, steps=self.steps).train(trainer)
        best = out / "weights" / "best.pt"
        return best if best.is_file() else out / "weights" / "last.pt"


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def forget_state(folder: Path) -> None:
    """Delete the state of a training that is finished and noted."""
    (folder / STATE_FILE).unlink(missing_ok=True)
