"""How tables look: felts, chips, lammers, light and camera faults, drawn at random."""

from __future__ import annotations

import colorsys
import math
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from datasets.deck import Picture
from datasets.paint import ChipLook, Light, lammer_sprite
from vision.table import ChipKind, LammerKind, Rgb

NOISE_SIDE = 2048


@lru_cache(maxsize=1)
def _noise_bank() -> npt.NDArray[np.int16]:
    """Unit noise times 256, drawn once: sensor noise is cut from it at random places."""
    rng = np.random.default_rng(20)
    return np.asarray(rng.normal(0, 256, (NOISE_SIDE, NOISE_SIDE, 3)), np.int16)


def add_noise(
    rng: np.random.Generator, image: Picture, sigma: float, *, grey: bool = False
) -> Picture:
    """The picture, uint8 (h, w, 3), with normal noise of `sigma` levels; a new array."""
    h, w = image.shape[:2]
    bank = _noise_bank()
    if h > NOISE_SIDE or w > NOISE_SIDE:
        bank = np.tile(bank, (h // NOISE_SIDE + 1, w // NOISE_SIDE + 1, 1))
    y = int(rng.integers(0, bank.shape[0] - h + 1))
    x = int(rng.integers(0, bank.shape[1] - w + 1))
    cut = bank[y : y + h, x : x + w]
    if grey:
        cut = np.repeat(cut[..., :1], 3, axis=2)
    out = cv2.addWeighted(image, 1.0, cut, sigma / 256, 0, dtype=cv2.CV_8U)
    return np.asarray(out, np.uint8)


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
    kind = rng.choice(5, p=[0.4, 0.25, 0.13, 0.12, 0.1])
    hue = {0: 0.36, 1: 0.58, 2: 0.98, 3: 0.78, 4: 0.09}[int(kind)] + rng.normal(0, 0.03)
    return _hsv(hue, rng.uniform(0.25 if kind == 4 else 0.45, 0.85), rng.uniform(0.22, 0.62))


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


def chip_looks(rng: np.random.Generator, chips: dict[str, ChipKind]) -> dict[str, ChipLook]:
    """Edge spots and inlays for a table's chips; the body colour is the table file's."""
    looks = {}
    house = rng.random()
    for name, kind in chips.items():
        spot = _hsv(rng.random(), rng.uniform(0, 0.9), rng.uniform(0.55, 1))
        if max(abs(a - b) for a, b in zip(spot, kind.rgb, strict=True)) < 80 or house < 0.4:
            spot = (238, 236, 228) if sum(kind.rgb) < 480 else (40, 60, 140)
        looks[name] = ChipLook(
            rgb=kind.rgb,
            spot_rgb=spot,
            spots=int(rng.choice([3, 4, 6, 8])),
            spot_share=float(rng.uniform(0.15, 0.38)),
            inlay_rgb=(238, 234, 220) if rng.random() < 0.6 else kind.rgb,
            inlay_share=float(rng.uniform(0.5, 0.66)),
            text=CHIP_TEXT.get(kind.value_cents, ""),
        )
    return looks


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
    """Pictures and sizes of a table's lammers; with `vary`, in colours of any house."""
    sprites, sizes = {}, {}
    for name, kind in lammers.items():
        rgb, size = kind.rgb, kind.diameter_mm
        if vary:
            rgb = _hsv(rng.random(), rng.uniform(0, 0.9), rng.uniform(0.15, 1))
            size = float(rng.uniform(25, 35))
        plaque = bool(vary and rng.random() < 0.2)
        sprites[name] = lammer_sprite(kind.word, rgb, size, plaque=plaque)
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


@dataclass(frozen=True)
class CameraFaults:
    """What a camera does to the picture: gains per BGR channel, gamma, blur, noise, codec."""

    gain: tuple[float, float, float] = (1.0, 1.0, 1.0)
    gamma: float = 1.0
    blur_px: float = 0.5
    noise: float = 2.0
    quality: int = 80


def table_faults(rng: np.random.Generator) -> CameraFaults:
    """A ceiling camera in fair order."""
    level = rng.uniform(0.7, 1.2)
    return CameraFaults(
        gain=tuple(float(level * rng.uniform(0.92, 1.08)) for _ in range(3)),  # type: ignore[arg-type]
        gamma=float(rng.uniform(0.85, 1.2)),
        blur_px=float(rng.uniform(0.3, 0.95)),
        noise=float(rng.uniform(0.5, 6)),
        quality=int(rng.integers(38, 95)),
    )


def photo_faults(rng: np.random.Generator) -> CameraFaults:
    """A telephone in any light."""
    level = rng.uniform(0.3, 1.25) if rng.random() < 0.5 else rng.uniform(0.8, 1.15)
    return CameraFaults(
        gain=tuple(float(level * rng.uniform(0.75, 1.2)) for _ in range(3)),  # type: ignore[arg-type]
        gamma=float(rng.uniform(0.7, 1.5)),
        blur_px=float(rng.uniform(0.2, 1.8) if rng.random() < 0.8 else rng.uniform(1.8, 3.0)),
        noise=float(rng.uniform(0.5, 9)),
        quality=int(rng.integers(30, 96)),
    )


def degrade(rng: np.random.Generator, image: Picture, faults: CameraFaults) -> Picture:
    """Light, blur, noise and codec on a picture, uint8 (h, w, 3); a new array."""
    out = cv2.GaussianBlur(image, (0, 0), faults.blur_px) if faults.blur_px > 0.2 else image
    if rng.random() < 0.12:
        n = int(rng.integers(2, 7))
        kernel = np.zeros((n, n), np.float32)
        a = rng.uniform(0, math.pi)
        c = (n - 1) / 2
        d = np.array([math.cos(a), math.sin(a)]) * c
        cv2.line(
            kernel, (round(c - d[0]), round(c - d[1])), (round(c + d[0]), round(c + d[1])), 1.0
        )
        out = cv2.filter2D(out, -1, kernel / kernel.sum())
    levels = np.arange(256) / 255
    lut = np.stack([255 * g * levels**faults.gamma for g in faults.gain], axis=1)
    out = cv2.LUT(out, np.clip(lut, 0, 255).astype(np.uint8).reshape(256, 1, 3))
    out = add_noise(rng, np.asarray(out, np.uint8), faults.noise)
    _, data = cv2.imencode(".jpg", out, [cv2.IMWRITE_JPEG_QUALITY, faults.quality])
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)
