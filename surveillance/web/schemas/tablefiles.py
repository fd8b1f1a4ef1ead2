"""The JSON forms of table files and of calibrating."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue, Strict, StrictBool, StringConstraints

from surveillance.web.schemas.json_numbers import Integral
from vision.geometry.table import Camera

FileName = Annotated[str, StringConstraints(min_length=1, max_length=61)]
Data = Annotated[dict[str, JsonValue], Field(max_length=40)]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid")


class TableFileLine(_Form):
    """A table file in a list."""

    id: str
    file: str
    table: str | None
    game: str | None
    seats: int
    cameras: list[str] = Field(description="Cameras of the site file that use it.")
    calibrated: bool
    rms_px: float | None = Field(description="How far the calibration's points miss.")
    problem: str | None = Field(description="The first fault, null when it is sound.")


class FaultLine(_Form):
    """Something wrong in a table file: key and what would be right."""

    place: str
    message: str


class TableFileForm(_Form):
    """A table file, right or wrong, as it stands."""

    id: str
    file: str
    revision: str = Field(description="Names this state; a change is refused when it is another.")
    data: dict[str, JsonValue]
    faults: list[FaultLine]
    cameras: list[str]
    backups: int = Field(description="How many former states are kept beside it.")


class NewTableFile(_Form):
    """A table file of the usual table of a game."""

    name: FileName = Field(description="Letters, digits, - and _; the file's and the table's name.")
    game: Annotated[str, StringConstraints(min_length=1, max_length=80)]


class TableFileId(_Form):
    """The id of a table file."""

    id: str


class TableFileCheck(_Form):
    """Data to check; nothing is written."""

    data: Data


class TableFileFaults(_Form):
    """All faults found."""

    faults: list[FaultLine]


class TableFileChange(_Form):
    """Data in place of a revision."""

    revision: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    data: Data
    restart: StrictBool = Field(
        default=False, description="Whether cameras that use it restart with it at once."
    )


class TableFileSaved(_Form):
    """Its present state."""

    revision: str
    restarted: list[str] = Field(description="Cameras that were started again.")


class PictureForm(_Form):
    """An image to calibrate on."""

    id: str
    url: str
    width_px: int
    height_px: int
    name: str = Field(description="Where it came from.")


class RecordingPicture(_Form):
    """A moment of a recording."""

    folder: Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
    file: Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
    at_s: Annotated[float, Strict(), Field(ge=0, le=172_800, allow_inf_nan=False)] = 0.0


class FitQuestion(_Form):
    """A camera's points to fit, with the layout to draw over the image."""

    camera: Integral[Camera]
    data: Data = Field(description="The table file's data, for its layout.")
    fit_lens: StrictBool = Field(
        default=False, description="Find k1 and k2 by the points; else those given are kept."
    )


class PointFit(_Form):
    """Error of one point; `shown_px` is where the fit shows its mark."""

    shown_px: tuple[float, float]
    miss_px: float
    miss_mm: float


class OutlineForm(_Form):
    """One outline of the layout, in px of the image."""

    name: str = Field(description="Such as 'seats.0.spots.main'.")
    kind: str = Field(description="felt, box, spot, tray or rack.")
    closed: bool
    points_px: list[tuple[float, float]]


class SeatSight(_Form):
    """Visibility of a seat, of its spots the worst; `seat` null: the dealer's."""

    seat: int | None
    off_vertical_deg: float
    px_per_chip: float | None
    stacks_right: float | None = Field(description="Fraction of single stacks, in hard images.")
    hidden_from: int | None = Field(description="Fewest chips that hide a payout behind them.")
    px_per_index: float | None
    cards_read: float | None = Field(description="Fraction of indices, in hard images.")


class FitAnswer(_Form):
    """Result of fitting the points."""

    problem: str | None = Field(description="Why it cannot be used so; null when it can.")
    camera: Camera = Field(description="With the lens's numbers as they were found.")
    points: list[PointFit]
    outlines: list[OutlineForm]
    rms_px: float | None
    max_px: float | None
    rms_mm: float | None
    max_mm: float | None
    plain_rms_px: float | None = Field(description="The same without a lens.")
    corner_px: float | None = Field(description="By how much the lens moves the image's corner.")
    height_mm: float | None
    focal_known: bool
    px_per_mm: float | None = Field(description="At the middle of the felt.")
    sights: list[SeatSight]
    hints: list[str] = Field(description="What would help, the most useful first.")
