"""An image as the detector takes it: scaled into a padded square."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

ByteArray = npt.NDArray[np.uint8]

PAD = 114
"""Grey around images that are not square, as in training."""


def fit_square(image: ByteArray, size: int) -> tuple[ByteArray, float, tuple[float, float]]:
    """The image, uint8 (h, w, 3), scaled into a padded square.

    Returns the square (size, size, 3), the scale and the offset (x, y) px: a point of
    the image lies at scale * point + offset.
    """
    h, w = image.shape[:2]
    scale = size / max(h, w)
    new = (max(1, round(w * scale)), max(1, round(h * scale)))
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    small = image if new == (w, h) else cv2.resize(image, new, interpolation=how)
    x, y = (size - new[0]) // 2, (size - new[1]) // 2
    square = np.full((size, size, 3), PAD, np.uint8)
    square[y : y + new[1], x : x + new[0]] = small
    return square, scale, (float(x), float(y))
