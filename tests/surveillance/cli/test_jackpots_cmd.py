"""`feltwatch jackpots`: displays and lamps of a rendered image written into the table file."""

from __future__ import annotations

from pathlib import Path

import cv2
import pytest

from surveillance.cli import main
from tests.surveillance.laid_jackpots import INSURANCE, TREASURE, laid_jackpots
from vision.geometry.table import load_table

LAID_PX = 1920


@pytest.fixture
def laid(tmp_path: Path) -> list[str]:
    """The arguments that name the image and the table file."""
    own = laid_jackpots(LAID_PX)
    image = tmp_path / "laid.png"
    cv2.imwrite(str(image), own.frame)
    return [str(image), "--table", str(own.write(tmp_path))]


def corners(wager: str, right_px: float = 0.0) -> str:
    return " ".join(f"{x + right_px},{y}" for x, y in laid_jackpots(LAID_PX).corners_of(wager))


def test_a_display_is_read_and_written(
    laid: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["jackpots", "display", *laid, "--wager", TREASURE, "--digits", "7", "--corners"]
    drawn = tmp_path / "drawn.png"
    assert main([*words, corners(TREASURE), "--image", str(drawn)]) == 0
    out, err = capsys.readouterr()
    assert "it shows [1007447], $10,074.47, probability" in out
    assert err == ""
    assert cv2.imread(str(drawn)) is not None
    (first,) = load_table(tmp_path / "table.toml").displays
    # Picked beside it and written as found: the display of that meter is replaced.
    assert main([*words, corners(TREASURE, 2.5), "--as-found"]) == 0
    (again,) = load_table(tmp_path / "table.toml").displays
    assert again.key == first.key
    assert again.corners_px is not None
    assert first.corners_px is not None
    off = [abs(x - u) for (x, _), (u, _) in zip(again.corners_px, first.corners_px, strict=True)]
    assert max(off) < 2.0


def test_a_display_that_cannot_be_read_is_written_with_a_warning(
    laid: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    felt = "900,600 960,600 960,606 900,606"
    words = ["--wager", INSURANCE, "--digits", "7", "--corners", felt]
    assert main(["jackpots", "display", *laid, *words]) == 0
    err = capsys.readouterr().err
    assert "warning: too small: its digits are 6.0 px high" in err
    assert "warning: unreadable in this image: " in err
    assert len(load_table(tmp_path / "table.toml").displays) == 1


@pytest.mark.parametrize(
    ("wager", "at", "words"),
    [
        (TREASURE, "1,2 3,4", "--corners '1,2 3,4': expected four points in px"),
        (TREASURE, "1,2 3,4 5,6 a,b", "expected four points in px"),
        (TREASURE, "1,9 9,9 9,1 1,1", "expected top left, top right, bottom right"),
        ("main", "1,1 9,1 9,9 1,9", "the display: wager: no jackpot 'main' at this table"),
        (TREASURE, "1,1 9999,1 9999,9 1,9", "lies outside the image of 1920x1080 px"),
    ],
)
def test_what_is_no_display_is_refused(
    laid: list[str], wager: str, at: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--wager", wager, "--digits", "7", "--corners", at]
    assert main(["jackpots", "display", *laid, *given]) == 2
    assert words in capsys.readouterr().err


def test_a_lamp_is_sampled_and_written(
    laid: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seat, wager = laid_jackpots(LAID_PX).lit
    command = ["jackpots", "lamp", *laid, "--diameter-mm", "14", "--lit"]
    assert main([*command, f"{seat}.{wager}"]) == 0
    out = capsys.readouterr().out
    assert out.count(": lit (") == 1
    assert f"seat {seat}, {wager}: lit (" in out
    lamp = load_table(tmp_path / "table.toml").sensor_lamp
    assert lamp is not None
    assert lamp.diameter_mm == 14
    # Unlit, and no sensor at all.
    assert main([*command, f"{seat}.{INSURANCE}"]) == 2
    assert "no lit lamp is seen at seat" in capsys.readouterr().err
    assert main([*command, "9.main"]) == 2
    assert f"expected a sensor or X,Y in mm; the sensors of {laid[2]} are: 1." in (
        capsys.readouterr().err
    )
