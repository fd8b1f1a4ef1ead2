"""What routes are given: the service of a dataset, and who is asking."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote, unquote

from fastapi import Depends, Path, Request
from pydantic import TypeAdapter, ValidationError
from starlette.responses import Response

from surveillance.web.schemas.review import PersonName
from surveillance.web.services.desk import ReviewDesk, Shelf
from surveillance.web.services.errors import NotThereError

PERSON_COOKIE = "feltwatch_person"
_A_YEAR_S = 365 * 24 * 3600
_NAMES = TypeAdapter(PersonName)
_LARGEST_ID = 2**63 - 1


def get_shelf(request: Request) -> Shelf:
    """The datasets that this server shows."""
    shelf: Shelf = request.app.state.shelf
    return shelf


def get_desk(dataset: str, shelf: Annotated[Shelf, Depends(get_shelf)]) -> ReviewDesk:
    """What serves the dataset named in the path. Raises NotThereError."""
    desk = shelf.get(dataset)
    if desk is None:
        raise NotThereError(f"there is no dataset {dataset!r} here")
    return desk


def get_person(request: Request) -> str:
    """The name of who is asking: the one they gave, or the server's default."""
    default: str = request.app.state.settings.person
    try:
        return _NAMES.validate_python(unquote(request.cookies[PERSON_COOKIE], errors="strict"))
    except (KeyError, ValidationError, UnicodeDecodeError):
        return default


def keep_person(response: Response, name: str) -> None:
    """Have the browser keep the name for later requests."""
    response.set_cookie(
        PERSON_COOKIE, quote(name), max_age=_A_YEAR_S, httponly=True, samesite="strict"
    )


def get_author(person: Annotated[str, Depends(get_person)]) -> str:
    """Who is asking, as a change in a dataset names its author."""
    return f"person:{person}"


DeskOf = Annotated[ReviewDesk, Depends(get_desk)]
ShelfHere = Annotated[Shelf, Depends(get_shelf)]
Person = Annotated[str, Depends(get_person)]
Author = Annotated[str, Depends(get_author)]
PictureId = Annotated[int, Path(ge=1, le=_LARGEST_ID, description="Number of the picture.")]
