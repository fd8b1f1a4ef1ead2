"""Strips of chip stacks as the product cuts them from coded frames, for the stack reader."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from datasets.training.sides.shards import MOST_KINDS, StripSet
from models.data.filmed_tables import FilmedTable, leaning
from vision.chips.network_input.side_strip import BELOW_CHIPS, MOST_CHIPS, ROWS_PER_CHIP
from vision.detect.tiling import SizedDetector
from vision.geometry.table import ChipKind

Bytes = npt.NDArray[np.uint8]


def film_strips(
    rng: np.random.Generator, seeds: Sequence[int], layouts: int, detector: SizedDetector
) -> StripSet:
    """Strips of the tables of these seeds, `layouts` images of each, in `draw_strips`' form."""
    strips, count, colours, place, facts, samples, rgbs, tops = [], [], [], [], [], [], [], []
    for t, seed in enumerate(seeds):
        table = FilmedTable(seed, rng, restyled=True)
        kinds = table.enrolled()
        names = list(table.table.chips)
        own = np.zeros((MOST_KINDS, *_side(kinds[names[0]]).shape), np.uint8)
        faces = np.zeros((MOST_KINDS, 3), np.uint8)
        rgb = np.full((MOST_KINDS, 3), -1, np.int16)
        for k, name in enumerate(names):
            own[k], rgb[k] = _side(kinds[name]), table.table.chips[name].rgb
            faces[k] = (kinds[name].face_rgb or (0, 0, 0))[::-1]
        samples.append(own)
        rgbs.append(rgb)
        tops.append(faces)
        for _ in range(layouts):
            items = table.layout()
            frame = table.image(items)
            for stack in table.found(frame, items, detector):
                strip, base, seen = table.strip(frame, stack, items)
                n = len(stack.item.colours)
                row = np.full(MOST_CHIPS, -1, np.int8)
                row[:n] = [names.index(name) for name in stack.item.colours]
                across = (np.asarray(stack.item.center_mm) - base) @ np.array(
                    [-stack.found.up[1], stack.found.up[0]]
                )
                true = np.asarray(stack.item.center_mm)
                off = float((true - base) @ stack.found.up) / stack.found.per_chip_mm
                strips.append(strip)
                count.append(n)
                colours.append(row)
                place.append(t)
                facts.append([
                    ROWS_PER_CHIP * (BELOW_CHIPS + off), stack.found.px_per_chip,
                    stack.found.off_vertical, seen, leaning(stack.item), across,
                ])  # fmt: skip
    return StripSet(
        np.stack(strips), np.array(count, np.int8), np.stack(colours), np.array(place, np.int32),
        np.array(facts, np.float32), np.stack(samples), np.stack(rgbs), np.stack(tops),
    )  # fmt: skip


def _side(kind: ChipKind) -> Bytes:
    side = kind.sampled()
    assert side is not None
    return side
