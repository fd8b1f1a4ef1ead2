"""Servers share the cameras of one PostgreSQL database; commands wait as jobs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Make the tables; evidence that waits belongs to a server that shares nothing."""
    op.create_table(
        "servers",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("since", TIME, nullable=False),
        sa.Column("lease_until", TIME, nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_servers")),
    )
    op.create_table(
        "assignments",
        sa.Column("camera", sa.Text(), nullable=False),
        sa.Column("term", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("server", sa.Text(), nullable=False),
        sa.Column("began_at", TIME, nullable=False),
        sa.Column("watched_until", sa.Double(), nullable=True),
        sa.Column("ended_at", TIME, nullable=True),
        sa.Column("last_round", sa.Integer(), nullable=False, server_default="0"),
        sa.PrimaryKeyConstraint("camera", "term", name=op.f("pk_assignments")),
    )
    op.create_table(
        "live_tables",
        sa.Column("camera", sa.Text(), nullable=False),
        sa.Column("server", sa.Text(), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("state", sa.JSON(), nullable=False),
        sa.Column("plain", sa.LargeBinary(), nullable=True),
        sa.Column("overlay", sa.LargeBinary(), nullable=True),
        sa.Column("picture_at", TIME, nullable=True),
        sa.PrimaryKeyConstraint("camera", name=op.f("pk_live_tables")),
    )
    if op.get_bind().dialect.name == "postgresql":
        # Written every second, of no use after a crash: not worth a log.
        op.execute("ALTER TABLE live_tables SET UNLOGGED")
    op.create_table(
        "jobs",
        sa.Column("id", ROW_ID, autoincrement=True),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("arguments", sa.JSON(), nullable=False),
        sa.Column("folder", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("share", sa.Double(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("by_name", sa.Text(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.Column("worker", sa.Text(), nullable=True),
        sa.Column("lease_until", TIME, nullable=True),
        sa.Column("takeovers", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("stop_asked", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
        sa.UniqueConstraint("key", name=op.f("uq_jobs_key")),
    )
    op.create_index(op.f("ix_jobs_state_id"), "jobs", ["state", "id"])
    server = sa.Column("server", sa.Text(), nullable=False, server_default="")
    op.add_column("pending_evidence", server)


def downgrade() -> None:
    """Not offered: the store is only ever brought up."""
    raise NotImplementedError("a store is not brought back to an earlier version; keep a copy")
