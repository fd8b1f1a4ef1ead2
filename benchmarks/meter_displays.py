"""How often rendered jackpot displays are read right, wrong or not at all.

Each scene is one display before one camera: digits of 10 to 20 px, 25 to 50 degrees off the
vertical, with blur, noise, glare, dim, blooming, blinking and changing displays, corners as a
hand picks them, and eight frames through H.264. Seeds are named: limits are chosen on one set
and judged on others.

    python -m benchmarks.meter_displays --name "meters judge 1" --scenes 400

With `--sights` single images are counted by how high and how steep the digits are seen, from which
the warnings of the page Jackpots come.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import av
import cv2
import numpy as np
from av.video.codeccontext import VideoCodecContext

from datasets.render.camera import SyntheticCamera, synthetic_camera
from datasets.render.cards.suit_marks import Picture
from datasets.render.displays import lay_panel, panel_corners, row_corners
from datasets.render.scene import DisplayItem
from datasets.render.sensor import add_noise
from vision.geometry.standard_layout import FELT
from vision.geometry.table import FloatArray
from vision.meters.enrolment import measured
from vision.meters.reading import Crop, MeterReading, read_meter

FRAMES = 8
SIZE = (480, 272)
"""Width and height of the part of the image that is drawn and coded, px."""
_COLOURS = ((255, 60, 40), (255, 150, 30), (80, 255, 90), (90, 140, 255), (250, 250, 255))


@dataclass(frozen=True)
class Scene:
    """One display and what happens to its image; lengths in px of the image."""

    item: DisplayItem
    tilt_deg: float
    azimuth_deg: float
    blur_px: float
    noise: float
    glare: float
    crf: int
    pick_px: float
    blinks: str
    """'', 'all' (the display goes dark now and then), 'digits' (each by itself), 'changes'."""
    digit_px: float
    seed: int


def draw_scene(seed: int, name: str) -> Scene:
    """A scene of a named set."""
    rng = np.random.default_rng([*name.encode(), seed])
    digits, decimals = int(rng.integers(6, 9)), 2 if rng.random() < 0.75 else 0
    used = int(rng.integers(max(3, decimals + 1), digits + 1))
    text = str(int(rng.integers(10 ** (used - 1), 10**used))).rjust(digits)
    width = float(rng.uniform(0.5, 0.65))
    item = DisplayItem(
        "display", (float(rng.uniform(300, 1800)), 140.0), text, decimals,
        digit_mm=(width * 16, 16.0), gap_mm=float(rng.uniform(0.3, 0.75)) * width * 16,
        thick_mm=16 * float(rng.uniform(0.1, 0.16)), lean_deg=float(rng.uniform(30, 75)),
        slant=float(rng.choice([0.0, 0.1, 0.17])), rgb=_COLOURS[rng.integers(len(_COLOURS))],
        brightness=float(rng.choice([0.25, 0.5, 0.8, 1.2])), bloom=float(rng.uniform(0, 0.8)),
        ghost=float(rng.choice([0.0, 0.05, 0.15])),
    )  # fmt: skip
    return Scene(
        item=item, tilt_deg=float(rng.uniform(25, 50)), azimuth_deg=float(rng.uniform(-20, 20)),
        blur_px=float(rng.uniform(0.4, 1.6)), noise=float(rng.uniform(1, 5)),
        glare=float(rng.uniform(0.2, 0.9)) if rng.random() < 0.3 else 0.0,
        crf=int(rng.integers(22, 34)), pick_px=0.8,
        blinks=str(rng.choice(["", "all", "digits", "changes"], p=[0.64, 0.12, 0.12, 0.12])),
        digit_px=float(rng.uniform(10, 20)), seed=seed,
    )  # fmt: skip


def render(scene: Scene, name: str) -> tuple[list[Picture], FloatArray, tuple[str, ...]]:
    """The frames' brightness (h, w) uint8, the picked corners (4, 2) px, what is shown."""
    rng = np.random.default_rng([*name.encode(), scene.seed, 1])
    camera = synthetic_camera(FELT, tilt_deg=scene.tilt_deg, azimuth_deg=scene.azimuth_deg)
    item = _sized(scene.item, camera, scene.digit_px)
    corners = camera.project(*row_corners(item))
    origin = np.round(corners.mean(axis=0) - np.array(SIZE) / 2)
    panel = camera.project(*panel_corners(item)) - origin
    texts = [item.text] * FRAMES
    if scene.blinks == "changes":
        later = str(int(item.text) + int(rng.integers(1, 60))).rjust(len(item.text))
        at = int(rng.integers(1, FRAMES))
        texts[at:] = [later[-len(item.text) :]] * (FRAMES - at)
    elif scene.blinks == "all":
        off = rng.permutation(FRAMES)[: int(rng.integers(1, 6))]
        texts = [" " * len(t) if k in off else t for k, t in enumerate(texts)]
    elif scene.blinks == "digits":
        dark = rng.random((FRAMES, len(item.text))) < 0.35
        dark[rng.integers(FRAMES, size=len(item.text)), np.arange(len(item.text))] = False
        texts = ["".join(" " if d else c for c, d in zip(t, row, strict=True))
                 for t, row in zip(texts, dark, strict=True)]  # fmt: skip
    felt = np.full((SIZE[1], SIZE[0], 3), rng.integers(20, 110, 3), np.uint8)
    felt = add_noise(rng, felt, 6.0)
    glare = _glare(scene, rng)
    frames = []
    for text in texts:
        canvas = felt.copy()
        lay_panel(canvas, replace(item, text=text), panel)
        if glare is not None:
            canvas = np.asarray(canvas + (255.0 - canvas) * glare[..., None], np.uint8)
        canvas = np.asarray(cv2.GaussianBlur(canvas, (0, 0), scene.blur_px), np.uint8)
        frames.append(add_noise(rng, canvas, scene.noise))
    picked = corners - origin + rng.normal(0, scene.pick_px, (4, 2))
    shown = (item.text, *{t for t in texts if scene.blinks == "changes"})
    return _coded(frames, scene.crf), picked, shown


