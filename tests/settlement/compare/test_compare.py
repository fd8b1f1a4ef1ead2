from __future__ import annotations

import pytest

from settlement.compare.comparison import compare
from settlement.compare.finding import SEVERITY, Finding, FindingCode
from settlement.errors import FeltwatchError
from settlement.record import Payment, SeatRecord
from settlement.rules import TableRules, WagerLimit
from settlement.settle import settle
from tests.settlement.felt import (
    ACE_HIGH_DEALER,
    LOSER,
    PAIR_DEALER,
    PUSHER,
    RULES,
    WINNER,
    findings,
    reported,
    round_of,
    seat,
    wager,
)
from tests.settlement.tables import IMPERIAL

FOUL = "AD AC / KS QH JC 6D 4H"
QUADS = "KS KH / 8S 8D 8C 8H 2D"
TRIPS = "KC QC / 8S 8D 8C 6H 2D"


def only(found: list[Finding]) -> Finding:
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("cards", "action", "paid", "code"),
    [
        (WINNER, "paid", 2500, None),
        (WINNER, "paid", 3000, "OVERPAID"),
        (WINNER, "paid", 2000, "UNDERPAID"),
        (WINNER, "paid", 0, "NOT_PAID"),
        (WINNER, "left", 0, "NOT_PAID"),
        (WINNER, "taken", 0, "TOOK_WINNER"),
        (PUSHER, "left", 0, None),
        (PUSHER, "paid", 2500, "PAID_PUSH"),
        (PUSHER, "taken", 0, "TOOK_PUSH"),
        (LOSER, "taken", 0, None),
        (LOSER, "paid", 2500, "PAID_LOSER"),
        (LOSER, "left", 0, "NOT_TAKEN"),
        (FOUL, "taken", 0, None),
        (FOUL, "paid", 2500, "FOUL"),
        (FOUL, "left", 0, "FOUL"),
        ("AD AC KS / KH QC 6D 4H", "paid", 2500, "FOUL"),
    ],
)
def test_the_main_bet(cards: str, action: str, paid: int, code: str | None) -> None:
    record = round_of(PAIR_DEALER, seat(3, cards, wager("main", 2500, action, paid)))
    assert reported(record) == ([] if code is None else [(code, 3, "main")])


@pytest.mark.parametrize(
    ("cards", "action", "paid", "code"),
    [
        (WINNER, "left", 0, None),
        (WINNER, "paid", 2000, None),
        (WINNER, "taken", 0, None),
        (PUSHER, "taken", 0, None),
        (WINNER, "paid", 3000, "OVERPAID"),
        (LOSER, "paid", 2500, "PAID_LOSER"),
        (LOSER, "left", 0, "NOT_TAKEN"),
    ],
)
def test_chips_of_no_known_owner_may_be_what_is_missing(
    cards: str, action: str, paid: int, code: str | None
) -> None:
    own = seat(3, cards, wager("main", 2500, action, paid))
    record = round_of(PAIR_DEALER, own, undecided=((3, "chips"),))
    found = [("UNDECIDED", 3, None)]
    assert reported(record) == (found if code is None else [(code, 3, "main"), *found])
    of_another = round_of(PAIR_DEALER, own, undecided=((4, "chips"),))
    assert any(f.code is not FindingCode.UNDECIDED for f in findings(of_another))
    if code is None:
        (undecided,) = findings(record)
        assert "Not judged: main bet" in undecided.message


@pytest.mark.parametrize(("paid", "code"), [(2500, None), (2000, "UNDECIDED"), (3000, "OVERPAID")])
def test_a_payout_of_which_a_stake_may_hide_a_part(paid: int, code: str | None) -> None:
    own = wager("main", 2500, "paid", paid).model_copy(update={"hides_more": True})
    found = findings(round_of(PAIR_DEALER, seat(3, WINNER, own)))
    assert [str(f.code) for f in found] == ([] if code is None else [code])
    if code == "UNDECIDED":
        assert "behind the stake" in found[0].message


