"""The OpenAPI says what the server does: schemathesis asks a real server, for every role.

`FELTWATCH_FUZZ=500 pytest tests/surveillance/web/test_openapi_as_served.py` asks each operation
500 times; without it a few times, as CI does. `make test` asks as an admin over SQLite, who
reaches every operation; `make test-all` as the other roles and over PostgreSQL too.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa

from surveillance.accounts import Accounts, Role
from surveillance.alerts.webhooks import Hook, Webhooks
from surveillance.store import Store, tables
from surveillance.store.rows import User
from tests.surveillance import postgres
from tests.surveillance.fuzzing import EXAMPLES
from tests.surveillance.web.access.access_made import site_at
from tests.surveillance.web.review_made import make_dataset
from tests.surveillance.web.room_made import Running, made_room
from vision.geometry.table import TableFile

FIRST_ID = 1_000_000_000
"""Numbers of the callers and their tokens: what is asked at random must not shut them out."""

CONFIG = """
[auth.openapi.token]
bearer = "{secret}"

[checks.positive_data_acceptance]
# 410: the secret of a one-time link is of a right form and still no link's.
expected-statuses = ["2xx", "3xx", 401, 403, 404, 409, 410, 429]

[checks.negative_data_rejection]
# 413: a text that is too long for its field may be too long for the body.
expected-statuses = [400, 401, 403, 404, 405, 409, 410, 413, 415, 422, 429, 503]

