"""Main bets of every game and edition, and the readings of their unclear places."""

from __future__ import annotations

import pytest

from settlement.compare.comparison import compare
from settlement.errors import FeltwatchError
from settlement.games import GAMES, JACKPOTS, terms_for
from settlement.games.base import Held, rule_by_table
from settlement.paytables.registry import pay_table
from settlement.record import DealerRecord, RoundRecord, SeatRecord, Undecided, WagerRecord
from settlement.result import Settlement
from settlement.rules import TableRules
from settlement.ruling import Outcome
from settlement.settle import settle
from tests.settlement.felt import (
    ACE_HIGH_DEALER,
    LOSER,
    PAIR_DEALER,
    PUSHER,
    WINNER,
    due,
    findings,
    seat,
    wager,
)
from tests.settlement.felt import round_of as nevada_round
from tests.settlement.tables import (
    EARLIER,
    IMPERIAL,
    NEVADA,
    TABLES,
    TRADITIONAL,
    WASHINGTON,
    reading,
    with_rules,
)

KING_HIGH_DEALER = "QS TC / KC 9H 7C 5D 3S"
LOW_COPY = "AD KC / 8S 8D 7C 5H 2D"
TWO_COPIES = "AD KC / 9S 9D 7D 5H 2D"
HIGH_COPY_LOW_WINS = "8D 8H / 9S 9D 7D 5H 2D"
FOUL = "AD AC / KS QH JC 6D 4H"


def round_of(rules: TableRules, dealer: str, *seats: SeatRecord, **more: object) -> RoundRecord:
    return nevada_round(dealer, *seats).model_copy(update={"game": rules.game, **more})


def main(
    rules: TableRules, dealer: str, cards: str, stake: int = 2500
) -> tuple[Outcome | None, int | None]:
    found = due(round_of(rules, dealer, seat(1, cards, wager("main", stake))), 1, "main", rules)
    return found.outcome, found.pay_cents


def test_every_game_is_found_and_its_table_is_in_order() -> None:
    assert set(TABLES) == set(GAMES)
    for rules in TABLES.values():
        terms = terms_for(rules)
        # All but the further sensors of a jackpot.
        assert set(terms.offered) == {w for w in terms.game.wagers if JACKPOTS.get(w, w) == w}


@pytest.mark.parametrize("rules", [EARLIER, WASHINGTON, NEVADA], ids=lambda r: r.game)
@pytest.mark.parametrize(
    ("dealer", "cards", "outcome"),
    [
        (PAIR_DEALER, WINNER, "win"),
        (PAIR_DEALER, PUSHER, "push"),
        (PAIR_DEALER, LOSER, "lose"),
        (PAIR_DEALER, HIGH_COPY_LOW_WINS, "push"),
        (PAIR_DEALER, LOW_COPY, "lose"),
        (PAIR_DEALER, TWO_COPIES, "lose"),
        (PAIR_DEALER, FOUL, "lose"),
    ],
)
def test_standard_reconciliation_of_the_exposed_editions(
    rules: TableRules, dealer: str, cards: str, outcome: Outcome
) -> None:
    assert main(rules, dealer, cards) == (outcome, 2500 if outcome == "win" else 0)


@pytest.mark.parametrize(
    ("rules", "ace_high", "king_high"),
    [
        (EARLIER, ("win", 1250), ("win", 1250)),
        (NEVADA, ("push", 0), ("win", 2500)),
        (WASHINGTON, ("win", 2500), ("push", 0)),
    ],
    ids=lambda value: getattr(value, "game", ""),
)
def test_the_option_printed_first_is_the_default(
    rules: TableRules, ace_high: tuple[str, int], king_high: tuple[str, int]
) -> None:
    winner = "KD JD / 8S 8D QC 6D 4H"
    assert main(rules, ACE_HIGH_DEALER, winner) == ace_high
    assert main(rules, KING_HIGH_DEALER, winner) == king_high
    for option in ("any_pai_gow_pays_half", "ace_high_push", "king_high_or_less_push"):
        chosen = with_rules(rules, main_option=option)
        expected = {
            "any_pai_gow_pays_half": (("win", 1250), ("win", 1250)),
            "ace_high_push": (("push", 0), ("win", 2500)),
            "king_high_or_less_push": (("win", 2500), ("push", 0)),
        }[option]
        got = main(chosen, ACE_HIGH_DEALER, winner), main(chosen, KING_HIGH_DEALER, winner)
        assert got == expected


