"""Every line of the house way of document 004, and every reading of it, by literal hands."""

from __future__ import annotations

import pytest

from settlement.cards import labels, parse_cards
from settlement.errors import FeltwatchError
from settlement.hands import STANDARD, HandError, rank_five
from settlement.houseways import HOUSE_WAYS, house_way_for
from settlement.rules import HouseWayReadings, TableRules
from tests.settlement.houseways.lines import assert_line, fits, set_by

WAY = HOUSE_WAYS["document_004"]
STRAIGHTS = "All Straights, Flushes & Straight Flushes"
FULL = "Full House Rule"
FOUR = "Four of a Kind"

CASES = [
    # No pair
    ("AS QD JH 9C 7S 4D 2C", "QD JH", "No Pair"),
    ("JOKER QD JH 9C 7S 4D 2C", "QD JH", "No Pair"),
    # One pair
    ("KS QD 9H 9C 7S 5D 2C", "KS QD", "One Pair"),
    ("AS JOKER 9H 8C 7S 3D 2C", "9H 8C", "One Pair"),
    ("9S 9D JOKER 8C 5S 3D 2H", "JOKER 8C", "One Pair"),
    # Two pair: split without an ace
    ("KS KD 4H 4C QS 8D 2C", "4H 4C", "Two Pair"),
    ("3S 3D 2H 2C KS 8D 5C", "2H 2C", "Two Pair"),
    ("AS AD 2H 2C KS 8D 5C", "2H 2C", "Two Pair"),
    # HW-1b: an ace and the joker are one of the pairs
    ("AS JOKER 2H 2C KS 8D 5C", "2H 2C", "Two Pair"),
    # Two pair kept with an ace; HW-1c: the highest other card goes with it
    ("AS 5D 5C 4H 4C KD 9S", "AS KD", "Two Pair"),
    ("JOKER KD KC 4H 4C QD 9S", "JOKER QD", "Two Pair"),
    # The NOTE, HW-1 literal
    ("AS KD KC QH QC 9D 2S", "QH QC", "Two Pair, NOTE"),
    ("AS JD JC QH QC 9D 2S", "JD JC", "Two Pair, NOTE"),
    ("AS TD TC 7H 7C 9D 2S", "7H 7C", "Two Pair, NOTE"),
    ("AS TD TC 2H 2C 9D 3S", "2H 2C", "Two Pair, NOTE"),
    ("JOKER KD KC 7H 7C 9D 3S", "7H 7C", "Two Pair, NOTE"),
    ("AS KD KC 6H 6C 9D 3S", "AS 9D", "Two Pair"),
    # HW-11: two pair with a straight or flush
    ("9S 9D 8C 8H 7S 6D 5C", "8C 8H", "Two Pair, NOTE|Two Pair"),
    ("6S 6D 5C 5H 4S 3D 2C", "5C 5H", "Two Pair"),
    ("AS 5D 5C 4H 4C 3D 2S", "AS 3D", "Two Pair"),
    # Three pair; HW-18, HW-10
    ("9S 9D 8C 8H 7S 7D 2C", "9S 9D", "Three Pair"),
    ("AS AD 8C 8H 7S 7D KC", "AS AD", "Three Pair"),
    ("AS JOKER KC KH QS QD JC", "AS JOKER", "Three Pair"),
    # Three of a kind
    ("9S 9D 9C KH QS 4D 2C", "KH QS", "Three of a Kind"),
    ("9S 9D 9C JOKER QS 4D 2C", "JOKER QS", "Three of a Kind"),
    ("AS AD AC KH QS 4D 2C", "A KH", "Three of a Kind, EXCEPTION"),
    ("AS AD JOKER KH QS 4D 2C", "A KH", "Three of a Kind, EXCEPTION"),
    # Straights and flushes without a pair, HW-15
    ("9S 8D 7C 6H 5S KD QC", "KD QC", f"{STRAIGHTS}, No Pair"),
    ("AS KD QC JH TS 9D 8C", "AS KD", f"{STRAIGHTS}, No Pair"),
    ("AH KH QH JH TH 9D 8C", "AH KH", f"{STRAIGHTS}, No Pair"),
    ("KS 9S 7S 4S 2S AD QC", "AD QC", f"{STRAIGHTS}, No Pair"),
    ("KS 9S 8S 7S 6S 5D 3S", "KS 5D", f"{STRAIGHTS}, No Pair"),
    ("JOKER 9D 8C 7H 6S 5D 2C", "JOKER 2C|JOKER 9D", f"{STRAIGHTS}, No Pair"),
    ("JOKER KD 9C 8H 7S 6D 2C", "KD 2C", f"{STRAIGHTS}, No Pair"),
    # ... with a pair: it goes low where that keeps the straight, HW-3
    ("KS KD 9C 8H 7S 6D 5C", "KS KD", f"{STRAIGHTS}, One Pair"),
    ("KH KD AS 2C 3D 4H 5S", "KH KD", f"{STRAIGHTS}, One Pair"),
    ("9S 9D 8C 7H 6S 5D 4C", "9S 9D", f"{STRAIGHTS}, One Pair"),
    # HW-2: tens or better with an ace, joker or face
    ("TS TD 9C 8H 7S 6D AC", "AC 9C", f"{STRAIGHTS}, One Pair"),
    ("TS TD 9C 8H 7S 6D QC", "QC 9C", f"{STRAIGHTS}, One Pair"),
    ("KS KH QD JC TS 9H 2D", "QD JC", f"{STRAIGHTS}, One Pair"),
    ("JS JD TC 9H 8S 7D JOKER", "JS JD", f"{STRAIGHTS}, One Pair"),
    ("JS JD JOKER QS 8S 5S 2C", "JOKER QS", f"{STRAIGHTS}, One Pair"),
    # HW-13: the straight or flush stays
    ("9S 9D 8C 7H 6S 5D 2C", "9S 2C|9D 2C", f"{STRAIGHTS}, One Pair"),
    ("9S 9D AS KS 7S 4S 2C", "9D 2C", f"{STRAIGHTS}, One Pair"),
    ("TS TD 9C 8H 7S 6D 2C", "TS 2C|TD 2C", f"{STRAIGHTS}, One Pair"),
    # HW-4: ace and joker
    ("AS JOKER KH 9C 8D 7S 6H", "AS KH", f"{STRAIGHTS}, One Pair"),
    ("AS JOKER KH QC JD 5S 3H", "KH QC", f"{STRAIGHTS}, One Pair"),
    ("AS JOKER 9H 8C 7D 6S 5H", "AS JOKER", f"{STRAIGHTS}, One Pair"),
    # ... with three of a kind: a pair low, HW-12
    ("9S 9D 9C 8H 7S 6D 5C", "99", f"{STRAIGHTS}, Three of a Kind"),
    ("AS AD AC KH QS JD TC", "AA", f"{STRAIGHTS}, Three of a Kind"),
    ("AS AD JOKER 9H 8S 7D 6C", "AS AD", f"{STRAIGHTS}, Three of a Kind"),
    # HW-5: only ace and joker make the straight
    ("AS AD JOKER KH QS JD 2C", "A KH", "Three of a Kind, EXCEPTION"),
    ("AS AD JOKER 9H 4S 3D 2C", "A 9H", f"{STRAIGHTS}, Three of a Kind"),
    # Full house rule; HW-6, HW-9
    ("9S 9D 9C 4H 4S KD QC", "4H 4S", f"{FULL}, Three of a Kind and Pair"),
    ("AS AD AC 4H 4S KD QC", "4H 4S", f"{FULL}, Three of a Kind and Pair"),
    ("9S 9D 9C 4H 4S KD KC", "KD KC", f"{FULL}, Three of a Kind and Two Pair"),
    ("AS AD JOKER KH KS 4D 3C", "KH KS", f"{FULL}, Three of a Kind and Pair"),
    ("9S 9D 9C 4H 4S 4D QC", "99", f"{FULL}, Three of a Kind & Three of a Kind"),
    ("AS AD JOKER KH KS KD QC", "AA", f"{FULL}, Three of a Kind & Three of a Kind"),
    # Four of a kind; HW-16, HW-17
    ("6S 6D 6C 6H AS KD QC", "AS KD", f"{FOUR}, 2's thru 6's"),
    ("2S 2D 2C 2H 9S 5D 3C", "9S 5D", f"{FOUR}, 2's thru 6's"),
    ("TS TD TC TH AS KD QC", "AS KD", f"{FOUR}, 7's thru 10's"),
    ("7S 7D 7C 7H JOKER 9D 4C", "JOKER 9D", f"{FOUR}, 7's thru 10's"),
    ("7S 7D 7C 7H KS QD JC", "77", f"{FOUR}, 7's thru 10's"),
    ("JS JD JC JH AS QD 9C", "JJ", f"{FOUR}, Jacks, Queens, Kings & Aces"),
    ("AS AD AC JOKER 9S 5D 3C", "AA", f"{FOUR}, Jacks, Queens, Kings & Aces"),
    ("2S 2D 2C 2H 3S 3D KC", "3S 3D", f"{FOUR} with a Pair (or Three-of-a-Kind)"),
    ("KS KD KC KH 3S 3D QC", "3S 3D", f"{FOUR} with a Pair (or Three-of-a-Kind)"),
    ("KS KD KC KH 3S 3D 3C", "33", f"{FOUR} with a Pair (or Three-of-a-Kind)"),
    ("7S 7D 7C 7H AS JOKER 2C", "AS JOKER", f"{FOUR} with a Pair (or Three-of-a-Kind)"),
    # Five aces; HW-7
    ("AS AD AC AH JOKER QD 2C", "AA", f"{FOUR}, Five Aces"),
    ("AS AD AC AH JOKER QD QC", "AA", f"{FOUR}, Five Aces"),
    ("AS AD AC AH JOKER KD KC", "KD KC", f"{FOUR}, Five Aces, EXCEPTION"),
    # HW-8: the joker stays high where that makes the better hand
    ("AS AD AC JOKER KD QC JH", "AA natural", f"{FOUR}, Jacks, Queens, Kings & Aces"),
]


