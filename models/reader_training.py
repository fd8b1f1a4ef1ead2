"""Training the reader, ultralytics' classifier, on upright crops of card indices.

54 classes: the 53 cards and `none`, which is what a crop turned the wrong way or cut from
elsewhere shows. Crops come from rendered sets (`datasets.training_set`) and, where given,
from labelled photographs (`models.photo_crops`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
from ultralytics.models.yolo.classify import ClassificationTrainer
from ultralytics.nn.tasks import ClassificationModel

from datasets.look import add_noise
from datasets.training_set import CLASS_NAMES, CROP_PX, NONE_CLASS
from models.detector_training import FloatLoss, schedule
from settlement.errors import FeltwatchError

ARCHITECTURE = "yolo11n-cls.yaml"
TURNED_SHARE = 0.17
"""Share of crops turned a quarter, a half or three quarters, to be told as `none`."""


class CropSet(Dataset[dict[str, Any]]):
    """Crops of `folder/*.npy` with labels; changed at random when `augment` is set."""

    def __init__(self, folders: list[Path], *, augment: bool, weights: list[int] | None = None):
        self.parts: list[np.ndarray[Any, Any]] = []
        labels: list[np.ndarray[Any, Any]] = []
        where: list[np.ndarray[Any, Any]] = []
        for folder, weight in zip(folders, weights or [1] * len(folders), strict=True):
            for path in sorted(folder.glob("*-labels.npy")):
                own = np.load(path)
                part = np.load(str(path).replace("-labels", ""), mmap_mode="r")
                places = np.stack([np.full(len(own), len(self.parts)), np.arange(len(own))], axis=1)
                self.parts.append(part)
                for _ in range(weight):
                    labels.append(own)
                    where.append(places)
        if not labels:
            raise FeltwatchError(f"{folders[0]}: no index crops; render a training set first")
        self.labels = np.concatenate(labels)
        self.where = np.concatenate(where)
        self.augment = augment
        self.samples = self.labels

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, item: int) -> dict[str, Any]:
        part, row = self.where[item]
        crop = np.ascontiguousarray(self.parts[part][row])
        label = int(self.labels[item])
        if self.augment:
            rng = np.random.default_rng(int(torch.randint(0, 2**31, (1,)).item()))
            crop, label = vary(rng, crop, label)
        picture = torch.from_numpy(np.ascontiguousarray(crop[..., ::-1].transpose(2, 0, 1)))
        return {"img": picture.float() / 255, "cls": label}


def vary(
    rng: np.random.Generator, crop: np.ndarray[Any, Any], label: int
) -> tuple[np.ndarray[Any, Any], int]:
    """Turn, shift, scale, tint, blur and spoil a crop, uint8 (64, 64, 3); the label may become none."""
    turn = float(rng.uniform(-16, 16))
    if rng.random() < TURNED_SHARE:
        turn += float(rng.choice([90, 180, 180, 270]))
        label = NONE_CLASS
    zoom = float(np.exp(rng.normal(0, 0.1)))
    c = (CROP_PX - 1) / 2
    matrix = cv2.getRotationMatrix2D((c, c), turn, zoom)
    matrix[:, 2] += rng.normal(0, 2.6, 2)
    if rng.random() < 0.4:
        matrix[int(rng.integers(2)), :2] *= rng.uniform(0.82, 1.12)
    crop = cv2.warpAffine(
        crop, matrix, (CROP_PX, CROP_PX), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    chance = rng.random(6)
    if chance[0] < 0.25:
        small = int(rng.integers(18, 48))
        crop = cv2.resize(crop, (small, small), interpolation=cv2.INTER_AREA)
        crop = cv2.resize(crop, (CROP_PX, CROP_PX), interpolation=cv2.INTER_LINEAR)
    if chance[1] < 0.2:
        crop = cv2.GaussianBlur(crop, (0, 0), float(rng.uniform(0.5, 2.2)))
    gain = rng.uniform(0.6, 1.25) * rng.uniform(0.88, 1.12, 3)
    bias = rng.uniform(-25, 25)
    crop = np.clip(crop * gain + bias, 0, 255).astype(np.uint8)
    if chance[2] < 0.06:
        crop = cv2.cvtColor(cv2.cvtColor(crop, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR)
    if chance[3] < 0.4:
        crop = add_noise(rng, crop, float(rng.uniform(1, 10)))
    if chance[4] < 0.3:
        _, data = cv2.imencode(".jpg", crop, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(25, 80))])
        crop = cv2.imdecode(data, cv2.IMREAD_COLOR)
    return crop, label


class CpuReader(ClassificationModel):  # type: ignore[misc]
    """A classifier that trains in bfloat16 on the CPU."""

    def predict(self, x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        """Forward pass of crops (n, 3, 64, 64) in 0..1."""
        if not self.training or x.device.type != "cpu":
            return super().predict(x, *args, **kwargs)
        x = x.contiguous(memory_format=torch.channels_last)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return super().predict(x, *args, **kwargs)

    def init_criterion(self) -> Any:
        """The loss, kept in float32."""
        return FloatLoss(super().init_criterion())


class ReaderTrainer(ClassificationTrainer):  # type: ignore[misc]
    """ultralytics' classification trainer fed from crop arrays."""

    crop_folders: list[Path]
    crop_weights: list[int]
    val_folders: list[Path]

    def get_dataset(self) -> dict[str, Any]:
        """Names and places of the crops, in ultralytics' form."""
        return {
            "train": "train", "val": "val", "test": "", "nc": len(CLASS_NAMES), "channels": 3,
            "names": dict(enumerate(CLASS_NAMES)),
        }  # fmt: skip

    def get_model(self, cfg: Any = None, weights: Any = None, verbose: bool = True) -> Any:
        """A fresh model, or one that goes on from `weights`."""
        model = CpuReader(cfg, nc=self.data["nc"], ch=3, verbose=verbose)
        if weights:
            model.load(weights)
        return model.to(memory_format=torch.channels_last) if self.device.type == "cpu" else model

    def get_dataloader(
        self, dataset_path: str, batch_size: int = 16, rank: int = 0, mode: str = "train"
    ) -> Any:
        """Batches of crops."""
        del dataset_path, rank
        train = mode == "train"
        crops = CropSet(
            self.crop_folders if train else self.val_folders,
            augment=train,
            weights=self.crop_weights if train else None,
        )
        loader: Any = DataLoader(
            crops, batch_size=batch_size, shuffle=train, drop_last=train, num_workers=self.args.workers
        )
        loader.reset = lambda: None
        return loader


