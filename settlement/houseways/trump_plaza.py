"""The house way of the Trump Plaza, Atlantic City.

Published by the Wizard of Odds among his pai gow poker house ways,
wizardofodds.com/games/pai-gow-poker/house-way/trump-plaza-atlantic-city/. Pairs are low (2 to
6), medium (7 to 10) or high (jack to king); aces stand alone. Where the text is silent, or
could be read otherwise:

* an ace and a joker that completes a straight or flush are no pair: the straight or flush
  stays. This line was chosen because it fits the Wizard's own simulation of this way against
  itself (28.61% won, 41.48% pushed, 29.91% lost). 30 million deals gave 28.615%, 41.478% and
  29.908%; with the pair of aces always played 41.546% pushed, with the pair played where that
  betters the low hand 41.24%. For the same reason three aces, of which one and the joker are
  all that completes a straight or flush, keep it;
* four 2's to 6's are never split: the usual line, too rare for the simulation to decide;
* a straight or flush with a pair that can't go low beside it stays, with the best low hand;
* which of several equal cards goes low: the one that leaves the better high hand, by reading
  `equal_cards` (HW-8).
"""

from __future__ import annotations

from collections.abc import Mapping

from settlement.cards import ACE, KING
from settlement.hands import rank_name, rank_plural
from settlement.houseways.base import HouseWay, HouseWaySetting, Section
from settlement.houseways.grouped_hand import GroupedHand, Kind, best_low

_KEEPS_TWO_PAIR = {
    ("low", "low"): KING,
    ("medium", "low"): KING,
    ("high", "low"): ACE,
    ("medium", "medium"): ACE,
}
"""The single card, or a better one, with which two pair stay high; others are always split."""

_STRAIGHTS = "Straights, Flushes, Straight Flushes and Royal Flushes"


def _no_pair(hand: GroupedHand) -> HouseWaySetting:
    if hand.made:
        best = best_low(hand.made)
        why = f"the {best.high_rank.name} leaves the highest two cards low"
        return hand.setting(best, f"{_STRAIGHTS}, No Pair", why, hand.made)
    second, third = hand.singles[1:3]
    why = "the second and third highest cards go low"
    return hand.setting(hand.with_low(second, third), "No Pair", why)


def _one_pair(hand: GroupedHand) -> HouseWaySetting:
    pair = rank_plural(hand.pairs[0])
    if hand.made:
        return _one_pair_with_made(hand)
    why = f"the pair of {pair} stays high, the two highest cards go low"
    return hand.setting(hand.two_highest_low(), "One Pair", why)


def _two_pair(hand: GroupedHand) -> HouseWaySetting:
    high, low = hand.pairs
    pairs = f"{rank_plural(high)} and {rank_plural(low)}"
    section = f"Two Pair, {_group(high)} and {_group(low)}"
    keeps = _KEEPS_TWO_PAIR.get((_group(high), _group(low)))
    if keeps is None:
        why = f"{pairs} are always split, the lower pair goes low"
        return hand.setting(hand.pair_low(low), section, why)
    if hand.singles[0] >= keeps:
        held = rank_name(hand.singles[0])
        why = f"{pairs} stay high with a single {held} to play low"
        return hand.setting(hand.two_highest_low(), section, why)
    wanted = "an ace" if keeps == ACE else "a king or an ace"
    why = f"{pairs} without {wanted} are split, the lower pair goes low"
    return hand.setting(hand.pair_low(low), section, why)


def _group(rank: int) -> str:
    if rank == ACE:
        return "aces"
    return "low" if rank <= 6 else "medium" if rank <= 10 else "high"


def _three_pair(hand: GroupedHand) -> HouseWaySetting:
    top = hand.pairs[0]
    why = f"of three pair the highest, {rank_plural(top)}, goes low"
    return hand.setting(hand.pair_low(top), "Three Pair", why)


