"""The first tables: rounds, alerts, verdicts, people, cameras, versions, recordings, the log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = sa.DateTime(timezone=True)
PACKED_JSON = sa.JSON().with_variant(sa.LargeBinary(), "sqlite")


def _index(table: str, *columns: str, name: str | None = None, where: str | None = None) -> None:
    condition = None if where is None else sa.text(where)
    op.create_index(
        op.f(name or f"ix_{table}_{'_'.join(columns)}"),
        table,
        columns,
        sqlite_where=condition,
        postgresql_where=condition,
    )


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "attempts",
        sa.Column("id", ROW_ID, autoincrement=True),
        sa.Column("name_key", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("ok", sa.Boolean(), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attempts")),
    )
    _index("attempts", "address", "at")
    _index("attempts", "at")
    _index("attempts", "name_key", "at")
    op.create_table(
        "audit",
        sa.Column("id", ROW_ID, autoincrement=True),
        sa.Column("by_name", sa.Text(), nullable=False),
        sa.Column("act", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    _index("audit", "act", "at", "id")
    _index("audit", "at", "id")
    _index("audit", "by_name", "at", "id")
    _index("audit", "target", "at", "id")
    op.create_table(
        "cameras",
        sa.Column("id", ROW_ID, autoincrement=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("table_name", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("table_file_sha256", sa.Text(), nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cameras")),
        sa.UniqueConstraint("name", name=op.f("uq_cameras_name")),
    )
    op.create_table(
        "dealers",
        sa.Column("id", ROW_ID, autoincrement=True),
        sa.Column("table_name", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("at", TIME, nullable=False),
        sa.Column("by_name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dealers")),
    )
    _index("dealers", "name")
    _index("dealers", "table_name", "at", "id")
    op.create_table(
        "health",
        sa.Column("id", ROW_ID, autoincrement=True),
        sa.Column("camera", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_health")),
    )
    _index("health", "at", "id")
    _index("health", "camera", "at", "id")
    _index("health", "state", "at", "id")
    op.create_table(
        "recordings",
        sa.Column("id", ROW_ID, autoincrement=True),
        sa.Column("folder", sa.Text(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("mtime", sa.Double(), nullable=False),
        sa.Column("table_file", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("at_s", sa.Double(), nullable=False),
        sa.Column("duration_s", sa.Double(), nullable=True),
        sa.Column("speed", sa.Double(), nullable=False),
        sa.Column("rounds", sa.Integer(), nullable=False),
        sa.Column("alerts", sa.Integer(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("out", sa.Text(), nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("by_name", sa.Text(), nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_recordings")),
        sqlite_autoincrement=True,
    )
    _index("recordings", "created_at", "id")
    _index("recordings", "folder", "created_at", "id")
    _index("recordings", "state", "created_at", "id")
    op.create_table(
        "users",
        sa.Column("id", ROW_ID, autoincrement=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("name_key", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=True),
        sa.Column("disabled", sa.Boolean(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("name_key", name=op.f("uq_users_name_key")),
        sqlite_autoincrement=True,
    )
    _index("users", "created_at", "id")
    op.create_table(
        "versions",
        sa.Column("id", ROW_ID, autoincrement=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.Column("first_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_versions")),
        sa.UniqueConstraint("kind", "name", "sha256", name=op.f("uq_versions_kind_name_sha256")),
    )
    op.create_table(
        "links",
        sa.Column("id", ROW_ID, autoincrement=True),
        sa.Column("token_sha256", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("user_id", ROW_ID, nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=False),
        sa.Column("used_at", TIME, nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_links_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_links")),
        sa.UniqueConstraint("token_sha256", name=op.f("uq_links_token_sha256")),
    )
    _index("links", "user_id")
    op.create_table(
        "rounds",
        sa.Column("id", ROW_ID, autoincrement=True),
        sa.Column("table_name", sa.Text(), nullable=False),
        sa.Column("camera", sa.Text(), nullable=False),
        sa.Column("round_id", sa.Text(), nullable=False),
        sa.Column("game", sa.Text(), nullable=False),
        sa.Column("dealer", sa.Text(), nullable=True),
        sa.Column("started_at", TIME, nullable=False),
        sa.Column("ended_at", TIME, nullable=False),
        sa.Column("start_s", sa.Text(), nullable=True),
        sa.Column("end_s", sa.Text(), nullable=True),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("recording_id", ROW_ID, nullable=True),
        sa.Column("undecided", sa.Integer(), nullable=False),
        sa.Column("alerts", sa.Integer(), nullable=False),
        sa.Column("versions_id", ROW_ID, nullable=True),
        sa.ForeignKeyConstraint(
            ["recording_id"],
            ["recordings.id"],
            name=op.f("fk_rounds_recording_id"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["versions_id"], ["versions.id"], name=op.f("fk_rounds_versions_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rounds")),
        sa.UniqueConstraint(
            "camera", "source", "round_id", name=op.f("uq_rounds_camera_source_round_id")
        ),
        sqlite_autoincrement=True,
    )
    _index("rounds", "camera", "started_at", "id")
    _index("rounds", "dealer", "started_at", "id")
    _index("rounds", "recording_id", "started_at", "id")
    _index("rounds", "round_id", "started_at", "id")
    tally = ["started_at", "id", "table_name", "dealer", "alerts", "undecided"]
    _index("rounds", *tally, name="ix_rounds_tally")
    _index("rounds", "table_name", "started_at", "id")
    _index("rounds", "started_at", "id", name="ix_rounds_with_alerts", where="alerts > 0")
    _index("rounds", "started_at", "id", name="ix_rounds_with_undecided", where="undecided > 0")
    op.create_table(
        "sessions",
        sa.Column("id", ROW_ID, autoincrement=True),
        sa.Column("user_id", ROW_ID, nullable=False),
        sa.Column("token_sha256", sa.Text(), nullable=False),
        sa.Column("opened_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=False),
        sa.Column("seen_at", TIME, nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("closed_at", TIME, nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_sessions_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sessions")),
        sa.UniqueConstraint("token_sha256", name=op.f("uq_sessions_token_sha256")),
    )
    _index("sessions", "user_id")
    op.create_table(
        "tokens",
        sa.Column("id", ROW_ID, autoincrement=True),
        sa.Column("user_id", ROW_ID, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("token_sha256", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=True),
        sa.Column("used_at", TIME, nullable=True),
        sa.Column("revoked_at", TIME, nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_tokens_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("token_sha256", name=op.f("uq_tokens_token_sha256")),
        sqlite_autoincrement=True,
    )
    _index("tokens", "user_id")
    op.create_table(
        "alerts",
        sa.Column("id", ROW_ID, autoincrement=True),
        sa.Column("alert_id", sa.Text(), nullable=False),
        sa.Column("round", ROW_ID, nullable=True),
        sa.Column("table_name", sa.Text(), nullable=False),
        sa.Column("camera", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("dealer", sa.Text(), nullable=True),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("severity", sa.Text(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=True),
        sa.Column("wager", sa.Text(), nullable=True),
        sa.Column("at", TIME, nullable=False),
        sa.Column("start_s", sa.Text(), nullable=True),
        sa.Column("end_s", sa.Text(), nullable=True),
        sa.Column("seen", sa.Text(), nullable=True),
        sa.Column("due", sa.Text(), nullable=True),
        sa.Column("rule", sa.Text(), nullable=True),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("pictures", sa.JSON(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("was_right", sa.Boolean(), nullable=True),
        sa.Column("decided_by", sa.Text(), nullable=True),
        sa.Column("decided_at", TIME, nullable=True),
        sa.Column("bundle", sa.Text(), nullable=True),
        sa.Column("bundle_sha256", sa.Text(), nullable=True),
        sa.Column("clip", sa.Text(), nullable=True),
        sa.Column("recording_id", ROW_ID, nullable=True),
        sa.Column("is_case", sa.Boolean(), nullable=False),
        sa.Column("case_by", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "state IN ('open', 'confirmed', 'rejected', 'corrected')", name=op.f("ck_alerts_state")
        ),
        sa.ForeignKeyConstraint(
            ["recording_id"],
            ["recordings.id"],
            name=op.f("fk_alerts_recording_id"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(["round"], ["rounds.id"], name=op.f("fk_alerts_round")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alerts")),
        sa.UniqueConstraint(
            "camera", "source", "alert_id", name=op.f("uq_alerts_camera_source_alert_id")
        ),
        sqlite_autoincrement=True,
    )
    _index("alerts", "camera", "at", "id")
    _index("alerts", "at", "id", name="ix_alerts_cases", where="is_case")
    _index("alerts", "code", "at", "id")
    _index("alerts", "code", "state", "was_right")
    _index("alerts", "camera", "state")
    tally = ["at", "id", "table_name", "camera", "code", "state", "seat", "dealer"]
    tally += ["recording_id", "was_right", "is_case"]
    _index("alerts", *tally, name="ix_alerts_tally")
    _index("alerts", "dealer", "at", "id")
    _index("alerts", "recording_id", "at", "id")
    _index("alerts", "round")
    _index("alerts", "seat", "at", "id")
    _index("alerts", "state", "at", "id")
    _index("alerts", "table_name", "at", "id")
    op.create_table(
        "round_details",
        sa.Column("round", ROW_ID, nullable=False),
        sa.Column("record", PACKED_JSON, nullable=False),
        sa.Column("settlement", PACKED_JSON, nullable=False),
        sa.ForeignKeyConstraint(
            ["round"], ["rounds.id"], name=op.f("fk_round_details_round"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("round", name=op.f("pk_round_details")),
    )
    op.create_table(
        "verdicts",
        sa.Column("id", ROW_ID, autoincrement=True),
        sa.Column("alert", ROW_ID, nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("corrected", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("by_name", sa.Text(), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.CheckConstraint(
            "verdict IN ('confirmed', 'rejected', 'corrected')", name=op.f("ck_verdicts_verdict")
        ),
        sa.ForeignKeyConstraint(
            ["alert"], ["alerts.id"], name=op.f("fk_verdicts_alert"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_verdicts")),
    )
    _index("verdicts", "alert", "id")


def downgrade() -> None:
    """Not offered: what was recorded would be gone."""
    raise NotImplementedError("the first tables are not taken away; delete the database instead")
