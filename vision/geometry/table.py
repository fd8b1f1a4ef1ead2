"""The table file: everything about one table that a camera reader must know.

A TOML file holds the felt, the spots as polygons in millimetres, the chip values by
colour, the lammers, the game with its options, and the camera's calibration points.
Unknown keys are refused with the file and the key named.

Felt coordinates: millimetres, x to the right and y from the dealer's edge towards the
players, both as seen from the players' side of the image; a left-handed drawing frame
like an image's own.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Self

import cv2
import numpy as np
import numpy.typing as npt
from pydantic import (
    Field,
    Strict,
    StrictInt,
    ValidationError,
    field_validator,
    model_validator,
)

from settlement.declared import Declared, SeatNumber, numbered
from settlement.errors import FeltwatchError
from settlement.form import Form
from settlement.games import GAMES, LAMMER_KINDS
from settlement.input_file import file_fault, form_of_toml, read_toml
from settlement.record import HIGHEST_SEAT
from settlement.rules import TableRules
from vision.geometry.dice import DicePlace, dice_faults
from vision.geometry.displays import MeterDisplay, display_faults
from vision.geometry.lamps import SensorLamp, lamp_faults
from vision.geometry.marker_places import marker_faults
from vision.geometry.table_checks import off_the_felt, rules_faults, spot_faults

Px = Annotated[float, Strict(), Field(allow_inf_nan=False)]
Point = tuple[Px, Px]
FloatArray = npt.NDArray[np.float64]
_Level = Annotated[int, Field(ge=0, le=255)]
Rgb = Annotated[tuple[_Level, _Level, _Level], Field(description="sRGB, 0 to 255 each.")]

CARD_MM = (63.0, 88.0)
CHIP_DIAMETER_MM = 39.0
CHIP_THICKNESS_MM = 3.3
CAMERA_NAME = r"^[a-z0-9][a-z0-9_-]{0,31}$"
JOKER_PX = (26, 86)
"""Width and height of a sample of a joker's end; see `vision.cards.joker_match`."""

SAMPLE_PX, DECK_GRID = 64, (9, 6)
"""Side of a sample of a card's index, and columns and rows of a deck's; see
`vision.cards.table_deck`."""

FACE_PX = 48
"""Side of a sample of a chip's face; see `vision.chips.faces`."""

MARKER_PX = 96
"""Side of a sample of a banker's marker; see `vision.bank.marker_match`."""

MARKER_DIAMETERS_MM, MARKER_HEIGHTS_MM, MARKER_REACH_MM = (30.0, 120.0), (0.0, 150.0), 60.0

VIEW_MM = 400.0
"""Side of the square of felt that one view shows."""


class Polygon(Form):
    """A spot on the felt, in mm."""

    points_mm: tuple[Point, ...] = Field(min_length=3, description="Corners in order, in mm.")

    @model_validator(mode="after")
    def _has_room(self) -> Self:
        x, y = self.array.T
        if abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2 < 1:
            raise ValueError("points_mm: the corners enclose nothing; give them in order")
        return self

    @property
    def array(self) -> FloatArray:
        """Corners as (n, 2), mm."""
        return np.asarray(self.points_mm, dtype=np.float64)

    @property
    def center_mm(self) -> Point:
        """Mean of the corners."""
        x, y = self.array.mean(axis=0)
        return float(x), float(y)


class Felt(Form):
    """Size of the felt."""

    width_mm: float = Field(gt=0, allow_inf_nan=False)
    height_mm: float = Field(gt=0, allow_inf_nan=False)