def _three_of_a_kind(hand: GroupedHand) -> HouseWaySetting:
    three = hand.threes[0]
    if hand.made:
        return _three_with_made(hand)
    if three == ACE:
        why = "of three aces a pair stays high, one goes low with the next highest card"
        low = hand.with_low(ACE, hand.singles[0])
        return hand.setting(low, "Three of a Kind, aces", why)
    why = f"three {rank_plural(three)} stay high"
    return hand.setting(hand.two_highest_low(), "Three of a Kind", why)


def _two_threes(hand: GroupedHand) -> HouseWaySetting:
    top = hand.threes[0]
    why = f"a pair of the highest three of a kind, {rank_plural(top)}, goes low"
    return hand.setting(hand.pair_low(top), "Two Three of a Kinds", why)


def _one_pair_with_made(hand: GroupedHand) -> HouseWaySetting:
    pair = hand.pairs[0]
    section = f"{_STRAIGHTS}, One Pair"
    pair_low = hand.made_with_pair_low(pair)
    if pair_low:
        best = best_low(pair_low)
        why = f"the pair of {rank_plural(pair)} goes low, the {best.high_rank.name} stays high"
        return hand.setting(best, section, why, pair_low)
    kept = best_low(hand.made)
    why = f"the {kept.high_rank.name} stays high with the best low hand it leaves"
    return hand.setting(kept, section, why, hand.made)


def _three_with_made(hand: GroupedHand) -> HouseWaySetting:
    three = hand.threes[0]
    section = f"{_STRAIGHTS}, Three of a Kind"
    pair_low = hand.made_with_pair_low(three)
    if pair_low:
        best = best_low(pair_low)
        why = f"a pair of {rank_plural(three)} goes low, the {best.high_rank.name} stays high"
        return hand.setting(best, section, why, pair_low)
    kept = best_low(hand.made)
    why = f"the joker completes the {kept.high_rank.name}, so no pair of aces is left to go low"
    return hand.setting(kept, section, why, hand.made)


def _full_house(hand: GroupedHand) -> HouseWaySetting:
    top = hand.pairs[0]
    if len(hand.pairs) == 2:
        why = f"the highest pair, {rank_plural(top)}, goes low"
        return hand.setting(hand.pair_low(top), "Full House, two pair", why)
    if top == 2 and hand.singles == [ACE, KING]:
        why = "a full house with a pair of twos stays high, ace and king go low"
        return hand.setting(hand.two_highest_low(), "Full House, pair of twos", why)
    why = f"the pair of {rank_plural(top)} goes low"
    return hand.setting(hand.pair_low(top), "Full House", why)


def _four_of_a_kind(hand: GroupedHand) -> HouseWaySetting:
    four = hand.fours[0]
    fours = f"four {rank_plural(four)}"
    for beside in hand.threes + hand.pairs:
        pair = rank_plural(beside)
        why = f"{fours} stay high, a pair of {pair} goes low"
        return hand.setting(hand.pair_low(beside), "Four of a Kind, with a pair", why)
    group = _group(four)
    section = f"Four of a Kind, {group}"
    wanted = {"low": 2, "medium": KING, "high": ACE, "aces": ACE + 1}[group]
    if hand.singles[0] >= wanted:
        why = f"{fours} stay high with {rank_name(hand.singles[0])}-high low"
        return hand.setting(hand.two_highest_low(), section, why)
    return hand.setting(hand.pair_low(four), section, f"{fours} are split")


def _five_aces(hand: GroupedHand) -> HouseWaySetting:
    if KING in hand.pairs:
        why = "five aces stay high, the pair of kings goes low"
        return hand.setting(hand.pair_low(KING), "Five Aces, pair of kings", why)
    why = "five aces are split, two go low"
    return hand.setting(hand.pair_low(ACE), "Five Aces", why)


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
    id="trump_plaza",
    title="Trump Plaza, Atlantic City",
    document="Wizard of Odds: wizardofodds.com/games/pai-gow-poker/house-way/"
    "trump-plaza-atlantic-city/",
    cited="Trump Plaza",
    sections=_SECTIONS,
    readings=frozenset({"equal_cards", "eight_cards"}),
)