@pytest.mark.parametrize(
    ("rules", "rows"),
    [
        (EARLIER, {"win": "5.a.i", "push": "5.b", "lose": "5.c"}),
        (WASHINGTON, {"win": "5.b.i", "push": "5.b.ii", "lose": "5.b.iii"}),
        (TRADITIONAL, {"win": "5.a", "push": "5.b", "lose": "5.c"}),
        (IMPERIAL, {"win": "9.a", "push": "9.c", "lose": "9.b"}),
    ],
    ids=lambda value: getattr(value, "game", ""),
)
def test_verdicts_name_the_documents_own_lines(rules: TableRules, rows: dict[str, str]) -> None:
    for cards, outcome in ((WINNER, "win"), (PUSHER, "push"), (LOSER, "lose")):
        record = round_of(rules, PAIR_DEALER, seat(1, cards, wager("main", 2500)))
        rule = due(record, 1, "main", rules).rule
        assert rule is not None
        assert rule.document == GAMES[rules.game].document
        assert rule.row.startswith(rows[outcome])


class TestCopies:
    """Reading ST-1."""

    @pytest.mark.parametrize("rules", [EARLIER, WASHINGTON, TRADITIONAL], ids=lambda r: r.game)
    def test_by_option_only_two_lower_hands_lose(self, rules: TableRules) -> None:
        literal = reading(rules, copies="push")
        assert main(literal, PAIR_DEALER, LOW_COPY)[0] == "push"
        assert main(literal, PAIR_DEALER, TWO_COPIES)[0] == "push"
        assert main(literal, PAIR_DEALER, HIGH_COPY_LOW_WINS)[0] == "push"
        assert main(literal, PAIR_DEALER, LOSER)[0] == "lose"
        assert main(rules, PAIR_DEALER, TWO_COPIES)[0] == "lose"

    @pytest.mark.parametrize("rules", [NEVADA, IMPERIAL], ids=lambda r: r.game)
    def test_where_the_document_decides_there_is_no_option(self, rules: TableRules) -> None:
        with pytest.raises(FeltwatchError, match=r"rules\.readings\.copies: the rules leave no"):
            terms_for(reading(rules, copies="push"))


class TestFoul:
    """Reading ST-2."""

    def test_a_foul_pushes_when_all_do(self) -> None:
        assert main(NEVADA, ACE_HIGH_DEALER, FOUL)[0] == "push"

    def test_by_option_it_loses_always(self) -> None:
        always = reading(NEVADA, foul="always_loses")
        assert main(always, ACE_HIGH_DEALER, FOUL)[0] == "lose"
        assert main(always, ACE_HIGH_DEALER, PUSHER)[0] == "push"

    def test_by_option_it_is_set_again_by_the_house_way(self) -> None:
        reset_rules = reading(NEVADA, foul="reset")
        # Aces high with king-queen low beat ace-king and nines in one hand only.
        assert main(reset_rules, PAIR_DEALER, FOUL)[0] == "push"
        assert main(reset_rules, PAIR_DEALER, "KH KC QH / 8S 8D 6D 4H")[0] == "win"
        assert main(reset_rules, PAIR_DEALER, WINNER)[0] == "win"


