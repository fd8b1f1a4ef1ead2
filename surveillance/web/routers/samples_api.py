"""The pages that sample a table's cards, banker's marker, dice and jackpots, and what they ask."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from surveillance.web.access import Admin, audit
from surveillance.web.dependencies import NetworksHere, TableShelfHere
from surveillance.web.routers.calibration_api import PicturesHere, kept_picture, picture_start
from surveillance.web.routers.pages import page
from surveillance.web.routers.tablefiles_api import table_form
from surveillance.web.schemas.banker import (
    MarkerPlaceForm,
    MarkerQuestion,
    MarkerSampleForm,
    PlacesQuestion,
)
from surveillance.web.schemas.cards import DeckQuestion, DeckSample, JokerQuestion, JokerSample
from surveillance.web.schemas.dice import DiceForm, DiceQuestion
from surveillance.web.schemas.jackpots import LampForm, LampQuestion, LookForm, LookQuestion
from surveillance.web.schemas.review import ErrorForm
from surveillance.web.services.jackpot_sights import lamp_sample, look
from surveillance.web.services.samples.deck import deck_sample
from surveillance.web.services.samples.dice import dice_look
from surveillance.web.services.samples.joker import joker_sample
from surveillance.web.services.samples.marker import drawn_places, marker_sample

_REFUSED: dict[int | str, dict[str, Any]] = {
    404: {"model": ErrorForm, "description": "The image is not kept any more."},
    422: {"model": ErrorForm, "description": "No sample can be taken there."},
}

router = APIRouter()


@router.post("/api/cards/joker", responses=_REFUSED, tags=["cards"])
def joker(
    _: Admin, networks: NetworksHere, pictures: PicturesHere, request: Request,
    question: JokerQuestion,
) -> JokerSample:  # fmt: skip
    """Take the sample of the table's joker from an image; nothing is written."""
    kept = kept_picture(pictures, question.picture)
    audit(request, "joker sampled", kept.name)
    return joker_sample(question.data, kept.path, question.at_px, networks)


@router.post("/api/cards/deck", responses=_REFUSED, tags=["cards"])
def deck(
    _: Admin, networks: NetworksHere, pictures: PicturesHere, request: Request,
    question: DeckQuestion,
) -> DeckSample:  # fmt: skip
    """Take samples of the table's deck from an image of it spread; nothing is written."""
    kept = kept_picture(pictures, question.picture)
    audit(request, "deck sampled", kept.name)
    return deck_sample(question.data, kept.path, question.rows, networks)


@router.post("/api/banker/marker", responses=_REFUSED, tags=["banker"])
def marker(
    _: Admin, pictures: PicturesHere, request: Request, question: MarkerQuestion
) -> MarkerSampleForm:
    """Take the sample of the banker's marker from an image; nothing is written."""
    kept = kept_picture(pictures, question.picture)
    audit(request, "banker's marker sampled", kept.name)
    return marker_sample(
        question.data, kept.path, question.at_px, question.diameter_mm, question.height_mm
    )


@router.post("/api/banker/places", responses=_REFUSED, tags=["banker"])
def places(_: Admin, pictures: PicturesHere, question: PlacesQuestion) -> list[MarkerPlaceForm]:
    """Where the marker may lie, to draw over an image; nothing is written."""
    return drawn_places(question.data, kept_picture(pictures, question.picture).path)


@router.post("/api/dice/look", responses=_REFUSED, tags=["dice"])
def look_at_dice(_: Admin, pictures: PicturesHere, question: DiceQuestion) -> DiceForm:
    """Where the dice of a table lie, and what an image shows of them; nothing is written."""
    kept = kept_picture(pictures, question.picture)
    return dice_look(question.data, kept.path, question.at_px)


@router.post("/api/jackpots/look", responses=_REFUSED, tags=["jackpots"])
def look_at_jackpots(_: Admin, pictures: PicturesHere, question: LookQuestion) -> LookForm:
    """What an image shows of a table's jackpot displays and lamps; nothing is written."""
    return look(question.data, kept_picture(pictures, question.picture).path)


@router.post("/api/jackpots/lamp", responses=_REFUSED, tags=["jackpots"])
def lamp(_: Admin, pictures: PicturesHere, request: Request, question: LampQuestion) -> LampForm:
    """Take the sensors' lamp from an image in which one is lit; nothing is written."""
    kept = kept_picture(pictures, question.picture)
    audit(request, "sensor's lamp sampled", kept.name)
    return lamp_sample(question.data, kept.path, question.at_px, question.diameter_mm)


@router.get("/tables/cards/{id}", include_in_schema=False)
def cards_page(
    account: Admin, shelf: TableShelfHere, pictures: PicturesHere, request: Request, id: str
) -> Response:
    """The page to sample a table's joker and its deck in an image of them."""
    return _page("cards.html.j2", account, shelf, pictures, request, id)


@router.get("/tables/banker/{id}", include_in_schema=False)
def banker_page(
    account: Admin, shelf: TableShelfHere, pictures: PicturesHere, request: Request, id: str
) -> Response:
    """The page to sample a table's banker's marker in an image of it."""
    return _page("banker.html.j2", account, shelf, pictures, request, id)


@router.get("/tables/dice/{id}", include_in_schema=False)
def dice_page(
    account: Admin, shelf: TableShelfHere, pictures: PicturesHere, request: Request, id: str
) -> Response:
    """The page to show where a table's dice lie open in an image of it."""
    return _page("dice.html.j2", account, shelf, pictures, request, id)


@router.get("/tables/jackpots/{id}", include_in_schema=False)
def jackpots_page(
    account: Admin, shelf: TableShelfHere, pictures: PicturesHere, request: Request, id: str
) -> Response:
    """The page to show where a table's jackpot displays are, and how its sensors' lamps look."""
    return _page("jackpots.html.j2", account, shelf, pictures, request, id)


def _page(
    template: str, account: Admin, shelf: TableShelfHere, pictures: PicturesHere, request: Request,
    table: str,
) -> Response:  # fmt: skip
    form = table_form(shelf, table)
    start = picture_start(request, pictures, form)
    return page(request, account, template, start=start, file=form)
