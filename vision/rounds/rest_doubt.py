"""Whether a view at rest is read again: only where its readings leave something in doubt.

Reading is most of an audit's work, and a rest read with confidence reads the same again. Checks
that ask for two readings of a rest (stakes lifted, hands taken up, looked at or turned up too
early) get them: a rest that may break a rule of the procedure is read again too. So is a hand with
a joker, till two images show it: the next hand may hold a joker when this one is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from settlement.procedures import Phase, Procedure
from settlement.record import JOKER
from vision.cards.deck_assignment import HAND_CARDS, LEAST_AGAIN, SURE
from vision.cards.view import CardRead, join_cards
from vision.chips.states import place_sum, same_sums, stands
from vision.rounds.payouts import SAME_STATE
from vision.rounds.procedure.house_place import HOUSE
from vision.rounds.procedure.place_states import PlaceStates
from vision.rounds.procedure.seat_steps import seat_steps
from vision.rounds.round_state import Episode
from vision.rounds.tracker import RoundTracker
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
        self._sure: dict[int | None, _Sure] = {}

    def remains(self, seat: int | None, reading: ViewReading, *, fresh: bool) -> bool:
        """Whether something is in doubt after a reading; `fresh`: the first one of its rest."""
        if seat == HOUSE:
            return bool(reading.stacks)
        rest = None if fresh else self._tracker.latest.get(seat)
        cards = join_cards(reading.indices)
        if cards and not self._are_sure(seat, cards):
            return True
        if any(c.label == JOKER for c in cards) and self._images_of_cards(seat) + 1 < LEAST_AGAIN:
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

    def is_settled(self, seat: int | None) -> bool:
        """Whether nothing of a place's last rest may read otherwise in another image of it.

        Payouts, which are dated by their readings, stacks of no wager, what is not read or not
        surely, a card that lies elsewhere too and a hand of which there is one image only may.
        """
        own = self._known(seat)
        if own.labels and self._images_of_cards(seat) < LEAST_AGAIN:
            return False
        return own.is_sure and not any(
            own.labels & self._known(s).labels for s in self._tracker.latest if s != seat
        )

    def _images_of_cards(self, seat: int | None) -> int:
        """How many images of the running round showed cards at a place."""
        rests = [self._tracker.latest[seat]] if seat in self._tracker.latest else []
        if self._tracker.round is not None:
            rests += self._tracker.round.tracks[seat].episodes
        return len({id(r) for rest in rests for r in rest.readings if r.indices})

    def _known(self, seat: int | None) -> _Sure:
        """What the readings of a place's last rest are sure of; worked out once for them."""
        rest = self._tracker.latest.get(seat)
        if rest is None or not rest.readings:
            return _Sure(None, 0, frozenset(), False)
        last, count = rest.readings[-1], len(rest.readings)
        own = self._sure.get(seat)
        if own is None or own.reading is not last or own.count != count:
            own = self._sure[seat] = _Sure.of(rest.readings)
        return own

    def _before(self, seat: int, rest: Episode | None) -> list[Episode]:
        """The running round's rests of a seat before this one."""
        own = self._tracker.round
        episodes = () if own is None else own.tracks[seat].episodes
        return [e for e in episodes if e is not rest and e.readings]

    def _are_sure(self, seat: int | None, cards: Sequence[CardRead]) -> bool:
        """Whether cards are a whole hand, each certainly one that lies nowhere else."""
        labels = {card.label for card in cards}
        return _are_a_hand(cards) and not any(
            labels & self._shown(s) for s in self._tracker.latest if s != seat
        )

    def _shown(self, seat: int | None) -> set[str]:
        """The cards that a place showed last, in the running round if not now: a hand that was
        taken may have held a card that lies elsewhere now."""
        own = self._tracker.round
        before = () if own is None else own.tracks[seat].episodes
        rests = reversed([*before, self._tracker.latest[seat]])
        return next((labels for rest in rests if (labels := _labels(rest))), set())

    def _may_break_a_rule(self, seat: int, before: Sequence[Episode], reading: ViewReading) -> bool:
        """Whether a reading shows a step that the procedure forbids after the seat's others."""
        if self._procedure is None:
            return False
        rests = (*before, Episode(reading.at_s, [reading]))
        steps = [step.name for step in seat_steps(self._procedure, seat, rests, self._states)]
        rules = [rule for rule in self._procedure.forbidden if rule.step is not None]
        return bool(steps) and any(rule.applies(steps[-1], steps[:-1]) for rule in rules)


@dataclass(frozen=True, slots=True)
class _Sure:
    """The cards of a rest's `reading`, its last of `count`, and whether all is read surely."""

    reading: ViewReading | None
    count: int
    labels: frozenset[str]
    is_sure: bool

    @classmethod
    def of(cls, readings: Sequence[ViewReading]) -> _Sure:
        last = readings[-1]
        cards = join_cards(last.indices)
        is_sure = (
            not (last.pays or last.strays or last.unread)
            and (not cards or _are_a_hand(cards))
            and all(
                place_sum([r.stakes[name] for r in readings if name in r.stakes]).cents is not None
                for name in last.stakes
            )
        )
        return cls(last, len(readings), frozenset(card.label for card in cards), is_sure)


def _are_a_hand(cards: Sequence[CardRead]) -> bool:
    """Whether cards are a whole hand, each certainly read."""
    labels = {card.label for card in cards}
    return len(cards) == len(labels) == HAND_CARDS and min(card.share for card in cards) >= SURE


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
