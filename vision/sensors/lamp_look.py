"""What a sensor's lamp looks like in one frame: measures of its disc and of the felt about it.

A square of felt about the lamp is cut from the calibrated frame. Measured are the disc, the felt
outside of its bezel, and how that felt differs from the felt about the table's other sensors:
a chip, a card or an arm over the sensor covers both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from vision.detect.detections import ByteArray
from vision.geometry.calibration import Calibration
from vision.geometry.lamps import SensorLamp
from vision.geometry.table import CHIP_DIAMETER_MM, FloatArray, Point

SIDE_PX = 56
HALF_MM = 26.0
"""Half the side of the square that is cut."""

FELT_MM = (6.0, 13.0)
"""The felt is measured so far outside of the lamp's rim: beyond a bezel and the near halo."""
NEAR_MM = (3.5, 6.0)
BEZEL_MM = (0.5, 2.5)
COIN_MM = CHIP_DIAMETER_MM / 2

_LUMA = np.array([0.114, 0.587, 0.299])
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class LampLook:
    """The measures of one lamp, levels from 0 to 1.

    `brighter` is the disc's brighter part over the felt, `bright` its strongest channel, `core`
    the share that is overexposed, `vivid` how far from grey its brighter part is, `alike` the
    cosine to the declared colour (0: none is declared), `halo` how much brighter the felt by the
    bezel is than farther out, `uneven` the disc's spread, `bezel` and `coin` the steps at the
    lamp's rim and where a coin's would be, `felt_*` how the felt about it differs from the other
    sensors' in light and tint, `texture` its spread, `white` its darkest channel.
    """

    brighter: float
    bright: float
    core: float
    vivid: float
    alike: float
    halo: float
    uneven: float
    bezel: float
    coin: float
    felt_light: float
    felt_tint: float
    texture: float
    white: float

    def array(self) -> FloatArray:
        """All measures and the products that the fit takes, (n,)."""
        own = np.array([
            self.brighter, self.bright, self.core, self.vivid, self.alike, self.halo, self.uneven,
            self.bezel, self.coin, self.felt_light, self.felt_tint, self.texture, self.white,
        ])  # fmt: skip
        products = np.array([
            self.brighter * self.vivid, self.brighter * self.alike, self.vivid * self.alike,
            self.bright * self.alike, self.bright * self.vivid, self.brighter**2,
            self.felt_light**2,
        ])  # fmt: skip
        return np.concatenate([own, products])


MEASURES = 20
"""Length of `LampLook.array`."""


@lru_cache(maxsize=8)
def _masks(diameter_mm: float) -> dict[str, Mask]:
    at = (np.arange(SIDE_PX) + 0.5) / SIDE_PX * 2 * HALF_MM - HALF_MM
    far = np.hypot(*np.meshgrid(at, at))
    rim = diameter_mm / 2

    def between(low: float, high: float) -> Mask:
        out: Mask = (far >= low) & (far <= high)
        return out

    return {
        "disc": far <= rim * 0.95,
        "bezel": between(rim + BEZEL_MM[0], rim + BEZEL_MM[1]),
        "near": between(rim + NEAR_MM[0], rim + NEAR_MM[1]),
        "felt": between(rim + FELT_MM[0], min(rim + FELT_MM[1], HALF_MM)),
        "in_coin": between(COIN_MM - 3.0, COIN_MM - 0.7),
        "out_coin": between(COIN_MM + 0.7, COIN_MM + 3.0),
    }


def cut_lamp(image: ByteArray, calibration: Calibration, center_mm: Point) -> FloatArray:
    """The square of felt about a lamp, float (SIDE_PX, SIDE_PX, 3) BGR, levels from 0 to 1."""
    k = 2 * HALF_MM / SIDE_PX
    to_felt = np.array([
        [k, 0, center_mm[0] - HALF_MM + k / 2], [0, k, center_mm[1] - HALF_MM + k / 2], [0, 0, 1.0],
    ])  # fmt: skip
    patch = calibration.warp_patch(image, to_felt, (SIDE_PX, SIDE_PX))
    out: FloatArray = patch.astype(np.float64) / 255
    return out


def look_at(patches: Sequence[FloatArray], lamp: SensorLamp) -> list[LampLook]:
    """The measures of all lamps of one frame, from their squares of felt."""
    masks = _masks(lamp.diameter_mm)
    felts = np.array([np.median(patch[masks["felt"]], axis=0) for patch in patches])
    usual = np.median(felts, axis=0) if len(felts) else np.zeros(3)
    return [
        _look(patch, felt, usual, masks, lamp) for patch, felt in zip(patches, felts, strict=True)
    ]


def _look(
    patch: FloatArray, felt: FloatArray, usual: FloatArray, masks: dict[str, Mask], lamp: SensorLamp
) -> LampLook:
    luma = patch @ _LUMA
    disc = patch[masks["disc"]]
    strongest = disc.max(axis=1)
    top = disc[strongest >= np.quantile(strongest, 0.6)].mean(axis=0)
    alike = 0.0
    if lamp.rgb is not None:
        own = np.array(lamp.rgb[::-1], np.float64)
        alike = float(top @ own / (np.linalg.norm(top) * np.linalg.norm(own) + 1e-6))
    light = float(felt @ _LUMA)

    def mean(name: str) -> float:
        return float(luma[masks[name]].mean())

    return LampLook(
        brighter=float(top @ _LUMA) - light,
        bright=float(top.max()),
        core=float((strongest > 0.92).mean()),
        vivid=float(top.max() - top.min()),
        alike=alike,
        halo=mean("near") - light,
        uneven=float(luma[masks["disc"]].std()),
        bezel=abs(float(np.median(luma[masks["disc"]])) - mean("bezel")),
        coin=abs(mean("in_coin") - mean("out_coin")),
        felt_light=float(np.log((light + 0.05) / (usual @ _LUMA + 0.05))),
        felt_tint=float(np.abs(_tint(felt) - _tint(usual)).sum()),
        texture=float(luma[masks["felt"]].std()),
        white=float(felt.min()),
    )  # fmt: skip


def _tint(colour: FloatArray) -> FloatArray:
    out: FloatArray = (colour + 0.02) / (colour.sum() + 0.06)
    return out
