"""Whether a camera repeats one image: a real one never gives the same twice for long."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

TILES = 8
"""The image is looked at in so many tiles each way."""
LIVE_TILES = 0.125
"""A clock printed on a frozen image changes fewer of the tiles than this; a sensor's noise
and the coder's key frames change nearly all of them within seconds."""

Small = npt.NDArray[np.int16]


class FreezeWatch:
    """Measures how long the image has been the same; takes `vision.detect.motion.shrink` images.

    >>> watch, image = FreezeWatch(), np.zeros((32, 32), np.int16)
    >>> watch.look(image, 0.0), watch.look(image, 4.0)
    (0.0, 4.0)
    >>> watch.look(image + 1, 5.0)
    0.0
    """

    def __init__(self, every_s: float = 1.0, key_wait_s: float = 5.0) -> None:
        """Check key frames every `every_s`, after `key_wait_s` without one other frames too."""
        self._every_s, self._key_wait_s = every_s, key_wait_s
        self._looked_s = float("-inf")
        self._known: Small | None = None
        self._since_s = 0.0
        self._live = np.zeros((TILES, TILES), bool)

    def restart(self) -> None:
        """Forget the image: a new connection begins."""
        self._known = None

    def is_due(self, now_s: float, is_key: bool) -> bool:
        """Whether this image is to be looked at.

        A coder that is given one image again and again goes on refining it between key
        frames, while the key frames are soon all the same.
        """
        return now_s - self._looked_s >= (self._every_s if is_key else self._key_wait_s)

    def look(self, small: Small, now_s: float) -> float:
        """Take an image (h, w) at `now_s`; returns since how many s it has stayed the same."""
        self._looked_s = now_s
        if self._known is None or self._known.shape != small.shape:
            self._begin(small, now_s)
            return 0.0
        differs = small != self._known
        height, width = differs.shape
        rows = np.minimum(np.arange(height) * TILES // height, TILES - 1)
        columns = np.minimum(np.arange(width) * TILES // width, TILES - 1)
        y, x = np.nonzero(differs)
        self._live[rows[y], columns[x]] = True
        if float(self._live.mean()) > LIVE_TILES:
            self._begin(small, now_s)
            return 0.0
        return now_s - self._since_s

    def _begin(self, small: Small, now_s: float) -> None:
        self._known = small.copy()
        self._since_s = now_s
        self._live[:] = False
