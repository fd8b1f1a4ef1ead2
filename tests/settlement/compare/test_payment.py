"""What was laid: other chips, change, commission, the wrong spot, corrected payments."""

from __future__ import annotations

import pytest

from settlement.compare.check import check_record
from settlement.compare.comparison import compare_and_suspect
from settlement.compare.finding import Suspicion
from settlement.compare.payment import Laid
from settlement.record import DealerRecord, Payment, RoundRecord, Undecided, WagerRecord
from settlement.rules import TableRules
from settlement.settle import settle
from tests.settlement.felt import (
    LOSER,
    PAIR_DEALER,
    PUSHER,
    WINNER,
    findings,
    reported,
    round_of,
    seat,
    wager,
)
from tests.settlement.tables import NEVADA, TRADITIONAL, with_rules

FULL_WINNER = "KS KH / AD AC AH 6D 4H"


def record_of(rules: TableRules, *wagers: WagerRecord, cards: str = WINNER) -> RoundRecord:
    return round_of(PAIR_DEALER, seat(1, cards, *wagers)).model_copy(update={"game": rules.game})


def main_paid(
    paid: int,
    *,
    stake: int = 2500,
    returned: int | None = None,
    steps: tuple[tuple[str, int], ...] = (),
) -> WagerRecord:
    return WagerRecord(
        wager="main",
        stake_cents=stake,
        action="paid",
        paid_cents=paid,
        returned_cents=returned,
        payments=tuple(Payment(at_s=at, cents=cents) for at, cents in steps) or None,
    )


class TestCommission:
    """5% of a win: net, or taken out of the pay, or collected later."""

    @pytest.mark.parametrize(("paid", "returned"), [(2375, None), (2500, 125), (2400, 25)])
    def test_a_net_payment_is_right(self, paid: int, returned: int | None) -> None:
        assert (
            reported(record_of(TRADITIONAL, main_paid(paid, returned=returned)), TRADITIONAL) == []
        )

    def test_a_commission_that_the_player_lays_beside_the_pay_is_none_too_much(self) -> None:
        """$25 and the player's $1.25 lie there when the cards are taken; then it is drawn in."""
        steps = (("20.0", 2625), ("22.0", -125))
        record = record_of(TRADITIONAL, main_paid(2500, steps=steps))
        (own,) = record.seats
        taken = own.model_copy(update={"cards_taken_s": "21.0"})
        assert reported(record.model_copy(update={"seats": (taken,)}), TRADITIONAL) == []
        # Another sum is no commission.
        wrong = main_paid(2500, steps=(("20.0", 2700), ("22.0", -200)))
        (own,) = record_of(TRADITIONAL, wrong).seats
        taken = own.model_copy(update={"cards_taken_s": "21.0"})
        codes = [
            code
            for code, _, _ in reported(record.model_copy(update={"seats": (taken,)}), TRADITIONAL)
        ]
        assert "OVERPAID" in codes

    def test_a_forgotten_commission_is_reported(self) -> None:
        record = record_of(TRADITIONAL, main_paid(2500))
        assert reported(record, TRADITIONAL) == [("OVERPAID", 1, "main")]
        message = findings(record, TRADITIONAL)[0].message
        assert "the commission of $1.25 was not taken" in message
        assert "due $23.75 after $1.25 commission" in message

    def test_collected_later_both_sums_are_right(self) -> None:
        later = with_rules(TRADITIONAL, commission={"taken": "afterwards"})
        for paid in (2500, 2375):
            assert reported(record_of(later, main_paid(paid)), later) == []
        assert reported(record_of(later, main_paid(2400)), later) == [("UNDERPAID", 1, "main")]


