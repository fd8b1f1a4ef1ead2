"""The deck's 53 names assigned to all cards of a round at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from settlement.record import DECK_LABELS
from vision.cards.deck_assignment import (
    SURE,
    Decided,
    calibrated,
    count_decided,
    decide_deck,
    given_others,
    marks,
    may_be,
    surplus,
    survives,
    unknown_deck,
)
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


def whole(*left_out: str) -> list[CardRead]:
    """The other cards of a round of 49, all read with confidence."""
    return [card(label) for label in DECK_LABELS if label not in left_out][:47]


def names(decided: Mapping[int, Decided], cards: Sequence[CardRead]) -> list[str | None]:
    """What the cards are; None for one that is undecided."""
    own = [decided[id(c)] for c in cards]
    return [one.label if one.why is None else None for one in own]


def test_cards_of_different_names_stay_as_they_were_read() -> None:
    cards = [card("AS"), card("KD", 0.95), card("QH", 0.93)]
    assert names(decide_deck({None: cards[:2], 1: cards[2:]}), cards) == ["AS", "KD", "QH"]
    assert decide_deck({}) == {}
    assert decide_deck({1: []}) == {}


def test_an_unsure_card_is_the_one_that_no_other_card_is() -> None:
    queen = card("TC", 0.6, "QC")
    others = [card("TC", 0.999), *whole("TC", "QC")]
    said = decide_deck({1: others[:24], None: others[24:], 2: [queen]})
    assert names(said, [queen, *others]) == ["QC", *(c.label for c in others)]


def test_an_unsure_card_grows_sure_where_what_else_it_may_be_lies_elsewhere() -> None:
    spade = card("KS", 0.6, "KC")
    others = [card("KC", 0.999), *whole("KC", "KS")]
    assert names(decide_deck({1: others, None: [spade]}), [spade]) == ["KS"]
    # Where nothing decides between them it stays open, alone and beside others.
    assert names(decide_deck({None: [spade]}), [spade]) == [None]
    said = decide_deck({None: [spade], 1: whole("KC", "KS")})[id(spade)]
    assert (said.label, said.share < SURE) == ("KS", True)
    assert said.why is not None
    assert said.why.endswith("only, given the other cards")


def test_a_sure_reading_is_not_renamed_and_gives_no_alert_unless_it_was_read_again() -> None:
    seen = card("TC", 0.98, "QC", moments="TC QC TC")
    others = [card("TC", 0.999), *whole("TC", "QC")]
    said = decide_deck({1: others, 2: [seen]})
    assert said[id(seen)].why == "read as TC, which seat 1 shows more certainly"


def test_a_sure_twin_whose_like_is_left_over_is_no_finding() -> None:
    """A spade that reads as a club beside the true club, with the spade nowhere else."""
    seen = card("TC", 0.98, "TS")
    others = [card("TC", 0.999), *whole("TC", "TS")]
    assert names(decide_deck({1: others, 2: [seen]}), [seen]) == [None]


def test_a_deck_that_is_hardly_read_says_so_and_shows_no_twins() -> None:
    half = [card(name, 0.99 if k % 2 else 0.2) for k, name in enumerate(DECK_LABELS[:30])]
    hands: dict[int | None, list[CardRead]] = {
        seat: half[6 * seat : 6 * seat + 6] for seat in range(5)
    }
    hands[0].append(card("TC"))
    hands[1].append(card("TC"))
    said = decide_deck(hands)
    assert set(said) == {id(c) for own in hands.values() for c in own}
    open_ = {one.why for one in said.values() if one.why is not None}
    assert len(open_) == 1
    assert next(iter(open_)).endswith("of the round's 32 cards are read with confidence: "
                                      "the deck is not known")  # fmt: skip
    assert not {one.label for one in said.values() if one.why is None} & {"TC"}
    assert unknown_deck(list(said.values())) is not None
    assert unknown_deck([one for one in said.values() if one.why is None]) is None
    few = [Decided("AS", 0.2, "read with 0.2 only")] * 13
    assert unknown_deck(few) is None, "too few cards to say so"


def test_of_a_deck_of_which_nearly_nothing_is_read_no_card_is_decided() -> None:
    for every, decided in ((4, 8), (8, 0)):
        seen = [card(name, 0.2 if k % every else 0.99) for k, name in enumerate(DECK_LABELS[:32])]
        said = decide_deck({seat: seen[8 * seat : 8 * seat + 8] for seat in range(4)})
        assert sum(one.why is None for one in said.values()) == decided
        assert all(one.why.endswith("the deck is not known") for one in said.values() if one.why)


def test_probabilities_are_balanced_over_cards_and_names() -> None:
    """Each card is one name, and no name more than one card's."""
    rng = np.random.default_rng(3)
    shares = given_others(rng.normal(0, 4, (49, 53)).astype(np.float32))
    assert shares.sum(axis=1) == pytest.approx(1.0)
    assert shares.sum(axis=0).max() < 1.05


