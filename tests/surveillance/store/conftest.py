"""Every test that asks for a store runs on SQLite and on PostgreSQL."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from surveillance.store import Store
from surveillance.store.tables import metadata
from tests.surveillance import postgres

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres_host() -> Iterator[str]:
    """A server whose database `made` has the store's tables."""
    with postgres.server() as host:
        postgres.run(host, "CREATE DATABASE made")
        Store.open(postgres.url(host, "made")).close()
        yield host


@pytest.fixture(scope="session")
def made_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that has the store's tables, to be copied."""
    path = tmp_path_factory.mktemp("made") / "made.sqlite"
    Store.open(f"sqlite:///{path}").close()
    return path


@pytest.fixture(scope="session")
def shared_postgres(postgres_host: str) -> Iterator[Store]:
    """A store that is emptied for every test: quicker than a database for each."""
    with Store.open(postgres.url(postgres_host, "made")) as opened:
        yield opened


@pytest.fixture(params=["sqlite", "postgresql"])
def kind(request: pytest.FixtureRequest) -> str:
    """Both kinds of store, one after the other."""
    return str(request.param)


@pytest.fixture
def new_url(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Callable[[], str]]:
    """Makes an empty database, without tables, and gives its URL."""
    host = request.getfixturevalue("postgres_host") if kind == "postgresql" else ""
    made: list[str] = []

    def make() -> str:
        made.append(f"test_{next(_numbers)}")
        if kind == "sqlite":
            return f"sqlite:///{tmp_path}/{made[-1]}.sqlite"
        postgres.run(host, f"CREATE DATABASE {made[-1]}")
        return postgres.url(host, made[-1])

    yield make
    if host:
        for name in made:
            postgres.run(host, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def store(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Store]:
    """An empty store."""
    if kind == "sqlite":
        path = tmp_path / "feltwatch.sqlite"
        shutil.copyfile(request.getfixturevalue("made_sqlite"), path)
        with Store.open(f"sqlite:///{path}") as opened:
            yield opened
        return
    shared: Store = request.getfixturevalue("shared_postgres")
    names = ", ".join(metadata.tables)
    with shared.database.write() as connection:
        connection.exec_driver_sql(f"TRUNCATE {names} RESTART IDENTITY CASCADE")
    yield shared
