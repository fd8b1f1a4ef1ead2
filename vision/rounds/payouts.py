"""What the dealer did with a wager: its payout as it lies at last, and when it came there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from settlement.record import Action, Payment
from settlement.ruling import money
from vision.chips.network_input.side_strip import ChipSize
from vision.chips.reading import ReadStack
from vision.chips.silhouette import hides_behind
from vision.chips.states import SURE_SUM, PlaceSum, honest, place_sum, same_sums
from vision.chips.states import stands as stands_at
from vision.geometry.calibration import Calibration
from vision.geometry.table import TableFile
from vision.rounds.felt.behind_stake import is_bare_behind
from vision.rounds.region_change import (
    CHANGED_SHARE,
    as_picture,
    different_share,
    least_change,
)
from vision.rounds.round_state import Episode

SAME_STATE = 0.1
"""Two rests whose payouts are less likely to be the same sum are two states of it.

Fourteen tune shifts (9101 to 9104, 9301 to 9308, two of 2026-11-23): 13 of 14 payouts that were
corrected (0.02: 12), 14 of 250 that stayed, most of them with uncertain readings.
"""

STAYED_ODDS = 0.1
"""How often a payout whose image changed stayed as it was, for each that was corrected.

Of 54 tune shifts (230 rounds; "feltwatch tune games" and "ways", "feltwatch judge 2026-11-26" and
"b", "c", "ways") none of 386 pairs of rests of payouts that stayed differs by `CHANGED_SHARE`, nine
of nine that were corrected do.
"""

UNREAD = "chips lie there that could not be read"
PARTLY = "its payout lies there still, but is not all seen"

NOTHING = PlaceSum(((0, 1.0),), None)


def why_not(sum_: PlaceSum) -> str:
    """Why a sum is undecided, in words: the likeliest sums, without those that round to 0%."""
    likely = [one for one in sum_.sums[:3] if one[1] >= 0.005] or sum_.sums[:1]
    sums = ", ".join(f"{money(cents, short=True)} ({share:.0%})" for cents, share in likely)
    return f"the chips may come to {sums}" if sums else "the chips could not be read"


@dataclass(frozen=True, slots=True)
class Late:
    """A payout that came or was corrected after the cards were taken: when those were gone, the
    payments, and what a corrected payout may have been before, with probabilities."""

    gone_s: float
    payments: tuple[Payment, ...]
    in_time: tuple[tuple[int, float], ...] | None = None


Hidden = Callable[[str, Episode], bool]
"""Whether the stake of a wager may hide a payout behind it from the first camera, at a rest."""

Hides = Callable[[int, Sequence[Episode], str, Episode], bool]
"""The same of a seat, with its rests before its hand was turned up."""


def hides_payout(table: TableFile) -> Hides | None:
    """Says of a seat, its rests before its hand was turned up, a wager and a rest whether the stake
    is so high that a payout may lie behind it.

    It may not where the felt about the stake looks as it did before: nothing could be paid then.
    A further camera may find a payout there. That its detector finds none says nothing: of five
    shifts with two cameras ("feltwatch judge 2026-11-26 ways" 20 to 24) it missed three that it had
    in view. In most of its images each place there must look as before the hand was turned up.
    """
    if table.camera is None:
        return None
    first = Calibration.fit(table.camera)
    size = ChipSize(table.chip_diameter_mm, table.chip_thickness_mm)

    def hides(seat: int, before: Sequence[Episode], name: str, rest: Episode) -> bool:
        shown = [name in reading.bare for reading in rest.readings if reading.beside]
        if sum(shown) * 2 > len(shown):
            return False
        stakes = [reading.stakes[name] for reading in rest.readings if name in reading.stakes]
        if not any(
            hides_behind(first, np.array(stack.center_mm), len(stack.colours), size)
            for stacks in stakes
            for stack in stacks
        ):
            return False
        seen = as_picture(rest.picture)
        alone = [
            e for e in before
            if any(name in r.stakes for r in e.readings)
            and not any(name in r.pays for r in e.readings)
        ]  # fmt: skip
        as_before = as_picture(alone[-1].picture) if alone else None
        if seen is None or as_before is None:
            return True
        stake = stakes[-1]
        about = (*rest.readings[-1].stacks, *alone[-1].readings[-1].stacks)
        own = (*stake, *rest.readings[-1].pays.get(name, ()))
        others = [s for s in about if not stands_at(s.center_mm, own)]
        place = table.seat(seat).place
        return not is_bare_behind(stake, others, seen, as_before, place, first, size)

    return hides


def least_cents(table: TableFile, name: str, last: Episode) -> int | None:
    """The smallest chip of a payout as it lies at last."""
    colours = {c for r in last.readings for stack in r.pays.get(name, ()) for c in stack.colours}
    return min((table.chips[colour].value_cents for colour in colours), default=None)


def done(
    name: str, last: Episode, after: Sequence[Episode], doubt: Callable[[str, str], None],
    hidden: Hidden | None,
) -> tuple[Action | None, PlaceSum]:  # fmt: skip
    """Action and sum of the payout of one wager; `hidden` says whether its stake hides a payout."""
    total = len(last.readings)
    stake_there = any(name in r.stakes for r in last.readings)
    pay_there = sum(name in r.pays for r in last.readings)
    unread = has_unread(name, last)
    if pay_there * 2 > total:
        paid = honest(last_state(name, after))
        if unread:
            paid = PlaceSum((), paid.height, paid.cameras)
        if paid.cents is None:
            doubt(f"{name}.paid", why_not(paid))
        return "paid", paid
    if unread:
        doubt(f"{name}.action", UNREAD)
        return None, PlaceSum((), None)
    if stands(name, last) and _lies_still(name, last, after):
        doubt(f"{name}.paid", PARTLY)
        return "paid", PlaceSum((), None)
    if stands(name, last):
        if hidden is not None and hidden(name, last):
            doubt(f"{name}.action", "the stake's stack hides what may lie behind it")
            return None, PlaceSum((), None)
        return "left", NOTHING
    if stake_there or pay_there:
        doubt(f"{name}.action", "chips were seen in some views only")
        return None, PlaceSum((), None)
    return "taken", NOTHING


def _lies_still(name: str, last: Episode, after: Sequence[Episode]) -> bool:
    """Whether chips of no wager lie at last where a rest before showed the payout of this one."""
    laid = [
        stack
        for rest in after
        if sum(name in r.pays for r in rest.readings) * 2 > len(rest.readings)
        for reading in rest.readings
        for stack in reading.pays.get(name, ())
    ]
    there = sum(any(stands_at(s.center_mm, laid) for s in r.strays) for r in last.readings)
    return there * 2 > len(last.readings)


def hides_more(
    name: str, last: Episode, action: Action | None, hidden: Hidden | None
) -> bool | None:
    """True where more of a payout may lie behind the stake, by `hidden`; else None."""
    if action != "paid" or hidden is None:
        return None
    return hidden(name, last) or None


def lies_by_another(prizes: Sequence[Sequence[ReadStack]], after: Sequence[Episode]) -> bool:
    """Whether a stack that is taken for an envy prize in some readings is a wager's payout in
    others: the second stack of a payout may lie beside the lammer."""
    others = [
        stack for rest in after for reading in rest.readings
        for name, stacks in reading.pays.items() if name != "envy" for stack in stacks
    ]  # fmt: skip
    return any(stands_at(stack.center_mm, others) for own in prizes for stack in own)


def stands(name: str, last: Episode) -> bool:
    """Whether the stake of a wager lay there to the end, in most views."""
    return sum(name in r.stakes for r in last.readings) * 2 > len(last.readings)


def stands_alone(name: str, last: Episode) -> bool:
    """The same, where no chips that could not be read, which may be its payout, lie beside it."""
    return stands(name, last) and not has_unread(name, last)


def has_unread(name: str, last: Episode) -> bool:
    """Whether chips that could not be read lie by the spot of a wager in most views."""
    return sum(name in r.unread for r in last.readings) * 2 > len(last.readings)


def last_state(name: str, episodes: Sequence[Episode]) -> PlaceSum:
    """The payout as it lies at last: rests before a correction are another state of it."""
    frames: list[tuple[ReadStack, ...]] = []
    now = PlaceSum((), None)
    later: Episode | None = None
    for episode in reversed(episodes):
        own = [r.pays[name] for r in episode.readings if name in r.pays]
        if not own:
            if frames:
                break
            continue
        if later is not None and _is_other(name, episode, later, own, now):
            break
        frames += own
        now, later = place_sum(frames), episode
    return now


def _is_other(
    name: str, one: Episode, later: Episode | None, own: Sequence[Sequence[ReadStack]],
    state: PlaceSum,
) -> bool:  # fmt: skip
    """Whether a rest whose payout reads `own` shows another state of it than `later` ones do.

    Where the sums leave it open the image decides: chips that were put on top, or moved.
    """
    alike = same_sums(place_sum(own), state)
    if alike < SAME_STATE or alike >= SURE_SUM or later is None:
        return alike < SAME_STATE
    return _changed(name, one, later)


def dated(name: str, after: Sequence[Episode], paid: PlaceSum) -> Late | None:
    """When the cards were gone, and the payments, where one came or was corrected after that.

    Only where a moment of rest shows the stake without cards and with another payout, or none,
    than lies there at last; the image of another one must differ. `paid` is the payout at last.
    Payments have the likeliest sums.
    """
    if not paid.sums:
        return None
    cents = paid.sums[0][0]
    first = next((k for k, e in enumerate(after) if any(name in r.pays for r in e.readings)), 0)
    gone_s = _without_cards(name, after, first)
    if gone_s is not None:
        return Late(gone_s, (Payment(at_s=f"{after[first].start_s:.3f}", cents=cents),))
    begins = _begins(name, after, len(after), paid)
    gone_s = _without_cards(name, after, begins)
    former = honest(last_state(name, after[:begins]))
    least = least_change(same_sums(former, paid))
    if (
        gone_s is None
        or not former.sums
        or not _changed(name, after[begins - 1], after[begins], least)
    ):
        return None
    shares = dict(paid.sums)
    other = {c: p * (1 - (1 - STAYED_ODDS) * shares.get(c, 0.0)) for c, p in former.sums}
    whole = sum(other.values())
    was = max(other, key=lambda sum_: other[sum_])
    if was == cents:
        return None
    laid_s = after[_begins(name, after, begins, former)].start_s
    payments = (
        Payment(at_s=f"{laid_s:.3f}", cents=was),
        Payment(at_s=f"{after[begins].start_s:.3f}", cents=cents - was),
    )
    sums = sorted(((c, p / whole) for c, p in other.items()), key=lambda one: -one[1])
    return Late(gone_s, payments, tuple(sums))


def former_sums(
    name: str, after: Sequence[Episode], paid: PlaceSum
) -> tuple[tuple[int, float], ...] | None:
    """What a payout may have been before it was changed to what lies there at last, `paid`.

    Only where the image differs as well; None where it was not seen otherwise.
    """
    begins = _begins(name, after, len(after), paid) if paid.sums else 0
    former = honest(last_state(name, after[:begins]))
    least = least_change(same_sums(former, paid))
    if not former.sums or not _changed(name, after[begins - 1], after[begins], least):
        return None
    return former.sums


def _changed(name: str, one: Episode, other: Episode, least: float = CHANGED_SHARE) -> bool:
    """Whether so much of the images of two rests differs where a wager's payout lies."""
    a, b = as_picture(one.picture), as_picture(other.picture)
    if a is None or b is None:
        return False
    boxes = [s.box_mm for e in (one, other) for r in e.readings for s in r.pays.get(name, ())]
    return different_share(a, b, boxes) >= least


def _without_cards(name: str, after: Sequence[Episode], at: int) -> float | None:
    """Since when the cards were gone in the rest before episode `at`, the stake still there.

    One reading is enough: on fourteen tune shifts none of 424 payouts in time was dated so.
    """
    if not at:
        return None
    before = after[at - 1]
    if not all(name in r.stakes for r in before.readings):
        return None
    if any(episode.cards_up or episode.backs for episode in after[at - 1 :]):
        return None
    return before.start_s


def _begins(name: str, after: Sequence[Episode], end: int, state: PlaceSum) -> int:
    """The episode in which a payout first lay as it lies up to episode `end`; 0 for the first."""
    begins = end
    for k in reversed(range(end)):
        own = [r.pays[name] for r in after[k].readings if name in r.pays]
        if not own:
            if begins < end:
                break
            continue
        if _is_other(name, after[k], after[begins] if begins < end else None, own, state):
            break
        begins = k
    return begins if begins < end else 0
