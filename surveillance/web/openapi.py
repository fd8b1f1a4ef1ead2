"""The OpenAPI of the application, with the role that each route needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute, iter_route_contexts
from starlette.routing import Mount

from surveillance.web.access import ANYONE, Viewer, role_of

ROLE_KEY = "x-feltwatch-role"
PAGES_KEY = "x-feltwatch-pages"
_SECURITY: list[dict[str, list[str]]] = [{"session": []}, {"token": []}]


@dataclass(frozen=True, slots=True)
class RouteLine:
    """One route: where it is, by which methods it is asked, and what role that needs."""

    path: str
    methods: tuple[str, ...]
    role: str | None
    in_schema: bool


def route_lines(app: FastAPI) -> Iterator[RouteLine]:
    """Every route of the application but the folder of scripts and styles."""
    for route in iter_route_contexts(app.routes):
        if isinstance(route.original_route, Mount):
            continue
        shown = isinstance(route.original_route, APIRoute) and bool(route.include_in_schema)
        methods = tuple(sorted(route.methods or ()))
        yield RouteLine(route.path or "", methods, role_of(route), shown)


def tell_roles(app: FastAPI) -> None:
    """Serve `/api/openapi.json`, where each route says its role as `x-feltwatch-role`.

    Pages, which are no part of the API, are listed under `x-feltwatch-pages`.
    """

    def schema() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _schema(app)
        return app.openapi_schema

    app.openapi = schema  # type: ignore[method-assign]

    @app.get("/api/openapi.json", include_in_schema=False)
    def openapi(_: Viewer, request: Request) -> dict[str, Any]:
        """The API's own description."""
        told: dict[str, Any] = request.app.openapi()
        return told


def _schema(app: FastAPI) -> dict[str, Any]:
    told = get_openapi(
        title=app.title,
        version=app.version,
        summary="Watches Pai Gow Poker tables: tables, rounds, alerts, evidence, people.",
        routes=app.routes,
    )
    told.setdefault("components", {})["securitySchemes"] = {
        "session": {"type": "apiKey", "in": "cookie", "name": "feltwatch_session"},
        "token": {"type": "http", "scheme": "bearer"},
    }
    pages = []
    for line in route_lines(app):
        if not line.in_schema:
            pages.append({"path": line.path, "methods": list(line.methods), ROLE_KEY: line.role})
            continue
        for method in line.methods:
            operation = told["paths"][line.path][method.lower()]
            operation[ROLE_KEY] = line.role
            if line.role != ANYONE:
                operation["security"] = _SECURITY
    told[PAGES_KEY] = pages
    return told
