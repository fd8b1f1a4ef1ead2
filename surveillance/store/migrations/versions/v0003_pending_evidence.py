"""Evidence that is not written yet: a table, in place of files beside the evidence."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
PACKED_JSON = sa.JSON().with_variant(sa.LargeBinary(), "sqlite")
STATUSES = "status IN ('awaiting_clip', 'ready', 'preview')"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "pending_evidence",
        sa.Column("alert", ROW_ID, nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("content", PACKED_JSON, nullable=False),
        sa.Column("clip", sa.JSON(), nullable=True),
        sa.Column("clip_name", sa.Text(), nullable=False),
        sa.Column("missing", sa.JSON(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.CheckConstraint(STATUSES, name=op.f("ck_pending_evidence_status")),
        sa.ForeignKeyConstraint(
            ["alert"], ["alerts.id"], name=op.f("fk_pending_evidence_alert"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("alert", name=op.f("pk_pending_evidence")),
    )
    columns = ["status", "tries", "alert"]
    op.create_index(op.f("ix_pending_evidence_status_tries_alert"), "pending_evidence", columns)


def downgrade() -> None:
    """Not offered: the store is only ever brought up."""
    raise NotImplementedError("a store is not brought back to an earlier version; keep a copy")
