"""Stakes weighed by what people bet at the table, and counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from settlement.record import LateBet, RoundRecord, Undecided, WagerRecord
from tests.settlement.felt import LOSER, PAIR_DEALER, round_of, seat
from tests.vision.rounds.test_joker_learning import played_round, watcher
from vision.chips.states import SURE_SUM, PlaceSum
from vision.rounds.payouts import why_not
from vision.rounds.usual_stakes import UsualStakes, unit_of

Sums = tuple[tuple[int, float], ...]


def record_of(sums: Sums, name: str = "main", late: LateBet | None = None) -> RoundRecord:
    """A round with one stake as the chips alone were read."""
    read = PlaceSum(sums, 4)
    own = WagerRecord(
        wager=name, stake_cents=read.cents, action="taken", paid_cents=0, stake_sums=sums,
        stake_chips=4, late=late,
    )  # fmt: skip
    record = round_of(PAIR_DEALER, seat(3, LOSER, own))
    if read.cents is not None:
        return record
    doubt = Undecided(seat=3, what=f"{name}.stake", why=why_not(read))
    return record.model_copy(update={"undecided": (doubt,)})


def stake(record: RoundRecord) -> WagerRecord:
    return record.seats[0].wagers[0]


def table_of(cents: int, times: int = 40) -> UsualStakes:
    """A table where so much was staked so many times."""
    usual = UsualStakes()
    for _ in range(times):
        usual.weighed(record_of(((cents, 0.9999),)))
    return usual


@pytest.mark.parametrize(
    ("sums", "cents"),
    [
        (((2100, 0.52), (2000, 0.479)), 2000),
        (((2000, 0.92), (11_900, 0.07)), 2000),
        # How many chips of $5 or $25 they are is not said by it.
        (((2000, 0.55), (2500, 0.44)), None),
        (((7500, 0.9), (10_000, 0.1)), None),
        # What was clearly read stays.
        (((900, 0.9999), (1000, 0.0001)), 900),
        (((2100, 0.999), (2000, 0.001)), None),
    ],
)
def test_chips_of_one_more_dollar_are_rarely_staked(sums: Sums, cents: int | None) -> None:
    before = record_of(sums)
    after = UsualStakes().weighed(before)
    own = stake(after)
    assert own.stake_cents == cents
    assert own.read_sums == sums
    assert own.stake_sums is not None
    assert {one for one, _ in own.stake_sums} == {one for one, _ in sums}
    whys = [PlaceSum(own.stake_sums, 4)] if cents is None else []
    assert [doubt.why for doubt in after.undecided] == [why_not(one) for one in whys]


def test_a_table_of_odd_bets_is_learned() -> None:
    sums = ((2100, 0.52), (2000, 0.479))
    assert stake(table_of(2500).weighed(record_of(sums))).stake_cents == 2000
    odd = table_of(1300)
    assert stake(odd.weighed(record_of(sums))).stake_cents is None
    # Side wagers are counted apart.
    assert odd.side == UsualStakes().side


def test_only_what_was_surely_read_is_counted() -> None:
    usual = UsualStakes()
    usual.weighed(record_of(((2100, 0.52), (2000, 0.479))))
    assert usual == UsualStakes()
    usual.weighed(record_of(((2100, 0.98), (2000, 0.02)), "emperors_treasure"))
    assert usual.side[1] == UsualStakes().side[1] + 1
    assert usual.main == UsualStakes().main


def test_what_something_else_decided_stays_as_it_is() -> None:
    late = LateBet(before_cents=2000, after_cents=2100, before_s="1.0", after_s="2.0")
    sums = ((2100, 0.52), (2000, 0.479))
    decided = stake(record_of(sums)).model_copy(update={"stake_cents": 2100})
    for record in (
        record_of(sums, late=late),
        record_of(sums, "emperors_treasure_progressive"),
        round_of(PAIR_DEALER, seat(3, LOSER, decided)),
    ):
        assert UsualStakes().weighed(record) == record


def test_other_doubts_stay() -> None:
    record = record_of(((2100, 0.52), (2000, 0.479)))
    others = (
        Undecided(seat=3, what="main.stake", why="a gap"),
        Undecided(seat=4, what="main.stake", why=record.undecided[0].why),
        Undecided(seat=3, what="main.paid", why="a hand lay over it"),
    )
    record = record.model_copy(update={"undecided": (*others, *record.undecided)})
    assert UsualStakes().weighed(record).undecided == others


@given(
    sums=st.lists(
        st.tuples(st.integers(1, 80).map(lambda n: 25 * n), st.floats(1e-4, 1)),
        min_size=1, max_size=8, unique_by=lambda one: one[0],
    ),
    rest=st.floats(0, 1),
)  # fmt: skip
def test_sums_stay_probabilities_in_order(sums: list[tuple[int, float]], rest: float) -> None:
    whole = sum(share for _, share in sums) + rest
    read = tuple(sorted(((c, p / whole) for c, p in sums), key=lambda one: -one[1]))
    own = stake(UsualStakes().weighed(record_of(read)))
    assert own.stake_sums is not None
    shares = [share for _, share in own.stake_sums]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) <= 1 + 1e-9
    assert (own.stake_cents is not None) == (shares[0] >= SURE_SUM)
    # Among sums that are as usual nothing changes.
    kinds = {unit_of(cents) for cents, _ in read}
    if len(kinds) == 1:
        assert [cents for cents, _ in own.stake_sums] == [cents for cents, _ in read]


def test_what_was_counted_goes_on_from_a_snapshot() -> None:
    first = watcher()
    first._observed(played_round(1), 9.0, cut_short=False)
    first.usual.weighed(record_of(((1300, 0.9999),)))
    again = watcher()
    again.restore(first.snapshot())
    assert again.usual == first.usual != UsualStakes()
