"""Lammers told by the colours of the table file: what lies about one says nothing of its kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import cv2
import numpy as np

from vision.detect.detections import ByteArray, Detections, Floats
from vision.geometry.table import LammerKind

INNER = 0.38
"""The part of a box, from its middle, in which the median colour is the lammer's."""

LEAST_CHROMA = 30.0
LIKE_DEG, UNLIKE_DEG = 20.0, 60.0
"""Least chroma (CIELAB) of a colour that names a kind, and the most and least angles between the
hues of one kind and of others. Of 257 finds on the sets "feltwatch judge 2026-11-25 e" and "... f",
tune sets, 99% are within 11.3 degrees of their kind's hue and the other kind's is 169 away; one
was an ENVY lammer beside an insurance bet, found as DEALER with 0.89, and one was half covered."""


def by_colour(found: Detections, view: ByteArray, kinds: Mapping[str, LammerKind]) -> Detections:
    """The finds in a view, uint8 (size, size, 3) BGR, with lammers named as their colours say.

    Only where the colour is that of another of the table's `kinds` and not that of the kind found.
    """
    hues = {kind: _lab(np.array(own.rgb[::-1], np.float32))[1:] for kind, own in kinds.items()}
    classes = found.classes.copy()
    for item in range(len(found)):
        prefix, _, kind = found.name(item).partition("_")
        if prefix != "lammer" or kind not in hues:
            continue
        hue = _lab(_median(view, found.xyxy[item]))[1:]
        if np.hypot(*hue) < LEAST_CHROMA:
            continue
        like = [other for other in hues if _apart_deg(hue, hues[other]) <= LIKE_DEG]
        if len(like) == 1 and _apart_deg(hue, hues[kind]) >= UNLIKE_DEG:
            name = f"lammer_{like[0]}"
            if name in found.names:
                classes[item] = found.names.index(name)
    return replace(found, classes=classes)


def _median(view: ByteArray, xyxy: Floats) -> Floats:
    """The median colour, BGR, of the inner part of a box."""
    middle, half = (xyxy[:2] + xyxy[2:]) / 2, (xyxy[2:] - xyxy[:2]) * INNER
    (x0, y0), (x1, y1) = np.maximum(middle - half, 0).astype(int), (middle + half).astype(int) + 1
    part = view[y0:y1, x0:x1].reshape(-1, 3)
    return np.asarray(np.median(part, axis=0) if len(part) else np.zeros(3), np.float32)


def _lab(bgr: Floats) -> Floats:
    image = np.asarray(bgr, np.float32)[None, None] / 255
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2LAB)[0, 0], np.float32)


def _apart_deg(one: Floats, other: Floats) -> float:
    """The angle between two hues; 180 where one has none."""
    lengths = float(np.hypot(*one) * np.hypot(*other))
    if lengths < 1e-6:
        return 180.0
    return float(np.degrees(np.arccos(np.clip(float(one @ other) / lengths, -1, 1))))
