from __future__ import annotations

import json

import pytest

from settlement.errors import FeltwatchError
from settlement.rules import TableRules
from settlement.ruling import Outcome
from settlement.settle import settle
from tests.settlement.felt import (
    ACE_HIGH_DEALER,
    LOSER,
    PAIR_DEALER,
    PUSHER,
    RULES,
    WINNER,
    due,
    round_of,
    seat,
    seat_due,
    wager,
)

KING_HIGH_DEALER = "QS TC / KC 9H 7C 5D 3S"
FOUL = "AD AC / KS QH JC 6D 4H"
QUADS = "KS KH / 8S 8D 8C 8H 2D"
NO_ENVY = TableRules(
    game=RULES.game, paytables={k: v for k, v in RULES.paytables.items() if k != "envy"}
)


@pytest.mark.parametrize(
    ("dealer", "cards", "outcome", "pay", "row"),
    [
        (PAIR_DEALER, WINNER, "win", 2500, "5.b.i, both hands beat"),
        (PAIR_DEALER, PUSHER, "push", 0, "5.b.ii, one hand beats"),
        (PAIR_DEALER, LOSER, "lose", 0, "5.b.iii, both hands lose or tie"),
        # Copies are the dealer's (ST-1).
        (PAIR_DEALER, "AD KC / TS TC 4H 3S 2D", "push", 0, "5.b.ii, one hand beats"),
        (PAIR_DEALER, "AD KC / 9S 9D 7C 5H 2D", "lose", 0, "5.b.iii, both hands lose or tie"),
        (PAIR_DEALER, "AD KC / 8S 8D 7C 5H 2D", "lose", 0, "5.b.iii, both hands lose or tie"),
        # A foul loses, unless all push (ST-2).
        (PAIR_DEALER, FOUL, "lose", 0, "4, foul"),
        (ACE_HIGH_DEALER, FOUL, "push", 0, "5.a, dealer's Ace-high pai gow"),
        (ACE_HIGH_DEALER, WINNER, "push", 0, "5.a, dealer's Ace-high pai gow"),
        (ACE_HIGH_DEALER, "7D 6D / 9C 8C 5C 4D 2C", "push", 0, "5.a, dealer's Ace-high pai gow"),
        (KING_HIGH_DEALER, WINNER.replace("KS", "KD"), "win", 2500, "5.b.i, both hands beat"),
    ],
)
def test_main_bet(dealer: str, cards: str, outcome: Outcome, pay: int, row: str) -> None:
    main = due(round_of(dealer, seat(1, cards, wager("main", 2500))), 1, "main")
    assert (main.outcome, main.pay_cents) == (outcome, pay)
    assert main.rule is not None
    assert (main.rule.section, main.rule.row) == ("Emperor's Challenge Wager", row)


@pytest.mark.parametrize(
    ("option", "dealer", "cards", "outcome", "pay"),
    [
        ("king_high_or_less_push", KING_HIGH_DEALER, WINNER.replace("KS", "KD"), "push", 0),
        ("king_high_or_less_push", ACE_HIGH_DEALER, "KC JD / 8S 8D QC 6D 4H", "win", 2501),
        ("king_high_or_less_push", PAIR_DEALER, WINNER, "win", 2501),
        ("any_pai_gow_pays_half", ACE_HIGH_DEALER, "KC JD / 8S 8D QC 6D 4H", "win", 1250),
        ("any_pai_gow_pays_half", KING_HIGH_DEALER, WINNER.replace("KS", "KD"), "win", 1250),
        ("any_pai_gow_pays_half", KING_HIGH_DEALER, "JD 9C / AD QC 8H 6D 4H", "push", 0),
        ("any_pai_gow_pays_half", PAIR_DEALER, WINNER, "win", 2501),
    ],
)
def test_the_alternative_options(
    option: str, dealer: str, cards: str, outcome: Outcome, pay: int
) -> None:
    rules = TableRules.model_validate({**RULES.model_dump(), "main_option": option})
    main = due(round_of(dealer, seat(1, cards, wager("main", 2501))), 1, "main", rules)
    assert (main.outcome, main.pay_cents) == (outcome, pay)


