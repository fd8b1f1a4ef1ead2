"""The JSON forms of a table's jackpot displays and sensors, as an image shows them."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, Strict

from surveillance.web.schemas.banker import PlacesQuestion
from surveillance.web.schemas.chips import Px

Point = tuple[float, float]


class LookQuestion(PlacesQuestion):
    """An image, and the table file's data with the displays and the lamp to look for in it."""


class LampQuestion(PlacesQuestion):
    """A point of an image where a sensor's lamp is lit, and the lamp's size."""

    at_px: tuple[Px, Px] = Field(description="The lamp, in px of the image.")
    diameter_mm: Annotated[float, Strict(), Field(ge=8, le=30)] = Field(
        description="Of its lens, without the bezel."
    )


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")


class DisplayForm(_Answer):
    """One display as the image shows it; points are in px of the image as it was sent."""

    wager: str
    level: int
    shown: str = Field(description="A character a digit: ? is not sure, a space blank.")
    cents: int | None = Field(description="None where it is undecided; `why` gives the cause.")
    probability: float
    why: str | None
    digit_px: float = Field(description="Height of its digits in the camera's image, px.")
    picked_px: list[Point]
    found_px: list[Point] | None = Field(description="The corners as found; none: not found.")
    found_corners_px: list[Point] | None = Field(
        description="The same in px of the camera, for `corners_px` of the table file."
    )
    warnings: list[str]


class SensorForm(_Answer):
    """One sensor's lamp as the image shows it; points are in px of the image as it was sent."""

    seat: int
    wager: str
    shows: str = Field(description="'lit', 'unlit', 'not visible' or 'not sure'.")
    lit: float = Field(description="Probability that it is lit.")
    points_px: list[Point]


class LookForm(_Answer):
    """What the image shows of the displays and lamps that the table file declares.

    Sensors of a table without a lamp have an empty `shows`.
    """

    displays: list[DisplayForm]
    sensors: list[SensorForm]


class LampForm(_Answer):
    """A lamp for the table file's `sensor_lamp`, and the sensor that it was taken of."""

    lamp: dict[str, float | list[int]]
    seat: int
    wager: str
    warnings: list[str]
