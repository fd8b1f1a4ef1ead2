"""Cards that come to lie beside a bet: a second discard, or one of a hand that is set.

A wrong alert costs more than a missed one: such a card counts only where two readings of a rest all
find it at one place, its image there is that of the other cards' backs, and the felt was seen bare
there before. A card that was moved a little, or that an arm hid for a while, is the same one; one
that may be the card drawn, laid beside the bet by the dealer, is none that was discarded.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from settlement.procedures import SeatShows
from vision.chips.boxes import Box
from vision.detect.detections import ByteArray
from vision.geometry.table import VIEW_MM
from vision.rounds.procedure.place_states import PlaceStates, ViewPoint
from vision.rounds.region_change import as_picture, changed_share, without_shake
from vision.rounds.round_state import Episode

SURE_READINGS = 2
"""Least readings of a rest that must all find the cards."""

STEADY_MM = 15.0
"""A card is found this near to one place in all readings of a rest."""

APART_MM = 45.0
"""Least distance of the middles of two cards; one card that is found twice has its boxes nearer."""

ONE_PLACE_MM = 60.0
"""A further discard lies this near to where the first one lay."""

CORE_MM = 20.0
"""A card covers all that is this near to its middle, however it is turned."""

BARE_SHARE = 0.05
COVERED_SHARE = 0.6
"""Share of the area about a card's middle that differs from the felt without cards: at most, where
none lies there, and at least, where one does."""

ALIKE_LEVELS = 40.0
"""Backs of one deck differ by no more levels in any channel."""


@dataclass
class Discards:
    """What is certain of one seat's discards; its states of rest come in order.

    `bare` is a JPEG of the view without cards; `dealer_shown_s` is since when the dealer's hand has
    been shown, if it was.
    """

    states: PlaceStates
    seat: int
    bare: bytes
    dealer_shown_s: float | None = None
    _laid: list[ViewPoint] = field(default_factory=list)
    """Where cards were seen beside the bet."""
    _set: Episode | None = None
    """The last rest with cards in both boxes and none beside the bet."""
    _held: Episode | None = None
    """The last rest with no card at all after one was drawn."""

    def shows(self, rest: Episode, look: SeatShows, before: Collection[str]) -> SeatShows:
        """What a rest shows that looks so, after the steps `before`."""
        own = self._of(rest, look, before)
        places = [at for reading in self.states.beside_bet(self.seat, rest) for at in reading]
        if look in ("chips", "nothing") and not rest.backs and set(before) <= {"bets"}:
            self.bare = rest.picture
        if rest.gap is not None:
            self._set = self._held = None
        if look == "set" and not places and set(self.states.looks(self.seat, rest)) == {"set"}:
            self._set = rest
        elif look in ("chips", "nothing") and "drawn" in before and not rest.backs:
            self._held = rest
        self._laid += places
        return own

    def _of(self, rest: Episode, look: SeatShows, before: Collection[str]) -> SeatShows:
        places = self._steady(rest)
        if look not in ("set", "discard") or rest.gap is not None or not places:
            return look
        if len(places) == 2 and math.dist(*places) >= APART_MM:
            return "second_discard" if self._are_backs(rest, places, places) else look
        if len(places) != 1:
            return look
        if look == "set":
            boxes = self.states.in_boxes(self.seat, rest)
            came = self._may_come_late(before) and self._came(self._set, rest, places, boxes)
            return "set_discard" if came else look
        again = any(math.dist(places[0], at) <= ONE_PLACE_MM for at in self._laid)
        came = again and self._came(self._held, rest, places, places)
        return "second_discard" if came else look

    def _steady(self, rest: Episode) -> list[ViewPoint]:
        """The cards beside the bet that every reading of a rest shows; none where they differ."""
        first, *others = self.states.beside_bet(self.seat, rest)
        if len(rest.readings) < SURE_READINGS:
            return []
        for other in others:
            if len(other) != len(first) or not all(_has(other, at) for at in first):
                return []
        return first

    def _may_come_late(self, before: Collection[str]) -> bool:
        """Whether a card beside a set hand cannot be the one that was drawn for a discard."""
        if not self._laid or "drawn" in before:
            return True
        shown_s = self.dealer_shown_s
        return shown_s is not None and self._set is not None and self._set.until_s > shown_s

    def _came(
        self, clear: Episode | None, rest: Episode, places: Sequence[ViewPoint],
        backs: Sequence[ViewPoint],
    ) -> bool:  # fmt: skip
        """Whether a card lies there now, and no card lay beside the bet in a rest before."""
        if clear is None or len(clear.readings) < SURE_READINGS:
            return False
        felt, then = as_picture(self.bare), as_picture(clear.picture)
        if felt is None or then is None or felt.shape != then.shape:
            return False
        cores = [_core(at) for at in (*self._laid, *places)]
        still = without_shake(felt, then)
        if any(min(changed_share(felt, one, core) for one in (then, still)) > BARE_SHARE
               for core in cores):  # fmt: skip
            return False
        return self._are_backs(rest, places, backs)

    def _are_backs(
        self, rest: Episode, places: Sequence[ViewPoint], backs: Sequence[ViewPoint]
    ) -> bool:
        """Whether the image at the places is no bare felt, and that of the other backs."""
        felt, now = as_picture(self.bare), as_picture(rest.picture)
        if felt is None or now is None or felt.shape != now.shape:
            return False
        if any(changed_share(felt, now, _core(at)) < COVERED_SHARE for at in places):
            return False
        colours = np.array([_colour(now, at) for at in (*places, *backs)])
        return bool(np.ptp(colours, axis=0).max() <= ALIKE_LEVELS)


def _has(places: Sequence[ViewPoint], at: ViewPoint) -> bool:
    return any(math.dist(at, other) <= STEADY_MM for other in places)


def _core(at: ViewPoint) -> Box:
    return (at[0] - CORE_MM, at[1] - CORE_MM, at[0] + CORE_MM, at[1] + CORE_MM)


def _colour(image: ByteArray, at: ViewPoint) -> list[float]:
    """The median colour about a card's middle, BGR."""
    size = image.shape[1]
    u0, v0, u1, v1 = (round(min(max(0, mm / VIEW_MM + 0.5), 1) * size) for mm in _core(at))
    part = image[v0:v1, u0:u1].reshape(-1, 3)
    return [float(level) for level in np.median(part, axis=0)] if len(part) else [np.nan] * 3
