"""Shards of strips of chip stacks with their labels, on the disk."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from settlement.errors import FeltwatchError

Bytes = npt.NDArray[np.uint8]

MOST_KINDS = 9
"""Kinds of chips of a table that a shard has room for."""


@dataclass(frozen=True, slots=True, eq=False)
class StripSet:
    """Strips uint8 (n, ROWS, COLUMNS, 4), BGR and 255 where something nearer hides the stack;
    `count` (n,), `colours` int8 (n, MOST_CHIPS), -1 above the top, places in the palette of
    `table` (n,); `facts` float32 (n, 6): row of the true base, px to a chip, sine of the angle
    off the vertical, share of the side in view, lean in mm a chip, error of the base across
    in mm. Of every table: `samples` uint8 (t, k, h, w, 3) BGR, -1 of `rgb` int16 (t, k, 3)
    where it has fewer chips, `tops` uint8 (t, k, 3) BGR."""

    strips: Bytes
    count: npt.NDArray[np.int8]
    colours: npt.NDArray[np.int8]
    table: npt.NDArray[np.int32]
    facts: npt.NDArray[np.float32]
    samples: Bytes
    rgb: npt.NDArray[np.int16]
    tops: Bytes


def save_strips(path: Path, made: StripSet) -> None:
    """Write a shard whole or not at all: `NAME-strips.npy` beside `NAME.npz`."""
    strips = path.with_name(path.stem + "-strips.npy")
    np.save(strips, made.strips)
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        np.savez(
            file, count=made.count, colours=made.colours, table=made.table, facts=made.facts,
            samples=made.samples, rgb=made.rgb, tops=made.tops,
        )  # fmt: skip
    part.replace(path)


def read_shard(path: Path) -> StripSet:
    """One shard as `save_strips` writes it, its strips mapped from the disk."""
    try:
        with np.load(path) as data:
            rest = {name: data[name] for name in data.files}
        strips = np.load(path.with_name(path.stem + "-strips.npy"), mmap_mode="r")
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise FeltwatchError(f"{path}: not a shard of strips ({error})") from error
    return StripSet(strips=strips, **rest)


def joined(parts: Sequence[StripSet]) -> StripSet:
    """Several shards as one, in memory."""
    first = np.cumsum([0, *(len(part.samples) for part in parts)])
    return StripSet(
        np.concatenate([part.strips for part in parts]),
        np.concatenate([part.count for part in parts]),
        np.concatenate([part.colours for part in parts]),
        np.concatenate([p.table + at for p, at in zip(parts, first, strict=False)]),
        np.concatenate([part.facts for part in parts]),
        np.concatenate([part.samples for part in parts]),
        np.concatenate([part.rgb for part in parts]),
        np.concatenate([part.tops for part in parts]),
    )


def shards(folder: Path) -> list[Path]:
    """The whole shards of a folder, in order."""
    return sorted(folder.glob("[0-9]*.npz"))
