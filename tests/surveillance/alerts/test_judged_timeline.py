"""What a judgement leaves undecided, in the felt's timeline."""

from __future__ import annotations

from dataclasses import replace

from settlement.felt_timeline import UndecidedLine
from settlement.record import Undecided
from surveillance.alerts.judge import judge
from tests.surveillance.handmade import observed_round
from vision.geometry.table import TableFile
from vision.rounds.observed import ObservedRound


def undecided(observed: ObservedRound, table: TableFile) -> list[UndecidedLine]:
    return [line for line in judge(observed, table).timeline if isinstance(line, UndecidedLine)]


def test_what_cannot_be_and_was_misread_points_to_what_lay_there(table: TableFile) -> None:
    observed = observed_round()
    (seat,) = observed.record.seats
    twice = seat.model_copy(update={"wagers": seat.wagers * 2})
    record = observed.record.model_copy(update={"seats": (twice,)})
    (line,) = undecided(replace(observed, record=record), table)
    assert (line.seat, line.what) == (3, "main")
    assert line.lays == ("t1-000001/1",)


def test_each_entry_of_the_record_has_one_line(table: TableFile) -> None:
    doubt = Undecided(seat=3, what="main.stake", why="a chip")
    observed = observed_round(undecided=(doubt,))
    (line,) = undecided(observed, table)
    assert (line.what, line.why, line.lays) == ("main.stake", "a chip", ("t1-000001/1",))
    again = replace(observed, timeline=judge(observed, table).timeline)
    assert undecided(again, table) == [line]
    # Where no timeline was kept there is none.
    assert undecided(replace(observed, timeline=()), table) == []
