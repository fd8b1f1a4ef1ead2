"""Networks that remember what they returned, so that the same crop is read once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from vision.detect.detections import ByteArray, Detections, Floats, Reader
from vision.detect.tiling import SizedDetector


def _key(image: ByteArray) -> bytes:
    return hashlib.blake2b(np.ascontiguousarray(image).data, digest_size=16).digest()


class Remembered:
    """A detector and a reader in one, until `forget`."""

    def __init__(self, detector: SizedDetector, reader: Reader) -> None:
        self.size = detector.size
        self._detector, self._reader = detector, reader
        self._found: dict[bytes, Detections] = {}
        self._read: dict[bytes, Floats] = {}

    def find(self, views: Sequence[ByteArray], *, least: float | None = None) -> list[Detections]:
        """What the detector finds in views, with `least` in place of its own threshold."""
        if least is not None:
            return self._detector.find(views, least=least)
        keys = [_key(view) for view in views]
        new = {key: view for key, view in zip(keys, views, strict=True) if key not in self._found}
        if new:
            self._found.update(zip(new, self._detector.find(list(new.values())), strict=True))
        return [self._found[key] for key in keys]

    def read(self, crops: ByteArray) -> Floats:
        """What the reader makes of crops (n, side, side, 3)."""
        keys = [_key(crop) for crop in crops]
        new = {key: crop for key, crop in zip(keys, crops, strict=True) if key not in self._read}
        if new:
            self._read.update(
                zip(new, self._reader.read(np.stack(list(new.values()))), strict=True)
            )
        return np.stack([self._read[key] for key in keys])

    def forget(self) -> None:
        """Forget everything: the next image has other crops."""
        self._found.clear()
        self._read.clear()