INSURANCE = [
    ("9S 8D / 7C 5H 4S 3D 2H", 100),
    ("TS 8D / 7C 5H 4S 3D 2H", 25),
    ("JS 8D / 7C 5H 4S 3D 2H", 15),
    ("QS 8D / 7C 5H 4S 3D 2H", 7),
    ("KS 8D / 7C 5H 4S 3D 2H", 5),
    ("AD 8D / 7C 5H 4S 3S JH", 3),
    ("JOKER 8D / 7C 3H 2S QH JH", 3),
]


@pytest.mark.parametrize(("cards", "odds"), INSURANCE)
def test_pai_gow_insurance_on_the_own_hand(cards: str, odds: int) -> None:
    record = round_of(None, seat(1, cards, wager("pai_gow_insurance", 700)))
    paid = due(record, 1, "pai_gow_insurance")
    assert (paid.outcome, paid.pay_cents) == ("win", 700 * odds)
    assert f"pays {odds} to 1" in paid.why


def test_pai_gow_insurance_on_the_dealers_hand_when_the_lammer_lies() -> None:
    stake = wager("pai_gow_insurance", 500)
    own = round_of(ACE_HIGH_DEALER, seat(1, WINNER, stake))
    on_dealer = round_of(ACE_HIGH_DEALER, seat(1, None, stake, lammers=("dealer",)))
    assert due(own, 1, "pai_gow_insurance").outcome == "lose"
    paid = due(on_dealer, 1, "pai_gow_insurance")
    assert (paid.outcome, paid.pay_cents) == ("win", 1500)


def test_a_joker_that_completes_a_straight_is_no_pai_gow() -> None:
    record = round_of(None, seat(1, "KD 2C / JOKER 9S 8D 7C 6H", wager("pai_gow_insurance", 500)))
    assert due(record, 1, "pai_gow_insurance").outcome == "lose"


@pytest.mark.parametrize(
    ("dealer", "cards", "outcome", "pay"),
    [
        (ACE_HIGH_DEALER, "AD 8D / 7D 5H 4S 2S JH", "win", 40),
        (ACE_HIGH_DEALER, WINNER, "win", 5),
        (ACE_HIGH_DEALER.replace("AS", "JOKER"), "AD 8D / 7D 5H 4S 2S JH", "win", 40),
        (ACE_HIGH_DEALER.replace("AS", "JOKER"), WINNER, "win", 12),
        (PAIR_DEALER, "AD 8D / 7D 5H 4S 2S JH", "lose", 0),
        (KING_HIGH_DEALER, "AD 8D / 7D 5H 4S 2S JH", "lose", 0),
    ],
)
def test_ace_high_pai_gow_insurance(dealer: str, cards: str, outcome: Outcome, pay: int) -> None:
    record = round_of(dealer, seat(1, cards, wager("ace_high_pai_gow_insurance", 300)))
    ruled = due(record, 1, "ace_high_pai_gow_insurance")
    assert (ruled.outcome, ruled.pay_cents) == (outcome, pay * 300)


TREASURE = [
    ("2S 3S / 4S 5S 6S 7S 8S", 8000),
    ("AS KS / JOKER KH QH JH TH", 2000),
    ("2S 3S / 4S JOKER 6S 7S 8S", 1000),
    ("KS QD / AS AD AC AH JOKER", 400),
    ("3S 2D / AH KH QH JH TH", 150),
    ("3S 2D / 9H KH QH JH TH", 50),
    ("3S 2D / 9H 9S 9D 9C TH", 25),
    ("3S 3D / 9H 9S 9D KC TH", 5),
    ("3S 2D / 9H KH 4H JH TH", 4),
    ("KS QD / 9H 9S 9D 3C TH", 3),
    ("3S 2D / 9H 8S 7D 6C TH", 2),
]


@pytest.mark.parametrize(("cards", "odds"), TREASURE)
def test_emperors_treasure(cards: str, odds: int) -> None:
    paid = due(
        round_of(None, seat(1, cards, wager("emperors_treasure", 500))), 1, "emperors_treasure"
    )
    assert (paid.outcome, paid.pay_cents) == ("win", 500 * odds)
    assert paid.rule is not None
    assert paid.rule.section == "Appendix C, PT-FLT-EC-ET-02"


