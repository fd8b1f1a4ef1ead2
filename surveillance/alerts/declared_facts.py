"""What people and feeds declare, joined to the rounds that it is true of."""

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
"""What people declared longer ago holds no more: those at the table are others."""


def with_facts(
    observed: ObservedRound,
    table: TableFile,
    feed: Feed,
    at: Callable[[float], float | None] = float,
) -> ObservedRound:
    """The round with what the feed declares of it: as things stood when settling began.

    `at` gives a time of the stream on the feed's clock, None where that is not known: then all
    that was ever declared holds.
    """
    phases = (line for line in observed.timeline if isinstance(line, PhaseLine))
    begun = next((line.from_s for line in phases if line.phase == Phase.SETTLING), None)
    moment = at(float(begun or observed.record.end_s or 0))
    facts = feed.at(float("inf") if moment is None else moment)
    bank = players_bank(table.rules.game)
    return replace(observed, record=with_declared(observed.record, facts, players_bank=bank))
