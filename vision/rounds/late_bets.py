"""Stakes that were changed after bets were closed.

A wrong alert costs more than a missed one: the image must have changed where the stake stands, or
a misreading would be taken for a change. What a stake was is taken from rests whose readings all
agree and are confident, both before and after. Where they are not, the two sums must be unlike:
how much it was need not be known to know that it was changed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from settlement.record import LateBet
from vision.chips.boxes import Box
from vision.chips.reading import ReadStack
from vision.chips.states import PlaceSum, certain_cents, place_sum, same_sums
from vision.geometry.table import Polygon
from vision.rounds.region_change import (
    CHANGED_SHARE,
    SAME_SHARE,
    as_picture,
    different_share,
    least_change,
)
from vision.rounds.round_state import FACE_UP_CARDS, Episode, Round

SURE_READINGS = 2
"""Least confident readings of a stake, in one rest or in several alike."""

LEAST_AFTER = 2
"""Least rests that must show the changed stake: the one with the hand turned up may be one."""

DEAL_S = 5.0
"""Most time between the first two packets of a deal. On the thirty rounds of "feltwatch tune games"
0 to 4 it was 0.2 to 1.8 s in 29; in one the second place was seen after 8.4 s."""

UNLIKE, OTHER_WAY = 0.01, 0.1
"""Most probability that a stake that was changed came to the same sum before and after, and that it
changed the other way. Of the five of "feltwatch tune games" 0 and 1, "feltwatch judge 2026-11-26"
2 and "c" 2 whose sums are not sure the first is under 0.008, the second under 0.08."""

CLEAR_CHANGE, UNLIKE_CLEAR = 0.2, 0.03
"""The most of that probability where so much of the image changed.

In eleven tune shifts ("feltwatch judge 2026-11-29 l ways" 0 to 14, 22 and 23) stakes that stayed as
they were changed by 0.16 at most, the two that were changed by 0.35; one of these, a chip of 19
taken, has 0.02.
"""

NEAR_MM = 75.0
"""A stack of no owner this near to a spot may be its stake."""


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
    how many of these are confident; 0 where too few are. `frames` are its stacks by each reading,
    None where some readings show chips and others none, or where a pay may lie there. `until_s` is
    when the spot was seen last to look so, the view in motion or not."""

    episode: Episode
    until_s: float
    cents: int | None
    sure: int
    boxes: tuple[Box, ...] = ()
    frames: tuple[tuple[ReadStack, ...], ...] | None = None


def closed_s(own: Round) -> float | None:
    """By when bets were closed: cards had been dealt to a place, the dealer's included.

    One place alone may be misread: a second must have been dealt to soon after, or the dealer's
    hand turned up.
    """
    dealt = []
    for track in own.tracks.values():
        first = next((e for e in track.episodes if e.dealt), None)
        if first is not None:
            dealt.append(first.readings[0].at_s)
    shown = next((e for e in own.tracks[None].episodes if e.cards_up >= FACE_UP_CARDS), None)
    if shown is not None:
        dealt.append(shown.readings[0].at_s)
    dealt.sort()
    if len(dealt) < 2:
        return None
    return dealt[0] if dealt[1] - dealt[0] <= DEAL_S else dealt[1]


def late_bets(
    episodes: Sequence[Episode], spots: Mapping[str, Polygon], close_s: float, bare: bytes
) -> list[SeenLateBet]:
    """The late bets of one seat.

    `episodes` are its states of rest up to the first that shows the hand turned up: later
    ones may have pays beside the stakes. `bare` is an image of its felt with nothing on it,
    if there is one.
    """
    found = []
    for name, spot in spots.items():
        rests = stake_rests(episodes, name, spot)
        own = _late(rests, name, close_s, bare) or _unlike(rests, name, close_s, bare)
        if own is not None:
            found.append(own)
    return found


def _late(rests: Sequence[StakeRest], name: str, close_s: float, bare: bytes) -> SeenLateBet | None:
    known = _with_alike(rests)
    first = next((k for k, r in enumerate(known) if r.until_s >= close_s), None)
    if first is None:
        return None
    was, now = known[first].cents, known[-1].cents
    if was is None or not now or was == now:
        return None
    earlier = (r for r in rests if r.episode.start_s < known[first].episode.start_s)
    if not was and any(r.boxes and (not r.sure or r.cents == now) for r in earlier):
        # It lay there before the close, or may have: lifted and laid again.
        return None
    at = next(k for k in range(first, len(known)) if known[k].cents != was)
    before = [r for r in known[:at] if r.cents == was]
    after = known[at:]
    if any(r.cents != now for r in after) or _contradicted(rests, after[0], was, name):
        return None
    sure = min(sum(r.sure for r in own) for own in (before, after))
    if sure < SURE_READINGS or len(after) < LEAST_AFTER:
        return None
    least = least_change(same_sums(_sum(*before), _sum(*after)))
    if not _looks_changed(before[-1], after[0], bare if not was else None, least):
        return None
    return _seen(name, was, now, before[-1], after[0].episode)


