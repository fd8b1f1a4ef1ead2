"""From linear light to a film: the camera's exposure, noise and coding, with NumPy and PyAV."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt

from benchmarks.traced_stacks.truth import Rgb, TracedTable

Bytes = npt.NDArray[np.uint8]
Image32 = npt.NDArray[np.float32]

Part = tuple[tuple[int, int, int, int], Image32]

FRAMES, RATE = 3, 5
FEATHER_PX = 24


@dataclass(frozen=True)
class _Camera:
    """What a camera does to light; drawn for each table."""

    gains: Image32
    blur_px: float
    shot: float
    read: float
    contrast: float
    colour: float
    sharpen: float

    def seen(self, light: Image32, sharp: bool) -> tuple[Image32, Image32]:
        """The image, 0 to 1, and the spread of its noise; `sharp` light is blurred and
        sharpened."""
        light = light * self.gains
        if sharp:
            light = _blurred(light, self.blur_px)
        toned = _toned(light, self.contrast, self.colour)
        if sharp and self.sharpen:
            toned += self.sharpen * (toned - _blurred(toned, 1.1))
        # What a little more light adds to the image carries the noise of the light there.
        spread = np.sqrt(self.shot**2 * np.clip(light, 0, 1) + self.read**2)
        spread *= 1.055 / 2.4 * np.clip(light, 0.004, 1) ** (1 / 2.4 - 1)
        return toned, spread.astype(np.float32)


def film(
    coarse: Image32, parts: list[Part], table: TracedTable, lamp_rgb: Rgb, take: int = 0
) -> list[Bytes]:  # fmt: skip
    """Frames uint8 (h, w, 3) RGB of linear light, each with noise of its own.

    `coarse` shows the whole frame, `parts` what is sharp of it, with boxes in px. White balance
    takes out a part of the lamps' colour; exposure follows the mean light of the parts, without
    burning out more than a little of it. Each `take` is by another camera.
    """
    rng = np.random.default_rng([table.seed, table.number, 2, *([take] if take else [])])
    gains = np.array(lamp_rgb) ** -rng.uniform(0.55, 1.0)
    gains /= gains[1]
    light = np.concatenate([part.reshape(-1, 3)[::7] for _, part in parts]) * gains
    most = 0.88 / float(np.quantile(light.max(axis=1), 0.995))
    exposure = min(0.16 / float(light.mean()), most) * rng.uniform(0.8, 1.15)
    camera = _Camera(
        np.asarray(gains * exposure, np.float32), float(rng.uniform(0.35, 0.75)),
        float(rng.uniform(0.004, 0.014)), float(rng.uniform(0.002, 0.007)),
        float(rng.uniform(0.0, 0.35)), float(rng.uniform(0.9, 1.15)),
        float(rng.choice([0.0, 0.4, 0.9])),
    )  # fmt: skip
    high, wide = table.camera.height_px, table.camera.width_px
    image, spread = (_enlarged(one, high, wide) for one in camera.seen(coarse, False))
    for (x0, y0, x1, y1), part in parts:
        cover = _feather(y1 - y0, x1 - x0)
        for whole, own in zip((image, spread), camera.seen(part, True), strict=True):
            whole[y0:y1, x0:x1] += cover * (own - whole[y0:y1, x0:x1])
    grain = rng.standard_normal(image.shape, np.float32)
    if camera.sharpen:
        grain *= 1 + 0.7 * camera.sharpen
    grain *= spread
    out = []
    for _ in range(FRAMES):
        # Noise of light elsewhere would be of another strength: it is turned, not moved far.
        grain = np.roll(grain, tuple(rng.integers(3, 12, 2).tolist()), axis=(0, 1))
        out.append(np.clip((image + grain) * 255 + 0.5, 0, 255).astype(np.uint8))
    return out


def write_film(path: Path, frames: list[Bytes], crf: int) -> None:
    """Code frames as H.264, 4:2:0; the file is whole or not there."""
    part = path.with_suffix(".part.mp4")
    high, wide = frames[0].shape[:2]
    with av.open(str(part), "w") as box:
        stream = box.add_stream("libx264", rate=RATE)
        stream.width, stream.height, stream.pix_fmt = wide, high, "yuv420p"
        stream.options = {"crf": str(crf), "preset": "veryfast"}
        stream.codec_context.thread_count = 1
        for frame in frames:
            box.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        box.mux(stream.encode())
    part.replace(path)


def last_frame(path: Path) -> Bytes:
    """The last frame of a film, uint8 (h, w, 3) BGR; ValueError where there is none."""
    return frames_of(path)[-1]


def frames_of(path: Path) -> list[Bytes]:
    """The frames of a film, uint8 (h, w, 3) BGR; ValueError where there is none."""
    with av.open(str(path)) as box:
        frames = [
            np.asarray(frame.to_ndarray(format="bgr24"), np.uint8)
            for frame in box.decode(video=0)
        ]  # fmt: skip
    if not frames:
        raise ValueError(f"{path}: holds no frame")
    return frames


def _toned(light: Image32, contrast: float, colour: float) -> Image32:
    """Linear light to the image's own scale, 0 to 1."""
    light = np.clip(light, 0, None)
    # Light above 0.8 is pressed together, as cameras do.
    light = np.where(light > 0.8, 0.8 + 0.2 * np.tanh((light - 0.8) / 0.4), light)
    toned = np.where(light < 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)
    curved = toned + contrast * (toned * toned * (3 - 2 * toned) - toned)
    grey = curved.mean(axis=2, keepdims=True)
    out: Image32 = (grey + colour * (curved - grey)).astype(np.float32)
    return out


def _blurred(image: Image32, sigma: float) -> Image32:
    """A Gaussian blur."""
    reach = max(2, round(3 * sigma))
    spread = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    weights = [float(weight) for weight in spread / spread.sum()]
    for axis in (0, 1):
        padded = np.pad(image, [(reach, reach) if k == axis else (0, 0) for k in range(3)], "edge")
        n = image.shape[axis]
        total = np.zeros_like(image)
        for step, weight in enumerate(weights):
            part = padded[step : step + n] if axis == 0 else padded[:, step : step + n]
            total += weight * part
        image = total
    return image


def _enlarged(image: Image32, high: int, wide: int) -> Image32:
    """An image enlarged bilinearly."""
    low, share = _steps(image.shape[0], high)
    weight = share[:, None, None]
    tall = image[low] * (1 - weight) + image[low + 1] * weight
    low, share = _steps(image.shape[1], wide)
    weight = share[None, :, None]
    return np.asarray(tall[:, low] * (1 - weight) + tall[:, low + 1] * weight, np.float32)


def _steps(n: int, m: int) -> tuple[npt.NDArray[np.intp], Image32]:
    """For m places, the one of n before each and how far it is beyond that."""
    at = np.clip((np.arange(m) + 0.5) * n / m - 0.5, 0, n - 1.001)
    low = np.floor(at).astype(np.intp)
    return low, (at - low).astype(np.float32)


def _feather(high: int, wide: int) -> Image32:
    """Weights (h, w, 1) that fall to zero at the border."""
    down, across = (
        np.clip(np.minimum(np.arange(n) + 1, np.arange(n)[::-1] + 1) / FEATHER_PX, 0, 1)
        for n in (high, wide)
    )
    return np.asarray(down[:, None, None] * across[None, :, None], np.float32)
