"""How tables look: felts, chips, lammers, light and camera faults, drawn at random."""

from __future__ import annotations

import colorsys
import math
from dataclasses import replace

import cv2
import numpy as np

from datasets.render.cards.deck import Picture
from datasets.render.chips import ChipLook
from datasets.render.lammers import lammer_sprite, random_design
from datasets.render.painter import Light
from datasets.render.sensor import CameraFaults, add_noise, degrade, photo_faults, table_faults
from vision.geometry.table import ChipKind, LammerKind, Rgb

CHIP_FONTS = (
    cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_TRIPLEX,
    cv2.FONT_HERSHEY_COMPLEX,
)  # fmt: skip
CHIP_TEXT = {
    50: "50c",
    100: "$1",
    500: "$5",
    2500: "$25",
    10000: "$100",
    50000: "$500",
    100000: "$1000",
}


def _hsv(h: float, s: float, v: float) -> Rgb:
    r, g, b = colorsys.hsv_to_rgb(h % 1, min(max(s, 0), 1), min(max(v, 0), 1))
    return round(r * 255), round(g * 255), round(b * 255)


def felt_rgb(rng: np.random.Generator) -> Rgb:
    """A felt colour: greens and blues mostly, also reds, purples, greys and tans."""
    kind = rng.choice(5, p=[0.42, 0.27, 0.14, 0.06, 0.11])
    hue = {0: 0.36, 1: 0.58, 2: 0.98, 3: 0.78, 4: 0.09}[int(kind)] + rng.normal(0, 0.03)
    return _hsv(hue, rng.uniform(0.25 if kind == 4 else 0.4, 0.85), rng.uniform(0.18, 0.54))


def any_rgb(rng: np.random.Generator, darkest: float, brightest: float) -> Rgb:
    """A colour of any hue and saturation, its value between two shares."""
    return _hsv(rng.random(), rng.uniform(0.1, 1.0), rng.uniform(darkest, brightest))


