"""The house way of `004_85e5a972ed3a3af9.txt`, with its unclear lines by reading HW-1 to HW-19.

Each function below is one heading of the document, in words the document uses. Where the
text leaves open which of several equal cards goes low, the joker stays high if that makes
the better five-card hand (HW-8).
"""

from __future__ import annotations

from collections.abc import Mapping

from settlement.cards import ACE, JACK, KING
from settlement.hands import rank_name, rank_plural
from settlement.houseways.base import HouseWay, HouseWaySetting, Section, Split
from settlement.houseways.grouped_hand import GroupedHand, Kind, best_low
from settlement.rules import HouseWayReadings

DOCUMENT = "004_85e5a972ed3a3af9.txt"
_FACES = range(JACK, KING + 1)
_MIDDLE = range(7, 11)
_STRAIGHTS = "All Straights, Flushes & Straight Flushes"


def _no_pair(hand: GroupedHand) -> HouseWaySetting:
    if hand.made:
        best = best_low(hand.made)
        why = f"the {best.high_rank.name} leaves the highest two cards low"
        return hand.setting(best, f"{_STRAIGHTS}, No Pair", why, hand.made)
    second, third = hand.singles[1:3]
    why = "the second and third highest cards go low"
    return hand.setting(hand.with_low(second, third), "No Pair", why)


def _one_pair(hand: GroupedHand) -> HouseWaySetting:
    pair = hand.pairs[0]
    if hand.made:
        return _one_pair_with_made(hand, pair)
    why = f"the pair of {rank_plural(pair)} stays high, the two highest go low"
    return hand.setting(hand.two_highest_low(), "One Pair", why)


def _two_pair(hand: GroupedHand) -> HouseWaySetting:
    high, low = hand.pairs
    pairs = f"{rank_plural(high)} and {rank_plural(low)}"
    if ACE not in hand.singles:
        why = f"{pairs} without an additional ace or joker: the lower pair goes low"
        return hand.setting(hand.pair_low(low), "Two Pair", why)
    if reason := _split_in_spite_of_ace(high, low, hand.readings):
        why = f"{pairs}, {reason}: split in spite of the ace, the lower pair goes low"
        return hand.setting(hand.pair_low(low), "Two Pair, NOTE", why)
    why = f"{pairs} stay high, the additional ace goes low with the next highest card"
    return hand.setting(hand.two_highest_low(), "Two Pair", why)


def _split_in_spite_of_ace(high: int, low: int, readings: HouseWayReadings) -> str | None:
    """Why the NOTE splits two pair (HW-1), or None."""
    if low >= JACK:
        return "both jacks or better"
    if readings.two_pair_with_ace == "literal":
        return "one of them sevens to tens" if high in _MIDDLE or low in _MIDDLE else None
    return "one jacks or better, one sevens to tens" if high >= JACK and low in _MIDDLE else None


def _three_pair(hand: GroupedHand) -> HouseWaySetting:
    top = hand.pairs[0]
    why = f"of three pair the highest, {rank_plural(top)}, goes low"
    return hand.setting(hand.pair_low(top), "Three Pair", why)


def _three_of_a_kind(hand: GroupedHand) -> HouseWaySetting:
    three = hand.threes[0]
    if hand.made:
        return _three_with_made(hand, three)
    if three == ACE:
        return _three_aces(hand)
    why = f"three {rank_plural(three)} stay high with the lowest cards"
    return hand.setting(hand.two_highest_low(), "Three of a Kind", why)


def _three_aces(hand: GroupedHand) -> HouseWaySetting:
    next_highest = next(card.rank for card in hand.cards if card.rank != ACE)
    why = "of three aces one goes low with the next highest card, two stay high"
    return hand.setting(hand.with_low(ACE, next_highest), "Three of a Kind, EXCEPTION", why)


def _two_threes(hand: GroupedHand) -> HouseWaySetting:
    top = hand.threes[0]
    section = "Full House Rule, Three of a Kind & Three of a Kind"
    why = f"a pair of the highest three of a kind, {rank_plural(top)}, goes low"
    return hand.setting(hand.pair_low(top), section, why)


def _one_pair_with_made(hand: GroupedHand, pair: int) -> HouseWaySetting:
    kept = best_low(hand.made)
    as_pair = _pair_with_made(hand, pair, kept)
    if pair != ACE or not hand.has_joker or hand.readings.ace_and_joker == "pair":
        return as_pair
    # HW-4: an ace and the joker that completes the hand are a pair, or they are none, or
    # whichever gives the better low hand.
    if hand.readings.ace_and_joker == "best_low" and hand.split(as_pair.low).by_low >= kept.by_low:
        return as_pair
    why = f"the joker completes the {kept.high_rank.name}, with the best low hand it leaves"
    return hand.setting(kept, f"{_STRAIGHTS}, One Pair", why, hand.made)


