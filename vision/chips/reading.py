"""Reading chip stacks: how many chips of which colour stand where.

From a calibrated camera a stack's side is seen as a shift: the disc at height h appears at
`lift(base, h)`, away from the camera's foot. A classifier counts the chips on a crop scaled
by that shift (`vision.chips.network_input.count_crop`); for each likely number the base's near rim
and the top's far
rim are found as edges (`vision.chips.base_fit`), and the levels between them are unrolled and told
apart by their colours (`vision.chips.network_input.level_windows`, `vision.chips.colours`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.chips.base_fit import SLACK_MM, fit_base, gradients
from vision.chips.boxes import Box, lone_boxes
from vision.chips.colours import LEAST_SHARE, LevelReader, Logs, StackColours, tell_colours
from vision.chips.network_input.count_crop import (
    MOST_COUNTED,
    RADIUS_MM,
    FoundStack,
    StackAxes,
)
from vision.chips.network_input.level_windows import ABOVE, BELOW, level_windows
from vision.chips.network_input.patch import cut_patch, silhouette
from vision.detect.detections import ByteArray, Floats, Reader
from vision.geometry.calibration import Calibration
from vision.geometry.table import ChipKind, FloatArray, Place, Point

HEIGHT_SD = (2.0, 0.5)
COUNT_TEMPERATURE = 1.2
"""The box tells the height to two chips and half a mm, so only which of the counter's guesses
cannot be; the counter is a little surer than right. Fitted on 949 stacks of seven shifts."""

COVERED_SHARE = 0.12
TOP_TRUST = 0.5
"""The box's far end is as good a witness of the base as its near end."""

COUNT_OFFS_MM = (-0.9, 0.0, 0.9)
"""Crops about the box's base, counted together: the box is a millimetre off now and then."""

COVER_MM = 0.8
"""What a nearer stack hides reaches so far beyond its outline."""

BASE_SLIPS_MM = (-0.45, 0.0, 0.45)
"""Levels are looked at from bases about the one that the rims give, which may be a little off."""


@dataclass(frozen=True, slots=True)
class ReadStack:
    """One stack in one picture: base on the felt (mm), colours from the bottom up.

    `count_share` is the share of this number of chips, `colour_share` that of this row of
    colours among all of so many chips. No colours: too high to count. `others_cents` are sums
    that it may have instead, each with its share.
    """

    center_mm: Point
    colours: tuple[str, ...]
    value_cents: int
    count_share: float
    colour_share: float
    box_mm: Box
    others_cents: tuple[tuple[int, float], ...] = ()


def read_stacks(
    frame: ByteArray,
    calibration: Calibration,
    chips: Mapping[str, ChipKind],
    place: Place,
    boxes_mm: Sequence[Box],
    counter: Reader,
    level_reader: LevelReader,
) -> list[ReadStack]:
    """Read all stacks of one view, those nearest to the camera first.

    `boxes_mm` are the found boxes (u0, v0, u1, v1) in mm of the view's own frame; `counter`
    tells shares of `COUNT_NAMES` for crops, `level_reader` which of the `chips` a level shows.
    A stack of more than MOST_COUNTED chips comes back with no colours.
    """
    if not boxes_mm:
        return []
    foot = place.to_local(np.array([calibration.foot_mm]))[0]

    def away(box: Box) -> float:
        return math.hypot((box[0] + box[2]) / 2 - foot[0], (box[1] + box[3]) / 2 - foot[1])

    ordered = sorted(lone_boxes(frame, calibration, place, boxes_mm, counter), key=away)
    found = [FoundStack.of(box, calibration, place) for box in ordered]
    crops = np.stack([one.crop(frame, calibration, off) for one in found for off in COUNT_OFFS_MM])
    told = counter.read(crops).reshape(len(found), len(COUNT_OFFS_MM), -1)
    shares = np.exp(np.log(np.clip(told, 1e-6, 1)).mean(axis=1))
    covers: list[FloatArray] = []
    out: list[ReadStack] = []
    for one, share in zip(found, shares, strict=True):
        # Where a nearer stack hides the base the box begins late: only its far end counts.
        covered = _covered(one.base, one.axes, covers)
        fit = _with_height(share, None if covered else one.height, one.axes.per_chip_mm)
        n = int(fit.argmax()) + 1
        if n > MOST_COUNTED:
            own = (float(one.base[0]), float(one.base[1]))
            out.append(ReadStack(own, (), 0, float(fit[n - 1]), 0.0, one.box))
            continue
        base, best = _read_levels(
            frame, calibration, one, fit, 1.0 if covered else TOP_TRUST, covers, chips, level_reader
        )
        names = list(chips)
        colours = tuple(names[k] for k in best.path)
        own = (float(base[0]), float(base[1]))
        value = sum(chips[c].value_cents for c in colours)
        others = tuple(
            (sum(chips[names[k]].value_cents for k in row), share) for row, share in best.others
        )
        out.append(
            ReadStack(
                own, colours, value, best.count_share, best.colour_share, one.box, others
            )
        )  # fmt: skip
        covers.append(silhouette(calibration, own, len(colours), COVER_MM))
    return out


