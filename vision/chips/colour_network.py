"""Running the exported reader of levels (`vision.chips.colours`) with OpenVINO."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np

from vision.chips.float_network import compile_float
from vision.chips.network_input.level_windows import WINDOW_PX
from vision.detect.detections import ByteArray, Floats
from vision.detect.openvino_runtime import load_card, weights_folder

INPUTS = ("windows", "colours")


class OpenVinoLevelReader:
    """Windows of levels and a palette in, log shares of its chips and of none out."""

    def __init__(self, path: Path, threads: int | None = None) -> None:
        """Compile the network at `path`; ModelError when it cannot be read or is another."""
        self._model = compile_float(path, INPUTS, "reader of levels", threads)
        self._request = self._model.create_infer_request()
        self._turn = threading.Lock()

    def read(self, windows: ByteArray, colours: Floats) -> Floats:
        """Log shares float32 (n, k + 1), of the k chips and of none.

        `windows` uint8 (n, 24, 24, 4), `colours` sRGB float32 (k, 3), 0 to 255.
        """
        if windows.shape[1:] != (WINDOW_PX, WINDOW_PX, 4):
            raise ValueError(f"windows are ({WINDOW_PX}, {WINDOW_PX}, 4), found {windows.shape}")
        given = {
            "windows": np.ascontiguousarray(windows, np.float32),
            "colours": np.ascontiguousarray(colours, np.float32),
        }
        with self._turn:
            self._request.infer(given)
            return np.array(self._request.get_output_tensor(0).data, np.float32)


def load_level_reader(models: Path, threads: int | None = None) -> OpenVinoLevelReader:
    """The reader of levels of a folder of weights, or for a detector's file."""
    folder = weights_folder(models)
    return OpenVinoLevelReader(folder / load_card(folder)["models"]["levels"]["file"], threads)