class ChipKind(Form):
    """One chip colour and its value."""

    value_cents: int = Field(gt=0)
    rgb: Rgb = Field(description="The body colour under the table's light.")
    face_rgb: Rgb | None = Field(
        None, description="Mean colour of the face; written by 'feltwatch chips enrol'."
    )
    side_png: str | None = Field(
        None, description="Sample of the side, PNG as base64; written by 'feltwatch chips enrol'."
    )

    face_png: str | None = Field(
        None,
        description=f"Sample of the face from above, {FACE_PX} x {FACE_PX} px, PNG as base64; "
        "written by 'feltwatch chips enrol'.",
    )
    face_centred: bool = Field(
        False,
        description="The sample is cut about the face's own middle, so that it says how high a "
        "face lies; written by 'feltwatch chips enrol'.",
    )

    @field_validator("side_png", "face_png")
    @classmethod
    def _an_image(cls, value: str | None) -> str | None:
        if value is not None and decode_png(value) is None:
            raise ValueError("expected a PNG image as base64; 'feltwatch chips enrol' writes it")
        return value

    @field_validator("face_png")
    @classmethod
    def _a_face(cls, value: str | None) -> str | None:
        image = None if value is None else decode_png(value)
        if image is not None and image.shape[:2] != (FACE_PX, FACE_PX):
            raise ValueError(
                f"expected {FACE_PX} x {FACE_PX} px, found {image.shape[1]} x {image.shape[0]}; "
                "'feltwatch chips enrol' writes it"
            )
        return value

    def sampled(self) -> npt.NDArray[np.uint8] | None:
        """The sample of the side, uint8 (h, w, 3) BGR; None where none was taken."""
        return None if self.side_png is None else decode_png(self.side_png)

    def face(self) -> npt.NDArray[np.uint8] | None:
        """The sample of the face, uint8 (FACE_PX, FACE_PX, 3) BGR; None where none was taken."""
        return None if self.face_png is None else decode_png(self.face_png)


class LammerKind(Form):
    """One kind of lammer."""

    word: str
    rgb: Rgb
    diameter_mm: float = Field(30.0, gt=0)


class Place(Form):
    """What a view is turned to: a centre on the felt and the direction that is 'up' in it.

    `angle_deg` turns the view: at 0 the view's up is the felt's -y (towards the dealer);
    positive turns clockwise as the felt is drawn.
    """

    center_mm: Point
    angle_deg: float = 0.0

    def to_felt(self, local_mm: FloatArray) -> FloatArray:
        """Local (u right, v down) mm, shape (n, 2), to felt mm, shape (n, 2)."""
        a = math.radians(self.angle_deg)
        turn = np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]])
        felt: FloatArray = np.asarray(local_mm, dtype=np.float64) @ turn.T + np.asarray(
            self.center_mm
        )
        return felt

    def to_local(self, felt_mm: FloatArray) -> FloatArray:
        """Felt mm, shape (n, 2), to local (u right, v down) mm, shape (n, 2)."""
        a = math.radians(self.angle_deg)
        turn = np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]])
        local: FloatArray = (
            np.asarray(felt_mm, dtype=np.float64) - np.asarray(self.center_mm)
        ) @ turn
        return local


class DealerPlace(Form):
    """The dealer's two boxes, the tray and the rack."""

    place: Place
    low: Polygon
    high: Polygon
    tray: Polygon
    rack: Polygon
    house: Polygon | None = Field(
        default=None, description="Spot of the house wager, in games where players bank."
    )


class SeatPlace(Form):
    """One seat: its view, boxes and wager spots."""

    seat: int = Field(ge=1, le=HIGHEST_SEAT)
    place: Place
    low: Polygon
    high: Polygon
    spots: dict[str, Polygon] = Field(description="Wager name to its spot.")

    @field_validator("spots")
    @classmethod
    def _has_main(cls, value: dict[str, Polygon]) -> dict[str, Polygon]:
        if "main" not in value:
            raise ValueError("every seat needs a spot named 'main'")
        return value


class FeltPoint(Form):
    """A mark of the felt and its position in the image."""

    felt_mm: Point
    image_px: Point


class Camera(Form):
    """The camera's image size and the marks that tie it to the felt."""

    width_px: StrictInt = Field(gt=0)
    height_px: StrictInt = Field(gt=0)
    points: tuple[FeltPoint, ...] = Field(min_length=4)
    k1: Annotated[float, Strict(), Field(ge=-1, le=1, allow_inf_nan=False)] | None = Field(
        default=None,
        description="Lens distortion: a point at radius r, in half diagonals of the image, is "
        "shown at r (1 + k1 r² + k2 r⁴); none: a lens without distortion.",
    )
    k2: Annotated[float, Strict(), Field(ge=-1, le=1, allow_inf_nan=False)] | None = Field(
        default=None, description="The second number of the lens distortion; none: 0."
    )