class TestCollectedLater:
    """Whether a commission was collected the felt shows in part: it is never an alert."""

    LATER = with_rules(TRADITIONAL, commission={"taken": "afterwards"})

    def suspected(self, main: WagerRecord, rules: TableRules = LATER) -> list[Suspicion]:
        record = record_of(rules, main)
        found, suspected = compare_and_suspect(record, settle(record, rules), rules)
        assert found == []
        return suspected

    def test_a_whole_payout_over_which_nothing_moved_is_worth_a_look(self) -> None:
        still = main_paid(2500).model_copy(update={"stirred": False})
        (one,) = self.suspected(still)
        assert (one.finding.code, one.finding.seat, one.finding.wager) == ("OVERPAID", 1, "main")
        assert one.probability == 1.0
        assert "no commission was seen to be collected" in one.message
        assert "due $23.75 after $1.25 commission" in one.message

    @pytest.mark.parametrize(
        "main",
        [
            main_paid(2500),
            main_paid(2500).model_copy(update={"stirred": True}),
            main_paid(2375).model_copy(update={"stirred": False}),
            main_paid(2500, returned=125).model_copy(update={"stirred": False}),
        ],
        ids=["not known", "moved over", "net", "given"],
    )
    def test_what_may_have_been_collected_is_none(self, main: WagerRecord) -> None:
        assert self.suspected(main) == []

    def test_what_is_left_once_it_was_taken_out_of_the_payout_settles_the_win(self) -> None:
        """The payout is final then, not when the cards are taken: it may look otherwise before."""
        taken = main_paid(2375, steps=(("40.0", 2600), ("60.0", -225)))
        own = seat(1, WINNER, taken).model_copy(update={"cards_taken_s": "50.0"})
        late = round_of(PAIR_DEALER, own).model_copy(update={"game": TRADITIONAL.game})
        assert reported(late, self.LATER) == []
        assert reported(late, TRADITIONAL) == [("OVERPAID", 1, "main")]
        short = main_paid(2400, steps=(("40.0", 2600), ("60.0", -200)))
        own = own.model_copy(update={"wagers": (short,)})
        assert reported(late.model_copy(update={"seats": (own,)}), self.LATER) == [
            ("OVERPAID", 1, "main")
        ]

    def test_on_account_nothing_is_looked_for(self) -> None:
        still = main_paid(2500).model_copy(update={"stirred": False})
        assert (
            self.suspected(still, with_rules(TRADITIONAL, commission={"taken": "on_account"})) == []
        )

    @pytest.mark.parametrize(("share", "found"), [(0.98, 1), (0.6, 0)])
    def test_it_is_as_likely_as_the_sum_that_was_read(self, share: float, found: int) -> None:
        sums = ((2500, share), (2375, round(1 - share, 2)))
        unsure = main_paid(2500).model_copy(update={"stirred": False, "paid_sums": sums})
        assert [one.probability for one in self.suspected(unsure)] == [share] * found


class TestMended:
    """Payments that were put right while the cards lay, or too late."""

    def record(self, taken: str | None, *steps: tuple[str, int]) -> RoundRecord:
        paid = main_paid(sum(cents for _, cents in steps), steps=steps)
        record = record_of(NEVADA, paid)
        held = record.seats[0].model_copy(update={"cards_taken_s": taken})
        return record.model_copy(update={"seats": (held,)})

    @pytest.mark.parametrize("taken", ["20.0", None])
    def test_in_time(self, taken: str | None) -> None:
        assert reported(self.record(taken, ("10", 2000), ("15.5", 500)), NEVADA) == []
        assert reported(self.record(taken, ("10", 3000), ("15.5", -500)), NEVADA) == []

    def test_too_late(self) -> None:
        record = self.record("12.0", ("10", 2000), ("15.5", 500))
        assert reported(record, NEVADA) == [("UNDERPAID", 1, "main")]
        assert "put right only after the cards were taken" in findings(record, NEVADA)[0].message

    def test_wrong_at_last(self) -> None:
        record = self.record("20.0", ("10", 2000), ("15.5", 100))
        assert reported(record, NEVADA) == [("UNDERPAID", 1, "main")]
        assert "put right" not in findings(record, NEVADA)[0].message

    def test_change_is_named_in_the_message(self) -> None:
        record = record_of(NEVADA, main_paid(10000, returned=7000))
        assert "paid $30.00 ($70.00 taken back)" in findings(record, NEVADA)[0].message

    def test_what_is_not_known(self) -> None:
        assert Laid.of(WagerRecord(wager="main"), None) is None
        steps = (Payment(at_s="1", cents=500),)
        assert Laid.of(WagerRecord(wager="main", payments=steps), None) == Laid(500, 500)