@pytest.mark.parametrize(
    ("later", "code"), [(500, "UNDERPAID"), (200, "UNDECIDED"), (-500, "UNDECIDED")]
)
def test_a_payout_beside_such_a_stake_that_became_what_is_due(later: int, code: str) -> None:
    """$5 laid late made it $25: before it was too little, or with more unseen it is too much."""
    own = wager("main", 2500, "paid", 2000 + later).model_copy(
        update={
            "payments": (Payment(at_s="20", cents=2000), Payment(at_s="24", cents=later)),
            "hides_more": True,
        }
    )
    late = seat(3, WINNER, own).model_copy(update={"cards_taken_s": "22"})
    assert [str(f.code) for f in findings(round_of(PAIR_DEALER, late))] == [code]


@pytest.mark.parametrize(("action", "code"), [("left", None), ("taken", "TOOK_PUSH")])
def test_a_foul_under_a_push_of_all(action: str, code: str | None) -> None:
    record = round_of(ACE_HIGH_DEALER, seat(3, FOUL, wager("main", 2500, action, 0)))
    assert reported(record) == ([] if code is None else [(code, 3, "main")])


def test_what_an_operator_reads() -> None:
    treasure = wager("emperors_treasure", 500, "paid", 2000)
    record = round_of(PAIR_DEALER, seat(3, TRIPS, treasure, lammers=("envy",)))
    found = only(findings(record))
    assert found.message == (
        "Seat 3, Emperor's Treasure: paid $20.00, due $15.00 (three of a kind pays 3 to 1)."
    )
    assert (found.seen, found.due) == ("paid $20.00", "$15.00")
    assert found.rule == "002, Appendix C, PT-FLT-EC-ET-02, 3-of-a-Kind"
    assert found.severity == "high"


@pytest.mark.parametrize(
    ("cards", "code"), [(FOUL, "FOUL"), (LOSER, "NOT_TAKEN"), (PUSHER, None), (WINNER, None)]
)
@pytest.mark.parametrize("undecided", [(), ((3, "main.action"),)])
def test_a_lost_stake_that_stood_to_the_end_was_not_taken(
    cards: str, code: str | None, undecided: tuple[tuple[int, str], ...]
) -> None:
    """Even where the stake itself may hide that it was paid."""
    main = wager("main", 2500).model_copy(update={"stands": True})
    record = round_of(PAIR_DEALER, seat(3, cards, main), undecided=undecided)
    found = [one for one in reported(record) if one[0] != "UNDECIDED"]
    assert found == ([] if code is None else [(code, 3, "main")])
    left = [one for one in findings(record) if one.code == "NOT_TAKEN"]
    assert all("It may have been paid, too" in one.message for one in left)


@pytest.mark.parametrize(("cards", "code"), [(FOUL, "FOUL"), (LOSER, None)])
def test_a_lost_stake_beside_chips_of_no_wager_may_have_been_paid(
    cards: str, code: str | None
) -> None:
    main = wager("main", 2500).model_copy(update={"stands": True})
    doubts = ((3, "main.action"), (3, "chips"))
    record = round_of(PAIR_DEALER, seat(3, cards, main), undecided=doubts)
    found = [one for one in reported(record) if one[0] != "UNDECIDED"]
    assert found == ([] if code is None else [(code, 3, "main")])


def test_a_foul_is_reported_with_its_reason() -> None:
    record = round_of(PAIR_DEALER, seat(3, FOUL, wager("main", 2500, "left", 0)))
    assert only(findings(record)).message == (
        "Seat 3, main bet: $25.00 left in place, due a loss (foul: the low hand, pair of aces, "
        "outranks the high hand, king high, queen-jack-six-four)."
    )


def test_the_house_way() -> None:
    found = only(findings(round_of("9H 9C / AS KD 7S 5D 2C")))
    assert (found.code, found.seat) == ("HOUSE_WAY", None)
    assert found.rule == "004 House Way, One Pair"
    assert found.due == "AS KD low, 9C 9H 7S 5D 2C high"
    assert found.message == (
        "Dealer set 9H 9C low, AS KD 7S 5D 2C high (pair of nines; ace high, king-seven-five-two); "
        "the house way is AS KD low, 9C 9H 7S 5D 2C high: the pair of nines stays high, "
        "the two highest go low."
    )


