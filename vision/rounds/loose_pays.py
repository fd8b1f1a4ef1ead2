"""Chips that were given to no wager, or taken for an envy prize, where they can be no prize: they
are the pay of a wager that they lie by."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from settlement.games import JACKPOTS
from settlement.record import RoundRecord
from settlement.rules import TableRules
from settlement.settle import settle
from settlement.unowned_prizes import prize_hands
from vision.chips.reading import ReadStack
from vision.chips.states import stands
from vision.geometry.table import TableFile
from vision.rounds.changes import Changes
from vision.rounds.compile_round import compile_round
from vision.rounds.round_state import Round, ViewTrack
from vision.rounds.split_stakes import undealt
from vision.rounds.view_reader import CHAIN_MM, ViewReading
from vision.sensors.lamp_reading import LampDecision

_ENVY = "envy"

FARTHEST_MM = 85.0
"""A pay lies no farther from a stack of its stake. Tune: one of "feltwatch judge 2026-11-27 d ways"
20 lay 71 mm from a stake in two stacks."""


def compile_owned(
    table: TableFile, number: int, own: Round, end_s: float, *, cut_short: bool,
    changes: Changes | None = None, lamps: Mapping[tuple[int, str], LampDecision] | None = None,
    other: Round | None = None,
) -> tuple[RoundRecord, Round]:  # fmt: skip
    """`compile_round`, with such chips given to their wagers: the record, and the round so."""

    def compiled(own: Round) -> RoundRecord:
        return compile_round(
            table, number, own, end_s, cut_short=cut_short, changes=changes, lamps=lamps,
            other=other,
        )  # fmt: skip

    record = compiled(own)
    given = _with_pays(own, record, table.rules)
    return (record, own) if given is None else (compiled(given), given)


def _with_pays(own: Round, record: RoundRecord, rules: TableRules) -> Round | None:
    """The round with such chips as the pays of wagers that won and have none.

    Only where every hand was read and none wins prizes for others, so that a pay left out and
    chips laid for nothing would be two mistakes at once. None where nothing is to be changed.
    """
    loose = {doubt.seat for doubt in record.undecided if doubt.what == "chips"}
    loose |= {seat.seat for seat in record.seats if seat.wager(_ENVY) is not None}
    if not loose or any(d.what.startswith(("low", "high", "hand")) for d in record.undecided):
        return None
    winning = prize_hands(record, rules)
    tracks = dict(own.tracks)
    for seat, due in zip(record.seats, _due(record, rules), strict=True):
        if seat.seat in loose and due and not set(winning) - {seat.seat}:
            tracks[seat.seat] = _given(tracks[seat.seat], due)
    changed = any(tracks[k] is not own.tracks[k] for k in tracks)
    return replace(own, tracks=tracks) if changed else None


def _due(record: RoundRecord, rules: TableRules) -> list[frozenset[str]]:
    """Of each seat the wagers that won and were left as they were."""
    won = {
        (seat.seat, wager.wager)
        for seat in settle(record, rules).seats
        for wager in seat.wagers
        if wager.outcome == "win"
    }
    return [
        frozenset(
            w.wager for w in seat.wagers if w.action == "left" and (seat.seat, w.wager) in won
        )
        for seat in record.seats
    ]


def _given(track: ViewTrack, unpaid: frozenset[str]) -> ViewTrack:
    """The track with loose chips by the stakes of unpaid wagers as these wagers' pays."""
    before = [stack for reading in undealt(track.episodes) for stack in reading.strays]
    readings = {
        id(reading): changed
        for episode in track.episodes
        for reading in episode.readings
        if (changed := _given_in(reading, unpaid, before)) is not None
    }
    if not readings:
        return track
    episodes = [
        replace(episode, readings=[readings.get(id(r), r) for r in episode.readings])
        for episode in track.episodes
    ]
    return replace(track, episodes=episodes)


def _given_in(
    reading: ViewReading, unpaid: frozenset[str], before: list[ReadStack]
) -> ViewReading | None:
    """One reading so; None where nothing changes. What lay there `before` is a player's own."""
    stakes = [
        (stack.center_mm, name)
        for name, stacks in reading.stakes.items()
        if name in unpaid and name not in JACKPOTS
        for stack in stacks
    ]

    def owner(stack: ReadStack, most_mm: float) -> str | None:
        near = min(((math.dist(stack.center_mm, at), name) for at, name in stakes), default=None)
        return near[1] if near is not None and near[0] <= most_mm else None

    prizes = {id(stack): owner(stack, CHAIN_MM) for stack in reading.pays.get(_ENVY, ())}
    strays = {
        id(stack): None if stands(stack.center_mm, before) else owner(stack, FARTHEST_MM)
        for stack in reading.strays
    }
    owners = {**prizes, **strays}
    if not any(owners.values()):
        return None
    loose = (*reading.pays.get(_ENVY, ()), *reading.strays)
    pays = {name: stacks for name, stacks in reading.pays.items() if name != _ENVY}
    for stack in loose:
        name = owners[id(stack)]
        if name is not None:
            pays[name] = (*pays.get(name, ()), stack)
    kept = tuple(s for s in reading.pays.get(_ENVY, ()) if owners[id(s)] is None)
    if kept:
        pays[_ENVY] = kept
    left = tuple(s for s in reading.strays if owners[id(s)] is None)
    return replace(reading, pays=pays, strays=left)
