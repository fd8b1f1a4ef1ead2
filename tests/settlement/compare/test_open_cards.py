"""Cards that were not read: what every card that they may be says is said."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from settlement.compare.comparison import settlement_as_judged
from settlement.compare.open_cards import MOST_WAYS, open_cards
from settlement.record import DECK_LABELS, RoundRecord, Undecided
from settlement.settle import settle
from tests.settlement.felt import (
    LOSER,
    PAIR_DEALER,
    PUSHER,
    RULES,
    WINNER,
    findings,
    hands,
    round_of,
    seat,
    wager,
)

# Hands that lose, with no card of the four of `felt`.
OTHERS = (
    (2, "2D 3C / 8C 8D 4C 5H 9S"),
    (4, "2H 4S / 9D KC 6C 7H JD"),
    (5, "2S 3S / 5C 5S 8H TS AH"),
)


BEST = "KS KH / AD AC QH QD 4H"


def with_unread(
    record: RoundRecord, at: int | None, box: str, may_be: tuple[tuple[str, float], ...] = ()
) -> tuple[RoundRecord, str]:
    """The record without the last card of one hand, and that card."""
    own = record.dealer if at is None else next(s for s in record.seats if s.seat == at)
    cards = getattr(own, box)
    entry = Undecided(
        seat=at, what=f"{box}[{len(cards) - 1}]", why="a hand lay over it", may_be=may_be or None
    )
    less = own.model_copy(update={box: cards[:-1]})
    update = (
        {"dealer": less}
        if at is None
        else {"seats": tuple(less if s.seat == at else s for s in record.seats)}
    )
    return record.model_copy(update={**update, "undecided": (entry,)}), cards[-1]


def codes(record: RoundRecord) -> set[tuple[str, int | None]]:
    return {(str(f.code), f.seat) for f in findings(record)}


def full_round(*own: object) -> RoundRecord:
    left = [seat(n, cards, wager("main", 500, "taken", 0)) for n, cards in OTHERS]
    return round_of(PAIR_DEALER, *own, *left)  # type: ignore[arg-type]


def test_one_unread_card_of_the_dealer_hides_no_missing_pay() -> None:
    # At best the dealer has two pairs with it, which aces and queens beat: the third nine is
    # another seat's.
    record, _ = with_unread(
        full_round(seat(3, BEST, wager("main", 7500, "taken", 0))), None, "high"
    )
    found = [f for f in findings(record) if f.seat == 3 and f.code != "UNDECIDED"]
    assert [str(f.code) for f in found] == ["TOOK_WINNER"]
    assert "were not read" in found[0].message


def dues(record: RoundRecord) -> dict[int, tuple[str | None, int | None]]:
    """Outcome and payout of each seat's main bet, as judged."""
    settlement = settlement_as_judged(record, settle(record, RULES), findings(record), RULES)
    mains = ((s.seat, s.wager("main")) for s in settlement.seats)
    return {seat: (due.outcome, due.pay_cents) for seat, due in mains if due is not None}


def test_what_is_due_whatever_the_card_is_settled_as_it_was_judged() -> None:
    # As above: seat 3 wins, seats 2 and 4 may lose or not.
    record, _ = with_unread(
        full_round(seat(3, BEST, wager("main", 7500, "paid", 7500))), None, "high"
    )
    assert settle(record, RULES).seats[0].wagers[0].outcome is None
    assert dues(record)[3] == ("win", 7500)
    record, _ = with_unread(
        full_round(seat(3, PUSHER, wager("main", 7500, "paid", 7500))), None, "low"
    )
    assert dues(record)[3] == (None, None)
    # Of a hand whose card is nearly known what was judged as in order is due.
    plain = full_round(seat(3, WINNER, wager("main", 7500, "paid", 7500)))
    record, card = with_unread(plain, 3, "low")
    assert dues(record)[3] == (None, None)
    record, _ = with_unread(plain, 3, "low", ((card, 0.97), ("3D", 0.02)))
    assert dues(record)[3] == ("win", 7500)
    assert (
        "makes no difference"
        in settlement_as_judged(record, settle(record, RULES), findings(record), RULES)
        .seats[0]
        .wagers[0]
        .why
    )


