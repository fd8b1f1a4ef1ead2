"""Facts declared by people and feeds, joined to the rounds they apply to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from settlement.declared import Feed, with_declared
from settlement.felt_timeline import PhaseLine, with_undecided
from settlement.games import players_bank
from settlement.procedures import Phase
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
    timeline = with_undecided(observed.timeline, record, record.undecided)
    return replace(observed, record=record, timeline=timeline)
