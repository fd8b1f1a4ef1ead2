"""Status of the record: whether the store and the journal can be written, and since when not."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from settlement.form import Form


class RecordStatus(Form):
    """Status of the record as the pages show it."""

    store_down_since: datetime | None = Field(
        None, description="Since when the database cannot be written; null: it can."
    )
    store_why: str = ""
    journal_down_since: datetime | None = Field(
        None, description="Since when the local journal cannot be written; null: it can."
    )
    journal_why: str = ""
    waiting: int = Field(0, description="Entries that wait in the journal for the database.")
    held: int = Field(0, description="Entries that are in memory alone.")
    refused: int = Field(0, description="Entries that the database did not take.")