@pytest.mark.parametrize(
    ("unread", "may_be", "is_open"),
    [
        # Whatever the card is, it makes no straight flush.
        ("2D 3C / TH QH KH 6C 9D", (), False),
        # The ace of hearts and the joker would make one: hardly one of these two.
        ("2D 3C / TH QH KH JH 9D", (), False),
        ("2D 3C / TH QH KH JH 9D", (("9D", 0.6), ("AH", 0.4)), True),
    ],
)
@pytest.mark.parametrize("prize", [None, 500])
def test_a_prize_is_due_or_undecided_as_it_was_judged(
    unread: str, may_be: tuple[tuple[str, float], ...], is_open: bool, prize: int | None
) -> None:
    treasure = wager("emperors_treasure", 500, "taken", 0)
    paid = () if prize is None else (wager("envy", None, "paid", prize),)
    others = () if prize is None else (seat(4, "AD KC / 8S 8D 8H 8C JD"),)
    envied = seat(3, LOSER, treasure, *paid, lammers=("envy",))
    record, _ = with_unread(
        round_of(PAIR_DEALER, envied, seat(2, unread), *others), 2, "high", may_be
    )
    found = findings(record)
    settlement = settlement_as_judged(record, settle(record, RULES), found, RULES)
    due = settlement.seats[0].wager("envy")
    assert any(f.seat == 3 and "Envy Bonus" in f.due for f in found) is is_open
    if is_open:
        assert due is not None
        assert due.undecided == "seat 2's hand: high[4]: a hand lay over it"
    elif prize is None:
        assert due is None
    else:
        assert due is not None
        assert (due.outcome, due.pay_cents, due.undecided) == ("win", prize, None)


def test_what_hangs_on_the_unread_card_stays_undecided() -> None:
    # With an ace or a king for its low hand the dealer wins; with another card it may not.
    record, _ = with_unread(
        full_round(seat(3, PUSHER, wager("main", 7500, "paid", 7500))), None, "low"
    )
    assert ("PAID_PUSH", 3) not in codes(record)
    assert ("UNDECIDED", 3) in codes(record)


def test_a_card_that_is_nearly_known_settles_what_is_in_order() -> None:
    plain = full_round(seat(3, WINNER, wager("main", 7500, "paid", 7500)))
    record, card = with_unread(plain, 3, "low")
    settled, _ = with_unread(plain, 3, "low", ((card, 0.97), ("3D", 0.02)))
    assert ("UNDECIDED", 3) in codes(record)
    assert ("UNDECIDED", 3) not in codes(settled)
    assert not {code for code, at in codes(settled) if at == 3}


def test_cards_that_may_be_too_many_are_left_undecided() -> None:
    alone = round_of(PAIR_DEALER, seat(3, LOSER, wager("main", 7500, "paid", 7500)))
    record, _ = with_unread(alone, None, "low")
    (card,) = open_cards(record)
    assert len(card.names) == len(DECK_LABELS) - 13
    low, high = hands(LOSER)
    two = record.model_copy(
        update={
            "seats": (record.seats[0].model_copy(update={"low": low[:1], "high": high[:4]}),),
            "undecided": (
                *record.undecided,
                Undecided(seat=3, what="low[1]", why="blurred"),
                Undecided(seat=3, what="high[4]", why="blurred"),
            ),
        }
    )
    assert [c.entry.seat for c in open_cards(two)] == [None]
    assert len(card.names) <= MOST_WAYS


def test_a_doubt_of_a_card_that_is_named_adds_none() -> None:
    # A hand of six cards, one of them in doubt, is not one of seven.
    record, _ = with_unread(
        full_round(seat(3, WINNER, wager("main", 7500, "taken", 0))), None, "high"
    )
    (entry,) = record.undecided
    doubted = record.model_copy(
        update={"undecided": (entry.model_copy(update={"what": "high[1]"}),)}
    )
    assert open_cards(record) != []
    assert open_cards(doubted) == []


def test_a_hand_of_which_more_is_in_doubt_is_left() -> None:
    record, _ = with_unread(
        full_round(seat(3, WINNER, wager("main", 7500, "taken", 0))), None, "high"
    )
    more = record.model_copy(
        update={"undecided": (*record.undecided, Undecided(what="hand", why="laid otherwise"))}
    )
    assert open_cards(more) == []
    assert ("TOOK_WINNER", 3) not in codes(more)


@settings(max_examples=60)
@given(
    at=st.sampled_from([None, 2, 3, 4]),
    box=st.sampled_from(["low", "high"]),
    cards=st.sampled_from([WINNER, PUSHER, LOSER]),
    action=st.sampled_from([("paid", 7500), ("paid", 7000), ("left", 0), ("taken", 0)]),
)
def test_nothing_is_said_that_the_true_card_does_not_say(
    at: int | None, box: str, cards: str, action: tuple[str, int]
) -> None:
    whole = full_round(seat(3, cards, wager("main", 7500, *action)))
    record, _ = with_unread(whole, at, box)
    true = codes(whole)
    assert {key for key in codes(record) if key[0] != "UNDECIDED"} <= true
