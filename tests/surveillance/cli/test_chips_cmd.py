"""`feltwatch chips enrol` on rendered stacks, with the shipped networks."""

from __future__ import annotations

import math
from pathlib import Path

import cv2
import numpy as np
import pytest

from surveillance.cli import main
from tests.surveillance.laid_tables import WHERE, laid_stacks, laid_table
from tests.vision.stack_scenes import PLACE, Scene
from vision.chips.side_palette import Palette
from vision.geometry.table import load_table

NAMES = ("red", "green", "black")


@pytest.fixture(scope="module")
def scene() -> Scene:
    return laid_stacks(*NAMES)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return laid_table(tmp_path)


def test_samples_go_into_the_table_file(
    scene: Scene, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    image = tmp_path / "laid.png"
    cv2.imwrite(str(image), scene.frame)
    stacks = []
    for name, at in zip(NAMES, WHERE, strict=True):
        x, y = PLACE.to_felt(np.array([at]))[0]
        stacks += ["--stack", f"{name}@{x:.0f},{y:.0f}"]
    out = tmp_path / "sampled.png"
    assert main(["chips", "enrol", str(image), "--table", str(table), *stacks,
                 "--image", str(out)]) == 0  # fmt: skip
    assert "3 kinds of chips" in capsys.readouterr().out
    own = load_table(table)
    for name in NAMES:
        sample = own.chips[name].sampled()
        assert sample is not None
        # The seen colour is that of the chip, not the wrong one that was told.
        assert math.dist(own.chips[name].rgb, (128, 128, 128)) > 25
        assert own.chips[name].face_rgb is not None
        face = own.chips[name].face()
        assert face is not None
        # A circle on black.
        assert not face[0, 0].any()
        assert face[24, 24].any()
    assert own.chips["red"].rgb[0] > 1.5 * own.chips["red"].rgb[1]
    flags = Palette.of(own.chips).flags[0, :, 0]
    assert flags.tolist() == [float(name in NAMES) for name in own.chips]
    shown = cv2.imread(str(out))
    assert shown is not None
    assert shown.shape[0] == 3 * 12 * 12
    assert list((table.parent / ".backups").iterdir())


@pytest.mark.parametrize(
    ("stack", "words"),
    [
        ("mauve@3.main", "has no chip 'mauve'; it has white, red"),
        ("red@3", "expected CHIP@SEAT.SPOT, such as red@3.main"),
        ("red@three.main", "expected CHIP@SEAT.SPOT"),
        ("red@3.nowhere", "the spots of"),
        ("red@-400,-400", "no stack stands there"),
    ],
)
def test_what_cannot_be_sampled_is_named(
    scene: Scene, table: Path, tmp_path: Path, stack: str, words: str,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    image = tmp_path / "laid.png"
    cv2.imwrite(str(image), scene.frame)
    before = table.read_bytes()
    assert main(["chips", "enrol", str(image), "--table", str(table), "--stack", stack]) == 2
    assert words in capsys.readouterr().err
    assert table.read_bytes() == before