def test_three_cards_low_are_not_the_house_way() -> None:
    assert reported(round_of("AS KD 9H / 9C 7S 5D 2C")) == [("HOUSE_WAY", None, None)]


def test_equal_suits_are_the_house_way() -> None:
    assert reported(round_of("JC JH / JS JD AS QD 9C")) == []


def test_a_house_way_mistake_settles_by_the_hands_on_the_felt() -> None:
    pusher = seat(1, "QD JC / TS TC 4H 3S 2D", wager("main", 500, "left", 0))
    assert reported(round_of("AS 7S / 9H 9C KD 5D 2C", pusher)) == [("HOUSE_WAY", None, None)]


# Envy and lammers

TREASURE = wager("emperors_treasure", 500, "taken", 0)


def envied(*wagers: object, lammers: tuple[str, ...] = ("envy",)) -> SeatRecord:
    return seat(2, LOSER, TREASURE, *wagers, lammers=lammers)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("laid", "code"),
    [
        (wager("envy", None, "paid", 500), None),
        (None, "ENVY_MISSED"),
        (wager("envy", None, "left", 0), "ENVY_MISSED"),
        (wager("envy", None, "paid", 0), "ENVY_MISSED"),
        (wager("envy", None, "paid", 1000), "ENVY_WRONG"),
        (wager("envy", None, "paid", 300), "ENVY_WRONG"),
    ],
)
def test_envy(laid: object, code: str | None) -> None:
    record = round_of(PAIR_DEALER, seat(1, QUADS), envied(*([laid] if laid else [])))
    assert reported(record) == ([] if code is None else [(code, 2, "envy")])


def test_envy_where_none_is_due() -> None:
    record = round_of(PAIR_DEALER, envied(wager("envy", None, "paid", 500)))
    assert only(findings(record)).message == (
        "Seat 2, Envy Bonus: paid $5.00, due $0.00 (no other seat has a hand with an envy prize)."
    )


@pytest.mark.parametrize("is_due", [False, True])
def test_a_prize_of_which_the_sum_is_open(is_due: bool) -> None:
    """Where none is due any prize is wrong; where one is, the sum decides."""
    laid = wager("envy", None, "paid", None).model_copy(
        update={"paid_sums": ((300, 0.9), (600, 0.09))}
    )
    others = [seat(1, QUADS)] if is_due else []
    record = round_of(PAIR_DEALER, *others, envied(laid), undecided=((2, "envy.paid"),))
    code, what = ("UNDECIDED", None) if is_due else ("ENVY_WRONG", "envy")
    assert reported(record) == [(code, 2, what)]


def test_envy_with_a_stake_too_small() -> None:
    short = seat(
        2,
        "QC JS / 7D 7C 6S 4D 3H",
        wager("emperors_treasure", 400, "taken", 0),
        wager("envy", None, "paid", 500),
    )
    record = round_of(PAIR_DEALER, seat(1, QUADS), short)
    assert reported(record) == [("ENVY_WRONG", 2, "envy")]


@pytest.mark.parametrize(
    ("stake", "lammers", "code"),
    [
        (500, ("envy",), None),
        (500, ("ENVY",), None),
        (500, (), "LAMMER"),
        (400, ("envy",), "LAMMER"),
        (400, (), None),
        (None, ("envy",), "LAMMER"),
    ],
)
def test_the_envy_lammer(stake: int | None, lammers: tuple[str, ...], code: str | None) -> None:
    wagers = [] if stake is None else [wager("emperors_treasure", stake, "taken", 0)]
    record = round_of(PAIR_DEALER, seat(2, LOSER, *wagers, lammers=lammers))
    assert reported(record) == ([] if code is None else [(code, 2, "emperors_treasure")])


