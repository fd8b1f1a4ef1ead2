"""What a game's procedure adds to a round: the steps taken, what it forbids, and who banks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from settlement.games import players_bank
from settlement.procedures import Phase, procedure_of
from settlement.record import Breach, CardMove, RoundRecord, SeatRecord, Undecided
from vision.geometry.table import TableFile
from vision.rounds.changes import until
from vision.rounds.late_bets import closed_s
from vision.rounds.observed import What
from vision.rounds.procedure.bank import seen_bank
from vision.rounds.procedure.bets_touched import touched_bets
from vision.rounds.procedure.breaches import breaches
from vision.rounds.procedure.commission import with_stirred
from vision.rounds.procedure.house_place import HouseWager, read_house
from vision.rounds.procedure.marker_bank import MarkerRest, read_marker
from vision.rounds.procedure.place_states import PlaceStates
from vision.rounds.procedure.reaches import SeenReach, reaches
from vision.rounds.procedure.seat_steps import (
    SeenBreach,
    SeenPhase,
    SeenStep,
    seat_steps,
    table_phases,
)
from vision.rounds.round_state import Episode, Round


@dataclass(frozen=True, slots=True)
class RoundProcedure:
    """How a round went: the table's phases, every seat's steps, what was forbidden, and reaches
    into neighbours' hands."""

    phases: tuple[SeenPhase, ...] = ()
    steps: tuple[SeenStep, ...] = ()
    breaches: tuple[SeenBreach, ...] = ()
    reaches: tuple[SeenReach, ...] = ()

    def shown(self) -> Iterator[tuple[int | None, What, Episode]]:
        """The rests that show the breaches: its seat and what each shows."""
        for one in self.breaches:
            if one.before is not None:
                yield one.seat, "set", one.before
            yield one.seat, "moved", one.shown

    def breaches_of(self, seat: int) -> tuple[Breach, ...] | None:
        """The breaches of a seat as they stand in a record; None when there are none."""
        own = tuple(_breach(one) for one in self.breaches if one.seat == seat)
        return own or None

    def moves_of(self, seat: int) -> tuple[CardMove, ...]:
        """The reaches of a seat's player as they stand in a record."""
        return tuple(one.move for one in self.reaches if one.seat == seat)


def _breach(seen: SeenBreach) -> Breach:
    before = seen.shown.start_s if seen.before is None else seen.before.until_s
    return Breach(
        kind=seen.rule.breach, wager=seen.wager, before_s=f"{before:.3f}",
        after_s=f"{seen.shown.readings[0].at_s:.3f}",
    )  # fmt: skip


def read_procedure(table: TableFile, own: Round, states: PlaceStates) -> RoundProcedure:
    """Read a finished round against the procedure of the table's game."""
    procedure = procedure_of(table.rules.game)
    if procedure is None:
        return RoundProcedure()
    phases = table_phases(procedure, own, states)
    shown_s = next((p.since_s for p in phases if p.phase is Phase.DEALER_SET), None)
    steps: dict[int, list[SeenStep]] = {}
    found: list[SeenBreach] = []
    for place in table.seats:
        track = own.tracks[place.seat]
        rests = until(track.episodes, own.cut_s)
        mine = seat_steps(procedure, place.seat, rests, states, track.bare, shown_s)
        steps[place.seat] = mine
        found += breaches(procedure, phases, mine, place, own, states)
        found += touched_bets(procedure, place, own)
    every = tuple(step for mine in steps.values() for step in mine)
    arms = [arm for arm in own.arms if own.cut_s is None or arm.at_s <= own.cut_s]
    return RoundProcedure(tuple(phases), every, tuple(found), tuple(reaches(arms, steps)))


def with_procedure(
    record: RoundRecord,
    table: TableFile,
    own: Round,
    went: RoundProcedure,
    house: Sequence[Episode],
    marker: Mapping[int | None, list[MarkerRest]] | None = None,
) -> RoundRecord:
    """The record with what the procedure adds: breaches, reaches, the bank and the house wager.

    `house` are the states of rest of the house wager's place, `marker` those of the banker's
    marker's places, None where the table has no marker.
    """
    seats = tuple(
        seat.model_copy(
            update={
                "breaches": went.breaches_of(seat.seat),
                "moves": (*(seat.moves or ()), *went.moves_of(seat.seat)) or None,
            }
        )
        for seat in record.seats
    )
    record = _without_taken(record.model_copy(update={"seats": seats}))
    record = with_stirred(record, table.rules, own)
    if own.broken_off or not players_bank(table.rules.game):
        return record
    return _with_bank(record, table, own, house, marker)


def _without_taken(record: RoundRecord) -> RoundRecord:
    """The record, with stakes that were gone before the hand was turned up taken by nobody known:
    not by the dealer."""
    seats: list[SeatRecord] = []
    doubts: list[Undecided] = []
    for seat in record.seats:
        gone = {one.wager for one in seat.breaches or () if one.kind == "bet_taken"}
        wagers = tuple(
            w.model_copy(update={"action": None, "paid_cents": None, "paid_sums": None})
            if w.wager in gone else w
            for w in seat.wagers
        )  # fmt: skip
        why = "the stake was gone before the hand was turned up"
        doubts += [
            Undecided(seat=seat.seat, what=f"{w.wager}.action", why=why)
            for w in wagers if w.wager in gone
        ]  # fmt: skip
        seats.append(seat.model_copy(update={"wagers": wagers}) if gone else seat)
    if not doubts:
        return record
    undecided = (*record.undecided, *doubts)
    return record.model_copy(update={"seats": tuple(seats), "undecided": undecided})


def _with_bank(
    record: RoundRecord,
    table: TableFile,
    own: Round,
    house: Sequence[Episode],
    marker: Mapping[int | None, list[MarkerRest]] | None,
) -> RoundRecord:
    wager = read_house(table, house, closed_s(own), own.cut_s)
    lay = None if marker is None else read_marker(marker, closed_s(own), own.cut_s)
    if lay is not None:
        record = record.model_copy(update={"banker_marker": lay.place})
    bank = seen_bank(own, [seat.seat for seat in table.seats], wager.lay, lay)
    if bank.seat is None and bank.doubt is None:
        return record
    why = bank.doubt
    if bank.seat is not None and not any(seat.seat == bank.seat for seat in record.seats):
        why = f"seat {bank.seat} banks, and was not read"
    record = _with_house(record, own, wager)
    if why is not None:
        doubt = Undecided(seat=None, what="banker", why=why)
        return record.model_copy(update={"undecided": (*record.undecided, doubt)})
    return record.model_copy(update={"banker": bank.seat})


def _with_house(record: RoundRecord, own: Round, house: HouseWager) -> RoundRecord:
    """The record with the house wager; what was done with it is not known across a gap."""
    doubts = list(house.doubts)
    wagers = () if house.wager is None else (house.wager,)
    gap = next((e.gap for t in own.tracks.values() for e in t.episodes[1:] if e.gap), own.gap)
    if gap is not None and wagers:
        wagers = (wagers[0].model_copy(update={"action": None, "paid_cents": None}),)
        why = f"{gap}: not seen while it was settled"
        doubts = [*(d for d in doubts if d.what == "house.stake"), _house_doubt(why)]
    dealer = record.dealer.model_copy(update={"wagers": wagers})
    undecided = (*record.undecided, *doubts)
    return record.model_copy(update={"dealer": dealer, "undecided": undecided})


def _house_doubt(why: str) -> Undecided:
    return Undecided(seat=None, what="house.action", why=why)
