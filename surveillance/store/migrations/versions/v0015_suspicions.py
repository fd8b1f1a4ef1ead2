"""A round may have suspicions: what is perhaps wrong, not sure enough for an alert."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; rounds that are there have none."""
    op.add_column("rounds", sa.Column("suspicions", sa.JSON(), nullable=True))
    some = sa.text("suspicions IS NOT NULL")
    op.create_index(
        "ix_rounds_with_suspicions", "rounds", ["started_at", "id"],
        sqlite_where=some, postgresql_where=some,
    )  # fmt: skip


def downgrade() -> None:
    """Not offered: the store is only ever brought up."""
    raise NotImplementedError("a store is not brought back to an earlier version; keep a copy")
