"""The felt's timeline of one seat, as the report draws it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from settlement.felt_timeline import (
    EventLine,
    Lay,
    LaySum,
    PhaseLine,
    Span,
    StepLine,
    TimelineLine,
    UndecidedLine,
)
from settlement.record import Undecided
from surveillance.alerts.judged_round import JudgedRound
from surveillance.audit.recording import judge
from surveillance.reports.audit_report import Heading, render_report
from surveillance.reports.felt_figure import TRACK_PX, Bar, FeltFigure, felt_figure
from tests.surveillance.handmade import observed_round
from tests.surveillance.reports.test_audit_report import page
from vision.geometry.table import TableFile

ID = "t1-000001"
HEADING = Heading("t1", "emperors_challenge_exposed", "shift.mp4", duration_s=60, wall_s=20)


def lay(number: int, place: str, what: str, from_s: str, until_s: str, **more: object) -> Lay:
    kinds = {"low": "card", "high": "card", "spots": "lammer"}
    own = {"seat": 3, "item": kinds.get(place, "stack"), **more}
    return Lay(
        round_id=ID, id=f"{ID}/{number}", place=place, what=what, from_s=from_s, until_s=until_s,
        **own,
    )  # fmt: skip


MOTION = Span(from_s="20.0", until_s="30.0", why="motion", by=(2,))
LINES: tuple[TimelineLine, ...] = (
    PhaseLine(round_id=ID, phase="bets", from_s="0.0", until_s="40.0"),
    PhaseLine(round_id=ID, phase="settling", from_s="40.0", until_s="100.0"),
    StepLine(round_id=ID, seat=3, step="in_hand", from_s="40.0", until_s="60.0"),
    StepLine(round_id=ID, seat=2, step="set", from_s="40.0", until_s="60.0"),
    EventLine(round_id=ID, name="abandoned", at_s="90.0"),
    lay(1, "spots", "envy", "10.0", "80.0"),
    lay(2, "main pay", "1 green", "70.0", "72.0", cents=2500, cameras=("low",), before_s="73.0"),
    lay(3, "main", "5 red", "10.0", "60.0", hidden=(MOTION,)),
    lay(4, "high", "QH", "60.0", "64.0"),
    lay(5, "high", "3S", "60.0", "64.0"),
    lay(6, "high", "AS", "66.0", "68.0"),
    lay(7, "low", "KH", "60.0", "64.0", seat=2),
    UndecidedLine(round_id=ID, seat=3, what="main.stake", why="a chip", lays=(f"{ID}/3",)),
)


@pytest.fixture(scope="module")
def figure() -> FeltFigure:
    found = felt_figure(LINES, 3, (30.0, 50.0))
    assert found is not None
    return found


def bars(figure: FeltFigure, place: str) -> tuple[Bar, ...]:
    return next(row.bars for row in figure.rows if row.name == place)


def test_a_row_stands_for_each_place_of_the_seat(figure: FeltFigure) -> None:
    names = [row.name for row in figure.rows]
    assert names == ["phase", "steps", "high hand", "Main", "pay: Main", "lammers"]
    assert [bar.text for bar in bars(figure, "steps")] == ["in hand"]
    assert [bar.text for bar in bars(figure, "phase")] == ["bets", "settling"]


def test_bars_lie_along_the_time(figure: FeltFigure) -> None:
    (stake,) = bars(figure, "Main")
    assert (stake.left, stake.width) == pytest.approx((0.1 * TRACK_PX, 0.5 * TRACK_PX))
    assert "00:10.0 to 01:00.0" in stake.title
    (hatch,) = stake.hatched
    assert (hatch.left, hatch.width) == pytest.approx((0.2 * TRACK_PX, 0.1 * TRACK_PX))
    assert hatch.title == "not seen at rest: motion, arm of seat 2"
    assert figure.band == pytest.approx((0.3 * TRACK_PX, 0.2 * TRACK_PX))
    ((at, words),) = figure.events
    assert at == pytest.approx(0.9 * TRACK_PX)
    assert words == "The round was abandoned"
    assert [tick.text for tick in figure.ticks][:2] == ["00:00", "00:10"]


def test_what_is_undecided_is_marked_and_says_why(figure: FeltFigure) -> None:
    (stake,) = bars(figure, "Main")
    assert stake.undecided
    assert "main.stake undecided: a chip" in stake.title
    assert not bars(figure, "lammers")[0].undecided


def test_words_that_a_short_bar_would_cut_stand_beside_it(figure: FeltFigure) -> None:
    (pay,) = bars(figure, "pay: Main")
    assert pay.text == "$25 (1 green) · by low too"
    assert pay.text_left > pay.left + pay.width
    assert "seen without it from 01:13.0 on" in pay.title
    # The next bar begins before the words would end.
    hand, card = bars(figure, "high hand")
    assert hand.title.startswith("QH 3S, ")
    assert hand.text_left < hand.left + hand.width
    assert hand.text == ""  # two letters say nothing: the title has it
    assert card.text == "AS"


def test_a_stack_that_grew_is_drawn_sum_by_sum() -> None:
    sums = tuple(
        LaySum(from_s=since, until_s=until, what=what, cents=cents)
        for since, until, what, cents in (
            ("10.0", "18.0", "3 red", 1500), ("25.0", "60.0", "5 red", 2500),
        )
    )  # fmt: skip
    grown = lay(1, "main", "5 red", "10.0", "60.0", cents=2500, hidden=(MOTION,), sums=sums)
    figure = felt_figure((grown, *LINES[:2]), 3)
    assert figure is not None
    first, later = bars(figure, "Main")
    assert (first.text, later.text) == ("$15 (3 red)", "$25 (5 red)")
    assert first.left + first.width == pytest.approx(later.left) == pytest.approx(250.0)
    # The hatching from 20 to 30 s lies over both.
    assert [part.width for bar in (first, later) for part in bar.hatched] == pytest.approx([50, 50])


def test_lamps_meters_and_the_marker_have_rows_of_their_own() -> None:
    name = "emperors_treasure_progressive"
    more = (
        lay(8, f"{name} lamp", "unlit", "10.0", "40.0", item="lamp"),
        lay(9, f"{name} lamp", "lit", "42.0", "90.0", item="lamp"),
        lay(10, "main unread", "not read", "20.0", "40.0"),
        lay(11, "marker", "banker's marker", "0.0", "100.0", item="marker"),
        lay(
            12,
            f"meters.{name}.2",
            " 610231",
            "1.0",
            "60.0",
            item="display",
            cents=610231,
            seat=None,
        ),
    )
    figure = felt_figure((*LINES, *more), 3)
    assert figure is not None
    names = [row.name for row in figure.rows]
    assert names[3:] == [
        "Main", "pay: Main", "not read: Main", "lamp: Emperor's Treasure Progressive", "lammers",
        "banker's marker",
    ]  # fmt: skip
    assert [bar.kind for bar in bars(figure, names[6])] == ["lamp", "lamp lit"]
    dealers = felt_figure((*LINES, *more), None)
    assert dealers is not None
    # A long name is not cut.
    assert figure.label_px > 160.0
    (meter,) = bars(dealers, "meter: Emperor's Treasure Progressive 2")
    assert meter.text == "$6,102.31"


def test_what_hid_a_stack_is_named() -> None:
    hidden = (
        Span(from_s="74.0", until_s="75.0", why="behind a stack", behind=f"{ID}/3"),
        Span(from_s="76.0", until_s="77.0", why="motion", by=(3, "dealer")),
    )
    pay = lay(2, "main pay", "1 green", "70.0", "80.0", hidden=hidden)
    figure = felt_figure((*LINES[:5], LINES[7], pay), 3)
    assert figure is not None
    (bar,) = bars(figure, "pay: Main")
    assert [part.title for part in bar.hatched] == [
        "not seen: behind 5 red (Main)",
        "not seen at rest: motion, arm of seat 3, the dealer's arm",
    ]


def test_what_is_undecided_and_lay_nowhere_has_a_row() -> None:
    doubt = UndecidedLine(
        round_id=ID, seat=5, what="hand", why="never seen", from_s="0.0", until_s="100.0"
    )
    figure = felt_figure((*LINES, doubt), 5)
    assert figure is not None
    (bar,) = bars(figure, "not read")
    assert (bar.text, bar.undecided, bar.width) == ("hand: never seen", True, TRACK_PX)


def test_a_seat_at_which_nothing_lay_has_no_figure() -> None:
    assert felt_figure(LINES, 5) is None
    assert felt_figure((), 3) is None


def drawn(table: TableFile, **more: object) -> JudgedRound:
    judged = judge(observed_round(1, **more), table)  # type: ignore[arg-type]
    return replace(judged, timeline=LINES)


def test_the_report_draws_it_beside_what_is_found_and_what_is_not_read(table: TableFile) -> None:
    html = render_report(HEADING, [drawn(table, paid_cents=3000)])
    page(html)
    (alert,) = html.split("<article")[1:]
    assert "What lay at seat 3 and when" in alert.split("</article>")[0]
    assert html.count("<svg") == 1
    doubt = Undecided(seat=3, what="main.stake", why="a chip")
    html = render_report(HEADING, [drawn(table, undecided=(doubt,))])
    assert html.count("<svg") == 1
    # All in order: nothing to look up.
    assert "<svg" not in render_report(HEADING, [drawn(table)])
