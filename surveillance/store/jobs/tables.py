"""The table of commands that wait for a worker; the migrations make the same one."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import Column, Index

from surveillance.store.tables import metadata
from surveillance.store.types import RowId, UtcTime

jobs = sa.Table(
    "jobs",
    metadata,
    Column("id", RowId, primary_key=True, autoincrement=True),
    # Of its arguments, folder and program: the same job is kept once.
    Column("key", sa.Text, nullable=False),
    Column("arguments", sa.JSON, nullable=False),
    Column("folder", sa.Text, nullable=False),
    Column("state", sa.Text, nullable=False),
    Column("share", sa.Double, nullable=False),
    Column("message", sa.Text, nullable=False),
    Column("by_name", sa.Text, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("updated_at", UtcTime, nullable=False),
    Column("worker", sa.Text),
    Column("lease_until", UtcTime),
    Column("takeovers", sa.Integer, nullable=False, server_default="0"),
    Column("stop_asked", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.UniqueConstraint("key"),
    Index(None, "state", "id"),
)
