"""Little films for the tests of live sources: noise that shows the frame's number."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from vision.sources.camera_backends import LivePlace
from vision.sources.frame import LiveFrame
from vision.sources.limits import LiveLimits
from vision.sources.live import LiveSource, LiveStatus
from vision.sources.url import Address

SIZE = (320, 192)
QUICK = LiveLimits(
    open_s=5.0, stalled_s=1.0, give_up_s=3.0, frozen_s=2.0, freeze_check_s=0.3,
    backoff_first_s=0.2, backoff_most_s=1.0, settled_s=2.0, slot=4, slot_s=0.8,
)  # fmt: skip
PATIENCE_S = 90.0
"""For a state to come about: the machine may be busy with other things."""


def write_film(
    path: Path,
    seconds: float,
    rate: int = 10,
    *,
    codec: str = "libx264",
    frozen_from: float | None = None,
    b_frames: int = 0,
    size: tuple[int, int] = SIZE,
    key_every_s: float = 1.0,
) -> Path:
    """A film whose brightness is its frame's number modulo 64; from a time on one frame."""
    luck = np.random.default_rng(5)
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream(codec, rate=rate)
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        stream.codec_context.gop_size = round(rate * key_every_s)
        stream.codec_context.max_b_frames = b_frames
        stream.options = {"preset": "ultrafast"} if codec != "libx265" else {
            "preset": "ultrafast", "x265-params": "log-level=none",
        }  # fmt: skip
        stream.time_base = Fraction(1, rate)
        picture = np.zeros((size[1], size[0], 3), np.uint8)
        for index in range(round(seconds * rate)):
            if frozen_from is None or index < frozen_from * rate:
                level = 40 + 2 * (index % 64)
                noise = luck.integers(-12, 13, picture.shape)
                picture = np.clip(level + noise, 0, 255).astype(np.uint8)
            frame = av.VideoFrame.from_ndarray(picture, format="bgr24")
            frame.pts, frame.time_base = index, Fraction(1, rate)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def live(where: str, **options: Any) -> LiveSource:
    """A source with quick limits; `loop`, user, password and `ca_file` go into its place."""
    loop = options.pop("loop", False)
    known = (options.pop("username", ""), options.pop("password", ""), options.pop("ca_file", None))
    address = Address.parse(where, *known)
    options.setdefault("limits", QUICK)
    return LiveSource(LivePlace(address, loop=loop), **options)


def until(
    source: LiveSource,
    wanted: Callable[[LiveStatus], bool],
    patience_s: float = PATIENCE_S,
    frames: list[LiveFrame] | None = None,
) -> LiveStatus:
    """Read the source until its status is as wanted; what was read is added to `frames`."""
    end = time.monotonic() + patience_s
    seen: list[str] = []
    while time.monotonic() < end:
        frame = source.next_frame(0.05)
        if frame is not None and frames is not None:
            frames.append(frame)
        status = source.status()
        shown = f"{status.state}: {status.message}"
        if not seen or seen[-1] != shown:
            seen.append(shown)
        if wanted(status):
            return status
    raise AssertionError(f"not so within {patience_s:g} s; seen: {seen}")
