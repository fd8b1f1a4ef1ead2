"""Sums that the picture does not exclude: no alert where one of them would be in order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from settlement.record import RoundRecord
from settlement.rules import WagerLimit
from tests.settlement.felt import LOSER, PAIR_DEALER, RULES, WINNER, findings, round_of, seat, wager


def told(
    cards: str, stake: int, paid: int, *, action: str = "paid",
    stake_or: tuple[int, ...] | None = None, paid_or: tuple[int, ...] | None = None,
) -> list[tuple[str, str]]:  # fmt: skip
    """Code and message of each finding of a main bet."""
    own = wager("main", stake, action, paid).model_copy(
        update={"stake_or_cents": stake_or, "paid_or_cents": paid_or}
    )
    record = round_of(PAIR_DEALER, seat(3, cards, own))
    # What a file holds is judged alike.
    again = RoundRecord.model_validate_json(record.model_dump_json())
    assert findings(again) == findings(record)
    return [(str(f.code), f.message) for f in findings(record)]


@pytest.mark.parametrize(
    ("paid", "paid_or", "code"),
    [
        (7000, None, "UNDERPAID"),
        (7000, (7500,), "UNDECIDED"),
        (7000, (6500,), "UNDERPAID"),
        (7000, (6500, 7500), "UNDECIDED"),
        (8000, (7500,), "UNDECIDED"),
        (8000, (8500,), "OVERPAID"),
        (7500, (7000, 8000), None),
        # Nothing laid at all is no matter of counting.
        (0, (7500,), "NOT_PAID"),
    ],
)
def test_a_pay_that_may_be_right(
    paid: int, paid_or: tuple[int, ...] | None, code: str | None
) -> None:
    found = told(WINNER, 7500, paid, paid_or=paid_or)
    assert [c for c, _ in found] == ([code] if code else [])
    if code == "UNDECIDED":
        assert "main bet, pay: read as" in found[0][1]
        assert "$75.00" in found[0][1]
        assert "Not judged: main bet." in found[0][1]


def test_a_stake_that_may_be_right() -> None:
    assert [c for c, _ in told(WINNER, 7000, 7500)] == ["OVERPAID"]
    ((code, message),) = told(WINNER, 7000, 7500, stake_or=(7500,))
    assert code == "UNDECIDED"
    assert "main bet, stake: read as $70.00, but $75.00" in message
    assert [c for c, _ in told(WINNER, 7000, 7500, stake_or=(8000,))] == ["OVERPAID"]


def test_what_is_no_matter_of_the_sum_stands() -> None:
    assert [c for c, _ in told(LOSER, 7500, 7500, paid_or=(7000,))] == ["PAID_LOSER"]
    taken = told(WINNER, 7500, 0, action="taken", stake_or=(7000,))
    assert [c for c, _ in taken] == ["TOOK_WINNER"]


def test_a_limit_that_may_be_kept() -> None:
    rules = RULES.model_copy(update={"limits": {"main": WagerLimit(min_cents=2500)}})
    own = wager("main", 2000, "taken", 0)
    (found,) = findings(round_of(PAIR_DEALER, seat(3, LOSER, own)), rules)
    assert found.code == "LIMIT"
    own = own.model_copy(update={"stake_or_cents": (2500,)})
    (found,) = findings(round_of(PAIR_DEALER, seat(3, LOSER, own)), rules)
    assert found.code == "UNDECIDED"


def test_another_seats_doubt_changes_nothing() -> None:
    wrong = wager("main", 7500, "paid", 7000)
    other = wager("main", 2500, "paid", 2500).model_copy(update={"paid_or_cents": (3000,)})
    both = round_of(PAIR_DEALER, seat(3, WINNER, wrong), seat(4, "JS JH / QS QD QC 3H 2D", other))
    assert [(f.code, f.seat) for f in findings(both)] == [("UNDERPAID", 3)]


@given(st.integers(1, 40), st.integers(1, 40), st.sets(st.integers(1, 40), max_size=3))
def test_other_sums_only_ever_take_a_finding_of_the_sum_away(
    stake: int, paid: int, others: set[int]
) -> None:
    cents = tuple(500 * n for n in sorted(others - {paid}))
    plain = [c for c, _ in told(WINNER, 500 * stake, 500 * paid)]
    doubted = [c for c, _ in told(WINNER, 500 * stake, 500 * paid, paid_or=cents)]
    right = 500 * stake in cents
    assert doubted == (["UNDECIDED"] if plain and right else plain)
