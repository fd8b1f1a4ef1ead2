"""What two house ways are worth against each other, by dealing many hands at once.

Every house way is applied once to each class of seven cards (`classes`), so a deal costs only
two look-ups. Not needed for settling: only this module and those it imports use numpy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from settlement.analysis.classes import seven_card_classes
from settlement.analysis.vector import FEATURES, features_many, rank_five_many, rank_two_many
from settlement.cards import DECK
from settlement.errors import FeltwatchError
from settlement.features import PAI_GOW
from settlement.hands import STANDARD, HandError, Ranking
from settlement.houseways import HOUSE_WAYS, HouseWay
from settlement.houseways.base import AS_READ
from settlement.rules import HouseWayReadings

DEALER_HOLDS: Final[tuple[str, ...]] = ("other", *PAI_GOW)
"""What a dealer's seven cards are: a pai gow by its highest card, or anything else."""

_CHUNK: Final = 1 << 17
_WIN, _PUSH, _LOSE = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Estimate:
    """A simulated share or mean and its standard error, both of one unit wagered.

    >>> Estimate.share(25, 100)
    Estimate(value=0.25, error=0.04330127018922193)
    >>> round(Estimate(0.25, 0.01).off(0.28), 3)
    3.0
    """

    value: float
    error: float

    @classmethod
    def share(cls, count: int, deals: int) -> Estimate:
        """The share of `count` in `deals`."""
        share = count / deals
        return cls(share, sqrt(share * (1 - share) / deals))

    def off(self, expected: float) -> float:
        """How many standard errors the value is from an expected one."""
        return abs(self.value - expected) / self.error

    def to_dict(self) -> dict[str, float]:
        """The form for scripts."""
        return {"value": self.value, "error": self.error}


@dataclass(frozen=True, slots=True)
class Odds:
    """How often a player wins, pushes and loses; copies are the dealer's.

    `outcomes` counts deals: a row for each of DEALER_HOLDS, with wins, pushes and losses of
    the main wager. `low_copies` and `high_copies` count equal low and equal high hands.

    >>> odds = Odds("trump_plaza", "foxwoods", 1, 100, ((28, 42, 30), *[(0, 0, 0)] * 6), 3, 0)
    >>> odds.win.value, round(odds.house_edges()["commission"].value, 4)
    (0.28, 0.034)
    """

    player_way: str
    dealer_way: str
    seed: int
    deals: int
    outcomes: tuple[tuple[int, int, int], ...]
    low_copies: int
    high_copies: int

    def _outcome(self, column: int) -> Estimate:
        return Estimate.share(sum(row[column] for row in self.outcomes), self.deals)

    @property
    def win(self) -> Estimate:
        """Both hands of the player are higher."""
        return self._outcome(_WIN)

    @property
    def push(self) -> Estimate:
        """One hand of the player is higher."""
        return self._outcome(_PUSH)

    @property
    def lose(self) -> Estimate:
        """No hand of the player is higher."""
        return self._outcome(_LOSE)

    def dealer_holds(self, what: str) -> Estimate:
        """How often the dealer's seven cards are one of DEALER_HOLDS."""
        return Estimate.share(sum(self.outcomes[DEALER_HOLDS.index(what)]), self.deals)

    def house_edges(self) -> dict[str, Estimate]:
        """What the house keeps of a unit wagered, by 5% commission and commission-free option.

        The options are those of the documents: all push when the dealer has an ace-high, or
        a king-high or lower pai gow; wins pay half when the dealer has any pai gow. A player
        who sets to a dealer's exposed cards, not by a house way, does better.
        """
        ace_high = DEALER_HOLDS.index("ace_high")
        return {
            "commission": self._edge(lambda _: 0.95),
            "ace_high_push": self._edge(lambda held: None if held == ace_high else 1.0),
            "king_high_or_less_push": self._edge(lambda held: None if 0 < held < ace_high else 1.0),
            "any_pai_gow_pays_half": self._edge(lambda held: 0.5 if held else 1.0),
        }

    def _edge(self, win_pays: Callable[[int], float | None]) -> Estimate:
        """The edge when a win pays so much by what the dealer holds; None: all push."""
        total = squares = 0.0
        for held, row in enumerate(self.outcomes):
            pays = win_pays(held)
            if pays is not None:
                total += row[_LOSE] - pays * row[_WIN]
                squares += row[_LOSE] + pays * pays * row[_WIN]
        mean = total / self.deals
        return Estimate(mean, sqrt((squares / self.deals - mean * mean) / self.deals))

    def to_dict(self) -> dict[str, object]:
        """The form for scripts: shares of deals, edges of a unit wagered, with errors."""
        return {
            "player_way": self.player_way,
            "dealer_way": self.dealer_way,
            "seed": self.seed,
            "deals": self.deals,
            "win": self.win.to_dict(),
            "push": self.push.to_dict(),
            "lose": self.lose.to_dict(),
            "low_copies": Estimate.share(self.low_copies, self.deals).to_dict(),
            "high_copies": Estimate.share(self.high_copies, self.deals).to_dict(),
            "dealer_holds": {what: self.dealer_holds(what).to_dict() for what in DEALER_HOLDS},
            "house_edges": {name: edge.to_dict() for name, edge in self.house_edges().items()},
        }