@pytest.mark.parametrize("cards", ["9S 9D / 8C 8H 7S 7D 2C", LOSER])
def test_emperors_treasure_loses(cards: str) -> None:
    lost = due(
        round_of(None, seat(1, cards, wager("emperors_treasure", 500))), 1, "emperors_treasure"
    )
    assert (lost.outcome, lost.pay_cents) == ("lose", 0)


def test_a_push_row_pushes() -> None:
    rules = RULES.model_copy(update={"paytables": {"emperors_treasure": "PT-FLT-EC-ET-01"}})
    record = round_of(None, seat(1, "9S 9D / 8C 8H 7S 7D 2C", wager("emperors_treasure", 500)))
    push = due(record, 1, "emperors_treasure", rules)
    assert (push.outcome, push.pay_cents, push.why) == ("push", 0, "three pair pushes")


def test_a_foul_does_not_touch_the_side_wagers() -> None:
    fouled = "9H 9S / KS QD 9D 3C TH"
    record = round_of(
        PAIR_DEALER.replace("9H 9C", "8H 8C"),
        seat(1, fouled, wager("main", 500), wager("emperors_treasure", 500)),
    )
    settled = settle(record, RULES).seats[0]
    assert settled.foul
    assert settled.foul_reason == (
        "the low hand, pair of nines, outranks the high hand, king high, queen-ten-nine-three"
    )
    treasure = settled.wager("emperors_treasure")
    assert treasure is not None
    assert treasure.pay_cents == 1500


def test_three_and_four_cards_in_the_boxes_are_a_foul() -> None:
    record = round_of(PAIR_DEALER, seat(1, "AD AC KS / KH QC 6D 4H", wager("main", 500)))
    settled = settle(record, RULES).seats[0]
    assert settled.foul_reason == "the boxes hold 3 and 4 cards, not 2 and 5"
    assert settled.low is None
    assert settled.wagers[0].outcome == "lose"


# Envy


def test_envy_goes_to_every_other_seat_with_a_qualifying_stake() -> None:
    record = round_of(
        None,
        seat(1, LOSER, wager("emperors_treasure", 500)),
        seat(2, "KS KH / 9S 9D 9C 9H 2D", wager("emperors_treasure", 2500)),
        seat(3, None, wager("emperors_treasure", 400)),
        seat(4, None, wager("main", 500)),
    )
    settled = settle(record, RULES)
    first = seat_due(settled, 1, "envy")
    assert first is not None
    assert (first.outcome, first.pay_cents) == ("win", 500)
    assert first.why == "seat 2's four of a kind pays $5.00"
    assert str(first.rule) == "002, Appendix C, Envy Bonus, E02, Four-of-a-Kind"
    assert seat_due(settled, 3, "envy") is None
    assert seat_due(settled, 4, "envy") is None


def test_envy_adds_up_and_never_counts_the_own_hand() -> None:
    record = round_of(
        None,
        seat(1, "3S 2D / 9H KH QH JH TH", wager("emperors_treasure", 500)),
        seat(2, "KS KC / 8S 8D 8C 8H 2S", wager("emperors_treasure", 500)),
        seat(3, "AS KD / 4S 5S 6S 7S 3C", wager("emperors_treasure", 500)),
    )
    settled = settle(record, RULES)
    sums = [seat_due(settled, number, "envy") for number in (1, 2, 3)]
    assert [due and due.pay_cents for due in sums] == [500, 2000, 2500]


def test_the_triggering_hand_need_not_carry_the_side_wager() -> None:
    record = round_of(None, seat(1, QUADS), seat(2, LOSER, wager("emperors_treasure", 500)))
    assert due(record, 2, "envy").pay_cents == 500


def test_the_dealers_hand_never_triggers_envy() -> None:
    record = round_of(QUADS, seat(1, LOSER, wager("emperors_treasure", 500)))
    assert seat_due(settle(record, RULES), 1, "envy") is None


