"""A round while it runs: what each place showed, rest by rest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from settlement.procedures import Phase
from settlement.record import DECK_LABELS
from vision.cards.deck_assignment import HAND_CARDS
from vision.cards.unread_card import with_unread_card
from vision.cards.view import SAME_INDEX_MM, CardRead, ViewIndex, fuse_indices, join_cards
from vision.detect.detections import ByteArray
from vision.rounds.view_reader import ViewReading
from vision.sources.gaps import Gap

FACE_UP_CARDS = 5
"""Face-up cards from which a view shows a hand turned up."""

STIRRED_S = 0.5
"""A view that was not at rest for so long had something move over it."""

SURE_NAME = 0.8
"""Least share of a card's name by which one hand counts as another than before."""

STRAY_CARDS = 1
"""One face seen where a hand lay is a mark on the felt: the hand is gone."""


@dataclass
class Episode:
    """One state of rest of one view, with its readings."""

    start_s: float
    readings: list[ViewReading] = field(default_factory=list)
    until_s: float = 0.0
    """When the felt was seen last to lie as it was read."""
    picture: bytes = b""
    """A JPEG of the view at the first reading."""
    gap: Gap | None = None
    """What was not seen between the view's rest before and this one."""
    stirred: list[tuple[float, float]] = field(default_factory=list)
    """Times (from, until) in which something moved there; it lay as before afterwards."""
    lay_until: dict[str, float] = field(default_factory=dict)
    """Of spots that look otherwise than in the rest before: until when, while the view was in
    motion, they were seen to look as then."""

    def seen_at(self, at_s: float) -> None:
        """It was seen to lie as it was read."""
        if self.until_s and at_s - self.until_s > STIRRED_S:
            self.stirred.append((self.until_s, at_s))
        self.until_s = at_s

    @property
    def images(self) -> list[ViewReading]:
        """The readings, each once: one that was sure counts for several."""
        return list({id(reading): reading for reading in self.readings}.values())

    @property
    def cards_up(self) -> int:
        """Physical cards face up, by the reading that shows most."""
        for reading in self.readings:
            if id(reading) not in self._counted:
                self._counted[id(reading)] = len(join_cards(reading.indices))
        return max(self._counted.values(), default=0)

    @cached_property
    def _counted(self) -> dict[int, int]:
        """The cards of each reading: readings come, but none that came is changed."""
        return {}

    @property
    def backs(self) -> int:
        """Backs seen, the most of the readings."""
        return max((r.backs for r in self.readings), default=0)

    @property
    def dealt(self) -> bool:
        """Whether cards were dealt there: backs in most readings, or the hand turned up."""
        with_cards = sum(r.backs > 0 for r in self.readings)
        return with_cards * 2 > len(self.readings) or self.cards_up >= FACE_UP_CARDS

    @property
    def chips(self) -> bool:
        """Whether chips lie at the view's spots in most readings."""
        with_chips = sum(bool(r.stakes or r.pays) for r in self.readings)
        return with_chips * 2 > len(self.readings)

    @property
    def empty(self) -> bool:
        """No cards, backs or chips."""
        return not (self.chips or self.backs or self.cards_up)

    @property
    def without_cards(self) -> bool:
        """No back, and no face but a mark on the felt."""
        return self.cards_up <= STRAY_CARDS and not self.backs

    @property
    def bare(self) -> bool:
        """Nothing lies there, but for a mark on the felt that reads as a card."""
        return self.without_cards and not self.chips


@dataclass(frozen=True, slots=True)
class Shot:
    """A view's image that may become evidence, uint8 (h, w, 3) BGR, with its reading."""

    image: ByteArray
    reading: ViewReading


