"""Store the amount of an alert about money in its row, with indexes for reports."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.engine import Connection

from settlement.compare.finding import MONEY_CODES
from surveillance.store.difference import difference_of
from surveillance.store.types import PackedJson

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

BATCH = 200

TALLY = ["at", "id", "table_name", "camera", "code", "state", "seat", "dealer"]
TALLY += ["recording_id", "was_right", "is_case"]

_alerts = sa.table(
    "alerts",
    *(sa.column(name) for name in ("id", "round", "code", "seat", "wager", "difference_cents")),
)
_details = sa.table(
    "round_details",
    sa.column("round"),
    sa.column("record", PackedJson),
    sa.column("settlement", PackedJson),
)


def upgrade() -> None:
    """Add the column and fill it from the stored rounds; then the indexes."""
    op.add_column("alerts", sa.Column("difference_cents", sa.BigInteger(), nullable=True))
    _fill(op.get_bind())
    op.drop_index(op.f("ix_alerts_tally"), table_name="alerts")
    op.create_index(op.f("ix_alerts_tally"), "alerts", [*TALLY, "difference_cents"])
    by_dealer = ["table_name", "dealer", "started_at", "alerts", "undecided"]
    op.create_index(op.f("ix_rounds_tally_by_dealer"), "rounds", by_dealer)
    by_person = ["at", "by_name", "verdict", "alert"]
    op.create_index(op.f("ix_verdicts_tally"), "verdicts", by_person)


def _fill(connection: Connection) -> None:
    """Work the sums of existing alerts out, batch by batch: their rounds are large."""
    a, d = _alerts.c, _details.c
    wanted = (
        sa.select(a.id, a.code, a.seat, a.wager, d.record, d.settlement)
        .select_from(_alerts.join(_details, d.round == a.round))
        .where(a.code.in_(MONEY_CODES), a.id > sa.bindparam("last"))
        .order_by(a.id)
        .limit(BATCH)
    )
    change = sa.update(_alerts).where(a.id == sa.bindparam("its_id"))
    change = change.values(difference_cents=sa.bindparam("cents"))
    last = 0
    while rows := connection.execute(wanted, {"last": last}).all():
        found = [
            {"its_id": row.id, "cents": cents}
            for row in rows
            if (cents := difference_of(row.code, row.seat, row.wager, row.record, row.settlement))
            is not None
        ]
        if found:
            connection.execute(change, found)
        last = rows[-1].id


def downgrade() -> None:
    """Not offered: the store is only ever brought up."""
    raise NotImplementedError("a store is not brought back to an earlier version; keep a copy")
