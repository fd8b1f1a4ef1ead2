"""Lammers of the table's own colours, whatever the detector calls them."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from tests.vision.painted import NAMES
from vision.chips.lammer_colour import by_colour
from vision.detect.detections import ByteArray, Detections
from vision.geometry.standard_layout import LAMMERS

WARM = np.array([0.55, 0.85, 1.0])
"""What lamps of 2,700 K leave of blue, green and red."""


def view(rgb: tuple[int, int, int], *, light: float = 1.0, warm: bool = False) -> ByteArray:
    """A felt with one disk of a colour and a word on it."""
    bgr = np.array(rgb[::-1]) * light * (WARM if warm else 1.0)
    image = np.full((200, 200, 3), (60, 20, 50), np.uint8)
    cv2.circle(image, (100, 100), 24, tuple(float(v) for v in bgr), -1)
    cv2.putText(image, "ENVY", (82, 105), cv2.FONT_HERSHEY_SIMPLEX, 0.4, (0, 0, 0), 1)
    return image


def found(name: str) -> Detections:
    box = np.array([[76, 76, 124, 124]], np.float32)
    classes = np.array([NAMES.index(name)], np.int64)
    return Detections(box, np.array([0.9], np.float32), classes, NAMES)


@pytest.mark.parametrize("light", [0.6, 1.0])
@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("kind", ["envy", "dealer"])
@pytest.mark.parametrize("called", ["envy", "dealer"])
def test_the_colour_says_the_kind(kind: str, called: str, light: float, warm: bool) -> None:
    image = view(LAMMERS[kind].rgb, light=light, warm=warm and kind == "envy")
    named = by_colour(found(f"lammer_{called}"), image, LAMMERS)
    assert named.name(0) == f"lammer_{kind}"


@pytest.mark.parametrize("rgb", [(128, 128, 128), (60, 200, 60)])
def test_another_colour_leaves_it_as_found(rgb: tuple[int, int, int]) -> None:
    assert by_colour(found("lammer_dealer"), view(rgb), LAMMERS).name(0) == "lammer_dealer"


def test_chips_and_kinds_that_the_table_lacks_stay() -> None:
    image = view(LAMMERS["envy"].rgb)
    assert by_colour(found("chip"), image, LAMMERS).name(0) == "chip"
    only = {"envy": LAMMERS["envy"]}
    assert by_colour(found("lammer_dealer"), image, only).name(0) == "lammer_dealer"
    alike = {"envy": LAMMERS["envy"], "dealer": LAMMERS["envy"]}
    assert by_colour(found("lammer_dealer"), image, alike).name(0) == "lammer_dealer"