@pytest.mark.parametrize(("cards", "low", "rule"), CASES)
def test_line(cards: str, low: str, rule: str) -> None:
    assert_line(WAY, cards, low, rule)


def test_the_straight_stays_high_where_the_document_says_so() -> None:
    setting = set_by(WAY, "9S 9D 8C 7H 6S 5D 2C")
    assert rank_five(setting.high).name == "straight, nine high"
    royal = set_by(WAY, "AH KH QH JH TH 9D 8C")
    assert rank_five(royal.high).name == "straight, queen high"


def test_four_aces_split_with_the_joker_high_make_a_straight() -> None:
    setting = set_by(WAY, "AS AD AC JOKER KD QC JH")
    assert rank_five(setting.high).name == "straight, ace high"


def test_the_reason_is_given() -> None:
    setting = set_by(WAY, "AS TD TC 2H 2C 9D 3S")
    assert setting.why == (
        "tens and twos, one of them sevens to tens: split in spite of the ace, "
        "the lower pair goes low"
    )


@pytest.mark.parametrize("cards", ["AS KD", "AS AS KD QH JC 9D 2C", "AS KD QH JC 9D 7S 5H 2C"])
def test_seven_different_cards_are_needed(cards: str) -> None:
    with pytest.raises(HandError, match="seven different cards"):
        set_by(WAY, cards)