class TestImperial:
    """Ties are the player's; wins pay 21 to 20 (001, 9)."""

    @pytest.mark.parametrize(
        ("cards", "outcome"),
        [
            (WINNER, "win"),
            (TWO_COPIES, "win"),
            (HIGH_COPY_LOW_WINS, "win"),
            (LOW_COPY, "push"),
            (PUSHER, "push"),
            (LOSER, "lose"),
            (FOUL, "lose"),
        ],
    )
    def test_reconciliation(self, cards: str, outcome: Outcome) -> None:
        assert main(IMPERIAL, PAIR_DEALER, cards, 2000) == (
            outcome,
            2100 if outcome == "win" else 0,
        )

    @pytest.mark.parametrize(
        ("unit", "direction", "pay"),
        [(1, "down", 1575), (50, "down", 1550), (50, "up", 1600), (25, "nearest", 1575)],
    )
    def test_rounding_of_21_to_20(self, unit: int, direction: str, pay: int) -> None:
        rules = with_rules(IMPERIAL, rounding={"unit_cents": unit, "direction": direction})
        assert main(rules, PAIR_DEALER, WINNER, 1500) == ("win", pay)

    def test_the_dealer_sets_seven_of_eight(self) -> None:
        record = round_of(IMPERIAL, PAIR_DEALER)
        unknown = settle(record, IMPERIAL).dealer
        assert unknown.matches is None
        assert unknown.house_way_undecided == "the dealer's eighth card is not known"
        eight = record.model_copy(
            update={"dealer": record.dealer.model_copy(update={"discard": "9D"})}
        )
        way = settle(eight, IMPERIAL).dealer
        assert way.house_way is not None
        assert way.house_way.discard != "9D"
        assert way.matches is False

    def test_a_hand_that_is_not_two_and_five_is_reported(self) -> None:
        record = round_of(IMPERIAL, "AS KD 9H / 9C 7S 5D 2C", seat(1, WINNER, wager("main", 2000)))
        found = due(record, 1, "main", IMPERIAL)
        assert found.undecided == "the dealer's hand: the boxes hold 3 and 4 cards, not 2 and 5"
        unread = round_of(IMPERIAL, PAIR_DEALER, seat(1, WINNER, wager("main", 2000))).model_copy(
            update={"dealer": DealerRecord()}
        )
        assert due(unread, 1, "main", IMPERIAL).undecided == "the dealer's hand: no cards are known"

    def test_the_side_bet_by_its_list_or_by_poker(self) -> None:
        flush_and_trips = "9C 9D / 9H 8H 7H 5H 2H"
        stakes = (wager("imperial_side_bet", 500),)
        record = round_of(
            IMPERIAL, PAIR_DEALER.replace("9H 9C", "8S 8C"), seat(1, flush_and_trips, *stakes)
        )
        listed = due(record, 1, "imperial_side_bet", IMPERIAL)
        poker = due(record, 1, "imperial_side_bet", reading(IMPERIAL, trips_and_flush="poker"))
        assert (listed.pay_cents, poker.pay_cents) == (1000, 500)


def test_an_unread_dealer_leaves_the_main_wager_undecided() -> None:
    record = round_of(TRADITIONAL, PAIR_DEALER, seat(1, WINNER, wager("main", 2500)))
    unread = record.model_copy(update={"dealer": DealerRecord()})
    found = due(unread, 1, "main", TRADITIONAL)
    assert found.undecided == "the dealer's hand: no cards are known"


def test_a_side_wager_of_an_unread_hand_that_may_push() -> None:
    # The first table pushes three pair, so that an unread hand may win, push or lose.
    rules = with_rules(EARLIER, paytables={"emperors_treasure": "PT-FLT-EC-ET-01"}, progressives={})
    record = round_of(rules, PAIR_DEALER, seat(1, None, wager("emperors_treasure", 500)))
    assert due(record, 1, "emperors_treasure", rules).outcome is None


def test_an_envy_table_may_be_named_by_a_joined_one() -> None:
    joined = with_rules(NEVADA, paytables={**NEVADA.paytables, "envy": "PT-FLT-EC-ET-E02"})
    assert terms_for(joined).tables["envy"].wager == "envy"


