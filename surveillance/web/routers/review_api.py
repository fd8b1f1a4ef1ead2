"""The JSON API of review: all that the review page does."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import Response

from surveillance.web.access import Reviewer, Role, needs
from surveillance.web.dependencies import (
    Author,
    PictureId,
    ReviewedDatasetHere,
    ShelfHere,
)
from surveillance.web.repositories.labelled import Filter
from surveillance.web.routers.answers import is_known, not_modified, tagged_bytes, tagged_file
from surveillance.web.routers.answers import tagged_json as tagged
from surveillance.web.schemas.review import (
    MAX_REVISION,
    BoxesChange,
    BoxesQuestion,
    BoxForm,
    ChangeLine,
    ConfirmationChange,
    ConflictForm,
    DatasetForm,
    DealForm,
    ErrorForm,
    LabelChange,
    PictureCount,
    PictureForm,
    PicturePage,
    RejectedChange,
    SuggestionsForm,
)

MAX_PAGE = 200
_LARGEST_ID = 2**63 - 1

_Answers = dict[int | str, dict[str, Any]]
_NOT_THERE: _Answers = {404: {"model": ErrorForm, "description": "There is no such thing."}}
_SAVES: _Answers = _NOT_THERE | {
    409: {"model": ConflictForm, "description": "Somebody else's change came first."},
    422: {"model": ErrorForm, "description": "What was sent cannot be taken."},
    503: {"model": ErrorForm, "description": "The manifest is busy; try again."},
}

router = APIRouter(prefix="/api", tags=["review"], dependencies=[Depends(needs(Role.VIEWER))])


def _filter(
    split: Annotated[
        str | None, Query(max_length=200, description="Empty: images in no split.")
    ] = None,
    confirmed: bool | None = None,
    label: Annotated[str | None, Query(max_length=500)] = None,
    deal: Annotated[str | None, Query(max_length=500)] = None,
    without_boxes: bool = False,
    order: Annotated[
        Literal["number", "disagreement"],
        Query(description="`disagreement`: where suggestions differ most from the labels first."),
    ] = "number",
) -> Filter:
    return Filter(split, confirmed, label, deal, without_boxes, order == "disagreement")


Wanted = Annotated[Filter, Depends(_filter)]
Place = Annotated[int | None, Query(ge=0, le=_LARGEST_ID)]


@router.get("/datasets")
def datasets(shelf: ShelfHere) -> list[DatasetForm]:
    """The datasets that this server shows."""
    return [reviewed.review.dataset() for reviewed in shelf.values()]


@router.get("/datasets/{dataset}", responses=_NOT_THERE)
def dataset(reviewed: ReviewedDatasetHere) -> DatasetForm:
    """One dataset as a whole."""
    return reviewed.review.dataset()


@router.get("/datasets/{dataset}/labels", responses=_NOT_THERE)
def labels(reviewed: ReviewedDatasetHere) -> list[str]:
    """The labels of a dataset, in order."""
    return reviewed.review.dataset().labels


@router.post("/datasets/{dataset}/labels", responses=_SAVES)
def add_label(_: Reviewer, reviewed: ReviewedDatasetHere, form: LabelChange) -> list[str]:
    """Add a label; gives back all."""
    return reviewed.review.add_label(form.name)


@router.get("/datasets/{dataset}/pictures", responses=_NOT_THERE)
def pictures(
    reviewed: ReviewedDatasetHere,
    wanted: Wanted,
    after: Annotated[int, Query(ge=0, le=_LARGEST_ID)] = 0,
    before: Place = None,
    at: Place = None,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 50,
) -> PicturePage:
    """A page of images after image `after`, before image `before`, or from `at` on."""
    return reviewed.review.page(wanted, after=after, before=before, limit=limit, at=at)


@router.get("/datasets/{dataset}/count", responses=_NOT_THERE)
def count(reviewed: ReviewedDatasetHere, wanted: Wanted, at: Place = None) -> PictureCount:
    """Number of images and of confirmed ones, and the position of image `at`."""
    return reviewed.review.count(wanted, at)


@router.get("/datasets/{dataset}/pictures/{id}", response_model=PictureForm, responses=_NOT_THERE)
def picture(reviewed: ReviewedDatasetHere, id: PictureId, request: Request) -> Response:
    """An image with its boxes. Answers 304 to an `If-None-Match` that is still right."""
    return tagged(request, reviewed.review.picture(id))


@router.put("/datasets/{dataset}/pictures/{id}/boxes", response_model=PictureForm, responses=_SAVES)
def set_boxes(
    _: Reviewer,
    reviewed: ReviewedDatasetHere,
    id: PictureId,
    form: BoxesChange,
    author: Author,
    request: Request,
) -> Response:
    """Put boxes in place of those of a revision. Takes back a confirmation."""
    saved = reviewed.review.set_boxes(id, form.boxes, by=author, revision=form.revision)
    return tagged(request, saved)


@router.put(
    "/datasets/{dataset}/pictures/{id}/confirmation",
    response_model=PictureForm,
    responses=_SAVES,
)
def confirm(
    _: Reviewer,
    reviewed: ReviewedDatasetHere,
    id: PictureId,
    form: ConfirmationChange,
    author: Author,
    request: Request,
) -> Response:
    """Confirm the boxes of a revision, or withdraw the confirmation."""
    saved = reviewed.review.confirm(id, form.confirmed, by=author, revision=form.revision)
    return tagged(request, saved)


@router.get("/datasets/{dataset}/pictures/{id}/history", responses=_NOT_THERE)
def history(reviewed: ReviewedDatasetHere, id: PictureId) -> list[ChangeLine]:
    """Every change of an image, the first one first."""
    return reviewed.review.history(id)


@router.get("/datasets/{dataset}/pictures/{id}/history/{revision}", responses=_NOT_THERE)
def boxes_at(
    reviewed: ReviewedDatasetHere,
    id: PictureId,
    revision: Annotated[int, Path(ge=1, le=MAX_REVISION)],
) -> list[BoxForm]:
    """The boxes as they were at a revision."""
    return reviewed.review.boxes_at(id, revision)


@router.get("/datasets/{dataset}/pictures/{id}/deal", responses=_NOT_THERE)
def deal(reviewed: ReviewedDatasetHere, id: PictureId) -> DealForm:
    """The 53-card check of the image's deal."""
    return reviewed.review.deal(id)


