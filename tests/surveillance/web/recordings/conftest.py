"""A store, audits of `folder` (a fixture of each file) and clients of the pages over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from surveillance.recordings import AuditManager
from surveillance.store import Store
from surveillance.web.access import Role
from surveillance.web.app import create_app
from surveillance.web.settings import WebSettings
from tests.surveillance.web.recordings.recordings_made import manager_of


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path / 'w.sqlite'}") as store:
        yield store


@pytest.fixture
def manager(store: Store, folder: Path, tmp_path: Path) -> Iterator[AuditManager]:
    with manager_of(store, folder, tmp_path / "data") as manager:
        yield manager


@pytest.fixture
def asking(store: Store, manager: AuditManager) -> Callable[[Role], TestClient]:
    """Clients with an API token of a person of each role."""
    app = create_app(WebSettings(store=store, recordings=manager))
    clients = {}
    for role in Role:
        user = store.people.add(str(role), role.value, None)
        made = app.state.accounts.tokens.make(user, "test", role, None)
        secret = made.secret
        clients[role] = TestClient(
            app, base_url="http://127.0.0.1:8471", headers={"authorization": f"Bearer {secret}"},
            raise_server_exceptions=False,
        )  # fmt: skip
    return lambda role: clients[role]


@pytest.fixture
def client(asking: Callable[[Role], TestClient]) -> TestClient:
    return asking(Role.REVIEWER)
