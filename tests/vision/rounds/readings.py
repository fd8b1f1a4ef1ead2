"""View readings put together by hand, and rounds played with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from settlement.compare.evidence import NO_SUMS
from settlement.record import DECK_LABELS, RoundRecord, WagerRecord
from settlement.rules import TableRules
from tests.vision.painted import NAMES
from vision.cards.view import ViewIndex
from vision.chips.reading import ReadStack
from vision.chips.side_posterior import Posterior, Sum
from vision.detect.detections import ByteArray, Detections
from vision.geometry.standard_layout import standard_table
from vision.geometry.table import DealerPlace, SeatPlace, TableFile
from vision.rounds.round_state import Round
from vision.rounds.tracker import RoundTracker
from vision.rounds.view_reader import ViewReading
from vision.sources.gaps import Gap

FULL = standard_table(TableRules(game="emperors_challenge_exposed"), seats=3)
TABLE: TableFile = FULL.model_copy(update={"seats": FULL.seats[:2]})
"""Two seats, no camera: readings come without frames here."""

PICTURE = np.zeros((4, 4, 3), np.uint8)
CHIPS = {color: kind.value_cents for color, kind in TABLE.chips.items()}
Stacks = Mapping[str, Sequence[str]]

XYXY = (0.0, 0.0, 9.0, 18.0)
"""The box of every index, in px of the view."""


def stack(colours: str, probability: float = 0.995, **others: float) -> ReadStack:
    """A stack such as 'red red white', and what else it may be: '2500' and its probability."""
    names = tuple(colours.split())
    sums = [(sum(CHIPS[c] for c in names), probability)]
    sums += [(int(cents.removeprefix("c")), share) for cents, share in others.items()]
    places = tuple(list(CHIPS).index(name) for name in names)
    posterior = Posterior(tuple(Sum(cents, places, share) for cents, share in sums), 0.0, 24)
    return ReadStack((0.0, 0.0), names, (0.0, 0.0, 1.0, 1.0), posterior)


def stacks(own: Mapping[str, Sequence[str | ReadStack]]) -> dict[str, tuple[ReadStack, ...]]:
    return {
        wager: tuple(s if isinstance(s, ReadStack) else stack(s) for s in made)
        for wager, made in own.items()
    }


def hand(
    part: DealerPlace | SeatPlace, low: str, high: str, *,
    shares: Mapping[str, float] | None = None, shift: float = 0.0,
) -> tuple[ViewIndex, ...]:  # fmt: skip
    """Upper indices of a low and a high hand, 'KS KD' and '9C 9D 4H 4S 2C', as laid out.

    `shares` are those of cards read with less confidence, `shift` moves the whole hand (mm).
    """
    out = []
    for box, cards, pitch in ((part.low, low.split(), 40.0), (part.high, high.split(), 22.0)):
        u, v = part.place.to_local(np.array([box.center_mm]))[0]
        for k, label in enumerate(cards):
            card = np.array([u + (k - (len(cards) - 1) / 2) * pitch + shift, v])
            scores = np.zeros(len(DECK_LABELS), np.float32)
            scores[DECK_LABELS.index(label)] = (shares or {}).get(label, 0.999)
            out.append(ViewIndex(card - (25.5, 32.0), 0.0, 17.0, scores, 0.9, XYXY, card=card))
    return tuple(out)


def reading(
    at_s: float = 0.0,
    *,
    cards: tuple[ViewIndex, ...] = (),
    backs: int = 0,
    stakes: Mapping[str, Sequence[str | ReadStack]] | None = None,
    pays: Mapping[str, Sequence[str | ReadStack]] | None = None,
    lammers: Sequence[str] = (),
    strays: Sequence[ReadStack] = (),
    unread: Sequence[str] = (),
) -> ViewReading:
    return ViewReading(
        at_s, cards, backs, stacks(stakes or {}), stacks(pays or {}), frozenset(lammers),
        Detections.empty(NAMES), tuple(strays), unread=frozenset(unread),
    )  # fmt: skip


@dataclass
class Play:
    """Feeds a tracker as the watcher does: one episode of three readings at a time."""

    tracker: RoundTracker = field(default_factory=lambda: RoundTracker([1, 2]))
    now_s: float = 0.0
    ended: list[Round] = field(default_factory=list)

    def see(
        self, seat: int | None, *readings: ViewReading, picture: ByteArray = PICTURE, times: int = 3
    ) -> None:
        """A new rest of a view; one reading is repeated, thrice unless `times` says otherwise."""
        since = self.now_s
        for k, own in enumerate(readings if len(readings) > 1 else readings * times):
            self.now_s = round(self.now_s + 0.2, 3)
            own = replace(own, at_s=self.now_s)
            done = self.tracker.take(seat, own, picture, fresh=k == 0, since_s=since)
            if done is not None:
                self.ended.append(done)
        self.now_s = round(self.now_s + 1.0, 3)

    def lose(self, seconds: float, *, jumped: bool = False) -> None:
        """No frame comes for so long."""
        gap = Gap.between(self.now_s, self.now_s + seconds, "frames dropped", jumped=jumped)
        self.now_s = round(self.now_s + seconds, 3)
        done = self.tracker.skip(gap)
        if done is not None:
            self.ended.append(done)

    def stand(self, *seats: int | None) -> None:
        """The views are seen to lie as they were read."""
        for seat in seats:
            self.tracker.stands(seat, self.now_s)


DEALER = ("KS KD", "9C 9D 4H 4S 2C")
HANDS = {1: ("QS QD", "AC AH TS 7D 3C"), 2: ("8S 7S", "JC JD 6H 5S 2D")}


def dealer_cards(**kw: object) -> tuple[ViewIndex, ...]:
    return hand(TABLE.dealer, *DEALER, **kw)  # type: ignore[arg-type]


def seat_cards(seat: int, **kw: object) -> tuple[ViewIndex, ...]:
    return hand(TABLE.seat(seat), *HANDS[seat], **kw)  # type: ignore[arg-type]


def wager(record: RoundRecord, name: str, seat: int = 1) -> WagerRecord:
    """A wager without the probabilities of its sums."""
    return sums(record, name, seat).model_copy(update=NO_SUMS)


def sums(record: RoundRecord, name: str, seat: int = 1) -> WagerRecord:
    found = next(s for s in record.seats if s.seat == seat).wager(name)
    assert found is not None
    return found
