"""The pages of the room: wall, table, alerts, rounds, reports. They fetch through the API."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Request
from starlette.responses import RedirectResponse, Response

from settlement.games import GAMES
from surveillance.alerts.catalogue import CATALOGUE
from surveillance.config.site_file import SiteConfig, SitePart
from surveillance.web.access import Role, Viewer, audit
from surveillance.web.dependencies import ShelfHere
from surveillance.web.room_parts import PartsHere, StoredHere, StoreParts, until_shut_down
from surveillance.web.routers.pages import page
from surveillance.web.services.rounds import Rounds

router = APIRouter(include_in_schema=False, lifespan=until_shut_down)

_LARGEST_ID = 2**63 - 1
_CODES = [{"code": one.code, "title": one.title} for one in CATALOGUE]
_GAMES = {name: game.title for name, game in GAMES.items()}


@router.get("/")
def wall(request: Request, account: Viewer, parts: PartsHere, shelf: ShelfHere) -> Response:
    """The wall of tables; a server without a store or live tables leads to its datasets."""
    settings = request.app.state.settings
    if settings.store is None and settings.bus is None:
        slugs = list(shelf)
        only = f"/datasets/{quote(slugs[0], safe='')}/review" if len(slugs) == 1 else "/datasets"
        return RedirectResponse(only, 303)
    audit(request, "wall seen", "wall")
    start = {
        "tables": [line.model_dump(mode="json") for line in parts.room.tables()],
        "games": _GAMES,
    }
    return page(request, account, "wall.html.j2", start=start)


@router.get("/tables/view/{camera}")
def table(request: Request, account: Viewer, parts: PartsHere, camera: str) -> Response:
    """One table, large."""
    form = parts.room.table(camera)
    audit(request, "table seen", f"camera {camera}")
    start = {
        "form": form.model_dump(mode="json"),
        "games": _GAMES,
        "may_judge": account.role.covers(Role.REVIEWER),
    }
    return page(request, account, "table.html.j2", start=start, camera=camera)


@router.get("/alerts")
def alerts(request: Request, account: Viewer, stored: StoredHere) -> Response:
    """The alert queue."""
    tables, dealers = stored.queue.choices()
    start = {
        "codes": _CODES,
        "tables": tables,
        "dealers": dealers,
        "may_judge": account.role.covers(Role.REVIEWER),
        "me": account.name,
    }
    return page(request, account, "alerts.html.j2", start=start)


@router.get("/rounds")
def rounds(request: Request, account: Viewer, stored: StoredHere) -> Response:
    """The rounds."""
    start = {"tables": stored.reports.tables(), "dealers": stored.rounds.dealers(), "games": _GAMES}
    return page(request, account, "rounds.html.j2", start=start)


@router.get("/rounds/{id}")
def one_round(
    request: Request,
    account: Viewer,
    stored: StoredHere,
    id: Annotated[int, Path(ge=1, le=_LARGEST_ID)],
) -> Response:
    """One round."""
    service: Rounds = stored.rounds
    form = service.round(id)
    audit(request, "round seen", f"round {id}")
    start = {
        "round": form.model_dump(mode="json", exclude={"record", "settlement"}),
        "games": _GAMES,
    }
    return page(request, account, "round.html.j2", start=start, line=form.line)


@router.get("/reports")
def reports(request: Request, account: Viewer, stored: StoredHere) -> Response:
    """The reports of days and shifts."""
    return page(request, account, "reports.html.j2", start=_spans(request, stored))


@router.get("/reading")
def reading(request: Request, account: Viewer, stored: StoredHere) -> Response:
    """The page of what was not read, and why."""
    return page(request, account, "reading.html.j2", start=_spans(request, stored))


def _spans(request: Request, stored: StoreParts) -> dict[str, object]:
    """Return the choices of the form for a table's day or shift."""
    site: SiteConfig | None = request.app.state.settings.site
    place = site.site if site is not None else SitePart()
    return {
        "tables": stored.reports.tables(),
        "shifts": place.shifts,
        "day_starts": place.day_starts,
    }
