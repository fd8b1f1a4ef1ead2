"""All networks of a folder at once, and a detector's own file beside them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models.weights.folder import default_weights
from tests.vision.painted import ColourDetector
from vision.chips.network_input.side_strip import COLUMNS, ROWS
from vision.chips.side_palette import Palette
from vision.detect.openvino_runtime import ModelError, load_card
from vision.geometry.table import ChipKind
from vision.networks import FILE_LOADERS, FileLoader, load_networks


@pytest.mark.slow
def test_the_shipped_networks_are_loaded_with_their_card() -> None:
    networks = load_networks(default_weights())
    assert networks.card == load_card(default_weights())
    view = np.zeros((networks.detector.size, networks.detector.size, 3), np.uint8)
    assert len(networks.detector.find([view])) == 1
    assert networks.reader.read(np.zeros((1, 64, 64, 3), np.uint8)).shape == (1, 54)
    palette = Palette.of({"red": ChipKind(value_cents=500, rgb=(180, 30, 40))})
    strips = np.zeros((2, ROWS, COLUMNS, 4), np.uint8)
    assert len(networks.strips.read(strips, [3.0, 4.0], [0.5, 0.5], palette)) == 2


@pytest.mark.slow
def test_a_detectors_own_file_is_opened_by_its_suffix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mine.toy"
    file.write_bytes(b"")
    with pytest.raises(ModelError, match=r"mine\.toy: not a model that can be run; give a folder"):
        load_networks(file)
    own = ColourDetector()
    loader = FileLoader(lambda path, threads: own, default_weights)
    monkeypatch.setitem(FILE_LOADERS, ".toy", loader)
    networks = load_networks(file)
    assert networks.detector is own
    assert networks.reader.read(np.zeros((1, 64, 64, 3), np.uint8)).shape == (1, 54)
    file.unlink()
    with pytest.raises(ModelError, match="card is missing"):
        load_networks(tmp_path)
