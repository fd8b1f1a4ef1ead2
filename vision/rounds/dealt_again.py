"""Cards that are dealt again before a hand was compared: after a misdeal, or in another round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from settlement.procedures import Phase
from vision.chips.states import certain_cents
from vision.rounds.round_state import Episode, Round
from vision.rounds.view_reader import ViewReading

SURE_READINGS = 2
"""Least readings that must show the dealer's place without cards."""

Place = int | None


@dataclass(frozen=True, slots=True)
class VoidDeal:
    """A deal whose cards were all taken back: none lay anywhere from `gone_s` on.

    `since` are the rests of each place without its cards, `abandoned` whether most stakes were
    drawn in too, so that the cards dealt now are another round's.
    """

    gone_s: float
    since: Mapping[Place, Sequence[Episode]]
    abandoned: bool

    def kept(self, place: Place) -> list[Episode]:
        """What a place showed last before the cards were dealt again: earlier stakes may have been
        others."""
        return list(self.since.get(place, ()))[-1:]

    def next_bets(self, place: Place) -> list[Episode]:
        """Those that show what was staked since the place was bare."""
        rests = list(self.since.get(place, ()))
        bare = max((k for k, rest in enumerate(rests) if rest.bare), default=None)
        return rests[-1:] if bare is None else rests[bare + 1 :]


def coin_readings(own: Round, seat: int) -> list[ViewReading]:
    """What a seat showed in this round before a misdeal: its coins were taken in then, and their
    jackpot wagers hold for the cards that are dealt again."""
    if own.misdealt_s is None:
        return []
    rests = [e for e in own.before.get(seat, ()) if e.start_s >= own.start_s]
    return [r for e in rests if not e.dealt for r in e.readings]


def void_deal(own: Round, episode: Episode) -> VoidDeal | None:
    """The deal that did not count, where the backs of `episode` are dealt again.

    The dealer's cards must have lain there, and at every place none must have been left: players
    hold theirs in the hand for a while, but the dealer's lie on the felt until a round ends.
    """
    if own.phase in (Phase.BETS, Phase.SETTLING, Phase.CLEARED):
        return None
    if not episode.backs or episode.cards_up:
        return None
    since: dict[Place, list[Episode]] = {}
    for place, track in own.tracks.items():
        rests = [rest for rest in track.episodes if rest is not episode]
        empty: list[Episode] = []
        while rests and rests[-1].without_cards:
            empty.insert(0, rests.pop())
        if rests and not empty:
            return None
        if place is None:
            seen = sum(len(rest.readings) for rest in empty)
            if seen < SURE_READINGS or not any(rest.dealt for rest in rests):
                return None
        since[place] = empty
    gone_s = max(rests[0].start_s for rests in since.values() if rests)
    staked = drawn_in = 0
    for seat, track in own.tracks.items():
        if seat is not None and any(rest.chips for rest in track.episodes):
            staked += 1
            drawn_in += _is_drawn_in([e for e in track.episodes if e is not episode], since[seat])
    return VoidDeal(gone_s, since, abandoned=2 * drawn_in > staked)


def _is_drawn_in(rests: Sequence[Episode], since: Sequence[Episode]) -> bool:
    """Whether a seat's stakes went since its cards did: none were left, or others lie there now."""
    if any(rest.bare for rest in since):
        return True
    before = rests[: len(rests) - len(since)]
    return bool(before and since) and _are_others(_stakes(before[-1]), _stakes(since[-1]))


def _stakes(rest: Episode) -> dict[str, int | None]:
    """The stakes that most readings of a rest show, in cents where all that do agree for sure."""
    seen: dict[str, list[int | None]] = {}
    for reading in rest.readings:
        for wager, stacks in reading.stakes.items():
            seen.setdefault(wager, []).append(certain_cents(stacks))
    return {
        wager: sums[0] if len(set(sums)) == 1 else None
        for wager, sums in seen.items()
        if 2 * len(sums) > len(rest.readings)
    }


def _are_others(before: Mapping[str, int | None], now: Mapping[str, int | None]) -> bool:
    """Whether stakes are not those of before."""
    if set(before) != set(now):
        return True
    return any(None not in (sums := {before[w], now[w]}) and len(sums) > 1 for w in now)