def test_the_stake_decides_for_envy_not_the_lammer() -> None:
    short = seat(2, LOSER, wager("emperors_treasure", 499), lammers=("envy",))
    record = round_of(None, seat(1, QUADS), short)
    assert seat_due(settle(record, RULES), 2, "envy") is None


def test_a_table_without_envy_owes_none() -> None:
    record = round_of(None, seat(1, QUADS), seat(2, LOSER, wager("emperors_treasure", 500)))
    assert seat_due(settle(record, NO_ENVY), 2, "envy") is None


def test_with_a_hand_not_known_the_envy_prize_is_a_least_sum() -> None:
    record = round_of(
        None,
        seat(1, QUADS),
        seat(2, None, wager("main", 500)),
        seat(3, LOSER, wager("emperors_treasure", 500)),
    )
    envy = due(record, 3, "envy")
    assert (envy.outcome, envy.pay_cents) == ("win", 500)
    assert envy.undecided == "seat 2's hand: no cards are known"


# The dealer


def test_the_dealers_house_way_is_reported() -> None:
    dealer = settle(round_of(PAIR_DEALER), RULES).dealer
    assert dealer.matches
    assert dealer.house_way is not None
    assert dealer.house_way.rule == "004 House Way, One Pair"
    assert dealer.low is not None
    assert dealer.high is not None
    assert (dealer.low.name, dealer.high.name) == ("ace-king", "pair of nines, seven kicker")


def test_a_hand_set_otherwise_is_reported_and_settled_as_it_lies() -> None:
    alternative = "AS 7S / 9H 9C KD 5D 2C"
    record = round_of(alternative, seat(1, "AD KC / TS TC 4H 3S 2D", wager("main", 500)))
    settled = settle(record, RULES)
    assert settled.dealer.matches is False
    assert settled.seats[0].wagers[0].outcome == "win"


def test_the_dealers_boxes_with_three_and_four_cards_match_nothing() -> None:
    record = round_of("AS KD 9H / 9C 7S 5D 2C", seat(1, WINNER, wager("main", 500)))
    settled = settle(record, RULES)
    assert settled.dealer.matches is False
    assert settled.seats[0].wagers[0].undecided == (
        "the dealer's hand: the boxes hold 3 and 4 cards, not 2 and 5"
    )


# Missing parts


def test_an_unknown_stake_leaves_the_outcome() -> None:
    main = due(round_of(PAIR_DEALER, seat(1, WINNER, wager("main", None))), 1, "main")
    assert (main.outcome, main.pay_cents) == ("win", None)
    assert main.undecided == "the stake is not known"


def test_a_stake_called_undecided_is_not_used() -> None:
    record = round_of(
        PAIR_DEALER, seat(1, WINNER, wager("main", 500)), undecided=((1, "main.stake"),)
    )
    main = due(record, 1, "main")
    assert (main.outcome, main.pay_cents, main.stake_cents) == ("win", None, None)
    assert main.undecided == "main.stake: covered"


def test_a_hand_not_known_leaves_what_does_not_hang_on_it() -> None:
    cards = seat(1, None, wager("main", 500), wager("ace_high_pai_gow_insurance", 500))
    pushed = settle(round_of(ACE_HIGH_DEALER, cards), RULES).seats[0]
    assert pushed.foul is None
    assert pushed.wagers[0].outcome == "push"
    assert (pushed.wagers[1].outcome, pushed.wagers[1].pay_cents) == ("win", None)
    lost = settle(round_of(PAIR_DEALER, cards), RULES).seats[0]
    assert lost.wagers[0].undecided == "seat 1's hand: no cards are known"
    assert lost.wagers[1].outcome == "lose"


