"""Photographs with what was read drawn over them."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS
from vision.cards.photo import Found, PhotoResult
from vision.detect.detections import ByteArray

Bgr = tuple[int, int, int]

CARD: Bgr = (60, 220, 60)
INDEX: Bgr = (255, 160, 40)
UNSURE: Bgr = (0, 140, 255)
BACK: Bgr = (200, 120, 220)
CHIP: Bgr = (40, 220, 240)
LAMMER: Bgr = (230, 230, 70)
INK: Bgr = (20, 20, 20)
JPEG_QUALITY = 92


def colour_of(label: str) -> Bgr:
    """Colour (BGR) of a detection's box."""
    if label in DECK_LABELS:
        return INDEX
    if label == "BACK":
        return BACK
    if label.startswith("chip"):
        return CHIP
    return LAMMER if label.startswith("lammer") else UNSURE


def _tag(image: ByteArray, text: str, at: tuple[int, int], colour: Bgr, size: float) -> None:
    """Text on a filled plate whose lower left corner is at `at`, kept inside the image."""
    thick = max(1, round(size * 1.6))
    (w, h), base = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, size, thick)
    pad = max(2, round(4 * size))
    x = int(np.clip(at[0], 0, max(0, image.shape[1] - w - 2 * pad)))
    y = int(np.clip(at[1], h + base + pad, image.shape[0] - 1))
    cv2.rectangle(image, (x, y - h - base - pad), (x + w + 2 * pad, y), colour, -1)
    cv2.putText(
        image, text, (x + pad, y - base), cv2.FONT_HERSHEY_SIMPLEX, size, INK, thick, cv2.LINE_AA
    )


def _rect(found: Found) -> tuple[tuple[int, int], tuple[int, int]]:
    x0, y0, x1, y1 = (round(v) for v in found.xyxy)
    return (x0, y0), (x1, y1)


def _draw_on(out: ByteArray, result: PhotoResult) -> ByteArray:
    """The image itself, with its cards, indices, chips and lammers boxed and named."""
    unit = max(out.shape[:2]) / 1000
    thin, wide = max(1, round(1.2 * unit)), max(2, round(2.6 * unit))
    size = float(np.clip(0.55 * unit, 0.4, 3.0))
    for found in result.detections:
        colour = colour_of(found.label)
        corner, other = _rect(found)
        cv2.rectangle(out, corner, other, colour, thin, cv2.LINE_AA)
        if found.label not in DECK_LABELS:
            _tag(out, f"{found.label} {found.score:.2f}", corner, colour, size * 0.75)
    for card in result.cards:
        corner, other = _rect(card)
        cv2.rectangle(out, corner, other, CARD, wide, cv2.LINE_AA)
    for n, card in enumerate(result.cards):
        # The plate stands at the surest index, not at the box: boxes of a fan overlap.
        at = [result.detections[m] for m in result.members[n]] if n < len(result.members) else []
        best = max(at, key=lambda found: found.score, default=card)
        _tag(out, f"{card.label} {card.score:.2f}", _rect(best)[0], CARD, size)
    return out


class DrawnPhotos:
    """A folder that drawn images go to, each under a name of its own."""

    def __init__(self, folder: Path) -> None:
        """Make the folder; raises FeltwatchError when that cannot be."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FeltwatchError(
                f"{folder}: images cannot be written there ({error.strerror or error})"
            ) from error
        self.folder = folder
        self._taken: set[str] = set()

    def write(self, name: str, image: ByteArray, result: PhotoResult) -> Path:
        """Draw on an image and write it as JPEG under the stem of `name`; returns the path.

        The image itself is drawn on: a copy of a large one takes much memory.
        """
        stem, n = Path(name).stem, 1
        own = stem
        while own in self._taken:
            n += 1
            own = f"{stem}-{n}"
        self._taken.add(own)
        path = self.folder / f"{own}.jpg"
        options = [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY]
        data = cv2.imencode(".jpg", _draw_on(image, result), options)[1]
        try:
            path.write_bytes(data.tobytes())
        except OSError as error:
            path.unlink(missing_ok=True)
            raise FeltwatchError(f"{path}: cannot be written ({error.strerror})") from error
        return path