def test_an_unknown_house_way_is_refused_with_the_known_ones() -> None:
    rules = TableRules(game="g", house_way="own")
    with pytest.raises(FeltwatchError, match=r"house_way: no house way 'own'.*document_004"):
        house_way_for(rules)
    assert house_way_for(TableRules(game="g")) is WAY


def test_what_counts_as_the_same_setting() -> None:
    setting = set_by(WAY, "JS JD JC JH AS QD 9C")
    other_jacks = parse_cards("JC JH"), parse_cards("JS JD AS QD 9C")
    assert setting.same_hands(*other_jacks, STANDARD)
    assert not setting.same_hands(parse_cards("AS QD"), parse_cards("JS JD JC JH 9C"), STANDARD)
    assert not setting.same_hands(parse_cards("JS"), parse_cards("JD JC JH AS QD 9C"), STANDARD)


ACES = "Three of a Kind, EXCEPTION"
READINGS = [
    # HW-1: sevens to tens with a low or another middle pair stay together with an ace
    ("two_pair_with_ace", "AS TD TC 7H 7C 9D 2S", {
        "literal": ("7H 7C", "Two Pair, NOTE"), "high_mid": ("AS 9D", "Two Pair")}),
    ("two_pair_with_ace", "AS TD TC 2H 2C 9D 3S", {
        "literal": ("2H 2C", "Two Pair, NOTE"), "high_mid": ("AS 9D", "Two Pair")}),
    ("two_pair_with_ace", "AS QD QC 8H 8C 9D 3S", {
        "literal": ("8H 8C", "Two Pair, NOTE"), "high_mid": ("8H 8C", "Two Pair, NOTE")}),
    ("two_pair_with_ace", "AS QD QC JH JC 9D 3S", {
        "literal": ("JH JC", "Two Pair, NOTE"), "high_mid": ("JH JC", "Two Pair, NOTE")}),
    ("two_pair_with_ace", "AS QD QC 6H 6C 9D 3S", {
        "literal": ("AS 9D", "Two Pair"), "high_mid": ("AS 9D", "Two Pair")}),
    # HW-2: an ace or a face; an ace and a face; an ace
    ("pair_over_straight", "TS TD 9C 8H 7S 6D QC", {
        "or": ("QC 9C", f"{STRAIGHTS}, One Pair"),
        "and": ("TS QC|TD QC", f"{STRAIGHTS}, One Pair"),
        "ace": ("TS QC|TD QC", f"{STRAIGHTS}, One Pair")}),
    ("pair_over_straight", "TS TD 9C 8H 7S 6D AC", {
        "or": ("AC 9C", f"{STRAIGHTS}, One Pair"),
        "and": ("TS AC|TD AC", f"{STRAIGHTS}, One Pair"),
        "ace": ("AC 9C", f"{STRAIGHTS}, One Pair")}),
    ("pair_over_straight", "JS JD AS KC 8S 5S 2S", {
        "or": ("AS KC", f"{STRAIGHTS}, One Pair"),
        "and": ("AS KC", f"{STRAIGHTS}, One Pair"),
        "ace": ("AS KC", f"{STRAIGHTS}, One Pair")}),
    # HW-3: the pair of kings fits low beside the wheel
    ("pair_that_fits_low", "KH KD AS 2C 3D 4H 5S", {
        "pair_low": ("KH KD", f"{STRAIGHTS}, One Pair"),
        "exception": ("AS 5S", f"{STRAIGHTS}, One Pair")}),
    ("pair_that_fits_low", "KH KD 9S 8C 7D 6H 5S", {
        "pair_low": ("KH KD", f"{STRAIGHTS}, One Pair"),
        "exception": ("KH KD", f"{STRAIGHTS}, One Pair")}),
    # HW-4: the better low hand decides, or it is always a pair, or never
    ("ace_and_joker", "AS JOKER KH 9C 8D 7S 6H", {
        "best_low": ("AS KH", f"{STRAIGHTS}, One Pair"),
        "pair": ("KH 9C", f"{STRAIGHTS}, One Pair"),
        "no_pair": ("AS KH", f"{STRAIGHTS}, One Pair")}),
    ("ace_and_joker", "AS JOKER KH QC JD 5S 3H", {
        "best_low": ("KH QC", f"{STRAIGHTS}, One Pair"),
        "pair": ("KH QC", f"{STRAIGHTS}, One Pair"),
        "no_pair": ("5S 3H", f"{STRAIGHTS}, One Pair")}),
    ("ace_and_joker", "AS JOKER 9H 8C 7D 6S 5H", {
        "best_low": ("AS JOKER", f"{STRAIGHTS}, One Pair"),
        "pair": ("AS JOKER", f"{STRAIGHTS}, One Pair"),
        "no_pair": ("AS JOKER", f"{STRAIGHTS}, One Pair")}),
    # HW-5: only an ace and the joker make the straight
    ("three_aces_with_joker", "AS AD JOKER KH QS JD 2C", {
        "best_low": ("A KH", ACES),
        "three_aces": ("A KH", ACES),
        "keep": ("A 2C", f"{STRAIGHTS}, Three of a Kind")}),
    ("three_aces_with_joker", "AS AD JOKER 9H 4S 3D 2C", {
        "best_low": ("A 9H", f"{STRAIGHTS}, Three of a Kind"),
        "three_aces": ("A 9H", ACES),
        "keep": ("A 9H", f"{STRAIGHTS}, Three of a Kind")}),
    # HW-6
    ("three_aces_and_pair", "AS AD AC 4H 4S KD QC", {
        "full_house": ("4H 4S", f"{FULL}, Three of a Kind and Pair"),
        "three_aces": ("A KD", ACES)}),
    ("three_aces_and_pair", "AS AD AC KH KS 4D 3C", {
        "full_house": ("KH KS", f"{FULL}, Three of a Kind and Pair"),
        "three_aces": ("A KH|A KS", ACES)}),
    ("three_aces_and_pair", "9S 9D 9C 4H 4S KD QC", {
        "full_house": ("4H 4S", f"{FULL}, Three of a Kind and Pair"),
        "three_aces": ("4H 4S", f"{FULL}, Three of a Kind and Pair")}),
    # HW-7
    ("five_aces_and_pair", "AS AD AC AH JOKER QD QC", {
        "aces_low": ("AA", f"{FOUR}, Five Aces"),
        "pair_low": ("QD QC", f"{FOUR} with a Pair (or Three-of-a-Kind)")}),
    ("five_aces_and_pair", "AS AD AC AH JOKER KD KC", {
        "aces_low": ("KD KC", f"{FOUR}, Five Aces, EXCEPTION"),
        "pair_low": ("KD KC", f"{FOUR}, Five Aces, EXCEPTION")}),
    ("five_aces_and_pair", "AS AD AC AH JOKER QD 2C", {
        "aces_low": ("AA", f"{FOUR}, Five Aces"),
        "pair_low": ("AA", f"{FOUR}, Five Aces")}),
    # HW-12
    ("three_aces_with_straight", "AS AD AC KH QS JD TC", {
        "pair_low": ("AA", f"{STRAIGHTS}, Three of a Kind"),
        "three_aces": ("A KH", ACES)}),
    ("three_aces_with_straight", "9S 9D 9C 8H 7S 6D 5C", {
        "pair_low": ("99", f"{STRAIGHTS}, Three of a Kind"),
        "three_aces": ("99", f"{STRAIGHTS}, Three of a Kind")}),
]  # fmt: skip


