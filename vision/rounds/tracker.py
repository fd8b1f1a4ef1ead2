"""The round tracker: resting views in, round records out.

States follow the dealing procedure: waiting for bets, bets, dealt, the dealer's hand set,
settling seat by seat, cleared. A view is looked at in episodes, each one state of rest; what
a round was is put together when its felt is empty again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from vision.cards.view import SAME_INDEX_MM, CardRead, ReadIndex, fuse_indices, join_cards
from vision.detect.detections import ByteArray
from vision.rounds.region_change import kept_picture
from vision.rounds.view_reader import ViewReading

FACE_UP_CARDS = 5
"""Face-up cards from which a view shows a hand turned up."""

STRAY_CARDS = 1
"""One face seen where a hand lay is a mark on the felt: the hand is gone."""


class Phase(StrEnum):
    """Where a round stands."""

    WAITING = "waiting"
    BETS = "bets"
    DEALT = "dealt"
    DEALER_SET = "dealer_set"
    SETTLING = "settling"
    CLEARED = "cleared"


@dataclass
class Episode:
    """One state of rest of one view, with its readings."""

    start_s: float
    readings: list[ViewReading] = field(default_factory=list)
    until_s: float = 0.0
    """When the felt was seen last to lie as it was read."""
    picture: bytes = b""
    """A JPEG of the view at the first reading."""

    @property
    def cards_up(self) -> int:
        """Physical cards face up, by the reading that shows most."""
        return max((len(join_cards(r.indices)) for r in self.readings), default=0)

    @property
    def backs(self) -> int:
        """Backs seen, the most of the readings."""
        return max((r.backs for r in self.readings), default=0)

    @property
    def chips(self) -> bool:
        """Whether chips lie at the view's spots in most readings."""
        with_chips = sum(bool(r.stakes or r.pays) for r in self.readings)
        return with_chips * 2 > len(self.readings)

    @property
    def empty(self) -> bool:
        """No cards, backs or chips."""
        return not (self.chips or self.backs or self.cards_up)


@dataclass(frozen=True, slots=True)
class Shot:
    """A view's picture that may become evidence, uint8 (h, w, 3) BGR, with its reading."""

    image: ByteArray
    reading: ViewReading


@dataclass
class ViewTrack:
    """Everything one view showed in the running round."""

    episodes: list[Episode] = field(default_factory=list)
    shots: dict[str, Shot] = field(default_factory=dict)
    bare: bytes = b""
    """A JPEG of the view with nothing in it, from before the round, if it was seen so."""

    @property
    def now(self) -> Episode | None:
        """The latest episode."""
        return self.episodes[-1] if self.episodes else None

    def hand_episodes(self) -> list[Episode]:
        """Episodes with a hand turned up."""
        return [e for e in self.episodes if e.cards_up >= FACE_UP_CARDS]

    def hand(self, shown: Sequence[Episode] | None = None) -> list[CardRead]:
        """The cards as they lay last, from all face-up episodes in which they lay so.

        A dealer spreads the seven in a row before setting them, and hands are picked up and
        laid again: episodes that show the cards elsewhere are left out. `shown` are the
        episodes to read them from, all that show a hand if they are not given.
        """
        shown = self.hand_episodes() if shown is None else shown
        if not shown:
            return []
        final = fuse_indices([r.indices for r in shown[-1].readings])
        readings = [r.indices for e in shown for r in e.readings if _lie_alike(r.indices, final)]
        return join_cards(fuse_indices(readings)) if readings else []


def _lie_alike(one: Sequence[ReadIndex], other: Sequence[ReadIndex]) -> bool:
    """Whether most indices of either lie where the other has one."""
    small, large = sorted((one, other), key=len)
    if not small:
        return False
    met = sum(
        any(math.dist(a.center_mm, b.center_mm) < SAME_INDEX_MM for b in large) for a in small
    )
    return met >= 0.7 * len(small)


@dataclass
class Round:
    """A running round: tracks by seat, None for the dealer."""

    start_s: float
    tracks: dict[int | None, ViewTrack]
    phase: Phase = Phase.BETS
    cut_s: float | None = None
    """Since when the dealer's cards have been gone."""