class TestBanker:
    """A player banks (004; reading ST-5)."""

    def settled(
        self, bank: str, house: str = PAIR_DEALER, rules: TableRules = TRADITIONAL
    ) -> Settlement:
        wagers = (WagerRecord(wager="house", stake_cents=5000, action="paid", paid_cents=5000),)
        low, high = (tuple(part.split()) for part in house.split("/"))
        record = round_of(
            TRADITIONAL,
            PAIR_DEALER,
            seat(1, WINNER, wager("main", 2500)),
            seat(2, bank),
            seat(3, LOSER, wager("main", 10000)),
            banker=2,
        ).model_copy(update={"dealer": DealerRecord(low=low, high=high, wagers=wagers)})
        return settle(record, rules)

    def test_all_play_against_the_bank_and_the_house_takes_five_percent(self) -> None:
        settled = self.settled("JD TC / 8H 8C 6C 5S 3D")
        one, three = settled.seats[0].wager("main"), settled.seats[2].wager("main")
        assert one is not None
        assert (one.outcome, one.pay_cents, one.commission_cents) == ("win", 2375, 125)
        assert "seat 2" in one.why
        assert three is not None
        assert three.outcome == "push"
        house = settled.dealer.wagers[0]
        assert (house.outcome, house.pay_cents, house.commission_cents) == ("win", 5000, 0)
        assert settled.banker is not None
        assert (settled.banker.net_cents, settled.banker.commission_cents) == (-7500, 0)

    def test_a_net_win_of_the_bank_pays_commission(self) -> None:
        settled = self.settled("TD TH / 8S 8D 8C KC KD", "TC 9H / QS JH 7S 5D 2C")
        assert settled.banker is not None
        assert (settled.banker.net_cents, settled.banker.commission_cents) == (15000, 750)
        assert settled.banker.pay_cents == 14250

    def test_while_it_is_not_known_who_banks_main_wagers_are_undecided(self) -> None:
        doubt = Undecided(what="banker", why="two seats stake nothing")
        side = wager("pai_gow_insurance", 500, "taken", 0)
        record = round_of(
            TRADITIONAL, PAIR_DEALER, seat(1, WINNER, wager("main", 2500, "left", 0), side)
        ).model_copy(update={"undecided": (doubt,)})
        settled = settle(record, TRADITIONAL)
        main, insurance = (settled.seats[0].wager(n) for n in ("main", "pai_gow_insurance"))
        assert main is not None
        assert insurance is not None
        assert (main.outcome, insurance.outcome) == (None, "lose")
        assert main.undecided == "banker: two seats stake nothing"
        found = compare(record, settled, TRADITIONAL)
        assert {str(finding.code) for finding in found} <= {"UNDECIDED", "HOUSE_WAY"}
        assert any("two seats stake nothing" in finding.seen for finding in found)

    def test_a_bank_that_fouls_loses_to_all_who_did_not(self) -> None:
        settled = self.settled("TS TC / 8H 4C 6C 5S 3D")
        for index in (0, 2):
            due_main = settled.seats[index].wager("main")
            assert due_main is not None
            assert due_main.outcome == "win"
            assert "seat 2 fouled" in due_main.why

    def test_a_bank_that_fouls_is_set_again_where_the_house_does_so(self) -> None:
        # 004, Rules of Play, 3: settled by house procedure; here reading ST-2, 'reset'.
        reset_rules = reading(TRADITIONAL, foul="reset")
        settled = self.settled("TS TC / 8H 4C 6C 5S 3D", rules=reset_rules)
        as_set = self.settled("8H 6C / TS TC 5S 4C 3D")
        fouled = settled.seats[1]
        assert fouled.foul
        assert fouled.low_again == as_set.seats[1].low
        assert fouled.high_again == as_set.seats[1].high
        assert (settled.seats[0].low_again, as_set.seats[1].low_again) == (None, None)
        for mine, other in zip(settled.seats[::2], as_set.seats[::2], strict=True):
            assert mine.wagers == other.wagers
        assert settled.dealer.wagers == as_set.dealer.wagers
        assert settled.banker == as_set.banker
        lost = settled.seats[2].wager("main")
        assert lost is not None
        assert lost.outcome != self.settled("TS TC / 8H 4C 6C 5S 3D").seats[2].wagers[0].outcome

    def test_the_dealers_fouled_house_wager_is_set_again_too(self) -> None:
        reset_rules = reading(TRADITIONAL, foul="reset")
        fouled = "9H 9C / AS KD 7S 5D 2C"
        assert self.settled("JD TC / 8H 8C 6C 5S 3D", fouled).dealer.wagers[0].outcome == "lose"
        settled_again = self.settled("JD TC / 8H 8C 6C 5S 3D", fouled, reset_rules).dealer.wagers[0]
        assert (settled_again.outcome, settled_again.pay_cents) == ("win", 5000)

    def test_the_house_wager_keeps_the_limits(self) -> None:
        # 004, rule 1 and "The House wager"; its limits are an own key.
        rules = with_rules(TRADITIONAL, limits={"house": {"max_cents": 2500}})
        wagers = (WagerRecord(wager="house", stake_cents=5000, action="left"),)
        record = round_of(rules, PAIR_DEALER, seat(2, "JD TC / 8H 8C 6C 5S 3D"), banker=2)
        dealer = record.dealer.model_copy(update={"wagers": wagers})
        record = record.model_copy(update={"dealer": dealer})
        found = [f for f in findings(record, rules) if f.code == "LIMIT"]
        assert [(f.seat, f.wager, f.due) for f in found] == [(None, "house", "maximum $25.00")]
        assert found[0].message == ("Dealer, House wager: $50.00 is over the maximum of $25.00.")

    def test_a_bank_that_is_not_known_leaves_all_undecided(self) -> None:
        record = round_of(TRADITIONAL, PAIR_DEALER, seat(1, WINNER, wager("main", 2500)), banker=5)
        settled = settle(record, TRADITIONAL)
        assert settled.banker is not None
        assert settled.banker.pay_cents is None
        found = settled.seats[0].wager("main")
        assert found is not None
        assert found.undecided == "seat 5 banks, but is not once in the record"

    def test_an_unread_hand_leaves_the_bank_undecided(self) -> None:
        record = round_of(
            TRADITIONAL, PAIR_DEALER, seat(1, None, wager("main", 2500)), seat(2, WINNER), banker=2
        )
        bank = settle(record, TRADITIONAL).banker
        assert bank is not None
        assert bank.undecided == "seat 1, main: seat 1's hand: no cards are known"
        staked = round_of(
            TRADITIONAL,
            PAIR_DEALER,
            seat(1, LOSER, wager("main", None)),
            seat(2, WINNER),
            banker=2,
        )
        bank = settle(staked, TRADITIONAL).banker
        assert bank is not None
        assert bank.undecided == "seat 1, main: its stake is not known"

    def test_a_house_wager_of_unknown_stake_leaves_the_bank_undecided(self) -> None:
        house = WagerRecord(wager="house", action="left")
        record = round_of(TRADITIONAL, PAIR_DEALER, seat(2, WINNER), banker=2)
        dealer = record.dealer.model_copy(update={"wagers": (house,)})
        bank = settle(record.model_copy(update={"dealer": dealer}), TRADITIONAL).banker
        assert bank is not None
        assert bank.undecided == "the house wager: its stake is not known"

    def test_the_house_banks_by_default(self) -> None:
        assert main(TRADITIONAL, PAIR_DEALER, WINNER) == ("win", 2375)
        record = round_of(TRADITIONAL, PAIR_DEALER, seat(1, WINNER, wager("main", 2500)))
        assert settle(record, TRADITIONAL).banker is None