def _unlike(
    rests: Sequence[StakeRest], name: str, close_s: float, bare: bytes
) -> SeenLateBet | None:
    """A stake whose sums before and after are not sure, but are not the same."""
    since = [r for r in rests if r.until_s >= close_s]
    earlier = [r for r in rests if r.until_s < close_s and r.boxes]
    if any(rest.frames is None for rest in since) or (earlier and since and not since[0].boxes):
        return None
    sums = [_sum(rest) for rest in since]
    for at in range(1, len(since) - LEAST_AFTER + 1):
        before, after = _sum(*since[:at]), _sum(*since[at:])
        if not before.sums or not after.sums:
            continue
        was, now = before.sums[0][0], after.sums[0][0]
        larger = sum(p * q for b, p in before.sums for a, q in after.sums if a > b)
        other_way = min(larger, 1 - larger)
        one, other = since[at - 1], since[at]
        alike = same_sums(before, after)
        if not now or other_way > OTHER_WAY or alike > UNLIKE_CLEAR:
            continue
        least = CHANGED_SHARE if alike <= UNLIKE else CLEAR_CHANGE
        if (
            all(same_sums(own, before) > UNLIKE for own in sums[:at])
            and all(same_sums(own, after) > UNLIKE for own in sums[at:])
            and _looks_changed(one, other, bare if not was else None, least)
        ):
            return _seen(name, was, now, one, other.episode)
    return None


def _sum(*rests: StakeRest) -> PlaceSum:
    """What a stake comes to by rests that show it alike; 0 for sure where none shows chips, and
    nothing where no stack is in enough of them."""
    frames = [stacks for rest in rests for stacks in rest.frames or ()]
    return place_sum(frames) if any(frames) else PlaceSum(((0, 1.0),), None)


def _seen(name: str, was: int, now: int, before: StakeRest, after: Episode) -> SeenLateBet:
    late = LateBet(
        before_cents=was, after_cents=now, before_s=f"{before.until_s:.3f}",
        after_s=f"{after.readings[0].at_s:.3f}",
    )  # fmt: skip
    return SeenLateBet(name, late, before.episode, after)


def stake_rests(episodes: Sequence[Episode], name: str, spot: Polygon) -> list[StakeRest]:
    """A stake by states of rest that follow each other."""
    last = [next_.lay_until.get(name) if next_.gap is None else None for next_ in episodes[1:]]
    return [
        _stake_rest(own, name, spot, max(own.until_s, seen or 0.0))
        for own, seen in zip(episodes, [*last, None], strict=True)
    ]


def _stake_rest(episode: Episode, name: str, spot: Polygon, until_s: float) -> StakeRest:
    """A stake by a state of rest: only what all of its readings agree on with confidence."""
    readings = episode.readings
    here = [r.stakes[name] for r in readings if name in r.stakes]
    beside = any(name in r.pays for r in readings)
    if not here:
        near = any(
            math.dist(s.center_mm, spot.center_mm) < NEAR_MM for r in readings for s in r.strays
        )
        if beside or near:
            return StakeRest(episode, until_s, None, len(readings))
        return StakeRest(episode, until_s, 0, len(readings), frames=((),) * len(readings))
    boxes = tuple(stack.box_mm for stacks in here for stack in stacks)
    values = {sum(stack.value_cents for stack in stacks) for stacks in here}
    sure = sum(certain_cents(stacks) is not None for stacks in here)
    frames = tuple(here) if len(here) == len(readings) and not beside else None
    if frames is None or len(values) > 1:
        return StakeRest(episode, until_s, None, 0, boxes, frames)
    is_known = sure >= min(SURE_READINGS, len(readings))
    return StakeRest(episode, until_s, values.pop(), sure if is_known else 0, boxes, frames)


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


def _looks_changed(
    before: StakeRest, after: StakeRest, bare: bytes | None, least: float = CHANGED_SHARE
) -> bool:
    """Whether so much of the image changed where the stake stands; from `bare` felt, if given."""
    if not least <= _apart(before, after) <= 1:
        return False
    if bare is None:
        return True
    felt, one = as_picture(bare), as_picture(before.episode.picture)
    if felt is None or one is None:
        return False
    return different_share(felt, one, after.boxes) < CHANGED_SHARE


def _apart(one: StakeRest, other: StakeRest) -> float:
    """Share of the stake's area that differs; infinite where an image is missing."""
    a, b = as_picture(one.episode.picture), as_picture(other.episode.picture)
    if a is None or b is None:
        return math.inf
    return different_share(a, b, (*one.boxes, *other.boxes))
