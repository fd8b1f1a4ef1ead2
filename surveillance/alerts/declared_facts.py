"""Facts declared by people and feeds, joined to the rounds they apply to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from settlement.declared import Feed, with_declared
from settlement.felt_timeline import PhaseLine
from settlement.games import players_bank
from settlement.procedures import Phase
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
    everything declared so far holds.
    """
    phases = (line for line in observed.timeline if isinstance(line, PhaseLine))
    begun = next((line.from_s for line in phases if line.phase == Phase.SETTLING), None)
    moment = at(float(begun or observed.record.end_s or 0))
    facts = feed.at(float("inf") if moment is None else moment)
    bank = players_bank(table.rules.game)
    return replace(observed, record=with_declared(observed.record, facts, players_bank=bank))