class FurtherCamera(Camera):
    """A camera beside the first one, calibrated to the same felt; readings name it."""

    name: str = Field(
        pattern=CAMERA_NAME,
        description="Small letters, digits, - and _, such as 'shoulder'.",
    )


class BankerMarker(Form):
    """The banker's button or dice cup, which lies before the seat that banks, or at the house."""

    sample_png: str = Field(
        description="Sample of its upper face, PNG as base64; 'feltwatch banker enrol' writes it."
    )
    diameter_mm: float = Field(
        ge=MARKER_DIAMETERS_MM[0], le=MARKER_DIAMETERS_MM[1],
        description="Diameter of its upper face, mm.",
    )  # fmt: skip
    height_mm: float = Field(
        ge=MARKER_HEIGHTS_MM[0], le=MARKER_HEIGHTS_MM[1],
        description="How high its upper face is over the felt, mm.",
    )  # fmt: skip
    reach_mm: float = Field(
        MARKER_REACH_MM, ge=20, le=150,
        description="So near to a place's point its middle lies there, mm.",
    )  # fmt: skip
    seats: dict[SeatNumber, Point] = Field(
        default_factory=dict,
        description="Where it lies for a seat, felt mm; a seat left out: 60 mm before its spots, "
        "towards the dealer.",
    )
    house: Point | None = Field(
        None, description="Where it lies for the house; none: 70 mm right of the dealer's boxes."
    )

    @field_validator("seats", mode="before")
    @classmethod
    def _by_number(cls, value: object) -> object:
        """The keys of TOML are texts."""
        return numbered(value)

    @field_validator("sample_png")
    @classmethod
    def _a_sample(cls, value: str) -> str:
        image = decode_png(value)
        if image is None or image.shape[:2] != (MARKER_PX, MARKER_PX):
            raise ValueError(
                f"expected a PNG image as base64, {MARKER_PX} px wide and high; "
                "'feltwatch banker enrol' writes it"
            )
        return value


