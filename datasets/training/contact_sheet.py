"""A contact sheet: rendered seat views beside real photographs, to be judged by eye."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from datasets.render.cards.deck import Picture
from datasets.render.cards.fonts import default_fonts
from datasets.training.asset_pool import Stage
from datasets.training.views import render_loose_view, render_table_view
from settlement.errors import FeltwatchError

CELLS = 24
COLUMNS = 4
CELL_PX = 300
GAP_PX = 12
SUFFIXES = {".jpg", ".jpeg", ".png", ".bmp", ".webp"}


def find_photos(folder: Path, count: int, seed: int = 1) -> list[Path]:
    """`count` images below a folder, chosen from all of them by `seed`.

    Raises FeltwatchError when the folder is not there or holds too few.
    """
    if not folder.is_dir():
        raise FeltwatchError(f"{folder}: no such folder of photographs")
    found = sorted(p for p in folder.rglob("*") if p.suffix.lower() in SUFFIXES)
    if len(found) < count:
        raise FeltwatchError(f"{folder}: {count} photographs are needed, found {len(found)}")
    chosen = np.random.default_rng([seed, 13]).choice(len(found), count, replace=False)
    return [found[int(k)] for k in chosen]


def rendered_views(count: int, seed: int = 1, loose: float = 0.0, size: int = 640) -> list[Picture]:
    """Seat views, uint8 (size, size, 3); a share `loose` of them as telephones take them."""
    rng = np.random.default_rng([seed, 14])
    fonts = default_fonts()
    stage = Stage.draw(rng, None, 6, fonts)
    out = []
    for k in range(count):
        stage.refresh(rng, k, fonts)
        deck = stage.decks[int(rng.integers(len(stage.decks)))]
        draw = render_loose_view if rng.random() < loose else render_table_view
        out.append(draw(rng, deck, stage, size).image)
    return out


def square(image: Picture, side: int) -> Picture:
    """The image fitted whole into a square on grey, uint8 (side, side, 3)."""
    h, w = image.shape[:2]
    k = side / max(h, w)
    small = cv2.resize(
        image, (max(1, round(w * k)), max(1, round(h * k))), interpolation=cv2.INTER_AREA
    )
    out = np.full((side, side, 3), 40, np.uint8)
    y, x = (side - small.shape[0]) // 2, (side - small.shape[1]) // 2
    out[y : y + small.shape[0], x : x + small.shape[1]] = small
    return out


def _block(images: Sequence[Picture], side: int) -> Picture:
    cells = [square(image, side) for image in images]
    rows = [np.hstack(cells[k : k + COLUMNS]) for k in range(0, len(cells), COLUMNS)]
    return np.vstack(rows)


def contact_sheet(
    photos: Path, out: Path, *, seed: int = 1, loose: float = 0.0, side: int = CELL_PX
) -> Path:
    """Write the sheet: CELLS rendered views at the left, as many photographs at the right.

    Raises FeltwatchError for a folder with too few photographs, one that cannot be read, or
    an `out` that cannot be written (its ending chooses PNG or JPEG).
    """
    real = []
    for path in find_photos(photos, CELLS, seed):
        image = cv2.imread(str(path), cv2.IMREAD_COLOR)
        if image is None:
            raise FeltwatchError(f"{path}: cannot be read as an image")
        real.append(np.asarray(image, np.uint8))
    left, right = _block(rendered_views(CELLS, seed, loose), side), _block(real, side)
    gap = np.full((left.shape[0], GAP_PX, 3), 255, np.uint8)
    sheet = np.hstack([left, gap, right])
    try:
        written = cv2.imwrite(str(out), sheet)
    except cv2.error as error:
        raise FeltwatchError(f"{out}: name the sheet .png or .jpg") from error
    if not written:
        raise FeltwatchError(f"{out}: the sheet cannot be written there")
    return out
