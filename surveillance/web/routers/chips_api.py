"""The page that takes samples of a table's chips, and its one question."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from surveillance.web.access import Admin, audit
from surveillance.web.dependencies import NetworksHere, TableShelfHere
from surveillance.web.routers.calibration_api import PicturesHere, kept_picture, picture_start
from surveillance.web.routers.pages import page
from surveillance.web.routers.tablefiles_api import table_form
from surveillance.web.schemas.chips import ChipPair, ChipPairsQuestion, ChipQuestion, ChipSample
from surveillance.web.schemas.review import ErrorForm
from surveillance.web.services.samples.chip import Pointed, chip_pairs, chip_sample

_REFUSED: dict[int | str, dict[str, Any]] = {
    404: {"model": ErrorForm, "description": "The image is not kept any more."},
    422: {"model": ErrorForm, "description": "No stack can be sampled there."},
}

router = APIRouter(tags=["chips"])


@router.post("/api/chips/sample", responses=_REFUSED)
def sample(
    _: Admin, networks: NetworksHere, pictures: PicturesHere, request: Request,
    question: ChipQuestion,
) -> ChipSample:  # fmt: skip
    """Take the sample of a chip from a stack in an image; nothing is written."""
    kept = kept_picture(pictures, question.picture)
    audit(request, "chip sampled", f"{question.chip} in {kept.name}")
    pointed = Pointed(kept.path, question.at_px, question.chip, question.laid)
    return chip_sample(question.data, pointed, networks)


@router.post("/api/chips/pairs")
def pairs(_: Admin, question: ChipPairsQuestion) -> list[ChipPair]:
    """How far the chips of a table file differ, those that look most alike first."""
    return chip_pairs(question.data)


@router.get("/tables/chips/{id}", include_in_schema=False)
def chips_page(
    account: Admin, shelf: TableShelfHere, pictures: PicturesHere, request: Request, id: str
) -> Response:
    """The page to sample a table's chips in an image of it."""
    form = table_form(shelf, id)
    start = {
        **picture_start(request, pictures, form),
        "pairs": [pair.model_dump(mode="json") for pair in chip_pairs(form.data)],
    }
    return page(request, account, "chips.html.j2", start=start, file=form)
