from __future__ import annotations

import pytest

from settlement.compare.check import check_record
from settlement.compare.comparison import compare
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS, RoundRecord, WagerRecord
from settlement.rules import TableRules
from settlement.settle import settle
from tests.settlement.felt import LOSER, PAIR_DEALER, RULES, WINNER, round_of, seat, wager

OTHER = "QC JS / 8D 8S 6S 4D 3H"
PROBLEMS = [
    (round_of(PAIR_DEALER, seat(1, WINNER.replace("AD", "AS"))), "seat 1: AS lies twice: "),
    (round_of("AS KD / 9H 9H 7S 5D 2C"), "dealer: 9H lies twice in the dealer's hands"),
    (
        round_of(PAIR_DEALER, seat(2, WINNER), seat(4, "AD JOKER / 8D 8S 6S 4D 3H")),
        "seat 2: AD lies twice: seat 2 and seat 4",
    ),
    (
        round_of(None, seat(2, "JOKER 2C / 8D 8S 6S 4D 3H"), seat(1, "JOKER 3C / KS QD 5S 7D 9H")),
        "seat 1: a second joker: it lies twice: seat 2 and seat 1",
    ),
    (
        round_of(PAIR_DEALER, seat(3, "AD AC / KS KH QC 6D")),
        "seat 3: 6 cards (2 low and 4 high), not 7",
    ),
    (round_of("AS KD / 9H 9C 7S 5D 2C 3C"), "dealer: 8 cards (2 low and 6 high), not 7"),
    (
        round_of(PAIR_DEALER, seat(5, OTHER, wager("keno", 500))),
        "seat 5, keno: the table offers no such wager; it has main, pai_gow_insurance",
    ),
    (
        round_of(PAIR_DEALER, seat(5, OTHER, wager("main", 500), wager("main", 500))),
        "seat 5, main: the wager stands twice",
    ),
    (
        round_of(PAIR_DEALER, seat(5, OTHER, wager("envy", 500))),
        "seat 5, envy: a prize has no stake",
    ),
    (
        round_of(PAIR_DEALER, seat(5, OTHER, wager("main", 0))),
        "seat 5, main: a stake of 0; leave a wager out that was not made",
    ),
    (
        round_of(PAIR_DEALER, seat(5, OTHER, wager("main", 500, "left", 500))),
        "seat 5, main: 500 cents were paid, and its action is 'left'; 'paid' is for chips",
    ),
    (
        round_of(
            PAIR_DEALER,
            seat(
                5, OTHER, wager("main", 500, "paid", 500).model_copy(update={"returned_cents": 700})
            ),
        ),
        "seat 5, main: 700 cents were taken back of 500 paid",
    ),
    (round_of(PAIR_DEALER, seat(5, None), seat(5, None)), "seat 5: the seat stands twice"),
    (
        round_of(PAIR_DEALER).model_copy(update={"start_s": "12.5", "end_s": "9.0"}),
        "round: it ends at 9.0 s, before it starts at 12.5 s",
    ),
    (
        round_of(
            PAIR_DEALER,
            seat(5, OTHER, wager("main", 500)).model_copy(update={"lammers": ("envy", "ENVY")}),
        ),
        "seat 5: the envy lammer stands 2 times; list it once",
    ),
    (
        round_of(PAIR_DEALER).model_copy(update={"game": "bridge"}),
        "round: the record is of 'bridge', the table plays 'emperors_challenge_exposed'",
    ),
]


@pytest.mark.parametrize(("record", "expected"), PROBLEMS)
def test_what_is_impossible_is_reported_with_its_place(record: RoundRecord, expected: str) -> None:
    problems = [str(problem) for problem in check_record(record, RULES)]
    assert len(problems) == 1
    assert problems[0].startswith(expected)


@pytest.mark.parametrize(
    "record",
    [
        round_of(PAIR_DEALER, seat(1, WINNER, wager("main", 500)), seat(2, LOSER)),
        round_of(None, seat(1, None, wager("main", None))),
        round_of(PAIR_DEALER, seat(1, "/", wager("main", 500))),
        round_of(PAIR_DEALER, seat(1, "AD AC / KS KH QC 6D"), undecided=((1, "high[4]"),)),
        round_of(PAIR_DEALER, seat(1, "AD AC KS / KH QC 6D 4H", wager("envy", None, "paid", 500))),
    ],
)
def test_missing_parts_and_fouls_are_possible(record: RoundRecord) -> None:
    assert check_record(record, RULES) == []


@pytest.mark.parametrize(
    ("wagers", "expected"),
    [
        ((wager("house", 0),), "round, house: a stake of 0; leave a wager out that was not made"),
        ((wager("house", 500), wager("house", 500)), "round, house: the wager stands twice"),
    ],
)
def test_a_house_wager_is_one_stake(wagers: tuple[WagerRecord, ...], expected: str) -> None:
    rules = TableRules(game="pai_gow_poker")
    record = round_of(PAIR_DEALER, seat(1, WINNER), seat(2, OTHER, wager("main", 500)))
    dealer = record.dealer.model_copy(update={"wagers": wagers})
    record = record.model_copy(update={"dealer": dealer, "banker": 1, "game": rules.game})
    assert [str(problem) for problem in check_record(record, rules)] == [expected]


TRADITIONAL = TableRules(game="pai_gow_poker")
SEVEN = tuple(
    seat(number + 1, f"{' '.join(held[:2])} / {' '.join(held[2:])}")
    for number in range(7)
    for held in [DECK_LABELS[7 * number : 7 * number + 7]]
)
LEFT = " ".join(DECK_LABELS[49:51])
EIGHT = "round: 7 seats and the dealer have cards, but 53 cards make 7 hands"


@pytest.mark.parametrize(
    "record",
    [
        round_of(f"{LEFT} / ", *SEVEN),
        round_of(None, *SEVEN, undecided=((None, "dealer.high[0]"),)),
        round_of(" ".join([*DECK_LABELS[42:44], "/", *DECK_LABELS[44:49]]), *SEVEN[:6],
                 seat(7, f"{LEFT} / ")),
        round_of(" ".join([*DECK_LABELS[42:44], "/", *DECK_LABELS[44:49]]), *SEVEN[:6],
                 seat(7, None), undecided=((7, "high[2]"),)),
    ],
)  # fmt: skip
def test_seven_seats_and_a_dealers_hand_are_more_than_the_deck_makes(record: RoundRecord) -> None:
    record = record.model_copy(update={"game": "pai_gow_poker"})
    assert EIGHT in [str(problem) for problem in check_record(record, TRADITIONAL)]
    found = compare(record, settle(record, TRADITIONAL), TRADITIONAL)
    assert any(
        f.code == "UNDECIDED" and f.seat is None and EIGHT.removeprefix("round: ") in f.message
        for f in found
    )


@pytest.mark.parametrize(
    "record",
    [
        round_of(None, *SEVEN),
        round_of(None, *SEVEN).model_copy(update={"banker": 3}),
        round_of(f"{LEFT} / ", *SEVEN[:6], seat(7, None)),
        round_of(None, *SEVEN, undecided=((None, "gap"),)),
    ],
)
def test_seven_hands_can_be_dealt(record: RoundRecord) -> None:
    record = record.model_copy(update={"game": "pai_gow_poker"})
    assert not any("53 cards" in str(p) for p in check_record(record, TRADITIONAL))


def test_unknown_tables_are_refused() -> None:
    rules = TableRules(game=RULES.game, paytables={"envy": "E77"})
    with pytest.raises(FeltwatchError, match="no pay table 'E77'"):
        check_record(round_of(PAIR_DEALER), rules)
