"""The envy prize: who qualifies, whose hands count, one player's several hands."""

from __future__ import annotations

import pytest

from settlement.record import RoundRecord, SeatRecord, WagerRecord
from settlement.rules import TableRules
from settlement.settle import settle
from tests.settlement.felt import PAIR_DEALER, reported, round_of, seat, seat_due, wager
from tests.settlement.tables import EARLIER, IMPERIAL, NEVADA, TRADITIONAL, WASHINGTON, reading

QUADS = "KS KH / 8S 8D 8C 8H 2D"
STRAIGHT_FLUSH = "AD AC / 7H 6H 5H 4H 3H"
NOTHING = "QH JH / TD TC 6S 5S 3D"


def prizes(record: RoundRecord, rules: TableRules) -> dict[int, int | None]:
    settled = settle(record.model_copy(update={"game": rules.game}), rules)
    found = {s.seat: seat_due(settled, s.seat, "envy") for s in settled.seats}
    return {number: prize.pay_cents for number, prize in found.items() if prize is not None}


def of_player(player: int, record: SeatRecord) -> SeatRecord:
    return record.model_copy(update={"player": player})


def treasure(cents: int) -> WagerRecord:
    return wager("emperors_treasure", cents)


@pytest.mark.parametrize(
    ("rules", "own_too"),
    [(NEVADA, True), (WASHINGTON, True), (TRADITIONAL, True), (EARLIER, False)],
    ids=lambda value: getattr(value, "game", ""),
)
def test_hands_of_one_player(rules: TableRules, own_too: bool) -> None:
    """Reading ST-10: the hand alone is left out, or all hands of its player."""
    record = round_of(
        PAIR_DEALER,
        of_player(7, seat(1, QUADS, treasure(500))),
        of_player(7, seat(2, NOTHING, treasure(500))),
        seat(3, None, treasure(500)),
    )
    prize = {"pai_gow_poker": 600}.get(rules.game, 500)
    expected = {3: prize, **({2: prize} if own_too else {})}
    # Seat 3's own hand is not known, so seats 1 and 2 may get more: their sums are the least.
    found = prizes(record, rules)
    assert {n: cents for n, cents in found.items() if cents} == expected
    for excludes, own in (("hand", True), ("player", False)):
        chosen = prizes(record, reading(rules, envy_excludes=excludes))
        assert (chosen.get(2) == prize) is own


def test_never_for_the_own_hand_and_prizes_add_up() -> None:
    record = round_of(
        PAIR_DEALER,
        seat(1, QUADS, treasure(500)),
        seat(2, STRAIGHT_FLUSH, treasure(500)),
        seat(3, NOTHING, treasure(500)),
        seat(4, "QS JS / TH TS 6D 5D 3S", treasure(499)),
    )
    assert prizes(record, NEVADA) == {1: 2000, 2: 500, 3: 2500}


def test_a_joined_table_pays_its_own_envy() -> None:
    record = round_of(
        PAIR_DEALER, seat(1, QUADS, treasure(500)), seat(2, NOTHING, treasure(500))
    ).model_copy(update={"game": WASHINGTON.game})
    found = seat_due(settle(record, WASHINGTON), 2, "envy")
    assert found is not None
    assert (found.pay_cents, str(found.rule)) == (
        500,
        "003, Appendix B, PT-FLT-EC-ET-E02, 4-of-a-Kind",
    )


class TestTheTriggeringHandsWager:
    """Reading ST-9."""

    def record(self, stake: WagerRecord | None) -> RoundRecord:
        carried = () if stake is None else (stake,)
        return round_of(
            PAIR_DEALER,
            seat(1, QUADS, *carried),
            seat(2, NOTHING, wager("imperial_side_bet", 500), wager("emperors_treasure", 500)),
        )

    def test_imperial_needs_it(self) -> None:
        assert prizes(self.record(None), IMPERIAL).get(2) is None
        assert prizes(self.record(wager("imperial_side_bet", 0)), IMPERIAL).get(2) is None
        assert prizes(self.record(wager("imperial_side_bet", 100)), IMPERIAL)[2] == 500

    def test_a_stake_that_is_not_known_leaves_the_least_sum(self) -> None:
        record = self.record(wager("imperial_side_bet", None))
        found = seat_due(
            settle(record.model_copy(update={"game": IMPERIAL.game}), IMPERIAL), 2, "envy"
        )
        assert found is not None
        assert (found.outcome, found.pay_cents) == (None, 0)
        assert found.undecided == "seat 1: the imperial_side_bet stake is not known"
        doubted = round_of(PAIR_DEALER, *record.seats, undecided=((1, "imperial_side_bet.stake"),))
        assert prizes(doubted, IMPERIAL)[2] == 0

    def test_the_others_do_not_unless_the_house_says_so(self) -> None:
        assert prizes(self.record(None), NEVADA)[2] == 500
        strict = reading(NEVADA, envy_trigger_needs_wager=True)
        assert prizes(self.record(None), strict).get(2) is None


def test_without_a_table_of_prizes_a_paid_one_is_said() -> None:
    bare = TableRules(game=NEVADA.game)
    record = round_of(PAIR_DEALER, seat(1, QUADS, wager("envy", None, "paid", 500)))
    found = seat_due(settle(record, bare), 1, "envy")
    assert found is not None
    assert found.undecided == "the table offers no wager 'envy'"


def test_a_prize_laid_with_the_pay_of_its_wager_is_in_order() -> None:
    record = round_of(
        PAIR_DEALER,
        seat(1, QUADS),
        seat(
            2,
            "QS QH / JH JC JD 6D 4H",
            wager("emperors_treasure", 500, "paid", 3000),
            lammers=("envy",),
        ),
    )
    assert reported(record, NEVADA) == []
    short = record.seats[1].model_copy(
        update={"wagers": (wager("emperors_treasure", 500, "paid", 2500),)}
    )
    missed = record.model_copy(update={"seats": (record.seats[0], short)})
    assert reported(missed, NEVADA) == [("ENVY_MISSED", 2, "envy")]
