"""Images of card faces and backs, linear RGB float32 (h, w, 3), rows from the bottom up."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from benchmarks.traced_cards.truth import CARD_MM, LABELS

Image32 = npt.NDArray[np.float32]

PX_PER_MM = 5.0
PAPER = (249, 248, 243)
WHITE = 0.80
"""Share of light that the whitest paper gives back."""

INKS = ((150, 24, 40), (24, 60, 140), (16, 96, 60), (30, 30, 34), (110, 40, 110))


def missing_faces(folder: Path) -> list[str]:
    """The names of faces that a folder lacks."""
    return [label for label in LABELS if not (folder / f"{label}.png").is_file()]


def face(folder: Path, label: str) -> Image32:
    """The face of a card from a folder of PNGs."""
    return _linear(_on_paper(Image.open(folder / f"{label}.png")))


def back(folder: Path, design: str, rng: np.random.Generator) -> Image32:
    """A back: the folder's own, where it has one and `design` is "own", else a drawn one."""
    own = [path for name in ("BACK", "BACK2") if (path := folder / f"{name}.png").is_file()]
    if design == "own" and own:
        return _linear(_on_paper(Image.open(own[int(rng.integers(len(own)))])))
    return _linear(_drawn_back(design, rng))


def _size() -> tuple[int, int]:
    return round(CARD_MM[0] * PX_PER_MM), round(CARD_MM[1] * PX_PER_MM)


def _on_paper(image: Image.Image) -> Image.Image:
    """An image on paper, at the size of a card."""
    image = image.convert("RGBA").resize(_size(), Image.Resampling.LANCZOS)
    page = Image.new("RGBA", image.size, (*PAPER, 255))
    return Image.alpha_composite(page, image).convert("RGB")


def _linear(image: Image.Image) -> Image32:
    values = np.asarray(image, np.float32)[::-1] / 255
    light = np.where(values < 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    return np.asarray(0.012 + (WHITE - 0.012) * light, np.float32)


def _drawn_back(design: str, rng: np.random.Generator) -> Image.Image:
    wide, high = _size()
    scale = PX_PER_MM
    ink = INKS[int(rng.integers(len(INKS)))]
    page = Image.new("RGB", (wide, high), PAPER)
    draw = ImageDraw.Draw(page)
    edge = 0 if design == "bleed" else round(float(rng.uniform(3, 6)) * scale)
    inner = (edge, edge, wide - edge, high - edge)
    field = Image.new("RGB", (wide, high), ink)
    pen = ImageDraw.Draw(field)
    if design in ("own", "lattice", "bleed"):
        step = round(float(rng.uniform(3, 6)) * scale)
        for start in range(-high, wide + high, step):
            pen.line((start, 0, start + high, high), PAPER, max(1, round(0.5 * scale)))
            pen.line((start, high, start + high, 0), PAPER, max(1, round(0.5 * scale)))
    elif design == "scroll":
        for k in range(5):
            for turn in range(0, 360, 30):
                at = math.radians(turn)
                x = wide / 2 + (4 + 6 * k) * scale * math.cos(at)
                y = high / 2 + (5 + 8 * k) * scale * math.sin(at)
                r = 2.6 * scale
                pen.ellipse((x - r, y - r, x + r, y + r), outline=PAPER, width=round(0.5 * scale))
    elif design == "logo":
        r = 17 * scale
        x, y = wide / 2, high / 2
        pen.ellipse((x - r, y - r, x + r, y + r), fill=PAPER)
        pen.text((x, y), "FW", ink, ImageFont.load_default(16 * scale), anchor="mm")
    page.paste(field.crop(inner), inner[:2])
    if design == "scroll":
        draw.rectangle(inner, outline=ink, width=round(1.2 * scale))
    return page
