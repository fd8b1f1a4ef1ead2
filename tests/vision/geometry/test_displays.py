"""What a table file may say of meter displays, and the errors for what it may not."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from vision.geometry.displays import MeterDisplay, display_faults

WAGER = "emperors_treasure_progressive"
ROW = ((10.0, 10.0), (90.0, 10.0), (90.0, 30.0), (10.0, 30.0))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"corners_mm": ROW}, "either corners_px or corners_mm"),
        ({"corners_px": None}, "either corners_px or corners_mm"),
        ({"corners_px": ROW[::-1]}, "clockwise"),
        ({"corners_px": (ROW[0], ROW[2], ROW[1], ROW[3])}, "clockwise"),
        ({"corners_px": ROW[:3]}, "at least 4"),
        ({"decimals": 1}, "0 or 2"),
        ({"kind": "dots"}, "seven_segment"),
        ({"digits": 2}, "greater than or equal to 3"),
    ],
)
def test_a_wrong_display_is_refused(changed: dict[str, object], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        MeterDisplay.model_validate({"wager": WAGER, "corners_px": ROW, "digits": 7} | changed)


def test_a_display_is_of_a_jackpot_of_the_table_and_inside_the_image() -> None:
    display = MeterDisplay(wager=WAGER, corners_px=ROW, digits=7)
    assert list(display_faults([display], [WAGER], (100, 50))) == []
    ((place, words),) = display_faults([display], ["envy"], (100, 50))
    assert (place, "there are: none" in words) == ("displays[1].wager", True)
    far = display.model_copy(update={"corners_px": (*ROW[:2], (90.0, 60.0), ROW[3])})
    ((place, words),) = display_faults([far], [WAGER], (100, 50))
    assert (place, "100x50" in words) == ("displays[1].corners_px", True)