@dataclass(frozen=True, slots=True, eq=False)
class WayTable:
    """A house way applied to every class of seven cards: the orders of both hands.

    >>> WayTable(np.zeros(2, np.int32), np.ones(2, np.int32)).fouls
    0
    """

    low: NDArray[np.int32]
    high: NDArray[np.int32]

    @property
    def fouls(self) -> int:
        """In how many classes the low hand outranks the high hand: 0 for a sound house way."""
        return int((self.low > self.high).sum())


@lru_cache(maxsize=32)
def way_table(way: HouseWay, ranking: Ranking, readings: HouseWayReadings) -> WayTable:
    """Apply a house way to all 154,143,080 hands, by their classes: ten seconds or so.

    Raises HandError when it does not set the seven cards it is given.
    """
    return set_classes(way, np.arange(len(seven_card_classes().counts)), ranking, readings)


def set_classes(
    way: HouseWay, numbers: NDArray[np.int64], ranking: Ranking, readings: HouseWayReadings
) -> WayTable:
    """Apply a house way to some classes, in the order given.

    Raises HandError when it does not set the seven cards it is given.
    """
    hands = seven_card_classes().representatives[numbers]
    hands_set = np.empty_like(hands)
    for row, indices in enumerate(hands.tolist()):
        setting = way.set_hands([DECK[index] for index in indices], ranking, readings)
        hands_set[row] = [card.index for card in (*setting.low, *setting.high)]
    if (np.sort(hands_set, axis=1) != np.sort(hands, axis=1)).any():
        raise HandError(f"house way {way.id!r} does not set the seven cards it is given")
    low, high = hands_set[:, :2], hands_set[:, 2:]
    return WayTable(rank_two_many(low), rank_five_many(high, ranking))


@lru_cache(maxsize=1)
def _held_by_class() -> NDArray[np.int8]:
    """For each class the place in DEALER_HOLDS."""
    features = features_many(seven_card_classes().representatives)
    held = np.zeros(len(features), np.int8)
    # A nine-high of one colour is also a nine-high: PAI_GOW's first row held is the one.
    for place, what in reversed(list(enumerate(DEALER_HOLDS))[1:]):
        held[(features >> np.uint32(FEATURES.index(what))) & np.uint32(1) == 1] = place
    return held


def deal(rng: np.random.Generator, deals: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Two hands of seven from one deck, `deals` times: two uint8 arrays (deals, 7).

    >>> first, second = deal(np.random.default_rng(1), 3)
    >>> first.shape, len({*first[0].tolist(), *second[0].tolist()})
    ((3, 7), 14)
    """
    deck = np.repeat(np.arange(53, dtype=np.uint8)[:, None], deals, axis=1)
    columns = np.arange(deals)
    for place in range(14):
        drawn = rng.integers(place, 53, size=deals)
        card = deck[drawn, columns]
        deck[drawn, columns] = deck[place]
        deck[place] = card
    return np.ascontiguousarray(deck[:7].T), np.ascontiguousarray(deck[7:14].T)


def simulate(
    player_way: str,
    dealer_way: str,
    deals: int,
    seed: int = 1,
    *,
    ranking: Ranking = STANDARD,
    readings: HouseWayReadings = AS_READ,
    progress: Callable[[int], None] | None = None,
) -> Odds:
    """Deal and set so many hands by two house ways; the same for the same seed.

    `progress` receives the deals done so far. Raises FeltwatchError when a house way is not
    known or there are no deals.
    """
    for way in (player_way, dealer_way):
        if way not in HOUSE_WAYS:
            raise FeltwatchError(f"no house way {way!r}; known are: {', '.join(HOUSE_WAYS)}")
    if deals < 1:
        raise FeltwatchError(f"at least one deal is needed, not {deals}")
    player = way_table(HOUSE_WAYS[player_way], ranking, readings)
    dealer = way_table(HOUSE_WAYS[dealer_way], ranking, readings)
    classes = seven_card_classes()
    rng = np.random.default_rng(seed)
    outcomes = np.zeros((len(DEALER_HOLDS), 3), np.int64)
    low_copies = high_copies = done = 0
    while done < deals:
        count = min(_CHUNK, deals - done)
        own, others = (classes.class_of(hands) for hands in deal(rng, count))
        own_low, dealer_low = player.low[own], dealer.low[others]
        own_high, dealer_high = player.high[own], dealer.high[others]
        higher = (own_low > dealer_low).astype(np.int8) + (own_high > dealer_high)
        cell = _held_by_class()[others].astype(np.int64) * 3 + (2 - higher)
        outcomes += np.bincount(cell, minlength=outcomes.size).reshape(outcomes.shape)
        low_copies += int((own_low == dealer_low).sum())
        high_copies += int((own_high == dealer_high).sum())
        done += count
        if progress is not None:
            progress(done)
    rows = tuple((row[0], row[1], row[2]) for row in outcomes.tolist())
    return Odds(player_way, dealer_way, seed, deals, rows, low_copies, high_copies)
