"""From linear light to a film: lens, sensor noise, white balance, tone and H.264."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt
from PIL import Image

from benchmarks.mitsuba_stacks.prints import Image32
from benchmarks.traced_stacks.truth import Rgb, TracedTable

Bytes = npt.NDArray[np.uint8]
Box = tuple[int, int, int, int]

FRAMES, RATE = 3, 10
_BLEND_PX = 20


@dataclass(frozen=True)
class _Look:
    """One camera's habits; drawn for each table."""

    gains: Image32
    soft: float
    full_well: float
    dark: float
    toe: float
    shoulder: float
    gamma: float
    colour: float
    crisp: float
    corners: float


def photograph(
    coarse: Image32, parts: list[tuple[Box, Image32]], table: TracedTable, lamp: Rgb
) -> list[Bytes]:  # fmt: skip
    """Frames uint8 (h, w, 3) RGB; `parts` are the sharp boxes of the frame."""
    rng = np.random.default_rng([table.seed, table.number, 307])
    size = (table.camera.width_px, table.camera.height_px)
    light = np.dstack([
        np.asarray(Image.fromarray(coarse[..., k]).resize(size, Image.Resampling.BILINEAR))
        for k in range(3)
    ])  # fmt: skip
    look = _look(rng, parts, lamp)
    for (x0, y0, x1, y1), own in parts:
        cover = _blend(y1 - y0, x1 - x0)
        light[y0:y1, x0:x1] += cover * (_softened(own, look.soft) - light[y0:y1, x0:x1])
    light *= look.gains
    far = np.hypot(*np.meshgrid(np.linspace(-1, 1, size[0]), np.linspace(-0.56, 0.56, size[1])))
    light *= (1 - look.corners * far**2).astype(np.float32)[..., None]
    return [_exposed(rng, light, look) for _ in range(FRAMES)]


def _look(rng: np.random.Generator, parts: list[tuple[Box, Image32]], lamp: Rgb) -> _Look:
    """White balance takes most of the lamp's colour out; exposure follows the middle tones."""
    balance = np.array(lamp) ** -rng.uniform(0.6, 1.0) * np.exp(rng.normal(0, 0.025, 3))
    balance /= balance[1]
    seen = np.concatenate([own.reshape(-1, 3)[::11] for _, own in parts]) * balance
    bright = seen.max(axis=1)
    metered = 0.5 * float(bright.mean()) + 0.5 * float(np.quantile(bright, 0.7))
    gain = min(rng.uniform(0.16, 0.26) / metered, 1.05 / float(np.quantile(bright, 0.99)))
    return _Look(
        gains=np.asarray(balance * gain, np.float32), soft=float(rng.uniform(0.4, 0.8)),
        full_well=float(rng.uniform(1500, 9000)), dark=float(rng.uniform(0.0008, 0.003)),
        toe=float(rng.uniform(0.0, 0.012)), shoulder=float(rng.uniform(0.55, 0.8)),
        gamma=float(rng.uniform(2.0, 2.35)), colour=float(rng.uniform(0.9, 1.25)),
        crisp=float(rng.uniform(0.0, 0.8)), corners=float(rng.uniform(0.0, 0.2)),
    )  # fmt: skip


def _exposed(rng: np.random.Generator, light: Image32, look: _Look) -> Bytes:
    """One frame with noise of its own."""
    spread = np.sqrt(np.maximum(light, 0) / look.full_well + look.dark**2)
    grain = rng.standard_normal(light.shape, np.float32)
    # Colour is filtered from neighbours: its noise is wider than a pixel.
    grain = 0.55 * grain + 0.3 * (np.roll(grain, 1, 0) + np.roll(grain, 1, 1))
    shown = np.maximum(light + spread * grain - look.toe * 0.3, 0)
    knee = look.shoulder
    over = np.maximum(shown - knee, 0)
    shown = np.minimum(shown, knee) + (1 - knee) * over / (over + (1 - knee))
    shown **= np.float32(1 / look.gamma)
    grey = shown @ np.array([0.3, 0.59, 0.11], np.float32)
    shown = grey[..., None] + look.colour * (shown - grey[..., None])
    if look.crisp:
        fine = grey - _softened(grey[..., None], 1.0)[..., 0]
        shown += look.crisp * fine[..., None]
    return np.asarray(np.clip(shown * 255 + 0.5, 0, 255), np.uint8)


def write_film(path: Path, frames: list[Bytes], crf: int) -> None:
    """H.264 in an MP4 file that is whole or not there."""
    part = path.with_name(f"{path.stem}.part.mp4")
    with av.open(str(part), "w") as film:
        stream: av.VideoStream = film.add_stream("h264", rate=RATE)
        stream.height, stream.width = frames[0].shape[:2]
        stream.pix_fmt = "yuv420p"
        stream.options = {"preset": "veryfast", "crf": str(crf)}
        stream.codec_context.thread_count = 1
        for frame in frames:
            film.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        film.mux(stream.encode(None))
    part.replace(path)


def _softened(image: Image32, sigma: float) -> Image32:
    """A lens's blur, Gaussian and at most a few pixels wide."""
    at = np.arange(-3, 4)
    weights = np.exp(-0.5 * (at / sigma) ** 2)
    weights = (weights / weights.sum()).astype(np.float32)
    for axis in (0, 1):
        edge = [(3, 3) if k == axis else (0, 0) for k in range(image.ndim)]
        wide = np.pad(image, edge, mode="reflect")
        n = image.shape[axis]
        image = np.asarray(
            sum(w * wide.take(range(k, k + n), axis) for k, w in enumerate(weights)), np.float32
        )
    return image


def _blend(high: int, wide: int) -> Image32:
    """Weights (h, w, 1) that rise from the border of a part."""
    down, across = (
        np.clip((np.minimum(at := np.arange(n), n - 1 - at) + 0.5) / _BLEND_PX, 0, 1)
        for n in (high, wide)
    )
    return np.asarray((down[:, None] * across)[..., None], np.float32)