@dataclass
class ViewTrack:
    """Everything one view showed in the running round."""

    episodes: list[Episode] = field(default_factory=list)
    shots: dict[str, Shot] = field(default_factory=dict)
    bare: bytes = b""
    """A JPEG of the view with nothing in it, from before the round, if it was seen so."""
    glimpses: list[Episode] = field(default_factory=list)
    """What lay there too shortly for a rest, with one reading of the cards alone."""

    @property
    def now(self) -> Episode | None:
        """The latest episode."""
        return self.episodes[-1] if self.episodes else None

    def hand_episodes(self) -> list[Episode]:
        """Episodes with a hand turned up."""
        return [e for e in self.episodes if e.cards_up >= FACE_UP_CARDS]

    def hand(self, shown: Sequence[Episode] | None = None) -> list[CardRead]:
        """The cards as they lay last, from all face-up episodes in which they lay so.

        A dealer spreads the seven in a row before setting them, and hands are picked up and
        laid again: episodes that show the cards elsewhere are left out, and those of other
        cards, which were dealt before a misdeal was found. `shown` are the episodes to read them
        from, all that show a hand if they are not given.
        """
        shown = self.hand_episodes() if shown is None else shown
        if not shown:
            return []
        last = shown[-1]
        final = fuse_indices([r.indices for r in last.images])
        shown = [e for e in shown if not is_other_hand(e, last)]
        own = _alike(_before_one_was_hidden(shown), final) or _alike(shown, final)
        if not own:
            return []
        cards = with_unread_card(
            join_cards(fuse_indices([r.indices for r in own])), [r.unread_card for r in own]
        )
        rows = [_cards_of(e) for e in shown if not _alike([e], final)]
        return with_seventh(cards, rows)


def lie_alike(one: Sequence[ViewIndex], other: Sequence[ViewIndex]) -> bool:
    """Whether most indices of either lie where the other has one."""
    small, large = sorted((one, other), key=len)
    if not small:
        return False
    met = sum(any(math.dist(a.center, b.center) < SAME_INDEX_MM for b in large) for a in small)
    return met >= 0.7 * len(small)


def is_other_hand(before: Episode, now: Episode) -> bool:
    """Whether two rests of one place show different hands, read with confidence."""
    if before is now:
        return False
    then, cards = _sure_names(before), _sure_names(now)
    known = min(len(then), len(cards)) >= FACE_UP_CARDS
    return known and 2 * len(then & cards) < len(cards)


def _alike(rests: Sequence[Episode], final: Sequence[ViewIndex]) -> list[ViewReading]:
    """The readings of rests whose cards lie as the `final` ones do."""
    return [r for e in rests for r in e.images if lie_alike(r.indices, final)]


def with_seventh(
    cards: Sequence[CardRead], rows: Sequence[Sequence[CardRead]]
) -> list[CardRead]:  # fmt: skip
    """The cards of a hand with the weakest one, or the one that is not read, as an earlier rest
    shows it where the same hand lay otherwise; `rows` are the cards of such rests.

    A dealer spreads seven cards in a row before setting them. The other six must be the same.
    """
    weakest = min(cards, key=lambda card: card.share, default=None)
    if weakest is None or len(cards) not in (HAND_CARDS - 1, HAND_CARDS):
        return list(cards)
    rest = list(cards) if len(cards) < HAND_CARDS else [c for c in cards if c is not weakest]
    names = {card.label for card in rest if card.share >= SURE_NAME}
    for row in reversed(rows):
        seventh = [card for card in row if card.label not in names]
        sure = len(row) == HAND_CARDS and min(card.share for card in row) >= SURE_NAME
        if not sure or len(names) < HAND_CARDS - 1 or len(seventh) != 1:
            continue
        (own,) = seventh
        if len(cards) < HAND_CARDS:
            # Where it lies is not known: the other cards say in which box one is missing.
            return [*rest, replace(own, center_mm=(math.nan, math.nan), indices=0)]
        if own.share > weakest.share and (own.label == weakest.label or weakest.share < SURE_NAME):
            seen = replace(weakest, label=own.label, share=own.share, shares=own.shares)
            return [*rest, seen]
        if own.label != weakest.label and weakest.share >= SURE_NAME:
            return [*rest, _either(weakest, own)]
    return list(cards)


