"""The reliability diagram of stated sums as an image.

Both axes are stretched towards 1 (logits), where most sums lie. A dot is a bin, its bar the Wilson
interval; on the slanting line what is stated with 0.9 is right 9 times in 10.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib.resources import as_file, files
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from models.evaluate.charts import COLOURS, DIM, GROUND, INK, LINE
from models.intervals import wilson
from settlement.errors import FeltwatchError
from surveillance.reports.score_reliability import Reliability

SIDE, MARGIN, TOP, FOOT = 480, 110, 90, 90
TICKS = (0.3, 0.5, 0.7, 0.9, 0.97, 0.99, 0.999, 0.9999)
DOT_PX = 8
TITLES = {"stakes": "stakes", "pays": "payouts"}


def draw_reliability(found: Mapping[str, Reliability], path: Path) -> None:
    """Write the diagrams of stakes and payouts; raises FeltwatchError when that fails."""
    width = len(TITLES) * (SIDE + MARGIN) + MARGIN // 2
    image = Image.new("RGB", (width, TOP + SIDE + FOOT), GROUND)
    draw = ImageDraw.Draw(image)
    for number, (name, title) in enumerate(TITLES.items()):
        left = MARGIN + number * (SIDE + MARGIN)
        _frame(draw, left, f"{title}, n = {found[name].count}")
        _bins(draw, left, found[name], COLOURS[number])
    try:
        image.save(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise FeltwatchError(f"--chart {path}: {reason}") from error


def _logit(share: float) -> float:
    kept = min(max(share, TICKS[0]), TICKS[-1])
    return math.log(kept / (1 - kept))


def _along(share: float) -> float:
    """Where a share lies on an axis, px from its start."""
    low, high = _logit(TICKS[0]), _logit(TICKS[-1])
    return SIDE * (_logit(share) - low) / (high - low)


def _frame(draw: ImageDraw.ImageDraw, left: int, title: str) -> None:
    low = TOP + SIDE
    draw.text((left, TOP - 66), title, INK, _font(24))
    for tick in TICKS:
        at = _along(tick)
        draw.line((left + at, TOP, left + at, low), LINE)
        draw.line((left, low - at, left + SIDE, low - at), LINE)
        draw.text((left + at, low + 8), f"{tick:g}", DIM, _font(13), "ma")
        draw.text((left - 8, low - at), f"{tick:g}", DIM, _font(13), "rm")
    draw.line((left, low, left + SIDE, TOP), DIM, 2)
    draw.text((left + SIDE / 2, low + 40), "stated probability", INK, _font(16), "ma")
    draw.text((left, TOP - 18), "fraction right", INK, _font(16), "lm")


def _bins(draw: ImageDraw.ImageDraw, left: int, own: Reliability, colour: str) -> None:
    for one in own.bins:
        if one.mean is None:
            continue
        x, y = left + _along(one.mean), TOP + SIDE - _along(one.right / one.count)
        least, most = (TOP + SIDE - _along(limit) for limit in wilson(one.right, one.count))
        draw.line((x, most, x, least), colour, 2)
        draw.ellipse((x - DOT_PX, y - DOT_PX, x + DOT_PX, y + DOT_PX), colour)
        draw.text((x + DOT_PX + 4, y), f"{one.right} of {one.count}", colour, _font(13), "lm")


def _font(size: int) -> ImageFont.FreeTypeFont:
    with as_file(files("fontpkg_arimo") / "files" / "Arimo[wght].ttf") as path:
        return ImageFont.truetype(str(path), size)
