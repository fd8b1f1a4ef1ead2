"""Sums with probabilities: the question is judged, not the sum."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from settlement.compare.comparison import compare_and_suspect
from settlement.compare.evidence import _one_more, laid_with
from settlement.record import Payment, RoundRecord, Undecided
from settlement.rules import WagerLimit
from settlement.settle import settle
from tests.settlement.felt import LOSER, PAIR_DEALER, RULES, WINNER, findings, round_of, seat, wager

Sums = tuple[tuple[int, float], ...]


def codes(
    cards: str, stake: int | None, paid: int | None, *, action: str = "paid",
    stakes: Sums | None = None, pays: Sums | None = None,
) -> list[str]:  # fmt: skip
    """Codes of the findings of a main bet; an unknown sum is in doubt."""
    own = wager("main", stake, action, paid).model_copy(
        update={"stake_sums": stakes, "paid_sums": pays}
    )
    doubts = [f"main.{part}" for part, sum_ in (("stake", stake), ("paid", paid)) if sum_ is None]
    record = round_of(PAIR_DEALER, seat(3, cards, own)).model_copy(
        update={"undecided": tuple(Undecided(seat=3, what=d, why="a chip") for d in doubts)}
    )
    # What a file holds is judged alike.
    again = RoundRecord.model_validate_json(record.model_dump_json())
    assert findings(again) == findings(record)
    return [str(f.code) for f in findings(record)]


@pytest.mark.parametrize(
    ("paid", "pays", "code"),
    [
        (7000, None, "UNDERPAID"),
        (7000, ((7000, 0.9995), (7500, 0.0005)), "UNDERPAID"),
        (7000, ((7000, 0.99), (7500, 0.01)), "UNDECIDED"),
        # Both sums are too small; but where no sum is likely, the true one is often none of them.
        (None, ((7000, 0.6), (6500, 0.3996)), "UNDECIDED"),
        (None, ((7000, 0.98), (6500, 0.0196)), "UNDECIDED"),
        (None, ((7000, 0.9991), (6500, 0.0009)), "UNDERPAID"),
        (None, ((7000, 0.6), (8000, 0.4)), "UNDECIDED"),
        # Not what is due either way; too little is by far the likelier.
        (7000, ((7000, 0.9991), (8000, 0.0008)), "UNDERPAID"),
        # But of sums less sure than that the true one is now and then none.
        (7000, ((7000, 0.9955), (8000, 0.0044)), "UNDERPAID"),
        (7000, ((7000, 0.9945), (8000, 0.0054)), "UNDECIDED"),
        (7000, ((7000, 0.985), (8000, 0.0149)), "UNDECIDED"),
        (7000, ((7000, 0.985), (8000, 0.01), (7500, 0.0049)), "UNDECIDED"),
        # Of the sums that are not listed one alone would be right, and none is likely.
        (7000, ((7000, 0.9991), (8000, 0.0004)), "UNDERPAID"),
        (7000, ((7000, 0.98), *((100 * n, 0.0025) for n in range(1, 8))), "UNDECIDED"),
        (7500, ((7500, 0.97), (7000, 0.03)), None),
        (7500, ((7500, 0.8), (7000, 0.2)), "UNDECIDED"),
        # Nothing laid at all is no matter of counting.
        (0, None, "NOT_PAID"),
    ],
)
def test_a_payout(paid: int | None, pays: Sums | None, code: str | None) -> None:
    assert codes(WINNER, 7500, paid, pays=pays) == ([code] if code else [])


def test_an_unread_stake_and_payout_that_cannot_be_equal() -> None:
    stakes = ((7000, 0.9992), (7500, 0.0008))
    assert codes(WINNER, None, None, stakes=stakes, pays=((2500, 0.9992), (3000, 0.0008))) == [
        "UNDERPAID"
    ]
    torn = ((7000, 0.5), (7500, 0.4999))
    assert codes(WINNER, None, None, stakes=torn, pays=((2500, 0.6), (3000, 0.3999))) == [
        "UNDECIDED"
    ]
    both = ((7000, 0.5), (7500, 0.5))
    assert codes(WINNER, None, None, stakes=both, pays=both) == ["UNDECIDED"]


def test_what_is_no_matter_of_the_sum_stands() -> None:
    unread = ((7500, 0.5), (7000, 0.5))
    assert codes(LOSER, None, None, stakes=unread, pays=unread) == ["PAID_LOSER"]
    assert codes(WINNER, None, 0, action="taken", stakes=unread) == ["TOOK_WINNER"]
    assert codes(LOSER, None, 0, action="taken", stakes=unread) == []


def test_a_mended_payment_of_a_stake_in_doubt() -> None:
    own = wager("main", 7500, "paid", 7500).model_copy(
        update={
            "stake_sums": ((7500, 0.98), (7400, 0.0199)),
            "payments": (Payment(at_s="40.0", cents=5000), Payment(at_s="42.0", cents=2500)),
        }
    )
    held = seat(3, WINNER, own).model_copy(update={"cards_taken_s": "41.0"})
    record = round_of(PAIR_DEALER, held)
    # Too little at first, whatever the stake is; whether too much at last hangs on the stake.
    assert [str(f.code) for f in findings(record)] == ["UNDERPAID"]


@pytest.mark.parametrize(
    ("in_time", "found"),
    [
        (((7000, 0.9995), (7500, 0.0004)), ["UNDERPAID"]),
        (((8000, 0.9995), (7500, 0.0004)), ["OVERPAID"]),
        (((7000, 0.99), (7500, 0.01)), ["UNDECIDED"]),
        (((7500, 0.96), (7000, 0.04)), []),
    ],
)
def test_a_corrected_payment_is_judged_by_what_lay_there_in_time(
    in_time: Sums, found: list[str]
) -> None:
    likeliest = in_time[0][0]
    payments = (
        Payment(at_s="40.0", cents=likeliest), Payment(at_s="42.0", cents=7500 - likeliest)
    )  # fmt: skip
    own = wager("main", 7500, "paid", None).model_copy(
        update={
            "paid_sums": ((7500, 0.9), (7600, 0.1)), "in_time_sums": in_time, "payments": payments,
        }
    )  # fmt: skip
    held = seat(3, WINNER, own).model_copy(update={"cards_taken_s": "41.0"})
    record = round_of(PAIR_DEALER, held, undecided=((3, "main.paid"),))
    assert [str(f.code) for f in findings(record)] == found


def test_whether_a_corrected_payout_was_too_much_or_too_little_may_be_open() -> None:
    """What lay there first was wrong either way: nothing is made of its likeliest sum."""
    own = wager("main", 3000, "paid", 3000).model_copy(
        update={
            "in_time_sums": ((10_250, 0.48), (350, 0.47), (750, 0.05)),
            "paid_sums": ((3000, 0.9999),),
            "payments": (Payment(at_s="40.0", cents=10_250), Payment(at_s="42.0", cents=-7250)),
        }
    )
    held = seat(3, WINNER, own).model_copy(update={"cards_taken_s": "41.0"})
    record = round_of(PAIR_DEALER, held)
    found, suspected = compare_and_suspect(record, settle(record, RULES), RULES)
    assert [str(f.code) for f in found] == ["UNDECIDED"]
    assert [str(one.finding.code) for one in suspected] == ["UNDERPAID"]


@pytest.mark.parametrize(
    ("last", "found"),
    [
        (((2000, 0.9999),), ["OVERPAID"]),
        (((2000, 0.92), (1900, 0.08)), ["OVERPAID"]),
        # It is not right at last either: then it may have been right before.
        (((1900, 0.9999),), ["UNDECIDED"]),
        (None, ["UNDECIDED"]),
    ],
)
def test_a_payout_that_was_put_right_late_was_wrong(last: Sums | None, found: list[str]) -> None:
    """Of stake and payout one other pair is in order; but why should the dealer go back to it?"""
    in_time = ((2500, 0.9962), (3000, 0.0037))
    cents = 2500 if last is None else last[0][0]
    own = wager("main", 2000, "paid", None).model_copy(
        update={
            "stake_sums": ((2000, 0.9968), (2500, 0.0031)), "in_time_sums": last and in_time,
            "paid_sums": last or in_time,
            "payments": last
            and (Payment(at_s="40.0", cents=2500), Payment(at_s="42.0", cents=cents - 2500)),
        }
    )  # fmt: skip
    held = seat(3, WINNER, own).model_copy(update={"cards_taken_s": "41.0"})
    record = round_of(PAIR_DEALER, held, undecided=((3, "main.paid"),))
    assert [str(f.code) for f in findings(record)] == found


def test_sums_in_time_without_the_two_payments_do_not_count() -> None:
    own = wager("main", 7500, "paid", 7500)
    for payments in (None, (Payment(at_s="40.0", cents=7500),)):
        stray = own.model_copy(update={"in_time_sums": ((7000, 0.9999),), "payments": payments})
        assert findings(round_of(PAIR_DEALER, seat(3, WINNER, stray))) == []


@pytest.mark.parametrize(
    ("former", "found", "suspected"),
    [
        # What was due lay there, and then something changed.
        (((2000, 0.995), (2500, 0.004)), ["OVERPAID"], []),
        # It was not sure that it was that, or it was something else.
        (((2000, 0.6), (2500, 0.39)), ["UNDECIDED"], ["OVERPAID"]),
        (((2500, 0.995),), ["UNDECIDED"], ["OVERPAID"]),
        (None, ["UNDECIDED"], ["OVERPAID"]),
    ],
)
def test_a_right_payout_that_was_changed_is_none(
    former: Sums | None, found: list[str], suspected: list[str]
) -> None:
    own = wager("main", 2000, "paid", None).model_copy(
        update={"paid_sums": ((4000, 0.96), (2000, 0.006)), "former_sums": former}
    )
    record = round_of(PAIR_DEALER, seat(3, WINNER, own), undecided=((3, "main.paid"),))
    codes, doubtful = compare_and_suspect(record, settle(record, RULES), RULES)
    assert [str(one.code) for one in codes] == found
    assert [str(one.finding.code) for one in doubtful] == suspected


def test_a_payment_that_came_too_late_whatever_its_sum() -> None:
    own = wager("main", 7500, "paid", None).model_copy(
        update={
            "paid_sums": ((7500, 0.6), (7000, 0.2), (8000, 0.19)),
            "payments": (Payment(at_s="42.0", cents=7500),),
        }
    )

    def found(taken_s: str | None) -> list[str]:
        held = seat(3, WINNER, own).model_copy(update={"cards_taken_s": taken_s})
        record = round_of(PAIR_DEALER, held, undecided=((3, "main.paid"),))
        return [str(f.code) for f in findings(record)]

    assert found("40.0") == ["NOT_PAID"]
    # That it also was too much may be, but need not.
    own = own.model_copy(update={"paid_sums": ((7500, 0.85), (8000, 0.15))})
    assert found("40.0") == ["NOT_PAID"]
    assert found("44.0") == ["UNDECIDED"]
    assert found(None) == ["UNDECIDED"]


def test_a_limit_that_may_be_kept() -> None:
    rules = RULES.model_copy(update={"limits": {"main": WagerLimit(min_cents=2500)}})
    own = wager("main", 2000, "taken", 0)
    (found,) = findings(round_of(PAIR_DEALER, seat(3, LOSER, own)), rules)
    assert found.code == "LIMIT"
    own = own.model_copy(update={"stake_sums": ((2000, 0.9), (2500, 0.1))})
    found_codes = [f.code for f in findings(round_of(PAIR_DEALER, seat(3, LOSER, own)), rules)]
    assert "LIMIT" not in found_codes


@pytest.mark.parametrize(
    ("weighed", "read", "found"),
    [
        # That few people stake $9 does not clear who does.
        (0.96, 0.9996, True),
        (0.96, 0.99, False),
        # But a stake that is more likely another one is not reported.
        (0.6, 0.9996, False),
        (0.9996, 0.99, False),
    ],
)
def test_a_limit_is_judged_by_what_was_read(weighed: float, read: float, found: bool) -> None:
    rules = RULES.model_copy(update={"limits": {"main": WagerLimit(min_cents=1000)}})
    own = wager("main", None, "taken", 0).model_copy(
        update={
            "stake_sums": ((900, weighed), (1000, 1 - weighed)),
            "read_sums": ((900, read), (1000, 1 - read)),
            "stake_chips": 5,
        }
    )
    record = round_of(PAIR_DEALER, seat(3, LOSER, own), undecided=((3, "main.stake"),))
    assert ("LIMIT" in [f.code for f in findings(record, rules)]) is found


@pytest.mark.parametrize(
    ("weighed", "read", "more"),
    [
        (((2000, 0.999),), None, 1e-4),
        # One of many sums that are not listed, and the only one that was likely.
        (((2000, 0.999),), ((2000, 0.99),), 1e-5),
        (((900, 0.97),), ((900, 0.9999),), 0.03),
    ],
)
def test_sums_that_are_not_listed_count_as_they_were_weighed(
    weighed: Sums, read: Sums | None, more: float
) -> None:
    own = wager("main", None, "taken", 0).model_copy(
        update={"stake_sums": weighed, "read_sums": read}
    )
    assert _one_more(own, weighed[0][1]) == pytest.approx(more)


def test_another_seats_doubt_changes_nothing() -> None:
    wrong = wager("main", 7500, "paid", 7000)
    other = wager("main", 2500, "paid", 2500).model_copy(
        update={"paid_sums": ((2500, 0.6), (3000, 0.4))}
    )
    found = findings(
        round_of(PAIR_DEALER, seat(3, WINNER, wrong), seat(4, "JS JH / QS QD QC 3H 2D", other))
    )
    assert [(f.seat, str(f.code)) for f in found if f.seat == 3] == [(3, "UNDERPAID")]


@given(
    sums=st.lists(
        st.tuples(st.sampled_from([6500, 7000, 7500, 8000]), st.floats(0.001, 1)),
        min_size=1, max_size=4, unique_by=lambda one: one[0],
    )
)  # fmt: skip
def test_no_finding_by_a_sum_that_is_likely_to_be_right(sums: list[tuple[int, float]]) -> None:
    whole = sum(share for _, share in sums)
    pays = tuple(sorted(((c, share / whole) for c, share in sums), key=lambda one: -one[1]))
    found = codes(WINNER, 7500, pays[0][0], pays=pays)
    right = sum(share for cents, share in pays if cents == 7500)
    if right > 0.001 + 1e-9:
        assert found in ([], ["UNDECIDED"])
    if right < 1e-9:
        assert found != []


@pytest.mark.parametrize(("chips", "code"), [(8, "LIMIT"), (9, None)])
def test_a_tall_stack_of_another_sum_than_was_read_is_likely(chips: int, code: str | None) -> None:
    rules = RULES.model_copy(update={"limits": {"main": WagerLimit(min_cents=10_000)}})
    own = wager("main", 9100, "taken", 0).model_copy(
        update={"stake_sums": ((9100, 0.9992), (9600, 0.0007)), "stake_chips": chips}
    )
    found = [str(f.code) for f in findings(round_of(PAIR_DEALER, seat(3, LOSER, own)), rules)]
    assert [one for one in found if one != "UNDECIDED"] == ([code] if code else [])


@pytest.mark.parametrize(
    ("read", "paid", "code"),
    [
        (0.9995, 2500, "OVERPAID"),
        (0.9995, 4000, "OVERPAID"),
        (0.9995, 1000, "UNDERPAID"),
        (0.985, 2500, None),
        # Of a less sure stake nothing is reported, however far off the payout is.
        (0.985, 3500, None),
        (0.985, 4000, None),
        (0.985, 1200, None),
        (0.985, 1000, None),
        (0.9995, 2300, None),
        (0.9995, 1600, "UNDERPAID"),
    ],
)
def test_a_fifth_more_is_no_misread_tall_stack_that_is_sure(
    read: float, paid: int, code: str | None
) -> None:
    own = wager("main", 2000, "paid", paid).model_copy(
        update={
            "stake_sums": ((2000, read), (2100, 0.9999 - read)), "stake_chips": 20,
            "paid_sums": ((paid, 1.0),), "paid_chips": 3,
        }
    )  # fmt: skip
    found = [str(f.code) for f in findings(round_of(PAIR_DEALER, seat(3, WINNER, own)))]
    assert [one for one in found if one != "UNDECIDED"] == ([code] if code else [])


@pytest.mark.parametrize(
    ("read", "paid", "code"),
    [
        # The stake is none of those read in one of 1,000 where it is read so, else in one of 30.
        (0.9965, 4000, "OVERPAID"),
        (0.9965, 3000, "OVERPAID"),
        (0.9965, 1000, "UNDERPAID"),
        (0.9965, 2100, None),
        (0.993, 4000, None),
    ],
)
def test_a_payout_laid_twice_is_no_misread_stake(read: float, paid: int, code: str | None) -> None:
    own = wager("main", 2000, "paid", paid).model_copy(
        update={
            "stake_sums": ((2000, read), (2100, 0.9999 - read)), "stake_chips": 4,
            "paid_sums": ((paid, 1.0),), "paid_chips": 4,
        }
    )  # fmt: skip
    found = [str(f.code) for f in findings(round_of(PAIR_DEALER, seat(3, WINNER, own)))]
    assert [one for one in found if one != "UNDECIDED"] == ([code] if code else [])


def test_a_corrected_payout_is_far_by_what_lay_there_in_time() -> None:
    own = wager("main", 2000, "paid", 2000).model_copy(
        update={
            "payments": (Payment(at_s="20", cents=2500), Payment(at_s="24", cents=-500)),
            "stake_sums": ((2000, 0.9998), (2100, 0.0002)), "stake_chips": 20,
            "in_time_sums": ((2500, 0.9995), (3000, 0.0005)), "paid_sums": ((2000, 0.9999),),
            "paid_chips": 5,
        }
    )  # fmt: skip
    late = seat(3, WINNER, own).model_copy(update={"cards_taken_s": "22"})
    assert [str(f.code) for f in findings(round_of(PAIR_DEALER, late))] == ["OVERPAID"]


def test_a_payout_laid_in_two_steps_in_time_is_far_by_both() -> None:
    """$16 and $5 lay there when the cards were taken, $20 were due: a misread stake explains it."""
    own = wager("main", 2000, "paid", 2100).model_copy(
        update={
            "payments": (Payment(at_s="10", cents=1600), Payment(at_s="15", cents=500)),
            "stake_sums": ((2000, 0.9995), (2200, 0.0005)), "stake_chips": 20,
        }
    )  # fmt: skip
    seat_ = seat(3, WINNER, own).model_copy(update={"cards_taken_s": "22"})
    assert [str(f.code) for f in findings(round_of(PAIR_DEALER, seat_))] == ["UNDECIDED"]


@pytest.mark.parametrize(
    ("pays", "said", "suspected"),
    [
        (((8000, 0.9), (7500, 0.06), (8500, 0.04)), "UNDECIDED", ("OVERPAID", 0.884)),
        # The payout due is 7500: as likely in order as not.
        (((8000, 0.5), (7500, 0.5)), "UNDECIDED", None),
        (((7000, 0.9995), (7500, 0.0005)), "UNDERPAID", None),
        (((7500, 0.97), (7000, 0.03)), None, None),
        # Where a reading is so little sure, none of the sums may be right.
        (((8000, 0.6), (8500, 0.4)), "UNDECIDED", ("OVERPAID", 0.85)),
    ],
)
def test_what_is_probably_wrong_is_suspected(
    pays: Sums, said: str | None, suspected: tuple[str, float] | None
) -> None:
    paid = wager("main", 7500, "paid", pays[0][0]).model_copy(update={"paid_sums": pays})
    record = round_of(PAIR_DEALER, seat(3, WINNER, paid))
    found, suspicions = compare_and_suspect(record, settle(record, RULES), RULES)
    assert [str(f.code) for f in found] == ([said] if said else [])
    own = [(str(s.finding.code), round(s.probability, 3)) for s in suspicions]
    assert own == ([suspected] if suspected else [])


def test_a_missing_payout_may_lie_with_another() -> None:
    own = wager("main", 7500, "paid", None)
    assert laid_with(own, 7500, 500) == 0
    torn = own.model_copy(update={"paid_sums": ((8000, 0.6), (7500, 0.2), (8500, 0.2))})
    assert laid_with(torn, 7500, 500) == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("paid", "least", "code"),
    [
        (8000, 2500, "UNDECIDED"),
        (8000, 500, "OVERPAID"),
        (10_000, 2500, "OVERPAID"),
        (15_000, 15_000, "UNDECIDED"),
        # Change is never more than what is due.
        (20_000, 20_000, "OVERPAID"),
        (8000, None, "OVERPAID"),
    ],
)
def test_change_that_nobody_saw_is_no_overpayment(paid: int, least: int | None, code: str) -> None:
    # 75 is due; 80 laid with chips of 25 cannot be one chip too many.
    own = wager("main", 7500, "paid", paid).model_copy(update={"paid_least_cents": least})
    record = round_of(PAIR_DEALER, seat(3, WINNER, own))
    assert [str(f.code) for f in findings(record)] == [code]
    known = own.model_copy(update={"returned_cents": paid - 7500})
    assert findings(round_of(PAIR_DEALER, seat(3, WINNER, known))) == []
