from __future__ import annotations

import json
from pathlib import Path

import pytest

from settlement.compare.comparison import compare
from settlement.declared import (
    Declared,
    Feed,
    FeedLine,
    declared_faults,
    read_feed,
    with_declared,
)
from settlement.errors import FeltwatchError
from settlement.record import Meter, RoundRecord, SeatRecord, Undecided
from settlement.rules import TableRules
from settlement.settle import settle
from tests.settlement.felt import LOSER, PAIR_DEALER, WINNER, seat, wager
from tests.settlement.felt import round_of as nevada_round

RULES = TableRules(game="pai_gow_poker")
JACKPOT = "emperors_treasure_progressive"


def round_of(rules: TableRules, *seats: SeatRecord) -> RoundRecord:
    return nevada_round(PAIR_DEALER, *seats).model_copy(update={"game": rules.game})


ROUND = round_of(RULES, seat(1, WINNER, wager("main", 500)), seat(2, LOSER))


def banks(record: RoundRecord, declared: Declared) -> RoundRecord:
    return with_declared(record, declared, players_bank=True)


def doubts(record: RoundRecord) -> list[str]:
    return [entry.why for entry in record.undecided if entry.what == "banker"]


def test_a_declared_bank_settles_what_the_felt_leaves_open() -> None:
    open_ = ROUND.model_copy(update={"undecided": (Undecided(what="banker", why="no wager lies"),)})
    assert settle(open_, RULES).seats[0].wagers[0].outcome is None
    settled = banks(open_, Declared(banker=2))
    assert (settled.banker, doubts(settled)) == (2, [])
    main = settle(settled, RULES).seats[0].wager("main")
    assert main is not None
    assert main.outcome == "win"
    assert "seat 2" in main.why


@pytest.mark.parametrize(
    ("seen", "declared", "why"),
    [
        (None, 1, "seat 1 is declared to bank, and has a main wager"),
        (None, 5, "seat 5 is declared to bank, and has no cards"),
        (2, "house", "the house is declared to bank, and the felt shows that seat 2 does"),
    ],
)
def test_a_declared_bank_that_the_felt_contradicts_leaves_it_undecided(
    seen: int | None, declared: int | str, why: str
) -> None:
    settled = banks(
        ROUND.model_copy(update={"banker": seen}), Declared.model_validate({"banker": declared})
    )
    assert (settled.banker, doubts(settled)) == (None, [why])


def test_no_bank_is_declared_where_no_player_may_hold_it() -> None:
    assert with_declared(ROUND, Declared(banker=2), players_bank=False).banker is None


def test_players_meters_and_pays_are_taken_over() -> None:
    meter = Meter(wager="emperors_treasure_progressive", cents=700000)
    settled = banks(ROUND, Declared(players={1: 4, 2: 4}, meters=(meter,)))
    assert [own.player for own in settled.seats] == [4, 4]
    assert (settled.players_known, settled.meters) == (None, (meter,))
    # A feed is laid over what the table file declares.
    assert banks(banks(ROUND, Declared()), Declared(players="one_per_seat")).players_known is None


@pytest.mark.parametrize(
    ("players", "expected"),
    [(None, [2, 2]), ("one_per_seat", [2, 2]), ({1: 1, 2: 2}, [1, 2]), ({2: 2}, [None, 2])],
)
def test_who_was_seen_to_play_two_hands_stays_but_against_a_declaration_by_seat(
    players: dict[int, int] | str | None, expected: list[int | None]
) -> None:
    seen = [own.model_copy(update={"player": 2}) for own in ROUND.seats]
    settled = banks(
        ROUND.model_copy(update={"seats": tuple(seen)}),
        Declared.model_validate({"players": players}),
    )
    assert [own.player for own in settled.seats] == expected


def test_without_declared_players_the_record_says_so() -> None:
    settled = banks(ROUND, Declared())
    assert settled.players_known is False
    alone = ROUND.model_copy(update={"seats": ROUND.seats[:1]})
    assert banks(alone, Declared()).players_known is None


EARLIER = TableRules(
    game="emperors_challenge_exposed_earlier",
    paytables={"emperors_treasure": "PT-FLT-EC-ET-01", "envy": "E01"},
)
QUADS = "JH 8H / TS TD TH TC AC"


@pytest.mark.parametrize("players", [None, {1: 1, 2: 2}, {1: 1, 2: 1}])
def test_an_envy_prize_that_hangs_on_the_player_is_undecided(
    players: dict[int, int] | None,
) -> None:
    # 000, note 4: the player who had the hand gets no prize (ST-10).
    treasure = wager("emperors_treasure", 500, "left", 0)
    record = round_of(EARLIER, seat(1, QUADS, treasure), seat(2, LOSER, treasure))
    record = with_declared(record, Declared(players=players), players_bank=False)
    settled = settle(record, EARLIER)
    due = settled.seats[1].wager("envy")
    missed = [f for f in compare(record, settled, EARLIER) if f.code == "ENVY_MISSED"]
    if players is None:
        assert due is not None
        assert "nobody declared whether seat 1 is the same player's" in (due.undecided or "")
        assert missed == []
    elif players[1] == players[2]:
        assert due is None
    else:
        assert due is not None
        assert (due.undecided, len(missed)) == (None, 1)


