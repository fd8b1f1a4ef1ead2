"""A verdict that takes those before it back and opens the alert again."""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

NAME = "ck_verdicts_verdict"
VERDICTS = "verdict IN ('confirmed', 'rejected', 'corrected', 'reopened')"


def upgrade() -> None:
    """Take the new verdict into the check; SQLite makes the table again for it."""
    with op.batch_alter_table("verdicts") as verdicts:
        verdicts.drop_constraint(op.f(NAME), type_="check")
        verdicts.create_check_constraint(op.f(NAME), VERDICTS)


def downgrade() -> None:
    """Not offered: the store is only ever brought up."""
    raise NotImplementedError("a store is not brought back to an earlier version; keep a copy")
