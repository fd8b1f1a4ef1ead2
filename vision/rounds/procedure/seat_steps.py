"""The interpreter: a round's states of rest read against its game's procedure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from settlement.procedures import Course, Forbidden, Phase, Procedure
from vision.rounds.procedure.discards import Discards
from vision.rounds.procedure.place_states import PlaceStates
from vision.rounds.round_state import Episode, Round


@dataclass(frozen=True, slots=True)
class SeenPhase:
    """A phase of the table and since when it was seen."""

    phase: Phase
    since_s: float


@dataclass(frozen=True, slots=True)
class SeenStep:
    """A step of a seat with the states of rest that show it.

    `in_order` is False where the procedure has another step before it: that one was not seen
    at rest, or steps were taken out of order. `course` names how it came about.
    """

    seat: int
    name: str
    rests: tuple[Episode, ...]
    in_order: bool
    course: Course = "in_order"

    @property
    def from_s(self) -> float:
        """When it was first seen."""
        return self.rests[0].start_s

    @property
    def until_s(self) -> float:
        """When it was last seen."""
        return self.rests[-1].until_s


@dataclass(frozen=True, slots=True)
class SeenBreach:
    """What the procedure forbids, with the rests that show it and the one before.

    `wager` is that of a bet.
    """

    seat: int
    rule: Forbidden
    before: Episode | None
    shown: Episode
    wager: str | None = None


def table_phases(procedure: Procedure, own: Round, states: PlaceStates) -> list[SeenPhase]:
    """The phases of a round, in order, from all its states of rest."""
    rests = sorted(
        ((e.start_s, seat is not None, seat or 0, e) for seat, t in own.tracks.items()
         for e in t.episodes if e.readings),
        key=lambda one: one[:3],
    )  # fmt: skip
    phases = [SeenPhase(Phase.BETS, own.start_s)]
    latest: dict[int, Episode] = {}
    for start_s, is_seat, seat, episode in rests:
        phase = phases[-1].phase
        place = "seat" if is_seat else "dealer"
        shows = states.shows(seat if is_seat else None, episode)
        after = procedure.next_phase(phase, place, shows)
        if is_seat:
            latest[seat] = episode
            lying = [(s, e) for s, e in latest.items() if not e.empty]
            if after is phase and lying and all("set" in states.shows(s, e) for s, e in lying):
                after = procedure.next_phase(phase, "every_seat", {"set"})
        if after is phase:
            continue
        phases.append(SeenPhase(after, max(start_s, own.start_s)))
        shown = any("hand" in states.shows(s, e) for s, e in latest.items())
        if after is Phase.DEALER_SET and shown:
            # A hand that was turned up before the dealer's is compared at once.
            after = procedure.next_phase(after, "seat", {"hand"})
            phases.append(SeenPhase(after, max(start_s, own.start_s)))
    return phases


def seat_steps(
    procedure: Procedure,
    seat: int,
    rests: Sequence[Episode],
    states: PlaceStates,
    bare: bytes = b"",
    dealer_shown_s: float | None = None,
) -> list[SeenStep]:
    """The steps of one seat in a round, from its states of rest.

    `bare` is a JPEG of its view without cards, `dealer_shown_s` since when the dealer's hand has
    been shown; where players discard, they say which card came when.
    """
    steps: list[SeenStep] = []
    discards = Discards(states, seat, bare, dealer_shown_s)
    for rest in rests:
        if not rest.readings:
            continue
        step = steps[-1].name if steps else None
        shows = states.of_seat(seat, rest)
        if procedure.breach("second_discard") is not None:
            shows = discards.shows(rest, shows, {one.name for one in steps})
        now = procedure.next_step(step, shows)
        if now is None:
            continue
        if now == step:
            last = steps[-1]
            steps[-1] = replace(last, rests=(*last.rests, rest))
        else:
            course = procedure.course([one.name for one in steps], now)
            steps.append(SeenStep(seat, now, (rest,), procedure.follows(step, now), course))
    return steps
