"""The review pages."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response
from starlette.templating import Jinja2Templates

from surveillance.web.access import PERSON_COOKIE, Role, Viewer, needs
from surveillance.web.dependencies import ReviewedDatasetHere, ShelfHere
from surveillance.web.routers.pages import page

_SCRIPTS = Path(__file__).parents[1] / "static" / "review"
_MODULES = sorted(f"/static/review/{path.name}" for path in _SCRIPTS.glob("*.js"))
"""All modules of the page are listed in it, so that they load in parallel."""

router = APIRouter(include_in_schema=False, dependencies=[Depends(needs(Role.VIEWER))])


def _review_url(slug: str) -> str:
    return f"/datasets/{quote(slug, safe='')}/review"


@router.get("/datasets")
def datasets(request: Request, shelf: ShelfHere, account: Viewer) -> Response:
    """The datasets that this server shows."""
    lines = [(_review_url(reviewed.slug), reviewed.review.dataset()) for reviewed in shelf.values()]
    return page(request, account, "datasets.html.j2", lines=lines)


@router.get("/datasets/{dataset}/review")
def review(request: Request, reviewed: ReviewedDatasetHere, account: Viewer) -> Response:
    """The review page; its modules fetch the images through the API."""
    pages: Jinja2Templates = request.app.state.pages
    start = {
        "dataset": reviewed.review.dataset().model_dump(mode="json"),
        "api": reviewed.review.url,
        "person": account.name,
        "logged_in": account.via != "open",
        "ask_person": (
            request.app.state.settings.ask_person
            and account.via == "open"
            and PERSON_COOKIE not in request.cookies
        ),
    }
    return pages.TemplateResponse(
        request, "review.html.j2", {"start": start, "name": reviewed.slug, "modules": _MODULES}
    )
