"""The section dice of a table file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from datasets.simulate.house_tables import NEVADA, table_for
from datasets.simulate.shift import write_table
from settlement.errors import FeltwatchError
from vision.geometry.dice import DicePlace
from vision.geometry.table import load_table

TABLE = table_for("pai_gow_poker")
FREE = (780.0, 215.0)


def written(tmp_path: Path, game: str = "pai_gow_poker", **keys: Any) -> Path:
    place = DicePlace.model_construct(**{"center_mm": FREE, **keys})
    path = tmp_path / "table.toml"
    write_table(table_for(game).model_copy(update={"dice": place}), path)
    return path


def test_a_table_without_dice_has_no_such_section(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    write_table(TABLE, path)
    assert "dice" not in path.read_text()
    assert load_table(path).dice is None


def test_the_dealer_is_counted_first_then_the_seats_by_number(tmp_path: Path) -> None:
    table = load_table(written(tmp_path))
    assert table.dice is not None
    assert (table.dice.count, table.dice.die_mm) == (3, 16.0)
    assert table.dice.positions_of(table) == ("dealer", 1, 2, 3, 4, 5, 6)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"center_mm": (-5.0, 200.0)}, "dice.center_mm: lies off the felt of 2130 x 1120 mm"),
        ({"center_mm": (1060.0, 300.0)}, "dice.center_mm: less than radius_mm .* from dealer.low"),
        ({"center_mm": (883.0, 880.0)}, "dice.center_mm: less than radius_mm .* from seats.2.low"),
        ({"radius_mm": 5.0}, "dice.radius_mm: must be 30 or more"),
        ({"die_mm": 40.0}, "dice.die_mm: must be 25 or less"),
        ({"count": 1}, "dice.count: must be 2 or more"),
        ({"counted_from": "seat"}, "dice.counted_from: "),
        ({"positions": ("dealer", 1, 2, 3, 4, 5)}, "dice.positions: 6 is missing; name 'dealer'"),
        ({"positions": ("dealer", 1, 2, 3, 4, 5, 6, 7)}, "dice.positions: no seat 7 at this"),
        ({"positions": ("dealer", 1, 1, 2, 3, 4, 5, 6)}, "dice.positions: 1 stands twice"),
    ],
)
def test_an_impossible_place_is_refused_with_its_key(
    tmp_path: Path, keys: dict[str, Any], message: str
) -> None:
    with pytest.raises(FeltwatchError, match=message):
        load_table(written(tmp_path, **keys))


def test_dice_are_refused_in_a_game_without_them_and_taken_in_imperial(tmp_path: Path) -> None:
    with pytest.raises(FeltwatchError, match=f"dice: no dice are thrown in {NEVADA}; leave the"):
        load_table(written(tmp_path, NEVADA))
    assert load_table(written(tmp_path, "imperial_pai_gow_draw")).dice is not None


def test_counting_from_the_bank_needs_something_that_shows_who_banks(tmp_path: Path) -> None:
    assert load_table(written(tmp_path, counted_from="banker")).dice is not None
    with pytest.raises(FeltwatchError, match=r"counted_from: .banker., and neither"):
        load_table(written(tmp_path, "imperial_pai_gow_draw", counted_from="banker"))
