"""The round tracker: resting views in, rounds out.

The phases of a round are those of its game's dealing procedure (`settlement.procedures`), from
the bets to the cleared felt. A view is looked at in episodes, each one state of rest; what a
round was is put together when its felt is empty again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from settlement.procedures import Phase, Procedure, procedures
from vision.cards.unread_card import with_unread_card
from vision.cards.view import SAME_INDEX_MM, CardRead, ViewIndex, fuse_indices, join_cards
from vision.detect.detections import ByteArray
from vision.rounds.region_change import kept_picture
from vision.rounds.view_reader import ViewReading
from vision.sources.gaps import SELDOM, Gap

__all__ = [
    "FACE_UP_CARDS", "STRAY_CARDS", "Episode", "OpenGap", "Phase", "Round", "RoundTracker", "Shot",
    "ViewTrack", "basic_shows",
]  # fmt: skip

FACE_UP_CARDS = 5
"""Face-up cards from which a view shows a hand turned up."""

STIRRED_S = 0.5
"""A view that was not at rest for so long had something move over it."""

KEPT_BETWEEN = 8
"""States of rest of one view that are kept while no round runs."""

SURE_NAME = 0.8
"""Least share of a card's name by which one hand counts as another than before."""

STRAY_CARDS = 1
"""One face seen where a hand lay is a mark on the felt: the hand is gone."""


@dataclass
class Episode:
    """One state of rest of one view, with its readings."""

    start_s: float
    readings: list[ViewReading] = field(default_factory=list)
    until_s: float = 0.0
    """When the felt was seen last to lie as it was read."""
    picture: bytes = b""
    """A JPEG of the view at the first reading."""
    gap: Gap | None = None
    """What was not seen between the view's rest before and this one."""
    stirred: list[tuple[float, float]] = field(default_factory=list)
    """Times (from, until) in which something moved there; it lay as before afterwards."""

    def seen_at(self, at_s: float) -> None:
        """It was seen to lie as it was read."""
        if self.until_s and at_s - self.until_s > STIRRED_S:
            self.stirred.append((self.until_s, at_s))
        self.until_s = at_s

    @property
    def images(self) -> list[ViewReading]:
        """The readings, each once: one that was sure counts for several."""
        return list({id(reading): reading for reading in self.readings}.values())

    @property
    def cards_up(self) -> int:
        """Physical cards face up, by the reading that shows most."""
        for reading in self.readings:
            if id(reading) not in self._counted:
                self._counted[id(reading)] = len(join_cards(reading.indices))
        return max(self._counted.values(), default=0)

    @cached_property
    def _counted(self) -> dict[int, int]:
        """The cards of each reading: readings come, but none that came is changed."""
        return {}

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

    @property
    def without_cards(self) -> bool:
        """No back, and no face but a mark on the felt."""
        return self.cards_up <= STRAY_CARDS and not self.backs

    @property
    def bare(self) -> bool:
        """Nothing lies there, but for a mark on the felt that reads as a card."""
        return self.without_cards and not self.chips


