"""The table's own joker, learned over a shift: its look is the same from round to round.

Where a round shows one joker in a hand whose six other cards are sure, samples are cut from its
marks. They are looked for in later hands with an unread card, as those of an enrolled joker
(`vision.cards.joker_match`), once enough rounds show the same mark at the joker and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from settlement.record import JOKER
from vision.cards.deck_assignment import HAND_CARDS, SURE, Decided
from vision.cards.joker_match import LEAST_SHARE, Match, Sample, cut_read, find_joker, marks_of
from vision.cards.view import CardRead, ViewIndex
from vision.detect.detections import ByteArray
from vision.geometry.table import VIEW_MM

TWO_MARKS, ONE_MARK, UNREAD = 1, 2, 3
"""In how many rounds a look must have been the joker's before it is looked for: where the first was
surely read by two marks, by one, or not surely. On 60 tune rounds (ten shifts, seed 7771601) one
round less for the latter two gives one of 64 jokers more; the slower rule was kept."""

CHECKED_ROUNDS = 4
"""In so many of its first rounds a look must not be found in the other hands, with `LEAST_SHARE` or
more. On 67 tune rounds (12 shifts, seed 7771602) looks that showed a card's edge were found in
every hand with 0.3 to 0.8."""

MOST_MISSES = 2
"""A look is dropped where it was not in the hands of so many jokers in turn that were surely read:
one may be hidden. Chosen, as is `MOST_LOOKS`; no tune shift (seeds 7771601, 7771602) changes decks.
"""

MOST_LOOKS = 6
"""Looks that are kept: two decks may take turns, and of an unread card several marks are tried."""

SAME_MM = 15.0
"""A look whose card's middle lies so near to that of the read joker is on it: less than the 16 mm
from card to card in the hands of the tune rounds."""

LEAST_MARK = 0.5
"""Least probability with which an index reads as the joker that may be cut as its sample. Chosen;
used so on the tune shifts."""


@dataclass(frozen=True, slots=True)
class ShownHand:
    """A view (size, size, 3) of a hand as it lay in a round, and what was read in it.

    `marks` are the likeliest marks of a joker among its faintest finds.
    """

    view: ByteArray
    indices: Sequence[ViewIndex]
    marks: Sequence[ViewIndex] = ()

    @property
    def read(self) -> list[ViewIndex]:
        """The indices that read as the joker."""
        return [i for i in self.indices if i.label == JOKER and i.share >= LEAST_MARK]

    def best(self, look: JokerLook) -> Match:
        """The likeliest place of a look."""
        return find_joker(self.view, look.samples)[0]


@dataclass(slots=True, eq=False)
class JokerLook:
    """What the joker may look like: samples from one round.

    `needs`: in how many rounds it must have been the joker's; `rounds`: in how many it was.
    `misses`: surely read jokers since that look otherwise.
    """

    samples: tuple[Sample, ...]
    needs: int
    rounds: int = 1
    misses: int = 0

    @property
    def known(self) -> bool:
        """Whether it is surely the joker's."""
        return self.rounds >= self.needs