@router.post("/datasets/{dataset}/pictures/{id}/deal", responses=_SAVES)
def deal_of(reviewed: ReviewedDatasetHere, id: PictureId, form: BoxesQuestion) -> DealForm:
    """The 53-card check with other boxes on this image; nothing is saved."""
    return reviewed.review.deal(id, form.boxes)


@router.get("/datasets/{dataset}/pictures/{id}/suggestions", responses=_NOT_THERE)
def suggestions(reviewed: ReviewedDatasetHere, id: PictureId) -> SuggestionsForm:
    """Suggestions of a model or a second labeller for the image."""
    return reviewed.review.suggestions(id)


@router.post("/datasets/{dataset}/pictures/{id}/suggestions", responses=_SAVES)
def suggestions_of(
    reviewed: ReviewedDatasetHere, id: PictureId, form: BoxesQuestion
) -> SuggestionsForm:
    """Suggestions with other boxes on this image; nothing is saved."""
    return reviewed.review.suggestions(id, form.boxes)


@router.put("/datasets/{dataset}/pictures/{id}/suggestions/rejected", responses=_SAVES)
def reject(
    _: Reviewer, reviewed: ReviewedDatasetHere, id: PictureId, form: RejectedChange
) -> SuggestionsForm:
    """Put these rejected suggestions in place of the image's earlier ones."""
    return reviewed.review.reject(id, form.keys)


_FILES: _Answers = _NOT_THERE | {200: {"content": {"image/*": {}}}, 304: {"description": "Known."}}


@router.get("/datasets/{dataset}/pictures/{id}/image", response_class=Response, responses=_FILES)
def image(reviewed: ReviewedDatasetHere, id: PictureId, request: Request) -> Response:
    """The image itself."""
    path = reviewed.review.path(id)
    return tagged_file(request, path, reviewed.thumbnails.tag(path))


@router.get(
    "/datasets/{dataset}/pictures/{id}/thumbnail", response_class=Response, responses=_FILES
)
def thumbnail(reviewed: ReviewedDatasetHere, id: PictureId, request: Request) -> Response:
    """The image, at most 320 px wide and high, as JPEG."""
    path = reviewed.review.path(id)
    tag = reviewed.thumbnails.tag(path)
    if is_known(request, f'"{tag}"'):
        return not_modified(f'"{tag}"')
    return tagged_bytes(request, reviewed.thumbnails.jpeg(path, tag), "image/jpeg", tag)
