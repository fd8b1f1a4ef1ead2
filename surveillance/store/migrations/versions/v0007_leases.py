"""Recordings are audited by any of several workers, each under a lease."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the worker and the lease of an audit; audits that ran belong to nobody."""
    for column in (
        sa.Column("worker", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("takeovers", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("stop_asked", sa.Boolean(), nullable=False, server_default=sa.false()),
    ):
        op.add_column("recordings", column)


def downgrade() -> None:
    """Not offered: the store is only ever brought up."""
    raise NotImplementedError("a store is not brought back to an earlier version; keep a copy")