def test_an_envy_lammer_on_a_table_without_envy() -> None:
    rules = TableRules(game=RULES.game, paytables={"emperors_treasure": "PT-FLT-EC-ET-02"})
    record = round_of(PAIR_DEALER, envied())
    assert only(findings(record, rules)).message == (
        "Seat 2, Emperor's Treasure: an ENVY lammer lies, and the table has no Envy Bonus."
    )


@pytest.mark.parametrize(("stake", "code"), [(500, None), (None, "LAMMER")])
def test_the_dealer_lammer(stake: int | None, code: str | None) -> None:
    wagers = [] if stake is None else [wager("pai_gow_insurance", stake, "taken", 0)]
    record = round_of(PAIR_DEALER, seat(2, LOSER, *wagers, lammers=("dealer",)))
    assert reported(record) == ([] if code is None else [(code, 2, "pai_gow_insurance")])


def test_insurance_on_the_dealer_is_compared_by_the_dealers_hand() -> None:
    stake = wager("pai_gow_insurance", 500, "taken", 0)
    record = round_of(ACE_HIGH_DEALER, seat(2, WINNER, stake, lammers=("dealer",)))
    assert reported(record) == [("TOOK_WINNER", 2, "pai_gow_insurance")]


# Limits, deck, hand pays


@pytest.mark.parametrize(
    ("stake", "due"),
    [(500, None), (499, "minimum $5.00"), (50000, None), (50001, "maximum $500.00")],
)
def test_limits(stake: int, due: str | None) -> None:
    limit = {"main": WagerLimit(min_cents=500, max_cents=50000)}
    rules = RULES.model_copy(update={"limits": limit})
    record = round_of(PAIR_DEALER, seat(2, LOSER, wager("main", stake, "taken", 0)))
    found = findings(record, rules)
    assert [(f.code, f.due) for f in found] == ([] if due is None else [("LIMIT", due)])


def test_a_card_twice_is_a_deck_finding_and_the_hands_are_not_judged() -> None:
    record = round_of(
        PAIR_DEALER,
        seat(1, WINNER, wager("main", 500, "taken", 0)),
        seat(2, "AD 2D / 3C 3D 5C 6C TD", wager("main", 500, "paid", 500)),
        seat(3, LOSER, wager("main", 500, "taken", 0)),
    )
    assert reported(record) == [
        ("DECK", 1, None),
        ("UNDECIDED", 1, None),
        ("UNDECIDED", 2, None),
    ]
    assert findings(record)[0].message == "Seat 1: AD lies twice: seat 1 and seat 2."


def test_six_cards_are_a_deck_finding() -> None:
    record = round_of(PAIR_DEALER, seat(1, "AD AC / KS KH QC 6D"))
    assert reported(record)[0] == ("DECK", 1, None)


BIG = "2S 3S / 4S 5S 6S 7S 8S"


@pytest.mark.parametrize(
    ("action", "paid", "codes"),
    [
        ("left", 0, ["HAND_PAY"]),
        ("paid", 100000, ["HAND_PAY"]),
        ("paid", 8000000, ["HAND_PAY"]),
        ("paid", 9000000, ["HAND_PAY", "OVERPAID"]),
        ("taken", 0, ["HAND_PAY", "TOOK_WINNER"]),
    ],
)
def test_a_hand_pay_may_come_from_the_cage(action: str, paid: int, codes: list[str]) -> None:
    treasure = wager("emperors_treasure", 1000, action, paid)
    record = round_of("AH KD / 9H 9C 7C 5D 2C", seat(1, BIG, treasure, lammers=("envy",)))
    assert [f.code for f in findings(record)] == codes


@pytest.mark.parametrize(("laid", "codes"), [(0, ["HAND_PAY"]), (500000, ["HAND_PAY"])])
def test_an_envy_hand_pay(laid: int, codes: list[str]) -> None:
    rules = RULES.model_copy(update={"hand_pay_cents": 499999})
    record = round_of(
        "AH KD / 9H 9C 7C 5D 2C",
        seat(1, BIG),
        envied(wager("envy", None, "paid", laid)).model_copy(
            update={"low": ("QC", "JS"), "high": ("TD", "TC", "6C", "4D", "3H")}
        ),
    )
    assert [f.code for f in findings(record, rules)] == codes


