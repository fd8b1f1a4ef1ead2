"""The page that takes a sample of a table's joker, and its one question."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from surveillance.web.access import Admin, audit
from surveillance.web.dependencies import TableShelfHere
from surveillance.web.routers.calibration_api import PicturesHere, kept_picture, picture_start
from surveillance.web.routers.pages import page
from surveillance.web.routers.tablefiles_api import table_form
from surveillance.web.schemas.cards import JokerQuestion, JokerSample
from surveillance.web.schemas.review import ErrorForm
from surveillance.web.services.joker_samples import joker_sample

_REFUSED: dict[int | str, dict[str, Any]] = {
    404: {"model": ErrorForm, "description": "The image is not kept any more."},
    422: {"model": ErrorForm, "description": "No joker can be sampled there."},
}

router = APIRouter(tags=["cards"])


@router.post("/api/cards/joker", responses=_REFUSED)
def joker(
    _: Admin, pictures: PicturesHere, request: Request, question: JokerQuestion
) -> JokerSample:
    """Take the sample of the table's joker from an image; nothing is written."""
    kept = kept_picture(pictures, question.picture)
    audit(request, "joker sampled", kept.name)
    return joker_sample(question.data, kept.path, question.at_px)


@router.get("/tables/cards/{id}", include_in_schema=False)
def cards_page(
    account: Admin, shelf: TableShelfHere, pictures: PicturesHere, request: Request, id: str
) -> Response:
    """The page to sample a table's joker in an image of it."""
    form = table_form(shelf, id)
    start = picture_start(request, pictures, form)
    return page(request, account, "cards.html.j2", start=start, file=form)
