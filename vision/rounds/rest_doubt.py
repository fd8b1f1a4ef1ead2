"""Whether a view at rest is read again: only where its readings leave something in doubt.

Reading is most of an audit's work, and a rest read with confidence reads the same again. Checks
that ask for two readings of a rest (stakes lifted, hands taken up, looked at or turned up too
early) get them: a rest that may break a rule of the procedure is read again too.
"""

from __future__ import annotations

from collections.abc import Sequence

from settlement.procedures import Phase, Procedure
from vision.cards.deck_assignment import HAND_CARDS, SURE
from vision.cards.view import CardRead, join_cards
from vision.chips.states import place_sum, same_sums, stands
from vision.rounds.payouts import SAME_STATE
from vision.rounds.procedure.house_place import HOUSE
from vision.rounds.procedure.place_states import PlaceStates
from vision.rounds.procedure.seat_steps import seat_steps
from vision.rounds.tracker import Episode, RoundTracker
from vision.rounds.view_reader import ViewReading

CLOSED = frozenset({Phase.DEALT, Phase.DRAWING, Phase.HANDS_SET})
"""Cards lie, and the dealer's hand is not turned up yet."""

DEAL = CLOSED | {Phase.DEALER_SET, Phase.SETTLING}
"""From the deal on; then stakes stay as they are until their seat's hand is turned up."""


class RestDoubt:
    """Asks of each reading, before the tracker takes it, whether the rest is to be read again."""

    def __init__(
        self, tracker: RoundTracker, procedure: Procedure | None, states: PlaceStates
    ) -> None:
        self._tracker = tracker
        self._procedure = procedure
        self._states = states

    def remains(self, seat: int | None, reading: ViewReading, *, fresh: bool) -> bool:
        """Whether something is in doubt after a reading; `fresh`: the first one of its rest."""
        if seat == HOUSE:
            return bool(reading.stacks)
        rest = None if fresh else self._tracker.latest.get(seat)
        cards = join_cards(reading.indices)
        if cards and not self._are_sure(seat, cards):
            return True
        if _has_open_payout((*(rest.readings if rest else ()), reading)):
            return True
        phase = self._tracker.phase
        if seat is None:
            return phase in CLOSED and not cards
        before = self._before(seat, rest)
        if before and _has_new_strays(before[-1], reading):
            return True
        if phase not in DEAL or any(e.cards_up >= HAND_CARDS for e in before):
            return False
        if cards:
            return phase in CLOSED
        return bool(before) and (
            _changes_stakes(before[-1], reading) or self._may_break_a_rule(seat, before, reading)
        )

    def _before(self, seat: int, rest: Episode | None) -> list[Episode]:
        """The running round's rests of a seat before this one."""
        own = self._tracker.round
        episodes = () if own is None else own.tracks[seat].episodes
        return [e for e in episodes if e is not rest and e.readings]

    def _are_sure(self, seat: int | None, cards: Sequence[CardRead]) -> bool:
        """Whether cards are a whole hand, each certainly one that lies nowhere else."""
        labels = {card.label for card in cards}
        return (
            len(cards) == len(labels) == HAND_CARDS
            and min(card.share for card in cards) >= SURE
            and not any(labels & _labels(e) for s, e in self._tracker.latest.items() if s != seat)
        )

    def _may_break_a_rule(self, seat: int, before: Sequence[Episode], reading: ViewReading) -> bool:
        """Whether a reading shows a step that the procedure forbids after the seat's others."""
        if self._procedure is None:
            return False
        rests = (*before, Episode(reading.at_s, [reading]))
        steps = [step.name for step in seat_steps(self._procedure, seat, rests, self._states)]
        rules = [rule for rule in self._procedure.forbidden if rule.step is not None]
        return bool(steps) and any(rule.applies(steps[-1], steps[:-1]) for rule in rules)


def _has_open_payout(readings: Sequence[ViewReading]) -> bool:
    """Whether a payout of the last of a rest's readings is not sure after all of them."""
    return any(
        place_sum([r.pays[name] for r in readings if name in r.pays]).cents is None
        for name in readings[-1].pays
    )


def _has_new_strays(before: Episode, reading: ViewReading) -> bool:
    """Whether a stack of no wager is where there was none at the rest before."""
    old = before.readings[-1].strays
    return not all(stands(stack.center_mm, old) for stack in reading.strays)


def _changes_stakes(before: Episode, reading: ViewReading) -> bool:
    """Whether a stake of the rest before is gone, is new, or hardly comes to the same."""
    old = before.readings[-1].stakes
    if old.keys() != reading.stakes.keys():
        return True
    return any(
        same_sums(place_sum([old[name]]), place_sum([stacks])) < SAME_STATE
        for name, stacks in reading.stakes.items()
    )


def _labels(rest: Episode) -> set[str]:
    return (
        {card.label for card in join_cards(rest.readings[-1].indices)} if rest.readings else set()
    )