def stack_reach(found: FoundStack, chips: int) -> tuple[FloatArray, float]:
    """Centre (2,) felt mm and half side mm of the square that shows so many chips and the
    levels about them, wherever the base is then fitted."""
    step = found.axes.per_chip_mm
    center: FloatArray = found.base + found.axes.up * chips * step / 2
    return center, (chips / 2 + BELOW + ABOVE) * step + RADIUS_MM + SLACK_MM + 6


def _read_levels(
    frame: ByteArray, calibration: Calibration, one: FoundStack, counts: Logs, trust: float,
    covers: Sequence[FloatArray], chips: Mapping[str, ChipKind], reader: LevelReader,
) -> tuple[FloatArray, StackColours]:  # fmt: skip
    """Base (2,) mm and chips of a stack; `counts` are the shares of their number, `trust` how
    far the box's height moves the base to its far end."""
    axes, step = one.axes, one.axes.per_chip_mm
    likely = [
        n for n in range(1, MOST_COUNTED + 1)
        if counts[n - 1] >= min(LEAST_SHARE, counts[:MOST_COUNTED].max())
    ]  # fmt: skip
    center, reach = stack_reach(one, max(likely))
    patch = cut_patch(frame, calibration, center, reach, covers)
    grads = gradients(patch.image)
    bases: dict[int, FloatArray] = {}
    windows: list[ByteArray] = []
    for n in likely:
        start = one.base + axes.up * (one.height - n * step) * trust
        bases[n] = fit_base(patch, grads, start, axes, n)
        windows += [
            level_windows(
                patch, calibration.foot_mm, calibration.height_mm, bases[n] + axes.up * slip, n,
                axes.up,
            )
            for slip in BASE_SLIPS_MM
        ]  # fmt: skip
    palette = np.array([kind.rgb for kind in chips.values()], np.float32)
    logs = reader.read(np.concatenate(windows), palette).astype(np.float64)
    levels, at = {}, 0
    for n in likely:
        many = len(BASE_SLIPS_MM) * (n + 2)
        levels[n] = logs[at : at + many].reshape(len(BASE_SLIPS_MM), n + 2, -1)
        at += many
    best = tell_colours(counts, levels, [kind.value_cents for kind in chips.values()])
    return bases[len(best.path)], best


def _covered(base_mm: FloatArray, axes: StackAxes, covers: Sequence[FloatArray]) -> bool:
    """Whether nearer stacks hide part of the near rim, so that the box begins too late."""
    angles = np.radians(np.linspace(-60, 60, 13)) + math.atan2(-axes.up[1], -axes.up[0])
    rim = np.column_stack([np.cos(angles), np.sin(angles)]) * RADIUS_MM
    hidden = np.zeros(len(rim), bool)
    for slip in (0.0, axes.per_chip_mm, 2 * axes.per_chip_mm):
        points = base_mm - axes.up * slip + rim
        for cover in covers:
            outline = cover.astype(np.float32).reshape(-1, 1, 2)
            hidden |= np.array(
                [cv2.pointPolygonTest(outline, (float(x), float(y)), False) >= 0 for x, y in points]
            )
    return bool(hidden.mean() > COVERED_SHARE)


def _with_height(
    shares: Floats, height_mm: float | None, per_chip_mm: float
) -> npt.NDArray[np.float64]:
    """The counter's shares (k,), weighed with the seen height of the found box."""
    logs = np.log(np.clip(shares, 1e-6, 1)) / COUNT_TEMPERATURE
    if height_mm is not None:
        off = np.arange(1, len(shares) + 1) - height_mm / per_chip_mm
        # The last class holds all higher stacks.
        off[-1] = max(0.0, off[-1])
        logs = logs - (off / math.hypot(HEIGHT_SD[0], HEIGHT_SD[1] / per_chip_mm)) ** 2 / 2
    fit = np.exp(logs - logs.max())
    return np.asarray(fit / fit.sum(), np.float64)
