"""The banker's button or dice cup, looked for at the places where it may lie.

The sample shows the marker's upper face and a ring of what surrounds it. A place is rectified in
the plane of that face, so that a tall cup looks alike from every side, and compared with the
sample in colour: first with the sample's mean over all turns, which finds discs of its colours,
then about the likeliest of them in polar form, where one Fourier transform gives all turns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np

from vision.detect.detections import ByteArray, Floats
from vision.geometry.calibration import Calibration
from vision.geometry.table import MARKER_PX, BankerMarker, FloatArray, Point, decode_png

SPAN = 1.3
"""What a sample shows, in diameters of the face."""

BLUR_PX = 1.0
TURNS, RADII = 128, 26
DISC, RING = 0.94, 1.24
"""The face without its rim, and the face with a ring about it, in diameters."""

COARSE = 0.5
RIVALS = 3
"""So many of the coarse finds are looked at closely."""

STEPS_PX = ((4, 2), (1, 1))
"""How far about a coarse find, and in what steps, the middle is looked for."""

MOST_OFF = 40.0
"""Greater distances in colour (CIE Lab) count as this."""

LEAST_LIGHT = 1e-6

WEIGHTS = (9.516, 9.523, -0.234, -0.089)
ODDS_OFF = -10.461
"""Log odds of being the marker by `Likeness.array`. Fitted by logistic regression (ridge 0.3 on
standardised values) on 2,660 places of 384 scenes of 16 tune tables (`benchmarks.banker_marker`,
seeds 8100 to 8115, 24 scenes each), 311 of them with the marker: these have 0.948 and more, the
others 0.06 and less."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike a place and the sample are.

    `whole` and `face` are the correlations of face with ring and of the face alone, at most 1;
    `colour_off` and `light_off` how far the face's mean colour and lightness (CIE Lab) are off.
    """

    whole: float
    face: float
    colour_off: float
    light_off: float

    def array(self) -> FloatArray:
        """(4,) for a regression."""
        return np.array([self.whole, self.face, self.colour_off, self.light_off])


@dataclass(frozen=True, slots=True)
class MarkerFind:
    """The likeliest spot of a place: `center_mm` on the felt, where the marker's foot stands."""

    center_mm: Point
    likeness: Likeness

    @property
    def probability(self) -> float:
        """That the marker lies there."""
        return probability(self.likeness)


def probability(likeness: Likeness) -> float:
    """The probability that what is so alike is the marker itself."""
    odds = float(likeness.array() @ np.array(WEIGHTS)) + ODDS_OFF
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, odds))))


@dataclass(frozen=True, slots=True, eq=False)
class MarkerSample:
    """A marker's sample: image uint8 (MARKER_PX, MARKER_PX, 3) BGR, and what is compared of it."""

    marker: BankerMarker
    mean: ByteArray
    """Its mean over all turns, at the coarse scale."""
    polar: Floats
    """(TURNS, RADII, 3), by turn and distance from the middle."""
    lab: FloatArray

    @classmethod
    def of(cls, marker: BankerMarker) -> MarkerSample:
        """The sample of a table file."""
        image = decode_png(marker.sample_png)
        assert image is not None, "the table file was checked"
        image = _smooth(image)
        middle = np.full((1, 2), (MARKER_PX - 1) / 2)
        polar = _polar(image, middle)[0]
        rows, columns = np.mgrid[:MARKER_PX, :MARKER_PX]
        far = np.hypot(rows - middle[0, 0], columns - middle[0, 0])
        step = RING / SPAN * MARKER_PX / 2 / RADII
        profile = polar.mean(axis=0)
        at = np.clip(far / step - 0.5, 0, RADII - 1)
        own = np.stack([np.interp(at, np.arange(RADII), profile[:, k]) for k in range(3)], axis=-1)
        mean = cv2.resize(own.astype(np.uint8), None, fx=COARSE, fy=COARSE,
                          interpolation=cv2.INTER_AREA)  # fmt: skip
        return cls(marker, np.asarray(mean, np.uint8), polar, _lab(polar[None])[0])

    @property
    def px_per_mm(self) -> float:
        """Its scale."""
        return MARKER_PX / (SPAN * self.marker.diameter_mm)


def find_marker(
    frame: ByteArray, calibration: Calibration, at_mm: Point, sample: MarkerSample
) -> MarkerFind:
    """The likeliest spot of the marker within its reach of a point, and how alike it is there."""
    own, scale = sample.marker, sample.px_per_mm
    side = 2 * own.reach_mm + SPAN * own.diameter_mm
    patch = _smooth(calibration.warp_raised(frame, at_mm, side, scale, own.height_mm))
    half = (patch.shape[0] - 1) / 2
    reach = own.reach_mm * scale
    finds: list[tuple[float, FloatArray, Likeness]] = []
    for near in _coarse(patch, sample, reach):
        middle = near
        likeness = Likeness(-1.0, -1.0, MOST_OFF, MOST_OFF)
        for most, step in STEPS_PX:
            offs = np.arange(-most, most + 1, step, dtype=np.float64)
            grid = np.stack(np.meshgrid(offs, offs), axis=-1).reshape(-1, 2) + middle
            middle, likeness = _closest(patch, grid, sample)
        finds.append((likeness.whole + likeness.face, middle, likeness))
    _, middle, likeness = max(finds, key=lambda one: one[0])
    x, y = (np.asarray(at_mm) + (middle - half) / scale).tolist()
    return MarkerFind((x, y), likeness)


