"""Stacks whose uppermost chip overhangs towards the camera: chips below it may be hidden by it.

Such a stack looks lower than it is, and as sure. But its lower chips are seen beyond the far half
of the face's rim, where the bare felt should be.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from vision.chips.network_input.side_strip import ChipSize, sample
from vision.chips.reading import ReadStack
from vision.chips.states import stands
from vision.detect.detections import ByteArray
from vision.geometry.calibration import Calibration
from vision.geometry.table import VIEW_MM, Place, TableFile
from vision.rounds.region_change import as_picture
from vision.rounds.round_state import Episode, Round
from vision.rounds.view_reader import ViewReading

ARC_DEG = 75
"""The far half of the rim, but for its ends: so much to both sides."""

BEYOND_MM, CLEAR_MM = 1.5, 4.0
"""So far beyond the rim lower chips are seen, and so far beyond it nothing but the felt: what is
seen there too is another stack."""

OTHER_LEVELS = 30.0
SHADES = (0.4, 1.1)
"""What differs from the bare felt by more (grey levels of 255), however a shadow may darken it."""

OVERHANGS, FREE = 0.5, 0.15
"""Share of the arc that differs BEYOND_MM from the rim from which chips are seen there, and the
most CLEAR_MM from it. Of 337 stacks of six tune shifts ("feltwatch judge 2026-11-28 k ways" 2, 6
and 13, "2026-11-29 l ways" 1 to 3) two have more, 0.55 and 0.84: four chips read as two and three
read as one, with 0.98 and 1.0. The next five have 0.29 to 0.48 and are read right.
The shares are of a trial; an audit finds the one with 0.84, the other not."""


def with_overhangs(own: Round, table: TableFile, calibration: Calibration) -> Round:
    """The round in which each stack that overhangs so has one chip more, or not, as likely."""
    size = ChipSize(table.chip_diameter_mm, table.chip_thickness_mm)
    tracks = dict(own.tracks)
    for seat in table.seats:
        track = tracks[seat.seat]
        bare = as_picture(track.bare)
        if bare is None:
            continue
        episodes = [_judged(e, bare, seat.place, calibration, size) for e in track.episodes]
        if any(new is not e for new, e in zip(episodes, track.episodes, strict=True)):
            tracks[seat.seat] = replace(track, episodes=episodes)
    changed = any(tracks[seat] is not own.tracks[seat] for seat in tracks)
    return replace(own, tracks=tracks) if changed else own


def _judged(
    episode: Episode, bare: ByteArray, place: Place, calibration: Calibration, size: ChipSize
) -> Episode:
    """The episode so; its image is that of its first reading."""
    first = episode.readings[0] if episode.readings else None
    if first is None or not any(stack.posterior.top is not None for stack in first.stacks):
        return episode
    seen = as_picture(episode.picture)
    if seen is None or seen.shape != bare.shape:
        return episode
    over = [
        stack for stack in first.stacks if overhangs(stack, seen, bare, place, calibration, size)
    ]
    if not over:
        return episode
    new = {id(r): _doubted(r, over) for r in episode.readings}
    return replace(episode, readings=[new[id(r)] for r in episode.readings])


def overhangs(
    stack: ReadStack, seen: ByteArray, bare: ByteArray, place: Place, calibration: Calibration,
    size: ChipSize,
) -> bool:  # fmt: skip
    """Whether chips are seen beyond the far half of the uppermost face of a stack.

    `seen` and `bare` are the view of `place`, uint8 (n, n, 3), now and with nothing in it.
    """
    top = stack.posterior.top
    if top is None:
        return False
    base = np.asarray(stack.center_mm)
    away = base - np.asarray(calibration.foot_mm)
    turn = math.atan2(away[1], away[0]) + np.radians(np.arange(-ARC_DEG, ARC_DEG + 1, 5))
    arc = np.column_stack([np.cos(turn), np.sin(turn)])
    high = max(0.0, top) * size.thickness_mm

    def other(beyond_mm: float) -> float:
        rim = calibration.lift(base + arc * (size.diameter_mm / 2 + beyond_mm), high)
        px = (place.to_local(rim) / VIEW_MM + 0.5) * len(seen) - 0.5
        now, then = (sample(image, px[None])[0].astype(np.float64) for image in (seen, bare))
        shade = (now * then).sum(axis=1) / np.maximum((then * then).sum(axis=1), 1.0)
        off = np.abs(now - np.clip(shade, *SHADES)[:, None] * then).max(axis=1)
        return float((off > OTHER_LEVELS).mean())

    return other(BEYOND_MM) > OVERHANGS and other(CLEAR_MM) < FREE


def _doubted(reading: ViewReading, over: Sequence[ReadStack]) -> ViewReading:
    """The reading with one chip more, or not, as likely, in the stacks that stand there."""

    def new(stack: ReadStack) -> ReadStack:
        if not stands(stack.center_mm, over):
            return stack
        return replace(stack, posterior=stack.posterior.among(2))

    def all_new(stacks: Mapping[str, Sequence[ReadStack]]) -> dict[str, tuple[ReadStack, ...]]:
        return {name: tuple(new(one) for one in own) for name, own in stacks.items()}

    return replace(reading, stakes=all_new(reading.stakes), pays=all_new(reading.pays))
