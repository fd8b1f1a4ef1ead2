"""Felt's print that looks like chips: where nothing differs from the bare felt, nothing lies.

The limit is that of stakes that stayed (`SAME_SHARE`). On the set "feltwatch judge 2026-11-25 e", a
tune set, the one such box that was print differs by 0.000, chips by 0.12 at least.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from vision.chips.boxes import Box
from vision.detect.detections import ByteArray
from vision.geometry.table import SeatPlace
from vision.rounds.region_change import SAME_SHARE, as_picture, different_share
from vision.rounds.round_state import Episode
from vision.rounds.view_reader import ViewReading, unread_boxes


def without_print(episodes: Sequence[Episode], bare: bytes, seat: SeatPlace) -> list[Episode]:
    """The episodes without unread chips that are the felt's own print.

    `bare` is a JPEG of the seat's view with nothing in it, from before the round; without one, or
    without a picture of a rest, all stay.
    """
    if not bare or not any(r.unread for e in episodes for r in e.readings):
        return list(episodes)
    felt = as_picture(bare)
    return [e if felt is None else _cleared(e, felt, seat) for e in episodes]


def _cleared(episode: Episode, felt: ByteArray, seat: SeatPlace) -> Episode:
    now = as_picture(episode.picture) if any(r.unread for r in episode.readings) else None
    if now is None:
        return episode

    def own(reading: ViewReading) -> ViewReading:
        boxes = unread_boxes(reading, seat.place, seat.spots, now.shape[1])
        return replace(reading, unread=_unlike(boxes, felt, now))

    return replace(episode, readings=[own(r) if r.unread else r for r in episode.readings])


def _unlike(
    boxes: Mapping[str, Sequence[Box]],
    felt: ByteArray,
    now: ByteArray,
) -> frozenset[str]:
    """The wagers with a box in which something differs from the felt."""
    return frozenset(
        name for name, own in boxes.items()
        if not own or any(different_share(felt, now, [box]) > SAME_SHARE for box in own)
    )  # fmt: skip
