"""The words of a round's card."""

from __future__ import annotations

from settlement.compare.comparison import compare
from settlement.record import RoundRecord, Undecided
from settlement.settle import settle
from surveillance.reports.round_view import round_card
from tests.surveillance.handmade import RULES

WHY = "the round was broken off: cards and bets were taken back before it was settled"


def test_a_round_that_was_broken_off_names_the_hand_once() -> None:
    record = RoundRecord(
        round_id="t1-000001", table="t1", game=RULES.game,
        undecided=(Undecided(seat=None, what="hand", why=WHY),),
    )  # fmt: skip
    settlement = settle(record, RULES)
    card = round_card(record, settlement, [])
    assert card.dealer.house_way == f"the dealer's hand: {WHY}"
    assert [(one.what, one.why) for one in card.undecided] == [("dealer's hand", WHY)]
    (finding,) = compare(record, settlement, RULES)
    assert finding.message.startswith(f"Dealer was not fully read: {WHY}.")


def test_a_card_of_the_dealer_is_named_as_a_person_calls_it() -> None:
    doubt = Undecided(seat=None, what="dealer.low[0]", why="covered")
    record = RoundRecord(round_id="t1-000001", table="t1", game=RULES.game, undecided=(doubt,))
    card = round_card(record, settle(record, RULES), [])
    assert card.dealer.house_way == "the dealer's hand: a card of the low hand: covered"
