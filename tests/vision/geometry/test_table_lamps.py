"""What a table file may say of the jackpots' lamps, and the errors for what it may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from datasets.simulate.shift import Wishes, write_table
from settlement.errors import FeltwatchError
from vision.geometry.table import load_table


def test_lamps_are_written_and_read_back(tmp_path: Path) -> None:
    table = Wishes(seed=3, rounds=1, jackpots="plain").table_file()
    assert table.sensor_lamp is not None
    write_table(table, tmp_path / "table.toml")
    assert load_table(tmp_path / "table.toml").sensor_lamp == table.sensor_lamp


@pytest.mark.parametrize(
    ("jackpots", "section", "words"),
    [
        ("none", "diameter_mm = 14.0", "sensor_lamp: no seat has a jackpot's spot"),
        ("plain", "diameter_mm = 60.0", "sensor_lamp.diameter_mm"),
        ("plain", "diameter_mm = 14.0\nrgb = [300, 0, 0]", "sensor_lamp.rgb"),
        ("plain", "diameter_mm = 14.0\ncolour = 'red'", "sensor_lamp.colour"),
    ],
)
def test_what_cannot_be_is_refused_by_name(
    tmp_path: Path, jackpots: str, section: str, words: str
) -> None:
    wishes = Wishes(seed=3, rounds=1, jackpots=jackpots)  # type: ignore[arg-type]
    path = tmp_path / "table.toml"
    write_table(wishes.table_file().model_copy(update={"sensor_lamp": None}), path)
    path.write_text(path.read_text() + f"\n[sensor_lamp]\n{section}\n")
    with pytest.raises(FeltwatchError, match=words):
        load_table(path)
