"""Running the exported stack reader (`models.networks.side_network`) with OpenVINO."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from vision.chips.float_network import compile_float
from vision.chips.network_input.side_strip import COLUMNS, ROWS
from vision.chips.side_chain import Potentials
from vision.chips.side_palette import Palette
from vision.detect.detections import ByteArray

INPUTS = ("strips", "facts", "samples", "faces", "flags")


class StripReader(Protocol):
    """Reads strips of stacks against a table's chips; `temperature` divides its logs."""

    temperature: float

    def read(
        self, strips: ByteArray, px_per_chip: Sequence[float], off_vertical: Sequence[float],
        palette: Palette,
    ) -> list[Potentials]:  # fmt: skip
        """Potentials of strips uint8 (n, ROWS, COLUMNS, 4), BGR and 255 where hidden.

        `px_per_chip` is how high one chip is in the frame, `off_vertical` the sine of the line
        of sight's angle off the vertical.
        """


class OpenVinoStripReader:
    """The stack reader's network and its temperature."""

    def __init__(self, path: Path, temperature: float = 1.0, threads: int | None = None) -> None:
        """Compile the network at `path`; ModelError when it cannot be read or is another."""
        self.temperature = temperature
        self._model = compile_float(path, INPUTS, "stack reader", threads)
        self._request = self._model.create_infer_request()
        self._turn = threading.Lock()

    def read(
        self, strips: ByteArray, px_per_chip: Sequence[float], off_vertical: Sequence[float],
        palette: Palette,
    ) -> list[Potentials]:  # fmt: skip
        """Potentials of each strip; see `StripReader`."""
        if strips.shape[1:] != (ROWS, COLUMNS, 4):
            raise ValueError(f"strips are ({ROWS}, {COLUMNS}, 4), found {strips.shape}")
        facts = np.array(
            [[math.log(px) - 1, sine * 2 - 1]
             for px, sine in zip(px_per_chip, off_vertical, strict=True)],
            np.float32,
        )  # fmt: skip
        given = {
            "strips": np.ascontiguousarray(strips.transpose(0, 3, 1, 2), np.float32) / 255,
            "facts": facts, "samples": palette.samples, "faces": palette.faces,
            "flags": palette.flags,
        }  # fmt: skip
        with self._turn:
            self._request.infer(given)
            edges, looks, numbers, durations = (
                np.array(self._request.get_output_tensor(k).data, np.float64) for k in range(4)
            )
        return [Potentials(edges[k], looks[k], numbers[k], durations) for k in range(len(strips))]


def open_strip_reader(
    folder: Path, card: Mapping[str, Any], threads: int | None = None
) -> OpenVinoStripReader:
    """The reader of stack sides that a model card names for its folder."""
    own = card["models"]["strips"]
    return OpenVinoStripReader(folder / own["file"], float(own.get("temperature", 1.0)), threads)
