"""What a calibrated camera shows of a table, against geometry worked out by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from datasets.render.camera import synthetic_camera, table_camera
from surveillance.cli import main
from surveillance.config.camera_advice import Advice, advise_table, by_seat
from vision.geometry.calibration import Calibration
from vision.geometry.standard_layout import FELT
from vision.geometry.table import TableFile, load_table

SAMPLE = Path(__file__).parents[3] / "sample" / "table.toml"
TABLE = load_table(SAMPLE)


def seen(tilt_deg: float, height_mm: float = 3000.0, width_px: int = 3840) -> Advice:
    camera = synthetic_camera(
        FELT, height_mm=height_mm, tilt_deg=tilt_deg, width_px=width_px,
        height_px=width_px * 9 // 16,
    )  # fmt: skip
    table: TableFile = TABLE.model_copy(update={"camera": table_camera(camera, TABLE)})
    assert table.camera is not None
    return advise_table(table, Calibration.fit(table.camera))


def test_sizes_are_those_of_the_geometry() -> None:
    advice = seen(45)
    calibrated = synthetic_camera(
        FELT, height_mm=3000, tilt_deg=45, width_px=3840, height_px=2160
    )  # fmt: skip
    fitted = Calibration.fit(table_camera(calibrated, TABLE))
    spot = TABLE.seats[2].spots["main"].center_mm
    one = next(p for p in advice.places if (p.seat, p.place) == (TABLE.seats[2].seat, "main"))
    away = math.dist(spot, fitted.foot_mm)
    angle = math.atan2(away, fitted.height_mm)
    assert one.off_vertical_deg == pytest.approx(math.degrees(angle), abs=0.01)
    # A small thing upright, seen at the angle, at the distance.
    far = math.hypot(away, fitted.height_mm)
    expected = fitted.focal_px / far * TABLE.chip_thickness_mm * math.sin(angle)
    assert one.px_per_chip == pytest.approx(expected, rel=0.12)


def test_a_flatter_look_shows_more_of_chips_and_hides_payouts_sooner() -> None:
    steep, flat = seen(20), seen(60)
    for over, beside in zip(by_seat(steep.places)[1:], by_seat(flat.places)[1:], strict=True):
        assert over.px_per_chip is not None
        assert beside.px_per_chip is not None
        assert over.px_per_chip < beside.px_per_chip
        assert (over.stacks_right or 0) < (beside.stacks_right or 0)
        assert beside.hidden_from is not None
        assert over.hidden_from is None or over.hidden_from > beside.hidden_from


def test_what_would_help_is_printed() -> None:
    steep = seen(12)
    assert any("px each at seats 1, 2" in hint and " and " in hint for hint in steep.hints)
    assert any("off the vertical" in hint for hint in steep.hints)
    coarse = seen(45, width_px=1280)
    assert any("sharper image" in hint for hint in coarse.hints)
    flat = seen(65)
    assert any("hides a payout behind it" in hint for hint in flat.hints)
    assert not any("fewer than" in hint for hint in flat.hints)


def test_the_command_prints_every_seat(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["camera", "advise", str(SAMPLE)]) == 0
    shown = capsys.readouterr().out
    assert shown.count("%") >= 2 * len(TABLE.seats)
    assert main(["camera", "advise", str(SAMPLE), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    spots = sum(len(seat.spots) for seat in TABLE.seats)
    assert len(printed["places"]) == 1 + len(TABLE.seats) + spots
    assert {p["seat"] for p in printed["places"]} == {None, *(s.seat for s in TABLE.seats)}


def test_the_table_is_an_argument_or_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["camera", "advise", str(SAMPLE), "--json"]) == 0
    by_argument = capsys.readouterr().out
    assert main(["camera", "advise", "--table", str(SAMPLE), "--json"]) == 0
    assert capsys.readouterr().out == by_argument
    for given in ([], [str(SAMPLE), "--table", str(SAMPLE)]):
        assert main(["camera", "advise", *given]) == 2
        assert "give one table file" in capsys.readouterr().err


def test_a_table_without_calibration_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.toml"
    text = SAMPLE.read_text(encoding="utf-8")
    path.write_text(text[: text.index("[camera]")], encoding="utf-8")
    assert main(["camera", "advise", str(path)]) != 0
    assert "not calibrated; run feltwatch calibrate" in capsys.readouterr().err
