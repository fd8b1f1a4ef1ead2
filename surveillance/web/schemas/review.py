"""The JSON forms of review: datasets, images with boxes, changes, a deal's cards."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, Strict, StrictBool, StringConstraints

from surveillance.web.schemas.json_numbers import Integral

MAX_BOXES = 2_000
"""More boxes than any image of a table holds."""

MAX_REVISION = 2**53 - 1
"""The largest whole number that a browser's JavaScript keeps exactly."""

Px = Annotated[float, Strict(), Field(allow_inf_nan=False)]
Share = Annotated[float, Strict(), Field(ge=0, le=1, allow_inf_nan=False)]
Label = Annotated[str, StringConstraints(min_length=1, max_length=500, pattern=r"^\S([\s\S]*\S)?$")]
NewLabel = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=60, pattern=r"^[^\x00-\x1f\x7f]+$"
    ),
]
PersonName = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=60, pattern=r"^[^\x00-\x1f\x7f]+$"
    ),
]
"""Names and new labels are one line of printable text; a label that is there may be any."""

Revision = Annotated[Integral[int], Strict(), Field(ge=1, le=MAX_REVISION)]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid")


class BoxForm(_Form):
    """One box; px of the image, origin at its top left corner."""

    label: Label = Field(description="What the box holds: a label of the dataset.")
    x0: Px = Field(description="Left, px.")
    y0: Px = Field(description="Top, px.")
    x1: Px = Field(description="Right, px.")
    y1: Px = Field(description="Bottom, px.")
    angle_deg: Px | None = Field(
        default=None, description="Turn about the centre, clockwise, degrees."
    )
    visible: Share | None = Field(default=None, description="Fraction that nothing covers.")
    score: Share | None = Field(default=None, description="Confidence of a model.")
    attributes: dict[str, JsonValue] = Field(
        default_factory=dict, description="Further values, kept as they came."
    )


class BoxesChange(_Form):
    """All boxes of an image, in place of those of `revision`."""

    revision: Revision = Field(description="The revision that was changed.")
    boxes: list[BoxForm] = Field(max_length=MAX_BOXES)


class ConfirmationChange(_Form):
    """A person's word that the boxes of `revision` are right, or its taking back."""

    revision: Revision = Field(description="The revision that was looked at.")
    confirmed: StrictBool


class PictureLine(_Form):
    """An image in a list."""

    id: int
    file: str
    revision: int
    split: str | None
    deal: str | None
    boxes: int = Field(description="How many boxes it has.")
    labelled_by: str | None
    confirmed_by: str | None


class PictureForm(_Form):
    """An image with its boxes."""

    id: int
    file: str
    width: int = Field(description="px")
    height: int = Field(description="px")
    sha256: str
    source: str | None
    time_s: str | None = Field(description="The stream's own clock, seconds as decimal text.")
    deck: str | None
    camera: str | None
    shift: str | None
    deal: str | None
    split: str | None
    labelled_by: str | None
    confirmed_by: str | None
    confirmed_at: str | None
    revision: int
    boxes: list[BoxForm]
    image_url: str
    thumbnail_url: str


class PicturePage(_Form):
    """Some images of a list, in order."""

    pictures: list[PictureLine]
    more: bool = Field(description="Whether the list goes on beyond them, in that direction.")


class PictureCount(_Form):
    """How many images a filter selects, and the position of one among them."""

    matching: int
    confirmed: int
    place: int | None = Field(description="From 1; null when no image was named.")


class SplitLine(_Form):
    """One split; `name` is null for images in none."""

    name: str | None
    pictures: int


class DatasetForm(_Form):
    """A dataset as a whole."""

    name: str
    key: str = Field(description="Identifies this dataset among others of the same name.")
    labels: list[str]
    splits: list[SplitLine]
    pictures: int
    suggested: int = Field(description="Images for which a model suggests other labels.")


class LabelChange(_Form):
    """A label to add."""

    name: NewLabel


class ChangeLine(_Form):
    """One change of an image."""

    revision: int
    by: str
    at: str = Field(description="UTC, ISO 8601.")
    what: str
    note: str | None
    boxes: int = Field(description="How many boxes there were afterwards.")


class CardSeen(_Form):
    """Another image of the deal on which a card is labelled."""

    picture: int
    file: str
    boxes: int


class TwiceLine(_Form):
    """A card that one pack cannot show so."""

    card: str
    where: list[str] = Field(description="Names of the images; one name twice for one image.")


class BoxesQuestion(_Form):
    """Boxes to look at in place of those that are saved."""

    boxes: list[BoxForm] = Field(max_length=MAX_BOXES)


class SuggestionForm(_Form):
    """One change that a model or a second labeller suggests for an image's boxes."""

    key: str = Field(description="Names the suggestion, whatever the other boxes are.")
    kind: Literal["missing", "extra", "wrong_label", "loose_box"] = Field(
        description="`missing`: not found by the model; `extra`: found by it alone."
    )
    own: int | None = Field(description="Place of the box it is about; null for a new one.")
    result: BoxForm | None = Field(description="That box as suggested; null to delete it.")
    score: float | None = Field(description="How sure the model was.")


class SuggestionsForm(_Form):
    """Suggestions for an image that differ from its boxes, highest confidence first."""

    by: str | None = Field(description="Who suggests it; null when nobody did.")
    rejected: list[str] = Field(description="Keys of suggestions that a person rejected.")
    suggestions: list[SuggestionForm] = Field(description="Rejected ones too.")


class RejectedChange(_Form):
    """The keys of all suggestions of an image that are rejected."""

    keys: list[Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]] = Field(
        max_length=2 * MAX_BOXES
    )


class DealForm(_Form):
    """The 53-card check of the deal that an image shows."""

    deal: str | None = Field(description="Null when the image names no deal.")
    pictures: int = Field(description="Images of the deal, this one counted.")
    left_out: int = Field(description="Images beyond the limit of one check.")
    elsewhere: dict[str, list[CardSeen]] = Field(
        description="Cards on the other images of the deal, by label."
    )
    twice: list[TwiceLine] = Field(description="Cards that lie twice.")


class PersonForm(_Form):
    """Name of the person at the keyboard."""

    name: PersonName


class ErrorForm(BaseModel):
    """Why a request was refused."""

    detail: str


class ConflictForm(ErrorForm):
    """Somebody else's change came first; `picture` is its present state."""

    picture: PictureForm