@dataclass(frozen=True, slots=True)
class Shot:
    """A view's image that may become evidence, uint8 (h, w, 3) BGR, with its reading."""

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
        laid again: episodes that show the cards elsewhere are left out, and those of other
        cards, which were dealt before a misdeal was found. `shown` are the episodes to read them
        from, all that show a hand if they are not given.
        """
        shown = self.hand_episodes() if shown is None else shown
        if not shown:
            return []
        last = shown[-1]
        final = fuse_indices([r.indices for r in last.images])
        shown = [e for e in shown if not _is_other_hand(e, last)]
        own = [r for e in shown for r in e.images if _lie_alike(r.indices, final)]
        if not own:
            return []
        return with_unread_card(
            join_cards(fuse_indices([r.indices for r in own])), [r.unread_card for r in own]
        )


def _lie_alike(one: Sequence[ViewIndex], other: Sequence[ViewIndex]) -> bool:
    """Whether most indices of either lie where the other has one."""
    small, large = sorted((one, other), key=len)
    if not small:
        return False
    met = sum(any(math.dist(a.center, b.center) < SAME_INDEX_MM for b in large) for a in small)
    return met >= 0.7 * len(small)


def _is_other_hand(before: Episode, now: Episode) -> bool:
    """Whether two rests of one place surely show different hands."""
    if before is now:
        return False
    then, cards = _sure_names(before), _sure_names(now)
    known = min(len(then), len(cards)) >= FACE_UP_CARDS
    return known and 2 * len(then & cards) < len(cards)


def _sure_names(episode: Episode) -> set[str]:
    cards = join_cards(fuse_indices([r.indices for r in episode.images]))
    return {card.label for card in cards if card.share >= SURE_NAME}


@dataclass
class Round:
    """A running round: tracks by seat, None for the dealer."""

    start_s: float
    tracks: dict[int | None, ViewTrack]
    phase: Phase = Phase.BETS
    cut_s: float | None = None
    """Since when the dealer's cards have been gone."""
    gap: Gap | None = None
    """The gap within which the round ended, where its end was not seen."""
    broken_off: bool = False
    """Cards and bets were taken back before the first hand was compared."""
    is_followed_at_once: bool = False
    """The next deal began before the felt was empty."""
    before: dict[int | None, list[Episode]] = field(default_factory=dict)
    """What the places showed since the round before."""
    seldom_s: float = 0.0
    """For how long frames were farther apart than usual."""

    def copied(self) -> Round:
        """The round as it stands, which later rests do not change."""
        tracks = {
            seat: ViewTrack(list(own.episodes), dict(own.shots), own.bare)
            for seat, own in self.tracks.items()
        }
        return Round(
            self.start_s, tracks, self.phase, self.cut_s, before=self.before,
            seldom_s=self.seldom_s,
        )  # fmt: skip


@dataclass
class OpenGap:
    """A gap after which it is not known yet whether the same round goes on.

    `held` are the views that held cards before it: one that is as it was shows the same round.
    `before` is the round's state at the gap.
    """

    gap: Gap
    held: set[int | None]
    before: Round


Shows = Callable[[int | None, Episode], Collection[str]]
"""What a place (None: the dealer's) shows at rest, in the words of `settlement.procedures`."""


def basic_shows(seat: int | None, episode: Episode) -> frozenset[str]:
    """What an episode shows, wherever on its felt it lies."""
    del seat
    shows = {
        "no_cards": episode.without_cards,
        "backs": episode.backs > 0,
        "hand": episode.cards_up >= FACE_UP_CARDS,
    }
    return frozenset(name for name, seen in shows.items() if seen)