def _sized(item: DisplayItem, camera: SyntheticCamera, digit_px: float) -> DisplayItem:
    """The display with digits so many px high in the image."""
    for _ in range(3):
        at = camera.project(*row_corners(item))
        k = digit_px / float(np.linalg.norm(at[3] - at[0]))
        item = replace(
            item, digit_mm=(item.digit_mm[0] * k, item.digit_mm[1] * k), gap_mm=item.gap_mm * k,
            thick_mm=item.thick_mm * k,
        )  # fmt: skip
    return item


def _glare(scene: Scene, rng: np.random.Generator) -> FloatArray | None:
    """A lamp's reflection over a part of the display, shares (h, w)."""
    if not scene.glare:
        return None
    x, y = np.meshgrid(np.arange(SIZE[0]) - SIZE[0] / 2, np.arange(SIZE[1]) - SIZE[1] / 2)
    x0, y0 = rng.uniform(-60, 60), rng.uniform(-12, 12)
    rx, ry = rng.uniform(15, 50), rng.uniform(8, 25)
    out: FloatArray = scene.glare * np.exp(-(((x - x0) / rx) ** 2) - ((y - y0) / ry) ** 2)
    return out


def _coded(frames: Sequence[Picture], crf: int) -> list[Picture]:
    """The frames' brightness as H.264 gives it back."""
    coder = VideoCodecContext.create("libx264", "w")
    assert isinstance(coder, VideoCodecContext)
    coder.width, coder.height = SIZE
    coder.pix_fmt, coder.time_base, coder.thread_count = "yuv420p", Fraction(1, 5), 1
    coder.options = {"preset": "veryfast", "crf": str(crf)}
    packets = []
    for number, frame in enumerate(frames):
        image = av.VideoFrame.from_ndarray(frame, format="bgr24").reformat(format="yuv420p")
        image.pts = number
        packets += coder.encode(image)
    packets += coder.encode(None)
    decoder = VideoCodecContext.create("h264", "r")
    assert isinstance(decoder, VideoCodecContext)
    back = [f for packet in packets for f in decoder.decode(packet)] + decoder.decode(None)
    return [np.asarray(f.to_ndarray(format="yuv420p")[: SIZE[1]], np.uint8) for f in back]


