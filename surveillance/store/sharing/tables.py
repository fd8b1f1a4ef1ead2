"""The tables of servers that share cameras; the migrations make the same ones."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import Column

from surveillance.store.tables import metadata
from surveillance.store.types import UtcTime

servers = sa.Table(
    "servers",
    metadata,
    Column("name", sa.Text, primary_key=True),
    # Since when its lease was renewed without a break, by the database's clock.
    Column("since", UtcTime, nullable=False),
    Column("lease_until", UtcTime, nullable=False),
)

# One row for each time that a camera was assigned; the highest term is in force.
assignments = sa.Table(
    "assignments",
    metadata,
    Column("camera", sa.Text, primary_key=True),
    Column("term", sa.Integer, primary_key=True, autoincrement=False),
    Column("server", sa.Text, nullable=False),
    Column("began_at", UtcTime, nullable=False),
    # Until when all of the camera was taken, s since 1970; null: nothing was missed before.
    Column("watched_until", sa.Double),
    Column("ended_at", UtcTime),
    # Number of the last round that was decided, stored or not.
    Column("last_round", sa.Integer, nullable=False, server_default="0"),
)

# What a camera shows now, for the walls of the other servers.
live_tables = sa.Table(
    "live_tables",
    metadata,
    Column("camera", sa.Text, primary_key=True),
    Column("server", sa.Text, nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("state", sa.JSON, nullable=False),
    Column("plain", sa.LargeBinary),
    Column("overlay", sa.LargeBinary),
    Column("picture_at", UtcTime),
)
