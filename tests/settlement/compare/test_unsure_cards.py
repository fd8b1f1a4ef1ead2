"""Cards read with less confidence than an alert needs: what hangs on them is no finding."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from settlement.compare.comparison import compare_and_suspect
from settlement.compare.finding import Finding, Suspicion
from settlement.record import DECK_LABELS, Confidence, RoundRecord, UnsureCard
from settlement.settle import settle
from tests.settlement.felt import LOSER, PAIR_DEALER, RULES, WINNER, round_of, seat, wager


def unsure(record: RoundRecord, *cards: UnsureCard) -> RoundRecord:
    return record.model_copy(update={"confidence": Confidence(cards=cards)})


def card(at: int | None, what: str, *may_be: tuple[str, float]) -> UnsureCard:
    return UnsureCard(seat=at, what=what, may_be=may_be)


def judged(record: RoundRecord) -> tuple[list[Finding], list[Suspicion]]:
    return compare_and_suspect(record, settle(record, RULES), RULES)


def codes(findings: list[Finding]) -> list[str]:
    return sorted(str(f.code) for f in findings)


def test_a_setting_that_another_card_puts_right_is_worth_a_look_and_no_finding() -> None:
    # The house way puts king and queen low; with an eight for the queen, king and nine.
    wrong = round_of("KD 9H / AS QC 7S 5D 2C")
    assert codes(judged(wrong)[0]) == ["HOUSE_WAY"]
    doubted = unsure(wrong, card(None, "high[1]", ("QC", 0.95), ("8C", 0.05)))
    findings, suspicions = judged(doubted)
    assert codes(findings) == ["UNDECIDED"]
    assert "the house way" in findings[0].message
    assert "read as QC with a probability of 0.950 only" in findings[0].message
    assert [(str(s.finding.code), s.probability) for s in suspicions] == [("HOUSE_WAY", 0.95)]


def test_what_does_not_hang_on_the_card_is_found() -> None:
    record = unsure(
        round_of(PAIR_DEALER, seat(3, WINNER, wager("main", 2500, "taken", 0))),
        card(None, "high[4]", ("2C", 0.9), ("3C", 0.06), ("4C", 0.04)),
        card(3, "high[4]", ("4H", 0.91), ("5H", 0.09)),
    )
    findings, suspicions = judged(record)
    assert codes(findings) == ["TOOK_WINNER"]
    assert suspicions == []


def test_what_hangs_on_a_players_card_is_not_found() -> None:
    # A pair of kings low beats the dealer; with a queen for a king it does not.
    paid = round_of(PAIR_DEALER, seat(3, WINNER, wager("main", 2500, "taken", 0)))
    record = unsure(paid, card(3, "low[1]", ("KH", 0.97), ("QH", 0.03)))
    findings, suspicions = judged(record)
    assert codes(findings) == ["UNDECIDED"]
    assert "Not judged: main bet" in findings[0].message
    assert [s.probability for s in suspicions] == [0.97]
    for share in (0.991, 0.9995):
        sure = unsure(paid, card(3, "low[1]", ("KH", share), ("QH", 1 - share)))
        assert codes(judged(sure)[0]) == ["TOOK_WINNER"]


def test_doubts_of_two_cards_add_up() -> None:
    paid = round_of(PAIR_DEALER, seat(3, WINNER, wager("main", 2500, "taken", 0)))
    # With another king the pair stays.
    one = card(3, "low[1]", ("KH", 0.985), ("KC", 0.0144), ("QH", 0.0006))
    other = card(3, "low[0]", ("KS", 0.985), ("KC", 0.0144), ("QS", 0.0006))
    assert codes(judged(unsure(paid, one))[0]) == ["TOOK_WINNER"]
    assert codes(judged(unsure(paid, one, other))[0]) == ["UNDECIDED"]


def test_a_seat_has_one_finding_of_what_was_not_judged() -> None:
    paid = round_of(
        PAIR_DEALER,
        seat(3, WINNER, wager("main", 2500, "taken", 0), wager("emperors_treasure", None)),
        undecided=((3, "emperors_treasure.stake"),),
    )
    record = unsure(paid, card(3, "low[1]", ("KH", 0.6), ("QH", 0.4)))
    findings, suspicions = judged(record)
    assert codes(findings) == ["UNDECIDED"]
    assert "not judged: main bet" in findings[0].message
    assert suspicions == []


def test_a_place_that_the_record_does_not_name_changes_nothing() -> None:
    paid = round_of(PAIR_DEALER, seat(3, WINNER, wager("main", 2500, "taken", 0)))
    for place in (card(3, "low[7]", ("KH", 0.5), ("QH", 0.5)), card(6, "low[0]", ("KH", 0.5)),
                  card(3, "hand", ("KH", 0.5), ("QH", 0.5))):  # fmt: skip
        assert codes(judged(unsure(paid, place))[0]) == ["TOOK_WINNER"]


@pytest.mark.parametrize("cards", [WINNER, LOSER])
@settings(max_examples=40, deadline=None)
@given(
    at=st.integers(0, 4), share=st.floats(0.5, 1.0), other=st.sampled_from(DECK_LABELS),
    own=st.booleans(), action=st.sampled_from([("taken", 0), ("paid", 2500), ("left", 0)]),
)  # fmt: skip
def test_doubt_adds_no_finding(
    cards: str, at: int, share: float, other: str, own: bool, action: tuple[str, int]
) -> None:
    record = round_of(PAIR_DEALER, seat(3, cards, wager("main", 2500, *action)))
    hand = record.seats[0] if own else record.dealer
    name = (hand.high or ())[at]
    doubted = unsure(record, card(3 if own else None, f"high[{at}]", (name, share),
                                  (other, 1 - share)))  # fmt: skip
    before, after = judged(record)[0], judged(doubted)[0]
    assert {(f.code, f.seat, f.wager) for f in after if f.code != "UNDECIDED"} <= {
        (f.code, f.seat, f.wager) for f in before
    }
    if share >= 0.99:
        assert codes(after) == codes(before)