class TestWrongSpot:
    """The right sum for the seat, beside another of its wagers."""

    def test_one_finding_instead_of_two(self) -> None:
        record = record_of(
            NEVADA,
            main_paid(4500),
            wager("emperors_treasure", 400, "left"),
            cards=FULL_WINNER,
        )
        assert reported(record, NEVADA) == [("WRONG_SPOT", 1, "emperors_treasure")]
        finding = findings(record, NEVADA)[0]
        assert finding.severity == "low"
        assert finding.seen == "$20.00 laid beside the main bet"

    def test_beside_a_push(self) -> None:
        record = record_of(
            NEVADA,
            wager("main", 2500, "paid", 1200),
            wager("emperors_treasure", 400, "left"),
            cards="QS JH / TD TC TH 6H 3D",
        )
        assert reported(record, NEVADA) == [("WRONG_SPOT", 1, "emperors_treasure")]

    def test_beside_a_push_with_an_uncertain_sum(self) -> None:
        """The chips at the push are the other wager's payout: one finding, not two."""
        pays = ((1200, 0.88), (1100, 0.09), (1300, 0.03))
        main = wager("main", 2500, "paid", None).model_copy(update={"paid_sums": pays})
        record = record_of(
            NEVADA, main, wager("emperors_treasure", 400, "left"), cards="QS JH / TD TC TH 6H 3D"
        )
        assert reported(record, NEVADA) == [("WRONG_SPOT", 1, "emperors_treasure")]

    def test_beside_a_payout_of_one_chip_it_is_no_change(self) -> None:
        """A chip of $25 by $15: $10 too much, and $10 are missing by the other wager."""
        main = wager("main", 1500, "paid", 2500).model_copy(update={"paid_least_cents": 2500})
        other = wager("emperors_treasure", 200, "left")
        record = record_of(NEVADA, main, other, cards=FULL_WINNER)
        assert reported(record, NEVADA) == [("WRONG_SPOT", 1, "emperors_treasure")]
        # Where as much is not missing it may be change.
        other = wager("emperors_treasure", 400, "left")
        record = record_of(NEVADA, main, other, cards=FULL_WINNER)
        assert "change may have been given" in findings(record, NEVADA)[-1].message
        codes = [code for code, _, _ in reported(record, NEVADA)]
        assert codes == ["NOT_PAID", "UNDECIDED"]
        # $10 that lie by a third one for sure are the missing ones.
        other = wager("emperors_treasure", 200, "left")
        third = wager("pai_gow_insurance", 500, "paid", 1000)
        record = record_of(NEVADA, main, other, third, cards=FULL_WINNER)
        codes = [code for code, _, _ in reported(record, NEVADA)]
        assert codes == ["WRONG_SPOT", "UNDECIDED"]

    def test_what_lies_by_a_push_for_sure_is_not_looked_for_by_a_payout_in_doubt(self) -> None:
        """$6 are missing and lie by a push; $15 by a third wager are its due or perhaps $6 more."""
        third = wager("pai_gow_insurance", None, "paid", 1500).model_copy(
            update={"stake_sums": ((300, 0.8), (400, 0.14), (500, 0.06))}
        )
        record = record_of(
            NEVADA, third, wager("main", 2500, "paid", 1200),
            wager("emperors_treasure", 400, "left"), cards="QS JH / TD TC TH 6H 3D",
        )  # fmt: skip
        codes = [one for one in reported(record, NEVADA) if one[0] != "UNDECIDED"]
        assert ("WRONG_SPOT", 1, "emperors_treasure") in codes
        assert "PAID_PUSH" not in [code for code, _, _ in codes]
        (wrong,) = (one for one in findings(record, NEVADA) if one.code == "WRONG_SPOT")
        assert "main bet" in wrong.seen

    def test_an_unread_sum_at_a_push_is_not_the_stake(self) -> None:
        record = record_of(
            NEVADA, wager("main", 2500, "paid", None), cards="QS JH / TD TC TH 6H 3D"
        )
        assert reported(record, NEVADA) == [("PAID_PUSH", 1, "main")]
        assert "main bet: paid, due a push" in findings(record, NEVADA)[0].message

    def test_the_stake_of_the_unpaid_wager_need_not_be_sure(self) -> None:
        """$100 lie at a push of another wager; the main bet was perhaps $100, likelier $75."""
        main = wager("main", None, "left").model_copy(
            update={"stake_sums": ((7500, 0.82), (5000, 0.12), (10000, 0.06))}
        )
        treasure = wager("emperors_treasure", 400, "paid", 10000)
        record = record_of(NEVADA, main, treasure)
        # Whether the stake keeps to the limits stays open.
        assert reported(record, NEVADA) == [("WRONG_SPOT", 1, "main"), ("UNDECIDED", 1, None)]
        finding = findings(record, NEVADA)[0]
        assert finding.seen == "$100.00 laid beside the Emperor's Treasure"
        elsewhere = treasure.model_copy(update={"paid_cents": 9000})
        codes = {code for code, _, _ in reported(record_of(NEVADA, main, elsewhere), NEVADA)}
        assert "WRONG_SPOT" not in codes

    def test_a_side_wager_that_was_left_may_be_what_was_paid_at_a_push(self) -> None:
        """Its stake was perhaps $4, perhaps $3, and $12 lie beside the main bet, a push."""
        treasure = wager("emperors_treasure", None, "left").model_copy(
            update={"stake_sums": ((400, 0.65), (300, 0.35))}
        )
        cards = "QS JH / TD TC TH 6H 3D"
        record = record_of(NEVADA, wager("main", 2500, "paid", 1200), treasure, cards=cards)
        codes = [one for one in reported(record, NEVADA) if one[0] != "UNDECIDED"]
        assert codes == [("WRONG_SPOT", 1, "emperors_treasure")]
        record = record_of(NEVADA, wager("main", 2500, "paid", 5000), treasure, cards=cards)
        assert ("PAID_PUSH", 1, "main") in reported(record, NEVADA)

    def test_what_is_due_to_a_hidden_payout_lies_by_another(self) -> None:
        """Nobody saw whether the main bet was paid; its $100 lie by the other, which won $20."""
        main = wager("main", 10000, None)
        treasure = wager("emperors_treasure", 400, "paid", 12000)
        record = record_of(NEVADA, main, treasure, cards=FULL_WINNER)
        assert ("WRONG_SPOT", 1, "main") in reported(record, NEVADA)
        assert "OVERPAID" not in [code for code, _, _ in reported(record, NEVADA)]

    def test_what_may_lie_where_nobody_sees_is_not_missing(self) -> None:
        """A tall stack on the main bet hides what lies behind it; $20 are due beside."""
        treasure = wager("emperors_treasure", 400, "left")
        hidden = record_of(NEVADA, wager("main", 10000, None), treasure, cards=FULL_WINNER)
        assert [code for code, _, _ in reported(hidden, NEVADA)] == ["UNDECIDED"]
        assert "the payout may lie by the main bet, where it would not be seen" in "".join(
            one.message for one in findings(hidden, NEVADA)
        )
        seen = record_of(NEVADA, main_paid(2500), treasure, cards=FULL_WINNER)
        assert reported(seen, NEVADA) == [("NOT_PAID", 1, "emperors_treasure")]

    def test_the_stake_of_the_other_wager_need_not_be_sure(self) -> None:
        """$45 lie by a stake of $25, with a doubt: $25 and the payout of the wager beside it."""
        main = wager("main", 2500, "paid", None).model_copy(
            update={
                "stake_sums": ((2500, 0.98), (3000, 0.02)),
                "paid_sums": ((4500, 0.9), (4400, 0.1)),
            }
        )
        record = record_of(NEVADA, main, wager("emperors_treasure", 400, "left"), cards=FULL_WINNER)
        codes = [one for one in reported(record, NEVADA) if one[0] != "UNDECIDED"]
        assert codes == [("WRONG_SPOT", 1, "emperors_treasure")]
        other = main.model_copy(update={"paid_sums": ((4500, 0.1), (4400, 0.9))})
        record = record_of(
            NEVADA, other, wager("emperors_treasure", 400, "left"), cards=FULL_WINNER
        )
        assert "WRONG_SPOT" not in [code for code, _, _ in reported(record, NEVADA)]

    def test_what_is_too_much_may_be_the_payout_of_a_wager_whose_outcome_is_open(self) -> None:
        """$70 lie by Emperor's Treasure, $20 due; the main bet was left, the dealer not read."""
        treasure = wager("emperors_treasure", 400, "paid", 7000)
        record = record_of(NEVADA, wager("main", 5000, "left"), treasure, cards=FULL_WINNER)
        unread = record.model_copy(
            update={
                "dealer": record.dealer.model_copy(update={"low": None, "high": None}),
                "undecided": (Undecided(what="hand", why="never at rest"),),
            }
        )
        assert ("WRONG_SPOT", 1, "main") in reported(record, NEVADA)
        assert "OVERPAID" not in [code for code, _, _ in reported(unread, NEVADA)]
        taken = record_of(NEVADA, wager("main", 5000, "taken"), treasure, cards=FULL_WINNER)
        taken = taken.model_copy(update={"dealer": unread.dealer, "undecided": unread.undecided})
        assert ("OVERPAID", 1, "emperors_treasure") in reported(taken, NEVADA)

    def test_a_payout_that_was_found_elsewhere_does_not_lie_unseen(self) -> None:
        """$12 lie beside the main bet, a push: what was done with the third wager is no matter."""
        record = record_of(
            NEVADA,
            wager("main", 2500, "paid", 1200),
            wager("emperors_treasure", 400, "left"),
            wager("pai_gow_insurance", 500, None),
            cards="QS JH / TD TC TH 6H 3D",
        )
        codes = [one for one in reported(record, NEVADA) if one[0] != "UNDECIDED"]
        assert codes == [("WRONG_SPOT", 1, "emperors_treasure")]

    @pytest.mark.parametrize(("likely", "code"), [(0.1, None), (0.8, "NOT_PAID")])
    def test_a_sum_that_is_hardly_what_its_own_stake_won(
        self, likely: float, code: str | None
    ) -> None:
        """$45 lie by a stake that was perhaps $45; $20 are due beside it."""
        main = wager("main", None, "paid", 4500).model_copy(
            update={"stake_sums": ((4600, 0.9 - likely), (4500, likely), (9000, 0.1))}
        )
        treasure = wager("emperors_treasure", 400, "left")
        codes = reported(record_of(NEVADA, main, treasure, cards=FULL_WINNER), NEVADA)
        assert (("NOT_PAID", 1, "emperors_treasure") in codes) is (code is not None)
        assert ("UNDECIDED", 1, None) in codes

    @pytest.mark.parametrize(("paid", "code"), [(2000, None), (1900, "NOT_PAID")])
    def test_a_missing_payout_may_lie_by_a_wager_whose_outcome_is_not_known(
        self, paid: int, code: str | None
    ) -> None:
        """A dealer's card was not read; $20 are due beside the main bet, which was paid."""
        treasure = wager("emperors_treasure", 400, "left")
        record = record_of(NEVADA, wager("main", 1500, "paid", paid), treasure, cards=FULL_WINNER)
        high = record.dealer.high
        assert high is not None
        dealer = record.dealer.model_copy(update={"high": high[:-1]})
        codes = reported(record.model_copy(update={"dealer": dealer}), NEVADA)
        missing = [one for one in codes if one[0] == "NOT_PAID"]
        assert missing == ([] if code is None else [(code, 1, "emperors_treasure")])

    @pytest.mark.parametrize(
        ("sums", "code"),
        [
            # Due are $25, and $20 beside it: what lies there is none of the two by itself.
            (((6000, 0.78), (2600, 0.09), (2700, 0.06)), None),
            (((2500, 0.7), (2600, 0.2), (6000, 0.06)), "NOT_PAID"),
            (((6000, 0.93), (2600, 0.06)), "NOT_PAID"),
            (((1500, 0.5), (1000, 0.4)), "NOT_PAID"),
        ],
    )
    def test_a_missing_payout_may_lie_in_a_sum_that_was_not_read(
        self, sums: tuple[tuple[int, float], ...], code: str | None
    ) -> None:
        main = main_paid(2500).model_copy(update={"paid_cents": None, "paid_sums": sums})
        record = record_of(NEVADA, main, wager("emperors_treasure", 400, "left"), cards=FULL_WINNER)
        codes = reported(record, NEVADA)
        assert (("NOT_PAID", 1, "emperors_treasure") in codes) is (code is not None)
        assert ("UNDECIDED", 1, None) in codes

    def test_what_lies_as_an_envy_prize_may_be_what_another_wager_is_due(self) -> None:
        """$40 lie where prizes are laid, none was won; a main bet of $40, hardly $45, was left."""
        main = wager("main", None, "left").model_copy(
            update={"stake_sums": ((4000, 0.9986), (4500, 0.0014))}
        )
        record = record_of(NEVADA, main, wager("envy", None, "paid", 4000))
        # Whether the stake keeps to the limits stays open.
        assert reported(record, NEVADA) == [("WRONG_SPOT", 1, "main"), ("UNDECIDED", 1, None)]
        # Another sum is no payout of the main bet: a prize that was not due, and a bet not paid.
        other = record_of(NEVADA, main, wager("envy", None, "paid", 2000))
        assert [(code, own) for code, _, own in reported(other, NEVADA)] == [
            ("NOT_PAID", "main"), ("ENVY_WRONG", "envy"),
        ]  # fmt: skip

    @pytest.mark.parametrize(("likely", "code"), [(0.1, None), (0.8, "ENVY_MISSED")])
    def test_a_prize_may_lie_with_a_sum_that_is_hardly_what_its_own_stake_won(
        self, likely: float, code: str | None
    ) -> None:
        """$36.50 lie by a main bet that was perhaps $36.50; a prize of $5 was won beside it."""
        main = wager("main", None, "paid", 3650).model_copy(
            update={"stake_sums": ((3700, 0.9 - likely), (3650, likely), (7500, 0.1))}
        )
        treasure = wager("emperors_treasure", 500, "taken", 0)
        record = round_of(
            PAIR_DEALER,
            seat(1, "QS JC / 8S 8D 8C 8H 3D"),
            seat(2, WINNER, main, treasure, lammers=("envy",)),
        )
        codes = [(one, own) for one, place, own in reported(record) if place == 2]
        assert (("ENVY_MISSED", "envy") in codes) is (code is not None)
        assert ("UNDECIDED", None) in codes

    def test_another_sum_is_two_mistakes(self) -> None:
        record = record_of(
            NEVADA,
            main_paid(4100),
            wager("emperors_treasure", 400, "left"),
            cards=FULL_WINNER,
        )
        assert reported(record, NEVADA) == [
            ("OVERPAID", 1, "main"),
            ("NOT_PAID", 1, "emperors_treasure"),
        ]

    def test_a_sum_that_is_unlikely_moves_no_payout(self) -> None:
        """$35 lie beside the main bet, hardly $45: due were $25, and $20 beside the other."""
        main = main_paid(3500).model_copy(update={"paid_sums": ((3500, 0.9988), (4500, 0.0012))})
        record = record_of(NEVADA, main, wager("emperors_treasure", 400, "left"), cards=FULL_WINNER)
        assert ("NOT_PAID", 1, "emperors_treasure") in reported(record, NEVADA)
        assert "WRONG_SPOT" not in [code for code, _, _ in reported(record, NEVADA)]


