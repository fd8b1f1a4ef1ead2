"""Store what was not read in rows of its own, no longer as alerts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.engine import Connection

from settlement.record import Undecided
from surveillance.alerts.unread import count_unread
from surveillance.store.types import PackedJson, UtcTime

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

BATCH = 500
ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

_rounds = sa.table(
    "rounds",
    *(sa.column(name) for name in ("id", "table_name", "undecided", "alerts")),
    sa.column("started_at", UtcTime),
)
_details = sa.table("round_details", sa.column("round"), sa.column("record", PackedJson))
_unread = sa.table(
    "unread",
    *(sa.column(name) for name in ("round", "table_name", "seat", "part", "cause", "things")),
    sa.column("at", UtcTime),
)


def upgrade() -> None:
    """Make the table, fill it from the records, and count alerts without those of that kind.

    Such alerts stay with their verdicts and evidence until retention removes them; no list
    has them any more.
    """
    op.create_table(
        "unread",
        sa.Column("id", ROW_ID, autoincrement=True),
        sa.Column("round", ROW_ID, nullable=False),
        sa.Column("table_name", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=True),
        sa.Column("part", sa.Text(), nullable=False),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("things", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["round"], ["rounds.id"], name=op.f("fk_unread_round"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_unread")),
    )
    _fill(op.get_bind())
    op.create_index(op.f("ix_unread_round"), "unread", ["round"])
    tally = ["at", "table_name", "seat", "part", "cause", "round", "things"]
    op.create_index(op.f("ix_unread_tally"), "unread", tally)
    undecided = "(SELECT count(*) FROM alerts a WHERE a.round = rounds.id AND a.code = 'UNDECIDED')"
    op.execute(f"UPDATE rounds SET alerts = alerts - {undecided} WHERE alerts > 0")
    op.execute(
        "DELETE FROM pending_evidence WHERE alert IN "
        "(SELECT id FROM alerts WHERE code = 'UNDECIDED')"
    )


def _fill(connection: Connection) -> None:
    """Count what the records say, batch by batch: they are large."""
    r, d = _rounds.c, _details.c
    wanted = (
        sa.select(r.id, r.table_name, r.started_at, d.record)
        .select_from(_rounds.join(_details, d.round == r.id))
        .where(r.undecided > 0, r.id > sa.bindparam("last"))
        .order_by(r.id)
        .limit(BATCH)
    )
    last = 0
    while rows := connection.execute(wanted, {"last": last}).all():
        found = [
            {"round": row.id, "table_name": row.table_name, "at": row.started_at, **own}
            for row in rows
            for own in count_unread(
                Undecided.model_validate(entry) for entry in row.record.get("undecided", ())
            )
        ]
        if found:
            connection.execute(sa.insert(_unread), found)
        last = rows[-1].id


def downgrade() -> None:
    """Not offered: the store is only ever brought up."""
    raise NotImplementedError("a store is not brought back to an earlier version; keep a copy")
