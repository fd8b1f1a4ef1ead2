"""The house way of `004_85e5a972ed3a3af9.txt`, read as readings HW-1 to HW-19 recommend.

Each function below is one heading of the document, in words the document uses. Where the
text leaves open which of several equal cards goes low, the joker stays high if that makes
the better five-card hand (HW-8).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from settlement.cards import ACE, JACK, KING, Card, by_rank
from settlement.hands import HandError, Wheel, is_made, rank_name, rank_plural
from settlement.houseways.base import HouseWay, HouseWaySetting, Split

DOCUMENT = "004_85e5a972ed3a3af9.txt"
_FACES = range(JACK, KING + 1)
_MIDDLE = range(7, 11)


@dataclass(frozen=True)
class _Seven:
    """Seven cards with the joker counted as an ace, and the ways to part them."""

    cards: tuple[Card, ...]
    wheel: Wheel

    def ranks_of(self, count: int) -> list[int]:
        """Ranks held exactly that often, highest first."""
        ranks = [card.rank for card in self.cards]
        return sorted((r for r in set(ranks) if ranks.count(r) == count), reverse=True)

    @cached_property
    def singles(self) -> list[int]:
        """Ranks held once, highest first."""
        return self.ranks_of(1)

    @cached_property
    def splits(self) -> list[Split]:
        """All 21 ways to part the cards, by a fixed order of the cards."""
        return [self.split(low) for low in combinations(self.cards, 2)]

    @cached_property
    def made(self) -> list[Split]:
        """The ways that keep a straight, flush or straight flush high."""
        return [split for split in self.splits if is_made(split.high_rank)]

    def split(self, low: Sequence[Card]) -> Split:
        return Split.of(low, [card for card in self.cards if card not in low], self.wheel)

    def with_low(self, *ranks: int) -> Split:
        """The split with a low hand of those ranks; of several, the best high hand (HW-8)."""
        wanted = sorted(ranks)
        fitting = (s for s in self.splits if sorted(c.rank for c in s.low) == wanted)
        return max(fitting, key=lambda split: split.high_rank)


def set_hands(cards: Sequence[Card], wheel: Wheel = "second") -> HouseWaySetting:
    """Set seven cards; the same worth for every order of the cards.

    Raises HandError unless there are seven different cards.

    >>> from settlement.cards import parse_cards
    >>> setting = set_hands(parse_cards("AS 5D 5C 4H 4C KD 9S"))
    >>> " ".join(map(str, setting.low)), setting.rule
    ('AS KD', '004 House Way, Two Pair')
    """
    if len(cards) != 7 or len(set(cards)) != 7:
        shown = " ".join(str(card) for card in cards) or "none"
        raise HandError(f"a house way sets seven different cards, got: {shown}")
    seven = _Seven(by_rank(cards), wheel)
    for applies, section in _SECTIONS:
        if applies(seven):
            return section(seven)
    return _no_pair(seven)


def _setting(split: Split, section: str, why: str) -> HouseWaySetting:
    return HouseWaySetting(
        by_rank(split.low), by_rank(split.high), f"004 House Way, {section}", why
    )


def _best_low(splits: Iterable[Split]) -> Split:
    return max(splits, key=lambda split: split.by_low)


def _highest_low(seven: _Seven, ranks: Sequence[int]) -> Split:
    """The two highest of some single ranks low."""
    return seven.with_low(ranks[0], ranks[1])


def _five_aces(seven: _Seven) -> HouseWaySetting:
    if KING in seven.ranks_of(2):
        return _setting(
            seven.with_low(KING, KING),
            "Four of a Kind, Five Aces, EXCEPTION",
            "five aces and a pair of kings: the kings go low",
        )
    return _setting(
        seven.with_low(ACE, ACE),
        "Four of a Kind, Five Aces",
        "five aces are always split: two aces go low",
    )


def _four_of_a_kind(seven: _Seven) -> HouseWaySetting:
    four = seven.ranks_of(4)[0]
    beside = seven.ranks_of(3) + seven.ranks_of(2)
    if beside:
        return _setting(
            seven.with_low(beside[0], beside[0]),
            "Four of a Kind with a Pair (or Three-of-a-Kind)",
            f"four {rank_plural(four)} with {rank_plural(beside[0])}: "
            f"a pair of {rank_plural(beside[0])} goes low",
        )
    if four < 7:
        return _setting(
            _highest_low(seven, seven.singles),
            "Four of a Kind, 2's thru 6's",
            f"four {rank_plural(four)} are never split",
        )
    if four in _MIDDLE and ACE in seven.singles:
        return _setting(
            _highest_low(seven, seven.singles),
            "Four of a Kind, 7's thru 10's",
            f"an ace can be played low, so the four {rank_plural(four)} stay high",
        )
    section = "7's thru 10's" if four in _MIDDLE else "Jacks, Queens, Kings & Aces"
    without = " without an ace to play low" if four in _MIDDLE else ""
    return _setting(
        seven.with_low(four, four),
        f"Four of a Kind, {section}",
        f"four {rank_plural(four)}{without} are split",
    )


def _two_threes(seven: _Seven) -> HouseWaySetting:
    top = seven.ranks_of(3)[0]
    return _setting(
        seven.with_low(top, top),
        "Full House Rule, Three of a Kind & Three of a Kind",
        f"a pair of the highest three of a kind, {rank_plural(top)}, goes low",
    )


def _full_house(seven: _Seven) -> HouseWaySetting:
    pairs = seven.ranks_of(2)
    section = "Three of a Kind and Two Pair" if len(pairs) == 2 else "Three of a Kind and Pair"
    highest = "highest pair" if len(pairs) == 2 else "pair"
    return _setting(
        seven.with_low(pairs[0], pairs[0]),
        f"Full House Rule, {section}",
        f"the {highest}, {rank_plural(pairs[0])}, goes low",
    )


def _three_of_a_kind(seven: _Seven) -> HouseWaySetting:
    three = seven.ranks_of(3)[0]
    if seven.made:
        return _three_with_made(seven, three)
    if three == ACE:
        return _three_aces(seven)
    return _setting(
        _highest_low(seven, seven.singles),
        "Three of a Kind",
        f"three {rank_plural(three)} stay high with the lowest cards",
    )


def _three_aces(seven: _Seven) -> HouseWaySetting:
    return _setting(
        seven.with_low(ACE, seven.singles[0]),
        "Three of a Kind, EXCEPTION",
        "of three aces one goes low with the next highest card, two stay high",
    )


def _three_with_made(seven: _Seven, three: int) -> HouseWaySetting:
    pair_low = [s for s in seven.made if {card.rank for card in s.low} == {three}]
    if pair_low:
        best = _best_low(pair_low)
        return _setting(
            best,
            "All Straights, Flushes & Straight Flushes, Three of a Kind",
            f"a pair of {rank_plural(three)} goes low, the {best.high_rank.name} stays high",
        )
    # Only the joker with one of the aces completes it: no pair is left to go low (HW-5).
    kept = _best_low(seven.made)
    aces = _three_aces(seven)
    if seven.split(aces.low).by_low > kept.by_low:
        return aces
    return _setting(
        kept,
        "All Straights, Flushes & Straight Flushes, Three of a Kind",
        f"no pair of aces is left beside the {kept.high_rank.name}, and no better low hand",
    )


def _three_pair(seven: _Seven) -> HouseWaySetting:
    top = seven.ranks_of(2)[0]
    return _setting(
        seven.with_low(top, top),
        "Three Pair",
        f"of three pair the highest, {rank_plural(top)}, goes low",
    )


def _two_pair(seven: _Seven) -> HouseWaySetting:
    high, low = seven.ranks_of(2)
    pairs = f"{rank_plural(high)} and {rank_plural(low)}"
    if ACE not in seven.singles:
        return _setting(
            seven.with_low(low, low),
            "Two Pair",
            f"{pairs} without an additional ace or joker: the lower pair goes low",
        )
    # HW-1, `literal`: the NOTE splits in spite of the ace.
    if low >= JACK or high in _MIDDLE or low in _MIDDLE:
        reason = "both jacks or better" if low >= JACK else "one of them sevens to tens"
        return _setting(
            seven.with_low(low, low),
            "Two Pair, NOTE",
            f"{pairs}, {reason}: split in spite of the ace, the lower pair goes low",
        )
    return _setting(
        _highest_low(seven, seven.singles),
        "Two Pair",
        f"{pairs} stay high, the additional ace goes low with the next highest card",
    )


def _one_pair(seven: _Seven) -> HouseWaySetting:
    pair = seven.ranks_of(2)[0]
    if seven.made:
        return _one_pair_with_made(seven, pair)
    return _pair_high(seven, "One Pair", f"the pair of {rank_plural(pair)} stays high")


def _pair_high(seven: _Seven, section: str, why: str) -> HouseWaySetting:
    return _setting(_highest_low(seven, seven.singles), section, f"{why}, the two highest go low")


def _one_pair_with_made(seven: _Seven, pair: int) -> HouseWaySetting:
    section = "All Straights, Flushes & Straight Flushes, One Pair"
    pair_low = [s for s in seven.made if {card.rank for card in s.low} == {pair}]
    if pair_low:
        best = _best_low(pair_low)
        why = f"the pair of {rank_plural(pair)} goes low, the {best.high_rank.name} stays high"
        return _setting(best, section, why)
    kept = _best_low(seven.made)
    # HW-2, `or`: an unpaired ace or joker, or an unpaired king, queen or jack.
    beside = next((r for r in seven.singles if r == ACE or r in _FACES), None)
    if pair >= 10 and beside is not None:
        played = _pair_high(
            seven,
            section,
            f"a pair of {rank_plural(pair)} with {_a(rank_name(beside))} is played instead of "
            f"the {kept.high_rank.name}",
        )
        # HW-4: an ace and the joker that completes the hand are a pair only when that
        # gives the better low hand.
        joker_pair = pair == ACE and any(card.joker for card in seven.cards)
        if not joker_pair or seven.split(played.low).by_low > kept.by_low:
            return played
    why = f"the {kept.high_rank.name} stays high with the best low hand it leaves"
    return _setting(kept, section, why)


def _a(noun: str) -> str:
    return f"an {noun}" if noun == "ace" else f"a {noun}"


def _no_pair(seven: _Seven) -> HouseWaySetting:
    if seven.made:
        best = _best_low(seven.made)
        return _setting(
            best,
            "All Straights, Flushes & Straight Flushes, No Pair",
            f"the {best.high_rank.name} leaves the highest two cards low",
        )
    return _setting(
        seven.with_low(*seven.singles[1:3]),
        "No Pair",
        "the second and third highest cards go low",
    )


_SECTIONS: tuple[
    tuple[Callable[[_Seven], bool], Callable[[_Seven], HouseWaySetting]],
    ...,
] = (
    (lambda seven: bool(seven.ranks_of(5)), _five_aces),
    (lambda seven: bool(seven.ranks_of(4)), _four_of_a_kind),
    (lambda seven: len(seven.ranks_of(3)) == 2, _two_threes),
    (lambda seven: bool(seven.ranks_of(3) and seven.ranks_of(2)), _full_house),
    (lambda seven: bool(seven.ranks_of(3)), _three_of_a_kind),
    (lambda seven: len(seven.ranks_of(2)) == 3, _three_pair),
    (lambda seven: len(seven.ranks_of(2)) == 2, _two_pair),
    (lambda seven: bool(seven.ranks_of(2)), _one_pair),
)

HOUSE_WAY = HouseWay(
    id="document_004",
    title="Traditional Pai Gow Poker, House Way of document 004",
    document=DOCUMENT,
    set_hands=set_hands,
)
