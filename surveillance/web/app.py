"""The one web application of feltwatch."""

from __future__ import annotations

import mimetypes
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from fastapi import Depends, FastAPI
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.staticfiles import StaticFiles
from starlette.templating import Jinja2Templates

from surveillance.accounts import Accounts
from surveillance.version import installed_version
from surveillance.web.access import admitted
from surveillance.web.errors import add_error_answers
from surveillance.web.metrics import Metrics
from surveillance.web.openapi import add_roles
from surveillance.web.plain_text import plain_text
from surveillance.web.request_log import RequestLog
from surveillance.web.routers import (
    account_pages,
    accounts_api,
    alerts_api,
    calculator_api,
    calibration_api,
    chips_api,
    events_api,
    log_api,
    metrics_page,
    people_api,
    recordings_api,
    reports_api,
    review_api,
    review_pages,
    room_pages,
    rounds_api,
    samples_api,
    tablefiles_api,
    tables_api,
    webhooks_api,
)
from surveillance.web.routers.answers import REVALIDATE
from surveillance.web.security import Gate
from surveillance.web.services.dataset_shelf import Shelf
from surveillance.web.services.shared_networks import SharedNetworks
from surveillance.web.settings import WebSettings

HERE = Path(__file__).parent

# A browser runs no module of another type, and some systems know none for it.
mimetypes.add_type("text/javascript", ".js")


# Comes before all that a route depends on: it says who may.
_BEFORE_ALL = [Depends(admitted), Depends(plain_text)]


@cache
def _routes() -> list[BaseRoute]:
    """The routes of all routers. Applications of one process share them, as FastAPI prepares
    each route when it is first asked for; all that differs stands in an application's state."""
    every = FastAPI(dependencies=_BEFORE_ALL, openapi_url=None)
    for part in (
        accounts_api,
        people_api,
        log_api,
        webhooks_api,
        metrics_page,
        account_pages,
        room_pages,
        tables_api,
        alerts_api,
        rounds_api,
        reports_api,
        events_api,
        calculator_api,
        recordings_api,
        calibration_api,
        samples_api,
        chips_api,
        tablefiles_api,
        review_api,
        review_pages,
    ):
        every.include_router(part.router)
    return every.routes


def create_app(settings: WebSettings) -> FastAPI:
    """The application over the settings' datasets, which it closes when it is shut down.

    Raises FeltwatchError naming the folder that holds no dataset.
    """
    shelf = Shelf(settings.datasets)
    metrics = Metrics(settings.store, settings.bus, settings.webhooks)

    @asynccontextmanager
    async def until_shut_down(_: FastAPI) -> AsyncIterator[None]:
        metrics.start()
        yield
        metrics.stop()
        shelf.close()

    app = FastAPI(
        title="feltwatch",
        version=installed_version(),
        lifespan=until_shut_down,
        dependencies=_BEFORE_ALL,
        openapi_url=None,
        # Their pages load scripts from another host.
        docs_url=None,
        redoc_url=None,
    )
    app.state.settings = settings
    app.state.shelf = shelf
    app.state.metrics = metrics
    app.state.accounts = None if settings.store is None else Accounts(settings.store)
    site = settings.site
    app.state.networks = SharedNetworks(None if site is None else site.site.weights)
    app.state.pages = _templates()
    add_error_answers(app)
    app.router.routes.extend(_routes())
    add_roles(app)
    app.mount("/static", _Static(directory=HERE / "static"), name="static")
    app.add_middleware(RequestLog)
    app.add_middleware(Gate, hosts=settings.hosts)
    return app


class _Static(StaticFiles):
    """The package's own scripts and styles: kept by the browser, asked for again each time."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """The file, or `304 Not Modified`."""
        answer = super().file_response(*args, **kwargs)
        answer.headers["cache-control"] = REVALIDATE
        return answer


def _templates() -> Jinja2Templates:
    # Escaping is said for all: by itself Jinja would escape by the file's ending only.
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"), autoescape=True
    )
    pages = Jinja2Templates(env=environment)
    pages.env.globals["version"] = installed_version()
    return pages
