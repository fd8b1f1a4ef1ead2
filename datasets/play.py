"""A shift of rounds at one table: who bets what, what happens, and when.

A game's part is its `Procedure`; another game is added as a module of its own with its
entry in PROCEDURES.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from datasets.bets import Crowd, SeatBets
from datasets.decide import Decider, possible_codes
from datasets.exposed import ExposedRound
from datasets.faults import FaultPlan
from datasets.layouts import Habit
from datasets.motion import Tempo, Timeline
from datasets.scene import ShiftPlan
from datasets.script import Played, RoundScript, truth
from settlement.errors import FeltwatchError
from vision.table import TableFile

_OPENING_S = 1.5


class RoundPlayer(Protocol):
    """Plays one decided round on to a time line."""

    def play(self, start_s: float) -> Played:
        """Play from `start_s`, when the felt is empty; gives back the times."""

    @property
    def off_s(self) -> float:
        """When every arm is off the felt again."""


class RoundDecider(Protocol):
    """Decides what happens in a round."""

    def decide(
        self, bets: Sequence[SeatBets], careless: Mapping[int, float], codes: Sequence[str] = ()
    ) -> RoundScript:
        """A round with these bets that holds exactly these mistakes."""


@dataclass(frozen=True, slots=True)
class Procedure:
    """A game's part of the simulator: what can go wrong, how a round is decided and played."""

    codes: Callable[[TableFile], tuple[str, ...]]
    decider: Callable[[TableFile, random.Random, bool], RoundDecider]
    player: Callable[
        [TableFile, RoundScript, int, Habit, Tempo, Timeline, random.Random], RoundPlayer
    ]


PROCEDURES: dict[str, Procedure] = {
    "emperors_challenge_exposed": Procedure(possible_codes, Decider, ExposedRound),
}
"""Dealing procedures by game id."""


def procedure_for(table: TableFile) -> Procedure:
    """The dealing procedure of a table's game.

    Raises FeltwatchError naming the games that can be played.
    """
    try:
        return PROCEDURES[table.rules.game]
    except KeyError:
        known = ", ".join(sorted(PROCEDURES))
        raise FeltwatchError(
            f"table {table.table}: rules.game: the simulator deals no {table.rules.game!r}; "
            f"known are: {known}"
        ) from None


def plan_shift(
    table: TableFile,
    *,
    seed: int,
    rounds: int,
    faults: FaultPlan | None = None,
    pace: float = 1.0,
    jokers: bool = True,
    players: int | None = None,
) -> ShiftPlan:
    """A whole shift, the same for the same arguments.

    `players` is the most at the table at once, by default one to every seat; people come
    and go between rounds, at least three (or `players`, if fewer) stay. `pace` 1 plays a
    round in 60 to 120 s, 0.35 in 25 to 35 s; the rests that a reader needs are kept at
    every pace. Rounds that hold a pay above `rules.hand_pay_cents` are dealt anew, as no
    chips are laid for it. `jokers` False plays with 52 cards.

    Raises FeltwatchError when the rules, seats, pace or mistakes cannot be played.
    """
    if rounds < 1:
        raise FeltwatchError(f"--rounds {rounds}: a shift has at least one round")
    most = len(table.seats) if players is None else players
    if not 1 <= most <= len(table.seats):
        raise FeltwatchError(f"--seats {most}: the table has {len(table.seats)} seats")
    procedure = procedure_for(table)
    tempo = Tempo(pace)
    wanted = (faults or FaultPlan()).schedule(
        rounds, _stream(seed, "faults"), procedure.codes(table)
    )
    habit = Habit.draw(_stream(seed, "dealer"))
    crowd = Crowd(table, _stream(seed, "players"), most)
    crowd.open()
    timeline = Timeline()
    records = []
    start = _OPENING_S
    for number in range(1, rounds + 1):
        rng = _stream(seed, f"round {number}")
        decider = procedure.decider(table, rng, jokers)
        bets = crowd.bets()
        careless = {seat: player.carelessness for seat, player in crowd.players.items()}
        try:
            script = decider.decide(bets, careless, wanted.get(number, ()))
        except FeltwatchError as error:
            raise FeltwatchError(f"round {number}: {error}") from error
        played = procedure.player(table, script, number, habit, tempo, timeline, rng)
        times = played.play(start)
        records.append(truth(script, times, table, f"{table.table}-{number:06d}"))
        start = played.off_s + tempo.empty_rest_s + rng.uniform(0.0, 0.3)
        crowd.change()
    return ShiftPlan(
        duration_s=round(start + 0.5, 3),
        changes=tuple(sorted(timeline.changes, key=lambda change: change.t_s)),
        reaches=tuple(sorted(timeline.reaches, key=lambda reach: reach.t0_s)),
        rounds=tuple(records),
    )


def _stream(seed: int, purpose: str) -> random.Random:
    """A generator of its own for each purpose, so that one more draw disturbs no other."""
    return random.Random(f"{seed}/{purpose}")
