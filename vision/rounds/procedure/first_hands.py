"""Whether the first hand goes to the place that the dice name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from settlement.dice import counted_on, first_that_plays, place_words
from settlement.procedures import Phase
from settlement.record import Dice, DiePlace, RoundRecord, Undecided
from vision.detect.detections import ByteArray
from vision.detect.motion import RestState
from vision.geometry.calibration import Calibration
from vision.geometry.dice import DicePlace
from vision.geometry.table import TableFile
from vision.rounds.late_bets import closed_s
from vision.rounds.observed import ViewPicture
from vision.rounds.procedure.deal_watch import DealState, DealWatch, PlaceDeal, first_hand
from vision.rounds.procedure.dice_watch import DiceRest, DiceWatch, SeenDice, read_dice
from vision.rounds.region_change import as_picture, kept_picture
from vision.rounds.round_state import STRAY_CARDS, Round, ViewTrack

CardsAt = Callable[[ByteArray, Collection[int | None]], Mapping[int | None, tuple[bool, ByteArray]]]
"""Whether cards lie face down at places (None: the dealer's) in a frame, and their views."""

FirstHandState = tuple[tuple[RestState, list[DiceRest]], DealState]

EARLY_S = 30.0
"""Dice that were opened longer before a round's first stake are another round's."""


@dataclass(frozen=True, slots=True)
class SeenDeal:
    """The dice and the deal of one round: what was seen of the places since the dice were opened,
    none where that was not watched."""

    dice: SeenDice
    places: Mapping[int | None, PlaceDeal]
    rests: tuple[DiceRest, ...] = ()
    first_s: float | None = None


class FirstHandWatch:
    """Watches the dice of a table, and its deals from their opening on."""

    def __init__(self, place: DicePlace, table: TableFile, calibration: Calibration) -> None:
        """Find the places in the image."""
        self._count = place.count
        self._table = table
        self.dice = DiceWatch(place, calibration)
        self.deal = DealWatch(table, calibration)
        self._due: list[int | None] = []
        self._read = False

    def look(self, small: npt.NDArray[np.int16], at_s: float, phase: Phase) -> bool:
        """Take a sample of the reduced luma in; whether the frame is to be read."""
        if phase not in (Phase.WAITING, Phase.BETS, Phase.DEALT):
            self.deal.active = False
        self._due = self.deal.look(small, at_s)
        self._read = self.dice.look(small)
        self.dice.seen(at_s)
        return self._read or bool(self._due)

    def read(self, bgr: ByteArray, at_s: float, phase: Phase, cards_at: CardsAt) -> None:
        """Read the dice and places that wait for it in a frame, uint8 (h, w, 3) BGR."""
        if self._due:
            found = cards_at(bgr, self._due)
            first = self.deal.found({place: cards for place, (cards, _) in found.items()}, at_s)
            if first:
                every = cards_at(bgr, list(self.deal.places))
                self.deal.keep({place: kept_picture(view) for place, (_, view) in every.items()})
        if self._read:
            self.dice.read(bgr, at_s)
            shown_s, since_s = self.dice.shown_s, self.deal.since_s
            again = since_s is None or (shown_s is not None and shown_s > since_s)
            undealt = self.deal.first_sight_s is None or not self.deal.active
            if shown_s is not None and again and undealt and phase in (Phase.WAITING, Phase.BETS):
                lie = cards_at(bgr, [None, *(seat.seat for seat in self._table.seats)])
                self.deal.begin(shown_s, [place for place, (cards, _) in lie.items() if cards])

    def of_round(self, own: Round) -> SeenDeal:
        """The dice and the deal of a round that ended."""
        rests = self.dice.of_round(own.since_s)
        since_s = self.deal.since_s
        of_this = since_s is not None and since_s >= own.start_s - EARLY_S
        first_s = self.deal.first_sight_s if of_this else None
        times = [at_s for at_s in (first_s, closed_s(own)) if at_s is not None]
        seen = read_dice(rests, min(times, default=own.start_s), self._count)
        places = self.deal.places if of_this else {}
        return SeenDeal(seen, dict(places), tuple(rests), first_s)

    def state(self) -> FirstHandState:
        """All that was seen so far."""
        return self.dice.state(), self.deal.state()

    def set_state(self, state: FirstHandState) -> None:
        """Go on from a `state`. Raises ValueError when it is of another table."""
        self.dice.set_state(state[0])
        self.deal.set_state(state[1])


def with_dice(record: RoundRecord, table: TableFile, own: Round, seen: SeenDeal) -> RoundRecord:
    """The record with its dice and who got the first hand, as far as these are sure."""
    if table.dice is None or own.broken_off:
        return record
    total, rest = seen.dice.total, seen.dice.rest
    if total.values is None or rest is None:
        return _undecided(record, "dice", total.doubt or "not read")
    shown = Dice(
        values=total.values, total=sum(total.values), probability=round(total.probability, 4),
        seen_s=f"{rest.start_s:.3f}",
    )  # fmt: skip
    doubt = _cause(record, table, own)
    if doubt is not None:
        return _undecided(record.model_copy(update={"dice": shown}), "first_hand", doubt)
    start: DiePlace = "dealer"
    if table.dice.counted_from == "banker" and record.banker is not None:
        start = record.banker
    playing: dict[DiePlace, bool | None] = {"dealer": True}
    playing |= {seat.seat: _plays(own.tracks[seat.seat]) for seat in table.seats}
    order = counted_on(shown.total, table.dice.positions_of(table), start)
    due = first_that_plays(order, [place for place, plays in playing.items() if plays is not False])
    if due is None or playing[due] is None:
        why = f"whether {place_words(due or 'dealer')} plays was not seen"
        return _undecided(record.model_copy(update={"dice": shown}), "first_hand", why)
    places = {_seat(place) for place, plays in playing.items() if plays is not False}
    got = first_hand(seen.places, places, _seat(due)) if seen.places else None
    first = None if got is None or not got.first else _place(got.first[0])
    before = None if got is None or not got.before else _place(got.before[0])
    shown = shown.model_copy(update={"due": due, "first": first, "before_due": before})
    record = record.model_copy(update={"dice": shown})
    if first is None and before is None:
        why = "the hands came too close to each other, or something hid a place meanwhile"
        return _undecided(record, "first_hand", why)
    return record


def deal_pictures(record: RoundRecord, seen: SeenDeal) -> Iterator[ViewPicture]:
    """The images that show a first hand at a wrong place: the dice, and both places then."""
    dice, rest = record.dice, seen.dice.rest
    if dice is None or dice.before_due is None or dice.due is None or rest is None:
        return
    image = as_picture(rest.picture)
    if image is not None:
        yield ViewPicture(None, "dice", f"{rest.start_s:.3f}", image, ())
    for place in (dice.before_due, dice.due):
        image = as_picture(seen.places[_seat(place)].picture)
        if image is not None and seen.first_s is not None:
            yield ViewPicture(_seat(place), "dealt", f"{seen.first_s:.3f}", image, ())


def _undecided(record: RoundRecord, what: str, why: str) -> RoundRecord:
    doubt = Undecided(seat=None, what=what, why=why)
    return record.model_copy(update={"undecided": (*record.undecided, doubt)})


def _cause(record: RoundRecord, table: TableFile, own: Round) -> str | None:
    """Why it is not known which place the dice name, or None."""
    if own.misdealt_s is not None:
        return "the cards were taken back and dealt again"
    if any(track.episodes and track.episodes[0].gap for track in own.tracks.values()):
        return "the beginning of the round was not seen"
    counted = table.dice is not None and table.dice.counted_from == "banker"
    if counted and any(entry.what == "banker" for entry in record.undecided):
        return "who banks is not known"
    return None


def _plays(track: ViewTrack) -> bool | None:
    """Whether a seat got cards; None where that is not sure."""
    if any(rest.dealt for rest in track.episodes):
        return True
    some = any(e.chips or e.backs or e.cards_up > STRAY_CARDS for e in track.episodes)
    return None if some else False


def _seat(place: DiePlace) -> int | None:
    return None if place == "dealer" else place


def _place(seat: int | None) -> DiePlace:
    return "dealer" if seat is None else seat