class TableFile(Form):
    """One table, whole."""

    table: str = Field(
        min_length=1, max_length=80, description="The table's name, as in round ids."
    )
    felt: Felt
    rules: TableRules
    chips: dict[str, ChipKind] = Field(min_length=1)
    chip_diameter_mm: float = Field(
        CHIP_DIAMETER_MM, ge=35, le=45, description="Diameter of all chips, mm."
    )
    chip_thickness_mm: float = Field(
        CHIP_THICKNESS_MM, ge=2.5, le=4.5, description="Thickness of all chips, mm."
    )
    lammers: dict[str, LammerKind] = Field(default_factory=dict)
    dealer: DealerPlace
    seats: tuple[SeatPlace, ...] = Field(min_length=1)
    camera: Camera | None = Field(
        default=None, description="The first camera: it follows the rounds."
    )
    cameras: tuple[FurtherCamera, ...] = Field(
        default=(), description="Further cameras of the same felt: they read its chips too."
    )
    displays: tuple[MeterDisplay, ...] = Field(
        default=(), description="Displays of jackpot meters that the first camera shows."
    )
    declared: Declared | None = Field(
        default=None, description="Facts that the felt does not show and that always hold here."
    )
    joker_png: str | None = Field(
        None, description="Samples of the joker, PNG as base64; written by 'feltwatch cards enrol'."
    )
    deck_jpeg: str | None = Field(
        None,
        description="An index of each card of the table's deck, JPEG as base64; written by "
        "'feltwatch cards deck'.",
    )
    banker_marker: BankerMarker | None = Field(
        None, description="The banker's button or dice cup; none: it is not looked for."
    )
    dice: DicePlace | None = Field(
        None, description="The dice that name the first hand; none: they are not looked for."
    )
    sensor_lamp: SensorLamp | None = Field(
        None, description="The lamps of the jackpots' sensors; none: they are not read."
    )

    @field_validator("joker_png")
    @classmethod
    def _samples(cls, value: str | None) -> str | None:
        image = None if value is None else decode_png(value)
        width, height = JOKER_PX
        if value is not None and (
            image is None or image.shape[0] != height or image.shape[1] not in (width, 2 * width)
        ):
            raise ValueError(
                f"expected a PNG image as base64, {width} or {2 * width} px wide and {height} px "
                "high; 'feltwatch cards enrol' writes it"
            )
        return value

    @field_validator("deck_jpeg")
    @classmethod
    def _deck(cls, value: str | None) -> str | None:
        image = None if value is None else decode_png(value)
        width, height = (side * SAMPLE_PX for side in DECK_GRID)
        if value is not None and (image is None or image.shape[:2] != (height, width)):
            raise ValueError(
                f"expected a JPEG image as base64, {width} px wide and {height} px high; "
                "'feltwatch cards deck' writes it"
            )
        return value

    @model_validator(mode="after")
    def _seats_differ(self) -> Self:
        numbers = [s.seat for s in self.seats]
        if len(set(numbers)) != len(numbers):
            raise ValueError(f"seat numbers must differ, found {numbers}")
        return self

    @model_validator(mode="after")
    def _displays_differ(self) -> Self:
        keys = [display.key for display in self.displays]
        for wager, level in keys:
            if keys.count((wager, level)) > 1:
                raise ValueError(f"two [[displays]] show the meter of {wager}, level {level}")
        return self

    @model_validator(mode="after")
    def _cameras_differ(self) -> Self:
        names = [camera.name for camera in self.cameras]
        if len(set(names)) != len(names):
            raise ValueError(f"the names of cameras must differ, found {', '.join(names)}")
        if names and self.camera is None:
            raise ValueError("[[cameras]] are further cameras: the first one, [camera], is missing")
        return self

    def seat(self, number: int) -> SeatPlace:
        """The seat of that number; KeyError when the table has none."""
        for seat in self.seats:
            if seat.seat == number:
                return seat
        raise KeyError(number)


def encode_png(image: npt.NDArray[np.uint8]) -> str:
    """An image as a PNG in base64, as table files keep small ones."""
    _, data = cv2.imencode(".png", image)
    return base64.b64encode(data.tobytes()).decode("ascii")


def decode_png(text: str) -> npt.NDArray[np.uint8] | None:
    """The image uint8 (h, w, 3) BGR of a PNG or JPEG in base64; None where it is none."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    if not data:
        return None
    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    return None if image is None else np.asarray(image, np.uint8)


def load_table(path: Path) -> TableFile:
    """Read and check a table file.

    Raises FeltwatchError with file, key and what would be right.
    """
    data = read_toml(path)
    try:
        table = form_of_toml(TableFile, data)
    except ValidationError as error:
        raise file_fault(path, error) from error
    table = table.model_copy(update={"rules": table.rules.beside(path)})
    for place, message in table_faults(table):
        raise FeltwatchError(f"{path}: {place}: {message}")
    return table


def table_faults(table: TableFile) -> Iterator[tuple[str, str]]:
    """What a table's game makes impossible on its felt, each with its key."""
    game = GAMES.get(table.rules.game)
    if game is not None and len(table.seats) > game.seats_most:
        yield (
            "seats",
            f"{len(table.seats)} seats; {game.id} has cards for {game.seats_most} at most",
        )
    yield from spot_faults(table)
    yield from off_the_felt(table)
    yield from marker_faults(table)
    yield from dice_faults(table)
    yield from rules_faults(table)
    yield from lamp_faults(table.sensor_lamp, [name for seat in table.seats for name in seat.spots])
    for kind in table.lammers:
        if kind not in LAMMER_KINDS:
            known = ", ".join(sorted(LAMMER_KINDS))
            yield f"lammers.{kind}", f"no game has such a lammer; there are {known}"
    camera = table.camera
    size_px = None if camera is None else (camera.width_px, camera.height_px)
    yield from display_faults(table.displays, table.rules.paytables, size_px)
