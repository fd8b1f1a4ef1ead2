"""What a camera does to the image: exposure, blur, noise and the codec."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import av
import cv2
import numpy as np
import numpy.typing as npt
from av.video.codeccontext import VideoCodecContext

from datasets.render.cards.suit_marks import Picture

NOISE_SIDE = 2048


@dataclass(frozen=True)
class CameraFaults:
    """What a camera does: gains per BGR channel, gamma, blur, noise, codec.

    `motion_px` is the length of a motion blur along `motion_deg`; `sharpen` the strength of
    the edge enhancement that surveillance cameras add; `chroma` the noise of colours beside
    that of brightness; `codec` 'jpeg' at `quality`, or 'h264' at `crf`; `small` the share of
    the image's raster that was really recorded; `veil` the share of stray light that greys
    all blacks.
    """

    gain: tuple[float, float, float] = (1.0, 1.0, 1.0)
    gamma: float = 1.0
    blur_px: float = 0.5
    noise: float = 2.0
    quality: int = 80
    motion_px: float = 0.0
    motion_deg: float = 0.0
    sharpen: float = 0.0
    codec: str = "jpeg"
    crf: int = 27
    small: float = 1.0
    veil: float = 0.0


@lru_cache(maxsize=1)
def _noise_bank() -> npt.NDArray[np.int16]:
    """Unit noise times 256, drawn once: sensor noise is cut from it at random places."""
    rng = np.random.default_rng(20)
    return np.asarray(rng.normal(0, 256, (NOISE_SIDE, NOISE_SIDE, 3)), np.int16)


def add_noise(
    rng: np.random.Generator, image: Picture, sigma: float, *, grey: bool = False
) -> Picture:
    """The image, uint8 (h, w, 3), with normal noise of `sigma` levels; a new array."""
    out = np.empty_like(image)
    bank = _noise_bank()
    for y0 in range(0, image.shape[0], NOISE_SIDE):
        for x0 in range(0, image.shape[1], NOISE_SIDE):
            part = image[y0 : y0 + NOISE_SIDE, x0 : x0 + NOISE_SIDE]
            h, w = part.shape[:2]
            y = int(rng.integers(0, NOISE_SIDE - h + 1))
            x = int(rng.integers(0, NOISE_SIDE - w + 1))
            cut = bank[y : y + h, x : x + w]
            if grey:
                one = np.ascontiguousarray(cut[..., 0])
                cut = np.asarray(cv2.merge([one, one, one]), np.int16)
            noisy = cv2.addWeighted(part, 1.0, cut, sigma / 256, 0, dtype=cv2.CV_8U)
            out[y0 : y0 + h, x0 : x0 + w] = noisy
    return out


def tone_table(faults: CameraFaults) -> Picture:
    """The look-up table of gains and gamma, uint8 (256, 1, 3)."""
    levels = np.arange(256) / 255
    lut = np.stack([255 * g * levels**faults.gamma for g in faults.gain], axis=1)
    lut = np.clip(lut, 0, 255) * (1 - faults.veil) + 205 * faults.veil
    return np.clip(lut, 0, 255).astype(np.uint8).reshape(256, 1, 3)


def table_faults(rng: np.random.Generator) -> CameraFaults:
    """A ceiling camera in fair order."""
    level = rng.uniform(0.7, 1.2)
    warm = float(rng.normal(0, 0.05))
    return CameraFaults(
        gain=(
            float(level * (1 - warm) * rng.uniform(0.97, 1.03)), float(level),
            float(level * (1 + warm) * rng.uniform(0.97, 1.03)),
        ),
        gamma=float(rng.uniform(0.8, 1.25)),
        blur_px=float(rng.uniform(0.3, 0.95) if rng.random() < 0.92 else rng.uniform(0.95, 1.7)),
        noise=float(rng.uniform(0.5, 6)),
        quality=int(rng.integers(38, 95)),
        motion_px=float(rng.uniform(1.5, 6)) if rng.random() < 0.1 else 0.0,
        motion_deg=float(rng.uniform(0, 180)),
        sharpen=float(rng.uniform(0.2, 1.0)) if rng.random() < 0.4 else 0.0,
        codec="h264" if rng.random() < 0.25 else "jpeg",
        crf=int(rng.integers(20, 34)),
        veil=float(rng.uniform(0.02, 0.2)) if rng.random() < 0.2 else 0.0,
    )  # fmt: skip


def photo_faults(rng: np.random.Generator) -> CameraFaults:
    """A telephone in any light."""
    level = rng.uniform(0.3, 1.25) if rng.random() < 0.5 else rng.uniform(0.8, 1.15)
    wild = 2.2 if rng.random() < 0.15 else 1.0
    warm, green = float(rng.normal(0, 0.085)) * wild, float(rng.normal(0, 0.035)) * wild
    return CameraFaults(
        gain=(float(level * (1 - warm)), float(level * (1 + green)), float(level * (1 + warm))),
        gamma=float(rng.uniform(0.7, 1.5)),
        blur_px=float(rng.uniform(0.2, 1.8) if rng.random() < 0.8 else rng.uniform(1.8, 3.0)),
        noise=float(rng.uniform(0.5, 9)),
        quality=int(rng.integers(30, 96)),
        motion_px=float(rng.uniform(2, 9)) if rng.random() < 0.12 else 0.0,
        motion_deg=float(rng.uniform(0, 180)),
        sharpen=float(rng.uniform(0.2, 1.6)) if rng.random() < 0.3 else 0.0,
        small=float(rng.uniform(0.4, 0.9)) if rng.random() < 0.25 else 1.0,
        veil=float(rng.uniform(0.05, 0.45)) if rng.random() < 0.25 else 0.0,
    )


def motion_kernel(length_px: float, angle_deg: float) -> npt.NDArray[np.float32]:
    """The blur of a thing that moves `length_px` while the shutter is open."""
    n = max(3, math.ceil(length_px) // 2 * 2 + 1)
    kernel = np.zeros((n, n), np.float32)
    c = (n - 1) / 2
    a = math.radians(angle_deg)
    for t in np.linspace(-0.5, 0.5, 4 * n):
        x, y = c + t * length_px * math.cos(a), c + t * length_px * math.sin(a)
        kernel[min(n - 1, max(0, round(y))), min(n - 1, max(0, round(x)))] += 1
    out: npt.NDArray[np.float32] = kernel / kernel.sum()
    return out


def degrade(rng: np.random.Generator, image: Picture, faults: CameraFaults) -> Picture:
    """Blur, exposure, noise and codec on an image, uint8 (h, w, 3); a new array."""
    out: Picture | cv2.typing.MatLike = image
    h, w = image.shape[:2]
    if faults.small < 1.0:
        out = cv2.resize(out, None, fx=faults.small, fy=faults.small, interpolation=cv2.INTER_AREA)
    if faults.blur_px > 0.2:
        out = cv2.GaussianBlur(out, (0, 0), faults.blur_px)
    if faults.motion_px > 1:
        out = cv2.filter2D(out, -1, motion_kernel(faults.motion_px, faults.motion_deg))
    out = cv2.LUT(out, tone_table(faults))
    out = add_noise(rng, np.asarray(out, np.uint8), faults.noise)
    if faults.sharpen:
        soft = cv2.GaussianBlur(out, (0, 0), 1.1)
        out = cv2.addWeighted(out, 1 + faults.sharpen, soft, -faults.sharpen, 0)
    if faults.small < 1.0:
        out = cv2.resize(out, (w, h), interpolation=cv2.INTER_LINEAR)
    if faults.codec == "h264":
        return through_h264(np.asarray(out, np.uint8), faults.crf)
    _, data = cv2.imencode(".jpg", out, [cv2.IMWRITE_JPEG_QUALITY, faults.quality])
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)


def through_h264(image: Picture, crf: int) -> Picture:
    """The image, uint8 (h, w, 3) BGR, as H.264 at `crf` gives it back; a new array.

    One thread, so that the same image always comes back the same.
    """
    h, w = image.shape[:2]
    even = cv2.copyMakeBorder(image, 0, h % 2, 0, w % 2, cv2.BORDER_REPLICATE)
    coder = VideoCodecContext.create("libx264", "w")
    assert isinstance(coder, VideoCodecContext)
    coder.width, coder.height = even.shape[1], even.shape[0]
    coder.pix_fmt = "yuv420p"
    coder.time_base = Fraction(1, 15)
    coder.thread_count = 1
    coder.options = {"preset": "ultrafast", "crf": str(crf), "tune": "zerolatency"}
    planes = np.asarray(cv2.cvtColor(even, cv2.COLOR_BGR2YUV_I420), np.uint8)
    frame = av.VideoFrame.from_ndarray(planes, format="yuv420p")
    frame.pts = 0
    packets = [*coder.encode(frame), *coder.encode(None)]
    decoder = VideoCodecContext.create("h264", "r")
    assert isinstance(decoder, VideoCodecContext)
    decoder.thread_count = 1
    frames = [f for packet in packets for f in decoder.decode(packet)]
    frames += decoder.decode(None)
    back = frames[0].to_ndarray(format="yuv420p")
    return np.asarray(cv2.cvtColor(back, cv2.COLOR_YUV2BGR_I420), np.uint8)[:h, :w]