@pytest.mark.parametrize(
    ("stake", "unit", "direction", "pay"),
    [
        (2500, 1, "nearest", 2375),
        (2510, 1, "nearest", 2384),
        (2510, 25, "up", 2360),
        (2510, 25, "down", 2385),
        (100, 1, "down", 95),
    ],
)
def test_commission_is_rounded_by_option(stake: int, unit: int, direction: str, pay: int) -> None:
    rules = with_rules(TRADITIONAL, commission={"unit_cents": unit, "direction": direction})
    assert main(rules, PAIR_DEALER, WINNER, stake) == ("win", pay)


@pytest.mark.parametrize(
    ("rules", "changes", "message"),
    [
        (TRADITIONAL, {"main_option": "ace_high_push"}, "rules.main_option: pai_gow_poker has no"),
        (NEVADA, {"commission": {"percent": 5}}, "rules.commission: emperors_challenge_exposed ta"),
        (NEVADA, {"limits": {"blackjack": {"min_cents": 1}}}, "rules.limits.blackjack: emperors"),
        (NEVADA, {"aggregates": {"pairs": {}}}, "rules.aggregates.pairs: emperors"),
        (NEVADA, {"aggregates": {"main": {}}}, "rules.aggregates.main: .* has no such side wager"),
        (
            NEVADA,
            {"aggregates": {"emperors_treasure": {}, "envy": {}}},
            "rules.aggregates.envy: the sum of emperors_treasure counts the envy prizes already",
        ),
        (NEVADA, {"limits": {"envy": {}}}, "rules.limits.envy: a prize has no stake"),
        (
            NEVADA,
            {"limits": {"pai_gow_insurance_progressive": {"min_cents": 500}}},
            r"rules.limits.pai_gow_insurance_progressive: its fixed wager of \$1.00",
        ),
        # 001, 10.a; 003 and 004, Envy Bonus: the stake of $5 is printed.
        *(
            (rules, {"envy_min_cents": 1000}, "rules.envy_min_cents: the rules leave no choice")
            for rules in (IMPERIAL, WASHINGTON, TRADITIONAL)
        ),
        (
            NEVADA,
            {"progressives": {"emperors_treasure": {}}},
            "rules.progressives.emperors_treasure: the table offers no such jackpot; it offers emp",
        ),
        (IMPERIAL, {"progressives": {"x": {}}}, "rules.progressives.x: .* it offers no jackpot"),
        (
            NEVADA,
            {
                "progressives": {
                    "emperors_treasure_progressive": {"kind": "house"},
                    "pai_gow_insurance_progressive": {"kind": "progressive"},
                }
            },
            "rules.progressives: all jackpots of a table are of one kind",
        ),
        (NEVADA, {"paytables": {"imperial_side_bet": "x"}}, "rules.paytables.imperial_side_bet"),
        (
            NEVADA,
            {"aggregates": {"emperors_treasure_progressive": {"per_hand_cents": 5}}},
            "rules.aggregates.emperors_treasure_progressive: jackpots pay what the meter holds",
        ),
        (
            NEVADA,
            {"paytables": {"envy": "E02"}, "progressives": {}},
            "rules.paytables.envy: a prize beside emperors_treasure, which the table does not",
        ),
        (
            WASHINGTON,
            {"paytables": {**WASHINGTON.paytables, "envy": "E02"}},
            "rules.paytables.envy: PT-FLT-EC-ET-E02 has its own envy prizes; leave E02 out",
        ),
        (
            NEVADA,
            {"readings": {"trips_and_flush": "poker"}},
            "rules.readings.trips_and_flush: emperors_challenge_exposed has no such side bet",
        ),
        (NEVADA, {"paytables": {"envy": "E99"}}, "rules.paytables.envy: no pay table 'E99'"),
        (NEVADA, {"paytables": {"envy": "PT-FLT-EC-PGI-01"}}, "is a pay table of pai_gow_insur"),
        (NEVADA, {"house_way": "none"}, "rules.house_way: no house way 'none'"),
    ],
)
def test_rules_that_do_not_fit_are_refused(
    rules: TableRules, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(FeltwatchError, match=message):
        terms_for(with_rules(rules, **changes))


def test_limits_out_of_order_are_refused() -> None:
    with pytest.raises(ValueError, match="min_cents 500 is above max_cents 100"):
        with_rules(NEVADA, limits={"main": {"min_cents": 500, "max_cents": 100}})


def test_terms_are_looked_up_once_and_forgotten_in_the_end() -> None:
    rules = with_rules(NEVADA)
    first = terms_for(rules)
    assert terms_for(rules) is first
    for _ in range(80):
        terms_for(with_rules(NEVADA))
    assert terms_for(rules) is not first


def test_a_dealers_foul_leaves_main_wagers_undecided() -> None:
    fouled = "9H 9C / AS KD 7S 5D 2C"
    for rules in (NEVADA, TRADITIONAL, IMPERIAL):
        record = round_of(rules, fouled, seat(1, WINNER, wager("main", 2500)))
        reason = due(record, 1, "main", rules).undecided
        assert reason is not None
        assert reason.startswith("the dealer's hand: the low hand, pair of nines, outranks")


def test_the_traditional_insurance_may_be_on_the_dealers_hand() -> None:
    stake = wager("pai_gow_insurance", 500)
    record = round_of(TRADITIONAL, ACE_HIGH_DEALER, seat(1, WINNER, stake, lammers=("dealer",)))
    found = due(record, 1, "pai_gow_insurance", TRADITIONAL)
    assert (found.outcome, found.pay_cents) == ("win", 1000)
    assert str(found.rule) == "000, Appendix A, PT-FLT-EC-PGI-02, Ace-High Pai Gow"


def test_a_row_that_is_sure_stands_whatever_else_may_be_held() -> None:
    held = Held(frozenset({"nine_high"}), "the hand", frozenset({"flush"}), "covered")
    ruling = rule_by_table(pay_table("PT-FLT-EC-PGI-05"), held, "002")
    assert (ruling.outcome, ruling.undecided) == ("win", None)
