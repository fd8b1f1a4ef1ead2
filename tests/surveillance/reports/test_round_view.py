"""The words of a round's card."""

from __future__ import annotations

import pytest

from settlement.compare.comparison import compare, settlement_as_judged
from settlement.record import RoundRecord, SeatRecord, Undecided, WagerRecord
from settlement.settle import settle
from surveillance.reports.round_view import round_card
from tests.settlement.felt import PAIR_DEALER, round_of, seat, wager
from tests.settlement.felt import RULES as ENVY_RULES
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


TREASURE = wager("emperors_treasure", 500, "taken", 0)


def _envied(*laid: WagerRecord) -> SeatRecord:
    return seat(2, "QC JS / 7D 7C 6S 4D 3H", TREASURE, *laid, lammers=("envy",))


@pytest.mark.parametrize(
    ("laid", "others", "decided"),
    [
        ((), (seat(3, None, wager("main", 500, "taken", 0)),), False),
        (
            (wager("envy", None, "paid", 500),),
            (seat(1, "AD KC / 8S 8D 8H 8C JD"), seat(3, None, wager("main", 500, "taken", 0))),
            False,
        ),
        ((wager("envy", None, "paid", 500),), (seat(1, "AD KC / 8S 8D 8H 8C JD"),), True),
    ],
)
def test_a_prize_that_hangs_on_a_hand_not_read_is_undecided_in_the_report_as_in_compare(
    laid: tuple[WagerRecord, ...], others: tuple[SeatRecord, ...], decided: bool
) -> None:
    record = round_of(PAIR_DEALER, *others, _envied(*laid))
    settlement = settle(record, ENVY_RULES)
    findings = compare(record, settlement, ENVY_RULES)
    as_judged = settlement_as_judged(record, settlement, findings, ENVY_RULES)
    card = round_card(record, as_judged, [])
    own = next(one for one in card.seats if one.seat == 2)
    row = next(one for one in own.wagers if one.name == "Envy")
    assert row.kind == ("ok" if decided else "undecided")
    named = [f for f in findings if f.seat == 2 and "Envy Bonus" in f.due]
    assert bool(named) is not decided
    assert [one.what for one in own.dues_undecided] == ([] if decided else ["Envy"])
