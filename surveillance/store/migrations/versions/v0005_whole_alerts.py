"""An alert as a whole in its row, in place of a column for each of its keys; acts of incidents."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

GONE = ("severity", "wager", "start_s", "end_s", "seen", "due", "rule", "message", "pictures")
_KEYS = ("alert_id", "code", "seat", *GONE[:-1])
_ROUND_ID = "(SELECT rounds.round_id FROM rounds WHERE rounds.id = alerts.round)"
_ACTS = ("began", "again", "ended")


def upgrade() -> None:
    """Make the alerts of their columns, without the keys that are not known."""
    whole = sa.Column("alert", sa.JSON(), nullable=False, server_default="{}")
    op.add_column("alerts", whole)
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    keys = ", ".join(f"'{key}', {key}" for key in _KEYS) + f", 'round_id', {_ROUND_ID}"
    if is_sqlite:
        made = f"json_patch('{{}}', json_object({keys}, 'pictures', json(pictures)))"
    else:
        made = f"json_strip_nulls(json_build_object({keys}, 'pictures', pictures))"
    op.execute(f"UPDATE alerts SET alert = {made}")
    if not is_sqlite:
        op.alter_column("alerts", "alert", server_default=None)
    # Not as a batch: that makes the table again, and verdicts go with the one before it.
    for name in GONE:
        op.drop_column("alerts", name)
    op.add_column("health", sa.Column("act", sa.Text(), nullable=True))
    for act in _ACTS:
        kind = f"substr(state, 1, length(state) - {len(act) + 1})"
        op.execute(f"UPDATE health SET act = '{act}', state = {kind} WHERE state LIKE '% {act}'")


def downgrade() -> None:
    """Not offered: the store is only ever brought up."""
    raise NotImplementedError("a store is not brought back to an earlier version; keep a copy")
