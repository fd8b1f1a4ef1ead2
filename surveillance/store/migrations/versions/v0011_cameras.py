"""A recording may have those of further cameras beside it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; recordings that are there are of one camera."""
    op.add_column("recordings", sa.Column("cameras", sa.JSON(), nullable=True))


def downgrade() -> None:
    """Not offered: the store is only ever brought up."""
    raise NotImplementedError("a store is not brought back to an earlier version; keep a copy")
