"""The JSON forms of a table's dice, as an image shows them."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from surveillance.web.schemas.banker import PlacesQuestion
from surveillance.web.schemas.chips import Px

Point = tuple[float, float]


class DiceQuestion(PlacesQuestion):
    """An image with dice laid open; `dice` of the data has their sizes, and may lack the place."""

    at_px: tuple[Px, Px] | None = Field(
        None,
        description="The middle of their place, in px of the image; none: where `dice` of the "
        "table file has it.",
    )


class DieForm(BaseModel):
    """A die as the image shows it: the middle of its upper face, in px of the image."""

    value: int
    probability: float = Field(description="That it lies flat and shows this value.")
    at_px: Point


class DiceForm(BaseModel):
    """The place of the dice, for the table file's `dice`, and what lies there in the image."""

    model_config = ConfigDict(extra="forbid")

    dice: dict[str, JsonValue]
    outline_px: list[Point] = Field(
        description="The place's rim at the height of the upper faces, in px of the image."
    )
    seen: list[DieForm]
    total: int | None = Field(description="None where it is undecided; `why` gives the cause.")
    probability: float
    why: str | None