class TestJackpotCoins:
    """Coins lie in the sensor since before the deal."""

    NAME = "emperors_treasure_progressive"

    @pytest.mark.parametrize("action", ["taken", "left", None])
    def test_a_lost_coin_is_neither_taken_nor_left(self, action: str | None) -> None:
        record = record_of(NEVADA, wager(self.NAME, 100, action), cards=PUSHER)
        assert reported(record, NEVADA) == []

    @pytest.mark.parametrize(
        ("action", "paid", "code"),
        [("paid", 500, None), ("paid", 400, "UNDERPAID"), ("taken", None, "NOT_PAID")],
    )
    def test_a_winning_coin_is_paid(self, action: str, paid: int | None, code: str) -> None:
        full_house = "6S 6H / 5S 5H 5C QD 3S"
        record = record_of(NEVADA, wager(self.NAME, 100, action, paid), cards=full_house)
        assert reported(record, NEVADA) == ([] if code is None else [(code, 1, self.NAME)])

    def test_a_losing_coin_that_is_paid(self) -> None:
        record = record_of(NEVADA, wager(self.NAME, 100, "paid", 500), cards=PUSHER)
        assert reported(record, NEVADA) == [("PAID_LOSER", 1, self.NAME)]

    def test_another_coin_than_the_fixed_one(self) -> None:
        record = record_of(NEVADA, wager(self.NAME, 500, "taken"), cards=PUSHER)
        assert reported(record, NEVADA) == [("LIMIT", 1, self.NAME)]
        assert "is not the fixed wager of $1.00" in findings(record, NEVADA)[0].message

    def test_what_was_done_with_a_winner_must_be_known(self) -> None:
        full_house = "6S 6H / 5S 5H 5C QD 3S"
        record = record_of(NEVADA, wager(self.NAME, 100), cards=full_house)
        assert reported(record, NEVADA) == [("UNDECIDED", 1, None)]


