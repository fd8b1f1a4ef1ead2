"""Backs of cards separated from boxes that are printed on the felt."""

from __future__ import annotations

import cv2
import numpy as np

from vision.cards.backs import without_felt
from vision.detect.detections import Detections

NAMES = ("index", "back", "chip")
VIOLET = (115, 30, 115)


def felt() -> np.ndarray:
    """A violet felt with noise, and a box printed on it."""
    noise = np.random.default_rng(1).normal(0, 3, (640, 640, 3))
    view = np.clip(np.array(VIOLET) + noise, 0, 255).astype(np.uint8)
    cv2.rectangle(view, (160, 140), (470, 300), (90, 160, 190), 4)
    return view


def found(*boxes: tuple[float, float, float, float], kind: int = 1) -> Detections:
    xyxy = np.array(boxes, np.float32)
    return Detections(xyxy, np.full(len(xyxy), 0.6, np.float32), np.full(len(xyxy), kind), NAMES)


def test_a_printed_box_of_the_felts_colour_is_no_back() -> None:
    view = felt()
    assert len(without_felt(found((356, 144, 472, 300)), view)) == 0
    # Other things that lie there are none of its business.
    assert len(without_felt(found((356, 144, 472, 300), kind=0), view)) == 1


def test_print_within_a_box_makes_no_back_of_it() -> None:
    view = felt()
    cv2.putText(view, "HIGH HAND", (360, 230), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (90, 160, 190), 3)
    assert len(without_felt(found((356, 144, 472, 300)), view)) == 0


def test_backs_stay_patterned_plain_or_small() -> None:
    view = felt()
    cv2.rectangle(view, (200, 320), (290, 450), (245, 245, 245), -1)
    view[330:440:4, 210:280] = (40, 40, 160)
    cv2.rectangle(view, (320, 320), (410, 450), (160, 60, 30), -1)
    boxes = found((200, 320, 290, 450), (320, 320, 410, 450), (10, 10, 16, 18))
    assert len(without_felt(boxes, view)) == 3


def test_a_patterned_back_in_the_felts_own_colour_stays() -> None:
    view = felt()
    for top in range(320, 450, 10):
        view[top : top + 4, 200:290] = (200, 150, 200)
    assert len(without_felt(found((200, 320, 290, 450)), view)) == 1


def test_nothing_found_stays_nothing() -> None:
    assert len(without_felt(Detections.empty(NAMES), felt())) == 0
