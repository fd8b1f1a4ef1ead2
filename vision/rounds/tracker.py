"""The round tracker: resting views in, rounds out.

The phases of a round are those of its game's dealing procedure (`settlement.procedures`), from
the bets to the cleared felt. A view is looked at in episodes, each one state of rest; what a
round was is put together when its felt is empty again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from settlement.procedures import Phase, Procedure, procedures
from vision.cards.view import join_cards
from vision.detect.detections import ByteArray
from vision.rounds.dealt_again import VoidDeal, void_deal
from vision.rounds.region_change import kept_picture
from vision.rounds.round_state import (
    FACE_UP_CARDS,
    STRAY_CARDS,
    Episode,
    Round,
    Shot,
    ViewTrack,
    is_other_hand,
    lie_alike,
)
from vision.rounds.view_reader import ViewReading
from vision.sources.gaps import SELDOM, Gap

KEPT_BETWEEN = 8
"""States of rest of one view that are kept while no round runs."""


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
        lay_until: Mapping[str, float] = MappingProxyType({}),
    ) -> Round | None:
        """Take a reading in; `fresh` opens a new episode that began at `since_s`.

        `times`: for how many readings of the rest it counts, where more would show the same.
        `lay_until`: see `Episode`.
        Gives back the round that this reading ends, if any.
        """
        gap = self.unseen.pop(seat, None)
        cut = self._after_gap(seat, is_same=not fresh)
        if fresh or seat not in self.latest:
            self.latest[seat] = Episode(
                since_s, picture=kept_picture(image), gap=gap, lay_until=dict(lay_until)
            )
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
        void = None if ended is not None else void_deal(self.round, episode)
        if void is not None:
            ended = self._deal_again(void, self.round)
        track = self.round.tracks[seat]
        if not track.episodes or track.episodes[-1] is not episode:
            track.episodes.append(episode)
        self._keep(track, reading, image)
        self._advance(seat, episode)
        return ended or self._finish_if_empty()

    def shows_cards(self, seat: int | None) -> bool:
        """Whether backs or a hand lay at a place when it was at rest last in the running round."""
        last = self.latest.get(seat)
        return self.round is not None and last is not None and last.dealt

    def glimpse(self, seat: int | None, reading: ViewReading, image: ByteArray) -> None:
        """Take in a reading of what lay at a place for less than a rest."""
        if self.round is not None:
            own = Episode(reading.at_s, [reading], reading.at_s, kept_picture(image))
            self.round.tracks[seat].glimpses.append(own)

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
        fresh = Round(
            gap.to_s, self._tracks(), arms=[a for a in own.arms if a.at_s > gap.from_s],
            hides=[a for a in own.hides if a.from_s > gap.from_s],
        )  # fmt: skip
        for seat, track in own.tracks.items():
            new = fresh.tracks[seat]
            new.episodes = [e for e in track.episodes if e.until_s > gap.from_s]
            new.glimpses = [e for e in track.glimpses if e.until_s > gap.from_s]
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
        return seat is None and bool(before) and is_other_hand(before[-1], episode)

    def _deal_again(self, void: VoidDeal, own: Round) -> Round | None:
        """Let the running round begin again; gives back the one before if it was abandoned."""
        self.open_gap = None
        if void.abandoned:
            own.broken_off = True
            bets = {seat: void.next_bets(seat) for seat in own.tracks}
            starts = [rest.start_s for rests in bets.values() for rest in rests if not rest.empty]
            self.round = Round(min(starts, default=void.gone_s), self._tracks())
            self._take_in([(seat, rest) for seat, rests in bets.items() for rest in rests])
            return own
        own.misdealt_s, own.phase = void.gone_s, Phase.BETS
        for seat, track in own.tracks.items():
            kept = void.kept(seat)
            gone = [rest for rest in track.episodes if all(rest is not one for one in kept)]
            own.before.setdefault(seat, []).extend(gone)
            track.episodes = kept
            track.glimpses = [rest for rest in track.glimpses if rest.start_s >= void.gone_s]
            track.shots = {k: s for k, s in track.shots.items() if s.reading.at_s >= void.gone_s}
        own.arms = [arm for arm in own.arms if arm.at_s >= void.gone_s]
        return None

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
                or not lie_alike(best.reading.indices, reading.indices)
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
            self._drop(own)
        elif own.phase is not Phase.SETTLING and self._is_bare():
            # Backs at one place are no deal: what is raked in or taken up may look so.
            dealt = sum(any(e.dealt for e in track.episodes) for track in own.tracks.values())
            if dealt < 2 and own.misdealt_s is None:
                self._drop(own)
                return None
            self.round = self.open_gap = None
            own.broken_off = True
            return own
        return None

    def _drop(self, own: Round) -> None:
        """Bets were taken back, or something lay there for a moment: no round."""
        self.between = own.before
        for seat, track in own.tracks.items():
            for episode in track.episodes:
                self._keep_between(seat, episode)
        self.round = self.open_gap = None

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
