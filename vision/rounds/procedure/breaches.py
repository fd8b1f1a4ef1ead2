"""Hands that were taken up, or not yet set, when the procedure does not allow it any more.

A wrong alert costs more than a missed one: a seat's boxes count as bare only where at least two
readings of a rest find no card in them and the picture there looks as it did before the deal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from settlement.procedures import Procedure
from vision.chips.boxes import Box
from vision.geometry.table import SeatPlace
from vision.rounds.procedure.seat_steps import SeenBreach, SeenPhase, SeenStep
from vision.rounds.region_change import as_picture, different_share
from vision.rounds.tracker import Episode, ViewTrack

SURE_READINGS = 2
"""Least readings of a rest that must show no card at the seat."""

SAME_SHARE = 0.05
"""Most of the boxes' picture that differs where nothing lies in them."""

OVERLAP_S = 1.0
"""A seat without its cards so long after the phase began was so in that phase."""


def breaches(
    procedure: Procedure,
    phases: Sequence[SeenPhase],
    steps: Sequence[SeenStep],
    place: SeatPlace,
    track: ViewTrack,
) -> Iterator[SeenBreach]:
    """What the procedure forbids, of one seat's `steps`, each rule once."""
    shown = next((k for k, step in enumerate(steps) if step.name == "shown"), len(steps))
    if not any(step.name in ("set", "shown") for step in steps):
        # A seat that left its bets, or took them back, sets no hand.
        return
    bare = _bare(track, steps)
    for rule in procedure.forbidden:
        since = next((p.since_s for p in phases if p.phase is rule.since), None)
        if since is None:
            continue
        for k, step in enumerate(steps[:shown]):
            before = [one.name for one in steps[:k]]
            if not before or not rule.applies(step.name, before):
                continue
            rest = next((r for r in step.rests if r.until_s > since + OVERLAP_S), None)
            if rest is None or not _is_bare(rest, place, bare):
                continue
            if rest.until_s <= since or not any(s.name in ("set", "shown") for s in steps[k:]):
                continue
            yield SeenBreach(place.seat, rule, steps[k - 1].rests[-1], rest)
            break


def _bare(track: ViewTrack, steps: Sequence[SeenStep]) -> bytes:
    """A picture of the seat before any card lay there."""
    first = steps[0]
    return first.rests[-1].picture if first.name == "bets" else track.bare


def _is_bare(rest: Episode, place: SeatPlace, bare: bytes) -> bool:
    """Whether a rest surely shows no card in the seat's boxes."""
    clear = sum(not r.backs and not r.indices for r in rest.readings)
    if clear < SURE_READINGS or clear < len(rest.readings):
        return False
    now, then = as_picture(rest.picture), as_picture(bare)
    if now is None or then is None or now.shape != then.shape:
        return False
    boxes = [_extent(place, box.array) for box in (place.low, place.high)]
    return different_share(then, now, boxes) <= SAME_SHARE


def _extent(place: SeatPlace, corners_mm: np.ndarray) -> Box:
    """The rectangle about a box in the view's frame, mm."""
    local = place.place.to_local(corners_mm)
    (u0, v0), (u1, v1) = local.min(axis=0).tolist(), local.max(axis=0).tolist()
    return (u0, v0, u1, v1)
