"""Stakes and payouts right and wrong by how their stacks are seen."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from datasets.simulate.filming.stack_lines import StackLine, StackView
from settlement.record import DealerRecord, RoundRecord, SeatRecord, Undecided, WagerRecord
from surveillance.reports.score import MoneyRead, score_records
from surveillance.reports.score_merge import together
from surveillance.reports.score_views import money_views, views_form

ROUND_ID = "t1-000001"
VIEW = StackView(px_per_chip=3.5, hidden=0.0, foot_hidden=False)


def line(
    role: str = "stake",
    *,
    key: str = "r1.3.main.stake0",
    round_id: str = ROUND_ID,
    laying: int = 1,
    chips: int = 3,
    colours: int = 1,
    lean_mm: float = 0.0,
    untidy: float = 0.0,
    view: StackView = VIEW,
    more: Mapping[str, StackView] | None = None,
) -> StackLine:
    return StackLine(
        round_id=round_id, seat=3, wager="main", role=role, key=key, laying=laying, cents=100,
        chips=chips, colours=colours, lean_mm=lean_mm, untidy=untidy, t0_s="1", t1_s="2",
        cameras={"": view, **(more or {})},
    )  # fmt: skip


def view(px: float = 3.5, hidden: float = 0.0, foot: bool = False) -> StackView:
    return StackView(px_per_chip=px, hidden=hidden, foot_hidden=foot)


def read(*stacks: StackLine, verdict: str = "right", role: str = "stake") -> MoneyRead:
    return MoneyRead(ROUND_ID, 3, "main", role, 300, 3, verdict, (), tuple(stacks))  # type: ignore[arg-type]


def groups(*stacks: StackLine, cameras: str = "first") -> dict[str, str]:
    """The group of every table that a stake of these stacks is counted in."""
    form = views_form(money_views([read(*stacks)], cameras))["stakes"]  # type: ignore[arg-type]
    found = {}
    for name, table in form.items():
        if isinstance(table, dict):
            named = [label for label, tally in table.items() if tally["seen"]]
            assert len(named) <= 1
            found[name] = named[0] if named else ""
    return found


@pytest.mark.parametrize(
    ("px", "group"),
    [(2.49, "<2.5"), (2.5, "2.5-3"), (3.0, "3-4"), (3.99, "3-4"), (4.0, "4-6"), (6.0, "6+")],
)
def test_by_px_per_chip(px: float, group: str) -> None:
    assert groups(line(view=view(px)))["px_per_chip"] == group


@pytest.mark.parametrize(
    ("chips", "group"),
    [(1, "1-2"), (2, "1-2"), (3, "3-5"), (6, "6-10"), (11, "11-20"), (20, "11-20"), (21, "21+")],
)
def test_by_height(chips: int, group: str) -> None:
    assert groups(line(chips=chips))["height"] == group


@pytest.mark.parametrize(
    ("lean_mm", "untidy", "group"),
    [(0.99, 0.0, "upright"), (1.0, 0.0, "leaning"), (0.0, 0.2, "untidy"), (4.0, 0.2, "untidy")],
)
def test_by_lean(lean_mm: float, untidy: float, group: str) -> None:
    assert groups(line(lean_mm=lean_mm, untidy=untidy))["lean"] == group


@pytest.mark.parametrize(("colours", "group"), [(1, "1"), (2, "2"), (3, "3+"), (5, "3+")])
def test_by_colours(colours: int, group: str) -> None:
    assert groups(line(colours=colours))["colours"] == group


@pytest.mark.parametrize(
    ("hidden", "foot", "group"),
    [
        (0.0, False, "in view"),
        (0.049, False, "in view"),
        (0.05, False, "partly"),
        (0.5, False, "partly"),
        (0.04, True, "foot hidden"),
        (0.5, True, "foot hidden"),
        (0.51, True, "mostly"),
        (0.51, False, "mostly"),
    ],
)
def test_by_what_hides_it(hidden: float, foot: bool, group: str) -> None:
    assert groups(line(view=view(hidden=hidden, foot=foot)))["hidden"] == group


def test_of_several_stacks_the_worst_counts() -> None:
    found = groups(
        line(chips=12, view=view(3.2)),
        line(key="r1.3.main.stake1", chips=2, colours=3, lean_mm=2.0, view=view(2.6, 0.2)),
    )
    assert found == {
        "px_per_chip": "2.5-3", "height": "11-20", "lean": "leaning", "colours": "3+",
        "hidden": "partly", "covered": "none", "stacks": "more", "aim": "",
    }  # fmt: skip
    assert groups(line())["stacks"] == "one"


@pytest.mark.parametrize(
    ("chips", "px", "hidden", "group"),
    [
        (10, 3.0, 0.0, "1-10 chips"),
        (11, 3.0, 0.04, "11-20 chips"),
        (21, 9.0, 0.0, ""),
        (5, 2.9, 0.0, ""),
        (5, 3.0, 0.05, ""),
    ],
)
def test_the_aim_is_what_is_seen_well(chips: int, px: float, hidden: float, group: str) -> None:
    assert groups(line(chips=chips, view=view(px, hidden)))["aim"] == group


def test_of_all_cameras_the_one_that_sees_it_best_counts() -> None:
    own = line(view=view(3.0, 0.0), more={"a": view(9.0, 0.3), "b": view(3.5, 0.01)})
    assert groups(own, cameras="first")["px_per_chip"] == "3-4"
    hidden = line(view=view(3.0, 0.6, True), more={"a": view(9.0, 0.3), "b": view(2.6)})
    assert groups(hidden, cameras="first")["hidden"] == "mostly"
    found = groups(hidden, cameras="all")
    assert (found["hidden"], found["px_per_chip"]) == ("in view", "2.5-3")


def test_verdicts_are_counted_with_their_intervals() -> None:
    money = [read(line(), verdict=v) for v in ("right", "right", "wrong", "undecided")]
    money += [read(line("paid"), role="paid"), read(verdict="wrong")]
    form = views_form(money_views(money, "first"))
    tally = form["stakes"]["stacks"]["one"]
    assert {k: tally[k] for k in ("seen", "right", "wrong", "undecided")} == {
        "seen": 4, "right": 2, "wrong": 1, "undecided": 1,
    }  # fmt: skip
    assert tally["right_interval"] == pytest.approx([0.15, 0.85], abs=0.001)
    assert tally["wrong_interval"] == pytest.approx([0.0456, 0.6994], abs=0.001)
    assert form["stakes"]["not_listed"] == 1
    assert form["pays"]["aim"]["1-10 chips"]["right"] == 1
    assert form["both"]["aim"]["1-10 chips"]["seen"] == 5


def a_round(round_id: str, *wagers: WagerRecord, undecided: tuple[Undecided, ...] = ()):
    return RoundRecord(
        round_id=round_id, table="t1", game="g", start_s="1", end_s="9", dealer=DealerRecord(),
        seats=(SeatRecord(seat=3, wagers=wagers),), undecided=undecided,
    )  # fmt: skip


MAIN = WagerRecord(wager="main", stake_cents=300, action="paid", paid_cents=100, stake_chips=3)


def test_a_wager_gets_the_stacks_of_its_last_laying() -> None:
    lines = [
        line(chips=9, laying=1),
        line(chips=4, laying=2, key="r1.3.main.stake2-0"),
        line(chips=7, laying=2, key="r1.3.main.stake2-1"),
        line("paid", chips=1, laying=3, key="r1.3.main.paid3-0"),
        line(chips=20, round_id="t1-000002"),
    ]
    seen = a_round("seen", MAIN, undecided=())
    stake, paid = score_records([a_round(ROUND_ID, MAIN)], [seen], None, None, lines).money
    assert [one.chips for one in stake.stacks] == [4, 7]
    assert [one.chips for one in paid.stacks] == [1]
    assert (stake.role, stake.verdict, stake.cents) == ("stake", "right", 300)
    assert (paid.role, paid.verdict, paid.cents) == ("paid", "right", 100)


def test_a_stack_that_was_lifted_and_laid_again_is_one() -> None:
    lines = [line(view=view(hidden=0.3)), line()]
    truth = [a_round(ROUND_ID, MAIN)]
    stake, _ = score_records(truth, truth, None, None, lines).money
    assert len(stake.stacks) == 1
    assert stake.stacks[0].cameras[""].hidden == 0.0


def test_shifts_are_scored_together_though_their_rounds_have_the_same_ids() -> None:
    truth = [a_round(ROUND_ID, MAIN)]
    wrong = [a_round(ROUND_ID, MAIN.model_copy(update={"stake_cents": 400}))]
    first = score_records(truth, truth, [], [()], [line(chips=2)])
    second = score_records(truth, wrong, [], [()], [line(chips=12)])
    both = together([first, second])
    form = both.as_dict()
    assert form["rounds"] == {"true": 2, "found": 2, "missed": 0, "invented": 0, "split": 0}
    assert both.stakes.as_dict() == {"seen": 2, "right": 1, "wrong": 1, "undecided": 0}
    assert both.stakes_by_height["1-5"].seen == 2
    assert both.pays.right == 2
    assert both.clean_rounds == 2
    assert both.alerts is not None
    heights = views_form(money_views(both.money, "first"))["stakes"]["height"]
    assert (heights["1-2"]["right"], heights["11-20"]["wrong"]) == (1, 1)
    assert together([first]) is first


def test_alerts_of_shifts_are_added() -> None:
    from settlement.record import Fault
    from surveillance.alerts.model import Alert

    fault = Fault(code="OVERPAID", seat=3, wager="main")
    alert = Alert(
        alert_id="a", round_id=ROUND_ID, code="OVERPAID", severity="high", seat=3, wager="main",
        message="m",
    )  # fmt: skip
    truth = [a_round(ROUND_ID, MAIN)]
    found = score_records(truth, truth, [alert], [(fault,)])
    false = score_records(truth, truth, [alert], [()])
    both = together([found, false]).alerts
    assert both is not None
    assert (both.faults, both.found, both.false, both.rounds_with_false) == (1, 1, 1, 1)
    assert both.by_code == {"OVERPAID": {"faults": 1, "found": 1, "false": 1}}
    assert together([found, score_records(truth, truth, None, None)]).alerts is None
