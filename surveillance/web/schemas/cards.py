"""The JSON forms of taking samples of a table's joker and of its deck."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from surveillance.web.schemas.chips import Px
from surveillance.web.schemas.tablefiles import Data


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _OnPicture(_Form):
    """An image in which cards of the table lie."""

    picture: Annotated[str, StringConstraints(min_length=1, max_length=40)] = Field(
        description="The id of an image of /api/calibration/pictures."
    )
    data: Data = Field(description="The table file's data as it stands in the page.")


class DeckQuestion(_OnPicture):
    """An image in which the table's deck lies spread in rows."""

    rows: Annotated[str, StringConstraints(max_length=80)] | None = Field(
        default=None,
        description="The rows from the top, each by its first and its last card, such as "
        "AS-KS AH-KH KD-AD KC-AC; without them the cards must read so.",
    )


class JokerQuestion(_OnPicture):
    """A point of an image where the table's joker lies."""

    at_px: tuple[Px, Px] = Field(description="The middle of the card, in px of the image.")


class JokerSample(_Form):
    """A sample of the joker: `joker_png` goes into the table file."""

    joker_png: str
    ends: int = Field(description="How many of the card's two ends show a mark.")
    card_png: str = Field(description="The card, upright, as a PNG in base64, to check by eye.")
    card_mm: tuple[float, float] = Field(description="Width and height of the card, mm.")
    outline_px: list[tuple[float, float]] = Field(description="The card, in px of the image.")
    warnings: list[str]


class DeckCardForm(_Form):
    """A card of a spread deck: its label and its index, in px of the image."""

    label: str
    outline_px: list[tuple[float, float]]


class DeckSample(_Form):
    """Samples of the deck: `deck_jpeg` goes into the table file."""

    deck_jpeg: str
    cards: list[DeckCardForm] = Field(description="What was taken for which card, to check by eye.")
    warnings: list[str]
