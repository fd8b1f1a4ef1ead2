"""Where a stack of a given number of chips stands: its rims laid on the picture's edges."""

from __future__ import annotations

import math

import cv2
import numpy as np
import numpy.typing as npt

from vision.chips.network_input.count_crop import RADIUS_MM, StackAxes
from vision.chips.network_input.patch import FloatImage, StackPatch, sample
from vision.detect.detections import ByteArray
from vision.geometry.table import FloatArray

SLACK_MM = 3.2
"""How far a base may lie from where the detector's box puts it."""

BOX_SD_MM = 1.6
BOX_WEIGHT = 4.0
NEAR_WEIGHT = 0.35
"""The top's far rim is the clearer edge: the near side shows a rim for every chip."""

EDGE_BIAS_MM = 0.3
"""The strongest edge lies a little above the base's rim, where its own shadow ends."""

ALONG_STEP_MM = 0.4
ACROSS_STEP_MM = 0.75
ARC_DEG = 62.0

Gradients = tuple[FloatImage, FloatImage]


def gradients(image: ByteArray) -> Gradients:
    """Lab gradients along x and y of a patch's picture, float32 (h, w, 3) each."""
    lab = cv2.cvtColor(image.astype(np.float32) / 255, cv2.COLOR_BGR2LAB)
    smooth = cv2.GaussianBlur(lab, (0, 0), 0.8)
    gx = cv2.Sobel(smooth, cv2.CV_32F, 1, 0, ksize=3)
    gy = cv2.Sobel(smooth, cv2.CV_32F, 0, 1, ksize=3)
    return np.asarray(gx, np.float32), np.asarray(gy, np.float32)


def fit_base(
    patch: StackPatch, grads: Gradients, base_mm: FloatArray, axes: StackAxes, chips: int
) -> FloatArray:
    """The base (2,) mm near `base_mm` whose near rim and whose top's far rim lie best on edges.

    `grads` are the patch's own (`gradients`).
    """
    offs = np.arange(-SLACK_MM, SLACK_MM + 1e-6, ALONG_STEP_MM)
    across = np.arange(-2.0, 2.01, ACROSS_STEP_MM)
    grid = base_mm + offs[:, None, None] * axes.up + across[None, :, None] * axes.side
    near, near_seen = _arc_strength(grads, patch, grid, -axes.up)
    top = grid + axes.up * chips * axes.per_chip_mm
    far, far_seen = _arc_strength(grads, patch, top, axes.up)
    fit = NEAR_WEIGHT * near * np.minimum(1, near_seen * 1.5) + far * np.minimum(1, far_seen * 1.5)
    fit -= BOX_WEIGHT * ((offs / BOX_SD_MM) ** 2)[:, None]
    i, j = divmod(int(fit.argmax()), fit.shape[1])
    best: FloatArray = grid[i, j] - axes.up * EDGE_BIAS_MM
    return best


def _arc_strength(
    grads: Gradients, patch: StackPatch, centers: FloatArray, facing: FloatArray
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Edge strength along an arc about each centre (..., 2) mm, and the share of it seen."""
    turn = math.atan2(facing[1], facing[0])
    angles = turn + np.radians(np.linspace(-ARC_DEG, ARC_DEG, 33))
    rim = np.column_stack([np.cos(angles), np.sin(angles)])
    points = centers[..., None, :] + RADIUS_MM * rim
    px = patch.px(points)
    gx, gy = sample(grads[0], px), sample(grads[1], px)
    across = np.abs(gx * rim[:, :1] + gy * rim[:, 1:])
    strength = np.minimum(across.max(axis=-1), 60.0).astype(np.float64)
    seen = patch.seen(points)
    count = seen.sum(axis=-1)
    mean = np.where(count > 0, (strength * seen).sum(axis=-1) / np.maximum(count, 1), 0.0)
    return mean, count / seen.shape[-1]
