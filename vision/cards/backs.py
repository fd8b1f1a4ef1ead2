"""Distinguish backs of cards from boxes printed on the felt, hands and court cards."""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence

import cv2
import numpy as np

from vision.cards.view import LEAST_TURN_DEG, SAME_CARD_MM, SURE_UPRIGHT, ViewIndex
from vision.detect.detections import ByteArray, Detections, Floats
from vision.geometry.table import VIEW_MM, FloatArray

INSET = 0.2
"""Share of a back's sides that is left out: its rim, and a line printed beside it."""

FELT_LEVELS = 20.0
FELT_SPREAD = 10.0
"""What differs from the felt by less (grey levels of 255) and is as even is felt.

Even is the range of the middle 60%: print within a box is less. Seven shifts (seeds 9301, 9304 and
9307, the sample, and shifts 0 to 2 of "feltwatch judge 2026-11-25 e", tune shifts since): 174 backs
of cards differ by 71 levels or more. Two whose felt has printed boxes that were found as backs
(judging shift 9 of 2026-11-23, shift 4 of those): 29 of these differ by at most 7, with a spread of
at most 5.1. Two shifts of "feltwatch catalogue judge" 2026-11-30 (28 of "v", 25 of "w", tune shifts
since): 39 that were found over a spot with a word on bare felt differ by at most 14 levels.
"""

MIDDLE = (20, 80)

SMOOTHED_PX = 1.5
FEWEST_PX = 60

LIKELY_BACK = 0.5
"""Cards lie face down only where one of their backs is likelier than not.

The surest back of each of 157 readings of backs ("feltwatch judge 2026-11-28 k ways" 2, 6 and 13,
tune shifts) has 0.77 or more; a player's hand that rested had 0.28.
"""


def without_false_backs(
    found: Detections, view: ByteArray, spots_mm: FloatArray | None = None
) -> Detections:
    """What was found in a view, uint8 (h, w, 3), but for backs that are none.

    `spots_mm` (n, 2) are the middles of the place's spots in its own frame: print lies there, and
    what has the felt's own colour about one, however uneven, is a spot with a word in it. A printed
    line around an area of the felt's own colour resembles the rim of a card, and a hand
    that rests resembles a back a little. Where no back is likely there is none; beside a likely
    one the others of its hand, which it may cover in part, count with less.
    """
    is_back = np.array([found.name(n) == "back" for n in range(len(found))], np.bool_)
    if not is_back.any():
        return found
    felt = np.median(view.reshape(-1, 3), axis=0)
    mm = VIEW_MM / view.shape[0]
    for n in np.flatnonzero(is_back):
        x0, y0, x1, y1 = found.xyxy[n].tolist()
        middle = np.array([x0 + x1, y0 + y1]) / 2 * mm - VIEW_MM / 2
        reach = np.array([x1 - x0, y1 - y0]) * mm * (0.5 - INSET)
        on_spot = spots_mm is not None and bool(
            (np.abs(spots_mm - middle) < reach).all(axis=1).any()
        )
        is_back[n] = not _is_felt(view, found.xyxy[n], felt, printed=on_spot)
    if not is_back.any() or found.scores[is_back].max() < LIKELY_BACK:
        is_back[:] = False
    keep = np.array([is_back[n] or found.name(n) != "back" for n in range(len(found))], np.bool_)
    return found if keep.all() else found.where(keep)


def without_faces(found: Detections, indices: Sequence[ViewIndex], view_px: int) -> Detections:
    """What was found in a view of `view_px`, but for backs that are the faces of read cards.

    A court card's figure resembles the pattern of a back. Where an index is read, its card lies
    face up: a box about the middle of that card is no back. One that lies over the card and leaves
    its index in view lies farther off.
    """
    mm = VIEW_MM / view_px
    faces = [index for index in indices if index.share >= SURE_UPRIGHT]
    keep = np.ones(len(found), np.bool_)
    for n, (x0, y0, x1, y1) in enumerate(found.xyxy.tolist()):
        middle = np.array([x0 + x1, y0 + y1]) / 2 * mm - VIEW_MM / 2
        keep[n] = found.name(n) != "back" or not any(_is_face(face, middle) for face in faces)
    return found if keep.all() else found.where(keep)


def _is_face(index: ViewIndex, middle: FloatArray) -> bool:
    """Whether a point is the middle of an index's card, which may be turned by as much as one
    that reads upright."""
    most = math.radians(LEAST_TURN_DEG)
    card, way = (complex(*(at - index.center).tolist()) for at in (index.card, middle))
    turn = min(max(cmath.phase(way / card), -most), most) if card and way else 0.0
    return abs(way - card * cmath.exp(1j * turn)) < SAME_CARD_MM


def _is_felt(view: ByteArray, xyxy: Floats, felt: Floats, *, printed: bool) -> bool:
    """Whether a box shows the felt's colour, and is even where it is not `printed`."""
    x0, y0, x1, y1 = (float(v) for v in xyxy)
    dx, dy = (x1 - x0) * INSET, (y1 - y0) * INSET
    inside = view[max(0, int(y0 + dy)) : int(y1 - dy), max(0, int(x0 + dx)) : int(x1 - dx)]
    if inside.shape[0] * inside.shape[1] < FEWEST_PX:
        return False
    off = np.abs(np.median(inside.reshape(-1, 3), axis=0) - felt).max()
    smooth = cv2.GaussianBlur(inside.astype(np.float32), (0, 0), SMOOTHED_PX)
    low, high = np.percentile(smooth.reshape(-1, 3), MIDDLE, axis=0)
    return bool(off < FELT_LEVELS and (printed or (high - low).mean() < FELT_SPREAD))
