"""What the procedure forbids about hands: taken up, looked at, set, turned up or given away in part
at a wrong time.

A wrong alert costs more than a missed one: a seat's box counts as bare only where at least two
readings of a rest find no card in it and the image there is as it was before the deal; a
hand counts as turned up early only where the dealer's place was seen at rest without a hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from settlement.procedures import Forbidden, Procedure
from vision.chips.boxes import Box
from vision.geometry.table import Polygon, SeatPlace
from vision.rounds.procedure.place_states import PlaceStates
from vision.rounds.procedure.seat_steps import SeenBreach, SeenPhase, SeenStep
from vision.rounds.region_change import as_picture, different_share, without_shake
from vision.rounds.round_state import Episode, Round

_DISCARDS = ("second_discard", "discard_late")

SURE_READINGS = 2
"""Least readings of a rest that must show no card at the seat."""

SAME_SHARE = 0.05
"""Largest share of the boxes' image that differs where nothing lies in them."""

OVERLAP_S = 1.0
"""A seat without its cards so long after the phase began was so in that phase."""


def breaches(
    procedure: Procedure,
    phases: Sequence[SeenPhase],
    steps: Sequence[SeenStep],
    place: SeatPlace,
    own: Round,
    states: PlaceStates,
) -> Iterator[SeenBreach]:
    """What the procedure forbids about a hand, of one seat's `steps`, each rule once."""
    shown = next((k for k, step in enumerate(steps) if step.name == "shown"), len(steps))
    if not any(step.name in ("set", "shown") for step in steps):
        # A seat that left its bets, or took them back, sets no hand.
        return
    seat = _Seat(place, own, states, steps)
    for rule in procedure.forbidden:
        if rule.step is None:
            continue
        if rule.breach in _DISCARDS:
            found = seat.discarded(steps[:shown], rule)
        elif rule.step == "shown":
            found = seat.shown_early(steps, rule)
        else:
            since = next((p.since_s for p in phases if p.phase is rule.since), None)
            found = None if since is None else seat.first(steps[:shown], rule, since)
        if found is not None:
            yield found


@dataclass(frozen=True, slots=True)
class _Seat:
    place: SeatPlace
    own: Round
    states: PlaceStates
    all_steps: Sequence[SeenStep]

    def first(
        self, steps: Sequence[SeenStep], rule: Forbidden, since_s: float
    ) -> SeenBreach | None:
        """The first of the steps before the hand is shown that breaks a rule."""
        late = self._set_late(steps, rule, since_s)
        if late is not None:
            return late
        for k, step in enumerate(steps):
            before = [one.name for one in steps[:k]]
            if not before or not rule.applies(step.name, before):
                continue
            rest = next((r for r in step.rests if r.until_s > since_s + OVERLAP_S), None)
            if rest is None or not self._is_without(rest, rule):
                continue
            if not any(s.name in ("set", "shown") for s in self.all_steps[k:]):
                continue
            return SeenBreach(self.place.seat, rule, steps[k - 1].rests[-1], rest)
        return None

    def _set_late(
        self, steps: Sequence[SeenStep], rule: Forbidden, since_s: float
    ) -> SeenBreach | None:
        """A hand that was set late although its packet was never seen: taken up at once."""
        if [step.name for step in steps[:2]] != ["bets", "set"] or not rule.applies("in_hand", ()):
            return None
        bets, hand = steps[0].rests, steps[1].rests
        if bets[-1].until_s <= since_s + OVERLAP_S or not self._is_without(bets[-1], rule):
            return None
        return SeenBreach(self.place.seat, rule, bets[-1], hand[0])

    def discarded(self, steps: Sequence[SeenStep], rule: Forbidden) -> SeenBreach | None:
        """The first step that breaks a rule of discards; it is taken only where that is certain."""
        for k, step in enumerate(steps):
            if rule.applies(step.name, {one.name for one in steps[:k]}):
                before = steps[k - 1].rests[-1] if k else None
                return SeenBreach(self.place.seat, rule, before, step.rests[0])
        return None

    def shown_early(self, steps: Sequence[SeenStep], rule: Forbidden) -> SeenBreach | None:
        """The hand turned up while the dealer's place was seen at rest, and showed none."""
        step = next((s for s in steps if rule.applies(s.name, ())), None)
        rests = () if step is None else step.rests
        # A rest of one reading says too little; the hand lies on.
        at = next((k for k, r in enumerate(rests) if len(r.readings) >= SURE_READINGS), None)
        if at is None or any(r.gap is not None for r in rests[: at + 1]):
            return None
        rest = rests[at]
        since_s = rest.readings[0].at_s
        for dealer in self.own.tracks[None].episodes:
            if any(r.indices for r in dealer.readings):
                return None
            if len(dealer.readings) < SURE_READINGS:
                continue
            begun_s, until_s = since_s, dealer.until_s
            if dealer.start_s > since_s:
                # Backs show that nothing hid the place, and the hand must lie on meanwhile.
                if not all(r.backs for r in dealer.readings):
                    continue
                begun_s, until_s = dealer.start_s, min(until_s, rests[-1].until_s)
            if until_s - begun_s > OVERLAP_S:
                return SeenBreach(self.place.seat, rule, self.all_steps[0].rests[0], rest)
        return None

    def _is_without(self, rest: Episode, rule: Forbidden) -> bool:
        """Whether a rest certainly shows no card in the boxes; for a peek, in one of them."""
        if len(rest.readings) < SURE_READINGS or any(r.indices for r in rest.readings):
            return False
        boxes = (self.place.low, self.place.high)
        if rule.step != "looked_at":
            return not rest.backs and self._are_bare(rest, boxes)
        return any(
            not self._backs_in(rest, bare)
            and self._backs_in(rest, other) == len(rest.readings)
            and self._are_bare(rest, (bare,))
            for bare, other in (boxes, boxes[::-1])
        )

    def _backs_in(self, rest: Episode, box: Polygon) -> int:
        return self.states.backs_in(self.place.seat, rest, box)

    def _are_bare(self, rest: Episode, boxes: Sequence[Polygon]) -> bool:
        """Whether the image of the boxes is as it was before any card lay there."""
        first = self.all_steps[0]
        kept = self.own.tracks[self.place.seat].bare
        bare = first.rests[-1].picture if first.name == "bets" else kept
        now, then = as_picture(rest.picture), as_picture(bare)
        if now is None or then is None or now.shape != then.shape:
            return False
        extents = [_extent(self.place, box) for box in boxes]
        # Print differs along its lines where the camera shook.
        return (
            different_share(then, now, extents) <= SAME_SHARE
            or different_share(then, without_shake(then, now), extents) <= SAME_SHARE
        )


def _extent(place: SeatPlace, box: Polygon) -> Box:
    """The rectangle about a box in the view's frame, mm."""
    local = place.place.to_local(box.array)
    (u0, v0), (u1, v1) = local.min(axis=0).tolist(), local.max(axis=0).tolist()
    return (u0, v0, u1, v1)
