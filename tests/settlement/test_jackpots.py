"""Jackpots: fixed pays by base wager, percent of a meter, two hits, levels, dynamic pays."""

from __future__ import annotations

import pytest

from settlement.compare.check import check_record
from settlement.record import DynamicPay, Meter, RoundRecord, SeatRecord
from settlement.result import Settlement
from settlement.rules import TableRules
from settlement.settle import settle
from tests.settlement.felt import WINNER, reported, round_of, seat, wager
from tests.settlement.tables import EARLIER, NEVADA, WASHINGTON, reading, with_rules

TREASURE = "emperors_treasure_progressive"
INSURANCE = "pai_gow_insurance_progressive"
NINE_ONE_COLOUR = "9H 8D / 7H 5D 4H 3D 2H"
NINE = "9S 8C / 7C 5S 4C 3S 2D"
OTHER_NINE = "9D 8S / 7S 6S 4D 3H 2C"
ROYAL_WITH_KINGS = "AS KS / AH KH QH JH TH"
SEVEN_NATURAL = "8C 7C / 6C 5C 4C 3C 2C"
SEVEN_JOKER = "8D 7D / 6D JOKER 4D 3D 2D"
FULL_HOUSE = "5H 5S / 6S 6H 6C 9D 2S"
FIVE_ACES = "KD QC / AS AH AD AC JOKER"


def play(
    rules: TableRules,
    *cards: str,
    name: str = TREASURE,
    meters: tuple[tuple[int, int], ...] | None = ((1, 1000000),),
    **more: object,
) -> Settlement:
    return settle(record_of(rules, *cards, name=name, meters=meters, **more), rules)


def record_of(
    rules: TableRules,
    *cards: str,
    name: str = TREASURE,
    meters: tuple[tuple[int, int], ...] | None = ((1, 1000000),),
    **more: object,
) -> RoundRecord:
    seats = [seat(n, c, wager(name, 100)) for n, c in enumerate(cards, start=1)]
    told_meters = (
        None
        if meters is None
        else tuple(Meter(wager=name, level=level, cents=cents) for level, cents in meters)
    )
    update = {"game": rules.game, "meters": told_meters, **more}
    return round_of(None, *seats).model_copy(update=update)


def pays(settled: Settlement, name: str = TREASURE) -> list[int | None]:
    found = [s.wager(name) for s in settled.seats]
    return [None if w is None else w.pay_cents for w in found]


def test_fixed_pays_are_for_one_and_the_coin_stays() -> None:
    main = play(NEVADA, FULL_HOUSE).seats[0].wager(TREASURE)
    assert main is not None
    assert (main.outcome, main.pay_cents, main.stake_returned) == ("win", 500, False)
    assert str(main.rule) == "002, Appendix E, PT-BJS-EC-ET-01, Full House"


def test_fixed_pays_are_multiplied_by_the_base_wager() -> None:
    five = with_rules(NEVADA, progressives={TREASURE: {"base_cents": 500}})
    assert pays(play(five, FULL_HOUSE)) == [2500]


@pytest.mark.parametrize(
    ("cards", "share"), [(SEVEN_NATURAL, 100), (ROYAL_WITH_KINGS, 50), (SEVEN_JOKER, 25)]
)
def test_a_percentage_comes_from_the_meter(cards: str, share: int) -> None:
    settled = play(NEVADA, cards)
    hit = settled.seats[0].wager(TREASURE)
    assert hit is not None
    assert (hit.pay_cents, hit.meter_cents, hit.hand_pay) == (share * 10000, share * 10000, True)
    meter = settled.meters[0]
    left = 500000 if share == 100 else 1000000 - share * 10000
    assert (meter.before_cents, meter.paid_cents, meter.after_cents) == (
        1000000,
        share * 10000,
        left,
    )


