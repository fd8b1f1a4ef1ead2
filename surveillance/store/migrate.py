"""Bringing a database to this program's tables, step by step, by Alembic."""

from __future__ import annotations

import contextlib
import io
import math
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError
from sqlalchemy.engine import Connection

from surveillance.store.database import Database
from surveillance.store.errors import StoreError

MIGRATIONS = Path(__file__).parent / "migrations"
# Any number will do, as long as no other program locks the same one.
_LOCK = 0x66656C74


def alembic_config(connection: Connection | None = None) -> Config:
    """Alembic's settings; the migrations lie beside this file."""
    # Its notes are for people at the keyboard; here it runs within other commands.
    config = Config(stdout=io.StringIO())
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def migrate(database: Database) -> None:
    """Make or bring up all tables, whole or not at all.

    Processes that start together wait for one another. Raises StoreError for a database of
    a newer feltwatch, or one that holds something else.
    """
    scripts = ScriptDirectory.from_config(alembic_config())
    head = scripts.get_current_head()
    with database.read() as connection:
        if _revision(connection) == head:
            return
    with database.answers.within(math.inf), database.write() as connection:
        if not database.is_sqlite:
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        found = _revision(connection)
        _check_known(database, connection, scripts, found)
        command.upgrade(alembic_config(connection), "head")


def _check_known(
    database: Database, connection: Connection, scripts: ScriptDirectory, found: str | None
) -> None:
    if found is not None:
        with contextlib.suppress(CommandError):
            if scripts.get_revision(found) is not None:
                return
        raise StoreError(
            f"{database.name}: was written by a newer feltwatch (its tables are of version "
            f"{found!r}, this program knows up to {scripts.get_current_head()!r}): "
            "install that version, or give another database"
        )
    tables = set(sa.inspect(connection).get_table_names())
    if tables:
        raise StoreError(
            f"{database.name}: holds other tables ({', '.join(sorted(tables)[:3])}): give "
            "feltwatch a database of its own"
        )


def _revision(connection: Connection) -> str | None:
    """The version that the database says it has; None when it says none."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