class RoundTracker:
    """Follows one table. Feed it readings as views come to rest."""

    def __init__(self, seats: Sequence[int]) -> None:
        """`seats` are the numbers of the seats that are watched."""
        self._seats = tuple(seats)
        self.round: Round | None = None
        self.latest: dict[int | None, Episode] = {}
        """The last state of rest of each view."""
        self.bare: dict[int | None, bytes] = {}
        """Of each view, a picture from when it was seen empty last."""

    @property
    def phase(self) -> Phase:
        """The phase of the running round, or waiting."""
        return self.round.phase if self.round else Phase.WAITING

    def take(
        self,
        seat: int | None,
        reading: ViewReading,
        image: ByteArray,
        *,
        fresh: bool,
        since_s: float,
    ) -> Round | None:
        """Take a reading in; `fresh` opens a new episode that began at `since_s`.

        Gives back the round that this reading ends, if any.
        """
        if fresh or seat not in self.latest:
            self.latest[seat] = Episode(since_s, picture=kept_picture(image))
        episode = self.latest[seat]
        episode.readings.append(reading)
        episode.until_s = reading.at_s
        if episode.empty:
            self.bare[seat] = episode.picture
        if self.round is None:
            if seat is None or episode.empty or not (episode.chips or episode.backs):
                return None
            self.round = Round(
                start_s=episode.start_s,
                tracks=self._tracks(),
            )
            # Seats that came to rest just before belong to the round if they are not empty.
            for other, own in self.latest.items():
                if not own.empty:
                    self.round.tracks[other].episodes.append(own)
        ended = None
        if self.round.phase is Phase.CLEARED and episode.backs and not episode.cards_up:
            # The next deal has begun, whatever still seems to lie on some spot.
            ended = self.round
            self.round = Round(
                start_s=max(ended.cut_s or 0.0, self._first_since(ended.cut_s)),
                tracks=self._tracks(),
            )
            for other, own in self.latest.items():
                if not own.empty and own.start_s > (ended.cut_s or 0.0):
                    self.round.tracks[other].episodes.append(own)
        track = self.round.tracks[seat]
        if not track.episodes or track.episodes[-1] is not episode:
            track.episodes.append(episode)
        self._keep(track, reading, image)
        self._advance(seat, episode)
        return ended or self._finish_if_empty()

    def stands(self, seat: int | None, at_s: float) -> None:
        """A view was seen to lie as it was read last."""
        if seat in self.latest:
            self.latest[seat].until_s = at_s

    def _tracks(self) -> dict[int | None, ViewTrack]:
        """Fresh tracks of all views."""
        return {s: ViewTrack(bare=self.bare.get(s, b"")) for s in (None, *self._seats)}

    def _first_since(self, cut_s: float | None) -> float:
        """When the first of the present states of rest after `cut_s` began."""
        starts = [
            e.start_s for e in self.latest.values() if not e.empty and e.start_s > (cut_s or 0.0)
        ]
        return min(starts, default=cut_s or 0.0)

    def _keep(self, track: ViewTrack, reading: ViewReading, image: ByteArray) -> None:
        shot = Shot(image, reading)
        up = len(join_cards(reading.indices))
        assert self.round is not None
        if up >= FACE_UP_CARDS:
            best = track.shots.get("cards")
            if best is None or len(join_cards(best.reading.indices)) <= up:
                track.shots["cards"] = shot
        elif "cards" not in track.shots and (reading.stakes or reading.backs):
            track.shots["bets"] = shot
        if self.round.cut_s is None and "cards" in track.shots:
            track.shots["settled"] = shot
        if reading.pays.get("envy"):
            track.shots["envy"] = shot

    def _advance(self, seat: int | None, episode: Episode) -> None:
        own = self.round
        assert own is not None
        up = episode.cards_up
        if seat is None:
            if up >= FACE_UP_CARDS:
                own.cut_s = None
                if own.phase in (Phase.BETS, Phase.DEALT):
                    own.phase = Phase.DEALER_SET
                elif own.phase is Phase.CLEARED:
                    own.phase = Phase.SETTLING
            elif up <= STRAY_CARDS and not episode.backs and own.phase is Phase.SETTLING:
                # Only once some hand was compared: an arm may hide the dealer's cards before.
                own.phase = Phase.CLEARED
                own.cut_s = episode.start_s
        elif episode.backs and own.phase is Phase.BETS:
            own.phase = Phase.DEALT
        elif up >= FACE_UP_CARDS and own.phase is Phase.DEALER_SET:
            own.phase = Phase.SETTLING

    def _finish_if_empty(self) -> Round | None:
        own = self.round
        if own is None:
            return None
        if own.phase is Phase.CLEARED:
            busy = any(not e.empty for s, e in self.latest.items() if s is not None)
            if not busy:
                self.round = None
                return own
        elif own.phase is Phase.BETS and all(
            e.empty for s, e in self.latest.items() if s is not None
        ):
            # Bets were taken back, or something lay there for a moment: no round.
            self.round = None
        return None

    def end(self) -> Round | None:
        """The stream ended: gives back a round that was being settled, if any."""
        own, self.round = self.round, None
        if own is not None and own.phase in (Phase.SETTLING, Phase.CLEARED):
            return own
        return None