@pytest.mark.parametrize(("field", "cards", "by_reading"), READINGS)
def test_readings(field: str, cards: str, by_reading: dict[str, tuple[str, str]]) -> None:
    options = HouseWayReadings.model_json_schema()["properties"][field]["enum"]
    assert set(by_reading) == set(options)
    for reading, (low, rule) in by_reading.items():
        setting = set_by(WAY, cards, **{field: reading})
        assert setting.rule == f"004 House Way, {rule}", reading
        assert any(fits(labels(setting.low), wanted) for wanted in low.split("|")), reading
    assert set_by(WAY, cards) == set_by(WAY, cards, **{field: next(iter(options))})


def test_two_exceptions_at_once() -> None:
    """An ace and the joker that fit low beside a natural straight stay there (HW-3, HW-4)."""
    hand = "AS JOKER KH 9C 8D 7S 6H"
    with_straight = "AS JOKER TH 9C 8D 7S 6H"
    assert fits(labels(set_by(WAY, with_straight, pair_that_fits_low="exception").low), "AS JOKER")
    assert fits(
        labels(set_by(WAY, hand, ace_and_joker="pair", pair_over_straight="ace").low), "AS KH"
    )


def names(hands: tuple[tuple[object, ...], ...]) -> list[str]:
    return [" ".join(map(str, hand)) for hand in hands]


