"""The JSON forms of sampling a table's chips."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, Strict, StringConstraints

from surveillance.web.schemas.tablefiles import Data
from vision.chips.enrolment import FEWEST_CHIPS
from vision.chips.network_input.chip_sample import SAMPLE_CHIPS
from vision.chips.network_input.side_strip import MOST_CHIPS
from vision.geometry.table import Rgb

Px = Annotated[float, Strict(), Field(ge=0, le=20_000, allow_inf_nan=False)]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ChipQuestion(_Form):
    """A point of an image where a stack of one kind of chip stands."""

    picture: Annotated[str, StringConstraints(min_length=1, max_length=40)] = Field(
        description="The id of an image of /api/calibration/pictures."
    )
    at_px: tuple[Px, Px] = Field(description="A point of the stack, in px of the image.")
    chip: Annotated[str, StringConstraints(min_length=1, max_length=80)]
    laid: Annotated[int, Strict(), Field(ge=FEWEST_CHIPS, le=MOST_CHIPS)] = Field(
        SAMPLE_CHIPS, description="How many chips the stack has."
    )
    data: Data = Field(description="The table file's data, with the samples taken so far.")


class ChipPairsQuestion(_Form):
    """A table file's data, of whose chips the pairs are asked."""

    data: Data


class ChipPair(_Form):
    """How far the sides of two chips differ, in CIE Lab units."""

    one: str
    other: str
    difference: float
    warning: str | None = Field(description="What follows where they look alike.")


class ChipSample(_Form):
    """A sample: `rgb`, `face_rgb`, `side_png`, `face_png` and `face_centred` go into the table
    file."""

    chip: str
    rgb: Rgb
    face_rgb: Rgb
    side_png: str
    face_png: str
    face_centred: bool
    felt_rgb: Rgb = Field(description="The felt before the stack.")
    felt_difference: float = Field(description="How far the side differs from the felt, CIE Lab.")
    counted: int
    outline_px: list[tuple[float, float]] = Field(description="The stack, in px of the image.")
    read_cents: int | None = Field(
        description="What the stack reads as against all of the table's chips; null: nothing."
    )
    read_probability: float | None
    warnings: list[str] = Field(description="Without those of `pairs`.")
    pairs: list[ChipPair] = Field(description="All pairs of the table's chips, most alike first.")
