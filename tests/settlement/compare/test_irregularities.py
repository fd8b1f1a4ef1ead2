from __future__ import annotations

import pytest
from pydantic import ValidationError

from settlement.compare.comparison import compare
from settlement.compare.finding import Finding
from settlement.games import GAMES
from settlement.record import CardMove, DealerRecord, LateBet, RoundRecord, parse_round
from settlement.rules import Readings, TableRules
from settlement.settle import settle
from tests.settlement.felt import (
    LOSER,
    PAIR_DEALER,
    PUSHER,
    RULES,
    WINNER,
    hands,
    reported,
    round_of,
    seat,
    wager,
)


def judged(record: RoundRecord, rules: TableRules = RULES) -> list[Finding]:
    codes = ("LATE_BET", "CARD_MOVED")
    return [f for f in compare(record, settle(record, rules), rules) if f.code in codes]


def late_round(before: int, after: int, *, doubt: str | None = None) -> RoundRecord:
    late = LateBet(before_cents=before, after_cents=after, before_s="30.200", after_s="33.000")
    own = wager("main", after, "left", 0).model_copy(update={"late": late})
    undecided = () if doubt is None else ((3, doubt),)
    return round_of(PAIR_DEALER, seat(3, PUSHER, own), undecided=undecided)


def moved_round(
    *moves: CardMove, cards: str = PUSHER, dealer: tuple[CardMove, ...] | None = None
) -> RoundRecord:
    own = seat(3, cards, wager("main", 2500, "left", 0)).model_copy(update={"moves": moves})
    record = round_of(PAIR_DEALER, own)
    moved = record.dealer.model_copy(update={"moves": dealer})
    return record.model_copy(update={"dealer": moved})


def move(kind: str, *cards: str, to_seat: int | None = None) -> CardMove:
    return CardMove.model_validate(
        {"kind": kind, "cards": cards, "to_seat": to_seat, "before_s": "70.2", "after_s": "72.4"}
    )


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (2500, 4000, "the stake grew from $25.00 to $40.00"),
        (2500, 500, "the stake shrank from $25.00 to $5.00"),
        (0, 500, "the stake of $5.00 appeared"),
    ],
)
def test_a_late_bet_is_reported(before: int, after: int, words: str) -> None:
    (finding,) = judged(late_round(before, after))
    assert (finding.code, finding.severity, finding.seat, finding.wager) == (
        "LATE_BET", "high", 3, "main",
    )  # fmt: skip
    assert finding.message == (
        f"Seat 3, main bet: {words} after bets were closed, "
        "between 00:30.2 and 00:33.0 of the stream."
    )
    assert finding.rule.startswith("002, Emperor's Challenge Wager, 2")
    assert finding.seen.endswith(f"; {'$25.00' if before else 'no stake'} until 00:30.2")
    assert finding.due == f"{'$25.00' if before else 'no stake'}, as when bets were closed"


def test_a_late_bet_is_settled_as_it_lies() -> None:
    assert reported(late_round(2500, 4000)) == [("LATE_BET", 3, "main")]


def test_a_late_bet_stands_beside_a_stake_in_doubt_but_not_when_all_is() -> None:
    assert len(judged(late_round(2500, 4000, doubt="main.stake"))) == 1
    assert judged(late_round(2500, 4000, doubt="everything")) == []


@pytest.mark.parametrize(
    ("kind", "seen"),
    [
        ("hand", "QS and 3D changed between low and high hand after the hand was shown"),
        ("face_up", "QS and 3D lay face up before the dealer turned the hand up"),
        ("face_down", "QS and 3D turned face down after the hand was shown"),
    ],
)
def test_a_moved_card_is_reported(kind: str, seen: str) -> None:
    (finding,) = judged(moved_round(move(kind, "QS", "3D")))
    assert (finding.code, finding.severity, finding.seat, finding.wager) == (
        "CARD_MOVED", "high", 3, None,
    )  # fmt: skip
    assert finding.seen == seen
    assert finding.message == f"Seat 3: {seen}, between 01:10.2 and 01:12.4 of the stream."
    assert finding.rule.startswith("002, Emperor's Challenge Wager, 4 and 5")


