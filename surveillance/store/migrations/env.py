"""Run by Alembic: the migrations on the connection that `surveillance.store.migrate` gives."""

from __future__ import annotations

from alembic import context

from surveillance.store.tables import metadata

connection = context.config.attributes.get("connection")
if connection is None:
    raise RuntimeError("migrations are run by Store.open, which gives the connection")

# The caller holds the transaction; SQLite changes tables within one as well.
context.configure(
    connection=connection,
    target_metadata=metadata,
    transactional_ddl=True,
    render_as_batch=connection.dialect.name == "sqlite",
)
with context.begin_transaction():
    context.run_migrations()