def read_scene(scene: Scene, name: str) -> tuple[MeterReading, tuple[str, ...]]:
    """What is read of a scene, and what may be read: the value, or one of two."""
    frames, corners, shown = render(scene, name)
    crop = Crop.around(corners, SIZE)
    assert crop is not None
    item = scene.item
    crops = [crop.cut(frame) for frame in frames]
    return read_meter(crops, crop.corners, len(item.text), item.decimals), shown


def scenes(name: str, count: int) -> Iterator[Scene]:
    """The scenes of a named set."""
    return (draw_scene(seed, name) for seed in range(count))


def judge(name: str, count: int) -> dict[str, dict[str, int]]:
    """Values and digits right, wrong and undecided, over all scenes and by group."""
    tally: dict[str, Counter[str]] = {}
    for scene in scenes(name, count):
        reading, shown = read_scene(scene, name)
        cents = {int(t) * (1 if scene.item.decimals else 100) for t in shown}
        if reading.cents is None:
            value = "undecided"
        else:
            value = "right" if reading.cents in cents else "wrong"
        px = (
            "under 13 px"
            if scene.digit_px < 13
            else "over 16 px"
            if scene.digit_px > 16
            else "13-16 px"
        )
        groups = ["values", px, f"blinks: {scene.blinks}" if scene.blinks else "steady"] + [
            "glare"
        ] * bool(scene.glare)
        groups += ["dim"] * (scene.item.brightness < 0.3)
        for group in groups:
            tally.setdefault(group, Counter())[value] += 1
        for place, character in enumerate(reading.shown):
            true = {t[place] for t in shown}
            digit = "undecided" if character == "?" else "right" if character in true else "wrong"
            tally.setdefault("digits", Counter())[digit] += 1
    return {group: dict(counts) for group, counts in tally.items()}


def judge_sights(name: str, count: int) -> dict[str, dict[str, int]]:
    """Values right, wrong and undecided in single images, by how the camera sees the display.

    Scenes without glare and blinking, digits of 4 to 18 px, up to 75 degrees from the side.
    """
    tally: dict[str, Counter[str]] = {}
    for drawn in scenes(name, count):
        rng = np.random.default_rng([*name.encode(), drawn.seed, 2])
        scene = replace(
            drawn, blinks="", glare=0.0, digit_px=float(rng.uniform(4, 18)),
            azimuth_deg=float(rng.uniform(0, 75)), tilt_deg=float(rng.uniform(25, 70)),
        )  # fmt: skip
        frames, corners, (text, *_) = render(scene, name)
        crop = Crop.around(corners, SIZE)
        if crop is None:
            continue
        item = scene.item
        reading = read_meter([crop.cut(frames[0])], crop.corners, len(text), item.decimals)
        cents = int(text) * (1 if item.decimals else 100)
        value = "right" if reading.cents == cents else "wrong"
        high, pitch, slant = measured(corners, len(text))
        heights = [("under 7 px", 0, 7), ("7 to 12 px", 7, 12), ("12 px or more", 12, 99)]
        for group in (
            *(words for words, least, most in heights if least <= high < most),
            *(["12 px or more, slant of 20 degrees or more"] * (high >= 12 and slant >= 20)),
            *(["12 px or more, pitch under half a height"] * (high >= 12 and pitch < 0.5)),
        ):
            own = tally.setdefault(group, Counter())
            own["undecided" if reading.cents is None else value] += 1
    return {group: dict(counts) for group, counts in tally.items()}


def main() -> None:
    """Print the tally of a named set as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--name", default="meters tune", help="Name of the set.")
    parser.add_argument("--scenes", type=int, default=300)
    parser.add_argument(
        "--sights", action="store_true", help="Single images by height and slant of the digits."
    )
    own = parser.parse_args()
    measure = judge_sights if own.sights else judge
    print(json.dumps(measure(own.name, own.scenes), indent=2))


if __name__ == "__main__":
    main()
