"""Boxes of our own rendered sets with what their YOLO labels cannot say.

`boxes/SPLIT/SHARD.jsonl` of a rendered set holds, one line an image, how much of each thing
is visible and whose index it is (`datasets.training.training_set`).
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

from datasets.labelled.records import Box
from settlement.errors import FeltwatchError


def rendered_boxes(folder: Path, picture: Path) -> tuple[Box, ...] | None:
    """The boxes of `images/SPLIT/SHARD-NNNN.jpg`; None where the set has no such file.

    The card of an index is the attribute `card`. Raises FeltwatchError for a broken file.
    """
    shard = picture.stem.split("-")[0]
    file = folder / "boxes" / picture.parent.name / f"{shard}.jsonl"
    return _shard(file).get(picture.name)


@lru_cache(maxsize=2)
def _shard(file: Path) -> dict[str, tuple[Box, ...]]:
    if not file.is_file():
        return {}
    found: dict[str, tuple[Box, ...]] = {}
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                record = json.loads(line)
                found[record["image"]] = tuple(
                    _box(box) for box in record["boxes"] if box.get("labelled", True)
                )
            except (ValueError, KeyError, TypeError) as error:
                raise FeltwatchError(
                    f"{file}: line {number}: is no list of rendered boxes; render the set again"
                ) from error
    return found


def _box(box: dict[str, object]) -> Box:
    x0, y0, x1, y1 = (float(v) for v in box["xyxy"])  # type: ignore[attr-defined]
    card = box["card"]
    return Box(
        str(box["kind"]),
        x0,
        y0,
        x1,
        y1,
        visible=float(box["visible"]),  # type: ignore[arg-type]
        attributes=() if card is None else (("card", card),),
    )