def test_facts_hold_until_others_are_declared_and_drawn_pays_for_one_round() -> None:
    pays = [{"category": "full_house", "pay_cents": 600}]
    feed = Feed.of(
        [
            FeedLine.model_validate({"at_s": "50", "banker": "house"}),
            FeedLine.model_validate({"at_s": "10", "banker": 3, "dynamic_pays": pays}),
        ],
        Declared(players="one_per_seat"),
    )
    assert feed.at(5.0) == Declared(players="one_per_seat")
    assert feed.at(10.0).banker == 3
    assert feed.at(49.9).dynamic_pays is not None
    later = feed.at(50.0)
    assert (later.banker, later.dynamic_pays, later.player(2)) == ("house", None, 2)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"at_s": "x"}', "line 2: at_s: "),
        ('{"banker": 3}', "line 2: at_s: is missing"),
        ('{"at_s": "1", "bank": 3}', "line 2: bank: there is no such key"),
        ('{"at_s": "1", "banker": 99}', "line 2: banker: must be 12 or less"),
        ('{"at_s": "1", "players": {"99": 1}}', "line 2: players.99: must be 12 or less"),
        ('{"at_s": "1", "banker": 3, "banker": 4}', "line 2: banker: the key stands twice"),
        ('{"at_s": "1", "jackpot_wagers": {"x": [99]}}', "jackpot_wagers.x.0: must be 12 or less"),
        ("{", "line 2: "),
    ],
)
def test_a_feed_that_cannot_be_read_is_refused(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "feed.jsonl"
    path.write_text(f'{{"at_s": "0", "banker": "house"}}\n{line}\n')
    with pytest.raises(FeltwatchError) as caught:
        read_feed(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"banker": 5}, "line 1: banker: no seat 5 at this table; there are 1, 2"),
        ({"players": {"4": 1}}, "line 1: players: no seat 4 at this table"),
        ({"meters": [{"wager": "main", "cents": 1}]}, "line 1: meters: no jackpot 'main'"),
        ({"meters": [{"wager": JACKPOT, "level": 9, "cents": 1}]}, "line 1: meters: "),
        ({"meters": [{"wager": JACKPOT, "level": 9, "cents": 1}]}, "a meter of level 9; its pay"),
        ({"meters": [{"wager": JACKPOT, "cents": n} for n in (1, 2)]}, "of level 1 stands twice"),
        (
            {"dynamic_pays": [{"category": "full_house", "pay_cents": 300}]},
            "line 1: dynamic_pays: dynamic pays, and no pay table here has them",
        ),
        ({"jackpot_wagers": {"main": [1]}}, "line 1: jackpot_wagers: no jackpot 'main'"),
        ({"jackpot_wagers": {JACKPOT: [1, 4]}}, f"jackpot_wagers.{JACKPOT}: no seat 4 at this"),
    ],
)
def test_a_feed_of_another_table_is_refused(
    tmp_path: Path, facts: dict[str, object], message: str
) -> None:
    path = tmp_path / "feed.jsonl"
    path.write_text(json.dumps({"at_s": "0", **facts}))
    rules = RULES.model_copy(update={"paytables": {JACKPOT: "PT-BJS-EC-ET-01"}})
    with pytest.raises(FeltwatchError) as caught:
        read_feed(path, check=lambda one: declared_faults(one, [1, 2], rules))
    assert str(caught.value).startswith(f"{path}, line 1: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("pays", "message"),
    [
        ({"full_house": 777}, "777 cents is no dynamic pay of full_house; those are 300, 400"),
        (
            {"royal_flush": 30000, "straight_flush": 4500, "four_of_a_kind": 3000,
             "full_house": 300}, "4 dynamic pays; a round has at most 3",
        ),
        ({"five_aces": 300}, "'five_aces' has no dynamic pays; royal_flush, straight_flush"),
        ({"full_house": 300}, ""),
    ],
)  # fmt: skip
def test_pays_that_nobody_can_draw_are_refused(pays: dict[str, int], message: str) -> None:
    rules = RULES.model_copy(update={"paytables": {JACKPOT: "PT-PRG-EC-ET-D01"}})
    drawn = [{"category": name, "pay_cents": cents} for name, cents in pays.items()]
    faults = list(declared_faults(Declared.model_validate({"dynamic_pays": drawn}), [1], rules))
    assert [key for key, _ in faults] == (["dynamic_pays"] if message else [])
    assert all(message in why for _, why in faults)


def test_reported_coins_are_those_of_one_round() -> None:
    feed = Feed.of(
        [
            FeedLine(at_s="10", jackpot_wagers={JACKPOT: (1,)}, banker="house"),
            FeedLine(at_s="20", banker=2),
        ]
    )
    coins = {JACKPOT: (1,)}
    # A line without coins leaves them as they are; a round that began later has none.
    for at_s, begun_s, expected in (
        (12, 5, coins),
        (25, 5, coins),
        (25, 18, coins),
        (90, 60, None),
    ):
        facts = feed.at(at_s, begun_s)
        assert facts.jackpot_wagers == expected
    assert (facts.banker, feed.at(5).jackpot_wagers) == (2, None)


def test_a_missing_feed_is_named(tmp_path: Path) -> None:
    with pytest.raises(FeltwatchError, match=r"none\.jsonl: No such file"):
        read_feed(tmp_path / "none.jsonl")
