"""A line of the audit log or a note on a camera that comes twice is kept once."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; lines and notes that are there are of no entry."""
    for table in ("audit", "health"):
        op.add_column(table, sa.Column("entry", sa.Text(), nullable=True))
        op.create_index(f"ix_{table}_entry", table, ["entry"], unique=True)


def downgrade() -> None:
    """Not offered: the store is only ever brought up."""
    raise NotImplementedError("a store is not brought back to an earlier version; keep a copy")