class RoundTracker:
    """Follows one table. Feed it readings as views come to rest."""

    def __init__(
        self,
        seats: Sequence[int],
        procedure: Procedure | None = None,
        shows: Shows = basic_shows,
    ) -> None:
        """`seats` are the numbers of the seats that are watched.

        `procedure` is Emperor's Challenge Exposed's where none is given.
        """
        self._seats = tuple(seats)
        self._procedure = procedure or procedures()["emperors_challenge_exposed"]
        self._shows = shows
        self.round: Round | None = None
        self.latest: dict[int | None, Episode] = {}
        """The last state of rest of each view."""
        self.bare: dict[int | None, bytes] = {}
        """Of each view, the image from when it was last seen empty, as JPEG."""
        self.between: dict[int | None, list[Episode]] = {}
        """Of each view, its latest states of rest while no round runs."""
        self.unseen: dict[int | None, Gap] = {}
        """Of each view, the gap since it was seen at rest last."""
        self.open_gap: OpenGap | None = None
        self.coarse_s = float("-inf")
        """When a frame came last that was farther than usual from the one before it."""

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
        times: int = 1,
    ) -> Round | None:
        """Take a reading in; `fresh` opens a new episode that began at `since_s`.

        `times`: for how many readings of the rest it counts, where more would show the same.
        Gives back the round that this reading ends, if any.
        """
        gap = self.unseen.pop(seat, None)
        cut = self._after_gap(seat, is_same=not fresh)
        if fresh or seat not in self.latest:
            self.latest[seat] = Episode(since_s, picture=kept_picture(image), gap=gap)
        episode = self.latest[seat]
        episode.readings += [reading] * times
        episode.seen_at(reading.at_s)
        if episode.empty:
            self.bare[seat] = episode.picture
        if self.round is None:
            if seat is None or episode.empty or not (episode.chips or episode.backs):
                self._keep_between(seat, episode)
                return cut
            self.round = Round(start_s=episode.start_s, tracks=self._tracks(), before=self.between)
            self.between = {}
            # Seats that came to rest just before belong to the round if they are not empty.
            self._take_in(
                [(other, own) for other, own in self.latest.items() if other not in self.unseen]
            )
        ended = cut
        if ended is None and self._is_next_deal(seat, episode):
            # The next deal has begun, whatever still seems to lie on some spot.
            ended, self.open_gap = self.round, None
            ended.is_followed_at_once = True
            self.round = Round(
                start_s=max(ended.cut_s or 0.0, self._first_since(ended.cut_s)),
                tracks=self._tracks(),
            )
            since_s = ended.cut_s or 0.0
            self._take_in([(o, own) for o, own in self.latest.items() if own.start_s > since_s])
        track = self.round.tracks[seat]
        if not track.episodes or track.episodes[-1] is not episode:
            track.episodes.append(episode)
        self._keep(track, reading, image)
        self._advance(seat, episode)
        return ended or self._finish_if_empty()

    def stands(self, seat: int | None, at_s: float) -> None:
        """A view was seen to lie as it was read last."""
        if seat not in self.latest:
            return
        own = self.latest[seat]
        own.seen_at(at_s)
        if self.unseen.pop(seat, None) is not None:
            self._after_gap(seat, is_same=True)
            if self.round is not None and not own.empty:
                episodes = self.round.tracks[seat].episodes
                if not episodes or episodes[-1] is not own:
                    episodes.append(own)

    def skip(self, gap: Gap) -> Round | None:
        """Nothing was seen during a gap. Gives back the round that it ends, if any."""
        for seat in (None, *self._seats):
            before = self.unseen.get(seat)
            self.unseen[seat] = gap if before is None else before.then(gap)
        own = self.round
        if self.open_gap is not None:
            self.open_gap.gap = self.open_gap.gap.then(gap)
        if own is None or self.open_gap is not None:
            return None
        held = {s for s, e in self.latest.items() if e.backs or e.cards_up > STRAY_CARDS}
        # A view that was seen to be as before since an earlier gap vouches for the time between.
        whole = min((self.unseen[s] for s in held or self.unseen), key=lambda g: g.hidden_s)
        if not whole.hides_a_round:
            return None
        if held and own.phase is not Phase.CLEARED:
            self.open_gap = OpenGap(whole, held, own.copied())
            return None
        self.round = None
        return _ended_in(own, whole)

    def _after_gap(self, seat: int | None, *, is_same: bool) -> Round | None:
        """A view is at rest again, as before a gap or not; the round that ended in it, if any."""
        waits = self.open_gap
        if waits is None or seat not in waits.held:
            return None
        waits.held.discard(seat)
        if not is_same and waits.held:
            return None
        self.open_gap = None
        if is_same or self.round is None:
            return None
        self.round = self._begun_after(waits.gap, self.round)
        return _ended_in(waits.before, waits.gap)

    def _begun_after(self, gap: Gap, own: Round) -> Round | None:
        """What of a round was seen after a gap, as a round of its own; None if nothing was."""
        fresh = Round(gap.to_s, self._tracks())
        for seat, track in own.tracks.items():
            new = fresh.tracks[seat]
            new.episodes = [e for e in track.episodes if e.until_s > gap.from_s]
            new.shots = {k: s for k, s in track.shots.items() if s.reading.at_s > gap.from_s}
        seen = [(e.start_s, s, e) for s, t in fresh.tracks.items() for e in t.episodes]
        if all(e.empty for _, _, e in seen):
            return None
        self.round = fresh
        for _, seat, episode in sorted(seen, key=lambda one: one[0]):
            self._advance(seat, episode)
        fresh.start_s = min(start for start, _, _ in seen)
        return fresh

    def _keep_between(self, seat: int | None, episode: Episode) -> None:
        """Keep what a view shows while no round runs, the latest of it."""
        kept = self.between.setdefault(seat, [])
        if not kept or kept[-1] is not episode:
            kept.append(episode)
            del kept[:-KEPT_BETWEEN]

    def _take_in(self, rests: Sequence[tuple[int | None, Episode]]) -> None:
        """Let the running round begin with what lies at these places, the first seen first."""
        assert self.round is not None
        for seat, own in sorted(rests, key=lambda one: one[1].start_s):
            if not own.empty:
                self.round.tracks[seat].episodes.append(own)
                # The dealer's hand may lie there before the first seat is read.
                self._advance(seat, own)

    def _is_next_deal(self, seat: int | None, episode: Episode) -> bool:
        """Whether cards are dealt again after the dealer's were taken away: backs lie at a place,
        or another hand at the dealer's."""
        assert self.round is not None
        if self.round.phase is not Phase.CLEARED:
            return False
        if episode.backs and not episode.cards_up:
            return True
        before = self.round.tracks[None].hand_episodes()
        return seat is None and bool(before) and _is_other_hand(before[-1], episode)

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
            if (
                best is None
                or len(join_cards(best.reading.indices)) <= up
                # Spread in a row, or one mark too many: the hand was set since.
                or not _lie_alike(best.reading.indices, reading.indices)
            ):
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
        before = own.phase
        shows = self._shows(seat, episode)
        if seat is None and "hand" in shows:
            own.cut_s = None
        own.phase = self._procedure.next_phase(before, "dealer" if seat is None else "seat", shows)
        if own.phase is before and seat is not None and self._all_show("set"):
            own.phase = self._procedure.next_phase(before, "every_seat", {"set"})
        if own.phase is Phase.DEALER_SET and own.phase is not before and self._one_shows("hand"):
            # A hand that was turned up before the dealer's is compared at once.
            own.phase = self._procedure.next_phase(own.phase, "seat", {"hand"})
        if own.phase is Phase.CLEARED and before is not Phase.CLEARED:
            # Only once some hand was compared: an arm may hide the dealer's cards before.
            self._mark_coarse(own.tracks[None], episode)
            # Where it was not seen when they went, they may have gone at once.
            own.cut_s = episode.start_s if episode.gap is None else episode.gap.from_s

    def _all_show(self, what: str) -> bool:
        """Whether every seat at which something lies shows that."""
        lying = [(s, e) for s, e in self.latest.items() if s is not None and not e.empty]
        return bool(lying) and all(what in self._shows(s, e) for s, e in lying)

    def _one_shows(self, what: str) -> bool:
        """Whether some seat showed that last in the running round."""
        assert self.round is not None
        last = [(s, t.now) for s, t in self.round.tracks.items() if s is not None]
        return any(e is not None and what in self._shows(s, e) for s, e in last)

    def _mark_coarse(self, dealer: ViewTrack, cleared: Episode) -> None:
        """Note that it was not seen when the dealer's cards went, where frames were far apart."""
        last_s = max((e.until_s for e in dealer.hand_episodes()), default=cleared.start_s)
        if cleared.gap is None and self.coarse_s > last_s:
            cleared.gap = Gap.between(last_s, cleared.start_s, SELDOM)

    def _finish_if_empty(self) -> Round | None:
        own = self.round
        if own is None:
            return None
        if own.phase is Phase.CLEARED:
            busy = any(not e.bare for s, e in self.latest.items() if s is not None)
            if not busy:
                self.round = self.open_gap = None
                return own
        elif own.phase is Phase.BETS and all(
            e.empty for s, e in self.latest.items() if s is not None
        ):
            # Bets were taken back, or something lay there for a moment: no round.
            self.between = own.before
            for seat, track in own.tracks.items():
                for episode in track.episodes:
                    self._keep_between(seat, episode)
            self.round = self.open_gap = None
        elif own.phase is not Phase.SETTLING and self._is_bare():
            self.round = self.open_gap = None
            own.broken_off = True
            return own
        return None

    def _is_bare(self) -> bool:
        """Whether every place of the table was seen to be empty last."""
        every = (None, *self._seats)
        return all(s in self.latest and self.latest[s].bare for s in every)

    def end(self) -> Round | None:
        """The stream ended: gives back the round whose cards lay there, if any."""
        own, self.round = self.round, None
        waits, self.open_gap = self.open_gap, None
        if waits is not None:
            return _ended_in(waits.before, waits.gap)
        return own if own is not None and own.phase is not Phase.BETS else None


def _ended_in(own: Round, gap: Gap) -> Round | None:
    """A round that a gap ended; None where only bets were seen, and no round had begun."""
    if own.phase is Phase.BETS:
        return None
    own.gap = None if own.phase is Phase.CLEARED else gap
    return own
