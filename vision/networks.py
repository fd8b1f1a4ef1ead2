"""The networks of one folder of weights, loaded together and checked against their card once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vision.chips.side_runtime import StripReader, open_strip_reader
from vision.detect.detections import Comparer, Reader
from vision.detect.openvino_runtime import (
    ModelError,
    load_card,
    open_comparer,
    open_detector,
    open_reader,
)
from vision.detect.tiling import SizedDetector


@dataclass(frozen=True, slots=True)
class Networks:
    """What reads a table: the detector, the reader of indices and the reader of stack sides.

    `comparer` compares indices with a deck's samples, None where the weights have none. `card` is
    the model card that the weights were checked against.
    """

    detector: SizedDetector
    reader: Reader
    strips: StripReader
    card: Mapping[str, Any] = field(default_factory=dict)
    comparer: Comparer | None = None


@dataclass(frozen=True, slots=True)
class FileLoader:
    """How a lone file of a detector is opened, and the folder of the other networks."""

    open: Callable[[Path, int | None], SizedDetector]
    rest: Callable[[], Path]


FILE_LOADERS: dict[str, FileLoader] = {}
"""By suffix, as ".pt": what `load_networks` takes beside folders. `models.networks.backends`
fills it, so that nothing here needs what training needs."""


def load_networks(models: Path, threads: int | None = None) -> Networks:
    """Load the networks of a folder of weights, with the card's thresholds and temperatures.

    `models` may also be a detector's file of a kind in `FILE_LOADERS`. Raises ModelError naming
    the file that is missing, altered or not a model.
    """
    folder, card, detector = _detector_of(models, threads)
    return Networks(
        detector,
        open_reader(folder, card, threads),
        open_strip_reader(folder, card, threads),
        card,
        open_comparer(folder, card, threads),
    )


def load_for_photographs(models: Path) -> tuple[SizedDetector, Reader]:
    """The detector and the reader of indices alone, as `load_networks` loads them."""
    folder, card, detector = _detector_of(models, None)
    return detector, open_reader(folder, card, None)


def _detector_of(models: Path, threads: int | None) -> tuple[Path, dict[str, Any], SizedDetector]:
    """The folder of the other networks, its card, and the detector."""
    loader = _file_loader(models)
    folder = models if loader is None else loader.rest()
    card = load_card(folder)
    if loader is not None:
        return folder, card, loader.open(models, threads)
    return folder, card, open_detector(folder, card, threads)


def _file_loader(path: Path) -> FileLoader | None:
    if path.is_dir():
        return None
    loader = FILE_LOADERS.get(path.suffix.lower())
    if loader is None and path.is_file():
        accepted = " or ".join(["a folder of weights", *sorted(FILE_LOADERS)])
        raise ModelError(f"{path}: not a model that can be run; give {accepted}")
    return loader