class TestTwoHits:
    """Reading ST-7."""

    def test_in_the_order_of_settling_the_last_seat_first(self) -> None:
        # Seat 2 takes half, then seat 1 a quarter of what is left.
        settled = play(NEVADA, SEVEN_JOKER, ROYAL_WITH_KINGS)
        assert pays(settled) == [125000, 500000]
        assert settled.meters[0].after_cents == 375000

    def test_or_the_first_seat_first_which_is_the_default(self) -> None:
        assert TableRules(game=NEVADA.game).settling_starts == "first_seat"
        first = with_rules(NEVADA, settling_starts="first_seat")
        assert pays(play(first, SEVEN_JOKER, ROYAL_WITH_KINGS)) == [250000, 375000]

    def test_a_full_hit_reseeds_the_meter_before_the_next(self) -> None:
        settled = play(NEVADA, ROYAL_WITH_KINGS, SEVEN_NATURAL)
        assert pays(settled) == [250000, 1000000]
        meter = settled.meters[0]
        assert (meter.reseed_cents, meter.after_cents) == (500000, 250000)

    def test_without_a_given_seed_the_second_is_not_known(self) -> None:
        bare = with_rules(NEVADA, progressives={})
        settled = play(bare, ROYAL_WITH_KINGS, SEVEN_NATURAL)
        assert pays(settled) == [None, 1000000]
        second = settled.seats[0].wager(TREASURE)
        assert second is not None
        assert "its reseed is not in the table file" in (second.undecided or "")
        assert settled.meters[0].after_cents is None

    def test_equal_hits_may_share_the_meter_as_it_was(self) -> None:
        shared = reading(NEVADA, percent_hits="split_equally")
        settled = play(shared, NINE, OTHER_NINE, name=INSURANCE)
        assert pays(settled, INSURANCE) == [50000, 50000]
        mixed = play(shared, SEVEN_JOKER, ROYAL_WITH_KINGS)
        assert pays(mixed) == [250000, 500000]

    def test_or_each_gets_its_share_of_the_full_meter_and_the_house_adds(self) -> None:
        full = reading(NEVADA, percent_hits="full_meter")
        settled = play(full, ROYAL_WITH_KINGS, SEVEN_NATURAL)
        assert pays(settled) == [500000, 1000000]
        one, two = (s.wager(TREASURE) for s in settled.seats)
        assert one is not None
        assert two is not None
        assert (one.meter_cents, two.meter_cents) == (0, 1000000)
        assert settled.meters[0].after_cents == 500000

    def test_a_hand_not_known_before_leaves_the_next_undecided(self) -> None:
        record = record_of(NEVADA, SEVEN_JOKER, ROYAL_WITH_KINGS)
        hidden = record.seats[1].model_copy(update={"low": None, "high": None})
        covered = record.model_copy(update={"seats": (record.seats[0], hidden)})
        first = settle(covered, NEVADA).seats[0].wager(TREASURE)
        assert first is not None
        assert first.outcome == "win"
        assert first.undecided == "a hand that is not known may have hit the same meter"

    def test_a_seat_without_the_wager_disturbs_nobody(self) -> None:
        record = record_of(NEVADA, SEVEN_JOKER)
        seats = (*record.seats, SeatRecord(seat=2))
        assert pays(settle(record.model_copy(update={"seats": seats}), NEVADA)) == [250000, None]


def test_a_meter_that_is_not_given_leaves_the_payout_open() -> None:
    settled = play(NEVADA, SEVEN_NATURAL, meters=None)
    hit = settled.seats[0].wager(TREASURE)
    assert hit is not None
    assert (hit.outcome, hit.pay_cents, hit.hand_pay) == ("win", None, True)
    assert hit.undecided == "what the jackpot meter showed is not in the record"
    assert settled.meters == ()
    record = record_of(NEVADA, SEVEN_NATURAL, meters=None)
    assert ("HAND_PAY", 1, TREASURE) in reported(record, NEVADA)


def test_a_house_jackpot_pays_the_display_from_the_house() -> None:
    both = {key: {"kind": "house"} for key in (TREASURE, INSURANCE)}
    house = with_rules(WASHINGTON, progressives=both)
    settled = play(house, ROYAL_WITH_KINGS, SEVEN_NATURAL)
    assert pays(settled) == [1000000, 1000000]
    assert [s.wagers[0].meter_cents for s in settled.seats] == [0, 0]
    assert (settled.meters[0].paid_cents, settled.meters[0].after_cents) == (0, 1000000)


def test_multi_level_meters_are_separate() -> None:
    levels = with_rules(
        NEVADA,
        paytables={TREASURE: "PT-PRG-MLP-ET-03"},
        progressives={TREASURE: {"seed_cents": [500000, 200000, 100000]}},
    )
    settled = play(
        levels, SEVEN_JOKER, ROYAL_WITH_KINGS, meters=((1, 9000000), (2, 800000), (3, 70000))
    )
    assert pays(settled) == [70000, 800000]
    assert [(m.level, m.after_cents) for m in settled.meters] == [(2, 200000), (3, 100000)]


def test_nine_high_of_one_colour_is_the_higher_row() -> None:
    settled = play(NEVADA, NINE_ONE_COLOUR, NINE, name=INSURANCE)
    assert pays(settled, INSURANCE) == [900000, 100000]
    early = play(EARLIER, NINE, name=INSURANCE)
    assert "9-High two-tone" in str(early.seats[0].wagers[0].rule)


class TestUnlisted:
    """Reading ST-12: the 'N/A' row of PT-BJS-EC-ET-03."""

    def test_is_paid_as_the_next_row(self) -> None:
        assert pays(play(EARLIER, ROYAL_WITH_KINGS)) == [50000]

    def test_or_not_at_all(self) -> None:
        unpaid = play(reading(EARLIER, unlisted_hand="not_paid"), ROYAL_WITH_KINGS)
        assert unpaid.seats[0].wagers[0].outcome == "lose"


