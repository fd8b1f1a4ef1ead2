"""The tables as SQLAlchemy knows them; the migrations make the same ones.

A test holds the two together: after all migrations, Alembic finds no difference.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import Column, ForeignKey, Index

from surveillance.store.types import PackedJson, RowId, UtcTime

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _id() -> Column[int]:
    # With `sqlite_autoincrement` a number is never given again, as in PostgreSQL: the audit
    # log names rows by it.
    return Column("id", RowId, primary_key=True, autoincrement=True)


def _sha256(name: str = "sha256", *, nullable: bool = False) -> Column[str]:
    return Column(name, sa.Text, nullable=nullable)


versions = sa.Table(
    "versions",
    metadata,
    _id(),
    Column("kind", sa.Text, nullable=False),
    Column("name", sa.Text, nullable=False),
    _sha256(),
    Column("detail", sa.JSON, nullable=False),
    Column("first_at", UtcTime, nullable=False),
    sa.UniqueConstraint("kind", "name", "sha256"),
)

recordings = sa.Table(
    "recordings",
    metadata,
    _id(),
    Column("folder", sa.Text, nullable=False),
    Column("file", sa.Text, nullable=False),
    Column("size", sa.BigInteger, nullable=False),
    Column("mtime", sa.Double, nullable=False),
    Column("table_file", sa.Text, nullable=False),
    Column("state", sa.Text, nullable=False),
    Column("at_s", sa.Double, nullable=False),
    Column("duration_s", sa.Double),
    Column("speed", sa.Double, nullable=False),
    Column("rounds", sa.Integer, nullable=False),
    Column("alerts", sa.Integer, nullable=False),
    Column("message", sa.Text, nullable=False),
    Column("out", sa.Text),
    Column("created_at", UtcTime, nullable=False),
    Column("by_name", sa.Text, nullable=False),
    Column("updated_at", UtcTime, nullable=False),
    # Who audits it and until when it is theirs; how often another took it over from one that
    # was gone, which numbers its runs; and whether a person wants it stopped.
    Column("worker", sa.Text),
    Column("lease_until", UtcTime),
    Column("takeovers", sa.Integer, nullable=False, server_default="0"),
    Column("stop_asked", sa.Boolean, nullable=False, server_default=sa.false()),
    # Of a shift all its files by start time, `file` being the first; null: `file` alone.
    Column("files", sa.JSON),
    # Of further cameras: {"name", "file", "offset_s"} each; null: none.
    Column("cameras", sa.JSON),
    # Two audits of one key would have the same results. The first is of paths, sizes and times
    # and known when it is queued, the second of contents and known once they were read.
    Column("request_key", sa.Text),
    Column("audit_key", sa.Text),
    Index(None, "request_key", unique=True),
    Index(None, "audit_key", unique=True),
    Index(None, "created_at", "id"),
    Index(None, "state", "created_at", "id"),
    Index(None, "folder", "created_at", "id"),
    sqlite_autoincrement=True,
)

rounds = sa.Table(
    "rounds",
    metadata,
    _id(),
    Column("table_name", sa.Text, nullable=False),
    Column("camera", sa.Text, nullable=False),
    Column("round_id", sa.Text, nullable=False),
    Column("game", sa.Text, nullable=False),
    Column("dealer", sa.Text),
    Column("started_at", UtcTime, nullable=False),
    Column("ended_at", UtcTime, nullable=False),
    Column("start_s", sa.Text),
    Column("end_s", sa.Text),
    Column("source", sa.Text, nullable=False),
    Column("recording_id", ForeignKey("recordings.id", ondelete="SET NULL")),
    Column("undecided", sa.Integer, nullable=False),
    Column("alerts", sa.Integer, nullable=False),
    Column("versions_id", ForeignKey("versions.id")),
    Column("suspicions", sa.JSON(none_as_null=True)),
    sa.UniqueConstraint("camera", "source", "round_id"),
    Index(None, "table_name", "started_at", "id"),
    Index(None, "camera", "started_at", "id"),
    Index(None, "dealer", "started_at", "id"),
    Index(None, "recording_id", "started_at", "id"),
    Index(None, "round_id", "started_at", "id"),
    # For the list of all; reports of a time count by the rest, and read this index alone.
    Index("ix_rounds_tally", "started_at", "id", "table_name", "dealer", "alerts", "undecided"),
    # SQLite groups by sorting; this holds the rounds of one dealer at one table together.
    Index("ix_rounds_tally_by_dealer", "table_name", "dealer", "started_at", "alerts", "undecided"),
    Index(
        "ix_rounds_with_alerts",
        "started_at",
        "id",
        sqlite_where=sa.text("alerts > 0"),
        postgresql_where=sa.text("alerts > 0"),
    ),
    Index(
        "ix_rounds_with_undecided",
        "started_at",
        "id",
        sqlite_where=sa.text("undecided > 0"),
        postgresql_where=sa.text("undecided > 0"),
    ),
    Index(
        "ix_rounds_with_suspicions",
        "started_at",
        "id",
        sqlite_where=sa.text("suspicions IS NOT NULL"),
        postgresql_where=sa.text("suspicions IS NOT NULL"),
    ),
    sqlite_autoincrement=True,
)

# Apart from `rounds`, whose rows stay small: ten times as many fit in the same memory.
round_details = sa.Table(
    "round_details",
    metadata,
    Column("round", ForeignKey("rounds.id", ondelete="CASCADE"), primary_key=True),
    Column("record", PackedJson, nullable=False),
    Column("settlement", PackedJson, nullable=False),
)

# What was not read, by seat, kind of thing and cause: reading quality is counted by it alone.
unread = sa.Table(
    "unread",
    metadata,
    _id(),
    Column("round", ForeignKey("rounds.id", ondelete="CASCADE"), nullable=False),
    Column("table_name", sa.Text, nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("seat", sa.Integer),
    Column("part", sa.Text, nullable=False),
    Column("cause", sa.Text, nullable=False),
    Column("things", sa.Integer, nullable=False),
    Index(None, "round"),
    Index("ix_unread_tally", "at", "table_name", "seat", "part", "cause", "round", "things"),
)

alerts = sa.Table(
    "alerts",
    metadata,
    _id(),
    Column("alert_id", sa.Text, nullable=False),
    Column("round", ForeignKey("rounds.id")),
    Column("table_name", sa.Text, nullable=False),
    Column("camera", sa.Text, nullable=False),
    Column("source", sa.Text, nullable=False),
    Column("dealer", sa.Text),
    Column("code", sa.Text, nullable=False),
    Column("seat", sa.Integer),
    Column("at", UtcTime, nullable=False),
    # The alert itself; the columns beside it are what lists are filtered and counted by.
    Column("alert", sa.JSON, nullable=False),
    Column("state", sa.Text, nullable=False),
    Column("was_right", sa.Boolean),
    Column("decided_by", sa.Text),
    Column("decided_at", UtcTime),
    Column("bundle", sa.Text),
    _sha256("bundle_sha256", nullable=True),
    Column("clip", sa.Text),
    # Files of further cameras' clips by camera; null: none but what the bundle holds.
    Column("further_clips", sa.JSON(none_as_null=True)),
    Column("recording_id", ForeignKey("recordings.id", ondelete="SET NULL")),
    Column("is_case", sa.Boolean, nullable=False),
    Column("case_by", sa.Text),
    # Cents the player got too much, below 0 too little; null: not about money, or not known.
    Column("difference_cents", sa.BigInteger),
    sa.UniqueConstraint("camera", "source", "alert_id"),
    sa.CheckConstraint("state IN ('open', 'confirmed', 'rejected', 'corrected')", "state"),
    Index(None, "state", "at", "id"),
    Index(None, "table_name", "at", "id"),
    Index(None, "camera", "at", "id"),
    Index(None, "code", "at", "id"),
    Index(None, "seat", "at", "id"),
    Index(None, "dealer", "at", "id"),
    Index(None, "recording_id", "at", "id"),
    Index(None, "round"),
    # What is counted by filters reads one of these alone.
    Index(None, "code", "state", "was_right"),
    Index(None, "camera", "state"),
    Index(
        "ix_alerts_tally",
        "at",
        "id",
        "table_name",
        "camera",
        "code",
        "state",
        "seat",
        "dealer",
        "recording_id",
        "was_right",
        "is_case",
        "difference_cents",
    ),
    Index(
        "ix_alerts_cases",
        "at",
        "id",
        sqlite_where=sa.text("is_case"),
        postgresql_where=sa.text("is_case"),
    ),
    sqlite_autoincrement=True,
)

verdicts = sa.Table(
    "verdicts",
    metadata,
    _id(),
    Column("alert", ForeignKey("alerts.id", ondelete="CASCADE"), nullable=False),
    Column("verdict", sa.Text, nullable=False),
    Column("comment", sa.Text, nullable=False),
    Column("corrected", sa.JSON(none_as_null=True)),
    Column("by_name", sa.Text, nullable=False),
    Column("at", UtcTime, nullable=False),
    sa.CheckConstraint("verdict IN ('confirmed', 'rejected', 'corrected', 'reopened')", "verdict"),
    Index(None, "alert", "id"),
    Index("ix_verdicts_tally", "at", "by_name", "verdict", "alert"),
)

# An alert's evidence until its bundle and its small clip are written.
pending_evidence = sa.Table(
    "pending_evidence",
    metadata,
    Column("alert", ForeignKey("alerts.id", ondelete="CASCADE"), primary_key=True),
    Column("status", sa.Text, nullable=False),
    Column("since", UtcTime, nullable=False),
    # The alert, the camera's facts, detections and images, as `surveillance.live` keeps them.
    Column("content", PackedJson, nullable=False),
    Column("clip", sa.JSON(none_as_null=True)),
    Column("clip_name", sa.Text, nullable=False),
    # Facts and names of further cameras' clips; once the bundle stands those to be made small.
    Column("further_clips", sa.JSON(none_as_null=True)),
    Column("missing", sa.JSON, nullable=False),
    Column("tries", sa.Integer, nullable=False),
    Column("error", sa.Text, nullable=False),
    # Where its clip lies: empty for one that shares no cameras.
    Column("server", sa.Text, nullable=False, server_default=""),
    sa.CheckConstraint("status IN ('awaiting_clip', 'ready', 'preview')", "status"),
    Index(None, "status", "tries", "alert"),
)

# What a round was read from, asked for with one round only.
round_timelines = sa.Table(
    "round_timelines",
    metadata,
    Column("round", ForeignKey("rounds.id", ondelete="CASCADE"), primary_key=True),
    Column("lines", PackedJson, nullable=False),
)

# Facts of a table that its camera cannot show; each holds until another takes its place.
declarations = sa.Table(
    "declarations",
    metadata,
    _id(),
    Column("table_name", sa.Text, nullable=False),
    Column("facts", sa.JSON, nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("by_name", sa.Text, nullable=False),
    Index(None, "table_name", "at", "id"),
)

dealers = sa.Table(
    "dealers",
    metadata,
    _id(),
    Column("table_name", sa.Text, nullable=False),
    Column("name", sa.Text),
    Column("at", UtcTime, nullable=False),
    Column("by_name", sa.Text, nullable=False),
    Index(None, "table_name", "at", "id"),
    Index(None, "name"),
)

cameras = sa.Table(
    "cameras",
    metadata,
    _id(),
    Column("name", sa.Text, nullable=False),
    Column("table_name", sa.Text, nullable=False),
    Column("source", sa.Text, nullable=False),
    _sha256("table_file_sha256"),
    Column("updated_at", UtcTime, nullable=False),
    sa.UniqueConstraint("name"),
)

health = sa.Table(
    "health",
    metadata,
    _id(),
    Column("camera", sa.Text, nullable=False),
    Column("state", sa.Text, nullable=False),
    # Of an incident, which `state` then names: began, again or ended.
    Column("act", sa.Text),
    Column("message", sa.Text, nullable=False),
    Column("at", UtcTime, nullable=False),
    # Of the recorder's entry that it is of: one that comes twice is kept once.
    Column("entry", sa.Text),
    Index(None, "entry", unique=True),
    Index(None, "at", "id"),
    Index(None, "camera", "at", "id"),
    Index(None, "state", "at", "id"),
)

users = sa.Table(
    "users",
    metadata,
    _id(),
    Column("name", sa.Text, nullable=False),
    # The name folded, so that "Ana" and "ana" are one person.
    Column("name_key", sa.Text, nullable=False),
    Column("role", sa.Text, nullable=False),
    Column("password_hash", sa.Text),
    Column("disabled", sa.Boolean, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    sa.UniqueConstraint("name_key"),
    Index(None, "created_at", "id"),
    sqlite_autoincrement=True,
)

sessions = sa.Table(
    "sessions",
    metadata,
    _id(),
    Column("user_id", ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    _sha256("token_sha256"),
    Column("opened_at", UtcTime, nullable=False),
    Column("expires_at", UtcTime, nullable=False),
    Column("seen_at", UtcTime, nullable=False),
    Column("address", sa.Text, nullable=False),
    Column("agent", sa.Text, nullable=False),
    Column("closed_at", UtcTime),
    sa.UniqueConstraint("token_sha256"),
    Index(None, "user_id"),
)

tokens = sa.Table(
    "tokens",
    metadata,
    _id(),
    Column("user_id", ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    Column("name", sa.Text, nullable=False),
    _sha256("token_sha256"),
    Column("scope", sa.Text, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("expires_at", UtcTime),
    Column("used_at", UtcTime),
    Column("revoked_at", UtcTime),
    sa.UniqueConstraint("token_sha256"),
    Index(None, "user_id"),
    sqlite_autoincrement=True,
)

links = sa.Table(
    "links",
    metadata,
    _id(),
    _sha256("token_sha256"),
    Column("kind", sa.Text, nullable=False),
    Column("user_id", ForeignKey("users.id", ondelete="CASCADE")),
    Column("created_at", UtcTime, nullable=False),
    Column("expires_at", UtcTime, nullable=False),
    Column("used_at", UtcTime),
    sa.UniqueConstraint("token_sha256"),
    Index(None, "user_id"),
)

attempts = sa.Table(
    "attempts",
    metadata,
    _id(),
    Column("name_key", sa.Text, nullable=False),
    Column("address", sa.Text, nullable=False),
    Column("ok", sa.Boolean, nullable=False),
    Column("at", UtcTime, nullable=False),
    Index(None, "name_key", "at"),
    Index(None, "address", "at"),
    Index(None, "at"),
)

audit = sa.Table(
    "audit",
    metadata,
    _id(),
    Column("by_name", sa.Text, nullable=False),
    Column("act", sa.Text, nullable=False),
    Column("target", sa.Text, nullable=False),
    Column("detail", sa.JSON, nullable=False),
    Column("address", sa.Text, nullable=False),
    Column("at", UtcTime, nullable=False),
    # As in `health`.
    Column("entry", sa.Text),
    Index(None, "entry", unique=True),
    Index(None, "at", "id"),
    Index(None, "by_name", "at", "id"),
    Index(None, "act", "at", "id"),
    Index(None, "target", "at", "id"),
)