def _pair_with_made(hand: GroupedHand, pair: int, kept: Split) -> HouseWaySetting:
    section = f"{_STRAIGHTS}, One Pair"
    beside = _beside(hand, pair)
    pair_low = hand.made_with_pair_low(pair)
    if pair_low and (beside is None or hand.readings.pair_that_fits_low == "pair_low"):  # HW-3
        best = best_low(pair_low)
        why = f"the pair of {rank_plural(pair)} goes low, the {best.high_rank.name} stays high"
        return hand.setting(best, section, why, pair_low)
    if beside is not None:
        why = (
            f"a pair of {rank_plural(pair)} with {beside} is played instead of "
            f"the {kept.high_rank.name}, the two highest go low"
        )
        return hand.setting(hand.two_highest_low(), section, why)
    why = f"the {kept.high_rank.name} stays high with the best low hand it leaves"  # HW-13
    return hand.setting(kept, section, why, hand.made)


def _beside(hand: GroupedHand, pair: int) -> str | None:
    """The 'Ace / Face' with which a pair of tens or better is played (HW-2), or None."""
    if pair < 10:
        return None
    ace = "an ace" if ACE in hand.singles else None
    faces = [rank for rank in hand.singles if rank in _FACES]
    face = f"a {rank_name(faces[0])}" if faces else None
    match hand.readings.pair_over_straight:
        case "or":
            return ace or face
        case "and":
            return f"{ace} and {face}" if ace and face else None
        case _:
            return ace


def _three_with_made(hand: GroupedHand, three: int) -> HouseWaySetting:
    section = f"{_STRAIGHTS}, Three of a Kind"
    pair_low = hand.made_with_pair_low(three)
    if pair_low:
        if three == ACE and hand.readings.three_aces_with_straight == "three_aces":  # HW-12
            return _three_aces(hand)
        best = best_low(pair_low)
        why = f"a pair of {rank_plural(three)} goes low, the {best.high_rank.name} stays high"
        return hand.setting(best, section, why, pair_low)
    # HW-5: only the joker with one of the aces completes it, so no pair is left to go low.
    kept, aces = best_low(hand.made), _three_aces(hand)
    reading = hand.readings.three_aces_with_joker
    if reading == "three_aces" or (
        reading == "best_low" and hand.split(aces.low).by_low > kept.by_low
    ):
        return aces
    why = f"no pair of aces is left beside the {kept.high_rank.name}, which stays high"
    return hand.setting(kept, section, why, hand.made)


def _full_house(hand: GroupedHand) -> HouseWaySetting:
    if hand.threes[0] == ACE and hand.readings.three_aces_and_pair == "three_aces":  # HW-6
        return _three_aces(hand)
    top = rank_plural(hand.pairs[0])
    section, why = "Three of a Kind and Pair", f"the pair, {top}, goes low"
    if len(hand.pairs) == 2:
        section, why = "Three of a Kind and Two Pair", f"the highest pair, {top}, goes low"
    return hand.setting(hand.pair_low(hand.pairs[0]), f"Full House Rule, {section}", why)


def _four_of_a_kind(hand: GroupedHand) -> HouseWaySetting:
    four = hand.fours[0]
    fours = f"four {rank_plural(four)}"
    for beside in hand.threes + hand.pairs:
        pair = rank_plural(beside)
        section = "Four of a Kind with a Pair (or Three-of-a-Kind)"
        why = f"{fours} with {pair}: a pair of {pair} goes low"
        return hand.setting(hand.pair_low(beside), section, why)
    if four < 7:
        why = f"{fours} are never split"
        return hand.setting(hand.two_highest_low(), "Four of a Kind, 2's thru 6's", why)
    section = "Four of a Kind, 7's thru 10's"
    if four in _MIDDLE and ACE in hand.singles:
        why = f"an ace can be played low, so the {fours} stay high"
        return hand.setting(hand.two_highest_low(), section, why)
    why = f"{fours} without an ace to play low are split"
    if four not in _MIDDLE:
        section = "Four of a Kind, Jacks, Queens, Kings & Aces"
        why = f"{fours} are split"
    return hand.setting(hand.pair_low(four), section, why)


def _five_aces(hand: GroupedHand) -> HouseWaySetting:
    section = "Four of a Kind, Five Aces"
    if KING in hand.pairs:
        why = "five aces and a pair of kings: the kings go low"
        return hand.setting(hand.pair_low(KING), f"{section}, EXCEPTION", why)
    if hand.pairs and hand.readings.five_aces_and_pair == "pair_low":  # HW-7
        pair = rank_plural(hand.pairs[0])
        section = "Four of a Kind with a Pair (or Three-of-a-Kind)"
        why = f"five aces with {pair}: the pair of {pair} goes low"
        return hand.setting(hand.pair_low(hand.pairs[0]), section, why)
    why = "five aces are always split: two aces go low"
    return hand.setting(hand.pair_low(ACE), section, why)


_SECTIONS: Mapping[Kind, Section] = {
    "no_pair": _no_pair,
    "one_pair": _one_pair,
    "two_pair": _two_pair,
    "three_pair": _three_pair,
    "three_of_a_kind": _three_of_a_kind,
    "two_threes": _two_threes,
    "full_house": _full_house,
    "four_of_a_kind": _four_of_a_kind,
    "five_aces": _five_aces,
}
"""What is paired decides first; straights and flushes are lines of those sections."""

HOUSE_WAY = HouseWay(
    id="document_004",
    title="Traditional Pai Gow Poker, House Way of document 004",
    document=DOCUMENT,
    cited="004 House Way",
    sections=_SECTIONS,
    readings=frozenset(HouseWayReadings.model_fields),
)