@given(st.floats(1e-4, 1 - 1e-4), st.floats(1e-4, 1 - 1e-4), st.integers(1, 53))
def test_a_likelier_name_is_never_less_sure(one: float, other: float, cards: int) -> None:
    low, high = sorted((one, other))
    a, b = calibrated(np.array([low, high]), cards)
    assert 0 < a <= b < 1


def test_what_an_undecided_card_may_be_leaves_out_what_others_surely_are() -> None:
    torn = card("QH", 0.6, "JOKER")
    alone = may_be(torn, {1: [torn]})
    assert [name for name, _ in alone] == ["QH", "JOKER"]
    assert alone[0][1] == pytest.approx(0.6, abs=0.01)
    (likeliest, share), *_ = may_be(torn, {1: [torn], 2: [card("QH", 0.999)]})
    assert (likeliest, share > 0.8) == ("JOKER", True)


@pytest.mark.parametrize("sure", [0.98, 0.999])
def test_two_cards_read_so_again_and_again_both_stand(sure: float) -> None:
    others, twin = [card("TC", 0.999), *whole("TC")], card("TC", sure)
    assert names(decide_deck({None: others, 2: [twin]}), [others[0], twin]) == ["TC", "TC"]
    once = card("TC", sure, moments="TC")
    assert names(decide_deck({None: others, 2: [once]}), [once]) == [None]
    less = card("TC", 0.95)
    assert names(decide_deck({None: others, 2: [less]}), [less]) == [None]


def test_a_jack_read_twice_is_no_finding_while_the_joker_is_not_seen() -> None:
    """A joker's mark may begin with a J."""
    others = [card("JD", 0.999), *whole("JD", "JOKER", "2C")]
    twin = card("JD", 0.98)
    assert names(decide_deck({None: others, 2: [twin]}), [twin]) == [None]
    others[1] = card("JOKER")
    assert names(decide_deck({None: others, 2: [twin]}), [twin]) == ["JD"]


def test_of_eight_cards_the_one_that_lies_elsewhere_is_a_mark() -> None:
    own = [card(label) for label in ("AS", "KD", "QH", "JC", "9S", "8D", "7H")]
    pip = card("2C", 0.985)
    hands: dict[int | None, list[CardRead]] = {1: [*own, pip], 2: [card("2C", 0.999)]}
    assert decide_deck(hands)[id(pip)].mark
    # An eighth card that lies nowhere else is one card too many.
    said = decide_deck({1: [*own, pip], 2: [card("2D", 0.999)]})
    assert names(said, [*own, pip]) == [c.label for c in [*own, pip]]
    assert surplus([*own, pip], own) == [pip]
    assert surplus(own, own) == []


