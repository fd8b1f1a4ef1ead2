"""The felt's timeline of a round, and what people declare of a table."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from surveillance.store.types import PackedJson

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make both tables; rounds that are stored have no timeline."""
    op.create_table(
        "round_timelines",
        sa.Column("round", ROW_ID, nullable=False),
        sa.Column("lines", PackedJson(), nullable=False),
        sa.ForeignKeyConstraint(
            ["round"], ["rounds.id"], name=op.f("fk_round_timelines_round"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("round", name=op.f("pk_round_timelines")),
    )
    op.create_table(
        "declarations",
        sa.Column("id", ROW_ID, autoincrement=True),
        sa.Column("table_name", sa.Text(), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("by_name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_declarations")),
    )
    op.create_index(
        op.f("ix_declarations_table_name_at_id"), "declarations", ["table_name", "at", "id"]
    )


def downgrade() -> None:
    """Not offered: the store is only ever brought up."""
    raise NotImplementedError("a store is not brought back to an earlier version; keep a copy")