def train_reader(
    crop_folders: list[Path],
    val_folders: list[Path],
    out: Path,
    *,
    weights: list[int] | None = None,
    epochs: int = 4,
    batch: int = 128,
    rate: float = 0.002,
    device: str | None = None,
    workers: int = 1,
    resume: bool = False,
    start: Path | None = None,
) -> Path:
    """Train the reader on crop folders; gives back the best checkpoint (`.pt`).

    `weights` repeats a folder's crops, `start` goes on from other weights.
    """
    last = out / "weights" / "last.pt"
    overrides: dict[str, Any] = {
        "model": str(start) if start else ARCHITECTURE,
        "data": "crops",
        "project": str(out.resolve().parent),
        "name": out.name,
        "exist_ok": True,
        "epochs": epochs,
        "imgsz": CROP_PX,
        "batch": batch,
        "nbs": batch,
        "optimizer": "AdamW",
        "lr0": rate,
        "lrf": 1.0,
        "weight_decay": 0.001,
        "warmup_epochs": 0.0,
        "workers": workers,
        "plots": False,
        "device": device or ("0" if torch.cuda.is_available() else "cpu"),
        "amp": torch.cuda.is_available(),
        "patience": 1000,
        "pretrained": False if start is None else str(start),
    }
    if resume and last.is_file():
        overrides["resume"] = str(last)
    ReaderTrainer.crop_folders = crop_folders
    ReaderTrainer.crop_weights = weights or [1] * len(crop_folders)
    ReaderTrainer.val_folders = val_folders
    trainer = ReaderTrainer(overrides=overrides)
    trainer.add_callback("on_train_batch_start", schedule(trainer, rate))
    trainer.train()
    best = out / "weights" / "best.pt"
    return best if best.is_file() else last
