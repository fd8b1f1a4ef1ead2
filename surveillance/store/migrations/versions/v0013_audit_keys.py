"""Two recordings cannot stand for the same audit."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the keys; recordings that are there have none, or get one when they go on."""
    for name in ("request_key", "audit_key"):
        op.add_column("recordings", sa.Column(name, sa.Text(), nullable=True))
        op.create_index(f"ix_recordings_{name}", "recordings", [name], unique=True)


def downgrade() -> None:
    """Not offered: the store is only ever brought up."""
    raise NotImplementedError("a store is not brought back to an earlier version; keep a copy")
