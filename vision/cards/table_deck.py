"""The table's own deck: one index of each of its cards, with which each crop is compared.

The reader has learned many decks and knows no letter or sign that none of them had. A second
network has learned to compare: a crop that is like one of the table's own 53 indices is that card,
whatever their letters are.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS
from vision.cards.likeness_weights import WEIGHTS
from vision.detect.detections import ByteArray, Comparer, Floats, Reader
from vision.geometry.table import DECK_GRID, SAMPLE_PX, TableFile, decode_png

JPEG_QUALITY = 92
LEAST_SHARE = 1e-6

LEAST_READ = 0.003
"""What the reader gives less counts as this: it may be sure of another card where a deck names its
cards otherwise. Of 0.000001 to 0.03 the one of least log loss on 58 tune decks (0.0770 in place of
0.0785 with the least)."""

NO_COMPARER = (
    "the weights have no network that compares with a deck's samples: take weights that have one "
    "(feltwatch model likeness export), or do without deck_jpeg in the table file"
)


@dataclass(frozen=True, slots=True, eq=False)
class DeckSamples:
    """Upright crops uint8 (53, 64, 64, 3) BGR in the order of DECK_LABELS.

    One that is black all over is missing: a joker without a mark has none.
    """

    crops: ByteArray

    @property
    def there(self) -> npt.NDArray[np.bool_]:
        """Of which cards there is a sample, (53,)."""
        return np.asarray(self.crops.reshape(len(self.crops), -1).max(axis=1) > 0)

    @property
    def image(self) -> ByteArray:
        """All of them in one image, row by row."""
        columns, rows = DECK_GRID
        grid = np.zeros((rows * columns, *self.crops.shape[1:]), np.uint8)
        grid[: len(self.crops)] = self.crops
        side = SAMPLE_PX
        grid = grid.reshape(rows, columns, side, side, 3).swapaxes(1, 2)
        return np.asarray(grid.reshape(rows * side, columns * side, 3), np.uint8)

    @classmethod
    def of_image(cls, image: ByteArray) -> DeckSamples:
        """The samples of an image as `image` makes it, coded since then."""
        columns, rows = DECK_GRID
        side = SAMPLE_PX
        grid = image.reshape(rows, side, columns, side, 3).swapaxes(1, 2)
        crops = grid.reshape(-1, side, side, 3)[: len(DECK_LABELS)].copy()
        # What was black before coding is nearly so after it.
        crops[crops.reshape(len(crops), -1).mean(axis=1) < 1.0] = 0
        return cls(np.asarray(crops, np.uint8))

    def as_table_data(self) -> dict[str, str]:
        """What goes into the table file."""
        _, data = cv2.imencode(".jpg", self.image, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
        return {"deck_jpeg": base64.b64encode(data.tobytes()).decode("ascii")}


class DeckReader:
    """A reader that knows one deck: shares of its cards from the reader and by likeness."""

    def __init__(self, reader: Reader, comparer: Comparer, samples: DeckSamples) -> None:
        """The features of `samples` are computed once, here."""
        self._reader, self._comparer = reader, comparer
        self._there = samples.there
        features = comparer.features(samples.crops[self._there])
        self._middle = features.mean(axis=0)
        self._own = unit(features - self._middle)

    def read(self, crops: ByteArray) -> Floats:
        """Shares float32 (n, 54), as `Reader`."""
        return self.read_both(crops)[0]

    def read_both(self, crops: ByteArray) -> tuple[Floats, Floats]:
        """Shares float32 (n, 54) as `read` gives them, and as the reader alone does."""
        plain = self._reader.read(crops)
        return compared(plain, self.likeness(crops)), plain

    def likeness(self, crops: ByteArray) -> Floats:
        """Cosines (n, 53) of what crops give and what the deck's own do, off their mean.

        NaN for a card without a sample.
        """
        features = self._comparer.features(crops)
        out = np.full((len(features), len(self._there)), np.nan, np.float32)
        out[:, self._there] = unit(features - self._middle) @ self._own.T
        return out


def unit(rows: Floats) -> Floats:
    """Rows (n, k) of length 1."""
    out: Floats = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return out


def compared(shares: Floats, likeness: Floats, weights: Sequence[float] = WEIGHTS) -> Floats:
    """Shares (n, 54) from the reader's and the likeness (n, 53) to the deck's own, NaN without one.

    For each card its log share and its likeness are weighed, for none, and for a card without a
    sample, the log share alone, and what it takes to be like none.
    """
    by_reader, by_likeness, otherwise, unlike = weights
    logs = np.log(np.maximum(shares, LEAST_READ))
    odds = otherwise * logs + unlike
    own = by_reader * logs[:, : likeness.shape[1]] + by_likeness * likeness
    odds[:, : own.shape[1]] = np.where(np.isnan(own), odds[:, : own.shape[1]], own)
    out = np.exp(odds - odds.max(axis=1, keepdims=True))
    return np.asarray(out / out.sum(axis=1, keepdims=True), np.float32)


def table_deck(table: TableFile) -> DeckSamples | None:
    """The samples of a table's deck; None where it was not enrolled."""
    image = None if table.deck_jpeg is None else decode_png(table.deck_jpeg)
    return None if image is None else DeckSamples.of_image(image)


def reader_for(table: TableFile, reader: Reader, comparer: Comparer | None) -> Reader:
    """What reads a table's indices: with its deck's samples, or the reader alone.

    Raises FeltwatchError for samples that nothing compares with.
    """
    samples = table_deck(table)
    return reader if samples is None else DeckReader(reader, needed(comparer), samples)


def needed(comparer: Comparer | None) -> Comparer:
    """The network that compares with samples; FeltwatchError where the weights have none."""
    if comparer is None:
        raise FeltwatchError(NO_COMPARER)
    return comparer