def test_a_mark_that_reads_as_a_joker_is_none_beside_seven_cards() -> None:
    own = [card(name, 0.97) for name in ("AS", "KD", "9H", "9C", "7S", "5D", "2C")]
    mark, joker = card("JOKER", 0.99), replace(card("JOKER", 0.98), indices=2)
    assert surplus([*own, mark], own) == [mark]
    assert joker not in surplus([*own, joker], own)
    assert marks([*own, mark]) == [mark]
    # One that reads so with confidence and lies on no other card is the eighth.
    apart = replace(card("JOKER", 0.99), apart=True)
    assert marks([*own, apart]) == []
    unsure = replace(card("JOKER", 0.94), apart=True)
    assert marks([*own, unsure]) == [unsure]


@pytest.mark.parametrize(
    ("moments", "share", "again"),
    [
        ("AS AS AS", 0.99, True), ("AS AS", 0.95, True), ("AS", 0.99, False),
        ("AS AS KS", 0.99, False), ("AS AS AS AS AS KS", 0.99, True), ("AS AS AS", 0.85, False),
    ],
)  # fmt: skip
def test_what_survives_being_read_again(moments: str, share: float, again: bool) -> None:
    assert survives(card("AS", share, moments=moments)) is again


def at(one: CardRead, place: int) -> CardRead:
    """The card where the `place`-th of a hand lies."""
    return replace(one, center_mm=(30.0 * place, 0.0))


def hands(*cards: CardRead) -> dict[int | None, list[CardRead]]:
    """Hands of seven cards, each card in a place of its own."""
    return {
        seat: [at(one, k) for k, one in enumerate(cards[7 * seat : 7 * seat + 7])]
        for seat in range((len(cards) + 6) // 7)
    }


def test_a_second_card_of_a_name_stands_only_where_it_reads_so_without_samples_too() -> None:
    others = whole("TC", "9H")
    left = next(x for x in DECK_LABELS if x not in {"TC", "9H", *(one.label for one in others)})
    own = hands(card("TC", 0.999), card("TC", 0.99), *others)
    twin = own[0][1]
    assert names(decide_deck(own), [twin]) == ["TC"]
    assert names(decide_deck(own, hands(card("TC"), card("TC"), *others)), [twin]) == ["TC"]
    denied = decide_deck(own, hands(card("TC"), card("9H", 0.5, left), *others))
    assert names(denied, own[0][:2]) == ["TC", None]
    # What is sure to it, and lies nowhere else, is the card's name.
    denied = decide_deck(own, hands(card("TC"), card("9H"), *others))
    assert names(denied, own[0][:2]) == ["TC", "9H"]
    # A reading that knows little of the deck denies nothing.
    lost = hands(card("TC"), card("9H", 0.3), *(card(one.label, 0.3) for one in others))
    assert names(decide_deck(own, lost), [twin]) == ["TC"]


def test_a_club_that_looks_like_a_spade_leaves_its_name_over() -> None:
    others = whole("TC", "TS")
    both = hands(card("TC", 0.999), card("TC", 0.99), *others)
    assert names(decide_deck(both, both), both[0][:2]) == ["TC", None]
    seen = hands(card("TC", 0.999), card("TC", 0.99), card("TS"), *others[:-1])
    assert names(decide_deck(seen, seen), seen[0][:3]) == ["TC", "TC", "TS"]
    # Where few hands lie it may not have been dealt.
    few = hands(card("TC", 0.999), card("TC", 0.99), *others[:33])
    assert names(decide_deck(few, few), few[0][:2]) == ["TC", "TC"]


def test_the_other_reading_names_what_one_leaves_undecided() -> None:
    others = whole("KC", "KS")
    own = hands(card("KS", 0.5, "KC"), *others)
    king = own[0][0]
    assert names(decide_deck(own), [king]) == [None]
    assert names(decide_deck(own, hands(card("KC"), *others)), [king]) == ["KC"]
    # Not by a name that another card has.
    assert names(decide_deck(own, hands(card(others[3].label), *others)), [king]) == [None]


def test_what_is_decided_by_a_reading_is_counted() -> None:
    assert count_decided(hands(*whole("KC", "KS"))) == 47
    assert count_decided({1: []}) == 0
