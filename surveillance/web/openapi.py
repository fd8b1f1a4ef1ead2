"""The OpenAPI of the application, with the role that each route needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute, iter_route_contexts
from starlette.routing import Mount

from surveillance.web.access import ANYONE, Viewer, depends_on, only_logged_in, role_of
from surveillance.web.schemas.review import ErrorForm
from surveillance.web.security import SAFE_METHODS

ROLE_KEY = "x-feltwatch-role"
PAGES_KEY = "x-feltwatch-pages"
_SECURITY: list[dict[str, list[str]]] = [{"session": []}, {"token": []}]
_FASTAPI_ERRORS = ("HTTPValidationError", "ValidationError")
"""FastAPI's own forms of a 422, which this server does not send: see `surveillance.web.errors`."""

_COMMON: dict[str, tuple[str, str]] = {
    "400": ("BadRequest", "The request cannot be read: its length, encoding or form is wrong."),
    "401": ("NotLoggedIn", "No valid session or API token was sent."),
    "403": ("Forbidden", "The role does not suffice, or a write came from another site."),
    "413": ("BodyTooLarge", "The body is larger than this route takes."),
    "421": ("WrongHost", "The server has no such name: see `web.names` of the site file."),
    "422": ("Invalid", "A parameter or the body is not valid; the detail names it."),
    "503": ("Unavailable", "The database or the file behind it does not answer; try again."),
}
"""Answers that any route may give, by status: name of the component and description."""


@dataclass(frozen=True, slots=True)
class RouteLine:
    """One route: where it is, by which methods it is asked, and what role that needs.

    `by_login`: an API token does not suffice.
    """

    path: str
    methods: tuple[str, ...]
    role: str | None
    in_schema: bool
    by_login: bool = False


def route_lines(app: FastAPI) -> Iterator[RouteLine]:
    """Every route of the application but the folder of scripts and styles."""
    for route in iter_route_contexts(app.routes):
        if isinstance(route.original_route, Mount):
            continue
        shown = isinstance(route.original_route, APIRoute) and bool(route.include_in_schema)
        methods = tuple(sorted(route.methods or ()))
        by_login = depends_on(route, only_logged_in)
        yield RouteLine(route.path or "", methods, role_of(route), shown, by_login)


def add_roles(app: FastAPI) -> None:
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
        schema: dict[str, Any] = request.app.openapi()
        return schema


def _schema(app: FastAPI) -> dict[str, Any]:
    schema = get_openapi(
        title=app.title,
        version=app.version,
        summary="Watches Pai Gow Poker tables: tables, rounds, alerts, evidence, people.",
        routes=app.routes,
    )
    schema.setdefault("components", {})["securitySchemes"] = {
        "session": {"type": "apiKey", "in": "cookie", "name": "feltwatch_session"},
        "token": {"type": "http", "scheme": "bearer"},
    }
    _add_common(schema["components"])
    pages = []
    for line in route_lines(app):
        if not line.in_schema:
            pages.append({"path": line.path, "methods": list(line.methods), ROLE_KEY: line.role})
            continue
        for method in line.methods:
            operation = schema["paths"][line.path][method.lower()]
            operation[ROLE_KEY] = line.role
            if line.role != ANYONE:
                operation["security"] = _SECURITY[:1] if line.by_login else _SECURITY
            _add_answers(operation, line.role != ANYONE, method not in SAFE_METHODS)
    schema[PAGES_KEY] = pages
    return schema


def _add_common(components: dict[str, Any]) -> None:
    """Add the answers common to all routes, and their form, to the components."""
    schemas = components.setdefault("schemas", {})
    for name in _FASTAPI_ERRORS:
        schemas.pop(name, None)
    schemas.setdefault(ErrorForm.__name__, ErrorForm.model_json_schema())
    form = {"$ref": f"#/components/schemas/{ErrorForm.__name__}"}
    components["responses"] = {
        name: {"description": words, "content": {"application/json": {"schema": form}}}
        for name, words in _COMMON.values()
    }


def _add_answers(operation: dict[str, Any], needs_login: bool, is_write: bool) -> None:
    """Add to an operation the refusals that come before or around its own route."""
    answers = operation["responses"]
    if _is_fastapis(answers.get("422", {})):
        del answers["422"]
        _refer(answers, "422")
    _refer(answers, "400", "421", "503")
    if needs_login:
        _refer(answers, "401", "403")
    if is_write:
        _refer(answers, "403", "413")
    operation["responses"] = dict(sorted(answers.items()))


def _is_fastapis(answer: dict[str, Any]) -> bool:
    schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
    return str(schema.get("$ref", "")).endswith(_FASTAPI_ERRORS)


def _refer(answers: dict[str, Any], *statuses: str) -> None:
    for status in statuses:
        answers.setdefault(status, {"$ref": f"#/components/responses/{_COMMON[status][0]}"})
