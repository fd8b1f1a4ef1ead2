"""The deck's 53 names assigned to all cards of a round at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from settlement.record import DECK_LABELS
from vision.cards.deck_assignment import decide_deck, may_be, surplus, survives, unknown_deck
from vision.cards.view import CardRead


def card(
    label: str, share: float = 0.99, second: str = "", *, moments: str | None = None
) -> CardRead:
    """A card read as `label`, what is left read as `second`, and so at each of three moments."""
    shares = np.full(53, (1 - share) / 500, np.float32)
    shares[DECK_LABELS.index(label)] = share
    if second:
        shares[DECK_LABELS.index(second)] = (1 - share) * 0.9
    seen = (moments or f"{label} {label} {label}").split()
    return CardRead(label, share, (0.0, 0.0), 1, shares, tuple((m, share) for m in seen))


def test_cards_of_different_names_stay_as_they_were_read() -> None:
    hands = {None: [card("AS"), card("KD", 0.95)], 1: [card("QH", 0.93)]}
    assert decide_deck(hands) == {}
    assert decide_deck({}) == {}
    assert decide_deck({1: []}) == {}


def test_an_unsure_card_is_the_one_that_no_other_card_is() -> None:
    queen = card("TC", 0.6, "QC")
    told = decide_deck({1: [card("TC", 0.999)], 2: [queen]})
    assert set(told) == {id(queen)}
    assert (told[id(queen)].label, told[id(queen)].why) == ("QC", None)
    assert told[id(queen)].share > 0.9


def test_an_unsure_card_grows_sure_where_what_else_it_may_be_lies_elsewhere() -> None:
    spade = card("KS", 0.6, "KC")
    told = decide_deck({None: [spade], 3: [card("KC", 0.999)]})
    assert (told[id(spade)].label, told[id(spade)].why) == ("KS", None)
    assert told[id(spade)].share > 0.9
    # Where nothing tells them apart it stays as it was.
    assert decide_deck({None: [card("KS", 0.6, "KC")]}) == {}


def test_a_sure_reading_is_not_renamed_and_gives_no_alert_unless_it_was_read_again() -> None:
    seen = card("TC", 0.98, "QC", moments="TC QC TC")
    told = decide_deck({1: [card("TC", 0.999)], 2: [seen]})
    assert told[id(seen)].why == "read as TC, which seat 1 shows more certainly"
    assert told[id(seen)].label in ("TC", "QC")


def test_a_deck_that_cannot_be_read_gives_no_names_and_no_twins() -> None:
    # Every second card is read with confidence, as with German suits, and two of them alike.
    names = DECK_LABELS[:14]
    half = [card(name, 0.99 if k % 2 else 0.4) for k, name in enumerate(names)]
    hands = {None: [*half[:6], card("TC")], 1: [*half[6:13], card("TC")]}
    told = decide_deck(hands)
    assert set(told) == {id(c) for own in hands.values() for c in own}
    assert {one.why for one in told.values()} == {
        "only 8 of the round's 15 cards are read with confidence: the deck is not known"
    }
    sure = [card(name) for name in DECK_LABELS[:14]]
    assert unknown_deck(sure) is None
    assert unknown_deck(half[:13]) is None, "too few cards to say so"


def test_what_an_undecided_card_may_be_leaves_out_what_others_surely_are() -> None:
    torn = card("QH", 0.6, "JOKER")
    alone = may_be(torn, {1: [torn]})
    assert [name for name, _ in alone] == ["QH", "JOKER"]
    assert alone[0][1] == pytest.approx(0.6, abs=0.01)
    (likeliest, share), *_ = may_be(torn, {1: [torn], 2: [card("QH", 0.999)]})
    assert (likeliest, share > 0.8) == ("JOKER", True)


@pytest.mark.parametrize("sure", [0.95, 0.999])
def test_two_cards_read_so_again_and_again_both_stand(sure: float) -> None:
    assert decide_deck({None: [card("TC", 0.999)], 2: [card("TC", sure)]}) == {}
    once = card("TC", sure, moments="TC")
    assert set(decide_deck({None: [card("TC", 0.9995)], 2: [once]})) == {id(once)}


def test_of_eight_cards_the_one_that_lies_elsewhere_is_a_mark() -> None:
    own = [card(label) for label in ("AS", "KD", "QH", "JC", "9S", "8D", "7H")]
    pip = card("2C", 0.985)
    hands: dict[int | None, list[CardRead]] = {1: [*own, pip], 2: [card("2C", 0.999)]}
    told = decide_deck(hands)
    assert set(told) == {id(pip)}
    assert told[id(pip)].mark
    # An eighth card that lies nowhere else is one card too many.
    assert decide_deck({1: [*own, pip], 2: [card("2D", 0.999)]}) == {}
    assert surplus([*own, pip], own) == [pip]
    assert surplus(own, own) == []


def test_a_mark_that_reads_as_a_joker_is_none_beside_seven_cards() -> None:
    own = [card(name, 0.97) for name in ("AS", "KD", "9H", "9C", "7S", "5D", "2C")]
    mark, joker = card("JOKER", 0.99), replace(card("JOKER", 0.98), indices=2)
    assert surplus([*own, mark], own) == [mark]
    assert joker not in surplus([*own, joker], own)


@pytest.mark.parametrize(
    ("moments", "share", "again"),
    [
        ("AS AS AS", 0.99, True), ("AS AS", 0.95, True), ("AS", 0.99, False),
        ("AS AS KS", 0.99, False), ("AS AS AS AS AS KS", 0.99, True), ("AS AS AS", 0.85, False),
    ],
)  # fmt: skip
def test_what_survives_being_read_again(moments: str, share: float, again: bool) -> None:
    assert survives(card("AS", share, moments=moments)) is again
