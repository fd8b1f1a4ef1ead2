"""Training the reader, ultralytics' classifier, on upright crops of card indices.

54 classes: the 53 cards and `none`, which is what a crop turned the wrong way or cut from
elsewhere shows. Crops come from rendered sets (`datasets.training.training_set`) and, where given,
from labelled photographs (`models.data.photo_crops`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
from ultralytics.models.yolo.classify import ClassificationTrainer
from ultralytics.nn.tasks import ClassificationModel
from ultralytics.utils.torch_utils import strip_optimizer

from datasets.training.training_set import CLASS_NAMES, CROP_PX
from models.data.augment import vary
from models.data.crops import read_crops
from models.train.detector import InBfloat16, schedule
from models.train.exact import Training
from models.train.patches import ARCHITECTURE

USUAL = Training(epochs=4, batch=128, rate=0.002)


class CropSet(Dataset[dict[str, Any]]):
    """Crops of `folder/*.npy` with labels; changed at random when `augment` is set."""

    change = staticmethod(vary)

    def __init__(self, folders: list[Path], *, augment: bool, weights: list[int] | None = None):
        """Map the crop files; `weights` repeats a folder's crops."""
        self.parts: list[np.ndarray[Any, Any]] = []
        labels: list[np.ndarray[Any, Any]] = []
        where: list[np.ndarray[Any, Any]] = []
        for folder, weight in zip(folders, weights or [1] * len(folders), strict=True):
            for file in read_crops(folder):
                n = len(file.labels)
                places = np.stack([np.full(n, len(self.parts)), np.arange(n)], axis=1)
                self.parts.append(file.crops)
                labels += [file.labels] * weight
                where += [places] * weight
        self.labels = np.concatenate(labels)
        self.where = np.concatenate(where)
        self.augment = augment
        self.samples = self.labels

    def __len__(self) -> int:
        """How many crops, repeats counted."""
        return len(self.labels)

    def __getitem__(self, item: int) -> dict[str, Any]:
        """A crop as float32 (3, 64, 64) RGB in 0..1 with its class."""
        part, row = self.where[item]
        crop = np.ascontiguousarray(self.parts[part][row])
        label = int(self.labels[item])
        if self.augment:
            rng = np.random.default_rng(int(torch.randint(0, 2**31, (1,)).item()))
            crop, label = self.change(rng, crop, label)
        image = torch.from_numpy(np.ascontiguousarray(crop[..., ::-1].transpose(2, 0, 1)))
        return {"img": image.float() / 255, "cls": label}


class CpuReader(InBfloat16, ClassificationModel):
    """A classifier that trains in bfloat16 on the CPU."""


class ReaderTrainer(ClassificationTrainer):
    """ultralytics' classification trainer fed from crop arrays."""

    class_names: tuple[str, ...] = CLASS_NAMES
    crop_set: type[CropSet] = CropSet
    crop_folders: list[Path]
    crop_weights: list[int]
    val_folders: list[Path]

    def get_dataset(self) -> dict[str, Any]:
        """Names and places of the crops, in ultralytics' form."""
        return {
            "train": "train", "val": "val", "test": "", "nc": len(self.class_names), "channels": 3,
            "names": dict(enumerate(self.class_names)),
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
        crops = self.crop_set(
            self.crop_folders if train else self.val_folders,
            augment=train,
            weights=self.crop_weights if train else None,
        )
        loader: Any = DataLoader(
            crops,
            batch_size=batch_size,
            shuffle=train,
            drop_last=train and len(crops) >= batch_size,
            num_workers=self.args.workers,
        )
        loader.reset = lambda: None
        return loader

    def final_eval(self) -> None:
        """Drop what only training needs from the checkpoints.

        ultralytics would check the best once more, on a data set that it looks up (and
        downloads) by name; every epoch has been checked on the crops already.
        """
        last: dict[str, Any] = {}
        if self.last.exists():
            last = strip_optimizer(self.last)
        if self.best.exists():
            strip_optimizer(self.best, updates={"train_results": last.get("train_results")})


def train_reader(
    crop_folders: list[Path],
    val_folders: list[Path],
    out: Path,
    how: Training = USUAL,
    *,
    weights: list[int] | None = None,
) -> Path:
    """Train the reader on crop folders; gives back the best checkpoint (`.pt`).

    `weights` repeats a folder's crops.
    """
    settings = how.settings(
        out, ARCHITECTURE, data="crops", imgsz=CROP_PX, weight_decay=0.001,
        pretrained=False if how.start is None else str(how.start),
    )  # fmt: skip
    ReaderTrainer.crop_folders = crop_folders
    ReaderTrainer.crop_weights = weights or [1] * len(crop_folders)
    ReaderTrainer.val_folders = val_folders
    trainer = ReaderTrainer(overrides=settings)
    trainer.add_callback("on_train_batch_start", schedule(how.rate))
    return how.run(trainer, out)