@dataclass(slots=True, eq=False)
class JokerMemory:
    """The looks of a table's joker so far."""

    looks: list[JokerLook] = field(default_factory=list)

    @property
    def samples(self) -> tuple[Sample, ...]:
        """What is looked for in hands with an unread card."""
        return tuple(sample for look in self.looks if look.known for sample in look.samples)

    def learn(
        self,
        hands: Mapping[int | None, Sequence[CardRead]],
        decided: Mapping[int, Decided],
        shown: Mapping[int | None, ShownHand],
    ) -> None:
        """Learn from a finished round.

        `hands` are its cards by seat, `decided` what the deck as a whole makes of them
        (`vision.cards.deck_assignment`), `shown` how the hands lay.
        """
        jokers = _jokers(hands, decided)
        if len(jokers) > 1:
            self._forget_contradicted(jokers, shown)
        if len(jokers) != 1:
            return
        ((seat, card),) = jokers
        own, name = shown.get(seat), _name(card, decided)
        if own is None or name.label != JOKER or not _others_are_sure(hands[seat], card, decided):
            return
        read = own.read
        sure = _is_sure(card) and name.why is None and bool(read)
        others = [one for place, one in shown.items() if place != seat]
        met = False
        for look in list(self.looks):
            match = own.best(look)
            if _at_joker(match, own, read if sure else ()):
                met = True
                look.misses = 0
                # What was found by its look is no second proof of it.
                look.rounds += not card.matched
                if look.rounds <= CHECKED_ROUNDS and _elsewhere(look, others):
                    self.looks.remove(look)
            elif sure and match.probability < LEAST_SHARE:
                look.misses += 1
                if look.misses >= MOST_MISSES:
                    self.looks.remove(look)
        if card.matched or (met and (sure or bool(self.samples))):
            return
        new = _new_looks(own, read, sure=sure)
        self.looks += [look for look in new if not _elsewhere(look, others)]
        while len(self.looks) > MOST_LOOKS:
            self.looks.remove(min(self.looks, key=lambda look: (look.known, look.rounds)))

    def _forget_contradicted(
        self, jokers: Sequence[tuple[int | None, CardRead]], shown: Mapping[int | None, ShownHand]
    ) -> None:
        """Drop the looks that a surely read joker does not have, where another card has one."""
        if not any(card.matched for _, card in jokers):
            return
        for seat, card in jokers:
            own = shown.get(seat)
            if own is not None and _is_sure(card):
                self.looks = [k for k in self.looks if own.best(k).probability >= LEAST_SHARE]


def _jokers(
    hands: Mapping[int | None, Sequence[CardRead]], decided: Mapping[int, Decided]
) -> list[tuple[int | None, CardRead]]:
    """The cards of a round that are or may well be a joker, with their seats."""
    return [
        (seat, card)
        for seat, own in hands.items()
        for card in own
        if not _name(card, decided).mark
        and (
            _name(card, decided).label == JOKER
            or (card.label == JOKER and card.share >= LEAST_MARK)
        )
    ]


def _is_sure(card: CardRead) -> bool:
    """Whether a card was surely read as the joker without any look."""
    return card.label == JOKER and card.indices > 0 and card.share >= SURE and not card.matched


def _name(card: CardRead, decided: Mapping[int, Decided]) -> Decided:
    return decided.get(id(card), Decided(card.label, card.share))


def _others_are_sure(
    cards: Sequence[CardRead], joker: CardRead, decided: Mapping[int, Decided]
) -> bool:
    """Whether the six other cards of the joker's hand are sure, each another one."""
    names = [_name(card, decided) for card in cards if card is not joker]
    sure = {name.label for name in names if name.why is None and name.share >= SURE}
    return len(sure) == HAND_CARDS - 1


def _new_looks(hand: ShownHand, read: Sequence[ViewIndex], *, sure: bool) -> Iterator[JokerLook]:
    """The looks that a round's joker may have: its read marks, or each of the faint ones."""
    if read:
        samples = tuple(sample for i in read if (sample := cut_read(hand.view, i)) is not None)
        if samples:
            needs = UNREAD if not sure else TWO_MARKS if len(read) > 1 else ONE_MARK
            yield JokerLook(samples, needs)
        return
    for mark in hand.marks:
        sample = cut_read(hand.view, mark)
        if sample is not None:
            yield JokerLook((sample,), UNREAD)


def _at_joker(match: Match, hand: ShownHand, read: Sequence[ViewIndex]) -> bool:
    """Whether a look is where the joker lies: at no other sure card, and at one of the joker's read
    marks or on their card where there are `read` ones."""
    mm = VIEW_MM / hand.view.shape[1]
    there = marks_of(match, hand.indices, mm)
    if match.probability < SURE or any(i.share >= SURE and i.label != JOKER for i in there):
        return False
    _, card = match.places_mm(mm)
    return not read or any(
        any(i is own for i in there) or math.dist(own.card, card) < SAME_MM for own in read
    )


def _elsewhere(look: JokerLook, hands: Sequence[ShownHand]) -> bool:
    """Whether a look may be found in a hand that has no joker."""
    return any(hand.best(look).probability >= LEAST_SHARE for hand in hands)
