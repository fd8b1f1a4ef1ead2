"""The JSON forms of taking a sample of the banker's button or dice cup."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, Strict, StringConstraints

from surveillance.web.schemas.chips import Px
from surveillance.web.schemas.tablefiles import Data
from vision.geometry.table import MARKER_DIAMETERS_MM, MARKER_HEIGHTS_MM


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PlacesQuestion(_Form):
    """An image in which the places of the banker's marker are drawn."""

    picture: Annotated[str, StringConstraints(min_length=1, max_length=40)] = Field(
        description="The id of an image of /api/calibration/pictures."
    )
    data: Data = Field(description="The table file's data as it stands in the page.")


class MarkerQuestion(PlacesQuestion):
    """A point of an image where the banker's marker lies, and the marker's size."""

    at_px: tuple[Px, Px] = Field(description="The middle of its upper face, in px of the image.")
    diameter_mm: Annotated[
        float, Strict(), Field(ge=MARKER_DIAMETERS_MM[0], le=MARKER_DIAMETERS_MM[1])
    ] = Field(description="Of its upper face.")
    height_mm: Annotated[
        float, Strict(), Field(ge=MARKER_HEIGHTS_MM[0], le=MARKER_HEIGHTS_MM[1])
    ] = Field(description="Of its upper face over the felt.")


class MarkerPlaceForm(BaseModel):
    """A place where the marker may lie: its reach, drawn on the felt in px of the image."""

    name: str
    points_px: list[tuple[float, float]]


class MarkerSampleForm(_Form):
    """A sample of the marker: `marker` is merged into the table file's `banker_marker`."""

    marker: dict[str, str | float]
    outline_px: list[tuple[float, float]] = Field(
        description="The rim of its upper face, in px of the image."
    )
    place: str | None = Field(description="The place it lies at; none where it lies at none.")
    probability: float = Field(description="That the sample is found again in this image.")
    warnings: list[str]
