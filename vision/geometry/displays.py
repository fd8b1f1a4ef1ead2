"""Displays of jackpot meters in the camera's image, as the table file declares them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, Strict, model_validator

from settlement.form import Form
from settlement.games import JACKPOTS

_Px = Annotated[float, Strict(), Field(allow_inf_nan=False)]
Corners = Annotated[tuple[tuple[_Px, _Px], ...], Field(min_length=4, max_length=4)]


class MeterDisplay(Form):
    """One display of a jackpot meter: where its row of digits is, and what it shows.

    The corners are those of the row of digits, every digit taken as an 8 and blank ones
    counted: top left, top right, bottom right, bottom left, as the digits are read.

    >>> MeterDisplay(
    ...     wager="emperors_treasure_progressive", digits=7,
    ...     corners_px=((900.0, 80.0), (1000.0, 82.0), (999.0, 100.0), (899.0, 98.0)),
    ... ).decimals
    2
    """

    wager: str = Field(description="The jackpot wager whose meter is shown.")
    level: int = Field(1, ge=1, description="Level of a multi-level jackpot.")
    corners_px: Corners | None = Field(
        None, description="Corners of the row of digits in the first camera's image, px."
    )
    corners_mm: Corners | None = Field(
        None, description="The same on the felt's plane, mm; for a display that lies flat."
    )
    digits: int = Field(ge=3, le=10, description="Digits in the row, blank ones counted.")
    decimals: Literal[0, 2] = Field(2, description="Digits after the point: 2, cents; 0, dollars.")
    kind: Literal["seven_segment"] = "seven_segment"

    @model_validator(mode="after")
    def _one_outline(self) -> Self:
        if (self.corners_px is None) == (self.corners_mm is None):
            raise ValueError("give either corners_px or corners_mm")
        corners = np.array(self.corners_px or self.corners_mm)
        sides = np.roll(corners, -1, axis=0) - corners
        after = np.roll(sides, -1, axis=0)
        if not (sides[:, 0] * after[:, 1] - sides[:, 1] * after[:, 0] > 0).all():
            raise ValueError(
                "corners: expected top left, top right, bottom right, bottom left of the digits, "
                "clockwise as they are read"
            )
        return self

    @property
    def key(self) -> tuple[str, int]:
        """Wager and level: the meter that it shows."""
        return self.wager, self.level


def display_faults(
    displays: Sequence[MeterDisplay], wagers: Collection[str], size_px: tuple[int, int] | None
) -> Iterator[tuple[str, str]]:
    """What of a table's displays cannot be, each with its key.

    `wagers` are those with a pay table at this table, `size_px` the camera's image.
    """
    offered = [wager for wager in wagers if wager in JACKPOTS]
    for number, display in enumerate(displays, start=1):
        place = f"displays[{number}]"
        if display.wager not in offered:
            there = ", ".join(offered) or "none"
            yield (
                f"{place}.wager",
                f"no jackpot {display.wager!r} at this table; there are: {there}",
            )
        if display.corners_px is None or size_px is None:
            continue
        for x, y in display.corners_px:
            if not (0 <= x <= size_px[0] - 1 and 0 <= y <= size_px[1] - 1):
                yield (
                    f"{place}.corners_px",
                    f"({x:g}, {y:g}) lies outside the image of {size_px[0]}x{size_px[1]} px",
                )
