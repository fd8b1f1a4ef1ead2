"""Facts of a feed joined to a round: which lines count, and what the timeline then says."""

from __future__ import annotations

import pytest

from settlement.declared import Feed, FeedLine
from settlement.felt_timeline import PhaseLine, UndecidedLine
from settlement.record import DealerRecord, RoundRecord, SeatRecord, Undecided, WagerRecord
from settlement.rules import TableRules
from surveillance.alerts.declared_facts import with_facts
from vision.geometry.standard_layout import spots_for, standard_table
from vision.rounds.observed import ObservedRound

JACKPOT = "emperors_treasure_progressive"
RULES = TableRules(
    game="emperors_challenge_exposed", paytables={JACKPOT: "PT-BJS-EC-ET-01"}
)  # fmt: skip
TABLE = standard_table(RULES, seats=3, spots=spots_for(RULES))
UNREAD = Undecided(seat=2, what=f"{JACKPOT}.stake", why="chips lie there that could not be read")


def observed() -> ObservedRound:
    """A round from 100 s on, settled from 150 s on, whose sensor at seat 2 was not read."""
    main = WagerRecord(wager="main", stake_cents=500, action="left", paid_cents=0)
    record = RoundRecord(
        round_id="t1-000001", table="t1", game=RULES.game, start_s="100.0", end_s="180.0",
        dealer=DealerRecord(), seats=(SeatRecord(seat=2, wagers=(main,)),), undecided=(UNREAD,),
    )  # fmt: skip
    timeline = (
        PhaseLine(round_id="t1-000001", phase="settling", from_s="150.0", until_s="180.0"),
        UndecidedLine(round_id="t1-000001", **UNREAD.model_dump(exclude={"may_be"})),
    )
    return ObservedRound(record, (), timeline)


def doubts(seen: ObservedRound) -> list[tuple[int | None, str]]:
    return [(u.seat, u.what) for u in seen.timeline if isinstance(u, UndecidedLine)]


@pytest.mark.parametrize(
    ("at_s", "counts"),
    [("60", False), ("95", True), ("120", True), ("149", True), ("160", False)],
)
def test_coins_count_in_the_round_in_which_they_are_reported(at_s: str, counts: bool) -> None:
    feed = Feed.of([FeedLine(at_s=at_s, jackpot_wagers={JACKPOT: (2, 3)})])
    seen = with_facts(observed(), TABLE, feed)
    coin = seen.record.seats[0].wager(JACKPOT)
    assert (coin is not None) == counts
    # What the report decides is no doubt any more; a coin where nobody sits is one.
    assert doubts(seen) == [(3 if counts else 2, f"{JACKPOT}.stake")]
    assert {(u.seat, u.what) for u in seen.record.undecided} == set(doubts(seen))


def test_coins_of_an_unknown_time_count_in_no_round() -> None:
    feed = Feed.of([FeedLine(at_s="120", jackpot_wagers={JACKPOT: (2,)}, players={2: 7})])
    seen = with_facts(observed(), TABLE, feed, lambda _: None)
    assert (seen.record.seats[0].player, seen.record.seats[0].wager(JACKPOT)) == (7, None)