class TestSeveralHands:
    """Minimums for two and three hands of one player (004, 3)."""

    def record(self, hands: int, stake: int) -> RoundRecord:
        cards = (LOSER, "QS JH / TD TC 8S 6H 3D", "KH TS / 5S 5C 9S 8H 2S")
        seats = tuple(
            seat(n, cards[n - 1], wager("main", stake)).model_copy(update={"player": 4})
            for n in range(1, hands + 1)
        )
        record = round_of(PAIR_DEALER, *seats)
        return record.model_copy(update={"game": TRADITIONAL.game})

    @pytest.mark.parametrize(
        ("hands", "stake", "least"),
        [(1, 500, None), (2, 1000, None), (2, 999, "$10.00"), (3, 10000, None), (3, 9900, "$100")],
    )
    def test_each_hand_needs_the_minimum(self, hands: int, stake: int, least: str | None) -> None:
        found = [f for f in findings(self.record(hands, stake), TRADITIONAL) if f.code == "LIMIT"]
        assert len(found) == (0 if least is None else hands)
        assert all(f"minimum for {hands} hands of {least}" in f.message for f in found)

    def test_the_documents_own_limits(self) -> None:
        for stake, code in ((499, "under"), (50001, "over")):
            found = [f for f in findings(self.record(1, stake), TRADITIONAL) if f.code == "LIMIT"]
            assert len(found) == 1
            assert code in found[0].message


