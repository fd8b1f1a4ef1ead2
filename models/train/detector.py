"""Training the detector from scratch with ultralytics, on a GPU or on a CPU alone.

On a CPU the forward pass runs in bfloat16 with channels-last memory, which is more than
twice as fast as float32 on processors with matrix units; losses stay in float32.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from ultralytics.models.yolo.detect import DetectionTrainer
from ultralytics.nn.tasks import DetectionModel

from models.networks.slim import is_slim, slim
from models.train.exact import Training
from models.train.precision import bfloat16_pays

ARCHITECTURE = "yolo11n.yaml"
USUAL = Training(epochs=3, batch=16, rate=0.0015)
BOX_GAIN, DFL_GAIN = 10.0, 2.0
"""A third above ultralytics' own: an index is a dozen pixels wide, and its box is what is read."""
WARM_UP_SHARE = 0.03
LAST_RATE_SHARE = 0.02


def to_float(value: Any) -> Any:
    """Tensors of half precision within tuples, lists and dicts, as float32."""
    if isinstance(value, torch.Tensor):
        return value.float() if value.is_floating_point() else value
    if isinstance(value, dict):
        return {key: to_float(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(to_float(part) for part in value)
    return value


class FloatLoss:
    """A criterion that is computed in float32 whatever the network ran in."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __call__(self, preds: Any, batch: dict[str, Any]) -> Any:
        """Loss and its parts for the network's raw outputs."""
        with torch.autocast("cpu", enabled=False):
            return self.inner(to_float(preds), batch)

    def update(self) -> None:
        """Pass the epoch's end on to criteria that want to know."""
        if hasattr(self.inner, "update"):
            self.inner.update()


class InBfloat16:
    """Mixed into ultralytics' models: they train in bfloat16 on a CPU that has it.

    The loss is in float32.
    """

    training: bool

    def predict(self, x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        """Forward pass of images (n, 3, h, w) in 0..1."""
        inner = super().predict  # type: ignore[misc]
        if not self.training or x.device.type != "cpu":
            return inner(x, *args, **kwargs)
        x = x.contiguous(memory_format=torch.channels_last)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bfloat16_pays("cpu")):
            return inner(x, *args, **kwargs)

    def init_criterion(self) -> Any:
        """The loss, kept in float32."""
        return FloatLoss(super().init_criterion())  # type: ignore[misc]


class CpuModel(InBfloat16, DetectionModel):
    """A detection model that trains in bfloat16 on the CPU."""


def schedule(peak: float, minutes: float | None = None) -> Callable[[Any], None]:
    """A callback that sets the rate at every step: a short rise, then a cosine to near nothing.

    ultralytics steps its rate once an epoch, which is too coarse for runs of a few epochs.
    With `minutes` the run is over after so much time of this process on the processor,
    whatever its epochs: runs of different networks get the same.
    """
    state = {"step": -1, "began_s": 0.0}

    def on_batch(trainer: Any) -> None:
        steps = len(trainer.train_loader) * trainer.epochs
        if state["step"] < 0:
            state["step"] = len(trainer.train_loader) * trainer.start_epoch
            state["began_s"] = time.process_time()
        share = state["step"] / max(1, steps)
        if minutes is not None:
            share = min(1.0, (time.process_time() - state["began_s"]) / (60 * minutes))
            if share >= 1.0:
                # Its own limit of time is the one thing that ends an epoch half-way.
                trainer.args.time = 1e-6
        state["step"] += 1
        if share < WARM_UP_SHARE:
            rate = share / WARM_UP_SHARE
        else:
            turn = (share - WARM_UP_SHARE) / (1 - WARM_UP_SHARE)
            rate = LAST_RATE_SHARE + (1 - LAST_RATE_SHARE) * (1 + math.cos(math.pi * turn)) / 2
        for group in trainer.optimizer.param_groups:
            group["lr"] = peak * rate

    return on_batch


def threads_here() -> int:
    """Threads of a training on the CPU: what OMP_NUM_THREADS says, else every processor."""
    threads = os.environ.get("OMP_NUM_THREADS", "")
    return int(threads) if threads.isdecimal() and int(threads) > 0 else os.cpu_count() or 1


class FeltTrainer(DetectionTrainer):
    """ultralytics' trainer with the CPU model and the finer rate."""

    slim = False
    """Whether a network that is not slim yet is made so."""

    def get_model(self, cfg: Any = None, weights: Any = None, verbose: bool = True) -> Any:
        """A fresh model, or one that goes on from `weights`, slim where these are."""
        if self.device.type == "cpu":
            # ultralytics leaves one processor to others.
            torch.set_num_threads(threads_here())
        model = CpuModel(cfg, nc=self.data["nc"], ch=self.data["channels"], verbose=verbose)
        if weights and is_slim(weights):
            slim(model).load(weights)
        elif weights:
            model.load(weights)
        if self.slim and not is_slim(model):
            slim(model)
        if self.device.type == "cpu":
            model = model.to(memory_format=torch.channels_last)
        return model


def train_detector(
    data: Path,
    out: Path,
    how: Training = USUAL,
    *,
    size: int = 640,
    minutes: float | None = None,
    slim_form: bool = False,
) -> Path:
    """Train on a YOLO `data.yaml`; gives back the best checkpoint (`.pt`).

    Checkpoints are written each epoch to `out`. `minutes` ends the run after so much processor
    time of this process, in place of `how.epochs`. `slim_form` makes the network slim first
    (`models.networks.slim`).
    """
    settings = how.settings(
        out, ARCHITECTURE, data=str(data), imgsz=size, weight_decay=0.0005, mosaic=0.0,
        close_mosaic=0, fliplr=0.0, scale=0.15, translate=0.08, box=BOX_GAIN, dfl=DFL_GAIN,
        hsv_h=0.02, hsv_s=0.4, hsv_v=0.3,
    )  # fmt: skip
    trainer = FeltTrainer(overrides=settings)
    trainer.slim = slim_form
    trainer.add_callback("on_train_batch_start", schedule(how.rate, minutes))
    return how.run(trainer, out)
