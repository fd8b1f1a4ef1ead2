"""Answer of every page: in the shell, with the account and the number of open alerts."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.responses import Response
from starlette.templating import Jinja2Templates

from surveillance.web.access import Account
from surveillance.web.services.nav import nav_links
from surveillance.web.services.room import open_alerts


def page(
    request: Request,
    account: Account | None,
    template: str,
    *,
    start: object = None,
    status: int = 200,
    **context: Any,
) -> Response:
    """A page made of `template`, which extends `shell.html.j2`.

    `start` is what its scripts begin with (`startValues()` of `shared/dom.js`), as JSON.
    With no account the frame shows no bar: the page of the login.
    """
    pages: Jinja2Templates = request.app.state.pages
    store = request.app.state.settings.store
    links = nav_links(account.role, store is not None, request.url.path) if account else ()
    frame = {
        "account": account,
        "nav": links,
        "open_alerts": open_alerts(store) if account and store is not None else 0,
        "start": start,
    }
    return pages.TemplateResponse(request, template, frame | context, status_code=status)