def test_the_dealer_may_choose_among_equal_cards() -> None:
    """HW-8: four aces with the joker are split either way when the table leaves it free."""
    cards = "AS AD AC JOKER KD QC JH"
    assert set_by(WAY, cards).alternatives == ()
    setting = set_by(WAY, cards, equal_cards="free")
    assert (setting.low, setting.high) == (set_by(WAY, cards).low, set_by(WAY, cards).high)
    [(low, high)] = setting.alternatives
    assert [card.rank for card in low] == [14, 14]
    assert rank_five(high).name == "pair of aces, king kicker"
    other = parse_cards("AS JOKER"), parse_cards("AD AC KD QC JH")
    assert setting.same_hands(*other, STANDARD)
    assert not set_by(WAY, cards).same_hands(*other, STANDARD)
    assert not setting.same_hands(parse_cards("AS KD"), parse_cards("AD AC JOKER QC JH"), STANDARD)


def test_free_choice_keeps_to_what_the_line_allows() -> None:
    """Either nine may go low with the straight kept; without it the text allows neither."""
    setting = set_by(WAY, "9S 9D 8S 7S 6S 5S 2D", equal_cards="free")
    assert rank_five(setting.high).name == "straight flush, nine high"
    [(low, high)] = setting.alternatives
    assert names((low,)) == ["9S 2D"]
    assert rank_five(high).name == "straight, nine high"
    flush = set_by(WAY, "9S 9D AS KS 7S 4S 2C", equal_cards="free")
    assert flush.alternatives == ()


@pytest.mark.parametrize("cards", ["KS QD 9H 9C 7S 5D 2C", "JS JD JC JH AS QD 9C"])
def test_no_alternatives_where_equal_cards_change_nothing(cards: str) -> None:
    assert set_by(WAY, cards, equal_cards="free").alternatives == ()
