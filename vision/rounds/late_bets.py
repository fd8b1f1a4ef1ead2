"""Stakes that were changed after bets were closed.

A wrong alert costs more than a missed one: what a stake was is taken only from rests whose
readings all agree and are confident, both before and after, and the image itself must have
changed where the stake stands, or a misreading would be taken for a change.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from settlement.record import LateBet
from vision.chips.boxes import Box
from vision.chips.states import certain_cents
from vision.geometry.table import Polygon
from vision.rounds.region_change import as_picture, different_share
from vision.rounds.round_state import FACE_UP_CARDS, Episode, Round

SURE_READINGS = 2
"""Least confident readings of a stake, in one rest or in several alike."""

LEAST_AFTER = 2
"""Least rests that must show the changed stake: the one with the hand turned up may be one."""

NEAR_MM = 75.0
"""A stack of no owner this near to a spot may be its stake."""

CHANGED_SHARE = 0.1
"""Least share of the stake's place whose image differs where a stake was changed."""

SAME_SHARE = 0.03
"""Most of it that differs where nothing was changed. Of 415 pairs of rests of a filmed stake that
stayed as it was, the image differed by 0.027 at most, of those that were changed by 0.266 at
least."""


@dataclass(frozen=True, slots=True)
class SeenLateBet:
    """A stake that was changed, with the rests that show it before and after."""

    wager: str
    late: LateBet
    before: Episode
    after: Episode


@dataclass(frozen=True, slots=True)
class StakeRest:
    """A stake by one state of rest: cents (0: no chips), None where its readings differ, and
    how many of these are confident; 0 where too few are."""

    episode: Episode
    cents: int | None
    sure: int
    boxes: tuple[Box, ...] = ()


def closed_s(own: Round) -> float | None:
    """By when bets were closed: cards had been dealt to two places, the dealer's included."""
    dealt = []
    for track in own.tracks.values():
        first = next((e for e in track.episodes if _dealt(e)), None)
        if first is not None:
            dealt.append(first.readings[0].at_s)
    return sorted(dealt)[1] if len(dealt) > 1 else None


def _dealt(episode: Episode) -> bool:
    with_cards = sum(r.backs > 0 for r in episode.readings)
    return with_cards * 2 > len(episode.readings) or episode.cards_up >= FACE_UP_CARDS


def late_bets(
    episodes: Sequence[Episode], spots: Mapping[str, Polygon], close_s: float, bare: bytes
) -> list[SeenLateBet]:
    """The late bets of one seat.

    `episodes` are its states of rest up to the first that shows the hand turned up: later
    ones may have pays beside the stakes. `bare` is an image of its felt with nothing on it,
    if there is one.
    """
    observations = (
        _late([stake_rest(e, name, spot) for e in episodes], name, close_s, bare)
        for name, spot in spots.items()
    )
    return [observation for observation in observations if observation is not None]


def _late(rests: Sequence[StakeRest], name: str, close_s: float, bare: bytes) -> SeenLateBet | None:
    known = _with_alike(rests)
    first = next((k for k, r in enumerate(known) if r.episode.until_s > close_s), None)
    if first is None:
        return None
    was, now = known[first].cents, known[-1].cents
    if was is None or not now or was == now:
        return None
    at = next(k for k in range(first, len(known)) if known[k].cents != was)
    before = [r for r in known[:at] if r.cents == was]
    after = known[at:]
    if any(r.cents != now for r in after) or _contradicted(rests, after[0], was, name):
        return None
    sure = min(sum(r.sure for r in own) for own in (before, after))
    if sure < SURE_READINGS or len(after) < LEAST_AFTER:
        return None
    if not _looks_changed(before[-1], after[0], bare if not was else None):
        return None
    late = LateBet(
        before_cents=was, after_cents=now,
        before_s=f"{before[-1].episode.until_s:.3f}",
        after_s=f"{after[0].episode.readings[0].at_s:.3f}",
    )  # fmt: skip
    return SeenLateBet(name, late, before[-1].episode, after[0].episode)


def stake_rest(episode: Episode, name: str, spot: Polygon) -> StakeRest:
    """A stake by a state of rest: only what all of its readings agree on with confidence."""
    readings = episode.readings
    here = [r.stakes[name] for r in readings if name in r.stakes]
    beside = any(name in r.pays for r in readings)
    if not here:
        near = any(
            math.dist(s.center_mm, spot.center_mm) < NEAR_MM for r in readings for s in r.strays
        )
        return StakeRest(episode, None if beside or near else 0, len(readings))
    boxes = tuple(stack.box_mm for stacks in here for stack in stacks)
    values = {sum(stack.value_cents for stack in stacks) for stacks in here}
    sure = sum(certain_cents(stacks) is not None for stacks in here)
    agreed = len(here) == len(readings) and len(values) == 1 and not beside
    if not agreed:
        return StakeRest(episode, None, 0, boxes)
    is_known = sure >= min(SURE_READINGS, len(readings))
    return StakeRest(episode, values.pop(), sure if is_known else 0, boxes)


def _with_alike(rests: Sequence[StakeRest]) -> list[StakeRest]:
    """The rests with a known stake: read with confidence, or as an adjacent, similar rest."""
    known: list[StakeRest] = []
    for k, rest in enumerate(rests):
        if rest.cents is None:
            continue
        near = (*known[-1:], *(r for r in rests[k + 1 : k + 2] if r.sure))
        alike = (_apart(rest, r) <= SAME_SHARE for r in near if r.cents == rest.cents)
        if rest.sure or any(alike):
            known.append(rest)
    return known


def _contradicted(rests: Sequence[StakeRest], after: StakeRest, was: int, name: str) -> bool:
    """Whether a confident reading shows the stake from before after it was changed."""
    at = next(k for k, rest in enumerate(rests) if rest is after)
    seen = [r.stakes.get(name, ()) for rest in rests[at:] for r in rest.episode.readings]
    return any(certain_cents(stacks) == was for stacks in seen if stacks or not was)


def _looks_changed(before: StakeRest, after: StakeRest, bare: bytes | None) -> bool:
    """Whether the image changed where the stake stands; from `bare` felt, if given."""
    if not CHANGED_SHARE <= _apart(before, after) <= 1:
        return False
    if bare is None:
        return True
    felt, one = as_picture(bare), as_picture(before.episode.picture)
    if felt is None or one is None:
        return False
    return different_share(felt, one, after.boxes) <= SAME_SHARE


def _apart(one: StakeRest, other: StakeRest) -> float:
    """Share of the stake's area that differs; infinite where an image is missing."""
    a, b = as_picture(one.episode.picture), as_picture(other.episode.picture)
    if a is None or b is None:
        return math.inf
    return different_share(a, b, (*one.boxes, *other.boxes))
