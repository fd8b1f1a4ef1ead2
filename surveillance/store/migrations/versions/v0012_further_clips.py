"""An alert may have clips of further cameras."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; alerts that are there have the first camera's clip alone."""
    op.add_column("alerts", sa.Column("further_clips", sa.JSON(), nullable=True))
    op.add_column("pending_evidence", sa.Column("further_clips", sa.JSON(), nullable=True))


def downgrade() -> None:
    """Not offered: the store is only ever brought up."""
    raise NotImplementedError("a store is not brought back to an earlier version; keep a copy")
