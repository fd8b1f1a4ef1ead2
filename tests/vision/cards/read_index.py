"""An index as read, for tests of what joins them."""

from __future__ import annotations

import numpy as np

from settlement.record import DECK_LABELS
from vision.cards.outline import ReadIndex


def index(label: str, x: float, y: float, turn: float, share: float = 0.9) -> ReadIndex:
    shares = np.full(53, (1 - share) / 52, np.float32)
    shares[DECK_LABELS.index(label)] = share
    box = (x - 5, y - 10, x + 5, y + 10)
    return ReadIndex(np.array([x, y], float), turn, 20.0, shares, 0.9, box)
