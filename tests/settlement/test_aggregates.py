"""The most a house pays per hand or round (000 B, note 5; 002 A6, B4, C5; reading ST-23)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from settlement.record import RoundRecord
from settlement.rules import TableRules
from settlement.settle import settle
from tests.settlement.felt import PAIR_DEALER, WINNER, due, findings, round_of, seat, wager
from tests.settlement.tables import EARLIER, NEVADA, with_rules

TREASURE = "emperors_treasure"
FULL_HOUSE = "5H 5S / 6S 6H 6C 9D 2S"
FOURS = "8S 2D / TS TD TC TH 3D"


def capped(rules: TableRules = NEVADA, **keys: object) -> TableRules:
    return with_rules(rules, aggregates={TREASURE: keys})


def record(*stakes: int, third: str | None = WINNER) -> RoundRecord:
    cards = (FULL_HOUSE, FOURS, third)
    seats = [
        seat(n, c, wager(TREASURE, s), lammers=("envy",) if s >= 500 else ())
        for n, (c, s) in enumerate(zip(cards, stakes, strict=True), 1)
    ]
    return round_of(PAIR_DEALER, *seats)


ROUND = record(1000, 1000, 1000)


def pays(rules: TableRules, round_: RoundRecord = ROUND) -> list[tuple[int | None, int | None]]:
    """What every seat gets for its Treasure wager and as envy prize."""
    found = []
    for place in settle(round_, rules).seats:
        own, envy = place.wager(TREASURE), place.wager("envy")
        found.append((own.pay_cents if own else None, envy.pay_cents if envy else None))
    return found


def test_without_a_posted_sum_nothing_is_scaled() -> None:
    # The four of a kind of seat 2 pays seats 1 and 3 a prize of $5.
    assert pays(NEVADA) == [(5000, 500), (25000, None), (0, 500)]


def test_treasure_and_envy_of_a_hand_make_one_sum() -> None:
    # 5000 and 500 are scaled to 4400 together.
    assert pays(capped(per_hand_cents=4400)) == [(4000, 400), (4400, None), (0, 500)]
    assert "at most $44.00 a hand" in due(ROUND, 1, "envy", capped(per_hand_cents=4400)).why


def test_treasure_and_envy_of_a_round_make_one_sum() -> None:
    rules = capped(per_round_cents=15500)
    assert pays(rules) == [(2500, 250), (12500, None), (0, 250)]
    assert due(ROUND, 1, TREASURE, rules).why.endswith(
        "scaled down, as the house pays at most $155.00 a round"
    )


def test_first_each_hand_then_the_round() -> None:
    assert pays(capped(per_hand_cents=10000, per_round_cents=8000)) == [
        (2500, 250), (5000, None), (0, 250),
    ]  # fmt: skip


def test_envy_may_be_left_out_or_have_a_sum_of_its_own() -> None:
    alone = capped(per_round_cents=15000, counts_envy=False)
    assert pays(alone) == [(2500, 500), (12500, None), (0, 500)]
    own = with_rules(
        NEVADA,
        aggregates={
            TREASURE: {"per_round_cents": 15000, "counts_envy": False},
            "envy": {"per_round_cents": 400},
        },
    )
    assert pays(own) == [(2500, 200), (12500, None), (0, 200)]


def test_shares_are_rounded_down_to_the_tables_unit() -> None:
    for direction in ("down", "nearest", "up"):
        rules = with_rules(
            capped(per_round_cents=9990), rounding={"unit_cents": 100, "direction": direction}
        )
        found = pays(rules)
        # 5000, 500, 25000 and 500 of 31000, from 9990.
        assert found == [(1600, 100), (8000, None), (0, 100)]


def test_the_earlier_edition_posts_the_same() -> None:
    # 000, Appendix B, note 5: ET-01 pays four of a kind 20 to 1, E01 a prize of $5.
    rules = capped(EARLIER, per_round_cents=13000)
    found = pays(rules, ROUND.model_copy(update={"game": EARLIER.game}))
    assert found == [(2500, 250), (10000, None), (0, 250)]


def test_a_sum_below_what_is_posted_stands() -> None:
    assert pays(capped(per_round_cents=31000, per_hand_cents=25000)) == pays(NEVADA)


class TestAHandThatIsNotKnown:
    """It may take a part of the round's sum."""

    UNREAD = record(1000, 1000, 1000, third=None)

    def test_leaves_the_shares_of_the_others_undecided(self) -> None:
        rules = capped(per_round_cents=15500)
        assert pays(rules, self.UNREAD)[:2] == [(None, None), (None, 0)]
        found = due(self.UNREAD, 1, TREASURE, rules)
        assert found.outcome == "win"
        assert found.undecided is not None
        assert found.undecided.startswith("the house pays at most $155.00 a round, of which ")
        assert "seat 3's hand: no cards are known" in found.undecided

    def test_changes_nothing_where_even_its_best_fits(self) -> None:
        rules = capped(per_round_cents=10**9)
        assert pays(rules, self.UNREAD)[0][0] == 5000

    def test_of_another_seat_leaves_a_sum_per_hand_alone(self) -> None:
        rules = capped(per_hand_cents=4400, counts_envy=False)
        assert [own for own, _ in pays(rules, self.UNREAD)] == [4400, 4400, None]

    def test_is_never_called_wrong(self) -> None:
        seats = [
            s.model_copy(update={"wagers": (wager(TREASURE, 1000, "paid", 100),)})
            for s in self.UNREAD.seats
        ]
        laid = self.UNREAD.model_copy(update={"seats": tuple(seats)})
        codes = {f.code for f in findings(laid, capped(per_round_cents=15500))}
        assert codes == {"UNDECIDED"}


@given(
    stakes=st.lists(st.integers(0, 50).map(lambda n: n * 100), min_size=3, max_size=3),
    hand=st.integers(1, 200000),
    round_=st.integers(1, 400000),
    unit=st.sampled_from([1, 25, 50, 100, 500]),
)
def test_no_posted_sum_is_ever_exceeded(
    stakes: list[int], hand: int, round_: int, unit: int
) -> None:
    played = record(*stakes)
    rules = with_rules(
        capped(per_hand_cents=hand, per_round_cents=round_), rounding={"unit_cents": unit}
    )
    free = with_rules(NEVADA, rounding={"unit_cents": unit})
    sums = [sum(c or 0 for c in pair) for pair in pays(rules, played)]
    before = [sum(c or 0 for c in pair) for pair in pays(free, played)]
    assert all(most <= hand for most in sums)
    assert sum(sums) <= round_
    assert all(now <= was for now, was in zip(sums, before, strict=True))
    if max(before) <= hand and sum(before) <= round_:
        assert sums == before
    elif max(before) <= hand:
        # Nothing is lost but what is less than a unit of each share.
        assert sum(sums) > round_ - 6 * unit


@pytest.mark.parametrize("key", ["per_hand_cents", "per_round_cents"])
def test_a_sum_of_nothing_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="greater than 0"):
        capped(**{key: 0})  # type: ignore[arg-type]