class TestThreePair:
    """Reading ST-11: the '3 Pair' row stands above 'Full House' in Washington."""

    WITH_TRIPS = "4H 4S / 6S 6H 6C 9D 9C"

    def test_exactly_three_pairs_are_paid(self) -> None:
        assert pays(play(WASHINGTON, "5H 5S / 7S 7H KC KD 2S", self.WITH_TRIPS)) == [700, 500]

    def test_by_option_with_full_houses(self) -> None:
        wide = reading(WASHINGTON, three_pair="with_full_house")
        assert pays(play(wide, self.WITH_TRIPS)) == [700]


class TestNaturalRoyal:
    """Reading HR-8: 'Royal Flush (No Joker)' of PT-BJS-EC-ET-05."""

    WITH_JOKER_BESIDE = "JOKER 2C / AH KH QH JH TH"

    def test_the_royal_has_no_joker(self) -> None:
        assert pays(play(WASHINGTON, self.WITH_JOKER_BESIDE)) == [1000000]

    def test_or_the_hand_has_none(self) -> None:
        strict = reading(WASHINGTON, natural_royal="hand_without_joker")
        assert pays(play(strict, self.WITH_JOKER_BESIDE)) == [32500]


class TestDynamic:
    """002, Appendix G; reading ST-14."""

    RULES = with_rules(
        NEVADA, paytables={TREASURE: "PT-PRG-EC-ET-D01"}, progressives={TREASURE: {}}
    )

    def drawn(self, *pays_: tuple[str, int]) -> tuple[DynamicPay, ...]:
        return tuple(DynamicPay(category=c, pay_cents=p) for c, p in pays_)

    def test_the_drawn_pay_replaces_the_default(self) -> None:
        quads = "8S 2D / TS TD TC TH 3D"
        drawn = self.drawn(("full_house", 2000))
        assert pays(play(self.RULES, FULL_HOUSE, quads, dynamic_pays=drawn)) == [2000, 2000]

    def test_unknown_pays_are_said(self) -> None:
        settled = play(self.RULES, FULL_HOUSE, WINNER)
        full, none = (s.wagers[0] for s in settled.seats)
        assert (full.outcome, full.pay_cents) == ("win", None)
        assert full.undecided == "the dynamic pays of this round are not in the record"
        assert (none.outcome, none.pay_cents) == ("lose", 0)

    def test_a_meter_row_does_not_hang_on_them(self) -> None:
        settled = play(self.RULES, FIVE_ACES, meters=((2, 300000),))
        assert pays(settled) == [300000]

    @pytest.mark.parametrize(
        ("drawn", "reason"),
        [
            ((("full_house", 333),), "333 cents is no dynamic pay of full_house"),
            ((("flush", 300),), "'flush' has no dynamic pays"),
            ((("full_house", 300), ("full_house", 400)), "a dynamic pay stands twice"),
            ((), "no dynamic pay was drawn; a round has one to three"),
        ],
    )
    def test_impossible_ones_are_refused(
        self, drawn: tuple[tuple[str, int], ...], reason: str
    ) -> None:
        record = record_of(self.RULES, FULL_HOUSE, dynamic_pays=self.drawn(*drawn))
        assert any(reason in str(p) for p in check_record(record, self.RULES))
        settle(record, self.RULES)

    def test_an_impossible_pay_leaves_the_wager_undecided(self) -> None:
        drawn = self.drawn(("full_house", 333))
        wager_ = play(self.RULES, FULL_HOUSE, dynamic_pays=drawn).seats[0].wagers[0]
        assert "333 cents" in (wager_.undecided or "")

    def test_where_no_table_has_them_they_are_odd(self) -> None:
        record = record_of(NEVADA, FULL_HOUSE, dynamic_pays=self.drawn(("full_house", 300)))
        assert "no pay table here has them" in str(check_record(record, NEVADA)[0])


def test_meters_are_checked() -> None:
    record = record_of(NEVADA, FULL_HOUSE, meters=((1, 5), (1, 6)))
    assert "the meter of level 1 stands twice" in str(check_record(record, NEVADA)[0])
    other = record.model_copy(update={"meters": (Meter(wager="main", cents=1),)})
    assert "a meter of no jackpot here" in str(check_record(other, NEVADA)[0])


def test_a_level_that_the_table_lacks_is_refused() -> None:
    record = record_of(NEVADA, FULL_HOUSE, meters=((9, 5),))
    assert "a meter of level 9; its pay table has 1" in str(check_record(record, NEVADA)[0])


def test_without_a_coin_there_is_no_wager() -> None:
    record = record_of(NEVADA, SEVEN_NATURAL)
    bare = record.seats[0].model_copy(update={"wagers": (wager(TREASURE, 0),)})
    hit = settle(record.model_copy(update={"seats": (bare,)}), NEVADA).seats[0].wagers[0]
    assert (hit.outcome, hit.pay_cents, hit.why) == ("lose", 0, "no coin was staked")
