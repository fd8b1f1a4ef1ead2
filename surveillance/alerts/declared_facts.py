"""Facts declared by people and feeds, joined to the rounds they apply to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from settlement.declared import Feed, with_declared
from settlement.felt_timeline import (
    Lay,
    PhaseLine,
    TimelineLine,
    UndecidedLine,
    undecided_line,
)
from settlement.games import players_bank
from settlement.procedures import Phase
from settlement.record import RoundRecord
from settlement.sensor_feed import with_registered
from vision.geometry.lamps import lamp_places
from vision.geometry.table import TableFile
from vision.rounds.observed import ObservedRound

HOLDS = timedelta(hours=24)
"""Age after which declared facts expire: other people are at the table by then."""


def with_facts(
    observed: ObservedRound,
    table: TableFile,
    feed: Feed,
    at: Callable[[float], float | None] = float,
) -> ObservedRound:
    """Return the round with the facts the feed had declared when settling began.

    `at` converts a time of the stream to the feed's clock, None where it is not known: then
    everything declared so far holds, but for coins, which are of one round.
    """
    phases = (line for line in observed.timeline if isinstance(line, PhaseLine))
    begun = next((line.from_s for line in phases if line.phase == Phase.SETTLING), None)
    moment = at(float(begun or observed.record.end_s or 0))
    start = at(float(observed.record.start_s or 0))
    known_s = float("inf") if moment is None else moment
    facts = feed.at(known_s, float("inf") if start is None else start)
    bank = players_bank(table.rules.game)
    record = with_declared(observed.record, facts, players_bank=bank)
    dealer = feed.dealer_at(known_s)
    if dealer is not None:
        record = record.model_copy(update={"dealt_by": dealer})
    record = with_registered(
        record, facts.jackpot_wagers or {}, table.rules, lamp_places(table).keys()
    )
    return replace(observed, record=record, timeline=_with_undecided(observed, record))


def _with_undecided(observed: ObservedRound, record: RoundRecord) -> tuple[TimelineLine, ...]:
    """The round's timeline with what the declared facts left undecided."""
    left = {(entry.seat, entry.what, entry.why): entry for entry in record.undecided}
    lines = []
    for line in observed.timeline:
        key = (line.seat, line.what, line.why) if isinstance(line, UndecidedLine) else None
        if key is None or left.pop(key, None) is not None:
            lines.append(line)
    lays = [line for line in observed.timeline if isinstance(line, Lay)]
    lines += [undecided_line(record, entry, lays) for entry in left.values()]
    return tuple(lines)
