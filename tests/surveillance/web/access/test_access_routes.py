"""Every route asks for a role, and gives nothing to whoever has less.

What there is to be tried is read from the OpenAPI and from the application's routes: a new
route is tried without a word here, and one that says no role fails.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Mount

from surveillance.web.access import ANYONE, Role
from surveillance.web.openapi import PAGES_KEY, ROLE_KEY, RouteLine, route_lines
from surveillance.web.security import SAFE_METHODS
from tests.surveillance.web.access.access_made import Caller, Place, all_roles, made, shut_out
from tests.surveillance.web.access.access_schema import body_of, path_of

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")

FOR_ANYONE = {
    "POST /api/login", "POST /api/links/look", "POST /api/links/use", "GET /login", "GET /welcome",
}  # fmt: skip
"""What is there before the login. Whoever adds to it says in the review why."""

VIEWERS_WRITE = {
    # One's own account.
    "POST /api/logout", "PUT /api/me", "PUT /api/me/password", "POST /api/tokens",
    "DELETE /api/tokens/{id}",
    # Questions with a body: nothing is kept.
    "POST /api/datasets/{dataset}/pictures/{id}/deal", "POST /api/calculator",
    "POST /api/datasets/{dataset}/pictures/{id}/suggestions",
    "POST /api/calculator/tablefile", "POST /api/tablefiles/{id}/check",
}  # fmt: skip
"""What is no reading and still open to viewers."""

ENDLESS = {"/api/events"}
"""Answers that go on until the one who asks leaves."""


Callers = dict[str, tuple[Role, Caller]]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, table_path: Path) -> Iterator[Place]:
    """One for all: nothing that is tried here may change it."""
    with made(tmp_path_factory.mktemp("place"), table_path) as place:
        yield place


@pytest.fixture(scope="module")
def nobodies(place: Place) -> dict[str, Caller]:
    return shut_out(place)


@pytest.fixture(scope="module")
def callers(place: Place, nobodies: dict[str, Caller]) -> Callers:
    return all_roles(place)


def lines(place: Place) -> list[tuple[RouteLine, str]]:
    """Every route once for each of its methods."""
    return [
        (line, method)
        for line in route_lines(place.app)
        for method in line.methods
        if method != "HEAD"
    ]


def asked(client: Caller, method: str, path: str, body: Any) -> Any:
    sent = {} if method in SAFE_METHODS else {"json": body}
    return client.request(method, path, **sent)


def body_for(place: Place, line: RouteLine, method: str) -> Any:
    """A body as the OpenAPI wants it; an empty object where it wants none."""
    schema = place.app.openapi()
    operation = schema["paths"].get(line.path, {}).get(method.lower(), {})
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    return {} if content is None else body_of(content["schema"], schema)


def test_every_route_says_a_role(place: Place) -> None:
    for line, method in lines(place):
        assert line.role is not None, f"{method} {line.path} says no role"
    mounts = [route.path for route in place.app.routes if isinstance(route, Mount)]
    assert mounts == ["/static"]


def test_the_openapi_names_the_role_of_every_route(place: Place) -> None:
    schema = place.app.openapi()
    in_openapi = {
        f"{method.upper()} {path}": operation.get(ROLE_KEY)
        for path, operations in schema["paths"].items()
        for method, operation in operations.items()
    }
    pages = {
        f"{method} {page['path']}": page[ROLE_KEY]
        for page in schema[PAGES_KEY]
        for method in page["methods"]
    }
    assert not in_openapi.keys() & pages.keys()
    known = {*Role, ANYONE}
    assert all(role in known for role in (in_openapi | pages).values())
    assert (in_openapi | pages) == {
        f"{method} {line.path}": line.role for line, method in lines(place)
    }


def test_only_these_routes_are_open_to_all_and_written_by_viewers(place: Place) -> None:
    open_to_all = {f"{m} {line.path}" for line, m in lines(place) if line.role == ANYONE}
    assert open_to_all == FOR_ANYONE
    for line, method in lines(place):
        if line.role == Role.VIEWER and method not in SAFE_METHODS:
            assert f"{method} {line.path}" in VIEWERS_WRITE


def test_who_has_less_than_a_route_needs_is_refused_and_changes_nothing(
    place: Place, callers: Callers
) -> None:
    rows, files = place.rows(), place.files()
    tried = 0
    for name, (role, client) in callers.items():
        for line, method in lines(place):
            assert line.role is not None
            if line.role == ANYONE or role.covers(Role(line.role)):
                continue
            answer = asked(client, method, path_of(line.path), body_for(place, line, method))
            assert answer.status_code == 403, f"{name}: {method} {line.path}: {answer.text}"
            tried += 1
    assert tried > 50
    assert place.rows() == rows
    assert place.files() == files


def test_who_is_nobody_gets_in_nowhere_and_changes_nothing(
    place: Place, nobodies: dict[str, Caller]
) -> None:
    rows, files = place.rows(), place.files()
    for name, client in nobodies.items():
        for line, method in lines(place):
            if line.role == ANYONE:
                continue
            answer = asked(client, method, path_of(line.path), body_for(place, line, method))
            what = f"{name}: {method} {line.path}: {answer.status_code} {answer.text[:200]}"
            if answer.status_code == 303:
                # Pages lead to the login.
                assert method == "GET", what
                assert not line.path.startswith("/api/"), what
                assert answer.headers["location"].startswith("/login?next=%2F"), what
            else:
                assert answer.status_code == 401, what
    assert place.rows() == rows
    assert place.files() == files


def test_what_is_no_method_of_a_route_is_none_for_a_viewer_either(
    place: Place, callers: Callers
) -> None:
    _, client = callers["a viewer's token"]
    rows, files = place.rows(), place.files()
    there = {(line.path, method) for line, method in lines(place)}
    for path in {line.path for line, _ in lines(place)}:
        for method in METHODS:
            if (path, method) not in there and not _is_met(there, path, method):
                answer = asked(client, method, path_of(path), {})
                assert answer.status_code in (404, 405), f"{method} {path}"
    assert place.rows() == rows
    assert place.files() == files


def _is_met(there: set[tuple[str, str]], path: str, method: str) -> bool:
    """Whether another route takes the same path by that method."""
    asked_for = path_of(path)
    return any(
        m == method and re.fullmatch(re.sub(r"{\w+}", "[^/]+", other), asked_for)
        for other, m in there
    )


def test_who_has_the_role_is_let_in(place: Place, callers: Callers) -> None:
    """Otherwise a server that refuses everything would pass."""
    for name, (role, client) in callers.items():
        for line, method in lines(place):
            if method != "GET" or line.path in ENDLESS or line.role in (None, ANYONE):
                continue
            if role.covers(Role(str(line.role))):
                answer = asked(client, method, path_of(line.path), None)
                what = f"{name}: {line.path}: {answer.status_code} {answer.text[:300]}"
                assert answer.status_code in (200, 303, 404, 422), what
                assert not answer.headers.get("location", "").startswith("/login"), what


def test_a_route_that_was_forgotten_is_refused_and_found(tmp_path: Path, table_path: Path) -> None:
    with made(tmp_path, table_path) as place:
        done: list[str] = []

        @place.app.post("/api/forgotten")
        def forgotten() -> None:
            done.append("it ran")

        found = [line for line in route_lines(place.app) if line.path == "/api/forgotten"]
        assert [line.role for line in found] == [None]
        _, admin = all_roles(place)["an admin's session"]
        assert admin.post("/api/forgotten").status_code == 403
        assert done == []


def test_what_a_route_depends_on_reveals_nothing_to_a_stranger(place: Place) -> None:
    for path in ("/api/datasets/cards", "/api/datasets/no-such", "/api/users/1", "/api/users/99"):
        assert place.client().get(path).status_code == 401
    broken = place.client().post(
        "/api/users", content=b"[1, 2", headers={"content-type": "application/json"}
    )
    assert broken.status_code in (401, 422)
