"""Whether an area of a view differs between two images."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt

from vision.chips.boxes import Box
from vision.detect.detections import ByteArray
from vision.geometry.table import VIEW_MM

JPEG_QUALITY = 90
DIFFERENT_LEVELS = 24
"""A pixel differs by more levels of luma than noise, coding and a shadow's rim make."""

COLOUR_LEVELS = 32
"""The same of the channel that differs most: a red chip is as bright as a blue felt.

Of eleven tune shifts ("feltwatch judge 2026-11-29 l ways" 0 to 14, 22 and 23) 99% of 2,297 pairs of
rests of a stake that stayed differ by 0.09 of its area and less, and all but a twentieth of 120
payouts from the felt before them by 0.25 and more; by luma, 0.12 and 0.13. The shares of the next
limits, and of other modules', are older and by luma.
"""

GROW_MM = 3.0
THIN_MM = 3.0
"""Printed lines, edges and what a shake leaves of them are narrower; the edge of a card that shows
beside another is a card's only where it is wider."""

CHANGED_SHARE = 0.1
"""Least share of a place whose image differs where chips came, went or were changed.

Of "feltwatch judge 2026-11-28 h ways" 23 a bare spot differs by 0.07 from the felt as it was seen
bare, with a chip on it by 0.6. For payouts see `vision.rounds.payouts.STAYED_ODDS`."""

SAME_SHARE = 0.03
"""Most of a stake's image that differs where nothing was changed. Of 415 pairs of rests of a filmed
stake that stayed as it was it differed by 0.027 at most, of those that were changed by 0.266 at
least."""

OTHER_SUM = 0.001
"""Where the probability of the same sum as before is less, more than `SAME_SHARE` is enough: a chip
on top of like ones changes 0.04 of the image (shift 1 of "feltwatch judge 2026-11-28 i ways")."""

SHAKEN_PX = 3.0
"""A camera's shake moves a view by no more px."""


def kept_picture(image: ByteArray) -> bytes:
    """A view's image, uint8 (h, w, 3) BGR, as a JPEG."""
    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    return bytes(data) if done else b""


def as_picture(kept: bytes) -> ByteArray | None:
    """The image of such bytes, uint8 (h, w, 3) BGR; None where none was kept."""
    if not kept:
        return None
    return np.asarray(cv2.imdecode(np.frombuffer(kept, np.uint8), cv2.IMREAD_COLOR), np.uint8)


def different_share(one: ByteArray, other: ByteArray, boxes_mm: Sequence[Box]) -> float:
    """Share of the pixels in the boxes (mm of the view's frame) that differ, 0 to 1.

    A change of the light over the whole place does not count.
    """
    size = one.shape[1]
    k = size / VIEW_MM
    mask = np.zeros(one.shape[:2], bool)
    for x0, y0, x1, y1 in boxes_mm:
        columns = slice(_px(x0 - GROW_MM, k, size), _px(x1 + GROW_MM, k, size))
        mask[_px(y0 - GROW_MM, k, size) : _px(y1 + GROW_MM, k, size), columns] = True
    return float(differing(one, other, mask).mean()) if mask.any() else 0.0


def changed_share(one: ByteArray, other: ByteArray, box_mm: Box) -> float:
    """Share of the pixels in a box that differ, 0 to 1, though all of it may have changed.

    What the light changed all over the view does not count.
    """
    size = one.shape[1]
    x0, y0, x1, y1 = (_px(mm, size / VIEW_MM, size) for mm in box_mm)
    whole = differing(one, other, np.ones(one.shape[:2], bool)).reshape(one.shape[:2])
    part = whole[y0:y1, x0:x1]
    return float(part.mean()) if part.size else 0.0


def least_change(same_sum: float) -> float:
    """Least share of the image that must differ for chips to count as changed, by the probability
    that they come to the same sum as before."""
    return SAME_SHARE if same_sum < OTHER_SUM else CHANGED_SHARE


def without_shake(one: ByteArray, other: ByteArray) -> ByteArray:
    """The other image moved so that it lies as the first, where a shaking camera moved it.

    As it is where it would be moved by more than `SHAKEN_PX`: then something else differs.
    """
    (dx, dy), _ = cv2.phaseCorrelate(_luma(one).astype(np.float32), _luma(other).astype(np.float32))
    if max(abs(dx), abs(dy)) > SHAKEN_PX:
        return other
    back = np.array([[1.0, 0.0, -dx], [0.0, 1.0, -dy]])
    height, width = other.shape[:2]
    moved = cv2.warpAffine(other, back, (width, height), borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(moved, np.uint8)


def card_share(felt: ByteArray, now: ByteArray, area_mm: Box, cards_mm: Sequence[Box]) -> float:
    """Share of an area without some cards (mm of the view's frame) that could be another card's.

    That is brighter than the bare felt; what is narrower than `THIN_MM` is print or an edge.
    1 where nothing of the area is left, or cards are hardly brighter than the felt.
    """
    a, b = _luma(felt).astype(np.int16), _luma(now).astype(np.int16)
    size = a.shape[1]
    rest, cards = np.zeros(a.shape, bool), np.zeros(a.shape, bool)
    for mask, boxes, value in (
        (rest, [area_mm], True), (rest, cards_mm, False), (cards, cards_mm, True),
    ):  # fmt: skip
        for box in boxes:
            x0, y0, x1, y1 = (_px(mm, size / VIEW_MM, size) for mm in box)
            mask[y0:y1, x0:x1] = value
    if not rest.any() or not cards.any():
        return 1.0
    lighter = b - a - np.int16(np.median((b - a)[rest]))
    if np.median(lighter[cards]) < 2 * DIFFERENT_LEVELS:
        return 1.0
    bright = ((lighter > DIFFERENT_LEVELS) & rest).astype(np.uint8)
    thin = max(1, round(THIN_MM * size / VIEW_MM))
    wide = cv2.morphologyEx(bright, cv2.MORPH_OPEN, np.ones((thin, thin), np.uint8))
    return float(wide[rest].mean())


def differing(
    one: ByteArray, other: ByteArray, mask: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Which of the masked pixels (n,) of two images differ, apart from a common change."""
    a, b = (cv2.GaussianBlur(image, (0, 0), 1.0)[mask].astype(np.int16) for image in (one, other))
    apart = a - b
    apart -= np.median(apart, axis=0).astype(np.int16)
    out: npt.NDArray[np.bool_] = np.abs(apart).max(axis=1) > COLOUR_LEVELS
    return out


def _luma(image: ByteArray) -> ByteArray:
    """Luma without the finest noise."""
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    return np.asarray(cv2.GaussianBlur(grey, (0, 0), 1.0), np.uint8)


def _px(mm: float, k: float, size: int) -> int:
    return int(np.clip(round(mm * k + size / 2), 0, size))