def felt_texture(
    rng: np.random.Generator, height: int, width: int, rgb: Rgb, grain: float = 5.0
) -> Picture:
    """Cloth of one colour with fine and coarse unevenness, uint8 (h, w, 3) BGR."""
    coarse = rng.normal(0, 1, (max(2, height // 90), max(2, width // 90))).astype(np.float32)
    coarse = 128 + coarse * grain * 0.7
    wide = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)
    level = cv2.convertScaleAbs(wide)
    even = np.full((height, width, 3), rgb[::-1], np.uint8)
    lit = cv2.addWeighted(
        even, 1.0, cv2.cvtColor(level, cv2.COLOR_GRAY2BGR), 1.0, -128, dtype=cv2.CV_8U
    )
    return add_noise(rng, np.asarray(lit, np.uint8), grain, grey=True)


def print_rgb(rng: np.random.Generator, felt: Rgb) -> Rgb:
    """A colour for lines and words printed on the felt."""
    if rng.random() < 0.75:
        return _hsv(rng.uniform(0.08, 0.17), rng.uniform(0, 0.6), rng.uniform(0.7, 1.0))
    return tuple(round(v * 0.35) for v in felt)  # type: ignore[return-value]


def chip_styles(
    rng: np.random.Generator, chips: dict[str, ChipKind], *, vary: bool = False
) -> dict[str, ChipLook]:
    """Edge spots and inlays for a table's chips; the body colour is the table file's.

    The chips of a house are of one make: they share the mould, the inlay's cut and the
    letters; edge spots differ by colour. With `vary`, also barred spots and spots of two
    colours.
    """
    looks = {}
    house = rng.random()
    inlay = float(rng.uniform(0.42, 0.68))
    pale: Rgb = (238, 234, 220)
    paper = pale if rng.random() < 0.7 else None
    mould = int(rng.choice([0, 1, 2, 3, 4], p=[0.4, 0.15, 0.15, 0.15, 0.15]))
    corners = int(rng.choice([0, 0, 0, 6, 8, 12]))
    font = CHIP_FONTS[int(rng.integers(len(CHIP_FONTS)))]
    gloss = float(rng.uniform(0.0, 0.12))
    ringed = rng.random() < 0.4
    for name, kind in chips.items():
        spot = _hsv(rng.random(), rng.uniform(0, 0.9), rng.uniform(0.55, 1))
        if max(abs(a - b) for a, b in zip(spot, kind.rgb, strict=True)) < 80 or house < 0.4:
            spot = (238, 236, 228) if sum(kind.rgb) < 480 else (40, 60, 140)
        second: Rgb | None = None
        if vary and rng.random() < 0.22:
            second = _hsv(rng.random(), rng.uniform(0.3, 0.95), rng.uniform(0.4, 1))
        looks[name] = ChipLook(
            rgb=kind.rgb,
            spot_rgb=spot,
            spots=int(rng.choice([2, 3, 4, 6, 8, 12] if vary else [3, 4, 6, 8])),
            spot_share=float(rng.uniform(0.15, 0.38)),
            inlay_rgb=paper if paper and rng.random() < 0.85 else kind.rgb,
            inlay_share=inlay,
            text=CHIP_TEXT.get(kind.value_cents, ""),
            stripes=int(rng.choice([1, 1, 1, 2, 3])) if vary else 1,
            second_rgb=second,
            mould=mould,
            ring_rgb=kind.rgb if ringed else None,
            font=font,
            inlay_corners=corners,
            gloss=gloss,
        )
    return looks


RIM_STYLES = {"as drawn": 0.42, "plain": 0.12, "lined": 0.17, "slanted": 0.14, "many spots": 0.15}
"""Styles of rims that `restyled_rims` gives a house's chips, and how often."""


def restyled_rims(rng: np.random.Generator, looks: dict[str, ChipLook]) -> dict[str, ChipLook]:
    """The same chips with rims of other makes: plain, with lines, slanted print or many spots,
    and under lamps that leave the sides of stacks darker than their tops."""
    names = list(RIM_STYLES)
    house = str(rng.choice(names, p=list(RIM_STYLES.values())))
    light = float(rng.uniform(0.4, 1.0)) if rng.random() < 0.6 else 1.0
    out = {}
    for chip, look in looks.items():
        own = house if rng.random() < 0.8 else str(rng.choice(names))
        out[chip] = replace(_restyled(rng, look, own), side_light=light)
    return out


def _restyled(rng: np.random.Generator, look: ChipLook, style: str) -> ChipLook:
    def ink() -> Rgb:
        return _hsv(rng.random(), rng.uniform(0, 0.95), rng.uniform(0.15, 1))

    if style == "plain":
        return replace(look, spot_rgb=look.rgb, second_rgb=None)
    if style == "many spots":
        share = float(rng.uniform(0.2, 0.55))
        return replace(look, spots=int(rng.integers(10, 21)), stripes=1, spot_share=share)
    if style == "slanted":
        wide = float(rng.uniform(0.08, 0.18))
        edges = ((0.0, wide, own := ink()), (1 - wide, 1.0, own)) if rng.random() < 0.5 else ()
        return replace(
            look, spots=int(rng.integers(5, 13)), spot_share=float(rng.uniform(0.25, 0.6)),
            slant=float(rng.uniform(0.2, 1.2) * rng.choice([-1, 1])), bands=edges,
        )  # fmt: skip
    if style == "lined":
        middle, half = float(rng.uniform(0.3, 0.7)), float(rng.uniform(0.09, 0.25))
        plain = look if rng.random() < 0.35 else replace(look, spot_rgb=look.rgb, second_rgb=None)
        return replace(plain, bands=((middle - half, middle + half, ink()),))
    return look


def random_chips(rng: np.random.Generator) -> dict[str, ChipKind]:
    """Chip colours of some house, for training views."""
    body = {
        "white": _hsv(rng.random(), rng.uniform(0, 0.1), rng.uniform(0.78, 0.95)),
        "red": _hsv(rng.normal(0.985, 0.012), rng.uniform(0.65, 0.95), rng.uniform(0.55, 0.85)),
        "green": _hsv(rng.normal(0.40, 0.03), rng.uniform(0.55, 0.95), rng.uniform(0.3, 0.6)),
        "black": _hsv(rng.random(), rng.uniform(0, 0.2), rng.uniform(0.07, 0.2)),
        "purple": _hsv(rng.normal(0.77, 0.02), rng.uniform(0.4, 0.8), rng.uniform(0.35, 0.65)),
        "orange": _hsv(rng.normal(0.09, 0.015), rng.uniform(0.65, 0.95), rng.uniform(0.75, 0.98)),
        "blue": _hsv(rng.normal(0.6, 0.03), rng.uniform(0.5, 0.9), rng.uniform(0.45, 0.8)),
        "pink": _hsv(rng.normal(0.93, 0.02), rng.uniform(0.25, 0.5), rng.uniform(0.8, 0.98)),
        "grey": _hsv(rng.random(), rng.uniform(0, 0.12), rng.uniform(0.4, 0.6)),
    }
    values = (100, 500, 2500, 10000, 50000, 100000, 100, 250, 50)
    return {
        n: ChipKind(value_cents=v, rgb=c) for (n, c), v in zip(body.items(), values, strict=True)
    }


def lammer_sprites(
    rng: np.random.Generator, lammers: dict[str, LammerKind], *, vary: bool
) -> tuple[dict[str, Picture], dict[str, float]]:
    """Images and sizes of a table's lammers; with `vary`, in colours of any house."""
    sprites, sizes = {}, {}
    for name, kind in lammers.items():
        rgb, size = kind.rgb, kind.diameter_mm
        if vary:
            rgb = _hsv(rng.random(), rng.uniform(0, 0.9), rng.uniform(0.15, 1))
            size = float(rng.uniform(25, 35))
        design = random_design(rng) if vary else None
        sprites[name] = lammer_sprite(kind.word, rgb, size, design=design)
        sizes[name] = size
    return sprites, sizes


def random_light(rng: np.random.Generator) -> Light:
    """A soft light from some side."""
    a = rng.uniform(0, 2 * math.pi)
    reach = rng.uniform(0.1, 0.9)
    return Light(
        shift=(float(reach * math.cos(a)), float(reach * math.sin(a))),
        soft_mm=float(rng.uniform(1.0, 4.5)),
        depth=float(rng.uniform(0.15, 0.55)),
    )


__all__ = [
    "CameraFaults", "add_noise", "any_rgb", "chip_styles", "degrade", "felt_rgb", "felt_texture",
    "lammer_sprites", "photo_faults", "print_rgb", "random_chips", "random_light", "table_faults",
]  # fmt: skip
