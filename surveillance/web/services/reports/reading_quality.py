"""Reading quality over a time: what was not read at each table and seat, and why."""

from __future__ import annotations

from collections import Counter

from surveillance.store import Span
from surveillance.store.queries.tallies import Tallies
from surveillance.web.schemas.reports import ReadingForm, ReadingLine, ReadingPlace


def reading_form(tallies: Tallies, span: Span) -> ReadingForm:
    """Return the counts of a span, the worst read place and the most frequent cause first."""
    played: Counter[str] = Counter()
    unread: Counter[str] = Counter()
    for tally in tallies.rounds(span):
        played[tally.table] += tally.rounds
        unread[tally.table] += tally.with_undecided

    def place(table: str, seat: int | None, many: int) -> dict[str, object]:
        share = round(many / played[table], 6) if played[table] else 0.0
        return {"table": table, "seat": seat, "rounds": played[table], "unread": many,
                "share": share}  # fmt: skip

    tables = [ReadingPlace.model_validate(place(name, None, unread[name])) for name in played]
    seats = [
        ReadingPlace.model_validate(place(table, seat, many))
        for (table, seat), many in tallies.unread_at(span).items()
    ]
    causes = [
        ReadingLine.model_validate(
            {**place(one.table, one.seat, one.rounds), "part": one.part, "cause": one.cause,
             "things": one.things}
        )
        for one in tallies.unread(span)
    ]  # fmt: skip
    return ReadingForm(
        since=span.since,
        until=span.until,
        table=span.table,
        tables=sorted(tables, key=lambda one: (-one.share, one.table)),
        seats=sorted(seats, key=lambda one: (-one.share, one.table, one.seat or 0)),
        causes=sorted(causes, key=lambda one: (-one.unread, one.table, one.seat or 0, one.cause)),
    )