# Undecided


@pytest.mark.parametrize(
    ("what", "words"), [("main.stake", "main bet, stake"), ("main.paid", "main bet, pay")]
)
def test_a_pay_that_hangs_on_what_was_not_read_is_not_judged(what: str, words: str) -> None:
    record = round_of(
        PAIR_DEALER, seat(3, WINNER, wager("main", 2500, "paid", 9900)), undecided=((3, what),)
    )
    found = only(findings(record))
    assert (found.code, found.severity) == ("UNDECIDED", "info")
    assert found.message == f"Seat 3 was not fully read: {words}: covered. Not judged: main bet."


@pytest.mark.parametrize("what", ["main.action", "main", "high[2]", "low[0]", "everything"])
def test_an_action_or_hand_not_read_is_not_judged(what: str) -> None:
    record = round_of(
        PAIR_DEALER, seat(3, WINNER, wager("main", 2500, "taken", 0)), undecided=((3, what),)
    )
    assert reported(record) == [("UNDECIDED", 3, None)]


def test_what_does_not_hang_on_it_is_judged() -> None:
    taken = wager("main", 2500, "taken", 0)
    record = round_of(PAIR_DEALER, seat(3, WINNER, taken), undecided=((3, "main.stake"),))
    assert reported(record) == [("TOOK_WINNER", 3, "main"), ("UNDECIDED", 3, None)]


def test_an_action_that_is_not_known() -> None:
    record = round_of(PAIR_DEALER, seat(3, WINNER, wager("main", 2500)))
    assert only(findings(record)).message == (
        "Seat 3 was not fully read: main: what was done is not known. Not judged: main bet."
    )


def test_a_dealer_not_read_leaves_all_that_hangs_on_it() -> None:
    record = round_of(
        PAIR_DEALER,
        seat(1, WINNER, wager("main", 500, "taken", 0)),
        seat(2, TRIPS, wager("emperors_treasure", 500, "taken", 0), lammers=("envy",)),
        undecided=((None, "high[2]"),),
    )
    assert reported(record) == [
        ("TOOK_WINNER", 2, "emperors_treasure"),
        ("UNDECIDED", None, None),
        ("UNDECIDED", 1, None),
    ]


def test_lammers_not_read_give_no_lammer_finding() -> None:
    record = round_of(PAIR_DEALER, envied(lammers=()), undecided=((2, "lammers"),))
    assert reported(record) == [("UNDECIDED", 2, None)]


def test_a_treasure_stake_not_read_gives_no_lammer_or_envy_finding() -> None:
    record = round_of(
        PAIR_DEALER,
        seat(1, QUADS),
        seat(2, "QC JS / 7D 7C 6S 4D 3H", lammers=("envy",)),
        undecided=((2, "emperors_treasure.stake"),),
    )
    found = only(findings(record))
    assert (found.code, found.seat) == ("UNDECIDED", 2)
    assert found.due == "not judged: Envy Bonus"


def test_an_envy_prize_with_a_hand_not_read_is_judged_as_a_least_sum() -> None:
    def envy(*laid: object, other: SeatRecord) -> list[str]:
        record = round_of(PAIR_DEALER, seat(1, QUADS), other, envied(*laid))
        return [f.code for f in findings(record) if f.seat == 2]

    unread = seat(3, None, wager("main", 500, "taken", 0))
    assert envy(wager("envy", None, "paid", 500), other=unread) == ["UNDECIDED"]
    assert envy(other=unread) == ["ENVY_MISSED"]
    assert envy(wager("envy", None, "paid", 1000), other=unread) == ["UNDECIDED"]
    assert envy(wager("envy", None, "paid", 1000), other=seat(3, None)) == ["ENVY_WRONG"]


def test_a_prize_that_hangs_on_a_hand_not_read_is_named_as_not_judged() -> None:
    unread = seat(3, None, wager("main", 500, "taken", 0))
    record = round_of(PAIR_DEALER, unread, envied())
    found = next(f for f in findings(record) if f.seat == 2)
    assert (found.code, found.due) == ("UNDECIDED", "not judged: Envy Bonus")
    assert "seat 3's hand: no cards are known" in found.seen


