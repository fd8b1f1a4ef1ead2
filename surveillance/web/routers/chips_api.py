"""The page that takes samples of a table's chips, and its one question."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from surveillance.web.access import Admin, audit
from surveillance.web.dependencies import TableShelfHere
from surveillance.web.routers.calibration_api import PicturesHere, kept_picture, picture_start
from surveillance.web.routers.pages import page
from surveillance.web.routers.tablefiles_api import table_form
from surveillance.web.schemas.chips import ChipPair, ChipPairsQuestion, ChipQuestion, ChipSample
from surveillance.web.schemas.review import ErrorForm
from surveillance.web.services.chip_samples import ChipSampler, Pointed, chip_pairs

_REFUSED: dict[int | str, dict[str, Any]] = {
    404: {"model": ErrorForm, "description": "The image is not kept any more."},
    422: {"model": ErrorForm, "description": "No stack can be sampled there."},
}


def get_sampler(request: Request) -> ChipSampler:
    """The one sampler of this server."""
    state = request.app.state
    if not hasattr(state, "chip_sampler"):
        state.chip_sampler = ChipSampler()
    sampler: ChipSampler = state.chip_sampler
    return sampler


SamplerHere = Annotated[ChipSampler, Depends(get_sampler)]

router = APIRouter(tags=["chips"])


@router.post("/api/chips/sample", responses=_REFUSED)
def sample(
    _: Admin, sampler: SamplerHere, pictures: PicturesHere, request: Request, question: ChipQuestion
) -> ChipSample:
    """Take the sample of a chip from a stack in an image; nothing is written."""
    kept = kept_picture(pictures, question.picture)
    audit(request, "chip sampled", f"{question.chip} in {kept.name}")
    return sampler.take(
        question.data, Pointed(kept.path, question.at_px, question.chip, question.laid)
    )


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
