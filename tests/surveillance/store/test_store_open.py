"""Opening: migrations, refusals, and no password in any message."""

from __future__ import annotations

import doctest
import importlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

import surveillance
from surveillance.store import Store, StoreError
from surveillance.store.database import blanked
from surveillance.store.tables import metadata

ROOT = Path(surveillance.__file__).parents[1]


@pytest.mark.parametrize(
    "name",
    ["database", "difference", "logins", "queries.paging", "store", "types", "queries.where"],
)
def test_docstring_examples(name: str) -> None:
    module = importlib.import_module(f"surveillance.store.{name}")
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert result.attempted > 0
    assert result.failed == 0


def test_the_migrations_make_the_tables_that_the_program_knows(
    new_url: Callable[[], str], kind: str
) -> None:
    with Store.open(new_url()) as store:
        assert store.kind == kind
        with store.database.read() as connection:
            context = MigrationContext.configure(connection, opts={"compare_type": True})
            assert compare_metadata(context, metadata) == []
            # Alembic compares no checks.
            checks = {
                check["name"]
                for table in ("alerts", "verdicts")
                for check in sa.inspect(connection).get_check_constraints(table)
            }
        assert {"ck_alerts_state", "ck_verdicts_verdict"} <= checks


def test_opening_again_keeps_what_is_there(new_url: Callable[[], str]) -> None:
    url = new_url()
    with Store.open(url) as store:
        store.people.add("ana", "admin")
    with Store.open(url) as store:
        assert store.people.count() == 1


def test_a_database_of_a_newer_version_is_refused(new_url: Callable[[], str]) -> None:
    url = new_url()
    with Store.open(url) as store, store.database.write() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match=r"written by a newer feltwatch .*'9999'.* '0015'"):
        Store.open(url)


def test_a_database_with_other_tables_is_refused(new_url: Callable[[], str]) -> None:
    url = new_url()
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE recipes (id INTEGER)"))
    engine.dispose()
    with pytest.raises(StoreError, match=r"holds other tables \(recipes\)"):
        Store.open(url)


def test_a_migration_that_fails_leaves_nothing(
    new_url: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from alembic import command

    url = new_url()

    def stopped(config: object, revision: str) -> None:
        really(config, revision)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    really = command.upgrade
    monkeypatch.setattr(command, "upgrade", stopped)
    with pytest.raises(KeyboardInterrupt):
        Store.open(url)
    monkeypatch.undo()
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        assert sa.inspect(connection).get_table_names() == []
    engine.dispose()
    Store.open(url).close()


def test_several_that_open_at_once_wait_for_one_another(new_url: Callable[[], str]) -> None:
    url = new_url()
    program = (
        "import sys; from surveillance.store import Store\n"
        "with Store.open(sys.argv[1]) as store: store.audit.write(sys.argv[2], 'start', '')"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program, url, str(n)], env=environment, stderr=subprocess.PIPE
        )
        for n in range(2)
    ]
    for process in running:
        _, output = process.communicate(timeout=120)
        assert process.returncode == 0, output.decode()
    with Store.open(url) as store:
        assert {row.by for row in store.audit.page().rows} == {"0", "1"}


def test_threads_write_and_read_together(store: Store) -> None:
    failed: list[BaseException] = []

    def work(who: int) -> None:
        try:
            for n in range(20):
                store.audit.write(f"p{who}", "look", str(n))
                assert store.audit.page(limit=1).rows
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(who,)) for who in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(store.audit.page(limit=500).rows) == 200


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("sqlite://", "names no file"),
        ("sqlite:///:memory:", "names no file"),
        ("mysql://me:hunter2@host/x", "in sqlite or postgresql, not mysql"),
        ("hunter2", "is no database URL"),
        ("postgresql://me:hunter2@host:port/x", "is no database URL"),
    ],
)
def test_a_url_that_cannot_be_used_is_refused(url: str, message: str) -> None:
    with pytest.raises(StoreError, match=message) as raised:
        Store.open(url)
    assert ":hunter2" not in str(raised.value)


def test_a_server_that_is_not_there_is_reported_without_the_password() -> None:
    url = "postgresql+psycopg://me:hunter2@127.0.0.1:1/x?sslpassword=hunter3"
    with pytest.raises(StoreError, match=r"me:\*\*\*@127\.0\.0\.1") as raised:
        Store.open(url)
    text = str(raised.value)
    assert "hunter" not in text
    assert "\n" not in text
    assert raised.value.__suppress_context__  # nor below it in a traceback


def test_blanked_hides_what_is_odd_too() -> None:
    assert "hunter2" not in blanked("postgresql://me:hunter2@[bad/x")
    assert "hunter2" not in blanked("postgresql://me:hun@ter2@host/x")
    assert blanked("sqlite:////data/a.sqlite") == "sqlite:////data/a.sqlite"


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    path.write_bytes(b"no database at all, and long enough to be looked at" * 40)
    with pytest.raises(StoreError, match=r"x\.sqlite: file is not a database"):
        Store.open(f"sqlite:///{path}")


def test_the_folder_of_the_file_is_made(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a/b/c.sqlite") as store:
        assert store.people.count() == 0
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="its folder cannot be made"):
        Store.open(f"sqlite:///{tmp_path}/file/c.sqlite")


def test_sqlite_is_set_up_for_many_readers(tmp_path: Path) -> None:
    with (
        Store.open(f"sqlite:///{tmp_path}/a.sqlite") as store,
        store.database.read() as connection,
    ):

        def pragma(name: str) -> object:
            return connection.exec_driver_sql(f"PRAGMA {name}").scalar()

        assert pragma("journal_mode") == "wal"
        assert pragma("foreign_keys") == 1
        assert pragma("busy_timeout") == 15_000