# Of a right form and still refused for what it means, which no JSON schema says: a cursor of
# another list, a span that ends before it begins, a picture too small, a file that is no video, a
# declaration that declares nothing or that the table has no use for,
# a game that nobody knows, a name that nobody could type, a correction that corrects nothing, data
# that are no table file.
[[operations]]
include-path = [
  "/api/alerts", "/api/log", "/api/reading", "/api/recordings", "/api/recordings/videos",
  "/api/report", "/api/report/alerts", "/api/rounds", "/api/users", "/api/alerts/{{id}}/verdict",
  "/api/tables/{{camera}}/declared", "/api/calculator", "/api/calculator/tablefile",
  "/api/calibration/pictures", "/api/calibration/pictures/recording",
  "/api/tablefiles", "/api/tablefiles/{{id}}",
]
checks.positive_data_acceptance.enabled = false
"""

ENDLESS = "/api/events"
SHUT_OUT = ("/api/users/{id}", "/api/tokens/{id}", "/api/users/{id}/tokens/{token}")
"""What shuts somebody out: schemathesis asks with numbers that it found, its own among them."""

LESS = (Role.VIEWER, Role.REVIEWER)
NAMES = {Role.VIEWER: "fuzz-viewer", Role.REVIEWER: "fuzz-reviewer", Role.ADMIN: "fuzz-admin"}


@pytest.fixture(
    scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)]
)
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    """A store of each kind."""
    if request.param == "sqlite":
        yield ""
        return
    with postgres.server() as host:
        postgres.run(host, "CREATE DATABASE room")
        yield postgres.url(host, "room")


@pytest.fixture(scope="module")
def running(
    url: str,
    table: TableFile,
    table_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Running]:
    """A server with something behind every route."""
    folder = tmp_path_factory.mktemp("room")
    site = site_at(folder, table_path)
    dataset = make_dataset(folder / "cards", 3)
    hooks = Webhooks([Hook("http://127.0.0.1:9/", "a secret of the hook")])
    with made_room(folder, table, (dataset,), url=url, site=site, webhooks=hooks) as room:
        server = Running(room)
        yield server
        server.stop()


@pytest.fixture
def token(running: Running) -> Callable[[Role], str]:
    """Makes a token of a role."""

    def make(role: Role) -> str:
        store = running.room.store
        user = store.people.by_name(NAMES[role]) or _person(store, role)
        made = Accounts(store).tokens.make(user, "fuzz", role, None)
        if store.database.is_sqlite:
            with store.database.write() as connection:
                own = tables.tokens.c.id == made.row.id
                number = FIRST_ID + made.row.id
                connection.execute(sa.update(tables.tokens).where(own).values(id=number))
        return made.secret

    return make


def _person(store: Store, role: Role) -> User:
    # Room for several tokens of each.
    number = FIRST_ID + 1000 * role.rank
    with store.database.write() as connection:
        for table in (tables.users, tables.tokens):
            if not store.database.is_sqlite:
                connection.execute(
                    sa.text(f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), :n)"),
                    {"n": number},
                )
    added = store.people.add(NAMES[role], str(role), None)
    if store.database.is_sqlite:
        with store.database.write() as connection:
            connection.execute(
                sa.update(tables.users).where(tables.users.c.id == added.id).values(id=number)
            )
    found = store.people.by_name(NAMES[role])
    assert found is not None
    return found


@pytest.mark.parametrize(
    "role",
    [*(pytest.param(role, marks=pytest.mark.slow) for role in LESS), Role.ADMIN],
)
def test_the_server_answers_as_its_openapi_says(
    running: Running, token: Callable[[Role], str], role: Role, tmp_path: Path
) -> None:
    secret = token(role)
    (tmp_path / "asked.toml").write_text(CONFIG.format(secret=secret))
    served = httpx.get(
        f"{running.address}api/openapi.json",
        headers={"authorization": f"Bearer {secret}"},
        timeout=120.0,
    )
    (tmp_path / "openapi.json").write_bytes(served.raise_for_status().content)
    command = [
        sys.executable, "-m", "schemathesis.cli", "--no-color", "--config-file", "asked.toml",
        "run", "openapi.json", "--url", running.address,
        "--max-examples", str(EXAMPLES),
        # Free texts are refused with one, which no JSON schema says; tried by itself below.
        "--generation-allow-x00", "false",
        "--suppress-health-check", "all",
        "--warnings", "off",
        "--continue-on-failure",
    ]  # fmt: skip
    if "FELTWATCH_FUZZ" not in os.environ:
        command += ["--seed", "17", "--generation-deterministic"]

    def run(option: str, *paths: str) -> None:
        chosen = [part for path in paths for part in (option, path)]
        done = subprocess.run(
            [*command, *chosen], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[-30_000:] + done.stderr[-4_000:]

    run("--exclude-path", ENDLESS, *SHUT_OUT)
    # Otherwise all answers could have been 401.
    assert Accounts(running.room.store).tokens.find(secret) is not None
    run("--include-path", *SHUT_OUT)


@pytest.mark.parametrize(
    ("method", "path", "body", "place"),
    [
        ("GET", "/api/rounds?table=a%00b", None, "query.table"),
        ("GET", "/api/alerts?dealer=%00", None, "query.dealer"),
        ("GET", "/api/log?by=x&act=%00", None, "query.act"),
        ("GET", "/api/users?x%00=1", None, "query"),
        ("GET", "/api/tables/a%00b", None, "path.camera"),
        ("GET", "/rounds?table=%00", None, "query.table"),
        ("POST", "/api/tables/pit1-t1/dealer", b'{"name": "a\\u0000b"}', "name"),
        ("POST", "/api/alerts/2/case", b'{"case": true, "\\u0000": 1}', "body"),
        ("POST", "/api/users", b'{"name": "\\ud800"}', "name"),
        ("POST", "/api/login", b'{"name": "\\u0000", "password": "x"}', "name"),
        ("PUT", "/api/datasets/cards/pictures/1/boxes",
         b'{"revision": 1, "boxes": [{"label": "AS", "x0": 1, "y0": 1, "x1": 9, "y1": 9,'
         b' "attributes": {"a": ["\\u0000"]}}]}', "boxes.0.attributes.a.0"),
    ],
)  # fmt: skip
def test_what_a_store_cannot_keep_is_422_on_both(
    running: Running,
    token: Callable[[Role], str],
    method: str,
    path: str,
    body: bytes | None,
    place: str,
) -> None:
    headers = {"authorization": f"Bearer {token(Role.ADMIN)}", "content-type": "application/json"}
    url = running.address.rstrip("/") + path
    answer = httpx.request(method, url, content=body, headers=headers, timeout=60.0)
    assert answer.status_code == 422, answer.text
    assert answer.json()["detail"].startswith(f"{place}: ")


def test_a_camera_that_gives_no_image_is_no_wrong_request(
    running: Running, token: Callable[[Role], str]
) -> None:
    # Its source is a file that is no video.
    url = f"{running.address}api/calibration/pictures/camera/pit1-t3"
    headers = {"authorization": f"Bearer {token(Role.ADMIN)}"}
    answer = httpx.post(url, headers=headers, timeout=60.0)
    assert answer.status_code == 409, answer.text
    assert "cannot be read as a video" in answer.json()["detail"]
