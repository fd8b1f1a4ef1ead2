"""The review pages."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response
from starlette.templating import Jinja2Templates

from surveillance.web.dependencies import DeskOf, Person, ShelfHere

_SCRIPTS = Path(__file__).parents[1] / "static" / "review"
_MODULES = sorted(f"/static/review/{path.name}" for path in _SCRIPTS.glob("*.js"))
"""All modules of the page are told at once, so that none waits for another to be read."""

router = APIRouter(include_in_schema=False)


def _review_url(slug: str) -> str:
    return f"/datasets/{quote(slug, safe='')}/review"


@router.get("/")
def first_page(shelf: ShelfHere) -> Response:
    """Lead to the only dataset, or to the list of them."""
    slugs = list(shelf)
    return RedirectResponse(_review_url(slugs[0]) if len(slugs) == 1 else "/datasets", 303)


@router.get("/datasets")
def datasets(request: Request, shelf: ShelfHere) -> Response:
    """The datasets that this server shows."""
    pages: Jinja2Templates = request.app.state.pages
    lines = [(_review_url(desk.slug), desk.review.dataset()) for desk in shelf.values()]
    return pages.TemplateResponse(request, "datasets.html.j2", {"lines": lines})


@router.get("/datasets/{dataset}/review")
def review(request: Request, desk: DeskOf, person: Person) -> Response:
    """The review page; its modules fetch the pictures through the API."""
    pages: Jinja2Templates = request.app.state.pages
    start = {
        "dataset": desk.review.dataset().model_dump(mode="json"),
        "api": desk.review.url,
        "person": person,
    }
    return pages.TemplateResponse(
        request, "review.html.j2", {"start": start, "name": desk.slug, "modules": _MODULES}
    )