class TestHouseWager:
    """The dealer's own stake against a player who banks."""

    def record(self, action: str, paid: int | None, *, banker: int | None = 1) -> RoundRecord:
        house = WagerRecord.model_validate(
            {"wager": "house", "stake_cents": 5000, "action": action, "paid_cents": paid}
        )
        record = record_of(TRADITIONAL, cards=LOSER)
        low, high = record.dealer.low, record.dealer.high
        dealer = DealerRecord(low=low, high=high, wagers=(house,))
        return record.model_copy(update={"dealer": dealer, "banker": banker})

    def test_paid_in_full_by_the_bank(self) -> None:
        assert reported(self.record("paid", 5000), TRADITIONAL) == []

    def test_a_wrong_sum_is_reported(self) -> None:
        record = self.record("paid", 4000)
        assert reported(record, TRADITIONAL) == [("UNDERPAID", None, "house")]
        assert findings(record, TRADITIONAL)[0].message.startswith("Dealer, House wager: paid $40")

    def test_a_stake_where_nobody_banks_is_odd(self) -> None:
        assert reported(self.record("paid", 5000, banker=None), TRADITIONAL) == [
            ("UNDECIDED", None, None)
        ]

    def test_a_bank_without_a_main_wager_is_in_order(self) -> None:
        record = self.record("paid", 5000)
        stake = record.seats[0].model_copy(update={"wagers": (wager("main", 0),)})
        assert reported(record.model_copy(update={"seats": (stake,)}), TRADITIONAL) == []
        wrong = record.seats[0].model_copy(update={"wagers": (wager("main", 500, "left"),)})
        found = findings(record.model_copy(update={"seats": (wrong,)}), TRADITIONAL)
        assert [(f.code, f.seat) for f in found] == [("UNDECIDED", 1)]
        assert "the banker has no main wager" in found[0].message