def _either(card: CardRead, row: CardRead) -> CardRead:
    """A card that reads otherwise than in the row before: one of the two readings is wrong, each
    with its own doubt, and the other cards of the round say which."""
    if card.shares is None or row.shares is None:
        return card
    odds = row.share * (1 - card.share) / max(1e-6, card.share * (1 - row.share))
    shares = (card.shares + odds * row.shares) / (1 + odds)
    place = int(shares.argmax())
    label, share = DECK_LABELS[place], float(shares[place])
    return replace(card, label=label, share=share, shares=shares.astype(np.float32))


def _before_one_was_hidden(shown: Sequence[Episode]) -> Sequence[Episode]:
    """Those that show the whole hand, where the last shows a part of it: a card that was turned
    down or covered is the card that it was."""
    last = _sure_names(shown[-1])
    whole = [e for e in shown if len(names := _sure_names(e)) == HAND_CARDS and last < names]
    return whole or shown


def _sure_names(episode: Episode) -> set[str]:
    return {card.label for card in _cards_of(episode) if card.share >= SURE_NAME}


def _cards_of(episode: Episode) -> list[CardRead]:
    """The cards that a rest shows, from all of its images."""
    return join_cards(fuse_indices([r.indices for r in episode.images]))


@dataclass(frozen=True, slots=True)
class ArmOver:
    """A player's arm over the boxes of the seat `over` in one sample.

    `share` of them is covered; `picture` is a JPEG of both seats, none where they are the player's
    own.
    """

    seat: int
    over: int
    share: float
    at_s: float
    picture: bytes = b""


@dataclass
class ArmHides:
    """A time in which an arm (`by` a seat's player, None the dealer) was over what lay at a seat.

    `what` is 'cards', or the wager over whose spot it was.
    """

    by: int | None
    seat: int
    what: str
    from_s: float
    until_s: float


@dataclass
class Round:
    """A running round: tracks by seat, None for the dealer."""

    start_s: float
    tracks: dict[int | None, ViewTrack]
    phase: Phase = Phase.BETS
    cut_s: float | None = None
    """Since when the dealer's cards have been gone."""
    gap: Gap | None = None
    """The gap within which the round ended, where its end was not seen."""
    broken_off: bool = False
    """Cards and bets were taken back before the first hand was compared."""
    misdealt_s: float | None = None
    """Since when the cards of a deal that did not count had been taken back; they were dealt again
    then. The tracks begin with what lay there without cards, the rest is in `before`."""
    is_followed_at_once: bool = False
    """The next deal began before the felt was empty."""
    before: dict[int | None, list[Episode]] = field(default_factory=dict)
    """What the places showed since the round before."""
    seldom_s: float = 0.0
    """For how long frames were farther apart than usual."""
    arms: list[ArmOver] = field(default_factory=list)
    """Players' arms over cards, in order of time."""
    hides: list[ArmHides] = field(default_factory=list)
    """Arms over cards and chips, which the felt's timeline names."""

    @property
    def since_s(self) -> float:
        """When what lay there since the round before was first seen."""
        starts = [e.start_s for rests in self.before.values() for e in rests]
        return min([self.start_s, *starts])

    def copied(self) -> Round:
        """The round as it stands, which later rests do not change."""
        tracks = {
            seat: ViewTrack(list(own.episodes), dict(own.shots), own.bare, list(own.glimpses))
            for seat, own in self.tracks.items()
        }
        return Round(
            self.start_s, tracks, self.phase, self.cut_s, misdealt_s=self.misdealt_s,
            before={seat: list(rests) for seat, rests in self.before.items()},
            seldom_s=self.seldom_s, arms=list(self.arms), hides=[replace(a) for a in self.hides],
        )  # fmt: skip