@pytest.mark.parametrize(
    ("dealer", "what", "reason"),
    [
        (PAIR_DEALER, "high[2]", "the dealer's hand: high[2]: covered"),
        (PAIR_DEALER, "dealer.low[0]", "the dealer's hand: dealer.low[0]: covered"),
        (PAIR_DEALER, "round", "the dealer's hand: round: covered"),
        (None, "start_s", "the dealer's hand: no cards are known"),
    ],
)
def test_a_dealer_not_known(dealer: str | None, what: str, reason: str) -> None:
    record = round_of(
        dealer,
        seat(1, WINNER, wager("main", 500), wager("ace_high_pai_gow_insurance", 500)),
        undecided=((None, what),),
    )
    settled = settle(record, RULES)
    assert settled.dealer.undecided == reason
    assert [w.undecided for w in settled.seats[0].wagers] == [reason, reason]


def test_lammers_not_known_leave_the_insurance_undecided() -> None:
    record = round_of(
        PAIR_DEALER,
        seat(1, WINNER, wager("pai_gow_insurance", 500), wager("main", 500)),
        undecided=((1, "lammers"),),
    )
    assert due(record, 1, "pai_gow_insurance").undecided == "lammers: covered"
    assert due(record, 1, "main").outcome == "win"


def test_a_card_in_two_places_is_not_judged() -> None:
    record = round_of(PAIR_DEALER, seat(1, WINNER.replace("AD", "AS"), wager("main", 500)))
    settled = settle(record, RULES)
    assert settled.seats[0].wagers[0].outcome is None
    assert settled.dealer.undecided == (
        "the dealer's hand: AS lies more than once (the dealer and seat 1)"
    )


def test_one_hand_missing_or_six_cards() -> None:
    six = round_of(PAIR_DEALER, seat(1, "AD AC / KS KH QC 6D", wager("main", 500)))
    assert settle(six, RULES).seats[0].undecided == "seat 1's hand: 6 cards, not 7"
    half = six.model_copy(update={"seats": (six.seats[0].model_copy(update={"low": None}),)})
    assert settle(half, RULES).seats[0].undecided == "seat 1's hand: the low hand is not known"


def test_wagers_that_cannot_be_ruled() -> None:
    record = round_of(
        PAIR_DEALER,
        seat(1, WINNER, wager("roulette", 500), wager("main", 500), wager("main", 500)),
        seat(2, LOSER, wager("envy", None, "paid", 500)),
    )
    settled = settle(record, NO_ENVY)
    assert [w.undecided for w in settled.seats[0].wagers] == [
        "the table offers no wager 'roulette'",
        "the wager stands twice",
        "the wager stands twice",
    ]
    assert settled.seats[1].wagers[0].undecided == "the table offers no wager 'envy'"


def test_a_pay_too_large_for_the_tray_is_a_hand_pay() -> None:
    cards = "2S 3S / 4S 5S 6S 7S 8S"
    small = round_of(None, seat(1, cards, wager("emperors_treasure", 62)))
    large = round_of(None, seat(1, cards, wager("emperors_treasure", 63)))
    assert not due(small, 1, "emperors_treasure").hand_pay
    assert due(large, 1, "emperors_treasure").hand_pay


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"game": "bridge"}, "rules.game: no game 'bridge'; known are: emperors_challenge_exposed"),
        ({"house_way": "own"}, "rules.house_way: no house way 'own'"),
        (
            {"paytables": {"envy": "E99"}},
            "rules.paytables.envy: no pay table 'E99'; 'feltwatch paytables' lists all",
        ),
        ({"paytables": {"envy": "PT-FLT-EC-ET-02"}}, "is a pay table of emperors_treasure"),
        ({"paytables": {"main": "E02"}}, "rules.paytables.main: .* pays no such wager by a table"),
        ({"paytables": {"keno": "E02"}}, "rules.paytables.keno: "),
    ],
)
def test_rules_that_name_something_unknown_are_refused(
    change: dict[str, object], message: str
) -> None:
    with pytest.raises(FeltwatchError, match=message):
        settle(round_of(PAIR_DEALER), RULES.model_copy(update=change))


def test_the_json_of_a_settlement() -> None:
    line = settle(round_of(PAIR_DEALER, seat(1, WINNER, wager("main", 500))), RULES).to_json()
    assert "\n" not in line
    main = json.loads(line)["seats"][0]["wagers"][0]
    assert (main["outcome"], main["pay_cents"], main["hand_pay"]) == ("win", 500, False)