def test_payments_that_contradict_the_sum_are_refused() -> None:
    for paid, cents in ((2500, 1500), (None, -500)):
        wager_ = WagerRecord(
            wager="main",
            stake_cents=500,
            action="paid",
            paid_cents=paid,
            payments=(Payment(at_s="1", cents=cents),),
        )
        told_ = [str(p) for p in check_record(record_of(NEVADA, wager_), NEVADA)]
        assert told_ == [f"seat 1, main: payments sum to {cents} cents, and paid_cents is {paid}"]


def test_a_lammer_the_game_lacks_is_reported() -> None:
    record = round_of(PAIR_DEALER, seat(1, WINNER, lammers=("xx",)))
    assert reported(record, NEVADA) == [("LAMMER", 1, None)]


@pytest.mark.parametrize(
    ("rules", "update", "reason"),
    [
        (NEVADA, {"banker": 1}, "seat 1: banks, and no player does in"),
        (TRADITIONAL, {"banker": 5}, "seat 5: banks, but the seat is not in the record"),
        (
            NEVADA,
            {"dealer": DealerRecord(wagers=(WagerRecord(wager="main"),))},
            "round, main: the dealer plays no such wager; only 'house'",
        ),
        (NEVADA, {"dealer": DealerRecord(discard="2C")}, "dealer: 2C as an eighth card"),
    ],
)
def test_impossible_records_are_refused(
    rules: TableRules, update: dict[str, object], reason: str
) -> None:
    record = record_of(rules).model_copy(update=update)
    assert any(reason in str(problem) for problem in check_record(record, rules))