def _coarse(patch: ByteArray, sample: MarkerSample, reach_px: float) -> list[FloatArray]:
    """The middles (2,) px of the likeliest discs of the sample's colours."""
    small = cv2.resize(patch, None, fx=COARSE, fy=COARSE, interpolation=cv2.INTER_AREA)
    size = sample.mean.shape[0]
    mask = np.zeros((size, size, 3), np.uint8)
    cv2.circle(mask, (size // 2, size // 2), round(size / 2 * RING / SPAN), (1, 1, 1), -1)
    found = cv2.matchTemplate(small, sample.mean, cv2.TM_CCOEFF_NORMED, mask=mask)
    found = np.where(np.isfinite(found) & (np.abs(found) <= 1.001), found, -1.0)
    rows, columns = np.mgrid[: found.shape[0], : found.shape[1]]
    at = (np.stack([columns, rows], axis=-1) + size / 2) / COARSE - 0.5
    far = np.hypot(*np.moveaxis(at - (patch.shape[0] - 1) / 2, -1, 0))
    found = np.where(far <= reach_px, found, -2.0)
    out: list[FloatArray] = []
    for _ in range(RIVALS):
        best = int(found.argmax())
        if out and found.flat[best] <= -1.0:
            break
        out.append(at.reshape(-1, 2)[best])
        near = np.hypot(*np.moveaxis(at - out[-1], -1, 0)) < STEPS_PX[0][0] * 2
        found = np.where(near, -2.0, found)
    return out


def _closest(
    patch: ByteArray, middles: FloatArray, sample: MarkerSample
) -> tuple[FloatArray, Likeness]:
    """The middle (2,) of those (n, 2) px at which the patch is most alike, at any turn."""
    polar = _polar(patch, middles)
    whole, face = (_correlate(polar, sample.polar, share) for share in (RING, DISC))
    both = whole + face
    n, turn = np.unravel_index(int(both.argmax()), both.shape)
    off = _lab(polar[n][None])[0] - sample.lab
    colour = min(MOST_OFF, float(np.hypot(off[1], off[2])))
    light = min(MOST_OFF, abs(float(off[0])))
    return middles[n], Likeness(float(whole[n, turn]), float(face[n, turn]), colour, light)


def _correlate(polar: Floats, sample: Floats, share: float) -> FloatArray:
    """Correlations (n, TURNS) of polar images (n, TURNS, RADII, 3) with the sample at all turns,
    out to `share` diameters."""
    most = round(RADII * share / RING)
    weight = np.arange(most) + 0.5
    weight = (weight / (weight.sum() * TURNS))[:, None]

    def centred(one: Floats) -> FloatArray:
        part = one[..., :most, :].astype(np.float64)
        mean = (part * weight).sum(axis=(-3, -2), keepdims=True)
        out: FloatArray = part - mean
        return out

    a, b = centred(polar), centred(sample)
    norm = np.sqrt((a**2 * weight).sum(axis=(1, 2, 3)) * float((b**2 * weight).sum()))
    spectrum = np.fft.rfft(a * weight, axis=1) * np.conj(np.fft.rfft(b, axis=0))
    summed = np.fft.irfft(spectrum.sum(axis=(2, 3)), n=TURNS, axis=1)
    out: FloatArray = summed / np.maximum(norm, LEAST_LIGHT)[:, None]
    return out


@lru_cache(maxsize=1)
def _polar_grid() -> FloatArray:
    """Offsets (TURNS, RADII, 2) px from the middle of a sample."""
    turn = np.arange(TURNS) * 2 * math.pi / TURNS
    far = (np.arange(RADII) + 0.5) * (RING / SPAN * MARKER_PX / 2 / RADII)
    grid: FloatArray = np.stack([np.cos(turn), np.sin(turn)], axis=-1)[:, None] * far[None, :, None]
    return grid


def _polar(image: ByteArray, middles: FloatArray) -> Floats:
    """Polar images (n, TURNS, RADII, 3) about points (n, 2) px."""
    where = (_polar_grid()[None] + middles[:, None, None]).astype(np.float32)
    flat = where.reshape(len(middles) * TURNS, RADII, 2)
    x, y = np.ascontiguousarray(flat[..., 0]), np.ascontiguousarray(flat[..., 1])
    out = cv2.remap(image, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(out, np.float32).reshape(len(middles), TURNS, RADII, 3)


def _lab(polar: Floats) -> FloatArray:
    """Mean CIE Lab (n, 3) of the faces of polar images (n, TURNS, RADII, 3)."""
    most = round(RADII * DISC / RING)
    weight = np.arange(most) + 0.5
    mean = (polar[:, :, :most].mean(axis=1) * (weight / weight.sum())[:, None]).sum(axis=1)
    lab = cv2.cvtColor((mean / 255).astype(np.float32)[None], cv2.COLOR_BGR2LAB)
    return np.asarray(lab[0], np.float64)


def _smooth(image: ByteArray) -> ByteArray:
    return np.asarray(cv2.GaussianBlur(image, (0, 0), BLUR_PX), np.uint8)
