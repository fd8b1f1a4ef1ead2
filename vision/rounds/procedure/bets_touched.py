"""Stakes that were lifted between the deal and the settling: laid again, or taken away.

What a stake came to afterwards is a late bet's matter. Here it counts that it was gone: only where
two readings of a rest find no chips at the spot, and the image there shows bare felt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from settlement.games import JACKPOTS
from settlement.procedures import Procedure
from vision.geometry.table import SeatPlace
from vision.rounds.changes import until
from vision.rounds.late_bets import StakeRest, closed_s, stake_rests
from vision.rounds.procedure.seat_steps import SeenBreach
from vision.rounds.region_change import CHANGED_SHARE, SAME_SHARE, as_picture, different_share
from vision.rounds.round_state import FACE_UP_CARDS, Episode, Round
from vision.rounds.split_stakes import with_second_stacks

SURE_READINGS = 2
"""Least readings of a rest that must show a stake, or bare felt."""


def touched_bets(procedure: Procedure, place: SeatPlace, own: Round) -> Iterator[SeenBreach]:
    """Every stake of a seat that was lifted after bets were closed, each once.

    Coins on a jackpot's sensor are taken in by the dealer: they are no part of it.
    """
    close_s = closed_s(own)
    if close_s is None or procedure.breach("bet_touched") is None:
        return
    track = own.tracks[place.seat]
    episodes = until(track.episodes, own.cut_s)
    shown = next((k for k, e in enumerate(episodes) if e.cards_up >= FACE_UP_CARDS), None)
    if not shown:
        return
    episodes = with_second_stacks(episodes, shown)[: shown + 1]
    for wager, spot in place.spots.items():
        if wager not in JACKPOTS:
            rests = stake_rests(episodes, wager, spot)
            found = _lifted(procedure, place.seat, wager, rests, close_s, track.bare)
            if found is not None:
                yield found


def _lifted(
    procedure: Procedure, seat: int, wager: str, rests: Sequence[StakeRest], close_s: float,
    bare: bytes,
) -> SeenBreach | None:  # fmt: skip
    """The first time that a stake was certainly gone after it had lain there at the close."""
    lying: StakeRest | None = None
    for k, rest in enumerate(rests):
        if rest.boxes:
            if rest.until_s > close_s and _in_all(rest.episode, wager):
                lying = rest
            continue
        if lying is None or rest.cents != 0 or len(rest.episode.readings) < SURE_READINGS:
            continue
        if rest.episode.gap is not None or not _is_bare(lying, rest, bare):
            continue
        again = any(later.boxes for later in rests[k + 1 :])
        rule = procedure.breach("bet_touched" if again else "bet_taken")
        # Once the hand lies open the dealer may have taken it.
        if rule is None or (not again and rest is rests[-1]):
            continue
        return SeenBreach(seat, rule, lying.episode, rest.episode, wager)
    return None


def _in_all(episode: Episode, wager: str) -> bool:
    """Whether two readings of a rest or more all show the stake."""
    readings = episode.readings
    return len(readings) >= SURE_READINGS and all(wager in r.stakes for r in readings)


def _is_bare(lying: StakeRest, rest: StakeRest, bare: bytes) -> bool:
    """Whether the area where a stake lay has changed since, and is as before the round."""
    felt = as_picture(bare)
    then, now = as_picture(lying.episode.picture), as_picture(rest.episode.picture)
    if felt is None or then is None or now is None:
        return False
    changed = different_share(then, now, lying.boxes)
    return changed >= CHANGED_SHARE and different_share(felt, now, lying.boxes) <= SAME_SHARE