def test_the_dealers_cards_and_those_of_two_seats_are_reported() -> None:
    (finding,) = judged(moved_round(dealer=(move("hand", "AS", "9H"),)))
    assert (finding.seat, finding.message[:7]) == (None, "Dealer:")
    assert "after the hands were set" in finding.seen
    (finding,) = judged(moved_round(move("seat", "QS", "8C", to_seat=4)))
    assert finding.seen.startswith("QS changed places with a card of seat 4, 8C,")


def test_an_arm_over_anothers_set_hand_is_reported_but_not_over_the_own_second_hand() -> None:
    record = moved_round(move("reach", to_seat=4))
    (finding,) = judged(record)
    seen = (
        "the player's arm was over the cards of seat 4, which lay set and face down: cards may "
        "have changed seats"
    )
    assert (finding.code, finding.seat, finding.seen) == ("CARD_MOVED", 3, seen)
    assert finding.message == f"Seat 3: {seen}, between 01:10.2 and 01:12.4 of the stream."
    other = seat(4, LOSER, wager("main", 2500, "taken", 0))
    for players, found in (((None, None), 1), ((1, 2), 1), ((1, None), 1), ((1, 1), 0)):
        seats = tuple(
            one.model_copy(update={"player": player})
            for one, player in zip((record.seats[0], other), players, strict=True)
        )
        assert len(judged(record.model_copy(update={"seats": seats}))) == found


def test_a_reach_of_one_sample_has_one_time() -> None:
    reach = move("reach", to_seat=4).model_copy(update={"after_s": "70.2"})
    assert judged(moved_round(reach))[0].message.endswith(", at 01:10.2 of the stream.")


@pytest.mark.parametrize(
    ("moved", "says"),
    [
        (("reach", "QS"), "cards: none for 'reach'"),
        (("hand",), "cards: one or more for 'hand'"),
        (("reach",), "to_seat: a 'reach' names the seat"),
    ],
)
def test_a_move_that_names_the_wrong_things_is_refused(moved: tuple[str, ...], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        move(*moved)


def test_a_fouled_hand_that_the_house_mends_is_no_moved_card() -> None:
    """As it lies KC KD is high; before, it was the low hand and outranked the high one."""
    corrected = moved_round(move("hand", "KD", "KC", "7C", "3H"), cards="7C 3H / KC KD 9S 6S 4D")
    reset = RULES.model_copy(update={"readings": Readings(foul="reset")})
    assert [f.code for f in judged(corrected)] == ["CARD_MOVED"]
    assert judged(corrected, reset) == []
    # A hand that was in order may not be laid again there either.
    other = moved_round(move("hand", "7C", "9S"), cards="9S 3H / KC KD 7C 6S 4D")
    assert [f.code for f in judged(other, reset)] == ["CARD_MOVED"]


@pytest.mark.parametrize("game", sorted(GAMES))
def test_every_game_names_its_rules(game: str) -> None:
    late = late_round(2500, 4000).model_copy(update={"game": game})
    moved = moved_round(move("face_up", "QS")).model_copy(update={"game": game})
    rules = TableRules(game=game)
    codes = [(f.code, f.rule[:3]) for r in (late, moved) for f in judged(r, rules)]
    document = GAMES[game].document[:3]
    assert codes == [("LATE_BET", document), ("CARD_MOVED", document)]


def test_rounds_with_changes_are_read_as_they_are_written() -> None:
    moves = (move("hand", "QS", "3D"), move("reach", to_seat=4))
    for record in (late_round(0, 500), moved_round(*moves)):
        assert parse_round(record.to_json(), "line") == record
    plain = round_of(PAIR_DEALER, seat(3, WINNER, wager("main", 2500, "paid", 2500)))
    assert "late" not in plain.to_json()
    assert "moves" not in plain.to_json()


def test_a_seat_without_changes_has_none() -> None:
    low, high = hands(LOSER)
    record = round_of(PAIR_DEALER, seat(1, LOSER, wager("main", 2500, "taken", 0)))
    assert (record.seats[0].low, record.seats[0].high) == (low, high)
    assert judged(record) == []
    assert DealerRecord().moves is None
