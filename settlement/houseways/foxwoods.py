"""The house way of Foxwoods Resort Casino, Connecticut.

Published by the Wizard of Odds, "Foxwoods Pai Gow Poker House Way",
wizardofodds.com/games/pai-gow-poker/house-way/foxwoods/. Every line below is there; "front"
is the low hand, "back" the high hand. Where it is silent:

* three of a kind with two pair is not named: the three stay in back and the higher pair goes
  in front, as "the highest permissible pair" beside an unsplit three of a kind;
* three aces of which one and the joker are all that completes a straight or flush leave no
  pair for the front: the complete hand stays in back, with the best two cards in front;
* which of several equal cards goes in front: the one that leaves the better high hand, by
  reading `equal_cards` (HW-8).
"""

from __future__ import annotations

from collections.abc import Mapping

from settlement.cards import ACE, JACK, KING
from settlement.hands import rank_name, rank_plural
from settlement.houseways.base import HouseWay, HouseWaySetting, Section
from settlement.houseways.grouped_hand import GroupedHand, Kind, best_low

_STRAIGHTS = "Straight, Flush, Straight Flush"


def _no_pair(hand: GroupedHand) -> HouseWaySetting:
    if hand.made:
        best = best_low(hand.made)
        why = f"the two highest cards that leave a complete hand, the {best.high_rank.name}"
        return hand.setting(best, f"{_STRAIGHTS}, With No Pair", why, hand.made)
    second, third = hand.singles[1:3]
    why = "the second and third highest cards go in front"
    return hand.setting(hand.with_low(second, third), "No Pair", why)


def _one_pair(hand: GroupedHand) -> HouseWaySetting:
    if hand.made:
        return _one_pair_with_made(hand)
    why = f"the pair of {rank_plural(hand.pairs[0])} stays in back, the two highest go in front"
    return hand.setting(hand.two_highest_low(), "One Pair", why)


def _two_pair(hand: GroupedHand) -> HouseWaySetting:
    big, small = hand.pairs
    pairs = f"{rank_plural(big)} and {rank_plural(small)}"
    if big >= JACK:
        why = f"{pairs}: the small pair goes in front"
        return hand.setting(hand.pair_low(small), "Two Pair, big pair aces to jacks", why)
    group, wanted, name = ("10's to 7's", ACE, "an ace")
    if big < 7:
        group, wanted, name = ("6's to 3's", KING, "a king or better")
    section = f"Two Pair, big pair {group}"
    if hand.singles[0] >= wanted:
        held = rank_name(hand.singles[0])
        why = f"{pairs} stay in back, the {held} goes in front with the next highest card"
        return hand.setting(hand.two_highest_low(), section, why)
    why = f"{pairs} without {name} for the front are split"
    return hand.setting(hand.pair_low(small), section, why)


def _three_pair(hand: GroupedHand) -> HouseWaySetting:
    top = hand.pairs[0]
    why = f"of three pair the high pair, {rank_plural(top)}, goes in front"
    return hand.setting(hand.pair_low(top), "Three Pair", why)


def _three_of_a_kind(hand: GroupedHand) -> HouseWaySetting:
    three = hand.threes[0]
    if hand.made:
        return _three_with_made(hand)
    if three == ACE:
        why = "of three aces one goes in front with the next highest card"
        front = hand.with_low(ACE, hand.singles[0])
        return hand.setting(front, "Three of a Kind, aces", why)
    why = f"three {rank_plural(three)} stay in back, the two highest cards go in front"
    return hand.setting(hand.two_highest_low(), "Three of a Kind, kings and below", why)


def _two_sets(hand: GroupedHand) -> HouseWaySetting:
    top = hand.threes[0]
    why = f"a pair from the higher set, {rank_plural(top)}, goes in front"
    return hand.setting(hand.pair_low(top), "Two Sets", why)


def _one_pair_with_made(hand: GroupedHand) -> HouseWaySetting:
    pair = hand.pairs[0]
    kept = best_low(hand.made)
    if ACE in hand.singles and 10 <= pair <= KING:
        with_ace = hand.two_highest_low()
        if with_ace.low_rank > kept.low_rank:
            why = (
                f"an ace and a pair of {rank_plural(pair)}: the ace in front improves on what "
                f"the {kept.high_rank.name} leaves"
            )
            return hand.setting(with_ace, f"{_STRAIGHTS}, Exception", why)
    why = f"the highest two cards that leave a complete hand, the {kept.high_rank.name}"
    return hand.setting(kept, f"{_STRAIGHTS}, With One Pair", why, hand.made)


def _three_with_made(hand: GroupedHand) -> HouseWaySetting:
    three = hand.threes[0]
    section = f"{_STRAIGHTS}, With Three of a Kind"
    pair_low = hand.made_with_pair_low(three)
    if pair_low:
        best = best_low(pair_low)
        why = f"a pair of {rank_plural(three)} in front, the {best.high_rank.name} in back"
        return hand.setting(best, section, why, pair_low)
    kept = best_low(hand.made)
    why = f"the joker completes the {kept.high_rank.name}, so no pair is left for the front"
    return hand.setting(kept, section, why, hand.made)


def _full_house(hand: GroupedHand) -> HouseWaySetting:
    top = hand.pairs[0]
    why = f"the highest permissible pair, {rank_plural(top)}, goes in front"
    return hand.setting(hand.pair_low(top), "Full House", why)


def _four_of_a_kind(hand: GroupedHand) -> HouseWaySetting:
    four = hand.fours[0]
    fours = f"four {rank_plural(four)}"
    for beside in hand.threes + hand.pairs:
        pair = rank_plural(beside)
        section = "Four of a Kind with a Pair (or Three of a Kind)"
        why = f"{fours} stay in back, a pair of {pair} goes in front"
        return hand.setting(hand.pair_low(beside), section, why)
    if four < 7:
        why = f"{fours} are never split"
        return hand.setting(hand.two_highest_low(), "Four of a Kind, 6's and below", why)
    if four >= JACK:
        why = f"{fours} are always split"
        return hand.setting(hand.pair_low(four), "Four of a Kind, aces to jacks", why)
    section = "Four of a Kind, 10's to 7's"
    if hand.singles[0] >= KING:
        why = f"{fours} stay in back with {rank_name(hand.singles[0])} high in front"
        return hand.setting(hand.two_highest_low(), section, why)
    why = f"{fours} without a king or ace for the front are split"
    return hand.setting(hand.pair_low(four), section, why)


def _five_aces(hand: GroupedHand) -> HouseWaySetting:
    if KING in hand.pairs:
        why = "the pair of kings goes in front"
        return hand.setting(hand.pair_low(KING), "Five Aces", why)
    return hand.setting(hand.pair_low(ACE), "Five Aces", "a pair of aces goes in front")


_SECTIONS: Mapping[Kind, Section] = {
    "no_pair": _no_pair,
    "one_pair": _one_pair,
    "two_pair": _two_pair,
    "three_pair": _three_pair,
    "three_of_a_kind": _three_of_a_kind,
    "two_threes": _two_sets,
    "full_house": _full_house,
    "four_of_a_kind": _four_of_a_kind,
    "five_aces": _five_aces,
}
"""What is paired decides first; straights and flushes are lines of those sections."""

HOUSE_WAY = HouseWay(
    id="foxwoods",
    title="Foxwoods Resort Casino, Connecticut",
    document="Wizard of Odds: wizardofodds.com/games/pai-gow-poker/house-way/foxwoods/",
    cited="Foxwoods",
    sections=_SECTIONS,
    readings=frozenset({"equal_cards", "eight_cards"}),
)