@pytest.mark.parametrize(
    ("paid", "found"),
    [
        # Change may have been given: the payout lacks nothing that the prize could be.
        (50_000, [("ENVY_WRONG", 3, "envy"), ("UNDECIDED", 3, None)]),
        # What lies as the prize may be a part of a payout that is not known.
        (None, [("UNDECIDED", 3, None)]),
    ],
)
def test_a_prize_beside_a_payout_that_is_open(
    paid: int | None, found: list[tuple[str, int, str | None]]
) -> None:
    treasure = wager("emperors_treasure", 1000, "paid", paid)
    if paid is not None:
        treasure = treasure.model_copy(update={"paid_least_cents": paid})
    own = seat(
        3, "KC KD / 8S 8H 8D 8C 5S", wager("main", 2500, "left", 0), treasure,
        wager("envy", None, "paid", 500), lammers=("envy",),
    )  # fmt: skip
    undecided = () if paid is not None else ((3, "emperors_treasure.paid"),)
    record = round_of(ACE_HIGH_DEALER, own, undecided=undecided)
    assert [one for one in reported(record) if one[0] != "HOUSE_WAY"] == found


def test_an_empty_seat_is_no_finding() -> None:
    assert reported(round_of(PAIR_DEALER, seat(3, None), seat(4, "/"))) == []


def test_an_envy_pay_not_read() -> None:
    record = round_of(
        PAIR_DEALER,
        seat(1, QUADS),
        envied(wager("envy", None, "paid", 100)),
        undecided=((2, "envy.paid"),),
    )
    assert reported(record) == [("UNDECIDED", 2, None)]


def test_a_prize_where_none_is_due_may_be_the_payout_of_a_wager_that_is_not_known() -> None:
    prize = wager("envy", None, "paid", 20000)
    open_main = wager("main", None, None)
    record = round_of(
        PAIR_DEALER, seat(2, WINNER, open_main, TREASURE, prize, lammers=("envy",)),
        undecided=((2, "main.stake"), (2, "main.action")),
    )  # fmt: skip
    assert reported(record) == [("UNDECIDED", 2, None)]
    # Of a wager that was seen to be left it is no payout.
    known = round_of(PAIR_DEALER, envied(prize))
    assert reported(known) == [("ENVY_WRONG", 2, "envy")]


def test_a_seat_that_is_only_undecided_is_reported() -> None:
    record = round_of(PAIR_DEALER, undecided=((5, "high"),))
    assert reported(record) == [("UNDECIDED", 5, None)]


def test_impossible_wagers_are_undecided_not_wrong() -> None:
    record = round_of(PAIR_DEALER, seat(1, WINNER, wager("keno", 500, "taken", 0)))
    found = only(findings(record))
    assert (found.code, found.seat) == ("UNDECIDED", 1)
    assert "the table offers no such wager" in found.message


def test_a_record_of_another_game_is_reported() -> None:
    record = round_of(PAIR_DEALER).model_copy(update={"game": "bridge"})
    assert reported(record) == [("UNDECIDED", None, None)]


def test_a_settlement_of_another_record_is_refused() -> None:
    settlement = settle(round_of(PAIR_DEALER, seat(1, WINNER)), RULES)
    with pytest.raises(FeltwatchError, match="has other seats"):
        compare(round_of(PAIR_DEALER, seat(2, WINNER)), settlement, RULES)


def test_every_code_has_a_severity() -> None:
    assert set(SEVERITY) == set(FindingCode)


def test_a_draw_dealers_unknown_card_leaves_the_house_way_unjudged() -> None:
    record = round_of(PAIR_DEALER).model_copy(update={"game": IMPERIAL.game})
    (finding,) = findings(record, IMPERIAL)
    assert finding.code == "UNDECIDED"
    assert "the dealer's eighth card is not known" in finding.message
    assert "Not judged: the house way." in finding.message
