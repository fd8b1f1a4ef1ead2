"""Backs of cards separated from boxes that are printed on the felt."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from settlement.record import DECK_LABELS
from vision.cards.backs import without_faces, without_false_backs
from vision.cards.view import CARD_SIZE, INDEX_MM, ViewIndex
from vision.detect.detections import Detections

NAMES = ("index", "back", "chip")
VIOLET = (115, 30, 115)


def felt() -> np.ndarray:
    """A violet felt with noise, and a box printed on it."""
    noise = np.random.default_rng(1).normal(0, 3, (640, 640, 3))
    view = np.clip(np.array(VIOLET) + noise, 0, 255).astype(np.uint8)
    cv2.rectangle(view, (160, 140), (470, 300), (90, 160, 190), 4)
    return view


def found(
    *boxes: tuple[float, float, float, float], kind: int = 1, score: float = 0.6
) -> Detections:
    xyxy = np.array(boxes, np.float32)
    return Detections(xyxy, np.full(len(xyxy), score, np.float32), np.full(len(xyxy), kind), NAMES)


def test_a_printed_box_of_the_felts_colour_is_no_back() -> None:
    view = felt()
    assert len(without_false_backs(found((356, 144, 472, 300)), view)) == 0
    # Other things that lie there are none of its business.
    assert len(without_false_backs(found((356, 144, 472, 300), kind=0), view)) == 1


def test_print_within_a_box_makes_no_back_of_it() -> None:
    view = felt()
    cv2.putText(view, "HIGH HAND", (360, 230), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (90, 160, 190), 3)
    assert len(without_false_backs(found((356, 144, 472, 300)), view)) == 0


def test_a_spot_with_a_large_word_in_it_is_no_back() -> None:
    view = felt()
    cv2.circle(view, (320, 255), 46, (200, 220, 220), 6)
    cv2.putText(view, "BET", (276, 272), cv2.FONT_HERSHEY_SIMPLEX, 1.4, (200, 220, 220), 6)
    box = (271, 206, 370, 304)
    spot = np.array([[0.0, (255 - 320) * 400 / 640], [40.0, -60.0]])
    assert len(without_false_backs(found(box), view)) == 1
    assert len(without_false_backs(found(box), view, spot)) == 0
    # Also where the box takes in more of what is printed to one side than to the other ...
    aside = (215, 190, 381, 297)
    assert len(without_false_backs(found(aside), view, spot)) == 0
    # ... but not where the spot lies at its edge.
    assert len(without_false_backs(found((271, 238, 400, 350)), view, spot)) == 1
    # A card that lies there has its own colour.
    cv2.rectangle(view, (271, 206), (370, 304), (160, 60, 30), -1)
    assert len(without_false_backs(found(box), view, spot)) == 1


def test_backs_stay_patterned_plain_or_small() -> None:
    view = felt()
    cv2.rectangle(view, (200, 320), (290, 450), (245, 245, 245), -1)
    view[330:440:4, 210:280] = (40, 40, 160)
    cv2.rectangle(view, (320, 320), (410, 450), (160, 60, 30), -1)
    boxes = found((200, 320, 290, 450), (320, 320, 410, 450), (10, 10, 16, 18))
    assert len(without_false_backs(boxes, view)) == 3


def test_a_patterned_back_in_the_felts_own_colour_stays() -> None:
    view = felt()
    for top in range(320, 450, 10):
        view[top : top + 4, 200:290] = (200, 150, 200)
    assert len(without_false_backs(found((200, 320, 290, 450)), view)) == 1


def test_without_a_likely_back_there_is_none() -> None:
    """A player's hand that rested on the felt was found as two backs with 0.28."""
    view = felt()
    cv2.rectangle(view, (200, 320), (290, 450), (160, 60, 30), -1)
    box = (200.0, 320.0, 290.0, 450.0)
    assert len(without_false_backs(found(box, box, score=0.28), view)) == 0
    mixed = found(box, box, (10.0, 10.0, 40.0, 40.0))
    scores = np.array([0.9, 0.28, 0.28], np.float32)
    seen = replace(mixed, scores=scores, classes=np.array([1, 1, 2]))
    assert len(without_false_backs(seen, view)) == 3


def test_nothing_found_stays_nothing() -> None:
    assert len(without_false_backs(Detections.empty(NAMES), felt())) == 0


def index_of(card_mm: tuple[float, float], share: float) -> ViewIndex:
    shares = np.full(53, 0.0005, np.float32)
    shares[DECK_LABELS.index("QS")] = share
    middle = np.array(card_mm)
    corner = middle - [CARD_SIZE.width / 2 - 6, CARD_SIZE.height / 2 - 12]
    return ViewIndex(corner, 0.0, INDEX_MM, shares, 0.9, (0.0, 0.0, 1.0, 1.0), card=middle)


def test_the_face_of_a_read_card_is_no_back() -> None:
    # 640 px are 400 mm: the box's middle is that of the view.
    box = found((270, 250, 370, 390))
    assert len(without_faces(box, [index_of((3.0, 2.0), 0.98)], 640)) == 0
    # Seen from its index, the middle of a card turned by 15 degrees.
    assert len(without_faces(box, [index_of((-7.0, 8.0), 0.98)], 640)) == 0
    # The index says nothing where it is not sure, or where its card lies below the back.
    assert len(without_faces(box, [index_of((3.0, 2.0), 0.6)], 640)) == 1
    assert len(without_faces(box, [index_of((-15.0, 0.0), 0.98)], 640)) == 1
    assert (
        len(without_faces(found((270, 250, 370, 390), kind=0), [index_of((0.0, 0.0), 0.98)], 640))
        == 1
    )
    assert len(without_faces(box, [], 640)) == 1
